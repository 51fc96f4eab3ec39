/* SPDX-License-Identifier: MIT */
/*
 * Write-back of the L2: buffer_wbl2, and the end of a kernel.
 *
 * One walk goes over the dirty lines at a time, in each channel over its own, and
 * begins their writes, as fast as the channel takes them; who asks meanwhile is
 * served by the next.  Done is who asked when all writes are acknowledged that
 * were begun up to the end of his walk: writes belong to an epoch, a walk's end
 * closes one, and epochs end in order.
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
    return l2->open;
}

static void serve(struct xcd_mem *mem, struct flush_waiter *w)
{
    uint64_t cycle =
        port_now(mem->domain) + (w->written ? mem->timing.l2_writeback : mem->timing.l2_writeback_clean);
    if (w->access)
        access_done_at(mem, w->access, cycle, vl1_complete);
    else
        port_post(mem->domain, cycle, w->done, w->context)->word[0] = (uint64_t)(uintptr_t)w->context;
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
            serve(mem, w);
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

/* Begins the writes of a channel's word of ways, or goes on with them.  False: it has no free entries. */
static bool walk_word(struct xcd_mem *mem, struct l2_channel *c)
{
    struct l2 *l2 = mem->l2;
    unsigned word = c->walk_word;
    for (; (c->walk_left &= l2->dirty[word]); c->walk_left &= c->walk_left - 1) {
        uint32_t way = word * 64 + (unsigned)__builtin_ctzll(c->walk_left);
        const struct l2_line *line = &l2->line[way];
        if (line->owned && !l2->walk_system)
            continue;
        if (l2_is_busy(l2, way))
            write_later(mem, way);
        else if (!l2_may_ask(mem, c, ASKS_WRITE))
            return false;
        else
            l2_clean(mem, way);
    }
    c->walk_word++;
    c->walk_left = UINT64_MAX;
    return true;
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
    end_epochs(mem);
    begin_walk(mem);
}

void l2_flush_continue(struct xcd_mem *mem, struct l2_channel *c)
{
    if (c->walk_word == c->walk_end)
        return;
    while (walk_word(mem, c))
        if (c->walk_word == c->walk_end) {
            if (--mem->l2->walking == 0)
                end_walk(mem);
            return;
        }
}

static void begin_walk(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    if (l2->walking || !l2->asked)
        return;
    for (struct flush_waiter *w = l2->asked; w; w = w->next)
        w->written = l2->written;
    l2->written = false;
    l2->walk_system = false;
    for (const struct flush_waiter *w = l2->asked; w; w = w->next)
        l2->walk_system |= w->system;
    l2->serving = l2->asked;
    l2->asked = NULL;
    unsigned channels = l2->map.channels, each = l2->map.sets * l2->map.ways;
    l2->walking = channels;
    for (unsigned i = 0; i < channels; i++) {
        struct l2_channel *c = &l2->channel[i];
        c->walk_word = i * each / 64;
        c->walk_end = i + 1 < channels ? (i + 1) * each / 64 : (channels * each + 63) / 64;
        c->walk_left = UINT64_MAX;
        l2->walking -= c->walk_word == c->walk_end;
    }
    /* Side by side, as long as they have entries. */
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (unsigned i = 0; i < channels; i++) {
            struct l2_channel *c = &l2->channel[i];
            if (c->walk_word != c->walk_end && walk_word(mem, c)) {
                goes_on = true;
                l2->walking -= c->walk_word == c->walk_end;
            }
        }
    }
    if (l2->walking == 0)
        end_walk(mem);
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
