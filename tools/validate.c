// SPDX-License-Identifier: MIT
// `ehp validate`: the script that compares published numbers with simulated ones, which lies beside the chip
// files.
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static bool find_script(const char *self, char *path, size_t bytes)
{
    // Installed: bin/ehp; in a build tree: build/tools/ehp.
    static const char *const places[] = {"../share/ehp/validate", "../../validate", "../../../validate"};
    const char *slash = strrchr(self, '/');
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int n = snprintf(path, bytes, "%.*s/%s/validate.py", (int)(slash - self), self, places[i]);
        if (n > 0 && (size_t)n < bytes && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

int tool_validate(int argc, char **argv)
{
    char self[PATH_MAX], script[PATH_MAX];
    if (!realpath("/proc/self/exe", self) || !find_script(self, script, sizeof script)) {
        tool_say("ehp validate: its programs are not where the command expects them; install EHP as a whole");
        return 1;
    }
    char **words = calloc((size_t)argc + 4, sizeof *words);
    if (!words)
        return 1;
    words[0] = "python3";
    words[1] = script;
    words[2] = self;
    for (int i = 1; i < argc; i++)
        words[i + 2] = argv[i];
    execvp(words[0], words);
    tool_say("ehp validate: cannot run python3: %s", strerror(errno));
    free(words);
    return 1;
}
