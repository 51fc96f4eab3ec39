/* SPDX-License-Identifier: MIT */
/* The copies that name an array on one side or both. */
#include <string.h>

#include "hip/memory/array.h"
#include "hip/memory/copy.h"
#include "hip/core/size.h"

struct array_side {
    struct hipArray *array;
    size_t x, y; /* bytes, rows */
};

static bool array_side(hipArray_const_t array, size_t x, size_t y, struct array_side *side)
{
    if (!hip_array_ok(array))
        return false;
    *side = (struct array_side){(struct hipArray *)(uintptr_t)array, x, y};
    return true;
}

static unsigned char *array_at(const struct array_side *side)
{
    return side->array->data + side->y * side->array->pitch + side->x;
}

static bool array_fits(const struct array_side *side, size_t width, size_t height)
{
    const struct hipArray *array = side->array;
    size_t rows = (array->height ? array->height : 1) * (array->depth ? array->depth : 1);

    return side->x <= array->pitch && width <= array->pitch - side->x && side->y <= rows &&
           height <= rows - side->y;
}

/* A run of bytes may go on from row to row: rows are packed. */
static bool array_holds(const struct array_side *side, size_t bytes)
{
    const struct hipArray *array = side->array;
    size_t all = array->slice * (array->depth ? array->depth : 1),
           at = size_add(size_mul(side->y, array->pitch), side->x);

    return at <= all && bytes <= all - at;
}

/* ---- rectangles ---------------------------------------------------------------------------------------- */

static hipError_t array_rows_in(hipArray_t dst, size_t x, size_t y, const void *src, size_t pitch,
                                size_t width, size_t height, hipMemcpyKind kind, struct hip_copy_call call)
{
    struct array_side side;

    if (!array_side(dst, x, y, &side))
        return hipErrorInvalidValue;
    if (!hip_copy_kind_ok(kind))
        return hipErrorInvalidMemcpyDirection;
    if (!width || !height)
        return hip_open();
    if (!src)
        return hipErrorInvalidValue;
    if (pitch < width)
        return hipErrorInvalidPitchValue;
    if (!array_fits(&side, width, height))
        return hipErrorInvalidValue;
    const struct ehp_copy_3d copy = {array_at(&side),         src,   dst->pitch, dst->slice, pitch,
                                     size_mul(pitch, height), width, height,     1};
    return hip_copy_box(&copy, hipMemcpyDefault, call);
}

static hipError_t array_rows_out(void *dst, size_t pitch, hipArray_const_t src, size_t x, size_t y,
                                 size_t width, size_t height, hipMemcpyKind kind, struct hip_copy_call call)
{
    struct array_side side;

    if (!array_side(src, x, y, &side))
        return hipErrorInvalidValue;
    if (!hip_copy_kind_ok(kind))
        return hipErrorInvalidMemcpyDirection;
    if (!width || !height)
        return hip_open();
    if (!dst)
        return hipErrorInvalidValue;
    if (pitch < width)
        return hipErrorInvalidPitchValue;
    if (!array_fits(&side, width, height))
        return hipErrorInvalidValue;
    const struct ehp_copy_3d copy = {
        dst, array_at(&side), pitch, size_mul(pitch, height), src->pitch, src->slice, width, height, 1};
    return hip_copy_box(&copy, hipMemcpyDefault, call);
}

HIP_ENTRY hipError_t hipMemcpy2DToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                        size_t spitch, size_t width, size_t height, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {NULL, false};
    return hip_return(array_rows_in(dst, wOffset, hOffset, src, spitch, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DToArray_spt(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                            size_t spitch, size_t width, size_t height, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {hipStreamPerThread, false};
    return hip_return(array_rows_in(dst, wOffset, hOffset, src, spitch, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DToArrayAsync(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                             size_t spitch, size_t width, size_t height, hipMemcpyKind kind,
                                             hipStream_t stream)
{
    const struct hip_copy_call call = {stream, true};
    return hip_return(array_rows_in(dst, wOffset, hOffset, src, spitch, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DToArrayAsync_spt(hipArray_t dst, size_t wOffset, size_t hOffset,
                                                 const void *src, size_t spitch, size_t width, size_t height,
                                                 hipMemcpyKind kind, hipStream_t stream)
{
    const struct hip_copy_call call = {hipStreamPerThread, true};
    return hip_return(array_rows_in(dst, wOffset, hOffset, src, spitch, width, height, kind,
                                    stream ? (struct hip_copy_call){stream, true} : call));
}

HIP_ENTRY hipError_t hipMemcpy2DFromArray(void *dst, size_t dpitch, hipArray_const_t src, size_t wOffset,
                                          size_t hOffset, size_t width, size_t height, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {NULL, false};
    return hip_return(array_rows_out(dst, dpitch, src, wOffset, hOffset, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DFromArray_spt(void *dst, size_t dpitch, hipArray_const_t src, size_t wOffset,
                                              size_t hOffset, size_t width, size_t height, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {hipStreamPerThread, false};
    return hip_return(array_rows_out(dst, dpitch, src, wOffset, hOffset, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DFromArrayAsync(void *dst, size_t dpitch, hipArray_const_t src, size_t wOffset,
                                               size_t hOffset, size_t width, size_t height,
                                               hipMemcpyKind kind, hipStream_t stream)
{
    const struct hip_copy_call call = {stream, true};
    return hip_return(array_rows_out(dst, dpitch, src, wOffset, hOffset, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DFromArrayAsync_spt(void *dst, size_t dpitch, hipArray_const_t src,
                                                   size_t wOffsetSrc, size_t hOffsetSrc, size_t width,
                                                   size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    const struct hip_copy_call call = {stream ? stream : hipStreamPerThread, true};
    return hip_return(array_rows_out(dst, dpitch, src, wOffsetSrc, hOffsetSrc, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DArrayToArray(hipArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                             hipArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                             size_t width, size_t height, hipMemcpyKind kind)
{
    struct array_side side;

    if (!array_side(src, wOffsetSrc, hOffsetSrc, &side) || !array_fits(&side, width, height))
        return hip_return(hipErrorInvalidValue);
    const struct hip_copy_call call = {NULL, false};
    return hip_return(
        array_rows_in(dst, wOffsetDst, hOffsetDst, array_at(&side), src->pitch, width, height, kind, call));
}

/* ---- runs of bytes ------------------------------------------------------------------------------------- */

static hipError_t array_run_in(hipArray_t dst, size_t x, size_t y, const void *src, size_t bytes,
                               struct hip_copy_call call)
{
    struct array_side side;

    if (!array_side(dst, x, y, &side) || !array_holds(&side, bytes))
        return hipErrorInvalidValue;
    return hip_copy_linear(array_at(&side), src, bytes, hipMemcpyDefault, call);
}

static hipError_t array_run_out(void *dst, hipArray_const_t src, size_t x, size_t y, size_t bytes,
                                struct hip_copy_call call)
{
    struct array_side side;

    if (!array_side(src, x, y, &side) || !array_holds(&side, bytes))
        return hipErrorInvalidValue;
    return hip_copy_linear(dst, array_at(&side), bytes, hipMemcpyDefault, call);
}

HIP_ENTRY hipError_t hipMemcpyToArray(hipArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                      size_t count, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {NULL, false};
    if (!hip_copy_kind_ok(kind))
        return hip_return(hipErrorInvalidMemcpyDirection);
    return hip_return(array_run_in(dst, wOffset, hOffset, src, count, call));
}

HIP_ENTRY hipError_t hipMemcpyFromArray(void *dst, hipArray_const_t srcArray, size_t wOffset, size_t hOffset,
                                        size_t count, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {NULL, false};
    if (!hip_copy_kind_ok(kind))
        return hip_return(hipErrorInvalidMemcpyDirection);
    return hip_return(array_run_out(dst, srcArray, wOffset, hOffset, count, call));
}

HIP_ENTRY hipError_t hipMemcpyFromArray_spt(void *dst, hipArray_const_t src, size_t wOffsetSrc,
                                            size_t hOffset, size_t count, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {hipStreamPerThread, false};
    if (!hip_copy_kind_ok(kind))
        return hip_return(hipErrorInvalidMemcpyDirection);
    return hip_return(array_run_out(dst, src, wOffsetSrc, hOffset, count, call));
}

HIP_ENTRY hipError_t hipMemcpyAtoH(void *dst, hipArray_t srcArray, size_t srcOffset, size_t count)
{
    return hip_return(array_run_out(dst, srcArray, srcOffset, 0, count, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipMemcpyHtoA(hipArray_t dstArray, size_t dstOffset, const void *srcHost, size_t count)
{
    return hip_return(
        array_run_in(dstArray, dstOffset, 0, srcHost, count, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipMemcpyAtoHAsync(void *dstHost, hipArray_t srcArray, size_t srcOffset,
                                        size_t ByteCount, hipStream_t stream)
{
    return hip_return(
        array_run_out(dstHost, srcArray, srcOffset, 0, ByteCount, (struct hip_copy_call){stream, true}));
}

HIP_ENTRY hipError_t hipMemcpyHtoAAsync(hipArray_t dstArray, size_t dstOffset, const void *srcHost,
                                        size_t ByteCount, hipStream_t stream)
{
    return hip_return(
        array_run_in(dstArray, dstOffset, 0, srcHost, ByteCount, (struct hip_copy_call){stream, true}));
}

HIP_ENTRY hipError_t hipMemcpyAtoD(hipDeviceptr_t dstDevice, hipArray_t srcArray, size_t srcOffset,
                                   size_t ByteCount)
{
    return hip_return(
        array_run_out(dstDevice, srcArray, srcOffset, 0, ByteCount, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipMemcpyDtoA(hipArray_t dstArray, size_t dstOffset, hipDeviceptr_t srcDevice,
                                   size_t ByteCount)
{
    return hip_return(
        array_run_in(dstArray, dstOffset, 0, srcDevice, ByteCount, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipMemcpyAtoA(hipArray_t dstArray, size_t dstOffset, hipArray_t srcArray,
                                   size_t srcOffset, size_t ByteCount)
{
    struct array_side side;

    if (!array_side(srcArray, srcOffset, 0, &side) || !array_holds(&side, ByteCount))
        return hip_return(hipErrorInvalidValue);
    return hip_return(array_run_in(dstArray, dstOffset, 0, array_at(&side), ByteCount,
                                   (struct hip_copy_call){NULL, false}));
}
