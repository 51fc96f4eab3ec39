/* SPDX-License-Identifier: MIT */
/* A program that was linked to a library of ROCm 7 wants its calls in the nodes they have there. */
#include <hip/hip_runtime_api.h>
#include <stddef.h>

#ifdef LIKE_ROCM_7 /* what it was linked to */

#pragma GCC visibility push(default)

hipError_t hipMalloc(void **ptr, size_t size)
{
    (void)ptr, (void)size;
    return hipErrorUnknown;
}

hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width,
                          size_t height)
{
    (void)dst, (void)dstPitch, (void)value, (void)width, (void)height;
    return hipErrorUnknown;
}

hipError_t hipMemGetHandleForAddressRange(void *handle, hipDeviceptr_t dptr, size_t size,
                                          hipMemRangeHandleType handleType, unsigned long long flags)
{
    (void)handle, (void)dptr, (void)size, (void)handleType, (void)flags;
    return hipErrorUnknown;
}

#pragma GCC visibility pop

#else

int main(void)
{
    unsigned *p;
    int fd;

    if (hipMalloc((void **)&p, 64) != hipSuccess || hipMemsetD2D32(p, 32, 5, 2, 2) != hipSuccess)
        return 1;
    return p[9] != 5 || hipMemGetHandleForAddressRange(&fd, p, 64, hipMemRangeHandleTypeDmaBufFd, 0) !=
                            hipErrorNotSupported;
}

#endif
