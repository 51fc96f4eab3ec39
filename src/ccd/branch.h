/* SPDX-License-Identifier: MIT */
/*
 * What a core foresees of its branches: a table of where each went last, and behind it tables that also know
 * how the branches before it went, for ways of several lengths; the longest that knows such a case says
 * (Seznec and Michaud, A case for (partially) tagged geometric history length branch prediction, JILP 8,
 * 2006). Zen 4 has a predictor of that kind (57647, 2.8.1); its lengths and sizes are not published.
 *
 * A branch is seen for the first time as if it had been foreseen.
 */
#ifndef EHP_CCD_BRANCH_H
#define EHP_CCD_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BRANCH_KNOWN = 4096, /* guess, as all here; powers of two */
    BRANCH_CASES = 1024,
    BRANCH_LENGTHS = 4
};

struct branch_known {
    uint32_t branch;        /* its number; 0: none */
    uint32_t target, first; /* where it went lately, and the first time */
    uint8_t sure;           /* how often in a row, up to a most */
    uint8_t steady;         /* how often in a row it has gone to `target` */
};

struct branch_case {
    uint32_t target;
    uint16_t tag;
    uint8_t sure;
    bool useful; /* it knew better than those of shorter ways */
};

struct branches {
    uint64_t way; /* how the last branches went, the last one in the last bit */
    struct branch_known known[BRANCH_KNOWN];
    struct branch_case at[BRANCH_LENGTHS][BRANCH_CASES];
};

/* It goes to that target: whether that was foreseen.  `jump`: it has more than two. */
bool branches_take(struct branches *branches, uint32_t branch, uint32_t target, bool jump,
                   unsigned signature);

#endif
