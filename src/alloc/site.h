/* SPDX-License-Identifier: MIT */
/*
 * What is known about an allocation, in words: what it is, and where the host
 * program made and freed it, by line as far as the program has debug
 * information.
 */
#ifndef EHP_ALLOC_SITE_H
#define EHP_ALLOC_SITE_H

#include <stddef.h>

#include "alloc/memory.h"

/* "device memory" for an enum ehp_memory_kind. */
const char *site_kind_text(int kind);

/* "app.hip:12"; the empty string when nothing is known. */
void site_print(const struct memory_site *site, char *text, size_t bytes);

/* "allocation 3: 0x7f.. .. 0x7f.., 4096 bytes of device memory, allocated at app.hip:12, freed at ..."
 */
void site_print_block(const struct memory_block *block, bool freed, char *text, size_t bytes);

#endif
