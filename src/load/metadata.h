/* SPDX-License-Identifier: MIT */
/*
 * The NT_AMDGPU_METADATA note of a code object: its kernels, their arguments,
 * the formats of buffered printf.
 *
 * Source: LLVM, "User Guide for AMDGPU Backend", section "Code Object
 * Metadata", code objects v3 to v6.
 */
#ifndef EHP_LOAD_METADATA_H
#define EHP_LOAD_METADATA_H

#include <stddef.h>

#include "ehp/ehp.h"
#include "load/code_error.h"

struct metadata_kernel {
    struct ehp_kernel info; /* addresses are 0: the note does not know them */
    const char *symbol;     /* of the kernel descriptor: "name.kd" */
    struct ehp_arg *args;   /* info.args */
};

struct metadata {
    char *text;         /* holds every string below */
    const char *target; /* "amdgcn-amd-amdhsa--gfx942", NULL when absent */
    unsigned version[2];
    struct metadata_kernel *kernels;
    unsigned kernel_count;
    const char **printf;
    unsigned printf_count;
    struct metadata *joined; /* notes whose kernels are above: only their text is left */
};

int metadata_parse(struct metadata *md, const void *note, size_t bytes, struct code_error *err);
void metadata_free(struct metadata *md);
/*
 * Adds the kernels and formats of another note. Linking with -fgpu-rdc compiles in partitions, and each
 * leaves a note of its own. more is empty afterwards, whatever is returned.
 */
int metadata_join(struct metadata *md, struct metadata *more, struct code_error *err);

/* "hidden_heap_v1" for EHP_ARG_HIDDEN_HEAP_V1; "hidden_unknown" for what is none. */
const char *metadata_arg_kind_name(int kind);

#endif
