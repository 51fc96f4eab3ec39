/* SPDX-License-Identifier: MIT */
/* Runs a part of a test in a process of its own, which may die, and returns how it ended and what it said. */
#ifndef TESTS_APART_H
#define TESTS_APART_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hip_check.h"

/* wait()'s status; `said` is what it wrote on stderr.  What fn returns is its exit status. */
static inline int run_apart(int (*fn)(void *argument), void *argument, char *said, size_t bytes)
{
    char file[] = "/tmp/ehp-apart-XXXXXX";
    int fd = mkstemp(file), status = -1;
    fflush(stdout);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        dup2(fd, 2);
        alarm(60);
        check_failures = 0;
        exit(fn(argument));
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    memset(said, 0, bytes);
    if (pread(fd, said, bytes - 1, 0) < 0)
        said[0] = 0;
    close(fd);
    unlink(file);
    return status;
}

static inline bool check_apart(int status, int want, const char *said, const char *has, const char *file,
                               int line)
{
    bool ok = status == want && (!has || strstr(said, has));
    if (!ok)
        fprintf(stderr, "%s:%d: ended with %#x, not %#x, and said: %s\n", file, line, (unsigned)status,
                (unsigned)want, said);
    return check_that(ok, file, line, has ? has : "how it ended");
}

#define EXITED(code) ((code) << 8)
/* It ended with wait()'s status `want` and said `has` (NULL: whatever). */
#define CHECK_APART(fn, argument, want, has)                                                                 \
    do {                                                                                                     \
        char said_apart[8192];                                                                               \
        int status_apart = run_apart(fn, argument, said_apart, sizeof said_apart);                           \
        check_apart(status_apart, want, said_apart, has, __FILE__, __LINE__);                                \
    } while (0)

#endif
