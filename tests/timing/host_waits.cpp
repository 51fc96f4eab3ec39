// SPDX-License-Identifier: MIT
// Threads that wait for each other, by all that C++ and POSIX have for it: each wait ends, for the right
// reason, and in timing mode when simulated time says so.  `host_waits`: checks itself, and prints times, the
// same on every run; `host_waits pipe`: by what is not simulated.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <pthread.h>
#include <semaphore>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

static int failed;
static bool timed;
static clock_type::time_point last;

static void check(bool holds, const char *what)
{
    if (!holds)
        std::printf("failed: %s\n", what), failed = 1;
}

// Since the last one.
static void took(const char *what, double least, double most)
{
    double us = std::chrono::duration<double, std::micro>(clock_type::now() - last).count();
    if (timed) {
        std::printf("%-32s %9.3f us\n", what, us);
        check(us >= least && us <= most, what);
    }
    last = clock_type::now();
}

template <typename F> static void in_threads(int count, F f)
{
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(f, i);
    for (auto &t : threads)
        t.join();
}

static void conditions()
{
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    std::unique_lock<std::mutex> lock(mutex);
    check(!changed.wait_for(lock, 300us, [&] { return ready; }), "a wait that nobody ends");
    took("300 us for nothing", 300, 320);
    std::thread other([&] {
        std::this_thread::sleep_for(50us);
        std::lock_guard<std::mutex> guard(mutex);
        ready = true;
        changed.notify_one();
    });
    check(changed.wait_for(lock, 10s, [&] { return ready; }), "a wait that ends in time");
    took("10 s that end after 50 us", 50, 90);
    other.join();
    check(changed.wait_until(lock, std::chrono::system_clock::now() + 100us) == std::cv_status::timeout,
          "a wait by the other clock");
    took("100 us of the day", 100, 110);
    pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t one = PTHREAD_COND_INITIALIZER;
    struct timespec t = {};
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += (t.tv_nsec + 100000) / 1000000000;
    t.tv_nsec = (t.tv_nsec + 100000) % 1000000000;
    pthread_mutex_lock(&plain);
    check(pthread_cond_timedwait(&one, &plain, &t) == ETIMEDOUT, "POSIX's");
    check(pthread_mutex_unlock(&plain) == 0, "it has the mutex again");
    took("100 us of POSIX's", 100, 110);
}

static void mutexes()
{
    std::timed_mutex mutex;
    bool first = true, second = false; // without simulated time the host may begin it late
    mutex.lock();
    std::thread other([&] {
        first = mutex.try_lock_for(100us);
        second = first || mutex.try_lock_for(10s);
        if (second)
            mutex.unlock();
    });
    std::this_thread::sleep_for(400us);
    mutex.unlock();
    other.join();
    check(second && !(timed && first), "mutexes that are tried for a time");
    took("until a mutex is free", 400, 440);

    std::shared_mutex shared;
    long x = 0;
    std::atomic<int> torn{0};
    in_threads(6, [&](int i) {
        for (int k = 0; k < 40; k++) {
            if (i < 2) {
                std::unique_lock lock(shared);
                x++, x++;
            } else {
                std::shared_lock lock(shared);
                torn += x % 2 != 0;
            }
        }
    });
    check(x == 160 && torn == 0, "readers and writers");
    took("readers and writers", 5, 300);

    pthread_spinlock_t spin;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    in_threads(4, [&](int) {
        for (int k = 0; k < 50; k++) {
            pthread_spin_lock(&spin);
            x++;
            pthread_spin_unlock(&spin);
        }
    });
    check(x == 360, "a spin lock");
    took("a spin lock", 2, 300);

    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_t checking;
    pthread_mutex_init(&checking, &attributes);
    check(pthread_mutex_lock(&checking) == 0 && pthread_mutex_lock(&checking) == EDEADLK &&
              pthread_mutex_unlock(&checking) == 0,
          "a mutex that checks");
    last = clock_type::now();
}

static void words()
{
    std::promise<int> promise;
    auto value = promise.get_future();
    std::thread other([&] {
        std::this_thread::sleep_for(80us);
        promise.set_value(7);
    });
    auto early = value.wait_for(10us);
    check(!timed || early == std::future_status::timeout, "a future that is not there yet");
    check(value.get() == 7, "a future");
    other.join();
    took("a future", 80, 120);
    check(std::async(std::launch::async, [] { return 11; }).get() == 11, "an asynchronous call");
    took("an asynchronous call", 1, 40);

    std::atomic<int> word{0};
    other = std::thread([&] {
        std::this_thread::sleep_for(50us);
        word = 1;
        word.notify_all();
    });
    word.wait(0);
    check(word == 1, "a word");
    other.join();
    took("a word", 50, 80);

    std::latch latch(5);
    std::barrier barrier(4);
    std::counting_semaphore<8> semaphore(0);
    std::atomic<int> steps{0}, wrong{0};
    other = std::thread([&] { in_threads(4, [&](int) { latch.arrive_and_wait(); }); });
    latch.arrive_and_wait();
    other.join();
    in_threads(4, [&](int) {
        for (int k = 1; k <= 10; k++) {
            steps++;
            barrier.arrive_and_wait();
            wrong += steps < 4 * k;
            barrier.arrive_and_wait();
        }
    });
    check(steps == 40 && wrong == 0, "a barrier");
    took("a latch and a barrier", 5, 200);
    other = std::thread([&] {
        for (int i = 0; i < 20; i++)
            semaphore.release();
    });
    for (int i = 0; i < 20; i++)
        semaphore.acquire();
    other.join();
    check(!semaphore.try_acquire_for(30us), "a semaphore");
    took("a semaphore", 30, 120);
}

static void beginnings()
{
    static std::once_flag flag;
    static int times;
    std::atomic<int> early{0};
    in_threads(5, [&](int) {
        std::call_once(flag, [] {
            std::this_thread::sleep_for(20us);
            times++;
        });
        early += times != 1;
    });
    check(times == 1 && early == 0, "what is done once");
    took("what is done once", 20, 60);
    std::once_flag again;
    int thrown = 0;
    for (int i = 0; i < 2; i++)
        try {
            std::call_once(again, [&] {
                if (!thrown++)
                    throw 1;
            });
        } catch (int) {
        }
    check(thrown == 2, "an exception, and once more");
    std::atomic<bool> ended{false};
    std::thread([&] {
        std::this_thread::sleep_for(10us);
        ended = true;
    }).detach();
    while (!ended)
        std::this_thread::yield();
    took("a thread that nobody joins", 10, 60);
}

// What others than simulated threads know of: simulated time goes on, as fast as the host makes it.
static void pipes()
{
    int ends[2];
    check(pipe(ends) == 0, "a pipe");
    std::atomic<long> count{0};
    std::thread other([&] {
        char c = 0;
        check(read(ends[0], &c, 1) == 1 && c == 'x', "what comes through a pipe");
    });
    for (int i = 0; i < 2000; i++)
        count++;
    check(write(ends[1], "x", 1) == 1, "a pipe");
    other.join();
    check(count == 2000, "counts");
}

int main(int argc, char **argv)
{
    timed = argc > 1 && !std::strcmp(argv[1], "timing");
    last = clock_type::now();
    if (argc > 1 && !std::strcmp(argv[1], "pipe")) {
        pipes();
    } else {
        conditions();
        mutexes();
        words();
        beginnings();
    }
    std::printf(failed ? "FAILED\n" : "all as it should be\n");
    return failed;
}
