/* SPDX-License-Identifier: MIT */
/*
 * The packages' memory as the runtime sees it: which address ranges are
 * allocated, by which call, for which device.  The bytes are the process's own.
 *
 * Everything allocated here lies in the arena, one range of addresses that is a
 * power of two long and aligned to that: what the GPU may always access.  Memory
 * outside is the host program's; the GPU may access what is registered, and with
 * XNACK everything.
 *
 * Threads: every function takes the lock itself.
 */
#ifndef EHP_ALLOC_MEMORY_H
#define EHP_ALLOC_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ehp/ehp.h"
#include "alloc/heap.h"
#include "alloc/numa.h"

enum { MEMORY_KINDS = EHP_MEM_INTERNAL + 1, MEMORY_SITES = 4 };

/* Return addresses in the host program, innermost first; 0: none. */
struct memory_site {
    uint64_t address[MEMORY_SITES];
};

struct memory_block {
    uint64_t base, bytes; /* as asked for */
    int kind;             /* enum ehp_memory_kind; registered: not ours */
    unsigned agent;
    uint64_t serial, user;
    bool on_demand; /* pages are taken when they are touched first */
    bool uncached;  /* no cache of the GPU keeps it */
    bool mapped;    /* device memory whose addresses are not ours */
    struct memory_site allocated, freed;
};

/* Freed blocks that are remembered, for reports. */
enum { MEMORY_HISTORY = 4096 };

/*
 * Who wants to know of chunks, and of blocks in them (NULL: of registered memory):
 * called with the lock.  `reserved`, `mapped` false: there is no room.
 */
struct memory_hooks {
    void *context;
    bool (*reserved)(void *context, struct memory_chunk *chunk);
    void (*released)(void *context, struct memory_chunk *chunk);
    bool (*mapped)(void *context, const struct memory_block *block, const struct memory_chunk *chunk);
    void (*unmapped)(void *context, const struct memory_block *block, const struct memory_chunk *chunk);
};

struct memory {
    pthread_mutex_t lock;
    struct tree_node *blocks;
    struct heap heap;
    uint64_t serial;
    uint64_t arena, arena_bytes; /* addresses */
    struct memory_block *freed;  /* a ring */
    uint64_t frees;
    bool xnack;
    int bounds;         /* enum ehp_bounds */
    bool unguarded;     /* with EHP_BOUNDS_FAULT: it has been said that not all bounds are */
    bool exact;         /* waves access the bytes that are registered, and not all of their pages */
    uint64_t size;      /* bytes of a package */
    uint64_t host_size; /* of a host behind PCIe, whose number follows the packages'; 0: there is none */
    unsigned packages, package_agents; /* agents of each */
    unsigned domains;                  /* NUMA domains of a package's memory, */
    uint8_t domain_of[EHP_AGENTS_MAX]; /* and the nearest one to each agent of a package */
    /* Bytes in pages, by enum ehp_memory_kind, of what has its pages from the beginning. */
    uint64_t upfront[MEMORY_KINDS];
    struct memory_hooks hooks;      /* timing mode */
    struct numa numa;               /* where pages of registered memory lie, and of memory on demand */
    _Atomic uint64_t registrations; /* of host memory, and their ends */
};

static inline unsigned memory_package(const struct memory *memory, unsigned agent)
{
    return memory->package_agents ? agent / memory->package_agents : 0; /* a package may have none */
}

/* Of the package's, the domain that an agent's device memory is in. */
static inline unsigned memory_domain(const struct memory *memory, unsigned agent)
{
    return memory->package_agents ? memory->domain_of[agent % memory->package_agents] : 0;
}

/* The package that memory of such a kind lies in, or the host; and how much there is. */
static inline unsigned memory_place(const struct memory *memory, unsigned agent, int kind)
{
    const bool host = kind == EHP_MEM_HOST || kind == EHP_MEM_REGISTERED || kind == EHP_MEM_MANAGED;
    return host && memory->host_size ? memory->packages : memory_package(memory, agent);
}
static inline uint64_t memory_place_size(const struct memory *memory, unsigned place)
{
    return place < memory->packages ? memory->size : memory->host_size;
}
/* There is a host behind PCIe, with so much memory. */
void memory_set_host(struct memory *memory, uint64_t size);

/* The program's own memory: its pages are the process's. */
static inline bool memory_is_registered(const struct memory_block *block)
{
    return block->kind == EHP_MEM_REGISTERED || block->mapped;
}

/* Device memory is what hipMemGetInfo counts and code; its frames are contiguous. */
bool memory_is_device(int kind);

/* False when the host has no room for the arena. */
bool memory_init(struct memory *memory, uint64_t size, unsigned packages, unsigned package_agents,
                 bool xnack);
void memory_destroy(struct memory *memory);

/*
 * NULL with *status set when it cannot be done: EHP_ERR_NO_MEMORY when the package
 * is full, EHP_ERR_OUT_OF_RESOURCES at one of the host's limits (heap_explain()).
 */
void *memory_alloc(struct memory *memory, unsigned agent, int kind, uint64_t bytes, uint64_t align,
                   int *status);
int memory_free(struct memory *memory, void *base);
int memory_register(struct memory *memory, void *base, uint64_t bytes, bool uncached);
/* The same, as device memory of an agent. */
int memory_register_device(struct memory *memory, unsigned agent, void *base, uint64_t bytes);
int memory_unregister(struct memory *memory, void *base);
/* Nobody can write to a block of the runtime's from now on, waves or the host: before anybody else knows it.
 */
bool memory_protect(struct memory *memory, void *base);
bool memory_set_user(struct memory *memory, void *base, uint64_t user);

/* Where an allocation was made, or freed for the program, which may be long before memory_free(): the first
 * such place since it was made is kept. */
enum memory_event { MEMORY_ALLOCATED, MEMORY_FREED };
bool memory_set_site(struct memory *memory, void *base, enum memory_event event,
                     const struct memory_site *site);
/* The block that was freed last of those that contained the address. */
bool memory_find_freed(struct memory *memory, uint64_t address, struct memory_block *out);
/* Pages of allocations that were taken up front, in bytes; what that is of a place, in whole chunks; what
 * programs have of an agent's domain. */
uint64_t memory_upfront(struct memory *memory);
uint64_t memory_reserved(struct memory *memory, unsigned place);
uint64_t memory_device(struct memory *memory, unsigned agent);
/* Bytes of touched pages, by the host's kernel: all blocks', and of those on demand. */
uint64_t memory_resident(struct memory *memory, uint64_t *on_demand);
/* Whether the GPU may access these bytes, which lie outside the arena. */
bool memory_registered(struct memory *memory, uint64_t address, uint64_t bytes, uint64_t *first,
                       uint64_t *end);

/*
 * An address that nobody has allocated, in a chunk that the chip has mapped as a whole, can be accessed when
 * this returns; *near is the block that is meant, probably.  False: there is none, or it was freed, or
 * memory->bounds forbids it.
 */
bool memory_lend(struct memory *memory, uint64_t address, struct memory_block *near);
/* What was lent is without access again; its contents stay. */
void memory_call_in(struct memory *memory);

/* With the lock: the first block that begins above the address, NULL: none; and the last at or below it. */
const struct memory_block *memory_above(struct memory *memory, uint64_t address);
const struct memory_block *memory_below(struct memory *memory, uint64_t address);

/* The block that contains the address; or the nearest one below or above it, with *inside false. */
bool memory_find(struct memory *memory, uint64_t address, struct memory_block *out, bool *inside);

#endif
