/* SPDX-License-Identifier: MIT */
/*
 * A page table of four levels, as the CPU's and the GPU's are: 512 entries of
 * eight bytes in a page.  An entry of the last but one level may be a leaf that
 * covers 2 MiB.
 *
 * An entry has the GPU's fragment field: 2^fragment pages around it, virtually and
 * physically contiguous and aligned, have the same flags, so that a TLB may keep
 * them all in one entry.
 *
 * Threads: one writer at a time; readers at any time.  A table of the last two levels
 * that has become empty is taken out, and lives until table_free_retired().
 */
#ifndef EHP_VM_TABLE_H
#define EHP_VM_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { TABLE_LEVELS = 4, TABLE_BITS = 9, TABLE_ENTRIES = 1 << TABLE_BITS, TABLE_PAGE_SHIFT = 12 };

#define PTE_VALID          UINT64_C(0x1)
#define PTE_WRITABLE       UINT64_C(0x2)
#define PTE_LARGE          UINT64_C(0x4) /* covers 2 MiB */
#define PTE_MTYPE_SHIFT    3
#define PTE_FRAGMENT_SHIFT 7
#define PTE_FRAGMENT       (UINT64_C(0x1f) << PTE_FRAGMENT_SHIFT)
#define PTE_FRAME          UINT64_C(0x0000fffffffff000)
#define PTE_CPU_FIRST      (UINT64_C(1) << 53) /* a CPU has touched it first */
#define PTE_SPARE  (UINT64_C(1) << 54) /* nobody's, of a chunk that is mapped as a whole: alloc/heap.h */
#define PTE_CPU    (UINT64_C(1) << 55) /* a core's walk finds it */
#define PTE_PINNED (UINT64_C(1) << 52) /* up front: the host's kernel does not take it away */

struct table_node {
    _Atomic uint64_t entry[TABLE_ENTRIES]; /* of inner levels: the address of a node, or a large leaf */
    struct table_node *next;               /* of those that are taken out */
};

struct table {
    struct table_node *root;
    uint64_t nodes;
    unsigned most; /* largest fragment */
    struct table_node *retired, *spare;
    _Atomic size_t retired_count;
    struct arena arena;
};

bool table_open(struct table *t, unsigned most);
void table_close(struct table *t);

/* The entry for an address; 0: there is none. */
uint64_t table_get(const struct table *t, uint64_t address);
/* The last level's node for an address, made if it is not there; NULL: no memory, or a large leaf. */
struct table_node *table_leaf(struct table *t, uint64_t address, bool make);

/*
 * Maps pages that are contiguous in both, with as large fragments as alignment
 * and length allow: the driver's rule (amdgpu_vm_pte_fragment()).
 */
bool table_map(struct table *t, uint64_t address, uint64_t pages, uint64_t physical, uint64_t flags);

/* Removes entries; calls `gone` (may be NULL) for each, with its first address and pages. */
typedef void table_gone_fn(void *context, uint64_t address, uint64_t pages, uint64_t entry);
void table_unmap(struct table *t, uint64_t address, uint64_t pages, table_gone_fn *gone, void *context);

/* When there are no readers. */
void table_free_retired(struct table *t);

static inline unsigned pte_fragment(uint64_t entry)
{
    return (unsigned)((entry & PTE_FRAGMENT) >> PTE_FRAGMENT_SHIFT);
}

#endif
