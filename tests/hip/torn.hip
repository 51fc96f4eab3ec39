// SPDX-License-Identifier: MIT
// Loads of 8 and 16 aligned bytes are not torn, however the lanes' addresses lie: the host writes elements
// whose dwords are all the same while a kernel reads them.
#include "check_hip.h"

#include <algorithm>
#include <atomic>
#include <thread>

constexpr int READS = 100000, ELEMENTS = 64;

using two = unsigned __attribute__((vector_size(8)));
using four = unsigned __attribute__((vector_size(16)));

// Lanes that read: the first, every second, all; each its own element, or the same one.
__device__ bool takes_part(int which, int lane)
{
    return which == 0 ? lane == 0 : which == 1 ? lane % 2 == 0 : true;
}

template <typename T> __device__ unsigned differing(const volatile T *from, int step)
{
    const T value = from[static_cast<int>(threadIdx.x) * step];
    unsigned count = 0;
    for (unsigned i = 1; i < sizeof(T) / sizeof(unsigned); i++)
        count += value[i] != value[0];
    return count;
}

__global__ void read_elements(const volatile two *pairs, const volatile four *quads, unsigned *torn)
{
    for (int way = 0; way < 6; way++) {
        unsigned count = 0;
        if (takes_part(way / 2, static_cast<int>(threadIdx.x)))
            for (int i = 0; i < READS / 6; i++)
                count += differing(pairs, way % 2) + differing(quads, way % 2);
        atomicAdd(&torn[way], count);
    }
}

int main()
{
    two *pairs;
    four *quads;
    unsigned *torn;
    HIP_OK(hipHostMalloc(&pairs, ELEMENTS * sizeof *pairs));
    HIP_OK(hipHostMalloc(&quads, ELEMENTS * sizeof *quads));
    HIP_OK(hipHostMalloc(&torn, 6 * sizeof *torn));
    std::fill_n(torn, 6, 0u);
    std::fill_n(pairs, ELEMENTS, two{});
    std::fill_n(quads, ELEMENTS, four{});
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        volatile two *to = pairs;
        volatile four *to_quads = quads;
        for (unsigned i = 0; !stop; i++)
            for (int at = 0; at < ELEMENTS; at++) {
                to[at] = two{i, i};
                to_quads[at] = four{i, i, i, i};
            }
    });
    read_elements<<<1, 64>>>(pairs, quads, torn);
    const hipError_t ended = hipDeviceSynchronize();
    stop = true;
    writer.join();
    HIP_OK(ended);
    for (int way = 0; way < 6; way++)
        CHECK(torn[way] == 0, "way %d: %u", way, torn[way]);
    return check_done();
}
