/* SPDX-License-Identifier: MIT */
/* What the files of order.h share. */
#ifndef EHP_MPI_INTERNAL_H
#define EHP_MPI_INTERNAL_H

#include "mpi/network.h"
#include "mpi/order.h"

struct collective;
struct request;

/* A message: its bytes, or, of one that is longer than mpi.eager, first that it wants to come; the receiver's
 * leave, which goes the other way; and then its bytes. */
enum message_phase { MESSAGE_BYTES, MESSAGE_ASKS, MESSAGE_LEAVE };
struct message {
    struct message *next; /* of those that nobody has asked for */
    unsigned from, to;
    uint64_t context, collective;
    int32_t tag;
    uint64_t bytes, serial;
    bool waits; /* for leave */
    enum message_phase phase;
    struct network_way way;
    struct request *send, *receive;
};

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECT };
struct request {
    struct request *next; /* of receives that wait for a message */
    enum request_kind kind;
    unsigned rank;
    uint32_t number; /* the program's; 0: it does not ask for it */
    bool done, cancelled;
    struct collective *owner; /* whose message it is; NULL: the program's */
    uint64_t context, collective;
    int32_t peer, tag;
    struct message *message;
};

enum rank_state { RANK_RUNS, RANK_WAITS, RANK_OUTSIDE, RANK_GONE };
struct told {
    struct told *next;
    struct order_op op;
    uint64_t word[];
};
struct rank {
    enum rank_state state;
    uint64_t ps; /* it tells nothing that is earlier */
    unsigned package;
    struct told *first, **end; /* not yet happened */
    struct told *waits;        /* for the answer to this */
    struct message *messages, **messages_end;
    struct request *receives, **receives_end;
    struct request **request; /* by number */
    uint32_t requests;
};

struct event {
    uint64_t ps, order;
    void (*fn)(struct order *order, void *object);
    void *object;
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
    uint64_t now_ps;
    struct event *event; /* a heap */
    unsigned events, room;
    uint64_t posted;
    struct group *groups;
    struct meeting *meetings; /* collect.c: calls that not all have come to */
    order_answer_fn *answer;
    void *user;
};

/* order.c.  At that time, after what has been posted for the same: */
void order_post(struct order *order, uint64_t ps, void (*fn)(struct order *, void *), void *object);
/* Now: it is done. */
void order_request_done(struct order *order, struct request *request);
/* Now: a message came that nobody has asked for. */
void order_message_came(struct order *order, unsigned rank);

/* match.c.  From now on, by the rank that has them: */
struct request *match_send(struct order *order, const struct message *message, struct collective *owner);
void match_receive(struct order *order, struct request *receive);
/* The first that has come and would be its. */
struct message *match_find(const struct order *order, const struct request *receive);
/* It is no longer among those that wait; false: it has its message. */
bool match_cancel(struct order *order, struct request *receive);
void match_free(struct message *message);

/* collect.c.  A rank tells the call, whenever that is; and now it has come to it. */
void collect_told(struct order *order, const struct order_op *op);
void collect_begin(struct order *order, unsigned rank, const struct order_op *op, const uint64_t *words,
                   struct request *request);
void collect_done(struct order *order, struct collective *collective);
void collect_close(struct order *order);

#endif
