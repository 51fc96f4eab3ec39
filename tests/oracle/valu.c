/* SPDX-License-Identifier: MIT */
/*
 * Every encoding of the vector ALU (VOP1, VOP2, VOPC, VOP3; SDWA, DPP) against
 * a second implementation: random encodings of each row, with whatever
 * modifiers it has, run on a wave of hard values, and the whole register state
 * afterwards must be what valu_int.def and valu_float.def say for each lane.
 *
 * Fetching operands, modifiers and selects are written here once more, from
 * "AMD Instinct MI300 ISA", chapter 6; decoding is what LLVM vouches for.
 *
 *   valu [encodings per form [mnemonic]]
 */
#include "one_instruction.h"
#include "sem/vector/exceptions.h"
#include "valu_raise.h"
#include "valu_steps.h"

#define REF(name, expression)                                                                                \
    static uint64_t mean_##name(struct lane *l)                                                              \
    {                                                                                                        \
        const uint64_t a = l->a, b = l->b, c = l->c;                                                         \
        (void)a, (void)b, (void)c;                                                                           \
        return (uint64_t)(expression);                                                                       \
    }
#include "valu_float.def"
#include "valu_int.def"
#undef REF

static meaning *const meanings[ISA_OP_COUNT] = {
#define REF(name, expression) [ISA_OP_##name] = mean_##name,
#include "valu_float.def"
#include "valu_int.def"
#undef REF
};

/* ---- operands ---- */

static bool is_16bit(unsigned type)
{
    return type == ISA_T_F16 || type == ISA_T_BF16 || type == ISA_T_I16 || type == ISA_T_U16 ||
           type == ISA_T_B16;
}

static uint64_t special(const struct rig_state *s, unsigned reg)
{
    switch (reg) {
    case 235:
        return UINT64_C(1) << 48; /* where the shared and the private aperture begin */
    case 236:
        return (UINT64_C(1) << 48) + UINT32_MAX;
    case 237:
        return UINT64_C(2) << 48;
    case 238:
        return (UINT64_C(2) << 48) + UINT32_MAX;
    case 251:
        return rig_sreg64(s, SREG_VCC) == 0;
    case 252:
        return rig_sreg64(s, SREG_EXEC) == 0;
    default:
        return s->scc;
    }
}

static uint64_t fetch(const struct rig_state *s, const struct isa_operand *o, int lane)
{
    switch (o->kind) {
    case ISA_VGPR:
    case ISA_AGPR:
        return s->v[rig_row(o)][lane] | (o->dwords > 1 ? (uint64_t)s->v[rig_row(o) + 1][lane] << 32 : 0);
    case ISA_SGPR:
        return s->s[o->reg] | (o->dwords > 1 ? (uint64_t)s->s[o->reg + 1] << 32 : 0);
    case ISA_CONST:
        return o->dwords > 1 ? o->value : (uint32_t)o->value;
    case ISA_SPECIAL:
        return o->dwords > 1 ? special(s, o->reg) : (uint32_t)special(s, o->reg);
    default:
        return 0;
    }
}

/* Where a lane's source 0 comes from with DPP; -1: from nowhere. */
static int moved_from(unsigned control, int lane)
{
    const int row = lane / 16 * 16, at = lane % 16, n = (int)(control % 16);
    if (control < 0x100)
        return lane / 4 * 4 + (int)(control >> lane % 4 * 2 & 3);
    if (control < 0x110)
        return at + n > 15 ? -1 : lane + n;
    if (control < 0x120)
        return at - n < 0 ? -1 : lane - n;
    if (control < 0x130)
        return row + (at + 16 - n) % 16;
    if (control >= 0x150)
        return row + n;
    switch (control) {
    case 0x130:
        return lane == 63 ? -1 : lane + 1;
    case 0x134:
        return (lane + 1) % 64;
    case 0x138:
        return lane - 1;
    case 0x13c:
        return (lane + 63) % 64;
    case 0x140:
        return row + 15 - at;
    case 0x141:
        return lane / 8 * 8 + 7 - lane % 8;
    case 0x142:
        return row - 1;
    default:
        return lane < 32 ? -1 : 31;
    }
}

static uint64_t sub_dword(uint64_t x, unsigned select, bool extend)
{
    if (select == ISA_DWORD)
        return x;
    const int bits = select <= ISA_BYTE_3 ? 8 : 16;
    const uint64_t part =
        x >> (select <= ISA_BYTE_3 ? 8 * select : 16 * (select - ISA_WORD_0)) & soft_mask(bits);
    return extend ? (uint32_t)sign_from(part, bits) : part;
}

/* Source i as the operation sees it; *written: DPP lets the lane be written. */
static uint64_t source(const struct rig_state *s, const struct isa_inst *inst, int i, int lane, bool *written)
{
    const struct isa_operand *o = &inst->src[i];
    uint64_t x;
    if (inst->dpp && i == 0) {
        int from = moved_from(inst->dpp_ctrl, lane);
        if (from >= 0 && !(rig_sreg64(s, SREG_EXEC) >> from & 1))
            from = -1;
        *written = (from >= 0 || inst->bound_ctrl) && inst->row_mask >> lane / 16 & 1 &&
                   inst->bank_mask >> lane % 16 / 4 & 1;
        x = from >= 0 ? fetch(s, o, from) : 0;
    } else {
        x = fetch(s, o, lane);
    }
    if (inst->sdwa && i < 2)
        x = sub_dword(x, inst->src_sel[i], inst->sext >> i & 1);
    if (is_16bit(o->type) && inst->op_sel >> i & 1)
        x >>= 16;
    const uint64_t sign = UINT64_C(1) << (is_16bit(o->type) ? 15 : o->dwords ? 32 * o->dwords - 1 : 0);
    if (inst->abs >> i & 1)
        x &= ~sign;
    if (inst->neg >> i & 1)
        x ^= sign;
    return x;
}

/* ---- results ---- */

static bool float_format(unsigned type, struct soft_format *f)
{
    *f = type == ISA_T_F16 ? H : type == ISA_T_F64 ? D : S;
    return type == ISA_T_F16 || type == ISA_T_F64 || type == ISA_T_F32;
}

/*
 * Output modifiers.  OMOD works only where results have no denormals and
 * MODE.IEEE is off, and then makes no negative zero.
 */
static uint64_t modified(const struct lane *l, const struct isa_inst *inst, uint64_t x)
{
    struct soft_format f;
    if (!float_format(inst->dst.type, &f))
        return x;
    if (inst->omod && !is_nan(f, x) && flush_out(l, f) && !(l->mode & MODE_IEEE)) {
        struct soft v = soft_unpack(f, bits_of(f, x), true);
        v.exp += inst->omod == 3 ? -1 : inst->omod;
        x = packed_up(l, f, v);
        if (x == soft_sign_bit(f))
            x = 0;
    }
    if (!inst->clamp)
        return x;
    if (is_nan(f, x))
        return l->mode & MODE_DX10_CLAMP ? 0 : x;
    const uint64_t one = ((UINT64_C(1) << (f.exponent_bits - 1)) - 1) << f.mantissa_bits;
    return bits_of(f, x) & soft_sign_bit(f) ? 0 : bits_of(f, x) > one ? one : x;
}

/* 16-bit instructions that leave the other half of the destination alone. */
static bool keeps_half(unsigned op)
{
    switch (op) {
    case ISA_OP_v_mad_f16:
    case ISA_OP_v_mad_u16:
    case ISA_OP_v_mad_i16:
    case ISA_OP_v_fma_f16:
    case ISA_OP_v_div_fixup_f16:
    case ISA_OP_v_add_i16:
    case ISA_OP_v_sub_i16:
    case ISA_OP_v_min3_f16:
    case ISA_OP_v_min3_i16:
    case ISA_OP_v_min3_u16:
    case ISA_OP_v_max3_f16:
    case ISA_OP_v_max3_i16:
    case ISA_OP_v_max3_u16:
    case ISA_OP_v_med3_f16:
    case ISA_OP_v_med3_i16:
    case ISA_OP_v_med3_u16:
        return true;
    default:
        return false;
    }
}

static uint64_t placed(const struct isa_inst *inst, uint64_t x, uint64_t old)
{
    if (is_16bit(inst->dst.type))
        x &= 0xffff;
    if (inst->sdwa && inst->dst_sel != ISA_DWORD) {
        const bool byte = inst->dst_sel <= ISA_BYTE_3;
        const int bits = byte ? 8 : 16, at = byte ? 8 * inst->dst_sel : 16 * (inst->dst_sel - ISA_WORD_0);
        const uint64_t part = x & soft_mask(bits), mask = soft_mask(bits) << at;
        switch (inst->dst_unused) {
        case ISA_UNUSED_PAD:
            return part << at;
        case ISA_UNUSED_SEXT:
            return (uint32_t)((uint64_t)sign_from(part, bits) << at);
        default:
            return (old & ~mask) | part << at;
        }
    }
    if (is_16bit(inst->dst.type) && !inst->sdwa) {
        if (inst->op_sel & 8)
            return (old & 0xffff) | x << 16;
        if (keeps_half(inst->op))
            return (old & 0xffff0000) | x;
    }
    return x;
}

/* ---- comparisons, by their names: v_cmp[x]_RELATION_TYPE ---- */

static bool class_matches(struct soft_format f, uint64_t x, uint64_t mask)
{
    const struct soft v = soft_unpack(f, bits_of(f, x), false);
    const bool denormal = v.cls == SOFT_FINITE && !(bits_of(f, x) & soft_inf(f));
    const int bit = v.cls == SOFT_NAN    ? (v.signalling ? 0 : 1)
                    : v.cls == SOFT_INF  ? (v.sign ? 2 : 9)
                    : v.cls == SOFT_ZERO ? (v.sign ? 5 : 6)
                    : denormal           ? (v.sign ? 4 : 7)
                                         : (v.sign ? 3 : 8);
    return mask >> bit & 1;
}

static bool relation_holds(const char *relation, int order)
{
    static const struct {
        const char *name;
        bool less, equal, greater, unordered;
    } relations[] = {
        {"f", 0, 0, 0, 0},   {"lt", 1, 0, 0, 0},  {"eq", 0, 1, 0, 0},  {"le", 1, 1, 0, 0},
        {"gt", 0, 0, 1, 0},  {"lg", 1, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"o", 1, 1, 1, 0},
        {"u", 0, 0, 0, 1},   {"nge", 1, 0, 0, 1}, {"nlg", 0, 1, 0, 1}, {"ngt", 1, 1, 0, 1},
        {"nle", 0, 0, 1, 1}, {"neq", 1, 0, 1, 1}, {"nlt", 0, 1, 1, 1}, {"tru", 1, 1, 1, 1},
        {"ne", 1, 0, 1, 0},  {"t", 1, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
        if (!strcmp(relations[i].name, relation))
            return order == -1  ? relations[i].less
                   : order == 0 ? relations[i].equal
                   : order == 1 ? relations[i].greater
                                : relations[i].unordered;
    return CHECK(!"knows the relation");
}

static bool compared(const struct lane *l, const char *name)
{
    char relation[8];
    name += strlen(name) > 6 && name[5] == 'x' ? 7 : 6;
    const size_t n = strcspn(name, "_");
    memcpy(relation, name, n < 7 ? n : 7);
    relation[n < 7 ? n : 7] = 0;
    const char *type = name + n + 1;
    const int bits = atoi(type + 1);
    const struct soft_format f = bits == 16 ? H : bits == 64 ? D : S;
    if (!strcmp(relation, "class"))
        return class_matches(f, l->a, l->b);
    int order;
    if (type[0] == 'f') {
        order = soft_compare(value(l, f, l->a), value(l, f, l->b));
    } else if (type[0] == 'i') {
        const int64_t a = bits == 64 ? I64(l->a) : sign_from(l->a, bits),
                      b = bits == 64 ? I64(l->b) : sign_from(l->b, bits);
        order = a < b ? -1 : a > b;
    } else {
        const uint64_t a = l->a & soft_mask(bits), b = l->b & soft_mask(bits);
        order = a < b ? -1 : a > b;
    }
    return relation_holds(relation, order);
}

/* ---- one instruction ---- */

static bool is_compare(const struct isa_inst *inst)
{
    return !strncmp(isa_op_name(inst->op), "v_cmp", 5);
}

/* What moves between lanes or registers as a whole: true when it is one. */
static bool move(const struct isa_inst *inst, const struct rig_state *before, struct rig_state *after)
{
    const uint64_t exec = rig_sreg64(before, SREG_EXEC);
    bool written = true;
    switch (inst->op) {
    case ISA_OP_v_nop:
        return true;
    case ISA_OP_v_clrexcp:
        after->trapsts &= ~0x1ffu;
        return true;
    case ISA_OP_v_readfirstlane_b32:
        after->s[inst->dst.reg] =
            (uint32_t)fetch(before, &inst->src[0],
                            exec ? (int)first_one(U32(exec) ? exec : exec >> 32) + (U32(exec) ? 0 : 32) : 0);
        return true;
    case ISA_OP_v_readlane_b32:
        after->s[inst->dst.reg] =
            (uint32_t)fetch(before, &inst->src[0], (int)(fetch(before, &inst->src[1], 0) & 63));
        return true;
    case ISA_OP_v_writelane_b32:
        after->v[inst->dst.reg][fetch(before, &inst->src[1], 0) & 63] =
            (uint32_t)fetch(before, &inst->src[0], 0);
        return true;
    case ISA_OP_v_swap_b32:
        for (int lane = 0; lane < WAVE_LANES; lane++)
            if (exec >> lane & 1) {
                after->v[inst->dst.reg][lane] = (uint32_t)source(before, inst, 0, lane, &written);
                after->v[inst->src[0].reg][lane] = before->v[inst->dst.reg][lane];
            }
        return true;
    case ISA_OP_v_mqsad_u32_u8:
        for (int lane = 0; lane < WAVE_LANES; lane++)
            for (int k = 0; k < 4 && exec >> lane & 1; k++) {
                const struct isa_operand *c = &inst->src[2];
                const struct lane l = {.clamp = inst->clamp};
                const uint64_t to = c->kind == ISA_VGPR   ? before->v[c->reg + k][lane]
                                    : c->kind == ISA_SGPR ? before->s[c->reg + k]
                                    : k < 2 || c->kind == ISA_SPECIAL
                                        ? (uint32_t)(fetch(before, c, lane) >> 32 * (k & 1))
                                        : 0;
                after->v[inst->dst.reg + k][lane] =
                    (uint32_t)sad(&l, source(before, inst, 0, lane, &written) >> 8 * k,
                                  source(before, inst, 1, lane, &written), 8, true, to, 32);
            }
        return true;
    default:
        return false;
    }
}

/* `got`: what came out, to allow for approximations. */
static void refer(const struct isa_inst *inst, const struct rig_state *before, struct rig_state *after,
                  const struct rig_state *got)
{
    const uint64_t exec = rig_sreg64(before, SREG_EXEC);
    meaning *mean = meanings[inst->op];
    uint64_t bits = 0;
    *after = *before;
    if (move(inst, before, after))
        return;
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        bool written = true;
        struct lane l = {.lane = lane,
                         .clamp = inst->clamp,
                         .mode = before->mode,
                         .op_sel = inst->op_sel,
                         .vcc = rig_sreg64(before, SREG_VCC) >> lane & 1};
        l.a = source(before, inst, 0, lane, &written);
        l.b = source(before, inst, 1, lane, &written);
        l.c = source(before, inst, 2, lane, &written);
        if (inst->src[2].type == ISA_T_MASK)
            l.mask = fetch(before, &inst->src[2], lane) >> lane & 1;
        if (!(exec >> lane & 1) || !written)
            continue;
        if (rig.observed)
            after->trapsts |= (uint32_t)raised_in_lane(&l, isa_op_name(inst->op));
        if (is_compare(inst)) {
            bits |= (uint64_t)compared(&l, isa_op_name(inst->op)) << lane;
            continue;
        }
        uint32_t *d = &after->v[rig_row(&inst->dst)][lane];
        const uint64_t seen =
            got->v[rig_row(&inst->dst)][lane] |
            (inst->dst.dwords > 1 ? (uint64_t)got->v[rig_row(&inst->dst) + 1][lane] << 32 : 0);
        l.old = d[0] | (inst->dst.dwords > 1 ? (uint64_t)d[WAVE_LANES] << 32 : 0);
        static const int nudges[] = {0, 1, -1, 2, -2};
        uint64_t r = 0;
        for (int k = 0; k < (inst->dst.type == ISA_T_F64 ? 5 : 3); k++) {
            l.nudge = nudges[k];
            r = placed(inst, modified(&l, inst, mean(&l)), l.old);
            if (!l.inexact || r == seen)
                break;
        }
        bits |= (uint64_t)l.bit << lane;
        d[0] = (uint32_t)r;
        if (inst->dst.dwords > 1)
            d[WAVE_LANES] = (uint32_t)(r >> 32);
    }
    if (is_compare(inst)) {
        rig_set_sreg64(after, inst->dst.reg, bits);
        if (isa_facts[inst->op].effects & ISA_E_SETS_EXEC)
            rig_set_sreg64(after, SREG_EXEC, bits);
    } else if (inst->sdst.kind == ISA_SGPR) {
        rig_set_sreg64(after, inst->sdst.reg, bits);
    }
}

static bool has_meaning(const struct isa_row *row)
{
    static const uint16_t moves[] = {ISA_OP_v_nop,          ISA_OP_v_clrexcp,  ISA_OP_v_readfirstlane_b32,
                                     ISA_OP_v_readlane_b32, ISA_OP_v_swap_b32, ISA_OP_v_writelane_b32,
                                     ISA_OP_v_mqsad_u32_u8};
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        if (moves[i] == row->op)
            return true;
    return meanings[row->op] || !strncmp(row->name, "v_cmp", 5);
}

/* Register numbers below 64, where the fields are. */
static void narrow(const struct isa_row *row, uint32_t *w)
{
    if (row->format == ISA_VOP3) {
        if (!(row->dst == ISA_T_MASK || (row->flags & ISA_F_DST_SGPR)))
            w[0] &= ~0xc0u;
        for (int at = 0; at < 27; at += 9)
            if (w[1] >> at & 0x100)
                w[1] &= ~(0xc0u << at);
        return;
    }
    if (row->format != ISA_VOP1) /* whose opcode is there */
        w[0] &= ~(0xc0u << 9);
    if (row->format != ISA_VOPC && !(row->flags & ISA_F_DST_SGPR))
        w[0] &= ~(0xc0u << 17);
    if ((w[0] & 0x1ff) == 0xf9 ? !(w[1] >> 23 & 1) : (w[0] & 0x1ff) == 0xfa)
        w[1] &= ~0xc0u;
    else if (w[0] & 0x100)
        w[0] &= ~0xc0u;
}

static bool compare_with_reference(unsigned level, const uint32_t *words, const struct isa_inst *inst,
                                   const struct rig_state *before)
{
    static struct rig_state want, got;
    const struct xinst *x = rig_translate(level, words, inst->size);
    rig_load(before);
    CHECK(x->fn(&rig.w, x) == x + 1);
    rig_store(&got);
    refer(inst, before, &want, &got);
    return rig_compare(level, words, inst, before, &want);
}

/* The same as code that looks at exceptions has it: what all lanes, and some by themselves, leave in TRAPSTS.
 */
static void check_exceptions(const uint32_t *words, const struct isa_inst *inst,
                             const struct rig_state *before)
{
    static struct rig_state alone;
    const struct lane zero = {.mode = before->mode};
    const bool raises = raised_in_lane(&zero, isa_op_name(inst->op)) != RAISE_UNKNOWN;
    if (!CHECK_EQ(raises, sem_can_raise(inst)) || !raises)
        return;
    rig.observed = true;
    compare_with_reference(2, words, inst, before);
    alone = *before;
    for (unsigned i = 0; i < 6; i++) {
        rig_set_sreg64(&alone, SREG_EXEC, UINT64_C(1) << (rig_random() & 63));
        compare_with_reference(2, words, inst, &alone);
    }
    rig.observed = false;
}

static void check_form(const struct isa_row *row, unsigned form, unsigned count)
{
    static struct rig_state before;
    unsigned done = 0, bad = 0;
    for (unsigned tries = 0; done < count && tries < count * 400 && bad < 2; tries++) {
        uint32_t words[4];
        struct isa_inst inst;
        rig_words(row, form, words);
        narrow(row, words);
        if (!isa_decode(&isa_gfx942, words, 4, &inst) || !rig_fits(&inst) ||
            inst.sdwa != (form == ISA_FORM_SDWA) || inst.dpp != (form == ISA_FORM_DPP))
            continue;
        done++;
        rig_fill(&before, &inst);
        for (unsigned level = 2; level <= 4; level++) {
            if (!rig_has_level(level))
                continue;
            bad += !compare_with_reference(level, words, &inst, &before);
        }
        check_exceptions(words, &inst, &before);
    }
    if (!CHECK(done > 0))
        fprintf(stderr, "%s %s: no encoding found\n", isa_format_name(row->format), row->name);
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    const char *only = argc > 2 ? argv[2] : NULL;
    for (size_t r = 0; r < isa_gfx942.row_count; r++) {
        const struct isa_row *row = &isa_gfx942.rows[r];
        if ((row->format != ISA_VOP1 && row->format != ISA_VOP2 && row->format != ISA_VOPC &&
             row->format != ISA_VOP3) ||
            !has_meaning(row) || (only && strcmp(only, row->name) != 0))
            continue;
        for (unsigned form = 0; form < ISA_FORM_COUNT; form++)
            if (row->form[form].mask)
                check_form(row, form, count);
    }
    return check_status();
}
