/* SPDX-License-Identifier: MIT */
/* Captures inside: what capture.c makes and capture_info.c shows. */
#ifndef HIP_CAPTURE_H
#define HIP_CAPTURE_H

#include "hip/graph/graph_node.h"

struct hip_capture {
    struct ihipGraph *graph;
    bool borrowed; /* hipStreamBeginCaptureToGraph: the program's graph */
    hipStreamCaptureMode mode;
    bool invalid;
    uint64_t id, thread; /* who began it */
    struct ihipStream_t *origin;
    struct ihipStream_t **streams; /* all of them, the origin first */
    size_t stream_count;
    struct hip_capture *next;
};

/*
 * All captures.  The lock guards them and what their streams know of them:
 * threads may capture side by side into one graph.
 */
struct capture_list {
    pthread_mutex_t lock;
    struct hip_capture *first;
    _Atomic unsigned count, blocking; /* all, and those whose origin is a blocking stream */
};

struct capture_list *capture_list(void);
void capture_lock(void);
/* Returns the error. */
hipError_t capture_unlock(hipError_t error);
/* The stream's next node comes after these as well; the lock is held.  False: no memory. */
bool capture_add_deps(struct ihipStream_t *stream, struct hipGraphNode *const *nodes, size_t count);

#endif
