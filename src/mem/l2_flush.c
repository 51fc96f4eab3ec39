/* SPDX-License-Identifier: MIT */
/*
 * Write-back of the L2: buffer_wbl2, and the end of a kernel.
 *
 * One walk goes over the dirty lines at a time and begins their writes, as fast
 * as the channels take them; who asks meanwhile is served by the next.  Done is
 * who asked when all writes are acknowledged that were begun up to the end of his
 * walk: writes belong to an epoch, a walk's end closes one, and epochs end in
 * order.
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

/* Begins the writes of a word of ways, or goes on with them.  False: the channels have no free entries. */
static bool walk_word(struct xcd_mem *mem, unsigned word)
{
    struct l2 *l2 = mem->l2;
    for (; (l2->walk_left &= l2->dirty[word]); l2->walk_left &= l2->walk_left - 1) {
        uint32_t way = word * 64 + (unsigned)__builtin_ctzll(l2->walk_left);
        const struct l2_line *line = &l2->line[way];
        if (line->owned && !l2->walk_system)
            continue;
        if (l2_is_busy(l2, way))
            write_later(mem, way);
        else if (l2->channel[l2_channel_of(&l2->map, line->physical)].txns >= mem->timing.l2_misses)
            return false;
        else
            l2_clean(mem, way);
    }
    return true;
}

static void begin_walk(struct xcd_mem *mem);

void l2_flush_continue(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    for (; l2->walk_word < l2->words * 64; l2->walk_word++) {
        if (!l2->dirty_words[l2->walk_word / 64]) {
            l2->walk_word |= 63;
        } else if (!walk_word(mem, l2->walk_word)) {
            return;
        }
        l2->walk_left = UINT64_MAX;
    }
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
    for (struct flush_waiter *w = l2->asked; w; w = w->next)
        w->written = l2->written;
    l2->written = false;
    l2->walk_word = 0;
    l2->walk_left = UINT64_MAX;
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
