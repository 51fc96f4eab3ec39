// SPDX-License-Identifier: MIT
// Copies by hipMemcpy: of host memory, `copies NAME`, and with a second name within device memory.
#include "measure.h"

static double bandwidth(char *to, const char *from, hipMemcpyKind kind)
{
    const size_t most = size_t{64} << 20;
    stopwatch watch;
    double us[2];
    for (unsigned i = 0; i < 2; i++) {
        watch.start();
        CHECK_HIP(hipMemcpy(to, from, most >> (1 - i), kind));
        us[i] = watch.stop();
    }
    return static_cast<double>(most / 2) / (us[1] - us[0]) / 1e3;
}

int main(int argc, char **argv)
{
    const size_t bytes = size_t{64} << 20;
    char *host = static_cast<char *>(std::malloc(bytes)), *one, *other;
    CHECK_HIP(hipMalloc(&one, bytes));
    CHECK_HIP(hipMalloc(&other, bytes));
    if (argc > 1)
        row(argv[1], 0, bandwidth(one, host, hipMemcpyHostToDevice));
    if (argc > 2)
        row(argv[2], 0, bandwidth(one, other, hipMemcpyDeviceToDevice));
    CHECK_HIP(hipFree(one));
    CHECK_HIP(hipFree(other));
    std::free(host);
    return 0;
}
