/* SPDX-License-Identifier: MIT */
/*
 * Threads that are ours in somebody else's process: the process's signals are for its own threads.  A handler
 * of the program's that ran on one of ours could jump away with what it was doing, or wait for it.
 */
#ifndef EHP_BASE_THREAD_H
#define EHP_BASE_THREAD_H

#include <pthread.h>

#define THREAD_NAME "[ehp]" /* as debuggers and /proc have it */

/*
 * As pthread_create(); the thread gets only the signals that it causes itself.  When this returns it has a
 * heap of its own, so that where the C library puts that does not depend on what else runs.
 */
int thread_start(pthread_t *thread, void *(*main)(void *), void *argument);

#endif
