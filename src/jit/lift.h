/* SPDX-License-Identifier: MIT */
/*
 * Makes LLVM's code of a translated function of the GPU's.
 *
 * The function that comes out is an exec_compiled_fn: it is entered at a head (the first instruction of a
 * basic block), and returns what to execute next, as a handler does.  It refers to the wave, to the array of
 * translated instructions, and to what lift_symbol() names, and to no address besides, so that it can be
 * kept on disk.
 */
#ifndef EHP_JIT_LIFT_H
#define EHP_JIT_LIFT_H

#include "exec/code.h"
#include "jit/body.h"

/* Of more basic blocks LLVM takes seconds, four times as long for twice as many. */
enum { LIFT_INSTRUCTIONS_MAX = 20000, LIFT_BLOCKS_MAX = 4000 };

#define LIFT_NAME "compiled"

/* How much is made of a function, which LLVM takes its time for. */
enum lift_effort {
    LIFT_PLAIN,    /* handlers access memory and LDS; what is lane-wise is there once */
    LIFT_SINGLE,   /* stretches have versions for how their addresses lie, in LDS as is guessed */
    LIFT_VERSIONS, /* and for which lanes are active */
};

struct lift_target {
    const struct llvm *l;
    llvm_context context;
    struct body_library *library;
    unsigned slice; /* lanes */
};

/* Numbers a function's heads from 1 on, for each instruction and the sentinel; 0: it is none.  How many there
 * are; 0 when memory is short. */
uint32_t lift_heads(const struct exec_block *block, uint32_t *heads);

/* The same for EXEC_RUNS, with what is executed from each head on (runs.c). */
bool lift_runs(const struct exec_block *block, uint32_t *heads, struct exec_run *runs);

/*
 * Emits the function with these heads into the module, in that form; `runs`: of EXEC_RUNS, else NULL.  What
 * it emits follows from the function's bytes and the effort, and nothing else of the block.
 */
void lift_function(const struct lift_target *target, llvm_module module, const struct exec_block *block,
                   enum exec_form form, const uint32_t *heads, const struct exec_run *runs,
                   enum lift_effort effort);

/* exec_compiled.stores */
uint32_t lift_stores(const struct exec_block *block);

/* exec_compiler.redo */
void lift_redo(struct wave *w);

/* The address of what compiled code calls; NULL for any other name. */
void *lift_symbol(void *context, const char *name);

#endif
