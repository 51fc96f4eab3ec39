/* SPDX-License-Identifier: MIT */
/* Hardware queues, and which stream has which. */
#include "hip/stream/queue.h"

#include <stdlib.h>

#include "hip/stream/stream.h"

#define QUEUE_PACKETS 1024

/* Queues of one kind are shared; those of ALONE are not. */
enum { QUEUE_LOW, QUEUE_NORMAL, QUEUE_HIGH, QUEUE_INTERNAL, QUEUE_ALONE };

static int queue_kind(const struct ihipStream_t *stream)
{
    if (stream->null || stream->cu_mask)
        return QUEUE_ALONE;
    if (stream->internal)
        return QUEUE_INTERNAL;
    return stream->priority < 0 ? QUEUE_HIGH : stream->priority > 0 ? QUEUE_LOW : QUEUE_NORMAL;
}

/* beside: the stream's, or NULL. */
static hipError_t queue_new(struct ihipStream_t *stream, const struct hip_queue *beside,
                            struct hip_queue **out)
{
    ehp_machine *machine = hip_runtime()->machine;
    struct hip_queue *queue = calloc(1, sizeof *queue);
    const int priority = stream->priority < 0 ? 2 : stream->priority > 0 ? 0 : 1;

    if (!queue)
        return hipErrorOutOfMemory;
    int status =
        beside ? ehp_queue_beside(beside->block, &queue->block)
               : ehp_queue_create(machine, stream->device->agent, QUEUE_PACKETS, priority, &queue->block);
    if (status != EHP_OK) {
        free(queue);
        return hip_from_status(status);
    }
    if (stream->cu_mask && !beside)
        ehp_queue_cu_mask(queue->block, stream->cu_mask, stream->cu_mask_words * 32);
    queue->device = stream->device;
    queue->beside = beside;
    *out = queue;
    return hipSuccess;
}

/* The queue of that kind that the fewest streams have, the oldest of those, when there may be no more. */
static struct hip_queue *queue_shared(struct hip_device *device, int kind)
{
    struct hip_queue *best = NULL;
    unsigned count = 0;

    for (struct hip_queue *queue = device->queues; queue; queue = queue->next) {
        if (queue->kind != kind || queue->stopped || !queue->streams)
            continue;
        count++;
        if (!best || queue->streams <= best->streams)
            best = queue;
    }
    return count >= hip_runtime()->hw_queues ? best : NULL;
}

static void queue_insert(struct hip_queue *queue, int kind)
{
    struct hip_device *device = queue->device;

    queue->kind = kind;
    queue->streams = queue->refs = 1;
    pthread_mutex_lock(&device->queues_lock);
    queue->next = device->queues;
    device->queues = queue;
    pthread_mutex_unlock(&device->queues_lock);
}

hipError_t hip_queue_take(struct ihipStream_t *stream, struct hip_queue **out)
{
    struct hip_device *device = stream->device;
    const int kind = queue_kind(stream);
    struct hip_queue *queue = NULL;
    hipError_t error = hipSuccess;

    pthread_mutex_lock(&device->lock); /* two streams do not make the last queue */
    if (kind != QUEUE_ALONE) {
        pthread_mutex_lock(&device->queues_lock);
        queue = queue_shared(device, kind);
        if (queue) {
            queue->streams++;
            queue->refs++;
        }
        pthread_mutex_unlock(&device->queues_lock);
    }
    if (!queue && (error = queue_new(stream, NULL, &queue)) == hipSuccess)
        queue_insert(queue, kind);
    pthread_mutex_unlock(&device->lock);
    if (error == hipSuccess)
        *out = queue;
    return error;
}

hipError_t hip_queue_take_copies(struct ihipStream_t *stream, struct hip_queue **out)
{
    hipError_t error = queue_new(stream, stream->queue, out);

    if (error == hipSuccess)
        queue_insert(*out, QUEUE_ALONE);
    return error;
}

static void queue_drop(struct hip_queue *queue, bool stream)
{
    struct hip_device *device = queue->device;

    pthread_mutex_lock(&device->queues_lock);
    queue->streams -= stream;
    const bool last = --queue->refs == 0;
    pthread_mutex_unlock(&device->queues_lock);
    if (!last)
        return;
    ehp_queue_destroy(queue->block);
    pthread_mutex_lock(&device->queues_lock);
    for (struct hip_queue **link = &device->queues; *link; link = &(*link)->next)
        if (*link == queue) {
            *link = queue->next;
            break;
        }
    pthread_mutex_unlock(&device->queues_lock);
    free(queue);
}

void hip_queue_leave(struct hip_queue *queue)
{
    queue_drop(queue, true);
}

struct hip_queue *hip_queue_hold(struct hip_queue *queue)
{
    pthread_mutex_lock(&queue->device->queues_lock);
    queue->refs++;
    pthread_mutex_unlock(&queue->device->queues_lock);
    return queue;
}

void hip_queue_release(struct hip_queue *queue)
{
    queue_drop(queue, false);
}

void hip_queue_stop(struct hip_queue *queue)
{
    pthread_mutex_lock(&queue->device->queues_lock);
    queue->stopped = true;
    pthread_mutex_unlock(&queue->device->queues_lock);
    ehp_queue_stop(queue->block);
}

struct hip_device *hip_queue_device(struct hip_runtime *runtime, const struct ehp_queue_block *block)
{
    struct hip_device *found = NULL;

    for (int i = 0; i < runtime->devices && !found; i++) {
        struct hip_device *device = &runtime->device[i];
        pthread_mutex_lock(&device->queues_lock);
        for (const struct hip_queue *queue = device->queues; queue; queue = queue->next)
            if (queue->block == block)
                found = device;
        pthread_mutex_unlock(&device->queues_lock);
    }
    return found;
}
