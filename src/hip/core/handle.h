/* SPDX-License-Identifier: MIT */
/*
 * Handles: the objects behind hipStream_t, hipEvent_t, hipGraph_t and so on.
 *
 * A program may pass a handle it has destroyed, or one that never was; the
 * call must then return an error and not crash.  Objects of one kind live in
 * one address range of equal slots, so that any pointer can be checked without
 * reading it; the first word of a slot says whether it is alive.
 */
#ifndef HIP_HANDLE_H
#define HIP_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hip_kind {
    HIP_KIND_STREAM,
    HIP_KIND_EVENT,
    HIP_KIND_MODULE,
    HIP_KIND_FUNCTION,
    HIP_KIND_GRAPH,
    HIP_KIND_NODE,
    HIP_KIND_EXEC,
    HIP_KIND_POOL,
    HIP_KIND_ARRAY,
    HIP_KIND_MIPMAP,
    HIP_KIND_USER_OBJECT,
    HIP_KIND_MEMORY, /* hipMemGenericAllocationHandle_t */
    HIP_KIND_RTC_PROGRAM,
    HIP_KIND_RTC_LINK,
    HIP_KINDS,
};

/* First member of every object. */
struct hip_handle {
    _Atomic uint32_t live;
    uint32_t kind;
};

/* A zeroed object of `bytes` (always the same for one kind), or NULL. */
void *hip_handle_new(enum hip_kind kind, size_t bytes);
void hip_handle_free(void *object);
/* Whether `object` is a live object of this kind.  Reads nothing outside the kind's range. */
bool hip_handle_ok(enum hip_kind kind, const void *object);

#endif
