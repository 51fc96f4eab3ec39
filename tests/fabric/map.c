/* SPDX-License-Identifier: MIT */
/* Addresses: one place for each, and every channel its share of what strides touch. */
#include "fabric/internal.h"

#include <stdlib.h>

#include "check.h"
#include "chip/chip.h"

enum { LINE = FABRIC_LINE };

/* A stretch of lines, and single lines all over the memory: no two in one place. */
static void test_bijection(const struct fabric_map *map)
{
    enum { PAGES = 4096 };
    uint64_t page = UINT64_C(1) << map->page_shift, slices = map->stacks * map->channels;
    uint64_t domain = map->domain_bytes / page, stacks = UINT64_C(1) << map->domain_stack_bits;
    for (uint64_t first = 0; first < domain - PAGES; first += domain / 7 / PAGES * PAGES) {
        /* These pages are the same lines of all of the domain's channels. */
        uint64_t lines = PAGES / stacks * (page / map->channels / LINE),
                 base = first / stacks * (page / map->channels / LINE);
        uint8_t *seen = calloc(slices, lines);
        for (uint64_t at = first * page; at < (first + PAGES) * page; at += LINE) {
            unsigned slice;
            uint32_t line;
            map_find(map, at, &slice, &line);
            if (!CHECK(slice < slices && line >= base && line < base + lines))
                break;
            CHECK(seen[slice * lines + line - base]++ == 0);
        }
        free(seen);
    }
}

static void test_stacks(const struct fabric_map *map)
{
    for (uint64_t page = 0; page < 1000; page++) {
        unsigned first = 0, slice;
        uint32_t line;
        unsigned channels = 0;
        for (uint64_t at = 0; at < 4096; at += LINE) {
            map_find(map, page * 4096 + at, &slice, &line);
            if (!at)
                first = slice / map->channels;
            CHECK_EQ(slice / map->channels, first); /* one stack has a page */
            channels |= 1U << slice % map->channels;
        }
        CHECK_EQ(channels, (1U << map->channels) - 1); /* and all of its channels */
    }
}

/* The busiest channel's share of `count` lines at a stride, in units of the fair share. */
static double imbalance(const struct fabric_map *map, uint64_t stride, unsigned count)
{
    static unsigned lines[CHIP_MAX_STACKS * 64];
    memset(lines, 0, sizeof(lines));
    unsigned most = 0;
    for (uint64_t i = 0; i < count; i++) {
        unsigned slice;
        uint32_t line;
        map_find(map, i * stride, &slice, &line);
        lines[slice]++;
        most = lines[slice] > most ? lines[slice] : most;
    }
    return (double)most * map->stacks * map->channels / count;
}

static void test_balance(const struct fabric_map *map)
{
    for (uint64_t stride = 256; stride <= 64 << 20; stride *= 2)
        CHECK(imbalance(map, stride, 1 << 12) == 1); /* powers of two: exactly */
    /* Rows of matrices, and odd numbers of lines: never far from even. */
    unsigned strides = 0, bad = 0;
    double worst = 0;
    for (uint64_t stride = 128; stride < 300000; stride += 128 * 7, strides++) {
        double share = imbalance(map, stride, 1 << 13);
        bad += share > 1.7;
        worst = share > worst ? share : worst;
    }
    printf("of %u strides, %u load a channel with more than 1.7 times its share; at worst %.2f times\n",
           strides, bad, worst);
    CHECK(bad * 20 < strides);
}

int main(void)
{
    static const char *const chips[] = {"mi300a", "mi300x"};
    for (unsigned c = 0; c < 2; c++) {
        struct chip chip;
        char error[256];
        if (!CHECK(chip_load(chips[c], &chip, error, sizeof(error)) == 0))
            return check_status();
        struct fabric_map map;
        map_open(&map, &chip, 1);
        test_bijection(&map);
        test_stacks(&map);
        test_balance(&map);
        map_open(&map, &chip, 4);
        test_bijection(&map);
        /* With four domains, each has an IOD's stacks, and they follow each other. */
        for (uint64_t i = 0; i < 4000; i++) {
            unsigned slice;
            uint32_t line;
            uint64_t at = i * 4096 * 7919 % map.domain_bytes;
            map_find(&map, at + i % 4 * map.domain_bytes, &slice, &line);
            CHECK_EQ(map.iod_of[slice / map.channels], i % 4);
        }
        chip_free(&chip);
    }
    return check_status();
}
