/* SPDX-License-Identifier: MIT */
/* A machine in simulated time with kernels.hsaco, of which functions are run by name. */
#ifndef EHP_TESTS_CU_TIMED_MACHINE_H
#define EHP_TESTS_CU_TIMED_MACHINE_H

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "ehp/ehp.h"

enum { RIG_WAVES = 16, RIG_GROUPS = 64 };
#define SLICE_NS UINT64_C(600000000000)

/* What a wave left in s[16:23]. */
struct left {
    uint64_t start, end, other; /* s_memtime's, by convention */
    uint32_t hw_id, more;
    uint32_t unused[8];
};

struct rig {
    const char *chip; /* NULL: the default */
    ehp_machine *m;
    ehp_code *code;
    struct ehp_queue_block *queue;
    ehp_signal done;
    struct left *left; /* of workgroup * RIG_WAVES + wave */
    uint32_t *memory;
    uint64_t slice_ns; /* of a wait for the kernel's end, on the host's clock; a sanitizer's is slow */
    struct {
        uint64_t out, function, memory;
    } *argument;
};

static inline void *rig_memory(ehp_machine *m, size_t bytes)
{
    void *p = NULL;
    CHECK(ehp_mem_alloc(m, 0, EHP_MEM_DEVICE, bytes, 0, &p) == EHP_OK);
    return p;
}

static inline void rig_open(struct rig *r, const char *hsaco, unsigned threads)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.timing = true;
    options.chip = r->chip;
    options.threads = threads;
    r->slice_ns = SLICE_NS;
    if (ehp_open(&options, &r->m) != EHP_OK) {
        fprintf(stderr, "%s\n", options.error);
        exit(1);
    }
    static uint8_t image[1 << 17];
    FILE *file = fopen(hsaco, "rb");
    size_t bytes = file ? fread(image, 1, sizeof(image), file) : 0;
    if (file)
        fclose(file);
    if (!CHECK(ehp_code_load(r->m, 0, image, bytes, &r->code) == EHP_OK)) {
        fprintf(stderr, "%s: %s\n", hsaco, ehp_error_text(r->m));
        exit(1);
    }
    CHECK(ehp_queue_create(r->m, 0, 16, 1, &r->queue) == EHP_OK);
    CHECK(ehp_signal_create(r->m, 0, &r->done) == EHP_OK);
    r->left = rig_memory(r->m, sizeof(*r->left) * RIG_WAVES * RIG_GROUPS);
    r->memory = rig_memory(r->m, 1 << 20);
    r->argument = rig_memory(r->m, sizeof(*r->argument));
}

/* The same of an MI300A of which the command processor's `key` is something else. */
static inline void rig_open_cp(struct rig *r, const char *hsaco, const char *key, unsigned value)
{
    char chip[] = "/tmp/ehp-chip-XXXXXX.cfg";
    int file = mkstemps(chip, 4);
    CHECK(file >= 0 && dprintf(file, "base = \"mi300a\";\ncp: { %s = (%u, \"guess\"); };\n", key, value) > 0);
    close(file);
    r->chip = chip;
    rig_open(r, hsaco, 1);
    r->chip = NULL;
    unlink(chip);
}

static inline void rig_close(struct rig *r)
{
    ehp_queue_destroy(r->queue);
    ehp_signal_destroy(r->done);
    ehp_code_unload(r->code);
    ehp_close(r->m);
}

static inline uint64_t rig_function(const struct rig *r, const char *name)
{
    struct ehp_function f = EHP_FUNCTION_INIT;
    for (unsigned i = 0; i < ehp_code_function_count(r->code); i++)
        if (ehp_code_function_at(r->code, i, &f) == EHP_OK && f.name && strcmp(f.name, name) == 0)
            return f.start;
    fprintf(stderr, "kernels.hsaco has no %s: make it anew, kernels.s says how\n", name);
    exit(1);
}

/* The function, on `groups` workgroups of so many waves. */
static inline void rig_submit(struct rig *r, const char *name, unsigned groups, unsigned waves)
{
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    CHECK(ehp_code_kernel(r->code, "run", &kernel) == EHP_OK);
    r->argument->out = (uintptr_t)r->left;
    r->argument->function = rig_function(r, name);
    r->argument->memory = (uintptr_t)r->memory;
    union ehp_packet p = {.dispatch = {.header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, 2, 2),
                                       .setup = 1,
                                       .workgroup_size_x = (uint16_t)(waves * 64),
                                       .workgroup_size_y = 1,
                                       .workgroup_size_z = 1,
                                       .grid_size_x = groups * waves * 64,
                                       .grid_size_y = 1,
                                       .grid_size_z = 1,
                                       .group_segment_size = kernel.group_bytes,
                                       .kernel_object = kernel.object,
                                       .kernarg_address = r->argument,
                                       .completion_signal = r->done}};
    ehp_signal_store(r->done, 1);
    ehp_queue_submit(r->queue, &p);
}

static inline void rig_wait(struct rig *r)
{
    while (ehp_signal_wait(r->done, EHP_COND_EQ, 0, r->slice_ns) != 0)
        CHECK(r->slice_ns < SLICE_NS);
}

/* Returns what the first wave left. */
static inline struct left rig_run(struct rig *r, const char *name, unsigned groups, unsigned waves)
{
    memset(r->left, 0, sizeof(*r->left) * RIG_WAVES * RIG_GROUPS);
    rig_submit(r, name, groups, waves);
    rig_wait(r);
    return r->left[0];
}

/* Cycles from its first s_memtime to its last. */
static inline uint64_t rig_cycles(struct rig *r, const char *name)
{
    struct left l = rig_run(r, name, 1, 1);
    return l.end - l.start;
}

static inline unsigned rig_chip(struct rig *r, const char *key)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    CHECK(ehp_chip_value(r->m, key, &v) == EHP_OK);
    return (unsigned)v.number;
}

#endif
