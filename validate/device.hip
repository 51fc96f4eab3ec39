// SPDX-License-Identifier: MIT
// What HIP says of the device.
#include "measure.h"

int main()
{
    hipDeviceProp_t p;
    CHECK_HIP(hipGetDeviceProperties(&p, 0));
    row("device_cus", 0, p.multiProcessorCount);
    row("device_wave", 0, p.warpSize);
    row("device_waves", 0, p.maxThreadsPerMultiProcessor / p.warpSize);
    row("device_l2", 0, p.l2CacheSize);
    row("device_memory", 0, static_cast<double>(p.totalGlobalMem));
    row("device_bus", 0, p.memoryBusWidth);
    row("device_memory_clock", 0, p.memoryClockRate);
    row("device_clock", 0, p.clockRate);
    row("device_lds", 0, static_cast<double>(p.sharedMemPerBlock));
    row("device_lds_all", 0, static_cast<double>(p.maxSharedMemoryPerMultiProcessor));
    row("device_constant", 0, static_cast<double>(p.totalConstMem));
    return 0;
}
