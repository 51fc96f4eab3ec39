/* SPDX-License-Identifier: MIT */
/* Fuzzes the code object loader: ELF, symbols, relocations, notes, lines. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "load/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void *take(void *context, unsigned agent, uint64_t bytes, uint64_t align)
{
    (void)agent;
    (void)context;
    if (bytes > 1 << 22)
        return NULL;
    /* Exact, so that a write behind the segments is seen. */
    void *p = NULL;
    if (posix_memalign(&p, (size_t)align, bytes ? (size_t)bytes : 1) != 0)
        return NULL;
    memset(p, 0, (size_t)bytes);
    return p;
}

static void give(void *context, void *p)
{
    (void)context;
    free(p);
}

static bool bind(void *context, const char *name, uint64_t *address)
{
    (void)context;
    *address = 0x1000;
    return name[0] == 'e';
}

static void walk(const struct ehp_code *code)
{
    char text[100];
    for (unsigned i = 0; i < code->kernel_count; i++) {
        const struct code_kernel *k = &code->kernels[i];
        uint64_t start, end;
        const char *name;
        if (!code_function_at(code, k->info.entry, &start, &end, &name) || start > k->info.entry ||
            end <= k->info.entry || !code_contains(code, end - 1) ||
            !code_kernel_by_object(code, k->info.object) || !code_kernel_by_name(code, k->info.name))
            abort();
        (void)code_line_at(code, k->info.entry, text, sizeof text);
    }
    for (size_t i = 0; i < code->variable_count; i++) {
        void *address;
        uint64_t bytes;
        if (ehp_code_symbol(code, code->variables[i].name, &address, &bytes) != EHP_OK)
            abort();
        if (bytes && !code_contains(code, (uintptr_t)address + bytes - 1))
            abort();
    }
    for (size_t i = 0; i + 1 < code->function_count; i++) {
        if (code->functions[i].end > code->functions[i + 1].start)
            abort();
    }
    for (size_t i = 0; i < code->function_count; i++) {
        const struct code_function *f = &code->functions[i];
        if (f->start % 4 || f->end % 4 || f->start >= f->end)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct code_error err;
    struct ehp_code *code;
    const struct code_params params = {
        .allocator = {NULL, take, give}, .isa = "gfx942:sramecc+:xnack-", .bind = bind, .error = &err};
    if (code_load(&params, data, bytes, &code) == EHP_OK)
        walk(code);
    code_destroy(code);
    return 0;
}
