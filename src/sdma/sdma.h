/* SPDX-License-Identifier: MIT */
/*
 * SDMA engines: each serves its copies and fills in order, and moves their bytes through the fabric like
 * everybody else: it fetches lines into its buffer, and writes them from there.  How fast that is comes of
 * its port's width, of the requests that it has outstanding, and of who else wants the same.
 *
 * Requests are for lines, or for aligned pairs of them, as the fabric knows them.  Engines have no TLB here:
 * translations take no time.
 *
 * Sources: AMD, CDNA 3 ISA and white paper say only that there are such engines; Linux, amdgpu,
 * aqua_vanjaram.c, how many.
 *
 * A long copy by an engine that has the package for itself is the same all the time.  Then the engine
 * measures its rate over some megabytes, and from then on moves a megabyte at a time without requests, and
 * lets it take the time of that rate; the Infinity Cache's tags follow.  Before each of them it asks whether
 * it is still alone.
 *
 * All of it is in the domain it was opened with.
 */
#ifndef EHP_SDMA_SDMA_H
#define EHP_SDMA_SDMA_H

#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"

struct chip;
struct fabric;
struct sdma;
struct vm;

/*
 * Of a job's memory.  What the GPU does not know the runtime pins for the job: such memory is in frames of
 * the engines' own, by its place in the job and not by its address, which has no part in how long that takes.
 */
struct sdma_side {
    uint64_t base, pitch, slice; /* bytes from row to row, from slice to slice */
    bool unknown;
};

/* Rows of bytes, of which one after another is copied or filled; the caller's until it is done. */
struct sdma_job {
    struct sdma_job *next;
    struct sdma_side to, from;
    uint64_t width, height, depth; /* bytes, rows, slices */
    bool fills;
    uint64_t pattern;  /* of a fill: eight bytes, again and again from the beginning of each row on */
    uint64_t start_ps; /* until it asks for its first bytes, from the submission on */
    /* Whether nobody else uses memory, and no L2 has what memory has not; NULL: that is not known. */
    bool (*alone)(const struct sdma_job *job);
    /* In the domain, once the last byte has been acknowledged, or it has faulted and nothing is under way. */
    void (*done)(struct sdma_job *job);
    void *self;
    bool faulted, fault_write;
    bool skipped; /* bytes were moved without requests: L2s may have lines that were written */
    uint64_t fault_address;
};

/* NULL when memory is short. */
struct sdma *sdma_open(const struct chip *chip, struct port_domain *domain, struct fabric *fabric,
                       struct vm *vm);
void sdma_close(struct sdma *sdma);

/* From the domain. */
void sdma_submit(struct sdma *sdma, unsigned engine, struct sdma_job *job);
unsigned sdma_engines(const struct sdma *sdma);

#endif
