// SPDX-License-Identifier: MIT
// Litmus tests: how often an outcome is seen that the memory model forbids, or that the hardware shows when a
// fence is missing.  At each scope: among the waves of a workgroup, the compute units of an XCD, XCDs, the
// host.
#include "measure.h"

#include <chrono>
#include <thread>

constexpr int ROUNDS = 400, MANY_ROUNDS = 3000; // many: for what is seldom seen
constexpr int APART = 64;                       // ints: a location has lines of its own
constexpr int HOST_ROUNDS = 40;

__device__ unsigned xcd_id()
{
    unsigned id;
    asm volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID, 0, 4)" : "=s"(id));
    return id;
}

enum place {
    WORKGROUP,
    XCD,
    AGENT,
    SYSTEM
}; // whose threads talk; system: those of the agent, by wider means

template <place P>
constexpr int SCOPE = P == WORKGROUP ? __HIP_MEMORY_SCOPE_WORKGROUP
                      : P == SYSTEM  ? __HIP_MEMORY_SCOPE_SYSTEM
                                     : __HIP_MEMORY_SCOPE_AGENT;

template <place P> __device__ int read(int *p)
{
    return __hip_atomic_load(p, __ATOMIC_RELAXED, SCOPE<P>);
}

template <place P> __device__ void write(int *p, int value)
{
    __hip_atomic_store(p, value, __ATOMIC_RELAXED, SCOPE<P>);
}

template <place P> __device__ void full_fence()
{
    if constexpr (P == WORKGROUP)
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    else if constexpr (P == SYSTEM)
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
    else
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

__device__ void chiplet_release()
{
    asm volatile("s_waitcnt vmcnt(0)\n\ts_dcache_wb\n\ts_waitcnt lgkmcnt(0)" ::: "memory");
}

__device__ void chiplet_acquire()
{
    asm volatile("buffer_inv sc1\n\ts_dcache_inv\n\ts_waitcnt vmcnt(0) lgkmcnt(0)" ::: "memory");
}

// A load that may hit in the vL1, and is over when it returns.
__device__ int load(const int *p)
{
    int value;
    asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(value) : "v"(p) : "memory");
    return value;
}

// Message passing: data, release, flag; acquire, data.
enum fences { SCOPED, CHIPLET, NARROW, NO_RELEASE, NO_ACQUIRE, NONE, RELAXED };

enum test {
    MESSAGE,
    STORE_BUFFERING, // each stores one and loads the other; some pairs one after another
    LOAD_BUFFERING,  // each loads one and stores the other
    IRIW,            // two write, two others read both in opposite order
    COHERENCE,       // one location, written by two; another written twice by one
};

template <fences F, place P> __device__ void release()
{
    if constexpr (F == SCOPED && P == SYSTEM)
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
    else if constexpr (F == SCOPED && P != WORKGROUP)
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    else if constexpr (F == SCOPED || F == NARROW)
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    else if constexpr (F == CHIPLET || F == NO_ACQUIRE)
        chiplet_release();
    asm volatile("" ::: "memory");
}

template <fences F, place P> __device__ void acquire()
{
    if constexpr (F == SCOPED && P == SYSTEM)
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
    else if constexpr (F == SCOPED && P != WORKGROUP)
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    else if constexpr (F == SCOPED || F == NARROW)
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    else if constexpr (F == CHIPLET || F == NO_RELEASE)
        chiplet_acquire();
    asm volatile("" ::: "memory");
}

// A location's partner lies in another channel.
__host__ __device__ constexpr int partner(int round, int rounds)
{
    return round * 7 % rounds;
}

template <test T> constexpr int ROLES = T == IRIW || T == COHERENCE ? 4 : 2;
enum { RESULTS = 4, ALL_ROLES = 4, PAIRS = 8 };

// This thread's part in the test, or -1.
template <test T, place P> __device__ int take_role(int *tickets)
{
    constexpr int roles = ROLES<T>;
    int role;
    if constexpr (P == WORKGROUP) {
        role = threadIdx.x % 64 ? -1 : static_cast<int>(threadIdx.x / 64);
    } else if (threadIdx.x) {
        role = -1;
    } else if constexpr (P == XCD) { // consecutive workgroups of an XCD are on different CUs
        role = xcd_id() ? -1 : atomicAdd(tickets, 1);
    } else { // the first of each of some XCDs; of two, and of readers, on different IODs
        const int xcd = static_cast<int>(xcd_id());
        role = roles == 2 && xcd % 2 ? -1 : roles == 2 ? xcd / 2 : xcd < 3 ? xcd : xcd - 1;
        if (roles == 4 && xcd == 3)
            role = -1;
        if (role >= roles || (role >= 0 && atomicAdd(&tickets[role * APART], 1)))
            role = -1;
    }
    return role < roles ? role : -1;
}

template <test T, place P, fences F>
__global__ void litmus(int *x, int *y, int *results, int *meet, int *tickets, int rounds)
{
    const int role = take_role<T, P>(tickets);
    if (role < 0)
        return;
    for (int i = 0; i < rounds; i++) {
        int *a = &x[i * APART], *b = &y[partner(i, rounds) * APART],
            *r = &results[(role * rounds + i) * RESULTS];
        if (T == MESSAGE && role == 1)
            load(a);                                            // its caches have the old value
        for (int k = 0; T == STORE_BUFFERING && k < PAIRS; k++) // its L2 has what it will read
            load(role ? &x[(i * PAIRS + k) * APART] : &y[partner(i * PAIRS + k, rounds * PAIRS) * APART]);
        for (int k = 0; T == IRIW && role >= 2 && k < 2; k++)
            load(k ? a : b);
        __hip_atomic_fetch_add(meet, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        while (__hip_atomic_load(meet, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < ROLES<T> * (i + 1))
            ;
        for (int k = i * (role * 5 + 3) % 11; k > 0; k--) // those who meet do not leave at once
            asm volatile("s_nop 0" ::);
        int first = 0, second = 0, third = 0, fourth = 0;
        if constexpr (T == MESSAGE) {
            if (role == 0) {
                *a = 1;
                release<F, P>();
                write<P>(b, 1);
                for (int k = 0; k < 100; k++) // it has other things to do than to wait for its stores
                    asm volatile("s_nop 7" ::);
            } else {
                while (!(first = read<P>(b)))
                    ;
                acquire<F, P>();
                second = load(a);
            }
        } else if constexpr (T == STORE_BUFFERING) {
            int seen[PAIRS];
            for (int k = 0; k < PAIRS; k++) {
                int at = i * PAIRS + k, *p = &x[at * APART], *q = &y[partner(at, rounds * PAIRS) * APART];
                write<P>(role ? q : p, 1);
                if (F == SCOPED)
                    full_fence<P>();
                seen[k] = read<P>(role ? p : q);
                if (role) // not in step with the other
                    asm volatile("s_nop 0" ::);
            }
            for (int k = 0; k < PAIRS; k++)
                first |= (seen[k] == 0) << k;
        } else if constexpr (T == LOAD_BUFFERING) {
            first = read<P>(role ? b : a);
            full_fence<P>();
            write<P>(role ? a : b, 1);
        } else if constexpr (T == IRIW) {
            if (role < 2) {
                write<P>(role ? b : a, 1);
            } else {
                first = read<P>(role == 2 ? a : b);
                full_fence<P>();
                second = read<P>(role == 2 ? b : a);
            }
        } else if (role == 0) {
            write<P>(a, 1);
            first = read<P>(a);
        } else if (role == 1) {
            first = read<P>(a);
            write<P>(a, 2);
            second = read<P>(a);
        } else if (role == 2) {
            first = read<P>(a);
            second = read<P>(a);
            third = read<P>(a);
            fourth = read<P>(a);
        } else {
            *b = 1; // plain, then with a scope, to the same place
            asm volatile("" ::: "memory");
            write<P>(b, 2);
            first = load(b);
        }
        r[0] = first;
        r[1] = second;
        r[2] = third;
        r[3] = fourth;
    }
}

static int *x, *y, *results, *meet, *tickets;

struct outcome {
    const int *r[ALL_ROLES]; // what the roles read
    int a, b;                // what stayed
};

// Runs the test; how many rounds had the outcome that `seen` tells.
template <test T, place P, fences F, typename S> static void count(const char *name, S seen)
{
    const int places = F == RELAXED ? MANY_ROUNDS : ROUNDS,
              rounds = T == STORE_BUFFERING ? places / PAIRS : places;
    const size_t cells = sizeof(int) * static_cast<size_t>(places * APART);
    for (int warm = 0; warm < 2; warm++) { // the second time the locations are in the Infinity Cache
        CHECK_HIP(hipMemset(x, 0, cells));
        CHECK_HIP(hipMemset(y, 0, cells));
        CHECK_HIP(hipMemset(results, 0, sizeof(int) * static_cast<size_t>(rounds * RESULTS * ALL_ROLES)));
        CHECK_HIP(hipMemset(meet, 0, 64));
        CHECK_HIP(hipMemset(tickets, 0, sizeof(int) * 16 * APART));
        litmus<T, P, F>
            <<<P == WORKGROUP ? 1 : 64, P == WORKGROUP ? 256 : 64>>>(x, y, results, meet, tickets, rounds);
        CHECK_HIP(hipDeviceSynchronize());
    }
    int times = 0;
    for (int i = 0; i < rounds; i++) {
        outcome o{{}, x[i * APART], y[partner(i, rounds) * APART]};
        for (int role = 0; role < ALL_ROLES; role++)
            o.r[role] = &results[(role * rounds + i) * RESULTS];
        times += seen(o);
    }
    row(name, 0, times);
}

static bool lost(const outcome &o)
{
    return o.r[1][1] != 1;
}
static bool both_old(const outcome &o)
{
    return o.r[0][0] & o.r[1][0]; // a bit for each pair
}
static bool both_new(const outcome &o)
{
    return o.r[0][0] && o.r[1][0];
}
static bool disagree(const outcome &o)
{
    return o.r[2][0] && !o.r[2][1] && o.r[3][0] && !o.r[3][1];
}

// Whether the location's writes, 1 by the first and 2 by the second, have no order that everybody saw.
static bool incoherent(const outcome &o)
{
    const int last = o.a, before = 3 - last; // the one that stayed; the one before it
    auto rank = [&](int v) { return v == last ? 2 : v == before ? 1 : 0; };
    if (last != 1 && last != 2)
        return true;
    bool wrong = rank(o.r[0][0]) < rank(1);               // reads before its own write
    wrong |= o.r[1][0] == 2 || rank(o.r[1][0]) > rank(2); // its own write to come, or beyond it
    wrong |= rank(o.r[1][1]) < rank(2);
    for (int k = 1; k < RESULTS; k++)
        wrong |= rank(o.r[2][k]) < rank(o.r[2][k - 1]); // goes back
    return wrong || o.b != 2 || o.r[3][0] != 2;
}

template <place P> static void with_fences(const char *where)
{
    char name[80];
    auto named = [&](const char *what) {
        std::snprintf(name, sizeof(name), "litmus_%s_%s", where, what);
        return name;
    };
    count<MESSAGE, P, SCOPED>(named("message"), lost);
    count<STORE_BUFFERING, P, SCOPED>(named("store_buffering"), both_old);
    count<LOAD_BUFFERING, P, SCOPED>(named("load_buffering"), both_new);
    count<IRIW, P, SCOPED>(named("iriw"), disagree);
    count<COHERENCE, P, RELAXED>(named("coherence"), incoherent);
}

// Lanes of a wave see each other's stores without anything between them.
__global__ void neighbours(int *cells, int *wrong)
{
    const int lane = static_cast<int>(threadIdx.x);
    for (int i = 0; i < ROUNDS; i++) {
        if ((lane + i) % 3) // with gaps
            cells[lane] = i;
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
        const int other = (lane + 1) % 64, want = (other + i) % 3 ? i : i - 1;
        *wrong += load(&cells[other]) != want && i;
    }
}

// The device writes data and a flag, the host answers with data and a flag.
__global__ void talk(int *data, int *flag, int *answer, int *answered, int *wrong)
{
    for (int i = 1; i <= HOST_ROUNDS; i++) {
        data[i * APART] = i;
        __hip_atomic_store(flag, i, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
        while (__hip_atomic_load(answered, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) < i)
            __builtin_amdgcn_s_sleep(8);
        *wrong += *answer != i;
    }
}

static void with_the_host()
{
    int *shared;
    CHECK_HIP(hipHostMalloc(&shared, sizeof(int) * APART * (HOST_ROUNDS + 8)));
    int *data = shared, *flag = &shared[(HOST_ROUNDS + 1) * APART], *answer = flag + APART,
        *answered = flag + 2 * APART, *wrong = flag + 3 * APART;
    talk<<<1, 1>>>(data, flag, answer, answered, wrong);
    int lost_here = 0;
    for (int i = 1; i <= HOST_ROUNDS; i++) {
        while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < i)
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        lost_here += data[i * APART] != i;
        *answer = i;
        __atomic_store_n(answered, i, __ATOMIC_RELEASE);
    }
    CHECK_HIP(hipDeviceSynchronize());
    row("litmus_host_message_to", 0, lost_here);
    row("litmus_host_message_from", 0, *wrong);
    CHECK_HIP(hipHostFree(shared));
}

int main()
{
    CHECK_HIP(hipMalloc(&x, sizeof(int) * MANY_ROUNDS * APART));
    CHECK_HIP(hipMalloc(&y, sizeof(int) * MANY_ROUNDS * APART));
    CHECK_HIP(hipMalloc(&results, sizeof(int) * MANY_ROUNDS * RESULTS * ALL_ROLES));
    CHECK_HIP(hipMalloc(&meet, 64));
    CHECK_HIP(hipMalloc(&tickets, sizeof(int) * 16 * APART));

    CHECK_HIP(hipMemset(x, 0, 1024));
    CHECK_HIP(hipMemset(results, 0, 1024));
    neighbours<<<1, 64>>>(x, results);
    CHECK_HIP(hipDeviceSynchronize());
    row("litmus_wavefront", 0, *results);
    with_fences<WORKGROUP>("workgroup");
    with_fences<XCD>("xcd");
    with_fences<AGENT>("agent");
    with_fences<SYSTEM>("system");
    with_the_host();

    // Fences that reach as far as they must, and what is seen without.
    count<MESSAGE, XCD, CHIPLET>("litmus_xcd_message_chiplet", lost);
    count<MESSAGE, XCD, NARROW>("litmus_xcd_message_narrow", lost);
    count<MESSAGE, XCD, NO_RELEASE>("litmus_xcd_message_no_release", lost);
    count<MESSAGE, XCD, NO_ACQUIRE>("litmus_xcd_message_no_acquire", lost);
    count<MESSAGE, XCD, NONE>("litmus_xcd_message_none", lost);
    count<MESSAGE, AGENT, CHIPLET>("litmus_agent_message_chiplet", lost);
    count<MESSAGE, AGENT, NONE>("litmus_agent_message_none", lost);
    count<STORE_BUFFERING, AGENT, RELAXED>("litmus_agent_store_buffering_relaxed", both_old);
    return 0;
}
