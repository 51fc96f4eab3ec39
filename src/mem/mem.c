/* SPDX-License-Identifier: MIT */
/* The hierarchy of an XCD as a whole; see mem.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "base/power.h"
#include "mem/l2.h"
#include "mem/sl1.h"
#include "mem/vl1.h"
#include "mem/xcd.h"

struct release {
    struct release *next;
    bool system;
    port_fn *done;
    void *context;
};

/* As many as there are; none of them is spare. */
void pool_more(struct pool *p, struct arena *arena, size_t bytes)
{
    unsigned more = p->all ? p->all : POOL_FIRST;
    p->all += more;
    p->spare = (void **)arena_take(arena, (POOL_AHEAD + p->all) * sizeof(*p->spare)) + POOL_AHEAD;
    char *first = arena_take(arena, more * bytes);
    for (p->count = 0; p->count < more; p->count++)
        p->spare[p->count] = first + p->count * bytes;
}

void access_done_at(struct xcd_mem *mem, struct mem_access *access, uint64_t cycle, port_fn *fn)
{
    uint64_t soonest = port_now(mem->domain);
    struct port_event *e = port_post(mem->domain, cycle > soonest ? cycle : soonest, fn, access);
    e->word[0] = (uint64_t)(uintptr_t)mem;
}

/* The first lane of those that it has happened to. */
static void note_lane(struct mem_access *a, const struct mem_request *r, bool *happened)
{
    bool scalar = r->cluster != NULL;
    uint8_t lane = scalar ? 0 : (uint8_t)__builtin_ctzll(r->lanes);
    if (*happened && a->fault_lane <= lane)
        return;
    *happened = true;
    a->fault_lane = lane;
    uint64_t address = mem_access_address(a, lane);
    a->fault_addr = address > r->line ? address : r->line;
}

void access_fault(struct mem_access *a, const struct mem_request *r)
{
    note_lane(a, r, &a->faulted);
}

void access_beyond(struct mem_access *a, const struct mem_request *r)
{
    if (!a->faulted)
        note_lane(a, r, &a->beyond);
}

void xcd_mem_submit(struct xcd_mem *mem, struct mem_access *access)
{
    access->faulted = access->beyond = false;
    mem->in_flight++;
    if (access->kind < ACCESS_SLOAD)
        vl1_submit(mem, access);
    else
        sl1_submit(mem, access);
}

/* ---- kernel boundaries ---- */

void xcd_mem_release(struct xcd_mem *mem, bool system, port_fn *done, void *context)
{
    struct release *r = must(malloc(sizeof(*r)));
    *r = (struct release){.next = mem->releases, .system = system, .done = done, .context = context};
    mem->releases = r;
    mem->releasing++; /* until all have begun */
    sl1_release(mem);
    vl1_release(mem);
    if (mem->leaving && !mem->release_waits) {
        mem->release_waits = true;
        mem->releasing++;
    }
    mem_released(mem);
}

void mem_released(struct xcd_mem *mem)
{
    if (--mem->releasing)
        return;
    while (mem->releases) {
        struct release *r = mem->releases;
        mem->releases = r->next;
        if (r->system || mem->several_l2s)
            l2_flush(mem, NULL, r->system, r->done, r->context);
        else
            port_post(mem->domain, port_now(mem->domain), r->done, r->context)->word[0] =
                (uint64_t)(uintptr_t)r->context;
        free(r);
    }
}

void xcd_mem_acquire(struct xcd_mem *mem, bool system, port_fn *done, void *context)
{
    vl1_acquire(mem);
    sl1_acquire(mem);
    const struct mem_timing *t = &mem->timing;
    unsigned cycles = t->vl1_invalidate > t->s_walk ? t->vl1_invalidate : t->s_walk; /* side by side */
    if (system || mem->several_l2s) {
        l2_invalidate(mem, false);
        cycles = cycles > t->l2_walk ? cycles : t->l2_walk;
    }
    port_post(mem->domain, port_now(mem->domain) + cycles, done, context)->word[0] =
        (uint64_t)(uintptr_t)context;
}

void xcd_mem_invalidate_code(struct xcd_mem *mem)
{
    sl1_invalidate_code(mem);
}

void xcd_mem_host_wrote(struct xcd_mem *mem)
{
    l2_host_wrote(mem);
}

bool xcd_mem_idle(const struct xcd_mem *mem)
{
    return mem->in_flight == 0 && l2_idle(mem) && mem->releasing == 0;
}

void xcd_mem_read_counters(const struct xcd_mem *mem, struct mem_counters *out)
{
    *out = mem->counters;
}

/* ---- open ---- */

static unsigned cycles_for(unsigned things, unsigned a_cycle)
{
    return (things + a_cycle - 1) / a_cycle;
}

static void set_timing(struct xcd_mem *mem, const struct chip *chip)
{
    struct mem_timing *t = &mem->timing;
    unsigned vl1_lines = chip_get(chip, CHIP_vl1_size) / LINE;
    t->ways = chip_get(chip, CHIP_vl1_ways);
    t->sets = vl1_lines / t->ways;
    t->lanes = chip_get(chip, CHIP_vl1_lanes);
    t->wide = chip_get(chip, CHIP_vl1_wide);
    t->atomics = chip_get(chip, CHIP_vl1_atomics);
    t->queue = chip_get(chip, CHIP_vl1_queue);
    t->lookup = chip_get(chip, CHIP_vl1_lookup);
    t->result = chip_get(chip, CHIP_vl1_result);
    t->bandwidth = chip_get(chip, CHIP_vl1_bandwidth);
    t->fill = (LINE + t->bandwidth - 1) / t->bandwidth;
    t->misses = chip_get(chip, CHIP_vl1_misses);
    t->stores = chip_get(chip, CHIP_vl1_stores);
    t->uncached = chip_get(chip, CHIP_vl1_uncached);
    t->ack = chip_get(chip, CHIP_vl1_ack);
    t->vl1_invalidate = chip_get(chip, CHIP_vl1_invalidate);
    t->combine = chip_get(chip, CHIP_vl1_combine);
    t->combine_age = chip_get(chip, CHIP_vl1_combine_age);
    t->path = chip_get(chip, CHIP_l2_path);
    t->spread = chip_get(chip, CHIP_l2_spread);
    t->l2_latency = chip_get(chip, CHIP_l2_latency);
    t->refill = chip_get(chip, CHIP_l2_refill);
    unsigned read = chip_get(chip, CHIP_l2_read), write = chip_get(chip, CHIP_l2_write);
    t->read = (LINE + read - 1) / read;
    for (unsigned halves = 0; halves < 3; halves++)
        t->write[halves] = (halves * (LINE / 2) + write - 1) / write;
    t->l2_misses = chip_get(chip, CHIP_l2_misses);
    t->atomic = chip_get(chip, CHIP_l2_atomic);
    t->atomic_lanes = chip_get(chip, CHIP_l2_atomic_lanes);
    t->atomic_latency = chip_get(chip, CHIP_l2_atomic_latency);
    t->probe = chip_get(chip, CHIP_l2_probe);
    t->l2_way = t->path + t->spread;
    unsigned l2_sets =
        chip_get(chip, CHIP_l2_size) / LINE / chip_get(chip, CHIP_l2_channels) / chip_get(chip, CHIP_l2_ways);
    t->l2_walk = cycles_for(l2_sets, chip_get(chip, CHIP_l2_walk));
    t->s_size = chip_get(chip, CHIP_sl1_size);
    t->s_ways = chip_get(chip, CHIP_sl1_ways);
    t->i_size = chip_get(chip, CHIP_icache_size);
    t->i_ways = chip_get(chip, CHIP_icache_ways);
    t->s_latency = chip_get(chip, CHIP_sl1_latency);
    t->s_lookup = chip_get(chip, CHIP_sl1_lookup);
    t->s_path = chip_get(chip, CHIP_sl1_l2_path);
    t->s_waiting = chip_get(chip, CHIP_sl1_waiting);
    t->s_width = chip_get(chip, CHIP_sl1_width);
    t->s_walk = cycles_for(t->s_size / SLINE, chip_get(chip, CHIP_sl1_walk));
    t->i_latency = chip_get(chip, CHIP_icache_latency);
    t->i_queue = chip_get(chip, CHIP_icache_queue);
    t->i_prefetch = chip_get(chip, CHIP_icache_prefetch);
    t->utcl1_entries = chip_get(chip, CHIP_utcl1_entries);
    t->utcl1_reach = (uint64_t)chip->value[CHIP_utcl1_reach];
    t->utcl1_shift = (unsigned)__builtin_ctzll(t->utcl1_reach);
    t->utcl1_misses = chip_get(chip, CHIP_utcl1_misses);
    t->utcl1_walks = chip_get(chip, CHIP_utcl1_walks);
    t->utcl1_replay = chip_get(chip, CHIP_utcl1_replay);
    t->utcl2_latency = chip_get(chip, CHIP_utcl2_latency);
    t->utcl2_rate = chip_get(chip, CHIP_utcl2_rate);
    t->walk = chip_get(chip, CHIP_utcl2_walk);
    t->utcl2_walks = chip_get(chip, CHIP_utcl2_walks);
}

bool xcd_mem_check(const struct chip *chip, char *error, size_t bytes)
{
    static const unsigned powers[] = {CHIP_l2_channels,        CHIP_l2_interleave,      CHIP_utcl2_line,
                                      CHIP_utcl1_reach,        CHIP_vm_device_fragment, CHIP_vm_host_fragment,
                                      CHIP_vm_malloc_fragment, CHIP_vm_touch_fragment};
    const double *v = chip->value;
    for (size_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++)
        if (!whole_power_of_two(v[powers[i]])) {
            chip_mistake(chip, powers[i], error, bytes, "must be a power of two");
            return false;
        }
    const char *wrong = NULL;
    struct chip_keys clash;
    double l2_sets = v[CHIP_l2_size] / (v[CHIP_l2_channels] * v[CHIP_l2_ways] * LINE);
    if (!whole_power_of_two(v[CHIP_vl1_size] / v[CHIP_vl1_ways] / LINE) || v[CHIP_vl1_size] > 4e6)
        clash = CHIP_CLASH(CHIP_vl1_size, CHIP_vl1_ways),
        wrong = "must be a power of two of vl1.ways lines of 128 bytes, and no more than 4 MB";
    else if (!whole_power_of_two(l2_sets))
        clash = CHIP_CLASH(CHIP_l2_size, CHIP_l2_ways, CHIP_l2_channels),
        wrong = "must be a power of two of l2.channels * l2.ways lines of 128 bytes";
    else if (v[CHIP_l2_interleave] / LINE > l2_sets)
        clash = CHIP_CLASH(CHIP_l2_interleave, CHIP_l2_size, CHIP_l2_ways, CHIP_l2_channels),
        wrong = "must be no more than l2.size / (l2.channels * l2.ways)";
    else if (!whole_power_of_two(v[CHIP_sl1_size] / v[CHIP_sl1_ways] / SLINE))
        clash = CHIP_CLASH(CHIP_sl1_size, CHIP_sl1_ways),
        wrong = "must be a power of two of sl1.ways lines of 64 bytes";
    else if (!whole_power_of_two(v[CHIP_icache_size] / v[CHIP_icache_ways] / SLINE))
        clash = CHIP_CLASH(CHIP_icache_size, CHIP_icache_ways),
        wrong = "must be a power of two of icache.ways lines of 64 bytes";
    else if (v[CHIP_sl1_lookup] > v[CHIP_sl1_latency])
        clash = CHIP_CLASH(CHIP_sl1_lookup, CHIP_sl1_latency),
        wrong = "must be no more than sl1.latency, of which it is a part";
    else if (!whole_power_of_two(v[CHIP_utcl2_entries] / v[CHIP_utcl2_ways]))
        clash = CHIP_CLASH(CHIP_utcl2_entries, CHIP_utcl2_ways),
        wrong = "must be a power of two of utcl2.ways";
    if (wrong)
        chip_clash(chip, &clash, error, bytes, wrong);
    return !wrong;
}

static void set_l2_map(struct l2_map *map, const struct chip *chip)
{
    map->channels = chip_get(chip, CHIP_l2_channels);
    map->ways = chip_get(chip, CHIP_l2_ways);
    map->sets = chip_get(chip, CHIP_l2_size) / LINE / map->channels / map->ways;
    map->block_bits = (unsigned)__builtin_ctz(chip_get(chip, CHIP_l2_interleave));
    map->channel_bits = (unsigned)__builtin_ctz(map->channels);
    map->set_bits = (unsigned)__builtin_ctz(map->sets);
    map->block_lines = (1U << map->block_bits) / LINE;
    map->apart = map->sets / map->block_lines;
}

struct xcd_mem *xcd_mem_open(const struct chip *chip, unsigned xcd, bool several_l2s,
                             struct port_domain *domain, struct fabric *fabric, struct vm *vm)
{
    struct xcd_mem *mem = calloc(1, sizeof(*mem));
    if (!mem)
        return NULL;
    mem->domain = domain;
    mem->fabric = fabric;
    mem->vm = vm;
    mem->xcd = xcd;
    mem->package = fabric_package(fabric);
    mem->cus = chip_get(chip, CHIP_xcd_cus);
    mem->several_l2s = several_l2s;
    mem->sl1_cus = chip_get(chip, CHIP_sl1_cus);
    mem->icache_cus = chip_get(chip, CHIP_icache_cus);
    mem->place = arena_take(&mem->arena, mem->cus);
    for (unsigned i = 0; i < mem->cus; i++)
        mem->place[i] = (uint8_t)chip_cu_place(chip, i).number;
    mem->clusters = mem->place[mem->cus - 1] + 1u; /* as many as the smaller sharing makes, at most */
    set_timing(mem, chip);
    set_l2_map(&mem->l2_map, chip);
    mem->utcl2.ways = chip_get(chip, CHIP_utcl2_ways);
    mem->utcl2.sets = chip_get(chip, CHIP_utcl2_entries) / mem->utcl2.ways;
    mem->utcl2.entry =
        arena_take(&mem->arena, (size_t)mem->utcl2.sets * mem->utcl2.ways * sizeof(*mem->utcl2.entry));
    mem->vl1 = arena_take(&mem->arena, mem->cus * sizeof(struct vl1 *));
    mem->cluster = arena_take(&mem->arena, mem->clusters * sizeof(struct scluster *));
    mem->pairs = mem->l2_map.block_lines >= 2 && fabric_pairs(fabric) && mem->timing.misses >= 2 &&
                 mem->timing.stores >= 2 && mem->timing.l2_misses >= 2 * (ASKS_READ + ASKS_PUSH);
    if (!l2_open(mem)) {
        xcd_mem_close(mem);
        return NULL;
    }
    fabric_attach(fabric, xcd, domain, l2_probe, mem);
    l2_prefetch(mem);
    vl1_prefetch(mem);
    sl1_prefetch(mem);
    return mem;
}

void xcd_mem_close(struct xcd_mem *mem)
{
    if (!mem)
        return;
    l2_close(mem);
    while (mem->releases) {
        struct release *r = mem->releases;
        mem->releases = r->next;
        free(r);
    }
    arena_free(&mem->arena);
    free(mem);
}
