/* SPDX-License-Identifier: MIT */
/*
 * One simulated time for the ranks of an MPI program: what each does, in the order of simulated time.
 *
 * A rank tells each call with its clock, and waits for the answer where the call depends on others.  What it
 * has told, and what is on the network, happens when no other rank can tell anything any more that comes
 * before it (internal.h).  So nothing depends on which process the host lets run first.
 *
 *   network.c     how long messages take
 *   order.c       ranks, their calls, and what happens next
 *   match.c       messages and those that wait for them
 *   collect.c     calls of all of a communicator's ranks, as messages: schedule.c says which
 *   remote.c      what ranks do with each other's windows
 *   serve.c       a thread of rank 0 that has all this, and sockets to all ranks
 *
 * A rank is its number in MPI_COMM_WORLD.
 */
#ifndef EHP_MPI_ORDER_H
#define EHP_MPI_ORDER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum order_kind {
    ORDER_GROUP,   /* ranks of a communicator: the words */
    ORDER_SEND,    /* to `peer`, as `serial` of those to it; request 0: nobody asks when it is done */
    ORDER_RECEIVE, /* from `peer`, or ORDER_ANY */
    /* Of a communicator's: `tag` says which call, `peer` the root, `serial` which of its calls.  With
     * ORDER_BLOCKS the rank is told to go when all have told theirs: bytes may be moved then, and nobody be
     * kept waiting. */
    ORDER_COLLECT,
    /* With the window `context` of `peer`: `tag` says what, the word how many bytes come back.  That rank
     * is told to serve it, as `serial` of those to it. */
    ORDER_REMOTE,
    ORDER_AWAIT,  /* the requests of the words; it is answered */
    ORDER_PROBE,  /* it is answered */
    ORDER_CANCEL, /* a receive that has not got its message */
    ORDER_OUT,    /* the rank may wait for others in a way that is not told; */
    ORDER_IN,     /* it does no more; it is answered: when that is */
    ORDER_BYE
};
enum { ORDER_ANY = -1 };

enum order_remote {
    REMOTE_ACCESS,
    REMOTE_COMBINE, /* the same; what comes is put together with what is there */
    REMOTE_LOCK_SHARED,
    REMOTE_LOCK,
    REMOTE_UNLOCK /* request 0: nothing comes back */
};

/* Of ORDER_AWAIT and ORDER_PROBE. */
enum {
    ORDER_BLOCKS = 1, /* until it is so */
    ORDER_ONE = 2,    /* of the requests; else all */
    ORDER_SOME = 4,   /* those that are done, if any is */
    ORDER_KEEP = 8,   /* they are asked for again */
    ORDER_TAKE = 16,  /* the message that is found is what `request` receives */
    ORDER_MEETS = 32, /* ORDER_SEND: its receiver has to be there, however short it is */
    ORDER_COPIED = 64 /* ORDER_SEND: its sender goes on, however long it is */
};

struct order_op {
    uint32_t kind, flags;
    uint64_t ps;
    uint64_t context; /* the communicator */
    uint64_t bytes, serial;
    uint32_t request; /* a number of the rank's, from 1 on, that it uses again when it is done */
    int32_t peer, tag;
    uint32_t words; /* that follow, of 64 bits each */
};
static_assert(sizeof(struct order_op) == 56, "as it goes over the wire");

struct order_done {
    uint32_t index; /* among the words of ORDER_AWAIT */
    int32_t peer, tag;
    uint32_t cancelled;
    uint64_t serial, bytes;
};
enum order_says {
    ORDER_ANSWERS,
    ORDER_GOES,  /* it is no answer: all have told an ORDER_COLLECT */
    ORDER_SERVES /* nor is this: what another does with a window here is due, and comes before the next answer
                  */
};
struct order_answer {
    uint64_t ps;
    uint32_t count; /* of those that follow */
    uint32_t says;
};

struct network_numbers;
struct order;
typedef void order_answer_fn(void *user, unsigned rank, const struct order_answer *answer,
                             const struct order_done *done);

/* Ranks begin at time 0. */
struct order *order_open(const struct network_numbers *numbers, unsigned ranks, order_answer_fn *answer,
                         void *user);
void order_close(struct order *order);
/* What a rank has told; then all that can happen does, with the answers. */
void order_take(struct order *order, unsigned rank, const struct order_op *op, const uint64_t *words);
/* Who goes on by himself, and so has to tell something before anything happens; the number of ranks: nobody
 * does. */
unsigned order_slowest(const struct order *order, uint64_t *ps);
/* Nobody does, and nothing is on its way: the program's ranks wait for each other for ever. */
bool order_stuck(const struct order *order);

#endif
