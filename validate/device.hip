// SPDX-License-Identifier: MIT
// What HIP says of the device.
#include "measure.h"

int main(int argc, char **argv)
{
    if (argc > 1) { // in as many partitions as the package has
        int count;
        CHECK_HIP(hipGetDeviceCount(&count));
        row(argv[1], 0, count);
        return 0;
    }
    hipDeviceProp_t p;
    CHECK_HIP(hipGetDeviceProperties(&p, 0));
    const double kib = 1 << 10, mib = 1 << 20, gib = 1 << 30;
    row("device_cus", 0, p.multiProcessorCount);
    row("device_waves", 0, p.maxThreadsPerMultiProcessor / p.warpSize);
    row("device_l2", 0, p.l2CacheSize / mib);
    row("device_memory", 0, static_cast<double>(p.totalGlobalMem) / gib);
    row("device_bus", 0, p.memoryBusWidth);
    row("device_memory_clock", 0, p.memoryClockRate / 1e3);
    row("device_clock", 0, p.clockRate / 1e3);
    row("device_lds", 0, static_cast<double>(p.sharedMemPerBlock) / kib);
    row("device_lds_all", 0, static_cast<double>(p.sharedMemPerMultiprocessor) / kib);
    row("device_constant", 0, static_cast<double>(p.totalConstMem) / gib);
    return 0;
}
