/* SPDX-License-Identifier: MIT */
/*
 * Which lane of a vector memory instruction a host fault belongs to, for the
 * fault report.  Runs in the signal handler: touches the wave only.
 */
#include "sem/memory/vmem_buffer.h"

/* Bytes of one lane at most: a format may be narrower. */
static unsigned access_bytes(const struct mem_op *op)
{
    return op->action == MEM_LOAD_FORMAT || op->action == MEM_STORE_FORMAT
               ? 16
               : mem_bytes((enum mem_kind)op->kind);
}

unsigned mem_fault_lane(struct wave *w, const struct xinst *in, uint64_t address)
{
    const struct mem_op *op = mem_op_of(in->isa->op);
    struct mem_request r;
    switch (op->space) {
    case MEM_FLAT:
    case MEM_GLOBAL:
        vmem_address(w, in, (enum mem_space)op->space, &r);
        break;
    case MEM_BUFFER:
    case MEM_TBUFFER:
        vmem_buffer_address(w, in, 1, &r);
        break;
    default:
        return UINT_MAX;
    }
    unsigned bytes = access_bytes(op);
    MEM_FOR_LANES(lane, r.mask & ~(r.lds | r.scratch))
    if (address - r.addr[lane] < bytes)
        return (unsigned)lane;
    return UINT_MAX;
}

unsigned mem_access_bytes(const struct isa_inst *inst)
{
    const struct mem_op *op = mem_op_of(inst->op);
    if (op->space == MEM_SCALAR && op->action != MEM_ATOMIC)
        return 4U * inst->dst.dwords;
    return access_bytes(op);
}
