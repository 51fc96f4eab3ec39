/* SPDX-License-Identifier: MIT */
/* Page tables; see table.h. */
#include "vm/table.h"

enum { LARGE_PAGES = TABLE_ENTRIES };

static unsigned index_of(uint64_t address, unsigned level) /* level 0: the last */
{
    return (unsigned)(address >> (TABLE_PAGE_SHIFT + level * TABLE_BITS) & (TABLE_ENTRIES - 1));
}

/* Not by malloc(): when it was given back, by which thread, would move the program's own memory. */
static struct table_node *node_new(struct table *t)
{
    struct table_node *node = t->spare;
    if (node)
        t->spare = node->next;
    else
        node = arena_take(&t->arena, sizeof(*node));
    for (unsigned i = 0; i < TABLE_ENTRIES; i++)
        atomic_init(&node->entry[i], 0);
    t->nodes++;
    return node;
}

bool table_open(struct table *t, unsigned most)
{
    *t = (struct table){.most = most};
    t->root = node_new(t);
    return t->root != NULL;
}

void table_close(struct table *t)
{
    arena_free(&t->arena);
}

/* Takes a table that is empty out of the one above. */
static void retire(struct table *t, _Atomic uint64_t *above, struct table_node *node)
{
    for (unsigned i = 0; i < TABLE_ENTRIES; i++)
        if (atomic_load_explicit(&node->entry[i], memory_order_relaxed))
            return;
    node->next = t->retired;
    t->retired = node;
    t->retired_count++;
    atomic_store_explicit(above, 0, memory_order_release);
}

void table_free_retired(struct table *t)
{
    t->nodes -= t->retired_count;
    t->retired_count = 0;
    while (t->retired) {
        struct table_node *node = t->retired;
        t->retired = node->next;
        node->next = t->spare;
        t->spare = node;
    }
}

static struct table_node *child(const _Atomic uint64_t *entry)
{
    return (struct table_node *)(uintptr_t)atomic_load_explicit(entry, memory_order_acquire);
}

uint64_t table_get(const struct table *t, uint64_t address)
{
    const struct table_node *node = t->root;
    if (address >> (TABLE_PAGE_SHIFT + TABLE_LEVELS * TABLE_BITS))
        return 0;
    for (unsigned level = TABLE_LEVELS - 1; level > 0; level--) {
        uint64_t entry = atomic_load_explicit(&node->entry[index_of(address, level)], memory_order_acquire);
        if (!entry || (level == 1 && entry & PTE_LARGE))
            return entry;
        node = (const struct table_node *)(uintptr_t)entry;
    }
    return atomic_load_explicit(&node->entry[index_of(address, 0)], memory_order_acquire);
}

/* The node of a level on the way to an address. */
static struct table_node *descend(struct table *t, uint64_t address, unsigned to, bool make)
{
    struct table_node *node = t->root;
    for (unsigned level = TABLE_LEVELS - 1; level > to; level--) {
        _Atomic uint64_t *entry = &node->entry[index_of(address, level)];
        struct table_node *next = child(entry);
        if (level == 1 && (uintptr_t)next & PTE_LARGE)
            return NULL;
        if (!next) {
            next = make ? node_new(t) : NULL;
            if (!next)
                return NULL;
            atomic_store_explicit(entry, (uint64_t)(uintptr_t)next, memory_order_release);
        }
        node = next;
    }
    return node;
}

struct table_node *table_leaf(struct table *t, uint64_t address, bool make)
{
    return descend(t, address, 0, make);
}

/* The largest power of two of pages that begins here, aligned in both address spaces. */
static unsigned fragment_at(const struct table *t, uint64_t address, uint64_t physical, uint64_t pages)
{
    unsigned most = 63 - (unsigned)__builtin_clzll(pages);
    uint64_t both = (address | physical) >> TABLE_PAGE_SHIFT;
    unsigned aligned = both ? (unsigned)__builtin_ctzll(both) : t->most;
    unsigned fragment = aligned < most ? aligned : most;
    return fragment < t->most ? fragment : t->most;
}

bool table_map(struct table *t, uint64_t address, uint64_t pages, uint64_t physical, uint64_t flags)
{
    while (pages) {
        unsigned fragment = fragment_at(t, address, physical, pages);
        uint64_t count = UINT64_C(1) << fragment;
        uint64_t common = flags | PTE_VALID | (uint64_t)fragment << PTE_FRAGMENT_SHIFT;
        for (uint64_t i = 0; i < count;) {
            uint64_t at = address + (i << TABLE_PAGE_SHIFT), frame = physical + (i << TABLE_PAGE_SHIFT);
            struct table_node *upper = fragment >= TABLE_BITS ? descend(t, at, 1, true) : NULL;
            /* A table that is there stays: readers may be in it. */
            if (upper && !child(&upper->entry[index_of(at, 1)])) {
                atomic_store_explicit(&upper->entry[index_of(at, 1)], common | frame | PTE_LARGE,
                                      memory_order_release);
                i += LARGE_PAGES;
                continue;
            }
            struct table_node *leaf = table_leaf(t, at, true);
            if (!leaf)
                return false;
            atomic_store_explicit(&leaf->entry[index_of(at, 0)], common | frame, memory_order_release);
            i++;
        }
        address += count << TABLE_PAGE_SHIFT;
        physical += count << TABLE_PAGE_SHIFT;
        pages -= count;
    }
    return true;
}

/* The tables of the last but one level that cover these addresses.  Allocators go on to other addresses
 * before they use freed ones again, so what they leave behind would pile up. */
static void retire_upper(struct table *t, uint64_t address, uint64_t end)
{
    const uint64_t covered = UINT64_C(1) << (TABLE_PAGE_SHIFT + 2 * TABLE_BITS);
    for (; address < end; address = (address | (covered - 1)) + 1) {
        struct table_node *above = descend(t, address, 2, false);
        _Atomic uint64_t *entry = above ? &above->entry[index_of(address, 2)] : NULL;
        if (entry && child(entry))
            retire(t, entry, child(entry));
    }
}

void table_unmap(struct table *t, uint64_t address, uint64_t pages, table_gone_fn *gone, void *context)
{
    uint64_t start = address, end = address + (pages << TABLE_PAGE_SHIFT);
    while (address < end) {
        struct table_node *upper = descend(t, address, 1, false);
        _Atomic uint64_t *large = upper ? &upper->entry[index_of(address, 1)] : NULL;
        uint64_t entry = large ? atomic_load_explicit(large, memory_order_relaxed) : 0;
        uint64_t part_end = (address | (((uint64_t)LARGE_PAGES << TABLE_PAGE_SHIFT) - 1)) + 1;
        if (entry & PTE_LARGE) { /* mapped as a whole, and so unmapped */
            atomic_store_explicit(large, 0, memory_order_release);
            if (gone)
                gone(context, address, LARGE_PAGES, entry);
        } else if (entry) {
            struct table_node *leaf = (struct table_node *)(uintptr_t)entry;
            for (; address < end && address < part_end; address += UINT64_C(1) << TABLE_PAGE_SHIFT) {
                _Atomic uint64_t *e = &leaf->entry[index_of(address, 0)];
                uint64_t old = atomic_exchange_explicit(e, 0, memory_order_acq_rel);
                if (old && gone)
                    gone(context, address, 1, old);
            }
            retire(t, large, leaf);
        }
        address = part_end;
    }
    retire_upper(t, start, end);
}
