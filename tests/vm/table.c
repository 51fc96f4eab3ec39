/* SPDX-License-Identifier: MIT */
/* Page tables: fragments by alignment and length, large leaves, and that unmapping finds all of it. */
#include "check.h"
#include "vm/table.h"

static uint64_t gone_pages;

static void gone(void *context, uint64_t address, uint64_t pages, uint64_t entry)
{
    (void)context;
    (void)address;
    CHECK(entry & PTE_VALID);
    gone_pages += pages;
}

int main(void)
{
    struct table t;
    CHECK(table_open(&t, 9));
    const uint64_t page = 4096, va = UINT64_C(0x7e0000000000), pa = UINT64_C(0x40000000);
    CHECK_EQ(table_get(&t, va), 0);

    /* 7 pages from an odd one: 1, 2, 4 of them; the same physically. */
    CHECK(table_map(&t, va + page, 7, pa + page, PTE_WRITABLE));
    const unsigned fragment[8] = {0, 0, 1, 1, 2, 2, 2, 2};
    for (unsigned i = 1; i < 8; i++) {
        uint64_t entry = table_get(&t, va + i * page + 123);
        CHECK_EQ(entry & PTE_FRAME, pa + i * page);
        CHECK_EQ(pte_fragment(entry), fragment[i]);
        CHECK(entry & PTE_WRITABLE);
    }
    CHECK_EQ(table_get(&t, va + 8 * page), 0);

    /* Physical memory that is aligned otherwise has no fragments. */
    CHECK(table_map(&t, va + 16 * page, 16, pa + 17 * page, 0));
    for (unsigned i = 16; i < 32; i++)
        CHECK_EQ(pte_fragment(table_get(&t, va + i * page)), 0);

    /* 5 MiB at 2 MiB: two large leaves, then 256 pages. */
    const uint64_t big = va + (UINT64_C(64) << 20), at = pa + (UINT64_C(64) << 20);
    uint64_t nodes = t.nodes;
    CHECK(table_map(&t, big, 1280, at, PTE_WRITABLE));
    CHECK(t.nodes <= nodes + 2); /* one for the last part, one above */
    uint64_t entry = table_get(&t, big + (UINT64_C(3) << 20));
    CHECK(entry & PTE_LARGE);
    CHECK_EQ(entry & PTE_FRAME, at + (UINT64_C(2) << 20));
    CHECK_EQ(pte_fragment(entry), 9);
    entry = table_get(&t, big + (UINT64_C(4) << 20) + 5 * page);
    CHECK_EQ(entry & PTE_FRAME, at + (UINT64_C(4) << 20) + 5 * page);
    CHECK_EQ(pte_fragment(entry), 8);

    table_unmap(&t, big, 1280, gone, NULL);
    CHECK_EQ(gone_pages, 1280);
    CHECK_EQ(table_get(&t, big), 0);
    CHECK_EQ(table_get(&t, big + 1279 * page), 0);
    table_unmap(&t, va, 512, gone, NULL);
    CHECK_EQ(gone_pages, 1280 + 7 + 16);

    /* Tables of what has been unmapped do not pile up, and live as long as there may be readers. */
    table_free_retired(&t);
    nodes = t.nodes;
    for (unsigned i = 0; i < 100; i++) {
        const uint64_t address = va + i * (UINT64_C(2) << 20);
        CHECK(table_map(&t, address, 2, pa, 0));
        const struct table_node *leaf = table_leaf(&t, address, false);
        table_unmap(&t, address, 1, NULL, NULL);
        CHECK_EQ(table_get(&t, address), 0);
        CHECK(table_get(&t, address + page));
        table_unmap(&t, address + page, 1, NULL, NULL);
        CHECK(!table_leaf(&t, address, false));
        CHECK_EQ(leaf->entry[0], 0);
    }
    CHECK(t.nodes > nodes);
    table_free_retired(&t);
    CHECK_EQ(t.nodes, nodes);
    /* Nor those above them: 2 MiB in each gigabyte, and 2 GiB from the middle of one on. */
    for (uint64_t i = 1; i <= 20; i++) {
        CHECK(table_map(&t, va + (i << 30), 512, pa, 0));
        CHECK(table_get(&t, va + (i << 30)) & PTE_LARGE);
        table_unmap(&t, va + (i << 30), 512, NULL, NULL);
    }
    const uint64_t middle = va + (UINT64_C(1) << 29);
    CHECK(table_map(&t, middle, 1 << 19, pa, 0));
    table_unmap(&t, middle, 1 << 18, NULL, NULL);
    CHECK_EQ(table_get(&t, middle), 0);
    CHECK(table_get(&t, middle + (UINT64_C(1) << 30)) & PTE_LARGE);
    table_unmap(&t, middle + (UINT64_C(1) << 30), 1 << 18, NULL, NULL);
    table_free_retired(&t);
    CHECK_EQ(t.nodes, nodes);
    table_close(&t);
    return check_status();
}
