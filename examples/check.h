// SPDX-License-Identifier: MIT
// What the examples share: stop at the first HIP error, and one line that says how it went.
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <hip/hip_runtime.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#define CHECK_HIP(call)                                                                                      \
    do {                                                                                                     \
        hipError_t check_error_ = (call);                                                                    \
        if (check_error_ != hipSuccess) {                                                                    \
            std::printf("FAILED  %s:%d: %s: %s\n", __FILE__, __LINE__, #call,                                \
                        hipGetErrorString(check_error_));                                                    \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

// Prints the verdict and what was done; the program's exit code.
__attribute__((format(printf, 2, 3))) static inline int report(bool right, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    std::printf("%s  ", right ? "PASSED" : "FAILED");
    std::vprintf(format, list);
    std::printf("\n");
    va_end(list);
    return right ? 0 : 1;
}

// A small generator so that every run sees the same numbers.
struct random_numbers {
    unsigned state;
    unsigned next()
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

#endif
