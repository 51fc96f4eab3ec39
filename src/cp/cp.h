/* SPDX-License-Identifier: MIT */
/*
 * The command processor: user-mode queues in, workgroups on compute units out,
 * completion signals back.
 *
 *   cp.c        opening and closing it; dispatches that run too long
 *   packet.c    reads packets from queues in order: barriers, agent requests,
 *               and kernel dispatches
 *   dispatch.c  decodes a kernel dispatch packet and its kernel descriptor; the end of a dispatch
 *   ace.c       an XCD's share of the workgroups, and a CU for each
 *   bounds.c    accesses beyond a buffer
 *
 * What executes is an engine's (engine/engine.h): the processor hands it what
 * packets start, and it hands back what has ended.
 *
 * Source: ISCA'24, VI.A and figure 13; HSA Platform System Architecture 1.2,
 * 2.9.
 *
 * Threads: cp.lock guards the lists; a queue's packet state is only touched
 * with it held.  A dispatch hands out workgroups by an atomic ticket, so that
 * the common path (take one, run it, count it) needs no common lock.
 */
#ifndef EHP_CP_CP_H
#define EHP_CP_CP_H

#include <pthread.h>
#include <stdatomic.h>

#include "alloc/memory.h"
#include "base/clock.h"
#include "chip/chip.h"
#include "cp/bounds.h"
#include "ehp/aql.h"
#include "ehp/ehp.h"
#include "engine/engine.h"
#include "exec/code.h"
#include "exec/workgroup.h"
#include "wave/gws.h"

struct code_list;
struct node;
struct cp_dispatch;
struct cp_queue;
struct ehp_counters;
struct timed_gap;
struct timed_sample;
struct timed_scratch;
struct wave_guard;

/*
 * Who opened the processor, and wants to know what happens: the library's interface (api/), which puts faults
 * into words, counts, and calls the program's handlers.  Any thread calls these, with no lock held but where
 * it says.
 */
struct cp_listener {
    /* Fills in the report of a fault of a workgroup that has stopped, its text included. */
    void (*report_wave)(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                        struct ehp_fault *fault);
    /* Of an access beyond a buffer, near `near`, that goes on: the guard's fault_in, address and write say
     * which. */
    void (*report_beyond)(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                          const struct memory_block *near, struct ehp_fault *fault);
    /* Writes the report's text from its other fields; `detail` says where it was. */
    void (*report)(struct cp *cp, struct ehp_fault *fault, const char *detail);
    /* A queue has become inactive.  cp.lock is held. */
    void (*faulted)(struct cp *cp, const struct ehp_fault *fault);
    /* A workgroup of the dispatch has had a turn; only when cp.tells_progress. */
    void (*progressed)(struct cp *cp, const struct cp_dispatch *d);
    /* It is over, and what it counted is complete. */
    void (*completed)(struct cp *cp, struct cp_dispatch *d);
};

/* A CU's resources in use, per SIMD or in all. */
struct cp_cu {
    alignas(64) atomic_flag lock; /* a line of its own: host threads place on CUs of their own first */
    uint8_t waves[CHIP_MAX_SIMDS];
    uint16_t vgprs[CHIP_MAX_SIMDS], sgprs[CHIP_MAX_SIMDS];
    uint32_t lds;
    uint8_t workgroups; /* of more than one wave: barriers */
};
static_assert(sizeof(struct cp_cu) == 64, "one cache line");

/*
 * The round that somebody makes over an XCD's CUs to place workgroups: first
 * over a range of its own, so that host threads do not meet, then over the
 * others.  Positions are in launch order.
 */
struct ace_round {
    uint16_t first, count; /* the range */
    uint16_t *next;        /* per XCD of the machine: where in the range to go on */
    uint8_t *kept;         /* per XCD and position in the range: a place there is kept; see ace_keep() */
    unsigned kept_count;
};

/* A kernel dispatch in flight. */
struct cp_dispatch {
    struct cp_dispatch *next;
    struct cp *cp;
    struct cp_queue *queue;
    uint64_t id; /* packet index */
    struct ehp_kernel_dispatch_packet packet;
    char *kernel;          /* name */
    uint64_t code_changes; /* those of the list of code objects when it was decoded */
    struct exec_launch launch;
    uint64_t total;               /* workgroups */
    unsigned first_xcc, xccs;     /* the partition */
    uint8_t taker[CHIP_MAX_XCDS]; /* its XCDs that take workgroups, counted within it: those with a CU in the
                                     mask */
    unsigned takers;
    unsigned chunk;        /* consecutive workgroups of one XCD */
    unsigned vgprs, sgprs; /* allocated a wave, in registers */
    uint32_t lds;          /* allocated a workgroup */
    unsigned priority;
    unsigned queue_number;
    /* What changes with every workgroup, apart from what all threads only read. */
    alignas(64) _Atomic uint64_t ticket; /* next workgroup to hand out */
    alignas(64) _Atomic uint64_t done;
    _Atomic uint64_t waves;
    alignas(64) _Atomic bool full; /* no CU had room at the last try */
    _Atomic bool aborted;          /* faulted or timed out: the rest is dropped */
    _Atomic bool stop;             /* its workgroups shall give way: aborted, or out of time */
    _Atomic unsigned users;        /* workers that hold a pointer, plus the active list */
    _Atomic uint64_t limit; /* the first workgroup that has faulted, as far as is known: those behind it are
                               dropped; UINT64_MAX: none has */
    _Atomic uint64_t faulted_ns; /* by the host's clock: when the first was found that has */
    uint64_t start_ns;
    pthread_mutex_t stats_lock;
    struct ehp_stats stats;
    struct workgroup *deferred; /* handed out, but found no room; guarded by cp.lock */
    unsigned deferred_count;
    bool deferred_tried;     /* none of them has room, and none was made since; guarded by cp.lock */
    struct ehp_fault *fault; /* of that first workgroup; NULL: none; guarded by cp.lock */
    uint64_t begun_ns;       /* by the host's clock, in every engine */
    /* The timed engine's. */
    bool begun;                    /* the XCDs have been told */
    bool faulted;                  /* the queue has been told */
    unsigned xccs_done;            /* XCDs that have finished their share */
    uint64_t serial;               /* 1, 2, ... of the machine's dispatches; else 0 */
    struct ehp_counters *counters; /* of each XCD, then of all; NULL: it is not counted */
    struct timed_scratch *scratch; /* NULL: its waves use none */
    struct timed_sample *sample;   /* NULL: all of it in detail */
    struct timed_gap *gap;         /* NULL: nothing is left out of it */
};

/* A copy, fill or host call from an agent dispatch packet. */
struct cp_task {
    struct cp_task *next;
    struct cp_queue *queue;
    struct ehp_agent_dispatch_packet packet;
};

/* A user-mode queue: the public block first.  It and the ring are the host's, and no wave's to reach. */
struct cp_queue {
    struct ehp_queue_block block;
    struct cp_queue *next;
    struct cp *cp;
    /* What waves see of it: a block that they cannot write to, and as many packets as the ring has, which
     * have started: the ring's own are written again.  Nobody reads them back. */
    struct ehp_queue_block *seen;
    union ehp_packet *started;
    unsigned agent;
    unsigned number; /* of the agent's, from 1 on; that of the queue that it is beside */
    unsigned
        engine; /* the timed engine's: which turn at the engines for copies it has, from 1 on; 0: none yet */
    unsigned priority;
    uint64_t read;      /* next packet to look at */
    unsigned in_flight; /* packets started and not complete */
    bool blocked;       /* at a packet whose condition does not hold yet */
    bool inactive;      /* after a fault: packets complete without being executed */
    bool destroyed;     /* or will be, once the packets that are in it have completed in the same way */
    uint64_t visible;   /* packets before this have had their doorbell, where that takes time */
    /* The timed engine's: the packet before this one is being prepared, or has been. */
    uint64_t preparing;
    bool prepared;
    struct ehp_fault fault;
    struct gws gws[GWS_RESOURCES];
    uint32_t *cu_mask; /* NULL: all; else a bit for each CU of the partition, XCD by XCD */
};

struct cp {
    struct engine *engine;
    const struct cp_listener *listener;
    /* The machine around it, which outlives it. */
    const struct chip *chip;
    const struct node *node;
    struct memory *memory;
    struct exec_code *code;
    struct code_list *codes;
    unsigned xcds_per_agent;
    unsigned xcc_chunk;  /* consecutive workgroups of one XCD */
    uint64_t timeout_ns; /* of the host's time, for a dispatch; 0: any */
    bool tells_progress;
    _Atomic bool counts; /* dispatches count what they do */
    struct bounds bounds;

    pthread_mutex_t lock;
    struct cp_cu **cu;      /* [xcd][cu], of all packages */
    uint16_t *launch_order; /* an XCD's CUs: consecutive ones are on different shader engines */
    uint16_t *cu_position;  /* where a CU is in it */
    uint16_t *cu_hw_id;     /* of each CU of an XCD: its bits of HW_ID */
    struct ace_round round; /* over all of them, for who is alone on an XCD */
    unsigned xcds;
    struct cp_queue *queues;
    uint64_t queue_ids;         /* given to queues so far */
    struct cp_dispatch *active; /* with workgroups to hand out or running */
    _Atomic unsigned active_count, blocked_count;
    uint64_t completed; /* packets */
    _Atomic bool look;  /* some queue may have something new */
    pthread_t watcher;  /* of dispatches that run too long */
    bool watcher_started, quit;
    pthread_cond_t quitting;
    unsigned lds_granule, vgpr_granule, sgpr_granule;
    /* The chip's, as integers: placing a workgroup looks at all of them. */
    unsigned xcd_cus, cu_simds, simd_waves, simd_vgprs, simd_sgprs, cu_lds, cu_workgroups;
};

/* cp.c: the fields before `lock` are the caller's, but for bounds; the engine is opened next. */
int cp_open(struct cp *cp);
/* Kernels that would never end are dropped; then the engine, if there is one, is closed. */
void cp_close(struct cp *cp);

/* Something changed that packets may wait for. */
static inline void cp_ring(struct cp *cp)
{
    cp->engine->ops->ring(cp->engine, NULL, 0);
}

/* packet.c: starts whatever the queues' next packets allow.  Called with the lock held. */
void cp_read_queues(struct cp *cp);
/* The queue's next packet, which has been written. */
const union ehp_packet *cp_next_packet(const struct cp_queue *queue);
/* Whether a queue is at a packet that waits for a value in memory (with the lock held); whether one is at
 * a packet whose condition holds by now; whether some queue has a host function to come. */
bool cp_waits_for_value(const struct cp *cp);
bool cp_unblocked(struct cp *cp);
bool cp_calls_ahead(struct cp *cp);
/* Nothing of a queue is being executed, or written and still to be read.  Takes the lock. */
bool cp_queue_idle(struct cp_queue *queue);
/* ehp_work_left().  Takes the lock. */
uint64_t cp_work_left(struct cp *cp, char *text, size_t bytes);
/* A packet of this queue has finished: stores its signal.  Called with the lock held. */
void cp_packet_done(struct cp_queue *queue, ehp_signal completion, uint64_t start_ns);
/* Makes a queue inactive, with the fault's report filled in by the caller; tells the handler. Lock held. */
void cp_queue_fault(struct cp_queue *queue, struct ehp_fault *fault);

/* Nanoseconds, as the engine has time. */
static inline uint64_t cp_now_ns(const struct cp *cp)
{
    return cp->engine->ops->now_ns(cp->engine);
}
static inline void cp_report(struct cp *cp, struct ehp_fault *fault, const char *detail)
{
    cp->listener->report(cp, fault, detail);
}
/* Drops what a dispatch has not started; true when that was done before. */
static inline bool cp_dispatch_abort(struct cp_dispatch *d)
{
    d->stop = true;
    return atomic_exchange(&d->aborted, true);
}
/* It has run for longer than it may, and nobody has dropped it yet. */
static inline bool cp_dispatch_late(const struct cp_dispatch *d)
{
    return d->stop && !d->aborted;
}

/* dispatch.c: NULL with a fault filled in when the packet cannot be run. */
struct cp_dispatch *cp_dispatch_make(struct cp_queue *queue, uint64_t id,
                                     const struct ehp_kernel_dispatch_packet *packet,
                                     struct ehp_fault *fault);
/* Adds up what waves did. */
void cp_dispatch_count(struct cp_dispatch *d, const struct wave_stats *did);
/* All its workgroups have ended: completes its packet.  Takes the lock. */
void cp_dispatch_complete(struct cp_dispatch *d);
/* One of its users has no pointer to it any more; with the last one it is gone. */
void cp_dispatch_drop(struct cp_dispatch *d);
void cp_dispatch_free(struct cp_dispatch *d);

/* ace.c */
int ace_init(struct cp *cp);
void ace_destroy(struct cp *cp);
/* Fills d->taker from the queue's CU mask. */
void ace_find_takers(const struct cp *cp, struct cp_dispatch *d);
/* Which XCD takes workgroup `linear`, and how many more of its chunk. */
struct ace_turn {
    unsigned taker, more;
};
struct ace_turn ace_turn_of(const struct cp_dispatch *d, uint64_t linear);
/* To the next workgroup: many are started, and this needs no division. */
static inline void ace_turn_next(const struct cp_dispatch *d, struct ace_turn *turn)
{
    if (turn->more-- > 0)
        return;
    turn->more = d->chunk - 1;
    turn->taker = turn->taker + 1 < d->takers ? turn->taker + 1 : 0;
}
/* The XCD, of the machine. */
static inline unsigned ace_turn_xcc(const struct cp_dispatch *d, const struct ace_turn *turn)
{
    return d->first_xcc + d->taker[turn->taker];
}
/* Whether an empty CU could hold one workgroup of this dispatch; says what it lacks. */
bool ace_can_ever_fit(const struct cp *cp, const struct cp_dispatch *d, char *why, size_t bytes);
/* The range of CUs that one of so many takes first; false when the host has no memory. */
bool ace_round_init(const struct cp *cp, struct ace_round *round, unsigned index, unsigned of);
/* Finds a CU on wg->xcc and takes its resources; sets wg->cu, simd[] and the waves' HW_ID. */
bool ace_place(struct cp *cp, struct ace_round *round, const struct cp_dispatch *d, struct workgroup *wg);
void ace_release(struct cp *cp, const struct cp_dispatch *d, const struct workgroup *wg);
/*
 * Instead of ace_release(): the resources stay taken for the next workgroup of the dispatch that the round
 * brings to this CU, which then has no word with other threads.  For one dispatch at a time, until
 * ace_let_go(), which is due when somebody finds no room.  Tells whether it could; where the waves are not on
 * SIMDs in turn, or the CU is not in the range, it cannot.
 */
bool ace_keep(const struct cp *cp, struct ace_round *round, const struct cp_dispatch *d,
              const struct workgroup *wg);
void ace_let_go(struct cp *cp, struct ace_round *round, const struct cp_dispatch *d);

#endif
