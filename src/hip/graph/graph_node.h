/* SPDX-License-Identifier: MIT */
/*
 * Graphs inside: nodes hold an operation ready to submit and the description
 * the program gave, which it may ask for again.  An executable graph is a
 * private clone with a plan (graph_lanes.c): launching it submits its operations
 * in order into a few streams, independent ones side by side.
 */
#ifndef HIP_GRAPH_NODE_H
#define HIP_GRAPH_NODE_H

#include "hip/graph/graph.h"

struct graph_plan;
struct graph_memory; /* of a memory allocation node; shared with clones */

struct hipGraphNode {
    struct hip_handle head;
    struct ihipGraph *graph;
    hipGraphNodeType type;
    unsigned id;
    bool enabled;
    uint64_t serial, origin; /* no other node's ever; of what this was cloned from */
    size_t index;            /* in the graph's list */
    struct hip_op op;
    /* What memory a copy or fill is between, or a kernel's device: as it was then, the memory may be gone. */
    int to, from;
    struct hipGraphNode **deps, **outs;
    size_t dep_count, dep_room, out_count, out_room;
    size_t mark;  /* of a traversal */
    size_t place; /* in the order of the plan */
    union {
        struct {
            hipKernelNodeParams params; /* kernelParams points into `pointers` */
            unsigned char *block;
            void **pointers;
            int priority;
            hipAccessPolicyWindow window;
        } kernel;
        struct {
            hipMemcpy3DParms params;
            HIP_MEMCPY3D drv;
            bool is_drv;
        } copy;
        hipMemsetParams fill;
        hipHostNodeParams host;
        struct ihipGraph *child;
        struct {
            hipMemAllocNodeParams params;
            struct graph_memory *memory;
        } alloc;
        hipBatchMemOpNodeParams batch;
    };
};

struct graph_user_object {
    struct hipUserObject *object;
    unsigned count;
};

struct ihipGraph {
    struct hip_handle head;
    struct hipGraphNode **nodes;
    size_t count, room;
    unsigned next_id, id;
    bool child;    /* belongs to a node */
    bool captured; /* streams are being captured into it: it stays, and so do its nodes */
    struct graph_user_object *objects;
    size_t object_count;
    struct graph_plan *plan; /* of an executable graph and the graphs in it */
};

struct hipGraphExec {
    struct hip_handle head;
    struct ihipGraph *graph;
    unsigned long long flags;
    pthread_mutex_t lock;      /* of launches */
    struct ihipStream_t *last; /* where it was launched last: its launches run one after another */
};

struct hipUserObject {
    struct hip_handle head;
    _Atomic unsigned refs;
    hipHostFn_t destroy;
    void *user;
};

static inline bool graph_ok(hipGraph_t graph)
{
    return hip_handle_ok(HIP_KIND_GRAPH, graph);
}
static inline bool graph_node_ok(hipGraphNode_t node)
{
    return hip_handle_ok(HIP_KIND_NODE, node);
}

/* graph.c */
hipError_t graph_new(struct ihipGraph **graph);
void graph_delete(struct ihipGraph *graph);
/* A node with these dependencies, of this type, without an operation yet. */
hipError_t graph_node_new(struct ihipGraph *graph, hipGraphNodeType type, struct hipGraphNode *const *deps,
                          size_t count, struct hipGraphNode **node);
void graph_node_delete(struct hipGraphNode *node);
hipError_t graph_edge_add(struct hipGraphNode *from, struct hipGraphNode *to);
hipError_t graph_clone(struct ihipGraph *graph, struct ihipGraph **clone);
/* `deep`: in graphs of its nodes as well. */
struct hipGraphNode *graph_find_clone(struct ihipGraph *clone, const struct hipGraphNode *original,
                                      bool deep);
/* An order in which every node comes after what it depends on; false when there is a cycle. */
bool graph_sort(struct ihipGraph *graph, struct hipGraphNode **order);
/* Gives up the graph's references to user objects when the stream has done what it has been given. */
void graph_objects_drop(struct ihipGraph *graph, struct ihipStream_t *stream);

/* graph_memory.c */
hipError_t graph_memory_new(struct hip_device *device, size_t bytes, struct graph_memory **memory);
struct graph_memory *graph_memory_ref(struct graph_memory *memory);
void graph_memory_unref(struct graph_memory *memory);
void *graph_memory_address(const struct graph_memory *memory);
bool graph_memory_used(const struct graph_memory *memory);
/* Its allocation node has been launched. */
void graph_memory_use(struct graph_memory *memory);

/* graph_params.c: descriptions to operations, with the checks of the calls that take them */
hipError_t graph_set_kernel(struct hipGraphNode *node, const hipKernelNodeParams *params);
hipError_t graph_set_launch(struct hipGraphNode *node, const struct hip_launch *launch);
hipError_t graph_set_copy(struct hipGraphNode *node, const hipMemcpy3DParms *params);
hipError_t graph_set_copy_1d(struct hipGraphNode *node, void *dst, const void *src, size_t bytes,
                             hipMemcpyKind kind);
hipError_t graph_set_copy_drv(struct hipGraphNode *node, const HIP_MEMCPY3D *params);
hipError_t graph_set_fill(struct hipGraphNode *node, const hipMemsetParams *params);
hipError_t graph_set_host(struct hipGraphNode *node, const hipHostNodeParams *params);
hipError_t graph_set_event(struct hipGraphNode *node, hipEvent_t event);
hipError_t graph_set_child(struct hipGraphNode *node, struct ihipGraph *child);
hipError_t graph_set_batch(struct hipGraphNode *node, const hipBatchMemOpNodeParams *params);
hipError_t graph_set_alloc(struct hipGraphNode *node, hipMemAllocNodeParams *params);
hipError_t graph_set_free(struct hipGraphNode *node, void *address);
/*
 * What an executable graph's node cannot change: a copy the memory and the
 * direction that it is between, a fill the shape of its rows.
 */
bool graph_copy_same(const struct hipGraphNode *a, const struct hipGraphNode *b);
bool graph_fill_same(const struct hipGraphNode *a, const struct hipGraphNode *b);
/* Copies from and to device variables. */
hipError_t graph_set_from_symbol(struct hipGraphNode *node, void *dst, const void *symbol, size_t count,
                                 size_t offset, hipMemcpyKind kind);
hipError_t graph_set_to_symbol(struct hipGraphNode *node, const void *symbol, const void *src, size_t count,
                               size_t offset, hipMemcpyKind kind);
/* Any of them, from the union of hipGraphAddNode(). */
hipError_t graph_set_any(struct hipGraphNode *node, hipGraphNodeParams *params);
/* The operation of a captured call. */
hipError_t graph_set_op(struct hipGraphNode *node, const struct hip_op *op);
hipGraphNodeType graph_type_of_op(const struct hip_op *op);
/* Gives a node the description of another. */
hipError_t graph_copy_params(struct hipGraphNode *to, struct hipGraphNode *from);
void graph_params_free(struct hipGraphNode *node);

/* graph_lanes.c: plans the graph and all graphs in it; hipErrorInvalidValue when there is a cycle */
hipError_t graph_plan_make(struct ihipGraph *graph);
void graph_plan_free(struct graph_plan *plan);
/* Submits the planned graph as the stream's next operation. */
hipError_t graph_run(struct ihipGraph *graph, struct ihipStream_t *stream);

#endif
