/* SPDX-License-Identifier: MIT */
/* Adding nodes, asking for what they do, changing it: in a graph that is not yet executable. */
#include <stdlib.h>
#include <string.h>

#include "hip/memory/copy.h"
#include "hip/graph/graph_node.h"
#include "hip/stream/stream.h"
#include "hip/core/module.h"

/* ---- adding -------------------------------------------------------------------------------------------- */

struct graph_place {
    hipGraphNode_t *out;
    hipGraph_t graph;
    const hipGraphNode_t *deps;
    size_t count;
};

static hipError_t nodes_begin(const struct graph_place *place, hipGraphNodeType type,
                              struct hipGraphNode **node)
{
    if (!place->out || !graph_ok(place->graph))
        return hipErrorInvalidValue;
    return graph_node_new(place->graph, type, place->deps, place->count, node);
}

/* The node stays only when its description was right. */
static hipError_t nodes_end(const struct graph_place *place, struct hipGraphNode *node, hipError_t error)
{
    if (error != hipSuccess)
        graph_node_delete(node);
    else
        *place->out = node;
    return error;
}

HIP_ENTRY hipError_t hipGraphAddKernelNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                           const hipGraphNode_t *pDependencies, size_t numDependencies,
                                           const hipKernelNodeParams *pNodeParams)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeKernel, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_kernel(node, pNodeParams))
                                          : error);
}

HIP_ENTRY hipError_t hipGraphAddMemcpyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                           const hipGraphNode_t *pDependencies, size_t numDependencies,
                                           const hipMemcpy3DParms *pCopyParams)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemcpy, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_copy(node, pCopyParams))
                                          : error);
}

HIP_ENTRY hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                             const hipGraphNode_t *pDependencies, size_t numDependencies,
                                             void *dst, const void *src, size_t count, hipMemcpyKind kind)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemcpy, &node);

    return hip_return(error == hipSuccess
                          ? nodes_end(&place, node, graph_set_copy_1d(node, dst, src, count, kind))
                          : error);
}

HIP_ENTRY hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                                              const hipGraphNode_t *dependencies, size_t numDependencies,
                                              const HIP_MEMCPY3D *copyParams, hipCtx_t ctx)
{
    const struct graph_place place = {phGraphNode, hGraph, dependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemcpy, &node);

    (void)ctx;
    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_copy_drv(node, copyParams))
                                          : error);
}

/* A symbol's address on the current device, plus an offset, checked against its size. */
static hipError_t nodes_symbol(const void *symbol, size_t count, size_t offset, char **address)
{
    struct hip_device *device;
    void *base;
    size_t size;

    if (!symbol)
        return hipErrorInvalidSymbol;
    hipError_t error = hip_current(&device);
    if (error == hipSuccess)
        error = hip_symbol_of(symbol, device, &base, &size);
    if (error != hipSuccess)
        return error;
    if (offset > size || count > size - offset)
        return hipErrorInvalidValue;
    *address = (char *)base + offset;
    return hipSuccess;
}

/* The variable is the device's, so that a direction says where the other side is. */
static bool nodes_other_side(const void *address, hipMemcpyKind kind)
{
    const struct hip_memory *memory = hip_memory_find(address, NULL);

    return kind == hipMemcpyDefault || kind == hipMemcpyDeviceToDevice ||
           kind == hipMemcpyDeviceToDeviceNoCU || !memory || memory->kind != EHP_MEM_DEVICE;
}

hipError_t graph_set_from_symbol(struct hipGraphNode *node, void *dst, const void *symbol, size_t count,
                                 size_t offset, hipMemcpyKind kind)
{
    char *address;

    if (!dst || !count)
        return hipErrorInvalidValue;
    if (!hip_copy_kind_ok(kind) || kind == hipMemcpyHostToDevice || kind == hipMemcpyHostToHost)
        return hipErrorInvalidMemcpyDirection;
    hipError_t error = nodes_symbol(symbol, count, offset, &address);
    if (error == hipSuccess && !nodes_other_side(dst, kind))
        error = hipErrorInvalidValue;
    return error == hipSuccess ? graph_set_copy_1d(node, dst, address, count, kind) : error;
}

hipError_t graph_set_to_symbol(struct hipGraphNode *node, const void *symbol, const void *src, size_t count,
                               size_t offset, hipMemcpyKind kind)
{
    char *address;

    if (!src || !count)
        return hipErrorInvalidValue;
    if (!hip_copy_kind_ok(kind) || kind == hipMemcpyDeviceToHost || kind == hipMemcpyHostToHost)
        return hipErrorInvalidMemcpyDirection;
    hipError_t error = nodes_symbol(symbol, count, offset, &address);
    if (error == hipSuccess && !nodes_other_side(src, kind))
        error = hipErrorInvalidValue;
    return error == hipSuccess ? graph_set_copy_1d(node, address, src, count, kind) : error;
}

HIP_ENTRY hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                                     const hipGraphNode_t *pDependencies,
                                                     size_t numDependencies, void *dst, const void *symbol,
                                                     size_t count, size_t offset, hipMemcpyKind kind)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemcpy, &node);

    if (error == hipSuccess)
        error = nodes_end(&place, node, graph_set_from_symbol(node, dst, symbol, count, offset, kind));
    return hip_return(error);
}

HIP_ENTRY hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                                   const hipGraphNode_t *pDependencies,
                                                   size_t numDependencies, const void *symbol,
                                                   const void *src, size_t count, size_t offset,
                                                   hipMemcpyKind kind)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemcpy, &node);

    if (error == hipSuccess)
        error = nodes_end(&place, node, graph_set_to_symbol(node, symbol, src, count, offset, kind));
    return hip_return(error);
}

HIP_ENTRY hipError_t hipGraphAddMemsetNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                           const hipGraphNode_t *pDependencies, size_t numDependencies,
                                           const hipMemsetParams *pMemsetParams)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemset, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_fill(node, pMemsetParams))
                                          : error);
}

static hipMemsetParams nodes_from_drv_memset(const HIP_MEMSET_NODE_PARAMS *p)
{
    return (hipMemsetParams){p->dst, p->elementSize, p->height, p->pitch, p->value, p->width};
}

HIP_ENTRY hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                                              const hipGraphNode_t *dependencies, size_t numDependencies,
                                              const HIP_MEMSET_NODE_PARAMS *memsetParams, hipCtx_t ctx)
{
    (void)ctx;
    if (!memsetParams)
        return hip_return(hipErrorInvalidValue);
    hipMemsetParams params = nodes_from_drv_memset(memsetParams);
    return hipGraphAddMemsetNode(phGraphNode, hGraph, dependencies, numDependencies, &params);
}

HIP_ENTRY hipError_t hipGraphAddHostNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                         const hipGraphNode_t *pDependencies, size_t numDependencies,
                                         const hipHostNodeParams *pNodeParams)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeHost, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_host(node, pNodeParams))
                                          : error);
}

HIP_ENTRY hipError_t hipGraphAddChildGraphNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                               const hipGraphNode_t *pDependencies, size_t numDependencies,
                                               hipGraph_t childGraph)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeGraph, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_child(node, childGraph))
                                          : error);
}

HIP_ENTRY hipError_t hipGraphAddEmptyNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                          const hipGraphNode_t *pDependencies, size_t numDependencies)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeEmpty, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, hipSuccess) : error);
}

HIP_ENTRY hipError_t hipGraphAddEventRecordNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                                const hipGraphNode_t *pDependencies, size_t numDependencies,
                                                hipEvent_t event)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeEventRecord, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_event(node, event)) : error);
}

HIP_ENTRY hipError_t hipGraphAddEventWaitNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                              const hipGraphNode_t *pDependencies, size_t numDependencies,
                                              hipEvent_t event)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeWaitEvent, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_event(node, event)) : error);
}

HIP_ENTRY hipError_t hipGraphAddMemAllocNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                             const hipGraphNode_t *pDependencies, size_t numDependencies,
                                             hipMemAllocNodeParams *pNodeParams)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemAlloc, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_alloc(node, pNodeParams))
                                          : error);
}

HIP_ENTRY hipError_t hipGraphAddMemFreeNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                            const hipGraphNode_t *pDependencies, size_t numDependencies,
                                            void *dev_ptr)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeMemFree, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_free(node, dev_ptr)) : error);
}

HIP_ENTRY hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                                               const hipGraphNode_t *dependencies, size_t numDependencies,
                                               hipDeviceptr_t dptr)
{
    return hipGraphAddMemFreeNode(phGraphNode, hGraph, dependencies, numDependencies, dptr);
}

HIP_ENTRY hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t *phGraphNode, hipGraph_t hGraph,
                                               const hipGraphNode_t *dependencies, size_t numDependencies,
                                               const hipBatchMemOpNodeParams *nodeParams)
{
    const struct graph_place place = {phGraphNode, hGraph, dependencies, numDependencies};
    struct hipGraphNode *node;
    hipError_t error = nodes_begin(&place, hipGraphNodeTypeEmpty, &node);

    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_batch(node, nodeParams))
                                          : error);
}

HIP_ENTRY hipError_t hipGraphAddNode(hipGraphNode_t *pGraphNode, hipGraph_t graph,
                                     const hipGraphNode_t *pDependencies, size_t numDependencies,
                                     hipGraphNodeParams *nodeParams)
{
    const struct graph_place place = {pGraphNode, graph, pDependencies, numDependencies};
    struct hipGraphNode *node;

    if (!nodeParams || (unsigned)nodeParams->type >= hipGraphNodeTypeCount)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = nodes_begin(&place, nodeParams->type, &node);
    return hip_return(error == hipSuccess ? nodes_end(&place, node, graph_set_any(node, nodeParams)) : error);
}

/* ---- asking and changing ------------------------------------------------------------------------------- */

static bool nodes_is(hipGraphNode_t node, hipGraphNodeType type)
{
    return graph_node_ok(node) && node->type == type;
}

HIP_ENTRY hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams *pNodeParams)
{
    if (!nodes_is(node, hipGraphNodeTypeKernel) || !pNodeParams)
        return hip_return(hipErrorInvalidValue);
    *pNodeParams = node->kernel.params;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams *pNodeParams)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeKernel) ? graph_set_kernel(node, pNodeParams)
                                                             : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms *pNodeParams)
{
    if (!nodes_is(node, hipGraphNodeTypeMemcpy) || !pNodeParams)
        return hip_return(hipErrorInvalidValue);
    *pNodeParams = node->copy.params;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms *pNodeParams)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeMemcpy) ? graph_set_copy(node, pNodeParams)
                                                             : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void *dst, const void *src,
                                                   size_t count, hipMemcpyKind kind)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeMemcpy) && dst != src
                          ? graph_set_copy_1d(node, dst, src, count, kind)
                          : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void *dst, const void *symbol,
                                                           size_t count, size_t offset, hipMemcpyKind kind)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeMemcpy) && dst != symbol
                          ? graph_set_from_symbol(node, dst, symbol, count, offset, kind)
                          : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void *symbol,
                                                         const void *src, size_t count, size_t offset,
                                                         hipMemcpyKind kind)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeMemcpy) && src != symbol
                          ? graph_set_to_symbol(node, symbol, src, count, offset, kind)
                          : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t hNode, HIP_MEMCPY3D *nodeParams)
{
    if (!nodes_is(hNode, hipGraphNodeTypeMemcpy) || !nodeParams || !hNode->copy.is_drv)
        return hip_return(hipErrorInvalidValue);
    *nodeParams = hNode->copy.drv;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t hNode, const HIP_MEMCPY3D *nodeParams)
{
    return hip_return(nodes_is(hNode, hipGraphNodeTypeMemcpy) ? graph_set_copy_drv(hNode, nodeParams)
                                                              : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams *pNodeParams)
{
    if (!nodes_is(node, hipGraphNodeTypeMemset) || !pNodeParams)
        return hip_return(hipErrorInvalidValue);
    *pNodeParams = node->fill;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams *pNodeParams)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeMemset) ? graph_set_fill(node, pNodeParams)
                                                             : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams *pNodeParams)
{
    if (!nodes_is(node, hipGraphNodeTypeHost) || !pNodeParams)
        return hip_return(hipErrorInvalidValue);
    *pNodeParams = node->host;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams *pNodeParams)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeHost) ? graph_set_host(node, pNodeParams)
                                                           : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t *pGraph)
{
    if (!nodes_is(node, hipGraphNodeTypeGraph) || !pGraph)
        return hip_return(hipErrorInvalidValue);
    *pGraph = node->child;
    return hip_return(hipSuccess);
}

static hipError_t nodes_get_event(hipGraphNode_t node, hipGraphNodeType type, hipEvent_t *event)
{
    if (!nodes_is(node, type) || !event)
        return hipErrorInvalidValue;
    *event = node->op.event.event;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out)
{
    return hip_return(nodes_get_event(node, hipGraphNodeTypeEventRecord, event_out));
}

HIP_ENTRY hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t *event_out)
{
    return hip_return(nodes_get_event(node, hipGraphNodeTypeWaitEvent, event_out));
}

HIP_ENTRY hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeEventRecord) ? graph_set_event(node, event)
                                                                  : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event)
{
    return hip_return(nodes_is(node, hipGraphNodeTypeWaitEvent) ? graph_set_event(node, event)
                                                                : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams *pNodeParams)
{
    if (!nodes_is(node, hipGraphNodeTypeMemAlloc) || !pNodeParams)
        return hip_return(hipErrorInvalidValue);
    *pNodeParams = node->alloc.params;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void *dev_ptr)
{
    if (!nodes_is(node, hipGraphNodeTypeMemFree) || !dev_ptr)
        return hip_return(hipErrorInvalidValue);
    *(void **)dev_ptr = node->op.memory.address;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t hNode,
                                                     hipBatchMemOpNodeParams *nodeParams_out)
{
    if (!graph_node_ok(hNode) || hNode->op.kind != HIP_OP_BATCH || !nodeParams_out)
        return hip_return(hipErrorInvalidValue);
    *nodeParams_out = hNode->batch;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t hNode,
                                                     hipBatchMemOpNodeParams *nodeParams)
{
    if (!graph_node_ok(hNode) || hNode->op.kind != HIP_OP_BATCH)
        return hip_return(hipErrorInvalidValue);
    return hip_return(graph_set_batch(hNode, nodeParams));
}

HIP_ENTRY hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams *nodeParams)
{
    if (!graph_node_ok(node) || !nodeParams || nodeParams->type != node->type)
        return hip_return(hipErrorInvalidValue);
    return hip_return(graph_set_any(node, nodeParams));
}

/* ---- attributes of kernel nodes ------------------------------------------------------------------------ */

HIP_ENTRY hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
                                                    const hipLaunchAttributeValue *value)
{
    if (!nodes_is(hNode, hipGraphNodeTypeKernel) || !value)
        return hip_return(hipErrorInvalidValue);
    switch (attr) {
    case hipLaunchAttributeAccessPolicyWindow:
        if (!hip_window_ok(&value->accessPolicyWindow))
            return hip_return(hipErrorInvalidValue);
        hNode->kernel.window = value->accessPolicyWindow;
        break;
    case hipLaunchAttributeCooperative:
        hNode->op.launch.cooperative = value->cooperative != 0;
        break;
    case hipLaunchAttributePriority:
        if (value->priority < -1 || value->priority > 1)
            return hip_return(hipErrorInvalidValue);
        hNode->kernel.priority = value->priority;
        break;
    default:
        return hip_return(hipErrorInvalidValue);
    }
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t hNode, hipLaunchAttributeID attr,
                                                    hipLaunchAttributeValue *value)
{
    if (!nodes_is(hNode, hipGraphNodeTypeKernel) || !value)
        return hip_return(hipErrorInvalidValue);
    switch (attr) {
    case hipLaunchAttributeAccessPolicyWindow:
        value->accessPolicyWindow = hNode->kernel.window;
        break;
    case hipLaunchAttributeCooperative:
        value->cooperative = hNode->op.launch.cooperative;
        break;
    case hipLaunchAttributePriority:
        value->priority = hNode->kernel.priority;
        break;
    default:
        return hip_return(hipErrorInvalidValue);
    }
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t hSrc, hipGraphNode_t hDst)
{
    if (!nodes_is(hSrc, hipGraphNodeTypeKernel) || !nodes_is(hDst, hipGraphNodeTypeKernel))
        return hip_return(hipErrorInvalidValue);
    hDst->kernel.window = hSrc->kernel.window;
    hDst->kernel.priority = hSrc->kernel.priority;
    hDst->op.launch.cooperative = hSrc->op.launch.cooperative;
    return hip_return(hipSuccess);
}
