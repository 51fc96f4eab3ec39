/* SPDX-License-Identifier: MIT */
/*
 * Random loops that load from where lanes' addresses go up evenly, or go on doing so for some iterations, or
 * do not quite: rows that are made before, and in iterations go on by the same for all lanes.  They count
 * down, or lanes leave them one by one.
 */
#ifndef EHP_TESTS_JIT_BLOCKS_EVEN_H
#define EHP_TESTS_JIT_BLOCKS_EVEN_H

#include "blocks_make.h"

static inline void even_add(struct program *p, struct unit unit)
{
    p->unit[p->count++] = unit;
}

/* Of those whose addresses may go up evenly. */
static inline unsigned even_pair(void)
{
    return (below(2) ? ROW_PAIR + 4 * below(2) : ROW_MADE_PAIR + 2 * below(2));
}

/* The pair goes on by a number, a small one mostly; by a scalar, or by a row that is perhaps the same for
 * all. */
static inline void even_pair_goes_on(struct program *p)
{
    const unsigned pair = even_pair();
    const unsigned by[] = {128 + 4 * below(17), 193 + below(4), SREG_KEPT + 2 + below(4),
                           256 + (below(2) ? ROW_INDEX + 1 : ROW_MADE + below(4))};
    const unsigned number = by[below(4) ? below(3) : 3];
    if (number < 193 && below(2)) {
        even_add(p, vector_unit(ISA_OP_v_lshl_add_u64, pair, number, 128 + below(4), 256 + pair));
        return;
    }
    even_add(p, vector_unit(ISA_OP_v_add_co_u32, pair, number, pair, 0));
    /* Upper halves of what is added: none; of numbers below 0 all ones, and once in a while of others. */
    const unsigned high = number >= 193 && number < 197 && below(8) ? 193 : below(16) ? 128 : 193;
    even_add(p, vector_unit(ISA_OP_v_addc_co_u32, pair + 1, high, pair + 1, 0));
}

static inline void even_row_goes_on(struct program *p)
{
    static const uint8_t rows[] = {ROW_OFFSET,     ROW_OFFSET, ROW_OFFSET + 2,
                                   ROW_OFFSET + 3, ROW_INDEX,  ROW_MADE};
    const unsigned row = rows[below(sizeof rows)], by = below(2)   ? 128 + 4 * below(17)
                                                        : below(2) ? SREG_KEPT + 2 + below(4)
                                                                   : 193 + below(4);
    even_add(p, vector_unit(below(4) ? ISA_OP_v_add_u32 : ISA_OP_v_subrev_u32, row, by, row, 0));
}

static inline void even_load(struct program *p)
{
    struct unit unit;
    struct isa_inst inst;
    do
        choose_even_access(p, &unit);
    while (!isa_decode(&isa_gfx942, unit.words, 2, &inst) || isa_facts[inst.op].effects & ISA_E_STORE);
    const unsigned at = below(8) ? 0 : below(4);
    if ((unit.words[1] >> 16 & 0x7f) == 0x7f)
        put(unit.words, 32, 8, even_pair());
    else
        put(unit.words, 32, 8, ROW_OFFSET + at);
    even_add(p, unit);
}

/* One to three of a loop's instructions. */
static inline void even_part(struct program *p)
{
    static const uint8_t formats[] = {ISA_VOP1, ISA_VOP2, ISA_VOP2, ISA_VOP3,
                                      ISA_VOP3, ISA_VOPC, ISA_SOP2, ISA_DS};
    struct unit *unit = &p->unit[p->count];
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        even_load(p);
        break;
    case 3:
    case 4:
        even_pair_goes_on(p);
        break;
    case 5:
        even_row_goes_on(p);
        break;
    case 6:
        if (below(4))
            even_pair_goes_on(p);
        else if (below(2))
            p->count += choose_pair(unit);
        else
            choose_index(unit), p->count++;
        break;
    default:
        if (choose_unit(p, formats[below(sizeof formats)], unit) && suits_loop(unit))
            p->count++;
    }
}

/* Nobody looks at it behind the loop. */
static inline void even_forget(struct program *p)
{
    static const uint8_t rows[] = {ROW_OFFSET,    ROW_OFFSET + 2,    ROW_OFFSET + 3,    ROW_PAIR,
                                   ROW_PAIR + 1,  ROW_PAIR + 4,      ROW_PAIR + 5,      ROW_INDEX,
                                   ROW_MADE,      ROW_MADE + 1,      ROW_MADE + 2,      ROW_MADE + 3,
                                   ROW_MADE_PAIR, ROW_MADE_PAIR + 1, ROW_MADE_PAIR + 2, ROW_MADE_PAIR + 3};
    for (unsigned i = 0; i < sizeof rows; i++)
        if (below(16))
            even_add(p, vector_unit(ISA_OP_v_mov_b32, rows[i], 128, 0, 0));
}

static inline void program_make_even(struct program *p)
{
    static const uint8_t masks[] = {3, 7, 15};
    const bool leaving = below(2), whole = below(4) == 0;
    const unsigned parts = 2 + below(9);
    *p = (struct program){.even = true, .rows = masks[below(sizeof masks)], .theme = below(2) ? "f32" : "32"};
    for (unsigned i = below(3); i; i--)
        p->count += choose_even(p, &p->unit[p->count]);
    /* Those who have left are in s[2:3]; nobody has. */
    even_add(p, (struct unit){.words = {leaving ? word_of(ISA_OP_s_mov_b64) | 2 << 16 | 128
                                                : word_of(ISA_OP_s_movk_i32) | SREG_COUNTER << 16 |
                                                      (below(8) ? 1 + below(12) : 1 + below(1400))},
                              .size = 4});
    const unsigned first = p->count;
    even_load(p);
    for (unsigned i = 0; i < parts; i++)
        even_part(p);
    if (leaving)
        choose_leaving(p, first, 2);
    else
        choose_counting(p, first);
    if (!whole)
        even_forget(p);
}

#endif
