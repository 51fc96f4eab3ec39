// SPDX-License-Identifier: MIT
// What starting a kernel costs, on the device's clock.
#include "measure.h"

__global__ void empty()
{
}

int main()
{
    stopwatch watch;
    empty<<<1, 64>>>();
    CHECK_HIP(hipDeviceSynchronize());
    double least = 1e9;
    for (int i = 0; i < 5; i++) {
        watch.start();
        empty<<<1, 64>>>();
        double us = watch.stop();
        least = us < least ? us : least;
    }
    row("launch_between_events", 0, least);
    double us[2];
    for (int i = 0; i < 2; i++) {
        watch.start();
        for (int k = 0; k < 10 + 50 * i; k++)
            empty<<<1, 64>>>();
        us[i] = watch.stop();
    }
    row("launch_interval", 0, (us[1] - us[0]) / 50);
    return 0;
}
