/* SPDX-License-Identifier: MIT */
/* Statistics that compiled code keeps: what was executed since they were stored last; see emit.h. */
#include <string.h>

#include "jit/emit.h"
#include "sem/memory/memop.h"

void counts_add(struct emit *e, const struct xinst *x)
{
    e->count[x->cls]++;
    e->total++;
}

void counts_add_bytes(struct emit *e, const struct xinst *x)
{
    const struct memop *op = memop_of(x->op);
    const unsigned bytes = op->action == MEMOP_LANES ? 4 : memop_bytes((enum memop_kind)op->kind);
    e->atomics += op->action == MEMOP_ATOMIC;
    if (x->cls == XC_SMEM)
        e->scalar_bytes += 4 * x->isa->dst.dwords;
    else if (x->isa->format == ISA_DS)
        e->bytes_of_lds += op->action == MEMOP_LOAD2 || op->action == MEMOP_STORE2 ? 2 * bytes : bytes;
    else if (x->isa->format == ISA_SCRATCH)
        e->bytes_of_scratch += bytes;
    else if (x->cls == XC_VMEM)
        *(op->action == MEMOP_LOAD ? &e->bytes_read : &e->bytes_written) += bytes;
}

static llvm_value product(struct emit *e, unsigned each, llvm_value times)
{
    llvm_value amount = emit_i64(e, each);
    return times ? e->l->BuildMul(e->b, times, amount, "") : amount;
}

static void add_to(struct emit *e, size_t offset, llvm_value amount)
{
    llvm_value value = emit_load(e, e->i64, e->stats, (int64_t)offset);
    emit_store(e, e->l->BuildAdd(e->b, value, amount, ""), e->stats, (int64_t)offset);
}

static void add_lanes(struct emit *e, size_t offset, llvm_value lanes, unsigned each)
{
    if (each)
        add_to(e, offset, e->l->BuildMul(e->b, lanes, emit_i64(e, each), ""));
}

llvm_value counts_active(struct emit *e, llvm_value exec)
{
    return e->l->BuildCall2(e->b, e->l->FunctionType(e->i64, &e->i64, 1, 0), e->ctpop, &exec, 1, "");
}

void counts_store(struct emit *e, llvm_value lanes, llvm_value times)
{
    if (!e->counts || !e->total)
        return;
    for (unsigned c = 0; c < XC_COUNT; c++)
        if (e->count[c])
            add_to(e, offsetof(struct wave_stats, count) + c * sizeof(uint64_t),
                   product(e, e->count[c], times));
    add_to(e, offsetof(struct wave_stats, compiled), product(e, e->total, times));
    if (e->scalar_bytes)
        add_to(e, offsetof(struct wave_stats, bytes_read), product(e, e->scalar_bytes, times));
    if (e->count[XC_VALU] || e->bytes_read || e->bytes_written || e->bytes_of_lds || e->bytes_of_scratch ||
        e->atomics) {
        if (!lanes)
            lanes = counts_active(e, scalars_get64(e, SREG_EXEC));
        add_lanes(e, offsetof(struct wave_stats, lanes_valu), lanes, e->count[XC_VALU]);
        add_lanes(e, offsetof(struct wave_stats, bytes_read), lanes, e->bytes_read);
        add_lanes(e, offsetof(struct wave_stats, bytes_written), lanes, e->bytes_written);
        add_lanes(e, offsetof(struct wave_stats, lds_bytes), lanes, e->bytes_of_lds);
        add_lanes(e, offsetof(struct wave_stats, scratch_bytes), lanes, e->bytes_of_scratch);
        add_lanes(e, offsetof(struct wave_stats, atomics), lanes, e->atomics);
    }
}

void counts_clear(struct emit *e)
{
    memset(e->count, 0, sizeof(e->count));
    e->total = e->scalar_bytes = e->atomics = 0;
    e->bytes_read = e->bytes_written = e->bytes_of_lds = e->bytes_of_scratch = 0;
}
