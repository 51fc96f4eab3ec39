/* SPDX-License-Identifier: MIT */
/*
 * Write-back of the L2: buffer_wbl2, and the end of a kernel.
 *
 * One walk at a time goes over the tags of all channels at once, some sets a cycle, and
 * begins the writes of the dirty lines that it comes to, as fast as the channels take them;
 * who asks meanwhile is served by the next.  Done is who asked when all writes are
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

/* The way's turn in the walk.  False: its channel has no free entry. */
static bool walk_way(struct xcd_mem *mem, uint32_t way)
{
    struct l2 *l2 = mem->l2;
    const struct l2_line *line = &l2->line[way];
    if (line->owned && !l2->walk_system)
        return true;
    if (l2_is_busy(l2, way))
        write_later(mem, way);
    else if (l2->channel[l2_channel_of(&l2->map, line->physical)].txns >= mem->timing.l2_misses)
        return false;
    else
        l2_clean(mem, way);
    return true;
}

/* The walk is here at the cycle, and goes on then. */
static void walk_on(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct xcd_mem *mem = event->self;
    mem->l2->walk_waits = false;
    l2_flush_continue(mem);
}

static bool walk_is_due(struct xcd_mem *mem, uint64_t cycle)
{
    struct l2 *l2 = mem->l2;
    if (port_now(mem->domain) >= cycle)
        return true;
    if (!l2->walk_waits)
        port_post(mem->domain, cycle, walk_on, mem);
    l2->walk_waits = true;
    return false;
}

static void begin_walk(struct xcd_mem *mem);

/* In steps of some sets, each of which is the walk's when its last set is. */
void l2_flush_continue(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    const uint32_t ways = l2->map.sets * l2->map.ways;
    for (; l2->walk_step < WALK_STEPS && l2->dirty_count; l2->walk_step++, l2->walk_way = 0) {
        if (!walk_is_due(mem, l2->walk_from + (l2->walk_step + 1) * mem->timing.l2_walk / WALK_STEPS))
            return;
        const uint32_t first = l2->walk_step * l2->map.sets / WALK_STEPS * l2->map.ways,
                       end = (l2->walk_step + 1) * l2->map.sets / WALK_STEPS * l2->map.ways;
        for (unsigned c = l2->walk_way / ways; c < l2->map.channels; c++)
            for (uint32_t way = c * ways + first > l2->walk_way ? c * ways + first : l2->walk_way;
                 (way = next_dirty(l2, way, c * ways + end)) < c * ways + end; way++) {
                l2->walk_way = way;
                if (!walk_way(mem, way))
                    return;
            }
    }
    l2->walk_step = WALK_STEPS;
    if (!walk_is_due(mem, l2->walk_from + mem->timing.l2_walk))
        return;
    struct flush_epoch *e = l2->open;
    l2->open = e->next = must(calloc(1, sizeof(*e)));
    e->closed = true;
    e->waiters = l2->serving;
    l2->serving = NULL;
    l2->walking = false;
    end_epochs(mem);
    begin_walk(mem);
}

static void begin_walk(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    if (l2->walking || !l2->asked)
        return;
    l2->walking = true;
    l2->walk_from = port_now(mem->domain);
    l2->walk_step = 0;
    l2->walk_way = 0;
    l2->walk_system = false;
    for (const struct flush_waiter *w = l2->asked; w; w = w->next)
        l2->walk_system |= w->system;
    l2->serving = l2->asked;
    l2->asked = NULL;
    l2_flush_continue(mem);
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
