/* SPDX-License-Identifier: MIT */
/* See hash.h: the steps of Austin Appleby's MurmurHash3_x64_128 (public domain). */
#include "base/hash.h"

#include <string.h>

enum { BLOCK = 16 };

static uint64_t turn(uint64_t n, unsigned by)
{
    return n << by | n >> (64 - by);
}

static uint64_t finish(uint64_t n)
{
    n = (n ^ n >> 33) * 0xff51afd7ed558ccd;
    n = (n ^ n >> 33) * 0xc4ceb9fe1a85ec53;
    return n ^ n >> 33;
}

static void add_block(struct hash *h, const uint64_t block[2])
{
    static const uint64_t c[2] = {0x87c37b91114253d5, 0x4cf5ad432745937f};
    h->word[0] ^= turn(block[0] * c[0], 31) * c[1];
    h->word[0] = (turn(h->word[0], 27) + h->word[1]) * 5 + 0x52dce729;
    h->word[1] ^= turn(block[1] * c[1], 33) * c[0];
    h->word[1] = (turn(h->word[1], 31) + h->word[0]) * 5 + 0x38495ab5;
}

struct hash hash_bytes(struct hash h, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t block[2];
    size_t left = size;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK) {
        memcpy(block, at, BLOCK);
        add_block(&h, block);
    }
    memset(block, 0, sizeof(block));
    if (left)
        memcpy(block, at, left);
    add_block(&h, block);
    h.word[0] ^= size;
    h.word[1] ^= size;
    h.word[0] += h.word[1];
    h.word[1] += h.word[0];
    h.word[0] = finish(h.word[0]);
    h.word[1] = finish(h.word[1]);
    h.word[0] += h.word[1];
    h.word[1] += h.word[0];
    return h;
}
