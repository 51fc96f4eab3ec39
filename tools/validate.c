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

int tool_validate(int argc, char **argv)
{
    char self[PATH_MAX], directory[PATH_MAX], script[PATH_MAX + 16];
    if (!realpath("/proc/self/exe", self) || !tool_find_data("validate", directory, sizeof directory)) {
        tool_say("ehp validate: its programs are not where the command expects them; install EHP as a whole");
        return 1;
    }
    snprintf(script, sizeof script, "%s/validate.py", directory);
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
