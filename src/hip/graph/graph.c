/* SPDX-License-Identifier: MIT */
/* Graphs as structures: nodes, edges, order, clones, user objects. */
#include <stdlib.h>
#include <string.h>

#include "hip/graph/graph_node.h"
#include "hip/stream/stream.h"

/* ---- nodes and edges ----------------------------------------------------------------------------------- */

static bool graph_push(struct hipGraphNode ***list, size_t *count, size_t *room, struct hipGraphNode *node)
{
    if (*count == *room) {
        size_t more = *room ? *room * 2 : 4;
        struct hipGraphNode **bigger = realloc((void *)*list, more * sizeof **list);
        if (!bigger)
            return false;
        *list = bigger;
        *room = more;
    }
    (*list)[(*count)++] = node;
    return true;
}

/* Keeps the order of the rest: programs see it. */
static bool graph_pull(struct hipGraphNode **list, size_t *count, const struct hipGraphNode *node)
{
    for (size_t i = 0; i < *count; i++)
        if (list[i] == node) {
            memmove((void *)(list + i), (void *)(list + i + 1), (*count - i - 1) * sizeof *list);
            --*count;
            return true;
        }
    return false;
}

static bool graph_has(struct hipGraphNode *const *list, size_t count, const struct hipGraphNode *node)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == node)
            return true;
    return false;
}

hipError_t graph_edge_add(struct hipGraphNode *from, struct hipGraphNode *to)
{
    if (!graph_push(&from->outs, &from->out_count, &from->out_room, to))
        return hipErrorOutOfMemory;
    if (!graph_push(&to->deps, &to->dep_count, &to->dep_room, from)) {
        graph_pull(from->outs, &from->out_count, to);
        return hipErrorOutOfMemory;
    }
    return hipSuccess;
}

hipError_t graph_node_new(struct ihipGraph *graph, hipGraphNodeType type, struct hipGraphNode *const *deps,
                          size_t count, struct hipGraphNode **out)
{
    if (count && !deps)
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        if (!graph_node_ok(deps[i]) || deps[i]->graph != graph)
            return hipErrorInvalidValue;
        if (graph_has(deps, i, deps[i]))
            return hipErrorInvalidValue;
    }
    struct hipGraphNode *node = hip_handle_new(HIP_KIND_NODE, sizeof *node);
    if (!node)
        return hipErrorOutOfMemory;
    node->graph = graph;
    node->type = type;
    node->enabled = true;
    node->id = graph->next_id++;
    node->serial = atomic_fetch_add(&hip_runtime()->next_id, 1) + 1;
    node->index = graph->count;
    if (!graph_push(&graph->nodes, &graph->count, &graph->room, node)) {
        hip_handle_free(node);
        return hipErrorOutOfMemory;
    }
    for (size_t i = 0; i < count; i++)
        if (graph_edge_add(deps[i], node) != hipSuccess) {
            graph_node_delete(node);
            return hipErrorOutOfMemory;
        }
    *out = node;
    return hipSuccess;
}

void graph_node_delete(struct hipGraphNode *node)
{
    struct ihipGraph *graph = node->graph;

    for (size_t i = 0; i < node->dep_count; i++)
        graph_pull(node->deps[i]->outs, &node->deps[i]->out_count, node);
    for (size_t i = 0; i < node->out_count; i++)
        graph_pull(node->outs[i]->deps, &node->outs[i]->dep_count, node);
    graph_pull(graph->nodes, &graph->count, node);
    for (size_t i = node->index; i < graph->count; i++)
        graph->nodes[i]->index = i;
    graph_params_free(node);
    free((void *)node->deps);
    free((void *)node->outs);
    hip_handle_free(node);
}

/* ---- graphs -------------------------------------------------------------------------------------------- */

hipError_t graph_new(struct ihipGraph **graph)
{
    *graph = hip_handle_new(HIP_KIND_GRAPH, sizeof **graph);
    if (!*graph)
        return hipErrorOutOfMemory;
    (*graph)->id = (unsigned)atomic_fetch_add(&hip_runtime()->next_id, 1);
    return hipSuccess;
}

static void graph_object_drop(struct hipUserObject *object, unsigned count)
{
    if (!hip_handle_ok(HIP_KIND_USER_OBJECT, object)) /* the program has released more than was its own */
        return;
    if (atomic_fetch_sub(&object->refs, count) == count) {
        object->destroy(object->user);
        hip_handle_free(object);
    }
}

void graph_delete(struct ihipGraph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        struct hipGraphNode *node = graph->nodes[i];
        graph_params_free(node);
        free((void *)node->deps);
        free((void *)node->outs);
        hip_handle_free(node);
    }
    for (size_t i = 0; i < graph->object_count; i++)
        graph_object_drop(graph->objects[i].object, graph->objects[i].count);
    graph_plan_free(graph->plan);
    free(graph->objects);
    free((void *)graph->nodes);
    hip_handle_free(graph);
}

bool graph_sort(struct ihipGraph *graph, struct hipGraphNode **order)
{
    size_t done = 0, first = 0;

    for (size_t i = 0; i < graph->count; i++) {
        graph->nodes[i]->mark = graph->nodes[i]->dep_count;
        if (!graph->nodes[i]->dep_count)
            order[done++] = graph->nodes[i];
    }
    for (; first < done; first++)
        for (size_t i = 0; i < order[first]->out_count; i++)
            if (--order[first]->outs[i]->mark == 0)
                order[done++] = order[first]->outs[i];
    return done == graph->count;
}

static hipError_t graph_objects_copy(struct ihipGraph *to, const struct ihipGraph *from)
{
    if (!from->object_count)
        return hipSuccess;
    to->objects = calloc(from->object_count, sizeof *to->objects);
    if (!to->objects)
        return hipErrorOutOfMemory;
    for (size_t i = 0; i < from->object_count; i++) {
        to->objects[i] = from->objects[i];
        atomic_fetch_add(&to->objects[i].object->refs, to->objects[i].count);
    }
    to->object_count = from->object_count;
    return hipSuccess;
}

struct graph_objects {
    size_t count;
    struct graph_user_object list[];
};

static void graph_objects_release(void *user)
{
    struct graph_objects *objects = user;

    for (size_t i = 0; i < objects->count; i++)
        graph_object_drop(objects->list[i].object, objects->list[i].count);
    free(objects);
}

void graph_objects_drop(struct ihipGraph *graph, struct ihipStream_t *stream)
{
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == hipGraphNodeTypeGraph && graph->nodes[i]->child)
            graph_objects_drop(graph->nodes[i]->child, stream);
    if (!graph->object_count || hip_stream_idle(stream))
        return; /* graph_delete() does it */
    struct graph_objects *objects = malloc(sizeof *objects + graph->object_count * sizeof *objects->list);
    if (!objects)
        return;
    objects->count = graph->object_count;
    memcpy(objects->list, graph->objects, objects->count * sizeof *objects->list);
    const struct hip_op op = {.kind = HIP_OP_HOST, .host = {graph_objects_release, objects}};
    if (hip_stream_submit(stream, &op) == hipSuccess)
        graph->object_count = 0;
    else
        free(objects);
}

struct hipGraphNode *graph_find_clone(struct ihipGraph *clone, const struct hipGraphNode *original, bool deep)
{
    for (size_t i = 0; i < clone->count; i++)
        if (clone->nodes[i]->origin == original->serial)
            return clone->nodes[i];
    for (size_t i = 0; deep && i < clone->count; i++)
        if (clone->nodes[i]->type == hipGraphNodeTypeGraph) {
            struct hipGraphNode *found = graph_find_clone(clone->nodes[i]->child, original, true);
            if (found)
                return found;
        }
    return NULL;
}

/* One node's edges of one direction, in their order. */
static hipError_t graph_edges_clone(struct ihipGraph *clone, struct hipGraphNode *const *from, size_t count,
                                    struct hipGraphNode ***to, size_t *to_count, size_t *room)
{
    for (size_t i = 0; i < count; i++)
        if (!graph_push(to, to_count, room, clone->nodes[from[i]->index]))
            return hipErrorOutOfMemory;
    return hipSuccess;
}

/* Only reads the graph: threads may instantiate one side by side. */
hipError_t graph_clone(struct ihipGraph *graph, struct ihipGraph **out)
{
    struct ihipGraph *clone;
    hipError_t error = graph_new(&clone);

    if (error != hipSuccess)
        return error;
    error = graph_objects_copy(clone, graph);
    for (size_t i = 0; i < graph->count && error == hipSuccess; i++) {
        struct hipGraphNode *from = graph->nodes[i], *to;
        error = graph_node_new(clone, from->type, NULL, 0, &to);
        if (error == hipSuccess) {
            to->origin = from->serial;
            to->id = from->id;
            to->enabled = from->enabled;
            error = graph_copy_params(to, from);
        }
    }
    for (size_t i = 0; i < graph->count && error == hipSuccess; i++) {
        const struct hipGraphNode *from = graph->nodes[i];
        struct hipGraphNode *to = clone->nodes[i];
        error =
            graph_edges_clone(clone, from->deps, from->dep_count, &to->deps, &to->dep_count, &to->dep_room);
        if (error == hipSuccess)
            error = graph_edges_clone(clone, from->outs, from->out_count, &to->outs, &to->out_count,
                                      &to->out_room);
    }
    if (error != hipSuccess) {
        graph_delete(clone);
        return error;
    }
    clone->next_id = graph->next_id;
    *out = clone;
    return hipSuccess;
}

/* ---- entry points -------------------------------------------------------------------------------------- */

HIP_ENTRY hipError_t hipGraphCreate(hipGraph_t *pGraph, unsigned int flags)
{
    if (!pGraph || flags)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_open();
    return hip_return(error == hipSuccess ? graph_new(pGraph) : error);
}

HIP_ENTRY hipError_t hipGraphDestroy(hipGraph_t graph)
{
    if (!graph_ok(graph) || graph->child || graph->captured)
        return hip_return(hipErrorInvalidValue);
    graph_delete(graph);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphDestroyNode(hipGraphNode_t node)
{
    if (!graph_node_ok(node) || node->graph->captured)
        return hip_return(hipErrorInvalidValue);
    if (node->type == hipGraphNodeTypeMemAlloc || node->type == hipGraphNodeTypeMemFree)
        return hip_return(hipErrorNotSupported);
    graph_node_delete(node);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphClone(hipGraph_t *pGraphClone, hipGraph_t originalGraph)
{
    if (!pGraphClone || !graph_ok(originalGraph))
        return hip_return(hipErrorInvalidValue);
    return hip_return(graph_clone(originalGraph, pGraphClone));
}

HIP_ENTRY hipError_t hipGraphNodeFindInClone(hipGraphNode_t *pNode, hipGraphNode_t originalNode,
                                             hipGraph_t clonedGraph)
{
    if (!pNode || !graph_node_ok(originalNode) || !graph_ok(clonedGraph))
        return hip_return(hipErrorInvalidValue);
    *pNode = graph_find_clone(clonedGraph, originalNode, false);
    return hip_return(*pNode ? hipSuccess : hipErrorInvalidValue);
}

/* The two-step form of all lists: count with a null array, then fill; what is left of the array is null. */
static hipError_t graph_list(struct hipGraphNode *const *from, size_t have, hipGraphNode_t *to, size_t *count)
{
    if (to) {
        for (size_t i = 0; i < *count; i++)
            to[i] = i < have ? from[i] : NULL;
        *count = have < *count ? have : *count;
    } else {
        *count = have;
    }
    return hipSuccess;
}

HIP_ENTRY hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t *nodes, size_t *numNodes)
{
    if (!graph_ok(graph) || !numNodes)
        return hip_return(hipErrorInvalidValue);
    return hip_return(graph_list(graph->nodes, graph->count, nodes, numNodes));
}

HIP_ENTRY hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t *pRootNodes, size_t *pNumRootNodes)
{
    size_t count = 0;

    if (!graph_ok(graph) || !pNumRootNodes)
        return hip_return(hipErrorInvalidValue);
    struct hipGraphNode **roots = calloc(graph->count + 1, sizeof *roots);
    if (!roots)
        return hip_return(hipErrorOutOfMemory);
    for (size_t i = 0; i < graph->count; i++)
        if (!graph->nodes[i]->dep_count)
            roots[count++] = graph->nodes[i];
    graph_list(roots, count, pRootNodes, pNumRootNodes);
    free((void *)roots);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t *from, hipGraphNode_t *to,
                                      size_t *numEdges)
{
    size_t count = 0;

    if (!graph_ok(graph) || !numEdges || (!from) != (!to))
        return hip_return(hipErrorInvalidValue);
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->out_count; k++, count++)
            if (from && count < *numEdges) {
                from[count] = graph->nodes[i];
                to[count] = graph->nodes[i]->outs[k];
            }
    for (size_t i = count; from && i < *numEdges; i++)
        from[i] = to[i] = NULL;
    *numEdges = from && count > *numEdges ? *numEdges : count;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t *pDependencies,
                                                 size_t *pNumDependencies)
{
    if (!graph_node_ok(node) || !pNumDependencies)
        return hip_return(hipErrorInvalidValue);
    return hip_return(graph_list(node->deps, node->dep_count, pDependencies, pNumDependencies));
}

HIP_ENTRY hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t *pDependentNodes,
                                                   size_t *pNumDependentNodes)
{
    if (!graph_node_ok(node) || !pNumDependentNodes)
        return hip_return(hipErrorInvalidValue);
    return hip_return(graph_list(node->outs, node->out_count, pDependentNodes, pNumDependentNodes));
}

static hipError_t graph_edge_check(hipGraph_t graph, hipGraphNode_t from, hipGraphNode_t to, bool present)
{
    if (!graph_node_ok(from) || !graph_node_ok(to) || from == to || from->graph != graph ||
        to->graph != graph)
        return hipErrorInvalidValue;
    return graph_has(to->deps, to->dep_count, from) == present ? hipSuccess : hipErrorInvalidValue;
}

static void graph_edge_remove(struct hipGraphNode *from, struct hipGraphNode *to)
{
    graph_pull(from->outs, &from->out_count, to);
    graph_pull(to->deps, &to->dep_count, from);
}

/* Adds or removes all of them or none. */
static hipError_t graph_edges_change(hipGraph_t graph, const hipGraphNode_t *from, const hipGraphNode_t *to,
                                     size_t count, bool add)
{
    hipError_t error = hipSuccess;
    size_t done = 0;

    if (!graph_ok(graph) || (count && (!from || !to)))
        return hipErrorInvalidValue;
    for (; done < count; done++) {
        error = graph_edge_check(graph, from[done], to[done], !add);
        if (error == hipSuccess && add)
            error = graph_edge_add(from[done], to[done]);
        else if (error == hipSuccess)
            graph_edge_remove(from[done], to[done]);
        if (error != hipSuccess)
            break;
    }
    while (error != hipSuccess && done--)
        if (add)
            graph_edge_remove(from[done], to[done]);
        else
            graph_edge_add(from[done], to[done]);
    return error;
}

HIP_ENTRY hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t *from,
                                             const hipGraphNode_t *to, size_t numDependencies)
{
    return hip_return(graph_edges_change(graph, from, to, numDependencies, true));
}

HIP_ENTRY hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t *from,
                                                const hipGraphNode_t *to, size_t numDependencies)
{
    return hip_return(graph_edges_change(graph, from, to, numDependencies, false));
}

HIP_ENTRY hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType *pType)
{
    if (!graph_node_ok(node) || !pType)
        return hip_return(hipErrorInvalidValue);
    *pType = node->type;
    return hip_return(hipSuccess);
}

/* ---- user objects -------------------------------------------------------------------------------------- */

HIP_ENTRY hipError_t hipUserObjectCreate(hipUserObject_t *object_out, void *ptr, hipHostFn_t destroy,
                                         unsigned int initialRefcount, unsigned int flags)
{
    if (!object_out || !ptr || !destroy || !initialRefcount || initialRefcount > INT32_MAX ||
        flags != hipUserObjectNoDestructorSync)
        return hip_return(hipErrorInvalidValue);
    struct hipUserObject *object = hip_handle_new(HIP_KIND_USER_OBJECT, sizeof *object);
    if (!object)
        return hip_return(hipErrorOutOfMemory);
    object->destroy = destroy;
    object->user = ptr;
    atomic_store(&object->refs, initialRefcount);
    *object_out = object;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count)
{
    if (!object || !count || count > INT32_MAX)
        return hip_return(hipErrorInvalidValue);
    if (!hip_handle_ok(HIP_KIND_USER_OBJECT, object))
        return hip_return(hipSuccess); /* as ROCm: already gone */
    unsigned have = atomic_load(&object->refs);
    graph_object_drop(object, count > have ? have : count);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count)
{
    if (!object || !count || count > INT32_MAX)
        return hip_return(hipErrorInvalidValue);
    if (hip_handle_ok(HIP_KIND_USER_OBJECT, object))
        atomic_fetch_add(&object->refs, count);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count,
                                              unsigned int flags)
{
    if (!graph_ok(graph) || !hip_handle_ok(HIP_KIND_USER_OBJECT, object) || !count || count > INT32_MAX ||
        (flags && flags != hipGraphUserObjectMove))
        return hip_return(hipErrorInvalidValue);
    size_t i = 0;
    while (i < graph->object_count && graph->objects[i].object != object)
        i++;
    if (i == graph->object_count) {
        struct graph_user_object *more = realloc(graph->objects, (i + 1) * sizeof *more);
        if (!more)
            return hip_return(hipErrorOutOfMemory);
        graph->objects = more;
        graph->objects[graph->object_count++] = (struct graph_user_object){object, 0};
    }
    graph->objects[i].count += count;
    if (flags != hipGraphUserObjectMove) /* a move hands over the caller's references */
        atomic_fetch_add(&object->refs, count);
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object, unsigned int count)
{
    if (!graph_ok(graph) || !object || !count || count > INT32_MAX)
        return hip_return(hipErrorInvalidValue);
    for (size_t i = 0; i < graph->object_count; i++) {
        struct graph_user_object *held = &graph->objects[i];
        if (held->object != object)
            continue;
        unsigned some = count < held->count ? count : held->count;
        held->count -= some;
        if (!held->count)
            graph->objects[i] = graph->objects[--graph->object_count];
        graph_object_drop(object, some);
        break;
    }
    return hip_return(hipSuccess);
}
