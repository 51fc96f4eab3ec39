/* SPDX-License-Identifier: MIT */
/*
 * The L2 of an XCD: write-back, with a dirty bit for each byte, so that a store
 * needs nothing from memory and two XCDs' bytes of one line merge there.  A line
 * that was stored to and never read has its dirty bytes alone: loads of just those
 * find them, and once they are written back nothing is left of it (GCN white
 * paper, L2: a dirty mask, and no other).
 *
 * What keeps several of them coherent, and what does not (LLVM AMDGPUUsage,
 * Memory Model GFX942):
 *
 * - Plain stores stay here as dirty bytes until the line is evicted, probed, or
 *   written back by buffer_wbl2.  Nobody else sees them before.
 * - A write that arrives at the home drops other L2s' copies by a probe, so a line
 *   that is here is as fresh as memory, but for what others have not written
 *   back.  A line of NC memory is not probed and goes with a buffer_inv of agent scope.
 * - Stores of agent scope (among several L2s) and system scope write through, and
 *   are acknowledged when the home has dropped other copies.
 * - Atomics are executed here on a line that this L2 owns: the home has brought
 *   every other copy to memory.  Those of system scope, and those on memory that
 *   the host shares (CC, UC), are executed at the home.
 * - Loads of system scope ask the home, since a host's store cannot probe.
 *
 * For a line there is at most one transaction with the fabric, but for atomics
 * that the home executes; requests that it stands in the way of wait for it, in
 * order.
 *
 * Channel and set come from the physical address, which is the same on every
 * run; tags are virtual (GCN white paper, L2).
 */
#include <stdlib.h>
#include <string.h>

#include "mem/l2_state.h"
#include "mem/vl1.h"

/* ---- lines ---- */

void l2_set_dirty(struct l2 *l2, uint32_t way, struct mask dirty)
{
    struct l2_line *line = &l2->line[way];
    bool was = mask_any(line->dirty), is = mask_any(dirty);
    line->dirty = dirty;
    if (was == is)
        return;
    uint64_t bit = UINT64_C(1) << way % 64;
    if (is) {
        l2->dirty_count++;
        l2->dirty[way / 64] |= bit;
    } else {
        l2->dirty_count--;
        l2->dirty[way / 64] &= ~bit;
    }
}

void l2_free_way(struct l2 *l2, uint32_t way)
{
    l2_set_dirty(l2, way, mask_of(0, 0));
    l2->used[way] = 0;
    l2->line[way] = (struct l2_line){.tag = 0};
    l2->held[way / 64] &= ~(UINT64_C(1) << way % 64);
}

static inline void refresh(struct l2 *l2, uint32_t way)
{
    if (l2->line[way].epoch != l2->epoch)
        l2_make_fresh(l2, way);
}

/* The least recently used way of a set among those that no transaction is about; NO_WAY: there is none. */
static uint32_t idle_victim_of(const struct l2 *l2, uint32_t set)
{
    uint32_t victim = NO_WAY;
    uint64_t least = UINT64_MAX;
    for (uint32_t way = set; way < set + l2->map.ways; way++)
        if (l2->used[way] < least && !l2_is_busy(l2, way)) {
            victim = way;
            least = l2->used[way];
        }
    return victim;
}

/* The way that a new line takes; NO_WAY when each is busy. */
static uint32_t victim_of(const struct l2 *l2, uint32_t set)
{
    if (l2->map.ways == 16) {
        uint32_t way = set + l2_least_of(&l2->used[set]);
        if (!l2_is_busy(l2, way))
            return way;
    }
    return idle_victim_of(l2, set);
}

/* The way becomes that of one of the request's lines. */
static void replace(struct xcd_mem *mem, const struct mem_request *r, unsigned which, uint32_t set,
                    uint32_t way)
{
    struct l2 *l2 = mem->l2;
    struct l2_line *line = &l2->line[way];
    mem->counters.tcc_evicts += line->tag != 0;
    if (mask_any(line->dirty)) {
        mem->counters.tcc_evict_writebacks += !line->nobody;
        l2_push_out(mem, set, way, NO_WAY);
    }
    uint64_t skip = which * (uint64_t)LINE, of = r->line + skip;
    *line = (struct l2_line){
        .tag = of | 1, .physical = r->physical + skip, .epoch = l2->epoch, .mtype = r->mtype};
    l2->held[way / 64] |= UINT64_C(1) << way % 64;
    l2->short_tag[way] = short_tag_of(of);
}

/* The caller uses it at once. */
static uint32_t allocate(struct xcd_mem *mem, const struct mem_request *r)
{
    uint32_t way = victim_of(mem->l2, r->set * mem->l2->map.ways);
    if (way != NO_WAY)
        replace(mem, r, 0, r->set, way);
    return way;
}

/* ---- what requests do ---- */

/* Each counts once, by what it found when it came. */
static void count(struct mem_request *r, unsigned hits, unsigned misses)
{
    if (!r->counted) {
        r->mem->counters.tcc_hits += hits;
        r->mem->counters.tcc_misses += misses;
    }
    r->counted = true;
}

static void touch(struct l2 *l2, uint32_t way, bool streams)
{
    l2->used[way] = streams ? 1 : ++l2->clock;
}

static void answer_load(struct mem_request *r, const uint8_t *data, uint64_t cycle, uint64_t latency)
{
    struct xcd_mem *mem = r->mem;
    struct l2_channel *c = l2_channel_at(mem->l2, r->set);
    uint64_t cycles = mem->timing.read;
    if (r->bytes != data && !r->filled)
        memcpy(r->bytes, data, LINE);
    r->answer(r, port_take(&c->read, cycle, cycles * request_lines(r)) + cycles - 1 + latency);
}

static void run_atomics(struct mem_request *r, uint8_t *line)
{
    for (uint64_t left = r->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        r->access->atomic(r->access, lane, line + (r->access->addr[lane] - r->line));
    }
}

static void run_at_home(struct fabric_request *q, uint8_t *line)
{
    run_atomics(((struct l2_txn *)q)->request, line);
}

static void performed(struct mem_request *r)
{
    if (!r->cluster)
        vl1_performed(r);
}

static bool load(struct mem_request *r, uint32_t way, uint64_t cycle, uint64_t latency)
{
    struct xcd_mem *mem = r->mem;
    struct l2 *l2 = mem->l2;
    struct l2_line *line = way != NO_WAY ? &l2->line[way] : NULL;
    bool system = isa_policy_beyond_agent(r->policy) && !r->cluster;
    if (system && line && line->owned && l2_is_stale(l2, way, mask_of(0, 0)))
        line->whole = false; /* the host's store would have taken it away */
    bool ask = r->mtype == VM_MTYPE_UC || (system && !(line && line->owned)) ||
               (r->mtype == VM_MTYPE_NC && isa_policy_beyond_cu(r->policy) && mem->several_l2s);
    if (!ask && line && (line->whole || mask_covers(line->dirty, r->mask))) {
        count(r, 1, 0);
        touch(l2, way, r->policy.streams);
        r->part = !line->whole;
        answer_load(r, l2->data + (size_t)way * LINE, cycle, latency);
        return true;
    }
    if (!l2_may_ask(mem, l2_channel_at(l2, r->set), ASKS_READ + ASKS_PUSH))
        return false;
    struct l2_txn *t;
    if (ask) {
        t = l2_txn_new(mem, TXN_FETCH, r->line, r->physical, r->set, way);
        t->request = r;
    } else {
        if (way == NO_WAY && (way = allocate(mem, r)) == NO_WAY)
            return false;
        touch(l2, way, r->policy.streams);
        t = l2_txn_new(mem, TXN_READ, r->line, r->physical, r->set, way);
        queue_add(&t->waiting, r);
    }
    t->fabric.data = r->bytes;
    count(r, 0, 1);
    l2_submit(t);
    return true;
}

static bool store(struct mem_request *r, uint32_t way, uint64_t cycle, uint64_t latency)
{
    struct xcd_mem *mem = r->mem;
    struct l2 *l2 = mem->l2;
    struct l2_channel *c = l2_channel_at(l2, r->set);
    bool owned = way != NO_WAY && l2->line[way].owned;
    bool through = r->mtype == VM_MTYPE_UC || isa_policy_beyond_agent(r->policy) ||
                   (isa_policy_beyond_cu(r->policy) && mem->several_l2s && !owned);
    if (through) {
        if (!l2_may_ask(mem, c, ASKS_WRITE))
            return false;
        count(r, 0, mask_halves(r->mask));
        if (way != NO_WAY) {
            struct l2_line *line = &l2->line[way];
            if (mask_full(line->dirty) && !line->owned) /* the home does not know that it is here */
                line->whole = false;
            mask_copy(l2->data + (size_t)way * LINE, r->bytes, r->mask);
            l2_set_dirty(l2, way, mask_without(line->dirty, r->mask));
            touch(l2, way, r->policy.streams);
        }
        struct l2_txn *t = l2_txn_new(mem, TXN_WRITE, r->line, r->physical, r->set, way);
        l2_set_write(t, r->bytes, r->mask, way != NO_WAY && l2->line[way].whole);
        t->request = r;
        performed(r);
        l2_submit(t);
        return true;
    }
    if (way == NO_WAY) {
        if (!l2_may_ask(mem, c, ASKS_PUSH) || (way = allocate(mem, r)) == NO_WAY)
            return false;
        count(r, mask_halves(r->mask) - 1, 1);
    } else {
        count(r, mask_halves(r->mask), 0);
    }
    struct l2_line *line = &l2->line[way];
    mask_copy(l2->data + (size_t)way * LINE, r->bytes, r->mask);
    l2_set_dirty(l2, way, mask_or(line->dirty, r->mask));
    line->whole |= mask_full(line->dirty);
    touch(l2, way, r->policy.streams);
    performed(r);
    uint64_t cycles = mem->timing.write[mask_halves(r->mask)];
    r->answer(r, port_take(&c->write, cycle, cycles) + cycles - 1 + latency);
    return true;
}

/* An atomic: beyond the agent nobody asks its L2, nor beyond the XCD for what no home keeps coherent. */
static bool is_at_home(const struct mem_request *r)
{
    return isa_policy_beyond_agent(r->policy) || r->mtype == VM_MTYPE_CC || r->mtype == VM_MTYPE_UC ||
           (r->mtype == VM_MTYPE_NC && isa_policy_beyond_cu(r->policy) && r->mem->several_l2s);
}

static bool atomic(struct mem_request *r, uint32_t way, uint64_t cycle, uint64_t latency)
{
    struct xcd_mem *mem = r->mem;
    const struct mem_timing *n = &mem->timing;
    struct l2 *l2 = mem->l2;
    struct l2_channel *c = l2_channel_at(l2, r->set);
    if (is_at_home(r)) {
        if (!l2_may_ask(mem, c, ASKS_WRITE))
            return false;
        if (way != NO_WAY && mask_any(l2->line[way].dirty)) { /* memory first */
            l2_push_out(mem, r->set, way, NO_WAY);
            l2_free_way(l2, way);
            queue_add(&l2_txn_of(l2, r->line)->waiting, r);
            return true;
        }
        if (way != NO_WAY)
            l2_free_way(l2, way);
        count(r, 0, 1);
        struct l2_txn *t = l2_txn_new(mem, TXN_ATOMIC, r->line, r->physical, r->set, NO_WAY);
        t->request = r;
        t->fabric.atomic = run_at_home;
        t->fabric.operations = (uint8_t)__builtin_popcountll(r->lanes);
        t->fabric.depth = r->depth;
        performed(r);
        l2_submit(t);
        return true;
    }
    if (way == NO_WAY || !l2->line[way].owned || !l2->line[way].whole) {
        if (!l2_may_ask(mem, c, ASKS_READ + ASKS_PUSH) ||
            (way == NO_WAY && (way = allocate(mem, r)) == NO_WAY))
            return false;
        touch(l2, way, false);
        count(r, 0, 1);
        struct l2_txn *t = l2_txn_new(mem, TXN_OWN, r->line, r->physical, r->set, way);
        t->fabric.data = r->bytes;
        queue_add(&t->waiting, r);
        l2_submit(t);
        return true;
    }
    count(r, 1, 0);
    touch(l2, way, false);
    run_atomics(r, l2->data + (size_t)way * LINE);
    l2_set_dirty(l2, way, mask_or(l2->line[way].dirty, r->mask));
    performed(r);
    /* Some lanes a cycle, but one after another on one element. */
    unsigned lanes = (unsigned)__builtin_popcountll(r->lanes), at_once = mem->timing.atomic_lanes;
    uint64_t cycles = (lanes + at_once - 1) / at_once;
    if (cycles < r->depth * (uint64_t)n->atomic)
        cycles = r->depth * (uint64_t)n->atomic;
    r->answer(r, port_take(&c->write, cycle, cycles) + cycles - 1 + latency + n->atomic_latency);
    return true;
}

/* May it use the line although a transaction is going on? */
static bool passes(const struct l2_txn *t, const struct mem_request *r)
{
    /* The home executes atomics as they come, and the fabric keeps their order. */
    if (t->kind == TXN_ATOMIC && r->kind == REQUEST_ATOMIC && is_at_home(r))
        return !t->waiting.first;
    if (t->waiting.first || l2_txn_way(t, r->line) == NO_WAY || isa_policy_beyond_cu(r->policy) ||
        r->mtype == VM_MTYPE_UC)
        return false;
    /* The bytes on their way are a copy, or come under those that are here. */
    return (r->kind == REQUEST_LOAD && t->kind == TXN_CLEAN) ||
           (r->kind == REQUEST_STORE && t->kind == TXN_READ);
}

/*
 * The request's turn at its line, of which that is the way and what is being asked of the fabric.  False: it
 * must wait for an entry of the channel.
 */
static bool take(struct mem_request *r, uint32_t way, struct l2_txn *t, uint64_t latency)
{
    struct xcd_mem *mem = r->mem;
    struct l2 *l2 = mem->l2;
    uint64_t cycle = port_now(mem->domain);
    if (!r->looked_up && r->kind != REQUEST_FLUSH) /* once: what waits is kept with what it waits for */
        cycle = port_take(&l2_channel_at(l2, r->set)->tag, cycle, 1);
    r->looked_up = true;
    if (way != NO_WAY)
        refresh(l2, way);
    if (t) {
        bool hit = passes(t, r);
        if (hit && r->kind == REQUEST_LOAD && !l2->line[way].whole)
            hit = false;
        if (!hit) {
            count(r, 0, 1);
            queue_add(&t->waiting, r);
            return true;
        }
    }
    if (r->kind == REQUEST_FLUSH) {
        if (way != NO_WAY && mask_any(l2->line[way].dirty))
            l2_clean(mem, way);
        l2_epoch_leave(mem, r->flush);
        request_free(r);
        return true;
    }
    switch (r->kind) {
    case REQUEST_LOAD:
        return load(r, way, cycle, latency);
    case REQUEST_STORE:
        return store(r, way, cycle, latency);
    default:
        return atomic(r, way, cycle, latency);
    }
}

/* ---- pairs ---- */

/* Both lines are here, or come with the answer that it has waited for. */
static void answer_load_pair(struct mem_request *r, const uint32_t way[2], uint64_t cycle, uint64_t latency)
{
    struct l2 *l2 = r->mem->l2;
    count(r, 2, 0);
    for (unsigned i = 0; i < 2; i++) {
        touch(l2, way[i], r->policy.streams);
        if (!r->filled)
            memcpy(r->bytes + (size_t)i * LINE, l2->data + (size_t)way[i] * LINE, LINE);
    }
    answer_load(r, r->bytes, cycle, latency);
}

static void read_pair(struct mem_request *r, const uint32_t way[2])
{
    struct l2_txn *t = l2_txn_new(r->mem, TXN_READ, r->line, r->physical, r->set, way[0]);
    l2_txn_pair(t, way[1]);
    queue_add(&t->waiting, r);
    t->fabric.data = r->bytes;
    t->fabric.second = r->bytes + LINE;
    for (unsigned i = 0; i < 2; i++)
        touch(r->mem->l2, way[i], r->policy.streams);
    count(r, 0, 2);
    l2_submit(t);
}

static void store_pair(struct mem_request *r, const uint32_t way[2], unsigned found, uint64_t cycle,
                       uint64_t latency)
{
    struct xcd_mem *mem = r->mem;
    struct l2 *l2 = mem->l2;
    const struct mask all = mask_of(0, LINE);
    count(r, 2 + found, 2 - found); /* of each line its halves; the first of one that is not here misses */
    for (unsigned i = 0; i < 2; i++) {
        memcpy(l2->data + (size_t)way[i] * LINE, r->bytes + (size_t)i * LINE, LINE);
        l2_set_dirty(l2, way[i], all);
        l2->line[way[i]].whole = true;
        touch(l2, way[i], r->policy.streams);
    }
    performed(r);
    uint64_t cycles = 2 * (uint64_t)mem->timing.write[2];
    r->answer(r, port_take(&l2_channel_at(l2, r->set)->write, cycle, cycles) + cycles - 1 + latency);
}

/* Two ways for what is not here; false when there is none for one of them. */
static bool allocate_pair(struct mem_request *r, uint32_t way[2])
{
    struct l2 *l2 = r->mem->l2;
    uint32_t set[2] = {r->set, l2_set_of_second(&l2->map, r->set)}, victim[2];
    for (unsigned i = 0; i < 2; i++)
        if ((victim[i] = way[i] != NO_WAY ? way[i] : victim_of(l2, set[i] * l2->map.ways)) == NO_WAY)
            return false;
    const struct l2_line *a = &l2->line[victim[0]], *b = &l2->line[victim[1]];
    if (way[0] == NO_WAY && way[1] == NO_WAY && l2_may_pair(a) && l2_may_pair(b) &&
        (a->tag ^ b->tag) == LINE) {
        r->mem->counters.tcc_evict_writebacks += 2;
        unsigned second = a->tag < b->tag;
        l2_push_out(r->mem, r->set, victim[1 - second], victim[second]);
    }
    for (unsigned i = 0; i < 2; i++)
        if (way[i] == NO_WAY)
            replace(r->mem, r, i, set[i], way[i] = victim[i]);
    return true;
}

static bool both_whole(const struct l2 *l2, const struct l2_txn *t)
{
    return l2->line[t->way].whole && l2->line[t->second].whole;
}

/* The ways that have its lines; `done` is what it waited for, if anything. */
static void find_pair(const struct mem_request *r, const struct l2_txn *done, uint32_t way[2])
{
    const struct l2 *l2 = r->mem->l2;
    if (done && done->second != NO_WAY && l2->line[done->way].tag == (r->line | 1) &&
        l2->line[done->second].tag == ((r->line + LINE) | 1)) {
        way[0] = done->way;
        way[1] = done->second;
        return;
    }
    way[0] = l2_find(l2, r->set, r->line);
    way[1] = l2_find(l2, l2_set_of_second(&l2->map, r->set), r->line + LINE);
}

/* As take(), where its lines fare alike; `absent`: as the request's, which says so afterwards if it waits. */
static enum turn take_pair(struct mem_request *r, const struct l2_txn *done, bool absent, uint64_t latency)
{
    struct xcd_mem *mem = r->mem;
    struct l2 *l2 = mem->l2;
    struct l2_channel *c = l2_channel_at(l2, r->set);
    struct l2_txn *t = absent ? NULL : l2_txn_of(l2, r->line);
    if (!absent &&
        (t != l2_txn_of(l2, r->line + LINE) || (t && r->kind == REQUEST_STORE && t->kind == TXN_READ)))
        return TURN_DIFFERS;
    if (t && !(r->kind == REQUEST_LOAD && t->kind == TXN_CLEAN && !t->waiting.first && both_whole(l2, t))) {
        count(r, 0, 2);
        r->looked_up = true;
        queue_add(&t->waiting, r);
        return TURN_DONE;
    }
    uint32_t way[2] = {NO_WAY, NO_WAY};
    unsigned found = 0, whole = 0;
    if (!absent)
        find_pair(r, done, way);
    for (unsigned i = 0; i < 2; i++)
        if (way[i] != NO_WAY) {
            refresh(l2, way[i]);
            found++;
            whole += l2->line[way[i]].whole;
        }
    if (r->kind == REQUEST_LOAD && found && whole != 2)
        return TURN_DIFFERS;
    bool misses = found < 2;
    unsigned asks = r->kind == REQUEST_LOAD ? 2 * (ASKS_READ + ASKS_PUSH) : 2 * ASKS_PUSH;
    if (misses && (!l2_may_ask(mem, c, asks) || !allocate_pair(r, way))) {
        r->absent = !found && !done;
        return TURN_WAITS;
    }
    uint64_t cycle = port_now(mem->domain);
    if (!r->looked_up)
        cycle = port_take(&c->tag, cycle, 2);
    r->looked_up = true;
    if (r->kind == REQUEST_STORE) {
        store_pair(r, way, found, cycle, latency);
    } else if (misses) {
        read_pair(r, way);
    } else {
        answer_load_pair(r, way, cycle, latency);
    }
    return TURN_DONE;
}

static enum turn handle(struct mem_request *r)
{
    struct l2 *l2 = r->mem->l2;
    uint64_t latency = r->mem->timing.l2_latency;
    const bool absent = r->absent;
    r->absent = false;
    if (r->pair)
        return take_pair(r, NULL, absent, latency);
    const uint32_t way = absent ? NO_WAY : l2_find(l2, r->set, r->line);
    struct l2_txn *t = absent ? NULL : l2_txn_of(l2, r->line);
    if (take(r, way, t, latency))
        return TURN_DONE;
    r->absent = way == NO_WAY && !t;
    return TURN_WAITS;
}

/* There is no entry for anything that the first of them may ask for. */
static bool waits_again(const struct xcd_mem *mem, const struct l2_channel *c, const struct mem_request *r)
{
    const unsigned least = r->kind == REQUEST_LOAD ? ASKS_READ + ASKS_PUSH : ASKS_WRITE;
    return r->absent && !l2_may_ask(mem, c, least * request_lines(r));
}

/* Behind those that wait for an entry of the channel. */
static void enter(struct l2_channel *c, struct mem_request *r)
{
    enum turn turn = c->blocked.first ? TURN_WAITS : handle(r);
    if (turn == TURN_WAITS) {
        if (!c->blocked.first)
            c->blocked_since = port_now(r->mem->domain);
        queue_add(&c->blocked, r);
    } else if (turn == TURN_DIFFERS) {
        struct mem_request *second = request_split(r);
        enter(c, r);
        enter(c, second);
    }
}

void l2_arrive(struct port_domain *domain, struct port_event *event)
{
    struct mem_request *r = event->self;
    struct xcd_mem *mem = r->mem;
    struct mem_counters *n = &mem->counters;
    unsigned halves = r->kind == REQUEST_STORE ? request_halves(r) : request_lines(r);
    (void)domain;
    r->level = MEM_LEVEL_L2;
    n->tcc_requests += halves;
    n->tcc_requests_by[r->mtype] += halves;
    n->tcc_streaming += r->policy.streams ? halves : 0;
    *(r->kind == REQUEST_LOAD    ? &n->tcc_read
      : r->kind == REQUEST_STORE ? &n->tcc_write
                                 : &n->tcc_atomic) += halves;
    enter(l2_channel_at(mem->l2, r->set), r);
}

/* Something of the channel became free. */
static void unblock(struct xcd_mem *mem, struct l2_channel *c)
{
    if (!c->blocked.first || waits_again(mem, c, c->blocked.first))
        return;
    if (c->blocked.first->next) /* for most often two are looked at, and the second waits again */
        l2_prefetch_sets(c->blocked.first->next);
    while (c->blocked.first) {
        struct mem_request *r = c->blocked.first, *next = r->next;
        port_prefetch(next, offsetof(struct mem_request, data));
        enum turn turn = handle(r);
        if (turn == TURN_WAITS) {
            l2_prefetch_lines(r);
            return;
        }
        if (turn == TURN_DIFFERS)
            queue_split(&c->blocked);
        else
            queue_drop(&c->blocked, next);
    }
    mem->counters.tcc_tag_stall += port_now(mem->domain) - c->blocked_since;
}

/* ---- answers ---- */

/* The fill, below the bytes that were stored here.  Returns whether there are none. */
static bool fill(struct l2 *l2, const struct l2_txn *t, uint32_t way, const uint8_t *data)
{
    struct l2_line *line = &l2->line[way];
    mask_copy(l2->data + (size_t)way * LINE, data, mask_without(mask_of(0, LINE), line->dirty));
    line->whole = true;
    line->owned = t->kind == TXN_OWN || line->owned;
    if (line->mtype == VM_MTYPE_NC) /* that of others is compared, with what came while the host went on */
        line->epoch = l2->epoch;
    return !mask_any(line->dirty);
}

/* Gives a line back whose dirty bytes were written, when nothing else was in it. */
static void free_if_void(struct l2 *l2, uint32_t way)
{
    if (way != NO_WAY && !l2->line[way].whole && !mask_any(l2->line[way].dirty))
        l2_free_way(l2, way);
}

/* Memory is not there: those that wait are told, bytes to be written are lost as the page is. */
static void fault(struct xcd_mem *mem, struct l2_txn *t, struct request_queue *waiting)
{
    uint64_t now = port_now(mem->domain);
    if (t->way != NO_WAY && t->kind != TXN_CLEAN)
        l2_free_way(mem->l2, t->way);
    if (t->second != NO_WAY && t->kind != TXN_CLEAN)
        l2_free_way(mem->l2, t->second);
    for (struct mem_request *r; t->kind != TXN_EVICT && (r = queue_take(waiting)) != NULL;) {
        if (r->kind == REQUEST_FLUSH) {
            l2_epoch_leave(mem, r->flush);
            request_free(r);
            continue;
        }
        r->faulted = true;
        if (r->kind != REQUEST_LOAD)
            performed(r);
        r->answer(r, now + mem->timing.refill);
    }
}

/* The level that those who waited for it have been to. */
static uint8_t count_answer(const struct l2_txn *t, uint64_t now)
{
    struct mem_counters *c = &t->mem->counters;
    uint64_t cycles = now - t->began;
    if (t->fabric.nobody)
        return MEM_LEVEL_CACHE;
    if (t->fabric.kind == FABRIC_WRITE) { /* as many as ea_writes counted */
        struct mask m = {{t->fabric.mask[0], t->fabric.mask[1]}};
        c->ea_write_cycles += cycles * mask_halves(m) * l2_txn_lines(t);
        return MEM_LEVEL_CACHE;
    }
    *(t->fabric.kind == FABRIC_ATOMIC ? &c->ea_atomic_cycles : &c->ea_read_cycles) +=
        cycles * l2_txn_lines(t);
    c->cache_misses += t->fabric.missed;
    c->cache_hits += l2_txn_lines(t) - t->fabric.missed;
    return t->fabric.missed ? MEM_LEVEL_HBM : MEM_LEVEL_CACHE;
}

/* What waited for the line has it before anybody else. */
static void resume(const struct l2_txn *t, struct mem_request *w)
{
    struct xcd_mem *mem = t->mem;
    struct l2 *l2 = mem->l2;
    enum turn turn = TURN_DONE;
    if (w->pair) {
        turn = take_pair(w, t, false, mem->timing.refill);
    } else {
        struct l2_txn *other = l2_txn_of(l2, w->line);
        if (other) {
            queue_add(&other->waiting, w);
            return;
        }
        uint32_t way = l2_txn_way(t, w->line);
        if (way == NO_WAY || l2->line[way].tag != (w->line | 1))
            way = l2_find(l2, w->set, w->line);
        turn = take(w, way, NULL, mem->timing.refill) ? TURN_DONE : TURN_WAITS;
    }
    if (turn == TURN_DIFFERS) {
        struct mem_request *second = request_split(w);
        resume(t, w);
        resume(t, second);
    } else if (turn == TURN_WAITS) {
        struct l2_channel *c = &l2->channel[t->channel];
        if (!c->blocked.first)
            c->blocked_since = port_now(mem->domain);
        queue_add(&c->blocked, w);
    }
}

void l2_answered(struct port_domain *domain, struct port_event *event)
{
    struct l2_txn *t = (struct l2_txn *)(uintptr_t)event->word[0];
    struct xcd_mem *mem = t->mem;
    struct l2 *l2 = mem->l2;
    uint64_t now = port_now(domain);
    struct l2_txn **at = &l2->txn[t->bucket];
    while (*at != t)
        at = &(*at)->chain;
    *at = t->chain;
    l2->channel[t->channel].asks -= l2_asks(t);
    l2->txns -= l2_txn_lines(t);
    l2_set_idle(l2, t->way);
    l2_set_idle(l2, t->second);
    uint8_t level = count_answer(t, now);

    struct request_queue waiting = t->waiting;
    if (!waiting.first)
        queue_clear(&waiting);
    struct mem_request *r = t->request;
    if (r) {
        r->faulted = t->fabric.faulted;
        r->level = level;
        switch (t->kind) {
        case TXN_FETCH:
            if (t->way != NO_WAY) /* what was stored here and has not been written is newer */
                mask_copy(t->fabric.data, l2->data + (size_t)t->way * LINE, l2->line[t->way].dirty);
            answer_load(r, t->fabric.data, now, mem->timing.refill);
            break;
        default:
            r->answer(r, now + mem->timing.refill);
        }
    }
    if (t->fabric.faulted) {
        fault(mem, t, &waiting);
    } else if (t->kind == TXN_READ || t->kind == TXN_OWN) {
        bool all = fill(l2, t, t->way, t->fabric.data);
        if (t->fabric.pair)
            all &= fill(l2, t, t->second, t->fabric.second);
        waiting.first->filled = all && waiting.first->bytes == t->fabric.data;
    } else {
        free_if_void(l2, t->way);
        free_if_void(l2, t->second);
    }
    for (struct mem_request *w; (w = queue_take(&waiting)) != NULL;) { /* as one */
        w->level = level > w->level ? level : w->level;
        resume(t, w);
    }
    if (t->epoch)
        l2_epoch_leave(mem, t->epoch);
    struct l2_channel *c = &l2->channel[t->channel];
    pool_give(&l2->txn_pool, t);
    unblock(mem, c);
    if (l2->walking)
        l2_flush_continue(mem, c);
}

/* ---- open ---- */

void l2_invalidate(struct xcd_mem *mem, bool system)
{
    mem->l2->epoch++;
    if (system)
        mem->l2->system_epoch = mem->l2->epoch;
}

bool l2_idle(const struct xcd_mem *mem)
{
    return mem->l2->txns == 0 && mem->l2->dirty_count == 0;
}

bool l2_open(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2 = arena_take(&mem->arena, sizeof(*l2));
    l2->map = mem->l2_map;
    size_t lines = (size_t)l2->map.channels * l2->map.sets * l2->map.ways;
    l2->short_tag = arena_take(&mem->arena, lines + 16); /* sixteen are read at once */
    l2->used = arena_take(&mem->arena, lines * sizeof(*l2->used));
    l2->line = arena_take(&mem->arena, lines * sizeof(*l2->line));
    l2->data = arena_take(&mem->arena, lines * LINE);
    l2->dirty = arena_take(&mem->arena, (lines + 63) / 64 * sizeof(*l2->dirty));
    l2->busy = arena_take(&mem->arena, (lines + 63) / 64 * sizeof(*l2->busy));
    l2->held = arena_take(&mem->arena, (lines + 63) / 64 * sizeof(*l2->held));
    l2->channel = arena_take(&mem->arena, l2->map.channels * sizeof(*l2->channel));
    l2->txn = arena_take(&mem->arena, TXN_BUCKETS * sizeof(struct l2_txn *));
    l2->clock = 1;
    l2->oldest = l2->open = calloc(1, sizeof(*l2->open));
    if (!l2->open)
        return false;
    for (unsigned c = 0; c < l2->map.channels; c++)
        queue_clear(&l2->channel[c].blocked);
    return true;
}

void l2_close(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    while (l2 && l2->oldest) {
        struct flush_epoch *e = l2->oldest;
        l2->oldest = e->next;
        while (e->waiters) {
            struct flush_waiter *w = e->waiters;
            e->waiters = w->next;
            free(w);
        }
        free(e);
    }
    for (struct flush_waiter *w = l2 ? l2->asked : NULL, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    for (struct flush_waiter *w = l2 ? l2->serving : NULL, *next; w; w = next) {
        next = w->next;
        free(w);
    }
}
