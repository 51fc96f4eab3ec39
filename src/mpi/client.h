/* SPDX-License-Identifier: MIT */
/*
 * MPI's calls in simulated time: a library that comes before Open MPI's in the ranks of a program.  What a
 * call costs, and which message is received, order.h's thread in rank 0 says; bytes are moved by Open MPI's
 * own calls (PMPI_...), which take no time.
 *
 *   client.c       the rank's clock, what it tells and asks, its beginning and end
 *   requests.c     requests: their numbers here and there, and the calls that wait for them
 *   messages.c     calls that send, receive and look for messages
 *   collectives.c  calls of all of a communicator's ranks
 *   neighbours.c   calls of a topology's neighbours
 *   groups.c       communicators
 *   windows.c      windows, and when what is done with them may begin and is over
 *   access.c       what is done with them
 *   files.c        MPI-IO
 *   outside.c      calls that take no simulated time, and say so once
 *
 * A message's bytes go at once and apart from the program's others: packed, from memory of ours, over a
 * communicator of ours, with the message's number as its tag.  So no rank waits for another unless simulated
 * time says that it does, and a receive takes the very message that it has been given, however many there
 * are.
 */
#ifndef EHP_MPI_CLIENT_H
#define EHP_MPI_CLIENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/order.h"

#define ENTRY __attribute__((visibility("default")))

/* A communicator within MPI_COMM_WORLD, of one group. */
struct group_known {
    uint64_t context;
    int ranks, me;
    unsigned users;       /* the communicator, and requests, which it may be freed before */
    uint64_t collectives; /* that it has come to */
    MPI_Comm around;      /* for calls of its topology's neighbours; MPI_COMM_NULL: it has none */
    uint64_t rank[];      /* of the world */
};

/* NULL: none whose calls take simulated time. */
struct group_known *group_of(MPI_Comm comm);
/* Of one that has just been made by all of its ranks. */
void group_add(MPI_Comm comm);
void group_open(void);
/* For a request of the communicator's; and no longer. */
struct group_known *group_keep(MPI_Comm comm);
void group_drop(struct group_known *group);
/* Another of the same ranks, without the program's attributes; by all of them. */
MPI_Comm group_copy(MPI_Comm comm);
int group_rank_of(const struct group_known *group, int world);

/* A call, from its beginning in simulated time to its end. */
struct turn {
    uint64_t ps;
    bool outside;
};

/* Whether the call takes simulated time; false: it is Open MPI's own (of a program that is not in timing
 * mode, or from within another call). */
bool turn_begin(struct turn *turn);
void turn_end(const struct turn *turn);
/* `what` takes no simulated time: once. */
void client_say(const char *what);
/* A call that takes none and may wait for others, which it says. */
void turn_outside(struct turn *turn, const char *what);

uint64_t client_overhead_ps(void);
uint64_t client_poll_ps(void);
unsigned client_rank(void);
MPI_Comm client_wire(void);
MPI_Comm client_back(void); /* for what comes of what is done with another's window */
/* All of the group's ranks meet in a call of that kind (schedule.h). */
void group_meet(struct turn *turn, struct group_known *group, int kind);

void client_tell(const struct turn *turn, struct order_op op, const uint64_t *words);
/* Until it is answered, which becomes the turn's time: how many of `done` there are. */
uint32_t client_ask(struct turn *turn, struct order_op op, const uint64_t *words, struct order_done *done);
/* The same in two: until all have told the ORDER_COLLECT before, and until it is answered. */
void client_await_go(void);
uint32_t client_await(struct turn *turn, struct order_done *done);
/* Bytes are on their way from memory that is freed when they have arrived; another's work, which our waiting
 * must not keep from going on. */
void client_keep(MPI_Request real, void *memory);
void client_busy(int more);

/* collectives.c.  All of the communicator's ranks have come to a call that is a barrier: bytes may be moved;
 * until it is over in simulated time, by what the first returned (0: it takes none). */
uint64_t collective_come(const struct turn *turn, MPI_Comm comm);
void collective_leave(struct turn *turn, uint64_t number);

/* requests.c.  What the program has of a request is one of Open MPI's that does nothing. */
enum call_kind { CALL_SEND, CALL_RECEIVE, CALL_COLLECT, CALL_ACCESS };
struct call {
    struct call *next;
    MPI_Request handle, real; /* `real`: of a collective */
    struct access *access;
    enum call_kind kind;
    uint32_t number;
    bool persistent, active, cancelled;
    const void *from; /* of a persistent send */
    void *into;
    int count, peer, tag;
    uint32_t flags;
    MPI_Datatype type;
    MPI_Comm comm;
    struct group_known *group; /* of what the program has a handle of */
};

uint32_t request_number(void);
void request_free_number(uint32_t number);
/* The handle is the program's from now on. */
void request_give(const struct call *call, MPI_Request *handle);
/* The message that it has been given, into the program's memory. */
int request_receive(const struct call *call, const struct order_done *done, MPI_Status *status);
void request_empty(MPI_Status *status);

/* messages.c: begins a call that is active from now on. */
int message_start(struct turn *turn, struct call *call);
/* So many bytes of ours, which are freed when they have arrived: their number, of what goes to that rank. */
uint64_t message_put(void *memory, int bytes, int to);
/* How many the program's are. */
uint64_t message_bytes(int count, MPI_Datatype type);
/* An error of the wire's is the program's communicator's. */
int message_error(MPI_Comm comm, int error);

#endif
