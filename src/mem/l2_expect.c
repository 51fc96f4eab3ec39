/* SPDX-License-Identifier: MIT */
/* What the L2's events need, asked of the host's memory before they run; see port_expect(). */
#include "mem/l2.h"

static void expect_way(const struct l2 *l2, uint32_t way, bool bytes)
{
    __builtin_prefetch(&l2->line[way]);
    __builtin_prefetch((const char *)&l2->line[way + 1] - 1); /* it may be on two */
    if (bytes)
        port_fetch(l2->data + (size_t)way * LINE, LINE);
}

/* Of a set's, by its first way. */
static void expect_line(const struct l2 *l2, uint32_t set, uint64_t line, bool bytes)
{
    unsigned found = l2_alike(l2, set, set + l2->ways, line); /* most likely it */
    unsigned way = found ? (unsigned)__builtin_ctz(found) : l2->ways == 16 ? l2_least_of(&l2->used[set]) : 0;
    expect_way(l2, set + way, found || bytes);
}

static bool expect_arrival(const struct port_event *event, unsigned stage)
{
    const struct mem_request *r = event->self;
    if (stage == 0) {
        port_fetch(r, offsetof(struct mem_request, data));
        return true;
    }
    const struct l2 *l2 = &r->mem->l2;
    uint32_t set = r->set * l2->ways; /* its first way */
    if (stage == 1) {
        __builtin_prefetch(&l2->short_tag[set]);
        __builtin_prefetch(&l2->used[set]);
        __builtin_prefetch(&l2->busy[set / 64]);
        __builtin_prefetch(&l2->txn[bucket_of(r->line, TXN_BUCKETS)]);
        if (r->pair) {
            uint32_t second = l2_set_of_second(l2, r->set) * l2->ways;
            __builtin_prefetch(&l2->short_tag[second]);
            __builtin_prefetch(&l2->used[second]);
            __builtin_prefetch(&l2->busy[second / 64]);
        }
        if (r->kind == REQUEST_STORE) {
            port_fetch(r->bytes, r->pair ? PAIR : LINE);
            if (!r->cluster)
                __builtin_prefetch(&r->mem->vl1[r->cu]->wave[r->wave]); /* performed() */
        }
    } else if (stage == 2) {
        expect_line(l2, set, r->line, r->kind == REQUEST_STORE);
        if (r->pair)
            expect_line(l2, l2_set_of_second(l2, r->set) * l2->ways, r->line + LINE,
                        r->kind == REQUEST_STORE);
    }
    return stage < 2;
}

static bool expect_answer(const struct port_event *event, unsigned stage)
{
    const struct l2_txn *t = event->self;
    if (stage == 0) {
        port_fetch(t, offsetof(struct l2_txn, data));
    } else if (stage == 1) {
        __builtin_prefetch(&t->mem->l2.txn[t->bucket]);
        if (t->way != NO_WAY)
            expect_way(&t->mem->l2, t->way, t->kind != TXN_CLEAN);
        if (t->second != NO_WAY)
            expect_way(&t->mem->l2, t->second, true);
        const struct mem_request *r = t->waiting.first ? t->waiting.first : t->request;
        if (r) {
            port_fetch(r, offsetof(struct mem_request, data));
            port_fetch(t->fabric.data, l2_txn_lines(t) * LINE);
        }
    }
    return stage < 1;
}

void l2_expect(struct xcd_mem *mem)
{
    port_expect(mem->domain, l2_arrive, expect_arrival);
    port_expect(mem->domain, l2_answered, expect_answer);
}
