/* SPDX-License-Identifier: MIT */
/* See guess.h. */
#include "jit/guess.h"

#include <string.h>

/* How far it looks back, for all rows of a guess, and of how many instructions each follows from others. */
enum { BACK = 4096, DEPTH = 24 };

/* Of scalar registers: too large to be somebody's step. */
static const uint32_t SCALAR = 1u << 20;

struct guess {
    const struct emit *e;
    unsigned left, depth;
};

static bool row_before(struct guess *g, const struct xinst *x, unsigned row, uint32_t *lane);

static bool source(struct guess *g, const struct xinst *x, int i, uint32_t *lane)
{
    const struct isa_operand *o = &x->isa->src[i];
    if (stretch_is_row(o))
        return row_before(g, x, stretch_row(o), lane);
    for (unsigned l = 0; l < GUESS_LANES; l++)
        lane[l] = o->kind == ISA_CONST ? (uint32_t)o->value : SCALAR;
    return o->kind == ISA_CONST || o->kind == ISA_SGPR;
}

static unsigned sources(unsigned op)
{
    switch (op) {
    case ISA_OP_v_mov_b32:
        return 1;
    case ISA_OP_v_add_u32:
    case ISA_OP_v_sub_u32:
    case ISA_OP_v_subrev_u32:
    case ISA_OP_v_or_b32:
    case ISA_OP_v_xor_b32:
    case ISA_OP_v_and_b32:
    case ISA_OP_v_lshlrev_b32:
    case ISA_OP_v_lshrrev_b32:
    case ISA_OP_v_ashrrev_i32:
    case ISA_OP_v_mul_lo_u32:
    case ISA_OP_v_mul_u32_u24:
    case ISA_OP_v_mbcnt_lo_u32_b32:
    case ISA_OP_v_mbcnt_hi_u32_b32:
        return 2;
    case ISA_OP_v_add3_u32:
    case ISA_OP_v_lshl_add_u32:
    case ISA_OP_v_add_lshl_u32:
    case ISA_OP_v_lshl_or_b32:
    case ISA_OP_v_and_or_b32:
    case ISA_OP_v_or3_b32:
    case ISA_OP_v_bfe_u32:
    case ISA_OP_v_mad_u32_u24:
        return 3;
    default:
        return 0;
    }
}

/* Of one of the first lanes. */
static uint32_t result(unsigned op, unsigned lane, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t low24 = (1u << 24) - 1;
    switch (op) {
    case ISA_OP_v_mov_b32:
        return a;
    case ISA_OP_v_add_u32:
        return a + b;
    case ISA_OP_v_sub_u32:
        return a - b;
    case ISA_OP_v_subrev_u32:
        return b - a;
    case ISA_OP_v_or_b32:
        return a | b;
    case ISA_OP_v_xor_b32:
        return a ^ b;
    case ISA_OP_v_and_b32:
        return a & b;
    case ISA_OP_v_lshlrev_b32:
        return b << (a & 31);
    case ISA_OP_v_lshrrev_b32:
        return b >> (a & 31);
    case ISA_OP_v_ashrrev_i32:
        return (uint32_t)((int32_t)b >> (a & 31));
    case ISA_OP_v_mul_lo_u32:
        return a * b;
    case ISA_OP_v_mul_u32_u24:
        return (a & low24) * (b & low24);
    case ISA_OP_v_mbcnt_lo_u32_b32:
        return b + (uint32_t)__builtin_popcount(a & ((1u << lane) - 1));
    case ISA_OP_v_mbcnt_hi_u32_b32:
        return b;
    case ISA_OP_v_add3_u32:
        return a + b + c;
    case ISA_OP_v_lshl_add_u32:
        return (a << (b & 31)) + c;
    case ISA_OP_v_add_lshl_u32:
        return (a + b) << (c & 31);
    case ISA_OP_v_lshl_or_b32:
        return (a << (b & 31)) | c;
    case ISA_OP_v_and_or_b32:
        return (a & b) | c;
    case ISA_OP_v_or3_b32:
        return a | b | c;
    case ISA_OP_v_bfe_u32:
        return (a >> (b & 31)) & ((1u << (c & 31)) - 1);
    default: /* v_mad_u32_u24 */
        return (a & low24) * (b & low24) + c;
    }
}

static bool execute(struct guess *g, const struct xinst *x, uint32_t *lane)
{
    const struct isa_inst *inst = x->isa;
    const unsigned count = sources(x->op);
    uint32_t from[3][GUESS_LANES] = {{0}};
    if (!count || inst->sdwa || inst->dpp || inst->clamp || g->depth == DEPTH)
        return false;
    g->depth++;
    for (unsigned i = 0; i < count; i++)
        if (!source(g, x, (int)i, from[i]))
            return false;
    g->depth--;
    for (unsigned l = 0; l < GUESS_LANES; l++)
        lane[l] = result(x->op, l, from[0][l], from[1][l], from[2][l]);
    return true;
}

static bool row_before(struct guess *g, const struct xinst *x, unsigned row, uint32_t *lane)
{
    while (x-- > g->e->block->x && g->left) {
        g->left--;
        if (!x->isa || !stretch_is_row(&x->isa->dst))
            continue;
        const unsigned first = stretch_row(&x->isa->dst);
        if (row >= first && row < first + x->isa->dst.dwords)
            return execute(g, x, lane);
    }
    for (unsigned l = 0; l < GUESS_LANES; l++)
        lane[l] = l;
    return row == 0 && g->left;
}

bool guess_step(const struct emit *e, const struct xinst *x, unsigned row, uint32_t *step)
{
    struct guess g = {.e = e, .left = BACK};
    uint32_t lane[GUESS_LANES];
    if (!row_before(&g, x, row, lane))
        return false;
    *step = lane[1] - lane[0];
    for (unsigned l = 2; l < GUESS_LANES; l++)
        if (lane[l] - lane[l - 1] != *step)
            return false;
    return true;
}
