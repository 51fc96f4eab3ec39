// SPDX-License-Identifier: MIT
// What the program does to its pages while the GPU has them in its table: unmapping, protecting, discarding
// and forking are seen, and prefetching puts pages there ahead. With HSA_XNACK=1, and the parts that do not
// need it without.
#include "check_hip.h"

#include <csignal>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t PAGE = 4096, PAGES = 40, BYTES = PAGES * PAGE;
static const int COUNT = BYTES / sizeof(int);

__global__ void add(int *p, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += what;
}

__global__ void sum_up(const int *p, int n, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, p[i]);
}

__global__ void wait_for(int *flag, int *data)
{
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
        __builtin_amdgcn_s_sleep(8);
    data[0] += 1;
}

// Adds one to all of it, by one workgroup, and once more when the host says so.
__global__ void add_twice(int *p, int n, int *flag)
{
    for (int round = 0; round < 2; round++) {
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            p[i] += 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            __hip_atomic_store(flag + 1, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
            while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) == 0)
                __builtin_amdgcn_s_sleep(8);
        }
        __syncthreads();
    }
}

// Where nothing else is put, so that what is unmapped stays so.
static int *map_at(void *where)
{
    static char *next = reinterpret_cast<char *>(uintptr_t{0x200000000000}); // nor the sanitizers' shadow
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : MAP_FIXED_NOREPLACE);
    void *p = mmap(where ? where : next, BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(p != MAP_FAILED, "mmap");
    next += where ? 0 : 16 << 20;
    return static_cast<int *>(p);
}

static hipError_t gpu_adds(int *p, int what)
{
    add<<<COUNT / 256, 256>>>(p, COUNT, what);
    return hipDeviceSynchronize();
}

static int *total; // in device memory

static int gpu_sum(const int *p)
{
    HIP_OK(hipMemset(total, 0, sizeof *total));
    sum_up<<<COUNT / 256, 256>>>(p, COUNT, total);
    int sum = -1;
    HIP_OK(hipMemcpy(&sum, total, sizeof sum, hipMemcpyDeviceToHost));
    return sum;
}

// A fault is reported, and the device is as new afterwards.
static void must_fault(const char *what, hipError_t got)
{
    CHECK(got == hipErrorIllegalAddress, "%s: %s", what, hipGetErrorName(got));
    HIP_OK(hipDeviceReset());
    HIP_OK(hipMalloc(&total, sizeof *total));
}

static void wrong_from(const char *what, const int *p, int want)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += p[i] != want;
    CHECK(wrong == 0, "%s: %d wrong, the first %d", what, wrong, p[0]);
}

static void unmapped()
{
    int *p = map_at(nullptr);
    HIP_OK(gpu_adds(p, 3));
    munmap(p, BYTES);
    CHECK(map_at(p) == p, "the same place");
    CHECK(gpu_sum(p) == 0, "new pages are not zero");
    HIP_OK(gpu_adds(p, 5));
    wrong_from("mapped again", p, 5);
    munmap(p, BYTES);
    must_fault("unmapped", gpu_adds(p, 1));
}

// A kernel that has the pages already faults on them when the host has unmapped them meanwhile.
static void unmapped_meanwhile()
{
    int *flag, *p = map_at(nullptr);
    HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&flag), 2 * sizeof(int), hipHostMallocCoherent));
    for (bool gone : {false, true}) {
        flag[0] = flag[1] = 0;
        add_twice<<<1, 256>>>(p, COUNT, flag);
        while (__atomic_load_n(flag + 1, __ATOMIC_ACQUIRE) == 0)
            ;
        if (gone)
            munmap(p, BYTES);
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
        if (gone)
            must_fault("unmapped under a kernel", hipDeviceSynchronize());
        else
            HIP_OK(hipDeviceSynchronize());
        if (!gone)
            wrong_from("left alone", p, 2);
    }
}

static void discarded()
{
    int *p = map_at(nullptr);
    HIP_OK(gpu_adds(p, 3));
    CHECK(madvise(p, BYTES, MADV_DONTNEED) == 0, "madvise");
    CHECK(gpu_sum(p) == 0, "discarded pages are not zero");
    HIP_OK(gpu_adds(p, 4));
    CHECK(madvise(p + COUNT / 2, BYTES / 2, MADV_DONTNEED) == 0, "madvise");
    for (int i = COUNT / 2; i < COUNT; i++)
        CHECK(p[i] == 0, "%d", p[i]); // the CPU touches them again
    CHECK(gpu_sum(p) == COUNT / 2 * 4, "the other half");
    munmap(p, BYTES);
}

static void protected_pages()
{
    int *p = map_at(nullptr);
    HIP_OK(gpu_adds(p, 3));
    CHECK(mprotect(p, BYTES, PROT_READ) == 0, "mprotect");
    CHECK(gpu_sum(p) == 3 * COUNT, "reading is allowed");
    must_fault("write to pages for reading", gpu_adds(p, 1));
    wrong_from("kept", p, 3);
    CHECK(mprotect(p, BYTES, PROT_READ | PROT_WRITE) == 0, "mprotect");
    HIP_OK(gpu_adds(p, 1));
    wrong_from("writable again", p, 4);
    CHECK(mprotect(p, BYTES, PROT_NONE) == 0, "mprotect");
    must_fault("no access", gpu_adds(p, 1));
    munmap(p, BYTES);
}

// How the child ended: its exit code, or minus the signal.
static int ended(pid_t child)
{
    int status = 0;
    alarm(60); // a child that hangs would hang the test
    CHECK(waitpid(child, &status, 0) == child, "waitpid");
    alarm(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// The child has a copy of the process's memory and no GPU, and ends in peace; the parent notices nothing.
static void forked(int *p, const char *what)
{
    for (int i = 0; i < COUNT; i++)
        p[i] = 0;
    HIP_OK(gpu_adds(p, 3));
    fflush(nullptr);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        int devices = 0;
        void *more = nullptr;
        bool none = hipGetDeviceCount(&devices) != hipSuccess && hipMalloc(&more, 4096) != hipSuccess &&
                    hipDeviceSynchronize() != hipSuccess && gpu_adds(p, 100) != hipSuccess;
        bool same = p[0] == 3 && p[COUNT - 1] == 3;
        for (int i = 0; i < COUNT; i++)
            p[i] = 50;
        exit(none ? (same ? 7 : 8) : 9); // with all that is done at the end of a program
    }
    for (int i = 0; i < COUNT; i += PAGE / sizeof(int))
        p[i] += 1; // the parent's own pages now
    HIP_OK(gpu_adds(p, 10));
    int code = ended(child);
    CHECK(code == 7, "%s: the child ended with %d", what, code);
    HIP_OK(gpu_adds(p, 10));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += p[i] != 23 + (i % (PAGE / sizeof(int)) == 0);
    CHECK(wrong == 0, "%s: %d wrong after a fork, the first %d", what, wrong, p[0]);
}

// A kernel goes on while a child comes and goes.
static void forked_meanwhile()
{
    int *flag;
    HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&flag), 2 * sizeof(int), hipHostMallocCoherent));
    flag[0] = flag[1] = 0;
    wait_for<<<1, 1>>>(flag, flag + 1);
    pid_t child = fork();
    if (child == 0)
        _exit(5);
    int code = ended(child);
    CHECK(code == 5, "the child ended with %d", code);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    HIP_OK(hipDeviceSynchronize());
    CHECK(flag[1] == 1, "the kernel's result");
    HIP_OK(hipHostFree(flag));
}

// Something to compile for a while, each time anew.
template <int WHICH> __global__ void grind(float *p)
{
    float x = p[threadIdx.x];
    for (int i = 0; i < 64; i++) {
#pragma unroll
        for (int k = 0; k < 400; k++)
            x = x * (WHICH + k + 0.5f) + __builtin_amdgcn_sinf(x);
    }
    p[threadIdx.x] = x;
}

template <int WHICH> static void fork_under(float *p)
{
    grind<WHICH><<<256, 256>>>(p);
    for (int i = 0; i < 12; i++) {
        fflush(nullptr);
        pid_t child = fork();
        if (child == 0)
            exit(5);
        int code = ended(child);
        CHECK(code == 5, "child %d while kernel %d gets hot ended with %d", i, WHICH, code);
    }
    HIP_OK(hipDeviceSynchronize());
}

// A child exits in peace though its parent was compiling a function.
static void forked_under_the_compiler()
{
    float *p;
    HIP_OK(hipMalloc(&p, 256 * sizeof *p));
    fork_under<1>(p);
    fork_under<2>(p);
    fork_under<3>(p);
    fork_under<4>(p);
    HIP_OK(hipFree(p));
}

static float milliseconds(int *p)
{
    hipEvent_t before, after;
    float ms;
    HIP_OK(hipEventCreate(&before));
    HIP_OK(hipEventCreate(&after));
    HIP_OK(hipEventRecord(before));
    add<<<COUNT / 256, 256>>>(p, COUNT, 1);
    HIP_OK(hipEventRecord(after));
    HIP_OK(hipEventSynchronize(after));
    HIP_OK(hipEventElapsedTime(&ms, before, after));
    HIP_OK(hipEventDestroy(before));
    HIP_OK(hipEventDestroy(after));
    return ms;
}

// Prefetched pages do not fault any more, whoever has touched them; and the range remembers where to.
static void prefetched(bool timing)
{
    int *managed;
    HIP_OK(hipMallocManaged(&managed, BYTES));
    int *own = map_at(nullptr);
    for (int *p : {managed, own}) {
        HIP_OK(hipMemPrefetchAsync(p, BYTES, 0, nullptr));
        HIP_OK(hipDeviceSynchronize());
        float first = milliseconds(p);
        CHECK(madvise(own, BYTES, MADV_DONTNEED) == 0, "madvise");
        float faulting = milliseconds(own);
        CHECK(!timing || faulting > 2 * first, "%s: %f ms prefetched, %f ms with page faults",
              p == own ? "own" : "managed", double(first), double(faulting));
    }
    wrong_from("prefetched", managed, 1);
    int where = -5;
    HIP_OK(hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributeLastPrefetchLocation, managed,
                                   BYTES));
    CHECK(where == 0, "%d", where);
    HIP_OK(hipMemPrefetchAsync(managed, BYTES, hipCpuDeviceId, nullptr));
    HIP_OK(hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributeLastPrefetchLocation, managed,
                                   BYTES));
    CHECK(where == hipCpuDeviceId, "%d", where);
    HIP_OK(hipMemAdvise(managed, BYTES, hipMemAdviseSetPreferredLocation, 0));
    HIP_OK(hipMemAdvise(managed, BYTES, hipMemAdviseSetAccessedBy, 0));
    HIP_OK(
        hipMemRangeGetAttribute(&where, sizeof where, hipMemRangeAttributePreferredLocation, managed, BYTES));
    CHECK(where == 0, "%d", where);
    int by[2] = {-5, -5};
    HIP_OK(hipMemRangeGetAttribute(by, sizeof by, hipMemRangeAttributeAccessedBy, managed, BYTES));
    CHECK(by[0] == 0 && by[1] == hipInvalidDeviceId, "%d %d", by[0], by[1]);
    munmap(own, BYTES);
    HIP_OK(hipFree(managed));
}

int main()
{
    const char *text = std::getenv("HSA_XNACK"), *mode = std::getenv("EHP_MODE");
    bool xnack = text && *text == '1', timing = mode && !std::strcmp(mode, "timing");
    HIP_OK(hipMalloc(&total, sizeof *total));
    int *p;
    HIP_OK(hipMalloc(&p, BYTES));
    forked(p, "hipMalloc");
    HIP_OK(hipFree(p));
    HIP_OK(hipMallocManaged(&p, BYTES));
    forked(p, "hipMallocManaged");
    HIP_OK(hipFree(p));
    p = map_at(nullptr);
    HIP_OK(hipHostRegister(p, BYTES, 0));
    forked(p, "hipHostRegister");
    HIP_OK(hipHostUnregister(p));
    forked_meanwhile();
    if (!timing)
        forked_under_the_compiler();
    if (xnack) {
        forked(p, "the process's own");
        prefetched(timing);
        discarded();
        unmapped();
        unmapped_meanwhile();
        protected_pages();
    } else {
        CHECK(hipMemPrefetchAsync(p, BYTES, 0, nullptr) == hipErrorInvalidValue,
              "memory that the GPU may not access");
    }
    munmap(p, BYTES);
    return check_done();
}
