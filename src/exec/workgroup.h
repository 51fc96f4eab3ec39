/* SPDX-License-Identifier: MIT */
/*
 * A workgroup in execution: its waves, LDS and scratch, run on one host thread
 * at a time.  It runs until it is done, faults, or has nothing to do but wait
 * for somebody outside (it spins or sleeps); then it can be set aside and
 * continued later, on any thread.
 */
#ifndef EHP_EXEC_WORKGROUP_H
#define EHP_EXEC_WORKGROUP_H

#include <stdatomic.h>

#include "base/arena.h"
#include "chip/chip.h"
#include "wave/wave.h"

enum { WORKGROUP_MAX_WAVES = CHIP_MAX_WORKGROUP_ITEMS / WAVE_LANES };

/* What all workgroups of a dispatch have in common. */
struct exec_launch {
    const struct xinst *entry;
    alignas(64) uint32_t sgprs[128]; /* initial values, all of wave.s; workgroup ids go to the places below */
    int id_sgpr[3];                  /* -1: not wanted */
    int info_sgpr;
    uint32_t mode;
    unsigned vgprs, agprs;
    unsigned rows; /* that its entry's function names: exec_code_rows(); 0: all there are */
    uint32_t lds_bytes, scratch_bytes;
    uint32_t items[3]; /* of a full workgroup */
    uint32_t grid[3];  /* work-items */
    uint32_t groups[3];
    unsigned id_dims;        /* how many of the work-item ids v0 holds: 1, 2, 3 */
    unsigned waves;          /* of a full workgroup */
    struct gws *gws;         /* the queue's global wave sync resources */
    _Atomic bool *gws_later; /* timing mode: told of what is for gws_settle(); NULL: nothing is */
    wave_row *v0;            /* for each wave of a full workgroup: its packed work-item ids */
};

/* Taken branches that a wave has in a row; as many before it gives way for the first time. */
enum { WORKGROUP_STRETCH = 128 };

struct exec_block;
struct exec_compiled;

enum workgroup_result {
    WORKGROUP_DONE,
    WORKGROUP_WAITING,   /* every wave sleeps or spins: for somebody outside */
    WORKGROUP_PREEMPTED, /* it has had its share of time */
    WORKGROUP_FAULT
};

struct timed_share;

struct workgroup {
    struct workgroup *next; /* for whoever keeps it */
    void *owner;            /* the dispatch */
    const struct exec_launch *launch;
    uint64_t linear; /* x + y * groups_x + z * groups_x * groups_y */
    uint32_t id[3];
    unsigned waves, live;
    bool begins;       /* some of its waves have not begun */
    bool leaving;      /* its waves have just been let go from a barrier */
    uint32_t sequence; /* of its placement; see cp/ace.h */
    unsigned xcc, cu;  /* where it runs */
    uint8_t simd[WORKGROUP_MAX_WAVES];
    unsigned in_turn; /* so many of its waves, from the first on, are on SIMDs in turn */
    struct wave_stats stats;
    struct timed_share *share; /* in simulated time: the XCD's share that it is of */
    unsigned scratch_slot;     /* timing mode: its place in the share's scratch */
    unsigned runs;             /* times it was given a thread: later runs are longer */
    unsigned wary;             /* so many stretches are yet to be short, as a wave of it was seen to wait */
    /* Of this run: the function whose compiled form its waves entered last; NULL: none. */
    const struct exec_block *block;
    const struct exec_compiled *compiled;

    /* The same for all workgroups of the launch that have this memory. */
    struct wave fresh;                    /* what is set of each wave that begins */
    bool whole;                           /* none of them is partial, */
    uint32_t whole_items;                 /* and so many work-items then are of each */
    unsigned wave_rows;                   /* of a wave, from row 0 on */
    size_t wave_stride;                   /* rows from one wave to the next */
    struct wave_guard *guard;             /* the thread that its waves know; NULL: none */
    bool counted;                         /* they count what they do */
    const struct exec_block *begin_block; /* the entry's function, */
    const struct exec_compiled *begin;    /* and its compiled form; NULL: it is to be looked up */
    bool past_caches;                     /* whose stores go past the host's */

    /* Capacity. */
    struct arena *arena; /* that it lies in; NULL: it is by itself */
    unsigned capacity_waves;
    uint32_t capacity_lds, capacity_scratch;
    size_t capacity_rows;
    bool rows_mapped;                     /* else they are in the arena */
    wave_row *rows;                       /* the register file: of one wave after another what it needs, */
    wave_row *grown[WORKGROUP_MAX_WAVES]; /* or of one that has called what needs more: all rows, mapped */
    uint8_t *lds;
    uint8_t *scratch[WORKGROUP_MAX_WAVES];

    struct wave wave[WORKGROUP_MAX_WAVES]; /* set up are those that it has capacity for */
};

/* Prepares `wg` (NULL: allocates one) for workgroup `linear` of a launch; NULL when memory is short.  In the
 * arena, if any: it then is to be freed before that. */
struct workgroup *workgroup_start(struct workgroup *wg, const struct exec_launch *launch, uint64_t linear,
                                  struct arena *arena);
/* Makes a workgroup that has ended another one of its launch, which is still there. */
void workgroup_start_again(struct workgroup *wg, uint64_t linear);
void workgroup_free(struct workgroup *wg);

/*
 * Runs until the workgroup is done, waits, or has had its share, which grows
 * with every run.  `stop` makes it give way early.
 */
enum workgroup_result workgroup_run(struct workgroup *wg, struct wave_guard *guard, const _Atomic bool *stop,
                                    bool count);

/* Before other threads are told of what a workgroup has done: compiled code's stores past the host's caches
 * come to memory in any order, unlike others of a thread. */
static inline void workgroup_fence(void)
{
    __builtin_ia32_sfence();
}

/* Makes the guard that of a fault: the workgroup, which is not being run, has taken too long. */
void workgroup_out_of_time(struct workgroup *wg, struct wave_guard *guard);

/* Builds launch->v0; false when memory is short. */
bool launch_make_ids(struct exec_launch *launch);

#endif
