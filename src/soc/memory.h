/* SPDX-License-Identifier: MIT */
/*
 * The package's memory as the runtime sees it: which address ranges are
 * allocated, by which call, for which device.  The bytes are the process's own.
 *
 * Threads: every function takes the lock itself.
 */
#ifndef EHP_SOC_MEMORY_H
#define EHP_SOC_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_block {
    uint64_t base, bytes; /* as asked for */
    void *map;            /* what to unmap, with guard pages; NULL: registered, not ours */
    size_t map_bytes;
    int kind;
    unsigned agent;
    uint64_t serial, user;
    uint64_t physical; /* simulated: blocks of its side follow one another in order of allocation */
};

struct memory {
    pthread_mutex_t lock;
    struct memory_block *blocks; /* sorted by base */
    size_t count, capacity;
    uint64_t serial;
    uint64_t used, size; /* bytes of the package, counted in pages */
    /* Simulated physical memory: half of the largest power of two that is there, for device memory, and a
     * quarter for the host's; the rest is for what nobody allocated here. */
    uint64_t physical[2], next_physical[2]; /* sizes; where the next block goes */
    bool wrapped[2];
    _Atomic uint64_t changes; /* of what an address that was valid means */
};

/* Device memory is what hipMemGetInfo counts and code; its frames are contiguous. */
bool memory_is_device(int kind);

void memory_init(struct memory *memory, uint64_t size);
void memory_destroy(struct memory *memory);

/* NULL with *status set when it cannot be done. */
void *memory_alloc(struct memory *memory, unsigned agent, int kind, uint64_t bytes, uint64_t align,
                   int *status);
int memory_free(struct memory *memory, void *base);
int memory_register(struct memory *memory, void *base, uint64_t bytes);
int memory_unregister(struct memory *memory, void *base);
bool memory_set_user(struct memory *memory, void *base, uint64_t user);

/* The block that contains the address; or the nearest one below or above it, with *inside false. */
bool memory_find(struct memory *memory, uint64_t address, struct memory_block *out, bool *inside);

#endif
