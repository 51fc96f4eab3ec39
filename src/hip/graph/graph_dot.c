/* SPDX-License-Identifier: MIT */
/* hipGraphDebugDotPrint: a graph as Graphviz text. */
#include <stdio.h>
#include <string.h>

#include "hip/graph/graph_node.h"
#include "hip/core/module.h"

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

/* A record's text: what shapes the record is escaped. */
static void dot_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (strchr("<>{}|\"\\ ", *text))
            fputc('\\', file);
        fputc(*text, file);
    }
}

static const char *dot_kernel_name(const struct hip_launch *launch)
{
    return hip_handle_ok(HIP_KIND_FUNCTION, launch->function) ? launch->function->kernel.name : "unloaded";
}

static const char *dot_direction(hipMemcpyKind kind)
{
    static const char *const names[] = {"HtoH", "HtoD", "DtoH", "DtoD", "Default"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "DtoDNoCU";
}

/* The flag of the section that says all of a node of this type; 0 when there is nothing more to say. */
static unsigned dot_flag(hipGraphNodeType type)
{
    switch (type) {
    case hipGraphNodeTypeKernel:
        return hipGraphDebugDotFlagsKernelNodeParams | hipGraphDebugDotFlagsKernelNodeAttributes;
    case hipGraphNodeTypeMemcpy:
        return hipGraphDebugDotFlagsMemcpyNodeParams;
    case hipGraphNodeTypeMemset:
        return hipGraphDebugDotFlagsMemsetNodeParams;
    case hipGraphNodeTypeHost:
        return hipGraphDebugDotFlagsHostNodeParams;
    case hipGraphNodeTypeWaitEvent:
    case hipGraphNodeTypeEventRecord:
        return hipGraphDebugDotFlagsEventNodeParams;
    default:
        return 0;
    }
}

static const char *dot_shape(hipGraphNodeType type)
{
    switch (type) {
    case hipGraphNodeTypeKernel:
        return "octagon";
    case hipGraphNodeTypeMemcpy:
        return "trapezium";
    case hipGraphNodeTypeMemset:
        return "invtrapezium";
    default:
        return "rectangle";
    }
}

static void dot_launch(FILE *file, const struct hip_launch *launch)
{
    fprintf(file, "\\<\\<\\<(%u,%u,%u),(%u,%u,%u),%u\\>\\>\\>", launch->grid[0] / launch->block[0],
            launch->grid[1] / launch->block[1], launch->grid[2] / launch->block[2], launch->block[0],
            launch->block[1], launch->block[2], launch->shared);
}

static void dot_kernel(FILE *file, const struct hipGraphNode *node, unsigned flags)
{
    const struct hip_launch *launch = &node->op.launch;
    const hipAccessPolicyWindow *window = &node->kernel.window;

    fprintf(file, "{\nKERNEL\n| {ID | %u | ", node->id);
    dot_text(file, dot_kernel_name(launch));
    if (flags & (hipGraphDebugDotFlagsVerbose | hipGraphDebugDotFlagsKernelNodeParams))
        dot_launch(file, launch);
    fputs("}\n", file);
    if (flags & hipGraphDebugDotFlagsVerbose)
        fprintf(file, "| {{node handle | func handle} | {%p | %p}}\n", (const void *)node,
                node->kernel.params.func);
    if (flags & (hipGraphDebugDotFlagsVerbose | hipGraphDebugDotFlagsKernelNodeAttributes))
        fprintf(file,
                "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | "
                "{%p | %zu | %f | %d | %d}}\n| {cooperative | %u}\n| {priority | %d}\n",
                window->base_ptr, window->num_bytes, (double)window->hitRatio, window->hitProp,
                window->missProp, launch->cooperative, node->kernel.priority);
    fputc('}', file);
}

static void dot_copy(FILE *file, const struct hipGraphNode *node)
{
    const hipMemcpy3DParms *p = &node->copy.params;
    const struct ehp_copy_3d *box = &node->op.copy_3d;
    const char *kind = dot_direction(node->copy.is_drv ? hipMemcpyDefault : p->kind);

    if (node->op.kind == HIP_OP_COPY)
        fprintf(file,
                "{\nMEMCPY\n| {{ID | node handle | dst | src | count | kind} | "
                "{%u | %p | %p | %p | %zu | %s}}}",
                node->id, (const void *)node, node->op.copy.dst, node->op.copy.src, node->op.copy.bytes,
                kind);
    else if (node->op.kind == HIP_OP_COPY_3D)
        fprintf(file,
                "{\nMEMCPY\n| {{ID | node handle} | {%u | %p}}\n| {kind | %s}\n"
                "| {{srcPtr | dstPtr} | {pitch | ptr | pitch | ptr} | {%llu | %p | %llu | %p}}\n"
                "| {Extent | {{Width | %llu} | {Height | %llu} | {Depth | %llu}}}}",
                node->id, (const void *)node, kind, (unsigned long long)box->src_pitch, box->src,
                (unsigned long long)box->dst_pitch, box->dst, (unsigned long long)box->width,
                (unsigned long long)box->height, (unsigned long long)box->depth);
    else
        fprintf(file, "{\nMEMCPY\n| {{ID | node handle} | {%u | %p}}}", node->id, (const void *)node);
}

static void dot_record(FILE *file, const struct hipGraphNode *node, unsigned flags)
{
    const hipMemsetParams *fill = &node->fill;

    switch (node->type) {
    case hipGraphNodeTypeKernel:
        dot_kernel(file, node, flags);
        break;
    case hipGraphNodeTypeMemcpy:
        dot_copy(file, node);
        break;
    case hipGraphNodeTypeMemset:
        fprintf(file,
                "{\nMEMSET\n| {{ID | node handle | dptr | pitch | value | elementSize | width | height} | "
                "{%u | %p | %p | %zu | %u | %u | %zu | %zu}}}",
                node->id, (const void *)node, fill->dst, fill->pitch, fill->value, fill->elementSize,
                fill->width, fill->height);
        break;
    case hipGraphNodeTypeHost:
        fprintf(file, "{\nHOST\n| {{ID | node handle | fn | userData} | {%u | %p | %p | %p}}}", node->id,
                (const void *)node, (void *)(uintptr_t)node->op.host.fn, node->op.host.user);
        break;
    default: /* events */
        fprintf(file, "{\n%s\n| {{ID | node handle | event handle} | {%u | %p | %p}}}", dot_type(node->type),
                node->id, (const void *)node, (void *)node->op.event.event);
        break;
    }
}

static void dot_plain(FILE *file, const struct hipGraphNode *node, unsigned flags)
{
    const hipMemsetParams *fill = &node->fill;

    fprintf(file, "%u\n", node->id);
    if (node->type == hipGraphNodeTypeKernel)
        dot_text(file, dot_kernel_name(&node->op.launch));
    else if (node->type == hipGraphNodeTypeGraph)
        fprintf(file, "graph_%u", node->child->id);
    else
        fputs(dot_type(node->type), file);
    if (node->op.kind == HIP_OP_COPY)
        fprintf(file, "\n(%s,%zu)", dot_direction(node->copy.params.kind), node->op.copy.bytes);
    else if (node->type == hipGraphNodeTypeMemset)
        fprintf(file, "\n(%u,%zu)", fill->value, fill->width * fill->elementSize * fill->height);
    if (flags & (hipGraphDebugDotFlagsVerbose | hipGraphDebugDotFlagsHandles))
        fprintf(file, "\nnode handle %p", (const void *)node);
}

static void dot_graph(FILE *file, const struct ihipGraph *graph, unsigned flags)
{
    fprintf(file, "subgraph cluster_%u {\nlabel=\"graph_%u\"graph[style=\"dashed\"];\n", graph->id,
            graph->id);
    for (size_t i = 0; i < graph->count; i++) {
        const struct hipGraphNode *node = graph->nodes[i];
        unsigned more = dot_flag(node->type);
        bool record = more && (flags & (more | hipGraphDebugDotFlagsVerbose));
        fprintf(file, "\n\"graph_%u_node_%u\"[style=\"%s\"shape=\"%s\"label=\"", graph->id, node->id,
                node->type == hipGraphNodeTypeKernel ? "bold" : "solid",
                record ? "record" : dot_shape(node->type));
        if (record)
            dot_record(file, node, flags);
        else
            dot_plain(file, node, flags);
        fprintf(file, "\"];\n");
    }
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->out_count; k++)
            fprintf(file, "\"graph_%u_node_%u\" -> \"graph_%u_node_%u\"\n", graph->id, graph->nodes[i]->id,
                    graph->id, graph->nodes[i]->outs[k]->id);
    fprintf(file, "}\n");
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == hipGraphNodeTypeGraph)
            dot_graph(file, graph->nodes[i]->child, flags);
}

HIP_ENTRY hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char *path, unsigned int flags)
{
    /* From the kernels' parameters to the handles they are one bit after the other. */
    const unsigned known = hipGraphDebugDotFlagsVerbose |
                           (2 * hipGraphDebugDotFlagsHandles - hipGraphDebugDotFlagsKernelNodeParams);

    if (!graph_ok(graph) || !path || (flags & ~known))
        return hip_return(hipErrorInvalidValue);
    FILE *file = fopen(path, "w");
    if (!file)
        return hip_return(hipErrorOperatingSystem);
    fprintf(file, "digraph dot {\n");
    dot_graph(file, graph, flags);
    fprintf(file, "}\n");
    return hip_return(fclose(file) == 0 ? hipSuccess : hipErrorOperatingSystem);
}
