/* SPDX-License-Identifier: MIT */
/*
 * Where lanes read from other slices: ds_bpermute_b32, ds_swizzle_b32, and DPP that goes so far.  That is
 * done for the whole wave at once, between stretches, as a slice by itself has not what it reads.
 */
#include <string.h>

#include "jit/guess.h"
#include "jit/places.h"
#include "sem/memory/lds.h"

enum { SLICES_MAX = 8 };

bool crossbar_is_known(const struct xinst *x)
{
    return (x->op == ISA_OP_ds_bpermute_b32 || x->op == ISA_OP_ds_swizzle_b32) && !x->isa->gds;
}

static llvm_value place(struct emit *e, int row, unsigned slice)
{
    return emit_at(e, e->v, row * (int64_t)sizeof(wave_row) + slice * e->slice * 4);
}

static llvm_value load(struct emit *e, int row, unsigned slice)
{
    llvm_value value = e->l->BuildLoad2(e->b, e->row, place(e, row, slice), "");
    e->l->SetAlignment(value, e->slice * 4);
    return value;
}

static llvm_value active(struct emit *e, llvm_value exec, unsigned slice)
{
    return lanes_vector(e, lanes_take(e, exec, emit_i64(e, slice * e->slice)));
}

/* To active lanes; `exec` NULL: all are. */
static void store_rows(struct emit *e, llvm_value exec, int row, unsigned rows,
                       llvm_value value[SLICES_MAX][BODY_ROWS_MAX])
{
    const struct llvm *l = e->l;
    for (unsigned i = 0; i < WAVE_LANES / e->slice; i++)
        for (unsigned d = 0; d < rows; d++) {
            const int at = row + (int)d;
            llvm_value all = value[i][d];
            if (exec)
                all = l->BuildSelect(e->b, active(e, exec, i), all, load(e, at, i), "");
            l->SetAlignment(l->BuildStore(e->b, all, place(e, at, i)), e->slice * 4);
        }
}

/* Without a mask where all lanes are active: a host that soon loads what it has stored under one waits. */
static void store(struct emit *e, llvm_value exec, int row, unsigned rows,
                  llvm_value value[SLICES_MAX][BODY_ROWS_MAX])
{
    const struct llvm *l = e->l;
    llvm_block all = emit_block(e), some = emit_block(e), done = emit_block(e);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, exec, emit_i64(e, UINT64_MAX), ""), all, some);
    emit_goto(e, all);
    store_rows(e, NULL, row, rows, value);
    l->BuildBr(e->b, done);
    emit_goto(e, some);
    store_rows(e, exec, row, rows, value);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
}

/* What lanes `from` have, of which the lower bits count: among a slice or two by the host, and then by the
 * bits above. */
static llvm_value look_up(struct emit *e, const llvm_value *data, llvm_value from)
{
    const struct llvm *l = e->l;
    llvm_value value[SLICES_MAX];
    unsigned count = 0;
    if (e->slice == 16) {
        for (unsigned i = 0; i < WAVE_LANES / 16; i += 2) {
            llvm_value arguments[] = {data[i], from, data[i + 1]};
            value[count++] = emit_intrinsic(e, "llvm.x86.avx512.vpermi2var.d.512", NULL, 0, arguments, 3);
        }
    } else {
        for (unsigned i = 0; i < WAVE_LANES / 8; i++) {
            llvm_value arguments[] = {data[i], from};
            value[count++] = emit_intrinsic(e, "llvm.x86.avx2.permd", NULL, 0, arguments, 2);
        }
    }
    for (unsigned bit = WAVE_LANES / count; count > 1; bit *= 2, count /= 2) {
        llvm_value upper = l->BuildAnd(e->b, from, slice_constant(e, bit), "");
        upper = l->BuildICmp(e->b, LLVM_NE, upper, l->ConstNull(e->row), "");
        for (unsigned i = 0; i < count / 2; i++)
            value[i] = l->BuildSelect(e->b, upper, value[2 * i + 1], value[2 * i], "");
    }
    return value[0];
}

/* The rows that lanes read from; inactive lanes have 0.  `exec` NULL: all are active. */
static void load_data(struct emit *e, const struct xinst *x, llvm_value exec, llvm_value data[SLICES_MAX])
{
    const int row = x->s[x->op == ISA_OP_ds_swizzle_b32 ? 0 : 1];
    for (unsigned i = 0; i < WAVE_LANES / e->slice; i++) {
        data[i] = load(e, row, i);
        if (exec)
            data[i] = e->l->BuildSelect(e->b, active(e, exec, i), data[i], e->l->ConstNull(e->row), "");
    }
}

static void store_result(struct emit *e, const struct xinst *x, llvm_value exec,
                         llvm_value result[SLICES_MAX][BODY_ROWS_MAX])
{
    if (exec)
        store(e, exec, x->d, 1, result);
    else
        store_rows(e, NULL, x->d, 1, result);
}

/* What lanes have that are known now: for a slice of lanes, from so many that it reads. */
static llvm_value shuffle(struct emit *e, const llvm_value *data, const uint32_t *from)
{
    const struct llvm *l = e->l;
    llvm_value value = NULL, index[16];
    for (unsigned i = 0; i < WAVE_LANES / e->slice; i++) {
        bool some = false;
        for (unsigned lane = 0; lane < e->slice; lane++) {
            const bool here = from[lane] / e->slice == i;
            some |= here;
            index[lane] = emit_i32(e, here ? e->slice + from[lane] % e->slice : lane);
        }
        if (some)
            value = l->BuildShuffleVector(e->b, value ? value : data[i], data[i],
                                          l->ConstVector(index, e->slice), "");
    }
    return value;
}

static void move_known(struct emit *e, const struct xinst *x, llvm_value exec, const uint32_t *from)
{
    llvm_value data[SLICES_MAX], result[SLICES_MAX][BODY_ROWS_MAX];
    load_data(e, x, exec, data);
    for (unsigned i = 0; i < WAVE_LANES / e->slice; i++)
        result[i][0] = shuffle(e, data, from + (size_t)i * e->slice);
    store_result(e, x, exec, result);
}

static void move_any(struct emit *e, const struct xinst *x, llvm_value exec)
{
    const struct llvm *l = e->l;
    llvm_value data[SLICES_MAX], result[SLICES_MAX][BODY_ROWS_MAX];
    load_data(e, x, exec, data);
    for (unsigned i = 0; i < WAVE_LANES / e->slice; i++) {
        llvm_value from = load(e, x->s[0], i);
        from = l->BuildAdd(e->b, from, slice_constant(e, (uint32_t)x->mem.offset), "");
        result[i][0] = look_up(e, data, l->BuildLShr(e->b, from, slice_constant(e, 2), ""));
    }
    store_result(e, x, exec, result);
}

/* i1: whether a row is what was guessed. */
static llvm_value holds(struct emit *e, int row, const uint32_t *guess)
{
    const struct llvm *l = e->l;
    llvm_value differ = NULL, lane[16];
    for (unsigned i = 0; i < WAVE_LANES / e->slice; i++) {
        for (unsigned n = 0; n < e->slice; n++)
            lane[n] = emit_i32(e, guess[i * e->slice + n]);
        llvm_value bits = l->BuildXor(e->b, load(e, row, i), l->ConstVector(lane, e->slice), "");
        differ = differ ? l->BuildOr(e->b, differ, bits, "") : bits;
    }
    return lanes_all(e, lanes_of(e, l->BuildICmp(e->b, LLVM_EQ, differ, l->ConstNull(e->row), "")));
}

static void move_swizzled(struct emit *e, const struct xinst *x, llvm_value exec)
{
    uint32_t from[WAVE_LANES];
    lds_swizzle((uint32_t)x->mem.offset & 0xffff, from);
    move_known(e, x, exec, from);
}

/* Goes to `other` where lanes do not read from where it was guessed. */
static void move_guessed(struct emit *e, const struct xinst *x, const uint32_t *guess, llvm_block other)
{
    llvm_block as_guessed = emit_block(e);
    uint32_t from[WAVE_LANES];
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        from[lane] = (guess[lane] + (uint32_t)x->mem.offset) / 4 % WAVE_LANES;
    e->l->BuildCondBr(e->b, holds(e, x->s[0], guess), as_guessed, other);
    emit_goto(e, as_guessed);
    move_known(e, x, NULL, from);
}

bool crossbar_emit(struct emit *e, const struct xinst *x)
{
    const struct llvm *l = e->l;
    if (!crossbar_is_known(x))
        return false;
    stretch_flush(e);
    const bool swizzles = x->op == ISA_OP_ds_swizzle_b32, masks = e->lanes == e->bits;
    const uint32_t *guess = swizzles ? NULL : guess_lanes(e->guess, x);
    llvm_value exec = scalars_get64(e, SREG_EXEC);
    if (masks && !guess) {
        (swizzles ? move_swizzled : move_any)(e, x, exec);
        return true;
    }
    /* Where masks of lanes are rows, some take as long as the handler, and so does what is not known. */
    scalars_store(e);
    llvm_block all = emit_block(e), other = emit_block(e), done = emit_block(e);
    l->BuildCondBr(e->b, l->BuildICmp(e->b, LLVM_EQ, exec, emit_i64(e, UINT64_MAX), ""), all, other);
    emit_goto(e, all);
    if (guess)
        move_guessed(e, x, guess, other);
    else
        (swizzles ? move_swizzled : move_any)(e, x, NULL);
    l->BuildBr(e->b, done);
    emit_goto(e, other);
    if (masks)
        move_any(e, x, exec);
    else
        emit_call_uncounted(e, x);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    return true;
}

/* The slice's lane-wise instruction: its results, and which active lanes are bad; NULL: none can be. */
static llvm_value compute(struct emit *e, llvm_value exec, unsigned slice, llvm_value *results)
{
    const struct llvm *l = e->l;
    const struct isa_operand *d = &e->op[0].x->isa->dst;
    struct slice *s = &e->now;
    memset(s, 0, sizeof(*s));
    s->shift = emit_i64(e, slice * e->slice);
    s->rows = place(e, 0, slice);
    s->exec = lanes_take(e, exec, s->shift);
    stretch_emit(e, s);
    for (unsigned i = 0; i < d->dwords; i++)
        results[i] = s->value[stretch_row(d) + i];
    return s->bad ? l->BuildAnd(e->b, s->bad, s->exec, "") : NULL;
}

void crossbar_emit_dpp(struct emit *e)
{
    const struct llvm *l = e->l;
    const struct xinst *x = e->op[0].x;
    const unsigned slices = WAVE_LANES / e->slice;
    llvm_value exec = scalars_get64(e, SREG_EXEC), result[SLICES_MAX][BODY_ROWS_MAX], bad = NULL;
    scalars_store(e); /* for the handler */
    for (unsigned i = 0; i < slices; i++) {
        llvm_value lanes = compute(e, exec, i, result[i]);
        if (lanes)
            bad = bad ? l->BuildOr(e->b, bad, lanes, "") : lanes;
    }
    llvm_block done = emit_block(e);
    if (bad) { /* nothing is stored yet: its handler does all lanes */
        llvm_block good = emit_block(e), redo = emit_block(e);
        llvm_value is_bad = lanes_some(e, bad);
        l->SetMetadata(l->BuildCondBr(e->b, is_bad, redo, good), e->md_prof, e->unlikely);
        emit_goto(e, redo);
        emit_call_uncounted(e, x);
        l->BuildBr(e->b, done);
        emit_goto(e, good);
    }
    store(e, exec, (int)stretch_row(&x->isa->dst), x->isa->dst.dwords, result);
    l->BuildBr(e->b, done);
    emit_goto(e, done);
    stretch_clear(e);
}
