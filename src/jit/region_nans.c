/* SPDX-License-Identifier: MIT */
/*
 * NaNs of a region that nobody looks at.  The host's NaNs are not AMD's, but where arithmetic of a region
 * only hands them on to other arithmetic, and compares, it does not matter which they are: so nobody looks
 * whether there are some, but for rows that somebody may read behind the region, when it is left.
 *
 * Of each row it is known whether any instruction of the region may see what is in a NaN that it has, be it
 * of f32, or with another row of f64.
 */
#include "isa/facts.h"
#include "jit/region.h"

enum { F32, F64, KINDS };

static bool is_plain(const struct isa_inst *inst)
{
    return !inst->sdwa && !inst->dpp && !inst->clamp;
}

/* Whether any row of the result shows a NaN. */
static bool shows(const struct region *r, const struct isa_inst *inst, unsigned kind)
{
    bool any = !stretch_is_row(&inst->dst);
    for (unsigned d = 0; !any && d < inst->dst.dwords; d++)
        any = r->shows_nan[kind][stretch_row(&inst->dst) + d];
    return any;
}

/* Whether an instruction shows a NaN in its source, of this kind. */
static bool shows_source(const struct region *r, const struct xinst *x, int i, unsigned kind)
{
    const struct isa_inst *inst = x->isa;
    const unsigned type = inst->src[i].type;
    const enum nan_kind result = nans_kind(x->op);
    const bool same = kind == F64 ? type == ISA_T_F64 : type == ISA_T_F32 || type == ISA_T_PKF32;
    if (!is_plain(inst))
        return true;
    if (x->op == ISA_OP_v_mov_b32)
        return shows(r, inst, kind);
    if (x->op == ISA_OP_v_cndmask_b32 && i < 2 && !(inst->neg | inst->abs))
        return shows(r, inst, kind);
    if (!same)
        return true;
    if (nans_is_comparison(x->op))
        return false;
    return result == NAN_NONE || (result == NAN_F64) != (kind == F64) || shows(r, inst, kind);
}

static bool mark(bool *shown)
{
    const bool news = !*shown;
    *shown = true;
    return news;
}

static bool mark_operand(struct region *r, const struct isa_operand *o, unsigned kind)
{
    bool news = false;
    for (unsigned d = 0; stretch_is_row(o) && d < o->dwords; d++)
        news |= mark(&r->shows_nan[kind][stretch_row(o) + d]);
    return news;
}

static bool mark_instruction(struct emit *e, struct region *r, const struct xinst *x)
{
    struct lane_op op;
    bool news = false;
    if (x->cls == XC_SALU || x->cls == XC_SMEM || lift_leaves(x) || lift_does_nothing(x->op))
        return false;
    const bool overwrites =
        stretch_takes(e, x, &op) && live_overwrites(e, x, &op) && !(op.body && body_reads(op.body, BODY_O));
    for (unsigned kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < 4; i++)
            if (stretch_is_row(&x->isa->src[i]) && (i == 3 || shows_source(r, x, i, kind)))
                news |= mark_operand(r, &x->isa->src[i], kind);
        if (!overwrites)
            news |= mark_operand(r, &x->isa->dst, kind);
    }
    return news;
}

void region_find_nans(struct emit *e, struct region *r)
{
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0; i < r->blocks; i++)
            for (size_t at = r->block[i].first; r->block[i].reached && at < r->block[i].end; at++)
                again |= mark_instruction(e, r, &e->block->x[at]);
    }
}

unsigned region_hides_nans(struct emit *e, const struct lane_op *op)
{
    struct region *r = e->region;
    const struct isa_inst *inst = op->x->isa;
    const unsigned row = stretch_row(&inst->dst), kind = op->nan_kind == NAN_F64 ? F64 : F32;
    unsigned halves = 0;
    if (!op->nan_kind || !is_plain(inst) || !stretch_is_row(&inst->dst))
        return 0;
    if (op->nan_kind == NAN_PAIR) {
        for (unsigned half = 0; half < 2; half++)
            if (!r->shows_nan[F32][row + half]) {
                r->may_be_nan[row + half] = true;
                halves |= 1u << half;
            }
        return halves;
    }
    if (r->shows_nan[kind][row] || (kind == F64 && r->shows_nan[kind][row + 1]))
        return 0;
    *(kind == F64 ? &r->pair_may_be_nan[row] : &r->may_be_nan[row]) = true;
    return 3;
}

llvm_value region_late_nans(struct emit *e, unsigned part)
{
    const struct region *r = e->region;
    llvm_value bad = NULL;
    for (unsigned row = 0; row < WAVE_ROWS; row++) {
        const bool pair = r->pair_may_be_nan[row] && (r->row_left[row] || r->row_left[row + 1]);
        if (!pair && !(r->may_be_nan[row] && r->row_left[row]))
            continue;
        llvm_value first = region_row_now(e, part, row);
        llvm_value nan = pair ? nans_in(e, first, region_row_now(e, part, row + 1)) : nans_in(e, NULL, first);
        bad = bad ? e->l->BuildOr(e->b, bad, nan, "") : nan;
        if (pair && r->may_be_nan[row] && r->row_left[row])
            bad = e->l->BuildOr(e->b, bad, nans_in(e, NULL, first), "");
    }
    return bad ? lanes_of(e, bad) : NULL;
}
