/* SPDX-License-Identifier: MIT */
/*
 * Operations: what can be put into a stream, captured, or be a graph's node.
 *
 * Every stream-ordered call builds one hip_op and gives it to hip_stream_op(),
 * which either turns it into packets or, when the stream is being captured,
 * into a node of a graph.  Graph nodes hold the same struct, so replaying a
 * graph is the same code again.
 */
#ifndef HIP_OP_H
#define HIP_OP_H

#include "hip/core/runtime.h"

enum hip_op_kind {
    HIP_OP_EMPTY,
    HIP_OP_KERNEL,
    HIP_OP_COPY,
    HIP_OP_COPY_3D,
    HIP_OP_FILL,
    HIP_OP_FILL_3D,
    HIP_OP_PREFETCH,
    HIP_OP_HOST,
    HIP_OP_EVENT_RECORD,
    HIP_OP_EVENT_WAIT,
    HIP_OP_WAIT_VALUE,
    HIP_OP_WRITE_VALUE,
    HIP_OP_BATCH,
    HIP_OP_GRAPH,
    HIP_OP_ALLOC,
    HIP_OP_FREE,
};

struct ihipModuleSymbol_t;

struct hip_launch {
    struct ihipModuleSymbol_t *function;
    uint32_t grid[3]; /* work-items */
    uint32_t block[3];
    uint32_t shared;    /* dynamic LDS */
    void **params;      /* one pointer an argument, or NULL: */
    const void *host;   /* the stub it was launched by, or NULL */
    const void *packed; /* the explicit arguments as one block, */
    size_t packed_bytes;
    bool cooperative;
    struct hip_multi_grid *multi; /* of a multi-device launch */
    hipEvent_t start, stop;       /* of a captured launch between events, or NULL */
};

struct hip_op {
    enum hip_op_kind kind;
    union {
        struct hip_launch launch;
        struct {
            void *dst;
            const void *src;
            size_t bytes;
        } copy;
        struct ehp_copy_3d copy_3d;
        struct {
            void *dst;
            uint64_t value;
            uint32_t element;
            uint64_t count;
        } fill;
        struct ehp_fill_3d fill_3d;
        struct {
            const void *address;
            size_t bytes;
            unsigned agent; /* whose page table it enters, and near whom pages are that are nowhere */
        } prefetch;
        struct {
            void (*fn)(void *);
            void *user;
        } host;
        struct {
            hipEvent_t event;
            unsigned flags;
        } event;
        struct {
            void *address;
            uint64_t value, mask;
            uint32_t bytes, condition;
        } value;
        struct {
            unsigned count;
            hipStreamBatchMemOpParams *params; /* the node's */
            unsigned flags;
        } batch;
        hipGraph_t graph;
        struct {
            void *address;
            size_t bytes;
            struct ihipMemPoolHandle_t *pool;
        } memory;
    };
};

#endif
