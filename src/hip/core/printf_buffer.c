/* SPDX-License-Identifier: MIT */
/*
 * Buffered printf (-mprintf-kind=buffered): kernels append messages to a buffer of their stream, which the
 * host reads when the kernel is complete.  The buffer begins with how much is used and how large it is;
 * __printf_alloc() of the device library takes from it, and prints nothing when it is full, as on ROCm.
 *
 * A message is a control word (bit 0: stderr, bit 1: a format that the metadata has; its size above), then
 * the hash of such a format or the format itself, and an argument a word, strings inline (LLVM,
 * AMDGPUEmitPrintf).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/core/hostcall.h"
#include "hip/core/module.h"
#include "hip/stream/stream.h"

#define PRINTF_BUFFER ((size_t)4 << 20) /* ROCm's: 4 KiB for each work-item of the largest workgroup */

enum { PRINTF_STDERR = 1, PRINTF_CONSTANT = 2, PRINTF_SIZE_SHIFT = 2 };

/* Shared with the device library. */
struct hip_printf_buffer {
    uint32_t used, size; /* the size with this head */
    unsigned char messages[];
};
_Static_assert(offsetof(struct hip_printf_buffer, messages) == 8, "shared with the device library");

void *hip_printf_buffer(struct ihipStream_t *stream)
{
    void *memory;

    if (!stream->printf) {
        if (ehp_mem_alloc(hip_runtime()->machine, stream->device->agent, EHP_MEM_INTERNAL, PRINTF_BUFFER, 0,
                          &memory) != EHP_OK)
            return NULL;
        stream->printf = memory;
        stream->printf->used = 0;
        stream->printf->size = PRINTF_BUFFER;
    }
    return stream->printf;
}

static void buffer_message(const unsigned char *at, uint32_t bytes, struct hip_device *device)
{
    uint32_t control;
    uint64_t hash;
    const char *format = NULL;

    memcpy(&control, at, sizeof control);
    at += sizeof control;
    bytes -= (uint32_t)sizeof control;
    if (control & PRINTF_CONSTANT) {
        if (bytes < sizeof hash)
            return;
        memcpy(&hash, at, sizeof hash);
        at += sizeof hash;
        bytes -= (uint32_t)sizeof hash;
        format = hip_module_format(device, hash);
        if (!format) {
            fprintf(stderr, "ehp: a kernel prints with format %#llx, which no module has\n",
                    (unsigned long long)hash);
            return;
        }
    }
    uint64_t *words = malloc(bytes + sizeof *words); /* a message begins at any multiple of 4 */
    if (!words)
        return;
    memcpy(words, at, bytes);
    hip_printf_print((control & PRINTF_STDERR) != 0, format, words, bytes / sizeof *words, device);
    free(words);
}

void hip_printf_drain(void *argument)
{
    const struct ihipStream_t *stream = argument;
    struct hip_printf_buffer *buffer = stream->printf;
    const uint32_t room = (uint32_t)(PRINTF_BUFFER - sizeof *buffer);
    const uint32_t says =
        __atomic_load_n(&buffer->used, __ATOMIC_RELAXED); /* it is the device's to write to */
    const uint32_t used = says < room ? says : room;

    for (uint32_t at = 0, bytes; used - at >= sizeof bytes; at += bytes) {
        memcpy(&bytes, buffer->messages + at, sizeof bytes);
        bytes >>= PRINTF_SIZE_SHIFT;
        if (bytes < sizeof bytes || bytes > used - at) /* the kernel has written over it */
            break;
        buffer_message(buffer->messages + at, bytes, stream->device);
    }
    if (used)
        fflush(stdout);
    buffer->used = 0;
}
