/* SPDX-License-Identifier: MIT */
/* Fuzzes the reader of metadata notes by itself: whole notes survive more mutations than whole ELF files. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "load/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static size_t length;

static void see(const char *text)
{
    if (text)
        length += strlen(text); /* the sanitizer watches */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct metadata md;
    struct code_error err;
    if (metadata_parse(&md, data, bytes, &err) != EHP_OK)
        return 0;
    see(md.target);
    for (unsigned i = 0; i < md.kernel_count; i++) {
        const struct ehp_kernel *k = &md.kernels[i].info;
        see(k->name);
        see(md.kernels[i].symbol);
        for (unsigned a = 0; a < k->arg_count; a++) {
            see(k->args[a].name);
            see(k->args[a].type_name);
            see(metadata_arg_kind_name(k->args[a].kind));
            if ((uint64_t)k->args[a].offset + k->args[a].bytes > k->kernarg_bytes)
                abort();
        }
    }
    for (unsigned i = 0; i < md.printf_count; i++)
        see(md.printf[i]);
    metadata_free(&md);
    return 0;
}
