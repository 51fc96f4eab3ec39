/* SPDX-License-Identifier: MIT */
/*
 * Write-back of the L2: buffer_wbl2, and the end of a kernel.
 *
 * One walk at a time goes over the tags of all channels at once, some sets a cycle, and
 * each channel begins the writes of its dirty lines that the walk has come to, as long as
 * it has entries; who asks meanwhile is served by the next.  Done is who asked when all writes are
 * acknowledged that were begun up to the end of his walk: writes belong to an epoch, a
 * walk's end closes one, and epochs end in order.
 *
 * At agent scope lines that this L2 owns stay: whoever wants them probes.
 */
#include "mem/l2_state.h"
#include "base/must.h"
#include "mem/vl1.h"

#include <stdlib.h>

struct flush_epoch *l2_epoch_enter(struct l2 *l2)
{
    l2->open->writes++;
    l2->open->wrote = true;
    return l2->open;
}

static void serve(struct xcd_mem *mem, struct flush_waiter *w, bool wrote)
{
    uint64_t now =
        port_now(mem->domain) + (wrote ? mem->timing.refill : 0); /* as who writes through is told */
    if (w->access) /* told by the channel that is farthest from its CU */
        access_done_at(mem, w->access, now + mem->timing.l2_way + mem->timing.ack, vl1_complete);
    else
        port_post(mem->domain, now, w->done, w->context)->word[0] = (uint64_t)(uintptr_t)w->context;
    free(w);
}

static void end_epochs(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    while (l2->oldest->closed && l2->oldest->writes == 0) {
        struct flush_epoch *e = l2->oldest;
        l2->oldest = e->next;
        for (struct flush_waiter *w = e->waiters, *next; w; w = next) {
            next = w->next;
            serve(mem, w, e->wrote);
        }
        free(e);
    }
}

void l2_epoch_leave(struct xcd_mem *mem, struct flush_epoch *epoch)
{
    if (--epoch->writes == 0)
        end_epochs(mem);
}

/* A line that is busy is written when its transaction is over. */
static void write_later(struct xcd_mem *mem, uint32_t way)
{
    struct mem_request *r = request_new(mem);
    r->kind = REQUEST_FLUSH;
    r->line = mem->l2->line[way].tag & ~UINT64_C(1);
    request_place(r, mem->l2->line[way].physical);
    r->flush = l2_epoch_enter(mem->l2);
    struct request_queue *q = &l2_txn_of(mem->l2, r->line)->waiting;
    if (!q->first)
        queue_clear(q);
    queue_add(q, r);
}

/* The next dirty way from this one on, or `end`. */
static uint32_t next_dirty(const struct l2 *l2, uint32_t way, uint32_t end)
{
    while (way < end) {
        uint64_t left = l2->dirty[way / 64] >> way % 64;
        if (left) {
            way += (uint32_t)__builtin_ctzll(left);
            break;
        }
        way = (way / 64 + 1) * 64;
    }
    return way < end ? way : end;
}

static uint32_t ways_of_channel(const struct l2 *l2)
{
    return l2->map.sets * l2->map.ways;
}

/* A channel writes what is dirty as far as the walk is, or has no free entries. */
static void walk_channel(struct xcd_mem *mem, struct l2_channel *c)
{
    struct l2 *l2 = mem->l2;
    const uint32_t first = (uint32_t)(c - l2->channel) * ways_of_channel(l2),
                   end = first + l2->walk_step * l2->map.sets / WALK_STEPS * l2->map.ways;
    for (; (c->walk_way = next_dirty(l2, c->walk_way, end)) < end; c->walk_way++) {
        if (l2->line[c->walk_way].owned && !l2->walk_system)
            continue;
        if (l2_is_busy(l2, c->walk_way))
            write_later(mem, c->walk_way);
        else if (l2_may_ask(mem, c, ASKS_WRITE))
            l2_clean(mem, c->walk_way);
        else
            return;
    }
}

static bool is_walked(const struct l2 *l2)
{
    bool walked = l2->walk_step == WALK_STEPS;
    for (unsigned i = 0; walked && i < l2->map.channels; i++)
        walked = l2->channel[i].walk_way == (i + 1) * ways_of_channel(l2);
    return walked;
}

static void begin_walk(struct xcd_mem *mem);

static void end_walk(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    struct flush_epoch *e = l2->open;
    l2->open = e->next = must(calloc(1, sizeof(*e)));
    e->closed = true;
    e->waiters = l2->serving;
    l2->serving = NULL;
    l2->walking = false;
    end_epochs(mem);
    begin_walk(mem);
}

void l2_flush_continue(struct xcd_mem *mem, struct l2_channel *c)
{
    walk_channel(mem, c);
    if (is_walked(mem->l2))
        end_walk(mem);
}

static uint64_t cycle_of_step(const struct xcd_mem *mem, unsigned step)
{
    return mem->l2->walk_from + step * mem->timing.l2_walk / WALK_STEPS;
}

/* In steps of some sets, each of which is the walk's when its last set is. */
static void walk_on(struct port_domain *domain, struct port_event *event)
{
    struct xcd_mem *mem = event->self;
    struct l2 *l2 = mem->l2;
    while (l2->walk_step < WALK_STEPS && port_now(domain) >= cycle_of_step(mem, l2->walk_step + 1))
        l2->walk_step++;
    for (unsigned i = 0; i < l2->map.channels; i++)
        walk_channel(mem, &l2->channel[i]);
    if (l2->walk_step < WALK_STEPS) /* nothing is dirty: to its end at once */
        port_post(domain, cycle_of_step(mem, l2->dirty_count ? l2->walk_step + 1 : WALK_STEPS), walk_on, mem);
    else if (is_walked(l2))
        end_walk(mem);
}

static void begin_walk(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    if (l2->walking || !l2->asked)
        return;
    l2->walking = true;
    l2->walk_from = port_now(mem->domain);
    l2->walk_step = 0;
    for (unsigned i = 0; i < l2->map.channels; i++)
        l2->channel[i].walk_way = i * ways_of_channel(l2);
    l2->walk_system = false;
    for (const struct flush_waiter *w = l2->asked; w; w = w->next)
        l2->walk_system |= w->system;
    l2->serving = l2->asked;
    l2->asked = NULL;
    walk_on(mem->domain, &(struct port_event){.self = mem});
}

void l2_flush(struct xcd_mem *mem, struct mem_access *access, bool system, port_fn *done, void *context)
{
    struct flush_waiter *w = must(malloc(sizeof(*w)));
    *w = (struct flush_waiter){.access = access, .done = done, .context = context, .system = system};
    struct flush_waiter **end = &mem->l2->asked;
    while (*end)
        end = &(*end)->next;
    *end = w;
    begin_walk(mem);
}
