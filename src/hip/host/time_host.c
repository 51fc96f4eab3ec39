/* SPDX-License-Identifier: MIT */
/*
 * What code calls that was compiled with --time-host (ehp/cpu_thread.h), and the calls of the system's by
 * which its threads begin, end and wait for each other: a library of its own, as these take the place of the
 * C library's.
 *
 * A thread that waits for another is away from its core; it comes back no sooner, in simulated time, than
 * what it waited for.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ehp/cpu_thread.h"

#define ENTRY __attribute__((visibility("default")))

uint64_t *ehp_cpu_block(const struct ehp_cpu_block *block);
void ehp_cpu_wait(void);

enum { PUBLISH = 256 }; /* words that a core may have to wait for */

/* Of threads that have no core: what they do goes nowhere. */
static __thread struct ehp_cpu_thread *self;
static __thread bool beginning;

static ehp_machine *machine(void)
{
    static ehp_machine *_Atomic known;
    if (!known) {
        ehp_machine *(*get)(void) = (ehp_machine * (*)(void)) dlsym(RTLD_DEFAULT, "ehpMachine");
        known = get ? get() : NULL;
    }
    return known;
}

static struct ehp_cpu_thread *idle(void)
{
    static struct ehp_cpu_thread *_Atomic one;
    struct ehp_cpu_thread *t = one;
    if (!t) {
        t = calloc(1, sizeof(*t));
        if (!t)
            abort();
        t->away = t->idle = 1;
        one = t;
    }
    return t;
}

/* The thread's first piece of code, or the first after a call. */
static struct ehp_cpu_thread *begin(void)
{
    if (beginning)
        return idle();
    beginning = true;
    if (!self) {
        ehp_machine *m = machine();
        struct ehp_cpu_thread *t = m ? ehp_cpu_thread_open(m) : NULL;
        self = t ? t : idle();
        if (t)
            ehp_cpu_thread_own(m, t);
    }
    if (!self->idle)
        ehp_cpu_thread_enter(machine(), self, 0);
    beginning = false;
    return self;
}

static void wait_for_room(struct ehp_cpu_thread *t, uint64_t end)
{
    while (end - __atomic_load_n(&t->tail, __ATOMIC_ACQUIRE) > EHP_CPU_RING)
        __builtin_ia32_pause();
}

ENTRY uint64_t *ehp_cpu_block(const struct ehp_cpu_block *block)
{
    struct ehp_cpu_thread *t = self;
    if (__builtin_expect(!t || t->away, 0)) {
        if (!t || !t->idle)
            t = begin();
        if (t->idle)
            return t->word;
    }
    uint64_t at = t->at, place = at % EHP_CPU_RING;
    if (place + 1 + block->words > EHP_CPU_RING) {
        wait_for_room(t, at + 1);
        t->word[place] = EHP_CPU_WRAP;
        at += EHP_CPU_RING - place;
        place = 0;
    }
    if (at - t->head >= PUBLISH)
        __atomic_store_n(&t->head, at, __ATOMIC_RELEASE);
    if (at + 1 + block->words - t->room > EHP_CPU_RING) {
        __atomic_store_n(&t->head, at, __ATOMIC_RELEASE);
        wait_for_room(t, at + 1 + block->words);
        t->room = __atomic_load_n(&t->tail, __ATOMIC_ACQUIRE);
    }
    t->word[place] = (uint64_t)(uintptr_t)block;
    t->at = at + 1 + block->words;
    return &t->word[place + 1];
}

ENTRY void ehp_cpu_wait(void)
{
    struct ehp_cpu_thread *t = self;
    if (t && !t->away)
        ehp_cpu_thread_wait(t);
}

/* ---- threads ---- */

struct start {
    struct start *next;
    void *(*run)(void *);
    void *argument;
    struct ehp_cpu_thread *thread; /* NULL: without a core */
    uint64_t ps;                   /* when it begins, and when it has ended */
    pthread_t id;
    bool ended, joined; /* joined: somebody waits for it */
};

/* Those that have begun and have not been joined, by whom they wait for. */
static struct {
    pthread_mutex_t lock;
    struct start *first;
} threads = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

/* Whether the thread is on a core now. */
static bool on_core(void)
{
    return self && !self->away;
}

static void end(void *argument)
{
    struct start *s = argument;
    uint64_t ps = s->thread ? ehp_cpu_thread_leave(machine(), s->thread) : 0;
    self = idle();
    pthread_mutex_lock(&threads.lock);
    s->ps = ps;
    s->ended = true;
    bool joined = s->joined;
    pthread_mutex_unlock(&threads.lock);
    if (s->thread)
        ehp_cpu_thread_close(machine(), s->thread, joined);
}

static void *begin_thread(void *argument)
{
    struct start *s = argument;
    void *result;
    self = s->thread ? s->thread : idle();
    if (s->thread)
        ehp_cpu_thread_own(machine(), s->thread);
    pthread_cleanup_push(end, s);
    result = s->run(s->argument);
    pthread_cleanup_pop(1);
    return result;
}

/* The kernel's part of it is not simulated. */
ENTRY int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *),
                         void *argument)
{
    static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!create)
        create =
            (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))real("pthread_create");
    if (!on_core())
        return create(id, attributes, run, argument);
    struct start *s = calloc(1, sizeof(*s));
    if (!s)
        return EAGAIN;
    s->run = run;
    s->argument = argument;
    s->ps = ehp_cpu_thread_leave(machine(), self);
    s->thread = ehp_cpu_thread_open(machine());
    if (s->thread) /* its core waits for its first record */
        ehp_cpu_thread_enter(machine(), s->thread, s->ps);
    pthread_mutex_lock(&threads.lock);
    int status = create(id, attributes, begin_thread, s);
    if (status == 0) {
        s->id = *id;
        s->next = threads.first;
        threads.first = s;
    }
    pthread_mutex_unlock(&threads.lock);
    ehp_cpu_thread_enter(machine(), self, s->ps);
    if (status) {
        if (s->thread)
            ehp_cpu_thread_close(machine(), s->thread, false);
        free(s);
    }
    return status;
}

static struct start *take_start(pthread_t id)
{
    struct start **link = &threads.first, *s;
    while (*link && !pthread_equal((*link)->id, id))
        link = &(*link)->next;
    s = *link;
    if (s)
        *link = s->next;
    return s;
}

ENTRY int pthread_join(pthread_t id, void **result)
{
    static int (*join)(pthread_t, void **);
    if (!join)
        join = (int (*)(pthread_t, void **))real("pthread_join");
    if (!on_core())
        return join(id, result);
    uint64_t ps = ehp_cpu_thread_leave(machine(), self);
    pthread_mutex_lock(&threads.lock);
    struct start *s = take_start(id);
    bool waits = s && s->thread && !s->ended;
    if (s)
        s->joined = true;
    pthread_mutex_unlock(&threads.lock);
    if (waits)
        ehp_cpu_thread_let_go(machine());
    int status = join(id, result);
    if (s && s->ps > ps)
        ps = s->ps;
    free(s);
    ehp_cpu_thread_enter(machine(), self, ps);
    return status;
}
