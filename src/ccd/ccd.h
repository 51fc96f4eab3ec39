/* SPDX-License-Identifier: MIT */
/*
 * The package's CPU in timing mode: CCDs, each a domain of port.h, with cores that execute what a program's
 * thread does to memory, in simulated time.
 *
 *   core.c    a core: what it dispatches
 *   window.c  what is on its way in its window, and atomic operations; stores.c what is behind it
 *   fills.c   what an access waits for: its page, its line
 *   turns.c   programs that share a core
 *   caches.c  its first and second cache, and its prefetcher
 *   branch.c  what it foresees of branches
 *   page.c    its translations
 *   ccd.c     the third cache, what its misses ask of the fabric, probes
 *   thread.h  threads of the program that say what they do, as it is compiled into them
 *   work.c    what a program says that its cores do (ehp_cpu_run())
 *   calls.c   what allocating and freeing costs
 *
 * Caches hold tags alone: the bytes are the process's own, which the Infinity Cache's are too.  What the GPU
 * has written reaches them as its L2s are probed or written back; what a core owns, nobody else has.
 *
 * Sources: AMD, Software Optimization Guide for the Zen 4 Microarchitecture (57647), 2.6 to 2.12; ISCA'24,
 * IV.C and IV.D; Chips and Cheese, MI300A (links); Wahlgren et al., UPM on MI300A, IV and V (KTH).
 */
#ifndef EHP_CCD_CCD_H
#define EHP_CCD_CCD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "alloc/numa.h"
#include "ehp/ehp.h"
#include "port/port.h"

struct chip;
struct fabric;
struct vm;

enum core_op_kind {
    CORE_LOAD,
    CORE_STORE,
    CORE_ATOMIC,     /* a read-modify-write that nobody gets between; stores do not pass it */
    CORE_FENCE,      /* loads and stores do not pass it */
    CORE_COMPUTE,    /* nothing of memory */
    CORE_STORE_PAST, /* past the caches, in no order with other stores: non-temporal */
};

/* A memory instruction, and those before it that are none. */
struct core_op {
    uint64_t address;
    double cycles;         /* that they take at least */
    uint32_t instructions; /* how many they are */
    uint8_t kind;          /* enum core_op_kind */
    bool waits;      /* the next is asked for when simulated time is where this one is complete, or written */
    bool unforeseen; /* the core does not go on with it while it waits */
    uint8_t bytes;   /* STORE_PAST: no further than its line */
    uint8_t after;   /* LOAD: its address is of the n-th load before it, STORE: its value; 0: of none */
    /* The branch that it comes behind, and where that went (branch.h); what it depends on: the n-th load
     * before, or what the program has waited for. */
    uint32_t branch, target; /* 0: none */
    uint8_t branch_after;
    bool jump;
    uint8_t signature;
    bool named; /* LOAD, STORE: of a word of the stack, which the core may rename */
};

enum { CORE_AFTER_WAIT = 255 }; /* instead of how many loads before */

/* What a core executes; its owner's until it has ended.  Several on one core take turns, as an operating
 * system has them: each goes on until it has ended, or has had its slice and others wait. */
struct core_program {
    /* In the CCD's domain, before the first; NULL: nothing is to be done. */
    void (*begins)(struct core_program *program);
    /* In the domain: the next one; false: there is none any more. */
    bool (*next)(struct core_program *program, struct core_op *op);
    /* In the domain: all of it is complete. */
    void (*ended)(struct core_program *program, uint64_t ps);
    struct numa_asker asker; /* for pages that it touches first */
    /* The core's. */
    struct core_program *behind; /* who waits behind it */
    bool begun;
};

/* Counters of a core, named after Zen 4's events. */
struct core_counters {
    uint64_t instructions, loads, stores, atomics;
    uint64_t l1_misses, l2_misses,
        l3_misses; /* of loads and stores; those that find the line on its way too */
    uint64_t prefetches, walks, faults;
    uint64_t branches, mispredicted; /* mispredicted: that went where they had not been foreseen to go */
    uint64_t probes;                 /* that took a line away */
    uint64_t busy_ps;                /* in which it executed a program */
    uint64_t switches;               /* from one that had more to do, or waited, to another */
    uint64_t chained; /* of each program, the most loads that had to follow one another: sums */
};

/* The CCDs of a package: domains from `first_domain` on, whose clocks are set here.  NULL: memory is short.
 */
struct ccds *ccds_open(const struct chip *chip, struct port *port, unsigned first_domain,
                       struct fabric *fabric, struct vm *vm);
void ccds_close(struct ccds *ccds);

/* Cores are numbered as an operating system spreads threads: one on each CCD in turn. */
unsigned ccds_cores(const struct ccds *ccds);
struct port_domain *ccds_domain(const struct ccds *ccds, unsigned core);
/* Between windows: a core begins with a program at `ps`, or when those before it have had their turns. */
void ccds_begin(struct ccds *ccds, unsigned core, struct core_program *program, uint64_t ps);
/* Between windows. */
void ccds_read_counters(const struct ccds *ccds, unsigned core, struct core_counters *out);

/* ---- work.c: what a program says that cores do ---- */

struct cpu_job {
    struct cpu_job *next; /* for whoever holds it */
    const struct ehp_cpu_work *work;
    bool alone; /* nobody else uses memory: the middle of long streams is left out */
    uint64_t done_ps;
    _Atomic bool done; /* seen between windows, with done_ps */
    struct cpu_work *parts;
    struct port_domain *host; /* whom cores tell that they are done, */
    uint64_t delay_ps;        /* after this */
    unsigned left;            /* in that domain */
};
/* Between windows: its cores begin at `ps`. */
void cpu_job_begin(struct ccds *ccds, struct cpu_job *job, uint64_t ps);
void cpu_job_close(struct cpu_job *job);

/* Microseconds that so many page faults take. */
double cpu_fault_us(const struct chip *chip, uint64_t pages, unsigned cores);

uint64_t ccd_alloc_ns(const struct chip *chip, int kind, uint64_t bytes, bool xnack);
uint64_t ccd_free_ns(const struct chip *chip, int kind, uint64_t bytes, bool on_demand);

#endif
