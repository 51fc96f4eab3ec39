/* SPDX-License-Identifier: MIT */
/*
 * Hardware queues: as on ROCm, the streams of a device and priority share at
 * most GPU_MAX_HW_QUEUES of them, four by default (HIP documentation, "HIP
 * environment variables").  A stream has one from its first operation on: a new
 * one while there may be more, then the one that the fewest streams have.  Those
 * that share one run in the order of submission, as every packet has the barrier
 * bit.  Order cannot make them wait for each other for ever: a packet waits for
 * signals of packets that were put into their queues before it.
 *
 * What an SDMA engine does has no place there: ROCr writes it to the engine's own ring.  A stream that has
 * such an operation gets a queue beside the shared one, for itself.  What comes behind an operation in the
 * stream's other queue waits for it by a barrier packet in each.
 *
 * The null stream and streams with a CU mask have a queue to themselves; the
 * runtime's own streams (branches of graphs) share as many of their own.
 */
#ifndef HIP_QUEUE_H
#define HIP_QUEUE_H

#include "hip/core/runtime.h"

struct hip_queue {
    struct ehp_queue_block *block;
    struct hip_device *device;
    int kind;                       /* whom it is for: see queue.c */
    const struct hip_queue *beside; /* NULL, or the queue of kernels of the stream whose copies are here */
    unsigned streams;               /* that have it */
    unsigned refs;                  /* those, and who puts a packet there for somebody else */
    bool stopped;                   /* executes nothing any more: for no other stream */
    struct hip_queue *next;
};

/* The stream's queue, for stream->queue; the stream's lock is held. */
hipError_t hip_queue_take(struct ihipStream_t *stream, struct hip_queue **out);
/* One for its copies, for stream->copies. */
hipError_t hip_queue_take_copies(struct ihipStream_t *stream, struct hip_queue **out);
/* The stream has it no longer; the last one destroys it. */
void hip_queue_leave(struct hip_queue *queue);
/* Keeps it for who is about to put a packet there without the lock of a stream that has it. */
struct hip_queue *hip_queue_hold(struct hip_queue *queue);
void hip_queue_release(struct hip_queue *queue);
/* After a fault of the device, when a stream goes that has packets in there: they all complete without being
 * executed, also those of other streams. */
void hip_queue_stop(struct hip_queue *queue);
/* Whose queue that is; NULL: nobody's.  Takes no lock that is held while the machine is called. */
struct hip_device *hip_queue_device(struct hip_runtime *runtime, const struct ehp_queue_block *block);

#endif
