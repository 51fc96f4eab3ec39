// SPDX-License-Identifier: MIT
// A value that two workgroups pass to and fro by atomic compare-and-swap: the time of one way, in an XCD (0),
// and the longest between XCDs (1).
#include "measure.h"

#include <algorithm>

__global__ void bounce(unsigned *value, unsigned partner, unsigned last)
{
    if (threadIdx.x || (blockIdx.x && blockIdx.x != partner))
        return;
    for (unsigned next = blockIdx.x ? 2 : 1; next <= last;)
        if (atomicCAS(value, next - 1, next) == next - 1)
            next += 2;
}

int main()
{
    const unsigned xcds = static_cast<unsigned>(compute_units()) / 38, few = 200, many = 600;
    unsigned *value;
    stopwatch watch;
    CHECK_HIP(hipMalloc(&value, sizeof(*value)));
    auto time = [&](unsigned partner, unsigned last) {
        CHECK_HIP(hipMemset(value, 0, sizeof(*value)));
        watch.start();
        bounce<<<2 * xcds, 64>>>(value, partner, last);
        return watch.stop();
    };
    auto way = [&](unsigned partner) {
        double us = time(partner, few);
        return (time(partner, many) - us) * 1e3 / (many - few);
    };
    row("atomic_ping_pong", 0, way(xcds));
    double longest = 0;
    for (unsigned partner = 1; partner < xcds; partner++)
        longest = std::max(longest, way(partner));
    row("atomic_ping_pong", 1, longest);
    CHECK_HIP(hipFree(value));
    return 0;
}
