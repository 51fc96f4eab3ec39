/* SPDX-License-Identifier: MIT */
/* Graphs and stream capture. */
#ifndef HIP_GRAPH_H
#define HIP_GRAPH_H

#include "hip/core/handle.h"
#include "hip/core/op.h"

struct ihipStream_t;
struct ihipEvent_t;

/* A stream in capture: appends a node.  `node` may be NULL. */
hipError_t hip_capture_op(struct ihipStream_t *stream, const struct hip_op *op, hipGraphNode_t *node);
hipError_t hip_capture_record(struct ihipStream_t *stream, struct ihipEvent_t *event);
/* Joins the event's capture, or waits for the event when neither is in one. */
hipError_t hip_capture_wait(struct ihipStream_t *stream, struct ihipEvent_t *event);
hipError_t hip_capture_alloc(struct ihipStream_t *stream, struct ihipMemPoolHandle_t *pool, size_t bytes,
                             void **out);
/* An operation outside: hipErrorStreamCaptureImplicit when it would make the null stream wait for a capture.
 */
hipError_t hip_capture_implicit(struct ihipStream_t *stream);
/* hipErrorStreamCaptureImplicit when a capture forbids a synchronous copy or fill in this stream. */
hipError_t hip_capture_refuses(struct ihipStream_t *stream);
/* A forbidden call on a capturing stream: the capture cannot be finished any more. */
void hip_capture_invalidate(struct ihipStream_t *stream);
/* The capture of this number cannot be finished any more; false when it has ended. */
bool hip_capture_spoil(uint64_t id);
/* The stream goes away. */
void hip_capture_abandon(struct ihipStream_t *stream);
/* All streams of the device begin anew. */
void hip_captures_reset(const struct hip_device *device);

#endif
