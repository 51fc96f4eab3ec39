/* SPDX-License-Identifier: MIT */
/* Things by their first address; see tree.h. */
#include "alloc/tree.h"

#include <stddef.h>

/* Of an address, as if drawn by lot (the finaliser of SplitMix64): what keeps the tree flat. */
static uint64_t rank(const struct tree_node *node)
{
    uint64_t x = node->base;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void tree_insert(struct tree_node **root, struct tree_node *node)
{
    struct tree_node **at = root;
    while (*at && rank(*at) >= rank(node))
        at = node->base < (*at)->base ? &(*at)->left : &(*at)->right;
    /* What is there is divided into what comes before and after. */
    struct tree_node *rest = *at, **before = &node->left, **after = &node->right;
    while (rest)
        if (rest->base < node->base) {
            *before = rest;
            before = &rest->right;
            rest = rest->right;
        } else {
            *after = rest;
            after = &rest->left;
            rest = rest->left;
        }
    *before = *after = NULL;
    *at = node;
}

void tree_remove(struct tree_node **root, struct tree_node *node)
{
    struct tree_node **at = root, *before = node->left, *after = node->right;
    while (*at != node)
        at = node->base < (*at)->base ? &(*at)->left : &(*at)->right;
    while (before && after)
        if (rank(before) >= rank(after)) {
            *at = before;
            at = &before->right;
            before = before->right;
        } else {
            *at = after;
            at = &after->left;
            after = after->left;
        }
    *at = before ? before : after;
}

struct tree_node *tree_below(struct tree_node *root, uint64_t address)
{
    struct tree_node *best = NULL;
    while (root)
        if (root->base <= address) {
            best = root;
            root = root->right;
        } else {
            root = root->left;
        }
    return best;
}

struct tree_node *tree_above(struct tree_node *root, uint64_t address)
{
    struct tree_node *best = NULL;
    while (root)
        if (root->base > address) {
            best = root;
            root = root->left;
        } else {
            root = root->right;
        }
    return best;
}
