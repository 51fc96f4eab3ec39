/* SPDX-License-Identifier: MIT */
/* See folder.h. */
#include "base/folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void folder_of_cache(char *path, size_t bytes)
{
    const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    if (cache && *cache == '/')
        snprintf(path, bytes, "%.4000s/ehp", cache);
    else if (home && *home == '/' && access(home, W_OK) == 0)
        snprintf(path, bytes, "%.4000s/.cache/ehp", home);
    else
        snprintf(path, bytes, "/tmp/ehp-%ld", (long)geteuid());
}

int folder_make_all(const char *path)
{
    char copy[PATH_MAX];
    int status = 0;
    if (snprintf(copy, sizeof(copy), "%s", path) >= (int)sizeof(copy)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (char *s = copy + 1; *copy && status == 0; s++) {
        const char was = *s;
        if (was && was != '/')
            continue;
        *s = 0;
        if (mkdir(copy, 0777) && errno != EEXIST)
            status = -1;
        *s = was;
        if (!was)
            break;
    }
    return status;
}

const char *folder_check_own(const struct stat *st)
{
    if (st->st_uid != geteuid())
        return "belongs to another user";
    if (!S_ISDIR(st->st_mode))
        return "is not a directory";
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return "can be written to by others (chmod go-w, or remove it)";
    return NULL;
}

bool folder_make_own(const char *path, char *why, size_t bytes)
{
    struct stat st, link;
    const char *wrong;
    if (mkdir(path, 0700) && errno != EEXIST) {
        snprintf(why, bytes, "cannot be made: %s", strerror(errno));
        return false;
    }
    if (lstat(path, &link) || stat(path, &st)) {
        snprintf(why, bytes, "cannot be looked at: %s", strerror(errno));
        return false;
    }
    /* A link may be another's, to a folder of this user's. */
    wrong = link.st_uid != geteuid() ? "belongs to another user" : folder_check_own(&st);
    if (wrong)
        snprintf(why, bytes, "%s", wrong);
    return !wrong;
}
