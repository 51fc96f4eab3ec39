// SPDX-License-Identifier: MIT
// Copies by hipMemcpy: of host memory, `copies NAME`, and with a second name within device memory.
#include "measure.h"

// Microseconds of the second copy: the first one finds nothing in the caches.
static double copy(char *to, const char *from, size_t bytes, hipMemcpyKind kind)
{
    stopwatch watch;
    double us = 0;
    for (unsigned i = 0; i < 2; i++) {
        watch.start();
        CHECK_HIP(hipMemcpy(to, from, bytes, kind));
        us = watch.stop();
    }
    return us;
}

int main(int argc, char **argv)
{
    const size_t bytes = size_t{128} << 20, half = size_t{32} << 20;
    char *host, *one, *other;
    CHECK_HIP(hipHostMalloc(&host, 2 * half));
    CHECK_HIP(hipMalloc(&one, bytes));
    CHECK_HIP(hipMalloc(&other, bytes));
    if (argc > 2)
        row(argv[2], 0, static_cast<double>(bytes) / copy(other, one, bytes, hipMemcpyDeviceToDevice) / 1e3);
    if (argc > 1) {
        const double first = copy(one, host, half, hipMemcpyHostToDevice);
        const double us = copy(one, host, 2 * half, hipMemcpyHostToDevice) - first;
        row(argv[1], 0, static_cast<double>(half) / us / 1e3);
    }
    CHECK_HIP(hipFree(one));
    CHECK_HIP(hipFree(other));
    CHECK_HIP(hipHostFree(host));
    return 0;
}
