// SPDX-License-Identifier: MIT
// Reads and writes of footprints that the L2s hold, or not, over the number of waves: one element a thread.
#include "measure.h"

// `run` workgroups go through the array once.
__global__ void read_once(const double *a, unsigned run, double *out)
{
    extern __shared__ double unused[]; // limits how many workgroups a compute unit takes
    double value = a[blockIdx.x % run * blockDim.x + threadIdx.x];
    if (value == 1.25)
        *out = value;
}

// Every XCD reads all.
__global__ void warm(const double *a, unsigned xcds, double *out)
{
    if (double value = a[blockIdx.x / xcds * blockDim.x + threadIdx.x]; value == 1.25)
        *out = value;
}

__global__ void write_once(double *a, unsigned run, double value)
{
    a[blockIdx.x % run * blockDim.x + threadIdx.x] = value;
}

static double *array;
static unsigned run;

static double read(int block, unsigned shared, unsigned blocks)
{
    stopwatch watch;
    watch.start();
    read_once<<<blocks, block, shared>>>(array, run, array);
    return watch.stop();
}

static double write(unsigned blocks)
{
    stopwatch watch;
    watch.start();
    write_once<<<blocks, 1024>>>(array, run, 2.5);
    return watch.stop();
}

static void read_curve()
{
    static const struct {
        int block, per_cu;
    } points[] = {{96, 1},  {64, 2},  {192, 1}, {128, 2}, {192, 2}, {256, 2},
                  {384, 2}, {512, 2}, {640, 2}, {768, 2}, {896, 2}};
    const unsigned bytes = 1536 << 10;
    CHECK_HIP(hipMalloc(&array, bytes));
    const unsigned xcds = static_cast<unsigned>(compute_units()) / 38;
    warm<<<bytes / 8192 * xcds, 1024>>>(array, xcds, array);
    for (auto [block, per_cu] : points) {
        const unsigned shared = 65536 / static_cast<unsigned>(per_cu),
                       in_block = static_cast<unsigned>(block) * 8;
        run = bytes / in_block;
        const unsigned at_once = static_cast<unsigned>(compute_units() * per_cu);
        double few = read(block, shared, at_once * 4), many = read(block, shared, at_once * 12);
        row("l2_read", 100.0 * block * per_cu / 2048, 8.0 * at_once * in_block / (many - few) / 1e3);
    }
    CHECK_HIP(hipFree(array));
}

static void write_curve()
{
    const unsigned xcds = static_cast<unsigned>(compute_units()) / 38,
                   full = xcds * 512; // what fills the L2s
    for (unsigned kib :
         {895, 2431, 4479, 7167, 11007, 16255, 23423, 46591}) { // of two arrays; one is written
        run = (kib * 64 + 1023) / 1024;
        CHECK_HIP(hipMalloc(&array, size_t{run} * 8192));
        const unsigned before = kib < 8192 ? xcds * run : full * 5 / 4, then = kib < 8192 ? full / 2 : full;
        write(run); // pages
        double few = write(before), many = write(before + then);
        row("l2_write", kib, 8192.0 * then / (many - few) / 1e3);
        CHECK_HIP(hipFree(array));
    }
}

int main(int argc, char **)
{
    read_curve();
    if (argc == 1)
        write_curve();
    return 0;
}
