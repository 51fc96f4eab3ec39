/* SPDX-License-Identifier: MIT */
/*
 * Memory instructions: the address half when they issue, the data half when
 * the hierarchy answers.
 *
 * A flight is one access on its way.  Most instructions are one; scratch is
 * interleaved over the lanes by dwords, so an instruction on it is one flight
 * for each dword.  vmcnt counts down in order of issue, whatever comes back
 * first.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cu/cu.h"
#include "exec/fuse.h"
#include "sem/mem_atomic.h"
#include "sem/vmem.h"
#include "sem/vmem_buffer.h"

struct cu_flight {
    struct cu_flight *next; /* of its wave, or of the pool */
    struct cu_wave *cw;
    const struct xinst *in;
    const struct mem_op *op;
    uint64_t issued; /* cycle */
    uint8_t piece;   /* scratch: which dword of the lane's data */
    bool last;       /* of its instruction: the counter goes down with it */
    bool landed;     /* waits for those before it */
    bool both;       /* FLAT: counted in lgkmcnt as well */
    uint64_t zeroes; /* lanes out of a buffer's range: they load 0 */
    struct mem_access access;
};

static struct cu_flight *flight_new(struct cu_wave *cw, const struct xinst *in, enum mem_access_kind kind)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    struct cu_flight *f = xcd->spare;
    if (f)
        xcd->spare = f->next;
    else
        f = arena_take(&xcd->arena, sizeof(*f));
    memset(f, 0, offsetof(struct cu_flight, access) + offsetof(struct mem_access, addr));
    struct mem_access *a = &f->access;
    a->kind = kind;
    a->cu = (uint16_t)cw->simd->cu->index;
    a->wave = (uint8_t)cu_wave_number(cw);
    a->self = f;
    a->atomic = NULL;
    a->returns = false;
    a->faulted = a->beyond = false;
    f->cw = cw;
    f->in = in;
    f->issued = port_now(xcd->domain);
    f->last = true;
    a->sc0 = a->sc1 = a->nt = false;
    if (in) {
        a->sc0 = in->isa->sc0;
        a->sc1 = in->isa->sc1;
        a->nt = in->isa->nt;
    }
    return f;
}

static void flight_free(struct cu_flight *f)
{
    struct cu_xcd *xcd = f->cw->simd->xcd;
    f->next = xcd->spare;
    xcd->spare = f;
}

/* What a wave that waited for it waited for. */
static enum cu_stall stall_of(const struct mem_access *a)
{
    static const uint8_t by_level[] = {STALL_L1, STALL_L2, STALL_CACHE, STALL_HBM};
    switch (a->kind) {
    case ACCESS_INV:
    case ACCESS_WB:
    case ACCESS_SINV:
    case ACCESS_SWB:
        return STALL_FENCE;
    default:
        return (enum cu_stall)by_level[a->level];
    }
}

static void count_flight(const struct cu_flight *f, enum cu_level level)
{
    struct cu_xcd *xcd = f->cw->simd->xcd;
    xcd->counters.level[level] += port_now(xcd->domain) - f->issued;
}

/* Which access it was that did something wrong. */
static const struct wave_guard *explain(const struct cu_flight *f)
{
    struct cu_wave *cw = f->cw;
    struct cu_thread *thread = port_thread(cw->simd->xcd->domain);
    struct wave_guard *g = &thread->guard;
    g->wave = cw->w;
    g->kind = EHP_FAULT_MEMORY;
    g->fault_in = f->in ? f->in : cw->in;
    g->address = f->access.fault_addr;
    g->write =
        f->access.kind == ACCESS_STORE || f->access.kind == ACCESS_ATOMIC || f->access.kind == ACCESS_SSTORE;
    g->lane = f->access.kind <= ACCESS_ATOMIC ? f->access.fault_lane : UINT_MAX;
    g->from_signal = false;
    return g;
}

/* The hierarchy found nothing at an address. */
static void report(struct cu_flight *f)
{
    struct cu_wave *cw = f->cw;
    struct cu_xcd *xcd = cw->simd->xcd;
    const struct wave_guard *g = explain(f);
    cw->w->state = WAVE_FAULT;
    xcd->events.fault(xcd->events.context, cw->w->wg, g);
}

static void report_beyond_buffer(const struct cu_flight *f)
{
    struct cu_xcd *xcd = f->cw->simd->xcd;
    xcd->events.beyond(xcd->events.context, f->cw->w->wg, explain(f));
}

/* ---- vector memory ---- */

/* Lane `lane` of an atomic, wherever its line lives. */
static void apply_atomic(struct mem_access *a, unsigned lane, uint8_t *place)
{
    const struct cu_flight *f = a->self;
    enum mem_atomic op = (enum mem_atomic)f->op->atomic;
    uint8_t *data = mem_access_lane(a, lane);
    if (f->op->kind == MEM_B64) {
        uint64_t old, operand[2];
        memcpy(&old, place, 8);
        memcpy(operand, data, 16);
        uint64_t now = mem_atomic64(op, old, operand[0], operand[1]);
        memcpy(place, &now, 8);
        memcpy(data, &old, 8);
    } else {
        uint32_t old, operand[2];
        memcpy(&old, place, 4);
        memcpy(operand, data, 8); /* the data, then what to compare with */
        uint32_t now = mem_atomic32(op, old, operand[0], operand[1]);
        memcpy(place, &now, 4);
        memcpy(data, &old, 4);
    }
}

static void write_back(struct cu_flight *f)
{
    struct wave *w = f->cw->w;
    struct mem_access *a = &f->access;
    const struct xinst *in = f->in;
    enum mem_kind kind = (enum mem_kind)f->op->kind;
    static const uint8_t zero[ACCESS_LANE_BYTES];
    if (f->op->action == MEM_LOAD_LDS) {
        MEM_FOR_LANES(lane, a->lanes | f->zeroes)
        vmem_to_lds(w, in, (unsigned)lane, kind,
                    f->zeroes >> lane & 1 ? zero : mem_access_lane(a, (unsigned)lane));
        return;
    }
    wave_row *d = w->v + in->d;
    if (a->kind == ACCESS_ATOMIC) {
        if (!a->returns)
            return;
        MEM_FOR_LANES(lane, a->lanes | f->zeroes)
        {
            const uint8_t *from = f->zeroes >> lane & 1 ? zero : mem_access_lane(a, (unsigned)lane);
            mem_lane_load(d, (unsigned)lane, kind == MEM_B64 ? MEM_B64 : MEM_B32, from);
        }
        return;
    }
    if (a->same) {
        mem_lane_load(d, 0, kind, a->data);
        for (unsigned i = 0; i < mem_dwords(kind); i++) {
            const uint32_t one = d[i][0];
            for (unsigned l = 1; l < WAVE_LANES; l++)
                d[i][l] = one;
        }
        return;
    }
    if (a->lanes == UINT64_MAX && a->bytes == mem_bytes(kind)) {
        mem_rows_load(d, kind, a->data);
        return;
    }
    if (a->bytes == 4 && kind > MEM_B32) { /* a dword of a wide scratch load */
        if (f->op->action == MEM_ATOMIC)
            d = w->v + TEMP_DST;
        MEM_FOR_LANES(lane, a->lanes)
        d[f->piece][lane] = *(const mem_u32 *)mem_access_lane(a, (unsigned)lane);
        return;
    }
    MEM_FOR_LANES(lane, a->lanes)
    mem_lane_load(d, (unsigned)lane, kind, mem_access_lane(a, (unsigned)lane));
    MEM_FOR_LANES(lane, f->zeroes)
    mem_lane_load(d, (unsigned)lane, kind, zero);
}

/* vmcnt: in order of issue. */
static void retire(struct cu_wave *cw)
{
    bool changed = false;
    enum cu_stall why = STALL_L1;
    for (struct cu_flight *f; (f = cw->flights) && f->landed;) {
        cw->flights = f->next;
        if (!cw->flights)
            cw->flights_end = &cw->flights;
        if (f->last) {
            cw->vm--;
            if (f->both)
                cw->lgkm--;
            count_flight(f, CU_LEVEL_VMEM);
            why = stall_of(&f->access);
            changed = true;
        }
        flight_free(f);
    }
    if (changed)
        cu_returned(cw, why);
}

static void vector_done(struct mem_access *a)
{
    struct cu_flight *f = a->self;
    struct cu_wave *cw = f->cw;
    if (a->beyond && !a->faulted)
        report_beyond_buffer(f);
    if (a->faulted)
        report(f);
    else if ((a->kind == ACCESS_LOAD || a->kind == ACCESS_ATOMIC) && !cw->ending && cu_settle(cw))
        write_back(f);
    f->landed = true;
    retire(cw);
}

/* For what vector_done() does. */
static bool expect_done(const struct mem_access *a, unsigned stage)
{
    const struct cu_flight *f = a->self;
    const struct cu_wave *cw = f->cw;
    if (stage == 1) {
        port_fetch(cw, offsetof(struct cu_wave, matrix));
        if (a->kind == ACCESS_LOAD)
            port_fetch(a->data, a->stride * ACCESS_LANES);
    } else if (stage == 2 && cw->w) {
        cu_expect_wave(cw);
    } else if (stage == 3 && cw->w) {
        if (a->kind == ACCESS_LOAD)
            port_fetch(cw->w->v + f->in->d, a->bytes * ACCESS_LANES);
        if (cw->waits && cw->vm <= cw->want_vm + 1)
            cu_expect_rows(cw);
    }
    return stage < 3;
}

static void launch(struct cu_flight *f)
{
    struct cu_wave *cw = f->cw;
    f->access.done = vector_done;
    f->access.expect = expect_done;
    f->next = NULL;
    *cw->flights_end = f;
    cw->flights_end = &f->next;
    if (f->last) {
        cw->vm++;
        if (f->both)
            cw->lgkm++;
    }
    xcd_mem_submit(cw->simd->xcd->mem, &f->access);
}

/* The lane's bytes or operands go with the access: registers may change after issue. */
static void take_data(struct cu_flight *f, const struct xinst *in, uint64_t lanes)
{
    const wave_row *s = f->cw->w->v + in->s[1];
    struct mem_access *a = &f->access;
    enum mem_kind kind = (enum mem_kind)f->op->kind;
    if (a->kind == ACCESS_STORE) {
        if (lanes == UINT64_MAX) {
            mem_rows_store(s, kind, a->data);
            return;
        }
        MEM_FOR_LANES(lane, lanes)
        mem_lane_store(s, (unsigned)lane, kind, mem_access_lane(a, (unsigned)lane));
        return;
    }
    unsigned dwords = kind == MEM_B64 ? 2 : 1;
    bool two = f->op->atomic == MEM_CMPSWAP;
    MEM_FOR_LANES(lane, lanes)
    {
        mem_u32 *to = (mem_u32 *)mem_access_lane(a, (unsigned)lane);
        for (unsigned i = 0; i < 4; i++)
            to[i] = 0;
        for (unsigned i = 0; i < dwords * (two ? 2 : 1); i++)
            to[i] = s[i][lane];
    }
}

/* Scratch: dword `piece` of every lane; what is stored is in rows `s`. */
static void launch_scratch(struct cu_wave *cw, const struct xinst *in, enum mem_access_kind access,
                           const struct mem_request *r, const wave_row *s, bool last)
{
    struct wave *w = cw->w;
    const struct mem_op *op = mem_op_of(in->isa->op);
    const uint64_t lanes = r->scratch;
    enum mem_kind kind = (enum mem_kind)op->kind;
    unsigned pieces = mem_dwords(kind), bytes = mem_bytes(kind);
    for (unsigned i = 0; i < pieces; i++) {
        struct cu_flight *f = flight_new(cw, in, access);
        f->op = op;
        f->piece = (uint8_t)i;
        f->last = last && i + 1 == pieces;
        f->access.bytes = f->access.stride = (uint8_t)(bytes < 4 ? bytes : 4);
        f->access.lanes = lanes;
        f->access.sc0 = f->access.sc1 = false;
        MEM_FOR_LANES(lane, lanes)
        {
            f->access.addr[lane] =
                (uint64_t)(uintptr_t)vmem_scratch_byte(w, (uint32_t)r->addr[lane] + 4 * i, (unsigned)lane);
            if (access != ACCESS_STORE)
                continue;
            if (pieces > 1)
                *(mem_u32 *)mem_access_lane(&f->access, (unsigned)lane) = s[i][lane];
            else
                mem_lane_store(s, (unsigned)lane, kind, mem_access_lane(&f->access, (unsigned)lane));
        }
        f->access.in_row = mem_access_in_row(&f->access, f->access.addr);
        launch(f);
    }
}

/*
 * An atomic of 64 bits on scratch is in two pieces, but nobody else has them: both are read, and when the
 * wave has them, in rows of its own, its instruction comes again and writes what they become.
 */
static void scratch_atomic64(struct cu_wave *cw, const struct xinst *in, enum mem_atomic op,
                             const struct mem_request *r)
{
    struct wave *w = cw->w;
    const wave_row *s = w->v + in->s[1];
    wave_row *d = w->v + in->d, *own = w->v + TEMP_DST;
    MEM_FOR_LANES(lane, r->scratch)
    {
        const uint64_t old = own[0][lane] | (uint64_t)own[1][lane] << 32,
                       data = s[0][lane] | (uint64_t)s[1][lane] << 32,
                       extra = op == MEM_CMPSWAP ? s[2][lane] | (uint64_t)s[3][lane] << 32 : 0,
                       now = mem_atomic64(op, old, data, extra);
        own[0][lane] = (uint32_t)now;
        own[1][lane] = (uint32_t)(now >> 32);
        if (in->reg[2])
            mem_lane_load(d, (unsigned)lane, MEM_B64, &old);
    }
    launch_scratch(cw, in, ACCESS_STORE, r, own, false);
}

/* FLAT lanes in LDS: done at once, as the workgroup's own.  What is beyond reads 0 and is not written. */
static void access_lds(struct cu_wave *cw, const struct xinst *in, const struct mem_op *op,
                       const struct mem_request *r)
{
    struct wave *w = cw->w;
    enum mem_kind kind = (enum mem_kind)op->kind;
    static uint8_t zero[ACCESS_LANE_BYTES];
    MEM_FOR_LANES(lane, r->lds)
    {
        uint8_t *place = vmem_pointer(w, r, (unsigned)lane, mem_bytes(kind));
        if (op->action == MEM_LOAD) {
            mem_lane_load(w->v + in->d, (unsigned)lane, kind, place ? place : zero);
        } else if (op->action == MEM_STORE) {
            if (place)
                mem_lane_store(w->v + in->s[1], (unsigned)lane, kind, place);
        } else {
            const wave_row *s = w->v + in->s[1];
            bool two = op->atomic == MEM_CMPSWAP;
            uint8_t nowhere[8] = {0};
            place = place ? place : nowhere;
            if (kind == MEM_B64) {
                uint64_t old, data = s[0][lane] | (uint64_t)s[1][lane] << 32,
                              extra = two ? s[2][lane] | (uint64_t)s[3][lane] << 32 : 0;
                memcpy(&old, place, 8);
                uint64_t now = mem_atomic64((enum mem_atomic)op->atomic, old, data, extra);
                memcpy(place, &now, 8);
                if (in->reg[2])
                    mem_lane_load(w->v + in->d, (unsigned)lane, MEM_B64, &old);
            } else {
                uint32_t old;
                memcpy(&old, place, 4);
                uint32_t now =
                    mem_atomic32((enum mem_atomic)op->atomic, old, s[0][lane], two ? s[1][lane] : 0);
                memcpy(place, &now, 4);
                if (in->reg[2])
                    mem_lane_load(w->v + in->d, (unsigned)lane, MEM_B32, &old);
            }
        }
    }
}

static void fence(struct cu_wave *cw, const struct xinst *in, enum mem_access_kind kind)
{
    struct cu_flight *f = flight_new(cw, in, kind);
    f->op = mem_op_of(in->isa->op);
    launch(f);
}

static void unimplemented(struct cu_wave *cw, const struct xinst *in)
{
    wave_fault(cw->w, in, EHP_FAULT_UNIMPLEMENTED, 0, false, UINT_MAX);
}

/* As the handlers of functional mode count bytes, and by the profiler's kinds. */
static void count_access(struct cu_wave *cw, const struct xinst *in, const struct mem_op *op, bool write)
{
    struct cu_counters *c = &cw->simd->xcd->counters;
    uint64_t lanes = (unsigned)__builtin_popcountll(cw->w->exec),
             bytes = lanes * mem_bytes((enum mem_kind)op->kind);
    enum cu_direction direction = op->action == MEM_ATOMIC ? CU_ATOMIC : write ? CU_WRITE : CU_READ;
    c->vmem[op->space == MEM_BUFFER ? CU_BUFFER : CU_FLAT][direction]++;
    c->flat_lds += in->isa->format == ISA_FLAT;
    if (op->space == MEM_SCRATCH)
        c->did.scratch_bytes += bytes;
    else if (write)
        c->did.bytes_written += bytes;
    else
        c->did.bytes_read += bytes;
    if (op->action == MEM_ATOMIC)
        c->did.atomics += lanes;
}

/*
 * Whether a load or store is one of all lanes in a row, or a load of all from one address (mem.h), which its
 * registers tell sooner than 64 addresses do, and is the GPU's to make.  It may be that of a sum that was put
 * off, which then is not made.
 */
static bool access_in_row(const struct wave *w, const struct xinst *in, const struct mem_op *op,
                          const struct xinst *sum, uint64_t *first, bool *same)
{
    const unsigned bytes = mem_bytes((enum mem_kind)op->kind);
    if (w->exec != UINT64_MAX || (op->space != MEM_GLOBAL && op->space != MEM_FLAT) ||
        (op->action != MEM_LOAD && op->action != MEM_STORE) || !mem_has_vaddr(in) || (bytes & (bytes - 1)))
        return false;
    const bool sbase = mem_has_sbase(in);
    const uint32_t *lo = w->v[sum ? sum->s[2] : in->s[0]], *hi = sbase ? NULL : lo + WAVE_LANES;
    *same = lo[1] == lo[0] && op->action == MEM_LOAD && !mem_is_d16((enum mem_kind)op->kind);
    if (!mem_has_room(lo[0], bytes) || !mem_steps(lo, lo[0], *same ? 0 : bytes, hi, hi ? hi[0] : 0))
        return false;
    uint64_t address = mem_offset(in) + lo[0] + (hi ? (uint64_t)hi[0] << 32 : 0);
    if (sbase || sum)
        address += wave_sgpr64(w, sum ? sum->reg[0] : in->ss[0]);
    const uint64_t last = address + (*same ? 1 : WAVE_LANES) * bytes - 1;
    *first = address;
    return address % bytes == 0 && address <= last && last < APERTURE_HOST_LIMIT &&
           !wave_is_outside(w, address) && !wave_is_outside(w, last);
}

/* Whether a buffer has some dwords of a lane's access, but not all of them or not in one piece. */
static bool in_pieces(struct wave *w, const struct xinst *in, uint64_t lanes, unsigned bytes)
{
    const struct vmem_buffer b = vmem_buffer_of(w, in);
    MEM_FOR_LANES(lane, lanes)
    {
        const struct vmem_place p = vmem_place_of(w, in, &b, (unsigned)lane);
        for (unsigned at = 0; at < bytes; at += 4)
            if (vmem_inside(&b, p, at, bytes - at < 4 ? bytes - at : 4))
                return true;
    }
    return false;
}

static void vector_access(struct cu_wave *cw, const struct xinst *in)
{
    struct wave *w = cw->w;
    const struct mem_op *op = mem_op_of(in->isa->op);
    if (in->isa->op == ISA_OP_buffer_inv || in->isa->op == ISA_OP_buffer_wbl2) {
        fence(cw, in, in->isa->op == ISA_OP_buffer_inv ? ACCESS_INV : ACCESS_WB);
        w->next = in + 1;
        return;
    }
    enum mem_kind kind = (enum mem_kind)op->kind;
    const struct xinst *sum = fuse_is_fused(in) && fuse_waits(w) ? fuse_sum(in) : NULL;
    uint64_t first;
    bool same;
    if (access_in_row(w, in, op, sum, &first, &same)) {
        const bool store = op->action == MEM_STORE;
        count_access(cw, in, op, store);
        struct cu_flight *f = flight_new(cw, in, store ? ACCESS_STORE : ACCESS_LOAD);
        f->op = op;
        f->both = in->isa->format == ISA_FLAT;
        f->access.bytes = f->access.stride = (uint8_t)mem_bytes(kind);
        f->access.lanes = UINT64_MAX;
        f->access.in_row = !same;
        f->access.same = same;
        f->access.addr[0] = first;
        if (store)
            mem_rows_store(w->v + in->s[1], kind, f->access.data);
        launch(f);
        w->next = in + 1;
        return;
    }
    if (sum) /* it is wanted after all */
        fuse_single(sum)(w, sum);
    struct mem_request r;
    uint64_t zeroes = 0;
    r.write = op->action != MEM_LOAD && op->action != MEM_LOAD_LDS;
    if (op->space == MEM_BUFFER && op->action == MEM_ATOMIC && kind == MEM_B64 &&
        vmem_buffer_of(w, in).swizzle) /* not in one piece */
        wave_fault(w, in, EHP_FAULT_UNIMPLEMENTED, 0, true, UINT_MAX);
    if (op->space == MEM_BUFFER && (op->action == MEM_LOAD || op->action == MEM_STORE ||
                                    op->action == MEM_ATOMIC || op->action == MEM_LOAD_LDS)) {
        vmem_buffer_address(w, in, mem_bytes(kind), &r);
        zeroes = w->exec & ~r.mask;
        if (zeroes && op->action != MEM_ATOMIC && in_pieces(w, in, zeroes, mem_bytes(kind)))
            unimplemented(cw, in);
    } else if (op->space == MEM_BUFFER || op->space == MEM_TBUFFER || op->action == MEM_NONE) {
        unimplemented(cw, in);
    } else {
        vmem_address(w, in, (enum mem_space)op->space, &r);
    }
    if (op->action == MEM_LOAD_LDS) {
        uint64_t lanes = vmem_lds_lanes(w, in);
        r.mask &= lanes;
        zeroes &= lanes;
    }
    vmem_check(w, in, &r, mem_bytes(kind));
    if (op->action == MEM_ATOMIC)
        vmem_check_aligned(w, in, &r, mem_bytes(kind));
    bool flat = in->isa->format == ISA_FLAT;
    if (r.scratch && op->action == MEM_ATOMIC && kind == MEM_B64 &&
        !cw->has_read) { /* see scratch_atomic64() */
        launch_scratch(cw, in, ACCESS_LOAD, &r, NULL, true);
        cw->has_read = true;
        return;
    }
    count_access(cw, in, op, r.write);
    if (r.lds)
        access_lds(cw, in, op, &r);
    uint64_t lanes = r.mask & ~r.lds;
    if (r.scratch && op->action == MEM_ATOMIC) {
        if (kind == MEM_B64) {
            scratch_atomic64(cw, in, (enum mem_atomic)op->atomic, &r);
            cw->has_read = false;
            lanes &= ~r.scratch;
        } else { /* a lane's dword is in one piece, and like any other */
            MEM_FOR_LANES(lane, r.scratch)
            r.addr[lane] = (uint64_t)(uintptr_t)vmem_scratch_byte(w, (uint32_t)r.addr[lane], (unsigned)lane);
        }
    } else if (r.scratch) {
        lanes &= ~r.scratch;
        launch_scratch(cw, in, op->action == MEM_STORE ? ACCESS_STORE : ACCESS_LOAD, &r, w->v + in->s[1],
                       !lanes && !flat);
        if (!lanes && !flat) {
            w->next = in + 1;
            return;
        }
    }
    struct cu_flight *f = flight_new(cw, in,
                                     op->action == MEM_ATOMIC  ? ACCESS_ATOMIC
                                     : op->action == MEM_STORE ? ACCESS_STORE
                                                               : ACCESS_LOAD);
    f->op = op;
    f->both = flat;
    f->zeroes = zeroes;
    struct mem_access *a = &f->access;
    a->bytes = (uint8_t)mem_bytes(kind);
    a->stride = a->kind == ACCESS_ATOMIC ? ACCESS_LANE_BYTES : a->bytes;
    a->lanes = lanes;
    a->in_row = mem_access_in_row(a, r.addr);
    memcpy(a->addr, r.addr, a->in_row ? sizeof(a->addr[0]) : sizeof(a->addr));
    if (a->kind == ACCESS_ATOMIC) {
        a->atomic = apply_atomic;
        a->returns = in->reg[2];
        a->sc0 = false; /* of an atomic it says that the old value is wanted */
    }
    if (r.write)
        take_data(f, in, lanes);
    launch(f);
    w->next = in + 1;
}

/* ---- scalar memory ---- */

static bool expect_scalar(const struct mem_access *a, unsigned stage)
{
    const struct cu_wave *cw = ((const struct cu_flight *)a->self)->cw;
    if (stage == 1)
        port_fetch_line(cw);
    else if (cw->ending || !cw->w)
        return false;
    else if (stage == 2)
        cu_expect_wave(cw);
    else if (cw->waits)
        cu_expect_rows(cw);
    return stage < 3;
}

static void scalar_done(struct mem_access *a)
{
    struct cu_flight *f = a->self;
    struct cu_wave *cw = f->cw;
    if (a->beyond && !a->faulted)
        report_beyond_buffer(f);
    if (a->faulted)
        report(f);
    else if (a->kind == ACCESS_SLOAD && !cw->ending && cu_settle(cw))
        memcpy(cw->w->s + f->in->sd, a->data, a->bytes);
    cw->lgkm--;
    count_flight(f, CU_LEVEL_SMEM);
    enum cu_stall why = stall_of(a);
    flight_free(f);
    cu_returned(cw, why);
}

static void clock_done(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct cu_wave *cw = event->self;
    cw->lgkm--;
    cu_returned(cw, STALL_DEPENDENCY);
}

static unsigned scalar_dwords(unsigned op)
{
    switch (op) {
    case ISA_OP_s_load_dword:
    case ISA_OP_s_buffer_load_dword:
    case ISA_OP_s_store_dword:
    case ISA_OP_s_buffer_store_dword:
        return 1;
    case ISA_OP_s_load_dwordx2:
    case ISA_OP_s_buffer_load_dwordx2:
    case ISA_OP_s_store_dwordx2:
    case ISA_OP_s_buffer_store_dwordx2:
        return 2;
    case ISA_OP_s_load_dwordx4:
    case ISA_OP_s_buffer_load_dwordx4:
    case ISA_OP_s_store_dwordx4:
    case ISA_OP_s_buffer_store_dwordx4:
        return 4;
    case ISA_OP_s_load_dwordx8:
    case ISA_OP_s_buffer_load_dwordx8:
        return 8;
    case ISA_OP_s_load_dwordx16:
    case ISA_OP_s_buffer_load_dwordx16:
        return 16;
    default:
        return 0;
    }
}

static void count_scalar(struct cu_counters *c, unsigned dwords, bool write)
{
    if (write) {
        c->did.bytes_written += (uint64_t)dwords * 4;
    } else {
        c->did.bytes_read += (uint64_t)dwords * 4;
        c->smem_reads[__builtin_ctz(dwords)]++;
    }
}

static void scalar_access(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    struct wave *w = cw->w;
    unsigned op = in->isa->op, dwords = scalar_dwords(op);
    enum mem_access_kind kind;
    switch (op) {
    case ISA_OP_s_memtime:
    case ISA_OP_s_memrealtime:
        cw->lgkm++;
        xcd->counters.level[CU_LEVEL_SMEM] += xcd->timing.memtime;
        port_post(xcd->domain, cycle + xcd->timing.memtime, clock_done, cw);
        w->next = fuse_single(in)(w, in);
        return;
    case ISA_OP_s_dcache_inv:
    case ISA_OP_s_dcache_inv_vol:
        kind = ACCESS_SINV;
        break;
    case ISA_OP_s_dcache_wb:
    case ISA_OP_s_dcache_wb_vol:
        kind = ACCESS_SWB;
        break;
    default:
        if (!dwords)
            unimplemented(cw, in);
        kind = mem_is_write(in->isa) ? ACCESS_SSTORE : ACCESS_SLOAD;
        count_scalar(&xcd->counters, dwords, kind == ACCESS_SSTORE);
        break;
    }
    struct cu_flight *f = flight_new(cw, in, kind);
    struct mem_access *a = &f->access;
    a->done = scalar_done;
    a->expect = expect_scalar;
    if (dwords) {
        uint64_t soffset = in->ss[1] != XSRC_CONST ? w->s[in->ss[1]] : in->literal[1];
        uint64_t offset = mem_offset(in) + soffset, base;
        unsigned inside = dwords;
        if (in->isa->src[ISA_SBASE].dwords == 4) { /* a buffer: dwords beyond it read 0 and are not written */
            const uint32_t *v = w->s + in->ss[0];
            uint32_t stride = v[1] >> 16 & 0x3fff;
            uint64_t bytes = stride ? (uint64_t)stride * v[2] : v[2];
            base = v[0] | (uint64_t)(v[1] & 0xffff) << 32;
            offset &= ~UINT64_C(3);
            inside = offset >= bytes ? 0 : (unsigned)((bytes - offset) / 4);
            inside = inside < dwords ? inside : dwords;
        } else {
            base = wave_sgpr64(w, in->ss[0]);
        }
        uint64_t address = (base + offset) & ~UINT64_C(3);
        if (inside && (address >= APERTURE_HOST_LIMIT - 64 ||
                       (wave_is_outside(w, address) && !wave_may_access(w, address, inside * 4)))) {
            flight_free(f);
            wave_fault(w, in, EHP_FAULT_MEMORY, address, kind == ACCESS_SSTORE, UINT_MAX);
        }
        a->addr[0] = address;
        a->lanes = 1;
        a->bytes = (uint8_t)(inside * 4);
        memset(a->data, 0, (size_t)dwords * 4);
        if (kind == ACCESS_SSTORE)
            memcpy(a->data, w->s + in->sd, (size_t)inside * 4);
        else
            memset(w->s + in->sd, 0, (size_t)(inside < dwords ? dwords : 0) * 4);
        if (!inside) {
            flight_free(f);
            w->next = in + 1;
            return;
        }
    }
    cw->lgkm++;
    w->next = in + 1;
    xcd_mem_submit(xcd->mem, a);
}

void cu_access(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    if (in->isa->format == ISA_SMEM)
        scalar_access(cw, in, cycle);
    else
        vector_access(cw, in);
}

/* ---- instruction fetch ---- */

static bool expect_fetched(const struct mem_access *a, unsigned stage)
{
    (void)stage;
    port_fetch_line(((const struct cu_flight *)a->self)->cw);
    return false;
}

static void fetch_done(struct mem_access *a)
{
    struct cu_flight *f = a->self;
    struct cu_wave *cw = f->cw;
    cw->fetching = false;
    cw->next_line = a->addr[0];
    bool faulted = a->faulted;
    if (faulted && cw->starved && !cw->ending)
        report(f);
    count_flight(f, CU_LEVEL_FETCH);
    flight_free(f);
    if (cw->ending) {
        cu_returned(cw, STALL_FETCH);
    } else if (cw->starved && !faulted) {
        cw->starved = false;
        cu_ready(cw, port_now(cw->simd->xcd->domain) + 1);
    }
}

void cu_fetch(struct cu_wave *cw, uint64_t line)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    if (cw->fetching)
        return;
    struct cu_flight *f = flight_new(cw, NULL, ACCESS_FETCH);
    struct mem_access *a = &f->access;
    a->addr[0] = line;
    a->lanes = 1;
    a->bytes = 64;
    a->done = fetch_done;
    a->expect = expect_fetched;
    cw->fetching = true;
    xcd_mem_submit(xcd->mem, a);
}
