/* SPDX-License-Identifier: MIT */
/* What every command has to say, and its end: what it has printed has arrived, or it says so. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static const char *command;

bool tool_find_data(const char *name, char *path, size_t bytes)
{
    // Installed: bin/ehp; in a build tree: build/tools/ehp.
    static const char *const places[] = {"../share/ehp", "../..", "../../.."};
    char self[PATH_MAX];
    const char *slash = realpath("/proc/self/exe", self) ? strrchr(self, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        const int n = snprintf(path, bytes, "%.*s/%s/%s", (int)(slash - self), self, places[i], name);
        if (n > 0 && (size_t)n < bytes && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

void tool_say(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    const size_t most = 4 * (size_t)length + 1; /* all of it escaped */
    char *room = malloc(most);
    fprintf(stderr, "%s\n", room ? ehp_printable(text, room, most) : "out of memory");
    free(room);
    free(text);
}

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
    tool_say("%s: cannot write the output%s%s", command, errno ? ": " : "", errno ? strerror(errno) : "");
    _exit(1);
}

void tool_check_output(const char *name)
{
    command = name;
    atexit(close_output);
}
