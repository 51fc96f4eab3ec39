/* SPDX-License-Identifier: MIT */
/*
 * Addresses that go up by the same step from lane to lane, as most do: first + lane * step.
 *
 * affine_follow() goes through a stretch's integer instructions and notes how rows are made of others, and of
 * those that are there before the stretch.  From that the first lane's value and the step of a place are
 * found with scalars, once for the wave, with what has to hold for it: affine_find() emits that.  What holds
 * is found at run time only: a row may be anything.
 */
#ifndef EHP_JIT_AFFINE_H
#define EHP_JIT_AFFINE_H

#include "jit/llvm.h"
#include "wave/wave.h"

enum { AFFINE_NODES = 384, AFFINE_UNTOUCHED = 0, AFFINE_UNKNOWN = 1, AFFINE_FIRST = 2 };

struct emit;
struct lane_op;

/* How a value of 32 or 64 bits is made of others. */
struct affine_node {
    uint8_t kind;
    bool wide;
    uint16_t a, b;
    uint32_t number;      /* a row, or how far it is shifted */
    llvm_value scalar[2]; /* its dwords, when it is the same for all lanes */
    llvm_value first, step, wrong;
};

struct affine {
    struct affine_node node[AFFINE_NODES];
    unsigned count;
    bool pairs;              /* two rows that are there before are one value */
    uint16_t row[WAVE_ROWS]; /* what rows hold: nodes, or one of the above */
    uint16_t carry[128];     /* the sum of which a mask, by its register, is the carry; 0: it is none */
};

/* `wrong`, as an i64, is 0 when active lane l has first + l * step, as i64s; which needs all lanes active. */
struct affine_place {
    llvm_value first, step, wrong;
};

/* A stretch begins. */
void affine_clear(struct affine *a);
/* Notes what an instruction makes of its sources. */
void affine_follow(struct emit *e, const struct lane_op *op);
/* The node of where a load or store of memory goes; AFFINE_UNKNOWN. */
unsigned affine_place_of(struct emit *e, const struct lane_op *op);
/* A mask becomes something else. */
void affine_forget_masks(struct affine *a, unsigned reg, unsigned count);
/* The 64 bits that two rows hold now; and, of one row, 32. */
unsigned affine_wide(struct affine *a, unsigned row);
unsigned affine_row(struct affine *a, unsigned row);
/* Emits what it is. */
struct affine_place affine_find(struct emit *e, unsigned place);

#endif
