/* SPDX-License-Identifier: MIT */
/* By how much a misspelt name differs from the one that was meant. */
#ifndef EHP_BASE_DISTANCE_H
#define EHP_BASE_DISTANCE_H

#include <ctype.h>
#include <string.h>

/* Letters to change, add or leave out, whatever their case; of `b` the first 95 count. */
static inline unsigned word_distance(const char *a, const char *b)
{
    enum { LONGEST = 95 };
    unsigned row[LONGEST + 1];
    size_t length = strlen(b) < LONGEST ? strlen(b) : LONGEST;
    for (unsigned j = 0; j <= length; j++)
        row[j] = j;
    for (unsigned i = 0; a[i]; i++) {
        unsigned corner = row[0];
        row[0] = i + 1;
        for (unsigned j = 0; j < length; j++) {
            unsigned best = corner + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]));
            corner = row[j + 1];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j + 1] = corner + 1 < best ? corner + 1 : best;
        }
    }
    return row[length];
}

#endif
