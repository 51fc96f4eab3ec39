/* SPDX-License-Identifier: MIT */
/* What object.c, which lays an object's sections out, shares with object_reloc.c, which relocates them. */
#ifndef EHP_JIT_OBJECT_LINK_H
#define EHP_JIT_OBJECT_LINK_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "jit/object.h"

/* Where a section of the object comes to lie in the mapping. */
struct place {
    bool loaded, code;
    size_t at, bytes;
};

enum { STUB = 8, SLOT = 8 };

/*
 * A slot of the GOT holds the address of a name from outside, or of one that code looks up there; each has a
 * stub, which jumps to what the slot says.
 */
struct link {
    Elf *elf;
    size_t section_count;
    struct place *places; /* by section */
    size_t table;         /* the section of the symbols */
    Elf_Data *symbols;
    size_t symbol_count;
    const char *names; /* of the symbols; the last byte is 0 */
    size_t name_bytes;
    uint32_t *slots; /* by symbol: the number of its slot from 1 on, 0: none */
    uint32_t slot_count;
    size_t stubs_at, got_at;
    uint8_t *memory; /* the mapping */
    jit_symbol_fn *resolve;
    void *context;
    char *error;
};

/* Formats the error; false. */
bool link_fail(struct link *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A symbol and its name. */
bool link_symbol(struct link *l, size_t index, GElf_Sym *symbol, const char **name);

/* The address of a symbol that the object defines. */
bool link_address(struct link *l, const GElf_Sym *symbol, const char *name, uint64_t *address);

/* Gives slots to the symbols that need them, before the mapping is there. */
bool link_count_slots(struct link *l);

/* Writes stubs and the GOT, and relocates what was copied. */
bool link_relocate(struct link *l);

#endif
