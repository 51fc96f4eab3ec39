// SPDX-License-Identifier: MIT
// printf and the device heap: what the device printed is read back from a file that stands in for stdout, as
// lines in any order; blocks from malloc and new are whole, aligned, apart, and can be given back.
// With -mprintf-kind=buffered -DBUFFERED printf tells whether there was room, and the host prints between
// kernels.
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

#ifdef BUFFERED
static constexpr int returned = 0;
#else
static constexpr int returned = 23;
#endif

// What is printed while this lives.
class capture
{
    char name_[32] = "/tmp/hip_messages_XXXXXX";
    int file_ = mkstemp(name_), saved_ = dup(1);

  public:
    capture()
    {
        std::fflush(stdout);
        dup2(file_, 1);
    }
    std::string end()
    {
        std::fflush(stdout);
        dup2(saved_, 1);
        std::string printed(8 << 20, '\0');
        const ssize_t length = pread(file_, &printed[0], printed.size(), 0);
        printed.resize(length < 0 ? 0 : static_cast<size_t>(length));
        unlink(name_);
        close(file_);
        close(saved_);
        return printed;
    }
};

// Kernels of one stream print in its order, those of a graph as often as it runs.
__global__ void say(int what)
{
    printf("%d;", what);
}

static void streams()
{
    capture out;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;

    HIP_OK(hipStreamCreate(&stream));
    for (int i = 0; i < 5; i++)
        say<<<1, 1, 0, stream>>>(i);
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    say<<<1, 1, 0, stream>>>(7);
    say<<<1, 1, 0, stream>>>(8);
    HIP_OK(hipStreamEndCapture(stream, &graph));
    HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipGraphLaunch(exec, stream));
    HIP_OK(hipStreamSynchronize(stream));
    const std::string printed = out.end();
    CHECK(printed == "0;1;2;3;4;7;8;7;8;", "%s", printed.c_str());
    HIP_OK(hipGraphExecDestroy(exec));
    HIP_OK(hipGraphDestroy(graph));
    HIP_OK(hipStreamDestroy(stream));
}

#ifdef BUFFERED
#define TEN(x) x x x x x x x x x x
// More than the buffer holds: what does not fit is told so and not printed, and the next kernel begins anew.
__global__ void flood(unsigned *printed)
{
    for (int i = 0; i < 60; i++)
        if (printf("%s", TEN(TEN("abcdefghij"))) == 0)
            atomicAdd(printed, 1u);
}

static void full()
{
    buffer<unsigned> count(1);
    for (int round = 0; round < 2; round++) {
        count[0] = 0;
        count.up();
        capture out;
        flood<<<2, 64>>>(count.get());
        count.down();
        const size_t bytes = out.end().size();
        CHECK(count[0] > 3000 && count[0] < 4194304 / 1000, "%u messages", count[0]);
        CHECK(bytes == count[0] * size_t(1000), "%zu bytes of %u messages", bytes, count[0]);
    }
}
#endif

int main()
{
    capture out;
    buffer<char> text(16);
    std::strcpy(text.host.data(), "from memory");
    text.up();
    talk<<<1, 128>>>(text.get());
    HIP_OK(hipDeviceSynchronize());
    const std::string printed = out.end();
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
    want.push_back("returned " + std::to_string(returned) + "\n");
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
    streams();
#ifdef BUFFERED
    const char *mode = getenv("EHP_MODE");
    if (!mode || std::strcmp(mode, "timing") != 0) // megabytes of text take long
        full();
#endif
    return check_done();
}
