/* SPDX-License-Identifier: MIT */
/* Executable graphs: making, launching, updating. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/memory/copy.h"
#include "hip/graph/graph_node.h"
#include "hip/memory/memory.h"
#include "hip/core/module.h"
#include "hip/stream/stream.h"

static bool exec_ok(hipGraphExec_t exec)
{
    return hip_handle_ok(HIP_KIND_EXEC, exec);
}

/* ---- making -------------------------------------------------------------------------------------------- */

static void exec_free(struct hipGraphExec *exec)
{
    if (exec->graph) {
        if (hip_handle_ok(HIP_KIND_STREAM, exec->last))
            graph_objects_drop(exec->graph, exec->last);
        graph_delete(exec->graph);
    }
    pthread_mutex_destroy(&exec->lock);
    hip_handle_free(exec);
}

static hipError_t exec_new(struct hipGraphExec **out, struct ihipGraph *graph, unsigned long long flags)
{
    const unsigned long long known = hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUpload |
                                     hipGraphInstantiateFlagDeviceLaunch |
                                     hipGraphInstantiateFlagUseNodePriority;

    if (!out || !graph_ok(graph) || (flags & ~known) || (flags & (flags - 1))) /* as ROCm, one at a time */
        return hipErrorInvalidValue;
    struct hipGraphExec *exec = hip_handle_new(HIP_KIND_EXEC, sizeof *exec);
    if (!exec)
        return hipErrorOutOfMemory;
    exec->flags = flags;
    pthread_mutex_init(&exec->lock, NULL);
    hipError_t error = graph_clone(graph, &exec->graph);
    if (error == hipSuccess)
        error = graph_plan_make(exec->graph);
    if (error != hipSuccess) {
        exec_free(exec);
        return error;
    }
    *out = exec;
    return hipSuccess;
}

HIP_ENTRY hipError_t hipGraphInstantiate(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                         hipGraphNode_t *pErrorNode, char *pLogBuffer, size_t bufferSize)
{
    hipError_t error = exec_new(pGraphExec, graph, 0);

    if (pErrorNode)
        *pErrorNode = NULL;
    if (pLogBuffer && bufferSize)
        snprintf(pLogBuffer, bufferSize, "%s", error == hipSuccess ? "" : hipGetErrorString(error));
    return hip_return(error);
}

HIP_ENTRY hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                                  unsigned long long flags)
{
    return hip_return(exec_new(pGraphExec, graph, flags));
}

HIP_ENTRY hipError_t hipGraphInstantiateWithParams(hipGraphExec_t *pGraphExec, hipGraph_t graph,
                                                   hipGraphInstantiateParams *instantiateParams)
{
    if (!instantiateParams)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = exec_new(pGraphExec, graph, instantiateParams->flags);
    instantiateParams->errNode_out = NULL;
    instantiateParams->result_out =
        error == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
    return hip_return(error);
}

HIP_ENTRY hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec)
{
    if (!exec_ok(graphExec))
        return hip_return(hipErrorInvalidValue);
    exec_free(graphExec);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphExecGetFlags(hipGraphExec_t graphExec, unsigned long long *flags)
{
    if (!exec_ok(graphExec) || !flags)
        return hip_return(hipErrorInvalidValue);
    *flags = graphExec->flags;
    return hip_return(hipSuccess);
}

/* ---- launching ----------------------------------------------------------------------------------------- */

/* What the last launch allocated must be free again, or is freed now. */
static hipError_t exec_free_memory(const struct ihipGraph *graph, bool automatic)
{
    hipError_t error = hipSuccess;

    for (size_t i = 0; i < graph->count && error == hipSuccess; i++) {
        const struct hipGraphNode *node = graph->nodes[i];
        if (node->op.kind == HIP_OP_GRAPH)
            error = exec_free_memory(node->child, automatic);
        if (node->op.kind != HIP_OP_ALLOC || !graph_memory_used(node->alloc.memory))
            continue;
        if (!automatic)
            return hipErrorInvalidValue;
        hip_graph_memory_free(node->alloc.memory);
    }
    return error;
}

static hipError_t exec_launch(hipGraphExec_t exec, hipStream_t handle)
{
    struct ihipStream_t *stream;

    if (!exec_ok(exec))
        return hipErrorInvalidValue;
    hipError_t error = hip_stream_of(handle, &stream);
    if (error != hipSuccess)
        return error;
    if (stream->capture) {
        struct hip_op op = {.kind = HIP_OP_GRAPH, .graph = exec->graph};
        return hip_capture_op(stream, &op, NULL);
    }
    error = hip_capture_implicit(stream);
    if (error != hipSuccess)
        return error;
    error = hip_lock(&exec->lock);
    if (error != hipSuccess)
        return error;
    error = exec_free_memory(exec->graph, exec->flags & hipGraphInstantiateFlagAutoFreeOnLaunch);
    if (error == hipSuccess && exec->last != stream && hip_handle_ok(HIP_KIND_STREAM, exec->last))
        error = hip_stream_follow(stream, exec->last);
    if (error == hipSuccess)
        error = graph_run(exec->graph, stream);
    exec->last = stream;
    pthread_mutex_unlock(&exec->lock);
    return error;
}

HIP_ENTRY hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream)
{
    return hip_return(exec_launch(graphExec, stream));
}

HIP_ENTRY hipError_t hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream)
{
    return hip_return(exec_launch(graphExec, hip_stream_spt(stream)));
}

HIP_ENTRY hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream)
{
    struct ihipStream_t *found;

    if (!exec_ok(graphExec))
        return hip_return(hipErrorInvalidValue);
    return hip_return(hip_stream_of(stream, &found)); /* the graph is where it will run already */
}

/* ---- changing one node --------------------------------------------------------------------------------- */

/* The clone that stands for a node of the original graph, when it is of this type. */
static struct hipGraphNode *exec_node(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeType type)
{
    if (!exec_ok(exec) || !graph_node_ok(node) || node->type != type)
        return NULL;
    return graph_find_clone(exec->graph, node, true);
}

HIP_ENTRY hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                     const hipKernelNodeParams *pNodeParams)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeKernel);
    return hip_return(mine ? graph_set_kernel(mine, pNodeParams) : hipErrorInvalidValue);
}

/* The node takes what was set up on the side, when that was right and the node may change so. */
static hipError_t exec_change(struct hipGraphNode *mine, struct hipGraphNode *wanted, hipError_t error)
{
    if (error != hipSuccess)
        return error;
    if (mine->type == hipGraphNodeTypeMemcpy ? !graph_copy_same(mine, wanted)
                                             : !graph_fill_same(mine, wanted))
        return hipErrorInvalidValue;
    return graph_copy_params(mine, wanted);
}

HIP_ENTRY hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                     hipMemcpy3DParms *pNodeParams)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeMemcpy), wanted = {0};
    if (!mine)
        return hip_return(hipErrorInvalidValue);
    return hip_return(exec_change(mine, &wanted, graph_set_copy(&wanted, pNodeParams)));
}

HIP_ENTRY hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                       void *dst, const void *src, size_t count,
                                                       hipMemcpyKind kind)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeMemcpy), wanted = {0};
    if (!mine || dst == src)
        return hip_return(hipErrorInvalidValue);
    return hip_return(exec_change(mine, &wanted, graph_set_copy_1d(&wanted, dst, src, count, kind)));
}

HIP_ENTRY hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                               void *dst, const void *symbol, size_t count,
                                                               size_t offset, hipMemcpyKind kind)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeMemcpy), wanted = {0};
    if (!mine || (dst && dst == symbol))
        return hip_return(hipErrorInvalidValue);
    hipError_t error = graph_set_from_symbol(&wanted, dst, symbol, count, offset, kind);
    return hip_return(exec_change(mine, &wanted, error));
}

HIP_ENTRY hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                             const void *symbol, const void *src,
                                                             size_t count, size_t offset, hipMemcpyKind kind)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeMemcpy), wanted = {0};
    if (!mine || (src && src == symbol))
        return hip_return(hipErrorInvalidValue);
    hipError_t error = graph_set_to_symbol(&wanted, symbol, src, count, offset, kind);
    return hip_return(exec_change(mine, &wanted, error));
}

HIP_ENTRY hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                                        const HIP_MEMCPY3D *copyParams, hipCtx_t ctx)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, hNode, hipGraphNodeTypeMemcpy), wanted = {0};
    (void)ctx;
    if (!mine)
        return hip_return(hipErrorInvalidValue);
    return hip_return(exec_change(mine, &wanted, graph_set_copy_drv(&wanted, copyParams)));
}

HIP_ENTRY hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                     const hipMemsetParams *pNodeParams)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeMemset), wanted = {0};
    if (!mine)
        return hip_return(hipErrorInvalidValue);
    return hip_return(exec_change(mine, &wanted, graph_set_fill(&wanted, pNodeParams)));
}

HIP_ENTRY hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                                        const HIP_MEMSET_NODE_PARAMS *memsetParams,
                                                        hipCtx_t ctx)
{
    (void)ctx;
    if (!memsetParams)
        return hip_return(hipErrorInvalidValue);
    const hipMemsetParams params = {memsetParams->dst,   memsetParams->elementSize, memsetParams->height,
                                    memsetParams->pitch, memsetParams->value,       memsetParams->width};
    return hipGraphExecMemsetNodeSetParams(hGraphExec, hNode, &params);
}

HIP_ENTRY hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                   const hipHostNodeParams *pNodeParams)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeHost);
    return hip_return(mine ? graph_set_host(mine, pNodeParams) : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                                         hipEvent_t event)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, hNode, hipGraphNodeTypeEventRecord);
    return hip_return(mine ? graph_set_event(mine, event) : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                                       hipEvent_t event)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, hNode, hipGraphNodeTypeWaitEvent);
    return hip_return(mine ? graph_set_event(mine, event) : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                                         const hipBatchMemOpNodeParams *nodeParams)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, hNode, hipGraphNodeTypeEmpty);
    if (!mine || mine->op.kind != HIP_OP_BATCH)
        return hip_return(hipErrorInvalidValue);
    return hip_return(graph_set_batch(mine, nodeParams));
}

HIP_ENTRY hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graphExec, hipGraphNode_t node,
                                               hipGraphNodeParams *nodeParams)
{
    if (!nodeParams)
        return hip_return(hipErrorInvalidValue);
    struct hipGraphNode *mine = exec_node(graphExec, node, nodeParams->type);
    if (!mine)
        return hip_return(hipErrorInvalidValue);
    switch (nodeParams->type) {
    case hipGraphNodeTypeMemcpy:
        return hipGraphExecMemcpyNodeSetParams(graphExec, node, &nodeParams->memcpy.copyParams);
    case hipGraphNodeTypeMemset:
        return hipGraphExecMemsetNodeSetParams(graphExec, node, &nodeParams->memset);
    case hipGraphNodeTypeGraph:
        return hipGraphExecChildGraphNodeSetParams(graphExec, node, nodeParams->graph.graph);
    case hipGraphNodeTypeMemAlloc: /* its address is in other nodes */
    case hipGraphNodeTypeMemFree:
        return hip_return(hipErrorNotSupported);
    default:
        return hip_return(graph_set_any(mine, nodeParams));
    }
}

HIP_ENTRY hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                            unsigned int isEnabled)
{
    struct hipGraphNode *mine = graph_node_ok(hNode) ? exec_node(hGraphExec, hNode, hNode->type) : NULL;

    if (!mine || (mine->type != hipGraphNodeTypeKernel && mine->type != hipGraphNodeTypeMemset &&
                  mine->type != hipGraphNodeTypeMemcpy))
        return hip_return(hipErrorInvalidValue);
    mine->enabled = isEnabled != 0;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec, hipGraphNode_t hNode,
                                            unsigned int *isEnabled)
{
    struct hipGraphNode *mine = graph_node_ok(hNode) ? exec_node(hGraphExec, hNode, hNode->type) : NULL;

    if (!mine || !isEnabled ||
        (mine->type != hipGraphNodeTypeKernel && mine->type != hipGraphNodeTypeMemset &&
         mine->type != hipGraphNodeTypeMemcpy))
        return hip_return(hipErrorInvalidValue);
    *isEnabled = mine->enabled;
    return hip_return(hipSuccess);
}

/* ---- changing all of it -------------------------------------------------------------------------------- */

static hipGraphExecUpdateResult exec_update(struct ihipGraph *have, struct ihipGraph *want, bool take,
                                            struct hipGraphNode **where);

/* Whether two graphs have the same edges, between nodes at the same places. */
static bool exec_same_edges(const struct hipGraphNode *a, const struct hipGraphNode *b)
{
    if (a->dep_count != b->dep_count)
        return false;
    for (size_t i = 0; i < a->dep_count; i++) {
        size_t k = 0;
        while (k < b->dep_count && b->deps[k]->mark != a->deps[i]->mark)
            k++;
        if (k == b->dep_count)
            return false;
    }
    return true;
}

/* Node by node, in two orders of which one is the other's: the same types and edges, or where they differ. */
static hipGraphExecUpdateResult exec_match(struct hipGraphNode *const *have, struct hipGraphNode *const *want,
                                           size_t count, struct hipGraphNode **where)
{
    for (size_t i = 0; i < count; i++)
        have[i]->mark = want[i]->mark = i;
    for (size_t i = 0; i < count; i++) {
        const struct hipGraphNode *a = have[i], *b = want[i];
        *where = want[i];
        if (a->type != b->type)
            return hipGraphExecUpdateErrorNodeTypeChanged;
        if (!exec_same_edges(a, b))
            return hipGraphExecUpdateErrorTopologyChanged;
    }
    return hipGraphExecUpdateSuccess;
}

/* Whether the paired nodes can take each other's description. */
static hipGraphExecUpdateResult exec_fits(struct hipGraphNode *const *have, struct hipGraphNode *const *want,
                                          size_t count, struct hipGraphNode **where)
{
    for (size_t i = 0; i < count; i++) {
        const struct hipGraphNode *a = have[i], *b = want[i];
        *where = want[i];
        if ((a->type == hipGraphNodeTypeMemcpy && !graph_copy_same(a, b)) ||
            (a->type == hipGraphNodeTypeMemset && !graph_fill_same(a, b)))
            return hipGraphExecUpdateErrorParametersChanged;
        if (a->op.kind == HIP_OP_KERNEL &&
            (!hip_handle_ok(HIP_KIND_FUNCTION, b->op.launch.function) || a->to != b->to))
            return hipGraphExecUpdateErrorUnsupportedFunctionChange;
        if (a->type == hipGraphNodeTypeGraph) {
            struct hipGraphNode *inner;
            hipGraphExecUpdateResult result = exec_update(a->child, b->child, false, &inner);
            if (result != hipGraphExecUpdateSuccess)
                return result;
        }
    }
    *where = NULL;
    return hipGraphExecUpdateSuccess;
}

static hipError_t exec_take(struct hipGraphNode *const *have, struct hipGraphNode *const *want, size_t count)
{
    hipError_t error = hipSuccess;
    struct hipGraphNode *where;

    for (size_t i = 0; i < count && error == hipSuccess; i++) {
        if (have[i]->type == hipGraphNodeTypeGraph)
            error = exec_update(have[i]->child, want[i]->child, true, &where) == hipGraphExecUpdateSuccess
                        ? hipSuccess
                        : hipErrorOutOfMemory;
        else
            error = graph_copy_params(have[i], want[i]);
    }
    return error;
}

/*
 * Pairs the nodes of two graphs: in the order of their creation, or if that
 * fails in the order in which they run.  Then compares them, or takes over
 * what the second graph's do.
 */
static hipGraphExecUpdateResult exec_update(struct ihipGraph *have, struct ihipGraph *want, bool take,
                                            struct hipGraphNode **where)
{
    size_t count = have->count;

    *where = NULL;
    if (count != want->count)
        return hipGraphExecUpdateErrorTopologyChanged;
    struct hipGraphNode **order = calloc(2 * count + 1, sizeof *order);
    if (!order)
        return hipGraphExecUpdateError;
    if (count) {
        memcpy((void *)order, (const void *)have->nodes, count * sizeof *order);
        memcpy((void *)(order + count), (const void *)want->nodes, count * sizeof *order);
    }
    struct hipGraphNode *second = NULL;
    hipGraphExecUpdateResult result = exec_match(order, order + count, count, where);
    if (result != hipGraphExecUpdateSuccess && graph_sort(have, order) && graph_sort(want, order + count) &&
        exec_match(order, order + count, count, &second) == hipGraphExecUpdateSuccess)
        result = hipGraphExecUpdateSuccess;
    if (result == hipGraphExecUpdateSuccess && !take)
        result = exec_fits(order, order + count, count, where);
    else if (result == hipGraphExecUpdateSuccess && exec_take(order, order + count, count) != hipSuccess)
        result = hipGraphExecUpdateError;
    free((void *)order);
    return result;
}

HIP_ENTRY hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph,
                                        hipGraphNode_t *hErrorNode_out,
                                        hipGraphExecUpdateResult *updateResult_out)
{
    struct hipGraphNode *where;

    if (!exec_ok(hGraphExec) || !graph_ok(hGraph) || !hErrorNode_out || !updateResult_out)
        return hip_return(hipErrorInvalidValue);
    *updateResult_out = exec_update(hGraphExec->graph, hGraph, false, &where);
    *hErrorNode_out = where;
    if (*updateResult_out == hipGraphExecUpdateSuccess)
        *updateResult_out = exec_update(hGraphExec->graph, hGraph, true, &where);
    return hip_return(*updateResult_out == hipGraphExecUpdateSuccess ? hipSuccess
                                                                     : hipErrorGraphExecUpdateFailure);
}

HIP_ENTRY hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec, hipGraphNode_t node,
                                                         hipGraph_t childGraph)
{
    struct hipGraphNode *mine = exec_node(hGraphExec, node, hipGraphNodeTypeGraph), *where;

    if (!mine || !graph_ok(childGraph) || childGraph == node->graph)
        return hip_return(hipErrorInvalidValue);
    switch (exec_update(mine->child, childGraph, false, &where)) {
    case hipGraphExecUpdateSuccess:
        break;
    case hipGraphExecUpdateErrorTopologyChanged: /* ROCm's answer to another shape */
    case hipGraphExecUpdateErrorNodeTypeChanged:
        return hip_return(hipErrorUnknown);
    default:
        return hip_return(hipErrorInvalidValue);
    }
    return hip_return(exec_update(mine->child, childGraph, true, &where) == hipGraphExecUpdateSuccess
                          ? hipSuccess
                          : hipErrorOutOfMemory);
}
