// SPDX-License-Identifier: MIT
// What the applications share: arguments, the clock, checked calls, and the verdict.
//
// Each program holds both of its variants; `--unified` chooses.  Kernels and input are the same, so that what
// differs between the two host functions is what porting to unified memory is.
#pragma once

#include "../examples/check.h"

#include <hip/ehp_host.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <malloc.h>
#include <new>
#include <vector>

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

// Containers count too; what libraries allocate with `new`, such as a compiler of the GPU's code, does not.
template <typename T> struct counted {
    using value_type = T;
    counted() = default;
    template <typename U> counted(const counted<U> &)
    {
    }
    T *allocate(size_t count)
    {
        return static_cast<T *>(counted_malloc(count * sizeof(T)));
    }
    void deallocate(T *p, size_t)
    {
        counted_free(p);
    }
    bool operator==(const counted &) const
    {
        return true;
    }
    bool operator!=(const counted &) const
    {
        return false;
    }
};
template <typename T> using vector = std::vector<T, counted<T>>;

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
    // After the last phase and its frees, and before the check, which no real run has.
    void end()
    {
        CHECK_HIP(hipEventRecord(marks[finish]));
        CHECK_HIP(hipEventSynchronize(marks[finish]));
        ehp_host_untimed(true);
        peak = memory_in_use.most;
    }

    // Prints times and the most memory that was in use, before the verdict.
    void print_times() const
    {
        std::printf("%s %s total %.9g ms compute %.9g ms memory %zu bytes\n", name,
                    unified ? "unified" : "explicit", between(marks[start], marks[finish]),
                    between(marks[compute_start], marks[compute_end]), peak);
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

// What no real run does, as making the input: it takes no simulated time.
class untimed
{
  public:
    untimed()
    {
        ehp_host_untimed(true);
    }
    untimed(const untimed &) = delete;
    ~untimed()
    {
        ehp_host_untimed(false);
    }
};

// What the check is to see of memory that the program frees before its end.  No real run does this: it is not
// counted as the program's memory.
template <typename T> class kept
{
    T *copy_;

  public:
    kept(const T *from, size_t count) : copy_(static_cast<T *>(std::malloc(count * sizeof(T))))
    {
        if (!copy_)
            throw std::bad_alloc();
        const untimed copying;
        std::memcpy(copy_, from, count * sizeof(T));
    }
    kept(const kept &) = delete;
    ~kept()
    {
        std::free(copy_);
    }
    const T *data() const
    {
        return copy_;
    }
};

template <typename T> void copy_to_gpu(T *to, const T *from, size_t count)
{
    CHECK_HIP(hipMemcpy(to, from, count * sizeof(T), hipMemcpyHostToDevice));
}

template <typename T> void copy_to_cpu(T *to, const T *from, size_t count)
{
    CHECK_HIP(hipMemcpy(to, from, count * sizeof(T), hipMemcpyDeviceToHost));
}

// ---- files
// -------------------------------------------------------------------------------------------------------

// The kernel copies between its cache of the file and this memory; the former is as large.  The program's own
// loops are on a core as they are (--time-host); this is nobody's code here, and is said.
inline void kernel_copies(const void *memory, size_t bytes)
{
    ehp_cpu_work work = {};
    work.size = sizeof work;
    work.operation = EHP_CPU_STREAM;
    work.cores = work.passes = 1;
    work.ranges = 2;
    work.base[0] = work.base[1] = const_cast<void *>(memory);
    work.bytes[0] = work.bytes[1] = bytes;
    const int status = ehp_host_run(&work);
    if (status != EHP_OK && status != EHP_ERR_UNSUPPORTED) {
        std::fprintf(stderr, "kernel_copies: status %d\n", status);
        std::exit(1);
    }
}

// A file that is gone with the program.
inline FILE *temporary_file()
{
    FILE *file = std::tmpfile();
    if (!file) {
        std::perror("temporary file");
        std::exit(1);
    }
    return file;
}

inline void read_file(FILE *file, void *to, size_t bytes)
{
    kernel_copies(to, bytes);
    if (std::fread(to, 1, bytes, file) != bytes) {
        std::fprintf(stderr, "the file is too short\n");
        std::exit(1);
    }
}

inline void write_file(FILE *file, const void *from, size_t bytes)
{
    kernel_copies(from, bytes);
    if (std::fwrite(from, 1, bytes, file) != bytes || std::fflush(file)) {
        std::perror("the file");
        std::exit(1);
    }
}

inline unsigned blocks_of(size_t threads, unsigned block)
{
    return static_cast<unsigned>((threads + block - 1) / block);
}
