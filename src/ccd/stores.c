/* SPDX-License-Identifier: MIT */
/*
 * Stores behind a core's window, which are written in their order, and those past the caches, whose bytes are
 * combined to lines before they leave (AMD64 Architecture Programmer's Manual 2, 24593, Write Combining).
 */
#include <string.h>

#include "ccd/internal.h"

uint64_t core_line_at(struct core *c, uint64_t address)
{
    const struct core_page *page = core_page_of(c, address);
    return page ? line_of(page->physical + address % (1U << VM_PAGE_SHIFT)) : UINT64_MAX;
}

/* False: it has no place to go to, or its line is on its way here. */
static bool write_past(struct core *c, unsigned i)
{
    if (c->past == c->ccd->all->l2_misses || !ccd_write_past(c, &c->combined[i]))
        return false;
    c->past++;
    c->combining--;
    memmove(&c->combined[i], &c->combined[i + 1], (c->combining - i) * sizeof(c->combined[0]));
    return true;
}

/* The store's bytes among those of its line, which leaves when it has all.  False: there is no place for one
 * more line. */
static bool combine(struct core *c, const struct access *a, double when)
{
    const uint64_t line = core_line_at(c, a->address), first = a->address % CORE_LINE,
                   bytes = a->bytes < CORE_LINE - first ? a->bytes : CORE_LINE - first,
                   mask = (bytes < CORE_LINE ? (UINT64_C(1) << bytes) - 1 : UINT64_MAX) << first;
    unsigned i = 0;
    if (line == UINT64_MAX)
        return true;
    while (i < c->combining && c->combined[i].line != line)
        i++;
    if (i == CORE_COMBINES) {
        if (!write_past(c, 0))
            return false;
        i = c->combining;
    }
    if (i == c->combining)
        c->combined[c->combining++] = (struct core_combined){.line = line, .address = a->address};
    c->combined[i].mask |= mask;
    c->combined[i].at = when;
    if (c->combined[i].mask == UINT64_MAX)
        write_past(c, i); /* else it stays, full */
    return true;
}

bool core_drain_past(struct core *c)
{
    while (c->combining && write_past(c, 0))
        ;
    return !c->combining && !c->past;
}

/* Others have taken lines since it got its own: that one too, perhaps. */
static bool has_lost(struct core *c, struct store *s)
{
    if (s->access.kind != CORE_STORE || s->losses == c->losses)
        return false;
    const uint64_t line = core_line_at(c, s->access.address), *e = tags_peek(&c->l2, line);
    if (line != UINT64_MAX && !(e && *e & TAG_OWNED))
        return true;
    s->losses = c->losses;
    return false;
}

/* Whether the value and the line of the first that has not been written are there, or when is known. */
static bool can_write(struct core *c, struct store *s, double *when)
{
    const struct access *source = s->source > c->first ? &slot_of(c, s->source - 1)->access : NULL;
    if (s->access.state != SLOT_DONE || (source && source->state != SLOT_DONE))
        return false;
    if (has_lost(c, s)) {
        s->losses = c->losses;
        core_start(c, (core_waiter)((s - c->store) | WAITER_STORE), later(s->access.done, ccd_now(c->ccd)));
        if (s->access.state != SLOT_DONE)
            return false;
    }
    *when = later(c->committed + 1, s->access.done);
    *when = source ? later(*when, source->done + COMPUTES) : *when;
    return true;
}

/* That one is, at `when` or later.  False: there is no place for it. */
static bool write_store(struct core *c, struct access *a, double when)
{
    if (a->kind == CORE_STORE_PAST) {
        when = c->past_waits ? later(when, ccd_now(c->ccd)) : when;
        c->past_waits = !combine(c, a, when);
        if (c->past_waits)
            return false;
    }
    a->done = c->committed = when;
    c->written++;
    return true;
}

bool core_write_stores(struct core *c, unsigned most, bool waits)
{
    const unsigned size = c->ccd->all->stores;
    while (c->stores) {
        struct access *a = &c->store[c->first_store].access;
        double when = a->done;
        if (!c->written && !can_write(c, &c->store[c->first_store], &when))
            break;
        if ((when > c->at && c->stores <= most) || (!c->written && !write_store(c, a, when)))
            break;
        c->at = waits && c->stores > most ? later(c->at, a->done) : c->at;
        c->first_store = (c->first_store + 1) % size;
        c->stores--;
        c->written--;
    }
    return c->stores <= most;
}

bool core_write_ahead(struct core *c)
{
    while (c->written < c->stores) {
        struct store *s = &c->store[(c->first_store + c->written) % c->ccd->all->stores];
        double when;
        if (!can_write(c, s, &when) || !write_store(c, &s->access, when))
            return false;
    }
    return true;
}

/* What is written by now, before somebody takes its line.  Nothing is asked for: who looks at the caches is
 * not done. */
void core_write_due(struct core *c)
{
    while (c->written < c->stores) {
        struct store *s = &c->store[(c->first_store + c->written) % c->ccd->all->stores];
        double when;
        if (s->access.kind != CORE_STORE || has_lost(c, s) || !can_write(c, s, &when) ||
            when > ccd_now(c->ccd))
            return;
        write_store(c, &s->access, when);
    }
}
