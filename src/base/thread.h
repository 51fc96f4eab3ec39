/* SPDX-License-Identifier: MIT */
/*
 * Threads that are ours in somebody else's process: the process's signals are for its own threads.  A handler
 * of the program's that ran on one of ours could jump away with what it was doing, or wait for it.
 */
#ifndef EHP_BASE_THREAD_H
#define EHP_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#define THREAD_NAME "[ehp]" /* as debuggers and /proc have it */

/* As pthread_create(); the thread gets only the signals that it causes itself. */
static inline int thread_start(pthread_t *thread, void *(*main)(void *), void *argument)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPIPE};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(&blocked, own[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int status = pthread_create(thread, NULL, main, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0)
        pthread_setname_np(*thread, THREAD_NAME);
    return status;
}

#endif
