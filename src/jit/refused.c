/* SPDX-License-Identifier: MIT */
/* See refused.h. */
#include "jit/refused.h"

#include <stdarg.h>
#include <stdio.h>

void refused_add(struct refused_list *list, uint64_t start, const char *format, ...)
{
    if (list->count == REFUSED_MAX)
        return;
    struct jit_refused *entry = &list->entry[list->count++];
    entry->start = start;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(entry->why, sizeof(entry->why), format, arguments);
    va_end(arguments);
}

void refused_unload(struct refused_list *list, uint64_t start)
{
    for (unsigned i = 0; i < list->count; i++)
        if (list->entry[i].start == start)
            list->entry[i].start = 0;
}
