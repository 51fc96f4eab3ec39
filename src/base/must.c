/* SPDX-License-Identifier: MIT */
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

void *must(void *memory)
{
    if (!memory) {
        fputs("ehp: the host has no memory left\n", stderr);
        abort();
    }
    return memory;
}
