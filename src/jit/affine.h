/* SPDX-License-Identifier: MIT */
/*
 * Addresses that go up by the same step from lane to lane of a slice, as most do: first + lane * step. Slices
 * begin anywhere, as where a workgroup's rows are shorter than a wave.
 *
 * affine_follow() goes through a stretch's integer instructions and notes how rows are made of others, and of
 * those that are there before the stretch.  From that slices' first values, as a vector of one for each, and
 * the step of a place are found once for the wave, with what has to hold for it: affine_find() emits that.
 * What holds is found at run time only: a row may be anything.
 */
#ifndef EHP_JIT_AFFINE_H
#define EHP_JIT_AFFINE_H

#include "jit/llvm.h"
#include "wave/wave.h"

enum { AFFINE_NODES = 384, AFFINE_UNTOUCHED = 0, AFFINE_UNKNOWN = 1, AFFINE_FIRST = 2 };

struct emit;
struct lane_op;

/* What has to be 0: an i64, and dwords of slices; NULL: nothing. */
struct affine_wrong {
    llvm_value one, each;
};

/* How a value of 32 or 64 bits is made of others. */
struct affine_node {
    uint8_t kind;
    bool wide;
    uint16_t a, b;
    uint32_t number;      /* a row, or how far it is shifted */
    llvm_value scalar[2]; /* its dwords, when it is the same for all lanes */
    llvm_value first, step;
    struct affine_wrong wrong;
};

struct affine {
    struct affine_node node[AFFINE_NODES];
    unsigned count;
    bool pairs;              /* two rows that are there before are one value */
    uint16_t row[WAVE_ROWS]; /* what rows hold: nodes, or one of the above */
    uint16_t carry[128];     /* the sum of which a mask, by its register, is the carry; 0: it is none */
};

/* When nothing is wrong, lane l of each slice has first + l * step, as i64s.  `first` is one value where it
 * is the same for all slices, or of one slice, in a loop. */
struct affine_place {
    llvm_value first, step;
    struct affine_wrong wrong;
};

/* A stretch begins. */
void affine_clear(struct affine *a);
/* Notes what an instruction makes of its sources. */
void affine_follow(struct emit *e, const struct lane_op *op);
/* The node of where a load or store of memory goes; AFFINE_UNKNOWN. */
unsigned affine_place_of(struct emit *e, const struct lane_op *op);
/* Whether it is a row as it is before the stretch, and which; and such a row's first lanes in slices. */
bool affine_is_row(const struct affine *a, unsigned place, unsigned *number);
llvm_value affine_firsts(const struct emit *e, unsigned row);
/* A mask becomes something else. */
void affine_forget_masks(struct affine *a, unsigned reg, unsigned count);
/* The 64 bits that two rows hold now; and, of one row, 32. */
unsigned affine_wide(struct affine *a, unsigned row);
unsigned affine_row(struct affine *a, unsigned row);
/* Emits what it is. */
struct affine_place affine_find(struct emit *e, unsigned place);
/* Adds what has to be 0, of all or of each slice; all that another has; and whether nothing is wrong. */
void affine_need_zero(const struct emit *e, struct affine_wrong *wrong, llvm_value value);
void affine_need(const struct emit *e, struct affine_wrong *wrong, const struct affine_wrong *also);
llvm_value affine_is_right(const struct emit *e, const struct affine_wrong *wrong);
/* Instructions of the builder, for values of which one may be of all slices; and one for each slice. */
typedef llvm_value affine_build(llvm_builder b, llvm_value x, llvm_value y, const char *name);
llvm_value affine_make(const struct emit *e, affine_build *build, llvm_value x, llvm_value y);
bool affine_is_each(const struct emit *e, llvm_value value);
llvm_value affine_each(const struct emit *e, llvm_value value);

#endif
