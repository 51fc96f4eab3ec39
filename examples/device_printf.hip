// SPDX-License-Identifier: MIT
// printf in a kernel: the text reaches the program's own standard output. The program reads its own output
// through a pipe to check it.
#include "check.h"

#include <algorithm>
#include <string>
#include <unistd.h>
#include <vector>

__global__ void hello(const char *name)
{
    printf("block %u thread %2u: %s %5.2f %#x %lld %c\n", blockIdx.x, threadIdx.x, name,
           static_cast<double>(threadIdx.x) / 4.0, 0xbeefu + threadIdx.x, -1234567890123ll * blockIdx.x,
           static_cast<char>('a' + threadIdx.x));
}

int main()
{
    const int blocks = 2, threads = 8;
    char *name;
    CHECK_HIP(hipMallocManaged(&name, 16));
    std::snprintf(name, 16, "lane");

    std::fflush(stdout);
    int ends[2], out = dup(STDOUT_FILENO);
    if (out < 0 || pipe(ends) || dup2(ends[1], STDOUT_FILENO) < 0)
        return report(false, "no pipe");
    hello<<<blocks, threads>>>(name);
    hipError_t launched = hipGetLastError(), done = hipDeviceSynchronize();
    std::fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(ends[1]);
    CHECK_HIP(launched);
    CHECK_HIP(done);
    CHECK_HIP(hipFree(name));

    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, static_cast<size_t>(n));
    std::vector<std::string> lines, expected;
    for (size_t start = 0, end; (end = text.find('\n', start)) != std::string::npos; start = end + 1)
        lines.push_back(text.substr(start, end - start));
    for (int b = 0; b < blocks; b++)
        for (int t = 0; t < threads; t++) {
            std::snprintf(buffer, sizeof buffer, "block %u thread %2u: %s %5.2f %#x %lld %c", b, t, "lane",
                          t / 4.0, 0xbeefu + static_cast<unsigned>(t), -1234567890123ll * b, 'a' + t);
            expected.push_back(buffer);
        }
    // Workgroups print in any order.
    std::sort(lines.begin(), lines.end());
    std::sort(expected.begin(), expected.end());
    return report(lines == expected, "%zu lines, the last: %s", lines.size(),
                  lines.empty() ? "" : lines.back().c_str());
}
