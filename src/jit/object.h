/* SPDX-License-Identifier: MIT */
/*
 * The linker of the compiled engine: takes one relocatable object for x86-64 (System V ABI, AMD64 supplement,
 * section 4.4), as LLVM writes it for a module, into memory that can be executed.
 *
 *   struct jit_object *o = jit_object_load(bytes, size, address_of, machine, error);
 *   if (o)
 *       entry = jit_object_find(o, "entry");
 *
 * The memory is first written and then made executable, never both; code, stubs and constants are one
 * mapping, read-only in the end.  So data that the code could write to is refused.
 *
 * The object may come from a damaged file: what does not fit is an error.  What its code does is not checked.
 */
#ifndef EHP_JIT_OBJECT_H
#define EHP_JIT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

struct jit_object;

enum { JIT_OBJECT_ERROR = 256 };

/* Whether the host lets memory become executable, which some policies refuse; else `why` has it, in a few
 * words. */
bool jit_object_allowed(char *why, size_t size);

/*
 * The address of a name that the object does not define; NULL: there is none, and the object is not loaded.
 * Addresses may be farther than 2 GiB from the code: calls go through stubs, so what code reaches by
 * R_X86_64_PC32 or PLT32 has to be a function.  Data is found with R_X86_64_64 or through the GOT.
 */
typedef void *jit_symbol_fn(void *context, const char *name);

/* NULL: `error` says why.  The bytes are not needed afterwards. */
struct jit_object *jit_object_load(const void *bytes, size_t size, jit_symbol_fn *resolve, void *context,
                                   char error[JIT_OBJECT_ERROR]);

/* The address of a global function or constant; NULL: the object defines none of this name. */
void *jit_object_find(const struct jit_object *object, const char *name);

/* Nobody may be in its code.  NULL is fine. */
void jit_object_free(struct jit_object *object);

#endif
