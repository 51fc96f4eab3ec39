/* SPDX-License-Identifier: MIT */
/* Fuzzes the compiled engine's linker: sections, symbols, relocations. What it loads is not executed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jit/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Some names are there, near or far. */
static void *resolve(void *context, const char *name)
{
    (void)context;
    return (void *)(name[0] == 'f' ? (uintptr_t)0x7fff12345678 : name[0] == 's' ? (uintptr_t)0x1000 : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char error[JIT_OBJECT_ERROR];
    struct jit_object *object = jit_object_load(data, bytes, resolve, NULL, error);
    if (!memchr(error, 0, sizeof(error)) || !object == !error[0])
        abort();
    if (object) {
        /* The first byte of what it finds can be read. */
        const volatile uint8_t *first = jit_object_find(object, "code_plain");
        if (first)
            (void)*first;
    }
    jit_object_free(object);
    return 0;
}
