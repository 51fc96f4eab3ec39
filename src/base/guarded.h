/* SPDX-License-Identifier: MIT */
/*
 * Access to memory that may not be there.  Each of these instructions has an
 * entry in a table (section ehp_guarded) that says where to continue if it
 * faults; the process's SIGSEGV handler (exec/fault.c) looks there first.  So an
 * access that succeeds costs what a plain one costs.
 *
 * Naturally aligned values of up to eight bytes are read and written whole.
 */
#ifndef EHP_BASE_GUARDED_H
#define EHP_BASE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GUARDED_LINE = 128 };

/* A line, aligned to its size.  False: it cannot be read, and `to` is undefined. */
bool guarded_load_line(uint8_t *to, const uint8_t *line);

/* The bytes whose bits are set.  False: it cannot be written (some may have been). */
bool guarded_store_line(uint8_t *line, const uint8_t *from, const uint64_t mask[2]);

/* As many bytes as there are, wherever they begin.  False: of some this cannot be. */
bool guarded_load(uint8_t *to, const uint8_t *from, size_t bytes);
bool guarded_store(uint8_t *to, const uint8_t *from, size_t bytes);

/* Whether the line can be read and written; does not change it, not even for those who look meanwhile. */
bool guarded_can_write(uint8_t *line);

/* For the signal handler: continues a guarded access, and returns true, if `context` (ucontext_t) was in one.
 */
bool guarded_resume(void *context);

#endif
