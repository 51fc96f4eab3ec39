/* SPDX-License-Identifier: MIT */
/*
 * What saturating streams get, and the speed of the simulation.  The XCDs share
 * the work as a grid of workgroups does: pieces of 16 KiB in turn.
 */
#include <time.h>

#include "fabric/internal.h"
#include "package.h"

enum { FLIGHT = 3072, PIECE = 16384, LINE = FABRIC_LINE };

/* Arrays that are read and written by turns. */
struct traffic {
    const char *name;
    unsigned reads, writes;
    uint64_t footprint; /* of all arrays; they are gone through again and again */
    unsigned xcds;      /* 0: all */
    double nanoseconds; /* measured after as long a start */
    double least, most; /* TB/s, on the MI300A */
};

struct asker {
    struct rig *rig;
    const struct traffic *traffic;
    struct port_domain *domain;
    unsigned xcd;
    uint64_t next, bytes, begin, end;
    struct fabric_request request[FLIGHT];
    uint8_t data[FABRIC_LINE];
};

static void answered(struct port_domain *domain, struct port_event *event);

static void ask(struct asker *a, struct fabric_request *r)
{
    const struct traffic *t = a->traffic;
    unsigned arrays = t->reads + t->writes, xcds = t->xcds ? t->xcds : a->rig->xcds;
    uint64_t i = a->next++, array = i % arrays, line = i / arrays;
    uint64_t piece = line / (PIECE / LINE) * xcds + a->xcd;
    uint64_t size = t->footprint / arrays / PIECE * PIECE;
    uint64_t at = (piece * PIECE + line % (PIECE / LINE) * LINE) % size;
    *r = (struct fabric_request){
        .kind = array < t->reads ? FABRIC_READ : FABRIC_WRITE,
        .agent = (uint8_t)a->xcd,
        .data = a->data,
        .mask = {UINT64_MAX, UINT64_MAX},
        .done = answered,
        .self = a,
    };
    rig_address(a->rig, r, array * size + at);
    fabric_submit(a->rig->fabric, r);
}

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct asker *a = event->self;
    uint64_t now = port_ps_of(domain, port_now(domain));
    if (now >= a->begin && now < a->end)
        a->bytes += LINE;
    if (now < a->end)
        ask(a, (struct fabric_request *)event->word[0]);
}

static void start(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct asker *a = event->self;
    for (unsigned i = 0; i < FLIGHT; i++)
        ask(a, &a->request[i]);
}

/* The Infinity Cache as an earlier pass over the arrays left it: their ends, or all of what is small. */
static void fill_cache(struct rig *rig, const struct traffic *t)
{
    struct fabric *f = rig->fabric;
    uint64_t arrays = t->reads + t->writes, size = t->footprint / arrays / PIECE * PIECE;
    uint64_t last = (UINT64_C(384) << 20) / arrays;
    for (uint64_t at = size > last ? size - last : 0; at < size; at += LINE)
        for (uint64_t i = 0; i < arrays; i++) {
            unsigned slice;
            uint32_t line, victim;
            map_find(&f->map, i * size + at, &slice, &line);
            struct iod *iod = &f->iod[f->map.iod_of[slice / f->map.channels]];
            struct cache *cache = &iod->slice[slice - f->map.first_slice[iod->index]].cache;
            cache_put(cache, line, BOTH_HALVES, i >= t->reads, &victim);
        }
}

static double run(const char *chip, const struct traffic *t)
{
    struct rig rig;
    rig_open(&rig, chip, 1, 1);
    struct asker *askers = calloc(rig.xcds, sizeof(*askers));
    unsigned xcds = t->xcds ? t->xcds : rig.xcds;
    uint64_t span = (uint64_t)(t->nanoseconds * 1000);
    for (unsigned i = 0; i < xcds; i++) {
        struct asker *a = &askers[i];
        *a = (struct asker){.rig = &rig, .traffic = t, .xcd = i, .begin = span, .end = 2 * span};
        a->domain = port_domain(rig.port, i);
        fabric_attach(rig.fabric, i, a->domain, NULL, a);
        port_post(a->domain, 0, start, a);
    }
    fill_cache(&rig, t);
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < xcds; i++)
        bytes += askers[i].bytes;
    struct fabric_counters c;
    fabric_read_counters(rig.fabric, &c);
    double host = (double)(after.tv_sec - before.tv_sec) * 1e9 + (double)(after.tv_nsec - before.tv_nsec);
    double tb = (double)bytes / t->nanoseconds / 1000;
    printf("%s %-24s %6.2f TB/s  hits %4.1f %%  memory: %2.0f %% of the peak, row hits %4.1f %%, %.1f lines "
           "a turn; "
           "%3.0f ns of host a line\n",
           chip, t->name, tb, 100.0 * (double)c.cache_hits / (double)(c.cache_hits + c.cache_misses + 1),
           100.0 * (double)(c.dram_reads + c.dram_writes) * LINE / (2 * t->nanoseconds) /
               rig.chip.value[CHIP_hbm_bandwidth],
           100 - 100.0 * (double)c.activates / (double)(c.dram_reads + c.dram_writes + 1),
           (double)(c.dram_reads + c.dram_writes) / (double)(c.turns + 1),
           host / (double)(c.reads + c.writes));
    free(askers);
    rig_close(&rig);
    return tb;
}

int main(int argc, char **argv)
{
    double scale = argc > 1 ? atof(argv[1]) : 1;
    /* Memory's rates are those of three intervals between refreshes: four times as long changes them by 3 %.
     */
    static const struct traffic traffic[] = {
        {"reads from memory", 1, 0, UINT64_C(4) << 30, 0, 6000, 4.0, 4.6},
        {"triad in memory", 2, 1, UINT64_C(6) << 30, 0, 6000, 3.2, 3.9},
        {"copy in memory", 1, 1, UINT64_C(4) << 30, 0, 6000, 3.2, 3.9},
        {"writes to memory", 0, 1, UINT64_C(4) << 30, 0, 6000, 2.4, 3.3},
        {"reads of one XCD", 1, 0, UINT64_C(4) << 30, 1, 3000, 0.8, 2.2},
        {"reads from the cache", 1, 0, 48 << 20, 0, 3000, 5.5, 6.3},
        {"writes to the cache", 0, 1, 48 << 20, 0, 7500, 2.6, 3.3},
        {"a copy in the cache", 1, 1, 48 << 20, 0, 6000, 3.6, 4.2}, /* at most 4/3 of the writes' */
    };
    setvbuf(stdout, NULL, _IOLBF, 0);
    size_t only = argc > 2 ? (size_t)atoi(argv[2]) : 99;
    for (size_t i = 0; i < sizeof(traffic) / sizeof(traffic[0]); i++) {
        if (only != 99 && only != i)
            continue;
        struct traffic t = traffic[i];
        t.nanoseconds *= scale;
        double tb = run("mi300a", &t);
        CHECK(tb >= t.least && tb <= t.most);
    }
    struct traffic x = traffic[5];
    x.nanoseconds *= scale;
    if (only != 99)
        return check_status();
    double tb = run("mi300x", &x);
    CHECK(tb >= 7.4 && tb <= 8.4);
    return check_status();
}
