/* SPDX-License-Identifier: MIT */
/* Events: markers with the time of the 100 MHz clock at which they were reached. */
#include "hip/stream/stream.h"

#include <stdlib.h>

#include "hip/observe/advise.h"
#include "hip/graph/graph.h"
#include "hip/core/hostcall.h"
#include "hip/memory/ipc.h"

static hipError_t event_create(hipEvent_t *out, unsigned flags)
{
    const unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                           hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;
    const unsigned release = hipEventReleaseToDevice | hipEventReleaseToSystem | hipEventDisableSystemFence;
    struct hip_device *device;

    if (!out || (flags & ~known))
        return hipErrorInvalidValue;
    if ((flags & release) & ((flags & release) - 1)) /* at most one of them */
        return hipErrorInvalidValue;
    if ((flags & hipEventInterprocess) && !(flags & hipEventDisableTiming))
        return hipErrorInvalidValue;
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        error = hip_device_error(device);
    if (error != hipSuccess)
        return error;
    struct ihipEvent_t *event = hip_handle_new(HIP_KIND_EVENT, sizeof *event);
    if (!event)
        return hipErrorOutOfMemory;
    event->device = device;
    event->flags = flags;
    if (flags & hipEventInterprocess) {
        event->shared = hip_ipc_event_new();
        if (!event->shared) {
            hip_handle_free(event);
            return hipErrorOutOfMemory;
        }
    }
    pthread_mutex_init(&event->lock, NULL);
    *out = event;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipEventCreate(hipEvent_t *event)
{
    return hip_return(event_create(event, hipEventDefault));
}

HIP_ENTRY hipError_t hipEventCreateWithFlags(hipEvent_t *event, unsigned int flags)
{
    return hip_return(event_create(event, flags));
}

HIP_ENTRY hipError_t hipEventDestroy(hipEvent_t event)
{
    if (!hip_handle_ok(HIP_KIND_EVENT, event))
        return hip_return(event ? hipErrorContextIsDestroyed : hipErrorInvalidHandle);
    hip_marker_unref(event->marker);
    hip_ipc_event_unref(event->shared);
    free(event->capture_deps);
    pthread_mutex_destroy(&event->lock);
    hip_handle_free(event);
    return hip_return(hipSuccess);
}

hipError_t hip_event_record(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    hipError_t error = hip_stream_record(stream, event);

    return error == hipSuccess && event->shared ? hip_ipc_event_record(stream, event->shared) : error;
}

hipError_t hip_event_wait(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    return event->shared ? hip_ipc_event_follow(stream, event->shared) : hip_stream_wait_event(stream, event);
}

static hipError_t event_record(hipEvent_t event, hipStream_t handle)
{
    struct ihipStream_t *stream;

    if (!hip_handle_ok(HIP_KIND_EVENT, event))
        return hipErrorInvalidHandle;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->capture)
        return hip_capture_record(stream, event);
    if (stream->device != event->device)
        return hipErrorInvalidHandle;
    error = hip_capture_implicit(stream);
    return error == hipSuccess ? hip_event_record(stream, event) : error;
}

HIP_ENTRY hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    return hip_return(event_record(event, stream));
}

HIP_ENTRY hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream)
{
    return hip_return(event_record(event, hip_stream_spt(stream)));
}

HIP_ENTRY hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned int flags)
{
    struct ihipStream_t *found;

    if (flags > 1) /* hipEventRecordDefault, hipEventRecordExternal */
        return hip_return(hipErrorInvalidValue);
    if (flags == 0)
        return hip_return(event_record(event, stream));
    if (!hip_handle_ok(HIP_KIND_EVENT, event))
        return hip_return(hipErrorInvalidHandle);
    hipError_t error = hip_stream_of(stream, &found);
    if (error == hipSuccess && found->capture) {
        struct hip_op op = {.kind = HIP_OP_EVENT_RECORD, .event = {event, 0}};
        return hip_return(hip_capture_op(found, &op, NULL));
    }
    return hip_return(event_record(event, stream));
}

static hipError_t event_wait(hipStream_t handle, hipEvent_t event, unsigned flags)
{
    struct ihipStream_t *stream;

    if (!event)
        return hipErrorInvalidHandle;
    if (!hip_handle_ok(HIP_KIND_EVENT, event))
        return hipErrorContextIsDestroyed;
    if (flags > 1) /* hipEventWaitDefault, hipEventWaitExternal */
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->capture && flags == 1) {
        struct hip_op op = {.kind = HIP_OP_EVENT_WAIT, .event = {event, 0}};
        return hip_capture_op(stream, &op, NULL);
    }
    return hip_capture_wait(stream, event);
}

HIP_ENTRY hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
    return hip_return(event_wait(stream, event, flags));
}

HIP_ENTRY hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int flags)
{
    return hip_return(event_wait(hip_stream_spt(stream), event, flags));
}

/* The event's marker with a reference, or NULL when it was never recorded. */
static hipError_t event_marker(hipEvent_t event, struct hip_marker **marker, bool *use_start)
{
    if (!hip_handle_ok(HIP_KIND_EVENT, event))
        return hipErrorInvalidHandle;
    pthread_mutex_lock(&event->lock);
    *marker = hip_marker_ref(event->marker);
    if (use_start)
        *use_start = event->use_start;
    uint64_t capture = event->capture_id;
    pthread_mutex_unlock(&event->lock);
    if (capture && hip_capture_spoil(capture)) {
        hip_marker_unref(*marker);
        return hipErrorCapturedEvent;
    }
    return hipSuccess;
}

HIP_ENTRY hipError_t hipEventQuery(hipEvent_t event)
{
    struct hip_marker *marker;
    hipError_t error = event_marker(event, &marker, NULL);

    if (error != hipSuccess)
        return hip_return(error);
    ehp_host_query(hip_runtime()->machine);
    error = hip_device_error(event->device);
    if (error == hipSuccess &&
        (event->shared ? !hip_ipc_event_done(event->shared) : marker && !hip_marker_done(marker)))
        error = hipErrorNotReady;
    hip_marker_unref(marker);
    return hip_return(error);
}

HIP_ENTRY hipError_t hipEventSynchronize(hipEvent_t event)
{
    struct hip_marker *marker;
    hipError_t error = event_marker(event, &marker, NULL);

    if (error != hipSuccess)
        return hip_return(error);
    error = event->shared ? hip_ipc_event_wait(event->device, event->shared)
            : marker      ? hip_marker_wait(event->device, marker)
                          : hip_device_error(event->device);
    if (hip_runtime()->advise)
        hip_advise_waited();
    hip_hostcall_flush(event->device);
    hip_marker_unref(marker);
    return hip_return(error);
}

static uint64_t event_time(const struct hip_marker *marker, bool use_start)
{
    const struct ehp_signal_block *block = (const void *)(uintptr_t)marker->signal.handle;
    return use_start ? block->start_ts : block->end_ts;
}

HIP_ENTRY hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop)
{
    struct hip_marker *first = NULL, *second = NULL;
    bool first_start, second_start;

    if (!ms)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = event_marker(start, &first, &first_start);
    if (error != hipSuccess)
        return hip_return(error);
    error = event_marker(stop, &second, &second_start);
    if (error != hipSuccess) {
        hip_marker_unref(first);
        return hip_return(error);
    }
    if (((start->flags | stop->flags) & hipEventDisableTiming) || start->device != stop->device || !first ||
        !second)
        error = hipErrorInvalidHandle;
    else if ((error = hip_device_error(start->device)) == hipSuccess &&
             (!hip_marker_done(first) || !hip_marker_done(second)))
        error = hipErrorNotReady;
    if (error == hipErrorNotReady)
        ehp_host_query(hip_runtime()->machine); /* it may ask until they are */
    if (error == hipSuccess) {
        int64_t ticks = (int64_t)(event_time(second, second_start) - event_time(first, first_start));
        *ms = (float)((double)ticks / (start->device->info.timestamp_mhz * 1000.0));
    }
    hip_marker_unref(first);
    hip_marker_unref(second);
    return hip_return(error);
}
