/* SPDX-License-Identifier: MIT */
/* CHECK_HIP(call, error): the call returns this error; OK(call): it succeeds. */
#ifndef TESTS_HIP_CHECK_H
#define TESTS_HIP_CHECK_H

#include <hip/hip_runtime_api.h>

#include "../check.h"

static inline bool check_hip(hipError_t have, hipError_t want, const char *file, int line, const char *text)
{
    if (have != want)
        fprintf(stderr, "%s:%d: %s, not %s\n", file, line, hipGetErrorName(have), hipGetErrorName(want));
    return check_that(have == want, file, line, text);
}

#define CHECK_HIP(call, error) check_hip(call, error, __FILE__, __LINE__, #call " is " #error)
#define OK(call)               CHECK_HIP(call, hipSuccess)

#endif
