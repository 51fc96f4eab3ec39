/* SPDX-License-Identifier: MIT */
/*
 * Operands as LLVM's assembler writes them: "AMDGPU operand syntax" in LLVM's
 * documentation (AMDGPUOperandSyntax).
 */
#include "isa/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void isa_text_add(struct isa_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool fits = t->used < t->len;
    int n = vsnprintf(fits ? t->buf + t->used : NULL, fits ? t->len - t->used : 0, format, args);
    va_end(args);
    if (n > 0)
        t->used += (size_t)n;
}

static void text_sgpr(struct isa_text *t, unsigned reg, unsigned dwords)
{
    static const char *const pairs[] = {"flat_scratch", "xnack_mask", "vcc"};
    const bool plain = reg < t->target->sreg.sgprs;
    if (plain || (reg >= SREG_TTMP && reg < SREG_M0)) {
        const char *name = plain ? "s" : "ttmp";
        unsigned n = plain ? reg : reg - SREG_TTMP;
        if (dwords == 1)
            isa_text_add(t, "%s%u", name, n);
        else
            isa_text_add(t, "%s[%u:%u]", name, n, n + dwords - 1);
    } else if (reg == SREG_M0) {
        isa_text_add(t, "m0");
    } else {
        isa_text_add(t, "%s", reg >= SREG_EXEC ? "exec" : pairs[(reg - SREG_FLAT_SCRATCH) / 2]);
        if (dwords == 1)
            isa_text_add(t, reg & 1 ? "_hi" : "_lo");
    }
}

static void text_special(struct isa_text *t, unsigned reg)
{
    static const char *const apertures[] = {"src_shared_base", "src_shared_limit", "src_private_base",
                                            "src_private_limit", "src_pops_exiting_wave_id"};
    static const char *const flags[] = {"src_vccz", "src_execz", "src_scc", "src_lds_direct"};
    if (reg >= 235 && reg <= 239)
        isa_text_add(t, "%s", apertures[reg - 235]);
    else if (reg >= 251 && reg <= 254)
        isa_text_add(t, "%s", flags[reg - 251]);
    else if (reg == 230 || reg == 231)
        isa_text_add(t, "src_flat_scratch_base_%s", reg == 230 ? "lo" : "hi");
    else
        isa_text_add(t, "null");
}

/* The inline float whose bits these are, or NULL. */
static const char *inline_float_name(uint64_t value, unsigned type)
{
    static const char *const names[] = {"0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0"};
    static const uint16_t half[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400};
    for (unsigned i = 0; i < 8; i++) {
        /* Sign, exponent, and a fraction of zero: all three formats follow from the f16. */
        uint64_t sign = half[i] >> 15, exponent = half[i] >> 10 & 31;
        uint64_t single = sign << 31 | (exponent + 127 - 15) << 23;
        uint64_t full = sign << 63 | (exponent + 1023 - 15) << 52;
        uint64_t bits = type == ISA_T_F16 ? half[i] : type == ISA_T_F64 ? full : single;
        if (value == bits)
            return names[i];
    }
    if (type == ISA_T_F16)
        return value == 0x3118 ? "0.15915494" : NULL;
    if (type == ISA_T_F64)
        return value == 0x3fc45f306dc9c882 ? "0.15915494309189532" : NULL;
    return value == 0x3e22f983 ? "0.15915494" : NULL;
}

/*
 * A literal is shown as its dword.  lit() keeps those that equal an inline
 * constant apart from it, by what the assembler takes for inline: the dword, of
 * an f16 its low half.  An f64 literal shows as the double it stands for.
 */
static void text_literal(struct isa_text *t, const struct isa_operand *o)
{
    uint32_t dword = (uint32_t)o->value, shown = dword;
    int32_t integer = (int32_t)dword;
    const char *name = NULL;
    switch (o->type) {
    case ISA_T_F64:
        dword = shown = (uint32_t)(o->value >> 32);
        name = inline_float_name(o->value, ISA_T_F64);
        if (o->value == 0)
            name = "0";
        if (name)
            isa_text_add(t, "%s", name);
        else
            isa_text_add(t, "0x%" PRIx32, shown);
        return;
    case ISA_T_B64:
    case ISA_T_I64:
    case ISA_T_U64:
        if (integer < 0)
            integer = INT32_MAX;
        break;
    case ISA_T_F16:
        integer = (int16_t)dword;
        shown = dword & 0xffff;
        name = inline_float_name(shown, ISA_T_F16);
        break;
    case ISA_T_PKF16:
        name = inline_float_name(dword, ISA_T_F16);
        break;
    case ISA_T_B16:
    case ISA_T_I16:
    case ISA_T_U16:
        shown = dword & 0xffff;
        name = inline_float_name(dword, ISA_T_F32);
        break;
    default:
        name = inline_float_name(dword, ISA_T_F32);
        break;
    }
    if (name || (integer >= -16 && integer <= 64))
        isa_text_add(t, "lit(0x%" PRIx32 ")", dword);
    else
        isa_text_add(t, "0x%" PRIx32, shown);
}

static void text_constant(struct isa_text *t, const struct isa_operand *o)
{
    int64_t value = (int64_t)o->value;
    if (value >= -16 && value <= 64) {
        isa_text_add(t, "%" PRId64, value);
        return;
    }
    const char *name = NULL;
    switch (o->type) {
    case ISA_T_F16:
    case ISA_T_PKF16:
        name = inline_float_name(o->value, ISA_T_F16);
        break;
    case ISA_T_F64:
    case ISA_T_B64:
    case ISA_T_I64:
    case ISA_T_U64:
    case ISA_T_MASK:
    case ISA_T_B256:
        name = inline_float_name(o->value, ISA_T_F64);
        break;
    case ISA_T_B16:
    case ISA_T_I16:
    case ISA_T_U16: /* no names for floats */
        break;
    default:
        name = inline_float_name(o->value, ISA_T_F32);
        break;
    }
    if (name)
        isa_text_add(t, "%s", name);
    else
        isa_text_add(t, "0x%" PRIx64, o->value);
}

void isa_text_operand(struct isa_text *t, const struct isa_operand *o)
{
    switch (o->kind) {
    case ISA_VGPR:
    case ISA_AGPR: {
        char bank = o->kind == ISA_VGPR ? 'v' : 'a';
        if (o->dwords == 1)
            isa_text_add(t, "%c%u", bank, o->reg);
        else
            isa_text_add(t, "%c[%u:%u]", bank, o->reg, o->reg + o->dwords - 1);
        break;
    }
    case ISA_SGPR:
        text_sgpr(t, o->reg, o->dwords);
        break;
    case ISA_CONST:
        if (o->literal)
            text_literal(t, o);
        else
            text_constant(t, o);
        break;
    case ISA_SPECIAL:
        text_special(t, o->reg);
        break;
    default:
        isa_text_add(t, "off");
        break;
    }
}

void isa_text_modified(struct isa_text *t, const struct isa_operand *o, bool neg, bool abs, bool sext)
{
    /* -1 is another constant than neg(1). */
    bool word = neg && !abs && o->kind == ISA_CONST;
    isa_text_add(t, "%s%s%s", sext ? "sext(" : "", word ? "neg(" : neg ? "-" : "", abs ? "|" : "");
    isa_text_operand(t, o);
    isa_text_add(t, "%s%s%s", abs ? "|" : "", word ? ")" : "", sext ? ")" : "");
}
