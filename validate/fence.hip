// SPDX-License-Identifier: MIT
// Fences that order memory in an XCD beside those that order it in the whole device: their cost alone, under
// many lanes, in message passing and in ping-pong, and whether they order anything.
//
// The chiplet fence drains a wave's stores to the L2 and writes the scalar cache back (release), or empties
// the vector and scalar caches (acquire); it touches no L2.
#include "measure.h"

#include <algorithm>
#include <vector>

enum fence_kind { CHIPLET, AGENT, THREADFENCE, NO_RELEASE, NO_ACQUIRE, NO_FENCE };

template <fence_kind K> __device__ __forceinline__ void release()
{
    if constexpr (K == CHIPLET || K == NO_ACQUIRE)
        asm volatile("s_waitcnt vmcnt(0)\n\ts_dcache_wb\n\ts_waitcnt lgkmcnt(0)" ::: "memory");
    else if constexpr (K == AGENT)
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    else if constexpr (K == THREADFENCE)
        __threadfence();
    else
        asm volatile("" ::: "memory");
}

template <fence_kind K> __device__ __forceinline__ void acquire()
{
    if constexpr (K == CHIPLET || K == NO_RELEASE)
        asm volatile("buffer_inv sc1\n\ts_dcache_inv\n\ts_waitcnt vmcnt(0) lgkmcnt(0)" ::: "memory");
    else if constexpr (K == AGENT)
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    else if constexpr (K == THREADFENCE)
        __threadfence();
    else
        asm volatile("" ::: "memory");
}

__device__ unsigned xcd_id()
{
    unsigned id;
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID, 0, 4)" : "=s"(id));
    return id;
}

// ---- a fence alone ----

enum part { RELEASE, ACQUIRE, PAIR };

template <fence_kind K, part P> __global__ void alone(volatile int *sink, int rounds, uint64_t *cycles)
{
    if (threadIdx.x || blockIdx.x)
        return;
    uint64_t start = clock64();
    for (int i = 0; i < rounds; i++) {
        *sink = i;
        if (P != ACQUIRE)
            release<K>();
        if (P != RELEASE)
            acquire<K>();
    }
    *cycles = clock64() - start;
}

// ---- a storm of them ----

template <fence_kind K> __global__ void storm(int *buffer, int rounds, uint64_t *cycles)
{
    uint64_t start = clock64();
    for (int i = 0; i < rounds; i++) {
        buffer[threadIdx.x] = static_cast<int>(threadIdx.x);
        release<K>();
        acquire<K>();
        __syncthreads();
    }
    uint64_t end = clock64();
    if (threadIdx.x == 0)
        *cycles = end - start;
}

// ---- two workgroups of an XCD ----

// Each XCD's part; what is shared lies in allocations of its own.
struct meeting {
    int wrong;
    int rounds;
    uint64_t cycles;
    char apart[240];
};

struct board {
    int *roles, *semaphores, *buffers; // a line for each XCD
    meeting *meetings;
};
constexpr unsigned APART = 64; // ints

__device__ int take_role(int *role)
{
    int expected = 0;
    return __hip_atomic_compare_exchange_strong(role, &expected, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                __HIP_MEMORY_SCOPE_AGENT)
               ? 0
               : 1;
}

__device__ void semaphore_release(int *semaphore)
{
    __hip_atomic_fetch_add(semaphore, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

__device__ void semaphore_acquire(int *semaphore)
{
    for (;;) {
        int have = __hip_atomic_load(semaphore, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        if (have > 0 && __hip_atomic_compare_exchange_strong(semaphore, &have, have - 1, __ATOMIC_RELAXED,
                                                             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
            return;
    }
}

// A load that may hit in the vL1, and is over when it returns.
__device__ int load(const int *p)
{
    int value;
    asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(value) : "v"(p) : "memory");
    return value;
}

// With HELD the consumer's vL1 has the buffer's old value, as what came before may have left it there.
template <fence_kind K, bool HELD> __global__ void message_passing(board b)
{
    if (threadIdx.x)
        return;
    unsigned xcd = xcd_id();
    int *buffer = &b.buffers[xcd * APART], *semaphore = &b.semaphores[xcd * APART];
    meeting *m = &b.meetings[xcd];
    if (take_role(&b.roles[xcd * APART]) == 0) {
        *buffer = static_cast<int>(xcd) + 1;
        release<K>();
        semaphore_release(semaphore);
    } else {
        if (HELD)
            load(buffer);
        semaphore_acquire(semaphore);
        uint64_t start = clock64();
        acquire<K>();
        int observed = load(buffer);
        m->cycles = clock64() - start;
        m->wrong = observed != static_cast<int>(xcd) + 1;
        m->rounds = 1;
    }
}

template <fence_kind K> __global__ void ping_pong(board b, int rounds)
{
    if (threadIdx.x)
        return;
    unsigned xcd = xcd_id();
    int *buffer = &b.buffers[xcd * APART], *semaphore = &b.semaphores[xcd * APART];
    meeting *m = &b.meetings[xcd];
    int me = take_role(&b.roles[xcd * APART]), wrong = 0, read = 0;
    uint64_t cycles = 0;
    for (int i = 0; i < rounds; i++) {
        if (i % 2 == me) {
            *buffer = i;
            release<K>();
            semaphore_release(semaphore);
            // Not to take what is the other's.
            while (__hip_atomic_load(semaphore, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) > 0)
                ;
        } else {
            semaphore_acquire(semaphore);
            uint64_t start = clock64();
            acquire<K>();
            int observed = load(buffer);
            cycles += clock64() - start;
            wrong += observed != i;
            read++;
        }
    }
    __hip_atomic_fetch_add(&m->wrong, wrong, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add(&m->rounds, read, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add(&m->cycles, cycles, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

static uint64_t *cycles;
static int *buffer;
static board table;
static int xcds;

template <fence_kind K, part P> static double alone_cycles()
{
    const int rounds = 1024;
    for (int i = 0; i < 2; i++)
        alone<K, P><<<1, 1>>>(buffer, rounds, cycles);
    CHECK_HIP(hipDeviceSynchronize());
    return static_cast<double>(*cycles) / rounds;
}

template <fence_kind K> static double storm_cycles()
{
    const int rounds = 256;
    for (int i = 0; i < 2; i++)
        storm<K><<<1, 64>>>(buffer, rounds, cycles);
    CHECK_HIP(hipDeviceSynchronize());
    return static_cast<double>(*cycles) / rounds;
}

struct outcome {
    double cycles;
    int wrong;
};

static void clear()
{
    const size_t ints = sizeof(int) * APART * static_cast<size_t>(xcds);
    CHECK_HIP(hipMemset(table.roles, 0, ints));
    CHECK_HIP(hipMemset(table.semaphores, 0, ints));
    CHECK_HIP(hipMemset(table.buffers, 0, ints));
    CHECK_HIP(hipMemset(table.meetings, 0, sizeof(meeting) * static_cast<size_t>(xcds)));
}

static outcome read_meetings()
{
    outcome o{0, 0};
    double rounds = 0;
    for (int i = 0; i < xcds; i++) {
        o.cycles += static_cast<double>(table.meetings[i].cycles);
        o.wrong += table.meetings[i].wrong;
        rounds += table.meetings[i].rounds;
    }
    o.cycles /= rounds;
    return o;
}

template <fence_kind K, bool HELD = false> static outcome pass_messages()
{
    outcome sum{0, 0};
    const int runs = 5;
    for (int i = 0; i < runs; i++) {
        clear();
        message_passing<K, HELD><<<2 * xcds, 64>>>(table);
        CHECK_HIP(hipDeviceSynchronize());
        outcome o = read_meetings();
        sum.cycles += o.cycles / runs;
        sum.wrong += o.wrong;
    }
    return sum;
}

template <fence_kind K> static outcome play()
{
    clear();
    ping_pong<K><<<2 * xcds, 64>>>(table, 256);
    CHECK_HIP(hipDeviceSynchronize());
    return read_meetings();
}

static double less(double ours, double theirs)
{
    return 100 * (1 - ours / theirs);
}

int main()
{
    xcds = compute_units() / 38;
    CHECK_HIP(hipHostMalloc(&cycles, 64));
    CHECK_HIP(hipMalloc(&buffer, 4096));
    const size_t ints = sizeof(int) * APART * static_cast<size_t>(xcds);
    CHECK_HIP(hipMalloc(&table.roles, ints));
    CHECK_HIP(hipMalloc(&table.semaphores, ints));
    CHECK_HIP(hipMalloc(&table.buffers, ints));
    CHECK_HIP(hipMalloc(&table.meetings, sizeof(meeting) * static_cast<size_t>(xcds)));

    double chiplet_release = alone_cycles<CHIPLET, RELEASE>(), agent_release = alone_cycles<AGENT, RELEASE>();
    double chiplet_acquire = alone_cycles<CHIPLET, ACQUIRE>(), agent_acquire = alone_cycles<AGENT, ACQUIRE>();
    double chiplet_pair = alone_cycles<CHIPLET, PAIR>(), agent_pair = alone_cycles<AGENT, PAIR>();
    double threadfence = alone_cycles<THREADFENCE, RELEASE>(),
           threadfence_pair = alone_cycles<THREADFENCE, PAIR>();
    row("fence_chiplet_release", 0, chiplet_release);
    row("fence_agent_release", 0, agent_release);
    row("fence_threadfence", 0, threadfence);
    row("fence_chiplet_acquire", 0, chiplet_acquire);
    row("fence_agent_acquire", 0, agent_acquire);
    row("fence_chiplet_pair", 0, chiplet_pair);
    row("fence_agent_pair", 0, agent_pair);
    row("fence_threadfence_acquire", 0, alone_cycles<THREADFENCE, ACQUIRE>());
    row("fence_threadfence_pair", 0, threadfence_pair);
    row("fence_none", 0, alone_cycles<NO_FENCE, RELEASE>());
    row("fence_release_less", 0, less(chiplet_release, agent_release));
    row("fence_acquire_slower", 0, -less(chiplet_acquire, agent_acquire));
    row("fence_pair_less", 0, less(chiplet_pair, std::min(agent_pair, threadfence_pair)));

    double chiplet_storm = storm_cycles<CHIPLET>(), agent_storm = storm_cycles<AGENT>();
    row("storm_chiplet", 0, chiplet_storm);
    row("storm_agent", 0, agent_storm);
    row("storm_threadfence", 0, storm_cycles<THREADFENCE>());
    row("storm_less", 0, less(chiplet_storm, agent_storm));

    outcome chiplet_message = pass_messages<CHIPLET>(), agent_message = pass_messages<AGENT>();
    row("message_chiplet", 0, chiplet_message.cycles);
    row("message_agent", 0, agent_message.cycles);
    row("message_threadfence", 0, pass_messages<THREADFENCE>().cycles);
    row("message_less", 0, less(chiplet_message.cycles, agent_message.cycles));
    row("message_wrong_chiplet", 0, chiplet_message.wrong + pass_messages<CHIPLET, true>().wrong);
    row("message_wrong_agent", 0, agent_message.wrong + pass_messages<AGENT, true>().wrong);
    row("message_wrong_no_release", 0, pass_messages<NO_RELEASE>().wrong);
    row("message_wrong_no_acquire", 0, pass_messages<NO_ACQUIRE, true>().wrong);
    row("message_wrong_no_fence", 0, pass_messages<NO_FENCE>().wrong);

    outcome chiplet_play = play<CHIPLET>(), device_play = play<THREADFENCE>();
    row("ping_pong_chiplet", 0, chiplet_play.cycles);
    row("ping_pong_threadfence", 0, device_play.cycles);
    row("ping_pong_slower", 0, -less(chiplet_play.cycles, device_play.cycles));
    row("ping_pong_wrong", 0, chiplet_play.wrong + device_play.wrong);
    return 0;
}
