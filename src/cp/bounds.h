/* SPDX-License-Identifier: MIT */
/*
 * Accesses beyond a buffer that the chip would not notice, because it has mapped
 * whole blocks (alloc/heap.h): they go on, and each kernel is told once of each
 * buffer; or they are faults, or nobody is told (enum ehp_bounds).
 *
 * In functional mode what lies between buffers can be accessed after the first
 * access, until another kernel begins.
 *
 * Threads: any.
 */
#ifndef EHP_CP_BOUNDS_H
#define EHP_CP_BOUNDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp_dispatch;
struct cp;
struct memory_block;
struct wave_guard;
struct workgroup;

struct bounds_told {
    uint64_t kernel, serial; /* a kernel object, 0: the host program; an allocation */
};

struct bounds {
    pthread_mutex_t lock;
    struct bounds_told *told;
    size_t count, capacity;
    _Atomic uint64_t kernel; /* that has begun last; 0: before it the host had what lies between */
};

void bounds_open(struct bounds *bounds);
void bounds_close(struct bounds *bounds);

/* A kernel begins. */
void bounds_begin(struct cp *cp, uint64_t kernel);

/* A wave's access, as its guard has it, has found no memory, in functional mode: whether it shall try again.
 */
bool bounds_mend(struct wave_guard *guard);
/* The host program's access, outside of our code, has found no memory: whether it shall try again. */
bool bounds_mend_host(void *cp, uint64_t address, bool write);

/* Whether somebody is to be told of this; what to say is the caller's. */
bool bounds_tell(struct cp *cp, uint64_t kernel, uint64_t serial);
/* On stderr. */
void bounds_say(struct cp *cp, const char *text);

#endif
