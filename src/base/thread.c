/* SPDX-License-Identifier: MIT */
/* See thread.h. */
#include "base/thread.h"

#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

struct start {
    void *(*main)(void *);
    void *argument;
    sem_t begun;
};

static void *begin(void *argument)
{
    struct start *start = argument;
    void *(*main)(void *) = start->main;
    void *given = start->argument;
    void *volatile first = malloc(1);
    free(first);
    sem_post(&start->begun); /* the last use of `start` */
    return main(given);
}

int thread_start(pthread_t *thread, void *(*main)(void *), void *argument)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPIPE};
    struct start start = {.main = main, .argument = argument};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
        sigdelset(&blocked, own[i]);
    sem_init(&start.begun, 0, 0);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int status = pthread_create(thread, NULL, begin, &start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status == 0) {
        pthread_setname_np(*thread, THREAD_NAME);
        while (sem_wait(&start.begun) != 0) /* signals of the program's */
            ;
    }
    sem_destroy(&start.begun);
    return status;
}
