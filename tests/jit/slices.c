/* SPDX-License-Identifier: MIT */
/*
 * The functions that compiled code is made of (sem/vector/slice.c) against the handlers of the same
 * instructions: on values that break arithmetic, the same bits in all lanes but those that a function
 * reports; on ordinary numbers it reports none.  Modifiers are applied by functions of their own on one side,
 * and by the handlers on the other.
 */
#include "slices.h"

struct slice_case {
    const char *name;
    slice_fn *slice;
    exec_fn *handler; /* NULL: what the families give for op */
    uint16_t op;
    bool clamp;
};

#define ENTRY(name) slice_fn slice_##name;
#include "slices.def"
#undef ENTRY
#define PK_F32(name, ...) slice_fn slice_##name;
#define PK_F16            PK_F32
#define PK_DOT_F16        PK_F32
#define PK_INT(name, ...) slice_fn slice_##name, slice_clamp_##name;
#define PK_DOT            PK_INT
#define PK_MIX            PK_INT
#include "sem/vector/packed.def"
slice_fn slice_v_pk_mov_b32, slice_v_accvgpr_read_b32, slice_v_accvgpr_write_b32;
slice_fn slice_modify_halves, slice_modify_sign, slice_modify_part, slice_modify_place,
    slice_modify_place_keep, slice_modify_high, slice_modify_mix_low, slice_modify_mix_high,
    slice_modify_clamp_f16, slice_modify_clamp_f32, slice_modify_clamp_f64, slice_modify_clamp_pk_f16;

static const struct slice_case plain_cases[] = {
#define ENTRY(name) {#name, slice_##name, SEM(valu_##name), 0, false},
#include "slices.def"
#undef ENTRY
#define PK_F32(name, ...) {#name, slice_##name, NULL, ISA_OP_##name, false},
#define PK_F16            PK_F32
#define PK_DOT_F16        PK_F32
#define PK_INT(name, ...)                                                                                    \
    {#name, slice_##name, NULL, ISA_OP_##name, false},                                                       \
        {"clamp_" #name, slice_clamp_##name, NULL, ISA_OP_##name, true},
#define PK_DOT PK_INT
#define PK_MIX PK_INT
#include "sem/vector/packed.def"
    {"v_pk_mov_b32", slice_v_pk_mov_b32, NULL, ISA_OP_v_pk_mov_b32, false},
    {"v_accvgpr_read_b32", slice_v_accvgpr_read_b32, NULL, ISA_OP_v_accvgpr_read_b32, false},
    {"v_accvgpr_write_b32", slice_v_accvgpr_write_b32, NULL, ISA_OP_v_accvgpr_write_b32, false},
};

static struct registers fill(bool ordinary)
{
    struct registers r = {0};
    void (*const values)(operand) = ordinary ? fill_ordinary : fill_hard;
    values(r.a);
    values(r.b);
    values(r.c);
    values(r.o);
    fill_masks(&r, ordinary);
    return r;
}

/* Conversions to 8-bit floats take from c where in the destination they go: to its bottom here. */
static bool has_place(const char *name)
{
    return strstr(name, "v_cvt_pk_fp8") || strstr(name, "v_cvt_pk_bf8") || strstr(name, "v_cvt_sr_");
}

static exec_fn *packed_handler(struct isa_inst *inst, struct xinst *x, uint16_t op)
{
    inst->op = op;
    exec_fn *fn = SEM(sem_packed)(inst, x);
    if (!fn)
        fn = SEM(sem_matrix)(inst, x);
    if (!CHECK(fn != NULL))
        exit(1);
    return fn;
}

static void test_plain(struct test_wave *t, const struct slice_case *test, bool ordinary)
{
    struct registers r = fill(ordinary);
    if (has_place(test->name))
        fill_constant(r.c, 0);
    if (strstr(test->name, "v_mbcnt_"))
        for (int lane = 0; lane < WAVE_LANES; lane++)
            r.c[0][lane] = (uint32_t)lane;
    struct isa_inst inst = {.op_sel_hi = strstr(test->name, "v_fma_mix") ? 0 : 7, .clamp = test->clamp};
    struct xinst x = {0};
    set_up(t, &r, &inst, &x);
    exec_fn *fn = test->handler ? test->handler : packed_handler(&inst, &x, test->op);
    fn(&t->w, &x);
    run_slices(&r, test->slice);
    const unsigned bad = compare(test->name, t, &r, ROWS);
    if (ordinary && !CHECK(bad == 0))
        fprintf(stderr, "%s: %u lanes with ordinary numbers\n", test->name, bad);
}

/* ---- packed modifiers ---- */

static void test_packed(struct test_wave *t, const char *name, uint16_t op, slice_fn *slice, bool is_float)
{
    struct registers r = fill(false);
    const uint64_t random = random_bits();
    struct isa_inst inst = {.op_sel = random & 7, .op_sel_hi = random >> 3 & 7, .neg = random >> 6 & 7};
    inst.neg_hi = random >> 9 & 7;
    inst.clamp = is_float && random >> 12 & 1;
    struct xinst x = {0};
    set_up(t, &r, &inst, &x);
    packed_handler(&inst, &x, op)(&t->w, &x);
    wave_row *source[3] = {r.a, r.b, r.c};
    for (int i = 0; i < 3; i++)
        run_modifier(&r, slice_modify_halves, source[i], 1, inst.op_sel >> i & 1, inst.op_sel_hi >> i & 1,
                     is_float ? (uint32_t)(inst.neg >> i & 1) << 15 | (uint32_t)(inst.neg_hi >> i & 1) << 31
                              : 0);
    run_slices(&r, slice);
    if (inst.clamp)
        run_modifier(&r, slice_modify_clamp_pk_f16, r.d, 1, 0, 0, 0);
    compare(name, t, &r, 1);
}

static void test_dot_f16(struct test_wave *t, const char *name, uint16_t op, slice_fn *slice)
{
    struct registers r = fill(false);
    const uint64_t random = random_bits();
    struct isa_inst inst = {.op_sel = random & 3, .op_sel_hi = random >> 3 & 3, .neg = random >> 6 & 7};
    inst.neg_hi = random >> 9 & 3;
    inst.clamp = random >> 12 & 1;
    struct xinst x = {0};
    set_up(t, &r, &inst, &x);
    packed_handler(&inst, &x, op)(&t->w, &x);
    wave_row *source[2] = {r.a, r.b};
    for (int i = 0; i < 2; i++)
        run_modifier(&r, slice_modify_halves, source[i], 1, inst.op_sel >> i & 1, inst.op_sel_hi >> i & 1,
                     (uint32_t)(inst.neg >> i & 1) << 15 | (uint32_t)(inst.neg_hi >> i & 1) << 31);
    run_modifier(&r, slice_modify_sign, r.c, 1, UINT32_MAX, inst.neg >> 2 & 1 ? 0x80000000 : 0, 0);
    run_slices(&r, slice);
    if (inst.clamp)
        run_modifier(&r, slice_modify_clamp_f32, r.d, 1, 0, 0, 0);
    compare(name, t, &r, 1);
}

static void test_mix(struct test_wave *t, const char *name, uint16_t op, slice_fn *plain, slice_fn *clamped)
{
    struct registers r = fill(false);
    const uint64_t random = random_bits();
    struct isa_inst inst = {.op_sel = random & 7, .op_sel_hi = random >> 3 & 7, .neg = random >> 6 & 7};
    inst.neg_hi = random >> 9 & 7;
    inst.clamp = random >> 12 & 1;
    struct xinst x = {0};
    set_up(t, &r, &inst, &x);
    packed_handler(&inst, &x, op)(&t->w, &x);
    wave_row *source[3] = {r.a, r.b, r.c};
    for (int i = 0; i < 3; i++) {
        if (inst.op_sel_hi >> i & 1)
            run_modifier(&r, inst.op_sel >> i & 1 ? slice_modify_mix_high : slice_modify_mix_low, source[i],
                         1, 0, 0, 0);
        run_modifier(&r, slice_modify_sign, source[i], 1, inst.neg_hi >> i & 1 ? 0x7fffffff : UINT32_MAX,
                     inst.neg >> i & 1 ? 0x80000000 : 0, 0);
    }
    run_slices(&r, inst.clamp ? clamped : plain);
    compare(name, t, &r, 1);
}

/* ---- modifiers of sources and results ---- */

/* An instruction whose sources go through exec_prepare() and whose result goes through exec_finish(). */
static void set_up_slow(struct test_wave *t, const struct registers *r, struct isa_inst *inst,
                        struct xinst *x, unsigned type, int rows)
{
    static const int16_t temps[3] = {TEMP_SRC0, TEMP_SRC1, TEMP_SRC2};
    set_up(t, r, inst, x);
    x->any_prep = x->post = true;
    x->drows = (uint8_t)rows;
    inst->dst.type = (uint8_t)type;
    for (int i = 0; i < 2; i++) {
        inst->src[i].type = (uint8_t)type;
        x->reg[i] = (uint16_t)x->s[i];
        x->s[i] = temps[i];
        x->prep[i] = XPREP_SLOW;
        x->rows[i] = (uint8_t)rows;
    }
}

static unsigned part_shift(unsigned select)
{
    return select <= ISA_BYTE_3 ? 8 * select : select == ISA_WORD_1 ? 16 : 0;
}

static unsigned part_bits(unsigned select)
{
    return select <= ISA_BYTE_3 ? 8 : select == ISA_DWORD ? 32 : 16;
}

static void test_sdwa(struct test_wave *t)
{
    struct registers r = fill(false);
    const uint64_t random = random_bits();
    struct isa_inst inst = {.op = ISA_OP_v_add_u32, .sdwa = true, .sext = random & 3};
    inst.src_sel[0] = (uint8_t)(random >> 8 & 0xff) % (ISA_DWORD + 1);
    inst.src_sel[1] = (uint8_t)(random >> 16 & 0xff) % (ISA_DWORD + 1);
    inst.dst_sel = (uint8_t)(random >> 24 & 0xff) % ISA_DWORD;
    inst.dst_unused = (uint8_t)(random >> 32 & 0xff) % 3;
    struct xinst x = {0};
    set_up_slow(t, &r, &inst, &x, ISA_T_U32, 1);
    SEM(valu_v_add_u32)(&t->w, &x);
    wave_row *source[2] = {r.a, r.b};
    for (int i = 0; i < 2; i++) {
        const unsigned bits = part_bits(inst.src_sel[i]);
        run_modifier(&r, slice_modify_part, source[i], 1, part_shift(inst.src_sel[i]),
                     UINT32_MAX >> (32 - bits), inst.sext >> i & 1 ? 1u << (bits - 1) : 0);
    }
    run_slices(&r, slice_v_add_u32);
    const unsigned shift = part_shift(inst.dst_sel), bits = part_bits(inst.dst_sel);
    const uint32_t mask = UINT32_MAX >> (32 - bits) << shift;
    if (inst.dst_unused == ISA_UNUSED_PRESERVE)
        run_modifier(&r, slice_modify_place_keep, r.d, 1, shift, mask, 0);
    else
        run_modifier(&r, slice_modify_place, r.d, 1, shift, mask,
                     inst.dst_unused == ISA_UNUSED_SEXT ? 1u << (shift + bits - 1) : 0);
    compare("sdwa", t, &r, 1);
}

struct sign_case {
    const char *name;
    uint16_t op;
    unsigned type;
    exec_fn *handler;
    slice_fn *slice, *clamp;
    int rows;
    uint32_t sign;
};

static void test_signs(struct test_wave *t, const struct sign_case *test)
{
    struct registers r = fill(false);
    const uint64_t random = random_bits();
    struct isa_inst inst = {
        .op = test->op, .neg = random & 3, .abs = random >> 2 & 3, .clamp = random >> 4 & 1};
    inst.op_sel = test->type == ISA_T_F16 && random >> 5 & 1 ? 8 : 0;
    struct xinst x = {0};
    set_up_slow(t, &r, &inst, &x, test->type, test->rows);
    test->handler(&t->w, &x);
    wave_row *source[2] = {r.a + test->rows - 1, r.b + test->rows - 1};
    for (int i = 0; i < 2; i++)
        run_modifier(&r, slice_modify_sign, source[i], 1, inst.abs >> i & 1 ? ~test->sign : UINT32_MAX,
                     inst.neg >> i & 1 ? test->sign : 0, 0);
    run_slices(&r, test->slice);
    if (inst.clamp)
        run_modifier(&r, test->clamp, r.d, test->rows, 0, 0, 0);
    if (inst.op_sel)
        run_modifier(&r, slice_modify_high, r.d, 1, 0, 0, 0);
    compare(test->name, t, &r, test->rows);
}

int main(void)
{
    static const struct sign_case signs[] = {
        {"f32", ISA_OP_v_mul_f32, ISA_T_F32, SEM(valu_v_mul_f32), slice_v_mul_f32, slice_modify_clamp_f32, 1,
         0x80000000},
        {"f64", ISA_OP_v_mul_f64, ISA_T_F64, SEM(valu_v_mul_f64), slice_v_mul_f64, slice_modify_clamp_f64, 2,
         0x80000000},
        {"f16", ISA_OP_v_mul_f16, ISA_T_F16, SEM(valu_v_mul_f16), slice_v_mul_f16, slice_modify_clamp_f16, 1,
         0x8000},
    };
    if (!has_level())
        return 77;
    struct test_wave *t = aligned_alloc(64, (sizeof(*t) + 63) & ~(size_t)63);
    memset(t, 0, sizeof(*t));
    for (size_t i = 0; i < sizeof(plain_cases) / sizeof(plain_cases[0]); i++) {
        for (int k = 0; k < 300; k++)
            test_plain(t, &plain_cases[i], false);
        for (int k = 0; k < 30; k++)
            test_plain(t, &plain_cases[i], true);
    }
    for (int k = 0; k < 300; k++) {
#define PK_F16(name, ...) test_packed(t, #name, ISA_OP_##name, slice_##name, true);
#define PK_INT(name, ...) test_packed(t, #name, ISA_OP_##name, slice_##name, false);
#define PK_DOT_F16(name)  test_dot_f16(t, #name, ISA_OP_##name, slice_##name);
#define PK_MIX(name, ...) test_mix(t, #name, ISA_OP_##name, slice_##name, slice_clamp_##name);
#include "sem/vector/packed.def"
        test_sdwa(t);
        for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
            test_signs(t, &signs[i]);
    }
    free(t);
    return check_status();
}
