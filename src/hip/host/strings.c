/* SPDX-License-Identifier: MIT */
/*
 * The C library's functions of strings, which others call as well; see time_host.h.  What one reads and
 * writes goes through the caches, as far as it does: to where two differ, or what is looked for is.  strlen()
 * and copies of so many bytes are told by whoever calls them.
 */
#include <string.h>
#include <strings.h>

#include "hip/host/time_host.h"

/* Besides: from the call to the loop, and out of it.  A guess, by glibc's code for AVX2. */
#define CALL .instructions = 20, .cycles = 10

/* One or two ranges that are read, and one that is written. */
static const struct {
    struct ehp_cpu_block block;
    struct ehp_cpu_access more[2];
} ranges[4] = {
    {{.accesses = 1, .words = 2, CALL, .access = {{.kind = EHP_CPU_READ_RANGE}}}, {{0}}},
    {{.accesses = 2, .words = 4, CALL, .access = {{.kind = EHP_CPU_READ_RANGE}}},
     {{.kind = EHP_CPU_READ_RANGE}}},
    {{.accesses = 2, .words = 4, CALL, .access = {{.kind = EHP_CPU_READ_RANGE}}},
     {{.kind = EHP_CPU_WRITE_RANGE}}},
    {{.accesses = 3, .words = 6, CALL, .access = {{.kind = EHP_CPU_READ_RANGE}}},
     {{.kind = EHP_CPU_READ_RANGE}, {.kind = EHP_CPU_WRITE_RANGE}}},
};

static uint64_t *tell(uint64_t *word, const void *at, size_t bytes)
{
    word[0] = (uint64_t)(uintptr_t)at;
    word[1] = bytes;
    return word + 2;
}

static void reads(const void *at, size_t bytes)
{
    tell(ehp_cpu_block(&ranges[0].block), at, bytes);
}

static void compares(const void *a, const void *b, size_t bytes)
{
    tell(tell(ehp_cpu_block(&ranges[1].block), a, bytes), b, bytes);
}

static void copies(const void *to, const void *from, size_t read, size_t written)
{
    tell(tell(ehp_cpu_block(&ranges[2].block), from, read), to, written);
}

/* Behind a string that is read for its end. */
static void appends(const char *to, size_t length, const char *from, size_t bytes)
{
    tell(tell(tell(ehp_cpu_block(&ranges[3].block), to, length + 1), from, bytes), to + length, bytes);
}

/* Bytes up to the first that differs, or the end. */
static size_t same_bytes(const unsigned char *a, const unsigned char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] == b[n])
        n++;
    return n < most ? n + 1 : most;
}

static size_t same_text(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] == b[n] && a[n])
        n++;
    return n < most ? n + 1 : most;
}

ENTRY int memcmp(const void *a, const void *b, size_t bytes)
{
    const int order = REAL(memcmp)(a, b, bytes);
    if (ON_CORE())
        compares(a, b, order == 0 ? bytes : same_bytes(a, b, bytes));
    return order;
}

/* What LLVM makes of a comparison with 0. */
ENTRY int bcmp(const void *a, const void *b, size_t bytes)
{
    const int differ = REAL(memcmp)(a, b, bytes);
    if (ON_CORE())
        compares(a, b, differ == 0 ? bytes : same_bytes(a, b, bytes));
    return differ;
}

ENTRY void *memchr(const void *at, int byte, size_t bytes)
{
    void *found = REAL(memchr)(at, byte, bytes);
    if (ON_CORE())
        reads(at, found ? (size_t)((char *)found - (const char *)at) + 1 : bytes);
    return found;
}

ENTRY void *memrchr(const void *at, int byte, size_t bytes)
{
    void *found = REAL(memrchr)(at, byte, bytes);
    const size_t left = found ? (size_t)((char *)found - (const char *)at) : 0;
    if (ON_CORE())
        reads((const char *)at + left, bytes - left);
    return found;
}

ENTRY int strcmp(const char *a, const char *b)
{
    const int order = REAL(strcmp)(a, b);
    if (ON_CORE())
        compares(a, b, same_text(a, b, SIZE_MAX));
    return order;
}

ENTRY int strncmp(const char *a, const char *b, size_t most)
{
    const int order = REAL(strncmp)(a, b, most);
    if (ON_CORE())
        compares(a, b, same_text(a, b, most));
    return order;
}

ENTRY char *strchr(const char *text, int byte)
{
    char *found = REAL(strchr)(text, byte);
    if (ON_CORE())
        reads(text, (found ? (size_t)(found - text) : strlen(text)) + 1);
    return found;
}

ENTRY char *strrchr(const char *text, int byte)
{
    char *found = REAL(strrchr)(text, byte);
    if (ON_CORE())
        reads(text, strlen(text) + 1);
    return found;
}

ENTRY char *strstr(const char *text, const char *part)
{
    char *found = REAL(strstr)(text, part);
    if (ON_CORE())
        reads(text, found ? (size_t)(found - text) + strlen(part) : strlen(text) + 1);
    return found;
}

ENTRY size_t strnlen(const char *text, size_t most)
{
    const size_t n = REAL(strnlen)(text, most);
    if (ON_CORE())
        reads(text, n < most ? n + 1 : most);
    return n;
}

ENTRY char *strcpy(char *to, const char *from)
{
    if (ON_CORE()) {
        const size_t bytes = strlen(from) + 1;
        copies(to, from, bytes, bytes);
    }
    return REAL(strcpy)(to, from);
}

ENTRY char *stpcpy(char *to, const char *from)
{
    if (ON_CORE()) {
        const size_t bytes = strlen(from) + 1;
        copies(to, from, bytes, bytes);
    }
    return REAL(stpcpy)(to, from);
}

ENTRY char *strncpy(char *to, const char *from, size_t bytes)
{
    if (ON_CORE()) {
        const size_t n = strnlen(from, bytes);
        copies(to, from, n < bytes ? n + 1 : bytes, bytes);
    }
    return REAL(strncpy)(to, from, bytes);
}

ENTRY char *strcat(char *to, const char *from)
{
    if (ON_CORE())
        appends(to, strlen(to), from, strlen(from) + 1);
    return REAL(strcat)(to, from);
}

ENTRY char *strncat(char *to, const char *from, size_t most)
{
    if (ON_CORE()) {
        const size_t n = strnlen(from, most);
        appends(to, strlen(to), from, n + 1);
    }
    return REAL(strncat)(to, from, most);
}
