// SPDX-License-Identifier: MIT
// What a small kernel costs, on the device's clock.  The measurement says "one small kernel": this one loads
// and stores, as any that is worth measuring; and "dependent launches": each reads what other workgroups, on
// other XCDs, wrote in the one before.  Several runs, as what comes first to a compute unit finds its code
// elsewhere.
//
// The interval of dependent launches is a slope between runs of few and of many, which first copy their data
// to the device, two arrays of as many words squared as there are launches: what the copies take more is in
// it.
#include "measure.h"

#include <vector>

enum { ITEMS = 1024, BLOCK = 256, RUNS = 40, LEAST = 8, MOST = 256 };

__global__ void increment(unsigned *data)
{
    data[blockIdx.x * BLOCK + threadIdx.x]++;
}

__global__ void pass_on(unsigned *to, const unsigned *from)
{
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    to[i] = from[(i + BLOCK) % ITEMS] + 1;
}

/* Microseconds, of the second run of two. */
static double run(stopwatch &watch, unsigned launches, unsigned *data)
{
    std::vector<unsigned> words(launches * launches);
    const size_t bytes = words.size() * sizeof(words[0]);
    unsigned *copy[2];
    for (unsigned *&c : copy)
        CHECK_HIP(hipMalloc(&c, bytes));
    double us = 0;
    for (int again = 0; again < 2; again++) {
        watch.start();
        for (unsigned *c : copy)
            CHECK_HIP(hipMemcpy(c, words.data(), bytes, hipMemcpyHostToDevice));
        for (unsigned k = 0; k < launches; k++)
            pass_on<<<ITEMS / BLOCK, BLOCK>>>(data + (k + 1) % 2 * ITEMS, data + k % 2 * ITEMS);
        CHECK_HIP(hipDeviceSynchronize());
        us = watch.stop();
    }
    for (unsigned *c : copy)
        CHECK_HIP(hipFree(c));
    return us;
}

int main()
{
    stopwatch watch;
    unsigned *data;
    CHECK_HIP(hipMalloc(&data, 2 * ITEMS * sizeof(*data)));
    CHECK_HIP(hipMemset(data, 0, 2 * ITEMS * sizeof(*data)));
    CHECK_HIP(hipDeviceSynchronize());
    double least = 1e9;
    for (int i = 0; i < RUNS; i++) {
        watch.start();
        increment<<<ITEMS / BLOCK, BLOCK>>>(data);
        double us = watch.stop();
        least = us < least ? us : least;
    }
    row("launch_between_events", 0, least);
    row("launch_interval", 0, (run(watch, MOST, data) - run(watch, LEAST, data)) / (MOST - LEAST));
    unsigned sum = 0;
    CHECK_HIP(hipMemcpy(&sum, data, sizeof(sum), hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(data));
    return sum == RUNS + 2 * (LEAST + MOST) ? 0 : 1;
}
