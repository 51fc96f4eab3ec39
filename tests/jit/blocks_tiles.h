/* SPDX-License-Identifier: MIT */
/*
 * Random accesses of LDS as tiles have them: at places that follow from work-item ids, which go up from lane
 * to lane in rows, and from a scalar that moves some of them over others.
 */
#ifndef EHP_TESTS_JIT_BLOCKS_TILES_H
#define EHP_TESTS_JIT_BLOCKS_TILES_H

#include "blocks_make.h"

enum {
    TILE_V = 256,
    TILE_NUMBER = 128, /* an operand that is 0, the next one 1 */
    TILE_X = 20,
    TILE_Y = 21,
    TILE_PLACE = 24, /* of x and y; the same moved by a scalar; of y */
    TILE_PLACES = 3,
};

static inline void tiles_add(struct program *p, uint32_t first, uint32_t second)
{
    p->unit[p->count++] = (struct unit){.words = {first, second}, .size = 8};
}

static inline void tiles_add_short(struct program *p, uint32_t word)
{
    p->unit[p->count++] = (struct unit){.words = {word}, .size = 4};
}

static inline void tiles_find_places(struct program *p)
{
    const uint32_t by = TILE_NUMBER + 2 + below(3), row = TILE_NUMBER + 2 + below(7);
    tiles_add(p, 0x260000ff | TILE_X << 17, 0x3ff); /* v_and_b32, v_bfe_u32 */
    tiles_add(p, 0xd1c80000 | TILE_Y, TILE_V | (TILE_NUMBER + 10) << 9 | (TILE_NUMBER + 10) << 18);
    tiles_add_short(p, 0x24000000 | TILE_PLACE << 17 | TILE_X << 9 | by); /* v_lshlrev_b32 */
    if (below(2))                                                         /* v_lshl_add_u32 */
        tiles_add(p, 0xd1fd0000 | TILE_PLACE,
                  (TILE_V + TILE_Y) | row << 9 | (uint32_t)(TILE_V + TILE_PLACE) << 18);
    /* v_add_u32, v_lshlrev_b32 */
    tiles_add_short(p, 0x68000000 | (TILE_PLACE + 1) << 17 | TILE_PLACE << 9 | (SREG_KEPT + 2 + below(4)));
    tiles_add_short(p, 0x24000000 | (TILE_PLACE + 2) << 17 | TILE_Y << 9 | row);
}

static inline void tiles_access(struct program *p)
{
    static const uint8_t reads[] = {54, 54, 55, 56, 58, 60, 118, 119, 254, 255},
                         writes[] = {13, 13, 14, 14, 15, 30, 31, 77, 78, 222, 223};
    const bool write = below(2);
    const uint32_t op = write ? writes[below(sizeof writes)] : reads[below(sizeof reads)];
    const bool two = op == 14 || op == 15 || op == 55 || op == 56 || op == 78 || op == 119;
    const uint32_t far = below(4) ? 4 * below(64) : 128 * below(32), offset = two ? below(64) | below(256)
                                                                                                    << 8
                                                                              : below(8) ? far
                                                                                         : below(0x10000);
    const uint32_t data = 2 * below(8) | 2 * below(8) << 8, to = 2 * below(8);
    tiles_add(p, 0xd8000000 | op << 17 | offset,
              (TILE_PLACE + below(TILE_PLACES)) | (write ? data << 8 : to << 24));
}

static inline void program_make_tiles(struct program *p)
{
    *p = (struct program){.rows = UINT32_MAX, .theme = "", .even = below(4) != 0};
    tiles_find_places(p);
    if (below(4))
        tiles_add_short(p, word_of(ISA_OP_s_cbranch_scc0)); /* to what follows, which begins a stretch */
    for (unsigned i = 2 + below(8); i; i--) {
        tiles_access(p);
        if (below(2)) /* v_fma_f32 */
            tiles_add(p, 0xd1cb0000 | below(16),
                      (TILE_V + below(16)) | (TILE_V + below(16)) << 9 | (TILE_V + below(16)) << 18);
        if (below(8) == 0) /* it goes on */
            tiles_add_short(p, 0x68000000 | (TILE_PLACE + 1) << 17 | (TILE_PLACE + 1) << 9 |
                                   (TILE_NUMBER + 4 * below(8)));
        if (below(8) == 0)
            choose_even_access(p, &p->unit[p->count++]);
    }
}

#endif
