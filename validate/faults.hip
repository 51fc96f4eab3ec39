// SPDX-License-Identifier: MIT
// Page faults of the program's own code on cores, compiled with --time-host: how long a single one takes, and
// how many a second one core and twelve handle together.  upm.hip has those of work that a program declares.
#include "measure.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

static const size_t PAGE = 4096, PAGES = 12000; // PAGES: of each core, where the rate has stopped to increase

static double now() // ns
{
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static volatile char *map(size_t pages)
{
    void *p = mmap(nullptr, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        std::exit(1);
    return static_cast<volatile char *>(p);
}

static void unmap(volatile char *p, size_t pages)
{
    munmap(const_cast<char *>(p), pages * PAGE);
}

// The difference to the same store once the page is there.  Between them the kernel's code grows cold.
static void latency()
{
    std::vector<double> us;
    double sum = 0;
    random_numbers random{1};
    for (int i = 0; i < 200; i++) {
        volatile char *p = map(1);
        std::this_thread::sleep_for(std::chrono::nanoseconds(50000 + random.next() % 50000));
        const double begin = now();
        *p = 1;
        const double middle = now();
        *p = 2;
        us.push_back((2 * middle - begin - now()) / 1e3);
        sum += us.back();
        unmap(p, 1);
    }
    std::sort(us.begin(), us.end());
    row("fault_code_latency", 50, sum / static_cast<double>(us.size()));
    row("fault_code_latency", 95, us[us.size() * 95 / 100]);
}

static void rate(unsigned cores)
{
    char *all = const_cast<char *>(map(cores * PAGES));
    std::vector<std::thread> threads;
    std::vector<double> begin(cores), end(cores);
    std::atomic<unsigned> ready{0};
    for (unsigned i = 0; i < cores; i++)
        threads.emplace_back([&, i] {
            for (ready++; ready.load() < cores;)
                std::this_thread::yield();
            begin[i] = now();
            for (size_t page = 0; page < PAGES; page++)
                all[(i * PAGES + page) * PAGE] = 1;
            end[i] = now();
        });
    for (std::thread &t : threads)
        t.join();
    const double ns =
        *std::max_element(end.begin(), end.end()) - *std::min_element(begin.begin(), begin.end());
    row("fault_code_rate", cores, cores * PAGES * 1e3 / ns);
    unmap(all, cores * PAGES);
}

int main()
{
    CHECK_HIP(hipFree(nullptr));
    latency();
    rate(1);
    rate(12);
    return 0;
}
