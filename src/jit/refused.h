/* SPDX-License-Identifier: MIT */
/* The functions that stay in the interpreter, and why: the first of them, for who asks.  Not thread-safe. */
#ifndef EHP_JIT_REFUSED_H
#define EHP_JIT_REFUSED_H

#include "jit/jit.h"

enum { REFUSED_MAX = 16 };

struct refused_list {
    struct jit_refused entry[REFUSED_MAX];
    unsigned count;
};

__attribute__((format(printf, 3, 4))) void refused_add(struct refused_list *list, uint64_t start,
                                                       const char *format, ...);
/* The code at `start` goes: an address says nothing of it any more. */
void refused_unload(struct refused_list *list, uint64_t start);

#endif
