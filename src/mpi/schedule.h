/* SPDX-License-Identifier: MIT */
/*
 * Which messages a collective call is made of, as Open MPI's coll/tuned has it: step by step, of one of its
 * ranks.  The ranks here are those of the communicator.
 */
#ifndef EHP_MPI_SCHEDULE_H
#define EHP_MPI_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum collect_kind {
    COLLECT_MEET, /* none; it is over when all have come */
    COLLECT_BARRIER,
    COLLECT_BROADCAST,
    COLLECT_REDUCE,
    COLLECT_ALL_REDUCE,
    COLLECT_GATHER,
    COLLECT_SCATTER,
    COLLECT_ALL_GATHER,
    COLLECT_ALL_TO_ALL,
    COLLECT_REDUCE_SCATTER,
    COLLECT_SCAN,
    COLLECT_KINDS
};

struct schedule {
    enum collect_kind kind;
    unsigned ranks, me, root;
    /* Of what is sent, reduced or scanned; of each rank's part where it is gathered, scattered or exchanged.
     */
    uint64_t bytes;
    /* One for each rank, if they differ: GATHER and SCATTER: as the root knows them; ALL_GATHER: everybody's;
     * ALL_TO_ALL: of what goes from here. */
    const uint64_t *parts;
};

struct step {
    unsigned sends, receives;
    struct step_send {
        unsigned to;
        uint64_t bytes;
    } *send;           /* room for one to each rank, */
    unsigned *receive; /* and from each */
    uint64_t reduced;  /* bytes that are put together with what is here, afterwards */
};

/* All of a step is begun at once, and done before the next; false: there are no more.  Between two ranks
 * messages are in the order of the steps of either. */
bool schedule_step(const struct schedule *schedule, unsigned number, struct step *step);

#endif
