/* SPDX-License-Identifier: MIT */
/* Error names and strings, and the last error of a thread. */
#include "hip/core/runtime.h"

static const char *error_name(hipError_t error)
{
    switch (error) {
#define ERROR(name, text)                                                                                    \
    case name:                                                                                               \
        return #name;
#include "hip/core/errors.def"
#undef ERROR
    default:
        return NULL;
    }
}

static const char *error_string(hipError_t error)
{
    switch (error) {
#define ERROR(name, text)                                                                                    \
    case name:                                                                                               \
        return text;
#include "hip/core/errors.def"
#undef ERROR
    default:
        return NULL;
    }
}

HIP_ENTRY const char *hipGetErrorName(hipError_t hip_error)
{
    const char *name = error_name(hip_error);
    return name ? name : "hipErrorUnknown";
}

HIP_ENTRY const char *hipGetErrorString(hipError_t hipError)
{
    const char *text = error_string(hipError);
    return text ? text : "unknown error";
}

HIP_ENTRY hipError_t hipDrvGetErrorName(hipError_t hipError, const char **errorString)
{
    if (!errorString)
        return hip_return(hipErrorInvalidValue);
    *errorString = error_name(hipError);
    return hip_return(*errorString ? hipSuccess : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipDrvGetErrorString(hipError_t hipError, const char **errorString)
{
    if (!errorString)
        return hip_return(hipErrorInvalidValue);
    *errorString = error_string(hipError);
    return hip_return(*errorString ? hipSuccess : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGetLastError(void)
{
    struct hip_thread *thread = hip_thread();
    hipError_t error = thread->last_error;

    thread->last_error = hipSuccess;
    return error;
}

HIP_ENTRY hipError_t hipPeekAtLastError(void)
{
    return hip_thread()->last_error;
}

HIP_ENTRY hipError_t hipExtGetLastError(void)
{
    struct hip_thread *thread = hip_thread();
    hipError_t error = thread->last_result;

    thread->last_result = hipSuccess;
    return error;
}
