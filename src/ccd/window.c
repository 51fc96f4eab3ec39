/* SPDX-License-Identifier: MIT */
/*
 * What a core has begun and not completed: who is in the window leaves it in order, as soon as it is known
 * when each is complete; atomic operations are made in it when they are the oldest.
 */
#include "ccd/internal.h"

static void leave(struct core *c, const struct slot *s)
{
    c->instructions -= s->instructions;
    c->loads -= s->access.kind == CORE_LOAD;
    c->last_done = later(c->last_done, s->access.done);
    c->first++;
}

static bool owns(struct core *c, uint64_t line)
{
    const uint64_t *e = line == UINT64_MAX ? NULL : tags_peek(&c->l1, line);
    return e && *e & TAG_OWNED;
}

/* Its line is there, and nothing before it but what is over at `before`. */
static void make(struct core *c, struct access *a, uint64_t line, double before)
{
    a->done = line == c->taken_line ? later(a->done, c->taken_at) : a->done;
    a->done = later(later(a->done, before), later(c->committed, c->last_past)) + c->ccd->all->locked;
    a->kind = CORE_COMPUTE;
    c->atomics--;
    c->locked_line = line;
    c->locked_until = a->done;
}

/* What is in front of it is over at `before`: when all stores are written, and its line is there, which
 * another may have taken away again. */
static __attribute__((noinline)) bool make_atomic(struct core *c, uint64_t number, double before)
{
    struct access *a = &slot_of(c, number)->access;
    if (!core_write_stores(c, 0, false) || !core_drain_past(c))
        return false;
    const uint64_t line = core_line_at(c, a->address);
    if (!owns(c, line)) {
        core_start(c, (core_waiter)(number % CORE_WINDOW), later(a->done, ccd_now(c->ccd)));
        if (a->state != SLOT_DONE)
            return false;
    }
    make(c, a, line, before);
    return true;
}

double core_finish(struct core *c, uint64_t line)
{
    if (c->written < c->stores && owns(c, line))
        core_write_due(c);
    double before = c->last_done;
    bool made = c->atomics && owns(c, line) && c->stores == c->written && !c->combining && !c->past;
    for (uint64_t n = c->first; made && n != c->next; n++) {
        struct access *a = &slot_of(c, n)->access;
        made = a->state == SLOT_DONE && (a->kind != CORE_ATOMIC || core_line_at(c, a->address) == line);
        if (made && a->kind == CORE_ATOMIC)
            make(c, a, line, before);
        before = later(before, a->done);
    }
    return c->locked_line == line ? c->locked_until : 0;
}

/* Whether it is known when it is complete, as it is of all before it. */
static bool is_known(struct core *c, uint64_t number, double before)
{
    const struct access *a = &slot_of(c, number)->access;
    return a->state == SLOT_DONE && (a->kind != CORE_ATOMIC || make_atomic(c, number, before));
}

static inline bool oldest_is_known(struct core *c)
{
    const struct access *a = &slot_of(c, c->first)->access;
    return a->state == SLOT_DONE && (a->kind != CORE_ATOMIC || make_atomic(c, c->first, c->last_done));
}

/* What has left the window is known. */
static void begin_known(struct core *c)
{
    if (c->known < c->first) {
        c->known = c->first;
        c->known_done = c->last_done;
    }
}

static void pass_known(struct core *c)
{
    c->known_done = later(c->known_done, slot_of(c, c->known++)->access.done);
}

void core_make_atomics(struct core *c)
{
    begin_known(c);
    while (c->known != c->next && is_known(c, c->known, c->known_done)) {
        if (slot_of(c, c->known)->access.done > later(c->at, ccd_now(c->ccd)))
            return;
        pass_known(c);
    }
}

bool core_all_known(struct core *c)
{
    begin_known(c);
    while (c->known != c->next && is_known(c, c->known, c->known_done))
        pass_known(c);
    return c->known == c->next;
}

bool core_make_room(struct core *c)
{
    const struct ccds *all = c->ccd->all;
    while (c->first != c->next) {
        const struct slot *s = slot_of(c, c->first);
        const bool known = oldest_is_known(c);
        if (!known || s->access.done > c->at) {
            const bool full = c->next - c->first == CORE_WINDOW ||
                              c->instructions + c->op.instructions > all->window ||
                              (c->op.kind == CORE_LOAD && c->loads == all->loads);
            if (!full || !known)
                return !full;
            c->at = s->access.done;
        }
        leave(c, s);
    }
    return true;
}

bool core_complete(struct core *c)
{
    while (c->first != c->next) {
        const struct slot *s = slot_of(c, c->first);
        if (!oldest_is_known(c))
            return false;
        c->at = later(c->at, s->access.done);
        leave(c, s);
    }
    return true;
}
