/* SPDX-License-Identifier: MIT */
/* Waiting: for signals, streams and devices; what a host function must not wait for; the end of the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "hip/core/state.h"
#include "hip/observe/advise.h"
#include "hip/core/hostcall.h"
#include "hip/memory/pool.h"
#include "hip/observe/report.h"
#include "hip/stream/stream.h"

#define WAIT_SLICE UINT64_C(50000000) /* ns between looks at what else there is */
/* ns between looks at a lock: pthread_mutex_clocklock() is unknown to the thread sanitizer. */
#define WAIT_NAP 100000
/* In slices. */
#define WAIT_SAY   20  /* until a wait that may have no end says so */
#define WAIT_LEAVE 200 /* until a process that ends leaves work behind that does not get on */

/* ---- who waits ----------------------------------------------------------------------------------------- */

void hip_call(void *argument)
{
    struct hip_call call = *(struct hip_call *)argument;
    struct hip_thread *thread = hip_thread();

    thread->call = call.stream;
    call.fn(call.user);
    thread->call = NULL;
}

static hipError_t wait_refuse(const char *what)
{
    if (!atomic_exchange(&hip_runtime()->said_refused, true))
        fprintf(
            stderr,
            "ehp: a host function (hipLaunchHostFunc, hipStreamAddCallback) waits for %s, which waits for "
            "it: the call fails, as it would never return\n",
            what);
    return hipErrorNotSupported;
}

hipError_t hip_wait_refused(void)
{
    hip_thread()->refused = false;
    return wait_refuse("room in its stream's hardware queue, which is full,");
}

/* A host function has waited for long for what it may itself be in the way of. */
static void wait_say_call(void)
{
    char text[256];

    ehp_work_left(hip_runtime()->machine, text, sizeof text);
    fprintf(
        stderr,
        "ehp: a host function (hipLaunchHostFunc, hipStreamAddCallback) waits since 1 s in a HIP call, which "
        "never returns if what it waits for comes after the function; there is left: %s\n",
        text);
}

/* What is in the queue may be behind the host function that runs in that stream. */
static bool wait_in_way(const struct ihipStream_t *call, const struct hip_queue *queue)
{
    return call->queue == queue || call->queue == queue->beside;
}

/* Somebody waits for room in the queue: it gets none before the host function there has ended. */
static bool wait_crowded(const struct hip_queue *queue)
{
    const struct ehp_queue_block *block = queue ? queue->block : NULL;

    return block && __atomic_load_n(&block->write_dispatch_id, __ATOMIC_ACQUIRE) -
                            __atomic_load_n(&block->read_dispatch_id, __ATOMIC_ACQUIRE) >
                        block->hsa.size;
}

hipError_t hip_lock(pthread_mutex_t *lock)
{
    struct hip_thread *thread = hip_thread();

    hip_arrive();
    if (!thread->call) {
        pthread_mutex_lock(lock);
        return hipSuccess;
    }
    for (unsigned slices = 1;; slices++) {
        const uint64_t until = clock_now_ns() + WAIT_SLICE;
        do {
            if (pthread_mutex_trylock(lock) == 0)
                return hipSuccess;
            nanosleep(&(struct timespec){.tv_nsec = WAIT_NAP}, NULL);
        } while (clock_now_ns() < until);
        if (slices >= WAIT_SAY && (wait_crowded(thread->call->queue) || wait_crowded(thread->call->copies))) {
            thread->refused = true;
            return hipErrorNotSupported;
        }
        if (slices == WAIT_SAY)
            wait_say_call();
    }
}

bool hip_queue_put(struct hip_queue *queue, const union ehp_packet *packet)
{
    struct hip_thread *thread = hip_thread();

    if (!thread->call) {
        ehp_queue_submit(queue->block, packet);
        return true;
    }
    const bool own = wait_in_way(thread->call, queue);
    for (unsigned slices = 1; !thread->refused; slices++) {
        if (ehp_queue_offer(queue->block, packet, own ? 0 : WAIT_SLICE))
            return true;
        thread->refused = own;
        if (slices == WAIT_SAY)
            wait_say_call();
    }
    return false;
}

/* Whether a wait for as long as the work gets on shall go on. */
static bool wait_at_end(struct hip_last_wait *last)
{
    char text[256];

    if (last->left)
        return false;
    uint64_t work = ehp_work_left(hip_runtime()->machine, text, sizeof text);
    last->still = work == last->work ? last->still + 1 : 0;
    last->work = work;
    if (++last->slices == WAIT_SAY)
        fprintf(stderr, "ehp: %s; waiting for its work on the GPU: %s\n", last->why, text);
    if (last->still < WAIT_LEAVE)
        return true;
    fprintf(stderr, "ehp: nothing has got on for %u s: left without waiting any longer for %s\n",
            (unsigned)(WAIT_LEAVE * WAIT_SLICE / 1000000000), text);
    last->left = true;
    return false;
}

/* ---- signals ------------------------------------------------------------------------------------------- */

hipError_t hip_wait_signal(struct hip_device *device, ehp_signal signal, int64_t below)
{
    const struct hip_thread *thread = hip_thread();
    hipError_t error;

    for (unsigned slices = 1; (error = hip_device_error(device)) == hipSuccess; slices++) {
        if (ehp_signal_wait(signal, EHP_COND_LT, below, WAIT_SLICE) < below)
            break;
        if (thread->call && slices == WAIT_SAY)
            wait_say_call();
        if (thread->last && !wait_at_end(thread->last))
            return hipErrorNotReady;
    }
    if (hip_runtime()->reports)
        hip_report_update();
    return error;
}

hipError_t hip_marker_wait(struct hip_device *device, struct hip_marker *marker)
{
    return hip_wait_signal(device, marker->signal, 1);
}

/* ---- streams ------------------------------------------------------------------------------------------- */

bool hip_stream_idle(struct ihipStream_t *stream)
{
    struct hip_marker *tail = atomic_load_explicit(&stream->tail, memory_order_acquire);

    if (tail)
        return hip_marker_done(tail);
    uint64_t submitted = atomic_load_explicit(&stream->submitted, memory_order_acquire);
    return submitted == 0 || hip_stream_completed(stream) >= submitted;
}

bool hip_stream_behind_call(struct ihipStream_t *stream)
{
    const struct ihipStream_t *call = hip_thread()->call;

    return call && (call == stream || (call->queue == stream->queue && !hip_stream_idle(stream)));
}

static hipError_t wait_own(struct ihipStream_t *stream)
{
    struct hip_device *device = stream->device;
    hipError_t error = hipSuccess;

    if (hip_stream_behind_call(stream))
        return wait_refuse(hip_thread()->call == stream ? "its own stream"
                                                        : "a stream that shares its hardware queue");
    error = hip_lock(&stream->lock);
    if (error != hipSuccess)
        return error;
    struct hip_marker *tail = hip_marker_ref(atomic_load(&stream->tail));
    int64_t submitted = (int64_t)atomic_load(&stream->submitted);
    pthread_mutex_unlock(&stream->lock);

    if (tail)
        error = hip_marker_wait(device, tail);
    else if (submitted)
        error = hip_wait_signal(device, stream->progress, 1 - submitted);
    hip_marker_unref(tail);
    return error == hipSuccess ? hip_device_error(device) : error;
}

hipError_t hip_stream_wait(struct ihipStream_t *stream)
{
    hipError_t error = wait_own(stream);

    if (hip_runtime()->advise)
        hip_advise_waited();
    hip_hostcall_flush(stream->device);
    hip_pools_trim(stream->device, stream);
    return error;
}

/* For what is in the queues, which are held; lets go of them. */
static hipError_t wait_queues(struct hip_device *device, struct hip_queue **queues, unsigned count)
{
    const struct ihipStream_t *call = hip_thread()->call;
    struct hip_marker **markers = calloc(count + 1, sizeof *markers);
    hipError_t error = markers ? hipSuccess : hipErrorOutOfMemory;

    for (unsigned i = 0; i < count; i++) {
        if (error == hipSuccess && call && wait_in_way(call, queues[i]))
            error = wait_refuse("a stream that shares its hardware queue");
        if (error == hipSuccess)
            error = hip_stream_mark(queues[i], &markers[i]);
        hip_queue_release(queues[i]);
    }
    for (unsigned i = 0; i < count && markers; i++) {
        hipError_t one = markers[i] && error == hipSuccess ? hip_marker_wait(device, markers[i]) : hipSuccess;
        error = error == hipSuccess ? one : error;
        hip_marker_unref(markers[i]);
    }
    free((void *)markers);
    return error;
}

/* Waits for all streams, or for those that the null stream waits for, except the null stream. */
static hipError_t wait_others(struct hip_device *device, bool only_blocking)
{
    struct ihipStream_t *call = hip_thread()->call;
    hipError_t error = hipSuccess;
    unsigned count = 0, room = 0;
    struct hip_queue **queues = NULL;

    if (call && call->device == device && (!only_blocking || hip_stream_blocking(call)))
        return wait_refuse(only_blocking ? "the null stream" : "the device");
    pthread_mutex_lock(&device->streams_lock);
    for (struct ihipStream_t *other = device->streams; other; other = other->next) {
        if (other->null || (only_blocking && !hip_stream_blocking(other)) || hip_stream_idle(other))
            continue;
        unsigned same = 0;
        struct hip_queue *at = atomic_load_explicit(&other->at, memory_order_acquire);
        while (same < count && queues[same] != at)
            same++;
        if (same < count)
            continue;
        if (count == room) {
            struct hip_queue **more = realloc((void *)queues, (room = room ? room * 2 : 16) * sizeof *queues);
            if (!more)
                break;
            queues = more;
        }
        queues[count++] = hip_queue_hold(at);
    }
    pthread_mutex_unlock(&device->streams_lock);
    error = wait_queues(device, queues, count);
    free((void *)queues);
    return error;
}

bool hip_stream_settled(struct ihipStream_t *stream)
{
    struct hip_device *device = stream->device;
    bool idle = hip_stream_idle(stream);

    if (!idle || !stream->null || !atomic_load(&device->blocking_streams))
        return idle;
    pthread_mutex_lock(&device->streams_lock);
    for (struct ihipStream_t *other = device->streams; other && idle; other = other->next)
        idle = !hip_stream_blocking(other) || hip_stream_idle(other);
    pthread_mutex_unlock(&device->streams_lock);
    return idle;
}

bool hip_stream_unhindered(struct ihipStream_t *stream)
{
    struct ihipStream_t *null = atomic_load(&stream->device->null_stream);

    return hip_stream_settled(stream) && (!hip_stream_blocking(stream) || !null || hip_stream_idle(null));
}

hipError_t hip_stream_settle(struct ihipStream_t *stream)
{
    struct hip_device *device = stream->device;
    hipError_t error = hipSuccess;

    if (stream->null && atomic_load(&device->blocking_streams))
        error = wait_others(device, true);
    if (hip_stream_blocking(stream)) {
        struct ihipStream_t *null = atomic_load(&device->null_stream);
        if (null)
            error = wait_own(null);
    }
    return error == hipSuccess ? hip_stream_wait(stream) : error;
}

/* ---- devices ------------------------------------------------------------------------------------------- */

hipError_t hip_device_wait(struct hip_device *device)
{
    const struct ihipStream_t *call = hip_thread()->call;
    struct ihipStream_t *null = atomic_load(&device->null_stream);

    if (call && call->device == device)
        return wait_refuse("the device");
    hipError_t error = null ? wait_own(null) : hipSuccess;

    if (error == hipSuccess)
        error = wait_others(device, false);
    if (hip_runtime()->advise)
        hip_advise_waited();
    hip_hostcall_flush(device);
    hip_pools_trim(device, NULL);
    return error == hipSuccess ? hip_device_error(device) : error;
}

hipError_t hip_wait_users(struct hip_device *device)
{
    const struct hip_thread *thread = hip_thread();
    struct hip_runtime *runtime = hip_runtime();

    if (thread->call)
        return wait_refuse("the device");
    for (int i = 0; i < runtime->devices; i++)
        if (!device || device == &runtime->device[i])
            hip_device_wait(&runtime->device[i]);
    return hip_wait_left() ? hipErrorNotReady : hipSuccess;
}

/* ---- the end of the process ---------------------------------------------------------------------------- */

static struct hip_last_wait *wait_last(void)
{
    return &hip_state()->last_wait;
}

void hip_wait_ends(void)
{
    hip_thread()->last = wait_last();
}

bool hip_wait_left(void)
{
    const struct hip_thread *thread = hip_thread();

    return thread->last && thread->last->left;
}

/* False when something is left. */
static bool wait_while_it_gets_on(struct hip_last_wait *last)
{
    struct hip_thread *thread = hip_thread();
    struct hip_last_wait *before = thread->last;

    thread->last = last;
    if (thread->call)
        last->left = true; /* it comes from a host function, whose stream never ends */
    if (!last->left)
        hip_wait_users(NULL);
    thread->last = before;
    return !last->left;
}

bool hip_wait_last(void)
{
    return wait_while_it_gets_on(wait_last());
}

bool hip_wait_unload(void)
{
    struct hip_last_wait last = {.why = "a library with kernels is being unloaded"};

    return hip_thread()->last ? hip_wait_last() : wait_while_it_gets_on(&last);
}
