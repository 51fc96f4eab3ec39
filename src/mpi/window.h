/* SPDX-License-Identifier: MIT */
/*
 * Windows of one-sided communication.  The program's handle is one of Open MPI's, which has the memory and
 * the attributes, and whose own ways to other ranks are not used: what is done with a window goes to its rank
 * as a message (remote.c says when it is there), and that rank's process does it when the order says so.
 */
#ifndef EHP_MPI_WINDOW_H
#define EHP_MPI_WINDOW_H

#include "mpi/client.h"

/* What has been begun and is not over. */
struct access {
    struct access *next;
    uint32_t number;
    int target;
    uint64_t serial;
    bool given, over; /* the program has a request for it; which is all that is left */
    struct window *window;
    bool fetches;
    void *into;
    int count;
    MPI_Datatype type;
};

enum window_lock { LOCK_NONE, LOCK_UNCHECKED, LOCK_TAKEN };
struct window {
    struct window *next;
    MPI_Win handle;
    MPI_Comm comm; /* of ours */
    struct group_known *group;
    char *base;
    bool dynamic; /* displacements are addresses */
    struct window_part {
        int64_t bytes, unit;
    } *part; /* of each rank */
    struct access *first, **end;
    bool fenced;                /* and no end is said of that epoch */
    unsigned char *lock;        /* of each rank */
    uint64_t *started, *posted; /* ranks of the world, until MPI_Win_complete() and MPI_Win_wait() */
    uint64_t *awaited;          /* requests for each that has been posted to */
    int starts, posts;          /* negative: there is none */
};

/* NULL: none whose calls take simulated time. */
struct window *window_of(MPI_Win win);
struct window *window_by(uint64_t context);
int window_error(const struct window *window, int error);
/* Whether the program may do something with that rank's part now. */
bool window_is_open(const struct window *window, int target);

/* access.c */
enum access_kind { ACCESS_PUT, ACCESS_GET, ACCESS_COMBINE, ACCESS_SWAP };
struct access_call {
    enum access_kind kind;
    bool brings, fetches; /* what is at `from`, and into `into`: of which either may be MPI_BOTTOM */
    const void *from, *compare;
    int from_count;
    MPI_Datatype from_type;
    void *into;
    int into_count;
    MPI_Datatype into_type;
    int target;
    MPI_Aint place;
    int count;
    MPI_Datatype type;
    MPI_Op op;
};
/* Until all that has been begun is over; of one rank's part, or, -1, of all. */
void access_flush(struct turn *turn, struct window *window, int target);
/* The program's request for it is done. */
int access_finish(struct access *access);
/* What the rank does with a window of ours. */
void access_serve(int rank, uint64_t serial);

#endif
