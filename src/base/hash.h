/* SPDX-License-Identifier: MIT */
/* A hash of 128 bits for names and checksums; it does not resist who looks for collisions. */
#ifndef EHP_BASE_HASH_H
#define EHP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct hash {
    uint64_t word[2];
};

/* Of bytes that follow those of `before`; {0} before the first. One block of 16 bytes that differs, at the
 * same place, always gives another hash. */
struct hash hash_bytes(struct hash before, const void *bytes, size_t size);

#endif
