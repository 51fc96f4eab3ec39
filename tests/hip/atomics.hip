// SPDX-License-Identifier: MIT
// Atomic functions of every width and scope: totals that only come out if no update is lost, and returned
// values that together are each old value once.
#include "check_hip.h"
#include <algorithm>
#include <hip/hip_fp16.h>

enum { BLOCKS = 8, THREADS = 128, N = BLOCKS * THREADS };

template <typename T> struct cells {
    T add, sub, max, min, any, all, flip, cas, exchanged;
};

#define INTEGER_KERNEL(suffix)                                                                               \
    template <typename T> __global__ void integers##suffix(cells<T> *c, T *old)                              \
    {                                                                                                        \
        const T i = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x);                                   \
        old[i] = atomicAdd##suffix(&c->add, static_cast<T>(3));                                              \
        atomicSub##suffix(&c->sub, static_cast<T>(2));                                                       \
        atomicMax##suffix(&c->max, static_cast<T>(i * 7 % 1023));                                            \
        atomicMin##suffix(&c->min, static_cast<T>(5000 - i));                                                \
        atomicOr##suffix(&c->any, static_cast<T>(T(1) << (i & 15)));                                         \
        atomicAnd##suffix(&c->all, static_cast<T>(~(T(1) << (i & 7))));                                      \
        atomicXor##suffix(&c->flip, i);                                                                      \
        T seen = c->cas, assumed;                                                                            \
        do {                                                                                                 \
            assumed = seen;                                                                                  \
            seen = atomicCAS##suffix(&c->cas, assumed, static_cast<T>(assumed + i));                         \
        } while (seen != assumed);                                                                           \
        atomicExch##suffix(&c->exchanged, i);                                                                \
    }
INTEGER_KERNEL()
INTEGER_KERNEL(_system)

template <typename T, typename K> static void run_integers(const char *name, K kernel)
{
    buffer<cells<T>> c(1);
    buffer<T> old(N);
    std::memset(&c[0], 0, sizeof(cells<T>));
    c[0].sub = static_cast<T>(100000);
    c[0].min = static_cast<T>(9999);
    c[0].all = static_cast<T>(-1);
    c.up();
    kernel<<<BLOCKS, THREADS>>>(c.get(), old.get());
    c.down();
    old.down();
    T flip = 0, sum = 0, max = 0;
    for (T i = 0; i < N; i++) {
        flip = static_cast<T>(flip ^ i);
        sum = static_cast<T>(sum + i);
        max = std::max(max, static_cast<T>(i * 7 % 1023));
    }
    const cells<T> &r = c[0];
    CHECK(r.add == static_cast<T>(3 * N) && r.sub == static_cast<T>(100000 - 2 * N), "%s", name);
    CHECK(r.max == max && r.min == static_cast<T>(5000 - (N - 1)), "%s", name);
    CHECK(r.any == static_cast<T>(0xffff) && r.all == static_cast<T>(~T(255)) && r.flip == flip, "%s", name);
    CHECK(r.cas == sum && r.exchanged < N, "%s", name);
    std::sort(old.host.begin(), old.host.end());
    for (size_t i = 0; i < N; i++)
        CHECK(old[i] == static_cast<T>(3 * i), "%s: the %zuth old value is %lld", name, i,
              static_cast<long long>(old[i]));
}

template <typename T> __global__ void floats(T *c, T *sum_of_block)
{
    __shared__ T local[3];
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (threadIdx.x < 3)
        local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&c[0], static_cast<T>(0.5));
    atomicSub(&c[1], static_cast<T>(0.25));
    atomicMax(&c[2], static_cast<T>(i - 500));
    atomicMin(&c[3], static_cast<T>(500 - i));
    unsafeAtomicAdd(&c[4], static_cast<T>(2));
    safeAtomicAdd(&c[5], static_cast<T>(4));
    unsafeAtomicMax(&c[6], static_cast<T>(i));
    unsafeAtomicMin(&c[7], static_cast<T>(-i));
    atomicAdd(&local[0], static_cast<T>(1));
    __hip_atomic_fetch_add(&local[1], static_cast<T>(threadIdx.x), __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_WORKGROUP);
    atomicMax(&local[2], static_cast<T>(threadIdx.x));
    __syncthreads();
    if (threadIdx.x < 3)
        sum_of_block[3 * blockIdx.x + threadIdx.x] = local[threadIdx.x];
}
template <typename T> static void run_floats(const char *name)
{
    buffer<T> c(8), block(3 * BLOCKS);
    floats<T><<<BLOCKS, THREADS>>>(c.get(), block.get());
    c.down();
    block.down();
    const T want[8] = {N / 2, -N / 4, N - 1 - 500, static_cast<T>(500 - (N - 1)),
                       2 * N, 4 * N,  N - 1,       static_cast<T>(1 - N)};
    for (size_t i = 0; i < 8; i++)
        CHECK(c[i] == want[i], "%s %zu is %g", name, i, static_cast<double>(c[i]));
    for (size_t b = 0; b < BLOCKS; b++)
        CHECK(block[3 * b] == THREADS && block[3 * b + 1] == THREADS * (THREADS - 1) / 2 &&
                  block[3 * b + 2] == THREADS - 1,
              "%s block %zu: %g %g %g", name, b, static_cast<double>(block[3 * b]),
              static_cast<double>(block[3 * b + 1]), static_cast<double>(block[3 * b + 2]));
}

__global__ void wrapping(unsigned *c, unsigned *histogram)
{
    const unsigned up = atomicInc(&c[0], 9), down = atomicDec(&c[1], 9);
    atomicAdd(&histogram[up], 1u);
    atomicAdd(&histogram[16 + down], 1u);
    // A lock taken by one lane of each wave at a time.
    if (__lane_id() == 0) {
        while (atomicCAS(&c[2], 0u, 1u) != 0)
            ;
        __threadfence();
        c[3] = c[3] + 1;
        __threadfence();
        atomicExch(&c[2], 0u);
    }
    __hip_atomic_fetch_add(&c[4], 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_SYSTEM);
}

// What HIP lacks, as programs add it to its overloads.
static __device__ long long atomicAdd(long long *address, long long value)
{
    return static_cast<long long>(
        atomicAdd(reinterpret_cast<unsigned long long *>(address), static_cast<unsigned long long>(value)));
}
template <typename T> static __device__ T __ldg(const T *address)
{
    return *address;
}
struct __align__(16) pair {
    long long key, value;
};
static __global__ void additions(pair *p, long long *extremes)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const pair one = __ldg(&p[1]);
    atomicAdd(&p[0].key, one.key * i);
    atomicAdd(&p[0].value, __ldg(&p[1].value));
    atomicMin(&extremes[0], -3ll * i);
    atomicMax_system(&extremes[1], 5000000000ll * i);
}

// As compilers make it where they do not know what a pointer points to: lanes go to scratch, LDS and memory.
__device__ int flat_add(int *p, int value)
{
    int old;
    asm volatile("flat_atomic_add %0, %1, %2 sc0\n s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=v"(old)
                 : "v"(p), "v"(value)
                 : "memory");
    return old;
}

__global__ void anywhere(int *global, int *out)
{
    __shared__ int local;
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0)
        local = 0;
    __syncthreads();
    int own = t, *p = t % 3 == 0 ? &own : t % 3 == 1 ? &local : global;
    flat_add(p, 5);
    out[t] = flat_add(&own, 1) * 1000 + own;
    __syncthreads();
    if (t == 0)
        out[64] = local;
}

// The same of 64 bits, which are two pieces of scratch: with and without the old value, one right after
// another.
__device__ unsigned long long flat_add(unsigned long long *p, unsigned long long value)
{
    unsigned long long old;
    asm volatile("flat_atomic_add_x2 %0, %1, %2 sc0\n s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=v"(old)
                 : "v"(p), "v"(value)
                 : "memory");
    return old;
}

__device__ void flat_add_twice(unsigned long long *p, unsigned long long value)
{
    asm volatile(
        "flat_atomic_add_x2 %0, %1\n flat_atomic_add_x2 %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)" ::"v"(p),
        "v"(value)
        : "memory");
}

__device__ double flat_max(double *p, double value)
{
    double old;
    asm volatile("flat_atomic_max_f64 %0, %1, %2 sc0\n s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=v"(old)
                 : "v"(p), "v"(value)
                 : "memory");
    return old;
}

__device__ unsigned long long flat_swap_if(unsigned long long *p, unsigned long long value,
                                           unsigned long long expected)
{
    typedef unsigned long long two __attribute__((ext_vector_type(2)));
    const two operands = {value, expected};
    unsigned long long old;
    asm volatile("flat_atomic_cmpswap_x2 %0, %1, %2 sc0\n s_waitcnt vmcnt(0) lgkmcnt(0)"
                 : "=v"(old)
                 : "v"(p), "v"(operands)
                 : "memory");
    return old;
}

__device__ void flat_add_halves(unsigned *p, unsigned value)
{
    asm volatile("flat_atomic_pk_add_f16 %0, %1\n s_waitcnt vmcnt(0) lgkmcnt(0)" ::"v"(p), "v"(value)
                 : "memory");
}

struct wide {
    unsigned long long sum, old, global_or_local, swapped, twice, halves;
    double greatest, before;
};

__global__ void anywhere_wide(unsigned long long *global, wide *out)
{
    __shared__ unsigned long long local;
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0)
        local = 0;
    __syncthreads();
    volatile unsigned long long around[4] = {1, 2, 3, 4}; // so that it is not the first there is
    unsigned long long own = 0xfffffffdull + (static_cast<unsigned long long>(t) << 40),
                       twice = 0xffffffffull;
    unsigned long long *p = t % 3 == 0 ? &own : t % 3 == 1 ? &local : global;
    out[t].global_or_local = flat_add(p, 5);
    out[t].old = flat_add(&own, 1);
    out[t].sum = own + around[t % 4] - static_cast<unsigned long long>(t % 4) - 1;
    unsigned long long mark = 7000000000ull * (t % 2);
    out[t].swapped = flat_swap_if(&mark, 8000000000ull, 7000000000ull) * 10 + mark / 1000000000;
    if (t % 2)
        flat_add_twice(&twice, 0x100000001ull);
    out[t].twice = twice;
    double greatest = 0.5 * t;
    out[t].before = flat_max(&greatest, 16.25);
    out[t].greatest = greatest;
    unsigned halves = 0x3c004000u; // 1, 2
    flat_add_halves(&halves, 0x3c003c00u);
    out[t].halves = halves;
    __syncthreads();
    if (t == 0)
        out[64].sum = local;
}

static void check_anywhere_wide()
{
    buffer<unsigned long long> global(1);
    buffer<wide> out(65);
    anywhere_wide<<<1, 64>>>(global.get(), out.get());
    global.down();
    out.down();
    CHECK(global[0] == 21 * 5 && out[64].sum == 21 * 5, "%llu %llu", global[0], out[64].sum);
    for (int t = 0; t < 64; t++) {
        const unsigned long long first = 0xfffffffdull + (static_cast<unsigned long long>(t) << 40);
        const unsigned long long old = first + (t % 3 == 0 ? 5 : 0);
        const wide &o = out[t];
        CHECK(o.old == old && o.sum == old + 1, "%d: %llx %llx", t, o.old, o.sum);
        CHECK(t % 3 == 0 ? o.global_or_local == first : o.global_or_local % 5 == 0 && o.global_or_local < 105,
              "%d: %llx", t, o.global_or_local);
        CHECK(o.swapped == (t % 2 ? 70000000008ull : 0), "%d: %llu", t, o.swapped);
        CHECK(o.twice == (t % 2 ? 0x300000001ull : 0xffffffffull), "%d: %llx", t, o.twice);
        CHECK(o.before == 0.5 * t && o.greatest == std::fmax(0.5 * t, 16.25), "%d: %g %g", t, o.before,
              o.greatest);
        CHECK(o.halves == 0x40004200u, "%d: %llx", t, o.halves);
    }
}

int main()
{
    run_integers<int>("int", integers<int>);
    run_integers<unsigned>("unsigned", integers<unsigned>);
    run_integers<unsigned long long>("unsigned long long", integers<unsigned long long>);
    run_integers<unsigned long>("unsigned long", integers<unsigned long>);
    run_integers<int>("int, system", integers_system<int>);
    run_integers<unsigned long long>("unsigned long long, system", integers_system<unsigned long long>);
    buffer<pair> pairs(2);
    buffer<long long> extremes(2);
    pairs[0] = {0, 0};
    pairs[1] = {-2, 7};
    pairs.up();
    additions<<<BLOCKS, THREADS>>>(pairs.get(), extremes.get());
    pairs.down();
    extremes.down();
    CHECK(pairs[0].key == -static_cast<long long>(N) * (N - 1) && pairs[0].value == 7ll * N, "%lld %lld",
          pairs[0].key, pairs[0].value);
    CHECK(extremes[0] == -3ll * (N - 1) && extremes[1] == 5000000000ll * (N - 1), "%lld %lld", extremes[0],
          extremes[1]);
    run_floats<float>("float");
    run_floats<double>("double");

    buffer<unsigned> c(5), histogram(32);
    wrapping<<<BLOCKS, THREADS>>>(c.get(), histogram.get());
    c.down();
    histogram.down();
    // 1024 steps around a ring of ten: each old value 102 times, the first four of them once more.
    for (unsigned i = 0; i < 10; i++) {
        CHECK(histogram[i] == N / 10 + (i < N % 10), "inc %u: %u", i, histogram[i]);
        const unsigned step = (10 - i) % 10; // 0, 9, 8, ...
        CHECK(histogram[16 + i] == N / 10 + (step < N % 10), "dec %u: %u", i, histogram[16 + i]);
    }
    CHECK(c[0] == N % 10 && c[1] == (10 - N % 10) % 10, "%u %u", c[0], c[1]);
    CHECK(c[3] == N / 64 && c[4] == N, "%u %u", c[3], c[4]);

    buffer<int> global(1), out(65);
    anywhere<<<1, 64>>>(global.get(), out.get());
    global.down();
    out.down();
    CHECK(global[0] == 21 * 5 && out[64] == 21 * 5, "%d %d", global[0], out[64]);
    for (int t = 0; t < 64; t++) {
        const int old = t + (t % 3 == 0 ? 5 : 0);
        CHECK(out[t] == old * 1000 + old + 1, "%d: %d", t, out[t]);
    }
    check_anywhere_wide();
    return check_done();
}
