/* SPDX-License-Identifier: MIT */
/* The register file: waves have the rows that their code names, and all of them when they call more. */
#include <stdlib.h>
#include <string.h>

#include "../../check.h"
#include "exec/code.h"
#include "wave/fault.h"
#include "exec/workgroup.h"

enum { WAVES = 4, CALLER = 4 /* rows of it */, WORDS = 4 };

/* Two functions, one behind the other. */
static const uint32_t caller[WORDS] = {
    0x7e060300, /* v_mov_b32 v3, v0 */
    0xbe861e04, /* s_swappc_b64 s[6:7], s[4:5] */
    0xbf810000, /* s_endpgm */
};
static const uint32_t few[WORDS] = {
    0x7e040303, /* v_mov_b32 v2, v3 */
    0xbe801d06, /* s_setpc_b64 s[6:7] */
};
static const uint32_t many[WORDS] = {
    0x7f900303, /* v_mov_b32 v200, v3 */
    0x7e0403c8, /* v_mov_b32 v2, v200 */
    0xbe801d06, /* s_setpc_b64 s[6:7] */
};

static uint32_t words[2 * WORDS];

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context;
    uint64_t first = (uint64_t)(uintptr_t)words;
    *start = first + (pc - first) / sizeof(caller) * sizeof(caller);
    *end = *start + sizeof(caller);
    return true;
}

/* Every wave comes back with its own ids, and has as many rows as said. */
static struct workgroup *check_call(struct workgroup *wg, const uint32_t callee[WORDS], unsigned agprs,
                                    unsigned rows, struct arena *arena)
{
    const unsigned first = agprs ? WAVE_ACC + agprs : CALLER;
    static const _Atomic bool stop;
    static struct exec_code code;
    static struct exec_code_cache cache;
    memcpy(words, caller, sizeof(caller));
    memcpy(words + WORDS, callee, sizeof(caller));
    exec_code_init(&code, &isa_gfx942, bounds, NULL);
    cache = (struct exec_code_cache){0};
    struct wave_guard guard = {.code = &code, .cache = &cache};
    uint64_t entry = (uint64_t)(uintptr_t)words, target = entry + sizeof(caller);
    struct exec_launch launch = {.entry = exec_code_find(&code, &cache, entry),
                                 .rows = exec_code_rows(&cache, entry),
                                 .sgprs = {[4] = (uint32_t)target, [5] = (uint32_t)(target >> 32)},
                                 .id_sgpr = {-1, -1, -1},
                                 .info_sgpr = -1,
                                 .mode = MODE_FLOAT_PLAIN,
                                 .vgprs = CALLER,
                                 .agprs = agprs,
                                 .items = {WAVES * WAVE_LANES, 1, 1},
                                 .grid = {WAVES * WAVE_LANES, 1, 1},
                                 .groups = {1, 1, 1},
                                 .id_dims = 1,
                                 .waves = WAVES};
    CHECK(launch.rows == CALLER);
    CHECK(launch_make_ids(&launch));
    wg = workgroup_start(wg, &launch, 0, arena);
    CHECK(wg->wave[1].v - wg->wave[0].v == (int)((WAVE_TEMPS + first) | 1));
    for (unsigned i = 0; i < WAVES; i++)
        CHECK(wg->wave[i].rows == first);
    CHECK(workgroup_run(wg, &guard, &stop, false) == WORKGROUP_DONE);
    unsigned wrong = 0;
    for (unsigned i = 0; i < WAVES; i++) {
        CHECK(wg->wave[i].rows == rows);
        for (unsigned l = 0; l < WAVE_LANES; l++)
            wrong += wg->wave[i].v[0][l] != i * WAVE_LANES + l || wg->wave[i].v[2][l] != i * WAVE_LANES + l ||
                     wg->wave[i].v[3][l] != i * WAVE_LANES + l;
    }
    CHECK(wrong == 0);
    free(launch.v0);
    exec_code_destroy(&code);
    return wg;
}

/* What a function of this instruction alone names: each operand to its last register. */
static const struct {
    uint32_t words[2];
    unsigned rows;
} named[] = {
    {{0xdc5c8000, 0x067f0002}, 10},            /* global_load_dwordx4 v[6:9], v[2:3], off */
    {{0xdc7c8000, 0x007f3200}, 54},            /* global_store_dwordx4 v[0:1], v[50:53], off */
    {{0xdc586000, 0x647f0001}, 103},           /* scratch_load_dwordx3 v[100:102], v1, off */
    {{0xe1841000, 0x80010401}, 8},             /* buffer_atomic_cmpswap_x2 v[4:7], v1, s[4:7], 0 offen */
    {{0xd9fe0000, 0x0a000001}, 14},            /* ds_read_b128 v[10:13], v1 */
    {{0xd89c0000, 0x003c0200}, 62},            /* ds_write2_b64 v0, v[2:3], v[60:61] */
    {{0xd3cc8000, 0x04020500}, WAVE_ACC + 16}, /* v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] */
    {{0xd3ee0008, 0x04420500}, 24},            /* v_mfma_f64_16x16x4_f64 v[8:15], v[0:1], v[2:3], v[16:23] */
    {{0xd3d94009, 0x18000103}, WAVE_ACC + 10}, /* v_accvgpr_write_b32 a9, v3 */
    {{0xd1cc0000, 0x04120514}, 22},            /* v_fma_f64 v[0:1], v[20:21], v[2:3], v[4:5] */
    {{0xd1e8005a, 0x04120501}, 92},            /* v_mad_u64_u32 v[90:91], s[0:1], v1, v2, v[4:5] */
    {{0x680204fa, 0xff00e41e}, 31},            /* v_add_u32_dpp v1, v30, v2 quad_perm:[0,1,2,3] */
    {{0x680204f9, 0x06051628}, 41},            /* v_add_u32_sdwa v1, v40, v2 src0_sel:WORD_1 */
    {{0x7cc40546, 0xbf810000}, 72},            /* v_cmp_eq_f64_e32 vcc, v[70:71], v[2:3] */
    {{0x7ea0a302, 0xbf810000}, 81},            /* v_swap_b32 v80, v2 */
    {{0xbee40005, 0xbf810000}, 0},             /* s_mov_b32 s100, s5 */
};

static void check_named(void)
{
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        struct exec_code code;
        struct exec_code_cache cache = {0};
        uint64_t entry = (uint64_t)(uintptr_t)words;
        memcpy(words, named[i].words, sizeof(named[i].words));
        words[2] = words[3] = 0xbf810000; /* s_endpgm */
        exec_code_init(&code, &isa_gfx942, bounds, NULL);
        CHECK(exec_code_find(&code, &cache, entry) != NULL);
        CHECK_EQ(exec_code_rows(&cache, entry), named[i].rows);
        exec_code_destroy(&code);
    }
}

int main(void)
{
    check_named();
    struct arena arena = {0};
    struct workgroup *own = NULL, *there = NULL;
    for (unsigned turn = 0; turn < 3; turn++) {
        own = check_call(own, few, 0, CALLER, NULL);
        own = check_call(own, many, 0, WAVE_ROWS, NULL);
        own = check_call(own, few, 8, WAVE_ACC + 8, NULL);
        there = check_call(there, many, 0, WAVE_ROWS, &arena);
        there = check_call(there, few, 0, CALLER, &arena);
        there = check_call(there, many, 8, WAVE_ACC + 8, &arena); /* v200 is below those */
    }
    workgroup_free(own);
    workgroup_free(there);
    arena_free(&arena);
    return check_status();
}
