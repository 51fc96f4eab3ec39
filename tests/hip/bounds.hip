// SPDX-License-Identifier: MIT
// Accesses beyond a buffer. What the chip has mapped around it is there, and is told of once for each kernel
// and buffer; EHP_BOUNDS makes them faults, or nothing.
#include "check_hip.h"

#include <cstdlib>
#include <string>
#include <unistd.h>

__global__ void scale(float *p)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;
}

__global__ void store_at(int *p, long index)
{
    if (threadIdx.x == 5)
        p[index] = 1;
}

__global__ void sum(const int *p, long first, int *out)
{
    atomicAdd(out, p[first + threadIdx.x]);
}

static std::string bounds;

// What it says on stderr.
template <typename F> static std::string said(F work, hipError_t wanted = hipSuccess)
{
    char name[] = "/tmp/ehp-bounds-XXXXXX";
    int file = mkstemp(name), saved = dup(2);
    unlink(name);
    dup2(file, 2);
    work();
    hipError_t got = hipDeviceSynchronize();
    dup2(saved, 2);
    close(saved);
    std::string text(size_t(lseek(file, 0, SEEK_END)), 0);
    if (pread(file, text.data(), text.size(), 0) < 0)
        text.clear();
    close(file);
    CHECK(got == wanted, "%s, not %s: %s", hipGetErrorName(got), hipGetErrorName(wanted), text.c_str());
    if (got != hipSuccess)
        (void)hipDeviceReset();
    return text;
}

static int count(const std::string &text, const char *what)
{
    int n = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at++)
        n++;
    return n;
}

// The results are there, and each kernel is told of once for each buffer.
static void rounded_up()
{
    const int n = 3 * 1024 - 100,
              block = 1024; // from 12288 bytes on nobody has it, and before nobody notices
    float *p, *q, host[n];
    HIP_OK(hipMalloc(&p, n * sizeof(float)));
    HIP_OK(hipMalloc(&q, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        host[i] = float(i);
    HIP_OK(hipMemcpy(p, host, sizeof host, hipMemcpyHostToDevice));
    HIP_OK(hipMemcpy(q, host, sizeof host, hipMemcpyHostToDevice));
    const std::string first = said([=] {
        scale<<<4, block>>>(p);
        scale<<<4, block>>>(p);
        scale<<<4, block>>>(q);
    });
    const bool warns = bounds == "warn";
    CHECK(count(first, "warning: ") == 2 * warns, "%s", first.c_str());
    if (warns) {
        CHECK(count(first, " of 4 bytes beyond a buffer, ") == 2, "%s", first.c_str());
        CHECK(count(first, "in kernel _Z5scalePf, workgroup (3, 0, 0), wave ") == 2, "%s", first.c_str());
        CHECK(count(first, "source ") == 2 && count(first, "bounds.hip:12") == 2, "%s", first.c_str());
        CHECK(count(first, " bytes past the end of allocation ") == 2, "%s", first.c_str());
        CHECK(count(first, "11888 bytes of device memory, allocated at ") == 2, "%s", first.c_str());
        CHECK(count(first, "--bounds=fault") == 1, "%s", first.c_str());
    }
    HIP_OK(hipMemcpy(host, p, sizeof host, hipMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        CHECK(host[i] == 4.0f * float(i), "%d: %f", i, double(host[i]));
    HIP_OK(hipMemcpy(host, q, sizeof host, hipMemcpyDeviceToHost));
    CHECK(host[n - 1] == 2.0f * float(n - 1), "%f", double(host[n - 1]));

    const std::string other = said([=] { store_at<<<1, 64>>>(reinterpret_cast<int *>(p), 3100); });
    CHECK(count(other, "warning: write of 4 bytes") == warns, "%s", other.c_str());
    const std::string again = said([=] {
        scale<<<4, block>>>(p);
        store_at<<<1, 64>>>(reinterpret_cast<int *>(p), 3100);
    });
    CHECK(count(again, "warning") == 0, "%s", again.c_str());
    HIP_OK(hipFree(p));
    HIP_OK(hipFree(q));
}

// The end of a large allocation; its last block ends before the end of the addresses that one could have.
static void large()
{
    int *p, *out, value;
    HIP_OK(hipMalloc(&p, (3 << 20) + 4000));
    HIP_OK(hipMalloc(&out, sizeof(int)));
    HIP_OK(hipMemset(out, 0, sizeof(int)));
    const std::string text = said([=] {
        store_at<<<1, 64>>>(p, (3 << 18) + 10000);
        sum<<<1, 64>>>(p, (3 << 18) + 10000 - 63, out);
    });
    CHECK(count(text, "warning: write of 4 bytes") == (bounds == "warn"), "%s", text.c_str());
    CHECK(count(text, "warning: read of 4 bytes") == (bounds == "warn"), "%s", text.c_str());
    HIP_OK(hipMemcpy(&value, out, sizeof value, hipMemcpyDeviceToHost));
    CHECK(value == 1, "%d", value); // what was stored there is there
    HIP_OK(hipFree(p));
    HIP_OK(hipFree(out));
}

// What is a fault all the same.
static void faults()
{
    int *p, *q;
    HIP_OK(hipMalloc(&p, 4 << 20));
    std::string text = said([=] { store_at<<<1, 64>>>(p, 1 << 20); }, hipErrorIllegalAddress);
    CHECK(count(text, "memory access fault: write") == 1 && count(text, " 0 bytes past the end of") == 1,
          "%s", text.c_str());
    HIP_OK(hipMalloc(&p, 4000));
    HIP_OK(hipMalloc(&q, 4000));
    HIP_OK(hipFree(p));
    text = said([=] { store_at<<<1, 64>>>(p, 0); }, hipErrorIllegalAddress);
    CHECK(count(text, "memory access fault: write") == 1 && count(text, "freed at ") == 1, "%s",
          text.c_str());
    HIP_OK(hipMalloc(&p, 4000));
    text = said([=] { store_at<<<1, 64>>>(p, long(1) << 34); }, hipErrorIllegalAddress);
    CHECK(count(text, "memory access fault: write") == 1, "%s", text.c_str());
}

// Whole pages past a buffer meet nothing of the runtime's.
static void pages()
{
    int *p;
    HIP_OK(hipMalloc(&p, 4000));
    const std::string text = said(
        [=] {
            for (long page = 1; page < 4096; page++)
                store_at<<<1, 64>>>(p, page << 10);
        },
        hipErrorIllegalAddress);
    CHECK(count(text, "memory access fault: write") == 1 && count(text, "past the end of") > 0, "%s",
          text.c_str());
}

// The host program's own.
static void host()
{
    char *memory;
    HIP_OK(hipHostMalloc(&memory, 4000));
    volatile char *p = memory;
    const std::string text = said([=] {
        p[5000] = 7;
        p[5001] = p[5000];
    });
    CHECK(p[5001] == 7, "%d", p[5001]);
    const char *mode = getenv("EHP_MODE");
    if (bounds == "warn" && (!mode || std::string(mode) == "functional")) // else nobody sees it
        CHECK(count(text, "warning: write by the host program beyond a buffer") == 1 &&
                  count(text, "bytes past the end of allocation ") == 1,
              "%s", text.c_str());
    HIP_OK(hipHostFree(memory));
}

int main()
{
    bounds = getenv("EHP_BOUNDS") ? getenv("EHP_BOUNDS") : "warn";
    if (bounds == "fault") {
        int *p;
        HIP_OK(hipMalloc(&p, 4000));
        const std::string text = said([=] { store_at<<<1, 64>>>(p, 1024); }, hipErrorIllegalAddress);
        CHECK(count(text, "memory access fault: write") == 1 && count(text, "0x60 bytes past the end") == 1,
              "%s", text.c_str());
    } else {
        rounded_up();
        large();
        host();
    }
    faults();
    pages();
    return check_done();
}
