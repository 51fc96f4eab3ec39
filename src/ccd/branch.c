/* SPDX-License-Identifier: MIT */
/* See branch.h. */
#include "ccd/branch.h"

#include <stddef.h>

/* STEADY: as long as the longest way; so often the same, what was before tells no more. */
enum { STEADY = 64, SURE = 3, TAG_BITS = 12, INDEX_BITS = 10, JUMP_BITS = 3 };

/* Branches that a table's cases know of: a guess. */
static const unsigned lengths[BRANCH_LENGTHS] = {5, 12, 28, 64};

static struct branch_case *case_of(struct branches *b, uint32_t branch, unsigned i, uint16_t *tag)
{
    const uint64_t way = lengths[i] < 64 ? b->way & ((UINT64_C(1) << lengths[i]) - 1) : b->way,
                   mixed = ((way * UINT64_C(0x9e3779b97f4a7c15)) ^ ((uint64_t)branch << 20 | i)) *
                           UINT64_C(0xd6e8feb86659fd93);
    *tag = (uint16_t)((mixed >> (64 - INDEX_BITS - TAG_BITS) & ((1U << TAG_BITS) - 1)) + 1);
    return &b->at[i][mixed >> (64 - INDEX_BITS)];
}

/* One that was right is surer; one that was wrong is less so, and says otherwise once it was not at all. */
static void learn(uint32_t *says, uint8_t *sure, uint32_t target)
{
    if (*says == target)
        *sure = *sure < SURE ? (uint8_t)(*sure + 1) : SURE;
    else if (*sure)
        --*sure;
    else
        *says = target;
}

/* By the tables of cases, for a branch that does not always go the same way. */
static bool take_case(struct branches *b, struct branch_known *k, uint32_t target)
{
    struct branch_case *at[BRANCH_LENGTHS];
    uint16_t tag[BRANCH_LENGTHS];
    int longest = -1;
    uint32_t says = k->target, shorter = k->target;
    for (int i = 0; i < BRANCH_LENGTHS; i++) {
        at[i] = case_of(b, k->branch, (unsigned)i, &tag[i]);
        if (at[i]->tag != tag[i])
            continue;
        shorter = says;
        says = at[i]->target;
        longest = i;
    }
    const bool right = says == target;
    if (longest < 0) {
        learn(&k->target, &k->sure, target);
    } else {
        struct branch_case *c = at[longest];
        if (says != shorter)
            c->useful = right;
        learn(&c->target, &c->sure, target);
    }
    if (right)
        return true;
    /* A longer way may tell: in the first of the tables whose place is not of use. */
    for (int i = longest + 1; i < BRANCH_LENGTHS; i++)
        if (!at[i]->useful) {
            *at[i] = (struct branch_case){.target = target, .tag = tag[i]};
            return false;
        }
    for (int i = longest + 1; i < BRANCH_LENGTHS; i++)
        at[i]->useful = false;
    return false;
}

bool branches_take(struct branches *b, uint32_t branch, uint32_t target, bool jump, unsigned signature)
{
    struct branch_known *k = &b->known[(branch ^ branch >> 16) % BRANCH_KNOWN];
    bool foreseen = true;
    if (k->branch != branch) {
        *k = (struct branch_known){.branch = branch, .target = target, .first = target, .steady = STEADY};
    } else if (k->steady < STEADY) {
        k->steady = k->target == target ? (uint8_t)(k->steady + 1) : 0;
        foreseen = take_case(b, k, target);
    } else if (k->target == target) {
        k->sure = SURE;
    } else {
        k->steady = 0;
        learn(&k->target, &k->sure, target);
        foreseen = false;
    }
    b->way = jump ? b->way << JUMP_BITS | (signature & ((1U << JUMP_BITS) - 1))
                  : b->way << 1 | (target != k->first);
    return foreseen;
}
