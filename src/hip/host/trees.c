/* SPDX-License-Identifier: MIT */
/*
 * What std::map, std::set and their like call of libstdc++: steps from node to node, and how a tree is
 * balanced; see time_host.h. A node's links are read before the call changes them; what it writes are the
 * nodes that it has read.
 */
#include <stddef.h>

#include "hip/host/time_host.h"

/* As GCC's stl_tree.h has it: an ABI. */
struct node {
    int color; /* 0: red */
    struct node *parent, *left, *right;
};

/* A link that was followed: the next follows from it.  Instructions and cycles as the loops compile to. */
static const struct ehp_cpu_block step = {
    .accesses = 1,
    .words = 1,
    .instructions = 4,
    .cycles = 1,
    .access = {{.number = UINT16_MAX - 1, .after = UINT16_MAX - 1, .bytes = 8, .kind = EHP_CPU_READ}}};
static const struct {
    struct ehp_cpu_block block;
    struct ehp_cpu_access write;
} change = {
    {.accesses = 2,
     .words = 2,
     .instructions = 12,
     .cycles = 4,
     .access = {{.number = UINT16_MAX - 1, .after = UINT16_MAX - 1, .bytes = 8, .kind = EHP_CPU_READ}}},
    {.bytes = 8, .kind = EHP_CPU_WRITE}};

static struct node *follow(struct node **link)
{
    *ehp_cpu_block(&step) = (uint64_t)(uintptr_t)link;
    return *link;
}

static void changes(struct node *n)
{
    uint64_t *w = ehp_cpu_block(&change.block);
    w[0] = w[1] = (uint64_t)(uintptr_t)n;
}

/* The links that lead to the next node: of one with a right child that one's left children, else up. */
static void walk(struct node *n, size_t to, size_t back)
{
#define LINK(of, at) ((struct node **)(void *)((char *)(of) + (at)))
    struct node *next;
    if (n->color == 0 && n->parent && n->parent->parent == n) { /* behind the last: it knows that */
        follow(&n->right);
        return;
    }
    next = follow(LINK(n, to));
    if (next) {
        while ((next = follow(LINK(next, back))) != NULL)
            ;
        return;
    }
    for (next = follow(&n->parent); n == follow(LINK(next, to)); next = follow(&n->parent))
        n = next;
}

/* What a new node's balance changes, from its parent up: as long as that is red, and what is beside it too.
 */
static void balance(struct node *parent, const struct node *header)
{
    changes(parent);
    while (parent != header && parent->color == 0) {
        struct node *above = parent->parent, *beside = above->left == parent ? above->right : above->left;
        changes(above);
        if (!beside || beside->color != 0)
            return; /* a rotation ends it */
        changes(beside);
        parent = above->parent;
        changes(parent);
    }
}

#define NAME(name) __asm__(name) __attribute__((visibility("default")))
#define CALL(type, name)                                                                                     \
    ({                                                                                                       \
        static type *real;                                                                                   \
        if (!real)                                                                                           \
            real = (type *)time_host_real(name);                                                             \
        real;                                                                                                \
    })

#define INCREMENT  "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"
#define INCREMENTC "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base"
#define DECREMENT  "_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base"
#define DECREMENTC "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base"
#define INSERT     "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_"
#define ERASE      "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_"

typedef struct node *stepper(struct node *);
stepper tree_increment NAME(INCREMENT), tree_increment_const NAME(INCREMENTC), tree_decrement NAME(DECREMENT),
    tree_decrement_const NAME(DECREMENTC);
typedef void inserter(bool, struct node *, struct node *, struct node *);
typedef struct node *eraser(struct node *, struct node *);
inserter tree_insert NAME(INSERT);
eraser tree_erase NAME(ERASE);

#define STEP(function, name, to, back)                                                                       \
    struct node *function(struct node *n)                                                                    \
    {                                                                                                        \
        if (ON_CORE())                                                                                       \
            walk(n, offsetof(struct node, to), offsetof(struct node, back));                                 \
        return CALL(stepper, name)(n);                                                                       \
    }
STEP(tree_increment, INCREMENT, right, left)
STEP(tree_increment_const, INCREMENTC, right, left)
STEP(tree_decrement, DECREMENT, left, right)
STEP(tree_decrement_const, DECREMENTC, left, right)

void tree_insert(bool left, struct node *n, struct node *parent, struct node *header)
{
    if (ON_CORE()) {
        changes(n);
        balance(parent, header);
    }
    CALL(inserter, INSERT)(left, n, parent, header);
}

struct node *tree_erase(struct node *n, struct node *header)
{
    if (ON_CORE()) { /* and one more for its balance: a guess */
        if (n->left && n->right)
            walk(n, offsetof(struct node, right), offsetof(struct node, left));
        changes(n);
        changes(n->parent);
    }
    return CALL(eraser, ERASE)(n, header);
}
