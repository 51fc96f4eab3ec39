/* SPDX-License-Identifier: MIT */
/*
 * The command processor in simulated time.  In timing mode no worker threads
 * take workgroups: one thread runs the package's events (port/port.h), and
 * packets, ACEs and completions are events like any other.
 *
 *   sim.c         packets
 *   sim_host.c    the thread, the host's time
 *   sim_touch.c   whether the host program uses memory that the GPU sees
 *   sim_launch.c  an XCD's share of a dispatch: caches, workgroups, completion
 *   sim_sample.c  dispatches of which only some workgroups are run in detail
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
 * The exception: a host program that polls memory for what a kernel writes asks
 * nobody.  When it uses memory that the GPU sees while work is on its way, and makes
 * no call, time goes on without it until its next one (depends_on_device()).
 */
#ifndef EHP_CP_SIM_H
#define EHP_CP_SIM_H

#include <pthread.h>
#include <stdatomic.h>

#include "cp/bounds.h"
#include "cp/cp.h"
#include "cu/cu.h"
#include "mem/mem.h"
#include "port/port.h"
#include "chip/chip.h"

struct fabric;
struct hsa_signal;
struct memory;
struct sim_asker;
struct sim_touch;
struct vm;
struct sim;

/* An XCD's share of a dispatch. */
struct sim_share {
    struct sim_share *next;
    struct cp_dispatch *d;
    struct sim_xcd *xcd;
    uint64_t started, total; /* workgroups of this XCD */
    uint64_t left;           /* not done */
    uint32_t *free_scratch;  /* places in the dispatch's scratch, as a stack; NULL: none is used */
    unsigned free_count;
    bool acquired, aborted;
};

/* An asynchronous compute engine: the queues whose number leaves the same rest are its own. */
struct sim_ace {
    unsigned queue; /* that it has; 0: none yet */
    uint64_t ready; /* cycle from which on it launches for that */
};

struct sim_xcd {
    struct sim *sim;
    unsigned index; /* of the package */
    struct port_domain *domain;
    struct xcd_mem *mem;
    struct cu_xcd *cu;
    struct sim_share *shares; /* oldest first */
    double launch_free;       /* when the last wave has been launched, in cycles */
    uint64_t launch_at;       /* cycle at which the next wave can be launched */
    bool launching;           /* an event is posted for it */
    struct sim_ace ace[CHIP_MAX_ACES];
    unsigned turn; /* the ACE that is asked first */
    struct workgroup **running;
    unsigned running_count, running_capacity;
    struct workgroup *spare;
    struct arena arena; /* workgroups */
    /* What the packet processor has been told of accesses beyond buffers, last. */
    struct bounds_told beyond[8];
    unsigned beyond_next;
};

/* What the host program has had of time, and when that was looked at. */
struct sim_lived {
    uint64_t ns, asleep_ns; /* of which all threads slept */
    uint64_t now_ns, cpu_ns;
};

struct sim {
    struct ehp_machine *machine;
    struct port *port;
    struct port_domain *host; /* domain 0: packets and completions */
    struct fabric *fabric;
    struct vm *vm;
    struct cu_rate *rates;
    struct sim_xcd *xcd;
    unsigned xcds, aces;
    pthread_t thread;
    bool started;
    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t wake;        /* the thread: something to do */
    pthread_cond_t moved;       /* waiters: time has gone on */
    struct sim_asker *askers;   /* host threads that want time to go on, or to be told */
    uint64_t host_ps;           /* the host program's time */
    struct sim_bell {           /* doorbells not yet posted */
        struct cp_queue *queue; /* NULL: only look */
        uint64_t index, ps;
    } *bells;
    size_t bell_count, bell_capacity;
    struct cp_task *called;    /* host functions that have ended */
    unsigned calling, serving; /* host functions, and who serves device code: time stands still for them */
    bool call_waits;           /* the host function that runs waits for time itself */
    pthread_t server[64];      /* those who serve */
    struct sim_lived held;     /* since the last of those began */
    bool running;              /* a window is, or may be */
    bool alone, stepping;      /* time goes on without the host, and how */
    bool compare, host_ran;    /* L2s with memory, before the next window; the host may have written */
    uint64_t compared_ps;      /* when that was done last, in the host program's time */
    uint64_t looked_ns;        /* when the handlers of faults were looked at */
    uint64_t checked_ns;       /* when running dispatches' time was looked at last, by the host's clock */
    struct sim_touch *touch;   /* NULL: it cannot be told */
    uint64_t dispatches;       /* in domain 0: begun */
    struct cp_task *calls, **calls_end; /* in domain 0: host functions to begin */
    _Atomic unsigned tasks;             /* in domain 0: begun, not done: copies, fills, barriers */
    bool polling;             /* in domain 0: an event is posted to look at memory that queues wait for */
    _Atomic bool interrupted; /* by a wave that has changed a signal */
    _Atomic bool quit, pause;
    _Atomic bool gws_later;      /* waves have done something with global wave sync: gws_settle() */
    _Atomic bool host_wrote;     /* a copy has changed memory behind the L2s */
    struct sim_scratch *scratch; /* in domain 0: blocks, most recent first */
    double wave_cycles;
    uint64_t packet_ps, complete_ps, barrier_ps, switch_ps, wait_ps, query_ps;
    uint64_t sdma_start_ps, sdma_ps_per_kib, blit_ps_per_kib, blit_host_ps_per_kib;
};

int sim_open(struct ehp_machine *m, unsigned threads);
void sim_close(struct ehp_machine *m);

/* A doorbell, or something else that queues may wait for (queue NULL). */
void sim_ring(struct sim *sim, struct cp_queue *queue, uint64_t index);

/* What a host thread wants to happen, and when it has: NULL: when that is seen. */
struct sim_wish {
    bool (*holds)(void *context);
    void *context;
    const uint64_t *when_ps;
};

/* Waits; false when `timeout_ns` of the host's own time have passed.  It costs the host program `wake_ps`. */
bool sim_wait(struct sim *sim, const struct sim_wish *wish, uint64_t timeout_ns, uint64_t wake_ps);
/* The same for who serves device code: time does not go on for it, and stands still until it waits again. */
bool sim_serve(struct sim *sim, const struct sim_wish *wish, uint64_t timeout_ns);

void sim_host_spend(struct sim *sim, uint64_t ps);
/* Nanoseconds of the host program's time. */
uint64_t sim_host_ns(struct sim *sim);

/* A host function has ended, on the thread that calls them. */
void sim_called(struct sim *sim, struct cp_task *task);

/* Nanoseconds of simulated time, as the processor sees it while it handles packets. */
uint64_t sim_now_ns(const struct sim *sim);

/* Cycles of an XCD's clock, and picoseconds, at the event that is happening there. */
uint64_t sim_clock(const struct sim *sim, unsigned xcd);
uint64_t sim_ps(const struct sim *sim, unsigned xcd);

/* In domain 0: a signal has changed; who looks at the queues. */
void sim_completed(struct sim *sim, struct hsa_signal *signal);
void sim_look(struct sim *sim, struct cp_queue *queue, uint64_t index, uint64_t ps);
/* In domain 0, at its present cycle: a host function's packet is done. */
void sim_call_done(struct sim *sim, struct cp_task *task);

/* sim_host.c: the thread that runs everything; the asker to stop it. */
void *sim_main(void *sim);

/* sim_touch.c: whether the host program has used memory that the GPU sees since sim_touch_clear(). */
struct sim_touch *sim_touch_open(struct memory *memory);
void sim_touch_close(struct sim_touch *touch);
bool sim_touch_clear(struct sim_touch *touch);
bool sim_touched(struct sim_touch *touch);

/* sim_launch.c */
int sim_xcd_open(struct sim *sim, struct sim_xcd *x, unsigned index);
void sim_xcd_close(struct sim_xcd *x);
/* In domain 0: tells the XCDs of the partition to begin. */
void sim_dispatch(struct sim *sim, struct cp_dispatch *d);
/* In domain 0, from sim_launch.c: every XCD is done. */
void sim_dispatch_done(struct sim *sim, struct cp_dispatch *d);

/* An XCD's, in its domain.  What is not started of a share is not: */
void sim_drop_rest(struct sim_xcd *x, struct sim_share *share);
/* Workgroup `n` of those that fall to the XCD, placed on a CU; NULL when none has room. */
struct workgroup *sim_place(struct sim_xcd *x, struct cp_dispatch *d, uint64_t n);
void sim_keep_spare(struct sim_xcd *x, struct workgroup *wg);
void sim_wave_faulted(struct sim_xcd *x, struct workgroup *wg, const struct wave_guard *guard);

/* sim_sample.c: in domain 0, when a dispatch begins; when its detailed part has ended: whether there is a
 * rest, which completes it. */
void sample_open(struct sim *sim, struct cp_dispatch *d);
void sample_close(struct cp_dispatch *d);
bool sample_run_rest(struct sim *sim, struct cp_dispatch *d);
/* In the XCD's domain: its share begins; whether it leaves a rest. */
void sample_begin(struct sim_xcd *x, struct cp_dispatch *d);
bool sample_stopped(const struct cp_dispatch *d, unsigned xcc);
/* Around the release of the caches, of a share that does. */
void sample_release(struct sim_xcd *x, const struct cp_dispatch *d);
void sample_released(struct sim_xcd *x, const struct cp_dispatch *d);

/* Scratch of a dispatch, from domain 0, and an XCD's part of it, for each workgroup; see sim_scratch.c.
 * False: there is no memory for it. */
bool sim_scratch_open(struct sim *sim, struct cp_dispatch *d);
void sim_scratch_close(struct cp_dispatch *d);
void sim_scratch_free(struct sim *sim);
void sim_scratch_share(struct sim_share *share);
bool sim_scratch_has_room(const struct sim_share *share);
void sim_scratch_take(struct sim_share *share, struct workgroup *wg);
void sim_scratch_give(struct sim_share *share, const struct workgroup *wg);

#endif
