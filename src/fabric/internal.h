/* SPDX-License-Identifier: MIT */
/*
 * The fabric's inside: map.c says where an address is, net.c carries requests,
 * answers and probes over the IODs and links, home.c is the end of a request
 * (order, probes, Infinity Cache, memory), filter.c the probe filters, cache.c the slices' tags, link.c goes
 * on to other packages, host.c to a host, route.c finds the ways that net.c goes.
 *
 * What belongs to whom: struct agent_port to the agent's domain, struct iod with its
 * slices to the IOD's.
 */
#ifndef EHP_FABRIC_INTERNAL_H
#define EHP_FABRIC_INTERNAL_H

#include <assert.h>
#include <stdalign.h>

#include "base/arena.h"
#include "chip/chip.h"
#include "chip/node.h"
#include "dram/dram.h"
#include "fabric/fabric.h"

enum {
    FABRIC_CACHES =
        CHIP_MAX_DIES, /* XCDs, CCDs and links together: bits of the probe filter, beside the owner's */
    FABRIC_LINKS = NODE_MAX_PACKAGES - 1,
    FABRIC_AGENTS = FABRIC_CACHES + CHIP_MAX_SDMA,
    SLICE_BUCKETS = 64,
    SLICE_LANDING = 16,
    FILTER_CHUNK = 4096, /* lines */
    WRITE_BUCKETS = 4096,
    MAP_BYTES = 6
};

struct fabric_map {
    unsigned stacks, channels;
    unsigned first_slice[CHIP_MAX_IODS], slices[CHIP_MAX_IODS]; /* of each IOD */
    unsigned page_shift, chunk_shift; /* of the stack interleave, and of a channel's part of it */
    unsigned domain_stack_bits, channel_bits;
    uint64_t domain_bytes, bytes;
    uint8_t iod_of[CHIP_MAX_STACKS];
    /* By bytes of the page's number: channel, and stack above it. */
    uint8_t hash[MAP_BYTES][256];
    static_assert(CHIP_MAX_CHANNELS <= 1 << 8, "a byte of pattern");
};
void map_open(struct fabric_map *map, const struct chip *chip, unsigned nps);
/* Slice (stack * channels + channel) and the line's number in the channel. */
void map_find(const struct fabric_map *map, uint64_t physical, unsigned *slice, uint32_t *line);

/*
 * Something that passes bytes at a rate, for those who come in order of asking.
 * It keeps how much is before them at the time of asking, not when it will be free:
 * so what asks now for later does not hold up what asks now for sooner.
 */
struct ps_server {
    double last, backlog; /* ps */
    double used, waited;  /* since it was opened: how long it passed bytes, and how long all waited for it */
};
static inline double ps_server_take(struct ps_server *s, double now, double busy)
{
    double left = s->backlog - (now - s->last), wait = left > 0 ? left : 0;
    s->last = now;
    s->backlog = wait + busy;
    s->used += busy;
    s->waited += wait;
    return wait;
}

/* The tags of a slice of the Infinity Cache, and its prefetcher. */
struct cache {
    uint32_t sets, ways, salt;
    uint32_t *tag;       /* lines of the channel, by set and way */
    uint64_t *order;     /* of a set: ways by nibble, the last used first */
    uint16_t *dirty;     /* of a set */
    uint32_t *void_half; /* of a set: whose first half is not there, and above those whose second is not */
    static_assert(CHIP_MAX_CACHE_WAYS <= 16, "nibbles of order, bits of dirty");
    alignas(16) uint32_t next[CHIP_MAX_STREAMS]; /* of each stream the line that continues it */
    static_assert(CHIP_MAX_STREAMS % 4 == 0, "four at a time");
    struct stream {
        uint32_t seen, ahead;
    } stream[CHIP_MAX_STREAMS];
    unsigned streams, depth, oldest;
};
enum { CACHE_NONE = -1 };
void cache_open(struct cache *cache, const struct chip *chip, unsigned slice, struct arena *arena);
/* Halves of a line are there or not, each by itself. */
enum { FIRST_HALF = 1, SECOND_HALF = 2, BOTH_HALVES = 3 };
/* Makes a line the last used; whether all of it is there. */
bool cache_look(struct cache *cache, uint32_t line);
/* These halves of a line are there now: of one that was there, or a new one, that pushes out a dirty *victim
 * or not. */
enum cache_put { CACHE_HAD, CACHE_FILLED, CACHE_PUSHED };
enum cache_put cache_put(struct cache *cache, uint32_t line, unsigned halves, bool dirty, uint32_t *victim);
bool cache_has(const struct cache *cache, uint32_t line);
/* As if `count` lines had come before the last `fresh`, part of them dirty: neighbours together, from the end
 * of the channel's `lines` down. */
void cache_age(struct cache *cache, uint64_t count, double dirty, uint64_t fresh, uint32_t lines);
/* Brings what is kept of a line, or of a pair by its first, into the host's cache. */
void cache_prefetch(const struct cache *cache, uint32_t line, unsigned lines);
/* A read of `line`: how many lines are to be read ahead, from *first. */
unsigned cache_stream(struct cache *cache, uint32_t line, uint32_t *first);

/* A line of a slice on which something is in progress, or a line on its way to memory. */
struct home_line {
    struct dram_request dram; /* first: what memory gives back */
    struct home_line *next;
    uint32_t line;
    uint16_t slice; /* of the IOD */
    uint8_t halves; /* that it is busy with, or that those who wait want */
    bool blocked;   /* whose turn it is waits for what the line is busy with otherwise */
    bool filling, write_back;
    bool giving_up;                 /* it has lost its entry in the probe filter, and all caches lose it */
    struct home_displaced *lost;    /* that it has, of which its caches are to be told */
    uint32_t probing;               /* agents that have not answered */
    uint32_t owners;                /* of them, those that owned it, or a half */
    struct fabric_request *request; /* whom it is for; NULL: a prefetch */
    struct fabric_request *first, **end;
};

/* Of each half of a line: the agents that may hold it, a bit each; with FILTER_OWNED there is one, which owns
 * it. */
typedef struct {
    uint16_t half[2];
} filter_entry;
static inline bool filter_is_empty(const filter_entry *e)
{
    return !(e->half[0] | e->half[1]);
}
#define FILTER_OWNED (1U << FABRIC_CACHES)
static_assert(FABRIC_CACHES < 16 && sizeof(filter_entry) == 4, "a bit for each agent, and FILTER_OWNED");

/* A line that has an entry, and where its bytes are: a probe says so. */
struct filter_tag {
    uint64_t bytes, physical;
    uint32_t line;
    bool used;
};
struct filter_tags {
    struct filter_tag *tag; /* by set, the last used first; NULL: every line has an entry */
    uint32_t sets, ways;
};

/* What asks for a line on behalf of nobody. */
struct home_displaced {
    struct fabric_request request;
    struct home_displaced *next;
};

struct slice {
    struct cache cache;
    struct ps_server port;
    struct dram_channel *memory;         /* pseudo channels */
    struct fabric_request *first, **end; /* what came while the controllers were full */
    bool letting_in;
    struct home_line *busy[SLICE_BUCKETS];
    filter_entry **filter; /* by chunk of lines */
    struct filter_tags tags;
    struct { /* lines that are on their way from memory, and when they are there */
        alignas(16) uint32_t line[SLICE_LANDING];
        double ready[SLICE_LANDING];
    } landing;
    static_assert(SLICE_LANDING % 4 == 0, "four at a time");
    unsigned landed;
};

struct home_probe {
    struct fabric_probe probe; /* first */
    struct home_line *line;    /* NULL: a link's */
    struct home_probe *next;
    struct fabric_request asked; /* what for, if who was asked sends the line: the asker's is over first */
};

struct iod {
    struct fabric *fabric;
    struct port_domain *domain;
    unsigned index;
    unsigned slices;
    struct slice *slice;
    struct ps_server link[CHIP_MAX_IODS]; /* outgoing, by the neighbour's index */
    double link_ps[CHIP_MAX_IODS];        /* for a byte */
    struct ps_server ingress;             /* from other IODs to what is on this one */
    struct ps_server to_agent[FABRIC_AGENTS];
    struct fabric_trips {
        uint64_t lines;
        double trip_ps, links_ps, home_ps;
    } trips[FABRIC_AGENTS]; /* of what was answered to those who are here */
    double
        sent[FABRIC_AGENTS]; /* when the last answer for the agent that was sent on from here arrives, ps */
    struct home_line *spare_lines;
    struct home_probe *spare_probes;
    struct home_displaced *spare_displaced;
    struct arena arena; /* what the IOD has */
    struct fabric_counters counters;
};

/* The end of an agent. */
struct agent_port {
    struct fabric *fabric;
    struct port_domain *domain;
    unsigned index, iod;
    double extra_ps;        /* of its way to the network, beyond an XCD's */
    double read_ps;         /* for a line in */
    double ask_ps, half_ps; /* for a request out: without bytes; with a written half of a line, or atomics */
    struct ps_server out;
    struct fabric_request *writes[WRITE_BUCKETS]; /* on their way, by line; linked by `chain` */
    uint16_t writing[WRITE_BUCKETS];         /* how many: requests look no further where there are none */
    struct fabric_request *held, **held_end; /* behind a write to the same line */
    struct fabric_probe *probes;             /* of owned lines, taken and not answered, or behind a write */
    port_fn *probe;
    void *self;
};

/* The end of the links to another package. */
struct link_trip;
struct link_ask;
struct link_probe;
struct link_directory;
struct link {
    struct fabric *fabric;
    struct iod *iod; /* on which it is */
    struct link *far;
    uint8_t agent;                  /* of this package: who has lines behind the link */
    uint8_t way[NODE_MAX_PACKAGES]; /* packages from this one on to the other, */
    unsigned hops;                  /* so many links */
    double way_ps;                  /* of all of it, if nobody is in the way */
    /* Of the first of them, and of what others pass on over it. */
    struct ps_server out;
    struct fabric_traffic traffic;
    double byte_ps, latency_ps;
    unsigned header;                  /* bytes with each packet */
    struct link_directory *directory; /* what CCDs of this package have of the other's memory */
    struct link_trip *spare_trips;
    struct link_ask *spare_asks;
    struct link_probe *spare_probes;
};

/* From one IOD to another: where to go first, and the time without waits, in equal parts from stop to stop.
 */
struct fabric_route {
    double way_ps, part_ps;
    uint8_t next, hops;
};
struct fabric_host;

struct fabric {
    struct arena arena; /* it is in that itself */
    struct port *port;
    struct fabric_map map;
    struct dram_timing timing;
    unsigned iods, xcds, ccds, links, engines, pseudo;
    struct divisor by_pseudo;
    unsigned package, package_shift; /* the bits of a physical address above that are the package's number */
    struct fabric_host *host;        /* behind PCIe; NULL: there is none */
    struct link link[FABRIC_LINKS];  /* to each other package, by number */
    struct fabric *all[NODE_MAX_PACKAGES]; /* of the node */
    uint32_t filter_chunks;
    /* ps */
    struct fabric_route route[CHIP_MAX_IODS][CHIP_MAX_IODS]; /* from an IOD to another; see route.c */
    double near_ps;                                          /* between an XCD and a home on its own IOD, */
    double agent_ps;                                         /* of which it is so long on the IOD */
    double slice_ps, memory_ps, write_latency_ps, atomic_ps, atomic_latency_ps;
    double ingress_ps;    /* for a byte */
    double slice_line_ps; /* for a line */
    unsigned header;      /* bytes with each packet */
    double tick_ps;
    struct iod iod[CHIP_MAX_IODS];
    struct agent_port agent[FABRIC_AGENTS]; /* XCDs, CCDs, links, SDMA engines */
};

/* The bits of a physical address that are within a package. */
static inline uint64_t fabric_local(const struct fabric *f)
{
    return (UINT64_C(1) << f->package_shift) - 1;
}

static inline void count_traffic(struct fabric_traffic *t, double bytes, double waited_ps)
{
    t->bytes += (uint64_t)bytes;
    t->packets++;
    t->waited_ps += waited_ps;
}

static inline bool carries_data(const struct fabric_request *r)
{
    return r->kind == FABRIC_WRITE || r->kind == FABRIC_ATOMIC;
}

static inline unsigned lines_of(const struct fabric_request *r)
{
    return r->pair ? 2 : 1;
}

static inline double iod_now(const struct iod *iod)
{
    return (double)port_now_ps(iod->domain);
}

/* route.c */
/* All ways, by the chip's links. */
void route_find(const struct chip *chip, struct fabric_route route[CHIP_MAX_IODS][CHIP_MAX_IODS]);

/* net.c */
/* From the home, `after_ps` from now. */
void net_answer(struct iod *home, struct fabric_request *request, double after_ps);
/* From the home to whoever asked, with nothing before it. */
double net_way_ps(const struct iod *home, const struct fabric_request *request);
/* From a CCD to another: a line that no home sees. */
double net_between_agents_ps(const struct fabric *f, unsigned from, unsigned to);
void net_probe(struct iod *home, struct fabric_probe *probe, double after_ps);

/* To the next IOD on the way to another, which carries `bytes` there: *delay ps. */
struct iod *net_toward(struct iod *at, const struct iod *to, unsigned bytes, double *delay);
/* What all of that way takes without waits. */
double net_between_ps(const struct iod *from, const struct iod *to);

/* link.c */
static inline struct link *fabric_link(struct fabric *f, unsigned package)
{
    return &f->link[package - (package > f->package)];
}
/* From the IOD with the link: a request that came there. */
void link_take(struct link *link, struct fabric_request *request);
/* The same, for a probe of its own. */
void link_probe_answered(struct home_probe *answer);
void link_close(struct link *link);

/* host.c */
/* From its IOD: a request that came there. */
void host_take(struct fabric_host *host, struct fabric_request *request);
const struct iod *host_iod(const struct fabric_host *host);
const struct fabric_traffic *host_traffic(const struct fabric_host *host, bool back);
/* filter.c */
void filter_open(struct slice *slice, const struct fabric *fabric, const struct chip *chip,
                 struct arena *arena);
/* A chunk of lines of which nothing was known. */
filter_entry *filter_begin(struct iod *iod, struct slice *slice, uint32_t chunk);
/* The same for whoever is in another domain, and only wants to know where it is; NULL: nothing is known. */
static inline const filter_entry *filter_peek(const struct slice *slice, uint32_t chunk)
{
    return __atomic_load_n(&slice->filter[chunk], __ATOMIC_RELAXED);
}
/* What is known of a line, and behind it of the other one of a pair. */
static inline filter_entry *filter_of(struct iod *iod, struct slice *slice, uint32_t line)
{
    const uint32_t chunk = line / FILTER_CHUNK;
    filter_entry *entry = slice->filter[chunk];
    if (!entry)
        entry = filter_begin(iod, slice, chunk);
    return &entry[line % FILTER_CHUNK];
}
static_assert(FILTER_CHUNK % 2 == 0, "pairs are in one");
/* Where entries are counted: this line has one, as its set's last used.  True: it was *out's, whose caches
 * are to be told.  Entries of which no cache has anything any more are taken first. */
bool filter_enter(struct iod *iod, struct slice *slice, const struct filter_tag *line,
                  struct filter_tag *out);

/* home.c */
/* The bytes of a request are moved, or changed, now; and whether memory is there. */
void home_bytes(struct fabric_request *request);
/* Asks for what a request that arrives needs (port_set_prefetch()): it does not have that itself yet. */
struct home_prefetched {
    unsigned slice;
    uint32_t place;
    const void *request, *line, *data;
    unsigned bytes; /* of a line, or a pair */
};
void home_prefetch(const struct iod *iod, const struct home_prefetched *expected);
/* What the slice has of a line, or a pair; in any domain. */
void home_prefetch_place(const struct iod *iod, unsigned slice, uint32_t place, unsigned lines);
void net_prefetch(struct iod *iod);
void net_prefetch_at_agent(struct agent_port *x);
void home_take(struct iod *iod, struct fabric_request *request);
void home_probe_answered(struct iod *iod, struct fabric_probe *probe);
void home_open(struct iod *iod, const struct chip *chip);
void home_close(struct iod *iod);

#endif
