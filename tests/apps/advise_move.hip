/* SPDX-License-Identifier: MIT */
/* The same work as a kernel and on CPU cores, for what `ehp advise` says of either: tiny, or N words of
 * triad. */
#include <hip/ehp_host.h>
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void tiny(float *a)
{
    a[threadIdx.x] *= 2;
}

__global__ void triad(float *a, const float *b, const float *c)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = b[i] + 3 * c[i];
}

__global__ void walk(const uint32_t *next, uint32_t *end, int steps)
{
    uint32_t at = 0;
    for (int i = 0; i < steps; i++)
        at = next[at];
    *end = at;
}

static float *words(size_t count)
{
    float *a;
    if (hipMalloc((void **)&a, count * sizeof *a) != hipSuccess)
        exit(1);
    return a;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 4 << 20;
    float *a = words(n), *b = words(n), *c = words(n);
    double seconds = 0;

    for (int i = 0; i < 10; i++) {
        tiny<<<1, 64>>>(a);
        (void)hipDeviceSynchronize();
    }
    triad<<<n / 256, 256>>>(a, b, c);
    (void)hipDeviceSynchronize();
    struct ehp_cpu_work stream = EHP_CPU_WORK_INIT;
    stream.operation = EHP_CPU_STREAM;
    stream.cores = 24;
    stream.passes = 1;
    stream.ranges = 3;
    stream.written = 1;
    float *side[] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        stream.base[i] = side[i];
        stream.bytes[i] = n * sizeof(float);
    }
    if (ehp_host_run(&stream) != EHP_OK)
        return 1;
    seconds = (double)stream.ns * 1e-9;
    (void)hipMemset(a, 0, n * sizeof(float)); /* no core has what others have written */
    (void)hipDeviceSynchronize();
    stream.cores = 1;
    if (ehp_host_run(&stream) != EHP_OK)
        return 1;
    printf("{\"cores_ns\": %.0f, \"core_ns\": %.0f", seconds * 1e9, (double)stream.ns);

    /* A list in memory: each load's address is the last one's value. */
    const uint32_t places = 1 << 20;
    const int steps = 200;
    uint32_t *next = (uint32_t *)words(places), *end = (uint32_t *)words(1);
    for (uint32_t i = 0; i < places; i++)
        next[i] = (i * 1664525u + 1013904223u) % places;
    walk<<<1, 1>>>(next, end, steps);
    (void)hipDeviceSynchronize();
    struct ehp_cpu_work chase = EHP_CPU_WORK_INIT;
    chase.operation = EHP_CPU_CHASE;
    chase.cores = 1;
    chase.passes = steps;
    chase.ranges = 1;
    chase.base[0] = next;
    chase.bytes[0] = places * sizeof *next;
    if (ehp_host_run(&chase) != EHP_OK)
        return 1;
    printf(", \"chase_ns\": %.0f}\n", (double)chase.ns);
    return 0;
}
