/* SPDX-License-Identifier: MIT */
/*
 * The tests' own few lines: CHECK says what differed and goes on; main() ends
 * with `return check_status();`.
 */
#ifndef EHP_TESTS_CHECK_H
#define EHP_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned check_count, check_failures;

static inline bool check_that(bool ok, const char *file, int line, const char *text)
{
    (void)__atomic_fetch_add(&check_count, 1, __ATOMIC_RELAXED); /* threads check as well */
    if (!ok) {
        (void)__atomic_fetch_add(&check_failures, 1, __ATOMIC_RELAXED);
        fprintf(stderr, "%s:%d: %s\n", file, line, text);
    }
    return ok;
}

static inline bool check_equal(uint64_t a, uint64_t b, const char *file, int line, const char *text)
{
    if (a != b)
        fprintf(stderr, "%s:%d: 0x%" PRIx64 " (%" PRId64 ") is not 0x%" PRIx64 " (%" PRId64 ")\n", file, line,
                a, (int64_t)a, b, (int64_t)b);
    return check_that(a == b, file, line, text);
}

static inline bool check_string(const char *a, const char *b, const char *file, int line, const char *text)
{
    bool same = a && b ? !strcmp(a, b) : a == b;
    if (!same)
        fprintf(stderr, "%s:%d: \"%s\" is not \"%s\"\n", file, line, a ? a : "(null)", b ? b : "(null)");
    return check_that(same, file, line, text);
}

#define CHECK(condition) check_that(condition, __FILE__, __LINE__, #condition)
#define CHECK_EQ(a, b)   check_equal((uint64_t)(a), (uint64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_STR(a, b)  check_string(a, b, __FILE__, __LINE__, #a " is " #b)

static inline int check_status(void)
{
    printf("%u checks, %u failed\n", check_count, check_failures);
    return check_failures || !check_count;
}

#endif
