/* SPDX-License-Identifier: MIT */
/*
 * Inside of the library's interface (include/ehp/ehp.h): machines, memory, code,
 * faults, statistics and counters.
 *
 *   open.c       machines             report.c    what a person needs to find a fault
 *   memory.c     allocations          stats.c     counts per kernel
 *   code.c       code objects         counters.c  counters by the profiler's names
 *   chip.c       keys of the chip     progress.c  the line for kernels that take long
 *   program.c    the host program's time
 *   engine.c     what executes instructions
 *   cache.c      compiled code on disk
 */
#ifndef EHP_API_API_H
#define EHP_API_API_H

#include "soc/machine.h"

/* stats.c: counters per kernel, summed over dispatches.  Threads: any. */
struct stats *stats_open(void);
void stats_close(struct stats *stats);
/* A cp_listener's: adds the dispatch to its kernel's, and shows it to the program's handler. */
void stats_completed(struct cp *cp, struct cp_dispatch *d);

/* progress.c */
void progress_show(struct cp *cp, const struct cp_dispatch *d);
/* A dispatch is over. */
void progress_clear(struct ehp_machine *m);

/* report.c: struct cp_listener says what they do. */
void report_wave(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                 struct ehp_fault *fault);
void report_beyond(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                   const struct memory_block *near, struct ehp_fault *fault);
void report_text(struct cp *cp, struct ehp_fault *fault, const char *detail);
void report_to_handler(struct cp *cp, const struct ehp_fault *fault);
/*
 * The host program has touched memory of ours that nobody has (fault_watch()); on stderr.  In the signal
 * handler of a thread that was in the program's code, so it holds no lock of ours.
 */
void report_host_fault(void *cp, uint64_t address);

#endif
