/* SPDX-License-Identifier: MIT */
/*
 * Translated code.  The first time a wave reaches a function, the function is
 * decoded and translated once, for all waves of the machine: an array of
 * struct xinst in program order, with branch targets resolved inside of it.
 *
 * Threads: exec_code_at() and exec_code_entry() may be called from any number
 * of threads; a translation is immutable once published.
 */
#ifndef EHP_EXEC_CODE_H
#define EHP_EXEC_CODE_H

#include <pthread.h>
#include <stddef.h>

#include "isa/facts.h"
#include "isa/target.h"
#include "wave/handlers.h"

/*
 * A function's compiled form.  It executes from a head on, which is numbered, and returns what to execute
 * next, as a handler does: the interpreter may continue anywhere.  It is not to be entered while
 * wave.mode_slow is set, or MODE has FP16_OVFL or one of the bits of wave/special.h.
 *
 * At head EXEC_BEGIN a kernel's waves begin, so many of one workgroup that are side by side and as they were
 * started: the next one when one has ended, for as long as they do.  The guard's wave is then the last one
 * that has begun, and which did not end if the result is not NULL.  At other heads there is one.
 */
enum { EXEC_BEGIN = 0 };
typedef const struct xinst *exec_compiled_fn(struct wave *w, const struct xinst *x, uint32_t head,
                                             uint32_t waves);
struct exec_compiled {
    exec_compiled_fn *fn;
    const uint32_t *heads;       /* for each of a block's instructions and its sentinel; 0: it is no head */
    const struct exec_run *runs; /* EXEC_RUNS: what is executed from a head on; else NULL */
    uint32_t stores;             /* bytes that a work-item may store past the host's caches */
};

/* The forms that a function may be compiled to. */
enum exec_form {
    EXEC_WHOLE,
    EXEC_COUNTED, /* the same, which counts statistics */
    EXEC_RUNS,    /* timing mode's: runs of instructions that compute */
    EXEC_FORMS
};

/* Instructions in a row that cannot fault, do not branch, and change EXEC at the end only. */
struct exec_run {
    uint16_t length;
    uint16_t valu;   /* of class XC_VALU */
    uint32_t passes; /* of the VALU */
};

/* Whether only its wave can see when it is executed: it computes on its registers, or does nothing. */
static inline bool exec_is_own(unsigned op)
{
    switch (isa_facts[op].unit) {
    case ISA_UNIT_CONTROL:
        return op == ISA_OP_s_nop || op == ISA_OP_s_waitcnt || op == ISA_OP_s_setprio;
    case ISA_UNIT_SALU: /* not what changes the instructions behind it */
        return !(isa_facts[op].effects & ISA_E_SETS_MODE);
    case ISA_UNIT_VALU:
    case ISA_UNIT_TRANS:
    case ISA_UNIT_MATRIX:
        return true;
    default:
        return false;
    }
}

struct exec_block;

/* Who compiles; see jit/jit.h.  Any number of threads may ask. */
struct exec_compiler {
    /* The heat from which on what was compiled before is looked for; and from which on a function is to be
     * compiled, which grows with its instructions, as what that takes does. */
    unsigned warm[EXEC_FORMS], hot[EXEC_FORMS], hot_each[EXEC_FORMS];
    /* Sets block->compiled[form], now or later or never; `hot`: by compiling if need be. */
    void (*ask)(struct exec_compiler *compiler, struct exec_block *block, enum exec_form form, bool hot);
    /* Executes wave.stretch by the handlers, for its lanes. */
    void (*redo)(struct wave *w);
    /* The block goes, and what was compiled of it. */
    void (*forget)(struct exec_compiler *compiler, struct exec_block *block);
};

/* One translated function, or stretch of code between known boundaries. */
struct exec_block {
    uint64_t start, end;
    size_t count;
    struct xinst *x;                 /* count instructions, then a sentinel that continues at `end` */
    struct isa_inst *isa;            /* count */
    struct xdpp *dpp;                /* one for each DPP instruction */
    uint32_t *index;                 /* dword offset -> instruction, UINT32_MAX inside of one */
    unsigned rows;                   /* of the register file that its instructions name */
    const struct isa_target *target; /* whose code it is */
    bool observed;                   /* its instructions look for float exceptions: see observe.h */
    _Atomic(const struct exec_compiled *) compiled[EXEC_FORMS];
    _Atomic unsigned heat[EXEC_FORMS];
};

/* Says where the function that contains pc begins and ends; false when pc is not in loaded code. */
typedef bool exec_bounds_fn(void *context, uint64_t pc, uint64_t *start, uint64_t *end);
/* Says whether float exceptions of the code at pc are looked at: see observe.h. */
typedef bool exec_observes_fn(void *context, uint64_t pc);

struct exec_code {
    const struct isa_target *target; /* whose code it is */
    pthread_rwlock_t lock;
    struct exec_block **blocks; /* sorted by start */
    size_t count, capacity;
    exec_bounds_fn *bounds;
    exec_observes_fn *observes; /* NULL: none are */
    void *context;
    unsigned level;                 /* 2, 3, 4: which build of the handlers */
    uint64_t host_cache;            /* bytes of the host's last cache */
    struct exec_compiler *compiler; /* NULL: everything is interpreted */
    _Atomic unsigned generation;    /* changes when code is dropped: thread caches look at it */
};

/* A thread's own memory of recent lookups. */
struct exec_code_cache {
    unsigned generation;
    /* Whoever interprets wants to look for compiled code where a wave goes to another function: with some of
     * its budget left, exec_code_at() is NULL then, and the wave, which still runs, is to go on at `next`. */
    bool stops;
    struct {
        uint64_t pc;
        const struct xinst *x;
        struct exec_block *block; /* its function */
    } slot[256];
};

/* The level of the handlers that this host can run: see exec_code.level. */
unsigned exec_code_level(void);

void exec_code_init(struct exec_code *code, const struct isa_target *target, exec_bounds_fn *bounds,
                    void *context);
void exec_code_destroy(struct exec_code *code);
/* Forgets translations that overlap [start, end): before the code object is unloaded. */
void exec_code_drop(struct exec_code *code, uint64_t start, uint64_t end);

/* One instruction as the interpreter runs it; `x` points to `inst`. */
void exec_translate(unsigned level, const struct isa_inst *inst, struct xinst *x, uint64_t pc);

/* Whether it writes to LDS, atomics too. */
static inline bool exec_writes_lds(const struct xinst *x)
{
    return x->cls == XC_LDS && isa_facts[x->op].effects & ISA_E_STORE;
}

/* Whether a translated instruction, which is none of the reserved ones, is implemented. */
bool exec_is_implemented(const struct xinst *x);

/* The instruction at pc; NULL when there is no code, or pc is inside of an instruction. */
const struct xinst *exec_code_find(struct exec_code *code, struct exec_code_cache *cache, uint64_t pc);

/*
 * The function of an instruction that somebody executes, and its compiled form if that may be entered.  One
 * that is not compiled gets the heat of what is executed: about as many instructions, EXEC_BEGINS for a
 * wave's first stretch, EXEC_CONTINUES for one from a barrier to the next, EXEC_GOES for what begins with a
 * call and comes back.
 */
enum { EXEC_BEGINS = 1 << 30, EXEC_CONTINUES, EXEC_GOES };
const struct exec_compiled *exec_code_compiled(struct exec_code *code, struct exec_code_cache *cache,
                                               const struct xinst *in, enum exec_form form, unsigned heat,
                                               const struct exec_block **block);

/* How many rows the function there names; 0 when it was not found. */
unsigned exec_code_rows(const struct exec_code_cache *cache, uint64_t pc);

#endif
