/* SPDX-License-Identifier: MIT */
/* Policies: in which order packages are tried, what is left of a range that another one cuts, and places that
 * are noted where no mode of execution knows better. */
#include <string.h>

#include "alloc/numa.h"
#include "check.h"

enum { PAGE = 4096, PACKAGES = 4 };

static struct numa numa;

/* A ring: the opposite is two links away. */
static void open_ring(void)
{
    numa_open(&numa, PACKAGES);
    for (unsigned a = 0; a < PACKAGES; a++)
        for (unsigned b = 0; b < PACKAGES; b++)
            numa.hops[a][b] = (uint8_t)(a == b ? 0 : (a ^ b) & 1 ? 1 : 2);
}

/* Packages as digits, in the order in which a page is tried. */
static unsigned order_of(uint64_t page, unsigned package, uint32_t mode, uint64_t nodes)
{
    struct numa_asker asker = {.package = package, .policy = {.mode = mode, .nodes = nodes}};
    uint8_t order[EHP_PACKAGES_MAX];
    const unsigned count = numa_order(&numa, page, &asker, order);
    unsigned digits = 0;
    for (unsigned i = 0; i < count; i++)
        digits = 10 * digits + order[i] + 1;
    return digits;
}

static void test_orders(void)
{
    open_ring();
    CHECK_EQ(order_of(0, 1, EHP_NUMA_DEFAULT, 0), 2134);
    CHECK_EQ(order_of(0, 2, EHP_NUMA_LOCAL, 0), 3241);
    CHECK_EQ(order_of(0, 0, EHP_NUMA_PREFERRED, 1 << 3), 4132);
    CHECK_EQ(order_of(0, 0, EHP_NUMA_BIND, 1 << 2 | 1 << 3), 43); /* the nearest, and no other */
    CHECK_EQ(order_of(0, 0, EHP_NUMA_PREFERRED_MANY, 1 << 2 | 1 << 3), 4312);
    CHECK_EQ(order_of(0, 1, EHP_NUMA_BIND, 1 << 7),
             2134); /* none that is there: as if there were no policy */
    CHECK_EQ(order_of(0, PACKAGES, EHP_NUMA_DEFAULT, 0), PACKAGES + 1); /* a host's, and nowhere else */
    numa_close(&numa);
}

static void test_ranges(void)
{
    const struct ehp_numa_policy deal = {.mode = EHP_NUMA_INTERLEAVE, .nodes = 0xf},
                                 bind = {.mode = EHP_NUMA_BIND, .nodes = 1 << 2}, none = {0};
    struct ehp_numa_policy found;
    open_ring();
    numa_bind(&numa, 16 * PAGE, 16 * PAGE, &deal);
    CHECK_EQ(order_of(16 * PAGE, 3, EHP_NUMA_BIND, 1), 1243); /* its own counts, and not the thread's */
    numa_bind(&numa, 18 * PAGE, 3 * PAGE, &bind);
    CHECK_EQ(order_of(17 * PAGE, 0, 0, 0) / 1000, 2);
    CHECK_EQ(order_of(18 * PAGE, 0, 0, 0), 3);
    CHECK_EQ(order_of(20 * PAGE, 0, 0, 0), 3);
    for (unsigned i = 21; i < 32; i++) /* goes on as if nothing were between */
        CHECK_EQ(order_of((uint64_t)i * PAGE, 0, 0, 0) / 1000, i % 4 + 1);
    CHECK(!numa_policy_of(&numa, 32 * PAGE, &found));
    CHECK(!numa_policy_of(&numa, 16 * PAGE - 1, &found));
    numa_bind(&numa, 0, 64 * PAGE, &none);
    CHECK(!numa_policy_of(&numa, 18 * PAGE, &found) && !numa.ranges);
    numa_close(&numa);
}

static void test_places(void)
{
    enum { MANY = 5000 };
    struct numa_asker asker = {.package = 1, .policy = {.mode = EHP_NUMA_INTERLEAVE, .nodes = 0xf}};
    unsigned package;
    open_ring();
    CHECK(!numa_find(&numa, 0, NULL, &package));
    for (uint64_t i = 0; i < MANY; i++)
        CHECK(numa_find(&numa, i * PAGE, &asker, &package) && package == i % 4);
    CHECK(numa_move(&numa, 8 * PAGE, 3, true));
    CHECK(numa_find(&numa, 8 * PAGE, NULL, &package) && package == 3);
    numa_unmapped(&numa, 16 * PAGE + 1, 2 * PAGE); /* one whole page is in it */
    CHECK(numa_find(&numa, 16 * PAGE, NULL, &package) && numa_find(&numa, 18 * PAGE, NULL, &package));
    CHECK(!numa_find(&numa, 17 * PAGE, NULL, &package));
    for (uint64_t i = 20; i < MANY; i++)
        CHECK(numa_find(&numa, i * PAGE, NULL, &package) && package == i % 4);
    numa_close(&numa);
}

int main(void)
{
    test_orders();
    test_ranges();
    test_places();
    return check_status();
}
