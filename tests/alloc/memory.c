/* SPDX-License-Identifier: MIT */
/* Allocations: capacity, lookup, and the pages around them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "ehp/ehp.h"
#include "alloc/memory.h"

/* Everything lies in one aligned range; what was freed is remembered, and not handed out again at once. */
static void arena(void)
{
    struct memory memory;
    struct memory_block block;
    int status;
    CHECK(memory_init(&memory, UINT64_C(64) << 20, 1, 1, true));
    CHECK_EQ(memory.arena & (memory.arena_bytes - 1), 0);
    char *first = NULL, *last = NULL;
    for (unsigned i = 0; i < 10000; i++) {
        char *p = memory_alloc(&memory, 0, i % 2 ? EHP_MEM_DEVICE : EHP_MEM_HOST, 1 + i % 20000, 0, &status);
        CHECK(p && (uintptr_t)p - memory.arena < memory.arena_bytes && p != last);
        p[0] = 1;
        first = first ? first : p;
        last = p;
        CHECK_EQ(memory_free(&memory, p), EHP_OK);
    }
    CHECK(memory_find_freed(&memory, (uintptr_t)last + 5, &block) && block.serial == 10000);
    CHECK(!memory_find_freed(&memory, (uintptr_t)first, &block)); /* too long ago */

    /* With XNACK managed memory takes pages when they are touched: more than there are can be asked for. */
    char *managed = memory_alloc(&memory, 0, EHP_MEM_MANAGED, UINT64_C(200) << 20, 0, &status);
    CHECK(managed && memory_upfront(&memory) == 0);
    CHECK_EQ((uintptr_t)managed % (2U << 20), 0);

    uint64_t from, to;
    char *own = aligned_alloc(4096, 3 * 4096);
    CHECK_EQ(memory_register(&memory, own + 100, 4096, false), EHP_OK);
    CHECK_EQ(memory_upfront(&memory), 2 * 4096);
    CHECK(memory_registered(&memory, (uintptr_t)own, 4, &from, &to) && from == (uintptr_t)own);
    CHECK(memory_registered(&memory, (uintptr_t)own + 8188, 4, &from, &to));
    CHECK(!memory_registered(&memory, (uintptr_t)own + 8190, 4, &from, &to));
    /* Of two neighbours, across where they meet, by pages and to the byte. */
    CHECK_EQ(memory_register(&memory, own + 8192, 4096, false), EHP_OK);
    CHECK(memory_registered(&memory, (uintptr_t)own + 8190, 4, &from, &to) && to == (uintptr_t)own + 12288);
    CHECK(!memory_registered(&memory, (uintptr_t)own + 12286, 4, &from, &to));
    memory.exact = true;
    CHECK(!memory_registered(&memory, (uintptr_t)own + 4190, 16, &from, &to));
    CHECK_EQ(memory_register(&memory, own + 4196, 16, false), EHP_OK);
    CHECK(memory_registered(&memory, (uintptr_t)own + 4190, 16, &from, &to) && from == (uintptr_t)own + 100);
    CHECK_EQ(memory_unregister(&memory, own + 4196), EHP_OK);
    CHECK(!memory_registered(&memory, (uintptr_t)own + 4190, 16, &from, &to));
    CHECK_EQ(memory_register(&memory, own + 4198, 8, false), EHP_OK);
    CHECK(!memory_registered(&memory, (uintptr_t)own + 4190, 16, &from, &to)); /* two bytes are nobody's */
    CHECK_EQ(memory_unregister(&memory, own + 4198), EHP_OK);
    CHECK_EQ(memory_unregister(&memory, own + 8192), EHP_OK);
    memory.exact = false;
    CHECK_EQ(memory_unregister(&memory, own + 100), EHP_OK);
    free(own);

    /* To the end of the addresses and round: rooms between others are found. */
    memory.heap.program.next = memory.heap.program.end - (UINT64_C(8) << 20);
    char *before = memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(4) << 20, 0, &status);
    char *after = memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(4) << 20, 0, &status);
    CHECK(before && after && after < before);

    /* What the runtime has for itself, and code, are far away. */
    char *ring = memory_alloc(&memory, 0, EHP_MEM_INTERNAL, 4096, 0, &status);
    char *code = memory_alloc(&memory, 0, EHP_MEM_CODE, 4096, 0, &status);
    CHECK(ring && code && ring - before > (16 << 20) && code - before > (16 << 20) &&
          ring - code > (16 << 20));
    memory_destroy(&memory);
}

static unsigned draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

/* Small allocations until it is said that bounds are not all faults any more: how many, and what was said. */
static unsigned until_said(uint64_t size, uint64_t mappings, int bounds, char *said, size_t bytes)
{
    enum { MOST = 5000 };
    struct memory memory;
    int status, saved = dup(2);
    unsigned count = 0, when = 0;
    FILE *file = tmpfile();
    CHECK(memory_init(&memory, size, 1, 1, false));
    memory.bounds = bounds;
    memory.heap.mappings_most = mappings;
    dup2(fileno(file), 2);
    while (count < MOST && memory_alloc(&memory, 0, EHP_MEM_DEVICE, 16, 0, &status)) {
        count++;
        if (!when && lseek(fileno(file), 0, SEEK_CUR) > 0)
            when = count;
    }
    dup2(saved, 2);
    close(saved);
    memset(said, 0, bytes);
    CHECK(pread(fileno(file), said, bytes - 1, 0) >= 0);
    fclose(file);
    memory_destroy(&memory);
    return when;
}

static void unguarded(void)
{
    char said[1024];
    const uint64_t size = UINT64_C(16) << 20;
    CHECK_EQ(until_said(size, 300, EHP_BOUNDS_WARN, said, sizeof said), 0);
    unsigned when = until_said(size, 300, EHP_BOUNDS_FAULT, said, sizeof said);
    CHECK(when > 100 && when < 200);
    CHECK(strstr(said, "vm.max_map_count") && strchr(said, '\n') == said + strlen(said) - 1);
    /* Memory that is half full is reason enough only for those that have not asked for guards. */
    when = until_said(size, 100000, EHP_BOUNDS_FAULT, said, sizeof said);
    CHECK_EQ(when, 16 / 2 * 256 + 1);
    CHECK(strstr(said, "side by side") && strchr(said, '\n') == said + strlen(said) - 1);
}

/* More than the host allows mappings; each is found, and keeps what is written to it. */
static void many(void)
{
    enum { COUNT = 100000 };
    struct memory memory;
    struct memory_block block;
    int status;
    bool inside;
    static char *p[COUNT];
    CHECK(memory_init(&memory, UINT64_C(1) << 32, 1, 1, false));
    for (unsigned i = 0; i < COUNT; i++) {
        p[i] = memory_alloc(&memory, 0, i % 2 ? EHP_MEM_DEVICE : EHP_MEM_HOST, 16, 0, &status);
        CHECK(p[i] != NULL);
        if (!p[i])
            return;
        *(uint32_t *)(void *)p[i] = i;
    }
    CHECK_EQ(memory_upfront(&memory), COUNT * UINT64_C(4096));
    CHECK(memory_reserved(&memory, 0) < UINT64_C(2) * COUNT * 4096);
    uint64_t state = 1;
    for (unsigned i = 0; i < COUNT; i++) { /* in any order */
        unsigned other = i + draw(&state) % (COUNT - i);
        char *swap = p[i];
        p[i] = p[other];
        p[other] = swap;
    }
    for (unsigned i = 0; i < COUNT; i++) {
        uint32_t number = *(uint32_t *)(void *)p[i];
        CHECK(memory_find(&memory, (uintptr_t)p[i] + 15, &block, &inside) && inside);
        CHECK_EQ(block.serial, number + 1);
        CHECK_EQ(memory_free(&memory, p[i]), EHP_OK);
        if (i % 4 == 0) { /* others come in between */
            p[i] = memory_alloc(&memory, 0, EHP_MEM_DEVICE, 5000, 0, &status);
            CHECK(p[i] && p[i][4999] == 0);
        }
    }
    for (unsigned i = 0; i < COUNT; i += 4)
        CHECK_EQ(memory_free(&memory, p[i]), EHP_OK);
    CHECK(memory.blocks == NULL && memory.heap.chunks == NULL);
    CHECK_EQ(memory_reserved(&memory, 0), 0);
    CHECK_EQ(memory_device(&memory, 0), 0);
    CHECK_EQ(memory.heap.mappings, 0);
    memory_destroy(&memory);
}

/* Large ones, too. */
static void many_large(void)
{
    enum { COUNT = 36000 };
    struct memory memory;
    int status;
    static char *p[COUNT];
    CHECK(memory_init(&memory, UINT64_C(1) << 38, 1, 1, false));
    for (unsigned i = 0; i < COUNT; i++) {
        p[i] = memory_alloc(&memory, 0, EHP_MEM_DEVICE, (UINT64_C(2) << 20) + 4096 * (i % 2), 0, &status);
        CHECK(p[i] != NULL);
        if (!p[i])
            break;
    }
    for (unsigned i = 0; i < COUNT && p[i]; i++)
        CHECK_EQ(memory_free(&memory, p[i * UINT64_C(7919) % COUNT]), EHP_OK);
    CHECK_EQ(memory_reserved(&memory, 0), 0);
    CHECK_EQ(memory.heap.mappings, 0);
    memory_destroy(&memory);
}

/* A block of 2 MiB is cut; all of the package can be had in small pieces, and again what was freed of it. */
static void full(void)
{
    enum { PIECES = 64 };
    struct memory memory;
    int status;
    char *p[PIECES];
    CHECK(memory_init(&memory, UINT64_C(64) << 20, 1, 1, false));
    p[0] = memory_alloc(&memory, 0, EHP_MEM_DEVICE, 100, 0, &status);
    p[1] = memory_alloc(&memory, 0, EHP_MEM_DEVICE, 5000, 0, &status);
    CHECK_EQ(p[1] - p[0], 8192); /* a page that nobody has is between */
    CHECK_EQ(memory_device(&memory, 0), UINT64_C(2) << 20);
    p[2] = memory_alloc(&memory, 0, EHP_MEM_DEVICE, (UINT64_C(2) << 20) + 1, 0, &status);
    CHECK_EQ(memory_device(&memory, 0), UINT64_C(6) << 20);
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQ(memory_free(&memory, p[i]), EHP_OK);
    for (unsigned i = 0; i < PIECES; i++) {
        p[i] = memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(1) << 20, 0, &status);
        CHECK(p[i] != NULL);
        if (!p[i])
            return;
        p[i][(1 << 20) - 1] = 1;
    }
    CHECK(!memory_alloc(&memory, 0, EHP_MEM_DEVICE, 16, 0, &status) && status == EHP_ERR_NO_MEMORY);
    CHECK_EQ(memory_free(&memory, p[7]), EHP_OK);
    p[7] = memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(1) << 20, 0, &status);
    CHECK(p[7] && p[7][(1 << 20) - 1] == 0);
    for (unsigned i = 0; i < PIECES; i++)
        CHECK_EQ(memory_free(&memory, p[i]), EHP_OK);
    CHECK_EQ(memory_reserved(&memory, 0), 0);
    memory_destroy(&memory);
}

/* Each package has as much, and its agents' memory is there. */
static void test_packages(void)
{
    struct memory memory;
    int status;
    CHECK(memory_init(&memory, UINT64_C(64) << 20, 3, 2, false));
    char *first = memory_alloc(&memory, 1, EHP_MEM_DEVICE, UINT64_C(60) << 20, 0, &status);
    CHECK(first != NULL);
    CHECK(memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(6) << 20, 0, &status) == NULL);
    CHECK_EQ(status, EHP_ERR_NO_MEMORY);
    char *second = memory_alloc(&memory, 2, EHP_MEM_DEVICE, UINT64_C(60) << 20, 0, &status);
    char *third = memory_alloc(&memory, 5, EHP_MEM_DEVICE, UINT64_C(64) << 20, 0, &status);
    CHECK(second && third);
    CHECK_EQ(memory_device(&memory, 0), UINT64_C(60) << 20);
    CHECK_EQ(memory_device(&memory, 4), UINT64_C(64) << 20);
    CHECK_EQ(memory_free(&memory, first), EHP_OK);
    CHECK_EQ(memory_reserved(&memory, 0), 0);
    CHECK_EQ(memory_device(&memory, 2), UINT64_C(60) << 20);
    memory_free(&memory, second);
    memory_free(&memory, third);
    memory_destroy(&memory);
}

/* As much in each domain, of which agents may share one. */
static void test_domains(void)
{
    struct memory memory;
    int status;
    CHECK(memory_init(&memory, UINT64_C(64) << 20, 1, 4, false));
    memory.domains = 2;
    memory.domain_of[2] = memory.domain_of[3] = 1;
    void *first = memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(30) << 20, 0, &status),
         *other = memory_alloc(&memory, 3, EHP_MEM_DEVICE, UINT64_C(20) << 20, 0, &status);
    CHECK(first && other);
    CHECK(memory_alloc(&memory, 1, EHP_MEM_DEVICE, UINT64_C(6) << 20, 0, &status) == NULL);
    CHECK_EQ(status, EHP_ERR_NO_MEMORY);
    CHECK_EQ(memory_device(&memory, 1), UINT64_C(30) << 20);
    CHECK_EQ(memory_device(&memory, 2), UINT64_C(20) << 20);
    memory_free(&memory, first);
    CHECK_EQ(memory_device(&memory, 0), 0);
    memory_free(&memory, other);
    memory_destroy(&memory);
}

int main(void)
{
    struct memory memory;
    CHECK(memory_init(&memory, UINT64_C(64) << 20, 1, 2, false));
    int status;
    char *a = memory_alloc(&memory, 0, EHP_MEM_DEVICE, 1000, 0, &status);
    CHECK(a && status == EHP_OK);
    CHECK_EQ((uintptr_t)a % 4096, 0);
    CHECK_EQ(a[999], 0);
    CHECK_EQ(memory_upfront(&memory), 4096);
    char *big = memory_alloc(&memory, 1, EHP_MEM_DEVICE, UINT64_C(60) << 20, 0, &status);
    CHECK(big != NULL);
    CHECK(memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(5) << 20, 0, &status) == NULL);
    CHECK_EQ(status, EHP_ERR_NO_MEMORY);
    void *host = memory_alloc(&memory, 0, EHP_MEM_HOST, UINT64_C(5) << 20, 0, &status);
    CHECK(host == NULL && status == EHP_ERR_NO_MEMORY); /* one physical memory for all */
    host = memory_alloc(&memory, 0, EHP_MEM_HOST, UINT64_C(1) << 20, 0, &status);
    CHECK(host != NULL);
    CHECK_EQ(memory.upfront[EHP_MEM_HOST], UINT64_C(1) << 20);
    CHECK(memory_alloc(&memory, 0, EHP_MEM_MANAGED, UINT64_C(2) << 20, 0, &status) == NULL);
    CHECK(memory_alloc(&memory, 0, EHP_MEM_DEVICE, 0, 0, &status) == NULL);
    CHECK_EQ(status, EHP_ERR_INVALID);

    struct memory_block block;
    bool inside;
    CHECK(memory_find(&memory, (uintptr_t)a + 999, &block, &inside) && inside && block.bytes == 1000);
    CHECK(memory_find(&memory, (uintptr_t)a + 1000, &block, &inside) && !inside &&
          block.base == (uintptr_t)a);
    CHECK(memory_find(&memory, (uintptr_t)big + 5, &block, &inside) && inside && block.agent == 1);

    CHECK_EQ(memory_free(&memory, a + 8), EHP_ERR_NOT_FOUND);
    CHECK_EQ(memory_free(&memory, a), EHP_OK);
    CHECK_EQ(memory_free(&memory, a), EHP_ERR_NOT_FOUND);
    CHECK_EQ(memory_free(&memory, host), EHP_OK);
    CHECK_EQ(memory_free(&memory, big), EHP_OK);
    CHECK_EQ(memory_upfront(&memory), 0);

    char *own = malloc(10000);
    CHECK_EQ(memory_register(&memory, own, 10000, false), EHP_OK);
    CHECK_EQ(memory_register(&memory, own + 5000, 10, false), EHP_ERR_INVALID);
    CHECK_EQ(memory_free(&memory, own), EHP_ERR_NOT_FOUND);
    CHECK(memory_find(&memory, (uintptr_t)own + 1, &block, &inside) && inside &&
          block.kind == EHP_MEM_REGISTERED);
    CHECK_EQ(memory_unregister(&memory, own), EHP_OK);
    CHECK_EQ(memory_unregister(&memory, own), EHP_ERR_NOT_FOUND);
    CHECK_EQ(memory_register_device(&memory, 1, own, 10000), EHP_OK);
    CHECK_EQ(memory_free(&memory, own), EHP_ERR_NOT_FOUND);
    CHECK(memory_find(&memory, (uintptr_t)own + 1, &block, &inside) && inside &&
          block.kind == EHP_MEM_DEVICE && block.agent == 1);
    CHECK_EQ(memory_upfront(&memory), ((uintptr_t)own % 4096 + 10000 + 4095) / 4096 * 4096);
    CHECK_EQ(memory_unregister(&memory, own), EHP_OK);
    CHECK_EQ(memory_upfront(&memory), 0);
    free(own);
    memory_destroy(&memory);
    arena();
    many();
    unguarded();
    many_large();
    full();
    test_packages();
    test_domains();
    return check_status();
}
