/* SPDX-License-Identifier: MIT */
/*
 * What executes: the seam between those who know packets, queues and signals and
 * whoever runs workgroups, copies and host functions, and says what time it is.
 *
 *   host/   functional mode: threads of the host; time is the host's
 *   timed/  timing mode: the package's domains run events in simulated time
 *
 * An engine's own structure begins with struct engine.  The command processor
 * (cp/) reads packets and hands what they start to its engine; queues, signals and
 * the library's interface ask it for time and wait by it.  None of them asks which
 * one it is.
 *
 * Threads: any, unless an operation says otherwise.  "Locked" is with cp.lock held.
 */
#ifndef EHP_ENGINE_ENGINE_H
#define EHP_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;
struct cp_dispatch;
struct cp_queue;
struct cp_signal;
struct cp_task;
struct ehp_core;
struct ehp_part;
struct ehp_cpu_set;
struct ehp_cpu_thread;
struct ehp_cpu_work;
struct ehp_traffic;
struct engine;

/* What a thread of the host program waits for. */
struct engine_wish {
    bool (*holds)(void *context);
    void *context;
    struct cp_signal *signal; /* whose value it is about; NULL: something else, which is polled */
    bool serves; /* it waits for whatever comes, as who serves device code does: nobody waits for it */
};

struct engine_ops {
    /* Ends its threads and drops the workgroups that they have; active dispatches have been aborted. */
    void (*stop)(struct engine *engine);
    /* Frees it, after it was stopped and no dispatch is left. */
    void (*close)(struct engine *engine);

    /* Locked.  Resources of a dispatch beyond what CUs hold; false: there are none, and `why` says so. */
    bool (*admit)(struct engine *engine, struct cp_dispatch *d, char *why, size_t bytes);
    /* A dispatch is gone, or was refused: frees what the engine has of it. */
    void (*forget)(struct engine *engine, struct cp_dispatch *d);
    /* Locked.  Whether the queue's next packet, of this type, has been fetched and decoded, so that it may
     * start; if not, the engine sees to it, and looks again.  NULL: that takes no time. */
    bool (*prepare)(struct engine *engine, struct cp_queue *queue, unsigned type);
    /* Locked.  Takes over an agent packet: a copy, a fill, a host function, or a barrier that takes time. */
    void (*start_task)(struct engine *engine, struct cp_task *task);
    /* Locked.  A packet has changed its signal; a copy, host function or dispatch has completed. */
    void (*signalled)(struct engine *engine, struct cp_signal *signal);
    void (*completed)(struct engine *engine);
    /* A host function has returned, on the thread that calls them; the task is the engine's again. */
    void (*called)(struct engine *engine, struct cp_task *task);

    /* A doorbell with this packet's index; queue NULL: something else that packets may wait for. */
    void (*ring)(struct engine *engine, struct cp_queue *queue, uint64_t index);
    /* A wave has changed a signal and sent an interrupt. */
    void (*interrupted)(struct engine *engine);

    /* Until the wish holds; false when `timeout_ns` of the host's own time have passed (UINT64_MAX: never).
     */
    bool (*wait)(struct engine *engine, const struct engine_wish *wish, uint64_t timeout_ns);

    /* Nanoseconds as the packet processor sees them while it handles packets; picoseconds of the host
     * program. */
    uint64_t (*now_ns)(const struct engine *engine);
    uint64_t (*program_ps)(struct engine *engine);
    /* As the waves of an XCD see them: cycles of its clock, and nanoseconds. */
    uint64_t (*wave_cycles)(const struct engine *engine, unsigned xcd);
    uint64_t (*wave_ns)(const struct engine *engine, unsigned xcd);

    /* The host program spends time in a call, or on its cores: work->ns and faults tell how much. */
    void (*spend)(struct engine *engine, uint64_t ps);
    /* What the calling thread has done on its core so far is over, and what threads do that left theirs
     * before. NULL: it always is. */
    void (*arrive)(struct engine *engine);
    /* Of the host's own time there is none until that ends: it waits for another process, whatever it looks
     * like.  NULL: nothing comes of that. */
    void (*outside)(struct engine *engine, bool on);
    void (*run_cores)(struct engine *engine, struct ehp_cpu_work *work);
    /* Its threads on cores (ehp/cpu_thread.h); NULL: cores take no time here. */
    struct ehp_cpu_thread *(*open_thread)(struct engine *engine, int core, const struct ehp_cpu_set *among);
    int (*thread_cpu)(const struct engine *engine, const struct ehp_cpu_thread *thread);
    void (*close_thread)(struct engine *engine, struct ehp_cpu_thread *thread);
    void (*enter_thread)(struct engine *engine, struct ehp_cpu_thread *thread, uint64_t ps);
    uint64_t (*leave_thread)(struct engine *engine, struct ehp_cpu_thread *thread);
    void (*let_go)(struct engine *engine, struct ehp_cpu_thread *thread);
    void (*hold)(struct engine *engine, struct ehp_cpu_thread *thread);
    bool (*sleep)(struct engine *engine, struct ehp_cpu_thread *thread, uint64_t until_ps);
    void (*own_thread)(struct engine *engine, struct ehp_cpu_thread *thread);
    /* What a core has done; false: there is no such core.  NULL: cores take no time here. */
    bool (*read_core)(struct engine *engine, unsigned core, struct ehp_core *out);
    /* How busy a part of the packages was, on any thread; false: there is no such part.  NULL: nothing takes
     * time here. */
    bool (*read_part)(struct engine *engine, unsigned part, struct ehp_part *out);
    /* What went over links, as ehp_node_traffic() has it; false: none can.  NULL: links take no time here. */
    bool (*read_traffic)(struct engine *engine, unsigned from, unsigned to, struct ehp_traffic *out);
    /* The host program has forked: its pages are shared until they are written. */
    void (*forked)(struct engine *engine);
    /* It has unmapped memory; NULL: nothing comes of that. */
    void (*unmapped)(struct engine *engine, uint64_t address, uint64_t bytes);
    /* Calls `fn` while simulated time stands still. */
    void (*still)(struct engine *engine, void (*fn)(void *context), void *context);
    /* Its pages are elsewhere; NULL: the same. */
    void (*moved)(struct engine *engine, uint64_t from, uint64_t to, uint64_t bytes);
};

struct engine {
    const struct engine_ops *ops;
    struct cp *cp;
    /* Packets become visible to the processor some time after their doorbell, and barriers take time. */
    bool packets_take_time;
    /* Set by waves that have done something with global wave sync, which is then settled later; NULL: at
     * once. */
    _Atomic bool *gws_later;
};

/*
 * Before a call of the program's that gives it memory or takes some away, or takes a lock that others hold
 * while they call: what its thread touched before has its pages then, however far the core is behind the
 * thread on the host, and who comes first is who does in simulated time.  NULL: the machine is being closed.
 */
static inline void engine_arrive(struct engine *engine)
{
    if (engine && engine->ops->arrive)
        engine->ops->arrive(engine);
}

/* What both engines are opened with. */
struct engine_options {
    unsigned threads; /* of the host */
    unsigned nps;     /* memory domains */
    bool sample;      /* long dispatches are run in part, and the rest extrapolated; timed only */
};

/* NULL in *out after a failure, EHP_ERR_...; the processor's `engine` is set before a thread runs. */
int host_engine_open(struct cp *cp, const struct engine_options *options, struct engine **out);
int timed_engine_open(struct cp *cp, const struct engine_options *options, struct engine **out);

#endif
