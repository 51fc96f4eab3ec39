/* SPDX-License-Identifier: MIT */
/*
 * Code objects in memory: an ELF file for AMD GPUs, with its segments copied to
 * where waves can execute and reach them, relocated, and its symbols and
 * kernels looked up.
 *
 * code_load() does it all from an image of any kind; the caller says for which
 * processor, and where memory comes from.  The result does not refer to the
 * image.
 *
 * Threads: after code_load() the object does not change; everything that takes
 * it as const may be called from any number of threads.
 *
 * Source: LLVM, "User Guide for AMDGPU Backend", section "ELF Code Object".
 */
#ifndef EHP_LOAD_CODE_H
#define EHP_LOAD_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ehp/ehp.h"
#include "isa/target.h"
#include "load/bundle_target.h"
#include "load/code_error.h"
#include "load/descriptor.h"
#include "load/metadata.h"

/* Where segments go.  Memory must be zero-filled; align is a power of two, a page at least. */
struct code_allocator {
    void *context;
    /* NULL: none left */
    void *(*alloc)(void *context, unsigned agent, uint64_t bytes, uint64_t align);
    void (*free)(void *context, void *base);
    unsigned agent; /* near whom */
};

/* Finds a symbol that the code object uses and does not define. */
typedef bool code_bind_fn(void *context, const char *name, uint64_t *address);

struct code_params {
    struct code_allocator allocator;
    const char *isa;    /* the agent's: "gfx942:sramecc+:xnack-" */
    code_bind_fn *bind; /* may be NULL: nothing is found */
    void *bind_context;
    struct code_error *error; /* out, may be NULL */
};

struct code_range {
    uint64_t start, end;
};

/* start..end is a function; functions do not overlap and are sorted. */
struct code_function {
    uint64_t start, end;
    const char *name;
};

struct code_variable {
    const char *name;
    uint64_t address, bytes;
    bool local; /* not visible to other code objects: loses against a global of the same name */
};

struct code_kernel {
    struct ehp_kernel info;
    const struct kernel_descriptor *descriptor; /* in the loaded segments: info.object */
};

struct code_lines; /* lines.h */

struct ehp_code {
    struct code_allocator allocator;
    uint8_t *base; /* of the segments */
    uint64_t bytes;
    uint64_t bias;                 /* address = ELF address + bias */
    unsigned version;              /* 4, 5, 6 */
    struct target target;          /* what it was compiled for */
    const struct isa_target *isa;  /* whose instructions it has: the agent's */
    struct code_range *executable; /* sorted */
    unsigned executable_count;
    char *names; /* the ELF file's string table: every symbol's name */
    struct code_function *functions;
    size_t function_count;
    struct code_variable *variables; /* by name, the global one first */
    size_t variable_count;
    struct metadata metadata;
    struct code_kernel *kernels; /* in the metadata's order */
    unsigned kernel_count;
    const struct code_kernel **by_name, **by_object; /* kernel_count of each */
    struct code_lines *lines;                        /* NULL: no debug information */
    ehp_machine *machine; /* the loader's caller may keep here what ehp_code_unload() needs */
    unsigned agent;
    bool observes_exceptions; /* it looks at float exceptions: see exec/observe.h */
};

int code_load(const struct code_params *params, const void *image, size_t bytes, struct ehp_code **out);
void code_destroy(struct ehp_code *code);

/* The address is in the loaded segments. */
bool code_contains(const struct ehp_code *code, uint64_t address);

/*
 * The function that contains pc.  Executable bytes between functions count as
 * a nameless one (*name NULL), so that hand-written code without symbols runs.
 * Every out parameter may be NULL.  False: pc is not executable.
 */
bool code_function_at(const struct ehp_code *code, uint64_t pc, uint64_t *start, uint64_t *end,
                      const char **name);

const struct code_kernel *code_kernel_by_object(const struct ehp_code *code, uint64_t object);
const struct code_kernel *code_kernel_by_name(const struct ehp_code *code, const char *name);
const struct code_variable *code_variable_by_name(const struct ehp_code *code, const char *name);

/* "file.hip:12" for pc, from the debug information; false when there is none. */
bool code_line_at(const struct ehp_code *code, uint64_t pc, char *text, size_t bytes);

/* ---- between the files of the loader: the ELF file while it is being read ---- */

struct Elf;

struct code_elf {
    struct Elf *elf;
    const uint8_t *data;
    size_t bytes;
    code_bind_fn *bind;
    void *bind_context;
    struct code_error *err;
};

/* code_symbols.c */
int code_read_symbols(struct ehp_code *code, const struct code_elf *in);
/* code_reloc.c */
int code_relocate(struct ehp_code *code, const struct code_elf *in);
/* code_kernels.c */
int code_read_kernels(struct ehp_code *code, const struct code_elf *in);

/* The ELF addresses [vaddr, vaddr + bytes) are in the loaded segments. */
bool code_in_segments(const struct ehp_code *code, uint64_t vaddr, uint64_t bytes);

#endif
