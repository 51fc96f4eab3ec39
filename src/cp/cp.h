/* SPDX-License-Identifier: MIT */
/*
 * The command processor: user-mode queues in, workgroups on compute units out,
 * completion signals back.
 *
 *   packet.c    reads packets from queues in order: barriers, agent requests,
 *               and kernel dispatches, which it hands to the XCDs' ACEs
 *   dispatch.c  decodes a kernel dispatch packet and its kernel descriptor
 *   ace.c       an XCD's share of the workgroups, and a CU for each
 *   worker.c    the host threads that execute workgroups and agent requests
 *   counters.c  what a dispatch did in simulated time
 *   report.c    the message of a fault
 *   progress.c  the progress line of long kernels
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
#include <signal.h>
#include <stdatomic.h>

#include "ehp/aql.h"
#include "ehp/ehp.h"
#include "wave/gws.h"
#include "exec/workgroup.h"
#include "chip/chip.h"

struct ehp_machine;
struct cp_queue;
struct ehp_code;
struct sim_sample;

/* A CU's resources in use, per SIMD or in all. */
struct cp_cu {
    alignas(64) atomic_flag lock; /* a line of its own: host threads place on CUs of their own first */
    uint8_t waves[8];
    uint16_t vgprs[8], sgprs[8];
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
    uint16_t *next;        /* per XCD of the package: where in the range to go on */
};

/* A kernel dispatch in flight. */
struct cp_dispatch {
    struct cp_dispatch *next;
    struct ehp_machine *machine;
    struct cp_queue *queue;
    uint64_t id; /* packet index */
    struct ehp_kernel_dispatch_packet packet;
    char *kernel; /* name */
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
    uint64_t start_ns;
    pthread_mutex_t stats_lock;
    struct ehp_stats stats;
    struct workgroup *deferred; /* handed out, but found no room; guarded by cp.lock */
    unsigned deferred_count;
    bool listed;
    bool begun;                    /* timing mode: the XCDs have been told */
    bool faulted;                  /* timing mode: the queue has been told */
    uint64_t begun_ns;             /* by the host's clock, in either mode */
    unsigned xccs_done;            /* timing mode: XCDs that have finished their share */
    uint64_t serial;               /* timing mode: 1, 2, ... of the machine's dispatches */
    struct ehp_counters *counters; /* timing mode: of each XCD, then of all; NULL: it is not counted */
    struct sim_scratch *scratch;   /* timing mode: NULL: its waves use none */
    struct sim_sample *sample;     /* timing mode: NULL: all of it in detail */
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
    struct ehp_machine *machine;
    /* What waves see of it: a block that they cannot write to, and as many packets as the ring has, which
     * have started: the ring's own are written again.  Nobody reads them back. */
    struct ehp_queue_block *seen;
    union ehp_packet *started;
    unsigned agent;
    unsigned number; /* of the agent's, from 1 on */
    unsigned priority;
    uint64_t read;      /* next packet to look at */
    unsigned in_flight; /* packets started and not complete */
    bool blocked;       /* at a packet whose condition does not hold yet */
    bool inactive;      /* after a fault: packets complete without being executed */
    bool destroyed;     /* or will be, once the packets that are in it have completed in the same way */
    uint64_t visible;   /* timing mode: packets before this have had their doorbell */
    struct ehp_fault fault;
    struct gws gws[GWS_RESOURCES];
    uint32_t *cu_mask; /* NULL: all; else a bit for each CU of the partition, XCD by XCD */
};

struct cp_worker {
    alignas(64) struct ehp_machine *machine;
    pthread_t thread;
    struct ace_round round;
    unsigned index, turn;
    unsigned waited;         /* turns of waiting workgroups since it last yielded the core */
    struct workgroup *spare; /* memory of the last workgroup, for the next */
    /* Of the dispatch that it is starting workgroups of: finished, and not counted in it yet. */
    uint64_t done, waves;
    uint64_t looked_ns; /* when the handlers of faults were looked at */
};

/* Oldest first. */
struct workgroup_list {
    struct workgroup *first, **end;
};

struct sim;

struct cp {
    struct sim *sim; /* timing mode; NULL: workers */
    pthread_mutex_t lock;
    struct cp_cu **cu;      /* [xcd][cu], of the whole package */
    uint16_t *launch_order; /* an XCD's CUs: consecutive ones are on different shader engines */
    struct ace_round round; /* over all of them, for who is alone on an XCD */
    unsigned xcds;
    struct cp_queue *queues;
    uint64_t queue_ids;              /* given to queues so far */
    struct cp_dispatch *active;      /* with workgroups to hand out or running */
    struct workgroup_list waiting;   /* set aside because they wait for somebody */
    struct workgroup_list preempted; /* set aside because they ran long */
    _Atomic unsigned aside_count;    /* on both lists */
    _Atomic unsigned active_count, blocked_count, full_count;
    struct cp_task *tasks, **tasks_end; /* for workers: copies and fills */
    _Atomic unsigned task_count;
    struct cp_task *calls, **calls_end; /* for the host thread */
    uint64_t completed;                 /* packets */
    _Atomic bool look;                  /* some queue may have something new */
    _Atomic uint32_t bell;              /* futex: changes when there may be work */
    _Atomic unsigned sleepers;
    _Atomic bool quit;
    struct cp_worker *worker;
    unsigned workers;
    pthread_t caller;         /* runs EHP_AGENT_CALL */
    sigset_t program_signals; /* blocked by the thread that opened the machine, and by those functions */
    bool caller_started;
    pthread_cond_t call_ready;
    pthread_t watcher; /* of dispatches that run too long */
    bool watcher_started;
    pthread_cond_t quitting;
    unsigned lds_granule, vgpr_granule, sgpr_granule;
    /* The chip's, as integers: placing a workgroup looks at all of them. */
    unsigned xcd_cus, xcd_engines, cu_simds, simd_waves, simd_vgprs, simd_sgprs, cu_lds, cu_workgroups;
    _Atomic uint64_t progress_ns; /* when the progress line was drawn last; 0: it is not there */
};

int cp_start(struct ehp_machine *m, unsigned threads);
void cp_stop(struct ehp_machine *m);

/* Something changed that workers should look at: a doorbell, a signal, new work. */
void cp_ring(struct ehp_machine *m);

/* packet.c: starts whatever the queues' next packets allow.  Called with the lock held. */
void cp_read_queues(struct ehp_machine *m);
/* Whether a queue is at a packet that waits for a value in memory (with the lock held); whether one is at
 * a packet whose condition holds by now; whether some queue has a host function to come. */
bool cp_waits_for_value(const struct ehp_machine *m);
bool cp_unblocked(struct ehp_machine *m);
bool cp_calls_ahead(struct ehp_machine *m);
/* Nothing of a queue is being executed, or written and still to be read.  Takes the lock. */
bool cp_queue_idle(struct cp_queue *queue);
/* A packet of this queue has finished: stores its signal.  Called with the lock held. */
void cp_packet_done(struct cp_queue *queue, ehp_signal completion, uint64_t start_ns);
/* Makes a queue inactive, with the fault's report filled in by the caller; tells the handler. Lock held. */
void cp_queue_fault(struct cp_queue *queue, struct ehp_fault *fault);

/* Nanoseconds: of the host's clock, or simulated. */
uint64_t cp_now_ns(const struct ehp_machine *m);

/* worker.c: executes a request, with the guard of the thread (NULL: the host's own functions), and completes
 * its packet; completes a dispatch. */
struct memory_block;
struct wave_guard;
void cp_run_task(struct ehp_machine *m, struct cp_task *task, struct wave_guard *guard, uint64_t start);
void cp_dispatch_complete(struct ehp_machine *m, struct cp_dispatch *d);
/* The rest of a dispatch is dropped; whether it was before. */
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
void cp_dispatch_free(struct cp_dispatch *d);

/* ace.c */
int ace_init(struct ehp_machine *m);
void ace_destroy(struct ehp_machine *m);
/* The XCD, of the package, that takes workgroup `linear`. */
/* Fills d->taker from the queue's CU mask. */
void ace_find_takers(const struct ehp_machine *m, struct cp_dispatch *d);
unsigned ace_xcc_of(const struct cp_dispatch *d, uint64_t linear);
/* Whether an empty CU could hold one workgroup of this dispatch; says what it lacks. */
bool ace_can_ever_fit(const struct ehp_machine *m, const struct cp_dispatch *d, char *why, size_t bytes);
/* The range of CUs that one of so many takes first; false when the host has no memory. */
bool ace_round_init(const struct ehp_machine *m, struct ace_round *round, unsigned index, unsigned of);
/* Finds a CU on wg->xcc and takes its resources; sets wg->cu, simd[] and the waves' HW_ID. */
bool ace_place(struct ehp_machine *m, struct ace_round *round, const struct cp_dispatch *d,
               struct workgroup *wg);
void ace_release(struct ehp_machine *m, const struct cp_dispatch *d, const struct workgroup *wg);

/* progress.c: only called when the machine's `progress` is set. */
void progress_show(struct ehp_machine *m, const struct cp_dispatch *d);
void progress_clear(struct ehp_machine *m);

/* report.c: fills `fault` from a stopped workgroup's guard. */
struct memory_block;
struct wave_guard;
void report_fault(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                  struct ehp_fault *fault);
/* An access beyond a buffer, near `near`, that goes on; the guard's fault_in, address and write say which. */
void report_beyond(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                   const struct memory_block *near, struct ehp_fault *fault);
/* Writes fault->text from its other fields. */
void report_text(struct ehp_machine *m, struct ehp_fault *fault, const char *detail);

#endif
