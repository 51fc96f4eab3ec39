/* SPDX-License-Identifier: MIT */
/*
 * What the packed handlers share: operands under VOP3P's modifiers, and results.
 *
 * A register of packed 16-bit values is an array of 128 halves, the low one of
 * lane 0 first; without modifiers, packed arithmetic is element-wise on those.
 * OP_SEL chooses which half of a source the low result takes (1 = high),
 * OP_SEL_HI which the high result takes; NEG and NEG_HI negate what was chosen.
 * Scalars and constants are dwords for this; f16 constants have zero in the high
 * half, so LLVM writes them with op_sel_hi 0.
 *
 * xinst.post says here that some modifier is not the default.  (The VOP2 forms,
 * dot2c and pk_fmac, are the vector ALU's.)
 *
 * Source: "AMD Instinct MI300 ISA", sections 6.6 (packed math) and 13.3.6.
 */
#ifndef EHP_SEM_VECTOR_PACKED_H
#define EHP_SEM_VECTOR_PACKED_H

#include "sem/vector/lane_modify.h"
#include "sem/vector/valu.h"
#include "sem/vector/vec.h"

enum { HALVES = 2 * WAVE_LANES };

typedef uint16_t __attribute__((may_alias)) packed_half;

static inline bool packed_clamp(const struct xinst *in)
{
    return in->post && in->isa->clamp;
}

/* Applies OP_SEL and the negations to source i. */
static inline const uint32_t *packed_select(uint32_t *temp, const uint32_t *s, const struct isa_inst *inst,
                                            int i, bool is_float)
{
    bool low_high = inst->op_sel >> i & 1, high_high = inst->op_sel_hi >> i & 1;
    uint32_t flip = 0;
    if (is_float)
        flip = (inst->neg >> i & 1 ? 0x8000u : 0) | (inst->neg_hi >> i & 1 ? 0x80000000u : 0);
    for (int l = 0; l < WAVE_LANES; l++)
        temp[l] = modify_halves(s[l], low_high, high_high, flip);
    return temp;
}

/* Rows of the first n sources, 16-bit halves selected. */
static inline void packed_sources(struct wave *w, const struct xinst *in, int n, bool is_float,
                                  wave_row *temp, const uint32_t **s)
{
    if (in->any_prep)
        exec_prepare(w, in);
    for (int i = 0; i < n; i++) {
        s[i] = w->v[in->s[i]];
        if (in->post)
            s[i] = packed_select(temp[i], s[i], in->isa, i, is_float);
    }
}

static inline const struct xinst *packed_commit(struct wave *w, const struct xinst *in, const uint32_t *r)
{
    row_merge(w->v[in->d], r, w->exec);
    return in + 1;
}

/* The parts of sem_packed(). */
#define PACKED_DECLARE_LEVEL(level)                                                                          \
    sem_lookup_fn sem_packed_int_##level;                                                                    \
    sem_lookup_fn sem_packed_f16_##level;                                                                    \
    sem_lookup_fn sem_packed_f32_##level;                                                                    \
    sem_lookup_fn sem_packed_dot_##level;
PACKED_DECLARE_LEVEL(v2)
PACKED_DECLARE_LEVEL(v3)
PACKED_DECLARE_LEVEL(v4)

#endif
