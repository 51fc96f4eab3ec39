/* SPDX-License-Identifier: MIT */
/* hipMemset and its relatives: fills of 1, 2 or 4 bytes, linear or in rows. */
#include "hip/memory/copy.h"
#include "hip/graph/graph.h"
#include "hip/core/size.h"
#include "hip/stream/stream.h"

static hipError_t fill_check(const void *dst, size_t bytes)
{
    size_t left;

    if (!dst)
        return hipErrorInvalidValue;
    if (!hip_memory_reached(dst, &left) || bytes > left || !hip_memory_writable(dst, bytes))
        return hipErrorInvalidValue;
    return hipSuccess;
}

static hipError_t fill_linear(void *dst, uint64_t value, unsigned element, size_t count,
                              struct hip_copy_call call)
{
    struct ihipStream_t *stream;
    hipError_t error = hip_open();

    if (error == hipSuccess)
        error = hip_stream_of(call.stream, &stream);
    if (error == hipSuccess && !call.async)
        error = hip_capture_refuses(stream);
    if (error != hipSuccess)
        return error;
    if (!count)
        return hipSuccess;
    if ((uintptr_t)dst % element)
        return hipErrorInvalidValue;
    error = fill_check(dst, size_mul(count, element));
    if (error != hipSuccess)
        return error;
    struct hip_op op = {.kind = HIP_OP_FILL, .fill = {dst, value, element, count}};
    return call.async ? hip_stream_op(call.stream, &op) : hip_copy_sync(stream, &op);
}

static hipError_t fill_box(const struct ehp_fill_3d *fill, struct hip_copy_call call)
{
    struct ihipStream_t *stream;
    hipError_t error = hip_open();

    if (error == hipSuccess)
        error = hip_stream_of(call.stream, &stream);
    if (error == hipSuccess && !call.async)
        error = hip_capture_refuses(stream);
    if (error != hipSuccess)
        return error;
    if (!fill->width || !fill->height || !fill->depth)
        return hipSuccess;
    const uint64_t row = size_mul(fill->width, fill->element), rows = size_mul(fill->height - 1, fill->pitch),
                   slices = size_mul(fill->depth - 1, fill->slice);
    if (fill->pitch < row)
        return hipErrorInvalidValue;
    error = fill_check(fill->dst, size_add(size_add(slices, rows), row));
    if (error != hipSuccess)
        return error;
    struct hip_op op = {.kind = HIP_OP_FILL_3D, .fill_3d = *fill};
    return call.async ? hip_stream_op(call.stream, &op) : hip_copy_sync(stream, &op);
}

static struct hip_copy_call fill_when(hipStream_t stream)
{
    return (struct hip_copy_call){stream, true};
}

static struct hip_copy_call fill_at_once(hipStream_t stream)
{
    return (struct hip_copy_call){stream, false};
}

HIP_ENTRY hipError_t hipMemset(void *dst, int value, size_t sizeBytes)
{
    return hip_return(fill_linear(dst, (uint8_t)value, 1, sizeBytes, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemset_spt(void *dst, int value, size_t sizeBytes)
{
    return hip_return(fill_linear(dst, (uint8_t)value, 1, sizeBytes, fill_at_once(hipStreamPerThread)));
}

HIP_ENTRY hipError_t hipMemsetAsync(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    return hip_return(fill_linear(dst, (uint8_t)value, 1, sizeBytes, fill_when(stream)));
}

HIP_ENTRY hipError_t hipMemsetAsync_spt(void *dst, int value, size_t sizeBytes, hipStream_t stream)
{
    return hip_return(fill_linear(dst, (uint8_t)value, 1, sizeBytes, fill_when(hip_stream_spt(stream))));
}

HIP_ENTRY hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count)
{
    return hip_return(fill_linear(dest, value, 1, count, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count,
                                      hipStream_t stream)
{
    return hip_return(fill_linear(dest, value, 1, count, fill_when(stream)));
}

HIP_ENTRY hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count)
{
    return hip_return(fill_linear(dest, value, 2, count, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count,
                                       hipStream_t stream)
{
    return hip_return(fill_linear(dest, value, 2, count, fill_when(stream)));
}

HIP_ENTRY hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count)
{
    return hip_return(fill_linear(dest, (uint32_t)value, 4, count, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream)
{
    return hip_return(fill_linear(dst, (uint32_t)value, 4, count, fill_when(stream)));
}

/* Rows of elements of 1, 2 or 4 bytes. */
static hipError_t fill_2d(hipDeviceptr_t dst, size_t pitch, uint32_t value, unsigned element, size_t width,
                          size_t height, struct hip_copy_call call)
{
    const struct ehp_fill_3d fill = {dst, pitch, size_mul(pitch, height), value, element, width, height, 1};

    if ((uintptr_t)dst % element || (height > 1 && pitch % element))
        return hipErrorInvalidValue;
    return fill_box(&fill, call);
}

HIP_ENTRY hipError_t hipMemsetD2D8(hipDeviceptr_t dst, size_t dstPitch, unsigned char value, size_t width,
                                   size_t height)
{
    return hip_return(fill_2d(dst, dstPitch, value, 1, width, height, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst, size_t dstPitch, unsigned char value,
                                        size_t width, size_t height, hipStream_t stream)
{
    return hip_return(fill_2d(dst, dstPitch, value, 1, width, height, fill_when(stream)));
}

HIP_ENTRY hipError_t hipMemsetD2D16(hipDeviceptr_t dst, size_t dstPitch, unsigned short value, size_t width,
                                    size_t height)
{
    return hip_return(fill_2d(dst, dstPitch, value, 2, width, height, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst, size_t dstPitch, unsigned short value,
                                         size_t width, size_t height, hipStream_t stream)
{
    return hip_return(fill_2d(dst, dstPitch, value, 2, width, height, fill_when(stream)));
}

HIP_ENTRY hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t dstPitch, unsigned int value, size_t width,
                                    size_t height)
{
    return hip_return(fill_2d(dst, dstPitch, value, 4, width, height, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst, size_t dstPitch, unsigned int value,
                                         size_t width, size_t height, hipStream_t stream)
{
    return hip_return(fill_2d(dst, dstPitch, value, 4, width, height, fill_when(stream)));
}

static struct ehp_fill_3d fill_rows(void *dst, size_t pitch, size_t slice, int value, size_t width,
                                    size_t height, size_t depth)
{
    return (struct ehp_fill_3d){dst, pitch, slice, (uint8_t)value, 1, width, height, depth};
}

HIP_ENTRY hipError_t hipMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    struct ehp_fill_3d fill = fill_rows(dst, pitch, size_mul(pitch, height), value, width, height, 1);
    return hip_return(fill_box(&fill, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemset2D_spt(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    struct ehp_fill_3d fill = fill_rows(dst, pitch, size_mul(pitch, height), value, width, height, 1);
    return hip_return(fill_box(&fill, fill_at_once(hipStreamPerThread)));
}

HIP_ENTRY hipError_t hipMemset2DAsync(void *dst, size_t pitch, int value, size_t width, size_t height,
                                      hipStream_t stream)
{
    struct ehp_fill_3d fill = fill_rows(dst, pitch, size_mul(pitch, height), value, width, height, 1);
    return hip_return(fill_box(&fill, fill_when(stream)));
}

HIP_ENTRY hipError_t hipMemset2DAsync_spt(void *dst, size_t pitch, int value, size_t width, size_t height,
                                          hipStream_t stream)
{
    return hipMemset2DAsync(dst, pitch, value, width, height, hip_stream_spt(stream));
}

static hipError_t fill_3d(hipPitchedPtr ptr, int value, hipExtent extent, struct hip_copy_call call)
{
    size_t rows = ptr.ysize ? ptr.ysize : extent.height;
    struct ehp_fill_3d fill = fill_rows(ptr.ptr, ptr.pitch, size_mul(ptr.pitch, rows), value, extent.width,
                                        extent.height, extent.depth);

    return fill_box(&fill, call);
}

HIP_ENTRY hipError_t hipMemset3D(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent)
{
    return hip_return(fill_3d(pitchedDevPtr, value, extent, fill_at_once(NULL)));
}

HIP_ENTRY hipError_t hipMemset3D_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent)
{
    return hip_return(fill_3d(pitchedDevPtr, value, extent, fill_at_once(hipStreamPerThread)));
}

HIP_ENTRY hipError_t hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent,
                                      hipStream_t stream)
{
    return hip_return(fill_3d(pitchedDevPtr, value, extent, fill_when(stream)));
}

HIP_ENTRY hipError_t hipMemset3DAsync_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent,
                                          hipStream_t stream)
{
    return hip_return(fill_3d(pitchedDevPtr, value, extent, fill_when(hip_stream_spt(stream))));
}

/* A graph's memset node. */
hipError_t hip_fill_from_params(const hipMemsetParams *p, struct hip_op *op)
{
    unsigned element = p->elementSize;

    if (!p->dst || (element != 1 && element != 2 && element != 4) || !p->width || !p->height)
        return hipErrorInvalidValue;
    const uint64_t row = size_mul(p->width, element);
    if (p->height > 1 && p->pitch < row)
        return hipErrorInvalidValue;
    hipError_t error = fill_check(p->dst, size_add(size_mul(p->height - 1, p->pitch), row));
    if (error != hipSuccess)
        return error;
    uint64_t mask = element == 4 ? UINT32_MAX : (UINT64_C(1) << (8 * element)) - 1;
    if (p->height == 1) {
        op->kind = HIP_OP_FILL;
        op->fill.dst = p->dst;
        op->fill.value = p->value & mask;
        op->fill.element = element;
        op->fill.count = p->width;
    } else {
        op->kind = HIP_OP_FILL_3D;
        op->fill_3d = (struct ehp_fill_3d){p->dst,          p->pitch, size_mul(p->pitch, p->height),
                                           p->value & mask, element,  p->width,
                                           p->height,       1};
    }
    return hipSuccess;
}
