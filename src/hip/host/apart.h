/* SPDX-License-Identifier: MIT */
/*
 * The simulator's own memory in the process of a program that is timed: apart from what the program allocates
 * and maps.  How much of it there is depends on what the simulator is asked for, and where its threads are on
 * the host: among the program's it would move that, and simulated time follows addresses.  It holds what the
 * simulator's libraries ask for, and its threads ask for or have as stacks.
 *
 * There is none in functional mode, and where the region cannot be mapped: then all is the C library's.
 */
#ifndef HIP_APART_H
#define HIP_APART_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* When the library is loaded. */
void apart_open(void);
/* Whether who calls from there gets such memory. */
bool apart_is_for(const void *caller);

/* Whether the calling thread is one of the simulator's. */
bool apart_runs_this(void);

/* As malloc() and aligned_alloc(), calloc(), realloc(); NULL: there is no room. */
void *apart_take(size_t bytes, size_t alignment);
void *apart_take_clear(size_t bytes);
void *apart_resize(void *old, size_t bytes);
/* Whether it is such memory, as free() and malloc_usable_size() have to know. */
bool apart_has(const void *memory);
void apart_give(void *memory);
size_t apart_size(const void *memory);

/* Where the calling thread's next mapping is to lie; NULL: anywhere, as a program's does. */
void *apart_place(size_t bytes);
/* One of the simulator's threads; and nobody asks for that one any more. */
int apart_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
void apart_left(pthread_t id);

#endif
