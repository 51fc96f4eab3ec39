/* SPDX-License-Identifier: MIT */
/*
 * How busy each part of a package was: in this order the links, by IOD and neighbour, what IODs take in, the
 * ports of XCDs, CCDs and SDMA engines, slices by IOD, and stacks.
 */
#include "fabric/internal.h"

#include <math.h>

#include "ehp/ehp.h"

static bool linked(const struct iod *a, unsigned b)
{
    return a->link_ps[b] > 0;
}

static unsigned links_of(const struct fabric *f)
{
    unsigned links = 0;
    for (unsigned a = 0; a < f->iods; a++)
        for (unsigned b = 0; b < f->iods; b++)
            links += linked(&f->iod[a], b);
    return links;
}

unsigned fabric_parts(const struct fabric *f)
{
    return links_of(f) + f->iods + 2 * (f->xcds + f->ccds + f->engines) + f->iods + f->map.stacks;
}

static void put_server(struct ehp_part *out, const struct ps_server *s, double byte_ps)
{
    out->busy_ns = s->used / 1000;
    out->waited_ns = s->waited / 1000;
    out->bytes = byte_ps > 0 ? (uint64_t)llround(s->used / byte_ps) : 0;
}

static void read_link(const struct fabric *f, unsigned number, struct ehp_part *out)
{
    for (unsigned a = 0; a < f->iods; a++)
        for (unsigned b = 0; b < f->iods; b++) {
            if (!linked(&f->iod[a], b) || number--)
                continue;
            out->iod = a;
            out->to = b;
            put_server(out, &f->iod[a].link[b], f->iod[a].link_ps[b]);
            return;
        }
}

static void read_port(const struct fabric *f, enum fabric_kind_of_agent kind, unsigned index, bool in,
                      struct ehp_part *out)
{
    const struct agent_port *x = &f->agent[fabric_agent(f, kind, index)];
    const struct iod *iod = &f->iod[x->iod];
    out->index = index;
    out->iod = x->iod;
    if (!in) {
        put_server(out, &x->out, 0);
        return;
    }
    const struct fabric_trips *t = &iod->trips[x->index];
    put_server(out, &iod->to_agent[x->index], x->read_ps / FABRIC_LINE);
    out->lines = t->lines;
    out->trip_ns = t->trip_ps / 1000;
    out->links_ns = t->links_ps / 1000;
    out->home_ns = t->home_ps / 1000;
}

static void read_cache(const struct fabric *f, unsigned index, struct ehp_part *out)
{
    const struct iod *iod = &f->iod[index];
    out->iod = index;
    out->units = iod->slices;
    for (unsigned i = 0; i < iod->slices; i++) {
        out->busy_ns += iod->slice[i].port.used / 1000 / iod->slices;
        out->waited_ns += iod->slice[i].port.waited / 1000;
        out->bytes += (uint64_t)llround(iod->slice[i].port.used / f->slice_line_ps) * FABRIC_LINE;
    }
}

static void read_stack(const struct fabric *f, unsigned stack, struct ehp_part *out)
{
    const struct iod *iod = &f->iod[f->map.iod_of[stack]];
    const struct dram_timing *t = &f->timing;
    const unsigned first = stack * f->map.channels - f->map.first_slice[iod->index];
    const double line = (double)t->bursts * t->ccd_s, left = 1 - (double)t->rfc / t->refi;
    uint64_t lines = 0;
    double ticks = 0;
    out->index = stack;
    out->iod = iod->index;
    out->units = f->map.channels * f->pseudo;
    for (unsigned i = 0; i < f->map.channels; i++)
        for (unsigned k = 0; k < f->pseudo; k++) {
            const struct dram_counters *c = &iod->slice[first + i].memory[k].counters;
            lines += c->reads + c->writes;
            ticks += (double)c->read_ticks - (double)c->reads * (t->rcd_read + t->cl + line);
        }
    out->bytes = lines * FABRIC_LINE;
    out->busy_ns = (double)lines * line / left / out->units * f->tick_ps / 1000;
    out->waited_ns = fmax(ticks, 0) * f->tick_ps / 1000;
}

void fabric_read_part(const struct fabric *f, unsigned part, struct ehp_part *out)
{
    const struct {
        int kind;
        unsigned count;
    } lists[] = {
        {EHP_PART_LINK, links_of(f)},    {EHP_PART_INGRESS, f->iods},    {EHP_PART_XCD_OUT, f->xcds},
        {EHP_PART_XCD_IN, f->xcds},      {EHP_PART_CCD_OUT, f->ccds},    {EHP_PART_CCD_IN, f->ccds},
        {EHP_PART_SDMA_OUT, f->engines}, {EHP_PART_SDMA_IN, f->engines}, {EHP_PART_CACHE, f->iods},
        {EHP_PART_HBM, f->map.stacks},
    };
    unsigned i = 0;
    for (; part >= lists[i].count; i++)
        part -= lists[i].count;
    *out = (struct ehp_part){.size = out->size, .kind = lists[i].kind, .package = f->package, .units = 1};
    switch (lists[i].kind) {
    case EHP_PART_LINK:
        read_link(f, part, out);
        break;
    case EHP_PART_INGRESS:
        out->iod = part;
        put_server(out, &f->iod[part].ingress, f->ingress_ps);
        break;
    case EHP_PART_XCD_OUT:
    case EHP_PART_XCD_IN:
        read_port(f, FABRIC_XCD, part, lists[i].kind == EHP_PART_XCD_IN, out);
        break;
    case EHP_PART_CCD_OUT:
    case EHP_PART_CCD_IN:
        read_port(f, FABRIC_CCD, part, lists[i].kind == EHP_PART_CCD_IN, out);
        break;
    case EHP_PART_SDMA_OUT:
    case EHP_PART_SDMA_IN:
        read_port(f, FABRIC_SDMA, part, lists[i].kind == EHP_PART_SDMA_IN, out);
        break;
    case EHP_PART_CACHE:
        read_cache(f, part, out);
        break;
    default:
        read_stack(f, part, out);
        break;
    }
}
