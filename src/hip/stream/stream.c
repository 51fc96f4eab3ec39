/* SPDX-License-Identifier: MIT */
/* Streams as queues: packets, order with the null stream, completion. */
#include "hip/stream/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/observe/advise.h"
#include "hip/graph/graph.h"
#include "hip/core/hostcall.h"
#include "hip/core/launch.h"
#include "hip/memory/blit.h"
#include "hip/memory/pool.h"

static uint16_t stream_header(enum ehp_packet_type type)
{
    return EHP_HEADER(type, 1, EHP_SCOPE_SYSTEM, EHP_SCOPE_SYSTEM);
}

/* ---- markers that packets of this stream will read ----------------------------------------------------- */

static void stream_release(struct ihipStream_t *stream)
{
    uint64_t completed;

    if (!stream->held_count)
        return;
    completed = hip_stream_completed(stream);
    while (stream->held_count && stream->held[stream->held_first].until <= completed) {
        hip_marker_unref(stream->held[stream->held_first].marker);
        stream->held_first = (stream->held_first + 1) % stream->held_room;
        stream->held_count--;
    }
}

/* Keeps a reference until the packet just submitted is complete. */
static void stream_hold(struct ihipStream_t *stream, struct hip_marker *marker)
{
    if (stream->held_count == stream->held_room) {
        unsigned room = stream->held_room ? stream->held_room * 2 : 16;
        struct hip_held *held = malloc(room * sizeof *held);
        if (!held)
            return; /* the marker is never recycled: a leak, but safe */
        for (unsigned i = 0; i < stream->held_count; i++)
            held[i] = stream->held[(stream->held_first + i) % stream->held_room];
        free(stream->held);
        stream->held = held;
        stream->held_first = 0;
        stream->held_room = room;
    }
    stream->held[(stream->held_first + stream->held_count++) % stream->held_room] =
        (struct hip_held){marker, atomic_load(&stream->submitted)};
}

/* ---- packets: the stream's lock is held ---------------------------------------------------------------- */

/* A packet that the queue has not got: the one before it is the last again, and nobody waits for its marker.
 */
static void stream_take_back(struct ihipStream_t *stream, struct hip_marker *marker, struct hip_marker *old)
{
    atomic_fetch_sub_explicit(&stream->position, 1, memory_order_release);
    atomic_store_explicit(&stream->tail, old, memory_order_release);
    if (!marker)
        atomic_fetch_sub_explicit(&stream->submitted, 1, memory_order_release);
    else
        ehp_signal_store(marker->signal, 0);
    hip_marker_unref(marker);
}

static bool stream_give(struct ihipStream_t *stream, struct hip_queue *queue, union ehp_packet *packet,
                        struct hip_marker *marker)
{
    struct hip_marker *old = atomic_load_explicit(&stream->tail, memory_order_relaxed);

    /* completion_signal is the last word of every kind of packet */
    packet->qword[7] = marker ? marker->signal.handle : stream->progress.handle;
    if (!marker)
        atomic_fetch_add_explicit(&stream->submitted, 1, memory_order_release);
    atomic_store_explicit(&stream->tail, hip_marker_ref(marker), memory_order_release);
    atomic_fetch_add_explicit(&stream->position, 1, memory_order_release);
    if (!hip_queue_put(queue, packet)) {
        stream_take_back(stream, marker, old);
        return false;
    }
    hip_marker_unref(old);
    return true;
}

static bool is_engines(const union ehp_packet *packet)
{
    if ((packet->header & 0xff) != EHP_PACKET_AGENT_DISPATCH)
        return false;
    switch (packet->agent.type) {
    case EHP_AGENT_COPY:
    case EHP_AGENT_COPY_3D:
    case EHP_AGENT_FILL:
    case EHP_AGENT_FILL_3D:
        return true;
    default:
        return false;
    }
}

/* Where the packet belongs.  Barriers stay where the stream is. */
static struct hip_queue *stream_queue_for(struct ihipStream_t *stream, const union ehp_packet *packet)
{
    struct hip_queue *at = atomic_load_explicit(&stream->at, memory_order_relaxed);

    if ((packet->header & 0xff) == EHP_PACKET_BARRIER_AND)
        return at ? at : stream->queue;
    if (!is_engines(packet))
        return stream->queue;
    if (!stream->copies && hip_queue_take_copies(stream, &stream->copies) != hipSuccess)
        return stream->queue; /* memory is short: they are done from there as well */
    return stream->copies;
}

/* What is put there comes after what the stream has been given.  False: it cannot. */
static bool stream_turn(struct ihipStream_t *stream, struct hip_queue *to)
{
    struct hip_queue *at = atomic_load_explicit(&stream->at, memory_order_relaxed);
    union ehp_packet packet = {0};

    if (at && at != to && !hip_stream_idle(stream)) {
        struct hip_marker *marker = hip_marker_ref(atomic_load_explicit(&stream->tail, memory_order_relaxed));
        if (!marker && hip_stream_mark(at, &marker) != hipSuccess)
            return false;
        packet.barrier.header = stream_header(EHP_PACKET_BARRIER_AND);
        packet.barrier.dep_signal[0] = marker->signal;
        const bool given = stream_give(stream, to, &packet, NULL);
        stream_hold(stream, marker);
        if (!given)
            return false;
    }
    /* Not before the barrier is there, as others go by what is behind it. */
    atomic_store_explicit(&stream->at, to, memory_order_release);
    return true;
}

static void stream_put(struct ihipStream_t *stream, union ehp_packet *packet, struct hip_marker *marker)
{
    struct hip_queue *queue = stream_queue_for(stream, packet);

    if (!stream_turn(stream, queue)) /* memory is short: any queue will do, as long as the order is kept */
        queue = atomic_load_explicit(&stream->at, memory_order_relaxed);
    stream_give(stream, queue, packet, marker);
}

static void stream_put_barrier(struct ihipStream_t *stream, struct hip_marker *const *deps, unsigned count,
                               struct hip_marker *marker)
{
    union ehp_packet packet = {0};

    packet.barrier.header = stream_header(EHP_PACKET_BARRIER_AND);
    for (unsigned i = 0; i < count; i++)
        packet.barrier.dep_signal[i] = deps[i]->signal;
    stream_put(stream, &packet, marker);
}

static void stream_put_agent(struct ihipStream_t *stream, enum ehp_agent_function function, uint64_t a,
                             uint64_t b, uint64_t c, uint64_t d)
{
    union ehp_packet packet = {0};

    packet.agent.header = stream_header(EHP_PACKET_AGENT_DISPATCH);
    packet.agent.type = (uint16_t)function;
    packet.agent.arg[0] = a;
    packet.agent.arg[1] = b;
    packet.agent.arg[2] = c;
    packet.agent.arg[3] = d;
    stream_put(stream, &packet, NULL);
}

/* Waits, on the device, for the markers; takes over the references. */
static void stream_depend(struct ihipStream_t *stream, struct hip_marker **deps, unsigned count)
{
    for (unsigned i = 0; i < count; i += 5) {
        unsigned some = count - i < 5 ? count - i : 5;
        stream_put_barrier(stream, deps + i, some, NULL);
        for (unsigned k = 0; k < some; k++)
            stream_hold(stream, deps[i + k]);
    }
}

/* ---- order with the null stream ------------------------------------------------------------------------ */

hipError_t hip_stream_mark(struct hip_queue *queue, struct hip_marker **out)
{
    union ehp_packet packet = {0};
    struct hip_marker *marker = hip_marker_new();

    *out = NULL;
    if (!marker)
        return hipErrorOutOfMemory;
    packet.barrier.header = stream_header(EHP_PACKET_BARRIER_AND);
    packet.barrier.completion_signal = marker->signal;
    if (hip_queue_put(queue, &packet)) {
        *out = marker;
        return hipSuccess;
    }
    ehp_signal_store(marker->signal, 0);
    hip_marker_unref(marker);
    return hipErrorNotSupported;
}

#define ORDER_QUEUES 64

/*
 * The queues, held, of the blocking streams that have work the null stream has not been ordered behind.
 * As many as there is place for: the next call gives others.
 */
static unsigned stream_unseen(struct hip_device *device, struct hip_queue *queues[ORDER_QUEUES])
{
    unsigned count = 0;

    pthread_mutex_lock(&device->streams_lock);
    for (struct ihipStream_t *other = device->streams; other && count < ORDER_QUEUES; other = other->next) {
        if (!hip_stream_blocking(other))
            continue;
        uint64_t position = atomic_load_explicit(&other->position, memory_order_acquire);
        if (position == other->seen_by_null)
            continue;
        other->seen_by_null = position;
        unsigned same = 0;
        if (hip_stream_idle(other))
            continue;
        struct hip_queue *at = atomic_load_explicit(&other->at, memory_order_acquire);
        while (same < count && queues[same] != at)
            same++;
        if (same == count)
            queues[count++] = hip_queue_hold(at);
    }
    pthread_mutex_unlock(&device->streams_lock);
    return count;
}

/* Rings may be full, and then wait for what other threads do: with no lock held but the stream's. */
static void stream_order_null(struct ihipStream_t *null)
{
    struct hip_queue *queues[ORDER_QUEUES];
    struct hip_marker *deps[ORDER_QUEUES];
    unsigned found;

    do {
        unsigned count = 0;
        found = stream_unseen(null->device, queues);
        for (unsigned i = 0; i < found; i++) {
            count += hip_stream_mark(queues[i], &deps[count]) == hipSuccess;
            hip_queue_release(queues[i]);
        }
        stream_depend(null, deps, count);
    } while (found == ORDER_QUEUES);
}

static void stream_order(struct ihipStream_t *stream)
{
    struct hip_device *device = stream->device;

    if (stream->null) {
        if (atomic_load_explicit(&device->blocking_streams, memory_order_acquire))
            stream_order_null(stream);
        return;
    }
    if (!hip_stream_blocking(stream))
        return;
    struct ihipStream_t *null = atomic_load_explicit(&device->null_stream, memory_order_acquire);
    if (!null)
        return;
    uint64_t position = atomic_load_explicit(&null->position, memory_order_acquire);
    if (position == stream->null_seen)
        return;
    if (!hip_stream_idle(null)) {
        struct hip_marker *marker;
        if (hip_stream_mark(atomic_load(&null->at), &marker) == hipSuccess)
            stream_depend(stream, &marker, 1);
    }
    stream->null_seen = position;
}

/* ---- operand memory ------------------------------------------------------------------------------------ */

/* False in a host function that this would wait for. */
static bool stream_wait_packet(struct ihipStream_t *stream, uint64_t packet)
{
    struct hip_thread *thread = hip_thread();

    if (hip_stream_completed(stream) >= packet)
        return true;
    if (thread->call && thread->call->queue == stream->queue) {
        thread->refused = true;
        return false;
    }
    if (atomic_load(&stream->submitted) < packet)
        stream_put_barrier(stream, NULL, 0, NULL);
    (void)hip_wait_signal(stream->device, stream->progress, 1 - (int64_t)packet);
    return true;
}

void *hip_ring_alloc(struct ihipStream_t *stream, size_t bytes, size_t align)
{
    struct hip_ring *ring = &stream->ring;
    void *base;

    align = align < 64 ? 64 : align;
    if (bytes > HIP_RING_SEGMENT)
        return NULL;
    if (!ring->base) {
        if (ehp_mem_alloc(hip_runtime()->machine, stream->device->agent, EHP_MEM_INTERNAL,
                          HIP_RING_SEGMENTS * HIP_RING_SEGMENT, 0, &base) != EHP_OK)
            return NULL;
        ring->base = base;
    }
    size_t at = (ring->used + align - 1) & ~(align - 1);
    if (at + bytes > HIP_RING_SEGMENT) {
        const unsigned next = (ring->segment + 1) % HIP_RING_SEGMENTS;
        if (ring->last[next] && !stream_wait_packet(stream, ring->last[next]))
            return NULL;
        /* The operation being built may use this segment too: it is the next packet. */
        ring->last[ring->segment] = atomic_load(&stream->submitted) + 1;
        ring->segment = next;
        at = 0;
    }
    ring->used = (uint32_t)(at + bytes);
    return ring->base + ring->segment * HIP_RING_SEGMENT + at;
}

/* Room for operands in memory that no kernel can change: what others than kernels go by. */
static void *stream_host_alloc(struct ihipStream_t *stream, size_t bytes)
{
    struct hip_ring *ring = &stream->ring;
    unsigned char *at = hip_ring_alloc(stream, bytes, 64);

    if (at && !ring->host)
        ring->host = calloc(HIP_RING_SEGMENTS, HIP_RING_SEGMENT);
    return at && ring->host ? ring->host + (at - ring->base) : NULL;
}

/* ---- operations ---------------------------------------------------------------------------------------- */

static hipError_t stream_open(struct ihipStream_t *stream)
{
    if (stream->queue)
        return hipSuccess;
    if (!stream->progress.handle && ehp_signal_create(hip_runtime()->machine, 0, &stream->progress) != EHP_OK)
        return hipErrorOutOfMemory;
    return hip_queue_take(stream, &stream->queue);
}

/* What every operation begins with. */
hipError_t hip_stream_ready(struct ihipStream_t *stream)
{
    hipError_t error = hip_device_error(stream->device);

    if (error == hipSuccess)
        error = stream_open(stream);
    if (error != hipSuccess)
        return error;
    stream_release(stream);
    stream_order(stream);
    return hip_thread()->refused ? hipErrorNotSupported : hipSuccess;
}

static hipError_t stream_put_launch(struct ihipStream_t *stream, const struct hip_launch *launch,
                                    struct hip_marker *marker)
{
    union ehp_packet packet = {0};
    hipError_t error = hip_launch_packet(stream, launch, &packet.dispatch);

    if (error != hipSuccess)
        return error;
    packet.dispatch.header = stream_header(EHP_PACKET_KERNEL_DISPATCH);
    stream_put(stream, &packet, marker);
    if (launch->function->prints)
        stream_put_agent(stream, EHP_AGENT_CALL, (uint64_t)(uintptr_t)hip_printf_drain,
                         (uint64_t)(uintptr_t)stream, 0, 0);
    return hipSuccess;
}

static hipError_t stream_put_batch(struct ihipStream_t *stream, const struct hip_op *op)
{
    for (unsigned i = 0; i < op->batch.count; i++) {
        const hipStreamBatchMemOpParams *p = &op->batch.params[i];
        switch (p->operation) {
        case hipStreamMemOpWaitValue32:
        case hipStreamMemOpWaitValue64: {
            bool wide = p->operation == hipStreamMemOpWaitValue64;
            uint64_t value = wide ? p->waitValue.value64 : p->waitValue.value;
            stream_put_agent(stream, EHP_AGENT_WAIT_VALUE, (uint64_t)(uintptr_t)p->waitValue.address, value,
                             wide ? UINT64_MAX : UINT32_MAX,
                             (wide ? 8 : 4) | (uint64_t)p->waitValue.flags << 8);
            break;
        }
        case hipStreamMemOpWriteValue32:
        case hipStreamMemOpWriteValue64: {
            bool wide = p->operation == hipStreamMemOpWriteValue64;
            uint64_t value = wide ? p->writeValue.value64 : p->writeValue.value;
            stream_put_agent(stream, EHP_AGENT_WRITE_VALUE, (uint64_t)(uintptr_t)p->writeValue.address, value,
                             wide ? 8 : 4, 0);
            break;
        }
        case hipStreamMemOpBarrier:
        case hipStreamMemOpFlushRemoteWrites: /* every packet releases to the system */
            stream_put_barrier(stream, NULL, 0, NULL);
            break;
        default:
            return hipErrorInvalidValue;
        }
    }
    return hipSuccess;
}

static hipError_t stream_put_blit(struct ihipStream_t *stream, const struct hip_op *op)
{
    union ehp_packet packet = {0};
    hipError_t error = hip_blit_packet(stream, op, &packet.dispatch);

    if (error != hipSuccess)
        return error;
    packet.dispatch.header = stream_header(EHP_PACKET_KERNEL_DISPATCH);
    stream_put(stream, &packet, NULL);
    return hipSuccess;
}

hipError_t hip_stream_submit_locked(struct ihipStream_t *stream, const struct hip_op *op)
{
    if (hip_blit_takes(op))
        return stream_put_blit(stream, op);
    switch (op->kind) {
    case HIP_OP_EMPTY:
        stream_put_barrier(stream, NULL, 0, NULL);
        return hipSuccess;
    case HIP_OP_KERNEL:
        return stream_put_launch(stream, &op->launch, NULL);
    case HIP_OP_COPY:
        stream_put_agent(stream, EHP_AGENT_COPY, (uint64_t)(uintptr_t)op->copy.dst,
                         (uint64_t)(uintptr_t)op->copy.src, op->copy.bytes, 0);
        return hipSuccess;
    case HIP_OP_FILL:
        stream_put_agent(stream, EHP_AGENT_FILL, (uint64_t)(uintptr_t)op->fill.dst, op->fill.value,
                         op->fill.element, op->fill.count);
        return hipSuccess;
    case HIP_OP_COPY_3D: {
        struct ehp_copy_3d *copy = stream_host_alloc(stream, sizeof *copy);
        if (!copy)
            return hipErrorOutOfMemory;
        *copy = op->copy_3d;
        stream_put_agent(stream, EHP_AGENT_COPY_3D, (uint64_t)(uintptr_t)copy, 0, 0, 0);
        return hipSuccess;
    }
    case HIP_OP_FILL_3D: {
        struct ehp_fill_3d *fill = stream_host_alloc(stream, sizeof *fill);
        if (!fill)
            return hipErrorOutOfMemory;
        *fill = op->fill_3d;
        stream_put_agent(stream, EHP_AGENT_FILL_3D, (uint64_t)(uintptr_t)fill, 0, 0, 0);
        return hipSuccess;
    }
    case HIP_OP_PREFETCH:
        stream_put_agent(stream, EHP_AGENT_PREFETCH, (uint64_t)(uintptr_t)op->prefetch.address,
                         op->prefetch.bytes, op->prefetch.agent, 0);
        return hipSuccess;
    case HIP_OP_HOST: {
        struct hip_call *call = hip_ring_alloc(stream, sizeof *call, 64);
        if (!call)
            return hipErrorOutOfMemory;
        *call = (struct hip_call){op->host.fn, op->host.user, stream};
        stream_put_agent(stream, EHP_AGENT_CALL, (uint64_t)(uintptr_t)hip_call, (uint64_t)(uintptr_t)call, 0,
                         0);
        return hipSuccess;
    }
    case HIP_OP_WAIT_VALUE:
        stream_put_agent(stream, EHP_AGENT_WAIT_VALUE, (uint64_t)(uintptr_t)op->value.address,
                         op->value.value, op->value.mask,
                         op->value.bytes | (uint64_t)op->value.condition << 8);
        return hipSuccess;
    case HIP_OP_WRITE_VALUE:
        stream_put_agent(stream, EHP_AGENT_WRITE_VALUE, (uint64_t)(uintptr_t)op->value.address,
                         op->value.value, op->value.bytes, 0);
        return hipSuccess;
    case HIP_OP_BATCH:
        return stream_put_batch(stream, op);
    default:
        return hipErrorInvalidValue;
    }
}

hipError_t hip_stream_submit(struct ihipStream_t *stream, const struct hip_op *op)
{
    if (op->kind == HIP_OP_EVENT_RECORD)
        return hip_event_record(stream, op->event.event);
    if (op->kind == HIP_OP_EVENT_WAIT)
        return hip_event_wait(stream, op->event.event);
    hipError_t error = hip_lock(&stream->lock);
    if (error != hipSuccess)
        return error;
    error = hip_stream_ready(stream);
    if (error == hipSuccess)
        error = hip_stream_submit_locked(stream, op);
    pthread_mutex_unlock(&stream->lock);
    return hip_thread()->refused ? hipErrorNotSupported : error;
}

hipError_t hip_stream_op(hipStream_t handle, const struct hip_op *op)
{
    struct ihipStream_t *stream;
    hipError_t error = hip_stream_of(handle, &stream);

    if (error != hipSuccess)
        return error;
    if (stream->capture)
        return hip_capture_op(stream, op, NULL);
    error = hip_capture_implicit(stream);
    return error == hipSuccess ? hip_stream_submit(stream, op) : error;
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void stream_set_event(struct ihipStream_t *stream, struct ihipEvent_t *event,
                             struct hip_marker *marker, bool use_start)
{
    pthread_mutex_lock(&event->lock);
    struct hip_marker *old = event->marker;
    event->marker = hip_marker_ref(marker);
    event->use_start = use_start;
    event->stream = stream;
    event->position = atomic_load(&stream->position);
    event->capture_id = 0;
    pthread_mutex_unlock(&event->lock);
    hip_marker_unref(old);
}

hipError_t hip_stream_record(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    struct hip_marker *marker = hip_marker_new();

    if (!marker)
        return hipErrorOutOfMemory;
    hipError_t error = hip_lock(&stream->lock);
    if (error == hipSuccess) {
        error = hip_stream_ready(stream);
        if (error == hipSuccess) {
            stream_put_barrier(stream, NULL, 0, marker);
            stream_set_event(stream, event, marker, false);
        }
        pthread_mutex_unlock(&stream->lock);
    }
    if (error != hipSuccess)
        ehp_signal_store(marker->signal, 0);
    hip_marker_unref(marker);
    return error;
}

hipError_t hip_stream_wait_event(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    pthread_mutex_lock(&event->lock);
    struct hip_marker *marker = hip_marker_ref(event->marker);
    bool same = event->stream == stream;
    const struct ihipStream_t *recorded = event->stream;
    uint64_t position = event->position;
    pthread_mutex_unlock(&event->lock);

    if (marker && !same)
        hip_pools_follow(stream, recorded, position);
    if (!marker || same || hip_marker_done(marker)) {
        hip_marker_unref(marker);
        return hip_device_error(stream->device);
    }
    hipError_t error = hip_stream_after(stream, marker);
    hip_marker_unref(marker);
    return error;
}

hipError_t hip_stream_tail(struct ihipStream_t *stream, struct hip_marker **marker)
{
    *marker = NULL;
    return hip_stream_idle(stream) ? hipSuccess : hip_stream_mark(atomic_load(&stream->at), marker);
}

hipError_t hip_stream_start(struct ihipStream_t *stream, struct hip_marker **marker)
{
    *marker = NULL;
    hipError_t error = hip_lock(&stream->lock);
    if (error != hipSuccess)
        return error;
    error = hip_stream_ready(stream); /* orders it behind the null stream */
    pthread_mutex_unlock(&stream->lock);
    return error == hipSuccess ? hip_stream_tail(stream, marker) : error;
}

hipError_t hip_stream_after(struct ihipStream_t *stream, struct hip_marker *marker)
{
    if (!marker || hip_marker_done(marker))
        return hipSuccess;
    hipError_t error = hip_lock(&stream->lock);
    if (error != hipSuccess)
        return error;
    error = hip_stream_ready(stream);
    if (error == hipSuccess) {
        hip_marker_ref(marker); /* which the stream takes over */
        stream_depend(stream, &marker, 1);
    }
    pthread_mutex_unlock(&stream->lock);
    return error;
}

hipError_t hip_stream_follow(struct ihipStream_t *stream, struct ihipStream_t *other)
{
    if (stream == other || hip_stream_idle(other))
        return hipSuccess;
    struct hip_marker *marker;
    hipError_t error = hip_stream_mark(atomic_load(&other->at), &marker);
    if (error == hipSuccess)
        error = hip_stream_after(stream, marker);
    hip_marker_unref(marker);
    return error;
}

hipError_t hip_stream_launch_timed(struct ihipStream_t *stream, const struct hip_op *op, hipEvent_t start,
                                   hipEvent_t stop)
{
    struct hip_marker *marker = hip_marker_new();

    if (!marker)
        return hipErrorOutOfMemory;
    hipError_t error = hip_lock(&stream->lock);
    if (error == hipSuccess) {
        error = hip_stream_ready(stream);
        if (error == hipSuccess)
            error = stream_put_launch(stream, &op->launch, marker);
        if (error == hipSuccess && start)
            stream_set_event(stream, start, marker, true);
        if (error == hipSuccess && stop)
            stream_set_event(stream, stop, marker, false);
        pthread_mutex_unlock(&stream->lock);
    }
    if (error != hipSuccess)
        ehp_signal_store(marker->signal, 0);
    hip_marker_unref(marker);
    return error;
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static hipError_t stream_fault_error(const struct ehp_fault *fault, const struct hip_device *device)
{
    switch (fault->kind) {
    case EHP_FAULT_MEMORY:
    case EHP_FAULT_MISALIGNED:
    case EHP_FAULT_SCRATCH_RANGE:
        return hipErrorIllegalAddress;
    case EHP_FAULT_TRAP:
        return atomic_load(&device->assertion) ? hipErrorAssert : hipErrorLaunchFailure;
    case EHP_FAULT_TIMEOUT:
        return hipErrorLaunchTimeOut;
    case EHP_FAULT_NO_MEMORY:
        return hipErrorOutOfMemory;
    case EHP_FAULT_RESOURCES:
        return hipErrorLaunchOutOfResources;
    default:
        return hipErrorLaunchFailure;
    }
}

/* Runs on a thread of the machine, which has locks of its own. */
static void stream_on_fault(const struct ehp_fault *fault, void *user)
{
    struct hip_device *device = hip_queue_device(user, fault->queue);
    int none = 0;

    if (!device || atomic_load(&device->fault))
        return;
    /* Who is told of the error by a call finds the report. */
    fflush(stdout);
    fprintf(stderr, "ehp: %s\n", fault->text);
    atomic_compare_exchange_strong(&device->fault, &none, (int)stream_fault_error(fault, device));
}

void hip_fault_install(struct hip_runtime *runtime)
{
    ehp_set_fault_handler(runtime->machine, stream_on_fault, runtime);
}
