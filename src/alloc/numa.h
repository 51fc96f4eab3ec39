/* SPDX-License-Identifier: MIT */
/*
 * In which package of a node a page lies: what the program asks for as it asks Linux (mbind(2),
 * set_mempolicy(2), move_pages(2)), whose numbers for policies these are.  A package is a NUMA node.
 *
 * In timing mode a page's frame says where it is (vm/).  In functional mode nothing depends on it, and it is
 * noted here for those who ask, from when they do.
 *
 * Threads: any; the memory's lock, if both are needed, comes first.
 */
#ifndef EHP_ALLOC_NUMA_H
#define EHP_ALLOC_NUMA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ehp/ehp.h"
#include "alloc/tree.h"

/* Whose page it is that gets a place: of whoever touches it first. */
struct numa_asker {
    unsigned package;              /* the nearest */
    struct ehp_numa_policy policy; /* of the thread; with mode DEFAULT: none */
    uint64_t dealt;                /* pages that it has interleaved */
};

struct memory;

/* What a mode of execution knows of pages; NULL: nothing, and numa.c notes them. */
struct numa_hooks {
    void *context;
    /* The package of a page, which gets a place as `asker` wants if it has none.  False: memory is full; or,
     * with asker NULL, it has none. */
    bool (*find)(void *context, uint64_t page, struct numa_asker *asker, unsigned *package);
    /* To another package.  False: it cannot be moved now; `mapped`: also if a GPU's page table has it. */
    bool (*move)(void *context, uint64_t page, unsigned package, bool mapped);
    /* The page is gone from the process. */
    void (*gone)(void *context, uint64_t page);
};

struct numa {
    pthread_mutex_t lock;
    unsigned packages;
    uint8_t hops[EHP_PACKAGES_MAX][EHP_PACKAGES_MAX];
    struct tree_node *ranges;  /* with a policy of their own */
    struct numa_asker program; /* host code whose time is not simulated */
    struct numa_hooks hooks;
    struct numa_page *page; /* by a hash of its number; without hooks */
    uint64_t places, used;  /* places: a power of two, or 0 */
};

void numa_open(struct numa *numa, unsigned packages);
void numa_close(struct numa *numa);

/* Packages in the order in which a page should be tried to be placed; how many: the others are forbidden. */
unsigned numa_order(struct numa *numa, uint64_t page, struct numa_asker *asker,
                    uint8_t order[EHP_PACKAGES_MAX]);

/* A range of addresses, whole pages, has this policy from now on; mode DEFAULT: none of its own. */
int numa_bind(struct numa *numa, uint64_t base, uint64_t bytes, const struct ehp_numa_policy *policy);
/* The policy of the range around an address; false: it has none of its own. */
bool numa_policy_of(struct numa *numa, uint64_t address, struct ehp_numa_policy *policy);

/* As struct numa_hooks has them; a page is its first address. */
bool numa_find(struct numa *numa, uint64_t page, struct numa_asker *asker, unsigned *package);
bool numa_move(struct numa *numa, uint64_t page, unsigned package, bool mapped);
void numa_gone(struct numa *numa, uint64_t page);
/* All that is noted here of whole pages, without hooks. */
void numa_unmapped(struct numa *numa, uint64_t address, uint64_t bytes);

#endif
