/* SPDX-License-Identifier: MIT */
/*
 * Whether the host program has used memory that the GPU sees: what the kernel
 * under the simulator has noted of accesses to pages while the simulation stood still.
 *
 * Source: Linux, Documentation/filesystems/proc.rst, clear_refs and smaps.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cp/sim.h"
#include "soc/memory.h"

struct sim_touch {
    struct memory *memory;
    int clear; /* /proc/self/clear_refs */
};

/* NULL where the kernel does not tell. */
struct sim_touch *sim_touch_open(struct memory *memory)
{
    struct sim_touch *t = malloc(sizeof(*t));
    if (!t)
        return NULL;
    *t = (struct sim_touch){memory, open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)};
    if (t->clear >= 0 && sim_touch_clear(t))
        return t;
    sim_touch_close(t);
    return NULL;
}

void sim_touch_close(struct sim_touch *t)
{
    if (t && t->clear >= 0)
        close(t->clear);
    free(t);
}

/* From now on; of all pages of the process. */
bool sim_touch_clear(struct sim_touch *t)
{
    return pwrite(t->clear, "1", 1, 0) == 1;
}

/* Whether the GPU sees any of these addresses without page faults. */
static bool seen_by_device(struct memory *memory, uint64_t start, uint64_t end)
{
    if (start < memory->arena + memory->arena_bytes && end > memory->arena)
        return true;
    bool seen = false;
    pthread_mutex_lock(&memory->lock);
    for (size_t i = 0; i < memory->count && !seen; i++) {
        const struct memory_block *b = &memory->blocks[i];
        seen = b->kind == EHP_MEM_REGISTERED && b->base < end && b->base + b->bytes > start;
    }
    pthread_mutex_unlock(&memory->lock);
    return seen;
}

bool sim_touched(struct sim_touch *t)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    if (!file)
        return true;
    char line[1024];
    unsigned long long start = 0, end = 0, first, last, kib;
    bool touched = false;
    while (!touched && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%llx-%llx ", &first, &last) == 2) {
            start = first;
            end = last;
        } else if (sscanf(line, "Referenced: %llu", &kib) == 1 && kib) {
            touched = seen_by_device(t->memory, start, end);
        }
    }
    fclose(file);
    return touched;
}
