/* SPDX-License-Identifier: MIT */
/*
 * Streams: a HIP stream is a sequence of packets in a user-mode queue, which it
 * gets with its first operation and may share (queue.h).  Every packet has the
 * barrier bit, so a stream runs in order.
 *
 * Completion is counted: `progress` starts at 0 and every packet's completion
 * decrements it, so packet number n (from 1) is done when progress <= -n.  An
 * operation whose time or completion others must see alone (event record) has
 * a marker instead: a signal that goes from 1 to 0.  The last operation of a
 * stream is therefore either packet `submitted` or the marker `tail`.
 *
 * The legacy null stream waits for all blocking streams of its device and they
 * for it, by barrier packets on markers, only where there is unfinished work.
 */
#ifndef HIP_STREAM_H
#define HIP_STREAM_H

#include "hip/core/handle.h"
#include "hip/core/op.h"
#include "hip/stream/queue.h"

/* A one-shot signal, counted; recycled when nothing can touch it any more. */
struct hip_marker {
    _Atomic unsigned refs;
    ehp_signal signal;
    struct hip_marker *next;
};

struct hip_held {
    struct hip_marker *marker;
    uint64_t until; /* packets of the holding stream */
};

/* Memory for kernel arguments and other operands of packets, recycled in four segments. */
#define HIP_RING_SEGMENTS 4
#define HIP_RING_SEGMENT  (64u << 10)

struct hip_ring {
    unsigned char *base;
    unsigned char *host; /* as much, out of kernels' reach: for what copies and fills go by */
    unsigned segment;
    uint32_t used;                    /* bytes of this segment */
    uint64_t last[HIP_RING_SEGMENTS]; /* the packet after which a segment is free */
};

struct hip_capture;
struct hip_ipc_event;
struct hip_printf_buffer;
struct hipGraphNode;

struct ihipStream_t {
    struct hip_handle head;
    struct hip_device *device;
    unsigned flags;
    int priority; /* HIP's: -1 high, 0, 1 low */
    uint64_t id;  /* of the process, none twice */
    struct {      /* kept for who asks: no queue has such */
        hipAccessPolicyWindow window;
        hipSynchronizationPolicy sync;
        hipLaunchMemSyncDomain domain;
        hipLaunchMemSyncDomainMap domains;
    } hints;
    bool null, per_thread;
    bool internal; /* the runtime's own */
    bool taken;    /* a lane that a graph is being launched in */
    uint32_t *cu_mask;
    unsigned cu_mask_words;

    pthread_mutex_t lock;
    struct hip_queue *queue;  /* NULL: it has had no operation */
    struct hip_queue *copies; /* NULL: none that an engine for copies does */
    struct hip_queue
        *_Atomic at; /* the one of the two with its last packet, which is behind all others of its */
    ehp_signal progress;
    _Atomic uint64_t submitted; /* packets that complete on `progress` */
    _Atomic uint64_t position;  /* all packets */
    struct hip_marker *_Atomic tail;
    uint64_t null_seen;    /* null stream's position that we are ordered behind */
    uint64_t seen_by_null; /* our position that the null stream is ordered behind */
    struct hip_ring ring;
    struct hip_printf_buffer *printf; /* what kernels print with -mprintf-kind=buffered; NULL: none yet */
    struct hip_held *held;            /* ring buffer */
    unsigned held_first, held_count, held_room;

    struct ihipStream_t *next, *previous; /* of the device */

    /* Capture: NULL, or what this stream belongs to, and the nodes its next one depends on. */
    struct hip_capture *capture;
    struct hipGraphNode **capture_deps;
    size_t capture_dep_count, capture_dep_room;
};

struct ihipEvent_t {
    struct hip_handle head;
    struct hip_device *device;
    unsigned flags;
    pthread_mutex_t lock;
    struct hip_marker *marker;    /* NULL: not recorded */
    bool use_start;               /* a start event of hipExtLaunchKernel */
    struct hip_ipc_event *shared; /* hipEventInterprocess */
    struct ihipStream_t *stream;
    uint64_t position; /* of the record packet in that stream */
    /* Recorded in a capture: */
    _Atomic uint64_t capture_id;
    struct hipGraphNode **capture_deps;
    size_t capture_dep_count;
};

struct hip_marker *hip_marker_new(void);
struct hip_marker *hip_marker_ref(struct hip_marker *marker);
void hip_marker_unref(struct hip_marker *marker);
static inline bool hip_marker_done(const struct hip_marker *marker)
{
    return ehp_signal_load(marker->signal) <= 0;
}

/* Packets that are done, of those that complete on `progress`. */
static inline uint64_t hip_stream_completed(const struct ihipStream_t *stream)
{
    return (uint64_t)-ehp_signal_load(stream->progress);
}

/* The null stream waits for it, and it for the null stream. */
static inline bool hip_stream_blocking(const struct ihipStream_t *stream)
{
    return !stream->null && !(stream->flags & hipStreamNonBlocking);
}

/* NULL, hipStreamLegacy, hipStreamPerThread or a handle; opens the machine; checks the sticky error. */
hipError_t hip_stream_of(hipStream_t handle, struct ihipStream_t **stream);
/* hipStreamPerThread for the _spt entry points when the program passes the null stream. */
static inline hipStream_t hip_stream_spt(hipStream_t handle)
{
    return handle ? handle : hipStreamPerThread;
}
hipError_t hip_stream_null(struct hip_device *device, struct ihipStream_t **stream);

/* Whether the operations on values in memory are ones that can be done. */
bool hip_batch_ok(const hipStreamBatchMemOpParams *params, unsigned count);
/* Captures or submits. */
hipError_t hip_stream_op(hipStream_t handle, const struct hip_op *op);
/* Submits. */
hipError_t hip_stream_submit(struct ihipStream_t *stream, const struct hip_op *op);
/* Submitting in two steps, with the stream's lock held: to take operands from the ring in between. */
hipError_t hip_stream_ready(struct ihipStream_t *stream);
hipError_t hip_stream_submit_locked(struct ihipStream_t *stream, const struct hip_op *op);
/* A kernel between two optional events. */
hipError_t hip_stream_launch_timed(struct ihipStream_t *stream, const struct hip_op *op, hipEvent_t start,
                                   hipEvent_t stop);
/* Events as streams know them, and with what interprocess events add. */
hipError_t hip_event_record(struct ihipStream_t *stream, struct ihipEvent_t *event);
hipError_t hip_event_wait(struct ihipStream_t *stream, struct ihipEvent_t *event);
hipError_t hip_stream_record(struct ihipStream_t *stream, struct ihipEvent_t *event);
hipError_t hip_stream_wait_event(struct ihipStream_t *stream, struct ihipEvent_t *event);

/* A marker behind all that the queue has been given, which takes many producers. */
hipError_t hip_stream_mark(struct hip_queue *queue, struct hip_marker **marker);
/* A marker, with a reference, of everything the stream has been given; NULL when that is done. */
hipError_t hip_stream_tail(struct ihipStream_t *stream, struct hip_marker **marker);
/*
 * Where the stream's next operation would begin: a marker with a reference, or
 * NULL when nothing is in its way.
 */
hipError_t hip_stream_start(struct ihipStream_t *stream, struct hip_marker **marker);
/* The next operation of `stream` comes after the marker, which may be NULL. */
hipError_t hip_stream_after(struct ihipStream_t *stream, struct hip_marker *marker);
/* The next operation of `stream` comes after all that `other` has been given. */
hipError_t hip_stream_follow(struct ihipStream_t *stream, struct ihipStream_t *other);

/* Whether a wait for it is one of the calling host function for itself, or for what comes after it. */
bool hip_stream_behind_call(struct ihipStream_t *stream);

/*
 * wait.c.  All waits end early with the device's sticky error, as a queue that has faulted may leave a signal
 * as it is.  A host function cannot wait for its own stream, which would be for ever: it is told
 * hipErrorNotSupported, and the reader in a line on stderr.
 *
 * Nor can it wait for room in its own queue, or for who waits there with a lock: hip_thread()->refused says
 * that this has happened, all that the call would still submit is left out, and hip_return() makes the error.
 */
/* A lock that somebody may hold who waits for room in a queue: a stream's, or an executable graph's. */
hipError_t hip_lock(pthread_mutex_t *lock);
/* Gives the queue a packet; false in a host function that would wait for itself. */
bool hip_queue_put(struct hip_queue *queue, const union ehp_packet *packet);
hipError_t hip_wait_refused(void);
/* Ratios from 0 to 1, and no misses that persist. */
bool hip_window_ok(const hipAccessPolicyWindow *window);
/* Waits for what has been submitted. */
hipError_t hip_stream_wait(struct ihipStream_t *stream);
bool hip_stream_idle(struct ihipStream_t *stream);
/* Whether a stream is idle, and, for the null stream, all that it would wait for. */
bool hip_stream_settled(struct ihipStream_t *stream);
/* Nothing that has been submitted is in the way of the stream's next operation. */
bool hip_stream_unhindered(struct ihipStream_t *stream);
/* The host-side order of a synchronous call in this stream: waits for everything an operation would wait for.
 */
hipError_t hip_stream_settle(struct ihipStream_t *stream);
hipError_t hip_device_wait(struct hip_device *device);
hipError_t hip_marker_wait(struct hip_device *device, struct hip_marker *marker);
/* Until the signal's value is below that. */
hipError_t hip_wait_signal(struct hip_device *device, ehp_signal signal, int64_t below);
/*
 * For a device, or all of them (NULL), before something is taken away that their work may use: with an error
 * it has to stay, as the caller is a host function, or the process ends and leaves work behind.
 */
hipError_t hip_wait_users(struct hip_device *device);
/*
 * When the process ends: waits for all devices for as long as they get on.  False when they do not, as with a
 * kernel without an end; who asks that again on the same thread is told by hip_wait_left().  From
 * hip_wait_ends(), for atexit(), on all waits of the thread are such.
 */
bool hip_wait_last(void);
bool hip_wait_left(void);
void hip_wait_ends(void);
/* The same before the code of a library goes, with dlclose() or when the process ends. */
bool hip_wait_unload(void);

/* A host function in a stream; hip_call() is what the machine calls with it. */
struct hip_call {
    void (*fn)(void *);
    void *user;
    struct ihipStream_t *stream;
};
void hip_call(void *call);

/* Operand memory that lives until the next packet of the stream is complete; the stream's lock is held. */
void *hip_ring_alloc(struct ihipStream_t *stream, size_t bytes, size_t align);

hipError_t hip_stream_new(struct hip_device *device, unsigned flags, int priority, const uint32_t *mask,
                          unsigned mask_words, struct ihipStream_t **out);
/* A stream of the runtime's own, which the null stream has nothing to do with. */
hipError_t hip_stream_internal(struct hip_device *device, int priority, struct ihipStream_t **stream);
/* One of those that is idle, for nobody else until it is given back; NULL when all are busy. */
struct ihipStream_t *hip_lane_take(struct hip_device *device);
void hip_lane_give(struct ihipStream_t *lane);
void hip_stream_delete(struct ihipStream_t *stream);
/* After a fault: forget all queues of a device, so that new work starts on new ones. */
void hip_streams_reset(struct hip_device *device);

void hip_fault_install(struct hip_runtime *runtime);

struct marker_pool {
    pthread_mutex_t lock;
    struct hip_marker *free;  /* value 0, nobody's */
    struct hip_marker *limbo; /* nobody's, but a packet has yet to decrement them */
};

#endif
