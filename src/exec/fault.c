/* SPDX-License-Identifier: MIT */
/*
 * Faults of waves; see fault.h.
 *
 * The host's SIGSEGV and SIGBUS are per process, so this file has the one
 * piece of state that cannot hang from a machine: the handlers beneath ours,
 * which get every fault that is not a wave's, and who wants to say something
 * first.  A thread's guard is
 * found from the signal's own stack (fault_thread_enter() puts a pointer at
 * its aligned base), not through a thread-local variable.
 */
#include "wave/fault.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/guarded.h"
#include "base/stack.h"
#include "isa/facts.h"

enum { FAULT_STACK = 256 * 1024 }; /* who mends an access may look for its source line */
/* What it lies in moves the program's later mappings by whole large pages, as many threads as there are: the
 * times of a GPU that uses the program's memory follow its addresses within those. */
enum { FAULT_MAP = 2 * 1024 * 1024 };
#define FAULT_MAGIC UINT64_C(0x4548502d67756172)

/* At the base of an alternate stack, which is aligned to its size. */
struct fault_thread {
    uint64_t magic;
    struct wave_guard *guard;
    void *map;
    stack_t previous;
};

enum { WATCHERS = 8 };
static struct {
    void *_Atomic context;
    fault_mend_fn *mend;
    fault_watch_fn *fn;
} watchers[WATCHERS];
static _Atomic uint64_t last_told;
static pthread_mutex_t watchers_lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * The host program may put a handler of its own over ours at any time, and put ours back later because it
 * was what it found.  So each time that ours goes on top it does so under another name, a layer, which
 * remembers what was beneath: who calls what he found gets on to what was there before him, and nobody is
 * called twice.
 */
enum { LAYERS = 8, SIGNALS = 2 };
static const int signals[SIGNALS] = {SIGSEGV, SIGBUS};
static struct sigaction beneath[SIGNALS][LAYERS];
static unsigned layers[SIGNALS];
static pthread_mutex_t layers_lock = PTHREAD_MUTEX_INITIALIZER;

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

/* As the kernel would have called it. */
static void forward(struct sigaction *next, int signo, siginfo_t *info, void *context)
{
    const struct sigaction to = *next;
    const bool sent = info->si_code <= 0; /* by kill() and its like: no instruction has done it */
    if (to.sa_handler == SIG_IGN && sent)
        return;
    if (to.sa_handler == SIG_DFL || to.sa_handler == SIG_IGN) {
        /* Not ours and nobody else's: die of it as the process would have without us, of the same access. */
        signal(signo, SIG_DFL);
        if (sent)
            raise(signo);
        return;
    }
    if ((unsigned)to.sa_flags & SA_RESETHAND)
        *next = (struct sigaction){.sa_handler = SIG_DFL};
    sigset_t blocked = to.sa_mask;
    if (!(to.sa_flags & SA_NODEFER))
        sigaddset(&blocked, signo);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL); /* the return from the signal takes it back */
    if (to.sa_flags & SA_SIGINFO)
        to.sa_sigaction(signo, info, context);
    else
        to.sa_handler(signo);
}

/*
 * Where ehp_mem_try() goes on.  In the thread's static block: the handler must not be the first to ask for
 * it, which could allocate it.
 */
static _Thread_local sigjmp_buf *volatile trying __attribute__((tls_model("initial-exec")));

int ehp_mem_try(void (*access)(void *context), void *context)
{
    sigjmp_buf env;
    fault_install(); /* it may be the first, or the program's handler on top by now */
    if (sigsetjmp(env, 0) != 0) {
        trying = NULL;
        return EHP_ERR_FAULT;
    }
    trying = &env;
    access(context);
    trying = NULL;
    return EHP_OK;
}

/* Out of the handler, with the signals that were blocked before it: one above ours may have blocked more. */
static _Noreturn void leave_handler(sigjmp_buf *env, const void *machine)
{
    pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)machine)->uc_sigmask, NULL);
    siglongjmp(*env, 1);
}

/* Bit 1 of the error code of a page fault (Intel 64 manual, volume 3, 4.7). */
static bool host_wrote(const void *machine)
{
    return ((const ucontext_t *)machine)->uc_mcontext.gregs[REG_ERR] & 2;
}

/* Whether it was an access of a wave's, or a guarded one; a wave's does not return, unless it is mended. */
static bool take_fault(const siginfo_t *info, void *machine)
{
    if (info->si_code <= 0)
        return false;
    if (guarded_resume(machine))
        return true;
    if (trying)
        leave_handler(trying, machine);
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
            g->write = g->in->isa ? isa_facts[g->in->isa->op].effects & ISA_E_STORE : host_wrote(machine);
            g->lane = UINT_MAX;
            g->from_signal = true;
            if (g->mend && g->mend(g))
                return true;
            leave_handler(&g->env, machine);
        }
    }
    return false;
}

struct host_fault {
    uint64_t address;
    const void *machine;
    bool mended;
};

static bool is_mended(const struct host_fault *f)
{
    const bool write = host_wrote(f->machine);
    for (unsigned i = 0; i < WATCHERS; i++) {
        void *context = atomic_load(&watchers[i].context);
        if (context && watchers[i].mend(context, f->address, write))
            return true;
    }
    return false;
}

/* Once for an access, however many layers it goes through, and however often a handler has it tried again. */
static void tell_watchers(const struct host_fault *f)
{
    const uint64_t at = (uint64_t)((const ucontext_t *)f->machine)->uc_mcontext.gregs[REG_RIP];
    const uint64_t access = f->address ^ at << 16;
    if (atomic_exchange(&last_told, access) == access)
        return;
    for (unsigned i = 0; i < WATCHERS; i++) {
        void *context = atomic_load(&watchers[i].context);
        if (context)
            watchers[i].fn(context, f->address);
    }
}

static void mend_or_tell(void *argument)
{
    struct host_fault *f = argument;
    f->mended = is_mended(f);
    if (!f->mended)
        tell_watchers(f);
}

static void on_fault(unsigned layer, int signo, siginfo_t *info, void *machine)
{
    struct host_fault f = {(uint64_t)(uintptr_t)info->si_addr, machine, false};
    if (take_fault(info, machine))
        return;
    /* The thread's stack for signals, if it has one, is the program's, and need not have room for a report.
     */
    const int error = errno;
    if (info->si_code > 0)
        (void)stack_call(mend_or_tell, &f);
    errno = error;
    if (f.mended)
        return;
    forward(&beneath[signo == SIGBUS][layer], signo, info, machine);
}

void fault_watch(fault_mend_fn *mend, fault_watch_fn *fn, void *context)
{
    pthread_mutex_lock(&watchers_lock);
    for (unsigned i = 0; i < WATCHERS; i++)
        if (!atomic_load(&watchers[i].context)) {
            watchers[i].mend = mend;
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

#define LAYER(n)                                                                                             \
    static void on_fault_##n(int signo, siginfo_t *info, void *machine)                                      \
    {                                                                                                        \
        on_fault(n, signo, info, machine);                                                                   \
    }
LAYER(0)
LAYER(1)
LAYER(2)
LAYER(3)
LAYER(4)
LAYER(5)
LAYER(6)
LAYER(7)
static void (*const layer_fn[LAYERS])(int, siginfo_t *, void *) = {
    on_fault_0, on_fault_1, on_fault_2, on_fault_3, on_fault_4, on_fault_5, on_fault_6, on_fault_7};

static bool same_action(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags;
}

static bool is_ours(const struct sigaction *action)
{
    for (unsigned i = 0; i < LAYERS; i++)
        if (action->sa_sigaction == layer_fn[i])
            return true;
    return false;
}

/* The layer for what lies beneath: the one that lay there before, or the next; if a program has that many
 * handlers, the last one again. */
static unsigned layer_over(unsigned which, const struct sigaction *found)
{
    unsigned i = 0;
    while (i < layers[which] && !same_action(&beneath[which][i], found))
        i++;
    if (i == LAYERS)
        i--;
    beneath[which][i] = *found;
    layers[which] = layers[which] > i + 1 ? layers[which] : i + 1;
    return i;
}

static void install_handler(unsigned which)
{
    struct sigaction found, ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(signals[which], NULL, &found);
    if (is_ours(&found))
        return;
    pthread_mutex_lock(&layers_lock);
    sigaction(signals[which], NULL, &found);
    if (!is_ours(&found)) {
        ours.sa_sigaction = layer_fn[layer_over(which, &found)];
        sigemptyset(&ours.sa_mask);
        sigaction(signals[which], &ours, NULL);
    }
    pthread_mutex_unlock(&layers_lock);
}

void fault_install(void)
{
    for (unsigned i = 0; i < SIGNALS; i++)
        install_handler(i);
}

struct fault_thread *fault_thread_enter(struct wave_guard *guard)
{
    fault_install();
    char *map =
        mmap(NULL, FAULT_MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    madvise(map, FAULT_MAP, MADV_NOHUGEPAGE);
    struct fault_thread *thread = (void *)(map + (FAULT_STACK - (uintptr_t)map % FAULT_STACK) % FAULT_STACK);
    thread->magic = FAULT_MAGIC;
    thread->guard = guard;
    thread->map = map;
    stack_t stack = {.ss_sp = (char *)thread + sizeof(*thread), .ss_size = FAULT_STACK - sizeof(*thread)};
    if (sigaltstack(&stack, &thread->previous) != 0) {
        munmap(map, FAULT_MAP);
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
    munmap(thread->map, FAULT_MAP);
}
