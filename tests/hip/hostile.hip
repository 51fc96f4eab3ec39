// SPDX-License-Identifier: MIT
// Device code that is out to harm: it writes over what the runtime has in memory, forges host calls and jumps
// away.  Whatever it does is an error that the host program sees, or harms nobody but other kernels; the
// process lives on and the device works again after a reset.  EHP_ISOLATE takes functions of the host away.
#include "check_hip.h"
#include <cstdint>
#include <cstdlib>
#include <unistd.h>

extern "C" __device__ uint64_t __attribute__((vector_size(16)))
__ockl_hostcall_preview(uint32_t service, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                        uint64_t, uint64_t);

enum { FUNCTION = 1, PRINTF = 2, DEVMEM = 3 };

struct header {
    uint64_t next, active;
    uint32_t service, control;
};
struct call_buffer {
    header *headers;
    uint64_t (*payloads)[64][8];
    uint64_t doorbell, free_stack, ready_stack, index_mask;
};
struct signal {
    int64_t kind, value;
    uint64_t mailbox;
    uint32_t event;
};

// The hidden argument of a kernel that prints.
__device__ volatile call_buffer *host_calls()
{
    const char *hidden = (const char *)__builtin_amdgcn_implicitarg_ptr();
    return *reinterpret_cast<volatile call_buffer *const *>(hidden + 80);
}

__device__ void ring(uint64_t handle)
{
    signal *s = reinterpret_cast<signal *>(handle);
    __threadfence_system();
    atomicAdd_system(reinterpret_cast<unsigned long long *>(&s->value), 1ull);
    *reinterpret_cast<volatile uint64_t *>(s->mailbox) = s->event;
    __builtin_amdgcn_s_sendmsg(1, s->event & 0xff);
}

// ---- memory ----

__global__ void put(int *p, int value)
{
    *p = value;
}

template <class T> __global__ void store(char *at, T value)
{
    *reinterpret_cast<volatile T *>(at) = value;
}

__global__ void load(const char *at, int *out)
{
    *out = *reinterpret_cast<const volatile int *>(at);
}

__global__ void scalar(const int *at, int *out)
{
    uint64_t pair;
    asm volatile("s_load_dwordx2 %0, %1, 0x0\n\ts_waitcnt lgkmcnt(0)" : "=s"(pair) : "s"(at) : "memory");
    *out = static_cast<int>(pair);
}

__global__ void where(uint64_t *out)
{
    out[0] = (uint64_t)__builtin_amdgcn_queue_ptr();
    out[1] = (uint64_t)__builtin_amdgcn_dispatch_ptr();
    out[2] = (uint64_t)__builtin_amdgcn_implicitarg_ptr();
    out[3] = reinterpret_cast<uint64_t>(host_calls());
    if (out[3]) {
        out[4] = reinterpret_cast<uint64_t>(host_calls()->headers);
        out[5] = reinterpret_cast<uint64_t>(host_calls()->payloads);
        out[6] = host_calls()->doorbell;
    }
    if (out[3] == 1)
        printf("never\n");
}

__global__ void scribble(uint64_t *from, uint64_t count, uint64_t value)
{
    for (uint64_t i = threadIdx.x; i < count; i += 64)
        from[i] = value + i * 0x9e3779b97f4a7c15;
}

typedef unsigned quad __attribute__((ext_vector_type(4)));

__global__ void through_descriptor(uint64_t base, uint32_t records, uint32_t offset, bool write,
                                   unsigned *out)
{
    quad d = {static_cast<unsigned>(base), static_cast<unsigned>(base >> 32) & 0xffff, records, 0x00020000};
    quad v = {1, 2, 3, 4};
    if (write)
        asm volatile("buffer_store_dwordx4 %0, %1, %2, 0 offen\n\ts_waitcnt vmcnt(0)" ::"v"(v), "v"(offset),
                     "s"(d)
                     : "memory");
    else
        asm volatile("buffer_load_dwordx4 %0, %1, %2, 0 offen\n\ts_waitcnt vmcnt(0)"
                     : "=v"(v)
                     : "v"(offset), "s"(d)
                     : "memory");
    *out = v.x;
}

__global__ void jump(uint64_t to)
{
    asm volatile("s_setpc_b64 %0" ::"s"(to));
}

// A register number beyond all there are, whose end wraps.
__global__ void move(uint32_t by)
{
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 4\n\ts_movreld_b32 s0, 1\n\ts_movrels_b32 s1, s0" ::"s"(by)
                 : "s0", "s1", "memory");
}

// ---- host calls ----

__global__ void ask(uint32_t service, uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
    auto said = __ockl_hostcall_preview(service, a, b, c, 0, 0, 0, 0, 0);
    out[0] = said[0];
    out[1] = said[1];
}

// A packet list that ends nowhere, in a buffer that points nowhere.
__global__ void forge(uint64_t mode)
{
    volatile call_buffer *b = host_calls();
    const uint64_t handle = b->doorbell;
    header *h = b->headers;
    for (unsigned i = 1; i < 5; i++) {
        h[i].next = mode & 1 ? i % 4 + 1 : 0xfeedface00000000 + i * 0x1111;
        h[i].active = ~0ull;
        h[i].service = mode & 2 ? 77 : PRINTF;
        for (unsigned l = 0; l < 64; l++)
            b->payloads[i][l][0] = mode & 4 ? ~0ull : 0x1234567ff2;
    }
    b->headers = reinterpret_cast<header *>(0x4141414141414141);
    b->payloads = reinterpret_cast<uint64_t (*)[64][8]>(0x10);
    b->index_mask = ~0ull;
    b->doorbell = 0x1000;
    b->ready_stack = mode & 8 ? ~0ull : 1;
    ring(handle);
    if (mode == ~0ull)
        printf("never\n");
}

__global__ void print_wide(int width, int *said)
{
    said[0] = printf("%*d", width, 1);
    said[1] = printf("%.*f", width, 1.0);
}

__global__ void trip(char *text)
{
    text[0] = 0;
    printf("alive\n");
}

static bool isolated()
{
    const char *text = getenv("EHP_ISOLATE");
    return text && *text == '1';
}

// The device works, again.
static void works(const char *after)
{
    int *p = nullptr, value = 0;
    char *text = nullptr;
    CHECK(hipDeviceReset() == hipSuccess, "reset after %s", after);
    CHECK(hipMalloc(&p, sizeof(int)) == hipSuccess && hipMalloc(&text, 64) == hipSuccess, "memory after %s",
          after);
    put<<<1, 1>>>(p, 42);
    trip<<<1, 64>>>(text);
    hipError_t error = hipMemcpy(&value, p, sizeof(int), hipMemcpyDeviceToHost);
    CHECK(error == hipSuccess && value == 42, "after %s: %s, %d", after, hipGetErrorName(error), value);
    CHECK(hipFree(p) == hipSuccess && hipFree(text) == hipSuccess, "free after %s", after);
}

static void expect(hipError_t wanted, const char *what)
{
    (void)hipGetLastError();
    hipError_t got = hipDeviceSynchronize();
    if (got == hipSuccess)
        got = hipGetLastError();
    CHECK(got == wanted, "%s: %s, not %s", what, hipGetErrorName(got), hipGetErrorName(wanted));
    if (got != hipSuccess)
        works(what);
}

static int called;
static void host_function(uint64_t *output, const uint64_t *input)
{
    called++;
    output[0] = input[0] + 1;
}

static uint64_t *places()
{
    uint64_t *p;
    HIP_OK(hipHostMalloc(&p, 64));
    for (int i = 0; i < 8; i++)
        p[i] = 0;
    where<<<1, 1>>>(p);
    HIP_OK(hipDeviceSynchronize());
    return p;
}

static void memory_of_the_host()
{
    static int global = 7;
    int stack = 7, *heap = static_cast<int *>(malloc(64)), *out;
    *heap = 7;
    void *targets[] = {&global, &stack, heap, reinterpret_cast<void *>(&works),
                       reinterpret_cast<void *>(&hipGetErrorName)};
    for (void *target : targets) {
        store<int><<<1, 64>>>(static_cast<char *>(target), 1);
        expect(hipErrorIllegalAddress, "store to the host's memory");
        HIP_OK(hipMalloc(&out, 64));
        load<<<1, 64>>>(static_cast<char *>(target), out);
        expect(hipErrorIllegalAddress, "load of the host's memory");
        HIP_OK(hipMalloc(&out, 64));
        scalar<<<1, 64>>>(static_cast<int *>(target), out);
        expect(hipErrorIllegalAddress, "scalar load of the host's memory");
        for (uint32_t offset : {0u, 0xf0000000u}) {
            HIP_OK(hipMalloc(&out, 64));
            const uint64_t base = reinterpret_cast<uint64_t>(target) - offset;
            through_descriptor<<<1, 64>>>(base, ~0u, offset, true, reinterpret_cast<unsigned *>(out));
            expect(hipErrorIllegalAddress, "buffer store to the host's memory");
            HIP_OK(hipMalloc(&out, 64));
            through_descriptor<<<1, 64>>>(base, ~0u, offset, false, reinterpret_cast<unsigned *>(out));
            expect(hipErrorIllegalAddress, "buffer load of the host's memory");
        }
        jump<<<1, 64>>>(reinterpret_cast<uint64_t>(target));
        expect(hipErrorIllegalAddress, "jump into the host's memory");
    }
    CHECK(global == 7 && stack == 7 && *heap == 7, "%d %d %d", global, stack, *heap);
    free(heap);
    for (uint64_t at : {~0ull - 7, ~0ull - 15, 1ull << 47, (1ull << 47) - 8, 0xffff800000000000ull,
                        1ull << 63, 0ull, 1ull << 40}) {
        store<quad><<<1, 64>>>(reinterpret_cast<char *>(at), quad{1, 2, 3, 4});
        expect(hipErrorIllegalAddress, "store to where nobody is");
    }
    HIP_OK(hipMalloc(&out, 4096));
    for (uint32_t by : {0xffffffffu, 0xfffffffeu, 0x80000000u, 102u}) {
        move<<<1, 64>>>(by);
        expect(hipErrorLaunchFailure, "a register that is none");
    }
    HIP_OK(hipMalloc(&out, 4096));
    jump<<<1, 64>>>(reinterpret_cast<uint64_t>(out));
    expect(hipErrorIllegalAddress, "jump into data");
}

// What is registered: to the byte when isolated, else by pages.
static void registered()
{
    char *pages = static_cast<char *>(aligned_alloc(4096, 3 * 4096)), *p = pages + 4096;
    for (int i = 0; i < 3 * 4096; i++)
        pages[i] = 5;
    const size_t bytes = 4096 - 24;
    const auto register_again = [p] { // a reset, as after each fault, ends registrations
        (void)hipHostUnregister(p);
        HIP_OK(hipHostRegister(p, bytes, 0));
    };
    register_again();
    store<quad><<<1, 64>>>(p + bytes - 16, quad{1, 2, 3, 4});
    expect(hipSuccess, "the last 16 bytes");
    store<quad><<<1, 64>>>(p + bytes - 8, quad{1, 2, 3, 4});
    expect(isolated() ? hipErrorIllegalAddress : hipSuccess, "bytes behind what is registered");
    CHECK(!isolated() || p[bytes] == 5, "it has changed");
    register_again();
    store<quad><<<1, 64>>>(p + 4096 - 8, quad{1, 2, 3, 4});
    expect(hipErrorIllegalAddress, "the next page");
    register_again();
    store<quad><<<1, 64>>>(p - 8, quad{1, 2, 3, 4});
    expect(hipErrorIllegalAddress, "the page before");
    CHECK(p[4096] == 5, "%d", p[4096]);
    CHECK(hipHostUnregister(p) == hipErrorHostMemoryNotRegistered, "a registration outlives a reset");
    free(pages);
}

static void runtime_memory()
{
    uint64_t *p = places();
    CHECK(p[0] && p[1] && p[2] && p[3] && p[6], "no places");
    scribble<<<1, 64>>>(reinterpret_cast<uint64_t *>(p[0]), 32, 0);
    expect(hipErrorIllegalAddress, "the queue");
    const char *names[] = {"queue", "packets", "arguments", "host calls", "headers", "payloads", "doorbell"};
    for (int what = 0; what < 7; what++)
        for (uint64_t value : {0ull, ~0ull, 0x4142434445464748ull}) {
            p = places();
            uint64_t *at = reinterpret_cast<uint64_t *>(p[what] & ~4095ull);
            scribble<<<1, 64>>>(at, 512, value);
            (void)hipDeviceSynchronize();
            works(names[what]);
            p = places();
            scribble<<<1, 64>>>(reinterpret_cast<uint64_t *>(p[what]) - 65536, 131072, value);
            (void)hipDeviceSynchronize();
            works(names[what]);
        }
}

// Single stores anywhere near.
static void around()
{
    uint64_t random = 1;
    for (int i = 0; i < 200; i++) {
        uint64_t *p = places();
        random = random * 6364136223846793005 + 1442695040888963407;
        const uint64_t base = p[i % 7], offset = random >> 20 & (i % 2 ? 0xffff : 0x3ffffff);
        store<quad>
            <<<1, 64>>>(reinterpret_cast<char *>((random & 1 ? base + offset : base - offset) & ~15ull),
                        quad{static_cast<unsigned>(random), 0xffffffff, 0, 0x41414141});
        (void)hipDeviceSynchronize();
        works("a store nearby");
    }
}

static void calls()
{
    uint64_t *out;
    HIP_OK(hipHostMalloc(&out, 64));
    ask<<<1, 1>>>(FUNCTION, reinterpret_cast<uint64_t>(&host_function), 41, 0, out);
    expect(isolated() ? hipErrorLaunchFailure : hipSuccess, "a function of the host");
    CHECK(called == (isolated() ? 0 : 1), "called %d times", called);
    for (uint64_t at :
         {reinterpret_cast<uint64_t>(&called), uint64_t(0x4141414141414141), ~uint64_t(0), uint64_t(16)}) {
        HIP_OK(hipHostMalloc(&out, 64));
        ask<<<1, 1>>>(FUNCTION, at, 41, 0, out);
        expect(hipErrorLaunchFailure, "no function");
    }
    HIP_OK(hipHostMalloc(&out, 64));
    ask<<<1, 1>>>(99, 1, 2, 3, out);
    expect(hipErrorLaunchFailure, "no service");
    HIP_OK(hipHostMalloc(&out, 64));
    ask<<<1, 1>>>(DEVMEM, reinterpret_cast<uint64_t>(out), 0, 0, out);
    expect(hipErrorLaunchFailure, "free of the host program's memory");
    uint64_t *p = places();
    for (int i = 0; i < 7; i++) {
        ask<<<1, 1>>>(DEVMEM, p[i], 0, 0, p);
        expect(hipErrorLaunchFailure, "free of the runtime's memory");
        p = places();
    }
    for (uint64_t descriptor :
         {0ull, 2ull, ~0ull, 1ull | 7 << 5, 3ull | 7 << 5, 3ull, 0xffffff02ull, 2ull | 7 << 5}) {
        HIP_OK(hipHostMalloc(&out, 64));
        ask<<<1, 64>>>(PRINTF, descriptor, 0, 0x7325732573257325, out);
        expect(hipSuccess, "an odd printf");
    }
    for (uint64_t mode = 0; mode < 16; mode++) {
        forge<<<1, 1>>>(mode);
        (void)hipDeviceSynchronize();
        works("forged packets");
    }
    int *said;
    HIP_OK(hipHostMalloc(&said, 64));
    print_wide<<<1, 1>>>(2000000000, said);
    expect(hipSuccess, "a wide printf");
    CHECK(said[0] == -1 && said[1] == -1, "printf returned %d, %d", said[0], said[1]);
}

int main()
{
    memory_of_the_host();
    registered();
    runtime_memory();
    around();
    calls();
    return check_done();
}
