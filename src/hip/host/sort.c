/* SPDX-License-Identifier: MIT */
/*
 * qsort() and bsearch(); see time_host.h.  As in glibc (stdlib/msort.c until 2.36, and again) it is a merge
 * sort, by way of pointers where an element is more than 32 bytes, so that what compares as equal stays in
 * its order.  Elements' moves and the branch that takes one or the other are told; what the program's
 * function does to compare them tells itself.
 */
#include <stdlib.h>
#include <string.h>

#include "hip/host/time_host.h"

enum { DIRECT = 32, ON_STACK = 1024 };

/* Instructions and cycles of what glibc's loops compile to: counted, not measured. */
static const struct {
    struct ehp_cpu_block block;
    struct ehp_cpu_access goes;
} merge = {{.goes = 1,
            .instructions = 8,
            .cycles = 3,
            .access = {{.number = 1, .bytes = 0x7172, .kind = EHP_CPU_BRANCH}}},
           {0}},
  search = {{.goes = 1,
             .instructions = 8,
             .cycles = 3,
             .access = {{.number = 2, .bytes = 0x7172, .kind = EHP_CPU_BRANCH}}},
            {0}};
static const struct ehp_cpu_block halve = {.instructions = 15, .cycles = 6},
                                  lower = {.instructions = 2, .cycles = 1},
                                  upper = {.instructions = 2, .cycles = 1};
struct move {
    struct ehp_cpu_block block;
    struct ehp_cpu_access write;
};
/* Of one element, from the one half or the other; and of many. */
static const struct move left = {{.accesses = 2,
                                  .words = 2,
                                  .instructions = 6,
                                  .cycles = 2,
                                  .access = {{.number = UINT16_MAX - 1, .kind = EHP_CPU_READ}}},
                                 {.after = UINT16_MAX - 1, .kind = EHP_CPU_WRITE}},
                         right = {{.accesses = 2,
                                   .words = 2,
                                   .instructions = 6,
                                   .cycles = 2,
                                   .access = {{.number = UINT16_MAX - 1, .kind = EHP_CPU_READ}}},
                                  {.after = UINT16_MAX - 1, .kind = EHP_CPU_WRITE}},
                         range = {{.accesses = 2,
                                   .words = 4,
                                   .instructions = 20,
                                   .cycles = 10,
                                   .access = {{.kind = EHP_CPU_READ_RANGE}}},
                                  {.kind = EHP_CPU_WRITE_RANGE}};

struct sort {
    size_t bytes; /* of an element, or of a pointer to one */
    bool pointers;
    __compar_d_fn_t compare;
    void *argument;
    char *space;
};

static void copy(void *to, const void *from, size_t bytes)
{
    uint64_t *w = ehp_cpu_block(&range.block);
    w[0] = (uint64_t)(uintptr_t)from;
    w[1] = w[3] = bytes;
    w[2] = (uint64_t)(uintptr_t)to;
    memcpy(to, from, bytes);
}

static void move(const struct move *which, void *to, const void *from, size_t bytes)
{
    uint64_t *w = ehp_cpu_block(&which->block);
    w[0] = (uint64_t)(uintptr_t)from;
    w[1] = (uint64_t)(uintptr_t)to;
    memcpy(to, from, bytes);
}

static const void *element(const struct sort *s, const char *at)
{
    return s->pointers ? *(void *const *)(const void *)at : at;
}

static void sort(const struct sort *s, char *base, size_t n)
{
    if (n < 2)
        return;
    const size_t half = n / 2;
    char *a = base, *b = base + half * s->bytes, *to = s->space;
    size_t of_a = half, of_b = n - half;
    ehp_cpu_block(&halve);
    sort(s, a, of_a);
    sort(s, b, of_b);
    for (; of_a && of_b; to += s->bytes) {
        const bool first = s->compare(element(s, a), element(s, b), s->argument) <= 0;
        ehp_cpu_block(&merge.block);
        char **from = first ? &a : &b;
        move(first ? &left : &right, to, *from, s->bytes);
        *from += s->bytes;
        --*(first ? &of_a : &of_b);
    }
    if (of_a)
        copy(to, a, of_a * s->bytes);
    copy(base, s->space, (n - of_b) * s->bytes);
}

/* Elements to where their pointers are, cycle by cycle of the permutation. */
static void place(char *base, size_t n, size_t bytes, char **pointer, char *spare)
{
    for (size_t i = 0; i < n; i++) {
        if (pointer[i] == base + i * bytes)
            continue;
        copy(spare, base + i * bytes, bytes);
        size_t at = i;
        for (char *from = pointer[at]; from != base + i * bytes; from = pointer[at]) {
            copy(base + at * bytes, from, bytes);
            pointer[at] = base + at * bytes;
            at = (size_t)(from - base) / bytes;
        }
        copy(base + at * bytes, spare, bytes);
        pointer[at] = base + at * bytes;
    }
}

/* False: there is no memory for it. */
static bool sort_on_core(void *base, size_t n, size_t bytes, __compar_d_fn_t compare, void *argument)
{
    const bool pointers = bytes > DIRECT;
    const size_t need = pointers ? 2 * n * sizeof(void *) + bytes : n * bytes;
    max_align_t on_stack[ON_STACK / sizeof(max_align_t)];
    char *space = need < ON_STACK ? (char *)on_stack : time_host_malloc(need);
    struct sort s = {pointers ? sizeof(void *) : bytes, pointers, compare, argument, space};
    if (!space)
        return false;
    if (pointers) {
        char **pointer = (char **)(void *)(space + n * sizeof(void *));
        for (size_t i = 0; i < n; i++)
            pointer[i] = (char *)base + i * bytes;
        sort(&s, (char *)pointer, n);
        place(base, n, bytes, pointer, space + 2 * n * sizeof(void *));
    } else {
        sort(&s, base, n);
    }
    if (space != (char *)on_stack)
        time_host_free(space);
    return true;
}

ENTRY void qsort_r(void *base, size_t n, size_t bytes, __compar_d_fn_t compare, void *argument)
{
    if (!ON_CORE() || !sort_on_core(base, n, bytes, compare, argument))
        REAL(qsort_r)(base, n, bytes, compare, argument);
}

static int without(const void *a, const void *b, void *compare)
{
    return (*(const __compar_fn_t *)compare)(a, b);
}

ENTRY void qsort(void *base, size_t n, size_t bytes, __compar_fn_t compare)
{
    if (!ON_CORE() || !sort_on_core(base, n, bytes, without, &compare))
        REAL(qsort)(base, n, bytes, compare);
}

/* Where a program does not have it from its header, as this file does. */
void *search_on_core(const void *key, const void *base, size_t n, size_t bytes,
                     __compar_fn_t compare) __asm__("bsearch") __attribute__((visibility("default")));
void *search_on_core(const void *key, const void *base, size_t n, size_t bytes, __compar_fn_t compare)
{
    if (!ON_CORE())
        return REAL(bsearch)(key, base, n, bytes, compare);
    for (size_t begin = 0, end = n; begin < end;) {
        const size_t middle = begin + (end - begin) / 2;
        char *at = (char *)(uintptr_t)base + middle * bytes;
        const int order = compare(key, at);
        if (order == 0)
            return at;
        ehp_cpu_block(&search.block);
        ehp_cpu_block(order < 0 ? &lower : &upper);
        if (order < 0)
            end = middle;
        else
            begin = middle + 1;
    }
    return NULL;
}
