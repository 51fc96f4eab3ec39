/* SPDX-License-Identifier: MIT */
/* Asking of a stream's capture, and changing what its next node comes after. */
#include "hip/graph/capture.h"
#include "hip/stream/stream.h"

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

static hipError_t capture_update(struct ihipStream_t *stream, const hipGraphNode_t *nodes, size_t count,
                                 unsigned flags)
{
    if (!stream->capture)
        return hipErrorIllegalState;
    if (stream->capture->invalid)
        return hipErrorStreamCaptureInvalidated;
    if ((count && !nodes) || flags > hipStreamSetCaptureDependencies || count > stream->capture->graph->count)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        if (!graph_node_ok(nodes[i]) || nodes[i]->graph != stream->capture->graph)
            return hipErrorInvalidValue;
    if (flags == hipStreamSetCaptureDependencies)
        stream->capture_dep_count = 0;
    return capture_add_deps(stream, nodes, count) ? hipSuccess : hipErrorOutOfMemory;
}

HIP_ENTRY hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *dependencies,
                                                        size_t numDependencies, unsigned int flags)
{
    struct ihipStream_t *found;
    hipError_t error = hip_stream_of(stream, &found);

    if (error != hipSuccess)
        return hip_return(error);
    capture_lock();
    return hip_return(capture_unlock(capture_update(found, dependencies, numDependencies, flags)));
}
