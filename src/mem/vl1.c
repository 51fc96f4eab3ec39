/* SPDX-License-Identifier: MIT */
/*
 * A CU's vector cache: write-through, so it never has anything that the L2 has
 * not been given.  A store takes its line's bytes along under a mask; it keeps
 * the line only when it wrote all of it (GCN white paper, L1 data cache).
 *
 * Scopes (AMD Instinct MI300 ISA, 9.1.10; LLVM AMDGPUUsage): a load of agent or
 * system scope never takes what is here.  buffer_inv with either bit
 * makes every line invalid: those have the number of an earlier epoch.
 */
#include <smmintrin.h>
#include <stdlib.h>
#include <string.h>

#include "mem/vl1_state.h"

static void drained(struct utcl1 *tlb);
static void go(struct mem_request *request, uint64_t cycle);

static struct vl1 *vl1_of(struct xcd_mem *mem, unsigned cu)
{
    if (mem->vl1[cu])
        return mem->vl1[cu];
    struct vl1 *l1 = arena_take(&mem->arena, sizeof(*l1));
    unsigned sets = mem->timing.sets, lines = sets * mem->timing.ways;
    l1->mem = mem;
    l1->cu = cu;
    l1->epoch = 1;
    l1->line = arena_take(&mem->arena, (size_t)lines * sizeof(*l1->line));
    l1->short_tag = arena_take(&mem->arena, lines + 64); /* 64 are read at once */
    l1->oldest = arena_take(&mem->arena, (size_t)sets * sizeof(*l1->oldest));
    l1->data = arena_take(&mem->arena, (size_t)lines * LINE);
    for (unsigned s = 0; s < sets; s++) { /* way after way, the first the newest */
        unsigned first = s * mem->timing.ways, last = first + mem->timing.ways - 1;
        for (unsigned i = first; i <= last; i++) {
            l1->line[i].newer = (uint16_t)(i > first ? i - 1 : last);
            l1->line[i].older = (uint16_t)(i < last ? i + 1 : first);
        }
        l1->oldest[s] = (uint16_t)last;
    }
    unsigned channels = mem->l2_map.channels, here = mem->cus > 1 ? cu * 256 / (mem->cus - 1) : 0;
    l1->distance = arena_take(&mem->arena, channels * sizeof(*l1->distance));
    for (unsigned c = 0; c < channels; c++) {
        unsigned there = channels > 1 ? c * 256 / (channels - 1) : 0;
        unsigned apart = here > there ? here - there : there - here;
        l1->distance[c] = mem->timing.path + mem->timing.spread * apart / 256;
    }
    queue_clear(&l1->stalled);
    l1->loads_end = &l1->loads;
    for (unsigned w = 0; w < CHIP_MAX_CU_WAVES; w++)
        l1->wave[w].end = &l1->wave[w].first;
    utcl1_open(&l1->tlb, mem, go);
    l1->tlb.drained = drained;
    mem->vl1[cu] = l1;
    return l1;
}

/* ---- lines ---- */

/* Which of 64 ways have the byte. */
static uint64_t alike(const uint8_t *short_tag, uint8_t wanted)
{
    __m128i bytes = _mm_set1_epi8((char)wanted);
    uint64_t found = 0;
    for (unsigned i = 0; i < 4; i++) {
        __m128i have = _mm_loadu_si128((const __m128i *)short_tag + i);
        found |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(have, bytes)) << 16 * i;
    }
    return found;
}

static unsigned find(const struct vl1 *l1, unsigned set, uint64_t line)
{
    unsigned ways = l1->mem->timing.ways, first = set * ways, end = first + ways;
    for (unsigned from = first; from < end; from += 64)
        for (uint64_t left = alike(l1->short_tag + from, short_tag_of(line)); left; left &= left - 1) {
            unsigned i = from + (unsigned)__builtin_ctzll(left);
            if (i < end && l1->line[i].tag == line && l1->line[i].epoch == l1->epoch)
                return i;
        }
    return NO_LINE;
}

/* Between the set's newest and its oldest. */
static void move(struct vl1 *l1, unsigned i, unsigned oldest)
{
    struct vl1_line *line = l1->line, *at = &line[i];
    line[at->newer].older = at->older;
    line[at->older].newer = at->newer;
    at->newer = (uint16_t)oldest;
    at->older = line[oldest].older;
    line[at->older].newer = (uint16_t)i;
    line[oldest].older = (uint16_t)i;
}

static void use_first(struct vl1 *l1, unsigned set, unsigned i)
{
    unsigned oldest = l1->oldest[set];
    if (i == oldest)
        l1->oldest[set] = l1->line[i].newer; /* the ring turns */
    else if (l1->line[i].newer != oldest)
        move(l1, i, oldest);
}

/* Next to go. */
static void use_last(struct vl1 *l1, unsigned set, unsigned i)
{
    unsigned oldest = l1->oldest[set];
    if (i == oldest)
        return;
    if (l1->line[i].newer != oldest)
        move(l1, i, oldest);
    l1->oldest[set] = (uint16_t)i;
}

static void drop(struct vl1 *l1, uint64_t line)
{
    unsigned set = vl1_set_of(l1, line), i = find(l1, set, line);
    if (i == NO_LINE)
        return;
    l1->line[i].epoch = 0;
    use_last(l1, set, i);
}

/* A line that is not here takes the oldest's place; it is the next to go when it streams. */
static void install(struct vl1 *l1, unsigned set, uint64_t line, const uint8_t *data, bool streams)
{
    unsigned i = l1->oldest[set];
    struct vl1_line *new = &l1->line[i];
    new->tag = line;
    new->epoch = l1->epoch;
    l1->short_tag[i] = short_tag_of(line);
    memcpy(l1->data + (size_t)i * LINE, data, LINE);
    port_prefetch_line(&l1->line[new->newer]); /* the set's next to go */
    port_prefetch(l1->data + (size_t)new->newer * LINE, LINE);
    if (!streams)
        l1->oldest[set] = new->newer; /* the ring turns */
}

static void keep_store(struct vl1 *l1, uint64_t line, const uint8_t *data)
{
    unsigned set = vl1_set_of(l1, line), i = find(l1, set, line);
    if (i == NO_LINE) {
        install(l1, set, line, data, false);
    } else {
        memcpy(l1->data + (size_t)i * LINE, data, LINE);
        use_first(l1, set, i);
    }
}

/* ---- completion ---- */

/* Calls done() of what is complete and has nothing before it in its wave. */
static void release_held(struct vl1 *l1, struct vl1_wave *w);

void vl1_complete(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct mem_access *a = event->self;
    struct xcd_mem *mem = (struct xcd_mem *)(uintptr_t)event->word[0];
    unsigned cu = a->cu;
    struct vl1_wave *w = &mem->vl1[cu]->wave[a->wave];
    bool written_back = false;
    a->complete = true;
    while (w->first && w->first->complete) {
        struct mem_access *head = w->first;
        written_back |= head->kind == ACCESS_WB;
        w->first = head->next_of_wave;
        if (!w->first)
            w->end = &w->first;
        mem->in_flight--;
        head->done(head);
    }
    if (written_back)
        release_held(mem->vl1[cu], w);
}

static bool returns_data(const struct mem_access *a)
{
    return a->kind == ACCESS_LOAD || (a->kind == ACCESS_ATOMIC && a->returns);
}

/* Data goes to the registers in the order of submission. */
static void return_loads(struct vl1 *l1)
{
    const struct mem_timing *n = &l1->mem->timing;
    uint64_t now = port_now(l1->mem->domain);
    while (l1->loads && l1->loads->pending == 0) {
        struct mem_access *a = l1->loads;
        l1->loads = a->next;
        if (!l1->loads)
            l1->loads_end = &l1->loads;
        unsigned bytes = (unsigned)__builtin_popcountll(a->lanes) * (a->bytes < 4 ? 4 : a->bytes);
        uint64_t cycles = bytes ? (bytes + n->bandwidth - 1) / n->bandwidth : 1;
        l1->mem->counters.td_busy += cycles;
        uint64_t start = port_take(&l1->result, a->cycle > now ? a->cycle : now, cycles);
        access_done_at(l1->mem, a, start + cycles + n->result, vl1_complete);
    }
}

static void lines_done(struct vl1 *l1, struct mem_access *a)
{
    if (returns_data(a))
        return_loads(l1);
    else
        access_done_at(l1->mem, a, a->cycle, vl1_complete);
}

/* One line of the access is done with, at `cycle`. */
static inline void line_done(struct vl1 *l1, struct mem_access *a, uint64_t cycle)
{
    if (cycle > a->cycle)
        a->cycle = cycle;
    if (--a->pending == 0)
        lines_done(l1, a);
}

static void unstall(struct vl1 *l1);

static void performed_store(struct vl1 *l1, unsigned wave)
{
    struct vl1_wave *w = &l1->wave[wave];
    if (--w->stores)
        return;
    struct mem_access *wb = w->writeback;
    w->writeback = NULL;
    if (wb) /* it is behind the last of them */
        l2_flush(l1->mem, wb, isa_policy_beyond_agent(wb->policy), NULL, NULL);
}

void vl1_store_done(struct vl1 *l1, struct mem_access *a, uint64_t cycle)
{
    performed_store(l1, a->wave);
    line_done(l1, a, cycle);
}

void vl1_performed(struct mem_request *r)
{
    struct xcd_mem *mem = r->mem;
    if (!r->access) {
        mem->in_flight--;
        if (--mem->leaving == 0 && mem->release_waits) {
            mem->release_waits = false;
            mem_released(mem);
        }
        return;
    }
    performed_store(mem->vl1[r->cu], r->wave);
    if (r->kind == REQUEST_STORE)
        for (const struct mem_request *j = r->joined; j; j = j->next)
            performed_store(mem->vl1[r->cu], j->wave);
}

/* ---- from the L2 ---- */

static struct mem_request **misses_of(struct vl1 *l1, uint64_t line)
{
    return &l1->miss[bucket_of(line, MISS_BUCKETS)];
}

static struct mem_request **miss_of(struct vl1 *l1, uint64_t line)
{
    struct mem_request **at = misses_of(l1, line);
    while (*at && !request_concerns(*at, line))
        at = &(*at)->chain;
    return at;
}

/* What is on its way is older than what comes now: nobody joins it, nor is it kept. */
static void supersede_miss(struct mem_request **at)
{
    struct mem_request *r = *at;
    if (!r)
        return;
    *at = r->chain;
    r->cached = false;
}

static void deliver(struct vl1 *l1, struct mem_request *r, const uint8_t *data, bool faulted, uint64_t cycle)
{
    struct mem_access *a = r->access;
    access_went(a, r->level);
    if (faulted)
        access_fault(a, r);
    else if (data == r->data || data != r->bytes) /* else they are the access's own */
        coalesce_deliver(a, r, data);
    line_done(l1, a, cycle);
}

static void unstall(struct vl1 *l1);

static void uncached_done(struct port_domain *domain, struct port_event *event)
{
    struct vl1 *l1 = event->self;
    (void)domain;
    l1->uncached--;
    unstall(l1);
}

/* Uncached accesses keep their order: the next one goes when the wave has this one's data or acknowledgement.
 */
static void end_uncached(struct vl1 *l1, const struct mem_request *r, uint64_t cycle)
{
    if (r->mtype == VM_MTYPE_UC)
        port_post(l1->mem->domain, cycle, uncached_done, l1);
}

void vl1_line_arrives(struct port_domain *domain, struct port_event *event)
{
    struct mem_request *r = event->self;
    struct vl1 *l1 = r->mem->vl1[r->cu];
    uint64_t now = port_now(domain);
    end_uncached(l1, r, now + l1->mem->timing.result);
    if (r->cached)
        *miss_of(l1, r->line) = r->chain;
    if (r->cached && !r->part && !r->faulted && r->epoch == l1->epoch) /* a store would have superseded it */
        for (unsigned i = 0; i < request_lines(r); i++)
            install(l1, vl1_set_of(l1, r->line + i * LINE), r->line + i * LINE, r->bytes + (size_t)i * LINE,
                    r->policy.streams);
    l1->misses -= request_lines(r);
    deliver(l1, r, r->bytes, r->faulted, now);
    while (r->joined) {
        struct mem_request *j = r->joined;
        r->joined = j->next;
        if (r->part && !mask_covers(r->mask, j->mask)) {
            go(j, now); /* its bytes have not come */
            continue;
        }
        j->level = r->level;
        deliver(l1, j, r->bytes + (j->line - r->line), r->faulted, now);
        request_free(j);
    }
    request_free(r);
    unstall(l1);
}

/* Cycles to the request's channel of the L2, one way. */
static uint64_t distance(const struct vl1 *l1, const struct mem_request *r)
{
    return l1->distance[r->set >> l1->mem->l2_map.set_bits];
}

static void answer_load(struct mem_request *r, uint64_t cycle)
{
    struct xcd_mem *mem = r->mem;
    struct vl1 *l1 = mem->vl1[r->cu];
    uint64_t cycles = mem->timing.fill * request_lines(r);
    cycle += distance(l1, r);
    port_post(mem->domain, port_take(&l1->fill, cycle, cycles) + cycles, vl1_line_arrives, r);
}

/* A store, or an atomic. */
void vl1_acknowledged(struct port_domain *domain, struct port_event *event)
{
    struct mem_request *r = event->self, *joined;
    struct vl1 *l1 = r->mem->vl1[r->cu];
    bool faulted = r->faulted, first = true;
    end_uncached(l1, r, port_now(domain) + l1->mem->timing.ack);
    uint8_t level = r->level;
    l1->stores -= request_lines(r);
    for (; r; r = joined) { /* those that were combined */
        struct mem_access *a = r->access;
        joined = first ? r->joined : r->next;
        first = false;
        if (a) {
            access_went(a, level);
            if (faulted)
                access_fault(a, r);
            line_done(l1, a, port_now(domain) + (returns_data(a) ? 0 : r->mem->timing.ack));
        }
        request_free(r);
    }
    unstall(l1);
}

static void answer_store(struct mem_request *r, uint64_t cycle)
{
    struct xcd_mem *mem = r->mem;
    port_post(mem->domain, cycle + distance(mem->vl1[r->cu], r), vl1_acknowledged, r);
}

/* ---- to the L2 ---- */

void vl1_send(struct vl1 *l1, struct mem_request *r, uint64_t cycle)
{
    struct xcd_mem *mem = l1->mem;
    unsigned lines = request_lines(r), sent = r->kind == REQUEST_STORE ? request_halves(r) : lines;
    l1->uncached += r->mtype == VM_MTYPE_UC;
    cycle = port_take(&l1->output, cycle, sent);
    cycle += sent / lines + distance(l1, r); /* a pair's first; the second is behind it all the way */
    if (r->kind == REQUEST_LOAD) {
        mem->counters.tcp_tcc_read += lines;
        mem->counters.tcp_tcc_read_by[r->mtype] += lines;
        l1->misses += lines;
        r->answer = answer_load;
    } else {
        if (r->kind == REQUEST_STORE) {
            mem->counters.tcp_tcc_write += sent;
            mem->counters.tcp_tcc_write_by[r->mtype] += sent;
        } else {
            mem->counters.tcp_tcc_atomic++;
            mem->counters.tcp_tcc_atomic_returns += r->access->returns;
            mem->counters.tcp_tcc_atomic_by[r->mtype]++;
        }
        l1->stores += lines;
        r->answer = answer_store;
    }
    port_post(mem->domain, cycle, l2_arrive, r);
}

/* Whether there is an entry for a load that misses. */
static bool may_miss(const struct vl1 *l1, const struct mem_request *r)
{
    return l1->misses + request_lines(r) <= l1->mem->timing.misses;
}

/* Nothing of it is here, or on its way. */
static enum turn miss_pair(struct vl1 *l1, struct mem_request *r, uint64_t cycle)
{
    r->absent = !may_miss(l1, r);
    if (r->absent)
        return TURN_WAITS;
    l1->mem->counters.tcp_misses += 2;
    struct mem_request **at = misses_of(l1, r->line);
    r->chain = *at;
    *at = r;
    r->cached = true;
    r->epoch = l1->epoch;
    vl1_send(l1, r, cycle);
    return TURN_DONE;
}

/* At the tags, where its two lines fare alike. */
static enum turn look_up_load_pair(struct vl1 *l1, struct mem_request *r, uint64_t cycle)
{
    struct mem_counters *c = &l1->mem->counters;
    if (r->absent)
        return miss_pair(l1, r, cycle);
    unsigned set[2] = {vl1_set_of(l1, r->line), vl1_set_of(l1, r->line + LINE)};
    unsigned way[2] = {find(l1, set[0], r->line), find(l1, set[1], r->line + LINE)};
    if (way[0] != NO_LINE && way[1] != NO_LINE) {
        c->tcp_hits += 2;
        for (unsigned i = 0; i < 2; i++) {
            use_first(l1, set[i], way[i]);
            memcpy(r->bytes + (size_t)i * LINE, l1->data + (size_t)way[i] * LINE, LINE);
        }
        deliver(l1, r, r->bytes, false, cycle + r->lookups / 2);
        request_free(r);
        return TURN_DONE;
    }
    if (way[0] != NO_LINE || way[1] != NO_LINE)
        return TURN_DIFFERS;
    struct mem_request *m = *miss_of(l1, r->line);
    if (m != *miss_of(l1, r->line + LINE) || (m && m->epoch != l1->epoch))
        return TURN_DIFFERS;
    if (m) {
        c->tcp_hits += 2;
        r->next = m->joined;
        m->joined = r;
        return TURN_DONE;
    }
    return miss_pair(l1, r, cycle);
}

static enum turn look_up_pair(struct vl1 *l1, struct mem_request *r, uint64_t cycle)
{
    if (isa_policy_beyond_cu(r->policy) || r->mtype == VM_MTYPE_UC ||
        (l1->combine.count && (combine_has(l1, r->line) || combine_has(l1, r->line + LINE))))
        return TURN_DIFFERS;
    if (r->kind == REQUEST_LOAD)
        return look_up_load_pair(l1, r, cycle);
    if (l1->stores + 2 > l1->mem->timing.stores)
        return TURN_WAITS;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t line = r->line + i * LINE;
        supersede_miss(miss_of(l1, line));
        if (r->policy.streams)
            drop(l1, line);
        else
            keep_store(l1, line, r->bytes + (size_t)i * LINE);
    }
    vl1_send(l1, r, cycle);
    return TURN_DONE;
}

/* At the tags.  TURN_WAITS when there is no entry for what it needs. */
static enum turn look_up(struct vl1 *l1, struct mem_request *r, uint64_t cycle)
{
    struct xcd_mem *mem = l1->mem;
    const struct mem_timing *n = &mem->timing;
    if (r->kind != REQUEST_LOAD && cycle < l1->writes_from)
        return TURN_WAITS;
    if (r->pair)
        return look_up_pair(l1, r, cycle);
    if (l1->combine.count)
        combine_before(l1, r, cycle);
    if (r->mtype == VM_MTYPE_UC && l1->uncached >= n->uncached)
        return TURN_WAITS;
    if (r->kind == REQUEST_LOAD) {
        bool may_hit = !isa_policy_beyond_cu(r->policy) && r->mtype != VM_MTYPE_UC;
        unsigned set = vl1_set_of(l1, r->line), i = may_hit && !r->absent ? find(l1, set, r->line) : NO_LINE;
        if (i != NO_LINE) {
            mem->counters.tcp_hits++;
            use_first(l1, set, i);
            deliver(l1, r, l1->data + (size_t)i * LINE, false, cycle);
            request_free(r);
            return TURN_DONE;
        }
        struct mem_request **miss = miss_of(l1, r->line), *m = *miss;
        if (may_hit && m && m->epoch == l1->epoch) {
            mem->counters.tcp_hits++; /* as the profiler counts it: no request of its own */
            r->next = m->joined;
            m->joined = r;
            return TURN_DONE;
        }
        const bool waits = !may_miss(l1, r);
        r->absent = may_hit && waits;
        if (waits)
            return TURN_WAITS;
        mem->counters.tcp_misses++;
        supersede_miss(miss);
        if (may_hit) {
            struct mem_request **at = misses_of(l1, r->line);
            r->chain = *at;
            *at = r;
        } else {
            drop(l1, r->line);
        }
        r->cached = may_hit;
        r->epoch = l1->epoch;
        vl1_send(l1, r, cycle);
        return TURN_DONE;
    }
    if (l1->stores >= n->stores)
        return TURN_WAITS;
    supersede_miss(miss_of(l1, r->line));
    if (r->kind == REQUEST_STORE && mask_full(r->mask) && !isa_policy_beyond_cu(r->policy) &&
        !r->policy.streams && r->mtype != VM_MTYPE_UC)
        keep_store(l1, r->line, r->bytes);
    else
        drop(l1, r->line);
    if (r->kind == REQUEST_STORE && combine_keeps(l1, r))
        combine_take(l1, r, cycle);
    else
        vl1_send(l1, r, cycle);
    return TURN_DONE;
}

static void tell(struct vl1 *l1)
{
    if (!l1->tells || l1->stalled.first || l1->tlb.blocked.first)
        return;
    l1->tells = false;
    l1->mem->room(l1->mem->room_context, l1->cu);
}

static void drained(struct utcl1 *tlb)
{
    tell((struct vl1 *)((char *)tlb - offsetof(struct vl1, tlb)));
}

static void unstall(struct vl1 *l1)
{
    if (!l1->stalled.first)
        return;
    uint64_t now = port_now(l1->mem->domain);
    if (l1->stalled.first->absent && !may_miss(l1, l1->stalled.first))
        return;
    if (l1->stalled.first->next) /* for most often two are looked at, and the second waits again */
        vl1_prefetch_set(l1, l1->stalled.first->next->line);
    while (l1->stalled.first) {
        struct mem_request *r = l1->stalled.first, *next = r->next;
        port_prefetch(next, offsetof(struct mem_request, data));
        enum turn turn = look_up(l1, r, now);
        if (turn == TURN_WAITS)
            return;
        if (turn == TURN_DIFFERS)
            queue_split(&l1->stalled);
        else
            queue_drop(&l1->stalled, next);
    }
    tell(l1);
    if (now > l1->stalled_since) /* it may have been looked at before its turn */
        l1->mem->counters.tcp_pending_stall += now - l1->stalled_since;
}

/* From the TLB. */
static void go(struct mem_request *r, uint64_t cycle)
{
    struct vl1 *l1 = r->mem->vl1[r->cu];
    if (r->faulted) {
        struct mem_access *a = r->access;
        access_fault(a, r);
        if (r->kind != REQUEST_LOAD)
            performed_store(l1, r->wave);
        line_done(l1, a, cycle);
        request_free(r);
        return;
    }
    enum turn turn = l1->stalled.first ? TURN_WAITS : look_up(l1, r, cycle);
    if (turn == TURN_WAITS) {
        if (!l1->stalled.first)
            l1->stalled_since = cycle;
        queue_add(&l1->stalled, r);
    } else if (turn == TURN_DIFFERS) {
        struct mem_request *second = request_split(r);
        go(r, cycle);
        go(second, cycle + second->lookups);
    }
}

/* ---- from the CU ---- */

static void writes_go(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    unstall(event->self);
}

/*
 * The L2's channels walk over their tags for lines that others may have written.  Loads need not wait for
 * that: what is void is so at once.  Writes do, as the walk cannot tell what comes meanwhile from what was
 * there.
 */
static void invalidate(struct vl1 *l1, struct mem_access *a, uint64_t start)
{
    struct xcd_mem *mem = l1->mem;
    if (a->policy.scope != ISA_SCOPE_WAVE) {
        l1->epoch++;
        mem->counters.tcp_invalidates++;
    }
    /* Agent scope in an agent of one L2 needs nothing of it. */
    const bool system = isa_policy_beyond_agent(a->policy);
    if (isa_policy_beyond_cu(a->policy) && (mem->several_l2s || system)) {
        l2_invalidate(mem, system);
        l1->writes_from = start + mem->timing.lookup + 2 * mem->timing.l2_way + mem->timing.l2_walk;
        port_post(mem->domain, l1->writes_from, writes_go, l1);
    }
    access_done_at(mem, a, start + mem->timing.vl1_invalidate, vl1_complete);
}

static void write_back_arrives(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct mem_access *a = event->self;
    l2_flush((struct xcd_mem *)(uintptr_t)event->word[0], a, isa_policy_beyond_agent(a->policy), NULL, NULL);
}

static void write_back(struct vl1 *l1, struct mem_access *a, uint64_t start)
{
    struct xcd_mem *mem = l1->mem;
    const bool system = isa_policy_beyond_agent(a->policy);
    if (!isa_policy_beyond_cu(a->policy) || (!mem->several_l2s && !system)) {
        access_done_at(mem, a, start + mem->timing.ack, vl1_complete);
        return;
    }
    struct vl1_wave *w = &l1->wave[a->wave];
    if (w->stores) {
        w->writeback = a;
        combine_send(l1, a->wave);
    } else {
        access_done_at(mem, a, start + mem->timing.l2_way, write_back_arrives);
    }
}

static void set_out(struct vl1 *l1, struct mem_access *a)
{
    struct xcd_mem *mem = l1->mem;
    struct vl1_wave *w = &l1->wave[a->wave];
    uint64_t now = port_now(mem->domain);
    struct mem_counters *c = &mem->counters;
    *(a->kind == ACCESS_LOAD ? &c->tcp_read : a->kind == ACCESS_STORE ? &c->tcp_write : &c->tcp_atomic) += 1;
    c->tcp_atomic_returns += a->kind == ACCESS_ATOMIC && a->returns;
    c->tcp_accesses += (unsigned)__builtin_popcountll(a->lanes);
    unsigned cycles;
    struct mem_request *first = coalesce(mem, a, &cycles);
    cycles = cycles ? cycles : 1;
    c->ta_busy += cycles;
    uint64_t start = port_take(&l1->address, now, cycles) + mem->timing.lookup;
    a->cycle = start;
    if (returns_data(a)) {
        *l1->loads_end = a;
        l1->loads_end = &a->next;
    }
    if (a->kind != ACCESS_LOAD)
        w->stores += a->pending;
    if (!first) {
        a->pending = 1;
        line_done(l1, a, start);
        return;
    }
    for (const struct mem_request *r = first; r; r = r->next)
        vl1_prefetch_set(l1, r->line);
    utcl1_translate(&l1->tlb, first, start + 1);
}

static void begin(struct vl1 *l1, struct mem_access *a)
{
    uint64_t now = port_now(l1->mem->domain);
    if (a->kind == ACCESS_WB) {
        l1->wave[a->wave].flushing = true;
        write_back(l1, a, port_take(&l1->address, now, 1) + l1->mem->timing.lookup);
    } else if (a->kind == ACCESS_INV) {
        invalidate(l1, a, port_take(&l1->address, now, 1));
    } else {
        set_out(l1, a);
    }
}

/*
 * What a wave does after a buffer_wbl2 goes out behind it: compilers put no
 * s_waitcnt between it and the store of a flag.
 */
static void release_held(struct vl1 *l1, struct vl1_wave *w)
{
    w->flushing = false;
    for (struct mem_access *a; !w->flushing && (a = w->held) != NULL;) {
        w->held = a->next;
        a->next = NULL;
        begin(l1, a);
    }
}

static void hold(struct vl1_wave *w, struct mem_access *a)
{
    struct mem_access **end = &w->held;
    while (*end)
        end = &(*end)->next;
    *end = a;
}

void vl1_submit(struct xcd_mem *mem, struct mem_access *a)
{
    struct vl1 *l1 = vl1_of(mem, a->cu);
    struct vl1_wave *w = &l1->wave[a->wave];
    a->complete = false;
    a->pending = 0;
    a->level = MEM_LEVEL_L1;
    a->next = a->next_of_wave = NULL;
    w->state = WAVE_GOES_ON;
    *w->end = a;
    w->end = &a->next_of_wave;
    if (w->flushing)
        hold(w, a);
    else
        begin(l1, a);
}

bool xcd_mem_vector_ready(const struct xcd_mem *mem, unsigned cu)
{
    const struct vl1 *l1 = mem->vl1[cu];
    return !l1 || (!l1->stalled.first && !l1->tlb.blocked.first &&
                   l1->address.free <= port_now(mem->domain) + mem->timing.queue);
}

uint64_t xcd_mem_vector_again(struct xcd_mem *mem, unsigned cu)
{
    struct vl1 *l1 = mem->vl1[cu];
    uint64_t next = port_now(mem->domain) + 1;
    if (!l1)
        return next;
    if (l1->stalled.first || l1->tlb.blocked.first) {
        l1->tells = mem->room;
        return l1->tells ? PORT_NEVER : next;
    }
    return l1->address.free > next + mem->timing.queue ? l1->address.free - mem->timing.queue : next;
}

void xcd_mem_tell(struct xcd_mem *mem, void (*room)(void *context, unsigned cu), void *context)
{
    mem->room = room;
    mem->room_context = context;
}

/* ---- what others ask ---- */

void vl1_count_store(const struct mem_request *r)
{
    r->mem->vl1[r->cu]->wave[r->wave].stores++;
}

void vl1_acquire(struct xcd_mem *mem)
{
    for (unsigned i = 0; i < mem->cus; i++)
        if (mem->vl1[i]) {
            mem->vl1[i]->epoch++;
            mem->vl1[i]->tlb.generation = UINT64_MAX; /* each dispatch finds its UTCL1 empty */
        }
    mem->counters.tcp_invalidates += mem->cus;
}

void vl1_release(struct xcd_mem *mem)
{
    for (unsigned i = 0; i < mem->cus; i++)
        if (mem->vl1[i])
            combine_send(mem->vl1[i], CHIP_MAX_CU_WAVES);
}
