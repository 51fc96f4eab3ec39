// SPDX-License-Identifier: MIT
// Reads of the L2 over occupancy, and STREAM's triad on memory.
#include "measure.h"

// One element a thread; the footprint stays in the L2s.
__global__ void read_once(const double *a, unsigned elements, double *out)
{
    extern __shared__ double unused[]; // limits how many workgroups a compute unit takes
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double value = a[i % elements];
    if (value == 1.25)
        *out = value;
}

__global__ void triad(double *a, const double *b, const double *c, double scalar)
{
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    a[i] = b[i] + scalar * c[i];
}

static double *allocate(size_t bytes)
{
    void *p;
    CHECK_HIP(hipMalloc(&p, bytes));
    return static_cast<double *>(p);
}

static void l2_read()
{
    static const struct {
        int block, per_cu;
    } points[] = {{64, 2}, {128, 2}, {256, 2}, {384, 2}, {512, 2}, {768, 2}};
    const unsigned elements = 1536 * 1024 / sizeof(double);
    double *a = allocate(elements * sizeof(double) + 64);
    stopwatch watch;
    for (auto [block, per_cu] : points) {
        const unsigned shared = 65536 / static_cast<unsigned>(per_cu),
                       at_once = static_cast<unsigned>(compute_units() * per_cu);
        double us[2];
        for (unsigned k = 0; k < 3; k++) { // the first warms
            const unsigned blocks = at_once * (k == 2 ? 12 : 4);
            watch.start();
            read_once<<<blocks, block, shared>>>(a, elements, a + elements);
            us[k > 1] = watch.stop();
        }
        row("l2_read", 64.0 * block * per_cu / 2048 / 64 * 100,
            8.0 * at_once * block * sizeof(double) / (us[1] - us[0]) / 1e3);
    }
    CHECK_HIP(hipFree(a));
}

static void stream()
{
    const size_t n = size_t{12} << 20; // three arrays of 96 MiB
    double *a = allocate(n * sizeof(double)), *b = allocate(n * sizeof(double)),
           *c = allocate(n * sizeof(double));
    stopwatch watch;
    double us[2];
    for (unsigned k = 0; k < 2; k++) { // a part, and the rest after it
        const size_t first = k == 0 ? 0 : n / 4, count = k == 0 ? n / 4 : n - n / 4;
        watch.start();
        triad<<<static_cast<unsigned>(count / 1024), 1024>>>(a + first, b + first, c + first, 0.4);
        us[k] = watch.stop();
    }
    row("triad", 0, 3.0 * (n / 2) * sizeof(double) / (us[1] - us[0]) / 1e6);
    CHECK_HIP(hipFree(a));
    CHECK_HIP(hipFree(b));
    CHECK_HIP(hipFree(c));
}

int main()
{
    l2_read();
    stream();
    return 0;
}
