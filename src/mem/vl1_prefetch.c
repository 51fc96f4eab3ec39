/* SPDX-License-Identifier: MIT */
/* What the vL1's events need, asked of the host's memory before they run; see port_set_prefetch(). */
#include "mem/vl1_state.h"

static bool prefetch_line(const struct port_event *event, unsigned stage)
{
    const struct mem_request *r = event->self;
    if (stage == 0) {
        port_prefetch(r, offsetof(struct mem_request, data));
        return true;
    }
    const struct vl1 *l1 = r->mem->vl1[r->cu];
    const struct mem_access *a = r->access;
    if (stage == 1) {
        access_prefetch(a, 0);
        port_prefetch(r->bytes, r->pair ? PAIR : LINE);
        vl1_prefetch_set(l1, r->line);
    } else if (stage == 2) {
        if (r->bytes == r->data) { /* for its first lane */
            unsigned lane = (unsigned)__builtin_ctzll(r->lanes);
            port_prefetch_line(&a->addr[a->in_row ? 0 : lane]);
            port_prefetch_line(a->data + (size_t)lane * a->stride);
        }
        for (unsigned k = 0; k < request_lines(r); k++) {
            unsigned i = l1->oldest[vl1_set_of(l1, r->line + k * LINE)];
            port_prefetch_line(&l1->line[i]);
            port_prefetch(l1->data + (size_t)i * LINE, LINE);
        }
    }
    return stage < 2;
}

static bool prefetch_acknowledgement(const struct port_event *event, unsigned stage)
{
    const struct mem_request *r = event->self;
    if (stage == 0)
        port_prefetch(r, offsetof(struct mem_request, data));
    else if (r->access)
        access_prefetch(r->access, 0);
    return stage == 0;
}

static bool prefetch_completion(const struct port_event *event, unsigned stage)
{
    const struct mem_access *a = event->self;
    if (stage == 0) {
        access_prefetch(a, 0);
        return true;
    }
    if (stage == 1)
        port_prefetch_line(&((const struct xcd_mem *)event->word[0])->vl1[a->cu]->wave[a->wave]);
    return a->prefetch && a->prefetch(a, stage);
}

void vl1_prefetch(struct xcd_mem *mem)
{
    port_set_prefetch(mem->domain, vl1_line_arrives, prefetch_line);
    port_set_prefetch(mem->domain, vl1_acknowledged, prefetch_acknowledgement);
    port_set_prefetch(mem->domain, vl1_complete, prefetch_completion);
}

void vl1_prefetch_performed(const struct mem_request *r)
{
    port_prefetch_line(&r->mem->vl1[r->cu]->wave[r->wave]);
}
