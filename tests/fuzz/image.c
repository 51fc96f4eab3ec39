/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes what is loaded by its address alone: an image whose end is the end of what can be read, and one
 * with other memory behind it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "load/bundle.h"
#include "load/code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { PAGE = 4096, ROOM = 64 * PAGE };

static void *take(void *context, unsigned agent, uint64_t bytes, uint64_t align)
{
    (void)agent;
    void *p = NULL;
    (void)context;
    if (bytes > 1 << 22 || posix_memalign(&p, (size_t)align, bytes ? (size_t)bytes : 1) != 0)
        return NULL;
    return memset(p, 0, (size_t)bytes);
}

static void give(void *context, void *p)
{
    (void)context;
    free(p);
}

static void load(const uint8_t *image, const uint8_t *end)
{
    struct code_error err;
    struct ehp_code *code;
    const struct code_params params = {
        .allocator = {NULL, take, give}, .isa = "gfx942:sramecc+:xnack-", .error = &err};
    if (ehp_image_size(image) > (size_t)(end - image))
        abort();
    if (code_load(&params, image, EHP_IMAGE_SIZE_UNKNOWN, &code) != EHP_OK &&
        !memchr(err.text, 0, sizeof err.text))
        abort();
    code_destroy(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint8_t *room;
    if (!room) { /* a page before and behind that nobody reads */
        room = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED || mprotect(room + PAGE, ROOM, PROT_READ | PROT_WRITE) != 0)
            abort();
        room += PAGE;
    }
    if (bytes > ROOM)
        return 0;
    memset(room, 0xa5, ROOM);
    if (bytes)
        memcpy(room + ROOM - bytes, data, bytes);
    load(room + ROOM - bytes, room + ROOM);
    if (bytes)
        memcpy(room, data, bytes);
    load(room, room + ROOM);
    return 0;
}
