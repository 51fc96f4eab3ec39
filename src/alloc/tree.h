/* SPDX-License-Identifier: MIT */
/*
 * Things by their first address, as members of what they order: a treap, whose
 * ranks are the addresses, scattered.  Threads: the caller's lock.
 */
#ifndef EHP_ALLOC_TREE_H
#define EHP_ALLOC_TREE_H

#include <stdint.h>

struct tree_node {
    struct tree_node *left, *right;
    uint64_t base;
};

/* `node->base` is set, and not in the tree. */
void tree_insert(struct tree_node **root, struct tree_node *node);
void tree_remove(struct tree_node **root, struct tree_node *node);

/* The last one that begins at the address or below it, and the first one above it; NULL: none. */
struct tree_node *tree_below(struct tree_node *root, uint64_t address);
struct tree_node *tree_above(struct tree_node *root, uint64_t address);

#endif
