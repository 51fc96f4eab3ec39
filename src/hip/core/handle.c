/* SPDX-License-Identifier: MIT */
/* Slots of equal size in one reserved address range for each kind of handle. */
#include "hip/core/handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* Leak checkers look for pointers in memory of malloc() and in globals: tell them of the handles. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#define handle_root(slot, bytes) __lsan_register_root_region(slot, bytes)
#else
#define handle_root(slot, bytes) (void)(slot)
#endif

#define HANDLE_LIVE  UINT32_C(0x48495021)
#define HANDLE_KEPT  1024              /* freed ones that wait, so that their use is seen for what it is */
#define HANDLE_RANGE ((size_t)1 << 30) /* address space only: pages appear when touched */

struct handle_slot;

struct handle_range {
    pthread_mutex_t lock;
    char *_Atomic base;
    size_t stride;
    _Atomic size_t used; /* bytes */
    /* Those to use again, the one that was freed first at the head: a list through the word after the handle.
     */
    struct handle_slot *free, **free_end;
    size_t free_count;
};

struct handle_slot {
    struct hip_handle head;
    struct handle_slot *next;
};

static struct handle_range *handle_range(enum hip_kind kind)
{
    static struct handle_range ranges[HIP_KINDS] = {
        [0 ... HIP_KINDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER},
    };
    return &ranges[kind];
}

void *hip_handle_new(enum hip_kind kind, size_t bytes)
{
    struct handle_range *range = handle_range(kind);
    size_t stride = (bytes + 63) & ~(size_t)63;
    struct handle_slot *slot = NULL;

    pthread_mutex_lock(&range->lock);
    char *base = atomic_load(&range->base);
    if (!base) {
        void *map = mmap(NULL, HANDLE_RANGE, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map != MAP_FAILED) {
            base = map;
            range->stride = stride;
            atomic_store(&range->base, base);
        }
    }
    if (range->free_count > HANDLE_KEPT || (range->free && range->used + stride > HANDLE_RANGE)) {
        slot = range->free;
        range->free = slot->next;
        range->free_count--;
    } else if (base && range->used + stride <= HANDLE_RANGE) {
        slot = (struct handle_slot *)(void *)(base + range->used);
        range->used += stride;
        handle_root(slot, stride);
    }
    pthread_mutex_unlock(&range->lock);
    if (!slot)
        return NULL;
    memset((void *)slot, 0, stride);
    slot->head.kind = (uint32_t)kind;
    atomic_store_explicit(&slot->head.live, HANDLE_LIVE, memory_order_release);
    return slot;
}

void hip_handle_free(void *object)
{
    struct handle_slot *slot = object;
    struct handle_range *range = handle_range((enum hip_kind)slot->head.kind);

    atomic_store_explicit(&slot->head.live, 0, memory_order_release);
    pthread_mutex_lock(&range->lock);
    slot->next = NULL;
    if (!range->free)
        range->free_end = &range->free;
    *range->free_end = slot;
    range->free_end = &slot->next;
    range->free_count++;
    pthread_mutex_unlock(&range->lock);
}

bool hip_handle_ok(enum hip_kind kind, const void *object)
{
    struct handle_range *range = handle_range(kind);
    const char *base = atomic_load_explicit(&range->base, memory_order_acquire);
    uintptr_t at = (uintptr_t)object;

    if (!base || at < (uintptr_t)base || at - (uintptr_t)base >= range->used ||
        (at - (uintptr_t)base) % range->stride != 0)
        return false;
    const struct hip_handle *head = object;
    return atomic_load_explicit(&head->live, memory_order_acquire) == HANDLE_LIVE;
}
