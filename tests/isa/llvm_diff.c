/* SPDX-License-Identifier: MIT */
/*
 * The decoder and printer against LLVM's gfx942 disassembler: every opcode of
 * every format with random fields must be accepted by both or by neither, and
 * read the same.
 *
 *   llvm_diff [trials per opcode [mismatches to show [seed]]]
 *   llvm_diff --vectors > tests/isa/vectors.def
 *
 * The second form writes one agreed encoding of each row and form with LLVM's
 * text, for the test that does without LLVM.
 *
 * LLVM prints a comment in the text of an instruction that it could decode but
 * that does not exist (a VGPR tuple at an odd register, a reserved DPP
 * control); that counts as rejected.  Some bit patterns crash LLVM's printer;
 * those are counted and skipped.
 */
#include "isa/isa.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sigjmp_buf crash;

static void on_crash(int signal_number)
{
    (void)signal_number;
    siglongjmp(crash, 1);
}

static uint64_t rng_state = 0x9e3779b97f4a7c15;

static uint32_t rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (uint32_t)(rng_state >> 16);
}

/* Literals that equal an inline constant, in one width or another, or almost. */
static uint32_t rng_literal(void)
{
    static const uint32_t values[] = {
        0,          1,          16,         64,         65,         0x7f,       0x100,
        0xffff,     0xfff0,     0xffffffff, 0xfffffff0, 0xffffffef, 0x3800,     0x3c00,
        0xbc00,     0x3118,     0x3c003c00, 0x40000001, 0x3f800000, 0xbf000000, 0x3e22f983,
        0x3e22f982, 0x3fc45f30, 0x3ff00000, 0xbff00000, 0x12343c00, 0x1234ffff, 0x80000000,
    };
    return values[rng() % (sizeof values / sizeof values[0])];
}

/* Dense, sparse, and aligned fields: each finds other things. */
static uint32_t rng_fields(void)
{
    uint32_t w = rng();
    switch (rng() & 7) {
    case 0:
        return w & rng();
    case 1:
        return w & rng() & rng();
    case 2:
        return w & 0xfcfcfcfc;
    case 3:
        return w & 0xfefefefe;
    default:
        return w;
    }
}

struct counts {
    unsigned long tried, both, crashed, acceptance, text;
};

static LLVMDisasmContextRef context;
static unsigned show = 20;

/* Bytes that LLVM decodes, 0 when it rejects, -1 when it crashes. */
static int llvm_disassemble(const uint32_t *w, char *text, size_t len)
{
    text[0] = 0;
    if (sigsetjmp(crash, 1))
        return -1;
    uint8_t bytes[16];
    memcpy(bytes, w, sizeof bytes);
    int size = (int)LLVMDisasmInstruction(context, bytes, sizeof bytes, 0, text, len);
    if (strstr(text, "/*"))
        return 0;
    char *comment = strstr(text, " ; ");
    if (comment) /* a tuple's number that is rounded down */
        *comment = 0;
    /* A tab before the mnemonic and one behind it. */
    size_t skip = strspn(text, "\t ");
    memmove(text, text + skip, strlen(text) - skip + 1);
    for (char *p = text; *p; p++)
        if (*p == '\t')
            *p = ' ';
    for (size_t n = strlen(text); n && text[n - 1] == ' '; n--)
        text[n - 1] = 0;
    return size;
}

/* Selects of SDWA that do not exist: LLVM's printer has no name for them, and prints or does anything. */
static bool undefined_select(const uint32_t *w)
{
    bool vop = !(w[0] >> 31) && (w[0] & 0x1ff) == 249;
    return vop &&
           ((w[1] >> 8 & 7) == 7 || (w[1] >> 11 & 3) == 3 || (w[1] >> 16 & 7) == 7 || (w[1] >> 24 & 7) == 7);
}

/* LLVM takes the literal of v_fmamk and its like for a source field, and shows 0x80 as the constant 0. */
static bool undefined_k(const uint32_t *w)
{
    unsigned op = w[0] >> 25;
    return (op == 23 || op == 24 || op == 36 || op == 37) && w[1] >= 0x80 && w[1] <= 0xff;
}

static bool vectors; /* print what is agreed on */

static void compare(const uint32_t *w, struct counts *c)
{
    if (undefined_select(w) || undefined_k(w))
        return;
    char theirs[256], ours[256];
    int size = llvm_disassemble(w, theirs, sizeof theirs);
    c->tried++;
    struct isa_inst inst;
    bool ok = isa_decode(&isa_gfx942, w, 4, &inst);
    if (size < 0) { /* a literal where there can be none */
        c->crashed++;
        size = 0;
    }
    ours[0] = 0;
    if (ok)
        isa_print(&isa_gfx942, &inst, 0, ours, sizeof ours);
    bool same = ok == (size > 0) && (!ok || inst.size == size);
    if (!same)
        c->acceptance++;
    else if (!ok)
        return;
    else if (!strcmp(ours, theirs)) {
        c->both++;
        if (vectors) {
            printf("VECTOR(0x%08x, 0x%08x, 0x%08x, %d, \"", w[0], size > 4 ? w[1] : 0, size > 8 ? w[2] : 0,
                   size);
            for (const char *p = theirs; *p; p++)
                printf(*p == '"' ? "\\%c" : "%c", *p);
            printf("\")\n");
        }
    } else
        c->text++;
    if ((!same || strcmp(ours, theirs)) && show) {
        show--;
        printf("%08x %08x %08x: ours %u \"%s\", LLVM %d \"%s\"\n", w[0], w[1], w[2], ok ? inst.size : 0, ours,
               size, theirs);
    }
}

/* Where each format has its opcode. */
static const struct {
    const char *name;
    uint32_t match;
    unsigned low, count;
} formats[] = {
    {"SOP2", 0x80000000, 23, 96},     {"SOPK", 0xb0000000, 23, 29},    {"SOP1", 0xbe800000, 8, 256},
    {"SOPC", 0xbf000000, 16, 128},    {"SOPP", 0xbf800000, 16, 128},   {"SMEM", 0xc0000000, 18, 256},
    {"VOP1", 0x7e000000, 9, 256},     {"VOP2", 0x00000000, 25, 62},    {"VOPC", 0x7c000000, 17, 256},
    {"VOP3", 0xd0000000, 16, 896},    {"VOP3P", 0xd3800000, 16, 128},  {"DS", 0xd8000000, 17, 256},
    {"MUBUF", 0xe0000000, 18, 128},   {"MTBUF", 0xe8000000, 15, 16},   {"FLAT", 0xdc000000, 18, 128},
    {"SCRATCH", 0xdc004000, 18, 128}, {"GLOBAL", 0xdc008000, 18, 128},
};

static uint32_t encoding_mask(unsigned f)
{
    static const uint32_t masks[] = {0xff800000, 0xff800000, 0xff80ff00, 0xffff0000, 0xffff0000, 0xfffc0000,
                                     0xfe01fe00, 0xfe000000, 0xfffe0000, 0xffff0000, 0xffff0000, 0xfffe0000,
                                     0xfdfc0000, 0xfc078000, 0xfdfcc000, 0xfdfcc000, 0xfdfcc000};
    return masks[f];
}

/* Random dwords with the bits that a row's form fixes. */
static void fill_form(const struct isa_row *row, unsigned form, uint32_t *w)
{
    uint64_t fixed = row->form[form].mask, value = row->form[form].match;
    w[0] = (w[0] & ~(uint32_t)fixed) | (uint32_t)value;
    w[1] = (w[1] & ~(uint32_t)(fixed >> 32)) | (uint32_t)(value >> 32);
}

static void write_vectors(void)
{
    printf("/* SPDX-License-Identifier: MIT */\n/*\n * Encodings and what LLVM's disassembler says they are, "
           "one for each form"
           " of each row.\n * Written by llvm_diff --vectors; do not edit.\n */\n");
    for (size_t r = 0; r < isa_gfx942.row_count; r++) {
        for (unsigned form = 0; form < ISA_FORM_COUNT; form++) {
            struct counts c = {0};
            for (unsigned i = 0; isa_gfx942.rows[r].form[form].mask && !c.both && i < 10000; i++) {
                uint32_t w[4] = {rng(), rng(), rng(), rng()};
                fill_form(&isa_gfx942.rows[r], form, w);
                struct isa_inst inst;
                if (!isa_decode(&isa_gfx942, w, 4, &inst) || inst.reserved ||
                    inst.sdwa != (form == ISA_FORM_SDWA) || inst.dpp != (form == ISA_FORM_DPP))
                    continue;
                compare(w, &c);
            }
        }
    }
}

int main(int argc, char **argv)
{
    vectors = argc > 1 && !strcmp(argv[1], "--vectors");
    unsigned trials = argc > 1 && !vectors ? (unsigned)atoi(argv[1]) : 200;
    if (argc > 2)
        show = (unsigned)atoi(argv[2]);
    if (argc > 3)
        rng_state += (uint64_t)atoll(argv[3]);
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    context = LLVMCreateDisasmCPU("amdgcn-amd-amdhsa", "gfx942", NULL, 0, NULL, NULL);
    if (!context) {
        fprintf(stderr, "LLVM has no gfx942 disassembler\n");
        return 77;
    }
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGILL, &action, NULL);
    sigaction(SIGABRT, &action, NULL);

    if (vectors) {
        write_vectors();
        return 0;
    }

    struct counts total = {0};
    unsigned silent = 0;
    for (unsigned f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        struct counts c = {0};
        for (unsigned op = 0; op < formats[f].count; op++) {
            uint32_t mask = encoding_mask(f), match = formats[f].match | op << formats[f].low;
            unsigned format = ISA_SOP2;
            while (format < ISA_FMT_COUNT && strcmp(isa_format_name(format), formats[f].name))
                format++;
            const struct isa_row *row = isa_row_find(&isa_gfx942, format, op);
            unsigned long before = c.both;
            for (unsigned i = 0; i < trials * (row ? 4u : 1u); i++) {
                uint32_t w[4] = {rng_fields(), rng_fields(), rng_fields(), rng_fields()};
                unsigned form = rng() & 3;
                if (rng() % 8 == 0) {
                    w[1] = rng_literal();
                    if (rng() & 1)
                        w[0] |= 0xff;
                }
                if (w[2] & 1 && match >> 26 == 0x34) /* VOP3 with VGPRs: matrix products take nothing else */
                    w[1] |= 1u << 8 | 1u << 17 | 1u << 26;
                if (row && form < ISA_FORM_COUNT && row->form[form].mask) /* so that most are instructions */
                    fill_form(row, form, w);
                w[0] = (w[0] & ~mask) | match;
                compare(w, &c);
            }
            if (row && c.both == before) {
                printf("%s %s: no encoding agreed on\n", formats[f].name, row->name);
                silent++;
            }
        }
        printf("%-8s %8lu tried %8lu agree %6lu acceptance differs %6lu text differs %6lu crash LLVM\n",
               formats[f].name, c.tried, c.both, c.acceptance, c.text, c.crashed);
        total.tried += c.tried;
        total.both += c.both;
        total.acceptance += c.acceptance;
        total.text += c.text;
        total.crashed += c.crashed;
    }
    struct counts wild = {0};
    for (unsigned i = 0; i < trials * 1000; i++) {
        uint32_t w[4] = {rng(), rng(), rng(), rng()};
        compare(w, &wild);
    }
    printf("%-8s %8lu tried %8lu agree %6lu acceptance differs %6lu text differs %6lu crash LLVM\n", "any",
           wild.tried, wild.both, wild.acceptance, wild.text, wild.crashed);
    unsigned long bad = total.acceptance + total.text + wild.acceptance + wild.text;
    printf("%lu agree, %lu differ, %u opcodes without an agreed encoding\n", total.both + wild.both, bad,
           silent);
    return bad || silent;
}
