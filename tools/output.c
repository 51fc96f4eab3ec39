/* SPDX-License-Identifier: MIT */
/* The end of every command: what it has printed has arrived, or it says so. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static const char *command;

/* The last handler at exit, whose status is the process's. */
static void close_output(void)
{
    const bool failed = ferror(stdout) != 0, pending = __fpending(stdout) != 0;
    errno = 0;
    if (failed && !pending)
        fputc('\n',
              stdout); /* of what failed earlier the reason is gone: a part is missing, so ask once more */
    const bool closed = fclose(stdout) == 0;
    if (closed && !failed)
        return;
    if (errno == EBADF && !failed && !pending)
        return; /* there is none, and nothing was printed */
    fprintf(stderr, "%s: cannot write the output%s%s\n", command, errno ? ": " : "",
            errno ? strerror(errno) : "");
    _exit(1);
}

void tool_check_output(const char *name)
{
    command = name;
    atexit(close_output);
}
