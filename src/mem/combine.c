/* SPDX-License-Identifier: MIT */
/*
 * Write combining in the vL1.  A store that leaves gaps in a half of its line is kept
 * back for what else its wave stores there.  It leaves
 *
 *   - when the halves that it touches are complete,
 *   - before anything else that its CU does to the line, another wave's stores included,
 *   - when its wave waits for memory, or writes the L2 back,
 *   - to make room for the next, at a kernel's end, or when it is old.
 *
 * What has a scope beyond the wave, or streams, goes at once, so a flag overtakes the data that
 * no release drains (fence report, 4.1: such messages are lost within an XCD).  There a
 * wave ends right after its flag; so a wave's end asks for nothing, and the wave does not
 * wait for what is kept: the line is nobody's from then on.
 */
#include "mem/vl1_state.h"

static bool has_gaps(struct mask m)
{
    return (m.w[0] && ~m.w[0]) || (m.w[1] && ~m.w[1]);
}

static void send_entry(struct vl1 *l1, unsigned i, uint64_t cycle)
{
    struct vl1_combine *c = &l1->combine;
    struct mem_request *r = c->line[i].request;
    uint64_t ready = c->line[i].ready;
    c->count--;
    for (unsigned k = i; k < c->count; k++)
        c->line[k] = c->line[k + 1];
    if (!r->access)
        l1->mem->leaving++;
    vl1_send(l1, r, cycle > ready ? cycle : ready);
}

static void expire(struct port_domain *domain, struct port_event *event);

static void watch(struct vl1 *l1)
{
    struct vl1_combine *c = &l1->combine;
    if (c->watched || !c->count)
        return;
    c->watched = true;
    port_post(l1->mem->domain, c->line[0].until, expire, l1);
}

static void expire(struct port_domain *domain, struct port_event *event)
{
    struct vl1 *l1 = event->self;
    struct vl1_combine *c = &l1->combine;
    uint64_t now = port_now(domain);
    c->watched = false;
    while (c->count && c->line[0].until <= now)
        send_entry(l1, 0, now);
    watch(l1);
}

static unsigned find(const struct vl1_combine *c, uint64_t line)
{
    unsigned i = 0;
    while (i < c->count && c->line[i].request->line != line)
        i++;
    return i;
}

bool combine_has(const struct vl1 *l1, uint64_t line)
{
    return find(&l1->combine, line) < l1->combine.count;
}

/* The wave, which has ended, does not wait for it. */
static void disown(struct vl1 *l1, struct mem_request *r)
{
    struct mem_access *a = r->access;
    r->access = NULL;
    l1->mem->in_flight++;
    vl1_store_done(l1, a, port_now(l1->mem->domain));
}

void combine_before(struct vl1 *l1, const struct mem_request *r, uint64_t cycle)
{
    struct vl1_combine *c = &l1->combine;
    unsigned i = find(c, r->line);
    if (i == c->count)
        return;
    bool owned = c->line[i].request->access, left = l1->wave[r->access->wave].state == WAVE_LEFT;
    bool joins = r->kind == REQUEST_STORE && combine_keeps(l1, r) && c->line[i].wave == r->access->wave &&
                 owned != left;
    if (!joins)
        send_entry(l1, i, cycle);
}

bool combine_keeps(const struct vl1 *l1, const struct mem_request *r)
{
    const struct vl1_wave *w = &l1->wave[r->access->wave];
    return l1->mem->timing.combine && has_gaps(r->mask) && r->policy.scope == ISA_SCOPE_WAVE &&
           !r->policy.streams && r->mtype != VM_MTYPE_UC && w->state != WAVE_WAITS && !w->writeback;
}

void combine_take(struct vl1 *l1, struct mem_request *r, uint64_t cycle)
{
    struct vl1_combine *c = &l1->combine;
    bool ended = l1->wave[r->access->wave].state == WAVE_LEFT;
    unsigned i = find(c, r->line);
    if (i < c->count) {
        struct mem_request *e = c->line[i].request;
        mask_copy(e->bytes, r->bytes, r->mask);
        e->mask = mask_or(e->mask, r->mask);
        c->line[i].ready = cycle > c->line[i].ready ? cycle : c->line[i].ready;
        if (ended) {
            vl1_store_done(l1, r->access, cycle);
            request_free(r);
        } else {
            r->next = e->joined;
            e->joined = r;
        }
        if (!has_gaps(e->mask))
            send_entry(l1, i, cycle);
        return;
    }
    if (c->count == l1->mem->timing.combine)
        send_entry(l1, 0, cycle);
    c->line[c->count].request = r;
    c->line[c->count].wave = r->access->wave;
    c->line[c->count].ready = cycle;
    c->line[c->count].until = cycle + l1->mem->timing.combine_age;
    c->count++;
    if (ended)
        disown(l1, r);
    watch(l1);
}

void combine_send(struct vl1 *l1, unsigned wave)
{
    struct vl1_combine *c = &l1->combine;
    uint64_t now = port_now(l1->mem->domain);
    for (unsigned i = 0; i < c->count;) {
        if (wave == CHIP_MAX_CU_WAVES || (c->line[i].wave == wave && c->line[i].request->access))
            send_entry(l1, i, now);
        else
            i++;
    }
}

void xcd_mem_wave_waits(struct xcd_mem *mem, unsigned cu, unsigned wave)
{
    struct vl1 *l1 = mem->vl1[cu];
    if (!l1)
        return;
    l1->wave[wave].state = WAVE_WAITS;
    if (l1->combine.count)
        combine_send(l1, wave);
}

void xcd_mem_wave_ends(struct xcd_mem *mem, unsigned cu, unsigned wave)
{
    struct vl1 *l1 = mem->vl1[cu];
    if (!l1)
        return;
    l1->wave[wave].state = WAVE_LEFT;
    for (unsigned i = 0; i < l1->combine.count; i++) {
        struct mem_request *r = l1->combine.line[i].request;
        if (!r->access || l1->combine.line[i].wave != wave)
            continue;
        for (struct mem_request *j; (j = r->joined);) {
            r->joined = j->next;
            vl1_store_done(l1, j->access, port_now(mem->domain));
            request_free(j);
        }
        disown(l1, r);
    }
}
