/* SPDX-License-Identifier: MIT */
/*
 * A thread of the host program on a core (ehp/cpu_thread.h).  Its state is changed by one side at a time:
 *
 *   away    by the engine, which lets its core begin: runs
 *   runs    by the thread: waits, leaves
 *   waits   by the core, when it is there: runs
 *   leaves  by the core, when it has done all: away
 */
#ifndef EHP_CCD_THREAD_H
#define EHP_CCD_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "ccd/ccd.h"
#include "ehp/cpu_thread.h"

enum { CPU_THREAD_TURN = 8 }; /* words */
enum { CPU_THREAD_AWAY, CPU_THREAD_RUNS, CPU_THREAD_WAITS, CPU_THREAD_LEAVES };

struct cpu_thread {
    struct ehp_cpu_thread ring; /* first */
    struct core_program program;
    _Atomic uint32_t state;
    _Atomic uint32_t asleep; /* 1: the thread is, until its core has read `wanted` words */
    _Atomic uint64_t wanted;
    _Atomic bool stopped; /* the machine closes: nobody waits for it any more */
    unsigned core;
    struct port_domain *domain;
    double ipc, read_cycles, write_cycles; /* of a line of a range */
    uint64_t parked_ps;                    /* when its core had done all, or its call, once it is away; */
    uint64_t left_ps;                      /* its core */
    /* The core's. */
    const struct ehp_cpu_block *block; /* the record that it is in */
    const uint64_t *record, *word;     /* its first, and its next */
    uint64_t record_end;
    unsigned access;
    double cycles;
    uint32_t instructions, next_instructions; /* of an access; of the next, which may be the first */
    struct {
        const struct ehp_cpu_access
            *read;               /* that the thread waited for last, if it is a loop; NULL: it is not */
        uint64_t address, value; /* of the word, and what the thread finds there */
        unsigned records, words; /* since it went on; of a turn there are two: how it goes on, the read */
        uint64_t word[CPU_THREAD_TURN];
        unsigned again, at; /* turns that the core does by itself; at: words of this one */
        bool whole, doing;  /* whole: a turn is there; doing: one of those */
    } turn;
    uint64_t polled;                   /* address of the last load that it waited for, and nothing since */
    const struct ehp_cpu_access *goes; /* how the last record goes on, if not simply */
    uint64_t range, range_end;
    uint8_t range_kind;
    double range_cycles;
    bool blocked, told;                     /* blocked: in a call of the kernel's that is not simulated */
    uint64_t loads, number[UINT16_MAX + 1]; /* so far; by their numbers, which came last */
    /* The engine's. */
    struct cpu_thread *next, *starting;
    bool holding, asks;  /* simulated time, unless it asks for some to go by */
    _Atomic bool called; /* by who held time for it, since its last sleep */
    void *engine;
    pthread_t thread;
    _Atomic int tid;
    uint64_t start_ps;
    uint64_t serial; /* in the order in which they were opened */
};

static inline struct cpu_thread *cpu_thread_of(struct core_program *program)
{
    return (struct cpu_thread *)((char *)program - offsetof(struct cpu_thread, program));
}

/* `domain`: the core's; instructions whose cycles are not known take 1 / `ipc` each, and a cycle moves two
 * times `vector` bytes from the first cache, or one to it. */
void cpu_thread_open(struct cpu_thread *thread, unsigned core, struct port_domain *domain, double ipc,
                     double vector);
void cpu_thread_set(struct cpu_thread *thread, uint32_t state);
uint32_t cpu_thread_state(const struct cpu_thread *thread);
/* On the thread: all that it has written is to be done, but for what comes next. */
void cpu_thread_wait(struct ehp_cpu_thread *ring);
/* On the thread: until so many words of it have been read. */
void cpu_thread_wait_read(struct ehp_cpu_thread *ring, uint64_t words);
/* On the thread: until its state is such. */
void cpu_thread_wait_for(struct cpu_thread *thread, bool (*over)(uint32_t state));

#endif
