/* SPDX-License-Identifier: MIT */
/*
 * Loops that wait for memory give way to other workgroups; those that compute do not.  What loops execute
 * heats their function, however few instructions that has, and however few turns a wave has; what is called
 * is heated by each call.
 */
#include <stdlib.h>

#include "../check.h"
#include "exec/code.h"
#include "exec/workgroup.h"
#include "wave/fault.h"
#include "wave/gws.h"
#include "no_machine.h"

enum { TURNS = 200000 };

static uint32_t code[] = {
    0xd87e0000, 0x01000100, /* the instruction that is tried */
    0x80808100,             /* s_sub_u32 s0, s0, 1 */
    0xbf078000,             /* s_cmp_lg_u32 s0, 0 */
    0xbf85fffb,             /* s_cbranch_scc1: to the first */
    0xbf810000,             /* s_endpgm */
};

/* A function that calls another, at s[2:3], as often as s0 says. */
static const uint32_t calls[] = {
    0xbe861e02, /* s_swappc_b64 s[6:7], s[2:3] */
    0x80808100, /* s_sub_u32 s0, s0, 1 */
    0xbf078000, /* s_cmp_lg_u32 s0, 0 */
    0xbf85fffc, /* s_cbranch_scc1: to the first */
    0xbf810000, /* s_endpgm */
};
static const uint32_t called[] = {
    0xbf800000,
    0xbf800000,
    0xbf800000, /* s_nop */
    0xbe801d06, /* s_setpc_b64 s[6:7] */
};
enum { CALLS = sizeof(calls) / sizeof(calls[0]), CALLED = sizeof(called) / sizeof(called[0]) };

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context;
    const struct {
        const uint32_t *start;
        size_t size;
    } functions[] = {{code, sizeof(code)}, {calls, sizeof(calls)}, {called, sizeof(called)}};
    for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        *start = (uint64_t)(uintptr_t)functions[i].start;
        *end = *start + functions[i].size;
        if (pc >= *start && pc < *end)
            return true;
    }
    return false;
}

/* A function, and a workgroup of one wave that executes it. */
struct rig {
    struct exec_code all;
    struct exec_code_cache cache;
    struct wave_guard guard;
    struct gws gws[GWS_RESOURCES];
    struct exec_launch launch;
    struct fault_thread *thread;
    struct workgroup *wg;
};

static void rig_open(struct rig *r, struct exec_compiler *compiler, const uint32_t *first, uint32_t turns)
{
    const uint64_t callee = (uint64_t)(uintptr_t)called;
    *r = (struct rig){0};
    exec_code_init(&r->all, &isa_gfx942, bounds, NULL);
    r->all.level = 2;
    r->all.compiler = compiler;
    r->thread = fault_thread_enter(&r->guard);
    r->guard.code = &r->all;
    r->guard.cache = &r->cache;
    r->launch = (struct exec_launch){.entry = exec_code_find(&r->all, &r->cache, (uint64_t)(uintptr_t)first),
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
                                     .gws = r->gws,
                                     .sgprs = {turns, 0, (uint32_t)callee, (uint32_t)(callee >> 32)}};
    if (!r->launch.entry || !launch_make_ids(&r->launch))
        abort();
    r->wg = workgroup_start(NULL, &r->launch, 0, NULL);
}

static void rig_close(struct rig *r)
{
    workgroup_free(r->wg);
    free(r->launch.v0);
    fault_thread_leave(r->thread);
    exec_code_destroy(&r->all);
}

/* Runs the wave to its end; how often it gives way as one that waits. */
static unsigned run(struct rig *r)
{
    static const _Atomic bool stop;
    enum workgroup_result result;
    unsigned count = 0;
    while ((result = workgroup_run(r->wg, &r->guard, &stop, false)) != WORKGROUP_DONE &&
           result != WORKGROUP_FAULT)
        count += result == WORKGROUP_WAITING;
    CHECK_EQ(result, WORKGROUP_DONE);
    return count;
}

/* How often the only wave gives way as one that waits, before its loop ends. */
static unsigned waits(uint32_t low, uint32_t high)
{
    struct rig r;
    code[0] = low;
    code[1] = high;
    rig_open(&r, NULL, code, TURNS);
    const unsigned count = run(&r);
    rig_close(&r);
    return count;
}

/* ---- heat ---- */

enum { WARM = 10000, HOT = 1000000 };

static struct {
    const uint32_t *function;
    uint64_t executed, warm, hot; /* instructions: so far; when it was first asked for, and to be compiled */
} heat;

static void ask(struct exec_compiler *compiler, struct exec_block *block, enum exec_form form, bool hot)
{
    (void)compiler;
    CHECK(form == EXEC_WHOLE);
    if (block->start != (uint64_t)(uintptr_t)heat.function)
        return;
    uint64_t *when = hot ? &heat.hot : &heat.warm;
    CHECK_EQ(*when, 0);
    *when = heat.executed;
}

static void forget(struct exec_compiler *compiler, struct exec_block *block)
{
    (void)compiler, (void)block;
}

static bool is_about(uint64_t executed, uint64_t want, uint64_t wave)
{
    return executed + wave >= want / 2 && executed <= 2 * want + wave;
}

/* A function is asked for when about as much of it was executed as it is to be. */
static void test_heat(uint32_t turns)
{
    struct exec_compiler compiler = {
        .warm = {WARM, WARM, WARM}, .hot = {HOT, HOT, HOT}, .ask = ask, .forget = forget};
    const uint64_t wave = 5 * (uint64_t)turns + 1;
    struct rig r;
    code[0] = code[1] = 0xbf800000; /* s_nop */
    memset(&heat, 0, sizeof(heat));
    heat.function = code;
    rig_open(&r, &compiler, code, turns);
    while (!heat.hot && heat.executed < 8 * HOT) {
        run(&r);
        heat.executed += wave;
        workgroup_start_again(r.wg, 0);
    }
    rig_close(&r);
    if (!CHECK(is_about(heat.warm, WARM, wave) && is_about(heat.hot, HOT, wave)))
        fprintf(stderr, "%u turns: warm after %" PRIu64 ", hot after %" PRIu64 "\n", turns, heat.warm,
                heat.hot);
}

/* So is one that is called, and one that calls, each by what is executed of it; one wave makes all calls. */
static void test_calls(const uint32_t *function, uint64_t instructions)
{
    struct exec_compiler compiler = {
        .warm = {WARM, WARM, WARM}, .hot = {HOT, HOT, HOT}, .ask = ask, .forget = forget};
    struct rig r;
    memset(&heat, 0, sizeof(heat));
    heat.function = function;
    rig_open(&r, &compiler, calls, 0);
    for (uint32_t turns = 1; !heat.hot && turns < 4 * HOT; turns *= 2) {
        heat.executed += turns * instructions; /* when it will have run */
        r.wg->wave[0].s[0] = turns;
        run(&r);
        workgroup_start_again(r.wg, 0);
    }
    rig_close(&r);
    /* The last run, in which it was asked for, was as long as all before. */
    if (!CHECK(heat.warm >= WARM && heat.warm <= 4 * WARM && heat.hot >= HOT && heat.hot <= 4 * HOT))
        fprintf(stderr, "%s: warm after %" PRIu64 ", hot after %" PRIu64 "\n",
                function == calls ? "calls" : "called", heat.warm, heat.hot);
}

int main(void)
{
    CHECK(waits(0xd86c0000, 0x01000000) > 0);   /* ds_read_b32 v1, v0: the same again and again */
    CHECK_EQ(waits(0xd87e0000, 0x01000100), 0); /* ds_bpermute_b32 v1, v0, v1: has nobody to wait for */
    CHECK_EQ(waits(0xbf800000, 0xbf800000), 0); /* s_nop */
    for (uint32_t turns = 1; turns <= TURNS; turns = turns * 3 + 1)
        test_heat(turns);
    test_calls(called, CALLED);
    test_calls(calls, CALLS - 1);
    return check_status();
}
