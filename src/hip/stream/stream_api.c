/* SPDX-License-Identifier: MIT */
/* Making, asking and destroying streams; the calls that put one small thing into a stream. */
#include "hip/core/state.h"
#include "hip/stream/stream.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "hip/graph/graph.h"
#include "hip/memory/memory.h"

/* ---- handles ------------------------------------------------------------------------------------------- */

hipError_t hip_stream_new(struct hip_device *device, unsigned flags, int priority, const uint32_t *mask,
                          unsigned mask_words, struct ihipStream_t **out)
{
    struct ihipStream_t *stream = hip_handle_new(HIP_KIND_STREAM, sizeof *stream);

    if (!stream)
        return hipErrorOutOfMemory;
    if (mask) {
        stream->cu_mask = malloc(mask_words * sizeof *mask);
        if (!stream->cu_mask) {
            hip_handle_free(stream);
            return hipErrorOutOfMemory;
        }
        memcpy(stream->cu_mask, mask, mask_words * sizeof *mask);
        stream->cu_mask_words = mask_words;
    }
    stream->device = device;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = atomic_fetch_add(&hip_runtime()->next_id, 1) + 1;
    stream->hints.sync = hipSyncPolicyAuto;
    stream->hints.domains.remote = 1;
    pthread_mutex_init(&stream->lock, NULL);
    *out = stream;
    return hipSuccess;
}

static void stream_insert(struct ihipStream_t *stream)
{
    struct hip_device *device = stream->device;

    pthread_mutex_lock(&device->streams_lock);
    stream->next = device->streams;
    if (stream->next)
        stream->next->previous = stream;
    device->streams = stream;
    if (!stream->null && !(stream->flags & hipStreamNonBlocking))
        atomic_fetch_add(&device->blocking_streams, 1);
    pthread_mutex_unlock(&device->streams_lock);
}

static void stream_remove(struct ihipStream_t *stream)
{
    struct hip_device *device = stream->device;

    pthread_mutex_lock(&device->streams_lock);
    if (stream->previous)
        stream->previous->next = stream->next;
    else if (device->streams == stream)
        device->streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    stream->next = stream->previous = NULL;
    if (!stream->null && !(stream->flags & hipStreamNonBlocking))
        atomic_fetch_sub(&device->blocking_streams, 1);
    pthread_mutex_unlock(&device->streams_lock);
}

/*
 * Gives back the queue and what belongs to it; the stream itself can go on with a new one.  It has work left
 * only when the device has faulted: then the queue finishes nobody's.
 */
static void stream_close(struct ihipStream_t *stream)
{
    const bool idle = !stream->queue || hip_stream_idle(stream);
    struct hip_queue *queues[] = {stream->queue, stream->copies};

    for (unsigned i = 0; i < 2; i++)
        if (queues[i] && !idle)
            hip_queue_stop(queues[i]);
    for (unsigned i = 0; i < 2; i++)
        if (queues[i])
            hip_queue_leave(queues[i]);
    stream->queue = stream->copies = NULL;
    atomic_store(&stream->at, NULL);
    for (unsigned i = 0; i < stream->held_count; i++)
        hip_marker_unref(stream->held[(stream->held_first + i) % stream->held_room].marker);
    free(stream->held);
    stream->held = NULL;
    stream->held_first = stream->held_count = stream->held_room = 0;
    hip_marker_unref(atomic_exchange(&stream->tail, NULL));
    if (stream->progress.handle)
        ehp_signal_destroy(stream->progress);
    stream->progress.handle = 0;
    atomic_store(&stream->submitted, 0);
    if (stream->ring.base)
        ehp_mem_free(hip_runtime()->machine, stream->ring.base);
    if (stream->printf)
        ehp_mem_free(hip_runtime()->machine, stream->printf);
    stream->printf = NULL;
    free(stream->ring.host);
    memset(&stream->ring, 0, sizeof stream->ring);
}

void hip_stream_delete(struct ihipStream_t *stream)
{
    stream_remove(stream);
    hip_stream_wait(stream);
    if (hip_wait_left())
        return; /* the process ends; so does what is in the queue */
    stream_close(stream);
    free(stream->cu_mask);
    free(stream->capture_deps);
    pthread_mutex_destroy(&stream->lock);
    hip_handle_free(stream);
}

hipError_t hip_stream_internal(struct hip_device *device, int priority, struct ihipStream_t **stream)
{
    hipError_t error = hip_stream_new(device, hipStreamNonBlocking, priority, NULL, 0, stream);

    if (error == hipSuccess) {
        (*stream)->internal = true;
        stream_insert(*stream);
    }
    return error;
}

struct ihipStream_t *hip_lane_take(struct hip_device *device)
{
    struct ihipStream_t *found = NULL;

    hip_arrive();
    pthread_mutex_lock(&device->lock);
    for (unsigned i = 0; i < HIP_LANES_MAX && !found; i++) {
        struct ihipStream_t **lane = &device->lanes[i];
        if (!*lane && hip_stream_internal(device, 0, lane) != hipSuccess)
            break;
        if (!(*lane)->taken && hip_stream_idle(*lane))
            found = *lane;
    }
    if (found)
        found->taken = true;
    pthread_mutex_unlock(&device->lock);
    return found;
}

void hip_lane_give(struct ihipStream_t *lane)
{
    pthread_mutex_lock(&lane->device->lock);
    lane->taken = false;
    pthread_mutex_unlock(&lane->device->lock);
}

void hip_streams_reset(struct hip_device *device)
{
    pthread_mutex_lock(&device->streams_lock);
    for (struct ihipStream_t *stream = device->streams; stream;) {
        /* Who has a stream's lock may want the list's, so that this must not wait for it with that. */
        if (pthread_mutex_trylock(&stream->lock) != 0) {
            pthread_mutex_unlock(&device->streams_lock);
            sched_yield();
            pthread_mutex_lock(&device->streams_lock);
            stream = device->streams; /* those that are closed already have nothing to give back */
            continue;
        }
        stream_close(stream);
        pthread_mutex_unlock(&stream->lock);
        stream = stream->next;
    }
    pthread_mutex_unlock(&device->streams_lock);
}

hipError_t hip_stream_null(struct hip_device *device, struct ihipStream_t **stream)
{
    hipError_t error = hipSuccess;

    *stream = atomic_load_explicit(&device->null_stream, memory_order_acquire);
    if (*stream)
        return hipSuccess;
    hip_arrive();
    pthread_mutex_lock(&device->lock);
    *stream = atomic_load(&device->null_stream);
    if (!*stream) {
        error = hip_stream_new(device, hipStreamDefault, 0, NULL, 0, stream);
        if (error == hipSuccess) {
            (*stream)->null = true;
            stream_insert(*stream);
            atomic_store_explicit(&device->null_stream, *stream, memory_order_release);
        }
    }
    pthread_mutex_unlock(&device->lock);
    return error;
}

/* A thread that ends takes its hipStreamPerThread with it. */
static void stream_thread_end(void *state)
{
    struct hip_thread *thread = state;

    for (int i = 0; i < HIP_DEVICES_MAX; i++) {
        if (thread->per_thread[i])
            hip_stream_delete(thread->per_thread[i]);
        thread->per_thread[i] = NULL;
    }
}

static void stream_make_key(void)
{
    pthread_key_create(&hip_state()->stream_key, stream_thread_end);
}

static hipError_t stream_per_thread(struct hip_device *device, struct ihipStream_t **stream)
{
    struct hip_thread *thread = hip_thread();
    struct ihipStream_t **mine = &thread->per_thread[device->ordinal];

    if (!*mine) {
        hipError_t error = hip_stream_new(device, hipStreamDefault, 0, NULL, 0, mine);
        if (error != hipSuccess)
            return error;
        (*mine)->per_thread = true;
        stream_insert(*mine);
        pthread_once(&hip_state()->stream_key_once, stream_make_key);
        pthread_setspecific(hip_state()->stream_key, thread);
    }
    *stream = *mine;
    return hipSuccess;
}

hipError_t hip_stream_of(hipStream_t handle, struct ihipStream_t **stream)
{
    struct hip_device *device;
    hipError_t error;

    if (handle == NULL || handle == hipStreamLegacy || handle == hipStreamPerThread) {
        error = hip_current(&device);
        if (error != hipSuccess)
            return error;
        error = handle == hipStreamPerThread ? stream_per_thread(device, stream)
                                             : hip_stream_null(device, stream);
        return error == hipSuccess ? hip_device_error(device) : error;
    }
    if (!hip_handle_ok(HIP_KIND_STREAM, handle))
        return hipErrorContextIsDestroyed;
    *stream = handle;
    return hip_device_error(handle->device);
}

/* ---- making and destroying ----------------------------------------------------------------------------- */

/* Whether a mask has any of the device's CUs: nothing could ever run otherwise. */
static bool stream_mask_ok(const struct hip_device *device, const uint32_t *mask, unsigned words)
{
    for (unsigned cu = 0; cu < device->info.cus && cu / 32 < words; cu++)
        if (mask[cu / 32] >> cu % 32 & 1)
            return true;
    return false;
}

static hipError_t stream_create(hipStream_t *out, unsigned flags, int priority, const uint32_t *mask,
                                unsigned words)
{
    struct hip_device *device;

    if (!out || (flags & ~(unsigned)hipStreamNonBlocking))
        return hipErrorInvalidValue;
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        error = hip_device_error(device);
    if (error != hipSuccess)
        return error;
    priority = priority < -1 ? -1 : priority > 1 ? 1 : priority;
    if (mask && !stream_mask_ok(device, mask, words))
        return hipErrorInvalidValue;
    struct ihipStream_t *stream;
    error = hip_stream_new(device, flags, priority, mask, words, &stream);
    if (error != hipSuccess)
        return error;
    stream_insert(stream);
    *out = stream;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipStreamCreate(hipStream_t *stream)
{
    return hip_return(stream_create(stream, hipStreamDefault, 0, NULL, 0));
}

HIP_ENTRY hipError_t hipStreamCreateWithFlags(hipStream_t *stream, unsigned int flags)
{
    return hip_return(stream_create(stream, flags, 0, NULL, 0));
}

HIP_ENTRY hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned int flags, int priority)
{
    return hip_return(stream_create(stream, flags, priority, NULL, 0));
}

HIP_ENTRY hipError_t hipExtStreamCreateWithCUMask(hipStream_t *stream, uint32_t cuMaskSize,
                                                  const uint32_t *cuMask)
{
    if (!stream)
        return hip_return(hipErrorInvalidHandle);
    if (!cuMaskSize || !cuMask)
        return hip_return(hipErrorInvalidValue);
    return hip_return(stream_create(stream, hipStreamDefault, 0, cuMask, cuMaskSize));
}

HIP_ENTRY hipError_t hipStreamDestroy(hipStream_t stream)
{
    if (!stream || stream == hipStreamLegacy || stream == hipStreamPerThread)
        return hip_return(hipErrorInvalidResourceHandle);
    if (!hip_handle_ok(HIP_KIND_STREAM, stream))
        return hip_return(hipErrorContextIsDestroyed);
    if (stream->null || stream->per_thread)
        return hip_return(hipErrorInvalidResourceHandle);
    if (hip_stream_behind_call(stream))
        return hip_return(hip_stream_wait(stream)); /* says why not */
    if (stream->capture)
        hip_capture_abandon(stream);
    hip_stream_delete(stream);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    if (leastPriority)
        *leastPriority = 1;
    if (greatestPriority)
        *greatestPriority = -1;
    return hip_return(hip_open());
}

/* ---- asking -------------------------------------------------------------------------------------------- */

static hipError_t stream_flags(hipStream_t handle, unsigned *flags)
{
    struct ihipStream_t *stream;

    if (!flags || !handle) /* the null stream has none to tell */
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error == hipSuccess)
        *flags = stream->flags;
    return error;
}

HIP_ENTRY hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int *flags)
{
    return hip_return(stream_flags(stream, flags));
}

HIP_ENTRY hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned int *flags)
{
    return hip_return(stream_flags(hip_stream_spt(stream), flags));
}

static hipError_t stream_priority(hipStream_t handle, int *priority)
{
    struct ihipStream_t *stream;

    if (!priority)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error == hipSuccess)
        *priority = stream->priority;
    return error;
}

HIP_ENTRY hipError_t hipStreamGetPriority(hipStream_t stream, int *priority)
{
    return hip_return(stream_priority(stream, priority));
}

HIP_ENTRY hipError_t hipStreamGetPriority_spt(hipStream_t stream, int *priority)
{
    return hip_return(stream_priority(hip_stream_spt(stream), priority));
}

HIP_ENTRY hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t *device)
{
    struct ihipStream_t *found;

    if (!device)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_stream_of(stream, &found);
    if (error == hipSuccess)
        *device = found->device->ordinal;
    return hip_return(error);
}

HIP_ENTRY int hipGetStreamDeviceId(hipStream_t stream)
{
    struct ihipStream_t *found;

    return hip_stream_of(stream, &found) == hipSuccess ? found->device->ordinal : -1;
}

HIP_ENTRY hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t cuMaskSize, uint32_t *cuMask)
{
    struct ihipStream_t *found;

    if (!cuMask)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_stream_of(stream, &found);
    if (error != hipSuccess)
        return hip_return(error);
    unsigned cus = found->device->info.cus;
    if (!cuMaskSize || cuMaskSize < (cus + 31) / 32)
        return hip_return(hipErrorInvalidValue);
    for (uint32_t i = 0; i < cuMaskSize; i++) {
        unsigned left = cus > i * 32 ? cus - i * 32 : 0;
        uint32_t all = left >= 32 ? UINT32_MAX : (UINT32_C(1) << left) - 1;
        cuMask[i] = found->cu_mask ? (i < found->cu_mask_words ? found->cu_mask[i] & all : 0) : all;
    }
    return hip_return(hipSuccess);
}

/* A capture forbids to ask after its streams, and after the null stream that would wait for them. */
static hipError_t stream_captured(struct ihipStream_t *stream)
{
    if (stream->capture) {
        hip_capture_invalidate(stream);
        return hipErrorStreamCaptureUnsupported;
    }
    hipError_t error = hip_capture_implicit(stream);
    return error != hipSuccess && hip_capture_forbids() != hipSuccess ? hipErrorStreamCaptureUnsupported
                                                                      : error;
}

static hipError_t stream_query(hipStream_t handle)
{
    struct ihipStream_t *stream;
    hipError_t error = hip_stream_of(handle, &stream);

    if (error == hipSuccess)
        error = stream_captured(stream);
    if (error != hipSuccess)
        return error;
    ehp_host_query(hip_runtime()->machine);
    return hip_stream_settled(stream) ? hip_stream_wait(stream) : hipErrorNotReady;
}

HIP_ENTRY hipError_t hipStreamQuery(hipStream_t stream)
{
    return hip_return(stream_query(stream));
}

HIP_ENTRY hipError_t hipStreamQuery_spt(hipStream_t stream)
{
    return hip_return(stream_query(hip_stream_spt(stream)));
}

static hipError_t stream_synchronize(hipStream_t handle)
{
    struct ihipStream_t *stream;
    hipError_t error = hip_stream_of(handle, &stream);

    if (error == hipSuccess)
        error = stream_captured(stream);
    if (error != hipSuccess)
        return error;
    return stream->null ? hip_stream_settle(stream) : hip_stream_wait(stream);
}

HIP_ENTRY hipError_t hipStreamSynchronize(hipStream_t stream)
{
    return hip_return(stream_synchronize(stream));
}

HIP_ENTRY hipError_t hipStreamSynchronize_spt(hipStream_t stream)
{
    return hip_return(stream_synchronize(hip_stream_spt(stream)));
}

/* ---- host functions ------------------------------------------------------------------------------------ */

struct stream_callback {
    hipStreamCallback_t fn;
    hipStream_t stream;
    void *user;
    struct hip_device *device;
};

static void stream_call_back(void *argument)
{
    struct stream_callback call = *(struct stream_callback *)argument;

    free(argument);
    call.fn(call.stream, hip_device_error(call.device), call.user);
}

static hipError_t stream_add_callback(hipStream_t handle, hipStreamCallback_t fn, void *user, unsigned flags)
{
    struct ihipStream_t *stream;

    if (!fn || flags)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->capture) {
        hip_capture_invalidate(stream);
        return hipErrorStreamCaptureUnsupported;
    }
    struct stream_callback *call = malloc(sizeof *call);
    if (!call)
        return hipErrorOutOfMemory;
    *call = (struct stream_callback){fn, handle, user, stream->device};
    struct hip_op op = {.kind = HIP_OP_HOST, .host = {stream_call_back, call}};
    error = hip_stream_submit(stream, &op);
    if (error != hipSuccess)
        free(call);
    return error;
}

HIP_ENTRY hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback, void *userData,
                                          unsigned int flags)
{
    return hip_return(stream_add_callback(stream, callback, userData, flags));
}

HIP_ENTRY hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback,
                                              void *userData, unsigned int flags)
{
    return hip_return(stream_add_callback(hip_stream_spt(stream), callback, userData, flags));
}

static hipError_t stream_host_function(hipStream_t handle, hipHostFn_t fn, void *user)
{
    if (!fn)
        return hipErrorInvalidValue;
    struct hip_op op = {.kind = HIP_OP_HOST, .host = {fn, user}};
    return hip_stream_op(handle, &op);
}

HIP_ENTRY hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn, void *userData)
{
    return hip_return(stream_host_function(stream, fn, userData));
}

HIP_ENTRY hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t fn, void *userData)
{
    return hip_return(stream_host_function(hip_stream_spt(stream), fn, userData));
}

/* ---- managed memory ------------------------------------------------------------------------------------ */

HIP_ENTRY hipError_t hipStreamAttachMemAsync(hipStream_t stream, void *dev_ptr, size_t length,
                                             unsigned int flags)
{
    struct ihipStream_t *found;
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;
    hipError_t error = hip_stream_of(stream, &found);

    if (error != hipSuccess)
        return hip_return(error);
    if (!dev_ptr || (flags != hipMemAttachGlobal && flags != hipMemAttachHost && flags != hipMemAttachSingle))
        return hip_return(hipErrorInvalidValue);
    if (ehp_mem_query(hip_runtime()->machine, dev_ptr, &allocation) != EHP_OK ||
        (length && length != allocation.bytes))
        return hip_return(hipErrorInvalidValue);
    return hip_return(hipSuccess); /* one coherent memory: nothing to attach */
}
