/* SPDX-License-Identifier: MIT */
/*
 * Threads of a program's host side on the cores of the simulated CPU.  `ehp cc --time-host` puts a call of
 * ehp_cpu_block() at the beginning of each straight piece of code, which says what the piece takes besides
 * memory, and what it does to memory; where that is, follows as the piece is executed.  So a thread writes
 * what it does into a ring, which its core executes in simulated time.
 *
 * A thread may be far ahead of its core.  Nobody sees that who has no race with it: before an atomic
 * operation, and a volatile access, it waits until its core is there (ehp_cpu_wait()).
 *
 * Layouts are shared with what the compiler made: they are only added to.
 */
#ifndef EHP_CPU_THREAD_H
#define EHP_CPU_THREAD_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ehp/ehp.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ehp_cpu_access_kind {
    EHP_CPU_READ,
    EHP_CPU_WRITE,
    EHP_CPU_READ_RANGE,   /* two words: address, bytes */
    EHP_CPU_WRITE_RANGE,  /* the same */
    EHP_CPU_ATOMIC_READ,  /* the thread waits for this one and those that follow, with which a piece ends */
    EHP_CPU_ATOMIC,       /* a read-modify-write, or a store with a fence */
    EHP_CPU_FENCE,        /* no address counts; the thread waits for it as well */
    EHP_CPU_WRITE_PAST,   /* past the caches: a non-temporal store */
    EHP_CPU_ATOMIC_WRITE, /* a store that the thread waits for */
    /* No accesses: how a piece goes on, one of two ways or one of many. */
    EHP_CPU_BRANCH,
    EHP_CPU_JUMP
};

enum ehp_cpu_access_flags {
    EHP_CPU_AGAIN = 1, /* an ATOMIC_READ that is all of a loop, which goes on until it reads another value */
    EHP_CPU_NAMED = 2  /* a word of the stack at a place that the code says, which a core may rename */
};

/* Instead of a load's number: what a value is of that the thread has waited for last, of a read-modify-write.
 */
enum { EHP_CPU_AFTER_WAIT = 0xffff };

struct ehp_cpu_access {
    uint16_t number; /* of a load, by which others know it; 0: none */
    uint16_t after;  /* of the load whose value its address comes from, or a store's value; 0: of none */
    uint16_t bytes;  /* as far as they are known */
    uint8_t kind;    /* enum ehp_cpu_access_kind */
    uint8_t flags;   /* enum ehp_cpu_access_flags */
};

struct ehp_cpu_block {
    uint32_t accesses;
    uint16_t words; /* that they take in the ring */
    uint16_t goes;  /* 1: behind the accesses is what a core must foresee of how the piece goes on: `number`,
                     * `bytes`:  halves of a number that it is known by, `after`: what that depends on */
    uint32_t instructions;
    float cycles;                    /* least of all of it, where memory takes no time; 0: not known */
    struct ehp_cpu_access access[1]; /* as many as there are */
};
static_assert(sizeof(struct ehp_cpu_access) == 8 && offsetof(struct ehp_cpu_block, access) == 16,
              "as the compiler lays it out");

/* Records: a block's address, and its words.  EHP_CPU_WRAP: the next begins at the ring's beginning. */
enum { EHP_CPU_RING = 1 << 16, EHP_CPU_MOST_WORDS = 1 << 12 };
#define EHP_CPU_WRAP UINT64_C(1)

struct ehp_cpu_thread {
    uint32_t away;   /* the thread's: it is, or has no core; such a one writes into `word` all the same */
    uint32_t idle;   /* for ever */
    uint32_t sole;   /* atomic: no other thread has a core, and the GPU does nothing: it need not wait */
    uint64_t now_ps; /* simulated time, as of its last wait */
    uint64_t at; /* the thread's: words that it has written, with those of the record that is not complete */
    uint64_t room; /* and that its core had read when it looked last */
    /* Lines of the host's caches that one side writes, and the other one looks at. */
    uint64_t apart[8];
    uint64_t head; /* those that its core may read; atomic, as the next */
    uint64_t apart_head[8];
    uint64_t tail; /* and has read */
    uint64_t apart_tail[8];
    uint64_t word[EHP_CPU_RING];
};

/*
 * A thread that is away: on that core, or if it has a thread, or is -1, on the first of those that have the
 * fewest.  Threads of one core take turns.  NULL: not in timing mode, or there are no cores.  In the end it
 * is away.
 */
EHP_API struct ehp_cpu_thread *ehp_cpu_thread_open(ehp_machine *machine, int core);
/*
 * CPUs of the machine as an operating system numbers them: the cores of a CCD, CCD by CCD, package by
 * package. How many there are (0: cores take no time), and the one that a thread is on.
 */
enum { EHP_CPUS_MAX = 1024 };
struct ehp_cpu_set {
    uint64_t word[EHP_CPUS_MAX / 64]; /* a bit for each */
};
EHP_API unsigned ehp_cpu_count(const ehp_machine *machine);
EHP_API int ehp_cpu_thread_cpu(const ehp_machine *machine, const struct ehp_cpu_thread *thread);
/* As ehp_cpu_thread_open(), on the first of those among these CPUs that have the fewest. */
EHP_API struct ehp_cpu_thread *ehp_cpu_thread_open_among(ehp_machine *machine, const struct ehp_cpu_set *set);
EHP_API void ehp_cpu_thread_close(ehp_machine *machine, struct ehp_cpu_thread *thread);
/* It is the calling thread's: calls of the library take it away from its core. */
EHP_API void ehp_cpu_thread_own(ehp_machine *machine, struct ehp_cpu_thread *thread);
/* It is on its core, not before `ps` of simulated time; 0: when the program is. */
EHP_API void ehp_cpu_thread_enter(ehp_machine *machine, struct ehp_cpu_thread *thread, uint64_t ps);
/*
 * From the thread; each call of the library does the same.  It is away, once its core has done all: when that
 * was.  Simulated time stands still until it is back, unless it waits in a call of the library, or for
 * another thread: then it lets time go, or sleeps, and the other holds time for it as it wakes it.
 */
EHP_API uint64_t ehp_cpu_thread_leave(ehp_machine *machine, struct ehp_cpu_thread *thread);
/*
 * The calling thread is away, if it has a core, and no other that left its core before is in a call still.
 * Before who calls the library takes a lock that others' calls take: they would wait for it on their cores,
 * for which simulated time waits.
 */
EHP_API void ehp_cpu_arrive(ehp_machine *machine);
EHP_API void ehp_cpu_thread_let_go(ehp_machine *machine, struct ehp_cpu_thread *thread);
EHP_API void ehp_cpu_thread_hold(ehp_machine *machine, struct ehp_cpu_thread *thread);
/* From that thread, while it is away: until it is held since its last sleep, which is true; or, false, until
 * that picosecond (UINT64_MAX: never). */
EHP_API bool ehp_cpu_thread_sleep(ehp_machine *machine, struct ehp_cpu_thread *thread, uint64_t until_ps);
/* From that thread: until its core has done all that it has written, and waits for what comes next. */
EHP_API void ehp_cpu_thread_wait(struct ehp_cpu_thread *thread);
/* The same: until its core has read so many words. */
EHP_API void ehp_cpu_thread_wait_read(struct ehp_cpu_thread *thread, uint64_t words);

#ifdef __cplusplus
}
#endif

#endif
