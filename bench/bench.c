/* SPDX-License-Identifier: MIT */
/* See bench.h. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    fseek(f, 0, SEEK_SET);
    void *data = malloc(*bytes);
    if (!data || fread(data, 1, *bytes, f) != *bytes)
        exit(1);
    fclose(f);
    return data;
}

static void must(struct bench *b, int status, const char *what)
{
    if (status != EHP_OK) {
        fprintf(stderr, "bench: %s: %s\n", what, ehp_error_text(b->machine));
        exit(1);
    }
}

void bench_open(struct bench *b, unsigned threads, const char *path)
{
    bench_open_on(b, NULL, false, threads, path);
}

void bench_open_on(struct bench *b, const char *chip, bool timing, unsigned threads, const char *path)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.chip = chip;
    options.timing = timing;
    options.threads = threads;
    if (ehp_open(&options, &b->machine) != EHP_OK) {
        fprintf(stderr, "bench: %s\n", options.error);
        exit(1);
    }
    size_t bytes;
    void *image = read_file(path, &bytes);
    must(b, ehp_code_load(b->machine, 0, image, bytes, &b->code), path);
    free(image);
    must(b, ehp_queue_create(b->machine, 0, 64, 1, &b->queue), "queue");
    must(b, ehp_signal_create(b->machine, 0, &b->signal), "signal");
    must(b, ehp_mem_alloc(b->machine, 0, EHP_MEM_INTERNAL, 4096, 0, &b->kernarg), "kernarg");
}

void bench_close(struct bench *b)
{
    ehp_queue_destroy(b->queue);
    ehp_signal_destroy(b->signal);
    ehp_close(b->machine);
}

void bench_launch(struct bench *b, const char *name, uint32_t groups, uint32_t items,
                  const uint64_t *arguments, unsigned count)
{
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    if (ehp_code_kernel(b->code, name, &kernel) != EHP_OK) {
        fprintf(stderr, "bench: no kernel %s\n", name);
        exit(1);
    }
    memcpy(b->kernarg, arguments, count * sizeof(*arguments));
    ehp_signal_store(b->signal, 1);
    union ehp_packet packet = {
        .dispatch = {
            .header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, EHP_SCOPE_SYSTEM, EHP_SCOPE_SYSTEM),
            .setup = 1,
            .workgroup_size_x = (uint16_t)items,
            .workgroup_size_y = 1,
            .workgroup_size_z = 1,
            .grid_size_x = groups * items,
            .grid_size_y = 1,
            .grid_size_z = 1,
            .private_segment_size = kernel.private_bytes,
            .group_segment_size = kernel.group_bytes,
            .kernel_object = kernel.object,
            .kernarg_address = b->kernarg,
            .completion_signal = b->signal,
        }};
    ehp_queue_submit(b->queue, &packet);
    ehp_signal_wait(b->signal, EHP_COND_EQ, 0, UINT64_MAX);
    if (ehp_queue_fault(b->queue, NULL) == EHP_OK)
        exit(1); /* reported already */
}

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_cpu_seconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double bench_thread_seconds(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, unsigned count)
{
    qsort(values, count, sizeof(values[0]), compare_doubles);
    return values[count / 2];
}
