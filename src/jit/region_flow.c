/* SPDX-License-Identifier: MIT */
/* Basic blocks of a function, and loops of them; see region.h. */
#include <stdlib.h>
#include <string.h>

#include "jit/region.h"

static void find_successors(struct emit *e, struct region_flow *flow, unsigned b)
{
    const struct exec_block *block = e->block;
    size_t at = flow->first[b];
    while (at + 1 < flow->first[b + 1] && !lift_leaves(&block->x[at]))
        at++;
    const struct xinst *x = &block->x[at];
    int *to = flow->to[b];
    to[0] = to[1] = -1;
    const bool leaves = lift_leaves(x), branches = leaves && x->isa && lift_is_branch(x);
    if ((!leaves || (branches && x->op != ISA_OP_s_branch)) && at + 1 < block->count)
        to[0] = (int)flow->number[at + 1];
    if (branches)
        to[1] = (int)flow->number[x->target - block->x];
}

static void find_predecessors(struct region_flow *flow)
{
    for (unsigned b = 0; b < flow->count; b++)
        for (unsigned i = 0; i < 2; i++)
            if (flow->to[b][i] >= 0)
                flow->begin[flow->to[b][i] + 1]++;
    for (unsigned b = 0; b < flow->count; b++)
        flow->begin[b + 1] += flow->begin[b];
    unsigned *next = calloc(flow->count + 1, sizeof(*next));
    for (unsigned b = 0; next && b < flow->count; b++)
        for (unsigned i = 0; i < 2; i++)
            if (flow->to[b][i] >= 0) {
                const unsigned to = (unsigned)flow->to[b][i];
                flow->from[flow->begin[to] + next[to]++] = b;
            }
    free(next);
}

struct region_flow *region_flow_find(struct emit *e)
{
    const size_t count = e->block->count;
    struct region_flow *flow = calloc(1, sizeof(*flow));
    if (!flow)
        return NULL;
    for (size_t i = 0; i < count; i++)
        flow->count += e->blocks[i] != NULL;
    const unsigned blocks = flow->count;
    flow->first = calloc(blocks + 1, sizeof(*flow->first));
    flow->to = calloc(blocks + 1, sizeof(*flow->to));
    flow->begin = calloc(blocks + 2, sizeof(*flow->begin));
    flow->from = calloc(2 * (size_t)blocks + 1, sizeof(*flow->from));
    flow->number = calloc(count + 1, sizeof(*flow->number));
    flow->seen = calloc(blocks + 1, sizeof(*flow->seen));
    if (!flow->first || !flow->to || !flow->begin || !flow->from || !flow->number || !flow->seen) {
        region_flow_free(flow);
        return NULL;
    }
    unsigned b = 0;
    for (size_t i = 0; i < count; i++)
        if (e->blocks[i]) {
            flow->first[b] = i;
            flow->number[i] = b++;
        }
    flow->first[b] = count;
    for (b = 0; b < blocks; b++)
        find_successors(e, flow, b);
    find_predecessors(flow);
    return flow;
}

void region_flow_free(struct region_flow *flow)
{
    if (!flow)
        return;
    free(flow->first);
    free(flow->to);
    free(flow->begin);
    free(flow->from);
    free(flow->number);
    free(flow->seen);
    free(flow);
}

/*
 * All blocks that come before one, up to the head, which is to be before all of them: then they are of the
 * head's loop.  How many; 0: they are not, or too many.
 */
static unsigned walk_back(struct region_flow *flow, unsigned head, unsigned from, unsigned *found)
{
    unsigned count = 0;
    flow->seen[head] = ++flow->turn;
    if (from != head) {
        flow->seen[from] = flow->turn;
        found[count++] = from;
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned b = found[i], begin = flow->begin[b], end = flow->begin[b + 1];
        if (b == 0 || begin == end)
            return 0; /* control may come here from elsewhere */
        for (unsigned p = begin; p < end; p++) {
            const unsigned before = flow->from[p];
            if (flow->seen[before] == flow->turn)
                continue;
            if (count == REGION_BLOCKS)
                return 0;
            flow->seen[before] = flow->turn;
            found[count++] = before;
        }
    }
    return count + (from == head);
}

unsigned region_flow_loop(struct region_flow *flow, unsigned head, unsigned blocks[REGION_BLOCKS])
{
    unsigned count = 1, found[REGION_BLOCKS];
    bool loops = false;
    blocks[0] = head;
    for (unsigned p = flow->begin[head]; p < flow->begin[head + 1]; p++) {
        const unsigned from = flow->from[p], more = walk_back(flow, head, from, found);
        loops |= more != 0;
        for (unsigned i = 0; i < more && from != head; i++) {
            bool has = false;
            for (unsigned j = 0; j < count; j++)
                has |= blocks[j] == found[i];
            if (has)
                continue;
            if (count == REGION_BLOCKS)
                return 0;
            blocks[count++] = found[i];
        }
    }
    return loops ? count : 0;
}
