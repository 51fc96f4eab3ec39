// SPDX-License-Identifier: MIT
// Host code that takes simulated time: what it does is right in both modes, and in timing mode it takes what
// the chip's caches and links say. `host_code`: checks itself, and prints times, the same on every run.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static int failed;
static bool timed;

static void check(bool holds, const char *what)
{
    if (!holds)
        std::printf("failed: %s\n", what), failed = 1;
}

static double now() // ns
{
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static void tell(const char *what, double ns, double least, double most)
{
    if (!timed)
        return;
    std::printf("%-44s %9.2f ns\n", what, ns);
    if (ns < least || ns > most)
        std::printf("failed: not from %g to %g\n", least, most), failed = 1;
}

struct node {
    node *next;
    char rest[56];
};

__attribute__((noinline)) static node *follow(node *p, long loads)
{
    while (loads--)
        p = p->next;
    return p;
}

// A list through all lines of a footprint, in an order that no prefetcher knows.
static void chase(const char *what, size_t bytes, double least, double most)
{
    const size_t n = bytes / sizeof(node);
    auto *list = static_cast<node *>(std::aligned_alloc(4096, bytes));
    std::vector<uint32_t> order(n);
    for (size_t i = 0; i < n; i++)
        order[i] = static_cast<uint32_t>(i);
    uint64_t r = 1;
    for (size_t i = n - 1; i > 0; i--) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        std::swap(order[i], order[(r >> 33) % i]);
    }
    for (size_t i = 0; i < n; i++)
        list[order[i]].next = &list[order[(i + 1) % n]];
    const long loads = 40000;
    node *p = follow(list, static_cast<long>(n));
    check(p == list, what);
    double t = now();
    p = follow(p, loads);
    t = now() - t;
    check(p != nullptr, what);
    tell(what, t / loads, least, most);
    std::free(list);
}

__attribute__((noinline)) static size_t follow(const std::vector<uint64_t> &next, size_t at, long loads)
{
    while (loads--)
        at = next[at];
    return at;
}

// By indices: of two loads that an address comes from, the array's base and the index, it is the one that
// changes.
static void chase_indices()
{
    const size_t line = 64 / sizeof(uint64_t), lines = (8 << 20) / 64,
                 step = 77777; // lines and it are coprime
    std::vector<uint64_t> next(lines * line);
    for (size_t i = 0; i < lines; i++)
        next[i * step % lines * line] = (i + 1) * step % lines * line;
    check(follow(next, 0, static_cast<long>(lines)) == 0, "a round of indices");
    const long loads = 40000;
    double t = now();
    const size_t at = follow(next, 0, loads);
    t = now() - t;
    check(at == loads * step % lines * line, "indices");
    tell("an index from the third cache", t / loads, 12, 18);
}

// Loads whose addresses are known go side by side.
static void stream()
{
    const long n = 1 << 16;
    std::vector<double> a(n, 1.0), b(n, 2.0);
    double t = now(), sum = 0;
    for (long i = 0; i < n; i += 8)
        sum += a[static_cast<size_t>(i)] * b[static_cast<size_t>(i)];
    t = now() - t;
    check(sum == 2.0 * n / 8, "stream");
    tell("a line of a stream", t / (n / 8), 0.5, 12);
}

template <typename F> static void loop(const char *what, double least, double most, F once)
{
    const int n = 20000;
    double t = 0;
    for (int pass = 0; pass < 2; pass++) {
        t = now();
#pragma clang loop vectorize(disable) unroll(disable)
        for (int i = 0; i < n; i++)
            once(i);
        t = now() - t;
    }
    tell(what, t / n, least, most);
}

// Loops of a few instructions whose lines the first cache has: a store a cycle of 0.27 ns, whoever waits for
// it; what is added to a word in memory waits for the addition before.
static void scalars()
{
    static volatile int word;
    static std::atomic<int> shared;
    static int bins[64], keys[64];
    for (int &key : keys)
        key = static_cast<int>(&key - keys) * timed;
    loop("a volatile store", 0.25, 0.35, [](int i) { word = i; });
    static void *volatile block; // which the compiler has to ask for
    loop("malloc and free of 64 bytes", 20, 23, [](int) {
        block = std::malloc(64);
        std::free(block);
    });
    check(word == 19999, "volatile stores");
    loop("a releasing store", 0.25, 0.35, [](int i) { shared.store(i, std::memory_order_release); });
    loop("a store in sequential order", 4.4, 4.8, [](int i) { shared.store(i); });
    loop("an atomic addition", 4.4, 4.8, [](int i) { shared.fetch_add(i, std::memory_order_relaxed); });
    loop("a bin of many", 0.25, 0.4, [](int i) { bins[keys[i & 63]]++; });
    for (int &key : keys)
        key = 7;
    loop("one bin", 2.1, 2.4, [](int i) { bins[keys[i & 63]]++; });

    std::vector<char> text(16 << 20, 'a');
    text.back() = 0;
    const double t = now();
    const size_t length = std::strlen(text.data());
    asm volatile("" : : "r"(length) : "memory"); /* before the clock is read */
    tell("strlen, each 100 bytes from the third cache", (now() - t) * 100 / static_cast<double>(length), 0.3,
         1);
    check(length == text.size() - 1, "strlen");
}

static void bounce()
{
    alignas(128) static std::atomic<int> turn{0};
    const int rounds = 200;
    double t = now();
    std::thread other([&] {
        for (int i = 0; i < rounds; i++) {
            while (turn.load(std::memory_order_acquire) != 2 * i + 1) {
            }
            turn.store(2 * i + 2, std::memory_order_release);
        }
    });
    for (int i = 0; i < rounds; i++) {
        turn.store(2 * i + 1, std::memory_order_release);
        while (turn.load(std::memory_order_acquire) != 2 * i + 2) {
        }
    }
    other.join();
    tell("a line from CCD to CCD", (now() - t) / rounds / 2, 300,
         600); // two requests, each with a probe; by where its home is
}

static void count()
{
    std::vector<std::thread> threads;
    std::atomic<long> atomic{0};
    long plain = 0;
    std::mutex mutex;
    for (int i = 0; i < 6; i++)
        threads.emplace_back([&] {
            for (int k = 0; k < 300; k++) {
                atomic++;
                std::lock_guard<std::mutex> guard(mutex);
                plain++;
            }
        });
    for (auto &t : threads)
        t.join();
    check(atomic == 1800 && plain == 1800, "six threads count");
}

static void hand_over()
{
    std::mutex mutex;
    std::condition_variable changed;
    std::queue<int> queue;
    bool done = false;
    long sum = 0;
    std::thread consumer([&] {
        for (;;) {
            std::unique_lock<std::mutex> lock(mutex);
            changed.wait(lock, [&] { return done || !queue.empty(); });
            if (queue.empty())
                return;
            sum += queue.front();
            queue.pop();
        }
    });
    for (int i = 0; i < 50; i++) {
        std::lock_guard<std::mutex> lock(mutex);
        queue.push(i);
        changed.notify_one();
    }
    {
        std::lock_guard<std::mutex> lock(mutex);
        done = true;
    }
    changed.notify_all();
    consumer.join();
    check(sum == 50 * 49 / 2, "a queue");
}

static void meet()
{
    static pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 4);
    std::vector<std::thread> threads;
    static double met[4];
    for (int i = 0; i < 4; i++)
        threads.emplace_back([i] {
            if (i == 2)
                std::this_thread::sleep_for(std::chrono::microseconds(80));
            pthread_barrier_wait(&barrier);
            met[i] = now();
        });
    double t = now();
    for (auto &thread : threads)
        thread.join();
    pthread_barrier_destroy(&barrier);
    for (double at : met)
        tell("a barrier, after one that sleeps for 80 us", at - t, 70e3, 120e3);
}

// ---- pages ----

__attribute__((noinline)) static double touch(char *p, size_t bytes)
{
    double t = now();
    for (size_t i = 0; i < bytes; i += 4096)
        p[i] = 1;
    return now() - t;
}

// Pages that have been given back fault again.
static void pages()
{
    const size_t bytes = 64 * 4096;
    for (int i = 0; i < 3; i++) {
        void *map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(map != MAP_FAILED, "a mapping");
        auto *p = static_cast<char *>(map);
        double first = touch(p, bytes), again = touch(p, bytes);
        check(p[4096] == 1, "what is in it");
        madvise(p, bytes, MADV_DONTNEED);
        check(p[4096] == 0, "what is discarded");
        double discarded = touch(p, bytes);
        munmap(p, bytes);
        if (timed)
            check(first > 50e3 && again < 5e3 && discarded > 50e3, "page faults");
    }
    for (int i = 0; i < 3; i++) { // more than the C library keeps
        auto *p = static_cast<char *>(std::malloc(64 << 20));
        double first = touch(p, 8 * bytes);
        std::free(p);
        if (timed)
            check(first > 400e3, "page faults of large memory of malloc's");
    }
}

// ---- what goes other ways than calls and returns ----

static std::jmp_buf back;
static volatile std::sig_atomic_t signals;

__attribute__((noinline)) static long throws(long depth)
{
    if (depth == 0)
        throw std::runtime_error("deep");
    return throws(depth - 1) + 1;
}

static void other_ways()
{
    int caught = 0;
    for (int i = 0; i < 20; i++) {
        try {
            throws(i);
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
    check(caught == 20, "exceptions");
    volatile int times = 0;
    if (setjmp(back) < 5) {
        times = times + 1;
        std::longjmp(back, times);
    }
    check(times == 5, "longjmp");
    std::signal(SIGUSR1, [](int) { signals = signals + 1; });
    for (int i = 0; i < 10; i++)
        std::raise(SIGUSR1);
    check(signals == 10, "signals");
    long in = 20, out = 0;
    asm("lea (%1,%1), %0" : "=r"(out) : "r"(in));
    check(out == 40, "inline assembly");
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        long sum = 0;
        std::atomic<long> a{0};
        std::vector<long> v(200000, 1);
        for (long x : v)
            sum += x, a++;
        usleep(500000); // the host's; longer than what its parent would be seen to sleep for
        _exit(sum == 200000 && a == 200000 ? 3 : 4);
    }
    int status = 0;
    const double t = now();
    waitpid(child, &status, 0);
    tell("a wait for another process", now() - t, 400, 700);
    const double begin = now();
    check(std::system("sleep 0.3") == 0, "system");
    tell("a command", now() - begin, 400, 700);
    FILE *pipe = popen("sleep 0.3", "w");
    check(pipe != nullptr, "popen");
    const double open = now();
    check(pclose(pipe) == 0, "pclose");
    tell("the end of a pipe's command", now() - open, 400, 1200);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "fork");
}

// The core's counter goes with its clocks, by what compilers have for it and by assembly.
static uint64_t halves()
{
    uint32_t low, high;
    asm volatile("lfence; rdtsc" : "=a"(low), "=d"(high));
    return static_cast<uint64_t>(high) << 32 | low;
}

static uint64_t whole()
{
    uint64_t all;
    asm volatile("rdtsc; shl $32, %%rdx; or %%rdx, %0" : "=a"(all) : : "rdx");
    return all;
}

static void counter()
{
    enum { WORDS = 1 << 12 };
    static volatile int words[WORDS];
    unsigned cpu = 0;
    auto begin = std::chrono::steady_clock::now();
    uint64_t t[5] = {__builtin_ia32_rdtsc()};
    for (int i = 0; i < WORDS; i++)
        words[i] = i;
    t[1] = __builtin_ia32_rdtscp(&cpu);
    t[2] = halves();
    t[3] = whole();
    t[4] = __builtin_readcyclecounter();
    double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    for (int i = 1; i < 5; i++)
        check(t[i] > t[i - 1], "the counter goes on");
    if (!timed)
        return;
    check(t[4] - t[3] < 100, "how long it takes to read it");
    check(std::abs((t[4] - t[0]) / ns - 3.7) < 0.1, "its clock");
    check(cpu == 0, "which CPU it is of");
    std::printf("%-32s %9.0f cycles\n", "4096 words", double(t[1] - t[0]));
}

int main(int argc, char **argv)
{
    const double begun = now();
    const bool is_timed = argc > 1 && argv[1][0] == 't'; // "timing"
    const double looked = now() - begun;
    timed = is_timed;
    tell("a first look at arguments, without a fault", looked, 0, 1000);
    chase("a load from the first cache", 16 << 10, 0.9, 1.2);
    chase("a load from the second cache", 256 << 10, 2.5, 4.5);
    chase("a load from the third cache", 8 << 20, 12, 18);
    chase_indices();
    stream();
    scalars();
    bounce();
    count();
    hand_over();
    meet();
    pages();
    other_ways();
    counter();
    if (!failed)
        std::puts("all as it should be");
    return failed;
}
