// SPDX-License-Identifier: MIT
// STREAM's triad on three arrays from an allocator, `upm_stream stream_NAME`: with HSA_XNACK=1 the ones on
// demand. Its last dispatch is the one whose counters are read. The Infinity Cache has neither the arrays nor
// their page table entries any more, as it is with arrays of 512 MiB; it is not full of what was written
// before: what the translations of small fragments let through, memory takes either way.
#include "measure.h"

#include <sys/mman.h>

#include <hip/ehp_host.h>
#include <string>

static const size_t MIB = 1 << 20, PAGE = 4096;
static const size_t FIRST = 6, SECOND = 18, ALL = (FIRST + SECOND) * MIB; // of each array
static const size_t STATIC_FIRST = 1, STATIC_SECOND = 3, STATIC_ALL = (STATIC_FIRST + STATIC_SECOND) * MIB;

static __managed__ double managed[3][STATIC_ALL / sizeof(double)];

__global__ void triad(double *a, const double *b, const double *c, double scalar)
{
    size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    a[i] = b[i] + scalar * c[i];
}

__global__ void touch(char *base)
{
    base[(blockIdx.x * size_t{blockDim.x} + threadIdx.x) * PAGE] = 0;
}

// Reads more than the Infinity Cache holds.
__global__ void sweep(const uint4 *base, unsigned *never)
{
    uint4 v = base[blockIdx.x * size_t{blockDim.x} + threadIdx.x];
    if ((v.x | v.y | v.z | v.w) == 1)
        *never = v.x;
}

static void evict()
{
    const size_t bytes = 320 * MIB, block = 256;
    void *p;
    CHECK_HIP(hipMalloc(&p, bytes));
    sweep<<<static_cast<unsigned>(bytes / sizeof(uint4) / block), block>>>(static_cast<const uint4 *>(p),
                                                                           static_cast<unsigned *>(p));
    CHECK_HIP(hipDeviceSynchronize());
    CHECK_HIP(hipFree(p));
}

static char *map(size_t bytes)
{
    void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        std::exit(1);
    return static_cast<char *>(p);
}

static void cpu_touch(char *base, size_t bytes)
{
    ehp_cpu_work work = EHP_CPU_WORK_INIT;
    work.operation = EHP_CPU_TOUCH;
    work.cores = 24;
    work.passes = 1;
    work.ranges = 1;
    work.base[0] = base;
    work.bytes[0] = bytes;
    if (ehp_host_run(&work) != EHP_OK)
        std::exit(1);
}

// The GPU's page faults are over when it is measured.
static char *allocate(const std::string &name)
{
    void *p = nullptr;
    if (name == "stream_host")
        CHECK_HIP(hipHostMalloc(&p, ALL, 0));
    else if (name == "stream_managed" || name == "stream_managed_demand")
        CHECK_HIP(hipMallocManaged(&p, ALL));
    else
        p = map(ALL);
    char *base = static_cast<char *>(p);
    if (name == "stream_registered")
        CHECK_HIP(hipHostRegister(base, ALL, 0));
    if (name == "stream_malloc_cpu")
        cpu_touch(base, ALL);
    touch<<<ALL / PAGE / 64, 64>>>(base);
    CHECK_HIP(hipDeviceSynchronize());
    return base;
}

int main(int argc, char **argv)
{
    std::string name = argc > 1 ? argv[1] : "";
    bool is_static = name == "stream_static";
    size_t first = is_static ? STATIC_FIRST : FIRST, second = is_static ? STATIC_SECOND : SECOND;
    double *array[3];
    for (int i = 0; i < 3; i++)
        array[i] = is_static ? managed[i] : reinterpret_cast<double *>(allocate(name));
    evict();
    stopwatch watch;
    auto time = [&](size_t from, size_t mib) {
        const size_t at = from * MIB / sizeof(double), block = 192; // as KTH's
        watch.start();
        triad<<<static_cast<unsigned>(mib * MIB / sizeof(double) / block), block>>>(
            array[0] + at, array[1] + at, array[2] + at, 0.4);
        return watch.stop();
    };
    double few = time(0, first), many = time(first, second);
    row(name.c_str(), 0, 3.0 * static_cast<double>((second - first) * MIB) / (many - few) / 1e6);
    return 0;
}
