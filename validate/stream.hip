// SPDX-License-Identifier: MIT
// `stream memory_read` reads memory and `memory_write` writes it; `stream triad` is STREAM's triad on it as
// later rounds find it: the Infinity Cache full of what was used before, part of it written.
#include "measure.h"

#include <cstring>

typedef double pair __attribute__((ext_vector_type(2)));

__global__ void triad(double *a, const double *b, const double *c, double scalar)
{
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    a[i] = b[i] + scalar * c[i];
}

// The same by fewer waves.
__global__ void triad_wide(pair *a, const pair *b, const pair *c, double scalar)
{
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    a[i] = b[i] + scalar * c[i];
}

__global__ void read(const pair *a, pair *out)
{
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (pair x = a[i]; x.x == 1.25)
        *out = x;
}

__global__ void write(pair *a)
{
    a[blockIdx.x * size_t{blockDim.x} + threadIdx.x] = pair{1, 2};
}

static const size_t MIB = 1 << 20;

static char *allocate(size_t bytes)
{
    void *p;
    CHECK_HIP(hipMalloc(&p, bytes));
    return static_cast<char *>(p);
}

template <typename T> static T *at(char *p, size_t mib)
{
    return reinterpret_cast<T *>(p + mib * MIB);
}

static unsigned groups(size_t mib, size_t element, size_t block)
{
    return static_cast<unsigned>(mib * MIB / element / block);
}

static double reads(char *c)
{
    const size_t first = 24, second = 80; // MiB
    stopwatch watch;
    auto time = [&](size_t from, size_t mib) {
        watch.start();
        read<<<groups(mib, 16, 256), 256>>>(at<pair>(c, from), at<pair>(c, 0));
        return watch.stop();
    };
    time(first + second, 1); // its code is there
    double few = time(0, first), many = time(first, second);
    return (second - first) * MIB / (many - few) / 1e6;
}

// Of the Infinity Cache all has been written when it is measured.
static double writes()
{
    const size_t before = 264, first = 64, second = 128;
    char *a = allocate((before + first + second) * MIB);
    stopwatch watch;
    auto time = [&](size_t from, size_t mib) {
        watch.start();
        write<<<groups(mib, 16, 256), 256>>>(at<pair>(a, from));
        return watch.stop();
    };
    time(0, before);
    double few = time(before, first), many = time(before + first, second);
    CHECK_HIP(hipFree(a));
    return (second - first) * MIB / (many - few) / 1e6;
}

static double triads(char *a, char *b, char *c)
{
    const size_t before = 88, first = 8, second = 24; // MiB of each array
    stopwatch watch;
    triad_wide<<<groups(before, 16, 256), 256>>>(at<pair>(a, 0), at<pair>(b, 0), at<pair>(c, 0), 0.4);
    auto time = [&](size_t from, size_t mib) {
        watch.start();
        triad<<<groups(mib, 8, 1024), 1024>>>(at<double>(a, from), at<double>(b, from), at<double>(c, from),
                                              0.4);
        return watch.stop();
    };
    time(before - 1, 1); // its code is there
    double few = time(before, first), many = time(before + first, second);
    return 3.0 * (second - first) * MIB / (many - few) / 1e6;
}

int main(int argc, char **argv)
{
    char *a = allocate(120 * MIB), *b = allocate(120 * MIB), *c = allocate(120 * MIB);
    for (int i = 1; i < argc; i++)
        row(argv[i], 0,
            std::strcmp(argv[i], "triad") == 0          ? triads(a, b, c)
            : std::strcmp(argv[i], "memory_write") == 0 ? writes()
                                                        : reads(c));
    return 0;
}
