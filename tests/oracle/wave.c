/* SPDX-License-Identifier: MIT */
/*
 * What more than one instruction, or more than one wave, has to show: VGPR
 * indexing and VSKIP, float exceptions, barriers, sleeping, ending, traps and
 * halting, messages, global wave sync, clocks; and what is refused, and how.
 */
#include <stdlib.h>

#include "cp/cp.h"
#include "exec/observe.h"
#include "one_instruction.h"
#include "sem/vector/exceptions.h"
#include "soc/machine.h"

enum { WAVES = 4 };

/* ---- small programs ---- */

static struct {
    alignas(64) uint32_t words[128];
    unsigned count;
    struct exec_code code;
    struct exec_code_cache cache;
    struct wave_guard guard;
    struct exec_launch launch;
    struct cp_dispatch dispatch;
    struct workgroup *wg;
    struct gws gws[GWS_RESOURCES];
    uint64_t fault_pc;
    uint32_t exceptions; /* enabled by the launch */
} p;

static void emit(uint32_t word)
{
    p.words[p.count++] = word;
}

static void emit2(uint32_t low, uint32_t high)
{
    emit(low);
    emit(high);
}

/* With the fields of a row, and what it fixes. */
static uint32_t head(unsigned op, unsigned format)
{
    for (size_t i = 0; i < isa_gfx942.row_count; i++)
        if (isa_gfx942.rows[i].op == op && isa_gfx942.rows[i].format == format)
            return (uint32_t)isa_gfx942.rows[i].form[ISA_FORM_PLAIN].match;
    abort();
}

static void sopp(unsigned op, unsigned simm16)
{
    emit(head(op, ISA_SOPP) | (simm16 & 0xffff));
}

enum { CONST_0 = 128, LITERAL = 255, VGPR = 256 };

static void s_mov(unsigned to, uint32_t value)
{
    emit2(head(ISA_OP_s_mov_b32, ISA_SOP1) | to << 16 | LITERAL, value);
}

static void v_mov(unsigned to, unsigned source)
{
    emit(head(ISA_OP_v_mov_b32, ISA_VOP1) | to << 17 | source);
}

static void v_add(unsigned to, unsigned a, unsigned vgpr)
{
    emit(head(ISA_OP_v_add_u32, ISA_VOP2) | to << 17 | vgpr << 9 | a);
}

static void ds(unsigned op, unsigned address, unsigned data, unsigned to)
{
    emit2(head(op, ISA_DS), address | data << 8 | to << 24);
}

/* Goes back to word `to` as long as the scalar register, which is counted down, is not 0. */
static void loop(unsigned counter, unsigned to)
{
    emit(head(ISA_OP_s_sub_u32, ISA_SOP2) | counter << 16 | (CONST_0 + 1) << 8 | counter);
    emit(head(ISA_OP_s_cmp_lg_u32, ISA_SOPC) | CONST_0 << 8 | counter);
    sopp(ISA_OP_s_cbranch_scc1, to - p.count - 1);
}

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context, (void)pc;
    *start = (uint64_t)(uintptr_t)p.words;
    *end = *start + sizeof p.words;
    return true;
}

static bool observes(void *context, uint64_t pc)
{
    (void)context, (void)pc;
    return exec_observes(&isa_gfx942, p.words, p.count);
}

static void begin(void)
{
    p.exceptions = 0;
    for (unsigned i = 0; i < 128; i++)
        p.words[i] = head(ISA_OP_s_endpgm, ISA_SOPP);
    p.count = 0;
}

/* The program was run by all waves: as EHP_FAULT_NONE when they came to their ends. */
static int run(unsigned waves)
{
    static const _Atomic bool stop;
    enum workgroup_result result;
    exec_code_init(&p.code, &isa_gfx942, bounds, NULL);
    p.code.level = 2;
    p.code.observes = observes;
    p.cache = (struct exec_code_cache){0};
    p.guard = (struct wave_guard){.code = &p.code, .cache = &p.cache};
    p.launch =
        (struct exec_launch){.entry = exec_code_find(&p.code, &p.cache, (uint64_t)(uintptr_t)p.words),
                             .id_sgpr = {-1, -1, -1},
                             .info_sgpr = -1,
                             .mode = MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP | p.exceptions << 12,
                             .vgprs = 64,
                             .lds_bytes = 4096,
                             .items = {64 * waves, 1, 1},
                             .grid = {64 * waves, 1, 1},
                             .groups = {1, 1, 1},
                             .id_dims = 1,
                             .waves = waves,
                             .gws = p.gws};
    CHECK(launch_make_ids(&p.launch));
    p.wg = workgroup_start(p.wg, &p.launch, 0, NULL);
    if (!CHECK(p.wg != NULL))
        exit(1);
    p.wg->owner = &p.dispatch;
    do
        result = workgroup_run(p.wg, &p.guard, &stop, false);
    while ((result == WORKGROUP_WAITING || result == WORKGROUP_PREEMPTED) && p.wg->runs < 1000);
    CHECK(result == WORKGROUP_DONE || result == WORKGROUP_FAULT);
    /* Everything that ran was this program. */
    for (unsigned at = 0; at < p.count;) {
        struct isa_inst inst;
        if (!CHECK(isa_decode(&isa_gfx942, p.words + at, p.count - at, &inst)))
            break;
        oracle_ran(&inst, ORACLE_HANDLER);
        at += inst.size / 4;
    }
    p.fault_pc = result == WORKGROUP_FAULT ? p.guard.fault_in->pc : 0;
    free(p.launch.v0);
    exec_code_destroy(&p.code);
    return result == WORKGROUP_DONE ? EHP_FAULT_NONE : (int)p.guard.kind;
}

static uint32_t vgpr(unsigned wave, unsigned reg, unsigned lane)
{
    return p.wg->wave[wave].v[reg][lane];
}

/* ---- ends ---- */

static void test_ends(void)
{
    static const uint16_t ends[] = {ISA_OP_s_endpgm, ISA_OP_s_endpgm_saved, ISA_OP_s_endpgm_ordered_ps_done};
    for (unsigned i = 0; i < 3; i++) {
        begin();
        v_mov(1, CONST_0 + 5);
        sopp(ends[i], 0);
        v_mov(1, CONST_0 + 6);
        CHECK_EQ(run(2), EHP_FAULT_NONE);
        CHECK_EQ(vgpr(0, 1, 3), 5);
        CHECK_EQ(vgpr(1, 1, 63), 5);
    }
}

/* Waves that sleep go on afterwards. */
static void test_sleep(void)
{
    begin();
    v_mov(1, CONST_0);
    s_mov(4, 9);
    const unsigned top = p.count;
    sopp(ISA_OP_s_sleep, 1);
    v_add(1, CONST_0 + 1, 1);
    loop(4, top);
    CHECK_EQ(run(WAVES), EHP_FAULT_NONE);
    for (unsigned w = 0; w < WAVES; w++)
        CHECK_EQ(vgpr(w, 1, w), 9);
}

/* Every wave writes its place in LDS, and after the barrier reads its neighbour's. */
static void test_barrier(void)
{
    begin();
    v_add(1, VGPR + 0, 0); /* work-items have their numbers in v0 */
    v_add(1, VGPR + 1, 1); /* 4 * number */
    s_mov(4, 256);
    v_add(2, 4, 1);
    s_mov(5, 0x3ff);
    emit(head(ISA_OP_v_and_b32, ISA_VOP2) | 2u << 17 | 2u << 9 | 5); /* of the next wave */
    ds(ISA_OP_ds_write_b32, 1, 0, 0);
    sopp(ISA_OP_s_barrier, 0);
    ds(ISA_OP_ds_read_b32, 2, 0, 3);
    CHECK_EQ(run(WAVES), EHP_FAULT_NONE);
    for (unsigned w = 0; w < WAVES; w++)
        for (unsigned lane = 0; lane < 64; lane++)
            CHECK_EQ(vgpr(w, 3, lane), (w + 1) % WAVES * 64 + lane);
}

/* ---- traps ---- */

static void test_traps(void)
{
    static const struct {
        uint16_t op, simm16;
        int fault, trap;
    } cases[] = {
        {ISA_OP_s_trap, 2, EHP_FAULT_TRAP, 2},         {ISA_OP_s_trap, 1, EHP_FAULT_TRAP, 1},
        {ISA_OP_s_trap, 3, EHP_FAULT_NONE, 0},         {ISA_OP_s_sethalt, 1, EHP_FAULT_TRAP, -1},
        {ISA_OP_s_sethalt, 0, EHP_FAULT_NONE, 0},      {ISA_OP_s_sendmsg, 1, EHP_FAULT_NONE, 0},
        {ISA_OP_s_sendmsghalt, 1, EHP_FAULT_TRAP, -1},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        s_mov(SREG_M0, 0);
        v_mov(1, CONST_0 + 1);
        sopp(cases[i].op, cases[i].simm16);
        v_mov(1, CONST_0 + 2);
        CHECK_EQ(run(1), cases[i].fault);
        CHECK_EQ(vgpr(0, 1, 0), cases[i].fault ? 1 : 2);
        if (cases[i].fault)
            CHECK_EQ(p.guard.trap_id, cases[i].trap);
    }
}

/* Returning from exceptions is for trap handlers; the table of screen partitions is not documented. */
static void test_refused(void)
{
    static const struct {
        uint16_t op, format;
        int fault;
    } cases[] = {
        {ISA_OP_s_rfe_b64, ISA_SOP1, EHP_FAULT_ILLEGAL_INSTRUCTION},
        {ISA_OP_s_rfe_restore_b64, ISA_SOP2, EHP_FAULT_ILLEGAL_INSTRUCTION},
        {ISA_OP_v_screen_partition_4se_b32, ISA_VOP1, EHP_FAULT_UNIMPLEMENTED},
        {ISA_OP_v_screen_partition_4se_b32, ISA_VOP3, EHP_FAULT_UNIMPLEMENTED},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        emit(head(cases[i].op, cases[i].format));
        if (cases[i].format == ISA_VOP3)
            emit(0);
        CHECK_EQ(run(1), cases[i].fault);
        CHECK(p.fault_pc == (uint64_t)(uintptr_t)p.words);
    }
}

/* ---- float exceptions ---- */

static unsigned hwreg(enum isa_hwreg which, unsigned low, unsigned bits)
{
    unsigned id = 0;
    while (isa_gfx942.hwreg[id].which != which)
        id++;
    return id | low << 6 | (bits - 1) << 11;
}

static void get_exceptions(unsigned to)
{
    emit(head(ISA_OP_s_getreg_b32, ISA_SOPK) | to << 16 | hwreg(HWREG_TRAPSTS, 0, 9));
}

static void set_hwreg(unsigned field, uint32_t value)
{
    emit2(head(ISA_OP_s_setreg_imm32_b32, ISA_SOPK) | field, value);
}

static void set_exec(uint64_t exec)
{
    s_mov(SREG_EXEC, (uint32_t)exec);
    s_mov(SREG_EXEC + 1, (uint32_t)(exec >> 32));
}

static void v_unary(unsigned op, unsigned to, unsigned source)
{
    emit(head(op, ISA_VOP1) | to << 17 | source);
}

static void v_binary(unsigned op, unsigned to, unsigned a, unsigned vgpr)
{
    emit(head(op, ISA_VOP2) | to << 17 | vgpr << 9 | a);
}

static void v_mov_bits(unsigned to, uint32_t bits)
{
    emit2(head(ISA_OP_v_mov_b32, ISA_VOP1) | to << 17 | LITERAL, bits);
}

enum { CONST_1F = 242, BIG = 0x7f000000, TINY = 1 };

/* They add up in TRAPSTS until they are cleared, and only lanes that are active raise any. */
static void test_exceptions_recorded(void)
{
    begin();
    v_mov(1, CONST_0);
    get_exceptions(20);
    v_unary(ISA_OP_v_rcp_f32, 2, VGPR + 1);
    get_exceptions(21);
    v_mov_bits(3, BIG);
    v_binary(ISA_OP_v_mul_f32, 2, VGPR + 3, 3);
    get_exceptions(22);
    emit(head(ISA_OP_v_clrexcp, ISA_VOP1));
    get_exceptions(23);
    v_mov_bits(3, TINY);
    v_binary(ISA_OP_v_add_f32, 2, CONST_1F, 3);
    get_exceptions(24);
    set_hwreg(hwreg(HWREG_TRAPSTS, 1, 1), 0);
    get_exceptions(25);
    v_unary(ISA_OP_v_rcp_iflag_f32, 2, VGPR + 1);
    get_exceptions(26);
    set_hwreg(hwreg(HWREG_TRAPSTS, 0, 9), 0);
    set_exec(UINT64_C(1) << 40);
    v_mov(1, CONST_1F);
    set_exec(UINT64_C(3) << 40); /* 1 and 0 */
    v_binary(ISA_OP_v_mul_f32, 2, CONST_1F, 1);
    get_exceptions(27);
    set_exec(UINT64_C(1) << 40);
    v_unary(ISA_OP_v_rcp_f32, 2, VGPR + 1);
    get_exceptions(28);
    set_exec(UINT64_C(2) << 40);
    v_unary(ISA_OP_v_rcp_f32, 2, VGPR + 1);
    get_exceptions(29);
    CHECK_EQ(run(2), EHP_FAULT_NONE);
    static const uint32_t want[] = {0,
                                    EXCEPTION_DIVISION,
                                    EXCEPTION_DIVISION | EXCEPTION_OVERFLOW | EXCEPTION_INEXACT,
                                    0,
                                    EXCEPTION_DENORMAL | EXCEPTION_INEXACT,
                                    EXCEPTION_INEXACT,
                                    EXCEPTION_INEXACT | EXCEPTION_INTEGER_DIVISION,
                                    0,
                                    0,
                                    EXCEPTION_DIVISION};
    for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++)
        CHECK_EQ(p.wg->wave[1].s[20 + i], want[i]);
    CHECK_EQ(vgpr(0, 2, 41), 0x7f800000);
}

/* With VGPR indexing it is the register that the index says. */
static void test_exceptions_indexed(void)
{
    begin();
    v_mov_bits(10, BIG);
    v_mov(12, CONST_0);
    s_mov(5, 2);
    emit(head(ISA_OP_s_set_gpr_idx_on, ISA_SOPC) | 2 << 8 | 5); /* the second source */
    v_binary(ISA_OP_v_mul_f32, 2, VGPR + 10, 10);
    sopp(ISA_OP_s_set_gpr_idx_off, 0);
    get_exceptions(20);
    v_binary(ISA_OP_v_mul_f32, 3, VGPR + 10, 10);
    get_exceptions(21);
    CHECK_EQ(run(1), EHP_FAULT_NONE);
    CHECK_EQ(p.wg->wave[0].s[20], 0);
    CHECK_EQ(p.wg->wave[0].s[21], EXCEPTION_OVERFLOW | EXCEPTION_INEXACT);
    CHECK_EQ(vgpr(0, 2, 9), 0);
}

/* What MODE enables, by the launch or by s_setreg, ends the wave; the others are recorded. */
static void test_exceptions_enabled(bool by_launch)
{
    const uint32_t enabled = EXCEPTION_DIVISION | EXCEPTION_INVALID;
    begin();
    if (by_launch)
        p.exceptions = enabled;
    else
        set_hwreg(hwreg(HWREG_MODE, 12, 7), enabled);
    get_exceptions(20);
    v_mov_bits(3, BIG);
    v_binary(ISA_OP_v_mul_f32, 2, VGPR + 3, 3);
    set_exec(UINT64_C(0xf0));
    v_mov(4, CONST_0);
    v_mov(5, CONST_0 + 9);
    const uint64_t at = (uint64_t)(uintptr_t)&p.words[p.count];
    v_unary(ISA_OP_v_rcp_f32, 5, VGPR + 4);
    v_mov(5, CONST_0 + 10);
    CHECK_EQ(run(1), EHP_FAULT_EXCEPTION);
    CHECK_EQ(p.fault_pc, at);
    CHECK_EQ(p.guard.trap_id, 2);
    CHECK_EQ(p.guard.lane, 4);
    CHECK_EQ(p.wg->wave[0].trapsts, EXCEPTION_OVERFLOW | EXCEPTION_INEXACT | EXCEPTION_DIVISION);
    CHECK_EQ(vgpr(0, 5, 4), 9);
}

/* Other code is left alone. */
static void test_exceptions_unobserved(void)
{
    begin();
    v_mov(4, CONST_0);
    emit(head(ISA_OP_s_getreg_b32, ISA_SOPK) | 20u << 16 | hwreg(HWREG_MODE, 0, 32));
    set_hwreg(hwreg(HWREG_MODE, 0, 12), 0x3f0);
    v_unary(ISA_OP_v_rcp_f32, 5, VGPR + 4);
    CHECK_EQ(run(1), EHP_FAULT_NONE);
    CHECK_EQ(p.wg->wave[0].trapsts, 0);
    CHECK(!exec_observes(&isa_gfx942, p.words, p.count));
}

/* ---- modes ---- */

/* With VSKIP nothing happens to vectors, across a loop long enough to give way. */
static void test_vskip(void)
{
    begin();
    v_mov(1, CONST_0 + 7);
    v_mov(2, CONST_0);
    s_mov(4, 3000);
    s_mov(5, 4);
    s_mov(6, 2);
    emit(head(ISA_OP_s_setvskip, ISA_SOPC) | 6 << 8 | 5); /* bit 2 of 4 */
    const unsigned top = p.count;
    v_add(1, CONST_0 + 1, 1);
    ds(ISA_OP_ds_write_b32, 2, 1, 0);
    loop(4, top);
    emit(head(ISA_OP_s_setvskip, ISA_SOPC) | 6 << 8 | 6); /* bit 2 of 2 */
    ds(ISA_OP_ds_read_b32, 2, 0, 3);
    v_add(1, CONST_0 + 1, 1);
    CHECK_EQ(run(2), EHP_FAULT_NONE);
    CHECK_EQ(vgpr(0, 1, 5), 8);
    CHECK_EQ(vgpr(1, 3, 5), 0);
    CHECK(!(p.wg->wave[0].mode & (1u << 28)));
}

/* An indexed loop long enough to give way, and with a barrier in it. */
static void test_indexed_loop(void)
{
    begin();
    v_mov(10, CONST_0);
    v_mov(15, CONST_0);
    s_mov(4, 5000);
    s_mov(5, 5);
    emit(head(ISA_OP_s_set_gpr_idx_on, ISA_SOPC) | 8 << 8 | 5); /* destinations */
    const unsigned top = p.count;
    v_add(10, CONST_0 + 1, 15);
    sopp(ISA_OP_s_barrier, 0);
    loop(4, top);
    sopp(ISA_OP_s_set_gpr_idx_off, 0);
    v_add(10, CONST_0 + 1, 10);
    CHECK_EQ(run(2), EHP_FAULT_NONE);
    for (unsigned w = 0; w < 2; w++) {
        CHECK_EQ(vgpr(w, 15, 9), 5000);
        CHECK_EQ(vgpr(w, 10, 9), 1);
        CHECK_EQ(p.wg->wave[w].m0 & 0xf0ff, 0x8005);
    }
}

/* Beyond the wave's registers: sources are VGPR 0, destinations stay. */
static void test_indexed_range(void)
{
    begin();
    v_mov(10, CONST_0 + 3);
    s_mov(5, 60);
    emit(head(ISA_OP_s_set_gpr_idx_on, ISA_SOPC) | 1 << 8 | 5);
    v_mov(11, VGPR + 10);
    sopp(ISA_OP_s_set_gpr_idx_mode, 8);
    v_mov(10, CONST_0 + 4);
    sopp(ISA_OP_s_set_gpr_idx_off, 0);
    CHECK_EQ(run(1), EHP_FAULT_NONE);
    CHECK_EQ(vgpr(0, 11, 9), 9); /* v0: the work-item */
    CHECK_EQ(vgpr(0, 10, 9), 3);
}

/*
 * Any instruction of the vector ALU with indexing is the one with higher
 * register numbers without.
 */
static void test_indexed(const struct isa_row *row, unsigned form)
{
    static struct rig_state before, want, got;
    static const unsigned source_at[] = {0, 9, 18};
    const unsigned flags = row->flags;
    for (unsigned tries = 0, done = 0; done < 3 && tries < 400; tries++) {
        uint32_t words[4], moved[4];
        struct isa_inst inst, after;
        const unsigned index = 1 + (unsigned)(rig_random() % 12), which = (unsigned)(rig_random() % 16);
        rig_words(row, form, words);
        const bool vop3 = row->format == ISA_VOP3;
        if (vop3) { /* registers below 48 */
            if (!row->sdst && !(flags & ISA_F_DST_SGPR) && row->dst != ISA_T_MASK)
                words[0] &= ~0xd0u;
            for (unsigned i = 0; i < 3; i++)
                if (words[1] >> source_at[i] & 0x100)
                    words[1] &= ~(0xd0u << source_at[i]);
        } else {
            if (row->format != ISA_VOP1)
                words[0] &= ~(0xd0u << 9);
            if (row->format != ISA_VOPC && !(flags & ISA_F_DST_SGPR))
                words[0] &= ~(0xd0u << 17);
            words[form == ISA_FORM_PLAIN ? 0 : 1] &= ~0xd0u;
        }
        if (!isa_decode(&isa_gfx942, words, 4, &inst) || !rig_fits(&inst) ||
            inst.sdwa != (form == ISA_FORM_SDWA) || inst.dpp != (form == ISA_FORM_DPP) ||
            inst.sdst.kind == ISA_SGPR || inst.dst.kind == ISA_SGPR)
            continue;
        memcpy(moved, words, sizeof moved);
        for (unsigned i = 0; i < 3 && vop3; i++)
            if (which >> i & 1 && inst.src[i].kind == ISA_VGPR && !(flags & ISA_F_ACCUMULATE && i == 2))
                moved[1] += index << source_at[i];
        if (!vop3 && which & 1 && inst.src[0].kind == ISA_VGPR)
            moved[form == ISA_FORM_PLAIN ? 0 : 1] += index;
        if (row->format != ISA_VOP1 && !vop3 && which & 2 && !(inst.sdwa && inst.src[1].kind == ISA_SGPR))
            moved[0] += index << 9;
        if (which & 8 && inst.dst.kind == ISA_VGPR)
            moved[0] += vop3 ? index : index << 17;
        if (!isa_decode(&isa_gfx942, moved, 4, &after) || !rig_fits(&after)) /* tuples stay even */
            continue;
        done++;
        rig_fill(&before, &after);
        rig_fill_operand(&before, &inst.src[0]);
        before.mode &= ~(uint32_t)MODE_GPR_IDX_EN;
        before.s[SREG_M0] = index | which << 12;
        before.s[8] = index;
        const struct xinst *x = rig_translate(2, moved, after.size);
        rig_load(&before);
        x->fn(&rig.w, x);
        rig_store(&want);
        uint32_t code[8] = {head(ISA_OP_s_set_gpr_idx_on, ISA_SOPC) | which << 8 | 8};
        const unsigned n = inst.size / 4;
        memcpy(code + 1, words, inst.size);
        code[n + 1] = head(ISA_OP_s_set_gpr_idx_off, ISA_SOPP);
        if (rig.in_use)
            exec_code_destroy(&rig.translated);
        memset(rig.code, 0, sizeof rig.code);
        memcpy(rig.code, code, (n + 2) * 4);
        for (unsigned i = n + 2; i < 16; i++)
            rig.code[i] = head(ISA_OP_s_nop, ISA_SOPP);
        exec_code_init(&rig.translated, &isa_gfx942, rig_bounds, rig.code);
        rig.translated.level = 2;
        rig.cache = (struct exec_code_cache){0};
        x = exec_code_find(&rig.translated, &rig.cache, (uint64_t)(uintptr_t)rig.code);
        rig_load(&before);
        rig.w.special = false;
        CHECK(x->fn(&rig.w, x) == x + 3);
        rig_store(&got);
        got.s[SREG_M0] = want.s[SREG_M0];
        if (!CHECK(!memcmp(got.v, want.v, sizeof got.v) && !memcmp(got.s, want.s, sizeof got.s) &&
                   got.mode == want.mode)) {
            char text[128];
            isa_print(&isa_gfx942, &inst, 0, text, sizeof text);
            fprintf(stderr, "%08x %08x %s with index %u for %x\n", words[0], words[1], text, index, which);
            return;
        }
    }
}

static void test_all_indexed(void)
{
    for (size_t r = 0; r < isa_gfx942.row_count; r++) {
        const struct isa_row *row = &isa_gfx942.rows[r];
        if ((row->format != ISA_VOP1 && row->format != ISA_VOP2 && row->format != ISA_VOPC &&
             row->format != ISA_VOP3) ||
            row->op == ISA_OP_v_screen_partition_4se_b32)
            continue;
        for (unsigned form = 0; form < ISA_FORM_COUNT; form++)
            if (row->form[form].mask)
                test_indexed(row, form);
    }
}

/* ---- global wave sync ---- */

static void gws(unsigned op, unsigned vgpr_pair, unsigned offset)
{
    const bool operand =
        op == ISA_OP_ds_gws_init || op == ISA_OP_ds_gws_barrier || op == ISA_OP_ds_gws_sema_br;
    emit2(head(op, ISA_DS) | offset, operand ? vgpr_pair : 0);
}

/* Waves come to the resource's barrier in any order, and see what all have written before. */
static void test_gws_barrier(void)
{
    memset(p.gws, 0, sizeof p.gws);
    begin();
    s_mov(SREG_M0, 3 << 16);
    v_mov(2, CONST_0 + WAVES - 1);
    v_mov(3, CONST_0);
    gws(ISA_OP_ds_gws_init, 2, 1);
    v_add(1, VGPR + 0, 0);
    v_add(1, VGPR + 1, 1);
    ds(ISA_OP_ds_write_b32, 1, 0, 0);
    sopp(ISA_OP_s_barrier, 0); /* after the last init, which resets it */
    gws(ISA_OP_ds_gws_barrier, 2, 1);
    s_mov(4, 0x3fc);
    emit(head(ISA_OP_v_xor_b32, ISA_VOP2) | 6u << 17 | 1u << 9 | 4);
    ds(ISA_OP_ds_read_b32, 6, 0, 7);
    gws(ISA_OP_ds_gws_barrier, 2, 1);
    CHECK_EQ(run(WAVES), EHP_FAULT_NONE);
    for (unsigned w = 0; w < WAVES; w++)
        CHECK_EQ(vgpr(w, 7, 17), 255 - (w * 64 + 17));
    CHECK_EQ(p.gws[4].generation, 2);
}

/* Wave 0 gives, the others take what `give` gave: `times` of it. */
static void test_gws_semaphore(unsigned give, unsigned operand, unsigned times)
{
    memset(p.gws, 0, sizeof p.gws);
    begin();
    s_mov(SREG_M0, 0);
    v_mov(2, CONST_0 + operand);
    v_mov(3, CONST_0);
    v_mov(4, CONST_0 + 21);
    v_mov(5, CONST_0);
    emit(head(ISA_OP_v_readfirstlane_b32, ISA_VOP1) | 8u << 17 | (VGPR + 0)); /* first work-item */
    emit(head(ISA_OP_s_cmp_lg_u32, ISA_SOPC) | CONST_0 << 8 | 8);
    const unsigned branch = p.count;
    sopp(ISA_OP_s_cbranch_scc1, 0);
    s_mov(9, 400); /* takers come first */
    const unsigned top = p.count;
    loop(9, top);
    sopp(ISA_OP_s_sleep, 1);
    ds(ISA_OP_ds_write_b32, 5, 4, 0);
    for (unsigned i = 0; i < times; i++)
        gws(give, 2, 7);
    sopp(ISA_OP_s_endpgm, 0);
    p.words[branch] |= p.count - branch - 1;
    gws(ISA_OP_ds_gws_sema_p, 2, 7);
    ds(ISA_OP_ds_read_b32, 5, 0, 6);
    CHECK_EQ(run(WAVES), EHP_FAULT_NONE);
    for (unsigned w = 1; w < WAVES; w++)
        CHECK_EQ(vgpr(w, 6, 0), 21);
    if (give != ISA_OP_ds_gws_sema_release_all)
        CHECK_EQ(p.gws[7].count, 0);
}

/* ---- clocks ---- */

static void test_clocks(ehp_machine *machine)
{
    begin();
    emit2(head(ISA_OP_s_memrealtime, ISA_SMEM) | 8 << 6, 0);
    emit2(head(ISA_OP_s_memtime, ISA_SMEM) | 10 << 6, 0);
    s_mov(4, 1000);
    const unsigned top = p.count;
    loop(4, top);
    emit2(head(ISA_OP_s_memtime, ISA_SMEM) | 12 << 6, 0);
    emit2(head(ISA_OP_s_memrealtime, ISA_SMEM) | 14 << 6, 0);
    const uint64_t first = ehp_timestamp(machine);
    CHECK_EQ(run(1), EHP_FAULT_NONE);
    const uint64_t last = ehp_timestamp(machine);
    const uint64_t *s = p.wg->wave[0].s64 + 4;
    CHECK(first <= s[0] && s[0] <= s[3] && s[3] <= last);
    CHECK(s[1] > 0 && s[1] < s[2]);
}

int main(void)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    ehp_machine *machine;
    options.chip = CHIP;
    if (!CHECK_EQ(ehp_open(&options, &machine), EHP_OK)) {
        fprintf(stderr, "%s\n", options.error);
        return check_status();
    }
    p.dispatch.cp = &machine->cp;
    test_ends();
    test_sleep();
    test_barrier();
    test_traps();
    test_refused();
    test_exceptions_recorded();
    test_exceptions_indexed();
    test_exceptions_enabled(false);
    test_exceptions_enabled(true);
    test_exceptions_unobserved();
    test_vskip();
    test_indexed_loop();
    test_indexed_range();
    test_all_indexed();
    test_gws_barrier();
    test_gws_semaphore(ISA_OP_ds_gws_sema_v, 0, WAVES - 1);
    test_gws_semaphore(ISA_OP_ds_gws_sema_br, WAVES - 1, 1);
    test_gws_semaphore(ISA_OP_ds_gws_sema_release_all, 0, 1);
    test_clocks(machine);
    workgroup_free(p.wg);
    ehp_close(machine);
    return check_status();
}
