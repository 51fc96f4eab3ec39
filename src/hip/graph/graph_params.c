/* SPDX-License-Identifier: MIT */
/* What a node does: from the program's description to an operation. */
#include <stdlib.h>
#include <string.h>

#include "hip/memory/copy.h"
#include "hip/graph/graph_node.h"
#include "hip/core/launch.h"
#include "hip/memory/pool.h"
#include "hip/stream/stream.h"

/* ---- releasing ----------------------------------------------------------------------------------------- */

void graph_params_free(struct hipGraphNode *node)
{
    switch (node->op.kind) {
    case HIP_OP_KERNEL:
        free(node->kernel.block);
        free((void *)node->kernel.pointers);
        break;
    case HIP_OP_GRAPH:
        if (node->child)
            graph_delete(node->child);
        node->child = NULL;
        break;
    case HIP_OP_ALLOC:
        graph_memory_unref(node->alloc.memory);
        break;
    case HIP_OP_BATCH:
        free(node->batch.paramArray);
        break;
    default:
        break;
    }
    memset(&node->op, 0, sizeof node->op);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

hipError_t graph_set_launch(struct hipGraphNode *node, const struct hip_launch *launch)
{
    struct ihipModuleSymbol_t *function = launch->function;

    if (!hip_handle_ok(HIP_KIND_FUNCTION, function)) /* its module has been unloaded */
        return hipErrorInvalidResourceHandle;
    unsigned char *block = calloc(1, function->explicit_bytes + 1);
    void **pointers = calloc(function->explicit_count + 1, sizeof *pointers);
    int priority = node->op.kind == HIP_OP_KERNEL ? node->kernel.priority : 0;

    if (!block || !pointers) {
        free(block);
        free((void *)pointers);
        return hipErrorOutOfMemory;
    }
    hip_launch_pack(launch, block);
    for (unsigned i = 0; i < function->explicit_count; i++)
        pointers[i] = block + function->explicit_args[i].offset;
    graph_params_free(node); /* only now: the new arguments may come from the old ones */
    node->op.kind = HIP_OP_KERNEL;
    node->op.launch = *launch;
    node->op.launch.params = pointers;
    node->op.launch.packed = NULL;
    node->op.launch.multi = NULL;
    node->to = function->device->ordinal;
    node->kernel.block = block;
    node->kernel.pointers = pointers;
    node->kernel.priority = priority;
    memset(&node->kernel.window, 0, sizeof node->kernel.window);
    node->kernel.params = (hipKernelNodeParams){
        .blockDim = {launch->block[0], launch->block[1], launch->block[2]},
        .gridDim = {launch->grid[0] / launch->block[0], launch->grid[1] / launch->block[1],
                    launch->grid[2] / launch->block[2]},
        .func = launch->host ? (void *)(uintptr_t)launch->host : (void *)function,
        .kernelParams = pointers,
        .sharedMemBytes = launch->shared,
    };
    return hipSuccess;
}

hipError_t graph_set_kernel(struct hipGraphNode *node, const hipKernelNodeParams *params)
{
    struct ihipModuleSymbol_t *function;
    struct hip_launch launch;
    struct hip_device *device;

    if (!params || !params->func)
        return hipErrorInvalidValue;
    hipError_t error = hip_current(&device);
    if (error != hipSuccess)
        return error;
    bool module = hip_handle_ok(HIP_KIND_FUNCTION, params->func);
    if (module)
        function = params->func;
    else
        error = hip_function_of(params->func, device, &function);
    if (error != hipSuccess)
        return error;
    error = hip_launch_check(function, params->gridDim, params->blockDim, params->sharedMemBytes, false,
                             hipErrorInvalidValue);
    if (error != hipSuccess)
        return error;
    hip_launch_set(&launch, function, params->gridDim, params->blockDim, params->sharedMemBytes);
    launch.host = module ? NULL : params->func;
    error = hip_launch_arguments(&launch, params->kernelParams, params->extra);
    return error == hipSuccess ? graph_set_launch(node, &launch) : error;
}

/* ---- copies and fills ---------------------------------------------------------------------------------- */

/* Where a side of a copy is: a device's number, or one of these. */
enum { SIDE_HOST = -1, SIDE_MANAGED = -2, SIDE_VARIABLE = -3 };

static int copy_side(const void *address)
{
    const struct hip_memory *memory = address ? hip_memory_find(address, NULL) : NULL;
    size_t left;

    if (!memory) /* pageable memory, a device variable or an array */
        return address && hip_memory_known(address, &left) ? SIDE_VARIABLE : SIDE_HOST;
    if (memory->adopted || memory->kind == EHP_MEM_MANAGED)
        return SIDE_MANAGED;
    return memory->kind == EHP_MEM_DEVICE || memory->mapped ? memory->device : SIDE_HOST;
}

static bool copy_side_same(int have, int want)
{
    if (have == want || have == SIDE_MANAGED || want == SIDE_MANAGED)
        return true;
    return (have == SIDE_VARIABLE && want >= 0) || (have >= 0 && want == SIDE_VARIABLE);
}

/* Remembers what memory the operation is between. */
static void graph_set_sides(struct hipGraphNode *node)
{
    const struct hip_op *op = &node->op;

    node->to = node->from = SIDE_MANAGED; /* nothing is copied */
    if (op->kind == HIP_OP_COPY || op->kind == HIP_OP_COPY_3D) {
        node->to = copy_side(op->kind == HIP_OP_COPY ? op->copy.dst : op->copy_3d.dst);
        node->from = copy_side(op->kind == HIP_OP_COPY ? op->copy.src : op->copy_3d.src);
    } else if (op->kind == HIP_OP_FILL || op->kind == HIP_OP_FILL_3D) {
        node->to = copy_side(op->kind == HIP_OP_FILL ? op->fill.dst : op->fill_3d.dst);
    }
}

bool graph_copy_same(const struct hipGraphNode *a, const struct hipGraphNode *b)
{
    hipMemcpyKind have = a->copy.is_drv ? hipMemcpyDefault : a->copy.params.kind;
    hipMemcpyKind want = b->copy.is_drv ? hipMemcpyDefault : b->copy.params.kind;

    if (have != hipMemcpyDefault && want != hipMemcpyDefault && have != want)
        return false;
    return copy_side_same(a->to, b->to) && copy_side_same(a->from, b->from);
}

bool graph_fill_same(const struct hipGraphNode *a, const struct hipGraphNode *b)
{
    const hipMemsetParams *have = &a->fill, *want = &b->fill;

    if (have->height != want->height ||
        (want->height > 1 && have->width * have->elementSize != want->width * want->elementSize))
        return false;
    return copy_side_same(a->to, b->to);
}

/*
 * A copy between pageable memory and other memory names its direction, when it
 * names one, as it is: hipMemcpy() forgives a wrong one, a node does not.
 */
static bool copy_kind_fits(const void *dst, const void *src, hipMemcpyKind kind)
{
    size_t left;
    bool to = hip_memory_reached(dst, &left), from = hip_memory_reached(src, &left);
    bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice ||
                     kind == hipMemcpyDeviceToDeviceNoCU;
    bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice ||
                       kind == hipMemcpyDeviceToDeviceNoCU;

    if (kind == hipMemcpyDefault || to == from)
        return true;
    if ((!to && to_device) || (!from && from_device))
        return false;
    return !(to && !to_device && copy_side(dst) != SIDE_HOST) &&
           !(from && !from_device && copy_side(src) != SIDE_HOST);
}

static void graph_set_box(struct hipGraphNode *node, const struct ehp_copy_3d *box)
{
    graph_params_free(node);
    if (!box->width || !box->height || !box->depth) {
        node->op.kind = HIP_OP_EMPTY;
    } else if (box->height == 1 && box->depth == 1) {
        node->op.kind = HIP_OP_COPY;
        node->op.copy.dst = box->dst;
        node->op.copy.src = box->src;
        node->op.copy.bytes = box->width;
    } else {
        node->op.kind = HIP_OP_COPY_3D;
        node->op.copy_3d = *box;
    }
    memset(&node->copy, 0, sizeof node->copy);
    graph_set_sides(node);
}

hipError_t graph_set_copy(struct hipGraphNode *node, const hipMemcpy3DParms *params)
{
    struct ehp_copy_3d box;
    hipMemcpy3DParms kept;

    if (!params)
        return hipErrorInvalidValue;
    kept = *params;
    hipError_t error = hip_open();
    if (error == hipSuccess)
        error = hip_copy_from_params(&kept, &box);
    if (error == hipSuccess)
        error = hip_copy_check_3d(&box, kept.kind);
    if (error != hipSuccess)
        return error;
    graph_set_box(node, &box);
    node->copy.params = kept;
    return hipSuccess;
}

hipError_t graph_set_copy_1d(struct hipGraphNode *node, void *dst, const void *src, size_t bytes,
                             hipMemcpyKind kind)
{
    const struct ehp_copy_3d box = {dst, src, bytes, bytes, bytes, bytes, bytes, 1, 1};
    bool nothing;
    hipError_t error = hip_open();

    if (error == hipSuccess && (!dst || !src || !bytes))
        error = hipErrorInvalidValue;
    if (error == hipSuccess)
        error = hip_copy_check(dst, src, bytes, kind, &nothing);
    if (error == hipSuccess && !copy_kind_fits(dst, src, kind))
        error = hipErrorInvalidValue;
    if (error != hipSuccess)
        return error;
    graph_set_box(node, &box);
    node->copy.params = (hipMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)src, bytes, bytes, 1},
        .dstPtr = {dst, bytes, bytes, 1},
        .extent = {bytes, 1, 1},
        .kind = kind,
    };
    return hipSuccess;
}

hipError_t graph_set_copy_drv(struct hipGraphNode *node, const HIP_MEMCPY3D *params)
{
    struct ehp_copy_3d box;
    HIP_MEMCPY3D kept;
    hipMemcpyKind kind;

    if (!params)
        return hipErrorInvalidValue;
    kept = *params;
    hipError_t error = hip_open();
    if (error == hipSuccess)
        error = hip_copy_from_drv(&kept, &box, &kind);
    if (error == hipSuccess)
        error = hip_copy_check_3d(&box, kind);
    if (error != hipSuccess)
        return error;
    graph_set_box(node, &box);
    node->copy.drv = kept;
    node->copy.is_drv = true;
    return hipSuccess;
}

hipError_t graph_set_fill(struct hipGraphNode *node, const hipMemsetParams *params)
{
    struct hip_op op = {.kind = HIP_OP_EMPTY};

    if (!params)
        return hipErrorInvalidValue;
    hipMemsetParams kept = *params;
    hipError_t error = hip_open();
    if (error == hipSuccess)
        error = hip_fill_from_params(&kept, &op);
    if (error != hipSuccess)
        return error;
    graph_params_free(node);
    node->op = op;
    node->fill = kept;
    graph_set_sides(node);
    return hipSuccess;
}

/* ---- the small ones ------------------------------------------------------------------------------------ */

hipError_t graph_set_host(struct hipGraphNode *node, const hipHostNodeParams *params)
{
    if (!params || !params->fn)
        return hipErrorInvalidValue;
    hipHostNodeParams kept = *params;
    graph_params_free(node);
    node->op.kind = HIP_OP_HOST;
    node->op.host.fn = kept.fn;
    node->op.host.user = kept.userData;
    node->host = kept;
    return hipSuccess;
}

hipError_t graph_set_event(struct hipGraphNode *node, hipEvent_t event)
{
    if (!hip_handle_ok(HIP_KIND_EVENT, event))
        return hipErrorInvalidValue;
    graph_params_free(node);
    node->op.kind = node->type == hipGraphNodeTypeEventRecord ? HIP_OP_EVENT_RECORD : HIP_OP_EVENT_WAIT;
    node->op.event.event = event;
    return hipSuccess;
}

hipError_t graph_set_child(struct hipGraphNode *node, struct ihipGraph *child)
{
    struct ihipGraph *clone;

    if (!graph_ok(child) || child == node->graph)
        return hipErrorInvalidValue;
    hipError_t error = graph_clone(child, &clone);
    if (error != hipSuccess)
        return error;
    graph_params_free(node);
    clone->child = true;
    node->op.kind = HIP_OP_GRAPH;
    node->op.graph = clone;
    node->child = clone;
    return hipSuccess;
}

static bool batch_op_ok(const hipStreamBatchMemOpParams *p)
{
    switch (p->operation) {
    case hipStreamMemOpWaitValue32:
    case hipStreamMemOpWaitValue64:
        return p->waitValue.address && p->waitValue.flags <= hipStreamWaitValueNor;
    case hipStreamMemOpWriteValue32:
    case hipStreamMemOpWriteValue64:
        return p->writeValue.address != NULL;
    case hipStreamMemOpBarrier:
    case hipStreamMemOpFlushRemoteWrites:
        return true;
    default:
        return false;
    }
}

hipError_t graph_set_batch(struct hipGraphNode *node, const hipBatchMemOpNodeParams *params)
{
    if (!params || !params->paramArray || !params->count || params->count > 256 || params->flags)
        return hipErrorInvalidValue;
    hipError_t error = hip_open();
    if (error != hipSuccess)
        return error;
    if (!hip_batch_ok(params->paramArray, params->count))
        return hipErrorInvalidValue;
    for (unsigned i = 0; i < params->count; i++)
        if (!batch_op_ok(&params->paramArray[i]))
            return hipErrorInvalidValue;
    hipStreamBatchMemOpParams *copy = malloc(params->count * sizeof *copy);
    if (!copy)
        return hipErrorOutOfMemory;
    memcpy(copy, params->paramArray, params->count * sizeof *copy);
    hipBatchMemOpNodeParams kept = *params;
    graph_params_free(node);
    node->op.kind = HIP_OP_BATCH;
    node->op.batch.count = kept.count;
    node->op.batch.params = copy;
    node->batch = kept;
    node->batch.paramArray = copy;
    return hipSuccess;
}

hipError_t graph_set_alloc(struct hipGraphNode *node, hipMemAllocNodeParams *params)
{
    struct hip_device *device;
    struct graph_memory *memory;

    if (!params || !params->bytesize || params->poolProps.allocType != hipMemAllocationTypePinned ||
        params->poolProps.location.type != hipMemLocationTypeDevice)
        return hipErrorInvalidValue;
    hipError_t error = hip_device_at(params->poolProps.location.id, &device);
    if (error == hipSuccess)
        error = graph_memory_new(device, params->bytesize, &memory);
    if (error != hipSuccess)
        return error == hipErrorInvalidDevice ? hipErrorInvalidValue : error;
    params->dptr = graph_memory_address(memory);
    graph_params_free(node);
    node->op.kind = HIP_OP_ALLOC;
    node->op.memory.address = params->dptr;
    node->op.memory.bytes = params->bytesize;
    node->alloc.params = *params;
    node->alloc.memory = memory;
    return hipSuccess;
}

/* Of an allocation node's memory, once in a graph. */
hipError_t graph_set_free(struct hipGraphNode *node, void *address)
{
    const struct ihipGraph *graph = node->graph;
    const struct hip_memory *memory =
        address && hip_open() == hipSuccess ? hip_memory_find(address, NULL) : NULL;

    if (!memory || !memory->graph || memory->base != address)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i] != node && graph->nodes[i]->op.kind == HIP_OP_FREE &&
            graph->nodes[i]->op.memory.address == address)
            return hipErrorInvalidValue;
    graph_params_free(node);
    node->op.kind = HIP_OP_FREE;
    node->op.memory.address = address;
    return hipSuccess;
}

/* ---- any ----------------------------------------------------------------------------------------------- */

hipError_t graph_set_any(struct hipGraphNode *node, hipGraphNodeParams *p)
{
    switch (node->type) {
    case hipGraphNodeTypeKernel:
        return graph_set_kernel(node, &p->kernel);
    case hipGraphNodeTypeMemcpy:
        return graph_set_copy(node, &p->memcpy.copyParams);
    case hipGraphNodeTypeMemset:
        return graph_set_fill(node, &p->memset);
    case hipGraphNodeTypeHost:
        return graph_set_host(node, &p->host);
    case hipGraphNodeTypeGraph:
        return graph_set_child(node, p->graph.graph);
    case hipGraphNodeTypeEmpty:
        return hipSuccess;
    case hipGraphNodeTypeWaitEvent:
        return graph_set_event(node, p->eventWait.event);
    case hipGraphNodeTypeEventRecord:
        return graph_set_event(node, p->eventRecord.event);
    case hipGraphNodeTypeMemAlloc:
        return graph_set_alloc(node, &p->alloc);
    case hipGraphNodeTypeMemFree:
        return graph_set_free(node, p->free.dptr);
    default:
        return hipErrorNotSupported;
    }
}

hipGraphNodeType graph_type_of_op(const struct hip_op *op)
{
    switch (op->kind) {
    case HIP_OP_KERNEL:
        return hipGraphNodeTypeKernel;
    case HIP_OP_COPY:
    case HIP_OP_COPY_3D:
        return hipGraphNodeTypeMemcpy;
    case HIP_OP_FILL:
    case HIP_OP_FILL_3D:
        return hipGraphNodeTypeMemset;
    case HIP_OP_HOST:
        return hipGraphNodeTypeHost;
    case HIP_OP_EVENT_RECORD:
        return hipGraphNodeTypeEventRecord;
    case HIP_OP_EVENT_WAIT:
        return hipGraphNodeTypeWaitEvent;
    case HIP_OP_GRAPH:
        return hipGraphNodeTypeGraph;
    case HIP_OP_ALLOC:
        return hipGraphNodeTypeMemAlloc;
    case HIP_OP_FREE:
        return hipGraphNodeTypeMemFree;
    default: /* waits and writes of values have no type of their own */
        return hipGraphNodeTypeEmpty;
    }
}

static hipMemcpy3DParms graph_describe_box(const struct ehp_copy_3d *box)
{
    return (hipMemcpy3DParms){
        .srcPtr = {(void *)(uintptr_t)box->src, box->src_pitch, box->width,
                   box->src_pitch ? box->src_slice / box->src_pitch : 1},
        .dstPtr = {box->dst, box->dst_pitch, box->width,
                   box->dst_pitch ? box->dst_slice / box->dst_pitch : 1},
        .extent = {box->width, box->height, box->depth},
        .kind = hipMemcpyDefault,
    };
}

hipError_t graph_set_op(struct hipGraphNode *node, const struct hip_op *op)
{
    switch (op->kind) {
    case HIP_OP_KERNEL:
        return graph_set_launch(node, &op->launch);
    case HIP_OP_COPY: {
        const struct ehp_copy_3d box = {op->copy.dst,
                                        op->copy.src,
                                        op->copy.bytes,
                                        op->copy.bytes,
                                        op->copy.bytes,
                                        op->copy.bytes,
                                        op->copy.bytes,
                                        1,
                                        1};
        node->op = *op;
        node->copy.params = graph_describe_box(&box);
        graph_set_sides(node);
        return hipSuccess;
    }
    case HIP_OP_COPY_3D:
        node->op = *op;
        node->copy.params = graph_describe_box(&op->copy_3d);
        graph_set_sides(node);
        return hipSuccess;
    case HIP_OP_FILL:
        node->op = *op;
        node->fill = (hipMemsetParams){.dst = op->fill.dst,
                                       .elementSize = op->fill.element,
                                       .height = 1,
                                       .pitch = op->fill.count * op->fill.element,
                                       .value = (unsigned)op->fill.value,
                                       .width = op->fill.count};
        graph_set_sides(node);
        return hipSuccess;
    case HIP_OP_FILL_3D:
        node->op = *op;
        node->fill = (hipMemsetParams){.dst = op->fill_3d.dst,
                                       .elementSize = (unsigned)op->fill_3d.element,
                                       .height = op->fill_3d.height * op->fill_3d.depth,
                                       .pitch = op->fill_3d.pitch,
                                       .value = (unsigned)op->fill_3d.value,
                                       .width = op->fill_3d.width};
        graph_set_sides(node);
        return hipSuccess;
    case HIP_OP_HOST:
        return graph_set_host(node, &(hipHostNodeParams){op->host.fn, op->host.user});
    case HIP_OP_GRAPH:
        return graph_set_child(node, op->graph);
    case HIP_OP_BATCH:
        return graph_set_batch(node, &(hipBatchMemOpNodeParams){NULL, op->batch.count, op->batch.params, 0});
    default:
        node->op = *op;
        return hipSuccess;
    }
}

hipError_t graph_copy_params(struct hipGraphNode *to, struct hipGraphNode *from)
{
    hipError_t error;
    int priority;

    switch (from->op.kind) {
    case HIP_OP_KERNEL:
        priority = from->kernel.priority;
        error = graph_set_launch(to, &from->op.launch);
        if (error == hipSuccess) {
            to->kernel.priority = priority;
            to->kernel.window = from->kernel.window;
        }
        return error;
    case HIP_OP_GRAPH:
        error = graph_set_child(to, from->child);
        return error;
    case HIP_OP_BATCH:
        return graph_set_batch(to, &from->batch);
    case HIP_OP_ALLOC:
        graph_memory_ref(from->alloc.memory);
        graph_params_free(to);
        to->op = from->op;
        to->alloc = from->alloc;
        return hipSuccess;
    default:
        graph_params_free(to);
        to->op = from->op;
        to->to = from->to;
        to->from = from->from;
        to->copy = from->copy; /* the largest plain member of the union */
        return hipSuccess;
    }
}
