// SPDX-License-Identifier: MIT
// Litmus tests among threads of the host, and of those with kernels: how often an outcome is seen that the
// memory model forbids, or that it allows. Each shape is played many times, at fresh locations, by roles that
// set out at different times and whose caches know the locations to different extents.
//
// Threads of the host: x86-TSO (Sewell et al., CACM 2010), which forbids all but SB and R without a fence.
// With a kernel: C++'s model with system scope (LLVM, AMDGPUUsage, Memory Model GFX942). Shapes by their
// names in Alglave, Maranget and Tautschnig, Herding Cats.
#include <hip/hip_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <set>
#include <vector>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if ((call) != hipSuccess) {                                                                          \
            std::printf("failed: %s\n", #call);                                                              \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

// ---- what is played ----

enum { ROLES = 4, OPS = 4, PLACES = 4, WARM_PLACES = 3, APART = 64 }; // ints: a location has lines of its own

// FENCE: where the way of ordering has fences; ONLY_IF: no further unless what was read last is not 0.
enum what { NOTHING, WRITE, READ, ADD, PLAIN_WRITE, PLAIN_READ, FENCE, ONLY_IF };
constexpr int X = 0, Y = 1, Z = 2, COLD = 3; // COLD: no role's caches know it
struct op {
    what does;
    int place, value;
};
static constexpr op F{FENCE, 0, 0}, IF{ONLY_IF, 0, 0}, RX{READ, X, 0}, RY{READ, Y, 0}, RZ{READ, Z, 0},
    ADDX{ADD, X, 1};
static constexpr op w(int place, int value)
{
    return {WRITE, place, value};
}

struct outcome {
    int r[ROLES][OPS], x, y; // what each operation read; what stayed
};

// How accesses are ordered.
enum order { RELAXED, ACQ_REL, SEQ_CST, FENCED };
static const char *const ORDER_NAME[] = {"relaxed", "acq-rel", "seq-cst", "fences"};
// What forbids it: any order; release and acquire; sequential consistency alone, in C++ or in x86-TSO too.
enum strength { COHERENCE, CAUSALITY, SC_IN_CPP, SC };

struct shape {
    const char *name;
    op role[ROLES][OPS];
    unsigned roles;
    strength forbids;
    bool (*is_weak)(const outcome &o);
};

static const shape MP{"MP", {{w(X, 1), F, w(Y, 1)}, {RY, F, RX}}, 2, CAUSALITY, [](const outcome &o) {
                          return o.r[1][0] && !o.r[1][2];
                      }};
// Nobody races for what is plain.
static const shape MP_PLAIN{"MP+plain",
                            {{{PLAIN_WRITE, X, 1}, F, w(Y, 1)}, {RY, F, IF, {PLAIN_READ, X, 0}}},
                            2,
                            CAUSALITY,
                            [](const outcome &o) { return o.r[1][0] && !o.r[1][3]; }};
static const shape SB{"SB", {{w(X, 1), F, RY}, {w(Y, 1), F, RX}}, 2, SC, [](const outcome &o) {
                          return !o.r[0][2] && !o.r[1][2];
                      }};
static const shape LB{"LB", {{RX, F, w(Y, 1)}, {RY, F, w(X, 1)}}, 2, CAUSALITY, [](const outcome &o) {
                          return o.r[0][0] && o.r[1][0];
                      }};
static const shape LB_CTRL{"LB+ctrl", {{RX, IF, w(Y, 1)}, {RY, IF, w(X, 1)}}, 2, COHERENCE, LB.is_weak};
static const shape S{"S", {{w(X, 2), F, w(Y, 1)}, {RY, F, w(X, 1)}}, 2, CAUSALITY, [](const outcome &o) {
                         return o.r[1][0] && o.x == 2;
                     }};
static const shape R{"R", {{w(X, 1), F, w(Y, 1)}, {w(Y, 2), F, RX}}, 2, SC, [](const outcome &o) {
                         return o.y == 2 && !o.r[1][2];
                     }};
static const shape TWO_W{
    "2+2W", {{w(X, 1), F, w(Y, 2)}, {w(Y, 1), F, w(X, 2)}}, 2, SC_IN_CPP, [](const outcome &o) {
        return o.x == 1 && o.y == 1;
    }};
static const shape WRC{"WRC", {{w(X, 1)}, {RX, F, w(Y, 1)}, {RY, F, RX}}, 3, CAUSALITY, [](const outcome &o) {
                           return o.r[1][0] && o.r[2][0] && !o.r[2][2];
                       }};
static const shape ISA2{
    "ISA2", {{w(X, 1), F, w(Y, 1)}, {RY, F, w(Z, 1)}, {RZ, F, RX}}, 3, CAUSALITY, WRC.is_weak};
static const shape IRIW{
    "IRIW", {{w(X, 1)}, {w(Y, 1)}, {RX, F, RY}, {RY, F, RX}}, 4, SC_IN_CPP, [](const outcome &o) {
        return o.r[2][0] && !o.r[2][2] && o.r[3][0] && !o.r[3][2];
    }};
static const shape CORR{"CoRR", {{w(X, 1)}, {RX, RX, RX}}, 2, COHERENCE, [](const outcome &o) {
                            return o.r[1][0] > o.r[1][1] || o.r[1][1] > o.r[1][2] || o.x != 1;
                        }};
// A load that is there before one that comes first: somebody may take its line away meanwhile.
static const shape CORR_MISS{
    "CoRR+miss",
    {{w(X, 1), w(X, 2)}, {{PLAIN_READ, COLD, 0}, RX, RX, RX}},
    2,
    COHERENCE,
    [](const outcome &o) { return o.r[1][1] > o.r[1][2] || o.r[1][2] > o.r[1][3] || o.x != 2; }};
static const shape COWW{"CoWW", {{w(X, 1), w(X, 2)}, {RX, RX, RX}}, 2, COHERENCE, [](const outcome &o) {
                            return o.r[1][0] > o.r[1][1] || o.r[1][1] > o.r[1][2] || o.x != 2;
                        }};
static const shape CORW{"CoRW", {{w(X, 1)}, {RX, w(X, 2)}}, 2, COHERENCE, [](const outcome &o) {
                            return o.r[1][0] == 2 || (o.r[1][0] == 1 && o.x == 1);
                        }};
static const shape COWR{"CoWR", {{w(X, 1), RX}, {w(X, 2)}}, 2, COHERENCE, [](const outcome &o) {
                            return !o.r[0][1] || (o.r[0][1] == 2 && o.x == 1);
                        }};
static const shape SUM{
    "sum", {{ADDX, ADDX, ADDX, ADDX}, {ADDX, ADDX, ADDX, ADDX}}, 2, COHERENCE, [](const outcome &o) {
        std::set<int> all(o.r[0], o.r[0] + OPS);
        all.insert(o.r[1], o.r[1] + OPS);
        return o.x != 2 * OPS || all.size() != 2 * OPS;
    }};
static const shape *const SHAPES[] = {&MP,        &MP_PLAIN, &SB,   &LB,   &LB_CTRL, &S,
                                      &R,         &TWO_W,    &WRC,  &ISA2, &IRIW,    &CORR,
                                      &CORR_MISS, &COWW,     &CORW, &COWR, &SUM};

static bool is_forbidden(const shape &t, order o, bool with_gpu)
{
    if (t.forbids == COHERENCE || o == SEQ_CST || o == FENCED)
        return true;
    return with_gpu ? t.forbids == CAUSALITY && o == ACQ_REL : t.forbids != SC;
}

// ---- a role ----

constexpr int order_of(order o, what does)
{
    return o == SEQ_CST   ? __ATOMIC_SEQ_CST
           : o != ACQ_REL ? __ATOMIC_RELAXED
           : does == READ ? __ATOMIC_ACQUIRE
           : does == ADD  ? __ATOMIC_ACQ_REL
                          : __ATOMIC_RELEASE;
}

// Scopes of a kernel's accesses, or with fences of those alone.
enum scope { WAVEFRONT, WORKGROUP, AGENT, SYSTEM };
static const char *const SCOPE_NAME[] = {"wavefront", "workgroup", "agent", "system"};
constexpr int hip_scope(order o, scope s)
{
    return o == FENCED || s == SYSTEM ? __HIP_MEMORY_SCOPE_SYSTEM
           : s == AGENT               ? __HIP_MEMORY_SCOPE_AGENT
           : s == WORKGROUP           ? __HIP_MEMORY_SCOPE_WORKGROUP
                                      : __HIP_MEMORY_SCOPE_WAVEFRONT;
}

template <scope P> __device__ void fence()
{
    if constexpr (P == WAVEFRONT)
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "wavefront");
    else if constexpr (P == WORKGROUP)
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    else if constexpr (P == AGENT)
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    else
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

// One operation; false: no further.
template <order A, scope P> static __host__ __device__ bool act(const op &o, int *cells, int *read, int &last)
{
    [[maybe_unused]] int *p = &cells[o.place * APART];
    switch (o.does) {
    case PLAIN_WRITE:
        *p = o.value;
        asm volatile("" ::: "memory");
        return true;
    case PLAIN_READ:
        asm volatile("" ::: "memory");
        *read = *p;
        return true;
    case ONLY_IF:
        return last;
#ifdef __HIP_DEVICE_COMPILE__
    case WRITE:
        __hip_atomic_store(p, o.value, order_of(A, WRITE), hip_scope(A, P));
        return true;
    case READ:
        *read = last = __hip_atomic_load(p, order_of(A, READ), hip_scope(A, P));
        return true;
    case ADD:
        *read = last = __hip_atomic_fetch_add(p, o.value, order_of(A, ADD), hip_scope(A, P));
        return true;
    case FENCE:
        if constexpr (A == FENCED)
            fence<P>();
        return true;
#else
    case WRITE:
        __atomic_store_n(p, o.value, order_of(A, WRITE));
        return true;
    case READ:
        *read = last = __atomic_load_n(p, order_of(A, READ));
        return true;
    case ADD:
        *read = last = __atomic_fetch_add(p, o.value, order_of(A, ADD));
        return true;
    case FENCE:
        if constexpr (A == FENCED)
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
        return true;
#endif
    default:
        return true;
    }
}

struct role {
    op does[OPS];
};

template <order A, scope P> static __host__ __device__ void play(const role &r, int *cells, int *results)
{
    int last = 0, read[OPS] = {};
    for (int i = 0; i < OPS && act<A, P>(r.does[i], cells, &read[i], last); i++) {
    }
    for (int i = 0; i < OPS; i++)
        results[i] = read[i];
}

// How much later than the others a role sets out, in steps of which some are long; and what its caches know:
// nothing, the old values, or that it wrote last.
static __host__ __device__ unsigned delay_of(unsigned round, unsigned role)
{
    const unsigned steps[] = {0, 1, 4, 13};
    return round * (role * 5 + 3) % 11 * steps[round % 4];
}
static __host__ __device__ unsigned warmth_of(unsigned round, unsigned role)
{
    return (round / 2 + round % 2 * role) % 3;
}

struct game {
    int *cells, *results, *meet;
    unsigned rounds, players, gpu; // gpu: the roles of a kernel, a bit each
    role roles[ROLES];
};
static __host__ __device__ int *cells_of(const game &g, unsigned round)
{
    return g.cells + round * PLACES * APART;
}
static __host__ __device__ int *results_of(const game &g, unsigned round, unsigned role)
{
    return g.results + (role * g.rounds + round) * APART;
}

template <order A, scope P> __global__ void kernel(game g)
{
    unsigned number = 0, before = blockIdx.x / 2; // on every other XCD
    if (threadIdx.x || blockIdx.x % 2)
        return;
    for (; number < g.players && (!(g.gpu >> number & 1) || before--); number++) {
    }
    if (number == g.players)
        return;
    const role self = g.roles[number];
    for (unsigned i = 0; i < g.rounds; i++) {
        int *cells = cells_of(g, i);
        for (int k = 0; k < WARM_PLACES; k++)
            if (warmth_of(i, number) == 1)
                asm volatile("global_load_dword v0, %0, off\n\ts_waitcnt vmcnt(0)" ::"v"(cells + k * APART)
                             : "v0", "memory");
            else if (warmth_of(i, number) == 2)
                __hip_atomic_fetch_add(cells + k * APART, 0, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        __hip_atomic_fetch_add(g.meet, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        while (__hip_atomic_load(g.meet, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) <
               static_cast<int>(g.players * (i + 1)))
            __builtin_amdgcn_s_sleep(1);
        for (unsigned k = delay_of(i, number); k > 0; k--)
            asm volatile("s_nop 7\n\ts_nop 7" ::);
        play<A, P>(self, cells, results_of(g, i, number));
    }
}

// Twelve cycles each.
static void idle(unsigned steps)
{
    for (unsigned x = 1; steps > 0; steps--)
        asm volatile("imul %0, %0\n\timul %0, %0\n\timul %0, %0\n\timul %0, %0" : "+r"(x) : : "memory");
}

// A kernel takes long to see that all are there.
enum { KERNEL_LATER = 40 };

template <order A> static void on_host(const game &g, unsigned number)
{
    const role self = g.roles[number];
    for (unsigned i = 0; i < g.rounds; i++) {
        int *cells = cells_of(g, i);
        for (int k = 0; k < WARM_PLACES; k++)
            if (warmth_of(i, number) == 1)
                (void)__atomic_load_n(cells + k * APART, __ATOMIC_RELAXED);
            else if (warmth_of(i, number) == 2)
                (void)__atomic_fetch_add(cells + k * APART, 0, __ATOMIC_RELAXED);
        __atomic_fetch_add(g.meet, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(g.meet, __ATOMIC_RELAXED) < static_cast<int>(g.players * (i + 1)))
            idle(8);
        idle(delay_of(i, number) + (g.gpu ? i * 7 % 22 * KERNEL_LATER : 0));
        play<A, SYSTEM>(self, cells, results_of(g, i, number));
    }
}

// ---- a test ----

static unsigned failed;
static unsigned rounds = 14; // with a kernel at system scope; others play more
enum memory { PINNED, MANAGED, DEVICE };
static const char *const MEMORY_NAME[] = {"pinned", "managed", "device"};
static int *memory_of[3];
enum { MOST_ROUNDS = 512, CELLS = MOST_ROUNDS * PLACES * APART };

static int *results, *meet;

static uint64_t digest; // of all that was read

static const char *run_name(char *text, size_t bytes, const shape &t, order o, scope p, unsigned gpu,
                            memory m, bool one_ccd)
{
    char who[ROLES + 1] = "";
    for (unsigned role = 0; role < t.roles; role++)
        who[role] = gpu >> role & 1 ? 'G' : 'C';
    std::snprintf(text, bytes, "%-9s %-4s %-8s %-9s %-8s", t.name, who, ORDER_NAME[o],
                  gpu       ? SCOPE_NAME[p]
                  : one_ccd ? "one CCD"
                            : "CCDs",
                  MEMORY_NAME[m]);
    return text;
}

struct player {
    const game *g;
    pthread_barrier_t *over;
    unsigned role; // ROLES: none
    pthread_t thread;
};
template <order A> static void *be_player(void *argument)
{
    const player *p = static_cast<player *>(argument);
    if (p->role < ROLES)
        on_host<A>(*p->g, p->role);
    pthread_barrier_wait(p->over);
    return nullptr;
}

// Roles of `gpu`, a bit each, are a kernel's; threads of the host are on CCDs in turn, or all on one.  How
// often the outcome was seen.
template <order A, scope P = SYSTEM>
static unsigned test(const shape &t, unsigned gpu, memory m, bool one_ccd = false)
{
    const unsigned all_rounds = P != SYSTEM && A == FENCED ? 22 : gpu ? rounds : 4 * rounds;
    game g{memory_of[m], results, meet, all_rounds, t.roles, gpu, {}};
    std::memcpy(g.roles, t.role, sizeof(g.roles));
    std::memset(g.cells, 0, sizeof(int) * g.rounds * PLACES * APART);
    std::memset(g.results, 0, sizeof(int) * g.rounds * ROLES * APART);
    __atomic_store_n(meet, 0, __ATOMIC_SEQ_CST);
    if (gpu) {
        kernel<A, P><<<8, 64>>>(g);
        CHECK(hipGetLastError());
    }
    pthread_barrier_t over;
    player players[3 * ROLES];
    unsigned all = 0;
    for (unsigned role = 0; role < t.roles; role++) {
        if (gpu >> role & 1)
            continue;
        players[all++] = {&g, &over, role, {}};
        for (int k = 0; k < 2 && one_ccd; k++) // on the others
            players[all++] = {&g, &over, ROLES, {}};
    }
    pthread_barrier_init(&over, nullptr, all);
    for (unsigned i = 0; i < all; i++)
        pthread_create(&players[i].thread, nullptr, be_player<A>, &players[i]);
    for (unsigned i = 0; i < all; i++)
        pthread_join(players[i].thread, nullptr);
    if (gpu)
        CHECK(hipDeviceSynchronize());
    pthread_barrier_destroy(&over);
    unsigned weak = 0;
    std::set<std::vector<int>> different;
    char name[80];
    run_name(name, sizeof(name), t, A, P, gpu, m, one_ccd);
    for (unsigned i = 0; i < g.rounds; i++) {
        outcome o{};
        for (unsigned role = 0; role < t.roles; role++)
            std::memcpy(o.r[role], results_of(g, i, role), sizeof(o.r[role]));
        o.x = cells_of(g, i)[X * APART];
        o.y = cells_of(g, i)[Y * APART];
        weak += t.is_weak(o);
        std::vector<int> v(&o.r[0][0], &o.r[0][0] + ROLES * OPS);
        v.push_back(o.x);
        v.push_back(o.y);
        for (int read : v)
            digest = digest * 1000003 + static_cast<unsigned>(read);
        different.insert(v);
    }
    const bool forbidden = P == SYSTEM && is_forbidden(t, A, gpu);
    std::printf("%s %3u weak of %3u, %2zu outcomes, %s, %016llx\n", name, weak, g.rounds, different.size(),
                forbidden ? "forbidden" : "allowed", static_cast<unsigned long long>(digest));
    if (forbidden && weak)
        std::printf("failed: an outcome that is forbidden\n"), failed = 1;
    return weak;
}

template <order A> static void among_threads_by(const shape &t)
{
    test<A>(t, 0, PINNED, false);
    if (t.roles == 2)
        test<A>(t, 0, PINNED, true);
}

static void among_threads(const shape &t)
{
    among_threads_by<RELAXED>(t);
    if (t.forbids == COHERENCE)
        return;
    among_threads_by<ACQ_REL>(t);
    among_threads_by<SEQ_CST>(t);
    among_threads_by<FENCED>(t);
}

// Each role has been the kernel's, and the host's.
template <order A> static void with_kernel_by(const shape &t)
{
    const unsigned one = t.roles == 4 ? 0x5 : t.roles == 3 ? 0x2 : 0x1, all = (1U << t.roles) - 1;
    for (const memory m : {PINNED, MANAGED, DEVICE}) {
        if (m == MANAGED && &t != &MP_PLAIN && &t != &SB && &t != &SUM)
            continue;
        test<A>(t, one, m);
        test<A>(t, all & ~one, m);
    }
}

static void with_kernel(const shape &t)
{
    if (t.forbids == COHERENCE) {
        with_kernel_by<RELAXED>(t);
        return;
    }
    if (t.forbids == CAUSALITY)
        with_kernel_by<ACQ_REL>(t);
    with_kernel_by<SEQ_CST>(t);
    with_kernel_by<FENCED>(t);
}

// A flag that all see, and fences that do not reach them.  Released in a workgroup, a kernel's data stays in
// its L2; so acquired, the old value stays in the vL1.  One of the agent's writes back what the host may see,
// and drops it.
template <scope P> static void with_narrow_scope(bool timed)
{
    for (const memory m : {PINNED, MANAGED, DEVICE})
        for (unsigned gpu = 1; gpu <= 2; gpu++) {
            test<ACQ_REL, P>(MP_PLAIN, gpu, m); // this flag only the kernel's side may see
            const unsigned lost = test<FENCED, P>(MP_PLAIN, gpu, m);
            if (timed && P != AGENT && !lost)
                std::printf("failed: no message was lost\n"), failed = 1;
        }
}

int main(int argc, char **argv)
{
    const bool timed = argc > 1 && std::strcmp(argv[1], "timing") == 0;
    if (argc > 2)
        rounds = static_cast<unsigned>(std::atoi(argv[2]));
    for (auto &m : memory_of) {
        if (&m == &memory_of[PINNED])
            CHECK(hipHostMalloc(&m, sizeof(int) * CELLS, 0));
        else if (&m == &memory_of[MANAGED])
            CHECK(hipMallocManaged(&m, sizeof(int) * CELLS));
        else
            CHECK(hipMalloc(&m, sizeof(int) * CELLS));
    }
    CHECK(hipHostMalloc(&results, sizeof(int) * MOST_ROUNDS * ROLES * APART, 0));
    CHECK(hipHostMalloc(&meet, 4096, 0));
    for (const shape *t : SHAPES)
        among_threads(*t);
    for (const shape *t : SHAPES)
        with_kernel(*t);
    with_narrow_scope<WAVEFRONT>(timed);
    with_narrow_scope<WORKGROUP>(timed);
    with_narrow_scope<AGENT>(timed);
    for (auto &m : memory_of)
        CHECK(m == memory_of[PINNED] ? hipHostFree(m) : hipFree(m));
    CHECK(hipHostFree(results));
    CHECK(hipHostFree(meet));
    return static_cast<int>(failed);
}
