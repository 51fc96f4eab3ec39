/* SPDX-License-Identifier: MIT */
/*
 * Linear copies.
 *
 * All memory is the process's own, so in functional mode a synchronous copy waits for the work it
 * must follow and copies on the calling thread.  Within a device's memory it waits
 * for nobody, as fills do not (hip_copy_sync()).  An asynchronous copy is an
 * agent packet, with HIP's rules for pageable memory: a small source is staged
 * (the caller may reuse it at once), a larger one and a pageable destination
 * make the call wait (HIP programming guide, "Asynchronous functions").
 */
#include "hip/memory/copy.h"

#include <string.h>

#include "hip/observe/advise.h"
#include "hip/graph/graph.h"
#include "hip/core/module.h"
#include "hip/memory/blit.h"
#include "hip/stream/stream.h"

#define COPY_STAGE_MAX 16384

bool hip_copy_kind_ok(hipMemcpyKind kind)
{
    return (unsigned)kind <= hipMemcpyDefault || kind == hipMemcpyDeviceToDeviceNoCU;
}

hipError_t hip_copy_check(void *dst, const void *src, size_t bytes, hipMemcpyKind kind, bool *nothing)
{
    size_t dst_left, src_left;

    *nothing = false;
    if (!hip_copy_kind_ok(kind))
        return hipErrorInvalidMemcpyDirection;
    if (!bytes) {
        *nothing = true;
        return hipSuccess;
    }
    if (!dst || !src)
        return hipErrorInvalidValue;
    bool to = hip_memory_reached(dst, &dst_left), from = hip_memory_reached(src, &src_left);
    if ((to && bytes > dst_left) || (from && bytes > src_left) || !hip_memory_writable(dst, bytes))
        return hipErrorInvalidValue;
    if ((!to && hip_memory_gone(dst)) || (!from && hip_memory_gone(src)))
        return hipErrorInvalidValue;
    /* Two pointers that devices do not reach can only be host memory. */
    if (!to && !from && kind != hipMemcpyHostToHost && kind != hipMemcpyDefault)
        return hipErrorInvalidValue;
    *nothing = dst == src;
    return hipSuccess;
}

/* ---- on the calling thread ---- */

static void fill_row(void *dst, uint64_t value, uint64_t element, uint64_t count)
{
    char *at = dst;

    if (element == 1)
        memset(dst, (int)(value & 0xff), count);
    else
        for (uint64_t i = 0; i < count; i++)
            memcpy(at + i * element, &value, element);
}

static void copy_access(void *context)
{
    const struct hip_op *op = context;
    const struct ehp_copy_3d *c = &op->copy_3d;
    const struct ehp_fill_3d *f = &op->fill_3d;

    switch (op->kind) {
    case HIP_OP_COPY:
        memmove(op->copy.dst, op->copy.src, op->copy.bytes);
        break;
    case HIP_OP_COPY_3D:
        for (uint64_t z = 0; z < c->depth; z++)
            for (uint64_t y = 0; y < c->height; y++)
                memmove((char *)c->dst + z * c->dst_slice + y * c->dst_pitch,
                        (const char *)c->src + z * c->src_slice + y * c->src_pitch, c->width);
        break;
    case HIP_OP_FILL:
        fill_row(op->fill.dst, op->fill.value, op->fill.element, op->fill.count);
        break;
    default:
        for (uint64_t z = 0; z < f->depth; z++)
            for (uint64_t y = 0; y < f->height; y++)
                fill_row((char *)f->dst + z * f->slice + y * f->pitch, f->value, f->element, f->width);
        break;
    }
}

/* Memory of the stream's device: another's streams would not be ordered behind this one. */
static bool copy_is_device(const struct ihipStream_t *stream, const void *at)
{
    const struct hip_memory *memory = hip_memory_find(at, NULL);

    return memory && memory->kind == EHP_MEM_DEVICE && memory->device == stream->device->ordinal &&
           !memory->sync_memops;
}

static bool copy_on_device(const struct ihipStream_t *stream, const struct hip_op *op)
{
    switch (op->kind) {
    case HIP_OP_COPY:
        return copy_is_device(stream, op->copy.dst) && copy_is_device(stream, op->copy.src);
    case HIP_OP_COPY_3D:
        return copy_is_device(stream, op->copy_3d.dst) && copy_is_device(stream, op->copy_3d.src);
    case HIP_OP_FILL:
        return copy_is_device(stream, op->fill.dst);
    default:
        return copy_is_device(stream, op->fill_3d.dst);
    }
}

/*
 * Waits for the null stream of the device whose memory it is, if that is another one: ROCm copies between a
 * device and the host in that stream, and peers' copies begin when both devices' are done (CUDA programming
 * guide, "Peer-to-Peer Memory Copy").
 */
static hipError_t copy_settle_owner(const struct ihipStream_t *stream, const void *at)
{
    const struct hip_memory *memory = hip_memory_find(at, NULL);
    struct ihipStream_t *null;

    if (!memory || memory->kind != EHP_MEM_DEVICE || memory->device == stream->device->ordinal)
        return hipSuccess;
    hipError_t error = hip_stream_null(&hip_runtime()->device[memory->device], &null);
    return error == hipSuccess ? hip_stream_settle(null) : error;
}

static hipError_t copy_settle_owners(const struct ihipStream_t *stream, const struct hip_op *op)
{
    const bool box = op->kind == HIP_OP_COPY_3D;

    if (hip_runtime()->devices == 1)
        return hipSuccess;
    hipError_t error = copy_settle_owner(stream, box ? op->copy_3d.dst : op->copy.dst);
    return error == hipSuccess ? copy_settle_owner(stream, box ? op->copy_3d.src : op->copy.src) : error;
}

hipError_t hip_copy_sync(struct ihipStream_t *stream, struct hip_op *op)
{
    const bool copy = op->kind == HIP_OP_COPY || op->kind == HIP_OP_COPY_3D, timing = hip_runtime()->timing;

    if (!hip_stream_unhindered(stream) && copy_on_device(stream, op))
        return hip_stream_submit(stream, op);
    hipError_t error = copy ? copy_settle_owners(stream, op) : hipSuccess;
    if (error != hipSuccess)
        return error;
    if (!timing) {
        error = hip_stream_settle(stream);
        if (error != hipSuccess || ehp_mem_try(copy_access, op) == EHP_OK)
            return error;
    }
    struct hip_blit_pins pins;
    hip_blit_pin(op, &pins);
    error = hip_stream_submit(stream, op); /* it takes its time, or faults */
    if (error == hipSuccess)
        error = hip_stream_wait(stream);
    hip_blit_unpin(&pins);
    return error;
}

/* Puts the bytes of a small pageable source next to the packet. */
static hipError_t copy_staged(struct ihipStream_t *stream, void *dst, const void *src, size_t bytes)
{
    struct hip_op op = {.kind = HIP_OP_COPY, .copy = {dst, NULL, bytes}};

    hipError_t error = hip_lock(&stream->lock);
    if (error != hipSuccess)
        return error;
    error = hip_stream_ready(stream);
    void *stage = error == hipSuccess ? hip_ring_alloc(stream, bytes, 64) : NULL;
    if (stage) {
        struct hip_op fetch = {.kind = HIP_OP_COPY, .copy = {stage, src, bytes}};
        /* What cannot be read is for the stream to say. */
        op.copy.src = ehp_mem_try(copy_access, &fetch) == EHP_OK ? stage : src;
        error = hip_stream_submit_locked(stream, &op);
    } else if (error == hipSuccess) {
        error = hipErrorOutOfMemory;
    }
    pthread_mutex_unlock(&stream->lock);
    return error;
}

static hipError_t copy_async(void *dst, const void *src, size_t bytes, hipStream_t handle)
{
    struct hip_op op = {.kind = HIP_OP_COPY, .copy = {dst, src, bytes}};
    struct ihipStream_t *stream;
    hipError_t error = hip_stream_of(handle, &stream);

    if (error != hipSuccess)
        return error;
    if (stream->capture)
        return hip_capture_op(stream, &op, NULL);
    error = hip_capture_implicit(stream);
    if (error != hipSuccess)
        return error;
    size_t left;
    bool pageable_src = !hip_memory_known(src, &left), pageable_dst = !hip_memory_known(dst, &left);
    if (pageable_src && !pageable_dst && bytes <= COPY_STAGE_MAX)
        return copy_staged(stream, dst, src, bytes);
    struct hip_blit_pins pins;
    hip_blit_pin(&op, &pins);
    error = hip_stream_submit(stream, &op);
    if (error == hipSuccess && (pageable_src || pageable_dst))
        error = hip_stream_wait(stream);
    hip_blit_unpin(&pins);
    return error;
}

static hipError_t copy_sync(void *dst, const void *src, size_t bytes, hipStream_t handle)
{
    struct ihipStream_t *stream;
    hipError_t error = hip_stream_of(handle, &stream);

    if (error == hipSuccess)
        error = hip_capture_refuses(stream);
    if (error != hipSuccess)
        return error;
    struct hip_op op = {.kind = HIP_OP_COPY, .copy = {dst, src, bytes}};
    return hip_copy_sync(stream, &op);
}

hipError_t hip_copy_linear(void *dst, const void *src, size_t bytes, hipMemcpyKind kind,
                           struct hip_copy_call call)
{
    bool nothing;
    hipError_t error = hip_open();

    if (error == hipSuccess)
        error = hip_copy_check(dst, src, bytes, kind, &nothing);
    if (error != hipSuccess)
        return error;
    if (nothing) {
        struct hip_device *device;
        error = hip_current(&device);
        return error == hipSuccess ? hip_device_error(device) : error;
    }
    if (hip_runtime()->advise)
        hip_advise_copy(dst, bytes, src, bytes, bytes, call.async);
    return call.async ? copy_async(dst, src, bytes, call.stream) : copy_sync(dst, src, bytes, call.stream);
}

static struct hip_copy_call copy_now(void)
{
    return (struct hip_copy_call){NULL, false};
}

static struct hip_copy_call copy_in(hipStream_t stream)
{
    return (struct hip_copy_call){stream, true};
}

static struct hip_copy_call copy_now_spt(void)
{
    return (struct hip_copy_call){hipStreamPerThread, false};
}

/* ---- linear -------------------------------------------------------------------------------------------- */

HIP_ENTRY hipError_t hipMemcpy(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, kind, copy_now()));
}

HIP_ENTRY hipError_t hipMemcpy_spt(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, kind, copy_now_spt()));
}

HIP_ENTRY hipError_t hipMemcpyWithStream(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                                         hipStream_t stream)
{
    struct ihipStream_t *found;
    hipError_t error = hip_stream_of(stream, &found);

    if (error != hipSuccess)
        return hip_return(error);
    /* In a capture it is a node like hipMemcpyAsync(). */
    const struct hip_copy_call call = {stream, found->capture != NULL};
    return hip_return(hip_copy_linear(dst, src, sizeBytes, kind, call));
}

HIP_ENTRY hipError_t hipMemcpyAsync(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                                    hipStream_t stream)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, kind, copy_in(stream)));
}

HIP_ENTRY hipError_t hipMemcpyAsync_spt(void *dst, const void *src, size_t sizeBytes, hipMemcpyKind kind,
                                        hipStream_t stream)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, kind, copy_in(hip_stream_spt(stream))));
}

HIP_ENTRY hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, void *src, size_t sizeBytes)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, hipMemcpyHostToDevice, copy_now()));
}

HIP_ENTRY hipError_t hipMemcpyDtoH(void *dst, hipDeviceptr_t src, size_t sizeBytes)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, hipMemcpyDeviceToHost, copy_now()));
}

HIP_ENTRY hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, hipMemcpyDeviceToDevice, copy_now()));
}

HIP_ENTRY hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, void *src, size_t sizeBytes, hipStream_t stream)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, hipMemcpyHostToDevice, copy_in(stream)));
}

HIP_ENTRY hipError_t hipMemcpyDtoHAsync(void *dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, hipMemcpyDeviceToHost, copy_in(stream)));
}

HIP_ENTRY hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes,
                                        hipStream_t stream)
{
    return hip_return(hip_copy_linear(dst, src, sizeBytes, hipMemcpyDeviceToDevice, copy_in(stream)));
}

static hipError_t copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                            struct hip_copy_call call)
{
    struct hip_device *device;
    hipError_t error = hip_device_at(dst_device, &device);

    if (error == hipSuccess)
        error = hip_device_at(src_device, &device);
    return error == hipSuccess ? hip_copy_linear(dst, src, bytes, hipMemcpyDeviceToDevice, call) : error;
}

HIP_ENTRY hipError_t hipMemcpyPeer(void *dst, int dstDeviceId, const void *src, int srcDeviceId,
                                   size_t sizeBytes)
{
    return hip_return(copy_peer(dst, dstDeviceId, src, srcDeviceId, sizeBytes, copy_now()));
}

HIP_ENTRY hipError_t hipMemcpyPeerAsync(void *dst, int dstDeviceId, const void *src, int srcDevice,
                                        size_t sizeBytes, hipStream_t stream)
{
    return hip_return(copy_peer(dst, dstDeviceId, src, srcDevice, sizeBytes, copy_in(stream)));
}

/* ---- device variables ---------------------------------------------------------------------------------- */

static hipError_t copy_symbol(const void *symbol, size_t bytes, size_t offset, void **address)
{
    struct hip_device *device;
    size_t size;

    if (!symbol)
        return hipErrorInvalidSymbol;
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        error = hip_symbol_of(symbol, device, address, &size);
    if (error != hipSuccess)
        return error;
    if (offset > size || bytes > size - offset)
        return hipErrorInvalidValue;
    *address = (char *)*address + offset;
    return hipSuccess;
}

/* The variable is the device's: of the kinds only those that end there, or there and back, make sense. */
static hipError_t copy_to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset,
                                 hipMemcpyKind kind, struct hip_copy_call call)
{
    void *address;

    if (!src)
        return hipErrorInvalidValue;
    if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault &&
        kind != hipMemcpyDeviceToDeviceNoCU)
        return hipErrorInvalidMemcpyDirection;
    hipError_t error = copy_symbol(symbol, bytes, offset, &address);
    return error == hipSuccess ? hip_copy_linear(address, src, bytes, hipMemcpyDefault, call) : error;
}

static hipError_t copy_from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset,
                                   hipMemcpyKind kind, struct hip_copy_call call)
{
    void *address;

    if (!dst)
        return hipErrorInvalidValue;
    if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault &&
        kind != hipMemcpyDeviceToDeviceNoCU)
        return hipErrorInvalidMemcpyDirection;
    hipError_t error = copy_symbol(symbol, bytes, offset, &address);
    return error == hipSuccess ? hip_copy_linear(dst, address, bytes, hipMemcpyDefault, call) : error;
}

HIP_ENTRY hipError_t hipMemcpyToSymbol(const void *symbol, const void *src, size_t sizeBytes, size_t offset,
                                       hipMemcpyKind kind)
{
    return hip_return(copy_to_symbol(symbol, src, sizeBytes, offset, kind, copy_now()));
}

HIP_ENTRY hipError_t hipMemcpyToSymbol_spt(const void *symbol, const void *src, size_t sizeBytes,
                                           size_t offset, hipMemcpyKind kind)
{
    return hip_return(copy_to_symbol(symbol, src, sizeBytes, offset, kind, copy_now_spt()));
}

HIP_ENTRY hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *src, size_t sizeBytes,
                                            size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    return hip_return(copy_to_symbol(symbol, src, sizeBytes, offset, kind, copy_in(stream)));
}

HIP_ENTRY hipError_t hipMemcpyToSymbolAsync_spt(const void *symbol, const void *src, size_t sizeBytes,
                                                size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    return hip_return(copy_to_symbol(symbol, src, sizeBytes, offset, kind, copy_in(hip_stream_spt(stream))));
}

HIP_ENTRY hipError_t hipMemcpyFromSymbol(void *dst, const void *symbol, size_t sizeBytes, size_t offset,
                                         hipMemcpyKind kind)
{
    return hip_return(copy_from_symbol(dst, symbol, sizeBytes, offset, kind, copy_now()));
}

HIP_ENTRY hipError_t hipMemcpyFromSymbol_spt(void *dst, const void *symbol, size_t sizeBytes, size_t offset,
                                             hipMemcpyKind kind)
{
    return hip_return(copy_from_symbol(dst, symbol, sizeBytes, offset, kind, copy_now_spt()));
}

HIP_ENTRY hipError_t hipMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t sizeBytes, size_t offset,
                                              hipMemcpyKind kind, hipStream_t stream)
{
    return hip_return(copy_from_symbol(dst, symbol, sizeBytes, offset, kind, copy_in(stream)));
}

HIP_ENTRY hipError_t hipMemcpyFromSymbolAsync_spt(void *dst, const void *symbol, size_t sizeBytes,
                                                  size_t offset, hipMemcpyKind kind, hipStream_t stream)
{
    return hip_return(
        copy_from_symbol(dst, symbol, sizeBytes, offset, kind, copy_in(hip_stream_spt(stream))));
}

HIP_ENTRY hipError_t hipGetSymbolAddress(void **devPtr, const void *symbol)
{
    if (!devPtr)
        return hip_return(hipErrorInvalidValue);
    return hip_return(copy_symbol(symbol, 0, 0, devPtr));
}

HIP_ENTRY hipError_t hipGetSymbolSize(size_t *size, const void *symbol)
{
    struct hip_device *device;
    void *address;

    if (!size)
        return hip_return(hipErrorInvalidValue);
    if (!symbol)
        return hip_return(hipErrorInvalidSymbol);
    hipError_t error = hip_current(&device);
    return hip_return(error == hipSuccess ? hip_symbol_of(symbol, device, &address, size) : error);
}
