/* SPDX-License-Identifier: MIT */
/*
 * Images of which only the address is known, as hipModuleLoadData() and
 * __hipRegisterFatBinary() get them: their headers say how long they are, and
 * as headers may be damaged, they are believed up to the end of the memory
 * that can be read there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ehp/ehp.h"
#include "hsa/bundle.h"

/* Without /proc: what may be an address. */
static const uint64_t user_end = (UINT64_C(1) << 47) - 4096;

size_t image_readable(const void *image)
{
    const uint64_t at = (uint64_t)(uintptr_t)image;
    uint64_t end = at;
    char *line = NULL;
    size_t room = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return at < user_end ? (size_t)(user_end - at) : 0;
    while (getline(&line, &room, maps) > 0) {
        char *p;
        const uint64_t first = strtoull(line, &p, 16), behind = strtoull(p + (*p == '-'), &p, 16);
        const bool readable = p[0] == ' ' && p[1] == 'r';
        if (behind <= end)
            continue;
        if (first > end || !readable) /* a gap: mappings come in order */
            break;
        end = behind;
    }
    free(line);
    fclose(maps);
    return (size_t)(end - at);
}

size_t ehp_image_size_within(const void *image, size_t bytes)
{
    return image ? bundle_size(image, bytes) : 0;
}

size_t ehp_image_size(const void *image)
{
    return image ? bundle_size(image, image_readable(image)) : 0;
}
