/* SPDX-License-Identifier: MIT */
/*
 * What the printer prints, LLVM's assembler reads, and makes of it an encoding
 * that says the same: random encodings of every row and form are printed,
 * assembled by llvm-mc, decoded and printed once more.
 *
 *   round_trip LLVM-MC [encodings per form]
 */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "isa/isa.h"

static uint64_t rng_state = 0x9e3779b97f4a7c15;

static uint32_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 16);
}

struct line {
    char text[200];
    uint32_t words[3];
};

static struct line *lines;
static size_t count, capacity;

static void add(const uint32_t *words, const struct isa_inst *inst)
{
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 4096;
        struct line *more = realloc(lines, capacity * sizeof *lines);
        if (!more)
            abort();
        lines = more;
    }
    struct line *line = &lines[count++];
    memset(line, 0, sizeof *line);
    memcpy(line->words, words, inst->size);
    isa_print(&isa_gfx942, inst, 0, line->text, sizeof line->text);
}

/* Registers and literals that come over the constant bus, which takes one. */
static unsigned scalars(const struct isa_inst *inst)
{
    unsigned n = 0;
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        bool again = false;
        for (int k = 0; k < i; k++)
            again |= inst->src[k].kind == o->kind && inst->src[k].reg == o->reg &&
                     inst->src[k].dwords == o->dwords;
        n += (o->kind == ISA_SGPR || o->kind == ISA_SPECIAL || o->literal) && !again;
    }
    return n + (inst->op == ISA_OP_v_div_fmas_f32 || inst->op == ISA_OP_v_div_fmas_f64); /* VCC */
}

/* A large result over another part of what is added to it. */
static bool overlaps(const struct isa_inst *inst)
{
    const struct isa_operand *d = &inst->dst, *c = &inst->src[2];
    return d->dwords > 4 && d->kind == c->kind && d->reg != c->reg && d->reg < c->reg + c->dwords &&
           c->reg < d->reg + d->dwords;
}

static bool is_int16(unsigned type)
{
    return type == ISA_T_I16 || type == ISA_T_U16 || type == ISA_T_B16 || type == ISA_T_PK16;
}

/*
 * LLVM's disassembler, too, prints some encodings that its assembler does not
 * take: several scalars, immediates that are out of range in an unused part,
 * sext(), float constants and literals where they mean nothing.
 */
static bool assembles(const struct isa_inst *inst)
{
    const bool vector = inst->format >= ISA_VOP1 && inst->format <= ISA_VOP3PMAI;
    if (vector && (scalars(inst) > 1 || overlaps(inst)))
        return false;
    if (inst->format == ISA_SOP1 && inst->src[0].kind == ISA_SPECIAL)
        return false;
    for (int i = 0; i < 3; i++) {
        const struct isa_operand *o = &inst->src[i];
        const bool named = o->kind == ISA_CONST && !o->literal && o->reg >= 240;
        if (named && (is_int16(o->type) || (inst->sdwa && inst->sext >> i & 1)))
            return false;
        if (o->literal && o->value > UINT16_MAX && (is_int16(o->type) || o->type == ISA_T_F16))
            return false;
        if (o->kind == ISA_CONST && inst->sdwa && inst->op == ISA_OP_v_ldexp_f16)
            return false;
        if (isa_facts[inst->op].unit == ISA_UNIT_GWS && o->kind && o->reg % 2)
            return false;
    }
    if (!strncmp(isa_op_name(inst->op), "v_dot2_", 7) && (inst->op_sel & 7 || (inst->op_sel_hi & 7) != 7))
        return false;
    switch (inst->op) {
    case ISA_OP_s_cbranch_g_fork:
        return !inst->src[0].literal && !inst->src[1].literal;
    case ISA_OP_s_set_gpr_idx_on:
        return inst->src[1].value < 16;
    case ISA_OP_s_set_gpr_idx_mode:
        return (uint16_t)inst->simm16 < 16;
    case ISA_OP_ds_swizzle_b32: { /* AND, OR and XOR masks: one of several that mean the same is written */
        const unsigned mask = (unsigned)inst->offset, and = mask & 31, or = mask >> 5 & 31,
                       xor = mask >> 10 & 31;
        return mask & 0x8000 || !((or & and) | (xor & ~and));
    }
    case ISA_OP_v_madmk_f16:
        return inst->src[1].value <= UINT16_MAX;
    case ISA_OP_v_madak_f16:
        return inst->src[2].value <= UINT16_MAX;
    case ISA_OP_v_cvt_f32_fp8:
    case ISA_OP_v_cvt_f32_bf8:
    case ISA_OP_v_cvt_pk_f32_fp8:
    case ISA_OP_v_cvt_pk_f32_bf8:
        return !inst->sext;
    default:
        break;
    }
    if (inst->format == ISA_SMEM && inst->src[ISA_SBASE].dwords == 4)
        return inst->offset >= 0;
    return true;
}

static void choose(const struct isa_row *row, unsigned form, unsigned wanted)
{
    const struct isa_form *f = &row->form[form];
    for (unsigned tries = 0, done = 0; done < wanted && tries < wanted * 400; tries++) {
        uint32_t w[4];
        struct isa_inst inst;
        for (unsigned i = 0; i < 4; i++)
            w[i] = rng() & (rng() % 3 ? UINT32_MAX : rng());
        w[0] = (w[0] & ~(uint32_t)f->mask) | (uint32_t)f->match;
        w[1] = (w[1] & ~(uint32_t)(f->mask >> 32)) | (uint32_t)(f->match >> 32);
        if (row->format == ISA_FLAT)
            w[0] &= ~0x1000u; /* the offset has 12 bits */
        if (!isa_decode(&isa_gfx942, w, 4, &inst) || inst.reserved || inst.sdwa != (form == ISA_FORM_SDWA) ||
            inst.dpp != (form == ISA_FORM_DPP) || !assembles(&inst))
            continue;
        add(w, &inst);
        done++;
    }
}

/* What llvm-mc complained of. */
static void read_errors(FILE *f)
{
    char text[1024];
    while (fgets(text, sizeof text, f)) {
        const char *error = strstr(text, ": error:");
        size_t line = 0;
        for (const char *p = text; error && p < error; p++)
            if (*p == ':') {
                line = (size_t)strtoul(p + 1, NULL, 10);
                break;
            }
        if (line && line <= count) {
            check_failures++;
            fprintf(stderr, "%08x %08x \"%s\" %s", lines[line - 1].words[0], lines[line - 1].words[1],
                    lines[line - 1].text, error);
        }
    }
}

static void read_encodings(FILE *f)
{
    char text[1024];
    size_t at = 0, same = 0;
    while (fgets(text, sizeof text, f)) {
        const char *p = strstr(text, "encoding: [");
        uint8_t bytes[16] = {0};
        uint32_t words[4];
        struct isa_inst inst;
        char again[200] = "";
        if (!p)
            continue;
        if (!CHECK(at < count))
            return;
        p += strlen("encoding: [");
        for (unsigned i = 0; i < 12 && *p; i++) {
            char *end;
            bytes[i] = (uint8_t)strtoul(p, &end, 16);
            p = *end == ',' ? end + 1 : "";
        }
        memcpy(words, bytes, sizeof words);
        check_count++;
        if (isa_decode(&isa_gfx942, words, 4, &inst))
            isa_print(&isa_gfx942, &inst, 0, again, sizeof again);
        same += !memcmp(words, lines[at].words, inst.size);
        if (strcmp(again, lines[at].text) != 0) {
            check_failures++;
            fprintf(stderr, "%08x %08x \"%s\" is assembled as %08x %08x \"%s\"\n", lines[at].words[0],
                    lines[at].words[1], lines[at].text, words[0], words[1], again);
        }
        at++;
    }
    CHECK_EQ(at, count);
    printf("%zu of %zu assembled to the very bits\n", same, count);
}

static void assemble(const char *llvm_mc, const char *source, const char *output, const char *errors)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        if (freopen(errors, "w", stderr))
            execlp(llvm_mc, llvm_mc, "--triple=amdgcn-amd-amdhsa", "--mcpu=gfx942", "--show-encoding", "-o",
                   output, source, (char *)NULL);
        _exit(127);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
}

int main(int argc, char **argv)
{
    char directory[] = "/tmp/ehp-round-trip-XXXXXX", source[64], output[64], errors[64];
    if (argc < 2)
        return 77;
    const unsigned wanted = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
    for (size_t r = 0; r < isa_gfx942.row_count; r++)
        for (unsigned form = 0; form < ISA_FORM_COUNT; form++)
            if (isa_gfx942.rows[r].form[form].mask)
                choose(&isa_gfx942.rows[r], form, wanted);
    if (!CHECK(mkdtemp(directory) != NULL))
        return check_status();
    snprintf(source, sizeof source, "%s/in.s", directory);
    snprintf(output, sizeof output, "%s/out.s", directory);
    snprintf(errors, sizeof errors, "%s/errors", directory);
    FILE *f = fopen(source, "w");
    for (size_t i = 0; i < count; i++)
        fprintf(f, "%s\n", lines[i].text);
    fclose(f);
    assemble(argv[1], source, output, errors);
    if (CHECK((f = fopen(errors, "r")) != NULL)) {
        read_errors(f);
        fclose(f);
    }
    if (CHECK((f = fopen(output, "r")) != NULL)) {
        read_encodings(f);
        fclose(f);
    }
    unlink(source);
    unlink(output);
    unlink(errors);
    rmdir(directory);
    free(lines);
    return check_status();
}
