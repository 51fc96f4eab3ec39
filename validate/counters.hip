// SPDX-License-Identifier: MIT
// Kernels whose counters are compared: three copies of the same 8 MiB, and those of STREAM.
#include "measure.h"

__global__ void copy(const double *a, double *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}

static __device__ size_t own()
{
    return blockIdx.x * size_t{blockDim.x} + threadIdx.x;
}

__global__ void set(double *a, double value)
{
    a[own()] = value;
}

__global__ void copy_stream(const double *a, double *b)
{
    b[own()] = a[own()];
}

__global__ void scale(double *a, const double *b, double scalar)
{
    a[own()] = scalar * b[own()];
}

__global__ void add(const double *a, const double *b, double *c)
{
    c[own()] = a[own()] + b[own()];
}

__global__ void triad(double *a, const double *b, const double *c, double scalar, size_t n)
{
    size_t i = own();
    if (i < n)
        a[i] = b[i] + scalar * c[i];
}

static double *allocate(size_t bytes)
{
    void *p;
    CHECK_HIP(hipMalloc(&p, bytes));
    return static_cast<double *>(p);
}

int main()
{
    const int n = 1 << 20;
    double *a = allocate(n * sizeof(double)), *b = allocate(n * sizeof(double));
    for (int i = 0; i < 3; i++) {
        copy<<<n / 256, 256>>>(a, b, n);
        CHECK_HIP(hipDeviceSynchronize());
    }
    const size_t elements = size_t{2} << 20; // 16 MiB: a 32nd of what was measured
    const unsigned blocks = static_cast<unsigned>((elements + 191) / 192);
    double *x = allocate(elements * 8 + 4096), *y = allocate(elements * 8 + 4096),
           *z = allocate(elements * 8 + 4096);
    triad<<<blocks, 192>>>(x, y, z, 0.4, elements);
    set<<<blocks, 192>>>(x, 1);
    copy_stream<<<blocks, 192>>>(x, z);
    scale<<<blocks, 192>>>(y, z, 0.4);
    add<<<blocks, 192>>>(x, y, z);
    CHECK_HIP(hipDeviceSynchronize());
    return 0;
}
