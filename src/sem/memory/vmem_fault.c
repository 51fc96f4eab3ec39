/* SPDX-License-Identifier: MIT */
/*
 * Which lane of a vector memory instruction a host fault belongs to, for the
 * fault report.  Runs in the signal handler: touches the wave only.
 */
#include "sem/memory/vmem_buffer.h"

/* Bytes of one lane at most: a format may be narrower. */
static unsigned access_bytes(const struct memop *op)
{
    return op->action == MEMOP_LOAD_FORMAT || op->action == MEMOP_STORE_FORMAT
               ? 16
               : memop_bytes((enum memop_kind)op->kind);
}

unsigned mem_fault_lane(struct wave *w, const struct xinst *in, uint64_t address)
{
    const struct memop *op = memop_of(in->isa->op);
    struct memop_request r;
    switch (op->space) {
    case MEMOP_FLAT:
    case MEMOP_GLOBAL:
        vmem_address(w, in, (enum memop_space)op->space, &r);
        break;
    case MEMOP_BUFFER:
    case MEMOP_TBUFFER:
        vmem_buffer_address(w, in, 1, &r);
        break;
    default:
        return UINT_MAX;
    }
    unsigned bytes = access_bytes(op);
    MEMOP_FOR_LANES(lane, r.mask & ~(r.lds | r.scratch))
    if (address - r.addr[lane] < bytes)
        return (unsigned)lane;
    return UINT_MAX;
}

unsigned mem_access_bytes(const struct isa_inst *inst)
{
    const struct memop *op = memop_of(inst->op);
    if (op->space == MEMOP_SCALAR && op->action != MEMOP_ATOMIC)
        return 4U * inst->dst.dwords;
    return access_bytes(op);
}
