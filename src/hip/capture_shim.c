/* SPDX-License-Identifier: MIT */
#include "graph.h"
hipError_t hip_capture_op(struct ihipStream_t *stream, const struct hip_op *op, hipGraphNode_t *node)
{
    (void)stream;
    (void)op;
    (void)node;
    return hipErrorNotSupported;
}
hipError_t hip_capture_record(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    (void)stream;
    (void)event;
    return hipErrorNotSupported;
}
hipError_t hip_capture_wait(struct ihipStream_t *stream, struct ihipEvent_t *event)
{
    (void)stream;
    (void)event;
    return hipErrorNotSupported;
}
hipError_t hip_capture_alloc(struct ihipStream_t *stream, struct ihipMemPoolHandle_t *pool, size_t bytes,
                             void **out)
{
    (void)stream;
    (void)pool;
    (void)bytes;
    (void)out;
    return hipErrorNotSupported;
}
hipError_t hip_capture_implicit(struct ihipStream_t *stream)
{
    (void)stream;
    return hipSuccess;
}
void hip_capture_invalidate(struct ihipStream_t *stream)
{
    (void)stream;
}
void hip_capture_abandon(struct ihipStream_t *stream)
{
    (void)stream;
}
