/* SPDX-License-Identifier: MIT */
/* Streams and events without kernels: order, the null stream, callbacks, values in memory, times, errors. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "hip_check.h"

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* A host function that a stream can be held up by. */
struct gate {
    _Atomic int open, passed;
};

static void gate_wait(void *user)
{
    struct gate *gate = user;
    while (!gate->open)
        pause_ms(1);
    gate->passed++;
}

static void open_later(void *user)
{
    pause_ms(20);
    ((struct gate *)user)->open = 1;
}

static void count(void *user)
{
    atomic_fetch_add((_Atomic int *)user, 1);
}

static void order(void)
{
    struct gate gate = {0};
    hipStream_t a, b;
    hipEvent_t event;
    _Atomic int done = 0;

    OK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    OK(hipEventCreate(&event));
    OK(hipLaunchHostFunc(a, gate_wait, &gate));
    OK(hipEventRecord(event, a));
    OK(hipStreamWaitEvent(b, event, 0));
    OK(hipLaunchHostFunc(b, count, (void *)&done));
    CHECK_HIP(hipStreamQuery(a), hipErrorNotReady);
    CHECK_HIP(hipStreamQuery(b), hipErrorNotReady);
    CHECK_HIP(hipEventQuery(event), hipErrorNotReady);
    pause_ms(20);
    CHECK_EQ(done, 0);
    gate.open = 1;
    OK(hipStreamSynchronize(b));
    CHECK_EQ(done, 1);
    CHECK_EQ(gate.passed, 1);
    OK(hipEventQuery(event));
    OK(hipStreamQuery(b));
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(a));
    OK(hipStreamDestroy(b));
    CHECK_HIP(hipStreamQuery(a), hipErrorContextIsDestroyed);
    CHECK_HIP(hipStreamDestroy(a), hipErrorContextIsDestroyed);
}

/* The null stream waits for a blocking stream and a blocking stream for it; a non-blocking one does neither.
 */
static void null_stream(void)
{
    struct gate gate = {0}, other = {0};
    hipStream_t blocking, free_stream;
    _Atomic int null_done = 0, blocking_done = 0;
    uint32_t *free_done, unknown;

    OK(hipStreamCreate(&blocking));
    OK(hipStreamCreateWithFlags(&free_stream, hipStreamNonBlocking));
    OK(hipLaunchHostFunc(blocking, gate_wait, &gate));
    OK(hipLaunchHostFunc(NULL, count, (void *)&null_done));
    OK(hipLaunchHostFunc(blocking, count,
                         (void *)&blocking_done)); /* after the null stream, so after the gate */
    pause_ms(20);
    CHECK_EQ(null_done, 0);
    CHECK_EQ(blocking_done, 0);
    CHECK_HIP(hipStreamQuery(NULL), hipErrorNotReady);
    gate.open = 1;
    OK(hipStreamSynchronize(blocking));
    CHECK_EQ(null_done, 1);
    CHECK_EQ(blocking_done, 1);

    OK(hipLaunchHostFunc(NULL, count, (void *)&null_done));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(null_done, 2);
    gate.open = 0; /* the null stream is not done before the streams that it waits for */
    OK(hipStreamQuery(NULL));
    OK(hipLaunchHostFunc(blocking, gate_wait, &gate));
    CHECK_HIP(hipStreamQuery(NULL), hipErrorNotReady);
    gate.open = 1;
    OK(hipStreamSynchronize(blocking));
    OK(hipStreamQuery(NULL));
    OK(hipHostMalloc((void **)&free_done, sizeof *free_done, 0));
    OK(hipStreamWriteValue32(free_stream, free_done, 5, 0));
    OK(hipStreamSynchronize(free_stream));
    CHECK_EQ(*free_done, 5);
    CHECK_HIP(hipStreamWriteValue32(free_stream, &unknown, 5, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue64(free_stream, free_done, 5, 0, UINT64_MAX), hipErrorInvalidValue);
    OK(hipHostFree(free_done));
    (void)other;
    OK(hipDeviceSynchronize());
    OK(hipStreamDestroy(blocking));
    OK(hipStreamDestroy(free_stream));
}

static void values(void)
{
    hipStream_t stream;
    uint32_t *word;
    uint64_t *wide;

    OK(hipStreamCreate(&stream));
    OK(hipHostMalloc((void **)&word, 64, 0));
    wide = (uint64_t *)(word + 2);
    *word = 0;
    OK(hipStreamWaitValue32(stream, word, 3, hipStreamWaitValueGte, UINT32_MAX));
    OK(hipStreamWriteValue64(stream, wide, 0x1234567890, 0));
    pause_ms(10);
    CHECK_EQ(*wide, 0);
    CHECK_HIP(hipStreamQuery(stream), hipErrorNotReady);
    __atomic_store_n(word, 4, __ATOMIC_RELEASE); /* the packet processor looks at it */
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(*wide, 0x1234567890);
    CHECK_HIP(hipStreamWaitValue32(stream, NULL, 0, 0, 0), hipErrorInvalidValue);
    OK(hipHostFree(word));
    OK(hipStreamDestroy(stream));
}

static void async_copies(void)
{
    enum { N = 1 << 20 };
    hipStream_t stream;
    unsigned char *device, *pinned, small[64];
    static unsigned char pageable[N];

    OK(hipStreamCreate(&stream));
    OK(hipMalloc((void **)&device, N));
    OK(hipHostMalloc((void **)&pinned, N, 0));
    for (int i = 0; i < N; i++)
        pinned[i] = (unsigned char)(i >> 4);
    OK(hipMemcpyAsync(device, pinned, N, hipMemcpyHostToDevice, stream));
    OK(hipMemcpyAsync(pageable, device, N, hipMemcpyDeviceToHost, stream)); /* pageable: done on return */
    CHECK(!memcmp(pinned, pageable, N));
    memset(small, 9, sizeof small);
    OK(hipMemcpyAsync(device, small, sizeof small, hipMemcpyHostToDevice,
                      stream)); /* small: may be reused at once */
    memset(small, 0, sizeof small);
    OK(hipMemsetAsync(device + 64, 5, 64, stream));
    OK(hipMemcpy2DAsync(device + 1024, 32, device, 16, 16, 8, hipMemcpyDeviceToDevice, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(device[0], 9);
    CHECK_EQ(device[63], 9);
    CHECK_EQ(device[127], 5);
    CHECK_EQ(device[1024 + 32 * 3], 9);
    CHECK_EQ(device[1024 + 32 * 4], 5);
    OK(hipFree(device));
    OK(hipHostFree(pinned));
    OK(hipStreamDestroy(stream));
}

static void events(void)
{
    struct gate gate = {0};
    hipEvent_t start, stop, untimed;
    hipStream_t stream;
    float ms = -1;

    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&start));
    OK(hipEventCreateWithFlags(&stop, hipEventBlockingSync));
    OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    OK(hipEventQuery(start)); /* never recorded: complete */
    OK(hipEventSynchronize(start));
    CHECK_HIP(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle);
    OK(hipEventRecord(start, stream));
    OK(hipLaunchHostFunc(stream, gate_wait, &gate));
    OK(hipEventRecord(stop, stream));
    OK(hipEventRecord(untimed, stream));
    CHECK_HIP(hipEventElapsedTime(&ms, start, stop), hipErrorNotReady);
    pause_ms(30);
    gate.open = 1;
    OK(hipEventSynchronize(stop));
    OK(hipEventElapsedTime(&ms, start, stop));
    /* In timing mode host functions take no simulated time, however long they take. */
    const char *mode = getenv("EHP_MODE");
    CHECK(mode && !strcmp(mode, "timing") ? ms >= 0 && ms < 1 : ms >= 25 && ms < 5000);
    CHECK_HIP(hipEventElapsedTime(&ms, start, untimed), hipErrorInvalidHandle);
    CHECK_HIP(hipEventElapsedTime(NULL, start, stop), hipErrorInvalidValue);
    CHECK_HIP(hipEventElapsedTime(&ms, NULL, stop), hipErrorInvalidHandle);
    CHECK_HIP(hipEventRecord(NULL, stream), hipErrorInvalidHandle);
    hipEvent_t bad;
    CHECK_HIP(hipEventCreateWithFlags(&bad, hipEventInterprocess), hipErrorInvalidValue);
    CHECK_HIP(hipEventCreateWithFlags(&bad, 0x100), hipErrorInvalidValue);
    for (int i = 0; i < 5000; i++) /* recording again and again needs no more memory */
        OK(hipEventRecord(stop, stream));
    OK(hipStreamSynchronize(stream));
    OK(hipEventDestroy(start));
    OK(hipEventDestroy(stop));
    OK(hipEventDestroy(untimed));
    CHECK_HIP(hipEventQuery(stop), hipErrorInvalidHandle);
    OK(hipStreamDestroy(stream));
}

static void callback(hipStream_t stream, hipError_t status, void *user)
{
    hipStream_t *seen = user;
    if (status == hipSuccess)
        *seen = stream;
}

static void *per_thread(void *user)
{
    hipStream_t *seen = user;

    CHECK(hipStreamAddCallback(hipStreamPerThread, callback, seen, 0) == hipSuccess);
    CHECK(hipStreamSynchronize(hipStreamPerThread) == hipSuccess);
    return NULL;
}

/* What returns before it is done, with work ahead: fills of device memory, copies within it.  The others do
 * not. */
static void returns(void)
{
    enum { BYTES = 256 };
    struct gate gate = {0};
    unsigned char *a, *b, *host, pageable[BYTES];

    OK(hipMalloc((void **)&a, BYTES));
    OK(hipMalloc((void **)&b, BYTES));
    OK(hipHostMalloc((void **)&host, BYTES, 0));
    OK(hipDeviceSynchronize()); /* nothing is ahead: done on return */
    OK(hipMemset(a, 1, BYTES));
    OK(hipMemset(b, 2, BYTES));
    CHECK_EQ(a[BYTES - 1], 1);
    OK(hipStreamQuery(NULL));
    OK(hipLaunchHostFunc(NULL, gate_wait, &gate));
    OK(hipMemset(a, 3, BYTES));
    OK(hipMemcpy(b, a, BYTES / 2, hipMemcpyDeviceToDevice));
    OK(hipMemset2D(a, BYTES / 4, 4, BYTES / 8, 4));
    OK(hipMemcpyDtoD(a + BYTES / 4, b + BYTES / 2, BYTES / 4));
    OK(hipMemcpy2D(b + BYTES / 2, BYTES / 8, a, BYTES / 8, BYTES / 16, 2, hipMemcpyDefault));
    OK(hipMemsetD32(b, 0x05050505, 1));
    OK(hipMemset_spt(a + BYTES - 1, 9, 1));
    CHECK_EQ(gate.passed, 0);
    CHECK_HIP(hipStreamQuery(NULL), hipErrorNotReady);
    CHECK_EQ(a[0], 1);
    gate.open = 1;
    OK(hipMemcpy(pageable, b, BYTES, hipMemcpyDeviceToHost)); /* after all of it */
    CHECK_EQ(gate.passed, 1);
    CHECK_EQ(a[0], 4);
    CHECK_EQ(a[BYTES / 8], 3);
    CHECK_EQ(a[BYTES / 4], 2);
    CHECK_EQ(pageable[0], 5);
    CHECK_EQ(pageable[BYTES / 2 - 1], 3);
    CHECK_EQ(pageable[BYTES / 2], 4);
    CHECK_EQ(pageable[BYTES - 1], 2);
    OK(hipStreamSynchronize(hipStreamPerThread));
    CHECK_EQ(a[BYTES - 1], 9);
    OK(hipMemset(host, 6, BYTES)); /* the host's own memory */
    CHECK_EQ(host[BYTES - 1], 6);
    memset(pageable, 7, BYTES);
    OK(hipMemcpy(a, pageable, BYTES, hipMemcpyHostToDevice));
    memset(pageable, 8, BYTES);
    OK(hipMemcpy(host, a, BYTES, hipMemcpyDefault));
    CHECK_EQ(host[0], 7);

    hipStream_t stream;
    const unsigned char yes = 1; /* the program asks for memory whose operations never return early */
    OK(hipPointerSetAttribute(&yes, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    OK(hipStreamCreate(&stream));
    gate.open = 0;
    OK(hipLaunchHostFunc(stream, open_later, &gate));
    OK(hipMemset(a, 10, BYTES));
    CHECK_EQ(gate.open, 1);
    CHECK_EQ(a[0], 10);
    OK(hipStreamDestroy(stream));
    OK(hipFree(a));
    OK(hipFree(b));
    OK(hipHostFree(host));
}

/* What a host function may wait for, and what waits for itself. */
struct waits {
    hipStream_t own, other;
    void *memory;
    hipError_t device, stream, null, free, destroy, others;
};

static void wait_in_call(void *user)
{
    struct waits *w = user;

    w->device = hipDeviceSynchronize();
    w->stream = hipStreamSynchronize(w->own);
    w->null = hipStreamSynchronize(NULL);
    w->free = hipFree(w->memory);
    w->destroy = hipStreamDestroy(w->own);
    w->others = hipStreamSynchronize(w->other);
}

static void waits_in_calls(void)
{
    struct waits w = {0};
    struct gate gate = {0};

    OK(hipStreamCreate(&w.own));
    OK(hipStreamCreateWithFlags(&w.other, hipStreamNonBlocking));
    OK(hipMalloc(&w.memory, 64));
    OK(hipMemsetAsync(w.memory, 1, 64, w.other));
    OK(hipLaunchHostFunc(w.own, wait_in_call, &w));
    OK(hipStreamSynchronize(w.own));
    CHECK_HIP(w.device, hipErrorNotSupported);
    CHECK_HIP(w.stream, hipErrorNotSupported);
    CHECK_HIP(w.null, hipErrorNotSupported);
    CHECK_HIP(w.free, hipErrorNotSupported);
    CHECK_HIP(w.destroy, hipErrorNotSupported);
    OK(w.others);
    OK(hipFree(w.memory));

    /* A stream without work has nothing to wait for, whatever the null stream does. */
    OK(hipLaunchHostFunc(NULL, gate_wait, &gate));
    OK(hipStreamSynchronize(w.own));
    CHECK_EQ(gate.passed, 0);
    gate.open = 1;
    OK(hipDeviceSynchronize());
    OK(hipStreamDestroy(w.own));
    OK(hipStreamDestroy(w.other));
}

/* A host function that fills its own queue, or finds it full: calls for which it would have to end fail. */
struct crowd {
    hipStream_t own, other;
    uint32_t *words;
    _Atomic int begun, submitted, ended;
    hipError_t write, copy, event, free, elsewhere;
};

static hipError_t until_full(const struct crowd *c, size_t copied)
{
    static const unsigned char bytes[32768];
    hipError_t error = hipSuccess;

    for (int i = 0; i < 5000 && error == hipSuccess; i++)
        error = copied ? hipMemcpyAsync(c->words + 64, bytes, copied, hipMemcpyHostToDevice, c->own)
                       : hipStreamWriteValue32(c->own, c->words, (uint32_t)i, 0);
    return error;
}

static void fill_own(void *user)
{
    struct crowd *c = user;
    void *memory;
    hipEvent_t event;

    c->copy = until_full(c, 32768); /* operands */
    c->write = until_full(c, 0);    /* packets */
    OK(hipEventCreate(&event));
    c->event = hipEventRecord(event, c->own);
    OK(hipEventQuery(event)); /* as one that was never recorded */
    OK(hipEventDestroy(event));
    OK(hipMallocAsync(&memory, 4096, c->other));
    c->free = hipFreeAsync(memory, c->own);
    OK(hipFreeAsync(memory, c->other));
    c->elsewhere = hipStreamWriteValue32(c->other, c->words + 1, 7, 0);
    CHECK_HIP(hipStreamSynchronize(c->own), hipErrorNotSupported);
    c->ended = 1;
}

static void find_full(void *user)
{
    struct crowd *c = user;
    int seen = -1;

    c->begun = 1;
    while (seen != c->submitted || seen < 1000) { /* until the other thread waits for room */
        seen = c->submitted;
        pause_ms(200);
    }
    c->write = hipStreamWriteValue32(c->own, c->words, 1, 0);
    c->copy = hipStreamWriteValue32(NULL, c->words, 1, 0);
    c->elsewhere = hipStreamWriteValue32(c->other, c->words + 1, 9, 0);
    c->ended = 1;
}

static void full_queues(void)
{
    struct crowd c = {0};

    OK(hipStreamCreate(&c.own));
    OK(hipStreamCreateWithFlags(&c.other, hipStreamNonBlocking));
    OK(hipMalloc((void **)&c.words, 65536));
    OK(hipLaunchHostFunc(c.own, fill_own, &c));
    OK(hipStreamSynchronize(c.own));
    OK(hipStreamSynchronize(c.other));
    CHECK_EQ(c.ended, 1);
    CHECK_HIP(c.copy, hipErrorNotSupported);
    CHECK_HIP(c.write, hipErrorNotSupported);
    CHECK_HIP(c.event, hipErrorNotSupported);
    CHECK_HIP(c.free, hipErrorNotSupported);
    OK(c.elsewhere);
    CHECK_EQ(c.words[1], 7);

    c = (struct crowd){.own = c.own, .other = c.other, .words = c.words};
    OK(hipLaunchHostFunc(c.own, find_full, &c));
    while (!c.begun)
        pause_ms(1);
    for (; c.submitted < 1100; c.submitted++)
        OK(hipStreamWriteValue32(c.own, c.words, (uint32_t)c.submitted, 0));
    CHECK_EQ(c.ended, 1);
    OK(hipDeviceSynchronize());
    CHECK_EQ(c.words[0], 1099);
    CHECK_EQ(c.words[1], 9);
    CHECK_HIP(c.write, hipErrorNotSupported);
    CHECK_HIP(c.copy, hipErrorNotSupported);
    OK(c.elsewhere);
    OK(hipFree(c.words));
    OK(hipStreamDestroy(c.own));
    OK(hipStreamDestroy(c.other));
}

/*
 * Streams beyond four share hardware queues, and run in the order of submission with those that have the
 * same. The null stream, priorities and CU masks have others.
 */
static void hardware_queues(void)
{
    enum { STREAMS = 8 };
    struct gate gate = {0};
    hipStream_t stream[STREAMS], high, masked;
    hipEvent_t event;
    const uint32_t mask = UINT32_MAX;
    _Atomic int done[STREAMS] = {0}, others = 0;
    uint32_t *word;

    OK(hipDeviceSynchronize());
    OK(hipHostMalloc((void **)&word, 64, 0));
    for (int i = 0; i < STREAMS; i++) {
        OK(hipStreamCreateWithFlags(&stream[i], hipStreamNonBlocking));
        OK(hipStreamWriteValue32(stream[i], word + 1, 0, 0));
    }
    OK(hipDeviceSynchronize());
    *word = 0;
    OK(hipStreamWaitValue32(stream[0], word, 1, hipStreamWaitValueEq, UINT32_MAX));
    for (int i = 0; i < STREAMS; i++)
        OK(hipStreamWriteValue32(stream[i], word + 2 + i, 1, 0));
    for (int i = 1; i < 4; i++) /* four have a queue each */
        OK(hipStreamSynchronize(stream[i]));
    OK(hipStreamCreateWithPriority(&high, hipStreamNonBlocking, -1));
    OK(hipExtStreamCreateWithCUMask(&masked, 1, &mask));
    OK(hipStreamWriteValue32(high, word + 1, 1, 0));
    OK(hipStreamSynchronize(high));
    OK(hipStreamWriteValue32(masked, word + 1, 2, 0));
    OK(hipStreamSynchronize(masked));
    OK(hipStreamWriteValue32(NULL, word + 1, 3, 0));
    OK(hipStreamSynchronize(NULL));
    CHECK_EQ(word[1], 3);
    int blocked = 0;
    for (int i = 4; i < STREAMS; i++)
        blocked += hipStreamQuery(stream[i]) == hipErrorNotReady;
    CHECK_EQ(blocked, 1);
    CHECK_HIP(hipStreamQuery(stream[0]), hipErrorNotReady);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE); /* the packet processor is looking at it */
    OK(hipDeviceSynchronize());
    for (int i = 0; i < STREAMS; i++)
        CHECK_EQ(word[2 + i], 1);

    /* Everyone waits for everyone before: never for ever, whoever shares. */
    OK(hipEventCreate(&event));
    OK(hipStreamWaitEvent(stream[0], event, 0)); /* not recorded: nothing to wait for */
    OK(hipLaunchHostFunc(stream[0], gate_wait, &gate));
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < STREAMS; i++) {
            OK(hipEventRecord(event, stream[i]));
            OK(hipStreamWaitEvent(stream[(i + 3 + round) % STREAMS], event, 0));
            OK(hipLaunchHostFunc(stream[i], count, (void *)&done[i]));
        }
    gate.open = 1;
    for (int i = STREAMS; i-- > 0;) { /* a stream that goes takes only its own work along */
        OK(hipStreamDestroy(stream[i]));
        CHECK_EQ(done[i], 50);
    }
    OK(hipLaunchHostFunc(high, count, (void *)&others));
    OK(hipStreamSynchronize(high));
    CHECK_EQ(others, 1);
    OK(hipEventDestroy(event));
    OK(hipStreamDestroy(high));
    OK(hipStreamDestroy(masked));
    OK(hipHostFree(word));
}

static void small_things(void)
{
    hipStream_t stream, seen = NULL;
    pthread_t thread;
    unsigned flags = 9;
    int priority = 9, least, greatest;
    uint32_t mask[16] = {0};
    hipDevice_t device = 9;

    OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 1 && greatest == -1);
    OK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -1));
    OK(hipStreamGetFlags(stream, &flags));
    CHECK_HIP(hipStreamGetFlags(NULL, &flags), hipErrorInvalidValue);
    OK(hipStreamGetFlags(hipStreamPerThread, &flags));
    OK(hipStreamGetFlags(stream, &flags));
    CHECK_EQ(flags, hipStreamNonBlocking);
    OK(hipStreamGetPriority(stream, &priority));
    CHECK_EQ(priority, -1);
    OK(hipStreamGetDevice(stream, &device));
    CHECK_EQ(device, 0);
    OK(hipExtStreamGetCUMask(stream, 16, mask));
    CHECK_EQ(mask[0], UINT32_MAX);
    OK(hipStreamAddCallback(stream, callback, &seen, 0));
    OK(hipStreamSynchronize(stream));
    CHECK(seen == stream);
    CHECK_HIP(hipStreamAddCallback(stream, NULL, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamAddCallback(stream, callback, NULL, 1), hipErrorInvalidValue);
    CHECK_HIP(hipLaunchHostFunc(stream, NULL, NULL), hipErrorInvalidValue);
    OK(hipStreamDestroy(stream));
    CHECK_HIP(hipStreamDestroy(NULL), hipErrorInvalidResourceHandle);
    CHECK_HIP(hipStreamCreateWithFlags(&stream, 0x40), hipErrorInvalidValue);
    CHECK_HIP(hipStreamCreate(NULL), hipErrorInvalidValue);
    CHECK_HIP(hipStreamSynchronize((hipStream_t)(uintptr_t)&seen), hipErrorContextIsDestroyed);

    seen = NULL;
    CHECK(pthread_create(&thread, NULL, per_thread, &seen) == 0);
    pthread_join(thread, NULL);
    CHECK(seen == hipStreamPerThread);
}

static void open_gate(void *word)
{
    __atomic_store_n((uint64_t *)word, UINT64_C(0xf00000005), __ATOMIC_RELEASE);
}

/* Waits and writes in memory of every kind, and what is no place for a value. */
static void values_of_kinds(void)
{
    const struct {
        uint64_t wanted, mask;
        unsigned flags;
    } waits[] = {{UINT64_C(0xf00000005), UINT64_MAX, hipStreamWaitValueEq},
                 {5, 0xff, hipStreamWaitValueEq},
                 {UINT64_C(0xe00000000), UINT64_MAX, hipStreamWaitValueGte},
                 {UINT64_C(0x800000000), UINT64_C(0x900000000), hipStreamWaitValueAnd},
                 {UINT64_C(0xfffffff0fffffff0), 15, hipStreamWaitValueNor}};
    uint64_t *memory[5];
    static uint64_t plain[2];
    hipStream_t stream, other;

    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
    OK(hipMalloc((void **)&memory[0], 8));
    OK(hipHostMalloc((void **)&memory[1], 8, 0));
    OK(hipExtMallocWithFlags((void **)&memory[2], 8, hipMallocSignalMemory));
    OK(hipMallocManaged((void **)&memory[3], 8, hipMemAttachGlobal));
    memory[4] = plain;
    CHECK_HIP(hipExtMallocWithFlags((void **)&memory[2], 16, hipMallocSignalMemory), hipErrorInvalidValue);
    CHECK_HIP(hipExtMallocWithFlags((void **)&memory[2], 8, 5), hipErrorInvalidValue);
    OK(hipHostRegister(plain, 8, 0));
    for (int i = 0; i < 5; i++)
        for (size_t k = 0; k < sizeof waits / sizeof *waits; k++) {
            OK(hipStreamWriteValue64(stream, memory[i], waits[k].flags == hipStreamWaitValueNor ? 15 : 0, 0));
            OK(hipStreamSynchronize(stream));
            OK(hipStreamWaitValue64(stream, memory[i], waits[k].wanted, waits[k].flags, waits[k].mask));
            OK(hipStreamWriteValue32(stream, memory[i], 9, 0));
            CHECK_HIP(hipStreamQuery(stream), hipErrorNotReady);
            OK(hipLaunchHostFunc(other, open_gate, memory[i]));
            OK(hipStreamSynchronize(stream));
            CHECK_EQ(*memory[i], UINT64_C(0xf00000009));
        }

    CHECK_HIP(hipStreamWriteValue32(stream, plain + 1, 1, 0), hipErrorInvalidValue); /* behind its end */
    CHECK_HIP(hipStreamWriteValue64(stream, (char *)memory[0] + 4, 1, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWriteValue32(stream, (char *)memory[0] + 2, 1, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue32(stream, (char *)memory[0] + 1, 1, 0, 1), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue64(stream, (char *)memory[0] + 4, 1, 0, 1), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue64(stream, memory[0], 1, 4, 1), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue32(stream, memory[0], 1, UINT32_MAX, 1), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWriteValue64(stream, (void *)(uintptr_t)0x1000, 1, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamWaitValue64((hipStream_t)(uintptr_t)0xffff, memory[0], 1, 0, 1),
              hipErrorContextIsDestroyed);

    hipStreamBatchMemOpParams list[4] = {
        {.writeValue = {hipStreamMemOpWriteValue64, memory[0], {.value64 = 7}, 0, NULL}},
        {.operation = hipStreamMemOpBarrier},
        {.waitValue = {hipStreamMemOpWaitValue32, memory[0], {.value = 7}, hipStreamWaitValueEq, NULL}},
        {.writeValue = {hipStreamMemOpWriteValue32, memory[1], {.value = 8}, 0, NULL}}};
    OK(hipStreamBatchMemOp(stream, 4, list, 0));
    OK(hipStreamSynchronize(stream));
    CHECK(*memory[0] == 7 && *(uint32_t *)memory[1] == 8);
    CHECK_HIP(hipStreamBatchMemOp(stream, 0, list, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp(stream, 257, list, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp(stream, 4, NULL, 0), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp(stream, 4, list, 1), hipErrorInvalidValue);
    CHECK_HIP(hipStreamBatchMemOp((hipStream_t)(uintptr_t)0xffff, 4, list, 0), hipErrorContextIsDestroyed);
    for (int i = 0; i < 5; i++) {
        hipStreamBatchMemOpParams wrong[2] = {list[0], list[i < 3 ? 3 : 2]};
        if (i == 0)
            wrong[1].writeValue.address = NULL;
        if (i == 1)
            wrong[1].writeValue.address = (char *)memory[1] + 3;
        if (i == 2)
            wrong[1].writeValue.address = (void *)(uintptr_t)0x1000;
        if (i == 3)
            wrong[1].waitValue.flags = 9;
        if (i == 4)
            wrong[1].operation = (hipStreamBatchMemOpType)99;
        CHECK_HIP(hipStreamBatchMemOp(stream, 2, wrong, 0), hipErrorInvalidValue);
        hipGraph_t graph;
        hipGraphNode_t node;
        const hipBatchMemOpNodeParams params = {.count = 2, .paramArray = wrong};
        OK(hipGraphCreate(&graph, 0));
        CHECK_HIP(hipGraphAddBatchMemOpNode(&node, graph, NULL, 0, &params), hipErrorInvalidValue);
        OK(hipGraphDestroy(graph));
    }
    OK(hipFree(memory[0]));
    CHECK_HIP(hipStreamWriteValue64(stream, memory[0], 1, 0), hipErrorInvalidValue);
    OK(hipHostFree(memory[1]));
    OK(hipFree(memory[2]));
    OK(hipFree(memory[3]));
    OK(hipHostUnregister(plain));
    OK(hipStreamDestroy(stream));
    OK(hipStreamDestroy(other));
}

int main(void)
{
    order();
    null_stream();
    values();
    async_copies();
    events();
    returns();
    waits_in_calls();
    full_queues();
    hardware_queues();
    small_things();
    values_of_kinds();
    return check_status();
}
