// SPDX-License-Identifier: MIT
// An exclusive prefix sum in one pass over memory: each workgroup scans its part with shuffles, then looks
// back at its predecessors' sums, which they publish with release stores ("decoupled look-back"). Works
// because workgroups take their parts from a counter, so that every predecessor has already started.
#include "check.h"

#include <vector>

constexpr int BLOCK = 256, ITEMS = 4, PART = BLOCK * ITEMS;

// The state of a part: its sum, then the sum of everything up to its end.
constexpr unsigned long long EMPTY = 0, SUM = 1ull << 62, PREFIX = 2ull << 62, VALUE = (1ull << 62) - 1;

__device__ unsigned scan_wave(unsigned value)
{
    const int lane = static_cast<int>(threadIdx.x) % warpSize;
    for (int d = 1; d < warpSize; d *= 2) {
        unsigned other = __shfl_up(value, static_cast<unsigned>(d));
        value += lane >= d ? other : 0;
    }
    return value;
}

__global__ void scan(const unsigned *in, unsigned *out, int n, unsigned long long *states, unsigned *next)
{
    __shared__ unsigned sums[BLOCK / 64], part_number, before_part;
    if (threadIdx.x == 0)
        part_number = atomicAdd(next, 1u);
    __syncthreads();
    const int part = static_cast<int>(part_number);
    const int first = part * PART + static_cast<int>(threadIdx.x) * ITEMS;
    unsigned item[ITEMS], mine = 0;
    for (int i = 0; i < ITEMS; i++) {
        item[i] = first + i < n ? in[first + i] : 0;
        mine += item[i];
    }
    const int lane = static_cast<int>(threadIdx.x) % warpSize,
              wave = static_cast<int>(threadIdx.x) / warpSize;
    const unsigned inclusive = scan_wave(mine);
    if (lane == warpSize - 1)
        sums[wave] = inclusive;
    __syncthreads();
    unsigned offset = inclusive - mine, total = 0;
    for (int w = 0; w < BLOCK / warpSize; w++) {
        offset += w < wave ? sums[w] : 0;
        total += sums[w];
    }
    if (threadIdx.x == 0) {
        __hip_atomic_store(&states[part], (part ? SUM : PREFIX) | total, __ATOMIC_RELEASE,
                           __HIP_MEMORY_SCOPE_AGENT);
        unsigned before = 0;
        for (int p = part - 1; p >= 0;) {
            unsigned long long state =
                __hip_atomic_load(&states[p], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
            if ((state & ~VALUE) == EMPTY)
                continue; // not yet published
            before += static_cast<unsigned>(state & VALUE);
            if ((state & ~VALUE) == PREFIX)
                break;
            p--;
        }
        if (part)
            __hip_atomic_store(&states[part], PREFIX | static_cast<unsigned long long>(before + total),
                               __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
        before_part = before;
    }
    __syncthreads();
    offset += before_part;
    for (int i = 0; i < ITEMS; i++) {
        if (first + i < n)
            out[first + i] = offset;
        offset += item[i];
    }
}

int main()
{
    const int n = 1000000, parts = (n + PART - 1) / PART;
    std::vector<unsigned> in(n), out(n);
    random_numbers random{9};
    for (auto &x : in)
        x = random.next() % 1000;
    unsigned *din, *dout, *next;
    unsigned long long *states;
    CHECK_HIP(hipMalloc(&din, n * sizeof(unsigned)));
    CHECK_HIP(hipMalloc(&dout, n * sizeof(unsigned)));
    CHECK_HIP(hipMalloc(&states, parts * sizeof *states));
    CHECK_HIP(hipMalloc(&next, sizeof *next));
    CHECK_HIP(hipMemset(states, 0, parts * sizeof *states));
    CHECK_HIP(hipMemset(next, 0, sizeof *next));
    CHECK_HIP(hipMemcpy(din, in.data(), n * sizeof(unsigned), hipMemcpyHostToDevice));
    scan<<<parts, BLOCK>>>(din, dout, n, states, next);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipMemcpy(out.data(), dout, n * sizeof(unsigned), hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(din));
    CHECK_HIP(hipFree(dout));
    CHECK_HIP(hipFree(states));
    CHECK_HIP(hipFree(next));
    unsigned sum = 0;
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += out[i] != sum;
        sum += in[i];
    }
    return report(wrong == 0, "%d numbers in %d workgroups, %d wrong", n, parts, wrong);
}
