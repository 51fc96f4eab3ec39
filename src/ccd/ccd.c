/* SPDX-License-Identifier: MIT */
/* What CPU cores do with memory; see ccd.h. */
#include "ccd/ccd.h"

#include <math.h>

#include "chip/chip.h"
#include "vm/vm.h"

static double value(const struct chip *chip, enum chip_key key)
{
    return chip->value[key];
}

/* Faults on pages side by side: the kernel's lock lets one core after the other through. */
static double fault_us(const struct chip *c, uint64_t pages, unsigned cores)
{
    if (!pages)
        return 0;
    double each = value(c, CHIP_core_fault_page) / cores, serial = value(c, CHIP_core_fault_serial);
    return value(c, CHIP_core_fault) + (double)(pages - 1) * (each > serial ? each : serial);
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* As many instructions as the cores execute side by side. */
static double compute_us(const struct chip *c, uint64_t instructions, unsigned cores)
{
    return (double)instructions / (cores * value(c, CHIP_core_ipc) * value(c, CHIP_core_clock));
}

/* GB/s: the fullest stack ends last. */
static double stream_rate(const struct chip *c, unsigned cores, double balance)
{
    return smaller(cores * value(c, CHIP_core_bandwidth), value(c, CHIP_core_bandwidth_all) * balance);
}

/*
 * A chase goes round and round: what a cache of random replacement still has of a footprint so many times
 * its size.  A line is there again with the chance that none of the misses of a round has put it out.
 */
static double still_held(double times)
{
    if (times <= 1)
        return 1;
    double held = 0;
    for (unsigned i = 0; i < 200; i++)
        held = exp(-(1 - held) * times);
    return held;
}

/* Some of the stacks have more than their share of the bytes: of the Infinity Cache, slice by slice. */
static double cache_share(const struct chip *c, double bytes, double balance)
{
    double part = value(c, CHIP_vm_touch_stacks) / value(c, CHIP_hbm_stacks);
    double times = bytes / value(c, CHIP_infinity_cache_size), full = times / balance;
    double rest = part < 1 ? (times - part * full) / (1 - part) : 0;
    return (part * full * still_held(full) + (1 - part) * rest * still_held(rest)) / times;
}

/* Random loads over so many bytes: each level holds a share of them. */
static double chase_ns(const struct chip *c, double bytes, double balance)
{
    const struct {
        double share, ns;
    } level[] = {
        {still_held(bytes / value(c, CHIP_core_l1)), value(c, CHIP_core_l1_latency)},
        {still_held(bytes / value(c, CHIP_core_l2)), value(c, CHIP_core_l2_latency)},
        {still_held(bytes / value(c, CHIP_ccd_l3)), value(c, CHIP_core_l3_latency)},
        {cache_share(c, bytes, balance), value(c, CHIP_core_cache_latency)},
    };
    double sum = 0, held = 0;
    for (unsigned i = 0; i < sizeof(level) / sizeof(level[0]); i++) {
        if (level[i].share > held) {
            sum += (level[i].share - held) * level[i].ns;
            held = level[i].share;
        }
    }
    return sum + (1 - held) * value(c, CHIP_core_memory_latency);
}

void ccd_run(const struct chip *c, struct vm *vm, struct ehp_cpu_work *work)
{
    double us = 0, balance = 1, bytes = 0, compute = compute_us(c, work->instructions, work->cores);
    work->faults = 0;
    for (unsigned i = 0; i < work->ranges; i++) {
        work->faults += vm_touch(vm, (uint64_t)(uintptr_t)work->base[i], work->bytes[i]);
        bytes += (double)work->bytes[i];
    }
    for (unsigned i = 0; work->operation != EHP_CPU_TOUCH && i < work->ranges; i++)
        balance = smaller(balance, vm_balance(vm, (uint64_t)(uintptr_t)work->base[i], work->bytes[i]));
    if (work->operation == EHP_CPU_STREAM)
        us = bytes * (double)work->passes / stream_rate(c, work->cores, balance) * 1e-3;
    else if (work->operation == EHP_CPU_CHASE)
        us = (double)work->passes * chase_ns(c, (double)work->bytes[0], balance) * 1e-3;
    us = fault_us(c, work->faults, work->cores) + (us > compute ? us : compute);
    work->ns = (uint64_t)(us * 1e3 + 0.5);
}

/* ---- allocating ---- */

/* A call: of its first granule, and of each further one. */
static uint64_t call_ns(const struct chip *c, uint64_t bytes, enum chip_key first, enum chip_key each)
{
    double granule = value(c, CHIP_alloc_granule);
    double more = (double)(uint64_t)(((double)bytes + granule - 1) / granule) - 1;
    return (uint64_t)((value(c, first) + more * value(c, each)) * 1e3 + 0.5);
}

uint64_t ccd_alloc_ns(const struct chip *c, int kind, uint64_t bytes, bool xnack)
{
    switch (kind) {
    case EHP_MEM_DEVICE:
        return call_ns(c, bytes, CHIP_alloc_device, CHIP_alloc_device_granule);
    case EHP_MEM_HOST:
        return call_ns(c, bytes, CHIP_alloc_host, CHIP_alloc_host_granule);
    case EHP_MEM_MANAGED:
        return call_ns(c, xnack ? 1 : bytes, CHIP_alloc_managed, CHIP_alloc_managed_granule);
    default:
        return 0;
    }
}

uint64_t ccd_free_ns(const struct chip *c, int kind, uint64_t bytes, bool on_demand)
{
    switch (kind) {
    case EHP_MEM_DEVICE:
        return call_ns(c, bytes, CHIP_alloc_free,
                       (double)bytes >= value(c, CHIP_alloc_wipe) ? CHIP_alloc_wipe_granule
                                                                  : CHIP_alloc_free_granule);
    case EHP_MEM_HOST:
    case EHP_MEM_MANAGED:
        return on_demand ? (uint64_t)(value(c, CHIP_alloc_demand_free) * 1e3)
                         : call_ns(c, bytes, CHIP_alloc_host_free, CHIP_alloc_host_free_granule);
    default:
        return 0;
    }
}
