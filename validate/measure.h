// SPDX-License-Identifier: MIT
// What the measurements share: checked calls, and the lines that `ehp validate` reads.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK_HIP(call)                                                                                      \
    do {                                                                                                     \
        hipError_t status_ = (call);                                                                         \
        if (status_ != hipSuccess) {                                                                         \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(status_));                               \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

// A line of the result: quantity, where on its curve (0 when it is a single number), value.
inline void row(const char *quantity, double at, double value)
{
    std::printf("%s %.9g %.9g\n", quantity, at, value);
    std::fflush(stdout);
}

// Cycles of the compute unit's clock per nanosecond.
inline double clock_ghz()
{
    hipDeviceProp_t properties;
    CHECK_HIP(hipGetDeviceProperties(&properties, 0));
    return properties.clockRate / 1e6;
}

inline int compute_units()
{
    hipDeviceProp_t properties;
    CHECK_HIP(hipGetDeviceProperties(&properties, 0));
    return properties.multiProcessorCount;
}

struct random_numbers {
    uint64_t state;
    uint64_t next()
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t x = state ^ state >> 33;
        x *= 0xff51afd7ed558ccdu;
        return x ^ x >> 29;
    }
};

// Time of what is between two events on the null stream, in microseconds.
struct stopwatch {
    hipEvent_t from, to;
    stopwatch()
    {
        CHECK_HIP(hipEventCreate(&from));
        CHECK_HIP(hipEventCreate(&to));
    }
    ~stopwatch()
    {
        (void)hipEventDestroy(from);
        (void)hipEventDestroy(to);
    }
    void start()
    {
        CHECK_HIP(hipEventRecord(from));
    }
    double stop()
    {
        float ms;
        CHECK_HIP(hipEventRecord(to));
        CHECK_HIP(hipEventSynchronize(to));
        CHECK_HIP(hipEventElapsedTime(&ms, from, to));
        return ms * 1e3;
    }
};
