// SPDX-License-Identifier: MIT
// What a small kernel costs, on the device's clock.  The measurement says "one small kernel": this one loads
// and stores, as any that is worth measuring; and "dependent launches": each reads what other workgroups, on
// other XCDs, wrote in the one before.  Several runs, as what comes first to a compute unit finds its code
// elsewhere.
#include "measure.h"

enum { ITEMS = 1024, BLOCK = 256, RUNS = 40 };

__global__ void increment(unsigned *data)
{
    data[blockIdx.x * BLOCK + threadIdx.x]++;
}

__global__ void pass_on(unsigned *to, const unsigned *from)
{
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    to[i] = from[(i + BLOCK) % ITEMS] + 1;
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
    double us[2];
    for (int i = 0; i < 2; i++) {
        watch.start();
        for (int k = 0; k < 10 + 50 * i; k++)
            pass_on<<<ITEMS / BLOCK, BLOCK>>>(data + (k + 1) % 2 * ITEMS, data + k % 2 * ITEMS);
        us[i] = watch.stop();
    }
    row("launch_interval", 0, (us[1] - us[0]) / 50);
    unsigned sum = 0;
    CHECK_HIP(hipMemcpy(&sum, data, sizeof(sum), hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(data));
    return sum == RUNS + 10 + 60 ? 0 : 1;
}
