// SPDX-License-Identifier: MIT
// Host programs that wait for the device by no call, for polls.sh: simulated time must go on for them.  The
// argument says for what.
#include <hip/hip_runtime.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#define CHECK_HIP(call)                                                                                      \
    do {                                                                                                     \
        hipError_t status_ = (call);                                                                         \
        if (status_ != hipSuccess) {                                                                         \
            std::fprintf(stderr, "%s: %s\n", #call, hipGetErrorName(status_));                               \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

__global__ void set(int *flag, int value)
{
    for (int i = 0; i < 100; i++)
        __builtin_amdgcn_s_sleep(127);
    __hip_atomic_store(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

static std::mutex lock;
static std::condition_variable condition;
static std::atomic<bool> called;

static void call(void *)
{
    {
        const std::lock_guard<std::mutex> guard(lock);
        called = true;
    }
    condition.notify_all();
}

static void wait_for_condition()
{
    std::unique_lock<std::mutex> guard(lock);
    condition.wait(guard, [] { return called.load(); });
}

static void nap(int ms)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "memory";
    int *pinned;
    CHECK_HIP(hipHostMalloc(&pinned, sizeof(*pinned)));
    volatile int *flag = pinned;
    for (int i = 1; i <= 2; i++) {
        called = false;
        set<<<1, 1>>>(pinned, i);
        if (!std::strcmp(what, "memory")) {
            while (*flag != i)
                ;
        } else if (!std::strcmp(what, "memory, asleep")) {
            while (*flag != i)
                nap(2);
        } else if (!std::strcmp(what, "function")) {
            CHECK_HIP(hipLaunchHostFunc(nullptr, call, nullptr));
            while (!called)
                ;
        } else if (!std::strcmp(what, "condition")) {
            CHECK_HIP(hipLaunchHostFunc(nullptr, call, nullptr));
            wait_for_condition();
        } else if (!std::strcmp(what, "thread")) { // who waits is another thread than who waits for it
            CHECK_HIP(hipLaunchHostFunc(nullptr, call, nullptr));
            std::thread(wait_for_condition).join();
        } else {
            return 2;
        }
        std::printf("%s: %d\n", what, *flag);
    }
    CHECK_HIP(hipDeviceSynchronize());
    return 0;
}
