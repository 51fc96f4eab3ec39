/* SPDX-License-Identifier: MIT */
/*
 * Where a physical address is.
 *
 * A page of the stack interleave (4 KiB) is on one stack, in as many chunks as
 * the stack has channels.  Which stack, and which channel has which chunk, is the
 * page's number, and each higher bit of it turned into a pattern of channel and
 * stack bits: the powers of a primitive element of GF(2^n), of which any n
 * consecutive ones are independent.  So every stride of a power of two visits all
 * channels evenly, and the mapping can be inverted: what selects within a page is
 * only ever XORed with what is above it.
 *
 * Source: ISCA'24, IV.D (4 KiB to a stack, then hashed); the hash is a guess.
 */
#include "fabric/internal.h"

#include <string.h>

#include "base/power.h"

static unsigned log2_of(uint64_t n)
{
    assert(power_of_two(n));
    return (unsigned)__builtin_ctzll(n);
}

/* Primitive polynomials over GF(2), without their highest term. */
static const uint8_t primitive[] = {0, 1, 3, 3, 3, 5, 3, 3, 0x1d};
static_assert(CHIP_MAX_CHANNELS < 1 << sizeof(primitive), "one for each number of bits");

void map_open(struct fabric_map *map, const struct chip *chip, unsigned nps)
{
    memset(map, 0, sizeof(*map));
    map->stacks = chip_get(chip, CHIP_hbm_stacks);
    map->channels = chip_get(chip, CHIP_hbm_channels);
    assert(map->stacks <= CHIP_MAX_STACKS && nps && map->stacks % nps == 0);
    map->channel_bits = log2_of(map->channels);
    map->domain_stack_bits = log2_of(map->stacks / nps);
    map->page_shift = log2_of(chip_get(chip, CHIP_hbm_interleave));
    map->chunk_shift = map->page_shift - map->channel_bits;
    assert(map->chunk_shift >= 7);
    map->bytes = (uint64_t)chip->value[CHIP_hbm_stack_size] * map->stacks;
    map->domain_bytes = map->bytes / nps;
    unsigned stack = 0, iods = chip_get(chip, CHIP_iod_count);
    for (unsigned i = 0; i < iods; i++) {
        map->first_slice[i] = stack * map->channels;
        map->slices[i] = chip->iod[i].hbm_stacks * map->channels;
        for (unsigned k = 0; k < chip->iod[i].hbm_stacks; k++)
            map->iod_of[stack++] = (uint8_t)i;
    }

    unsigned bits = map->channel_bits + map->domain_stack_bits;
    assert(bits && bits < sizeof(primitive));
    unsigned element = 1;
    for (unsigned bit = 0; bit < 8 * MAP_BYTES; bit++) {
        unsigned pattern;
        if (bit < map->domain_stack_bits) /* these select the stack; here, only the channel moves with them */
            pattern = 1U << bit % map->channel_bits;
        else {
            pattern = element;
            unsigned carry = element >> (bits - 1) & 1 ? primitive[bits] : 0U;
            element = (element << 1 & ((1U << bits) - 1)) ^ carry;
        }
        for (unsigned value = 0; value < 256; value++)
            if (value >> bit % 8 & 1)
                map->hash[bit / 8][value] ^= (uint8_t)pattern;
    }
}

void map_find(const struct fabric_map *map, uint64_t physical, unsigned *slice, uint32_t *line)
{
    uint64_t domain = 0, within = physical;
    if (physical >= map->domain_bytes) { /* not always: a division takes its time */
        domain = physical / map->domain_bytes % (map->bytes / map->domain_bytes);
        within = physical % map->domain_bytes;
    }
    uint64_t page = within >> map->page_shift;
    unsigned hash = 0;
    for (unsigned i = 0; page >> 8 * i; i++)
        hash ^= map->hash[i][page >> 8 * i & 0xff];
    unsigned stacks = 1U << map->domain_stack_bits;
    unsigned stack = (unsigned)((page ^ hash >> map->channel_bits) & (stacks - 1));
    unsigned channel = (unsigned)((within >> map->chunk_shift ^ hash) & (map->channels - 1));
    *slice = ((unsigned)domain * stacks + stack) * map->channels + channel;
    unsigned line_bits = map->chunk_shift - 7;
    *line =
        (uint32_t)((page >> map->domain_stack_bits) << line_bits | (within >> 7 & ((1U << line_bits) - 1)));
}
