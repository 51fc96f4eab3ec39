/* SPDX-License-Identifier: MIT */
/* What is guessed of addresses: of lanes' numbers, with scalars, and from memory. */
#include "jit/guess.h"

#include <stdlib.h>

#include "../check.h"
#include "isa/isa.h"

enum { MBCNT = 24, V = 256, ZERO = 128, ONES = 193 };
static const uint32_t code[] = {
    0xd28c0000 | MBCNT, ONES | ZERO << 9,        /* v_mbcnt_lo_u32_b32 v24, -1, 0 */
    0xd28d0000 | MBCNT, ONES | (V + MBCNT) << 9, /* v_mbcnt_hi_u32_b32 v24, -1, v24 */
    0x24303082,                                  /* v_lshlrev_b32 v24, 2, v24 */
    0x2a303084,                                  /* v_xor_b32 v24, 4, v24 */
    0xd87e0000,         0x01000218,              /* 4: ds_bpermute_b32 v1, v24, v2 */
    0x24060082,                                  /* v_lshlrev_b32 v3, 2, v0 */
    0x680a0600,                                  /* v_add_u32 v5, s0, v3 */
    0xd86c0000,         0x06000005,              /* 7: ds_read_b32 v6, v5 */
    0xdc508000,         0x077f0008,              /* 8: global_load_dword v7, v[8:9], off */
    0x24140e82,                                  /* v_lshlrev_b32 v10, 2, v7 */
    0xdc508000,         0x0b00000a,              /* 10: global_load_dword v11, v10, s[0:1] */
    0xd87e0000,         0x0c00020a,              /* 11: ds_bpermute_b32 v12, v10, v2 */
    0xbf810000,                                  /* s_endpgm */
};

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context, (void)pc;
    *start = (uint64_t)(uintptr_t)code;
    *end = *start + sizeof(code);
    return true;
}

int main(void)
{
    struct exec_code translated;
    struct exec_code_cache cache = {0};
    exec_code_init(&translated, &isa_gfx942, bounds, NULL);
    translated.level = exec_code_level();
    const struct xinst *x = exec_code_find(&translated, &cache, (uint64_t)(uintptr_t)code);
    if (!x || translated.count != 1 || translated.blocks[0]->count != 13)
        return 1;
    struct guess *guess = guess_find(translated.blocks[0]);
    uint32_t step;

    const uint32_t *lanes = guess_lanes(guess, x + 4); /* turned over two by two */
    CHECK(lanes != NULL);
    for (uint32_t lane = 0; lanes && lane < WAVE_LANES; lane++)
        CHECK_EQ(lanes[lane], 4 * (lane ^ 1));
    CHECK(!guess_step(guess, x + 4, &step) && !guess_scatters(guess, x + 4));

    CHECK(guess_step(guess, x + 7, &step) && step == 4); /* a scalar moves them all */
    CHECK(!guess_lanes(guess, x + 7) && !guess_scatters(guess, x + 7));

    CHECK(!guess_step(guess, x + 8, &step)); /* anything, but not from memory */
    CHECK(!guess_lanes(guess, x + 8) && !guess_scatters(guess, x + 8));

    for (unsigned i = 10; i < 12; i++) { /* from memory */
        CHECK(guess_scatters(guess, x + i));
        CHECK(!guess_lanes(guess, x + i) && !guess_step(guess, x + i, &step));
    }
    CHECK(!guess_lanes(guess, x + 5) && !guess_step(guess, x + 5, &step)); /* no access */

    /* Lanes access 256 bytes, from some scalar on; the others' are near 0. */
    CHECK(guess_meets(guess, x + 7, 0, 4, x + 7, 0, 4, false));
    CHECK(!guess_meets(guess, x + 7, 0, 4, x + 7, 0, 4, true));
    CHECK(guess_meets(guess, x + 7, 0, 4, x + 7, 252, 256, false));
    CHECK(!guess_meets(guess, x + 7, 0, 4, x + 7, 256, 260, false));
    CHECK(!guess_meets(guess, x + 7, 256, 260, x + 7, 0, 4, false));
    CHECK(guess_meets(guess, x + 7, 0, 4, x + 7, 128, 132, false));
    CHECK(guess_meets(guess, x + 4, 0, 4, x + 4, 252, 256, false));
    CHECK(!guess_meets(guess, x + 4, 0, 4, x + 7, 0, 4, false));
    CHECK(guess_meets(guess, x + 4, 0, 4, x + 5, 0, 4, true)); /* no access: who knows */
    free(guess);
    exec_code_destroy(&translated);
    return check_status();
}
