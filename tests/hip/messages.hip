// SPDX-License-Identifier: MIT
// printf and the device heap: what the device printed is read back from a file that stands in for stdout, as
// lines in any order; blocks from malloc and new are whole, aligned, apart, and can be given back.
#include "check_hip.h"
#include <algorithm>
#include <string>
#include <unistd.h>

__global__ void talk(const char *from_host)
{
    const int t = static_cast<int>(threadIdx.x);
    if (t < 4)
        printf("lane %d: %5.2f|%-6s|%x|%c|%llu|%%|%s\n", t, t * 1.5, "left", 255 + t, 'a' + t,
               0x100000000ull + static_cast<unsigned>(t), from_host);
    if (t == 70)
        printf("no arguments\n");
    if (t == 71) {
        const int written = printf("%s %*d %.*f %p\n", "stars", 5, 42, 2, 3.14159, nullptr);
        printf("returned %d\n", written);
    }
}

struct node {
    node *next;
    int value;
    __device__ node(node *n, int v) : next(n), value(v)
    {
    }
};
__global__ void heap(int *sums, unsigned *bad)
{
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    // Sizes small and large, all of them alive at once.
    const size_t size = 16 + static_cast<size_t>(t % 7) * 200 + (t % 64 == 5 ? 10000 : 0);
    unsigned char *block = static_cast<unsigned char *>(malloc(size));
    if (block == nullptr || (reinterpret_cast<size_t>(block) & 15) != 0) {
        atomicAdd(bad, 1u);
        return;
    }
    memset(block, t & 255, size);
    node *list = nullptr;
    for (int i = 0; i < 4; i++)
        list = new node(list, t + i);
    __syncthreads();
    for (size_t i = 0; i < size; i++)
        if (block[i] != (t & 255)) {
            atomicAdd(bad, 1u);
            break;
        }
    int sum = 0;
    while (list != nullptr) {
        node *next = list->next;
        sum += list->value;
        delete list;
        list = next;
    }
    sums[t] = sum;
    free(block);
}

int main()
{
    char name[] = "/tmp/hip_messages_XXXXXX";
    const int file = mkstemp(name), saved = dup(1);
    std::fflush(stdout);
    dup2(file, 1);
    buffer<char> text(16);
    std::strcpy(text.host.data(), "from memory");
    text.up();
    talk<<<1, 128>>>(text.get());
    HIP_OK(hipDeviceSynchronize());
    std::fflush(stdout);
    dup2(saved, 1);
    std::string printed(4096, '\0');
    const ssize_t length = pread(file, &printed[0], printed.size(), 0);
    printed.resize(length < 0 ? 0 : static_cast<size_t>(length));
    unlink(name);
    std::vector<std::string> want;
    for (int t = 0; t < 4; t++) {
        char line[200];
        std::snprintf(line, sizeof(line), "lane %d: %5.2f|%-6s|%x|%c|%llu|%%|%s\n", t, t * 1.5, "left",
                      255u + static_cast<unsigned>(t), 'a' + t, 0x100000000ull + static_cast<unsigned>(t),
                      "from memory");
        want.push_back(line);
    }
    want.push_back("no arguments\n");
    want.push_back("stars    42 3.14 (nil)\n");
    want.push_back("returned 23\n");
    size_t total = 0;
    for (const std::string &line : want) {
        CHECK(printed.find(line) != std::string::npos, "missing: %s in: %s", line.c_str(), printed.c_str());
        total += line.size();
    }
    CHECK(printed.size() == total, "%zu bytes and not %zu", printed.size(), total);

    const size_t n = 512;
    buffer<int> sums(n);
    buffer<unsigned> bad(1);
    for (int round = 0; round < 3; round++) {
        heap<<<n / 128, 128>>>(sums.get(), bad.get());
        sums.down();
        bad.down();
        CHECK(bad[0] == 0, "%u blocks were not as they should be", bad[0]);
        for (size_t i = 0; i < n; i++)
            CHECK(sums[i] == static_cast<int>(4 * i + 6), "thread %zu: %d", i, sums[i]);
    }
    return check_done();
}
