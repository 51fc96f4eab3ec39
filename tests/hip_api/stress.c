/* SPDX-License-Identifier: MIT */
/*
 * Many threads that make random calls side by side: streams, events, launches, copies, fills, allocations,
 * pools, graphs, host functions, modules, waits of every kind.
 *
 *   hip_stress KERNELS.hsaco [SECONDS [SEED [THREADS]]]
 *
 * What every buffer holds is known, and looked at.  Which thread does what is told by the seed, which is
 * printed; when they meet is not.  A call that does not return within PATIENCE_S is named, with the last
 * calls of all threads.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "hip_check.h"

enum { THREADS = 16, THREADS_MAX = 64, BUFFERS = 6, STREAMS = 5, SHARED = 8, PATIENCE_S = 60 };
enum { WORDS_STEP = 64, WORDS_MAX = 16 * WORDS_STEP };

static struct {
    hipFunction_t store;
    void *image;
    unsigned long seed;
    double until;
    _Atomic unsigned failures;
    pthread_mutex_t lock; /* guards what follows */
    hipEvent_t event[SHARED];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct buffer {
    uint32_t *at;
    uint32_t value; /* of every word, once what has been put into streams is done */
    unsigned words;
    hipEvent_t last;     /* behind its last use */
    hipMemPool_t pool;   /* where it is from; NULL: the default one */
    bool in_order, null; /* of hipMallocAsync(); last used in the null stream */
};

struct thread {
    pthread_t id;
    unsigned number;
    uint64_t random;
    struct buffer buffer[BUFFERS];
    hipStream_t stream[STREAMS];
    uint32_t *pinned;
    _Atomic unsigned called; /* by host functions */
    unsigned calls;          /* that are to come */
    unsigned long steps;
    /* For who watches. */
    const char *_Atomic call;
    _Atomic double since;
    _Atomic bool done;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

__attribute__((format(printf, 2, 3))) static void fail(const struct thread *t, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (all.failures++ < 20)
        fprintf(stderr, "thread %u, step %lu, seed %lu: %s\n", t->number, t->steps, all.seed, text);
}

static void begin(struct thread *t, const char *call)
{
    t->since = now();
    t->call = call;
}

static void expect(const struct thread *t, hipError_t error, const char *call)
{
    if (error != hipSuccess)
        fail(t, "%s: %s", hipGetErrorName(error), call);
}

#define DO(call) (begin(t, #call), expect(t, call, #call))

static unsigned pick(struct thread *t, unsigned of)
{
    t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(t->random >> 33) % of;
}

/* ---- buffers ---- */

static struct buffer *pick_buffer(struct thread *t)
{
    return &t->buffer[pick(t, BUFFERS)];
}

static hipStream_t pick_stream(struct thread *t)
{
    unsigned n = pick(t, STREAMS + 2);
    return n == STREAMS ? NULL : n == STREAMS + 1 ? hipStreamPerThread : t->stream[n];
}

/* The stream's next operation comes after the buffer's last. */
static void use(struct thread *t, struct buffer *b, hipStream_t s)
{
    DO(hipStreamWaitEvent(s, b->last, 0));
}

static void used(struct thread *t, struct buffer *b, hipStream_t s)
{
    DO(hipEventRecord(b->last, s));
}

static void take_buffer(struct thread *t, struct buffer *b)
{
    hipStream_t s = pick_stream(t);

    b->words = WORDS_STEP * (1 + pick(t, WORDS_MAX / WORDS_STEP));
    b->value = 0x01010101 * pick(t, 256);
    b->in_order = pick(t, 2);
    size_t bytes = b->words * sizeof *b->at;
    DO(hipEventCreateWithFlags(&b->last, pick(t, 2) ? hipEventDisableTiming : hipEventDefault));
    if (b->in_order && pick(t, 2)) {
        hipMemPoolProps props = {.allocType = hipMemAllocationTypePinned,
                                 .location = {.type = hipMemLocationTypeDevice}};
        DO(hipMemPoolCreate(&b->pool, &props));
        DO(hipMallocFromPoolAsync((void **)&b->at, bytes, b->pool, s));
    } else if (b->in_order) {
        DO(hipMallocAsync((void **)&b->at, bytes, s));
    } else {
        DO(hipMalloc((void **)&b->at, bytes));
    }
    DO(hipMemsetAsync(b->at, (int)(b->value & 0xff), bytes, s));
    used(t, b, s);
}

static void give_buffer(struct thread *t, struct buffer *b)
{
    hipStream_t s = pick_stream(t);

    if (b->in_order) {
        use(t, b, s);
        DO(hipFreeAsync(b->at, s));
    } else {
        DO(hipFree(b->at));
    }
    DO(hipEventDestroy(b->last));
    if (b->pool)
        DO(hipMemPoolDestroy(b->pool));
    *b = (struct buffer){0};
}

static void compare(struct thread *t, const struct buffer *b, const uint32_t *have, const char *how)
{
    for (unsigned i = 0; i < b->words; i++)
        if (have[i] != b->value) {
            fail(t, "word %u of %u is %#x, not %#x (%s)", i, b->words, have[i], b->value, how);
            return;
        }
}

/* ---- what a thread does ---- */

static void launch(struct thread *t)
{
    struct buffer *b = pick_buffer(t);
    hipStream_t s = pick_stream(t);

    use(t, b, s);
    b->value = pick(t, UINT32_MAX);
    void *arguments[] = {&b->at, &b->value};
    DO(hipModuleLaunchKernel(all.store, b->words / WORDS_STEP, 1, 1, WORDS_STEP, 1, 1, 0, s, arguments,
                             NULL));
    used(t, b, s);
}

static void set(struct thread *t)
{
    struct buffer *b = pick_buffer(t);
    hipStream_t s = pick_stream(t);

    use(t, b, s);
    b->value = pick(t, UINT32_MAX);
    DO(hipMemsetD32Async(b->at, (int)b->value, b->words, s));
    used(t, b, s);
}

static void set_now(struct thread *t)
{
    struct buffer *b = pick_buffer(t);

    use(t, b, NULL);
    b->value = pick(t, UINT32_MAX);
    DO(hipMemsetD32(b->at, (int)b->value, b->words));
    used(t, b, NULL);
}

static void copy(struct thread *t)
{
    struct buffer *to = pick_buffer(t), *from = pick_buffer(t);
    hipStream_t s = pick_stream(t);

    if (to == from || to->words > from->words)
        return;
    use(t, to, s);
    use(t, from, s);
    to->value = from->value;
    DO(hipMemcpyAsync(to->at, from->at, to->words * sizeof *to->at, hipMemcpyDeviceToDevice, s));
    used(t, to, s);
    used(t, from, s);
}

static void copy_in(struct thread *t)
{
    struct buffer *b = pick_buffer(t);
    hipStream_t s = pick_stream(t);
    uint32_t words[WORDS_MAX];
    bool now = pick(t, 2);

    s = now ? NULL : s;
    use(t, b, s);
    b->value = pick(t, UINT32_MAX);
    for (unsigned i = 0; i < b->words; i++)
        words[i] = b->value;
    if (now)
        DO(hipMemcpy(b->at, words, b->words * sizeof *words, hipMemcpyHostToDevice));
    else
        DO(hipMemcpyAsync(b->at, words, b->words * sizeof *words, hipMemcpyHostToDevice, s));
    memset(words, 0x5a, sizeof words); /* pageable: it may be used again */
    used(t, b, s);
}

static void call(void *user)
{
    atomic_fetch_add((_Atomic unsigned *)user, 1);
}

/* Reads a buffer back, and waits for that in one of the ways there are. */
static void look(struct thread *t)
{
    struct buffer *b = pick_buffer(t);
    hipStream_t s = pick_stream(t);
    hipError_t error;

    use(t, b, s);
    DO(hipMemcpyAsync(t->pinned, b->at, b->words * sizeof *b->at, hipMemcpyDeviceToHost, s));
    used(t, b, s);
    switch (pick(t, 5)) {
    case 0:
        DO(hipDeviceSynchronize());
        break;
    case 1:
        DO(hipEventSynchronize(b->last));
        break;
    case 2:
        begin(t, "hipEventQuery");
        while ((error = hipEventQuery(b->last)) == hipErrorNotReady)
            sched_yield();
        expect(t, error, "hipEventQuery");
        break;
    case 3:
        begin(t, "hipStreamQuery");
        while ((error = hipStreamQuery(s)) == hipErrorNotReady)
            sched_yield();
        expect(t, error, "hipStreamQuery");
        break;
    default:
        DO(hipStreamSynchronize(s));
        break;
    }
    compare(t, b, t->pinned, "hipMemcpyAsync");
}

static void look_now(struct thread *t)
{
    struct buffer *b = pick_buffer(t);
    uint32_t words[WORDS_MAX];

    use(t, b, NULL);
    DO(hipMemcpy(words, b->at, b->words * sizeof *words, hipMemcpyDeviceToHost));
    compare(t, b, words, "hipMemcpy");
}

static void renew_buffer(struct thread *t)
{
    struct buffer *b = pick_buffer(t);

    give_buffer(t, b);
    take_buffer(t, b);
}

static void new_stream(struct thread *t, hipStream_t *s)
{
    DO(hipStreamCreateWithPriority(s, pick(t, 2) ? hipStreamNonBlocking : hipStreamDefault,
                                   (int)pick(t, 3) - 1));
}

/* While it is busy. */
static void renew_stream(struct thread *t)
{
    hipStream_t *s = &t->stream[pick(t, STREAMS)];
    struct buffer *b = pick_buffer(t);

    for (unsigned n = pick(t, 6); n; n--) {
        use(t, b, *s);
        b->value = pick(t, UINT32_MAX);
        void *arguments[] = {&b->at, &b->value};
        DO(hipModuleLaunchKernel(all.store, b->words / WORDS_STEP, 1, 1, WORDS_STEP, 1, 1, 0, *s, arguments,
                                 NULL));
        used(t, b, *s);
    }
    DO(hipStreamDestroy(*s));
    new_stream(t, s);
    if (pick(t, 2))
        DO(hipDeviceSynchronize());
}

static void host_function(struct thread *t)
{
    t->calls++;
    DO(hipLaunchHostFunc(pick_stream(t), call, (void *)&t->called));
}

static void wait_all(struct thread *t)
{
    DO(hipDeviceSynchronize());
    if (t->called != t->calls)
        fail(t, "%u of %u host functions have run", t->called, t->calls);
}

/* An event that other threads wait for, and record again. */
static void share_event(struct thread *t)
{
    hipEvent_t event = all.event[pick(t, SHARED)];

    DO(hipEventRecord(event, pick_stream(t)));
}

static void wait_shared(struct thread *t)
{
    hipEvent_t event = all.event[pick(t, SHARED)];

    if (pick(t, 4))
        DO(hipStreamWaitEvent(pick_stream(t), event, 0));
    else
        DO(hipEventSynchronize(event));
}

static void graph(struct thread *t)
{
    struct buffer *a = pick_buffer(t), *b = pick_buffer(t);
    hipStream_t s, run = pick_stream(t);
    hipGraph_t graph;
    hipGraphExec_t exec;

    if (a == b)
        return;
    /* Others use the null stream, which a blocking stream's capture forbids. */
    DO(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    DO(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
    a->value = pick(t, UINT32_MAX);
    b->value = pick(t, UINT32_MAX);
    void *arguments[] = {&a->at, &a->value};
    DO(hipModuleLaunchKernel(all.store, a->words / WORDS_STEP, 1, 1, WORDS_STEP, 1, 1, 0, s, arguments,
                             NULL));
    DO(hipMemsetD32Async(b->at, (int)b->value, b->words, s));
    if (pick(t, 2) && a->words <= b->words) {
        DO(hipMemcpyAsync(a->at, b->at, a->words * sizeof *a->at, hipMemcpyDeviceToDevice, s));
        a->value = b->value;
    }
    unsigned calls = pick(t, 2), times = 1 + pick(t, 3);
    if (calls)
        DO(hipLaunchHostFunc(s, call, (void *)&t->called));
    DO(hipStreamEndCapture(s, &graph));
    DO(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    use(t, a, run);
    use(t, b, run);
    t->calls += calls * times;
    for (unsigned i = 0; i < times; i++)
        DO(hipGraphLaunch(exec, run));
    used(t, a, run);
    used(t, b, run);
    if (pick(t, 2))
        DO(hipStreamSynchronize(run));
    DO(hipGraphExecDestroy(exec));
    DO(hipGraphDestroy(graph));
    DO(hipStreamDestroy(s));
}

static void values(struct thread *t)
{
    hipStream_t writer = t->stream[pick(t, STREAMS)], waiter = t->stream[pick(t, STREAMS)];
    uint32_t *word;

    DO(hipHostMalloc((void **)&word, sizeof *word, 0));
    *word = 0;
    DO(hipStreamWriteValue32(writer, word, 7, 0));
    DO(hipStreamWaitValue32(waiter, word, 7, hipStreamWaitValueEq, UINT32_MAX));
    DO(hipStreamSynchronize(waiter));
    DO(hipStreamSynchronize(writer));
    DO(hipHostFree(word));
}

static void module(struct thread *t)
{
    struct buffer *b = pick_buffer(t);
    hipStream_t s = pick_stream(t);
    hipFunction_t store;
    hipModule_t module;

    DO(hipModuleLoadData(&module, all.image));
    DO(hipModuleGetFunction(&store, module, "store"));
    use(t, b, s);
    b->value = pick(t, UINT32_MAX);
    void *arguments[] = {&b->at, &b->value};
    DO(hipModuleLaunchKernel(store, b->words / WORDS_STEP, 1, 1, WORDS_STEP, 1, 1, 0, s, arguments, NULL));
    used(t, b, s);
    if (pick(t, 2))
        DO(hipStreamSynchronize(s));
    DO(hipModuleUnload(module));
}

static void trim(struct thread *t)
{
    hipMemPool_t pool;

    DO(hipDeviceGetDefaultMemPool(&pool, 0));
    DO(hipMemPoolTrimTo(pool, pick(t, 65536)));
}

static const struct {
    void (*run)(struct thread *t);
    unsigned weight;
} actions[] = {
    {launch, 12},       {set, 6},      {set_now, 2},     {copy, 6},         {copy_in, 4},
    {look, 8},          {look_now, 2}, {graph, 2},       {renew_buffer, 4}, {renew_stream, 4},
    {host_function, 2}, {wait_all, 1}, {share_event, 4}, {wait_shared, 4},  {values, 1},
    {module, 1},        {trim, 1},
};

static void step(struct thread *t)
{
    unsigned sum = 0, n = 0;

    for (unsigned i = 0; i < sizeof actions / sizeof actions[0]; i++)
        sum += actions[i].weight;
    unsigned at = pick(t, sum);
    while (at >= actions[n].weight)
        at -= actions[n++].weight;
    actions[n].run(t);
    t->steps++;
}

static void *thread_main(void *user)
{
    struct thread *t = user;

    DO(hipHostMalloc((void **)&t->pinned, WORDS_MAX * sizeof *t->pinned, 0));
    for (unsigned i = 0; i < STREAMS; i++)
        new_stream(t, &t->stream[i]);
    for (unsigned i = 0; i < BUFFERS; i++)
        take_buffer(t, &t->buffer[i]);
    while (now() < all.until && all.failures < 20)
        step(t);
    wait_all(t);
    for (unsigned i = 0; i < BUFFERS; i++)
        give_buffer(t, &t->buffer[i]);
    for (unsigned i = 0; i < STREAMS; i++)
        DO(hipStreamDestroy(t->stream[i]));
    DO(hipHostFree(t->pinned));
    t->done = true;
    return NULL;
}

/* ---- all of them ---- */

static bool hangs(const struct thread *threads, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!threads[i].done && now() - threads[i].since > PATIENCE_S)
            return true;
    return false;
}

static void watch(const struct thread *threads, unsigned count)
{
    for (unsigned done = 0; done < count;) {
        usleep(20000);
        done = 0;
        for (unsigned i = 0; i < count; i++)
            done += threads[i].done;
        if (!hangs(threads, count))
            continue;
        fprintf(stderr, "seed %lu: calls do not return:\n", all.seed);
        for (unsigned i = 0; i < count; i++)
            if (!threads[i].done)
                fprintf(stderr, "  thread %2u, step %lu, for %.1f s: %s\n", i, threads[i].steps,
                        now() - threads[i].since, threads[i].call);
        _exit(1);
    }
}

static void *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    void *image = malloc(1 << 20);

    if (!file || !image || !fread(image, 1, 1 << 20, file)) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    return image;
}

int main(int argc, char **argv)
{
    static struct thread threads[THREADS_MAX];
    double seconds = argc > 2 ? atof(argv[2]) : 2;
    unsigned count = argc > 4 ? (unsigned)atoi(argv[4]) : THREADS;
    hipModule_t module;
    unsigned long steps = 0;

    if (argc < 2 || !count || count > THREADS_MAX) {
        fprintf(stderr, "usage: %s KERNELS.hsaco [SECONDS [SEED [THREADS]]]\n", argv[0]);
        return 2;
    }
    all.seed = argc > 3 ? strtoul(argv[3], NULL, 0) : (unsigned long)time(NULL);
    printf("seed %lu\n", all.seed);
    fflush(stdout);
    all.image = read_file(argv[1]);
    OK(hipModuleLoadData(&module, all.image));
    OK(hipModuleGetFunction(&all.store, module, "store"));
    for (unsigned i = 0; i < SHARED; i++)
        OK(hipEventCreate(&all.event[i]));
    all.until = now() + seconds;
    for (unsigned i = 0; i < count; i++) {
        threads[i].number = i;
        threads[i].random = all.seed * 1000003 + i;
        threads[i].since = now();
        threads[i].call = "begins";
        CHECK_EQ(pthread_create(&threads[i].id, NULL, thread_main, &threads[i]), 0);
    }
    watch(threads, count);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i].id, NULL);
        steps += threads[i].steps;
    }
    for (unsigned i = 0; i < SHARED; i++)
        OK(hipEventDestroy(all.event[i]));
    OK(hipModuleUnload(module));
    free(all.image);
    CHECK_EQ(all.failures, 0);
    printf("%lu steps\n", steps);
    return check_status();
}
