/* SPDX-License-Identifier: MIT */
/* Allocations in words; see site.h. */
#include "alloc/site.h"

#include <stdio.h>
#include <string.h>

const char *site_kind_text(int kind)
{
    switch (kind) {
    case EHP_MEM_DEVICE:
        return "device memory";
    case EHP_MEM_HOST:
        return "pinned host memory";
    case EHP_MEM_MANAGED:
        return "managed memory";
    case EHP_MEM_REGISTERED:
        return "registered host memory";
    case EHP_MEM_CODE:
        return "a code object";
    default:
        return "runtime memory";
    }
}

void site_print(const struct memory_site *site, char *text, size_t bytes)
{
    void *returns[MEMORY_SITES];
    unsigned count = 0;
    for (; count < MEMORY_SITES && site->address[count]; count++)
        returns[count] = (void *)(uintptr_t)site->address[count];
    char line[512];
    if (!count || ehp_host_line(returns, count, line, sizeof(line)) != EHP_OK)
        line[0] = '\0';
    const char *shown = ehp_printable(line, text, bytes);
    if (shown != text)
        snprintf(text, bytes, "%s", shown);
}

static void add_site(char *text, size_t bytes, const char *what, const struct memory_site *site)
{
    char where[256];
    size_t used = strlen(text);
    site_print(site, where, sizeof(where));
    if (where[0])
        snprintf(text + used, bytes - used, ", %s at %s", what, where);
}

void site_print_block(const struct memory_block *block, bool freed, char *text, size_t bytes)
{
    uint64_t end = block->base + block->bytes;
    snprintf(text, bytes, "allocation %llu: %#llx .. %#llx, %llu bytes of %s",
             (unsigned long long)block->serial, (unsigned long long)block->base, (unsigned long long)end,
             (unsigned long long)block->bytes, site_kind_text(block->kind));
    add_site(text, bytes, block->kind == EHP_MEM_REGISTERED ? "registered" : "allocated", &block->allocated);
    if (!freed)
        return;
    size_t used = strlen(text);
    const char *what = block->kind == EHP_MEM_REGISTERED ? "unregistered" : "freed";
    if (block->freed.address[0])
        add_site(text, bytes, what, &block->freed);
    else
        snprintf(text + used, bytes - used, ", %s", what);
}
