/* SPDX-License-Identifier: MIT */
/* Allocations: capacity, lookup, and the pages around them. */
#include <stdlib.h>

#include "check.h"
#include "ehp/ehp.h"
#include "soc/memory.h"

int main(void)
{
    struct memory memory;
    memory_init(&memory, UINT64_C(64) << 20);
    int status;
    char *a = memory_alloc(&memory, 0, EHP_MEM_DEVICE, 1000, 0, &status);
    CHECK(a && status == EHP_OK);
    CHECK_EQ((uintptr_t)a % 4096, 0);
    CHECK_EQ(a[999], 0);
    CHECK_EQ(memory.used, 4096);
    char *big = memory_alloc(&memory, 1, EHP_MEM_DEVICE, UINT64_C(60) << 20, 0, &status);
    CHECK(big != NULL);
    CHECK(memory_alloc(&memory, 0, EHP_MEM_DEVICE, UINT64_C(5) << 20, 0, &status) == NULL);
    CHECK_EQ(status, EHP_ERR_NO_MEMORY);
    void *host = memory_alloc(&memory, 0, EHP_MEM_HOST, UINT64_C(5) << 20, 0, &status);
    CHECK(host != NULL); /* host memory is not what the device's capacity counts */
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
    CHECK_EQ(memory_free(&memory, big), EHP_OK);
    CHECK_EQ(memory.used, 0);

    char *own = malloc(10000);
    CHECK_EQ(memory_register(&memory, own, 10000), EHP_OK);
    CHECK_EQ(memory_register(&memory, own + 5000, 10), EHP_ERR_INVALID);
    CHECK_EQ(memory_free(&memory, own), EHP_ERR_NOT_FOUND);
    CHECK(memory_find(&memory, (uintptr_t)own + 1, &block, &inside) && inside &&
          block.kind == EHP_MEM_REGISTERED);
    CHECK_EQ(memory_unregister(&memory, own), EHP_OK);
    CHECK_EQ(memory_unregister(&memory, own), EHP_ERR_NOT_FOUND);
    free(own);
    memory_destroy(&memory);
    return check_status();
}
