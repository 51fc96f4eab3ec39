/* SPDX-License-Identifier: MIT */
/*
 * For HIP programs that measure the CPU's side of the package in simulated time:
 * cores as memory agents, the time, and the memory in use.  They are found when the program
 * runs; with another HIP runtime they are EHP_ERR_UNSUPPORTED.
 */
#ifndef HIP_EHP_HOST_H
#define HIP_EHP_HOST_H

#include <dlfcn.h>
#include <stdbool.h>
#include <time.h>

#include <ehp/ehp.h>

static inline int ehp_host_run(struct ehp_cpu_work *work)
{
    int (*run)(struct ehp_cpu_work *) = (int (*)(struct ehp_cpu_work *))dlsym(RTLD_DEFAULT, "ehpCpuRun");
    return run ? run(work) : EHP_ERR_UNSUPPORTED;
}

/* The clock of wall_clock64() and of events, as the host has it: in ticks of 10 ns; with another runtime,
 * any. */
static inline uint64_t ehp_host_time(void)
{
    uint64_t (*get)(void) = (uint64_t (*)(void))dlsym(RTLD_DEFAULT, "ehpTimestamp");
    struct timespec t;
    if (get)
        return get();
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 100000000 + (uint64_t)t.tv_nsec / 10;
}

/*
 * What the calling thread computes from here on takes no simulated time, or takes it again: what a program
 * makes for itself that a real run finds made, or checks afterwards.  Of code compiled with --time-host; else
 * it changes nothing.  Calls of HIP's take what they take.  A thread is not to wait for another meanwhile.
 */
static inline void ehp_host_untimed(bool on)
{
    void (*pause)(bool) = (void (*)(bool))dlsym(RTLD_DEFAULT, "ehp_cpu_pause");
    if (pause)
        pause(on);
}

static inline int ehp_host_memory(struct ehp_mem_use *use)
{
    int (*get)(struct ehp_mem_use *) = (int (*)(struct ehp_mem_use *))dlsym(RTLD_DEFAULT, "ehpMemUse");
    return get ? get(use) : EHP_ERR_UNSUPPORTED;
}

#endif
