/* SPDX-License-Identifier: MIT */
/* Loops turned inside out (loop.c): which can be, and what their instructions use (loop_find.c); what their
 * slices leave behind (loop_carry.c). */
#ifndef EHP_JIT_LOOP_H
#define EHP_JIT_LOOP_H

#include "jit/emit.h"

/* Scalar registers that an instruction reads or writes: as one value, or as a mask of which lanes have bits.
 */
struct loop_use {
    unsigned reg, count;
    bool mask;
};

struct loop_uses {
    struct loop_use read[5], write;
    unsigned reads;
    bool writes, scalar, logic, reads_scc, sets_scc, from_memory;
};

/* What registers hold in the course of an iteration. */
struct loop_forms {
    bool mask[SREGS];    /* the bits of lanes, of which a slice has its own */
    bool written[SREGS]; /* in this iteration */
    bool scc_of_lanes;
};

/* Whether an instruction finds registers as it reads them; and may write them. */
bool loop_read_forms(const struct loop_forms *f, const struct loop_uses *u);
bool loop_write_forms(struct loop_forms *f, const struct loop_uses *u);

/* What logic makes of bits of lanes that are not active, of enum loop_idle; from LOOP_IDLES on: what that
 * register was. */
int loop_idle_of(unsigned op, int a, int b);

/* False for an instruction that is not to be done slice by slice; `logic`: it is of masks; `leaving`: lanes
 * may have left. */
bool loop_uses_of(struct emit *e, const struct xinst *x, bool logic, bool leaving, struct loop_uses *u);
/* False for an instruction that no such loop may have. */
bool loop_uses(struct emit *e, const struct loop *loop, const struct xinst *x, struct loop_uses *u);
/* The loop that begins here. */
bool loop_find(struct emit *e, const struct xinst *first, struct loop *loop);

/*
 * The version of it whose addresses go up evenly (loop_even.c): whether there is one, of a copy; before its
 * slices' first iteration; before an iteration's lane-wise instructions of one of them, which returns what
 * has to be 0 (NULL: nothing); what is from the iteration before; and rows, as the loop is left.
 */
bool loop_even_find(struct emit *e, struct loop *loop);
void loop_even_enter(struct emit *e);
llvm_value loop_even_part(struct emit *e, unsigned part);
void loop_even_close(struct emit *e);
void loop_even_leave(struct emit *e);
/* A phi at the head: `first` in the first iteration. */
llvm_value loop_make_phi(struct emit *e, llvm_type type, llvm_value first);

/* Where a scalar register is in the wave. */
size_t loop_place(unsigned reg);
llvm_value loop_budget(struct emit *e);
/* A value of the wave's, loaded in that block. */
llvm_value loop_load_in(struct emit *e, llvm_block block, llvm_type type, size_t offset);
/* Whether any bit is set, or a pointer is not NULL. */
llvm_value loop_is_some(struct emit *e, llvm_value value);
/* How often the branch was executed: as often as it was taken, and once more when the loop was `left`. */
llvm_value loop_iterations(struct emit *e, llvm_value before, llvm_value after, llvm_value left);
/* Before the first slice, with the wave's budget. */
void loop_begin_carrying(struct emit *e, const struct loop *loop, llvm_value budget);
/* Slices are done.  Of a loop that lanes leave one by one, the budget is as if its branch had been taken,
 * `left` are the bits of lanes that have not left, and `active` is how many there were in all. */
void loop_end_slices(struct emit *e, llvm_value budget, const llvm_value *left, llvm_value active);
/* All slices are: masks; and what is scalar of a loop that lanes leave one by one, with whether its branch is
 * taken in the end, and the budget if it is, and if not. */
void loop_settle_masks(struct emit *e);
void loop_settle_left(struct emit *e, llvm_value *taken, llvm_value *less, llvm_value *budget);
/* Counts the loop's instructions, of so many iterations for these lanes. */
void loop_count(struct emit *e, llvm_value exec, llvm_value times);
/* Where handlers do what is left, from the first lane of the present slices on. */
void loop_emit_redo(struct emit *e, llvm_value exec, llvm_value lanes, llvm_value budget);

#endif
