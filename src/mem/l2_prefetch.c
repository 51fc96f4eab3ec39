/* SPDX-License-Identifier: MIT */
/* What the L2's events need, asked of the host's memory before they run; see port_set_prefetch(). */
#include "mem/l2_state.h"
#include "mem/vl1.h"

static void prefetch_way(const struct l2 *l2, uint32_t way, bool bytes)
{
    port_prefetch_line(&l2->line[way]);
    port_prefetch_line((const char *)&l2->line[way + 1] - 1); /* it may be on two */
    if (bytes)
        port_prefetch(l2->data + (size_t)way * LINE, LINE);
}

/* Of a set's, by its first way. */
static void prefetch_line(const struct l2 *l2, uint32_t set, uint64_t line, bool bytes)
{
    unsigned found = l2_alike(l2, set, set + l2->map.ways, line); /* most likely it */
    unsigned way = found                ? (unsigned)__builtin_ctz(found)
                   : l2->map.ways == 16 ? l2_least_of(&l2->used[set])
                                        : 0;
    prefetch_way(l2, set + way, found || bytes);
}

void l2_prefetch_sets(const struct mem_request *r)
{
    const struct l2 *l2 = r->mem->l2;
    uint32_t set = r->set * l2->map.ways; /* its first way */
    port_prefetch_line(&l2->short_tag[set]);
    port_prefetch_line(&l2->used[set]);
    port_prefetch_line(&l2->busy[set / 64]);
    port_prefetch_line(&l2->txn[bucket_of(r->line, TXN_BUCKETS)]);
    if (r->pair) {
        uint32_t second = l2_set_of_second(&l2->map, r->set) * l2->map.ways;
        port_prefetch_line(&l2->short_tag[second]);
        port_prefetch_line(&l2->used[second]);
        port_prefetch_line(&l2->busy[second / 64]);
    }
    if (r->kind == REQUEST_STORE) {
        port_prefetch(r->bytes, r->pair ? PAIR : LINE);
        if (!r->cluster)
            vl1_prefetch_performed(r);
    }
}

void l2_prefetch_lines(const struct mem_request *r)
{
    const struct l2 *l2 = r->mem->l2;
    const bool store = r->kind == REQUEST_STORE;
    prefetch_line(l2, r->set * l2->map.ways, r->line, store);
    if (r->pair)
        prefetch_line(l2, l2_set_of_second(&l2->map, r->set) * l2->map.ways, r->line + LINE, store);
    const struct l2_txn *other = l2->txn[bucket_of(r->line, TXN_BUCKETS)];
    if (other)
        port_prefetch_line(&other->fabric.line);
}

static bool prefetch_arrival(const struct port_event *event, unsigned stage)
{
    const struct mem_request *r = event->self;
    if (stage == 0)
        port_prefetch(r, offsetof(struct mem_request, data));
    else if (stage == 1)
        l2_prefetch_sets(r);
    else
        l2_prefetch_lines(r);
    return stage < 2;
}

static bool prefetch_answer(const struct port_event *event, unsigned stage)
{
    const struct l2_txn *t = event->self;
    if (stage == 0) {
        port_prefetch(t, offsetof(struct l2_txn, data));
    } else if (stage == 1) {
        port_prefetch_line(&t->mem->l2->txn[t->bucket]);
        if (t->way != NO_WAY)
            prefetch_way(t->mem->l2, t->way, t->kind != TXN_CLEAN);
        if (t->second != NO_WAY)
            prefetch_way(t->mem->l2, t->second, true);
        const struct mem_request *r = t->waiting.first ? t->waiting.first : t->request;
        if (r) {
            port_prefetch(r, offsetof(struct mem_request, data));
            port_prefetch(t->fabric.data, l2_txn_lines(t) * LINE);
        }
    }
    return stage < 1;
}

void l2_prefetch(struct xcd_mem *mem)
{
    port_set_prefetch(mem->domain, l2_arrive, prefetch_arrival);
    port_set_prefetch(mem->domain, l2_answered, prefetch_answer);
}
