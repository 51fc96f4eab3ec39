/* SPDX-License-Identifier: MIT */
/*
 * A simulated MI300A inside of a C program, without HIP: open a machine, load
 * a code object, dispatch a kernel through a queue, wait, read counters.
 *
 *   cc embed.c $(pkg-config --cflags --libs ehp) -o embed
 *   ./embed ../prebuilt/mandelbrot.hsaco
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ehp/ehp.h>

enum { WIDTH = 128, HEIGHT = 96, LIMIT = 100 };

/* The kernel's arguments, laid out as its metadata says (`ehp disasm` prints them). */
struct arguments {
    uint8_t *steps;
    int32_t width, height;
    float left, top, scale;
    int32_t limit;
};

static void *read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    *bytes = (size_t)ftell(f);
    void *data = malloc(*bytes);
    if (!data || fseek(f, 0, SEEK_SET) != 0 || fread(data, 1, *bytes, f) != *bytes) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(f);
    return data;
}

static void check(ehp_machine *m, int status)
{
    if (status != EHP_OK) {
        fprintf(stderr, "embed: %s\n", ehp_error_text(m));
        exit(1);
    }
}

/* What the kernel computes, on the host. */
static int host_steps(float cx, float cy)
{
    float x = 0, y = 0;
    int n = 0;
    while (n < LIMIT && x * x + y * y < 4.0f) {
        float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: embed mandelbrot.hsaco\n");
        return 2;
    }
    struct ehp_options options = EHP_OPTIONS_INIT;
    ehp_machine *m;
    if (ehp_open(&options, &m) != EHP_OK) {
        fprintf(stderr, "embed: %s\n", options.error);
        return 1;
    }
    ehp_stats_enable(m, true);

    size_t bytes;
    void *image = read_file(argv[1], &bytes), *memory, *kernarg;
    ehp_code *code;
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    check(m, ehp_code_load(m, 0, image, bytes, &code));
    free(image);
    check(m, ehp_code_kernel_at(code, 0, &kernel));
    check(m, ehp_mem_alloc(m, 0, EHP_MEM_DEVICE, WIDTH * HEIGHT, 0, &memory));
    check(m, ehp_mem_alloc(m, 0, EHP_MEM_INTERNAL, kernel.kernarg_bytes, 0, &kernarg));
    struct arguments arguments = {memory, WIDTH, HEIGHT, -2.1f, -1.2f, 0.025f, LIMIT};
    memcpy(kernarg, &arguments, sizeof(arguments));

    struct ehp_queue_block *queue;
    ehp_signal done;
    check(m, ehp_queue_create(m, 0, 16, 1, &queue));
    check(m, ehp_signal_create(m, 1, &done));
    union ehp_packet packet = {
        .dispatch = {
            .header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, EHP_SCOPE_SYSTEM, EHP_SCOPE_SYSTEM),
            .setup = 2,
            .workgroup_size_x = 64,
            .workgroup_size_y = 4,
            .workgroup_size_z = 1,
            .grid_size_x = WIDTH,
            .grid_size_y = HEIGHT,
            .grid_size_z = 1,
            .private_segment_size = kernel.private_bytes,
            .group_segment_size = kernel.group_bytes,
            .kernel_object = kernel.object,
            .kernarg_address = kernarg,
            .completion_signal = done,
        }};
    ehp_queue_submit(queue, &packet);
    ehp_signal_wait(done, EHP_COND_EQ, 0, UINT64_MAX);

    unsigned wrong = 0;
    const uint8_t *steps = memory;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int expected = host_steps(-2.1f + 0.025f * (float)x, -1.2f + 0.025f * (float)y);
            wrong += steps[y * WIDTH + x] != expected;
        }
    struct ehp_stats stats = {.size = sizeof(stats)};
    check(m, ehp_stats_get(m, 0, &stats));
    printf("%s: %llu waves, %llu instructions, %u of %d points wrong\n", kernel.name,
           (unsigned long long)stats.waves, (unsigned long long)stats.instructions, wrong, WIDTH * HEIGHT);
    ehp_signal_destroy(done);
    ehp_queue_destroy(queue);
    ehp_code_unload(code);
    ehp_close(m);
    return wrong || ehp_version()[0] == '\0';
}
