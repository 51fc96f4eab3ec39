/* SPDX-License-Identifier: MIT */
/*
 * Packed and matrix instructions as encoded: what tests/sem/matrix proves of the
 * meaning, with operands where it puts them, holds wherever the fields of an
 * encoding put them, and nothing else changes.
 *
 *   encoded [encodings per row]
 */
#include "wave/handlers.h"
#include "one_instruction.h"

/* Rows for the operands of the plain form, beyond those that encodings are made to use. */
enum { PLAIN_A = 64, PLAIN_B = 72, PLAIN_C = 80, PLAIN_D = 120 };

static sem_lookup_fn *const packed[] = {sem_packed_v2, sem_packed_v3, sem_packed_v4};
static sem_lookup_fn *const matrix[] = {sem_matrix_v2, sem_matrix_v3, sem_matrix_v4};

static void move_operand(struct isa_operand *o, unsigned row)
{
    if (o->kind == ISA_VGPR || o->kind == ISA_AGPR) {
        o->kind = ISA_VGPR;
        o->reg = (uint16_t)row;
    }
}

static uint32_t *row_of(const struct isa_operand *o, unsigned k)
{
    return rig.w.v[(o->kind == ISA_AGPR ? WAVE_ACC : 0) + o->reg + (int)k];
}

/* What the instruction gives with its operands elsewhere. */
static bool plain(unsigned level, const struct isa_inst *inst, const struct rig_state *before,
                  uint32_t result[32][WAVE_LANES])
{
    static const unsigned rows[] = {PLAIN_A, PLAIN_B, PLAIN_C};
    static const int16_t temps[] = {TEMP_SRC0, TEMP_SRC1, TEMP_SRC2};
    struct isa_inst moved = *inst;
    struct xinst x = {.isa = &moved, .d = PLAIN_D, .drows = inst->dst.dwords};
    rig_load(before);
    for (unsigned k = 0; k < inst->dst.dwords; k++)
        memcpy(rig.w.v[PLAIN_D + k], row_of(&inst->dst, k), sizeof(wave_row));
    move_operand(&moved.dst, PLAIN_D);
    for (unsigned i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        x.rows[i] = o->dwords;
        if (o->kind == ISA_NONE)
            continue;
        for (unsigned k = 0; k < o->dwords && (o->kind == ISA_VGPR || o->kind == ISA_AGPR); k++)
            memcpy(rig.w.v[rows[i] + k], row_of(o, k), sizeof(wave_row));
        move_operand(&moved.src[i], rows[i]);
        x.s[i] = o->kind == ISA_VGPR || o->kind == ISA_AGPR ? (int16_t)rows[i] : temps[i];
        x.reg[i] = moved.src[i].reg;
        x.literal[i] = o->value;
        x.prep[i] = o->kind == ISA_SGPR      ? XPREP_SGPR
                    : o->kind == ISA_CONST   ? XPREP_CONST
                    : o->kind == ISA_SPECIAL ? XPREP_SLOW
                                             : XPREP_PLAIN;
        x.ss[i] = o->kind == ISA_SPECIAL ? XSRC_SPECIAL : XSRC_CONST;
        x.any_prep = x.any_prep || x.prep[i] != XPREP_PLAIN;
    }
    if (isa_gfx942.rows[inst->row].flags & ISA_F_ACCUMULATE) /* the sparse ones: D is added to */
        x.s[2] = inst->src[2].kind == inst->dst.kind && inst->src[2].reg == inst->dst.reg ? PLAIN_D : x.s[2];
    exec_fn *fn = (inst->format == ISA_VOP3P ? packed : matrix)[level - 2](&moved, &x);
    if (!CHECK(fn != NULL)) {
        char text[200];
        isa_print(&isa_gfx942, inst, 0, text, sizeof text);
        fprintf(stderr, "level %u has no handler for %s\n", level, text);
        return false;
    }
    fn(&rig.w, &x);
    for (unsigned k = 0; k < inst->dst.dwords; k++)
        memcpy(result[k], rig.w.v[PLAIN_D + k], sizeof(wave_row));
    return true;
}

/* Register numbers below 64, and so that tuples fit. */
static void narrow(const struct isa_row *row, uint32_t *w)
{
    static const unsigned at[] = {0, 9, 18};
    const unsigned wide = isa_type_dwords(row->dst) > 16 ? 0xe0 : 0xc0;
    w[0] &= ~wide;
    for (unsigned i = 0; i < 3; i++)
        if (w[1] >> at[i] & 0x100)
            w[1] &= ~((isa_type_dwords(row->src[i]) > 16 ? 0xe0u : 0xc0u) << at[i]);
}

static void check_row(const struct isa_row *row, unsigned wanted)
{
    static struct rig_state before, want;
    static uint32_t result[32][WAVE_LANES];
    unsigned done = 0, bad = 0;
    for (unsigned tries = 0; done < wanted && tries < wanted * 400 && bad < 2; tries++) {
        uint32_t words[4];
        struct isa_inst inst;
        rig_words(row, ISA_FORM_PLAIN, words);
        narrow(row, words);
        if (!isa_decode(&isa_gfx942, words, 4, &inst) || !rig_fits(&inst))
            continue;
        done++;
        rig_fill(&before, &inst);
        for (unsigned level = 2; level <= 4; level++) {
            if (!rig_has_level(level))
                continue;
            rig_translate(level, words, inst.size);
            if (!plain(level, &inst, &before, result))
                return;
            want = before;
            for (unsigned k = 0; k < inst.dst.dwords; k++)
                memcpy(want.v[rig_row(&inst.dst) + (int)k], result[k], sizeof(wave_row));
            bad += !rig_compare(level, words, &inst, &before, &want);
        }
    }
    if (!CHECK(done > 0))
        fprintf(stderr, "%s: no encoding found\n", row->name);
}

int main(int argc, char **argv)
{
    const unsigned wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    for (size_t r = 0; r < isa_gfx942.row_count; r++)
        if (isa_gfx942.rows[r].format == ISA_VOP3P || isa_gfx942.rows[r].format == ISA_VOP3PMAI)
            check_row(&isa_gfx942.rows[r], wanted);
    return check_status();
}
