/* SPDX-License-Identifier: MIT */
/*
 * Random programs of what the compiled engine knows, and of what it leaves to handlers in between: straight
 * code with branches forward, and loops that count down.  Registers are few, so that instructions use each
 * other's results; those with addresses stay as they are.
 */
#ifndef EHP_TESTS_JIT_BLOCKS_MAKE_H
#define EHP_TESTS_JIT_BLOCKS_MAKE_H

#include "../oracle/one_instruction.h"

enum {
    UNITS_MAX = 72,
    /* Rows with addresses, from FIRST_KEPT on: scratch, LDS, offsets from a scalar, pairs. */
    FIRST_KEPT = 22,
    ROW_SCRATCH = 22, /* anywhere, equal */
    ROW_LDS = 24,     /* steps of 4, steps of 8, anywhere, equal */
    ROW_OFFSET = 28,  /* some step, anywhere, equal, steps of 16 */
    ROW_PAIR = 32,    /* some step, anywhere, equal; of FLAT, which LDS may be too */
    LAST_KEPT = 37,
    /* Of what makes addresses: a row of numbers that go up by some step, one of equal ones, and the first
     * once more with zeros as its upper half; below them rows and pairs that are made of these. */
    ROW_INDEX = 38,
    ROW_INDEX_PAIR = 40,
    ROW_MADE = 48,
    ROW_MADE_PAIR = 52,
    ROW_TURNS = 60, /* how often lanes may yet go through a loop that they leave one by one, and inner ones */
    SREG_KEPT = 64, /* a pair, the address that offsets are added to; four that follow, small offsets */
    SREG_COUNTER = 70, /* of a loop, and of an inner one */
    SREG_END = 72,     /* a pair: where the program ends */
    SREGS_KEPT = 10,
};

struct unit {
    uint32_t words[3];
    unsigned size;   /* bytes */
    unsigned target; /* of one that ends with a branch: the unit that it goes to; 0: it does not */
    bool dropped;
};

struct program {
    struct unit unit[UNITS_MAX];
    unsigned count;
    unsigned rows; /* a mask on the numbers of VGPRs */
    unsigned last; /* a row that an instruction has just written */
    bool ends; /* the wave does right behind it, and nobody may look at what it has written to registers */
    bool even; /* it makes addresses, and all lanes are mostly active */
    const char *theme; /* in the names of most of its lane-wise instructions */
};

static inline unsigned below(unsigned limit)
{
    return (unsigned)(rig_random() >> 33) % limit;
}

static inline void put(uint32_t *w, unsigned at, unsigned width, uint32_t value)
{
    const uint32_t mask = (width < 32 ? (1u << width) - 1 : UINT32_MAX) << (at & 31);
    w[at / 32] = (w[at / 32] & ~mask) | (value << (at & 31) & mask);
}

static inline bool starts(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static inline unsigned any_scalar(void)
{
    static const uint8_t likely[] = {0, 2, 4, 6, 1, 3, 8, 10, SREG_VCC, SREG_VCC, SREG_VCC + 1, SREG_EXEC};
    return below(4) ? likely[below(sizeof likely)] : below(4) ? below(102) : below(128);
}

static inline unsigned any_row(const struct program *p)
{
    return below(32) & p->rows;
}

/* A source of the vector ALU. */
static inline unsigned any_source(const struct program *p)
{
    const unsigned how = below(20);
    return how < 4 ? 256 + p->last : how < 14 ? 256 + any_row(p) : how < 17 ? any_scalar() : below(256);
}

static inline void choose_vector(const struct program *p, const struct isa_row *row, uint32_t *w)
{
    switch (row->format) {
    case ISA_VOP2:
    case ISA_VOPC:
        put(w, 9, 8, any_row(p));
        /* fall through */
    case ISA_VOP1:
        put(w, 0, 9, any_source(p));
        if (row->format != ISA_VOPC)
            put(w, 17, 8, row->flags & ISA_F_DST_SGPR ? any_scalar() : any_row(p));
        put(w, 32, 8, below(4) ? any_row(p) : any_scalar()); /* SDWA, DPP; else a literal's */
        break;
    default:
        put(w, 0, 8, row->dst == ISA_T_MASK || row->flags & ISA_F_DST_SGPR ? any_scalar() : any_row(p));
        if (row->sdst)
            put(w, 8, 7, any_scalar());
        for (unsigned i = 0; i < 3; i++)
            put(w, 32 + 9 * i, 9, row->src[i] == ISA_T_MASK ? any_scalar() : any_source(p));
        if (below(2)) { /* OMOD and CLAMP, and of VOP3P other modifiers, are rare */
            put(w, 59, 2, row->format == ISA_VOP3P ? 3 : 0);
            put(w, 15, 1, 0);
        }
        if (below(2))
            put(w, 61, 3, 0);
        break;
    }
}

static inline void choose_memory(const struct program *p, const struct isa_row *row, uint32_t *w)
{
    switch (row->format) {
    case ISA_DS: {
        const bool atomic = (isa_facts[row->op].effects & ISA_E_ATOMIC) != 0;
        put(w, 16, 1, 0);
        put(w, 25, 1, below(8) == 0);
        put(w, 32, 8, atomic || below(4) ? ROW_LDS + below(4) : any_row(p));
        if (atomic)
            put(w, 0, 3, 0);
        if (atomic || below(2))
            put(w, 8, 8, row->flags & ISA_F_TWO_ADDRESSES ? below(8) : 0);
        put(w, 40, 8, any_row(p));
        put(w, 48, 8, any_row(p));
        put(w, 56, 8, any_row(p));
        break;
    }
    case ISA_GLOBAL:
    case ISA_FLAT:
        put(w, 0, isa_facts[row->op].effects & ISA_E_ATOMIC ? 3 : 2,
            below(4) ? 0 : below(4)); /* aligned mostly */
        if (row->format == ISA_GLOBAL && below(2)) {
            put(w, 32, 8, ROW_OFFSET + below(4));
            put(w, 48, 7, SREG_KEPT);
        } else {
            put(w, 32, 8, ROW_PAIR + 2 * below(3));
            put(w, 48, 7, row->format == ISA_GLOBAL ? 0x7f : 0);
        }
        put(w, 40, 8, any_row(p));
        put(w, 55, 1, below(8) == 0);
        put(w, 56, 8, any_row(p));
        break;
    case ISA_SCRATCH:
        put(w, 0, 13, below(8) ? 4 * below(24) : below(8192));
        put(w, 13, 1, below(4) == 0);
        put(w, 32, 8, below(8) ? ROW_SCRATCH + below(2) : any_row(p));
        put(w, 40, 8, any_row(p));
        put(w, 48, 7, below(4) ? 0x7f : SREG_KEPT + 2 + below(4));
        put(w, 55, 1, below(8) == 0);
        put(w, 56, 8, any_row(p));
        break;
    default: /* SMEM */
        put(w, 0, 6, SREG_KEPT / 2);
        put(w, 6, 7, any_scalar());
        put(w, 14, 1, below(2));
        put(w, 17, 1, 1);
        put(w, 32, 21, 4 * below(256));
        put(w, 57, 7, SREG_KEPT + 2 + below(4));
        break;
    }
}

static inline void choose_fields(const struct program *p, const struct isa_row *row, uint32_t *w)
{
    if (row->format >= ISA_VOP1 && row->format <= ISA_VOP3PMAI) {
        choose_vector(p, row, w);
        return;
    }
    if (row->format >= ISA_SMEM) {
        choose_memory(p, row, w);
        return;
    }
    if (below(8))
        put(w, 0, 8, any_scalar());
    if (below(8) && row->format != ISA_SOP1 && row->format != ISA_SOPK)
        put(w, 8, 8, any_scalar());
    put(w, 16, 7, any_scalar());
}

/* Rows of the table that are taken; what branches and changes MODE is made by itself. */
static inline bool is_taken(const struct isa_row *row)
{
    static const char *const others[] = {"s_movrel", "ds_append", "ds_consume", "ds_ordered", "s_sleep"};
    const struct isa_facts *facts = &isa_facts[row->op];
    if (facts->effects & (ISA_E_BRANCH | ISA_E_END | ISA_E_SETS_MODE) || facts->unit == ISA_UNIT_GWS ||
        facts->unit == ISA_UNIT_MESSAGE)
        return false;
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
        if (starts(row->name, others[i]))
            return false;
    switch (row->format) {
    case ISA_SMEM:
        return starts(row->name, "s_load_dword");
    case ISA_GLOBAL:
    case ISA_FLAT:
    case ISA_SCRATCH:
        return !strstr(row->name, "lds");
    case ISA_VOP3PMAI:
        return starts(row->name, "v_accvgpr");
    case ISA_SOPP:
        return starts(row->name, "s_nop") || starts(row->name, "s_waitcnt");
    case ISA_MUBUF:
    case ISA_MTBUF:
        return false;
    default:
        return true;
    }
}

static inline bool meets(const struct isa_operand *o, unsigned kind, unsigned first, unsigned last)
{
    return o->kind == kind && o->reg <= last && o->reg + o->dwords > first;
}

/* Whether a result would go where something is kept. */
static inline bool overwrites(const struct isa_inst *inst)
{
    const struct isa_operand *results[] = {&inst->dst, &inst->sdst,
                                           inst->op == ISA_OP_v_swap_b32 ? &inst->src[0] : &inst->dst};
    for (unsigned i = 0; i < 3; i++)
        if (meets(results[i], ISA_VGPR, FIRST_KEPT, LAST_KEPT) ||
            meets(results[i], ISA_SGPR, SREG_KEPT, SREG_KEPT + SREGS_KEPT - 1))
            return true;
    /* SOPK names its register as a source when it also reads it. */
    return inst->format <= ISA_SOPC && meets(&inst->src[0], ISA_SGPR, SREG_KEPT, SREG_KEPT + SREGS_KEPT - 1);
}

/* Lane-wise instructions of one kind are likelier to make something of each other's results. */
static inline bool is_of_theme(const struct program *p, const struct isa_row *row)
{
    return !*p->theme || row->format < ISA_VOP1 || row->format > ISA_VOP3P || strstr(row->name, p->theme);
}

/* DPP: mostly a control that there is, and all rows and banks. */
static inline void choose_dpp(const struct program *p, uint32_t *w)
{
    static const uint16_t steps[] = {0x100, 0x110, 0x120, 0x150};
    static const uint16_t others[] = {0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143};
    put(w, 32, 8, any_row(p));
    switch (below(4)) {
    case 0:
        put(w, 40, 9, below(256));
        break;
    case 1:
        put(w, 40, 9, others[below(sizeof others / sizeof others[0])]);
        break;
    case 2:
        put(w, 40, 9, steps[below(sizeof steps / sizeof steps[0])] + 1 + below(15));
        break;
    default:
        break;
    }
    if (below(2))
        put(w, 52, 4, 0); /* signs */
    if (below(2))
        put(w, 56, 8, 0xff);
}

/* What lanes have of each other and of their numbers, which is little of the table. */
static inline bool is_cross(const struct isa_row *row)
{
    static const char *const names[] = {"v_mbcnt",     "v_readlane", "v_readfirstlane", "v_writelane",
                                        "ds_bpermute", "ds_permute", "ds_swizzle"};
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (starts(row->name, names[i]))
            return true;
    return false;
}

static inline bool choose_unit(struct program *p, unsigned format, struct unit *unit)
{
    const bool themed = below(4), cross = (format == ISA_VOP3 || format == ISA_DS) && below(4) == 0;
    for (unsigned tries = 0; tries < 2000; tries++) {
        const struct isa_row *row = &isa_gfx942.rows[below((unsigned)isa_gfx942.row_count)];
        const unsigned form = below(4) ? ISA_FORM_PLAIN : 1 + below(2);
        if (row->format != format || !row->form[form].mask || !is_taken(row) ||
            (cross ? !is_cross(row) : themed && !is_of_theme(p, row)))
            continue;
        uint32_t w[4], fixed[4];
        struct isa_inst inst;
        rig_words(row, form, w);
        memcpy(fixed, w, sizeof w);
        choose_fields(p, row, w);
        if (form == ISA_FORM_DPP)
            choose_dpp(p, w);
        if (cross && format == ISA_VOP3 && row->src[0] != ISA_T_NONE && below(2)) /* a mask of ones */
            put(w, 32, 9, 193);
        const uint64_t mask = row->form[form].mask;
        for (unsigned i = 0; i < 2; i++) {
            const uint32_t m = (uint32_t)(mask >> 32 * i);
            w[i] = (w[i] & ~m) | (fixed[i] & m);
        }
        if (!isa_decode(&isa_gfx942, w, 3, &inst) || inst.row != row - isa_gfx942.rows || inst.reserved ||
            overwrites(&inst))
            continue;
        *unit = (struct unit){.size = inst.size};
        memcpy(unit->words, w, sizeof unit->words);
        if (inst.dst.kind == ISA_VGPR)
            p->last = inst.dst.reg;
        return true;
    }
    return false;
}

static inline uint32_t word_of(unsigned op)
{
    for (size_t i = 0; i < isa_gfx942.row_count; i++)
        if (isa_gfx942.rows[i].op == op)
            return (uint32_t)isa_gfx942.rows[i].form[0].match;
    return 0;
}

/* Lanes that are on again; masks that come from lanes; MODE; branches. */
static inline void choose_control(struct unit *unit, unsigned at, unsigned count)
{
    static const uint16_t branches[] = {
        ISA_OP_s_cbranch_scc0,  ISA_OP_s_cbranch_scc1,   ISA_OP_s_cbranch_vccz, ISA_OP_s_cbranch_vccnz,
        ISA_OP_s_cbranch_execz, ISA_OP_s_cbranch_execnz, ISA_OP_s_branch};
    const unsigned how = below(8);
    *unit = (struct unit){.size = 4};
    if (how == 0) { /* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10) */
        unit->size = 8;
        unit->words[0] = word_of(ISA_OP_s_setreg_imm32_b32) | 9u << 11 | 1;
        unit->words[1] = below(2) ? MODE_FLOAT_PLAIN | MODE_IEEE : rig_mode() & 0x3ff;
    } else if (how < 4) { /* s_mov_b64 exec, -1 or a pair */
        unit->words[0] = word_of(ISA_OP_s_mov_b64) | SREG_EXEC << 16 | (below(2) ? 193 : 2 * below(8));
    } else {
        unit->words[0] = word_of(branches[below(sizeof branches / sizeof branches[0])]);
        unit->target = at + 1 + below(count - at);
    }
}

/* A conversion and the one back, which LLVM knows something of. */
static inline void choose_there_and_back(const struct program *p, struct unit pair[2])
{
    static const uint16_t conversions[][2] = {{ISA_OP_v_cvt_f64_f32, ISA_OP_v_cvt_f32_f64},
                                              {ISA_OP_v_cvt_f32_f16, ISA_OP_v_cvt_f16_f32},
                                              {ISA_OP_v_cvt_f16_f32, ISA_OP_v_cvt_f32_f16},
                                              {ISA_OP_v_cvt_f64_i32, ISA_OP_v_cvt_i32_f64},
                                              {ISA_OP_v_cvt_f32_u32, ISA_OP_v_cvt_u32_f32}};
    const uint16_t *ops = conversions[below(sizeof conversions / sizeof conversions[0])];
    const unsigned between = any_row(p) % 8 & ~1u;
    pair[0] = (struct unit){.words = {word_of(ops[0]) | between << 17 | (256 + any_row(p))}, .size = 4};
    pair[1] = (struct unit){.words = {word_of(ops[1]) | any_row(p) % 16 << 17 | (256 + between)}, .size = 4};
}

/* Pairs of f32 that are made of halves of each other, one of which is then dropped. */
static inline void choose_halves(const struct program *p, struct unit three[3])
{
    static const uint16_t ops[] = {ISA_OP_v_pk_fma_f32, ISA_OP_v_pk_mul_f32, ISA_OP_v_pk_add_f32};
    const unsigned first = any_row(p) & ~1u, second = any_row(p) & ~1u;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t *w = three[i].words;
        three[i] = (struct unit){.words = {word_of(ops[below(3)])}, .size = 8};
        put(w, 0, 8, i ? second : first);
        put(w, 11, 4, below(16)); /* op_sel, and op_sel_hi's last */
        put(w, 32, 9, 256 + (i ? first : any_row(p) & ~1u));
        put(w, 41, 9, 256 + (any_row(p) & ~1u));
        put(w, 50, 9, 256 + (any_row(p) & ~1u));
        put(w, 59, 2, below(4)); /* the rest of op_sel_hi */
    }
    const uint32_t dropped = (below(2) ? first : second) + below(2);
    three[2] =
        (struct unit){.words = {word_of(ISA_OP_v_mov_b32) | dropped << 17 | (256 + any_row(p))}, .size = 4};
}

/* A compare, logic of what compares make, or a choice by it. */
static inline void choose_mask(const struct program *p, struct unit *unit)
{
    static const uint8_t pairs[] = {0, 2, 4, 6, SREG_VCC};
    static const uint16_t compares[] = {ISA_OP_v_cmp_lt_u32, ISA_OP_v_cmp_eq_i32, ISA_OP_v_cmp_gt_f32,
                                        ISA_OP_v_cmp_ge_i32, ISA_OP_v_cmp_lt_f64, ISA_OP_v_cmp_class_f32};
    static const uint16_t logic[] = {ISA_OP_s_and_b64,   ISA_OP_s_or_b64,   ISA_OP_s_xor_b64,
                                     ISA_OP_s_andn2_b64, ISA_OP_s_orn2_b64, ISA_OP_s_nand_b64,
                                     ISA_OP_s_nor_b64,   ISA_OP_s_xnor_b64, ISA_OP_s_and_b64,
                                     ISA_OP_s_or_b64,    ISA_OP_s_mov_b64,  ISA_OP_s_not_b64};
    const unsigned a = pairs[below(sizeof pairs)], b = pairs[below(sizeof pairs)],
                   d = pairs[below(sizeof pairs)], how = below(8);
    uint32_t *w = unit->words;
    *unit = (struct unit){.size = 4};
    if (how < 2) {
        w[0] = word_of(compares[below(sizeof compares / sizeof compares[0])]);
        put(w, 0, 9, any_source(p) >= 249 ? 256 + any_row(p) : any_scalar() % 102);
        put(w, 9, 8, any_row(p));
    } else if (how < 4) { /* the same, with any pair: VOP3 */
        const struct isa_row *row;
        do
            row = &isa_gfx942.rows[below((unsigned)isa_gfx942.row_count)];
        while (row->format != ISA_VOP3 || row->dst != ISA_T_MASK || !starts(row->name, "v_cmp_"));
        uint32_t fixed[4];
        rig_words(row, ISA_FORM_PLAIN, fixed);
        memcpy(w, fixed, 2 * sizeof *w);
        w[0] &= (uint32_t)row->form[0].mask;
        w[1] &= (uint32_t)(row->form[0].mask >> 32);
        put(w, 0, 8, d);
        put(w, 32, 9, 256 + (any_row(p) & ~1u)); /* that of a pair too */
        put(w, 41, 9, 256 + (any_row(p) & ~1u));
        unit->size = 8;
    } else if (how < 5) {
        w[0] = word_of(ISA_OP_v_cndmask_b32) | any_row(p) << 17 | any_row(p) << 9 | (256 + any_row(p));
    } else {
        const unsigned op = logic[below(sizeof logic / sizeof logic[0])];
        const unsigned first = below(6) ? a : below(2) ? SREG_EXEC : below(2) ? 128 : 193;
        const unsigned second = below(6) ? b : below(2) ? SREG_EXEC : below(2) ? 128 : 193;
        w[0] = word_of(op) | d << 16 | first;
        if (op != ISA_OP_s_mov_b64 && op != ISA_OP_s_not_b64)
            w[0] |= second << 8;
    }
}

/* What a loop may have that is executed slice by slice: mostly, as not all of it can be seen from here. */
static inline bool suits_loop(const struct unit *unit)
{
    struct isa_inst inst;
    if (!isa_decode(&isa_gfx942, unit->words, 3, &inst) ||
        isa_facts[inst.op].effects & (ISA_E_STORE | ISA_E_ATOMIC | ISA_E_SETS_EXEC))
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (inst.src[i].kind == ISA_SPECIAL || meets(&inst.src[i], ISA_SGPR, SREG_EXEC, SREG_EXEC + 1))
            return false;
    return !meets(&inst.dst, ISA_SGPR, SREG_EXEC, SREG_EXEC + 1) &&
           (inst.format < ISA_VOP1 || inst.dst.kind != ISA_SGPR);
}

/* Goes on in memory, so that iterations read from elsewhere, and in the end where nothing is. */
static inline void choose_advance(struct unit *unit)
{
    static const uint8_t rows[] = {ROW_LDS,        ROW_LDS + 2, ROW_OFFSET,  ROW_OFFSET + 1,
                                   ROW_OFFSET + 2, ROW_PAIR,    ROW_PAIR + 2};
    const uint32_t step = below(8) ? 4 * below(64) : 0x1000;
    *unit = (struct unit){.size = 8};
    if (below(4)) {
        const uint32_t row = rows[below(sizeof rows)];
        unit->words[0] = word_of(ISA_OP_v_add_u32) | row << 17 | row << 9 | 255;
    } else {
        const uint32_t reg = SREG_KEPT + 2 + below(4);
        unit->words[0] = word_of(ISA_OP_s_add_u32) | reg << 16 | reg << 8 | 255;
    }
    unit->words[1] = step;
}

/*
 * The end of a loop that lanes leave one by one: those that are done are gathered in a pair, which are some
 * by a compare of what is at hand, and in the end all by a counter of their own.
 */
static inline void choose_leaving(struct program *p, unsigned first, uint32_t done)
{
    const uint32_t to = word_of(ISA_OP_s_or_b64) | done << 16 | done << 8 | SREG_VCC;
    struct unit *unit = &p->unit[p->count];
    *unit++ = (struct unit){.words = {word_of(ISA_OP_v_add_u32) | ROW_TURNS << 17 | ROW_TURNS << 9 | 193},
                            .size = 4};
    if (below(2))
        *unit++ = (struct unit){
            .words = {word_of(ISA_OP_v_cmp_gt_i32) | any_row(p) << 9 | (256 + any_row(p)), to}, .size = 8};
    *unit++ = (struct unit){.words = {word_of(ISA_OP_v_cmp_ge_i32) | ROW_TURNS << 9 | 128}, .size = 4};
    if (below(4) == 0)
        *unit++ = (struct unit){
            .words = {word_of(ISA_OP_s_and_b64) | SREG_VCC << 16 | SREG_VCC << 8 | SREG_EXEC}, .size = 4};
    *unit++ =
        (struct unit){.words = {to, word_of(ISA_OP_s_andn2_b64) | SREG_EXEC << 16 | done << 8 | SREG_EXEC,
                                word_of(ISA_OP_s_cbranch_execnz)},
                      .size = 12,
                      .target = first};
    if (below(2)) /* as compilers do behind it */
        *unit++ = (struct unit){.words = {word_of(ISA_OP_s_or_b64) | SREG_EXEC << 16 | done << 8 | SREG_EXEC},
                                .size = 4};
    p->count = (unsigned)(unit - p->unit);
}

/* The end of one that counts down. */
static inline void choose_counting(struct program *p, unsigned first)
{
    const bool on = below(2);
    p->unit[p->count++] = (struct unit){
        .words = {word_of(ISA_OP_s_sub_u32) | SREG_COUNTER << 16 | 129u << 8 | SREG_COUNTER,
                  word_of(on ? ISA_OP_s_cmp_gt_i32 : ISA_OP_s_cmp_le_i32) | 128u << 8 | SREG_COUNTER,
                  word_of(on ? ISA_OP_s_cbranch_scc1 : ISA_OP_s_cbranch_scc0)},
        .size = 12,
        .target = first};
}

/* A loop: a counter is set, and at the end counted down; or lanes leave it. */
static inline void choose_loop(struct program *p, unsigned units)
{
    static const uint8_t formats[] = {ISA_VOP1, ISA_VOP2, ISA_VOP2,  ISA_VOP2,   ISA_VOPC,   ISA_VOP3,
                                      ISA_VOP3, ISA_VOP3, ISA_VOP3P, ISA_SOP1,   ISA_SOP2,   ISA_SOPP,
                                      ISA_DS,   ISA_SMEM, ISA_SMEM,  ISA_GLOBAL, ISA_GLOBAL, ISA_FLAT};
    const bool suits = below(8) != 0, themed = *p->theme && below(2), masks = below(3) == 0,
               leaving = below(3) == 0;
    static const uint8_t pairs[] = {2, 4, 8, 60};
    const uint32_t done = pairs[below(sizeof pairs)]; /* who has left */
    const uint32_t rounds = below(8) ? 1 + below(8) : below(4) ? 40 : 1400;
    p->unit[p->count++] =
        (struct unit){.words = {word_of(ISA_OP_s_movk_i32) | SREG_COUNTER << 16 | rounds}, .size = 4};
    if (leaving && below(4)) /* nobody has left */
        p->unit[p->count - 1] =
            (struct unit){.words = {word_of(ISA_OP_s_mov_b64) | done << 16 | 128}, .size = 4};
    const unsigned first = p->count;
    while (p->count < first + units) {
        struct unit *unit = &p->unit[p->count];
        const unsigned format = themed && below(4) ? formats[below(9)] : formats[below(sizeof formats)];
        if (below(8) == 0)
            choose_advance(unit);
        else if (masks && below(2))
            choose_mask(p, unit);
        else if (!choose_unit(p, format, unit) || (suits && !suits_loop(unit)))
            continue;
        p->count++;
    }
    if (leaving) {
        choose_leaving(p, first, done);
        return;
    }
    choose_counting(p, first);
}

/* ---- addresses that are made of lanes' numbers ---- */

static inline struct unit vector_unit(unsigned op, unsigned dst, unsigned x, unsigned y, unsigned z)
{
    struct unit unit = {.size = 4};
    unsigned format = ISA_VOP3;
    for (size_t i = 0; i < isa_gfx942.row_count; i++)
        if (isa_gfx942.rows[i].op == op) {
            format = isa_gfx942.rows[i].format;
            memcpy(unit.words, &isa_gfx942.rows[i].form[0].match, 8);
            break;
        }
    if (format == ISA_VOP3) {
        unit.size = 8;
        put(unit.words, 0, 8, dst);
        put(unit.words, 32, 9, x);
        put(unit.words, 41, 9, y);
        put(unit.words, 50, 9, z);
        return unit;
    }
    put(unit.words, 0, 9, x);
    put(unit.words, 17, 8, dst);
    if (format == ISA_VOP2)
        put(unit.words, 9, 8, y);
    return unit;
}

static inline unsigned any_index(void)
{
    switch (below(8)) {
    case 0:
        return 128 + below(65); /* a number up to 64 */
    case 1:
        return SREG_KEPT + 2 + below(4);
    case 2:
    case 3:
        return 256 + ROW_INDEX + below(2);
    default:
        return 256 + ROW_MADE + below(4);
    }
}

/* Dwords. */
static inline void choose_index(struct unit *unit)
{
    static const uint16_t ops[] = {
        ISA_OP_v_mov_b32,     ISA_OP_v_add_u32,      ISA_OP_v_sub_u32,      ISA_OP_v_subrev_u32,
        ISA_OP_v_add3_u32,    ISA_OP_v_lshl_add_u32, ISA_OP_v_add_lshl_u32, ISA_OP_v_lshl_or_b32,
        ISA_OP_v_or_b32,      ISA_OP_v_and_b32,      ISA_OP_v_and_or_b32,   ISA_OP_v_bfe_u32,
        ISA_OP_v_lshlrev_b32, ISA_OP_v_lshrrev_b32,  ISA_OP_v_ashrrev_i32,  ISA_OP_v_mul_lo_u32,
        ISA_OP_v_mul_u32_u24, ISA_OP_v_mad_u32_u24,  ISA_OP_v_xor_b32};
    const unsigned op = ops[below(sizeof ops / sizeof ops[0])], small = 128 + below(below(4) ? 5 : 32);
    const unsigned row = 256 + (below(2) ? ROW_INDEX : ROW_MADE + below(4));
    const bool first = op == ISA_OP_v_lshlrev_b32 || op == ISA_OP_v_lshrrev_b32 || op == ISA_OP_v_ashrrev_i32;
    const bool second = op == ISA_OP_v_lshl_add_u32 || op == ISA_OP_v_lshl_or_b32 || op == ISA_OP_v_bfe_u32;
    const bool third = op == ISA_OP_v_add_lshl_u32 || op == ISA_OP_v_bfe_u32;
    *unit = vector_unit(op, ROW_MADE + below(4), first ? small : any_index(), second ? small : row,
                        third ? 128 + below(32) : any_index());
}

/* Pairs. */
static inline unsigned choose_pair(struct unit *unit)
{
    const unsigned to = ROW_MADE_PAIR + 2 * below(2), base = SREG_KEPT;
    const unsigned pair = 256 + (below(4) ? ROW_INDEX_PAIR : ROW_MADE_PAIR + 2 * below(2));
    switch (below(4)) {
    case 0:
        unit[0] = vector_unit(ISA_OP_v_lshl_add_u64, to, pair, 128 + below(5), below(4) ? base : pair);
        return 1;
    case 1: /* its carry goes to VCC */
        unit[0] = vector_unit(below(2) ? ISA_OP_v_mad_u64_u32 : ISA_OP_v_mad_i64_i32, to, any_index(),
                              128 + 4 * below(5), base);
        put(unit[0].words, 8, 7, SREG_VCC);
        return 1;
    case 2:
        unit[0] = vector_unit(ISA_OP_v_lshlrev_b64, to, 128 + below(4), pair, 0);
        unit[1] = vector_unit(ISA_OP_v_lshl_add_u64, to, 256 + to, 128, base);
        return 2;
    default:
        unit[0] = vector_unit(ISA_OP_v_mov_b32, to + 1, base + 1, 0, 0);
        unit[1] = vector_unit(ISA_OP_v_add_co_u32, to, base, ROW_MADE + below(4), 0);
        unit[2] = vector_unit(ISA_OP_v_addc_co_u32, to + 1, 128, to + 1, 0);
        return 3;
    }
}

static inline void choose_even_access(const struct program *p, struct unit *unit)
{
    static const uint16_t ops[] = {ISA_OP_global_load_dword,    ISA_OP_global_load_dwordx2,
                                   ISA_OP_global_load_dwordx3,  ISA_OP_global_load_dwordx4,
                                   ISA_OP_global_load_sshort,   ISA_OP_global_load_ubyte,
                                   ISA_OP_global_store_dword,   ISA_OP_global_store_dwordx2,
                                   ISA_OP_global_store_dwordx4, ISA_OP_global_store_short};
    const unsigned op = below(2) ? below(2) ? ISA_OP_global_load_dword : ISA_OP_global_store_dword
                                 : ops[below(sizeof ops / sizeof ops[0])];
    *unit = (struct unit){.size = 8};
    for (size_t i = 0; i < isa_gfx942.row_count; i++)
        if (isa_gfx942.rows[i].op == op)
            memcpy(unit->words, &isa_gfx942.rows[i].form[0].match, 8);
    const bool offset = below(4) == 0;
    put(unit->words, 0, 13, below(4) ? 0 : 4 * below(128));
    put(unit->words, 32, 8, offset ? ROW_OFFSET : ROW_MADE_PAIR + 2 * below(2));
    put(unit->words, 40, 8, any_row(p) % 16);
    put(unit->words, 48, 7, offset ? SREG_KEPT : 0x7f);
    put(unit->words, 56, 8, any_row(p) % 16);
}

/* Returns how many it is, at most 3. */
static inline unsigned choose_even(const struct program *p, struct unit *unit)
{
    switch (below(4)) {
    case 0:
        choose_index(unit);
        return 1;
    case 1:
        return choose_pair(unit);
    default:
        choose_even_access(p, unit);
        return 1;
    }
}

static inline void program_make(struct program *p)
{
    static const uint8_t formats[] = {ISA_VOP1,   ISA_VOP1,   ISA_VOP2,  ISA_VOP2, ISA_VOP2, ISA_VOP2,
                                      ISA_VOPC,   ISA_VOPC,   ISA_VOP3,  ISA_VOP3, ISA_VOP3, ISA_VOP3,
                                      ISA_VOP3,   ISA_VOP3P,  ISA_VOP3P, ISA_SOP1, ISA_SOP1, ISA_SOP2,
                                      ISA_SOP2,   ISA_SOPC,   ISA_SOPK,  ISA_DS,   ISA_DS,   ISA_DS,
                                      ISA_GLOBAL, ISA_GLOBAL, ISA_FLAT,  ISA_SMEM, ISA_SOPP, ISA_VOP3PMAI};
    static const uint8_t rows[] = {3, 7, 7, 15, 31};
    static const char *const themes[] = {"",   "",   "",   "f32", "f32", "f64", "f64", "f16", "f16", "cvt",
                                         "32", "16", "_u", "_i",  "_b",  "cmp", "pk_", "mi",  "ma"};
    const unsigned count = below(3) ? 2 + below(12) : 2 + below(36), controls = below(3) ? 12 : 4;
    const bool masks = below(4) == 0, scratch = below(6) == 0;
    bool looped = false;
    *p = (struct program){.even = below(3) == 0,
                          .rows = rows[below(sizeof rows)],
                          .theme = themes[below(sizeof themes / sizeof themes[0])]};
    while (p->count < count) {
        struct unit *unit = &p->unit[p->count];
        if (p->even && below(3) && p->count + 3 <= count) {
            p->count += choose_even(p, unit);
            continue;
        }
        if (below(p->even ? 24 : controls) == 0)
            choose_control(unit, p->count, count);
        else if (masks && below(2))
            choose_mask(p, unit);
        else if (scratch && below(3) == 0 && choose_unit(p, ISA_SCRATCH, unit))
            ;
        else if (below(16) == 0 && p->count + 2 <= count)
            choose_there_and_back(p, unit), p->count++;
        else if (below(16) == 0 && p->count + 3 <= count)
            choose_halves(p, unit), p->count += 2;
        else if (!looped && below(6) == 0 && p->count + 3 <= count) {
            choose_loop(p, 1 + below(count - p->count - 2));
            looped = true;
            continue;
        } else if (!choose_unit(p, formats[below(sizeof formats)], unit))
            continue;
        p->count++;
    }
}

/*
 * Its dwords, with s_endpgm behind what is left of it: where it goes by s_setpc_b64, as who calls might look
 * at all registers, and they have to be as they should.
 */
static inline unsigned program_encode(const struct program *p, uint32_t *words)
{
    unsigned at[UNITS_MAX + 1], n = 0;
    for (unsigned i = 0; i <= p->count; i++) {
        at[i] = n;
        n += i < p->count && !p->unit[i].dropped ? p->unit[i].size / 4 : 0;
    }
    for (unsigned i = 0; i < p->count; i++) {
        const struct unit *unit = &p->unit[i];
        if (unit->dropped)
            continue;
        memcpy(words + at[i], unit->words, unit->size);
        const unsigned last = at[i] + unit->size / 4 - 1;
        if (unit->target)
            words[last] |= (at[unit->target] - last - 1) & 0xffff;
    }
    if (!p->ends)
        words[n++] = word_of(ISA_OP_s_setpc_b64) | SREG_END;
    words[n++] = word_of(ISA_OP_s_endpgm);
    return n;
}

#endif
