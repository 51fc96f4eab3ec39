/* SPDX-License-Identifier: MIT */
/*
 * Runs functions compiled for gfx942 on the simulated chip and the same
 * functions compiled for the host, on the same inputs, and compares every bit
 * that they leave behind.
 *
 *   runner MODE CODE_OBJECT LIBRARY SEED LANES FUNCTION...
 *
 * MODE is functional, timing, or timing-compiled: with what it executes in runs compiled.
 * Prints a line for each function: "N same", "N differs ..." or "N faults ...".
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ehp/ehp.h"

enum { IN_DWORDS = 16, MEM_DWORDS = 32, OUT_SLOTS = 64, SHARED_SLOTS = 8, GROUP = 256 };

typedef void host_fn(const uint32_t *in, uint64_t *out, uint32_t *mem, uint64_t *shared, uint64_t n0,
                     uint64_t n1, uint64_t n2, uint64_t n3, uint32_t lanes);

struct arguments {
    uint32_t *in;
    uint64_t *out;
    uint32_t *mem;
    uint64_t *shared;
    uint64_t n[4];
    uint32_t lanes;
};

struct runner {
    ehp_machine *machine;
    ehp_code *code;
    struct ehp_queue_block *queue;
    ehp_signal signal;
    void *kernarg, *host_library;
    bool timing, compiled;
    uint32_t lanes;
    uint64_t seed;
    struct arguments host, device;
};

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Half of the inputs are the ones that arithmetic gets wrong: edges of integers and of every float format. */
static uint32_t hard_dword(uint64_t *state)
{
    static const uint32_t hard[] = {
        0,          1,          2,          3,          7,          8,          31,         32,
        33,         63,         64,         0x7f,       0x80,       0xff,       0x100,      0x7fff,
        0x8000,     0xffff,     0x10000,    0x7fffff,   0x800000,   0xffffff,   0x7fffffff, 0x80000000,
        0x80000001, 0xfffffffe, 0xffffffff, 0xfffffff0, 0x00000400, 0x03ff0001, 0x3c003c00, 0xbc003c00,
        0x7bff7c00, 0xfc000001, 0x04008400, 0x80008000, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff,
        0x40000000, 0x3f000000, 0x3effffff, 0x40490fdb, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff,
        0xff7fffff, 0x00800000, 0x007fffff, 0x80800000, 0x4b000000, 0x4b7fffff, 0x4f000000, 0x4effffff,
        0x4f7fffff, 0xcf000000, 0x5f000000, 0x3ff00000, 0xbff00000, 0x7ff00000, 0x7fefffff, 0x000fffff,
        0x00100000, 0x41e00000, 0x43e00000, 0x01010101, 0x80808080, 0x55555555, 0xaaaaaaaa, 0x0000ffff,
    };
    uint64_t r = next_random(state);
    if (r & 1)
        return hard[(r >> 8) % (sizeof hard / sizeof *hard)];
    switch (r >> 1 & 7) {
    case 0:
        return (uint32_t)(r >> 32) & 63;
    case 1:
        return (uint32_t)(r >> 32) >> (r >> 8 & 31);
    case 2: /* a float of moderate size */
        return ((uint32_t)(r >> 32) & 0x87ffffff) | 0x3c000000;
    case 3: /* the high half of such a double, two halves of moderate size */
        return ((uint32_t)(r >> 32) & 0x83ff83ff) | (r & 16 ? 0x40003c00 : 0x3c003800);
    default:
        return (uint32_t)(r >> 32);
    }
}

static void fatal(const char *what, const char *why)
{
    fprintf(stderr, "runner: %s: %s\n", what, why);
    exit(2);
}

static void quiet(const struct ehp_fault *fault, void *user)
{
    (void)user;
    fprintf(stderr, "%s\n", fault->text);
}

static void open_machine(struct runner *r, const char *path)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.threads = 1;
    options.timeout_ms = 60000;
    options.timing = r->timing;
    options.engine = r->compiled ? EHP_ENGINE_COMPILED : EHP_ENGINE_AUTO;
    if (ehp_open(&options, &r->machine) != EHP_OK)
        fatal("machine", options.error);
    ehp_set_fault_handler(r->machine, quiet, NULL);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        fatal(path, "cannot be read");
    long end = ftell(f);
    (void)fseek(f, 0, SEEK_SET);
    void *image = end > 0 ? malloc((size_t)end) : NULL;
    if (!image || fread(image, 1, (size_t)end, f) != (size_t)end)
        fatal(path, "cannot be read");
    fclose(f);
    if (ehp_code_load(r->machine, 0, image, (size_t)end, &r->code) != EHP_OK)
        fatal(path, ehp_error_text(r->machine));
    free(image);
    struct arguments *d = &r->device;
    if (ehp_signal_create(r->machine, 0, &r->signal) != EHP_OK ||
        ehp_queue_create(r->machine, 0, 64, 1, &r->queue) != EHP_OK ||
        ehp_mem_alloc(r->machine, 0, EHP_MEM_INTERNAL, 4096, 0, &r->kernarg) != EHP_OK ||
        ehp_mem_alloc(r->machine, 0, EHP_MEM_DEVICE, (uint64_t)r->lanes * IN_DWORDS * 4, 0,
                      (void **)&d->in) != EHP_OK ||
        ehp_mem_alloc(r->machine, 0, EHP_MEM_DEVICE, (uint64_t)r->lanes * OUT_SLOTS * 8, 0,
                      (void **)&d->out) != EHP_OK ||
        ehp_mem_alloc(r->machine, 0, EHP_MEM_DEVICE, (uint64_t)r->lanes * MEM_DWORDS * 4, 0,
                      (void **)&d->mem) != EHP_OK ||
        ehp_mem_alloc(r->machine, 0, EHP_MEM_DEVICE, SHARED_SLOTS * 8, 0, (void **)&d->shared) != EHP_OK)
        fatal("machine", ehp_error_text(r->machine));
}

static void close_machine(struct runner *r)
{
    ehp_queue_destroy(r->queue);
    ehp_signal_destroy(r->signal);
    ehp_code_unload(r->code);
    ehp_close(r->machine);
}

static void fill_inputs(struct runner *r, unsigned function, struct arguments *a)
{
    uint64_t state = r->seed * 0x2545f4914f6cdd1du + function;
    for (uint32_t i = 0; i < r->lanes * IN_DWORDS; i++)
        a->in[i] = hard_dword(&state);
    for (uint32_t i = 0; i < r->lanes * MEM_DWORDS; i++)
        a->mem[i] = hard_dword(&state);
    for (unsigned i = 0; i < SHARED_SLOTS; i++)
        a->shared[i] = next_random(&state);
    for (unsigned i = 0; i < 4; i++)
        a->n[i] = hard_dword(&state) | (uint64_t)hard_dword(&state) << 32;
    a->lanes = r->lanes;
    memset(a->out, 0, (size_t)r->lanes * OUT_SLOTS * 8);
}

static bool launch(struct runner *r, unsigned function)
{
    char name[32];
    snprintf(name, sizeof name, "k%u", function);
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    if (ehp_code_kernel(r->code, name, &kernel) != EHP_OK)
        fatal(name, ehp_error_text(r->machine));
    memset(r->kernarg, 0, 4096);
    memcpy(r->kernarg, &r->device, sizeof r->device);
    ehp_signal_store(r->signal, 1);
    union ehp_packet packet = {
        .dispatch = {
            .header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, EHP_SCOPE_SYSTEM, EHP_SCOPE_SYSTEM),
            .setup = 1,
            .workgroup_size_x = GROUP,
            .workgroup_size_y = 1,
            .workgroup_size_z = 1,
            .grid_size_x = r->lanes,
            .grid_size_y = 1,
            .grid_size_z = 1,
            .private_segment_size = kernel.private_bytes + (kernel.dynamic_stack ? 16384 : 0),
            .group_segment_size = kernel.group_bytes,
            .kernel_object = kernel.object,
            .kernarg_address = r->kernarg,
            .completion_signal = r->signal,
        }};
    ehp_queue_submit(r->queue, &packet);
    ehp_signal_wait(r->signal, EHP_COND_EQ, 0, UINT64_MAX);
    struct ehp_fault fault = {.size = sizeof fault};
    return ehp_queue_fault(r->queue, &fault) != EHP_OK;
}

/* The first place where two arrays of 4-byte words differ, or `count`. */
static size_t first_difference(const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp((const char *)a + i * 4, (const char *)b + i * 4, 4) != 0)
            return i;
    return count;
}

static bool compare(const struct runner *r, unsigned function)
{
    const struct {
        const char *name;
        const void *host, *device;
        size_t words, lane_words;
    } parts[] = {
        {"out", r->host.out, r->device.out, (size_t)r->lanes * OUT_SLOTS * 2, OUT_SLOTS * 2},
        {"mem", r->host.mem, r->device.mem, (size_t)r->lanes * MEM_DWORDS, MEM_DWORDS},
        {"shared", r->host.shared, r->device.shared, SHARED_SLOTS * 2, SHARED_SLOTS * 2},
    };
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        size_t at = first_difference(parts[p].host, parts[p].device, parts[p].words);
        if (at == parts[p].words)
            continue;
        uint32_t host, device;
        memcpy(&host, (const char *)parts[p].host + at * 4, 4);
        memcpy(&device, (const char *)parts[p].device + at * 4, 4);
        size_t lane = at / parts[p].lane_words;
        printf("%u differs lane %zu %s[%zu] host %08x device %08x in", function, lane, parts[p].name,
               at % parts[p].lane_words, host, device);
        for (unsigned i = 0; i < IN_DWORDS; i++)
            printf(" %08x", r->host.in[lane * IN_DWORDS + i]);
        printf(" n %lx %lx %lx %lx\n", r->host.n[0], r->host.n[1], r->host.n[2], r->host.n[3]);
        return false;
    }
    return true;
}

static bool run_function(struct runner *r, unsigned function, const char *code)
{
    char name[32];
    snprintf(name, sizeof name, "k%u", function);
    host_fn *host;
    *(void **)&host = dlsym(r->host_library, name);
    if (!host)
        fatal(name, "not in the library");
    fill_inputs(r, function, &r->host);
    fill_inputs(r, function, &r->device);
    const struct arguments *h = &r->host;
    host(h->in, h->out, h->mem, h->shared, h->n[0], h->n[1], h->n[2], h->n[3], h->lanes);
    if (!launch(r, function)) {
        printf("%u faults\n", function);
        close_machine(r);
        open_machine(r, code);
        return false;
    }
    if (!compare(r, function))
        return false;
    printf("%u same\n", function);
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 7)
        fatal("usage", "runner MODE CODE_OBJECT LIBRARY SEED LANES FUNCTION...");
    struct runner r = {.timing = !strncmp(argv[1], "timing", 6),
                       .compiled = !strcmp(argv[1], "timing-compiled"),
                       .seed = strtoull(argv[4], NULL, 0),
                       .lanes = (uint32_t)strtoul(argv[5], NULL, 0)};
    r.host_library = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
    if (!r.host_library)
        fatal(argv[3], dlerror());
    open_machine(&r, argv[2]);
    r.host.in = calloc(r.lanes, IN_DWORDS * 4);
    r.host.out = calloc(r.lanes, OUT_SLOTS * 8);
    r.host.mem = calloc(r.lanes, MEM_DWORDS * 4);
    r.host.shared = calloc(SHARED_SLOTS, 8);
    if (!r.host.in || !r.host.out || !r.host.mem || !r.host.shared)
        fatal("inputs", "no memory");
    unsigned bad = 0;
    for (int i = 6; i < argc; i++)
        bad += !run_function(&r, (unsigned)strtoul(argv[i], NULL, 0), argv[2]);
    close_machine(&r);
    free(r.host.in);
    free(r.host.out);
    free(r.host.mem);
    free(r.host.shared);
    return bad != 0;
}
