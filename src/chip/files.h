/* SPDX-License-Identifier: MIT */
/* Directories of chip and of node files. */
#ifndef EHP_CHIP_FILES_H
#define EHP_CHIP_FILES_H

typedef void files_fn(const char *name, const char *path, const char *title, void *user);

/*
 * Calls fn for each file NAME.cfg that has a title, in order of their names: the setting `title`, a string or
 * a list that begins with one.  Returns an ehp_status.
 */
int files_each(const char *directory, const char *title, files_fn *fn, void *user);

/* Adds a name to a list of them, "a, b", for messages; `user` has room for that. */
enum { FILES_NAMES = 160 };
files_fn files_add_name;

#endif
