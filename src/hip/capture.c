/* SPDX-License-Identifier: MIT */
/*
 * Stream capture: while a stream is in a capture its calls become nodes.  A
 * stream joins by waiting for an event recorded in the capture, and every
 * stream that joined must have been waited for when the capture ends.
 */
#include <stdlib.h>
#include <string.h>

#include "graph_node.h"
#include "pool.h"
#include "stream.h"

struct hip_capture {
    struct ihipGraph *graph;
    bool borrowed; /* hipStreamBeginCaptureToGraph: the program's graph */
    hipStreamCaptureMode mode;
    bool invalid;
    uint64_t id;
    struct ihipStream_t *origin;
    struct hip_thread *thread;
    struct ihipStream_t **streams; /* all of them, the origin first */
    size_t stream_count;
    struct hip_capture *next;
};

struct capture_list {
    pthread_mutex_t lock; /* all captures: they are made by few threads and rarely */
    struct hip_capture *first;
    _Atomic unsigned blocking; /* captures whose origin is a blocking stream */
};

static struct capture_list *capture_list(void)
{
    static struct capture_list list = {.lock = PTHREAD_MUTEX_INITIALIZER};
    return &list;
}

static bool capture_blocks(const struct ihipStream_t *stream)
{
    return !(stream->flags & hipStreamNonBlocking);
}

/* ---- dependencies -------------------------------------------------------------------------------------- */

static bool deps_add(struct ihipStream_t *stream, struct hipGraphNode *node)
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

static bool deps_add_all(struct ihipStream_t *stream, struct hipGraphNode *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!deps_add(stream, nodes[i]))
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

    pthread_mutex_lock(&list->lock);
    for (struct hip_capture **link = &list->first; *link; link = &(*link)->next)
        if (*link == capture) {
            *link = capture->next;
            break;
        }
    pthread_mutex_unlock(&list->lock);
    if (capture->mode == hipStreamCaptureModeGlobal)
        atomic_fetch_sub(&hip_runtime()->global_captures, 1);
    if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread->captures)
        capture->thread->captures--;
    if (capture_blocks(capture->origin))
        atomic_fetch_sub(&list->blocking, 1);
    for (size_t i = 0; i < capture->stream_count; i++) {
        capture->streams[i]->capture = NULL;
        capture->streams[i]->capture_dep_count = 0;
    }
    free((void *)capture->streams);
    free(capture);
}

static hipError_t capture_begin(hipStream_t handle, hipStreamCaptureMode mode, struct ihipGraph *graph,
                                const hipGraphNode_t *deps, size_t count)
{
    struct capture_list *list = capture_list();
    struct ihipStream_t *stream;

    if ((unsigned)mode > hipStreamCaptureModeRelaxed)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->null)
        return hipErrorStreamCaptureUnsupported;
    if (stream->capture)
        return hipErrorIllegalState;
    struct hip_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return hipErrorOutOfMemory;
    capture->mode = mode;
    capture->origin = stream;
    capture->thread = hip_thread();
    capture->id = atomic_fetch_add(&hip_runtime()->next_id, 1) + 1;
    capture->borrowed = graph != NULL;
    capture->graph = graph;
    if (!graph)
        error = graph_new(&capture->graph);
    if (error == hipSuccess && (!capture_join(capture, stream) || !deps_add_all(stream, deps, count)))
        error = hipErrorOutOfMemory;
    if (error != hipSuccess) {
        stream->capture = NULL;
        free((void *)capture->streams);
        free(capture);
        return error;
    }
    if (mode == hipStreamCaptureModeGlobal)
        atomic_fetch_add(&hip_runtime()->global_captures, 1);
    if (mode != hipStreamCaptureModeRelaxed)
        capture->thread->captures++;
    if (capture_blocks(stream))
        atomic_fetch_add(&list->blocking, 1);
    pthread_mutex_lock(&list->lock);
    capture->next = list->first;
    list->first = capture;
    pthread_mutex_unlock(&list->lock);
    return hipSuccess;
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

static hipError_t capture_end(hipStream_t handle, hipGraph_t *out)
{
    struct ihipStream_t *stream;

    if (!out)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    struct hip_capture *capture = stream->capture;
    if (!capture)
        return hipErrorIllegalState;
    if (capture->origin != stream)
        return hipErrorStreamCaptureUnmatched;
    if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != hip_thread())
        return hipErrorStreamCaptureWrongThread;
    if (capture->invalid)
        error = hipErrorStreamCaptureInvalidated;
    else if (!capture_joined(capture))
        error = hipErrorStreamCaptureUnjoined;
    struct ihipGraph *graph = capture->graph;
    bool borrowed = capture->borrowed;
    capture_close(capture);
    if (error != hipSuccess && !borrowed)
        graph_delete(graph);
    *out = error == hipSuccess ? graph : NULL;
    return error;
}

void hip_capture_invalidate(struct ihipStream_t *stream)
{
    if (stream->capture)
        stream->capture->invalid = true;
}

void hip_capture_abandon(struct ihipStream_t *stream)
{
    struct hip_capture *capture = stream->capture;

    if (capture->origin == stream) {
        struct ihipGraph *graph = capture->borrowed ? NULL : capture->graph;
        capture_close(capture);
        if (graph)
            graph_delete(graph);
        return;
    }
    capture->invalid = true;
    for (size_t i = 0; i < capture->stream_count; i++)
        if (capture->streams[i] == stream) {
            capture->streams[i] = capture->streams[--capture->stream_count];
            break;
        }
    stream->capture = NULL;
}

hipError_t hip_capture_implicit(struct ihipStream_t *stream)
{
    struct capture_list *list = capture_list();

    if (!stream->null || !atomic_load_explicit(&list->blocking, memory_order_relaxed))
        return hipSuccess;
    pthread_mutex_lock(&list->lock);
    for (struct hip_capture *capture = list->first; capture; capture = capture->next)
        if (capture_blocks(capture->origin))
            capture->invalid = true;
    pthread_mutex_unlock(&list->lock);
    return hipErrorStreamCaptureImplicit;
}

hipError_t hip_capture_refuses(struct ihipStream_t *stream)
{
    hipError_t error = hip_capture_implicit(stream);

    return error == hipSuccess ? hip_capture_forbids() : error;
}

/* ---- what is captured ---------------------------------------------------------------------------------- */

hipError_t hip_capture_op(struct ihipStream_t *stream, const struct hip_op *op, hipGraphNode_t *out)
{
    struct hip_capture *capture = stream->capture;
    struct hipGraphNode *node;

    if (capture->invalid)
        return hipErrorStreamCaptureInvalidated;
    hipError_t error = graph_node_new(capture->graph, graph_type_of_op(op), stream->capture_deps,
                                      stream->capture_dep_count, &node);
    if (error == hipSuccess) {
        error = graph_set_op(node, op);
        if (error != hipSuccess)
            graph_node_delete(node);
    }
    if (error != hipSuccess) {
        capture->invalid = true;
        return error;
    }
    stream->capture_dep_count = 0;
    deps_add(stream, node);
    if (out)
        *out = node;
    return hipSuccess;
}

hipError_t hip_capture_alloc(struct ihipStream_t *stream, struct ihipMemPoolHandle_t *pool, size_t bytes,
                             void **out)
{
    hipMemAllocNodeParams params = {
        .poolProps = {.allocType = hipMemAllocationTypePinned,
                      .location = {hipMemLocationTypeDevice, stream->device->ordinal}},
        .bytesize = bytes,
    };
    struct hip_op op = {.kind = HIP_OP_EMPTY};
    struct hipGraphNode *node;

    (void)pool; /* a graph's memory is its own */
    hipError_t error = hip_capture_op(stream, &op, &node);
    if (error != hipSuccess)
        return error;
    node->type = hipGraphNodeTypeMemAlloc;
    error = graph_set_alloc(node, &params);
    if (error == hipSuccess)
        *out = params.dptr;
    return error;
}

hipError_t hip_capture_record(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    size_t count = stream->capture_dep_count;

    if (stream->capture->invalid)
        return hipErrorStreamCaptureInvalidated;
    struct hipGraphNode **deps = malloc((count + 1) * sizeof *deps);
    if (!deps)
        return hipErrorOutOfMemory;
    memcpy((void *)deps, (const void *)stream->capture_deps, count * sizeof *deps);
    pthread_mutex_lock(&event->lock);
    free((void *)event->capture_deps);
    event->capture_deps = deps;
    event->capture_dep_count = count;
    event->capture_id = stream->capture->id;
    pthread_mutex_unlock(&event->lock);
    return hipSuccess;
}

static struct hip_capture *capture_by_id(uint64_t id)
{
    struct capture_list *list = capture_list();
    struct hip_capture *capture;

    pthread_mutex_lock(&list->lock);
    for (capture = list->first; capture && capture->id != id; capture = capture->next)
        ;
    pthread_mutex_unlock(&list->lock);
    return capture;
}

hipError_t hip_capture_wait(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    struct hip_capture *theirs = event->capture_id ? capture_by_id(event->capture_id) : NULL;

    if (stream->capture && stream->capture->invalid)
        return hipErrorStreamCaptureInvalidated;
    if (!event->capture_id) { /* work outside the capture */
        stream->capture->invalid = true;
        return hipErrorStreamCaptureIsolation;
    }
    if (!theirs)
        return hipErrorCapturedEvent;
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
    return deps_add_all(stream, event->capture_deps, event->capture_dep_count) ? hipSuccess
                                                                               : hipErrorOutOfMemory;
}

bool hip_capture_spoil(uint64_t id)
{
    struct hip_capture *capture = capture_by_id(id);

    if (capture)
        capture->invalid = true;
    return capture != NULL;
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

static hipError_t capture_info(hipStream_t handle, hipStreamCaptureStatus *status, unsigned long long *id,
                               hipGraph_t *graph, const hipGraphNode_t **deps, size_t *count)
{
    struct ihipStream_t *stream;

    if (!status)
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->null && atomic_load(&capture_list()->blocking))
        return hipErrorStreamCaptureImplicit;
    const struct hip_capture *capture = stream->capture;
    *status = !capture           ? hipStreamCaptureStatusNone
              : capture->invalid ? hipStreamCaptureStatusInvalidated
                                 : hipStreamCaptureStatusActive;
    if (*status != hipStreamCaptureStatusActive)
        return hipSuccess;
    if (id)
        *id = capture->id;
    if (graph)
        *graph = capture->graph;
    if (deps)
        *deps = stream->capture_deps;
    if (count)
        *count = stream->capture_dep_count;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus)
{
    return hip_return(capture_info(stream, pCaptureStatus, NULL, NULL, NULL, NULL));
}

HIP_ENTRY hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus)
{
    return hip_return(capture_info(hip_stream_spt(stream), pCaptureStatus, NULL, NULL, NULL, NULL));
}

HIP_ENTRY hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
                                             unsigned long long *pId)
{
    return hip_return(capture_info(stream, pCaptureStatus, pId, NULL, NULL, NULL));
}

HIP_ENTRY hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream, hipStreamCaptureStatus *pCaptureStatus,
                                                 unsigned long long *pId)
{
    return hip_return(capture_info(hip_stream_spt(stream), pCaptureStatus, pId, NULL, NULL, NULL));
}

HIP_ENTRY hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *captureStatus_out,
                                                unsigned long long *id_out, hipGraph_t *graph_out,
                                                const hipGraphNode_t **dependencies_out,
                                                size_t *numDependencies_out)
{
    return hip_return(
        capture_info(stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out));
}

HIP_ENTRY hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream,
                                                    hipStreamCaptureStatus *captureStatus_out,
                                                    unsigned long long *id_out, hipGraph_t *graph_out,
                                                    const hipGraphNode_t **dependencies_out,
                                                    size_t *numDependencies_out)
{
    return hip_return(capture_info(hip_stream_spt(stream), captureStatus_out, id_out, graph_out,
                                   dependencies_out, numDependencies_out));
}

HIP_ENTRY hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
                                                        size_t numDependencies, unsigned int flags)
{
    struct ihipStream_t *found;
    hipError_t error = hip_stream_of(stream, &found);

    if (error != hipSuccess)
        return hip_return(error);
    if (!found->capture)
        return hip_return(hipErrorIllegalState);
    if ((numDependencies && !dependencies) || flags > hipStreamSetCaptureDependencies)
        return hip_return(hipErrorInvalidValue);
    for (size_t i = 0; i < numDependencies; i++)
        if (!graph_node_ok(dependencies[i]) || dependencies[i]->graph != found->capture->graph)
            return hip_return(hipErrorInvalidValue);
    if (flags == hipStreamSetCaptureDependencies)
        found->capture_dep_count = 0;
    return hip_return(deps_add_all(found, dependencies, numDependencies) ? hipSuccess : hipErrorOutOfMemory);
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
