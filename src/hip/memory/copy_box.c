/* SPDX-License-Identifier: MIT */
/* Copies of rows and slices, between pitched memory and arrays. */
#include <limits.h>
#include <string.h>

#include "hip/observe/advise.h"
#include "hip/memory/array.h"
#include "hip/memory/blit.h"
#include "hip/memory/copy.h"
#include "hip/graph/graph.h"
#include "hip/core/size.h"
#include "hip/stream/stream.h"

#define BOX_PITCH_MAX ((size_t)INT_MAX) /* hipDeviceProp_t.memPitch */

/* Bytes from the first to behind the last byte of a box on one side. */
static uint64_t box_extent(uint64_t pitch, uint64_t slice, const struct ehp_copy_3d *copy)
{
    return size_add(size_add(size_mul(pitch, copy->height - 1), size_mul(slice, copy->depth - 1)),
                    copy->width);
}

hipError_t hip_copy_check_3d(const struct ehp_copy_3d *copy, hipMemcpyKind kind)
{
    size_t left;

    if (!hip_copy_kind_ok(kind))
        return hipErrorInvalidMemcpyDirection;
    if (!copy->width || !copy->height || !copy->depth)
        return hipSuccess;
    if (!copy->dst || !copy->src)
        return hipErrorInvalidValue;
    const uint64_t dst_bytes = box_extent(copy->dst_pitch, copy->dst_slice, copy),
                   src_bytes = box_extent(copy->src_pitch, copy->src_slice, copy);
    if (dst_bytes > UINT64_MAX - (uintptr_t)copy->dst || src_bytes > UINT64_MAX - (uintptr_t)copy->src)
        return hipErrorInvalidValue;
    bool to = hip_memory_reached(copy->dst, &left);
    if ((to && dst_bytes > left) || !hip_memory_writable(copy->dst, dst_bytes))
        return hipErrorInvalidValue;
    bool from = hip_memory_reached(copy->src, &left);
    if (from && src_bytes > left)
        return hipErrorInvalidValue;
    if ((!to && hip_memory_gone(copy->dst)) || (!from && hip_memory_gone(copy->src)))
        return hipErrorInvalidValue;
    if (!to && !from && kind != hipMemcpyHostToHost && kind != hipMemcpyDefault)
        return hipErrorInvalidValue;
    return hipSuccess;
}

static void box_advise(const struct ehp_copy_3d *copy, bool async)
{
    hip_advise_copy(copy->dst, box_extent(copy->dst_pitch, copy->dst_slice, copy), copy->src,
                    box_extent(copy->src_pitch, copy->src_slice, copy),
                    copy->width * copy->height * copy->depth, async);
}

hipError_t hip_copy_box(const struct ehp_copy_3d *copy, hipMemcpyKind kind, struct hip_copy_call call)
{
    struct ihipStream_t *stream;
    size_t left;
    hipError_t error = hip_open();

    if (error == hipSuccess)
        error = hip_stream_of(call.stream, &stream);
    if (error == hipSuccess && !call.async)
        error = hip_capture_refuses(stream);
    if (error == hipSuccess)
        error = hip_copy_check_3d(copy, kind);
    if (error != hipSuccess || !copy->width || !copy->height || !copy->depth)
        return error;
    if (hip_runtime()->advise)
        box_advise(copy, call.async);
    struct hip_op op = {.kind = HIP_OP_COPY_3D, .copy_3d = *copy};
    if (!call.async)
        return hip_copy_sync(stream, &op);
    if (stream->capture)
        return hip_capture_op(stream, &op, NULL);
    error = hip_capture_implicit(stream);
    if (error != hipSuccess)
        return error;
    /* Pageable memory: the call returns when the copy is done. */
    const bool waits = !hip_memory_known(copy->dst, &left) || !hip_memory_known(copy->src, &left);
    struct hip_blit_pins pins;
    hip_blit_pin(&op, &pins);
    error = hip_stream_submit(stream, &op);
    if (error == hipSuccess && waits)
        error = hip_stream_wait(stream);
    hip_blit_unpin(&pins);
    return error;
}

/* ---- pitched memory ------------------------------------------------------------------------------------ */

static hipError_t box_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                         size_t height, hipMemcpyKind kind, struct hip_copy_call call)
{
    struct ehp_copy_3d copy = {
        dst, src, dpitch, size_mul(dpitch, height), spitch, size_mul(spitch, height), width, height, 1};

    if (!width || !height)
        return hip_copy_box(&copy, kind, call);
    if (!dst || !src)
        return hipErrorInvalidValue;
    if (width > dpitch || width > spitch)
        return hipErrorInvalidPitchValue;
    if (dpitch > BOX_PITCH_MAX || spitch > BOX_PITCH_MAX)
        return hipErrorInvalidValue;
    return hip_copy_box(&copy, kind, call);
}

HIP_ENTRY hipError_t hipMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                                 size_t height, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {NULL, false};
    return hip_return(box_2d(dst, dpitch, src, spitch, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2D_spt(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                                     size_t height, hipMemcpyKind kind)
{
    const struct hip_copy_call call = {hipStreamPerThread, false};
    return hip_return(box_2d(dst, dpitch, src, spitch, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                                      size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    const struct hip_copy_call call = {stream, true};
    return hip_return(box_2d(dst, dpitch, src, spitch, width, height, kind, call));
}

HIP_ENTRY hipError_t hipMemcpy2DAsync_spt(void *dst, size_t dpitch, const void *src, size_t spitch,
                                          size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream)
{
    const struct hip_copy_call call = {hip_stream_spt(stream), true};
    return hip_return(box_2d(dst, dpitch, src, spitch, width, height, kind, call));
}

/* ---- hipMemcpy3D --------------------------------------------------------------------------------------- */

struct box_side {
    unsigned char *base;
    uint64_t pitch, slice;
};

static bool box_array_side(const struct hipArray *array, size_t x_bytes, size_t y, size_t z,
                           const struct ehp_copy_3d *box, struct box_side *side)
{
    size_t rows = array->height ? array->height : 1, slices = array->depth ? array->depth : 1;

    if (x_bytes > array->pitch || box->width > array->pitch - x_bytes || y > rows || box->height > rows - y ||
        z > slices || box->depth > slices - z)
        return false;
    side->base = array->data + z * array->slice + y * array->pitch + x_bytes;
    side->pitch = array->pitch;
    side->slice = array->slice;
    return true;
}

static hipError_t box_params_side(hipArray_t array, struct hipPos pos, const hipPitchedPtr *ptr,
                                  const struct ehp_copy_3d *box, struct box_side *side)
{
    if (array) {
        if (!hip_array_ok(array))
            return hipErrorInvalidValue;
        return box_array_side(array, size_mul(pos.x, array->element), pos.y, pos.z, box, side)
                   ? hipSuccess
                   : hipErrorInvalidValue;
    }
    if (!ptr->ptr)
        return hipErrorInvalidValue;
    if (box->height > 1 || box->depth > 1)
        if (ptr->pitch < box->width)
            return hipErrorInvalidPitchValue;
    if (ptr->pitch > BOX_PITCH_MAX || pos.x > ptr->pitch || box->width > ptr->pitch - pos.x ||
        (ptr->ysize && (pos.y > ptr->ysize || box->height > ptr->ysize - pos.y)))
        return hipErrorInvalidValue;
    size_t rows = ptr->ysize ? ptr->ysize : box->height;
    side->pitch = ptr->pitch;
    side->slice = size_mul(ptr->pitch, rows);
    side->base = ptr->ptr;
    return size_advance(&side->base, pos.z, side->slice, pos.y, side->pitch, pos.x) ? hipSuccess
                                                                                    : hipErrorInvalidValue;
}

hipError_t hip_copy_from_params(const hipMemcpy3DParms *p, struct ehp_copy_3d *copy)
{
    struct box_side dst, src;
    size_t element = 1;

    if ((p->dstArray && p->dstPtr.ptr) || (p->srcArray && p->srcPtr.ptr))
        return hipErrorInvalidValue;
    if ((p->dstArray && !hip_array_ok(p->dstArray)) || (p->srcArray && !hip_array_ok(p->srcArray)))
        return hipErrorInvalidValue;
    /* With an array on either side the width counts its elements, else bytes. */
    if (p->srcArray)
        element = p->srcArray->element;
    else if (p->dstArray)
        element = p->dstArray->element;
    memset(copy, 0, sizeof *copy);
    copy->width = size_mul(p->extent.width, element);
    copy->height = p->extent.height;
    copy->depth = p->extent.depth;
    hipError_t error = box_params_side(p->dstArray, p->dstPos, &p->dstPtr, copy, &dst);
    if (error == hipSuccess)
        error = box_params_side(p->srcArray, p->srcPos, &p->srcPtr, copy, &src);
    if (error != hipSuccess)
        return error;
    copy->dst = dst.base;
    copy->dst_pitch = dst.pitch;
    copy->dst_slice = dst.slice;
    copy->src = src.base;
    copy->src_pitch = src.pitch;
    copy->src_slice = src.slice;
    return hipSuccess;
}

hipError_t hip_copy_params(const hipMemcpy3DParms *p, struct hip_copy_call call)
{
    struct ehp_copy_3d copy;

    if (!p)
        return hipErrorInvalidValue;
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return error;
    if (!p->extent.width || !p->extent.height || !p->extent.depth)
        return hip_copy_kind_ok(p->kind) ? hipSuccess : hipErrorInvalidMemcpyDirection;
    error = hip_copy_from_params(p, &copy);
    return error == hipSuccess ? hip_copy_box(&copy, p->kind, call) : error;
}

HIP_ENTRY hipError_t hipMemcpy3D(const struct hipMemcpy3DParms *p)
{
    return hip_return(hip_copy_params(p, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipMemcpy3D_spt(const struct hipMemcpy3DParms *p)
{
    return hip_return(hip_copy_params(p, (struct hip_copy_call){hipStreamPerThread, false}));
}

HIP_ENTRY hipError_t hipMemcpy3DAsync(const struct hipMemcpy3DParms *p, hipStream_t stream)
{
    return hip_return(hip_copy_params(p, (struct hip_copy_call){stream, true}));
}

HIP_ENTRY hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms *p, hipStream_t stream)
{
    return hip_return(hip_copy_params(p, (struct hip_copy_call){hip_stream_spt(stream), true}));
}

/* ---- the driver interface's descriptions --------------------------------------------------------------- */

struct box_drv_side {
    hipMemoryType type;
    const void *host;
    const void *device;
    hipArray_t array;
    size_t x, y, z, pitch, height;
};

static hipError_t box_drv_side(const struct box_drv_side *d, const struct ehp_copy_3d *box,
                               struct box_side *side, bool *device)
{
    const void *base = d->type == hipMemoryTypeHost ? d->host : d->device;

    *device = d->type != hipMemoryTypeHost;
    switch ((int)d->type) {
    case hipMemoryTypeArray:
        if (!hip_array_ok(d->array))
            return hipErrorInvalidValue;
        return box_array_side(d->array, d->x, d->y, d->z, box, side) ? hipSuccess : hipErrorInvalidValue;
    case hipMemoryTypeHost:
    case hipMemoryTypeDevice:
    case hipMemoryTypeUnified:
    case hipMemoryTypeManaged:
        break;
    default:
        return hipErrorInvalidValue;
    }
    if (!base)
        return hipErrorInvalidValue;
    size_t pitch = d->pitch ? d->pitch : size_add(d->x, box->width),
           rows = d->height ? d->height : size_add(d->y, box->height);
    if (pitch < box->width)
        return hipErrorInvalidPitchValue;
    if (pitch > BOX_PITCH_MAX || d->x > pitch - box->width)
        return hipErrorInvalidValue;
    side->pitch = pitch;
    side->slice = size_mul(pitch, rows);
    side->base = (unsigned char *)(uintptr_t)base;
    return size_advance(&side->base, d->z, side->slice, d->y, pitch, d->x) ? hipSuccess
                                                                           : hipErrorInvalidValue;
}

hipError_t hip_copy_from_drv(const HIP_MEMCPY3D *p, struct ehp_copy_3d *copy, hipMemcpyKind *kind)
{
    const struct box_drv_side from = {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes,
                                      p->srcY,          p->srcZ,    p->srcPitch,  p->srcHeight};
    const struct box_drv_side to = {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes,
                                    p->dstY,          p->dstZ,    p->dstPitch,  p->dstHeight};
    struct box_side dst = {0}, src = {0};
    bool to_device, from_device;

    memset(copy, 0, sizeof *copy);
    *kind = hipMemcpyDefault;
    copy->width = p->WidthInBytes;
    copy->height = p->Height;
    copy->depth = p->Depth;
    if (!copy->width || !copy->height || !copy->depth)
        return hipSuccess;
    hipError_t error = box_drv_side(&from, copy, &src, &from_device);
    if (error == hipSuccess)
        error = box_drv_side(&to, copy, &dst, &to_device);
    copy->dst = dst.base;
    copy->dst_pitch = dst.pitch;
    copy->dst_slice = dst.slice;
    copy->src = src.base;
    copy->src_pitch = src.pitch;
    copy->src_slice = src.slice;
    return error;
}

hipError_t hip_copy_from_drv_2d(const hip_Memcpy2D *p, HIP_MEMCPY3D *out)
{
    *out = (HIP_MEMCPY3D){
        .srcXInBytes = p->srcXInBytes,
        .srcY = p->srcY,
        .srcMemoryType = p->srcMemoryType,
        .srcHost = p->srcHost,
        .srcDevice = p->srcDevice,
        .srcArray = p->srcArray,
        .srcPitch = p->srcPitch,
        .dstXInBytes = p->dstXInBytes,
        .dstY = p->dstY,
        .dstMemoryType = p->dstMemoryType,
        .dstHost = p->dstHost,
        .dstDevice = p->dstDevice,
        .dstArray = p->dstArray,
        .dstPitch = p->dstPitch,
        .WidthInBytes = p->WidthInBytes,
        .Height = p->Height,
        .Depth = 1,
    };
    return hipSuccess;
}

static hipError_t box_drv(const HIP_MEMCPY3D *p, struct hip_copy_call call)
{
    struct ehp_copy_3d copy;
    hipMemcpyKind kind;

    if (!p)
        return hipErrorInvalidValue;
    hipError_t error = hip_open();
    if (error == hipSuccess)
        error = hip_copy_from_drv(p, &copy, &kind);
    return error == hipSuccess ? hip_copy_box(&copy, kind, call) : error;
}

static hipError_t box_drv_2d(const hip_Memcpy2D *p, struct hip_copy_call call)
{
    HIP_MEMCPY3D box;

    if (!p)
        return hipErrorInvalidValue;
    hip_copy_from_drv_2d(p, &box);
    return box_drv(&box, call);
}

HIP_ENTRY hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D *pCopy)
{
    return hip_return(box_drv(pCopy, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D *pCopy, hipStream_t stream)
{
    return hip_return(box_drv(pCopy, (struct hip_copy_call){stream, true}));
}

HIP_ENTRY hipError_t hipMemcpyParam2D(const hip_Memcpy2D *pCopy)
{
    return hip_return(box_drv_2d(pCopy, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D *pCopy, hipStream_t stream)
{
    return hip_return(box_drv_2d(pCopy, (struct hip_copy_call){stream, true}));
}

HIP_ENTRY hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D *pCopy)
{
    return hip_return(box_drv_2d(pCopy, (struct hip_copy_call){NULL, false}));
}
