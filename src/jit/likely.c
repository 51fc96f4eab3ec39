/* SPDX-License-Identifier: MIT */
/*
 * Likely slices: all lanes are active, and where they read LDS goes up by the steps that guess.h expects.
 * That is looked at once for each row of addresses that is there before the stretch, and its reads go without
 * a branch: unrolled loops have dozens of them at the same few rows, and with branches between them the host
 * has to hold what all have read.
 */
#include "jit/guess.h"
#include "jit/places.h"

/* How many reads make it worth it. */
enum { READS_MIN = 4 };

static bool is_read(const struct lane_op *op)
{
    return !op->body && !op->logic && !op->writes && !op->once && op->x->isa->format == ISA_DS &&
           reads_is_known(op->x);
}

/* How far from a lane's address an instruction reads. */
static uint32_t end_of(const struct xinst *x)
{
    const bool twice = memop_of(x->isa->op)->action == MEMOP_LOAD2;
    const uint32_t first = (uint32_t)x->mem.offset, second = twice ? x->mem.second : 0;
    return (first > second ? first : second) + memop_bytes(places_kind(x));
}

static bool is_step(enum memop_kind kind, uint32_t step)
{
    unsigned steps[READS_STEPS];
    const unsigned count = reads_steps_of(kind, steps);
    bool is = step == 0 || step == memop_bytes(kind);
    for (unsigned i = 0; i < count; i++)
        is |= steps[i] == step;
    return is;
}

static struct likely *find_row(struct slice *s, llvm_value row)
{
    for (unsigned i = 0; i < s->likelies; i++)
        if (s->likely[i].row == row)
            return &s->likely[i];
    return NULL;
}

/* Notes a read of a row as it is before the stretch; false: it is not likely to go by a step. */
static bool add_read(struct emit *e, struct slice *s, const struct lane_op *op)
{
    const unsigned row = (unsigned)op->x->s[0];
    const uint32_t end = end_of(op->x);
    uint32_t step;
    for (unsigned i = 0; i < s->likelies; i++)
        if (s->likely[i].number == row) {
            if (s->likely[i].end < end)
                s->likely[i].end = end;
            return is_step(places_kind(op->x), s->likely[i].step);
        }
    if (s->likelies == SHAPES_MAX || !guess_step(e->guess, op->x, &step) ||
        !is_step(places_kind(op->x), step))
        return false;
    s->likely[s->likelies++] = (struct likely){.number = row, .step = step, .end = end};
    return true;
}

bool likely_find(struct emit *e, struct slice *s)
{
    bool written[WAVE_ROWS] = {false};
    unsigned reads = 0;
    for (unsigned i = 0; i < e->ops; i++) {
        const struct lane_op *op = &e->op[i];
        if (is_read(op) && !written[op->x->s[0]])
            reads += add_read(e, s, op);
        const struct isa_operand *const to[] = {&op->x->isa->dst, &op->x->isa->src[0]};
        for (unsigned o = 0; o < (op->x->op == ISA_OP_v_swap_b32 ? 2 : 1); o++)
            for (unsigned d = 0; d < to[o]->dwords && stretch_is_row(to[o]); d++)
                written[stretch_row(to[o]) + d] = true;
    }
    return reads >= READS_MIN;
}

llvm_value likely_test(struct emit *e, struct slice *s)
{
    const struct llvm *l = e->l;
    llvm_value lanes = NULL;
    llvm_value good = lanes_all(e, s->exec);
    for (unsigned i = 0; i < s->likelies; i++) {
        struct likely *k = &s->likely[i];
        k->row = s->value[k->number] = slice_load(e, s, k->number);
        llvm_value first = places_first(e, k->row);
        llvm_value steps = l->BuildAdd(e->b, emit_splat(e, first), places_row(e, 0, k->step), "");
        llvm_value is = l->BuildICmp(e->b, LLVM_EQ, k->row, steps, "");
        lanes = lanes ? places_and(e, lanes, is) : is;
        first = l->BuildZExt(e->b, first, e->i64, "");
        k->address = l->BuildGEP2(e->b, e->i8, e->lds, &first, 1, "");
        good = places_and(e, good, places_inside(e, first, k->step * (e->slice - 1) + k->end));
    }
    return places_and(e, good, lanes_all(e, lanes_of(e, lanes)));
}

/* One element's dwords for all lanes, which nobody else changes meanwhile. */
static void read_equal(struct emit *e, llvm_value address, enum memop_kind kind, llvm_value *rows)
{
    if (places_is_part(kind)) {
        reads_equal(e, address, kind, rows);
        return;
    }
    for (unsigned d = 0; d < memop_dwords(kind); d++) {
        llvm_value word = emit_load(e, e->i32, address, d * 4);
        e->l->SetAlignment(word, 1);
        rows[d] = emit_splat(e, word);
    }
}

static void read_at(struct emit *e, const struct likely *k, uint32_t offset, enum memop_kind kind,
                    llvm_value *rows)
{
    llvm_value address = emit_at(e, k->address, offset);
    if (k->step == 0)
        read_equal(e, address, kind, rows);
    else if (k->step == memop_bytes(kind))
        reads_dense(e, address, kind, NULL, rows);
    else
        reads_steps(e, address, kind, k->step, NULL, rows);
}

bool likely_read(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value *rows)
{
    const struct likely *k = find_row(s, low);
    const enum memop_kind kind = places_kind(op->x);
    if (!k || end_of(op->x) > k->end || !is_step(kind, k->step))
        return false;
    read_at(e, k, (uint32_t)op->x->mem.offset, kind, rows);
    if (memop_of(op->x->isa->op)->action == MEMOP_LOAD2)
        read_at(e, k, op->x->mem.second, kind, rows + memop_dwords(kind));
    return true;
}
