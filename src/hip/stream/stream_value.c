/* SPDX-License-Identifier: MIT */
/* Operations of streams on values in memory: waiting for one, writing one, several in one call. */
#include "hip/graph/graph.h"
#include "hip/memory/memory.h"
#include "hip/stream/stream.h"

/* The value is in memory that devices reach, at its natural alignment. */
static bool stream_value_ok(const void *ptr, size_t bytes, bool written)
{
    size_t left;

    if (!ptr || (uintptr_t)ptr % bytes)
        return false;
    if (hip_memory_known(ptr, &left))
        return left >= bytes && (!written || hip_memory_writable(ptr, bytes));
    return hip_memory_reached(ptr, &left) && hip_memory_is_there(ptr, bytes);
}

bool hip_batch_ok(const hipStreamBatchMemOpParams *params, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const hipStreamBatchMemOpParams *p = &params[i];
        switch (p->operation) {
        case hipStreamMemOpWaitValue32:
        case hipStreamMemOpWaitValue64:
            if (p->waitValue.flags > hipStreamWaitValueNor ||
                !stream_value_ok(p->waitValue.address, p->operation == hipStreamMemOpWaitValue64 ? 8 : 4,
                                 false))
                return false;
            break;
        case hipStreamMemOpWriteValue32:
        case hipStreamMemOpWriteValue64:
            if (!stream_value_ok(p->writeValue.address, p->operation == hipStreamMemOpWriteValue64 ? 8 : 4,
                                 true))
                return false;
            break;
        case hipStreamMemOpBarrier:
        case hipStreamMemOpFlushRemoteWrites:
            break;
        default:
            return false;
        }
    }
    return true;
}

static hipError_t stream_wait_value(hipStream_t handle, void *ptr, uint64_t value, unsigned flags,
                                    uint64_t mask, uint32_t bytes)
{
    struct ihipStream_t *stream;

    if (!ptr)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (flags > hipStreamWaitValueNor || !stream_value_ok(ptr, bytes, false))
        return hipErrorInvalidValue;
    struct hip_op op = {
        .kind = HIP_OP_WAIT_VALUE,
        .value = {.address = ptr, .value = value, .mask = mask, .bytes = bytes, .condition = flags}};
    return hip_stream_op(handle, &op);
}

HIP_ENTRY hipError_t hipStreamWaitValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags,
                                          uint32_t mask)
{
    return hip_return(stream_wait_value(stream, ptr, value, flags, mask, 4));
}

HIP_ENTRY hipError_t hipStreamWaitValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags,
                                          uint64_t mask)
{
    return hip_return(stream_wait_value(stream, ptr, value, flags, mask, 8));
}

static hipError_t stream_write_value(hipStream_t handle, void *ptr, uint64_t value, uint32_t bytes)
{
    struct ihipStream_t *stream;

    if (!ptr)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (!stream_value_ok(ptr, bytes, true))
        return hipErrorInvalidValue;
    struct hip_op op = {.kind = HIP_OP_WRITE_VALUE,
                        .value = {.address = ptr, .value = value, .bytes = bytes}};
    return hip_stream_op(handle, &op);
}

HIP_ENTRY hipError_t hipStreamWriteValue32(hipStream_t stream, void *ptr, uint32_t value, unsigned int flags)
{
    (void)flags;
    return hip_return(stream_write_value(stream, ptr, value, 4));
}

HIP_ENTRY hipError_t hipStreamWriteValue64(hipStream_t stream, void *ptr, uint64_t value, unsigned int flags)
{
    (void)flags;
    return hip_return(stream_write_value(stream, ptr, value, 8));
}

HIP_ENTRY hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned int count,
                                         hipStreamBatchMemOpParams *paramArray, unsigned int flags)
{
    struct ihipStream_t *found;

    if (!count || count > 256 || !paramArray || flags)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_stream_of(stream, &found);
    if (error != hipSuccess)
        return hip_return(error);
    if (!hip_batch_ok(paramArray, count))
        return hip_return(hipErrorInvalidValue);
    struct hip_op op = {.kind = HIP_OP_BATCH, .batch = {count, paramArray, flags}};
    return hip_return(hip_stream_op(stream, &op));
}
