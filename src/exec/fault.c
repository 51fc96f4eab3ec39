/* SPDX-License-Identifier: MIT */
/*
 * Faults of waves; see fault.h.
 *
 * The host's SIGSEGV and SIGBUS are per process, so this file has the one
 * piece of state that cannot hang from a machine: the handlers that were there
 * before ours, which get every fault that is not a wave's, and who wants to say
 * something first.  A thread's guard is
 * found from the signal's own stack (fault_thread_enter() puts a pointer at
 * its aligned base), not through a thread-local variable.
 */
#include "exec/fault.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/guarded.h"

enum { FAULT_STACK = 64 * 1024 };
#define FAULT_MAGIC UINT64_C(0x4548502d67756172)

/* At the base of an alternate stack, which is aligned to its size. */
struct fault_thread {
    uint64_t magic;
    struct wave_guard *guard;
    stack_t previous;
};

enum { WATCHERS = 8 };
static struct {
    void *_Atomic context;
    fault_watch_fn *fn;
} watchers[WATCHERS];
static pthread_mutex_t watchers_lock = PTHREAD_MUTEX_INITIALIZER;

static struct sigaction previous_segv, previous_bus;
static pthread_once_t handler_once = PTHREAD_ONCE_INIT;

_Noreturn void wave_fault(struct wave *w, const struct xinst *in, enum ehp_fault_kind kind, uint64_t address,
                          bool write, unsigned lane)
{
    struct wave_guard *g = w->guard;
    g->kind = kind;
    g->fault_in = in;
    g->address = address;
    g->write = write;
    g->lane = lane;
    g->from_signal = false;
    siglongjmp(g->env, 1);
}

static void forward(const struct sigaction *previous, int signo, siginfo_t *info, void *context)
{
    if (previous->sa_flags & SA_SIGINFO) {
        previous->sa_sigaction(signo, info, context);
    } else if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN) {
        previous->sa_handler(signo);
    } else {
        /* Not ours and nobody else's: die of it as the process would have without us. */
        signal(signo, SIG_DFL);
        raise(signo);
    }
}

static void on_fault(int signo, siginfo_t *info, void *machine)
{
    if (guarded_resume(machine))
        return;
    char here;
    uintptr_t base = (uintptr_t)&here & ~(uintptr_t)(FAULT_STACK - 1);
    /* The compiler must not conclude that what lies there is part of `here`: it would drop the stores below.
     */
    __asm__ volatile("" : "+r"(base));
    stack_t stack;
    if (sigaltstack(NULL, &stack) == 0 && (uintptr_t)stack.ss_sp == base + sizeof(struct fault_thread)) {
        struct fault_thread *thread = (struct fault_thread *)base;
        struct wave_guard *g = thread->guard;
        if (thread->magic == FAULT_MAGIC && g->armed && g->in) {
            g->kind = EHP_FAULT_MEMORY;
            g->fault_in = g->in;
            g->address = (uint64_t)(uintptr_t)info->si_addr;
            g->write = mem_is_write(g->in->isa);
            g->lane = UINT_MAX;
            g->from_signal = true;
            siglongjmp(g->env, 1);
        }
    }
    for (unsigned i = 0; i < WATCHERS; i++) {
        void *context = atomic_load(&watchers[i].context);
        if (context)
            watchers[i].fn(context, (uint64_t)(uintptr_t)info->si_addr);
    }
    forward(signo == SIGBUS ? &previous_bus : &previous_segv, signo, info, machine);
}

void fault_watch(fault_watch_fn *fn, void *context)
{
    pthread_mutex_lock(&watchers_lock);
    for (unsigned i = 0; i < WATCHERS; i++)
        if (!atomic_load(&watchers[i].context)) {
            watchers[i].fn = fn;
            atomic_store(&watchers[i].context, context);
            break;
        }
    pthread_mutex_unlock(&watchers_lock);
}

void fault_unwatch(void *context)
{
    for (unsigned i = 0; i < WATCHERS; i++)
        if (atomic_load(&watchers[i].context) == context)
            atomic_store(&watchers[i].context, NULL);
}

static void install_handlers(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_segv);
    sigaction(SIGBUS, &action, &previous_bus);
}

void fault_install(void)
{
    pthread_once(&handler_once, install_handlers);
}

struct fault_thread *fault_thread_enter(struct wave_guard *guard)
{
    fault_install();
    struct fault_thread *thread = aligned_alloc(FAULT_STACK, FAULT_STACK);
    if (!thread)
        return NULL;
    thread->magic = FAULT_MAGIC;
    thread->guard = guard;
    stack_t stack = {.ss_sp = (char *)thread + sizeof(*thread), .ss_size = FAULT_STACK - sizeof(*thread)};
    if (sigaltstack(&stack, &thread->previous) != 0) {
        free(thread);
        return NULL;
    }
    return thread;
}

void fault_thread_leave(struct fault_thread *thread)
{
    if (!thread)
        return;
    stack_t off = thread->previous.ss_size ? thread->previous : (stack_t){.ss_flags = SS_DISABLE};
    sigaltstack(&off, NULL);
    free(thread);
}
