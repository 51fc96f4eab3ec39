/* SPDX-License-Identifier: MIT */
/*
 * Timing mode: what work would take on the other side of the package, a kernel's on CPU cores and host code's
 * as a kernel.  It is an estimate, from what was counted and the chip's numbers: the largest of what
 * instructions and bytes take (a roofline), and what cannot go side by side besides.
 */
#ifndef HIP_ADVISE_MOVE_H
#define HIP_ADVISE_MOVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ehp/ehp.h"

/* The chip's, in ns and bytes. */
struct advise_rates {
    unsigned cores, ccds;
    double core_ghz, core_ipc, vector;   /* bytes of a vector instruction */
    double core_bytes;                   /* a ns, of one core, by the lines that it waits for */
    double ccd_bytes;                    /* of a CCD, each way */
    double core_load, gpu_load, l2_load; /* a load from memory; of the GPU, from its L2 */
    double lanes, gpu_bytes;             /* lane operations a ns, and bytes to and from memory */
    double l1_bytes;                     /* of all vector caches */
    double packet, wake;                 /* of a launch, and of a wait for it */
};

/* What ehp_cpu_run() did from one place in the program, or a parallel region (operation -1). */
struct advise_job {
    int site, operation;
    unsigned cores;
    uint64_t calls, accessed, bytes, instructions, chained, far, ns;
};

/* Of all cores together; `busy_ns` and `chained`: of the one that had most. */
struct advise_cores {
    uint64_t instructions, accesses, bytes, cores;
    uint64_t far;             /* loads and stores past the third cache */
    uint64_t chained, chains; /* chains: of all */
    double busy_ns;
};

struct hip_advise;
struct advise_rates advise_rates_of(ehp_machine *machine);
struct advise_cores advise_cores_of(ehp_machine *machine, const struct advise_rates *rates);
void advise_move_text(const struct hip_advise *advise, FILE *file);
void advise_move_json(const struct hip_advise *advise, FILE *file);

#endif
