/* SPDX-License-Identifier: MIT */
/*
 * Scalar data caches and instruction caches, each shared by some CUs, with a TLB
 * for both.  The scalar cache is write-back: s_store leaves its bytes there until
 * s_dcache_wb (chiplet fence report, 2); a valid and a dirty bit for each byte.
 * The instruction cache reads ahead: LLVM pads the end of code for gfx90a and gfx942 by as many
 * lines as may be fetched behind it (AMDGPUTargetELFStreamer::EmitCodeEnd).
 * Nothing keeps either coherent with anything but s_dcache_inv and the kernel's
 * beginning.
 */
#include <stdlib.h>
#include <string.h>

#include "mem/sl1.h"
#include "mem/xcd.h"

enum { SCACHE_MISSES = 16 };

struct scache {
    unsigned sets, ways;
    unsigned epoch; /* bytes of another are void but for what was stored */
    uint64_t clock;
    uint64_t *tag;  /* line | 1: in use */
    uint64_t *used; /* 0: free */
    unsigned *line_epoch;
    uint64_t *valid, *dirty; /* bytes */
    uint64_t *physical;
    uint8_t *mtype;
    bool *ahead; /* was read ahead, and nobody has asked for it yet */
    uint8_t *data;
    struct mem_request *miss[SCACHE_MISSES];
    struct port_server out; /* to the L2 */
};

struct scluster { /* what some CUs share */
    struct xcd_mem *mem;
    struct scache scalar, instruction;
    struct utcl1 tlb;
    struct port_server port, fetch_port[CHIP_MAX_FETCHING]; /* for scalar accesses; for each CU's fetches */
    struct port_server data_port[CHIP_MAX_FETCHING];        /* of each CU: what scalar loads get */
    unsigned waiting, coming;             /* scalar loads that wait for lines; before their look-up */
    struct mem_request *held, **held_end; /* those that wait for one of these to be over */
    unsigned dirty;                       /* lines of the scalar cache */
    unsigned storing;                     /* stores that are not yet in the cache */
    unsigned writing;                     /* lines on their way to the L2 */
    struct mem_access *writebacks;        /* s_dcache_wb that waits for those */
    bool release;                         /* so does a kernel's end */
};

static bool is_fetch(const struct mem_access *a)
{
    return a->kind == ACCESS_FETCH;
}

static void go(struct mem_request *request, uint64_t cycle);

static void scache_open(struct xcd_mem *mem, struct scache *s, unsigned size, unsigned ways)
{
    unsigned lines = size / SLINE;
    s->ways = ways;
    s->sets = lines / ways;
    s->epoch = 1;
    s->tag = arena_take(&mem->arena, (size_t)lines * sizeof(*s->tag));
    s->used = arena_take(&mem->arena, (size_t)lines * sizeof(*s->used));
    s->line_epoch = arena_take(&mem->arena, (size_t)lines * sizeof(*s->line_epoch));
    s->valid = arena_take(&mem->arena, (size_t)lines * sizeof(*s->valid));
    s->dirty = arena_take(&mem->arena, (size_t)lines * sizeof(*s->dirty));
    s->physical = arena_take(&mem->arena, (size_t)lines * sizeof(*s->physical));
    s->mtype = arena_take(&mem->arena, (size_t)lines * sizeof(*s->mtype));
    s->ahead = arena_take(&mem->arena, (size_t)lines * sizeof(*s->ahead));
    s->data = arena_take(&mem->arena, (size_t)lines * SLINE);
}

static struct scluster *cluster_of(struct xcd_mem *mem, unsigned i)
{
    if (mem->cluster[i])
        return mem->cluster[i];
    struct scluster *c = arena_take(&mem->arena, sizeof(*c));
    c->mem = mem;
    scache_open(mem, &c->scalar, mem->timing.s_size, mem->timing.s_ways);
    scache_open(mem, &c->instruction, mem->timing.i_size, mem->timing.i_ways);
    utcl1_open(&c->tlb, mem, go);
    c->held_end = &c->held;
    mem->cluster[i] = c;
    return c;
}

static struct port_server *fetch_port(struct scluster *c, unsigned cu)
{
    return &c->fetch_port[c->mem->place[cu] % c->mem->icache_cus];
}

/* ---- completion ---- */

static void complete(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct mem_access *a = event->self;
    struct xcd_mem *mem = (struct xcd_mem *)(uintptr_t)event->word[0];
    mem->in_flight--;
    a->done(a);
}

static void part_done(struct xcd_mem *mem, struct mem_access *a, uint64_t cycle)
{
    if (cycle > a->cycle)
        a->cycle = cycle;
    if (--a->pending == 0)
        access_done_at(mem, a, a->cycle, complete);
}

/* The bytes of the access that lie in the line. */
static void part_of(const struct mem_access *a, uint64_t line, unsigned *skip, unsigned *offset,
                    unsigned *bytes)
{
    uint64_t first = a->addr[0] > line ? a->addr[0] : line;
    uint64_t end = a->addr[0] + a->bytes < line + SLINE ? a->addr[0] + a->bytes : line + SLINE;
    *skip = (unsigned)(first - a->addr[0]);
    *offset = (unsigned)(first - line);
    *bytes = (unsigned)(end - first);
}

static uint64_t bytes_mask(unsigned offset, unsigned bytes)
{
    return (bytes >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bytes) - 1) << offset;
}

/* A scalar load's bytes of a line go to its CU; returns when they are there. */
static uint64_t pass_on(struct scluster *c, struct mem_access *a, unsigned skip, const uint8_t *from,
                        unsigned bytes, uint64_t cycle)
{
    const unsigned width = c->mem->timing.s_width, beats = (bytes + width - 1) / width;
    memcpy(a->data + skip, from, bytes);
    return port_take(&c->data_port[c->mem->place[a->cu] % c->mem->sl1_cus], cycle, beats) + beats - 1;
}

static void deliver(struct mem_request *r, const uint8_t *line, uint64_t cycle)
{
    struct mem_access *a = r->access;
    unsigned skip, offset, bytes;
    part_of(a, r->line, &skip, &offset, &bytes);
    access_went(a, r->level);
    if (r->faulted)
        access_fault(a, r);
    else if (!is_fetch(a))
        cycle = pass_on(r->cluster, a, skip, line + offset, bytes, cycle);
    part_done(r->mem, a, cycle);
}

/* ---- lines ---- */

static unsigned set_of(const struct scache *s, uint64_t line)
{
    return (unsigned)(line / SLINE & (s->sets - 1)) * s->ways;
}

static unsigned find(struct scache *s, uint64_t line)
{
    unsigned set = set_of(s, line);
    for (unsigned i = set; i < set + s->ways; i++)
        if (s->tag[i] == (line | 1)) {
            if (s->line_epoch[i] != s->epoch) { /* s_dcache_inv: bytes that were stored stay */
                s->line_epoch[i] = s->epoch;
                s->valid[i] = s->dirty[i];
            }
            return i;
        }
    return NO_WAY;
}

static void finish_writebacks(struct scluster *c, uint64_t cycle)
{
    struct xcd_mem *mem = c->mem;
    while (c->writebacks) {
        struct mem_access *a = c->writebacks;
        c->writebacks = a->next;
        access_done_at(mem, a, cycle, complete);
    }
}

static void written(struct mem_request *r, uint64_t cycle)
{
    struct scluster *c = r->cluster;
    struct xcd_mem *mem = r->mem;
    request_free(r);
    if (--c->writing)
        return;
    if (!c->storing)
        finish_writebacks(c, cycle + mem->timing.s_path);
    if (c->release) {
        c->release = false;
        mem_released(mem);
    }
}

/* To the L2, as a store.  Lines of the instruction cache are never dirty. */
static void write_line(struct scluster *c, struct scache *s, unsigned i)
{
    struct xcd_mem *mem = c->mem;
    if (!s->dirty[i])
        return;
    c->dirty--;
    uint64_t line = s->tag[i] & ~UINT64_C(1);
    struct mem_request *r = request_new(mem);
    r->cluster = c;
    r->kind = REQUEST_STORE;
    r->mtype = s->mtype[i];
    r->line = line & ~(uint64_t)(LINE - 1);
    request_place(r, s->physical[i] - (line - r->line));
    r->mask.w[line / SLINE % 2] = s->dirty[i];
    memcpy(r->data + (line - r->line), s->data + (size_t)i * SLINE, SLINE);
    r->answer = written;
    s->dirty[i] = 0;
    c->writing++;
    mem->counters.sqc_data_writes++;
    uint64_t cycle = port_take(&c->port, port_now(mem->domain), 1) + mem->timing.s_path;
    port_post(mem->domain, cycle, l2_arrive, r);
}

static unsigned allocate(struct scluster *c, struct scache *s, const struct mem_request *r)
{
    unsigned set = set_of(s, r->line), victim = set;
    for (unsigned i = set + 1; i < set + s->ways; i++)
        if (s->used[i] < s->used[victim])
            victim = i;
    if (s->tag[victim])
        write_line(c, s, victim);
    s->tag[victim] = r->line | 1;
    s->line_epoch[victim] = s->epoch;
    s->valid[victim] = 0;
    s->physical[victim] = r->physical;
    s->mtype[victim] = r->mtype;
    return victim;
}

/* ---- loads and fetches ---- */

/* What is read ahead has no access. */
static bool of_instructions(const struct mem_request *r)
{
    return !r->access || is_fetch(r->access);
}

static struct scache *cache_of(const struct mem_request *r)
{
    return of_instructions(r) ? &r->cluster->instruction : &r->cluster->scalar;
}

static struct mem_request **miss_of(struct scache *s, uint64_t line)
{
    struct mem_request **at = &s->miss[line / SLINE % SCACHE_MISSES];
    while (*at && (*at)->fill != line)
        at = &(*at)->chain;
    return at;
}

static void look_up_held(struct scluster *c, uint64_t now);

static void line_arrives(struct port_domain *domain, struct port_event *event)
{
    struct mem_request *r = event->self;
    struct xcd_mem *mem = r->mem;
    struct scluster *c = r->cluster;
    struct scache *s = cache_of(r);
    const bool data = !of_instructions(r);
    uint64_t now = port_now(domain);
    uint64_t rest =
        of_instructions(r) ? mem->timing.i_latency / 2 : mem->timing.s_latency - mem->timing.s_lookup;
    r->line = r->fill;
    struct mem_request **at = &s->miss[r->line / SLINE % SCACHE_MISSES];
    while (*at != r)
        at = &(*at)->chain;
    *at = r->chain;
    r->physical += r->line % LINE;
    uint8_t line[SLINE];
    memcpy(line, r->data + r->line % LINE, SLINE);
    if (!r->faulted) {
        unsigned i = find(s, r->line);
        if (i == NO_WAY && r->epoch == s->epoch && r->mtype != VM_MTYPE_UC)
            i = allocate(c, s, r);
        if (i != NO_WAY) { /* below what was stored meanwhile */
            uint8_t *have = s->data + (size_t)i * SLINE;
            for (unsigned b = 0; b < SLINE; b++)
                if (s->valid[i] >> b & 1)
                    line[b] = have[b];
            memcpy(have, line, SLINE);
            s->valid[i] = r->epoch == s->epoch ? ~UINT64_C(0) : s->valid[i];
            s->used[i] = ++s->clock;
            s->ahead[i] = !r->access && !r->joined;
        }
    }
    c->waiting -= data;
    while (r->joined) {
        struct mem_request *j = r->joined;
        r->joined = j->next;
        c->waiting -= data;
        j->faulted = r->faulted;
        j->level = r->level;
        deliver(j, line, now + rest);
        request_free(j);
    }
    if (r->access)
        deliver(r, line, now + rest);
    request_free(r);
    if (data && c->held)
        look_up_held(c, now);
}

static void answer_load(struct mem_request *r, uint64_t cycle)
{
    port_post(r->mem->domain, cycle + r->mem->timing.s_path, line_arrives, r);
}

/* Of the L2: the part that fills a line. */
static void ask(struct scache *s, struct mem_request *r, uint64_t cycle)
{
    struct xcd_mem *mem = r->mem;
    r->epoch = s->epoch;
    r->fill = r->line;
    struct mem_request **at = &s->miss[r->line / SLINE % SCACHE_MISSES];
    r->chain = *at;
    *at = r;
    r->mask = mask_of((unsigned)(r->line % LINE), SLINE);
    r->physical -= r->line % LINE; /* to the L2 it is the whole line's */
    r->line -= r->line % LINE;
    r->answer = answer_load;
    port_post(mem->domain, port_take(&s->out, cycle, 1) + mem->timing.s_path, l2_arrive, r);
}

/* The lines behind one that was not there, or had come before anybody asked for it: of the same page, whose
 * translation is at hand. */
static void read_ahead(struct scluster *c, uint64_t line, uint64_t physical, uint8_t mtype, uint64_t cycle)
{
    struct xcd_mem *mem = c->mem;
    struct scache *s = &c->instruction;
    for (unsigned n = 1; n <= mem->timing.i_prefetch; n++) {
        uint64_t next = line + n * SLINE;
        if (next >> VM_PAGE_SHIFT != line >> VM_PAGE_SHIFT)
            return;
        const struct mem_request *m = *miss_of(s, next);
        if (find(s, next) != NO_WAY || (m && m->epoch == s->epoch))
            continue;
        struct mem_request *r = request_new(mem);
        r->cluster = c;
        r->kind = REQUEST_LOAD;
        r->mtype = mtype;
        r->line = next;
        request_place(r, physical + n * SLINE);
        mem->counters.sqc_inst_ahead++;
        ask(s, r, cycle);
    }
}

static void look_up_load(struct mem_request *r, uint64_t cycle)
{
    struct xcd_mem *mem = r->mem;
    struct scache *s = cache_of(r);
    struct mem_counters *n = &mem->counters;
    const struct mem_timing *t = &mem->timing;
    bool fetch = is_fetch(r->access), first = false;
    *(fetch ? &n->sqc_inst_requests : &n->sqc_data_requests) += 1;
    unsigned skip, offset, bytes, i = find(s, r->line);
    part_of(r->access, r->line, &skip, &offset, &bytes);
    uint64_t need = bytes_mask(offset, bytes), line = r->line, physical = r->physical;
    uint8_t mtype = r->mtype;
    struct scluster *c = r->cluster;
    struct mem_request *m;
    if (i != NO_WAY && (s->valid[i] & need) == need) {
        *(fetch ? &n->sqc_inst_hits : &n->sqc_data_hits) += 1;
        s->used[i] = ++s->clock;
        first = s->ahead[i];
        s->ahead[i] = false;
        deliver(r, s->data + (size_t)i * SLINE,
                cycle + (fetch ? t->i_latency / 2 : t->s_latency - t->s_lookup));
        request_free(r);
    } else if ((m = *miss_of(s, r->line)) && m->epoch == s->epoch) {
        *(fetch ? &n->sqc_inst_merged : &n->sqc_data_merged) += 1;
        first = fetch && !m->access && !m->joined;
        c->waiting += !fetch;
        r->next = m->joined;
        m->joined = r;
    } else {
        *(fetch ? &n->sqc_inst_misses : &n->sqc_data_misses) += 1;
        first = fetch;
        c->waiting += !fetch;
        ask(s, r, cycle);
    }
    if (first)
        read_ahead(c, line, physical, mtype, cycle);
}

/* The scalar cache keeps order among loads that it has no room for: as many wait for lines as it has places,
 * and the others, hits too, before the look-up. */
static void load_scalar(struct mem_request *r, uint64_t cycle)
{
    struct scluster *c = r->cluster;
    if (!c->held && c->waiting < r->mem->timing.s_waiting) {
        look_up_load(r, cycle);
        return;
    }
    r->next = NULL;
    *c->held_end = r;
    c->held_end = &r->next;
}

/* One a cycle. */
static void look_up_held(struct scluster *c, uint64_t now)
{
    while (c->held && c->waiting < c->mem->timing.s_waiting) {
        struct mem_request *r = c->held;
        c->held = r->next;
        if (!c->held)
            c->held_end = &c->held;
        look_up_load(r, port_take(&c->port, now, 1));
    }
}

/* What is here of a line, and these bytes, is found in that cycle, if its translation is; NULL: nothing has
 * happened. */
static const uint8_t *hit(struct scluster *c, struct scache *s, uint64_t line, uint64_t need, uint64_t cycle)
{
    const unsigned i = find(s, line);
    if (i == NO_WAY || (s->valid[i] & need) != need || s->ahead[i] || !utcl1_hit(&c->tlb, line, cycle))
        return NULL;
    s->used[i] = ++s->clock;
    return s->data + (size_t)i * SLINE;
}

/* A scalar load's part of a line; false: it needs a request. */
static bool load_at_once(struct scluster *c, struct mem_access *a, uint64_t line, uint64_t start)
{
    struct xcd_mem *mem = c->mem;
    unsigned skip, offset, bytes;
    part_of(a, line, &skip, &offset, &bytes);
    const uint64_t cycle = start + mem->timing.s_lookup;
    if (c->held || c->waiting + c->coming >= mem->timing.s_waiting)
        return false; /* those that come before it may take the last place */
    const uint8_t *from = hit(c, &c->scalar, line, bytes_mask(offset, bytes), cycle);
    if (!from)
        return false;
    mem->counters.sqc_data_requests++;
    mem->counters.sqc_data_hits++;
    const uint64_t rest = mem->timing.s_latency - mem->timing.s_lookup;
    part_done(mem, a, pass_on(c, a, skip, from + offset, bytes, cycle + rest));
    return true;
}

uint64_t xcd_mem_fetch_hit(struct xcd_mem *mem, unsigned cu, uint64_t line)
{
    struct scluster *c = cluster_of(mem, mem->place[cu] / mem->icache_cus);
    struct port_server *port = fetch_port(c, cu);
    const uint64_t now = port_now(mem->domain), start = port->free > now ? port->free : now;
    const unsigned latency = mem->timing.i_latency, rest = latency / 2;
    if (!hit(c, &c->instruction, line, ~UINT64_C(0), start + latency - rest))
        return PORT_NEVER;
    port->free = start + 1;
    mem->counters.sqc_inst_requests++;
    mem->counters.sqc_inst_hits++;
    return start + latency;
}

/* ---- stores ---- */

/* Dirty lines to the L2; true when there is nothing to wait for. */
static bool write_back(struct scluster *c)
{
    for (unsigned i = 0; c->dirty; i++)
        write_line(c, &c->scalar, i);
    return c->writing == 0;
}

/* A store is in the cache: s_dcache_wb after it can begin. */
static void stored(struct scluster *c)
{
    if (--c->storing || !c->writebacks)
        return;
    if (write_back(c))
        finish_writebacks(c, port_now(c->mem->domain) + c->mem->timing.s_latency);
}

static void look_up_store(struct mem_request *r, uint64_t cycle)
{
    struct scache *s = &r->cluster->scalar;
    struct mem_access *a = r->access;
    unsigned skip, offset, bytes, i = find(s, r->line);
    part_of(a, r->line, &skip, &offset, &bytes);
    r->mem->counters.sqc_data_requests++;
    if (i == NO_WAY)
        i = allocate(r->cluster, s, r);
    memcpy(s->data + (size_t)i * SLINE + offset, a->data + skip, bytes);
    r->cluster->dirty += !s->dirty[i];
    s->valid[i] |= bytes_mask(offset, bytes);
    s->dirty[i] |= bytes_mask(offset, bytes);
    s->used[i] = ++s->clock;
    part_done(r->mem, a, cycle);
    stored(r->cluster);
    request_free(r);
}

/* ---- atomics: the L2's business; of their line the cache keeps nothing ---- */

static void atomic_answered(struct port_domain *domain, struct port_event *event)
{
    struct mem_request *r = event->self;
    access_went(r->access, r->level);
    part_done(r->mem, r->access, port_now(domain));
    request_free(r);
}

static void answer_atomic(struct mem_request *r, uint64_t cycle)
{
    port_post(r->mem->domain, cycle + r->mem->timing.s_path, atomic_answered, r);
}

static void forget_line(struct scluster *c, uint64_t line, bool write)
{
    struct scache *s = &c->scalar;
    unsigned i = find(s, line);
    if (i == NO_WAY)
        return;
    if (write)
        write_line(c, s, i);
    c->dirty -= s->dirty[i] != 0;
    s->valid[i] = s->dirty[i] = 0;
}

static void send_atomic(struct mem_request *r, uint64_t cycle)
{
    struct scluster *c = r->cluster;
    const struct mem_access *a = r->access;
    r->mem->counters.sqc_data_requests++;
    forget_line(c, r->line, true);
    r->line -= r->line % LINE;
    request_place(r, r->physical - r->physical % LINE);
    r->lanes = r->depth = 1;
    r->mask = mask_of((unsigned)(a->addr[0] % LINE), a->bytes);
    r->answer = answer_atomic;
    cycle = port_take(&c->port, cycle, 1) + r->mem->timing.s_path; /* behind the line's own bytes */
    port_post(r->mem->domain, cycle, l2_arrive, r);
}

/* From the TLB. */
static void go(struct mem_request *r, uint64_t cycle)
{
    if (r->kind == REQUEST_LOAD && !is_fetch(r->access))
        r->cluster->coming--;
    if (r->access->kind == ACCESS_SPROBE) {
        part_done(r->mem, r->access, cycle);
        request_free(r);
    } else if (r->faulted) {
        deliver(r, NULL, cycle);
        if (r->kind == REQUEST_STORE)
            stored(r->cluster);
        request_free(r);
    } else if (r->kind == REQUEST_STORE) {
        look_up_store(r, cycle);
    } else if (r->kind == REQUEST_ATOMIC) {
        send_atomic(r, cycle);
    } else if (is_fetch(r->access)) {
        look_up_load(r, cycle);
    } else {
        load_scalar(r, cycle);
    }
}

/* ---- from the CU ---- */

void sl1_submit(struct xcd_mem *mem, struct mem_access *a)
{
    const struct mem_timing *n = &mem->timing;
    struct scluster *c = cluster_of(mem, mem->place[a->cu] / (is_fetch(a) ? mem->icache_cus : mem->sl1_cus));
    uint64_t now = port_now(mem->domain);
    a->complete = false;
    a->cycle = 0;
    a->pending = 0;
    a->level = MEM_LEVEL_L1;
    switch (a->kind) {
    case ACCESS_SINV:
        c->scalar.epoch++;
        /* Over all lines, and nothing is looked up meanwhile. */
        access_done_at(mem, a, port_take(&c->port, now, n->s_walk) + n->s_walk + n->s_latency, complete);
        return;
    case ACCESS_SWB:
        a->next = c->writebacks;
        c->writebacks = a;
        if (!c->storing && write_back(c))
            finish_writebacks(c, now + n->s_latency); /* the cache knows that none is dirty */
        return;
    case ACCESS_SDISCARD:
        forget_line(c, a->addr[0] & ~(uint64_t)(SLINE - 1), false);
        access_done_at(mem, a, now + n->s_lookup, complete);
        return;
    default:
        break;
    }
    uint64_t first = a->addr[0] & ~(uint64_t)(SLINE - 1);
    uint64_t last = (a->addr[0] + a->bytes - 1) & ~(uint64_t)(SLINE - 1);
    const unsigned lines = 1 + (last != first);
    a->pending = lines;
    if (a->kind == ACCESS_SSTORE)
        c->storing += a->pending;
    for (unsigned i = 0; i < lines; i++) {
        const uint64_t line = first + i * SLINE;
        uint64_t start = port_take(is_fetch(a) ? fetch_port(c, a->cu) : &c->port, now, 1);
        if (a->kind == ACCESS_SLOAD && load_at_once(c, a, line, start))
            continue;
        struct mem_request *r = request_new(mem);
        r->access = a;
        r->cluster = c;
        r->kind = a->kind == ACCESS_SSTORE    ? REQUEST_STORE
                  : a->kind == ACCESS_SATOMIC ? REQUEST_ATOMIC
                                              : REQUEST_LOAD;
        r->line = line;
        c->coming += r->kind == REQUEST_LOAD && !is_fetch(a);
        utcl1_translate(&c->tlb, r, start + (is_fetch(a) ? n->i_latency - n->i_latency / 2 : n->s_lookup));
    }
}

/* Fetches are arbitrated by how full the waves' buffers are (GCN white paper, CU front-end): a line ahead
 * gives way to those that waves wait for, which it is taken for when more than one for each SIMD wait. */
bool xcd_mem_fetch_ready(const struct xcd_mem *mem, unsigned cu)
{
    struct scluster *c = mem->cluster[mem->place[cu] / mem->icache_cus];
    return !c || fetch_port(c, cu)->free <= port_now(mem->domain) + mem->timing.i_queue;
}

uint64_t xcd_mem_fetch_half(struct xcd_mem *mem, unsigned cu)
{
    return port_take(fetch_port(cluster_of(mem, mem->place[cu] / mem->icache_cus), cu), port_now(mem->domain),
                     1);
}

/* ---- kernel boundaries ---- */

void sl1_release(struct xcd_mem *mem)
{
    for (unsigned i = 0; i < mem->clusters; i++) {
        struct scluster *c = mem->cluster[i];
        if (!c)
            continue;
        write_back(c);
        if (c->writing && !c->release) {
            c->release = true;
            mem->releasing++;
        }
    }
}

void sl1_acquire(struct xcd_mem *mem)
{
    for (unsigned i = 0; i < mem->clusters; i++)
        if (mem->cluster[i])
            mem->cluster[i]->scalar.epoch++;
}

void sl1_invalidate_code(struct xcd_mem *mem)
{
    for (unsigned i = 0; i < mem->clusters; i++)
        if (mem->cluster[i])
            mem->cluster[i]->instruction.epoch++;
}

/* ---- ahead of the events ---- */

static bool prefetch_completion(const struct port_event *event, unsigned stage)
{
    const struct mem_access *a = event->self;
    if (stage)
        return a->prefetch && a->prefetch(a, stage);
    access_prefetch(a, sizeof(a->addr[0]));
    return true;
}

void sl1_prefetch(struct xcd_mem *mem)
{
    port_set_prefetch(mem->domain, complete, prefetch_completion);
}
