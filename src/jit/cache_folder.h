/* SPDX-License-Identifier: MIT */
/* The folder that cache.c keeps its files in: where it is, whether it may be used, what goes when it is full.
 */
#ifndef EHP_JIT_CACHE_FOLDER_H
#define EHP_JIT_CACHE_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "jit/cache.h"

enum { CACHE_NAME = 64 };

/* The name of a key's file. Others in the folder are left alone. */
void cache_folder_name(char name[CACHE_NAME], struct hash key);

/* Finds the folder and its bounds; `make`: and makes it.  Sets usage->off when it is not to be used. */
void cache_folder_find(const char *folder, bool make, struct jit_cache_usage *usage);

/* A descriptor of the folder, after a look at whose it is; -1 and errno (EPERM: *wrong says what). */
int cache_folder_open(const char *folder, const char **wrong);

/* Counts entries and their bytes; removes those that were not used for longest until `most` bytes are left,
 * and what processes that ended too early left behind.  Returns how many bytes there are then. */
uint64_t cache_folder_trim(int dir, uint64_t most, uint64_t *entries);

/* Writes a file in one step for whoever reads; 0, or an errno. */
int cache_folder_write(int dir, const char *name, const void *bytes, size_t size);

/* Reads the whole of a file that is this user's alone, and notes that it was used: malloc'ed, or NULL. */
uint8_t *cache_folder_read(int dir, const char *name, size_t *size);

#endif
