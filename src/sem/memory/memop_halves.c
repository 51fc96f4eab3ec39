/* SPDX-License-Identifier: MIT */
/* Memory instructions in halves; see memop_halves.h. */
#include "sem/memory/memop_halves.h"

#include "isa/facts.h"
#include "sem/memory/memop_atomic.h"
#include "sem/memory/smem.h"

static enum memop_kind kind_of(const struct memop *op)
{
    return (enum memop_kind)op->kind;
}

static bool is_format(const struct memop *op)
{
    return op->action == MEMOP_LOAD_FORMAT || op->action == MEMOP_STORE_FORMAT;
}

/* ---- addresses ---- */

/* The largest piece of which none is in two dwords, by the low bits of all offsets. */
static unsigned step_of(unsigned bytes, uint64_t offsets)
{
    unsigned step = bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
    while (offsets % step)
        step /= 2;
    return step;
}

/* Whether a buffer has byte `at` of a lane's access: it has a dword of it or not; of a format all or nothing.
 */
static bool has_byte(const struct memop_address *a, struct vmem_place p, unsigned at)
{
    if (is_format(a->landing.op))
        return vmem_inside(&a->buffer, p, 0, a->bytes);
    const unsigned dword = at & ~3u;
    return vmem_inside(&a->buffer, p, dword, a->bytes - dword < 4 ? a->bytes - dword : 4);
}

static void buffer_address(struct wave *w, const struct xinst *in, struct memop_address *a)
{
    const struct memop *op = a->landing.op;
    struct memop_request *r = &a->request;
    a->buffer = vmem_buffer_of(w, in);
    if (op->action == MEMOP_ATOMIC && op->kind == MEMOP_B64 && a->buffer.swizzle &&
        w->exec) /* not in one piece */
        wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, true, UINT_MAX);
    if (is_format(op)) {
        a->landing.format = vmem_format_of(w, in, &a->buffer);
        a->bytes = a->landing.format.bytes;
    }
    vmem_buffer_address(w, in, a->bytes, r);
    a->whole = r->mask;
    uint64_t offsets = 0;
    MEMOP_FOR_LANES(lane, w->exec & ~r->mask)
    {
        const struct vmem_place p = vmem_place_of(w, in, &a->buffer, (unsigned)lane);
        bool some = false;
        for (unsigned at = 0; at < a->bytes && op->action != MEMOP_ATOMIC; at += 4)
            some |= has_byte(a, p, at);
        if (some) {
            a->split |= UINT64_C(1) << lane;
            offsets |= p.offset;
        } else {
            a->landing.outside |= UINT64_C(1) << lane;
        }
    }
    a->step = step_of(a->bytes, offsets);
}

static void plain_address(const struct wave *w, const struct xinst *in, struct memop_address *a)
{
    struct memop_request *r = &a->request;
    vmem_address(w, in, (enum memop_space)a->landing.op->space, r);
    a->lds = r->lds;
    a->scratch = a->split = r->scratch;
    a->whole = r->mask & ~(r->lds | r->scratch);
    uint64_t offsets = 0;
    MEMOP_FOR_LANES(lane, r->scratch)
    offsets |= r->addr[lane];
    a->step = step_of(a->bytes, offsets);
}

/* An atomic of 32 bits is in one of its lane's dwords, and there like any other. */
static void join_scratch(const struct wave *w, struct memop_address *a)
{
    if (a->landing.op->kind == MEMOP_B64)
        return;
    MEMOP_FOR_LANES(lane, a->split)
    a->request.addr[lane] =
        (uint64_t)(uintptr_t)vmem_scratch_byte(w, (uint32_t)a->request.addr[lane], (unsigned)lane);
    a->whole |= a->split;
    a->split = 0;
}

bool memop_address(struct wave *w, const struct xinst *in, struct memop_address *a)
{
    const struct memop *op = memop_of(in->isa->op);
    const bool buffer = op->space == MEMOP_BUFFER || op->space == MEMOP_TBUFFER;
    if (op->action == MEMOP_NONE || op->action == MEMOP_FENCE)
        return false;
    memset(a, 0, offsetof(struct memop_address, request));
    a->landing.op = op;
    a->landing.lanes = w->exec;
    a->landing.returns = op->action == MEMOP_LOAD || op->action == MEMOP_LOAD_FORMAT ||
                         op->action == MEMOP_LOAD_LDS ||
                         (op->action == MEMOP_ATOMIC && in->isa->dst.kind != ISA_NONE);
    a->write = a->request.write = isa_facts[in->isa->op].effects & ISA_E_STORE;
    a->bytes = is_format(op) ? 0 : memop_bytes(kind_of(op));
    if (buffer)
        buffer_address(w, in, a);
    else
        plain_address(w, in, a);
    if (op->action == MEMOP_LOAD_LDS || (op->action == MEMOP_LOAD && in->isa->lds)) {
        const uint64_t room = vmem_lds_lanes(w, in);
        a->landing.lds = vmem_lds_base(w, in);
        a->landing.to_lds = true;
        a->landing.lanes &= room;
        a->landing.outside &= room;
        a->request.mask &= room;
        a->whole &= room;
        a->split &= room;
        a->request.scratch = a->scratch = a->scratch & room;
    }
    vmem_check(w, in, &a->request, a->bytes);
    if (op->action == MEMOP_ATOMIC) {
        vmem_check_aligned(w, in, &a->request, a->bytes);
        join_scratch(w, a);
    }
    a->pieces = a->split ? a->bytes / a->step : 0;
    return true;
}

uint64_t memop_piece(struct wave *w, const struct xinst *in, const struct memop_address *a, unsigned i,
                     uint64_t addr[WAVE_LANES])
{
    const unsigned at = i * a->step;
    uint64_t lanes = a->scratch & a->split;
    MEMOP_FOR_LANES(lane, a->scratch & a->split)
    addr[lane] =
        (uint64_t)(uintptr_t)vmem_scratch_byte(w, (uint32_t)a->request.addr[lane] + at, (unsigned)lane);
    MEMOP_FOR_LANES(lane, a->split & ~a->scratch)
    {
        const struct vmem_place p = vmem_place_of(w, in, &a->buffer, (unsigned)lane);
        if (!has_byte(a, p, at))
            continue;
        addr[lane] = a->buffer.base + vmem_linear(&a->buffer, p, at);
        if (wave_is_outside(w, addr[lane]) && !wave_may_access(w, addr[lane], a->step))
            wave_fault(w, in, EHP_FAULT_MEMORY, addr[lane], a->write, (unsigned)lane);
        lanes |= UINT64_C(1) << lane;
    }
    return lanes;
}

/* ---- registers to bytes ---- */

static uint64_t operand(const wave_row *s, unsigned lane, bool wide)
{
    return s[0][lane] | (wide ? (uint64_t)s[1][lane] << 32 : 0);
}

void memop_take(struct wave *w, const struct xinst *in, const struct memop_address *a, uint64_t lanes,
                uint8_t *data, unsigned stride)
{
    const struct memop *op = a->landing.op;
    const wave_row *s = w->v + in->s[1];
    const bool wide = op->kind == MEMOP_B64;
    alignas(64) wave_row raw[4];
    switch (op->action) {
    case MEMOP_STORE:
        if (lanes == UINT64_MAX && stride == a->bytes)
            memop_rows_store(s, kind_of(op), data);
        else
            MEMOP_FOR_LANES(lane, lanes)
        memop_lane_store(s, (unsigned)lane, kind_of(op), data + lane * stride);
        break;
    case MEMOP_STORE_FORMAT:
        vmem_format_take(w, in, &a->landing.format, raw);
        MEMOP_FOR_LANES(lane, lanes)
        for (unsigned at = 0; at < a->bytes; at++)
            data[lane * stride + at] = (uint8_t)(raw[at / 4][lane] >> at % 4 * 8);
        break;
    default:
        MEMOP_FOR_LANES(lane, lanes)
        {
            const uint64_t operands[2] = {
                operand(s, (unsigned)lane, wide),
                op->atomic == MEMOP_CMPSWAP ? operand(s + a->bytes / 4, (unsigned)lane, wide) : 0};
            memcpy(data + lane * stride, &operands[0], a->bytes);
            memcpy(data + lane * stride + a->bytes, &operands[1], a->bytes);
        }
        break;
    }
}

void memop_atomic_apply(const struct memop *op, uint8_t *place, uint8_t *data)
{
    if (op->kind == MEMOP_B64) {
        uint64_t old, operands[2];
        memcpy(&old, place, 8);
        memcpy(operands, data, 16);
        const uint64_t now = memop_atomic64((enum memop_atomic)op->atomic, old, operands[0], operands[1]);
        memcpy(place, &now, 8);
        memcpy(data, &old, 8);
    } else {
        uint32_t old, operands[2];
        memcpy(&old, place, 4);
        memcpy(operands, data, 8);
        const uint32_t now = memop_atomic32((enum memop_atomic)op->atomic, old, operands[0], operands[1]);
        memcpy(place, &now, 4);
        memcpy(data, &old, 4);
    }
}

/* ---- bytes to registers ---- */

static void deliver_format(struct wave *w, const struct xinst *in, const struct memop_landing *landing,
                           const uint8_t *data, unsigned stride)
{
    alignas(64) wave_row raw[4] = {0};
    const unsigned bytes = landing->format.bytes;
    MEMOP_FOR_LANES(lane, landing->lanes & ~landing->outside)
    for (unsigned at = 0; at < bytes; at++)
        raw[at / 4][lane] |= (uint32_t)data[lane * stride + at] << at % 4 * 8;
    vmem_format_deliver(w, in, &landing->format, raw, landing->lanes, landing->outside);
}

void memop_deliver(struct wave *w, const struct xinst *in, const struct memop_landing *landing,
                   const uint8_t *data, unsigned stride)
{
    static const uint8_t zero[MEMOP_LANE_BYTES];
    const struct memop *op = landing->op;
    const enum memop_kind kind =
        op->action == MEMOP_ATOMIC && op->kind != MEMOP_B64 ? MEMOP_B32 : kind_of(op);
    wave_row *d = w->v + in->d;
    if (landing->to_lds) {
        MEMOP_FOR_LANES(lane, landing->lanes)
        vmem_to_lds(w, landing->lds, (unsigned)lane, kind,
                    landing->outside >> lane & 1 ? zero : data + lane * stride);
        return;
    }
    if (op->action == MEMOP_LOAD_FORMAT) {
        deliver_format(w, in, landing, data, stride);
        return;
    }
    if (landing->lanes == UINT64_MAX && !landing->outside && stride == memop_bytes(kind)) {
        memop_rows_load(d, kind, data);
        return;
    }
    MEMOP_FOR_LANES(lane, landing->lanes & ~landing->outside)
    memop_lane_load(d, (unsigned)lane, kind, data + lane * stride);
    MEMOP_FOR_LANES(lane, landing->outside)
    memop_lane_load(d, (unsigned)lane, kind, zero);
}

/* ---- LDS by FLAT addresses: what is beyond reads 0 and is not written ---- */

void memop_access_lds(struct wave *w, const struct xinst *in, const struct memop_address *a)
{
    const struct memop *op = a->landing.op;
    struct memop_landing landing = a->landing;
    alignas(16) uint8_t data[WAVE_LANES * MEMOP_LANE_BYTES];
    if (a->write)
        memop_take(w, in, a, a->lds, data, MEMOP_LANE_BYTES);
    landing.lanes = a->lds;
    MEMOP_FOR_LANES(lane, a->lds)
    {
        uint8_t *place = vmem_pointer(w, &a->request, (unsigned)lane, a->bytes);
        uint8_t *own = data + lane * MEMOP_LANE_BYTES;
        if (!place)
            landing.outside |= UINT64_C(1) << lane;
        else if (op->action == MEMOP_ATOMIC)
            memop_atomic_apply(op, place, own);
        else if (a->write)
            memcpy(place, own, a->bytes);
        else
            memcpy(own, place, a->bytes);
    }
    if (landing.returns)
        memop_deliver(w, in, &landing, data, MEMOP_LANE_BYTES);
}

/* ---- scalar memory ---- */

bool memop_scalar_address(struct wave *w, const struct xinst *in, struct memop_scalar *a)
{
    const struct memop *op = memop_of(in->isa->op);
    const bool atomic = op->action == MEMOP_ATOMIC, wide = atomic && op->kind == MEMOP_B64;
    if (op->action != MEMOP_LOAD && op->action != MEMOP_STORE && !atomic)
        return false;
    *a = (struct memop_scalar){.op = op,
                               .write = op->action != MEMOP_LOAD,
                               .returns =
                                   op->action == MEMOP_LOAD || (atomic && in->isa->dst.kind != ISA_NONE),
                               .dwords = atomic ? 1 + wide : op->dwords,
                               .sd = in->sd};
    unsigned inside = a->dwords;
    if (smem_is_buffer(in->isa))
        a->address = smem_buffer_place(w, in, &inside);
    else
        a->address = smem_place(w, in, op->scratch ? SMEM_SCRATCH_SHIFT : 0);
    if (atomic && inside < a->dwords)
        inside = 0;
    a->bytes = 4 * inside;
    if (!inside)
        return true;
    smem_check(w, in, a->address, a->bytes, a->write);
    if (wide && a->address % 8)
        wave_fault(w, in, EHP_FAULT_MISALIGNED, a->address, true, UINT_MAX);
    return true;
}

uint64_t memop_scalar_place(const struct wave *w, const struct xinst *in)
{
    unsigned inside = 1;
    return smem_is_buffer(in->isa) ? smem_buffer_place(w, in, &inside) : smem_place(w, in, 0);
}

void memop_scalar_take(const struct wave *w, const struct memop_scalar *a, uint8_t data[MEMOP_SCALAR_BYTES])
{
    const uint32_t *s = w->s + a->sd;
    memcpy(data, s, a->bytes);
    if (a->op->action == MEMOP_ATOMIC && a->op->atomic == MEMOP_CMPSWAP)
        memcpy(data + a->bytes, s + a->dwords, a->bytes);
    else if (a->op->action == MEMOP_ATOMIC)
        memset(data + a->bytes, 0, a->bytes);
}

void memop_scalar_deliver(struct wave *w, const struct memop_scalar *a,
                          const uint8_t data[MEMOP_SCALAR_BYTES])
{
    uint32_t *s = w->s + a->sd;
    memcpy(s, data, a->bytes);
    memset(s + a->bytes / 4, 0, 4 * (size_t)a->dwords - a->bytes);
}
