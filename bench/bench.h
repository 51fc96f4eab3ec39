/* SPDX-License-Identifier: MIT */
/* What the benchmarks share: a machine, launches and clocks. */
#ifndef EHP_BENCH_H
#define EHP_BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ehp/ehp.h"

struct bench {
    ehp_machine *machine;
    ehp_code *code;
    struct ehp_queue_block *queue;
    ehp_signal signal;
    void *kernarg;
};

/* Opens a machine with `threads` host threads (0: all) and loads a code object file; exits on failure. */
void bench_open(struct bench *b, unsigned threads, const char *path);
/* The same on a chip, perhaps in simulated time. */
void bench_open_on(struct bench *b, const char *chip, bool timing, unsigned threads, const char *path);
void bench_close(struct bench *b);

/* Launches a kernel with these 8-byte arguments and waits. */
void bench_launch(struct bench *b, const char *kernel, uint32_t groups, uint32_t items,
                  const uint64_t *arguments, unsigned count);

double bench_seconds(void);
/* Of all threads: what a core does in a second, whatever else the machine runs. */
double bench_cpu_seconds(void);
/* Of the calling thread. */
double bench_thread_seconds(void);

/* Sorts them. */
double bench_median(double *values, unsigned count);

#endif
