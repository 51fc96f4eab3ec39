/* SPDX-License-Identifier: MIT */
/*
 * Running a graph: which nodes go one after another, and which side by side.
 *
 * A plan sorts the nodes and deals them to lanes.  Lane 0 is the stream that
 * the graph is launched in, the others are streams of the runtime's own, which
 * start behind what that stream has been given and which it waits for at the
 * end.  An edge between lanes is a marker behind the first node and a barrier
 * before the second; within a lane the order of the queue is enough.
 */
#include <stdlib.h>
#include <string.h>

#include "hip/graph/graph_node.h"
#include "hip/memory/pool.h"
#include "hip/stream/stream.h"

#define LANES_MAX 8

struct graph_plan {
    size_t count;
    struct hipGraphNode **order;
    unsigned char *lane; /* of order[i] */
    bool *marked;        /* a node in another lane waits for order[i] */
    unsigned lanes;
};

/* ---- planning ------------------------------------------------------------------------------------------ */

struct lane_state {
    bool used;
    size_t tail; /* the lane's last node so far, as its place in the order */
    /* The first node of another lane that waits for the tail: who comes after that one comes after the tail.
     */
    bool joined;
    unsigned join_lane;
    size_t join;
};

/* A lane that makes the node wait for nothing that it does not depend on; the first one when there is none.
 */
static unsigned plan_lane(const struct graph_plan *plan, const struct lane_state *lanes,
                          const struct hipGraphNode *node)
{
    unsigned unused = LANES_MAX;

    for (size_t i = 0; i < node->dep_count; i++) {
        size_t dep = node->deps[i]->place;
        if (lanes[plan->lane[dep]].tail == dep)
            return plan->lane[dep];
    }
    for (unsigned lane = 0; lane < LANES_MAX; lane++) {
        if (!lanes[lane].used) {
            unused = lane;
            break;
        }
        for (size_t i = 0; lanes[lane].joined && i < node->dep_count; i++) {
            size_t dep = node->deps[i]->place;
            if (plan->lane[dep] == lanes[lane].join_lane && dep >= lanes[lane].join)
                return lane;
        }
    }
    if (unused < LANES_MAX)
        return unused;
    return node->dep_count ? plan->lane[node->deps[0]->place] : 0;
}

static void plan_deal(struct graph_plan *plan)
{
    struct lane_state lanes[LANES_MAX] = {0};

    for (size_t i = 0; i < plan->count; i++)
        plan->order[i]->place = i;
    for (size_t i = 0; i < plan->count; i++) {
        const struct hipGraphNode *node = plan->order[i];
        unsigned mine = plan_lane(plan, lanes, node);
        plan->lane[i] = (unsigned char)mine;
        for (size_t k = 0; k < node->dep_count; k++) {
            size_t dep = node->deps[k]->place;
            struct lane_state *other = &lanes[plan->lane[dep]];
            if (plan->lane[dep] == mine)
                continue;
            plan->marked[dep] = true;
            if (other->tail == dep && !other->joined) {
                other->joined = true;
                other->join_lane = mine;
                other->join = i;
            }
        }
        lanes[mine] = (struct lane_state){.used = true, .tail = i};
        plan->lanes = mine + 1 > plan->lanes ? mine + 1 : plan->lanes;
    }
}

void graph_plan_free(struct graph_plan *plan)
{
    if (!plan)
        return;
    free((void *)plan->order);
    free(plan->lane);
    free(plan->marked);
    free(plan);
}

hipError_t graph_plan_make(struct ihipGraph *graph)
{
    struct graph_plan *plan = calloc(1, sizeof *plan);

    if (!plan)
        return hipErrorOutOfMemory;
    plan->count = graph->count;
    plan->order = calloc(graph->count + 1, sizeof *plan->order);
    plan->lane = calloc(graph->count + 1, sizeof *plan->lane);
    plan->marked = calloc(graph->count + 1, sizeof *plan->marked);
    hipError_t error = hipErrorOutOfMemory;
    if (plan->order && plan->lane && plan->marked)
        error = graph_sort(graph, plan->order) ? hipSuccess : hipErrorInvalidValue; /* a cycle */
    if (error != hipSuccess) {
        graph_plan_free(plan);
        return error;
    }
    plan_deal(plan);
    graph_plan_free(graph->plan);
    graph->plan = plan;
    for (size_t i = 0; i < graph->count && error == hipSuccess; i++)
        if (graph->nodes[i]->type == hipGraphNodeTypeGraph)
            error = graph_plan_make(graph->nodes[i]->child);
    return error;
}

/* ---- running ------------------------------------------------------------------------------------------- */

struct graph_run {
    const struct graph_plan *plan;
    struct ihipStream_t *stream[LANES_MAX];
    bool begun[LANES_MAX];
    struct hip_marker *start;    /* of the launching stream */
    struct hip_marker **reached; /* of the marked nodes; NULL: done already */
};

/* What the node waits for in other lanes. */
static hipError_t run_wait(struct graph_run *run, const struct hipGraphNode *node, unsigned lane)
{
    struct ihipStream_t *stream = run->stream[lane];
    hipError_t error = hipSuccess;

    if (!run->begun[lane] && lane)
        error = hip_stream_after(stream, run->start);
    run->begun[lane] = true;
    for (size_t i = 0; i < node->dep_count && error == hipSuccess; i++) {
        size_t dep = node->deps[i]->place;
        if (run->plan->lane[dep] != lane)
            error = hip_stream_after(stream, run->reached[dep]);
    }
    return error;
}

/* A free node's memory, which another graph or hipFreeAsync() may have had as well. */
static hipError_t run_free(const struct hipGraphNode *node, struct ihipStream_t *stream)
{
    struct hip_memory *memory = hip_memory_find(node->op.memory.address, NULL);

    if (!memory || memory->base != node->op.memory.address)
        return hipErrorInvalidValue;
    if (memory->graph)
        return hip_graph_memory_free(memory->graph) ? hipSuccess : hipErrorInvalidValue;
    return memory->pool ? hip_pool_free(memory, stream) : hipErrorInvalidValue;
}

/* The program may have destroyed what the node names. */
static hipError_t run_op(const struct hipGraphNode *node, struct ihipStream_t *stream)
{
    const struct hip_op *op = &node->op;

    if (op->kind == HIP_OP_KERNEL) {
        hipEvent_t start = op->launch.start, stop = op->launch.stop;
        if (!hip_handle_ok(HIP_KIND_FUNCTION, op->launch.function))
            return hipErrorInvalidResourceHandle;
        start = start && hip_handle_ok(HIP_KIND_EVENT, start) ? start : NULL;
        stop = stop && hip_handle_ok(HIP_KIND_EVENT, stop) ? stop : NULL;
        if (start || stop)
            return hip_stream_launch_timed(stream, op, start, stop);
    }
    if ((op->kind == HIP_OP_EVENT_RECORD || op->kind == HIP_OP_EVENT_WAIT) &&
        !hip_handle_ok(HIP_KIND_EVENT, op->event.event))
        return hipErrorInvalidHandle;
    return hip_stream_submit(stream, op);
}

static hipError_t run_node(struct graph_run *run, size_t at)
{
    const struct hipGraphNode *node = run->plan->order[at];
    unsigned lane = run->plan->lane[at];
    struct ihipStream_t *stream = run->stream[lane];
    hipError_t error = run_wait(run, node, lane);

    if (error != hipSuccess)
        return error;
    if (node->op.kind == HIP_OP_GRAPH)
        error = graph_run(node->child, stream);
    else if (node->op.kind == HIP_OP_FREE)
        error = run_free(node, stream);
    else if (node->op.kind == HIP_OP_ALLOC)
        graph_memory_use(node->alloc.memory);
    else if (node->enabled && node->op.kind != HIP_OP_EMPTY)
        error = run_op(node, stream);
    if (error == hipSuccess && run->plan->marked[at])
        error = hip_stream_tail(stream, &run->reached[at]);
    return error;
}

static hipError_t run_lanes(struct graph_run *run)
{
    hipError_t error = hip_stream_start(run->stream[0], &run->start);

    for (size_t i = 0; i < run->plan->count && error == hipSuccess; i++)
        error = run_node(run, i);
    for (unsigned lane = 1; lane < run->plan->lanes && error == hipSuccess; lane++)
        if (run->begun[lane])
            error = hip_stream_follow(run->stream[0], run->stream[lane]);
    hip_marker_unref(run->start);
    for (size_t i = 0; i < run->plan->count; i++)
        hip_marker_unref(run->reached[i]);
    return error;
}

hipError_t graph_run(struct ihipGraph *graph, struct ihipStream_t *stream)
{
    hipError_t error = graph->plan ? hipSuccess : graph_plan_make(graph);
    struct graph_run run = {.plan = graph->plan, .stream = {stream}, .begun = {true}};

    if (error != hipSuccess)
        return error;
    if (run.plan->lanes <= 1) { /* the queue's order is all there is */
        for (size_t i = 0; i < run.plan->count && error == hipSuccess; i++)
            error = run_node(&run, i);
        return error;
    }
    run.reached = calloc(run.plan->count, sizeof(struct hip_marker *));
    if (!run.reached)
        return hipErrorOutOfMemory;
    for (unsigned lane = 1; lane < run.plan->lanes; lane++) {
        run.stream[lane] = hip_lane_take(stream->device);
        if (!run.stream[lane])
            run.stream[lane] = stream; /* busy elsewhere: one after another is right as well */
    }
    error = run_lanes(&run);
    for (unsigned lane = 1; lane < run.plan->lanes; lane++)
        if (run.stream[lane] != stream)
            hip_lane_give(run.stream[lane]);
    free((void *)run.reached);
    return error;
}
