// SPDX-License-Identifier: MIT
// What the applications share: arguments, the clock, checked calls, and the verdict.
//
// Each program holds both of its variants; `--unified` chooses.  Kernels and input are the same, so that what
// differs between the two host functions is what porting to unified memory is.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <vector>

#define CHECK_HIP(call)                                                                                      \
    do {                                                                                                     \
        hipError_t status_ = (call);                                                                         \
        if (status_ != hipSuccess) {                                                                         \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(status_));  \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

// The same numbers in every run with the same seed.
struct random_numbers {
    uint32_t state;
    uint32_t next()
    {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        return state;
    }
    float uniform() // in [0, 1)
    {
        return static_cast<float>(next() >> 8) / 16777216.0f;
    }
};

// What the program has allocated on both sides, as no single interface tells.
struct memory_count {
    size_t now, most;
    void add(size_t bytes)
    {
        now += bytes;
        most = now > most ? now : most;
    }
};
static memory_count memory_in_use;

static void *counted_malloc(size_t bytes)
{
    void *p = std::malloc(bytes);
    if (!p)
        throw std::bad_alloc();
    memory_in_use.add(malloc_usable_size(p));
    return p;
}

static void counted_free(void *p)
{
    memory_in_use.now -= p ? malloc_usable_size(p) : 0;
    std::free(p);
}

// Containers count too.
void *operator new(size_t bytes)
{
    return counted_malloc(bytes);
}

void operator delete(void *p) noexcept
{
    counted_free(p);
}

void operator delete(void *p, size_t) noexcept
{
    counted_free(p);
}

struct app {
    const char *name;
    bool unified = false;
    unsigned size, steps, seed = 1;

    // `what_size` and `what_steps` say what the two numbers are; NULL: there are no steps.
    app(int argc, char **argv, const char *program, const char *what_size, unsigned default_size,
        const char *what_steps = nullptr, unsigned default_steps = 1)
        : name(program), size(default_size), steps(default_steps)
    {
        for (int i = 1; i < argc; i++) {
            const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
            if (!std::strcmp(argv[i], "--unified"))
                unified = true;
            else if (!std::strcmp(argv[i], "--explicit"))
                unified = false;
            else if ((!std::strcmp(argv[i], "--size") && number(value, &size)) ||
                     (what_steps && !std::strcmp(argv[i], "--steps") && number(value, &steps)) ||
                     (!std::strcmp(argv[i], "--seed") && number(value, &seed)))
                i++;
            else
                usage(what_size, what_steps);
        }
        for (hipEvent_t &mark : marks)
            CHECK_HIP(hipEventCreate(&mark));
        CHECK_HIP(hipEventRecord(marks[start]));
    }
    app(const app &) = delete;
    ~app()
    {
        for (hipEvent_t mark : marks)
            (void)hipEventDestroy(mark);
    }

    // Around the phase that a program is run for.
    void begin_compute()
    {
        CHECK_HIP(hipEventRecord(marks[compute_start]));
    }
    void end_compute()
    {
        CHECK_HIP(hipEventRecord(marks[compute_end]));
    }
    // After the last phase and before the check, which no real run has.
    void end()
    {
        CHECK_HIP(hipEventRecord(marks[finish]));
        CHECK_HIP(hipEventSynchronize(marks[finish]));
        peak = memory_in_use.most;
    }

    // Prints times, the most memory that was in use, and the verdict; main's result.
    __attribute__((format(printf, 3, 4))) int report(bool right, const char *format, ...) const
    {
        std::printf("%s %s total %.9g ms compute %.9g ms memory %zu bytes\n", name,
                    unified ? "unified" : "explicit", between(marks[start], marks[finish]),
                    between(marks[compute_start], marks[compute_end]), peak);
        std::printf("%s  ", right ? "PASSED" : "FAILED");
        va_list list;
        va_start(list, format);
        std::vprintf(format, list);
        va_end(list);
        std::printf("\n");
        return right ? 0 : 1;
    }

  private:
    enum { start, compute_start, compute_end, finish };
    // Events on the null stream are the one clock that follows simulated time as well as the wall's.
    hipEvent_t marks[4];
    size_t peak = 0;

    static double between(hipEvent_t from, hipEvent_t to)
    {
        float ms;
        CHECK_HIP(hipEventElapsedTime(&ms, from, to));
        return static_cast<double>(ms);
    }
    static bool number(const char *text, unsigned *value)
    {
        char *end;
        unsigned long read = text ? std::strtoul(text, &end, 10) : 0;
        if (!text || end == text || *end || *text == '-' || read == 0 || read > 0x7fffffff)
            return false;
        *value = static_cast<unsigned>(read);
        return true;
    }
    [[noreturn]] void usage(const char *what_size, const char *what_steps) const
    {
        std::fprintf(stderr,
                     "usage: %s [--explicit|--unified] [--size N] [--seed N]%s\n  --size N   %s (%u)\n", name,
                     what_steps ? " [--steps N]" : "", what_size, size);
        if (what_steps)
            std::fprintf(stderr, "  --steps N  %s (%u)\n", what_steps, steps);
        std::exit(2);
    }
};

template <typename T> T *host_alloc(size_t count)
{
    return static_cast<T *>(counted_malloc(count * sizeof(T)));
}

inline void host_free(void *p)
{
    counted_free(p);
}

// Of the GPU's copy in the explicit model; in the unified one of the only one.
template <typename T> T *gpu_alloc(size_t count)
{
    void *p;
    CHECK_HIP(hipMalloc(&p, count * sizeof(T)));
    memory_in_use.add(count * sizeof(T));
    return static_cast<T *>(p);
}

inline void gpu_free(void *p)
{
    size_t bytes;
    CHECK_HIP(hipMemPtrGetInfo(p, &bytes));
    memory_in_use.now -= bytes;
    CHECK_HIP(hipFree(p));
}

template <typename T> void copy_to_gpu(T *to, const T *from, size_t count)
{
    CHECK_HIP(hipMemcpy(to, from, count * sizeof(T), hipMemcpyHostToDevice));
}

template <typename T> void copy_to_cpu(T *to, const T *from, size_t count)
{
    CHECK_HIP(hipMemcpy(to, from, count * sizeof(T), hipMemcpyDeviceToHost));
}

inline unsigned blocks_of(size_t threads, unsigned block)
{
    return static_cast<unsigned>((threads + block - 1) / block);
}
