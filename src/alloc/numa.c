/* SPDX-License-Identifier: MIT */
/* Policies, and places of pages where nobody else knows them; see numa.h. */
#include "alloc/numa.h"

#include <stdlib.h>
#include <string.h>

#include "alloc/heap.h"
#include "base/must.h"

struct range {
    struct tree_node node;
    uint64_t end;
    struct ehp_numa_policy policy;
};

struct numa_page {
    uint64_t number; /* plus 1; 0: the place is free */
    int package;     /* -1: none any more */
};

void numa_open(struct numa *n, unsigned packages)
{
    *n = (struct numa){.packages = packages};
    pthread_mutex_init(&n->lock, NULL);
    for (unsigned a = 0; a < packages; a++)
        for (unsigned b = 0; b < packages; b++)
            n->hops[a][b] = a != b;
}

void numa_close(struct numa *n)
{
    for (struct tree_node *node; (node = n->ranges) != NULL;) {
        tree_remove(&n->ranges, node);
        free((struct range *)node);
    }
    free(n->page);
    pthread_mutex_destroy(&n->lock);
}

/* ---- ranges ---- */

static struct range *range_of(const struct numa *n, uint64_t address)
{
    struct range *r = (struct range *)tree_below(n->ranges, address);
    return r && address < r->end ? r : NULL;
}

static void add_range(struct numa *n, uint64_t base, uint64_t end, const struct ehp_numa_policy *policy)
{
    struct range *r = must(calloc(1, sizeof(*r)));
    r->node.base = base;
    r->end = end;
    r->policy = *policy;
    tree_insert(&n->ranges, &r->node);
}

/* What was there keeps its parts before and behind. */
static void cut(struct numa *n, uint64_t base, uint64_t end)
{
    struct range *r = range_of(n, base);
    if (!r)
        r = (struct range *)tree_above(n->ranges, base);
    while (r && r->node.base < end) {
        const struct range was = *r;
        tree_remove(&n->ranges, &r->node);
        free(r);
        if (was.node.base < base)
            add_range(n, was.node.base, base, &was.policy);
        if (was.end > end) {
            struct ehp_numa_policy rest = was.policy;
            rest.first += (uint32_t)((end - was.node.base) / HEAP_PAGE);
            add_range(n, end, was.end, &rest);
        }
        r = (struct range *)tree_above(n->ranges, base);
    }
}

int numa_bind(struct numa *n, uint64_t base, uint64_t bytes, const struct ehp_numa_policy *policy)
{
    pthread_mutex_lock(&n->lock);
    cut(n, base, base + bytes);
    if (policy->mode != EHP_NUMA_DEFAULT)
        add_range(n, base, base + bytes, policy);
    pthread_mutex_unlock(&n->lock);
    return EHP_OK;
}

bool numa_policy_of(struct numa *n, uint64_t address, struct ehp_numa_policy *policy)
{
    pthread_mutex_lock(&n->lock);
    const struct range *r = range_of(n, address);
    if (r)
        *policy = r->policy;
    pthread_mutex_unlock(&n->lock);
    return r != NULL;
}

/* ---- the order of packages ---- */

/* Those of `nodes`, the nearest to one first, behind what is in the list. */
static unsigned add_nearest(const struct numa *n, unsigned to, uint64_t nodes, uint8_t *order, unsigned count)
{
    for (unsigned hops = 0; hops < EHP_PACKAGES_MAX; hops++)
        for (unsigned p = 0; p < n->packages; p++)
            if (n->hops[to][p] == hops && nodes >> p & 1 && !memchr(order, (int)p, count))
                order[count++] = (uint8_t)p;
    return count;
}

static unsigned nth_of(uint64_t nodes, uint64_t n)
{
    for (n %= (unsigned)__builtin_popcountll(nodes); n > 0; n--)
        nodes &= nodes - 1;
    return (unsigned)__builtin_ctzll(nodes);
}

/* Pages of a range are dealt by where they are in it, those of a thread as it comes to them: neither depends
 * on addresses, which are not the same on every run. */
static uint64_t number_of(const struct range *r, uint64_t page, struct numa_asker *asker)
{
    return r ? r->policy.first + (page - r->node.base) / HEAP_PAGE : asker->dealt++;
}

unsigned numa_order(struct numa *n, uint64_t page, struct numa_asker *asker, uint8_t order[EHP_PACKAGES_MAX])
{
    const uint64_t all = (UINT64_C(1) << n->packages) - 1;
    pthread_mutex_lock(&n->lock);
    const struct range *r = n->ranges ? range_of(n, page) : NULL;
    const struct ehp_numa_policy *p = r ? &r->policy : &asker->policy;
    const uint64_t nodes = p->nodes & all;
    unsigned count = 0, first = asker->package;
    if (first >= n->packages) { /* a host's */
        pthread_mutex_unlock(&n->lock);
        order[0] = (uint8_t)first;
        return 1;
    }
    switch (nodes ? p->mode : EHP_NUMA_DEFAULT) {
    case EHP_NUMA_BIND:
        count = add_nearest(n, first, nodes, order, 0);
        break;
    case EHP_NUMA_PREFERRED_MANY:
        count = add_nearest(n, first, nodes, order, 0);
        count = add_nearest(n, first, all, order, count);
        break;
    case EHP_NUMA_INTERLEAVE:
        first = nth_of(nodes, number_of(r, page, asker));
        count = add_nearest(n, first, all, order, 0);
        break;
    case EHP_NUMA_PREFERRED:
        count = add_nearest(n, (unsigned)__builtin_ctzll(nodes), all, order, 0);
        break;
    default:
        count = add_nearest(n, first, all, order, 0);
    }
    pthread_mutex_unlock(&n->lock);
    return count;
}

/* ---- pages of functional mode ---- */

static struct numa_page *look_up(const struct numa *n, uint64_t number)
{
    uint64_t i = number * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (n->places - 1);
    while (n->page[i].number && n->page[i].number != number + 1)
        i = (i + 1) & (n->places - 1);
    return &n->page[i];
}

static void grow(struct numa *n)
{
    struct numa more = {.places = n->places ? 2 * n->places : 1024};
    more.page = must(calloc(more.places, sizeof(*more.page)));
    for (uint64_t i = 0; i < n->places; i++)
        if (n->page[i].number && n->page[i].package >= 0) {
            *look_up(&more, n->page[i].number - 1) = n->page[i];
            more.used++;
        }
    free(n->page);
    n->page = more.page;
    n->places = more.places;
    n->used = more.used;
}

static void put(struct numa *n, uint64_t page, int package)
{
    if (2 * (n->used + 1) > n->places)
        grow(n);
    struct numa_page *p = look_up(n, page / HEAP_PAGE);
    n->used += !p->number;
    *p = (struct numa_page){page / HEAP_PAGE + 1, package};
}

bool numa_find(struct numa *n, uint64_t page, struct numa_asker *asker, unsigned *package)
{
    uint8_t order[EHP_PACKAGES_MAX];
    if (n->hooks.find)
        return n->hooks.find(n->hooks.context, page, asker, package);
    pthread_mutex_lock(&n->lock);
    const struct numa_page *p = n->places ? look_up(n, page / HEAP_PAGE) : NULL;
    const bool known = p && p->number && p->package >= 0;
    if (known)
        *package = (unsigned)p->package;
    pthread_mutex_unlock(&n->lock);
    if (known || !asker)
        return known;
    numa_order(n, page, asker, order);
    pthread_mutex_lock(&n->lock);
    put(n, page, order[0]);
    pthread_mutex_unlock(&n->lock);
    *package = order[0];
    return true;
}

bool numa_move(struct numa *n, uint64_t page, unsigned package, bool mapped)
{
    if (n->hooks.move)
        return n->hooks.move(n->hooks.context, page, package, mapped);
    pthread_mutex_lock(&n->lock);
    put(n, page, (int)package);
    pthread_mutex_unlock(&n->lock);
    return true;
}

void numa_unmapped(struct numa *n, uint64_t address, uint64_t bytes)
{
    uint64_t page = (address + HEAP_PAGE - 1) & ~(uint64_t)(HEAP_PAGE - 1);
    pthread_mutex_lock(&n->lock);
    for (; n->used && page + HEAP_PAGE <= address + bytes; page += HEAP_PAGE) {
        struct numa_page *p = look_up(n, page / HEAP_PAGE);
        p->package = p->number ? -1 : 0;
    }
    pthread_mutex_unlock(&n->lock);
}

void numa_gone(struct numa *n, uint64_t page)
{
    if (n->hooks.gone)
        n->hooks.gone(n->hooks.context, page);
    else
        numa_unmapped(n, page, HEAP_PAGE);
}
