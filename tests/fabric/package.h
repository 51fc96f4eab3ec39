/* SPDX-License-Identifier: MIT */
/* A package without compute dies: the fabric, and an asker in the place of each XCD. */
#ifndef EHP_TESTS_FABRIC_PACKAGE_H
#define EHP_TESTS_FABRIC_PACKAGE_H

#include <stdlib.h>
#include <sys/mman.h>

#include "check.h"
#include "wave/fault.h"
#include "fabric/fabric.h"
#include "chip/chip.h"

enum { RIG_XCDS = 8, RIG_BYTES = 64 << 20 };

struct rig {
    struct chip chip;
    struct port *port;
    struct fabric *fabric;
    unsigned xcds, iods;
    uint8_t *memory; /* host memory of the lines: physical addresses wrap around in it */
};

static inline void rig_load(struct rig *rig, const char *chip)
{
    char error[256] = "";
    fault_install();
    if (!CHECK(chip_load(chip, &rig->chip, error, sizeof(error)) == 0)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
}

static inline void rig_start(struct rig *rig, unsigned threads, unsigned nps)
{
    rig->xcds = chip_get(&rig->chip, CHIP_xcd_count);
    rig->iods = chip_get(&rig->chip, CHIP_iod_count);
    rig->port = port_open(rig->xcds + rig->iods, fabric_lookahead_ps(&rig->chip), threads, NULL);
    rig->fabric = fabric_open(&rig->chip, rig->port, rig->xcds, nps);
    CHECK(rig->fabric != NULL);
    for (unsigned i = 0; i < rig->xcds; i++)
        port_set_clock(port_domain(rig->port, i), rig->chip.value[CHIP_chip_clock]);
    rig->memory =
        mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(rig->memory != MAP_FAILED);
}

static inline void rig_open(struct rig *rig, const char *chip, unsigned threads, unsigned nps)
{
    rig_load(rig, chip);
    rig_start(rig, threads, nps);
}

static inline void rig_close(struct rig *rig)
{
    fabric_close(rig->fabric);
    port_close(rig->port);
    munmap(rig->memory, RIG_BYTES);
    chip_free(&rig->chip);
}

static inline void rig_address(const struct rig *rig, struct fabric_request *r, uint64_t physical)
{
    r->physical = physical;
    r->line = (uint64_t)(uintptr_t)rig->memory + physical % RIG_BYTES;
}

#endif
