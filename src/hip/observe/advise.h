/* SPDX-License-Identifier: MIT */
/*
 * What a program would gain from one memory: `ehp advise`, EHP_ADVISE.
 *
 * advise.c notes allocations, copies with their call sites, and which kernels are
 * given which buffers; advise_report.c finds what is on both sides and says what to do about it, as a report
 * (report.h); advise_move.c says what work would take on the other side.
 */
#ifndef HIP_ADVISE_H
#define HIP_ADVISE_H

#include <stdio.h>

#include "hip/memory/memory.h"
#include "hip/observe/advise_move.h"
#include "hip/core/module.h"
#include "hip/core/runtime.h"

/* NULL unless EHP_ADVISE is set: every call below is made only when it is there. */
struct hip_advise;

/* False: no memory, or no thread. */
bool hip_advise_init(struct hip_runtime *runtime);
void hip_advise_allocated(struct hip_memory *memory);
void hip_advise_freed(const struct hip_memory *memory);
/* Before the call waits for anything or copies; a span is from the first byte to the last, with gaps between
 * rows. */
void hip_advise_copy(const void *dst, size_t dst_span, const void *src, size_t src_span, size_t bytes,
                     bool async);
/* A kernel, with the block of its arguments. */
void hip_advise_launch(const struct ihipModuleSymbol_t *function, const unsigned char *kernarg);
/* The host has waited for what was launched. */
void hip_advise_waited(void);
/* Around ehp_cpu_run(). */
void hip_advise_cpu_begins(void);
void hip_advise_cpu_ended(const struct ehp_cpu_work *work);
/* Around a parallel region of code on cores; `team` is anything of its own. */
void hip_advise_region_begins(const void *team, uint64_t ps);
void hip_advise_region_ended(const void *team, const void *code, unsigned cores, uint64_t ps);
/* The program asked how much memory is free. */
void hip_advise_asked(void);

/* ---- between advise.c and advise_report.c ----------------------------------------------------------------
 */

/* "1.5 MiB": writes and returns the text. */
const char *advise_bytes(char text[24], double bytes);

enum { ADVISE_FRAMES = 8 };

enum advise_kind { /* where a buffer is; those of the host are what copies name */
                   ADVISE_DEVICE,
                   ADVISE_VARIABLE, /* __device__, __constant__ */
                   ADVISE_MANAGED,
                   ADVISE_MANAGED_VARIABLE,
                   ADVISE_PINNED,
                   ADVISE_REGISTERED,
                   ADVISE_HEAP,
                   ADVISE_STACK,
                   ADVISE_STATIC,
};

struct advise_site {
    void *frame[ADVISE_FRAMES]; /* return addresses in the program, innermost first */
    unsigned count;
    char line[96];
};

struct advise_buffer {
    uintptr_t base;
    size_t bytes;
    enum advise_kind kind;
    int site;                       /* of its allocation, or of the first copy that named it */
    uint64_t born, died;            /* by the count of allocations and frees; died 0: it has not */
    uint64_t launches, last_launch; /* kernels that were given it, and the number of the last */
    char name[64];                  /* a variable's */
    int partner; /* of the host's own: the device's buffer that copies name with it; or -1 */
};

/* All copies from one place in the program between the same buffers. */
struct advise_copy {
    int site, dst, src;           /* indices */
    uint64_t calls, bytes, known; /* known: bytes that were there already */
    const void *first;            /* destination of the first */
    bool async, partial;          /* partial: some move less than the device's buffer */
    bool overlapped;              /* the host refills its side while a kernel may read the other */
};

struct hip_advise {
    pthread_mutex_t lock;
    struct advise_site *sites;
    struct advise_buffer *buffers;
    struct advise_copy *copies;
    int site_count, buffer_count, copy_count;
    uint64_t events;            /* allocations and frees */
    uint64_t launches, settled; /* the number of the last kernel, and of the last that the host waited for */
    int asked;                  /* the site of hipMemGetInfo(), or -1 */
    /* Of copies between the sides, from the chip's numbers. */
    double copy_start_ns, copy_bytes_per_ns;
    /* Timing mode. */
    struct advise_rates rates;
    struct advise_job *jobs;
    int job_count;
    uint64_t waits;   /* of the host, for kernels */
    const void *team; /* whose region is being counted: one at a time, */
    uint64_t region_ps;
    struct advise_cores region;          /* from these on */
    struct advise_cores before, by_jobs; /* of cores: as a job began, and what jobs did */
};

bool advise_is_host(const struct advise_buffer *buffer);
void advise_report_text(FILE *file);
void advise_report_json(FILE *file);

#endif
