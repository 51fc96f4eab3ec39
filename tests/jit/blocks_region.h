/* SPDX-License-Identifier: MIT */
/*
 * Random loops of several basic blocks, as compilers make them and a little other: parts that some lanes
 * execute, with EXEC saved and a branch when nobody does, lanes that leave in the middle, branches that all
 * take, loops in loops.
 */
#ifndef EHP_TESTS_JIT_BLOCKS_REGION_H
#define EHP_TESTS_JIT_BLOCKS_REGION_H

#include "blocks_make.h"

enum {
    ROOM = UNITS_MAX - 14, /* of the units; who begins something has room to end it */
    SREG_SAVED = 12,       /* pairs, by depth: EXEC before a part; who has left a loop; EXEC before that; */
    SREG_ALIKE = 30,       /* pairs: what is the same for all lanes */
    SREG_FREE = 36,        /* scalars up to 47 */
    DEPTH_MAX = 3,
};

struct region_maker {
    struct program *p;
    bool tidy; /* its units do nothing that regions cannot have */
    bool loads;
};

static inline void region_some(struct region_maker *m, unsigned depth);

static inline struct unit *region_unit(struct program *p, uint32_t word)
{
    struct unit *unit = &p->unit[p->count++];
    *unit = (struct unit){.words = {word}, .size = 4};
    return unit;
}

static inline void region_append(struct unit *unit, uint32_t word)
{
    unit->words[unit->size / 4] = word;
    unit->size += 4;
}

static inline uint32_t scalar_word(unsigned op, uint32_t to, uint32_t a, uint32_t b)
{
    return word_of(op) | to << 16 | b << 8 | a;
}

/* A compare of lanes that goes to VCC. */
static inline void region_compare(struct region_maker *m)
{
    static const uint16_t compares[] = {ISA_OP_v_cmp_lt_u32, ISA_OP_v_cmp_gt_i32, ISA_OP_v_cmp_ge_i32,
                                        ISA_OP_v_cmp_lt_f32, ISA_OP_v_cmp_ne_u32, ISA_OP_v_cmp_eq_i32};
    const unsigned op = compares[below(sizeof compares / sizeof compares[0])];
    const unsigned with = below(4) ? 256 + any_row(m->p) : below(2) ? 128 + below(64) : SREG_FREE + below(12);
    region_unit(m->p, word_of(op) | any_row(m->p) << 9 | with);
}

/* Whether a unit of the scalar ALU stays away from masks. */
static inline bool is_tidy(const struct isa_inst *inst)
{
    const struct isa_operand *of[] = {&inst->dst, &inst->src[0], &inst->src[1], &inst->src[2], &inst->sdst};
    if (inst->dpp || inst->format == ISA_SCRATCH)
        return false;
    for (unsigned i = 0; i < 5; i++)
        if (of[i]->kind == ISA_SGPR &&
            (of[i]->reg < SREG_FREE || of[i]->reg + of[i]->dwords > SREG_FREE + 12) &&
            !(i && of[i]->reg >= SREG_KEPT && of[i]->reg < SREG_COUNTER))
            return false;
    return true;
}

static inline void region_plain(struct region_maker *m)
{
    static const uint8_t formats[] = {ISA_VOP1, ISA_VOP2, ISA_VOP2, ISA_VOP2, ISA_VOP3, ISA_VOP3, ISA_VOP3P,
                                      ISA_SOP1, ISA_SOP2, ISA_SOPK, ISA_SOPC, ISA_DS,   ISA_SMEM, ISA_GLOBAL};
    struct program *p = m->p;
    for (unsigned tries = 0; tries < 40 && p->count < ROOM; tries++) {
        struct unit *unit = &p->unit[p->count];
        struct isa_inst inst;
        const unsigned format = formats[below(sizeof formats - (m->loads ? 0 : 3))];
        const bool mask = below(5) == 0;
        if (mask)
            choose_mask(p, unit);
        else if (below(16) == 0 && m->loads)
            choose_advance(unit);
        else if (format == ISA_SOP2 && below(2)) { /* small, and not to be known by everybody */
            const uint32_t to = SREG_FREE + below(12), from = SREG_FREE + below(12);
            *unit = (struct unit){.words = {scalar_word(below(2) ? ISA_OP_s_add_u32 : ISA_OP_s_xor_b32, to,
                                                        from, below(2) ? 129 : SREG_COUNTER)},
                                  .size = 4};
        } else if (format == ISA_VOP2 && below(4) == 0) {
            const uint32_t to = any_row(p) << 17 | any_row(p) << 9;
            *unit =
                (struct unit){.words = {word_of(ISA_OP_v_add_u32) | to | (SREG_FREE + below(12))}, .size = 4};
        } else if (!choose_unit(p, format, unit) || !suits_loop(unit)) {
            continue;
        }
        if (m->tidy && !mask &&
            (!isa_decode(&isa_gfx942, unit->words, 3, &inst) || (inst.format < ISA_DS && !is_tidy(&inst))))
            continue;
        p->count++;
        return;
    }
}

/* A part that lanes execute for which a compare holds, and perhaps another one for the others. */
static inline void region_if(struct region_maker *m, unsigned depth)
{
    static const uint16_t saves[] = {ISA_OP_s_and_saveexec_b64,   ISA_OP_s_and_saveexec_b64,
                                     ISA_OP_s_and_saveexec_b64,   ISA_OP_s_andn1_saveexec_b64,
                                     ISA_OP_s_andn2_saveexec_b64, ISA_OP_s_xor_saveexec_b64};
    struct program *p = m->p;
    const uint32_t saved = SREG_SAVED + 2 * depth;
    const unsigned op = saves[below(m->tidy ? 3 : sizeof saves / sizeof saves[0])];
    const bool other = below(3) == 0, branches = below(4) != 0;
    region_compare(m);
    struct unit *unit = region_unit(p, scalar_word(op, saved, SREG_VCC, 0));
    if (other)
        region_append(unit, scalar_word(ISA_OP_s_xor_b64, saved, SREG_EXEC, saved));
    if (branches)
        region_append(unit, word_of(ISA_OP_s_cbranch_execz));
    region_some(m, depth + 1);
    if (branches)
        unit->target = p->count;
    if (other) {
        unit = region_unit(p, scalar_word(ISA_OP_s_andn2_saveexec_b64, saved, saved, 0));
        const bool too = below(2);
        if (too)
            region_append(unit, word_of(ISA_OP_s_cbranch_execz));
        region_some(m, depth + 1);
        if (too)
            unit->target = p->count;
    }
    region_unit(p, scalar_word(ISA_OP_s_or_b64, SREG_EXEC, SREG_EXEC, saved));
}

/* A part that all lanes execute, or none. */
static inline void region_alike(struct region_maker *m, unsigned depth)
{
    struct program *p = m->p;
    struct unit *unit;
    if (below(2)) {
        unit = region_unit(p, word_of(ISA_OP_s_cmp_gt_i32) | (SREG_FREE + below(12)) | 128u << 8);
        region_append(unit, word_of(below(2) ? ISA_OP_s_cbranch_scc1 : ISA_OP_s_cbranch_scc0));
    } else { /* as it was found some time before */
        const uint32_t alike = SREG_ALIKE + 2 * below(3);
        unit = region_unit(p, word_of(ISA_OP_s_cmp_lt_i32) | (SREG_FREE + below(12)) | 128u << 8);
        region_append(unit, scalar_word(ISA_OP_s_cselect_b64, alike, 193, 128));
        if (below(2))
            region_some(m, depth + 1);
        unit = region_unit(
            p, scalar_word(below(2) ? ISA_OP_s_and_b64 : ISA_OP_s_andn2_b64, SREG_VCC, SREG_EXEC, alike));
        region_append(unit, word_of(below(2) ? ISA_OP_s_cbranch_vccz : ISA_OP_s_cbranch_vccnz));
    }
    region_some(m, depth + 1);
    unit->target = p->count;
}

/* A loop: it is counted, or lanes leave it one by one. */
static inline void region_loop(struct region_maker *m, unsigned depth)
{
    struct program *p = m->p;
    const uint32_t counter = SREG_COUNTER + (depth > 0), done = SREG_SAVED + 8 + 2 * depth,
                   before = SREG_SAVED + 14 + 2 * (depth & 1), turns = ROW_TURNS + depth;
    const bool leaving = below(3) != 0, breaks = leaving && below(2);
    struct unit *unit, *out = NULL;
    if (leaving) {
        unit = region_unit(p, scalar_word(ISA_OP_s_mov_b64, done, 128, 0));
        if (depth)
            region_append(unit, word_of(ISA_OP_v_and_b32) | turns << 17 | any_row(p) << 9 | (128 + 7));
    } else {
        const uint32_t rounds = depth ? 1 + below(3) : below(8) ? 1 + below(12) : 300;
        region_unit(p, word_of(ISA_OP_s_movk_i32) | counter << 16 | rounds);
    }
    const unsigned first = p->count;
    region_some(m, depth + 1);
    if (breaks) { /* what follows is for those who stay */
        region_compare(m);
        unit = region_unit(p, scalar_word(ISA_OP_s_mov_b64, before, SREG_EXEC, 0));
        region_append(unit, scalar_word(ISA_OP_s_or_b64, done, done, SREG_VCC));
        out = region_unit(p, scalar_word(ISA_OP_s_andn2_b64, SREG_EXEC, SREG_EXEC, SREG_VCC));
        region_append(out, word_of(ISA_OP_s_cbranch_execz));
        region_some(m, depth + 1);
    }
    if (leaving) {
        region_unit(p, word_of(ISA_OP_v_add_u32) | turns << 17 | turns << 9 | 193);
        unit = region_unit(p, word_of(ISA_OP_v_cmp_ge_i32) | turns << 9 | 128);
        region_append(unit, scalar_word(ISA_OP_s_or_b64, done, done, SREG_VCC));
        if (out) {
            out->target = p->count;
            region_unit(p, scalar_word(ISA_OP_s_or_b64, SREG_EXEC, SREG_EXEC, before));
        }
        unit = region_unit(p, scalar_word(ISA_OP_s_andn2_b64, SREG_EXEC, SREG_EXEC, done));
        region_append(unit, word_of(ISA_OP_s_cbranch_execnz));
        unit->target = first;
        if (below(4) || depth)
            region_unit(p, scalar_word(ISA_OP_s_or_b64, SREG_EXEC, SREG_EXEC, done));
    } else {
        unit = region_unit(p, scalar_word(ISA_OP_s_sub_u32, counter, counter, 129));
        region_append(unit, word_of(ISA_OP_s_cmp_gt_i32) | counter | 128u << 8);
        region_append(unit, word_of(ISA_OP_s_cbranch_scc1));
        unit->target = first;
    }
}

/* EXEC is something else. */
static inline void region_odd(struct region_maker *m)
{
    static const uint16_t ops[] = {ISA_OP_s_or_b64, ISA_OP_s_and_b64, ISA_OP_s_xor_b64, ISA_OP_s_orn2_b64};
    region_unit(m->p, scalar_word(ops[below(4)], SREG_EXEC, SREG_EXEC,
                                  below(2) ? SREG_VCC : SREG_SAVED + 2 * below(6)));
}

static inline void region_some(struct region_maker *m, unsigned depth)
{
    for (unsigned n = 1 + below(4); n; n--) {
        const unsigned how = below(12);
        if (m->p->count + 12 * (DEPTH_MAX - depth) >= ROOM || depth == DEPTH_MAX || how < 7)
            region_plain(m);
        else if (how < 9)
            region_if(m, depth);
        else if (how < 10)
            region_alike(m, depth);
        else if (how < 11 && depth < 2)
            region_loop(m, depth);
        else if (!m->tidy && below(4) == 0)
            region_odd(m);
    }
}

static inline void program_make_region(struct program *p)
{
    static const uint8_t rows[] = {3, 7, 7, 15, 15};
    static const char *const themes[] = {"", "f32", "f32", "f64", "32", "_u", "_i", "_b"};
    *p = (struct program){.rows = rows[below(sizeof rows)],
                          .theme = themes[below(sizeof themes / sizeof themes[0])],
                          .even = below(4) == 0};
    struct region_maker m = {.p = p, .tidy = below(5) != 0, .loads = below(3) == 0};
    region_plain(&m);
    if (below(2)) /* slices without lanes */
        region_unit(p, scalar_word(ISA_OP_s_mov_b64, SREG_EXEC, below(2) ? 193 : 2 * below(8), 0));
    region_loop(&m, 0);
    if (below(2))
        region_plain(&m);
}

#endif
