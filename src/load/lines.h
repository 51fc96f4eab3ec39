/* SPDX-License-Identifier: MIT */
/*
 * Source lines from a code object's DWARF.  Built with libdw when it is there;
 * without it nothing has lines.
 */
#ifndef EHP_LOAD_LINES_H
#define EHP_LOAD_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Elf;
struct code_lines;

/* NULL when the file has no line table, or there is no memory: lines are never worth an error. */
struct code_lines *lines_create(struct Elf *elf, const uint8_t *data, size_t bytes);
void lines_destroy(struct code_lines *lines);

/* "file:line" of an ELF address; `full` with the directory. */
bool lines_at(struct code_lines *lines, uint64_t vaddr, bool full, char *text, size_t bytes);

#endif
