// SPDX-License-Identifier: MIT
// Litmus tests between XCDs: how often an outcome is seen that the memory model forbids, or allows.
#include "measure.h"

constexpr int ROUNDS = 2000, APART = 64; // of ints: a location has lines of its own

__device__ unsigned xcd_id()
{
    unsigned id;
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID, 0, 4)" : "=s"(id));
    return id;
}

__device__ int read(int *p)
{
    return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__device__ void write(int *p, int value)
{
    __hip_atomic_store(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__device__ void chiplet_release()
{
    asm volatile("s_waitcnt vmcnt(0)\n\ts_dcache_wb\n\ts_waitcnt lgkmcnt(0)" ::: "memory");
}

__device__ void chiplet_acquire()
{
    asm volatile("buffer_inv sc1\n\ts_dcache_inv\n\ts_waitcnt vmcnt(0) lgkmcnt(0)" ::: "memory");
}

enum test {
    MESSAGE_AGENT,   // data, fence, flag; plain data
    MESSAGE_CHIPLET, // the same with fences that stop at the L2
    MESSAGE_NONE,
    STORE_BUFFERING, // each stores one and loads the other
    STORE_BUFFERING_FENCED,
    LOAD_BUFFERING_FENCED, // each loads one and stores the other
    IRIW_FENCED,           // two write, two others read both in opposite order
    COHERENCE,             // one location counts up, a reader sees it go down
};

// Who takes part: the first workgroup of each of the first XCDs; of two, on different IODs.
template <test T> __global__ void litmus(int *x, int *y, int *results, int *meet, int *tickets)
{
    constexpr int roles = T == IRIW_FENCED ? 4 : 2;
    const int xcd = static_cast<int>(xcd_id()), role = roles == 2 ? xcd / 2 : xcd;
    if (threadIdx.x || role >= roles || (roles == 2 && xcd % 2) || atomicAdd(&tickets[role * APART], 1))
        return;
    for (int i = 0; i < ROUNDS; i++) {
        __hip_atomic_fetch_add(meet, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        while (read(meet) < roles * (i + 1))
            ;
        int *a = &x[i * APART], *b = &y[i * APART], *r = &results[(role * ROUNDS + i) * 2];
        int first = 0, second = 0;
        for (int k = i * (role * 37 + 13) % 61; k > 0; k--) // those who meet do not leave at once
            asm volatile("s_nop 7" ::);
        if constexpr (T == MESSAGE_AGENT || T == MESSAGE_CHIPLET || T == MESSAGE_NONE) {
            if (role == 0) {
                *a = 1;
                if (T == MESSAGE_AGENT)
                    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
                else if (T == MESSAGE_CHIPLET)
                    chiplet_release();
                asm volatile("" ::: "memory");
                write(b, 1);
            } else {
                while (!(first = read(b)))
                    ;
                if (T == MESSAGE_AGENT)
                    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
                else if (T == MESSAGE_CHIPLET)
                    chiplet_acquire();
                asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)"
                             : "=v"(second)
                             : "v"(a)
                             : "memory");
            }
        } else if constexpr (T == STORE_BUFFERING || T == STORE_BUFFERING_FENCED) {
            write(role ? b : a, 1);
            if (T == STORE_BUFFERING_FENCED)
                __threadfence();
            first = read(role ? a : b);
        } else if constexpr (T == LOAD_BUFFERING_FENCED) {
            first = read(role ? b : a);
            __threadfence();
            write(role ? a : b, 1);
        } else if constexpr (T == IRIW_FENCED) {
            if (role < 2) {
                write(role ? b : a, 1);
            } else {
                first = read(role == 2 ? a : b);
                __threadfence();
                second = read(role == 2 ? b : a);
            }
        } else {
            if (role == 0) {
                for (int k = 1; k <= 8; k++)
                    write(a, k);
            } else {
                for (int k = 0; k < 8; k++) {
                    second = read(a);
                    if (second < first)
                        b[1] = 1;
                    first = second;
                }
                second = b[1];
            }
        }
        r[0] = first;
        r[1] = second;
    }
}

static int *x, *y, *results, *meet, *tickets;

// Runs the test; how many rounds had the outcome that `seen` tells of all roles' results.
template <test T, typename F> static void count(const char *name, F seen)
{
    constexpr size_t cells = sizeof(int) * ROUNDS * APART;
    for (int warm = 0; warm < 2; warm++) { // the second time the locations are in the Infinity Cache
        CHECK_HIP(hipMemset(x, 0, cells));
        CHECK_HIP(hipMemset(y, 0, cells));
        CHECK_HIP(hipMemset(results, 0, sizeof(int) * ROUNDS * 8));
        CHECK_HIP(hipMemset(meet, 0, 64));
        CHECK_HIP(hipMemset(tickets, 0, sizeof(int) * 16 * APART));
        litmus<T><<<32, 64>>>(x, y, results, meet, tickets);
        CHECK_HIP(hipDeviceSynchronize());
    }
    int times = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const int *r[4];
        for (int role = 0; role < 4; role++)
            r[role] = &results[(role * ROUNDS + i) * 2];
        times += seen(r);
    }
    row(name, 0, times);
}

int main()
{
    CHECK_HIP(hipMalloc(&x, sizeof(int) * ROUNDS * APART));
    CHECK_HIP(hipMalloc(&y, sizeof(int) * ROUNDS * APART));
    CHECK_HIP(hipMalloc(&results, sizeof(int) * ROUNDS * 8));
    CHECK_HIP(hipMalloc(&meet, 64));
    CHECK_HIP(hipMalloc(&tickets, sizeof(int) * 16 * APART));
    auto lost = [](const int *const *r) { return r[1][1] != 1; };
    count<MESSAGE_AGENT>("litmus_message_agent", lost);
    count<MESSAGE_CHIPLET>("litmus_message_chiplet", lost);
    count<MESSAGE_NONE>("litmus_message_none", lost);
    auto none = [](const int *const *r) { return !r[0][0] && !r[1][0]; };
    count<STORE_BUFFERING>("litmus_store_buffering", none);
    count<STORE_BUFFERING_FENCED>("litmus_store_buffering_fenced", none);
    count<LOAD_BUFFERING_FENCED>("litmus_load_buffering_fenced",
                                 [](const int *const *r) { return r[0][0] && r[1][0]; });
    count<IRIW_FENCED>("litmus_iriw_fenced",
                       [](const int *const *r) { return r[2][0] && !r[2][1] && r[3][0] && !r[3][1]; });
    count<COHERENCE>("litmus_coherence", [](const int *const *r) { return r[1][1] != 0; });
    return 0;
}
