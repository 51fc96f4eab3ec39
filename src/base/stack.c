/* SPDX-License-Identifier: MIT */
/* See stack.h. */
#include "base/stack.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 1 << 20, GUARD = 64 * 1024 };

struct call {
    void (*fn)(void *argument);
    void *argument;
    ucontext_t back;
};

/*
 * The thread's signal stack is off while fn runs: it may hold the frames of the handler that called, which
 * the next signal would overwrite as the thread is not seen to be on it.  Signals are blocked around that.
 */
static void run(unsigned high, unsigned low)
{
    const struct call *call = (const struct call *)((uintptr_t)high << 32 | low);
    const stack_t off = {.ss_flags = SS_DISABLE};
    stack_t signals;
    sigset_t blocked;
    sigaltstack(&off, &signals);
    pthread_sigmask(SIG_SETMASK, &call->back.uc_sigmask, &blocked);
    call->fn(call->argument);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
    sigaltstack(&signals, NULL);
}

bool stack_call(void (*fn)(void *argument), void *argument)
{
    struct call call = {.fn = fn, .argument = argument};
    ucontext_t there;
    char *map = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (map == MAP_FAILED)
        return false;
    bool ready = mprotect(map, GUARD, PROT_NONE) == 0 && getcontext(&there) == 0;
    if (ready) {
        there.uc_stack = (stack_t){.ss_sp = map + GUARD, .ss_size = STACK};
        there.uc_link = &call.back;
        sigfillset(&there.uc_sigmask);
        makecontext(&there, (void (*)(void))run, 2, (unsigned)((uintptr_t)&call >> 32),
                    (unsigned)(uintptr_t)&call);
        ready = swapcontext(&call.back, &there) == 0;
    }
    munmap(map, STACK + GUARD);
    return ready;
}
