/* SPDX-License-Identifier: MIT */
/*
 * The compiled engine: functions that turn out hot become host code, by LLVM, in a thread of its own.  What
 * is not compiled, or not yet, is interpreted.  The choice and the lifting know nothing of the host but how
 * many lanes its vectors have.
 *
 * Threads: any may ask for totals; open and close are for one.
 */
#ifndef EHP_JIT_JIT_H
#define EHP_JIT_JIT_H

#include "exec/code.h"

struct jit;

/* What has been done so far. */
struct jit_totals {
    unsigned functions;    /* compiled, each version by itself */
    unsigned from_cache;   /* of these, those that were found on disk */
    unsigned refused;      /* that stay in the interpreter */
    uint64_t instructions; /* of the GPU, in those that were compiled */
    uint64_t nanoseconds;  /* that it took */
};

/*
 * Whether there is a compiled engine for handlers of this level (exec_code.level): what it is, or why there
 * is none, goes to `text`.  Looks for LLVM's library, and whether memory may become executable.
 */
bool jit_available(unsigned level, char *text, size_t size);

enum jit_when {
    JIT_HOT,         /* functions are compiled when they are hot, beside what is executed */
    JIT_HOT_WAITING, /* or who executes them waits for it, as what they do takes simulated time */
    JIT_FIRST,       /* when they are first executed, which waits for it */
    /* The same, with as little effort as for large ones, and the largest; for tests. */
    JIT_FIRST_SINGLE,
    JIT_FIRST_PLAIN,
};

/*
 * For code of this level.  NULL when there is no such engine, or memory is short.  LLVM is opened when
 * something is to be compiled.
 */
struct jit *jit_open(unsigned level, enum jit_when when);
/* LLVM's library is mapped now, and not when it is needed: for programs whose simulated time follows where
 * their mappings are, among which it would come to lie. */
void jit_load(void);
/* NULL, or why nothing is kept on disk. */
const char *jit_cache_why_off(struct jit *jit);

/*
 * Around a fork: waits for what is being compiled, and lets nothing more be until it goes on.  The child ends
 * LLVM's library when it exits, and must not find the library's locks as a thread had them that it has not.
 */
void jit_pause(struct jit *jit);
void jit_go_on(struct jit *jit);

/* No translated function is left, and nobody executes any. */
void jit_close(struct jit *jit);

struct exec_compiler *jit_compiler(struct jit *jit);
struct jit_totals jit_totals(struct jit *jit);

/* A function that stays in the interpreter. */
struct jit_refused {
    uint64_t start; /* its address; 0: it was unloaded */
    char why[256];
};
/* The first that were refused; false: there are not so many, or no more are remembered. */
bool jit_refused(struct jit *jit, unsigned index, struct jit_refused *out);

#endif
