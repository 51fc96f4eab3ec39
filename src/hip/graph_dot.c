/* SPDX-License-Identifier: MIT */
/* hipGraphDebugDotPrint: a graph as Graphviz text. */
#include <stdio.h>

#include "graph_node.h"
#include "module.h"

static const char *dot_type(hipGraphNodeType type)
{
    switch (type) {
    case hipGraphNodeTypeKernel:
        return "KERNEL";
    case hipGraphNodeTypeMemcpy:
        return "MEMCPY";
    case hipGraphNodeTypeMemset:
        return "MEMSET";
    case hipGraphNodeTypeHost:
        return "HOST";
    case hipGraphNodeTypeGraph:
        return "GRAPH";
    case hipGraphNodeTypeWaitEvent:
        return "EVENT_WAIT";
    case hipGraphNodeTypeEventRecord:
        return "EVENT_RECORD";
    case hipGraphNodeTypeMemAlloc:
        return "MEM_ALLOC";
    case hipGraphNodeTypeMemFree:
        return "MEM_FREE";
    default:
        return "EMPTY";
    }
}

static void dot_params(FILE *file, const struct hipGraphNode *node, unsigned flags)
{
    const struct hip_op *op = &node->op;
    bool all = flags & hipGraphDebugDotFlagsVerbose;

    switch (op->kind) {
    case HIP_OP_KERNEL:
        fprintf(file, "\\n%s", op->launch.function->kernel.name);
        if (all || (flags & hipGraphDebugDotFlagsKernelNodeParams))
            fprintf(file, "\\ngrid %ux%ux%u block %ux%ux%u shared %u",
                    op->launch.grid[0] / op->launch.block[0], op->launch.grid[1] / op->launch.block[1],
                    op->launch.grid[2] / op->launch.block[2], op->launch.block[0], op->launch.block[1],
                    op->launch.block[2], op->launch.shared);
        break;
    case HIP_OP_COPY:
        if (all || (flags & hipGraphDebugDotFlagsMemcpyNodeParams))
            fprintf(file, "\\n%p from %p, %zu bytes", op->copy.dst, op->copy.src, op->copy.bytes);
        break;
    case HIP_OP_COPY_3D:
        if (all || (flags & hipGraphDebugDotFlagsMemcpyNodeParams))
            fprintf(file, "\\n%p from %p, %llu x %llu x %llu", op->copy_3d.dst, op->copy_3d.src,
                    (unsigned long long)op->copy_3d.width, (unsigned long long)op->copy_3d.height,
                    (unsigned long long)op->copy_3d.depth);
        break;
    case HIP_OP_FILL:
        if (all || (flags & hipGraphDebugDotFlagsMemsetNodeParams))
            fprintf(file, "\\n%p = %llu, %llu x %u bytes", op->fill.dst, (unsigned long long)op->fill.value,
                    (unsigned long long)op->fill.count, op->fill.element);
        break;
    case HIP_OP_HOST:
        if (all || (flags & hipGraphDebugDotFlagsHostNodeParams))
            fprintf(file, "\\nfn %p user %p", (void *)(uintptr_t)op->host.fn, op->host.user);
        break;
    case HIP_OP_EVENT_RECORD:
    case HIP_OP_EVENT_WAIT:
        if (all || (flags & hipGraphDebugDotFlagsEventNodeParams))
            fprintf(file, "\\nevent %p", (void *)op->event.event);
        break;
    default:
        break;
    }
    if (all || (flags & hipGraphDebugDotFlagsHandles))
        fprintf(file, "\\nnode %p", (const void *)node);
}

static void dot_graph(FILE *file, const struct ihipGraph *graph, unsigned flags)
{
    fprintf(file, "subgraph cluster_%u {\nlabel=\"graph_%u\"\ngraph[style=\"dashed\"];\n", graph->id,
            graph->id);
    for (size_t i = 0; i < graph->count; i++) {
        const struct hipGraphNode *node = graph->nodes[i];
        fprintf(file, "\"graph_%u_node_%u\"[style=\"bold\" shape=\"%s\" label=\"%u\\n%s", graph->id, node->id,
                node->type == hipGraphNodeTypeKernel ? "octagon" : "rectangle", node->id,
                dot_type(node->type));
        dot_params(file, node, flags);
        fprintf(file, "\"];\n");
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->out_count; k++)
            fprintf(file, "\"graph_%u_node_%u\" -> \"graph_%u_node_%u\";\n", graph->id, graph->nodes[i]->id,
                    graph->id, graph->nodes[i]->outs[k]->id);
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == hipGraphNodeTypeGraph)
            dot_graph(file, graph->nodes[i]->child, flags);
    fprintf(file, "}\n");
}

HIP_ENTRY hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned int flags)
{
    if (!graph_ok(graph) || !path)
        return hip_return(hipErrorInvalidValue);
    FILE *file = fopen(path, "w");
    if (!file)
        return hip_return(hipErrorOperatingSystem);
    fprintf(file, "digraph dot {\n");
    dot_graph(file, graph, flags);
    fprintf(file, "}\n");
    return hip_return(fclose(file) == 0 ? hipSuccess : hipErrorOperatingSystem);
}
