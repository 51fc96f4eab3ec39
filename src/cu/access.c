/* SPDX-License-Identifier: MIT */
/*
 * Memory instructions: the address half when they issue, the data half when
 * the hierarchy answers (sem/memory/memop_halves.h).
 *
 * A flight is one access on its way.  Most instructions are one.  Of lanes whose
 * bytes are not in one piece, as scratch is interleaved over the lanes by dwords,
 * there is one flight for each piece, and the pieces are gathered.  vmcnt counts
 * down in order of issue, whatever comes back first.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cu/cu.h"
#include "wave/fuse.h"
#include "sem/memory/memop_halves.h"

struct cu_flight {
    struct cu_flight *next; /* of its wave, or of the pool */
    struct cu_wave *cw;
    const struct xinst *in;
    uint64_t issued;          /* cycle */
    uint8_t at;               /* of a lane's bytes, those from here on */
    bool last;                /* of its instruction: the counter goes down with it */
    bool landed;              /* waits for those before it */
    bool both;                /* FLAT: counted in lgkmcnt as well */
    struct cu_gather *gather; /* where its bytes go; NULL: to registers */
    union {
        struct memop_landing landing; /* vector accesses */
        struct memop_scalar scalar;
    };
    struct mem_access access;
};

/* Bytes of an instruction in pieces. */
struct cu_gather {
    struct cu_gather *next; /* of the pool */
    uint8_t data[ACCESS_LANES * MEMOP_LANE_BYTES];
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
    a->policy = in ? in->isa->policy : (struct isa_policy){ISA_SCOPE_WAVE, false};
    return f;
}

static void flight_free(struct cu_flight *f)
{
    struct cu_xcd *xcd = f->cw->simd->xcd;
    f->next = xcd->spare;
    xcd->spare = f;
}

static struct cu_gather *gather_new(struct cu_xcd *xcd)
{
    struct cu_gather *g = xcd->spare_gather;
    if (g)
        xcd->spare_gather = g->next;
    else
        g = arena_take(&xcd->arena, sizeof(*g));
    memset(g->data, 0, sizeof(g->data));
    return g;
}

static void gather_free(struct cu_xcd *xcd, struct cu_gather *g)
{
    g->next = xcd->spare_gather;
    xcd->spare_gather = g;
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
    g->write = f->access.kind == ACCESS_STORE || f->access.kind == ACCESS_ATOMIC ||
               f->access.kind == ACCESS_SSTORE || f->access.kind == ACCESS_SATOMIC;
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
    memop_atomic_apply(f->landing.op, place, mem_access_lane(a, lane));
}

/* What has come, to registers; or to the other pieces of its instruction. */
static void write_back(struct cu_flight *f)
{
    struct mem_access *a = &f->access;
    if (f->gather) {
        MEMOP_FOR_LANES(lane, a->lanes)
        memcpy(f->gather->data + lane * MEMOP_LANE_BYTES + f->at, mem_access_lane(a, (unsigned)lane),
               a->bytes);
    } else if (f->landing.returns && cu_settle(f->cw)) {
        struct wave *w = f->cw->w;
        if (a->same)
            memop_rows_splat(w->v + f->in->d, (enum memop_kind)f->landing.op->kind, a->data);
        else
            memop_deliver(w, f->in, &f->landing, a->data, a->stride);
    }
}

/* The last piece has come, and all before it. */
static void write_gathered(struct cu_flight *f)
{
    struct cu_wave *cw = f->cw;
    if (f->landing.returns && !cw->ending && cw->w->state != WAVE_FAULT && cu_settle(cw))
        memop_deliver(cw->w, f->in, &f->landing, f->gather->data, MEMOP_LANE_BYTES);
    if (cw->has_read != f->gather) /* else its instruction comes again */
        gather_free(cw->simd->xcd, f->gather);
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
            if (f->gather)
                write_gathered(f);
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
    else if ((a->kind == ACCESS_LOAD || a->kind == ACCESS_ATOMIC) && !cw->ending)
        write_back(f);
    f->landed = true;
    retire(cw);
}

/* For what vector_done() does. */
static bool prefetch_done(const struct mem_access *a, unsigned stage)
{
    const struct cu_flight *f = a->self;
    const struct cu_wave *cw = f->cw;
    if (stage == 1) {
        port_prefetch(cw, offsetof(struct cu_wave, matrix));
        if (a->kind == ACCESS_LOAD)
            port_prefetch(a->data, a->stride * ACCESS_LANES);
    } else if (stage == 2 && cw->w) {
        cu_prefetch_wave(cw);
    } else if (stage == 3 && cw->w) {
        if (a->kind == ACCESS_LOAD)
            port_prefetch(cw->w->v + f->in->d, a->bytes * ACCESS_LANES);
        if (cw->waits && cw->vm <= cw->want_vm + 1)
            cu_prefetch_rows(cw);
    }
    return stage < 3;
}

static void launch(struct cu_flight *f)
{
    struct cu_wave *cw = f->cw;
    f->access.done = vector_done;
    f->access.prefetch = prefetch_done;
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

/* Where the lanes are whose bytes follow each other. */
static void set_lanes(struct mem_access *a, uint64_t lanes, const uint64_t *addr)
{
    a->lanes = lanes;
    a->in_row = mem_access_in_row(a, addr);
    memcpy(a->addr, addr, a->in_row ? sizeof(a->addr[0]) : sizeof(a->addr));
}

/* Lanes in pieces: their flights, the last of which may be the instruction's. */
static void launch_pieces(struct cu_wave *cw, const struct xinst *in, const struct memop_address *m,
                          enum mem_access_kind kind, const uint8_t *data, struct cu_gather *gather, bool last)
{
    uint64_t addr[WAVE_LANES] = {0};
    for (unsigned i = 0; i < m->pieces; i++) {
        const uint64_t lanes = memop_piece(cw->w, in, m, i, addr);
        struct cu_flight *f = flight_new(cw, in, kind);
        struct mem_access *a = &f->access;
        f->landing = m->landing;
        f->gather = gather;
        f->at = (uint8_t)(i * m->step);
        f->last = last && i + 1 == m->pieces;
        a->bytes = a->stride = (uint8_t)m->step;
        if (m->scratch) /* the wave's own */
            a->policy.scope = ISA_SCOPE_WAVE;
        set_lanes(a, lanes, addr);
        if (kind == ACCESS_STORE)
            MEMOP_FOR_LANES(lane, lanes)
        memcpy(mem_access_lane(a, (unsigned)lane), data + lane * MEMOP_LANE_BYTES + f->at, m->step);
        launch(f);
    }
}

/*
 * An atomic of 64 bits on scratch is in two pieces, but nobody else has them: both are read, and when the
 * wave has them its instruction comes again and writes what they become.  True: that is to come.
 */
static bool scratch_atomic(struct cu_wave *cw, const struct xinst *in, struct memop_address *m)
{
    struct wave *w = cw->w;
    struct memop_landing landing = m->landing;
    uint8_t data[WAVE_LANES * MEMOP_LANE_BYTES];
    if (!cw->has_read) {
        cw->has_read = gather_new(cw->simd->xcd);
        m->landing.returns = false;
        launch_pieces(cw, in, m, ACCESS_LOAD, NULL, cw->has_read, true);
        return true;
    }
    struct cu_gather *read = cw->has_read;
    cw->has_read = NULL;
    landing.lanes = m->split;
    memop_take(w, in, m, m->split, data, MEMOP_LANE_BYTES);
    MEMOP_FOR_LANES(lane, m->split)
    memop_atomic_apply(landing.op, read->data + lane * MEMOP_LANE_BYTES, data + lane * MEMOP_LANE_BYTES);
    launch_pieces(cw, in, m, ACCESS_STORE, read->data, NULL, false);
    if (landing.returns)
        memop_deliver(w, in, &landing, data, MEMOP_LANE_BYTES);
    gather_free(cw->simd->xcd, read);
    m->landing.lanes &= ~m->split;
    return false;
}

static void fence(struct cu_wave *cw, const struct xinst *in, enum mem_access_kind kind)
{
    launch(flight_new(cw, in, kind));
}

static void unimplemented(struct cu_wave *cw, const struct xinst *in)
{
    wave_fault(cw->w, in, EHP_FAULT_UNIMPLEMENTED, 0, false, UINT_MAX);
}

/* As the handlers of functional mode count bytes, and by the profiler's kinds. */
static void count_access(struct cu_wave *cw, const struct xinst *in, const struct memop *op, unsigned each,
                         bool write)
{
    struct cu_counters *c = &cw->simd->xcd->counters;
    uint64_t lanes = (unsigned)__builtin_popcountll(cw->w->exec), bytes = lanes * each;
    enum cu_direction direction = op->action == MEMOP_ATOMIC ? CU_ATOMIC : write ? CU_WRITE : CU_READ;
    c->vmem[op->space == MEMOP_BUFFER || op->space == MEMOP_TBUFFER ? CU_BUFFER : CU_FLAT][direction]++;
    c->flat_lds += in->isa->format == ISA_FLAT;
    if (op->space == MEMOP_SCRATCH)
        c->did.scratch_bytes += bytes;
    else if (write)
        c->did.bytes_written += bytes;
    else
        c->did.bytes_read += bytes;
    if (op->action == MEMOP_ATOMIC)
        c->did.atomics += lanes;
}

/*
 * Whether a load or store is one of all lanes in a row, or a load of all from one address (mem.h), which its
 * registers tell sooner than 64 addresses do, and is the GPU's to make.  It may be that of a sum that was put
 * off, which then is not made.
 */
static bool access_in_row(const struct wave *w, const struct xinst *in, const struct memop *op,
                          const struct xinst *sum, uint64_t *first, bool *same)
{
    const unsigned bytes = memop_bytes((enum memop_kind)op->kind);
    if (w->exec != UINT64_MAX || (op->space != MEMOP_GLOBAL && op->space != MEMOP_FLAT) ||
        (op->action != MEMOP_LOAD && op->action != MEMOP_STORE) || !memop_has_vaddr(in) ||
        (bytes & (bytes - 1)))
        return false;
    const bool sbase = memop_has_sbase(in);
    const uint32_t *lo = w->v[sum ? sum->s[2] : in->s[0]], *hi = sbase ? NULL : lo + WAVE_LANES;
    *same = lo[1] == lo[0] && op->action == MEMOP_LOAD && !memop_is_d16((enum memop_kind)op->kind);
    if (!memop_has_room(lo[0], bytes) || !memop_steps(lo, lo[0], *same ? 0 : bytes, hi, hi ? hi[0] : 0))
        return false;
    uint64_t address = memop_offset(in) + lo[0] + (hi ? (uint64_t)hi[0] << 32 : 0);
    if (sbase || sum)
        address += wave_sgpr64(w, sum ? sum->reg[0] : in->ss[0]);
    const uint64_t last = address + (*same ? 1 : WAVE_LANES) * bytes - 1;
    *first = address;
    return address % bytes == 0 && address <= last && last < APERTURE_HOST_LIMIT &&
           !wave_is_outside(w, address) && !wave_is_outside(w, last);
}

static void vector_access(struct cu_wave *cw, const struct xinst *in)
{
    struct wave *w = cw->w;
    const struct memop *op = memop_of(in->isa->op);
    if (in->isa->op == ISA_OP_buffer_inv || in->isa->op == ISA_OP_buffer_wbl2) {
        fence(cw, in, in->isa->op == ISA_OP_buffer_inv ? ACCESS_INV : ACCESS_WB);
        w->next = in + 1;
        return;
    }
    enum memop_kind kind = (enum memop_kind)op->kind;
    const struct xinst *sum = fuse_is_fused(in) && fuse_waits(w) ? fuse_sum(in) : NULL;
    uint64_t first;
    bool same;
    if (access_in_row(w, in, op, sum, &first, &same)) {
        const bool store = op->action == MEMOP_STORE;
        count_access(cw, in, op, memop_bytes(kind), store);
        struct cu_flight *f = flight_new(cw, in, store ? ACCESS_STORE : ACCESS_LOAD);
        f->landing.op = op;
        f->landing.returns = !store;
        f->landing.lanes = UINT64_MAX;
        f->both = in->isa->format == ISA_FLAT;
        f->access.bytes = f->access.stride = (uint8_t)memop_bytes(kind);
        f->access.lanes = UINT64_MAX;
        f->access.in_row = !same;
        f->access.same = same;
        f->access.addr[0] = first;
        if (store)
            memop_rows_store(w->v + in->s[1], kind, f->access.data);
        launch(f);
        w->next = in + 1;
        return;
    }
    if (sum) /* it is wanted after all */
        fuse_single(sum)(w, sum);
    struct memop_address m;
    if (!memop_address(w, in, &m))
        unimplemented(cw, in);
    uint64_t addr[WAVE_LANES];
    for (unsigned i = 0; i < m.pieces; i++)
        memop_piece(w, in, &m, i, addr); /* for its faults, before anything is sent */
    const bool flat = in->isa->format == ISA_FLAT, atomic = op->action == MEMOP_ATOMIC;
    if (m.split && atomic && !cw->has_read && scratch_atomic(cw, in, &m))
        return;
    count_access(cw, in, op, m.bytes, m.write);
    if (m.lds)
        memop_access_lds(w, in, &m);
    m.landing.lanes &= ~m.lds;
    struct cu_gather *gather = NULL;
    if (m.split && atomic) {
        scratch_atomic(cw, in, &m);
    } else if (m.split) {
        const bool last = !m.whole && !flat;
        uint8_t data[WAVE_LANES * MEMOP_LANE_BYTES];
        if (m.write)
            memop_take(w, in, &m, m.split, data, MEMOP_LANE_BYTES);
        else
            gather = gather_new(cw->simd->xcd);
        launch_pieces(cw, in, &m, m.write ? ACCESS_STORE : ACCESS_LOAD, data, gather, last);
        if (last) {
            w->next = in + 1;
            return;
        }
    }
    struct cu_flight *f = flight_new(cw, in, atomic ? ACCESS_ATOMIC : m.write ? ACCESS_STORE : ACCESS_LOAD);
    f->landing = m.landing;
    f->gather = gather;
    f->both = flat;
    struct mem_access *a = &f->access;
    a->bytes = (uint8_t)m.bytes;
    a->stride = atomic ? ACCESS_LANE_BYTES : a->bytes;
    set_lanes(a, m.whole, m.request.addr);
    if (atomic) {
        a->atomic = apply_atomic;
        a->returns = m.landing.returns;
    }
    if (m.write)
        memop_take(w, in, &m, m.whole, a->data, a->stride);
    launch(f);
    w->next = in + 1;
}

/* ---- scalar memory ---- */

static bool prefetch_scalar(const struct mem_access *a, unsigned stage)
{
    const struct cu_wave *cw = ((const struct cu_flight *)a->self)->cw;
    if (stage == 1)
        port_prefetch_line(cw);
    else if (cw->ending || !cw->w)
        return false;
    else if (stage == 2)
        cu_prefetch_wave(cw);
    else if (cw->waits)
        cu_prefetch_rows(cw);
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
    else if (f->scalar.returns && !cw->ending && cu_settle(cw))
        memop_scalar_deliver(cw->w, &f->scalar, a->data);
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

static void count_scalar(struct cu_counters *c, const struct memop_scalar *s)
{
    const uint64_t bytes = 4 * (uint64_t)s->dwords;
    if (s->op->action == MEMOP_ATOMIC) {
        c->did.atomics++;
    } else if (s->write) {
        c->did.bytes_written += bytes;
    } else {
        c->did.bytes_read += bytes;
        c->smem_reads[__builtin_ctz(s->dwords)]++;
    }
}

/* An atomic's operation, in the L2 or at the home. */
static void apply_scalar_atomic(struct mem_access *a, unsigned lane, uint8_t *place)
{
    (void)lane;
    const struct cu_flight *f = a->self;
    memop_atomic_apply(f->scalar.op, place, a->data);
}

static void send_scalar(struct cu_wave *cw, struct cu_flight *f)
{
    f->access.done = scalar_done;
    f->access.prefetch = prefetch_scalar;
    cw->lgkm++;
    cw->w->next = f->in + 1;
    xcd_mem_submit(cw->simd->xcd->mem, &f->access);
}

static void scalar_data(struct cu_wave *cw, const struct xinst *in)
{
    struct wave *w = cw->w;
    struct memop_scalar s;
    if (!memop_scalar_address(w, in, &s))
        unimplemented(cw, in);
    count_scalar(&cw->simd->xcd->counters, &s);
    if (!s.bytes) { /* all of it is beyond the buffer */
        if (s.returns)
            memop_scalar_deliver(w, &s, NULL);
        w->next = in + 1;
        return;
    }
    struct cu_flight *f = flight_new(cw, in,
                                     s.op->action == MEMOP_ATOMIC ? ACCESS_SATOMIC
                                     : s.write                    ? ACCESS_SSTORE
                                                                  : ACCESS_SLOAD);
    struct mem_access *a = &f->access;
    f->scalar = s;
    a->addr[0] = s.address;
    a->lanes = 1;
    a->bytes = (uint8_t)s.bytes;
    if (s.write)
        memop_scalar_take(w, &s, a->data);
    if (a->kind == ACCESS_SATOMIC) {
        a->atomic = apply_scalar_atomic;
        a->returns = s.returns;
        a->stride = ACCESS_LANE_BYTES;
        a->in_row = a->same = false;
    }
    send_scalar(cw, f);
}

/* A line of 64 bytes, or two: a hint to forget what was stored there. */
static void discard(struct cu_wave *cw, const struct xinst *in, bool two)
{
    const uint64_t address = memop_scalar_place(cw->w, in);
    for (unsigned i = 0; i <= two; i++) {
        struct cu_flight *f = flight_new(cw, in, ACCESS_SDISCARD);
        f->access.addr[0] = address + 64 * i;
        send_scalar(cw, f);
    }
}

static void scalar_access(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    struct wave *w = cw->w;
    switch (in->isa->op) {
    case ISA_OP_s_memtime:
    case ISA_OP_s_memrealtime:
        cw->lgkm++;
        xcd->counters.level[CU_LEVEL_SMEM] += xcd->timing.memtime;
        port_post(xcd->domain, cycle + xcd->timing.memtime, clock_done, cw);
        w->next = fuse_single(in)(w, in);
        return;
    case ISA_OP_s_dcache_inv:
    case ISA_OP_s_dcache_inv_vol:
        send_scalar(cw, flight_new(cw, in, ACCESS_SINV));
        return;
    case ISA_OP_s_dcache_wb:
    case ISA_OP_s_dcache_wb_vol:
        send_scalar(cw, flight_new(cw, in, ACCESS_SWB));
        return;
    case ISA_OP_s_dcache_discard:
        discard(cw, in, false);
        return;
    case ISA_OP_s_dcache_discard_x2:
        discard(cw, in, true);
        return;
    case ISA_OP_s_atc_probe:
    case ISA_OP_s_atc_probe_buffer: {
        struct cu_flight *f = flight_new(cw, in, ACCESS_SPROBE);
        f->access.addr[0] = memop_scalar_place(w, in);
        f->access.lanes = f->access.bytes = 1;
        send_scalar(cw, f);
        return;
    }
    default:
        scalar_data(cw, in);
    }
}

void cu_access(struct cu_wave *cw, const struct xinst *in, uint64_t cycle)
{
    if (in->isa->format == ISA_SMEM)
        scalar_access(cw, in, cycle);
    else
        vector_access(cw, in);
}

/* ---- instruction fetch ---- */

static bool prefetch_fetched(const struct mem_access *a, unsigned stage)
{
    (void)stage;
    port_prefetch_line(((const struct cu_flight *)a->self)->cw);
    return false;
}

/* A line that a branch has left behind is of no use, and its fault nobody's, as it is asked for again if the
 * wave comes to it.  Whether the wave waits for it. */
static bool line_comes(struct cu_wave *cw, uint64_t line, bool faulted)
{
    cw->fetching--;
    if (line == cw->next_line) {
        cw->next_here = !faulted;
        if (faulted)
            cw->next_line = UINT64_MAX;
    }
    return cw->starved && !cw->ending && line == (cw->in->pc & ~UINT64_C(63));
}

static void go_on(struct cu_wave *cw, bool awaited)
{
    if (cw->ending)
        cu_returned(cw, STALL_FETCH);
    else if (awaited)
        cu_fetched(cw, port_now(cw->simd->xcd->domain) + 1);
}

static void fetch_done(struct mem_access *a)
{
    struct cu_flight *f = a->self;
    struct cu_wave *cw = f->cw;
    const bool faulted = a->faulted, awaited = line_comes(cw, a->addr[0], faulted);
    if (awaited && faulted)
        report(f);
    count_flight(f, CU_LEVEL_FETCH);
    flight_free(f);
    go_on(cw, awaited && !faulted);
}

/* The same for a line that the instruction cache had. */
static void fetch_hit(struct port_domain *domain, struct port_event *event)
{
    struct cu_wave *cw = event->self;
    cw->simd->xcd->counters.level[CU_LEVEL_FETCH] += port_now(domain) - event->word[1];
    go_on(cw, line_comes(cw, event->word[0], false));
}

static bool prefetch_fetch_hit(const struct port_event *event, unsigned stage)
{
    (void)stage;
    port_prefetch_line(event->self);
    return false;
}

void cu_prefetch_fetches(struct cu_xcd *xcd)
{
    port_set_prefetch(xcd->domain, fetch_hit, prefetch_fetch_hit);
}

void cu_fetch(struct cu_wave *cw, uint64_t line)
{
    struct cu_xcd *xcd = cw->simd->xcd;
    cw->fetching++;
    const uint64_t comes = xcd_mem_fetch_hit(xcd->mem, cw->simd->cu->index, line);
    if (comes != PORT_NEVER) {
        struct port_event *e = port_post(xcd->domain, comes, fetch_hit, cw);
        e->word[0] = line;
        e->word[1] = port_now(xcd->domain);
        return;
    }
    struct cu_flight *f = flight_new(cw, NULL, ACCESS_FETCH);
    struct mem_access *a = &f->access;
    a->addr[0] = line;
    a->lanes = 1;
    a->bytes = 64;
    a->done = fetch_done;
    a->prefetch = prefetch_fetched;
    xcd_mem_submit(xcd->mem, a);
}
