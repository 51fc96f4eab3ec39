/* SPDX-License-Identifier: MIT */
/* What calls of the host program cost that allocate and free, and its page faults; see ccd.h.  Formulas over
 * sizes: the kernel's work behind them is not modelled. */
#include "ccd/ccd.h"

#include "chip/chip.h"

static double value(const struct chip *chip, enum chip_key key)
{
    return chip->value[key];
}

/* Faults on pages side by side: the kernel's lock lets one core after the other through. */
double cpu_fault_us(const struct chip *c, uint64_t pages, unsigned cores)
{
    if (!pages)
        return 0;
    double each = value(c, CHIP_core_fault_page) / cores, serial = value(c, CHIP_core_fault_serial);
    return value(c, CHIP_core_fault) + (double)(pages - 1) * (each > serial ? each : serial);
}

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
