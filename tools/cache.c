/* SPDX-License-Identifier: MIT */
/* `ehp cache`: what is kept on disk between runs, how much it is, and an end to it. */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "cc.h"
#include "tool.h"

static error_t parse(int key, char *argument, struct argp_state *state)
{
    bool *clear = state->input;
    (void)argument;
    if (key != 'c')
        return ARGP_ERR_UNKNOWN;
    *clear = true;
    return 0;
}

static const struct argp_option options[] = {
    {"clear", 'c', NULL, 0, "Remove it; what is needed is made again", 0},
    {0},
};

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .doc = "Show what is kept on disk between runs: kernels that were compiled for this host, and device "
           "libraries "
           "that were completed for the compiler.",
};

struct kept {
    uint64_t files, bytes;
};

static void print_kept(const char *what, struct kept k, uint64_t limit, const char *folder)
{
    struct room room;
    char amount[64], most[64] = "";
    snprintf(amount, sizeof amount, "%.1f MiB", (double)k.bytes / (1 << 20));
    if (limit)
        snprintf(most, sizeof most, "of %llu MiB", (unsigned long long)limit >> 20);
    printf("%-17s %6llu file%s %12s %-12s  %s\n", what, (unsigned long long)k.files, k.files == 1 ? " " : "s",
           amount, most, *folder ? printable(folder, &room) : "-");
}

static int show_compiled(bool clear)
{
    struct ehp_cache_info info = {.size = sizeof info};
    struct room room;
    ehp_cache_info(&info);
    print_kept("compiled code", (struct kept){info.entries, info.bytes}, info.limit, info.folder);
    if (*info.off)
        printf("  not used: %s\n", printable(info.off, &room));
    if (!clear || ehp_cache_clear() == EHP_OK)
        return 0;
    tool_say("ehp cache: not all of %s could be removed", info.folder);
    return 1;
}

/* What cc_bitcode.c leaves there: modules, links to the system's, and who made them. */
static bool is_library(const char *name)
{
    const size_t n = strlen(name);
    return (n > 3 && strcmp(name + n - 3, ".bc") == 0) || strcmp(name, "made-by") == 0;
}

static int show_libraries(bool clear)
{
    char folder[CC_PATH_MAX];
    struct kept kept = {0};
    struct stat st;
    int status = 0;
    cc_bitcode_cache(folder, sizeof folder);
    const int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *wrong = dir >= 0 && fstat(dir, &st) == 0 ? folder_check_own(&st) : NULL;
    DIR *d = dir >= 0 && !wrong ? fdopendir(dir) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!is_library(e->d_name) || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        kept.files++;
        kept.bytes += (uint64_t)st.st_size;
        if (clear && unlinkat(dir, e->d_name, 0) != 0)
            status = errno;
    }
    print_kept("device libraries", kept, 0, folder);
    if (wrong)
        printf("  not used: it %s\n", wrong);
    if (clear && (wrong || status))
        tool_say("ehp cache: not all of %s could be removed", folder);
    if (d)
        closedir(d);
    else if (dir >= 0)
        close(dir);
    return clear && (wrong || status);
}

int tool_cache(int argc, char **argv)
{
    bool clear = false;
    argv[0] = "ehp cache";
    if (tool_parse(&parser, argc, argv, 0, &clear) != 0)
        return 2;
    if (clear)
        printf("removed:\n");
    const int compiled = show_compiled(clear), libraries = show_libraries(clear);
    return compiled || libraries;
}
