/* SPDX-License-Identifier: MIT */
/* The package's fabric from a chip file; see fabric.h. */
#include "fabric/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/power.h"

bool fabric_check(const struct chip *chip, unsigned nps, unsigned packages, char *error, size_t bytes)
{
    const double *v = chip->value;
    unsigned iods = chip_get(chip, CHIP_iod_count), stacks = chip_get(chip, CHIP_hbm_stacks);
    unsigned each = nps && stacks % nps == 0 ? stacks / nps : 0; /* of a memory partition */
    double row = fmax(v[CHIP_hbm_tras], fmax(v[CHIP_hbm_trcd_read], v[CHIP_hbm_trcd_write]));
    const char *wrong = NULL;
    struct chip_keys clash;
    if (!whole_power_of_two(v[CHIP_hbm_channels]) || !whole_power_of_two(v[CHIP_hbm_interleave]) ||
        v[CHIP_hbm_interleave] / v[CHIP_hbm_channels] < FABRIC_LINE)
        clash = CHIP_CLASH(CHIP_hbm_interleave, CHIP_hbm_channels),
        wrong = "must be a power of two of lines for each of hbm.channels, a power of two as well";
    else if (!whole_power_of_two(each) || v[CHIP_hbm_channels] * each > CHIP_MAX_CHANNELS)
        clash = CHIP_CLASH(CHIP_hbm_stacks, CHIP_hbm_channels),
        wrong = "must be a power of two in each memory partition, with no more than 256 channels";
    else if (v[CHIP_infinity_cache_slices] != 0 &&
             v[CHIP_infinity_cache_slices] != stacks * v[CHIP_hbm_channels])
        clash = CHIP_CLASH(CHIP_infinity_cache_slices, CHIP_hbm_stacks, CHIP_hbm_channels),
        wrong = "must be 0, or one for each channel: hbm.stacks * hbm.channels";
    else if (v[CHIP_infinity_cache_slices] != 0 &&
             (uint64_t)v[CHIP_infinity_cache_size] %
                 (uint64_t)(v[CHIP_infinity_cache_slices] * v[CHIP_infinity_cache_ways] * FABRIC_LINE * 64))
        clash = CHIP_CLASH(CHIP_infinity_cache_size, CHIP_infinity_cache_ways, CHIP_infinity_cache_slices),
        wrong = "must be a multiple of slices * ways * 8 KiB";
    else if ((uint64_t)v[CHIP_probe_filter_entries] % (uint64_t)v[CHIP_probe_filter_ways])
        clash = CHIP_CLASH(CHIP_probe_filter_entries, CHIP_probe_filter_ways),
        wrong = "must be a multiple of probe_filter.ways";
    else if (!whole_power_of_two(v[CHIP_hbm_tccd_s]) || !whole_power_of_two(v[CHIP_hbm_tccd_l]) ||
             v[CHIP_hbm_tccd_l] < v[CHIP_hbm_tccd_s] || v[CHIP_hbm_tccd_l] > DRAM_LANES * v[CHIP_hbm_tccd_s])
        clash = CHIP_CLASH(CHIP_hbm_tccd_l, CHIP_hbm_tccd_s),
        wrong = "must be one, two or four times hbm.tccd_s, a power of two";
    else if (v[CHIP_hbm_bank_groups] * v[CHIP_hbm_banks] * v[CHIP_hbm_stack_ids] > CHIP_MAX_BANKS)
        clash = CHIP_CLASH(CHIP_hbm_banks, CHIP_hbm_bank_groups, CHIP_hbm_stack_ids),
        wrong = "must leave a pseudo channel 64 banks at most: hbm.bank_groups * hbm.banks * hbm.stack_ids";
    else if (v[CHIP_hbm_write_low] >= v[CHIP_hbm_write_high] || v[CHIP_hbm_write_high] > v[CHIP_hbm_queue])
        clash = CHIP_CLASH(CHIP_hbm_write_low, CHIP_hbm_write_high, CHIP_hbm_queue),
        wrong = "must be less than hbm.write_high, and that no more than hbm.queue";
    else if (v[CHIP_hbm_trefi] < v[CHIP_hbm_trfc] + v[CHIP_hbm_trp] + row)
        clash = CHIP_CLASH(CHIP_hbm_trefi, CHIP_hbm_trfc, CHIP_hbm_trp, CHIP_hbm_tras, CHIP_hbm_trcd_read,
                           CHIP_hbm_trcd_write),
        wrong =
            "must leave time for a row between two refreshes: hbm.trfc + hbm.trp, and hbm.tras or hbm.trcd_*";
    else if (v[CHIP_xcd_count] + v[CHIP_ccd_count] + packages - 1 > CHIP_MAX_DIES)
        clash = CHIP_CLASH(CHIP_ccd_count, CHIP_xcd_count),
        wrong = packages > 1
                    ? "must leave no more than 15 with xcd.count and a link to each other package: the "
                      "probe filter has a bit for each"
                    : "must leave no more than 15 with xcd.count: the probe filter has a bit for each";
    else if (v[CHIP_host_memory] > 0 && v[CHIP_pcie_iod] >= iods)
        clash = CHIP_CLASH(CHIP_pcie_iod, CHIP_iod_count), wrong = "is counted from 0 on";
    else if (packages > 1 && iods > FABRIC_NODE_IODS)
        clash = CHIP_CLASH(CHIP_iod_count), wrong = "must be no more than 8 for packages of a node";
    if (wrong)
        chip_clash(chip, &clash, error, bytes, wrong);
    return !wrong;
}

/* What a CCD's way is longer than an XCD's, or shorter. */
static double extra_ps(const struct chip *chip)
{
    return chip_get(chip, CHIP_ccd_count)
               ? 1000 * (chip->value[CHIP_fabric_ccd_latency] - chip->value[CHIP_fabric_xcd_latency])
               : 0;
}

uint64_t fabric_lookahead_ps(const struct chip *chip)
{
    struct fabric_route route[CHIP_MAX_IODS][CHIP_MAX_IODS];
    const unsigned iods = chip_get(chip, CHIP_iod_count);
    double least = INFINITY;
    route_find(chip, route);
    for (unsigned a = 0; a < iods; a++)
        for (unsigned b = 0; b < iods; b++)
            least = fmin(least, route[a][b].part_ps);
    return (uint64_t)fmin(least, least + extra_ps(chip));
}

static void set_times(struct fabric *f, const struct chip *chip)
{
    const double *v = chip->value;
    double clock_ps = 1e6 / v[CHIP_fabric_clock], line = FABRIC_LINE;
    route_find(chip, f->route);
    f->near_ps = f->route[0][0].way_ps;
    f->agent_ps = 1000 * v[CHIP_fabric_xcd_latency];
    for (unsigned i = 0; i < chip->links; i++)
        for (unsigned end = 0; end < 2; end++)
            f->iod[chip->link[i].iod[end]].link_ps[chip->link[i].iod[!end]] = 1000 / chip->link[i].rate.value;
    f->atomic_ps = v[CHIP_infinity_cache_atomic] * 1000;
    f->write_latency_ps = v[CHIP_infinity_cache_write_latency] * 1000;
    f->atomic_latency_ps = v[CHIP_infinity_cache_atomic_latency] * 1000;
    f->slice_ps = v[CHIP_infinity_cache_latency] * 1000;
    f->memory_ps = v[CHIP_hbm_latency] * 1000;
    f->ingress_ps = 1000 / v[CHIP_fabric_ingress];
    f->slice_line_ps = line / v[CHIP_infinity_cache_width] * clock_ps;
    f->header = chip_get(chip, CHIP_usr_header);
    f->tick_ps = 1e6 / v[CHIP_hbm_clock];
}

static struct agent_port *open_port(struct fabric *f, unsigned index, unsigned iod)
{
    struct agent_port *x = &f->agent[index];
    x->fabric = f;
    x->index = index;
    x->iod = iod;
    x->held_end = &x->held;
    return x;
}

/* An XCD's port takes so many requests, with bytes or without; a CCD's link has bytes for either way, a
 * header with each 64; an engine's port takes bytes. */
static void open_ports(struct fabric *f, const struct chip *chip)
{
    const double *v = chip->value;
    const double clock_ps = 1e6 / v[CHIP_fabric_clock], line = FABRIC_LINE;
    unsigned index = 0;
    for (unsigned i = 0; i < f->iods; i++)
        for (unsigned k = 0; k < chip->iod[i].xcds; k++) {
            struct agent_port *x = open_port(f, index++, i);
            x->read_ps = line / v[CHIP_fabric_xcd_read] * clock_ps;
            x->ask_ps = x->half_ps = clock_ps / v[CHIP_fabric_requests];
        }
    for (unsigned i = 0; i < f->iods; i++)
        for (unsigned k = 0; k < chip->iod[i].ccds; k++) {
            struct agent_port *x = open_port(f, index++, i);
            x->read_ps = (line + 2 * v[CHIP_usr_header]) / v[CHIP_ccd_link] * clock_ps;
            x->half_ps = x->read_ps / 2;
            x->ask_ps = v[CHIP_usr_header] / v[CHIP_ccd_link] * clock_ps;
            x->extra_ps = extra_ps(chip);
        }
    for (unsigned k = 0; k < f->links; k++)
        open_port(f, index++, 0);
    for (unsigned k = 0; k < f->engines; k++) {
        struct agent_port *x = open_port(f, index++, k % f->iods);
        x->read_ps = line / v[CHIP_sdma_width] * 1e6 / v[CHIP_sdma_clock];
        x->half_ps = x->read_ps / 2;
    }
}

struct fabric *fabric_open(const struct chip *chip, struct port *port, unsigned first_domain, unsigned nps)
{
    static const struct fabric_place_in_node alone = {.packages = 1, .shift = 63};
    return fabric_open_package(chip, port, first_domain, nps, &alone);
}

struct fabric *fabric_open_package(const struct chip *chip, struct port *port, unsigned first_domain,
                                   unsigned nps, const struct fabric_place_in_node *place)
{
    char error[160];
    struct arena arena = {0};
    if (!fabric_check(chip, nps, place->packages, error, sizeof(error)))
        return NULL;
    struct fabric *f = arena_take(&arena, sizeof(*f));
    f->arena = arena;
    f->port = port;
    f->iods = chip_get(chip, CHIP_iod_count);
    f->xcds = chip_get(chip, CHIP_xcd_count);
    f->ccds = chip_get(chip, CHIP_ccd_count);
    f->links = place->packages - 1;
    f->package = place->package;
    f->package_shift = place->shift;
    f->engines = chip_get(chip, CHIP_sdma_engines);
    f->pseudo = chip_get(chip, CHIP_hbm_pseudo_channels);
    f->by_pseudo = divisor_of(f->pseudo);
    map_open(&f->map, chip, nps);
    dram_timing_of(chip, &f->timing);
    set_times(f, chip);
    uint64_t lines = f->map.bytes / f->map.stacks / f->map.channels / FABRIC_LINE;
    f->filter_chunks = (uint32_t)((lines + FILTER_CHUNK - 1) / FILTER_CHUNK);
    open_ports(f, chip);
    for (unsigned i = 0; i < f->iods; i++) {
        struct iod *iod = &f->iod[i];
        iod->fabric = f;
        iod->index = i;
        iod->domain = port_domain(port, first_domain + i);
        port_set_clock(iod->domain, chip->value[CHIP_fabric_clock]);
    }
    for (unsigned i = 0; i < f->iods; i++) {
        home_open(&f->iod[i], chip);
        net_prefetch(&f->iod[i]);
    }
    return f;
}

void fabric_close(struct fabric *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < f->iods; i++)
        home_close(&f->iod[i]);
    for (unsigned i = 0; i < f->links; i++)
        link_close(&f->link[i]);
    struct arena arena = f->arena;
    arena_free(&arena);
}

uint8_t fabric_agent(const struct fabric *f, enum fabric_kind_of_agent kind, unsigned index)
{
    static_assert(FABRIC_AGENTS <= UINT8_MAX, "a byte in requests");
    const unsigned count[] = {f->xcds, f->ccds, f->links, f->engines};
    assert(index < count[kind]);
    for (unsigned before = 0; before < (unsigned)kind; before++)
        index += count[before];
    return (uint8_t)index;
}

void fabric_attach(struct fabric *f, unsigned agent, struct port_domain *domain, port_fn *probe, void *self)
{
    struct agent_port *x = &f->agent[agent];
    x->domain = domain;
    x->probe = probe;
    x->self = self;
    if (probe)
        net_prefetch_at_agent(x);
}

unsigned fabric_package(const struct fabric *f)
{
    return f->package;
}

bool fabric_pairs(const struct fabric *f)
{
    return UINT64_C(1) << f->map.chunk_shift >= FABRIC_PAIR;
}

struct fabric_place fabric_place_of(const struct fabric *f, uint64_t physical)
{
    unsigned slice;
    uint32_t line;
    map_find(&f->map, physical & fabric_local(f), &slice, &line);
    unsigned stack = slice / f->map.channels;
    return (struct fabric_place){
        .iod = f->map.iod_of[stack],
        .stack = stack,
        .channel = slice % f->map.channels,
        .offset = (uint64_t)line * FABRIC_LINE + physical % FABRIC_LINE,
    };
}

bool fabric_read_traffic(const struct fabric *f, unsigned to, bool back, struct fabric_traffic *out)
{
    if (to > f->links + 1 || to == f->package || (to <= f->links && back))
        return false;
    const struct link *link = to <= f->links ? &f->link[to - (to > f->package)] : NULL;
    if (link ? link->hops != 1 : !f->host)
        return false;
    *out = link ? link->traffic : *host_traffic(f->host, back);
    return true;
}

void fabric_read_counters(const struct fabric *f, struct fabric_counters *out)
{
    *out = (struct fabric_counters){0};
    for (unsigned i = 0; i < f->iods; i++) {
        const struct iod *iod = &f->iod[i];
        const struct fabric_counters *c = &iod->counters;
        out->reads += c->reads;
        out->writes += c->writes;
        out->atomics += c->atomics;
        out->probes += c->probes;
        out->displaced += c->displaced;
        out->cache_hits += c->cache_hits;
        out->cache_misses += c->cache_misses;
        out->prefetches += c->prefetches;
        out->filled += c->filled;
        out->usr_bytes += c->usr_bytes;
        out->link_bytes += c->link_bytes;
        for (unsigned k = 0; k < iod->slices * f->pseudo; k++) {
            const struct dram_counters *d = &iod->slice[k / f->pseudo].memory[k % f->pseudo].counters;
            out->dram_reads += d->reads;
            out->dram_writes += d->writes;
            out->activates += d->activates;
            out->refreshes += d->refreshes;
            out->turns += d->turns;
        }
    }
}

unsigned fabric_iods(const struct fabric *f)
{
    return f->iods;
}

struct port_domain *fabric_domain(const struct fabric *f, unsigned iod)
{
    return f->iod[iod].domain;
}

void fabric_read_use(const struct fabric *f, unsigned iod, struct fabric_use *out)
{
    const struct iod *i = &f->iod[iod];
    *out = (struct fabric_use){.filled = i->counters.filled, .written = i->counters.writes};
}

unsigned fabric_slices(const struct fabric *f)
{
    return f->map.stacks * f->map.channels;
}

uint64_t fabric_slice_lines(const struct fabric *f)
{
    unsigned first = 0;
    while (!f->iod[first].slices)
        first++;
    return (uint64_t)f->iod[first].slice->cache.sets * f->iod[first].slice->cache.ways;
}

void fabric_age(struct fabric *f, unsigned iod, uint64_t lines, double dirty, uint64_t fresh)
{
    for (unsigned i = 0; i < f->iod[iod].slices; i++)
        cache_age(&f->iod[iod].slice[i].cache, lines, dirty, fresh,
                  (uint32_t)(f->map.bytes / f->map.stacks / f->map.channels / FABRIC_LINE));
}
