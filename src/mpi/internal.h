/* SPDX-License-Identifier: MIT */
/*
 * What the files of order.h share.
 *
 * What happens is of two kinds.  Events are of messages on the network, and of collective calls, which go on
 * whatever their ranks do besides: one heap, in the order of time.  Items are what a rank comes to see: its
 * calls, and what has arrived or is done, in the order of the rank's time.  Either happens when no rank can
 * tell anything any more that would come before it: a rank that is at some time sends nothing before
 * mpi.overhead has passed, and that is at another rank no sooner than the shortest way is long.
 */
#ifndef EHP_MPI_INTERNAL_H
#define EHP_MPI_INTERNAL_H

#include "mpi/network.h"
#include "mpi/order.h"

struct collective;
struct request;

/* A message: its bytes, or, of one that is longer than mpi.eager, first that it wants to come; the receiver's
 * leave, which goes the other way; and then its bytes.  And what is done with a window, and what comes of it.
 */
enum message_phase { MESSAGE_BYTES, MESSAGE_ASKS, MESSAGE_LEAVE, MESSAGE_REMOTE, MESSAGE_REPLY };
struct message {
    struct message *next; /* of those that nobody has asked for */
    unsigned from, to;
    uint64_t context;
    struct collective *owner; /* of its sender's; NULL: it is the program's own */
    uint64_t collective;      /* the number of the call; 0 */
    int32_t tag;
    uint64_t bytes, serial;
    uint64_t key; /* of messages that are somewhere at one time the first */
    bool waits;   /* for leave */
    bool copied;  /* its sender does not wait for that */
    enum message_phase phase;
    enum order_remote remote; /* with `back` bytes that come back */
    uint64_t back;
    struct network_way way;
    uint64_t came_ps;
    struct request *send, *receive;
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECT, REQUEST_REMOTE };
struct request {
    struct request *next; /* of receives that wait for a message */
    enum request_kind kind;
    unsigned rank;
    uint32_t number; /* the program's; 0: it does not ask for it */
    bool done, cancelled;
    uint64_t since_ps, done_ps; /* of a receive: since when it waits */
    struct collective *owner;   /* whose message it is; NULL: the program's */
    uint64_t context, collective;
    int32_t peer, tag;
    struct message *message;
};

struct event {
    uint64_t ps, key;
    void (*fn)(struct order *order, void *object);
    void *object;
    unsigned rank; /* where it is */
    enum event_place {
        EVENT_LEAVES, /* a message, from the rank's node, */
        EVENT_COMES,  /* or it is on the way to the rank */
        EVENT_OWN     /* what no other rank has a part in */
    } place;
};

enum rank_state { RANK_RUNS, RANK_WAITS, RANK_OUTSIDE, RANK_GONE };
struct told {
    struct told *next;
    struct order_op op;
    uint32_t ready; /* of the requests that are waited for, the first that are done */
    uint64_t word[];
};
/* What comes to a rank: the program's message, what another does with its window, or that a request is done.
 */
struct item {
    struct item *next;
    uint64_t ps, key;
    struct message *message;
    struct request *request;
};
/* Messages that nobody has asked for, and receives that have none: of the program's, and of collective calls.
 */
struct box {
    struct message *messages, **messages_end;
    struct request *receives, **receives_end;
};
struct rank {
    enum rank_state state;
    uint64_t ps;               /* it tells nothing that is earlier */
    struct told *first, **end; /* not yet happened */
    struct told *waits;        /* for the answer to this */
    struct item *items;        /* in their order */
    struct box box[2];
    struct request **request; /* by number */
    uint32_t requests;
    uint64_t sent[2];   /* the program's messages, and those of collective calls */
    uint64_t serves_ps; /* what others do with its windows, until then */
};

struct group {
    struct group *next;
    uint64_t context;
    unsigned size;
    unsigned rank[];
};

struct order {
    struct network network;
    unsigned ranks;
    struct rank *rank;
    uint64_t now_ps, most_ps; /* of what happens; and of all that has */
    struct event *event;      /* a heap */
    unsigned events, room;
    struct group *groups;
    struct meeting *meetings; /* collect.c: calls that not all have come to */
    struct lock *locks;       /* remote.c */
    order_answer_fn *answer;
    void *user;
};

/* order.c */
void order_post(struct order *order, const struct event *event);
/* The rank sees that at this time. */
void order_give(struct order *order, unsigned rank, uint64_t ps, uint64_t key, struct message *message,
                struct request *request);
/* It is done now, for the rank that has it, or the collective call; at that time, which may be to come. */
void order_done_at(struct order *order, struct request *request, uint64_t ps);

/* How long it takes at least, from a rank's doing something, until that leaves the other's node, or is there.
 */
uint64_t order_distance(const struct order *order, unsigned from, unsigned to, bool leaves);

/* match.c.  It leaves its rank then, or for MESSAGE_LEAVE and MESSAGE_REPLY the other. */
void match_put_on_way(struct order *order, struct message *message, enum message_phase phase, uint64_t ps);
/* From now on, by the rank that has them: */
void match_send(struct order *order, const struct message *message, struct request *send);
void match_receive(struct order *order, struct request *receive);
/* A message of the program's is there now; false: nobody has asked for it. */
bool match_came(struct order *order, struct message *message);
/* Whether a receive waits for it; whether one waits for a message from anybody. */
bool match_is_asked(const struct order *order, const struct message *message);
bool match_asks_any(const struct order *order, unsigned rank);
/* The first that has come and would be its. */
struct message *match_find(const struct order *order, const struct request *receive);
/* It is no longer among those that wait; false: it has its message. */
bool match_cancel(struct order *order, struct request *receive);

/* collect.c.  A rank tells the call, whenever that is; and now it has come to it. */
void collect_told(struct order *order, const struct order_op *op);
void collect_begin(struct order *order, unsigned rank, const struct order_op *op, const uint64_t *words,
                   struct request *request);
/* A message of its step is done then. */
void collect_done(struct order *order, struct collective *collective, uint64_t ps);
void collect_close(struct order *order);

/* remote.c.  It begins; it is at the rank whose window it is; and now that rank has come to it. */
void remote_begin(struct order *order, unsigned rank, const struct order_op *op, uint64_t back,
                  struct request *request);
void remote_came(struct order *order, void *message);
void remote_serve(struct order *order, struct message *message);
void remote_close(struct order *order);

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

#endif
