/* SPDX-License-Identifier: MIT */
/*
 * Folders that programs of one user share, with code in them.  Code from a folder that others can write to
 * must not get into this user's programs, nor may they choose what is written and removed: such a folder is
 * the user's, and nobody else can write there.  So what is in it is the user's too.
 */
#ifndef EHP_BASE_FOLDER_H
#define EHP_BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* EHP's folder in the user's cache; /tmp/ehp-UID where there is no home to write to. */
void folder_of_cache(char *path, size_t bytes);

/* As mkdir -p: 0, or -1 and errno. */
int folder_make_all(const char *path);

/* Makes a folder that is the user's alone; the one above it is there.  False: `why` is to be read behind its
 * name, as "belongs to another user". */
bool folder_make_own(const char *path, char *why, size_t bytes);

/* NULL, or what is wrong with a folder that there is, by what stat() says. */
const char *folder_check_own(const struct stat *st);

#endif
