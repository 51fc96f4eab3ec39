// SPDX-License-Identifier: MIT
// For the self-checking HIP programs: count what differs, print PASSED and return 0 when nothing does.
#ifndef TESTS_HIP_CHECK_HIP_H
#define TESTS_HIP_CHECK_HIP_H

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

static int check_failures;

#define CHECK(condition, ...)                                                                                \
    do {                                                                                                     \
        if (!(condition) && ++check_failures <= 20) {                                                        \
            std::printf("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                      \
            std::printf(__VA_ARGS__);                                                                        \
            std::printf("\n");                                                                               \
        }                                                                                                    \
    } while (0)

#define HIP_OK(call)                                                                                         \
    do {                                                                                                     \
        hipError_t status_ = (call);                                                                         \
        if (status_ != hipSuccess) {                                                                         \
            std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(status_));           \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static inline int check_done()
{
    if (check_failures == 0)
        std::printf("PASSED\n");
    else
        std::printf("FAILED: %d\n", check_failures);
    return check_failures != 0;
}

// Memory of the device that is read and written through copies, as a program for any device must.
template <typename T> class buffer
{
    T *device_;

  public:
    std::vector<T> host;
    explicit buffer(size_t n, T value = T()) : host(n, value)
    {
        HIP_OK(hipMalloc(&device_, n * sizeof(T)));
        up();
    }
    explicit buffer(std::vector<T> values) : host(std::move(values))
    {
        HIP_OK(hipMalloc(&device_, host.size() * sizeof(T)));
        up();
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        (void)hipFree(device_);
    }
    void up()
    {
        HIP_OK(hipMemcpy(device_, host.data(), host.size() * sizeof(T), hipMemcpyHostToDevice));
    }
    void down()
    {
        HIP_OK(hipGetLastError());
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(host.data(), device_, host.size() * sizeof(T), hipMemcpyDeviceToHost));
    }
    T *get()
    {
        return device_;
    }
    T &operator[](size_t i)
    {
        return host[i];
    }
};

// A small generator, the same everywhere.
struct random_bits {
    unsigned long long state = 0x9e3779b97f4a7c15ull;
    unsigned long long next()
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
};

#endif
