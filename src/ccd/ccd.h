/* SPDX-License-Identifier: MIT */
/*
 * The package's CPU in timing mode: what its cores' use of memory costs, and the
 * calls that the host program makes to allocate and free.  Cores have no state
 * of their own yet: an operation is a formula over the page table's answers.
 *
 * Source: Wahlgren et al., UPM on MI300A, IV.A, IV.B, V.A, V.B.
 */
#ifndef EHP_CCD_CCD_H
#define EHP_CCD_CCD_H

#include <stdbool.h>
#include <stdint.h>

#include "ehp/ehp.h"

struct chip;
struct vm;

/* Fills in work->ns and work->faults; pages that it touches exist then. */
void ccd_run(const struct chip *chip, struct vm *vm, struct ehp_cpu_work *work);

uint64_t ccd_alloc_ns(const struct chip *chip, int kind, uint64_t bytes, bool xnack);
uint64_t ccd_free_ns(const struct chip *chip, int kind, uint64_t bytes, bool on_demand);

#endif
