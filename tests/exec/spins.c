/* SPDX-License-Identifier: MIT */
/* Loops that wait for memory give way to other workgroups; those that compute do not. */
#include <stdlib.h>

#include "../check.h"
#include "exec/code.h"
#include "exec/workgroup.h"
#include "wave/fault.h"
#include "wave/gws.h"

enum { TURNS = 200000 };

static uint32_t code[] = {
    0xd87e0000, 0x01000100, /* the instruction that is tried */
    0x80808100,             /* s_sub_u32 s0, s0, 1 */
    0xbf078000,             /* s_cmp_lg_u32 s0, 0 */
    0xbf85fffb,             /* s_cbranch_scc1: to the first */
    0xbf810000,             /* s_endpgm */
};

/* ---- what a machine provides to waves ---- */

void wave_interrupt(struct wave *w)
{
    (void)w;
}

bool wave_may_access(struct wave *w, uint64_t address, unsigned bytes)
{
    (void)w, (void)address, (void)bytes;
    return false;
}

uint64_t wave_clock(const struct wave *w)
{
    (void)w;
    return 0;
}

uint64_t wave_realtime(const struct wave *w)
{
    (void)w;
    return 0;
}

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context, (void)pc;
    *start = (uint64_t)(uintptr_t)code;
    *end = *start + sizeof(code);
    return true;
}

/* How often the only wave gives way as one that waits, before its loop ends. */
static unsigned waits(uint32_t low, uint32_t high)
{
    static const _Atomic bool stop;
    struct exec_code all;
    struct exec_code_cache cache = {0};
    struct wave_guard guard = {0};
    struct gws gws[GWS_RESOURCES] = {0};
    code[0] = low;
    code[1] = high;
    exec_code_init(&all, &isa_gfx942, bounds, NULL);
    all.level = 2;
    struct fault_thread *thread = fault_thread_enter(&guard);
    guard.code = &all;
    guard.cache = &cache;
    struct exec_launch launch = {.entry = exec_code_find(&all, &cache, (uint64_t)(uintptr_t)code),
                                 .rows = 8,
                                 .id_sgpr = {-1, -1, -1},
                                 .info_sgpr = -1,
                                 .mode = MODE_FLOAT_PLAIN,
                                 .vgprs = 8,
                                 .lds_bytes = 512,
                                 .items = {WAVE_LANES, 1, 1},
                                 .grid = {WAVE_LANES, 1, 1},
                                 .groups = {1, 1, 1},
                                 .id_dims = 1,
                                 .waves = 1,
                                 .gws = gws,
                                 .sgprs = {TURNS}};
    unsigned count = 0;
    if (!launch.entry || !launch_make_ids(&launch))
        abort();
    struct workgroup *wg = workgroup_start(NULL, &launch, 0, NULL);
    enum workgroup_result result;
    while ((result = workgroup_run(wg, &guard, &stop, false)) != WORKGROUP_DONE && result != WORKGROUP_FAULT)
        count += result == WORKGROUP_WAITING;
    CHECK_EQ(result, WORKGROUP_DONE);
    workgroup_free(wg);
    free(launch.v0);
    fault_thread_leave(thread);
    exec_code_destroy(&all);
    return count;
}

int main(void)
{
    CHECK(waits(0xd86c0000, 0x01000000) > 0);   /* ds_read_b32 v1, v0: the same again and again */
    CHECK_EQ(waits(0xd87e0000, 0x01000100), 0); /* ds_bpermute_b32 v1, v0, v1: has nobody to wait for */
    CHECK_EQ(waits(0xbf800000, 0xbf800000), 0); /* s_nop */
    return check_status();
}
