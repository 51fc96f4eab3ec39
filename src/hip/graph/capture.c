/* SPDX-License-Identifier: MIT */
/*
 * Stream capture: while a stream is in a capture its calls become nodes.  A
 * stream joins by waiting for an event recorded in the capture, and every
 * stream that joined must have been waited for when the capture ends.
 */
#include <stdlib.h>
#include <string.h>

#include "hip/core/state.h"
#include "hip/graph/capture.h"
#include "hip/memory/pool.h"
#include "hip/stream/stream.h"

struct capture_list *capture_list(void)
{
    return &hip_state()->captures;
}

void capture_lock(void)
{
    pthread_mutex_lock(&capture_list()->lock);
}

hipError_t capture_unlock(hipError_t error)
{
    pthread_mutex_unlock(&capture_list()->lock);
    return error;
}

/* Of the calling thread; an address would be another thread's one day. */
static uint64_t capture_thread(void)
{
    struct hip_thread *thread = hip_thread();

    if (!thread->id)
        thread->id = atomic_fetch_add(&hip_runtime()->next_id, 1) + 1;
    return thread->id;
}

static bool capture_blocks(const struct ihipStream_t *stream)
{
    return !(stream->flags & hipStreamNonBlocking);
}

/* ---- dependencies -------------------------------------------------------------------------------------- */

static bool capture_add_dep(struct ihipStream_t *stream, struct hipGraphNode *node)
{
    for (size_t i = 0; i < stream->capture_dep_count; i++)
        if (stream->capture_deps[i] == node)
            return true;
    if (stream->capture_dep_count == stream->capture_dep_room) {
        size_t room = stream->capture_dep_room ? stream->capture_dep_room * 2 : 4;
        struct hipGraphNode **more = realloc((void *)stream->capture_deps, room * sizeof *more);
        if (!more)
            return false;
        stream->capture_deps = more;
        stream->capture_dep_room = room;
    }
    stream->capture_deps[stream->capture_dep_count++] = node;
    return true;
}

bool capture_add_deps(struct ihipStream_t *stream, struct hipGraphNode *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!capture_add_dep(stream, nodes[i]))
            return false;
    return true;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static bool capture_join(struct hip_capture *capture, struct ihipStream_t *stream)
{
    struct ihipStream_t **more =
        realloc((void *)capture->streams, (capture->stream_count + 1) * sizeof *capture->streams);

    if (!more)
        return false;
    capture->streams = more;
    capture->streams[capture->stream_count++] = stream;
    stream->capture = capture;
    stream->capture_dep_count = 0;
    return true;
}

/* Ends it for all its streams; the graph stays. */
static void capture_close(struct hip_capture *capture)
{
    struct capture_list *list = capture_list();

    for (struct hip_capture **link = &list->first; *link; link = &(*link)->next)
        if (*link == capture) {
            *link = capture->next;
            break;
        }
    atomic_fetch_sub(&list->count, 1);
    if (capture_blocks(capture->origin))
        atomic_fetch_sub(&list->blocking, 1);
    for (size_t i = 0; i < capture->stream_count; i++) {
        capture->streams[i]->capture = NULL;
        capture->streams[i]->capture_dep_count = 0;
    }
    capture->graph->captured = false;
    free((void *)capture->streams);
    free(capture);
}

static hipError_t capture_new(struct ihipStream_t *stream, hipStreamCaptureMode mode, struct ihipGraph *graph,
                              const hipGraphNode_t *deps, size_t count)
{
    struct capture_list *list = capture_list();

    if (stream->capture || (graph && graph->captured))
        return hipErrorIllegalState;
    struct hip_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return hipErrorOutOfMemory;
    *capture = (struct hip_capture){
        .graph = graph,
        .borrowed = graph != NULL,
        .mode = mode,
        .id = atomic_fetch_add(&hip_runtime()->next_id, 1) + 1,
        .thread = capture_thread(),
        .origin = stream,
    };
    hipError_t error = graph ? hipSuccess : graph_new(&capture->graph);
    if (error == hipSuccess && (!capture_join(capture, stream) || !capture_add_deps(stream, deps, count)))
        error = hipErrorOutOfMemory;
    if (error != hipSuccess) {
        stream->capture = NULL;
        if (!graph && capture->graph)
            graph_delete(capture->graph);
        free((void *)capture->streams);
        free(capture);
        return error;
    }
    capture->graph->captured = true;
    atomic_fetch_add(&list->count, 1);
    if (capture_blocks(stream))
        atomic_fetch_add(&list->blocking, 1);
    capture->next = list->first;
    list->first = capture;
    return hipSuccess;
}

static hipError_t capture_begin(hipStream_t handle, hipStreamCaptureMode mode, struct ihipGraph *graph,
                                const hipGraphNode_t *deps, size_t count)
{
    struct ihipStream_t *stream;

    if ((unsigned)mode > hipStreamCaptureModeRelaxed)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->null)
        return hipErrorStreamCaptureUnsupported;
    capture_lock();
    return capture_unlock(capture_new(stream, mode, graph, deps, count));
}

/* Every stream's last nodes must lie before the origin's. */
static bool capture_joined(const struct hip_capture *capture)
{
    struct ihipGraph *graph = capture->graph;
    struct hipGraphNode **todo = calloc(graph->count + 1, sizeof *todo);
    size_t count = 0;
    bool joined = true;

    if (!todo)
        return false;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = 0;
    for (size_t i = 0; i < capture->origin->capture_dep_count; i++) {
        capture->origin->capture_deps[i]->mark = 1;
        todo[count++] = capture->origin->capture_deps[i];
    }
    while (count) {
        struct hipGraphNode *node = todo[--count];
        for (size_t i = 0; i < node->dep_count; i++)
            if (!node->deps[i]->mark) {
                node->deps[i]->mark = 1;
                todo[count++] = node->deps[i];
            }
    }
    for (size_t i = 1; i < capture->stream_count; i++)
        for (size_t k = 0; k < capture->streams[i]->capture_dep_count; k++)
            joined &= capture->streams[i]->capture_deps[k]->mark != 0;
    free((void *)todo);
    return joined;
}

/* The capture's graph, or the one to throw away when there is an error. */
static hipError_t capture_finish(struct ihipStream_t *stream, struct ihipGraph **graph)
{
    struct hip_capture *capture = stream->capture;
    hipError_t error = hipSuccess;

    *graph = NULL;
    if (!capture)
        return hipErrorIllegalState;
    if (capture->origin != stream)
        return hipErrorStreamCaptureUnmatched;
    if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != capture_thread())
        return hipErrorStreamCaptureWrongThread;
    if (capture->invalid)
        error = hipErrorStreamCaptureInvalidated;
    else if (!capture_joined(capture))
        error = hipErrorStreamCaptureUnjoined;
    if (error == hipSuccess || !capture->borrowed)
        *graph = capture->graph;
    capture_close(capture);
    return error;
}

static hipError_t capture_end(hipStream_t handle, hipGraph_t *out)
{
    struct ihipStream_t *stream;
    struct ihipGraph *graph;

    if (!out)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    capture_lock();
    error = capture_unlock(capture_finish(stream, &graph));
    if (error != hipSuccess && graph)
        graph_delete(graph);
    *out = error == hipSuccess ? graph : NULL;
    return error;
}

void hip_capture_invalidate(struct ihipStream_t *stream)
{
    capture_lock();
    if (stream->capture)
        stream->capture->invalid = true;
    capture_unlock(hipSuccess);
}

/* With the lock: the stream captures no more; the graph that its capture leaves to be deleted, or NULL. */
static struct ihipGraph *capture_leave(struct ihipStream_t *stream)
{
    struct hip_capture *capture = stream->capture;

    if (!capture)
        return NULL;
    if (capture->origin == stream) {
        struct ihipGraph *graph = capture->borrowed ? NULL : capture->graph;
        capture_close(capture);
        return graph;
    }
    capture->invalid = true;
    for (size_t i = 0; i < capture->stream_count; i++)
        if (capture->streams[i] == stream) {
            capture->streams[i] = capture->streams[--capture->stream_count];
            break;
        }
    stream->capture = NULL;
    stream->capture_dep_count = 0;
    return NULL;
}

void hip_capture_abandon(struct ihipStream_t *stream)
{
    capture_lock();
    struct ihipGraph *graph = capture_leave(stream);
    capture_unlock(hipSuccess);
    if (graph)
        graph_delete(graph);
}

/* With the lock: one of the device's streams that are being captured, or NULL. */
static struct ihipStream_t *capture_on(const struct hip_device *device)
{
    for (struct hip_capture *capture = capture_list()->first; capture; capture = capture->next)
        for (size_t i = 0; i < capture->stream_count; i++)
            if (capture->streams[i]->device == device)
                return capture->streams[i];
    return NULL;
}

void hip_captures_reset(const struct hip_device *device)
{
    struct ihipStream_t *stream;

    do {
        capture_lock();
        stream = capture_on(device);
        struct ihipGraph *graph = stream ? capture_leave(stream) : NULL;
        capture_unlock(hipSuccess);
        if (graph)
            graph_delete(graph);
    } while (stream);
}

/* ---- what a capture forbids ---------------------------------------------------------------------------- */

hipError_t hip_capture_implicit(struct ihipStream_t *stream)
{
    struct capture_list *list = capture_list();

    if (!stream->null || !atomic_load_explicit(&list->blocking, memory_order_relaxed))
        return hipSuccess;
    capture_lock();
    for (struct hip_capture *capture = list->first; capture; capture = capture->next)
        if (capture_blocks(capture->origin))
            capture->invalid = true;
    return capture_unlock(hipErrorStreamCaptureImplicit);
}

hipError_t hip_capture_forbids(void)
{
    struct capture_list *list = capture_list();
    hipStreamCaptureMode mode = hip_thread()->capture_mode;
    hipError_t error = hipSuccess;

    if (!atomic_load_explicit(&list->count, memory_order_relaxed) || mode == hipStreamCaptureModeRelaxed)
        return hipSuccess;
    capture_lock();
    for (const struct hip_capture *capture = list->first; capture; capture = capture->next)
        if ((capture->mode != hipStreamCaptureModeRelaxed && capture->thread == capture_thread()) ||
            (capture->mode == hipStreamCaptureModeGlobal && mode == hipStreamCaptureModeGlobal))
            error = hipErrorStreamCaptureUnsupported;
    return capture_unlock(error);
}

hipError_t hip_capture_refuses(struct ihipStream_t *stream)
{
    if (stream->capture) {
        hip_capture_invalidate(stream);
        return hipErrorStreamCaptureImplicit;
    }
    hipError_t error = hip_capture_implicit(stream);
    return error == hipSuccess && hip_capture_forbids() != hipSuccess ? hipErrorStreamCaptureImplicit : error;
}

/* ---- what is captured ---------------------------------------------------------------------------------- */

/* The node that a call becomes: after the stream's last ones, and its last one from now on. */
static hipError_t capture_append(struct ihipStream_t *stream, hipGraphNodeType type, const struct hip_op *op,
                                 hipMemAllocNodeParams *alloc, hipGraphNode_t *out)
{
    struct hip_capture *capture = stream->capture;
    struct hipGraphNode *node;

    if (!capture || capture->invalid)
        return hipErrorStreamCaptureInvalidated;
    hipError_t error =
        graph_node_new(capture->graph, type, stream->capture_deps, stream->capture_dep_count, &node);
    if (error == hipSuccess) {
        error = op ? graph_set_op(node, op) : graph_set_alloc(node, alloc);
        if (error != hipSuccess)
            graph_node_delete(node);
    }
    if (error != hipSuccess) {
        capture->invalid = true;
        return error;
    }
    stream->capture_dep_count = 0;
    capture_add_dep(stream, node);
    if (out)
        *out = node;
    return hipSuccess;
}

hipError_t hip_capture_op(struct ihipStream_t *stream, const struct hip_op *op, hipGraphNode_t *out)
{
    capture_lock();
    return capture_unlock(capture_append(stream, graph_type_of_op(op), op, NULL, out));
}

hipError_t hip_capture_alloc(struct ihipStream_t *stream, struct ihipMemPoolHandle_t *pool, size_t bytes,
                             void **out)
{
    hipMemAllocNodeParams params = {
        .poolProps = {.allocType = hipMemAllocationTypePinned,
                      .location = {hipMemLocationTypeDevice, stream->device->ordinal}},
        .bytesize = bytes,
    };

    (void)pool; /* a graph's memory is its own */
    capture_lock();
    hipError_t error = capture_unlock(capture_append(stream, hipGraphNodeTypeMemAlloc, NULL, &params, NULL));
    if (error == hipSuccess)
        *out = params.dptr;
    return error;
}

static hipError_t capture_record(const struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    size_t count = stream->capture_dep_count;

    if (!stream->capture || stream->capture->invalid)
        return hipErrorStreamCaptureInvalidated;
    struct hipGraphNode **deps = malloc((count + 1) * sizeof *deps);
    if (!deps)
        return hipErrorOutOfMemory;
    if (count)
        memcpy((void *)deps, (const void *)stream->capture_deps, count * sizeof *deps);
    pthread_mutex_lock(&event->lock);
    free((void *)event->capture_deps);
    event->capture_deps = deps;
    event->capture_dep_count = count;
    event->capture_id = stream->capture->id;
    pthread_mutex_unlock(&event->lock);
    return hipSuccess;
}

hipError_t hip_capture_record(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    capture_lock();
    return capture_unlock(capture_record(stream, event));
}

/* The lock is held. */
static struct hip_capture *capture_by_id(uint64_t id)
{
    struct hip_capture *capture = id ? capture_list()->first : NULL;

    while (capture && capture->id != id)
        capture = capture->next;
    return capture;
}

static hipError_t capture_wait(struct ihipStream_t *stream, struct ihipEvent_t *event, bool *outside)
{
    struct hip_capture *theirs = capture_by_id(event->capture_id);

    *outside = !theirs && !stream->capture;
    if (*outside)
        return hipSuccess;
    if (stream->capture && stream->capture->invalid)
        return hipErrorStreamCaptureInvalidated;
    if (!theirs) { /* work outside the capture, or of one that has ended */
        stream->capture->invalid = true;
        return hipErrorStreamCaptureIsolation;
    }
    if (stream->capture && stream->capture != theirs) {
        stream->capture->invalid = theirs->invalid = true;
        return hipErrorStreamCaptureMerge;
    }
    if (!stream->capture) {
        if (stream->null) {
            theirs->invalid = true;
            return hipErrorStreamCaptureImplicit;
        }
        if (!capture_join(theirs, stream))
            return hipErrorOutOfMemory;
    }
    return capture_add_deps(stream, event->capture_deps, event->capture_dep_count) ? hipSuccess
                                                                                   : hipErrorOutOfMemory;
}

hipError_t hip_capture_wait(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    hipError_t error = hipSuccess;
    bool outside = true;

    if (stream->capture || event->capture_id) {
        capture_lock();
        pthread_mutex_lock(&event->lock);
        error = capture_wait(stream, event, &outside);
        pthread_mutex_unlock(&event->lock);
        capture_unlock(error);
    }
    if (error == hipSuccess && outside)
        error = hip_capture_implicit(stream);
    return error == hipSuccess && outside ? hip_event_wait(stream, event) : error;
}

bool hip_capture_spoil(uint64_t id)
{
    capture_lock();
    struct hip_capture *capture = capture_by_id(id);
    bool found = capture != NULL;
    if (found)
        capture->invalid = true;
    capture_unlock(hipSuccess);
    return found;
}

/* ---- entry points -------------------------------------------------------------------------------------- */

HIP_ENTRY hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
    return hip_return(capture_begin(stream, mode, NULL, NULL, 0));
}

HIP_ENTRY hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode)
{
    return hip_return(capture_begin(hip_stream_spt(stream), mode, NULL, NULL, 0));
}

HIP_ENTRY hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph,
                                                  const hipGraphNode_t *dependencies,
                                                  const hipGraphEdgeData *dependencyData,
                                                  size_t numDependencies, hipStreamCaptureMode mode)
{
    (void)dependencyData;
    if (!graph_ok(graph) || (numDependencies && !dependencies))
        return hip_return(hipErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (!graph_node_ok(dependencies[i]) || dependencies[i]->graph != graph)
            return hip_return(hipErrorInvalidValue);
    return hip_return(capture_begin(stream, mode, graph, dependencies, numDependencies));
}

HIP_ENTRY hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *pGraph)
{
    return hip_return(capture_end(stream, pGraph));
}

HIP_ENTRY hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t *pGraph)
{
    return hip_return(capture_end(hip_stream_spt(stream), pGraph));
}

HIP_ENTRY hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
    struct hip_thread *thread = hip_thread();

    if (!mode || (unsigned)*mode > hipStreamCaptureModeRelaxed)
        return hip_return(hipErrorInvalidValue);
    hipStreamCaptureMode old = thread->capture_mode;
    thread->capture_mode = *mode;
    *mode = old;
    return hip_return(hipSuccess);
}
