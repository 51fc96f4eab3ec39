/* SPDX-License-Identifier: MIT */
/*
 * Timing mode: everything in simulated time.  One thread runs the package's
 * events (port/port.h), and packets, ACEs and completions are events like any other.
 *
 *   timed.c    opening and closing, and what the engine offers (engine/engine.h)
 *   packets.c  packets
 *   access.c   what the packet processor reads and writes
 *   time.c     the thread, the host's time
 *   lived.c    what the host program's threads do
 *   touch.c    whether the host program uses memory that the GPU sees
 *   threads.c  its threads that are on cores
 *   launch.c   an XCD's share of a dispatch: caches, workgroups, completion
 *   count.c    what a dispatch did
 *   scratch.c  scratch of a dispatch
 *   sample.c   dispatches of which only some workgroups are run in detail
 *   gap.c      the middle of the runtime's long copies and fills, which is left out
 *
 * The host program's time.  Host code costs nothing but its calls: what
 * ehp_host_spend() tells, and what a wait or a query takes.  Packets become visible
 * to the processor at the host time of their doorbell.
 *
 * Simulated time goes on for those who ask only: a thread that waits, until what it
 * waits for has happened, and one that has spent time, until then.  In between it
 * stands still, however long the host program computes, sleeps or is not
 * scheduled.  So a program with one thread gets the same cycles on every run.  A
 * host function of a stream, and who serves device code's calls, take no simulated time:
 * it stands still until they have ended.
 *
 * The exception: a host program that waits for the device by no call, but polls memory or waits for what a
 * host function tells it, asks nobody.  Time goes on without it until its next call (depends_on_device()).
 */
#ifndef EHP_ENGINE_TIMED_TIMED_H
#define EHP_ENGINE_TIMED_TIMED_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/holes.h"
#include "cp/cp.h"
#include "cu/cu.h"
#include "engine/engine.h"
#include "engine/task.h"
#include "mem/mem.h"
#include "port/port.h"

struct ccds;
struct cpu_job;
struct ehp_cpu_work;
struct fabric;
struct cp_signal;
struct memory;
struct timed_access;
struct sdma;
struct timed_asker;
struct cpu_thread;
struct timed_touch;
struct vm;
struct timed;

/* Of the host's time, in which one that waits may look like one that computes (struct timed). */
#define TIMED_UNTOLD_NS UINT64_C(1000000000)

/* Of the packet processor's: access.c. */
struct timed_accesses {
    struct arena arena;
    struct timed_access *spare;
};

/* An XCD's share of a dispatch. */
struct timed_share {
    struct timed_share *next;
    struct cp_dispatch *d;
    struct timed_xcd *xcd;
    uint64_t started, total; /* workgroups of this XCD */
    uint64_t left;           /* not done */
    uint64_t reached;        /* cycle at which the XCD has come to the next of the grid that is its own */
    uint32_t *free_scratch;  /* places in the dispatch's scratch, as a stack; NULL: none is used */
    unsigned free_count;
    bool acquired, aborted;
};

/* An asynchronous compute engine: the queues whose number leaves the same rest are its own. */
struct timed_ace {
    unsigned queue; /* that it has; 0: none yet */
    uint64_t ready; /* cycle from which on it launches for that */
};

struct timed_xcd {
    struct timed *timed;
    unsigned index; /* of the machine */
    struct port_domain *domain;
    struct xcd_mem *mem;
    struct cu_xcd *cu;
    uint64_t code_changes;      /* cp_dispatch.code_changes of the last share */
    struct timed_share *shares; /* oldest first */
    double launch_free;         /* when the last wave has been launched, in cycles */
    uint64_t launch_at;         /* cycle at which the next wave can be launched */
    bool launching;             /* an event is posted for it */
    struct timed_ace ace[CHIP_MAX_ACES];
    unsigned turn; /* the ACE that is asked first */
    struct workgroup **running;
    unsigned running_count, running_capacity;
    struct workgroup *spare;
    struct arena arena; /* workgroups */
    struct timed_accesses accesses;
    /* What the packet processor has been told of accesses beyond buffers, last. */
    struct bounds_told beyond[8];
    unsigned beyond_next;
};

/* A package of the node. */
struct timed_package {
    struct fabric *fabric;
    struct sdma *sdma;
    struct ccds *ccds;
};

/* What the host program has had of time, and when that was looked at. */
struct timed_lived {
    uint64_t ns, asleep_ns; /* of which all threads slept */
    uint64_t now_ns, cpu_ns;
};

/* Its threads, when all of them waited for one another; none: they did not. */
struct timed_stuck {
    uint64_t threads, ran; /* a digest of which, and of how long each has run */
};

struct timed {
    struct engine engine;
    struct holes holes;
    bool sample;      /* of engine_options */
    uint64_t sampled; /* workgroups that the last sampled dispatch had in detail */
    struct port *port;
    struct port_domain *host; /* domain 0: packets and completions */
    struct vm *vm;
    struct timed_package package[EHP_PACKAGES_MAX];
    unsigned packages;
    struct cu_rate *rates;
    struct timed_xcd *xcd; /* one package's after another's */
    unsigned xcds, package_xcds, package_cores, aces;
    pthread_t thread;
    bool started;
    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake;        /* the thread: something to do */
    bool woken;                 /* since it began to nap */
    pthread_cond_t moved;       /* waiters: time has gone on */
    struct timed_asker *askers; /* host threads that want time to go on, or to be told; */
    _Atomic unsigned asking;    /* so many */
    struct cpu_job *jobs;       /* for the CPU's cores, not yet begun */
    struct cpu_thread *threads, *starting,
        *spare_threads; /* of the host program on cores; those whose cores do not go on yet */
    uint64_t threads_opened;
    struct arena thread_arena;
    struct thread *own;         /* of the machine's thread */
    _Atomic unsigned on_cores;  /* whose cores have something to do, or will */
    _Atomic unsigned holding;   /* who are away, and wait for nobody: time stands still for them, */
    unsigned in_turn;           /* of those, who wait for who left their cores before */
    uint64_t holding_since_ns;  /* of the host's, but not for ever; 0: it does not */
    uint64_t host_ps;           /* the host program's time: its latest thread's; */
    uint64_t coreless_ps;       /* of those that have no cores */
    struct timed_bell {         /* doorbells not yet posted */
        struct cp_queue *queue; /* NULL: only look */
        uint64_t index, ps;
    } *bells;
    size_t bell_count, bell_capacity;
    struct caller caller;
    struct cp_task *called;    /* host functions that have ended */
    unsigned calling, serving; /* host functions, and who serves device code: time stands still for them */
    bool has_stack;            /* the process's first thread's is there */
    bool call_waits;           /* the host function that runs waits for time itself */
    pthread_t server[64];      /* those who serve */
    struct timed_lived held;   /* since the last of those began */
    bool running;              /* a window is, or may be */
    bool alone, stepping;      /* time goes on without the host, and how */
    unsigned outside;          /* threads that wait for another process: it does not, then */
    bool compare, host_ran;    /* L2s with memory, before the next window; the host may have written */
    uint64_t compared_ps;      /* when that was done last, in the host program's time */
    uint64_t looked_ns;        /* when the handlers of faults were looked at */
    uint64_t checked_ns;       /* when running dispatches' time was looked at last, by the host's clock */
    struct timed_touch *touch; /* NULL: it cannot be told */
    uint64_t untold_ns;        /* how long a host that polls may look like one that computes */
    uint64_t dispatches;       /* in domain 0: begun */
    struct cp_task *calls, **calls_end; /* in domain 0: host functions to begin */
    struct cp_task *given, **given_end; /* in domain 0: copies, fills and barriers to begin */
    _Atomic unsigned tasks;             /* in domain 0: begun, not done: copies, fills, barriers */
    struct cp_dispatch *gap;  /* in domain 0: the one that may have a gap, if nobody has disturbed it */
    unsigned looks;           /* in domain 0, or between windows: at queues, that have not been taken yet */
    bool unreleased;          /* in domain 0: some dispatch may have left bytes in the L2s */
    bool polling;             /* in domain 0: an event is posted to look at memory that queues wait for */
    _Atomic bool interrupted; /* by a wave that has changed a signal */
    _Atomic bool quit, pause;
    _Atomic unsigned callers;      /* who want the lock */
    _Atomic bool gws_later;        /* waves have done something with global wave sync: gws_settle() */
    _Atomic bool host_wrote;       /* what is not in detail has changed memory behind the L2s */
    struct timed_scratch *scratch; /* in domain 0: blocks, most recent first */
    double wave_cycles, workgroup_cycles;
    uint64_t way_ps; /* the shortest between the packet processor and its parts in the XCDs */
    uint64_t packet_ps, barrier_ps, switch_ps, wait_ps;
    uint64_t front_ps[EHP_AGENTS_MAX]
                     [CHIP_MAX_ACES]; /* in domain 0: when an agent's ACE has prepared a packet */
    unsigned preparing;               /* in domain 0: packets */
    struct timed_accesses accesses;   /* in domain 0 */
    uint64_t staged_bytes, core_ps_per_kib, sdma_start_ps;
};

/* The package of an XCD; a core of one of its CCDs, by the machine's number. */
static inline const struct timed_package *timed_package_of(const struct timed *timed, unsigned xcd)
{
    return &timed->package[xcd / timed->package_xcds];
}
static inline struct ccds *timed_ccds_of(const struct timed *timed, unsigned *core)
{
    struct ccds *ccds = timed->package[*core / timed->package_cores].ccds;
    *core %= timed->package_cores;
    return ccds;
}

/* The engine's operations, from time.c. */
void timed_ring(struct engine *engine, struct cp_queue *queue, uint64_t index);
bool timed_wait(struct engine *engine, const struct engine_wish *wish, uint64_t timeout_ns);
void timed_spend(struct engine *engine, uint64_t ps);
void timed_arrive(struct engine *engine);
uint64_t timed_program_ps(struct engine *engine);
void timed_outside(struct engine *engine, bool on);
/* What a core has done; false: there is none. */
struct ehp_core;
bool timed_read_traffic(struct engine *engine, unsigned from, unsigned to, struct ehp_traffic *out);
bool timed_read_core(struct engine *engine, unsigned core, struct ehp_core *out);
bool timed_read_part(struct engine *engine, unsigned part, struct ehp_part *out);
/* What the CPU's cores do for the host program, whose time goes on until they have done it. */
void timed_run_job(struct timed *timed, const struct ehp_cpu_work *work);
void timed_called(struct engine *engine, struct cp_task *task);
/* From packets.c, in domain 0. */
bool timed_prepare(struct engine *engine, struct cp_queue *queue, unsigned type);
void timed_start_task(struct engine *engine, struct cp_task *task);
void timed_signalled(struct engine *engine, struct cp_signal *signal);

/* Nanoseconds of simulated time, as the processor sees it while it handles packets. */
uint64_t timed_now_ns(const struct timed *timed);

/* In domain 0: who looks at the queues. */
void timed_look(struct timed *timed, struct cp_queue *queue, uint64_t index, uint64_t ps);
/* In domain 0, at its present cycle: a host function's packet is done. */
void timed_call_done(struct timed *timed, struct cp_task *task);

/* time.c: the thread that runs everything, which timed.c starts. */
void *timed_main(void *timed);

/* lived.c: the host program's time since the first look with a lived of zeros, while the simulation stood
 * still: the processor time that it has used, or what has passed while all its threads slept.  Neither goes
 * on where the machine does not let it run. */
uint64_t timed_use_up(struct timed_lived *lived);
/* Whether all threads but this one have waited for one another since the last look: nobody in the process
 * will ever go on by itself. */
bool timed_is_stuck(struct timed_stuck *stuck);

/*
 * threads.c: what the engine offers for threads on cores.
 * The calling thread is away from its core, if it has one, before it calls: when its core had done all, or 0.
 */
struct ehp_cpu_thread;
struct ehp_cpu_thread *timed_open_thread(struct engine *engine, int core, const struct ehp_cpu_set *among);
int timed_thread_cpu(const struct engine *engine, const struct ehp_cpu_thread *thread);
void timed_close_thread(struct engine *engine, struct ehp_cpu_thread *thread);
void timed_enter_thread(struct engine *engine, struct ehp_cpu_thread *thread, uint64_t ps);
uint64_t timed_leave_thread(struct engine *engine, struct ehp_cpu_thread *thread);
void timed_let_go(struct engine *engine, struct ehp_cpu_thread *thread);
void timed_hold(struct engine *engine, struct ehp_cpu_thread *thread);
/* True: by a hold; false: that time is reached. */
bool timed_sleep(struct engine *engine, struct ehp_cpu_thread *thread, uint64_t until_ps);
/* Between windows, as its frames are then another's. */
void timed_still(struct engine *engine, void (*fn)(void *context), void *context);
void timed_unmapped(struct engine *engine, uint64_t address, uint64_t bytes);
void timed_moved(struct engine *engine, uint64_t from, uint64_t to, uint64_t bytes);
/* Of the same, with the lock. */
void timed_sleep_until(struct timed *timed, struct cpu_thread *thread, bool (*over)(void *thread),
                       uint64_t ps);
void timed_hold_for(struct timed *timed, struct cpu_thread *thread);
void timed_own_thread(struct engine *engine, struct ehp_cpu_thread *thread);
uint64_t timed_leave_core(struct timed *timed);
/* With the lock: the calling thread, if it holds time up; else NULL. */
struct cpu_thread *timed_holder(const struct timed *timed);
/* With the lock: whether, of those that hold time up, that one left its core first. */
bool timed_has_turn(const struct timed *timed, const struct cpu_thread *self);
/* Between windows, with the lock: cores of those that have come back. */
void timed_start_threads(struct timed *timed, uint64_t time, bool others);
/* No more of them: what they are in the middle of is not waited for. */
void timed_stop_threads(struct timed *timed);
void timed_wake(struct timed *timed);

/* touch.c: whether the host program has used memory that the GPU sees since timed_touch_clear(). */
struct timed_touch *timed_touch_open(struct memory *memory);
void timed_touch_close(struct timed_touch *touch);
bool timed_touch_clear(struct timed_touch *touch);
bool timed_touched(struct timed_touch *touch);

/*
 * access.c: what the packet processor's parts in the XCDs read and write, as traffic: a queue's packets, a
 * kernel's descriptor, signals.  It changes nothing, since cp/ reads and writes them.  When it is answered,
 * an event of `done` in domain 0, with the words.
 */
enum timed_place { PLACE_PACKET, PLACE_AGREEMENT, PLACE_SIGNAL, PLACES };
/* Where a queue has that of its own: no allocation's. */
uint64_t timed_place_of(const struct timed *timed, const struct cp_queue *queue, enum timed_place place);
/* From the XCD's domain; from domain 0, by that XCD. */
void timed_access_from(struct timed_xcd *x, bool atomic, uint64_t physical, port_fn *done,
                       const uint64_t word[3]);
void timed_access(struct timed *timed, unsigned xcd, bool atomic, uint64_t physical, port_fn *done,
                  const uint64_t word[3]);

/* launch.c */
int timed_xcd_open(struct timed *timed, struct timed_xcd *x, unsigned index);
void timed_xcd_close(struct timed_xcd *x);
/* In domain 0: tells the XCDs of the partition to begin. */
void timed_dispatch(struct timed *timed, struct cp_dispatch *d);
/* In domain 0, from launch.c: every XCD is done. */
void timed_dispatch_ended(struct timed *timed, struct cp_dispatch *d);

/* An XCD's, in its domain.  What is not started of a share is not: */
void timed_drop_rest(struct timed_xcd *x, struct timed_share *share);
/* How many workgroups fall to an XCD. */
uint64_t timed_share_of(const struct cp_dispatch *d, unsigned xcc);
/* The dispatch's number of the `n`-th workgroup that falls to an XCD. */
uint64_t timed_nth_workgroup(const struct cp_dispatch *d, unsigned xcc, uint64_t n);
/* Workgroup `n` of those that fall to the XCD, placed on a CU; NULL when none has room. */
struct workgroup *timed_place(struct timed_xcd *x, struct cp_dispatch *d, uint64_t n);
void timed_keep_spare(struct timed_xcd *x, struct workgroup *wg);
void timed_wave_faulted(struct timed_xcd *x, struct workgroup *wg, const struct wave_guard *guard);

/* sample.c: in domain 0, when a dispatch begins; when its detailed part has ended: whether there is a
 * rest, which completes it. */
void sample_open(struct timed *timed, struct cp_dispatch *d);
void sample_close(struct cp_dispatch *d);
bool sample_run_rest(struct timed *timed, struct cp_dispatch *d);
/* In the XCD's domain: its share begins; whether it leaves a rest. */
void sample_begin(struct timed_xcd *x, struct cp_dispatch *d);
bool sample_stopped(const struct cp_dispatch *d, unsigned xcc);
/* Around the release of the caches, of a share that does. */
void sample_release(struct timed_xcd *x, const struct cp_dispatch *d);
void sample_released(struct timed_xcd *x, const struct cp_dispatch *d);

/* gap.c: in domain 0, when a dispatch begins and is forgotten, and when any other, or a copy, begins; when
 * its detailed part has ended: whether it takes longer, and is completed then. */
void gap_open(struct timed *timed, struct cp_dispatch *d);
void gap_close(struct cp_dispatch *d);
void gap_disturb(struct timed *timed);
bool gap_wait(struct timed *timed, struct cp_dispatch *d);
/* In the XCD's domain, of a dispatch that may have one: a workgroup was started. */
void gap_started(struct timed_xcd *x, struct timed_share *share);

/* Scratch of a dispatch, from domain 0, and an XCD's part of it, for each workgroup; see scratch.c.
 * False: there is no memory for it. */
bool timed_scratch_open(struct timed *timed, struct cp_dispatch *d);
void timed_scratch_close(struct cp_dispatch *d);
void timed_scratch_free(struct timed *timed);
void timed_scratch_share(struct timed_share *share);
bool timed_scratch_has_room(const struct timed_share *share);
void timed_scratch_take(struct timed_share *share, struct workgroup *wg);
void timed_scratch_give(struct timed_share *share, const struct workgroup *wg);

#endif
