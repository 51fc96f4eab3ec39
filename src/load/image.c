/* SPDX-License-Identifier: MIT */
/*
 * Images of which only the address is known, as hipModuleLoadData() and
 * __hipRegisterFatBinary() get them: their headers say how long they are, and
 * as headers may be damaged, they are believed up to the end of the memory
 * that can be read there.  And copies of images before they are read: behind
 * the end of a mapped file that was cut off, what is listed as readable is a
 * SIGBUS.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guarded.h"
#include "ehp/ehp.h"
#include "load/bundle.h"

/* Of a damaged image, whose size nobody knows, what is enough to say how. */
enum { DAMAGED_MOST = 16 << 20 };

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

struct measure {
    const void *image;
    size_t readable, size;
};

static void measure(void *context)
{
    struct measure *m = context;
    m->size = bundle_size(m->image, m->readable);
}

/* 0: the headers are damaged, or not all there. */
static size_t measured(const void *image, size_t readable)
{
    struct measure m = {.image = image, .readable = readable};
    return ehp_mem_try(measure, &m) == EHP_OK ? m.size : 0;
}

size_t ehp_image_size(const void *image)
{
    return image ? measured(image, image_readable(image)) : 0;
}

/* How many of the bytes there were. */
static size_t copy_there(uint8_t *to, const uint8_t *from, size_t bytes)
{
    uint8_t line[GUARDED_LINE];
    size_t done = 0;
    while (done < bytes) {
        const size_t skip = (uintptr_t)(from + done) % GUARDED_LINE;
        const size_t left = bytes - done, some = left < GUARDED_LINE - skip ? left : GUARDED_LINE - skip;
        uint8_t *whole = some == GUARDED_LINE ? to + done : line;
        if (!guarded_load_line(whole, from + done - skip))
            break;
        if (whole == line)
            memcpy(to + done, line + skip, some);
        done += some;
    }
    return done;
}

int image_copy(uint8_t **copy, size_t *bytes, const void *image, struct code_error *err)
{
    size_t size = *bytes;
    bool damaged = false;
    *copy = NULL;
    if (size == EHP_IMAGE_SIZE_UNKNOWN) {
        const size_t readable = image_readable(image);
        size = measured(image, readable);
        damaged = !size; /* who reads it says how */
        if (damaged)
            size = readable < DAMAGED_MOST ? readable : DAMAGED_MOST;
    }
    uint8_t *to = malloc(size ? size : 1);
    if (!to)
        return code_fail(err, EHP_ERR_NO_MEMORY, "no memory for a copy of an image of %zu bytes", size);
    const size_t there = copy_there(to, image, size);
    if (there < size && !damaged) {
        free(to);
        return code_fail(err, EHP_ERR_BAD_IMAGE,
                         "the image at %p has %zu bytes, but only %zu can be read: its file was cut off?",
                         image, size, there);
    }
    if (!there && damaged) {
        free(to);
        return code_fail(err, EHP_ERR_BAD_IMAGE, "no image: nothing can be read at %p", image);
    }
    *copy = to;
    *bytes = there;
    return EHP_OK;
}
