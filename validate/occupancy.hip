// SPDX-License-Identifier: MIT
// A stencil of five points on memory over the number of waves, one element a thread, as gpu-benches'
// gpu-stream has it: bandwidth of what is read and written once.  The dispatches are meant to be sampled;
// arrays of 256 MiB do then what the 2 GiB do that were measured (512 MiB: within 4 %).  Each dispatch has
// memory that the last two had not, and finds the Infinity Cache full of what those have left.
#include "measure.h"

constexpr size_t MIB = 1 << 20, RING = 768, EDGE = 4096; // bytes

__global__ void stencil(double *a, const double *b)
{
    extern __shared__ double unused[]; // limits how many workgroups a compute unit takes
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    a[i] = 0.25 * b[i - 2] + 0.25 * b[i - 1] - 1.0 * b[i] + 0.5 * b[i + 1] + 0.5 * b[i + 2];
}

static char *allocate()
{
    void *p;
    CHECK_HIP(hipMalloc(&p, RING * MIB + 2 * EDGE));
    return static_cast<char *>(p) + EDGE;
}

int main()
{
    char *a = allocate(), *b = allocate();
    size_t at = 0; // MiB
    stopwatch watch;
    auto measure = [&](unsigned block, unsigned per_cu) {
        const size_t mib = block * per_cu < 256 ? 64 : 256;
        const auto groups = static_cast<unsigned>(mib * MIB / sizeof(double) / block);
        if (at + mib > RING)
            at = 0;
        watch.start();
        stencil<<<groups, block, 65536 / per_cu>>>(reinterpret_cast<double *>(a + at * MIB),
                                                   reinterpret_cast<double *>(b + at * MIB));
        at += mib;
        return 16.0 * groups * block / watch.stop() / 1e3;
    };
    measure(512, 2);
    for (unsigned block : {64,  96,  128, 160, 192, 224, 256, 288, 320, 352, 384,
                           416, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024})
        row("stream_stencil", 100.0 * block * 2 / 2048, measure(block, 2));
    for (unsigned block : {16, 32, 48, 64, 80, 96, 112, 160})
        row("stream_stencil", 100.0 * block / 2048, measure(block, 1));
    CHECK_HIP(hipFree(a - EDGE));
    CHECK_HIP(hipFree(b - EDGE));
    return 0;
}
