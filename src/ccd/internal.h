/* SPDX-License-Identifier: MIT */
/* Shared by the files of this room; see ccd.h. */
#ifndef EHP_CCD_INTERNAL_H
#define EHP_CCD_INTERNAL_H

#include "base/arena.h"
#include "ccd/branch.h"
#include "ccd/ccd.h"
#include "ccd/tags.h"
#include "ccd/tlb.h"
#include "chip/chip.h"
#include "fabric/fabric.h"
#include "vm/vm.h"

enum {
    CORE_LINE = 64,
    CORE_PAGE_LINES = (1 << VM_PAGE_SHIFT) / CORE_LINE,
    CORE_WINDOW = 512, /* operations at most: a power of two */
    CORE_STORED = 256, /* a power of two: twice a queue's and more */
    COMPUTES = 1,      /* cycles, from a load's value to that which is stored: an addition's */
    CORE_COMBINES = 8, /* lines that are combined at a time: a guess */
    CORE_MISSED = 64,  /* a power of two */
    CORE_KNOWN = 4096, /* translations that the host keeps: a power of two */
    L3_BUCKETS = 1024,
    HELD = 1 << 18, /* powers of two */
    HELD_SETS = 1 << 15
};

/* Who waits for a line: an operation of the window, or a store behind it. */
typedef uint16_t core_waiter;
#define WAITER_STORE ((core_waiter)0x8000)
#define WAITER_NONE  ((core_waiter)0xffff)

enum slot_state {
    SLOT_DONE,    /* or when it will be is known */
    SLOT_DEPENDS, /* on another load's value */
    SLOT_FAULTS,  /* its page does not exist */
    SLOT_WALKS,   /* its page table entry is on its way */
    SLOT_MISSES,  /* its line is */
    SLOT_BLOCKED, /* for want of a place in a queue */
};

/* What it wants of memory. */
struct access {
    double done; /* when it has it, if known; in cycles of the core's clock, as all times here that do not say
                  * otherwise */
    uint64_t address;
    uint8_t state, kind, bytes; /* enum slot_state, enum core_op_kind; of a STORE_PAST */
    core_waiter next;           /* in the list that it is in */
};

/* In the window: from dispatch until all before it, and it, are complete. */
struct slot {
    struct access access;
    uint32_t instructions;
    core_waiter dependents;  /* loads that need its value */
    bool forwarded, renamed; /* it does, by way of a store that it finds in the queue; that has its name */
};

/* Behind the window. */
struct store {
    struct access access;
    uint64_t source; /* number of the load whose value it is, plus 1; 0: of none */
    uint64_t losses; /* the core's, when it was known last to have the line */
};

/* A store, for loads from the same address. */
struct core_stored {
    uint64_t address, number; /* number: of the core's stores */
    uint64_t source;          /* as above */
    double at;                /* when it was dispatched */
    bool named;
};

/* A line on its way to the second cache. */
struct core_miss {
    uint64_t line;
    struct core_miss *next; /* in its bucket, or of spare ones */
    bool demand;            /* on to the first cache */
    bool whole;             /* the second cache had nothing of it, and has not before it is there */
    core_waiter waiters;
};

/* A line of which non-temporal stores have written these bytes. */
struct core_combined {
    uint64_t line, address, mask;
    double at; /* of the last one */
};

/* What a prefetcher knows of a page. */
struct core_stream {
    int last, step, seen, ahead; /* lines */
};

struct core_fault {
    struct vm_core_fault fault; /* first */
    struct core *core;
    struct core_fault *next;
    core_waiter waiter;
};

/* Of a page, for the host: what the tables say. */
struct core_page {
    uint64_t page, physical, table; /* virtual number + 1; 0: none */
    uint64_t generation;
};

struct core {
    struct ccd *ccd;
    unsigned index; /* of the CCD's */
    struct core_program *program;
    struct core_program *waiting, **waiting_end; /* who have their turns behind it */
    const struct core_program *last; /* that has ended by itself, and may come back while the core is idle */
    double slice_end;
    bool preempted, switching; /* it had its slice; switching: an event will let the next one begin */
    struct core_op op;
    bool has_op, at_end, over, waits, strayed; /* strayed: on the way to `op`, which was not foreseen */
    uint64_t began_ps;
    double at;                        /* when the next is dispatched, if nothing holds it up */
    double last_done;                 /* of what has left the window, and of stores: nothing ends before */
    double committed;                 /* of the last store */
    uint64_t locked_line, taken_line; /* of the last atomic operation; that the first cache got last: */
    double locked_until, taken_at;    /* when that is over; when that is there */
    double pass_free;                 /* from when on the first cache may take the next from the second */
    uint64_t turn;                    /* of the event that goes on with it; others are out of date */
    /* Operations by their number since the program began. */
    uint64_t first, next;
    uint64_t known;        /* those before it have been seen to be known by who waits for them, */
    double known_done;     /* and when all of them are */
    unsigned instructions; /* in the window */
    struct slot slot[CORE_WINDOW];
    uint64_t load[256];  /* numbers of the last loads, plus 1 */
    uint32_t depth[256]; /* theirs in a chain of loads whose addresses are others' values, */
    uint32_t deepest;    /* and the most of them since the program began */
    uint8_t load_at;
    unsigned loads, atomics; /* in the window; atomics: that have not been made */
    struct store *store; /* behind the window, until they are in the first cache: from first_store on, in a
                             ring of the chip's size */
    unsigned first_store, stores, written; /* written: the first of them, of which is known when */
    core_waiter blocked, blocked_last;
    struct core_miss *missed[CORE_MISSED], *spare_miss; /* by the last bits of their lines' numbers */
    unsigned misses, l1_misses; /* those that are under way, and of them for the first cache */
    struct core_combined combined[CORE_COMBINES]; /* the oldest first */
    unsigned combining, past;                     /* of those; that have left and are not at home yet */
    struct core_stored stored[CORE_STORED];       /* the last ones, by their addresses */
    uint64_t stored_ever;
    uint64_t losses;  /* of lines that others have taken */
    double last_past; /* when one got there */
    bool past_waits;  /* for a place: a store behind the window is written no sooner than there is one */
    struct tags l1, l2, tlb2;
    struct tlb tlb;
    struct core_page page[CORE_KNOWN];
    struct core_stream *stream;
    uint64_t *stream_page; /* of each: its number + 1 */
    struct branches *branches;
    struct core_fault *spare_fault;
    unsigned faults;                     /* that the kernel handles: nothing is dispatched meanwhile */
    double faulted;                      /* when the last one was over */
    unsigned oldest_stream, last_stream; /* last_stream: that was followed */
    struct core_counters counters;
};

/* A line that the CCD waits for, or writes. */
struct l3_miss {
    struct fabric_request request; /* first */
    struct ccd *ccd;
    struct l3_miss *next; /* in its bucket, or of spare ones */
    struct l3_miss *queued;
    uint64_t line;
    uint32_t cores; /* that wait for it, a bit each; of a write past the caches: whose it is */
    uint32_t past;  /* that wait for it to be over, to write past the caches */
    uint64_t ready_ps;
};

struct ccd {
    struct ccds *all;
    unsigned index;
    uint8_t agent;
    struct port_domain *domain;
    struct tags l3;
    struct l3_miss *bucket[L3_BUCKETS], *spare;
    struct l3_miss *queue, **queue_end; /* for want of a place */
    unsigned under_way;
    bool quiet; /* the fabric is told nothing */
    struct core *core;
    struct fabric_skip *skip; /* work.c */
    uint16_t *held; /* by the last bits of a line's number: how many second caches have such lines */
    struct arena arena;
};

struct ccds {
    struct arena arena; /* it is in that itself */
    struct fabric *fabric;
    struct vm *vm;
    const _Atomic uint64_t *generation; /* of its tables */
    const struct chip *chip;
    unsigned count, cores; /* CCDs, and cores of each */
    /* The chip's numbers, in cycles of the cores. */
    double slice, switch_time;
    double ghz, ipc, l1_latency, l2_latency, l3_latency, pass, peer, tlb2_latency;
    uint64_t jobs; /* so far */
    double locked, forward, rename, mispredict;
    unsigned window, loads, stores, l1_misses, l2_misses, misses, streams, prefetch;
    struct ccd ccd[CHIP_MAX_CCDS];
};

static inline double ccd_now(const struct ccd *ccd)
{
    return (double)(int64_t)port_now(ccd->domain);
}

/* Those of lines that are in one set of the third cache lie together, and beside their other halves': a
 * victim there asks for them, and is not known until it has been. */
static inline uint16_t *held_of(const struct ccd *ccd, uint64_t line)
{
    return &ccd->held[line % HELD_SETS * (HELD / HELD_SETS) + line / HELD_SETS % (HELD / HELD_SETS)];
}

static inline uint64_t line_of(uint64_t physical)
{
    return physical / CORE_LINE;
}

/* core.c */
void core_open(struct ccd *ccd, unsigned index, const struct chip *chip);
/* It dispatches what it can. */
void core_go_on(struct core *core);
/* A write past the caches is at its line's home; `written`: or may be tried again. */
void core_past(struct core *core, bool written);

/* turns.c */
/* Its turn, or its place behind others. */
void core_begin(struct core *core, struct core_program *program);
/* An event: all of its program is complete, or has had its slice. */
void core_over(struct port_domain *domain, struct port_event *event);
/* The cycle of the domain's that a time of the core's is in, which is not over. */
uint64_t core_cycle_of(const struct core *core, double at);

/* fills.c */
/* An access sets out for its page and its line; */
void core_start(struct core *core, core_waiter w, double at);
/* for its line, which the first cache does not have. */
void core_miss_l1(struct core *core, core_waiter w, uint64_t physical, double at);
/* It will set out for this address later: the host's memory is asked for what that looks at. */
void core_expect(const struct core *core, uint64_t address);
/* It has what it wants. */
void core_settle(struct core *core, core_waiter w, double when);
/* From a store's value to that of a load which finds it in the queue; or by the name of its word. */
static inline double core_forwarding(const struct core *c, bool renamed)
{
    return renamed ? c->ccd->all->rename : c->ccd->all->forward;
}
/* A line that it missed is there at `when`, with these flags of TAG_. */
void core_filled(struct core *core, uint64_t line, double when, unsigned flags);

/* stores.c */
/* The number of an address's line; UINT64_MAX: its page does not exist any more. */
uint64_t core_line_at(struct core *core, uint64_t address);
/* As many stores are written as is known that are, until there are no more than `most`; the core may wait for
 * that.  False: there still are. */
bool core_write_stores(struct core *core, unsigned most, bool waits);
/* All are written, or will be at core->committed, up to when they keep their places. */
bool core_write_ahead(struct core *core);
/* What is written by now, before somebody takes its line. */
void core_write_due(struct core *core);
/* All that go past the caches are at their homes. */
bool core_drain_past(struct core *core);

/* window.c */
/* False: when there will be room for its next operation is not known. */
bool core_make_room(struct core *core);
/* All in the window is complete, at core->at; false: when is not known. */
bool core_complete(struct core *core);
/* Whether it is known when all is: core->known_done. */
bool core_all_known(struct core *core);
/* Atomic operations are made as soon as they can be: others want their lines. */
void core_make_atomics(struct core *core);
/* Others want a line: it is first used for the atomic operations on it that are the oldest of the core's
 * window. Until when. */
double core_finish(struct core *core, uint64_t line);

/* caches.c */
/* Takes a line out of its caches, or keeps it for reading: what it was, or 0. */
uint64_t core_drop(struct core *core, uint64_t line);
uint64_t core_share(struct core *core, uint64_t line);
/* Into its caches, with these flags, as if it had been used.  The fabric is not told what they push out. */
void core_warm(struct core *core, uint64_t line, unsigned flags);
/* Into one of its caches, which pushes out what it must; `new`: it is not there. */
void core_into_l1(struct core *core, uint64_t line, unsigned flags, bool new);
void core_into_l2(struct core *core, uint64_t line, unsigned flags, bool new);
/* What it waits for; NULL: not for that line.  `demand`: more than the prefetcher does. */
struct core_miss *core_find_miss(struct core *core, uint64_t line);
struct core_miss *core_add_miss(struct core *core, uint64_t line, bool demand, bool whole);
void core_drop_miss(struct core *core, struct core_miss *miss);
/* A load or store that the first cache did not have: the prefetcher hears of it. */
void core_follow(struct core *core, uint64_t line, uint64_t address, bool exclusive, double at);

/* page.c */
const struct core_page *core_look_up(struct core *core, struct core_page *page, uint64_t address,
                                     uint64_t generation);
/* What the tables say of an address, kept for the host's sake; NULL: the page does not exist. */
static inline const struct core_page *core_page_of(struct core *core, uint64_t address)
{
    const uint64_t number = address >> VM_PAGE_SHIFT,
                   generation = atomic_load_explicit(core->ccd->all->generation, memory_order_acquire);
    struct core_page *p = &core->page[number % CORE_KNOWN];
    return p->page == number + 1 && p->generation == generation ? p
                                                                : core_look_up(core, p, address, generation);
}

/* ---- helpers of a core's files ---- */

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static inline struct slot *slot_of(struct core *c, uint64_t number)
{
    return &c->slot[number % CORE_WINDOW];
}

static inline struct access *access_of(struct core *c, core_waiter w)
{
    return w & WAITER_STORE ? &c->store[w & ~WAITER_STORE].access : &c->slot[w].access;
}

static inline bool is_exclusive(const struct access *a)
{
    return a->kind != CORE_LOAD;
}

/* Whether the first cache has it, and when it is there. */
static inline bool find_in_l1(struct core *c, uint64_t line, bool exclusive, double at, double *when)
{
    uint64_t *e = tags_find(&c->l1, line);
    if (!e || (exclusive && !(*e & TAG_OWNED)))
        return false;
    *e |= exclusive ? TAG_DIRTY : 0;
    *when = (line == c->taken_line ? later(at, c->taken_at) : at) + c->ccd->all->l1_latency;
    return true;
}

/* core_start() of a load or store.  For most the first TLB has their page and the first cache their line, and
 * so all is known at once. */
static inline void core_begin_access(struct core *c, core_waiter w, struct access *a, double at)
{
    const struct core_page *page = core_page_of(c, a->address);
    if (!page || !tlb_find(&c->tlb, page->physical >> VM_PAGE_SHIFT)) {
        core_start(c, w, at);
        return;
    }
    const uint64_t physical = page->physical + a->address % (1U << VM_PAGE_SHIFT);
    if (!find_in_l1(c, line_of(physical), is_exclusive(a), at, &a->done))
        core_miss_l1(c, w, physical, at);
}

/*
 * ccd.c.  A core's second cache does not have the line, or not for itself.  True: somebody in the CCD does,
 * and when it is there, and with which flags, is known; else core_filled() tells.  `own`: what the core has
 * of it.
 */
struct fetched {
    uint64_t own;
    double when;
    unsigned flags;
};
bool ccd_fetch(struct core *core, uint64_t line, uint64_t address, bool exclusive, bool is_table, double at,
               struct fetched *out);
/* Bytes of a line leave past all caches, which lose it.  False: it is on its way here; core_past() tells when
 * it is. */
bool ccd_write_past(struct core *core, const struct core_combined *what);
/* What a core's second cache pushes out. */
void ccd_victim(struct core *core, uint64_t entry);

#endif
