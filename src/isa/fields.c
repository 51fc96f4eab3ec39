/* SPDX-License-Identifier: MIT */
/*
 * Immediates that are several fields: s_waitcnt, hardware registers, messages,
 * swizzles, DPP controls, buffer formats.
 *
 * Sources: "AMD Instinct MI300 ISA", 12.5 (s_sendmsg), 12.13 (DS_SWIZZLE_B32),
 * 13.3.9 (DPP_CTRL), 9.1 (buffer formats); the spelling is LLVM's, "AMDGPU operand syntax".
 */
#include "base/power.h"
#include "isa/isa.h"
#include "isa/text.h"

void isa_text_waitcnt(struct isa_text *t, unsigned simm16)
{
    const struct isa_waitcnt_layout *layout = &t->target->waitcnt;
    const struct isa_waitcnt w = isa_waitcnt_of(t->target, simm16);
    const bool vm = w.vm != isa_number_most(layout->vm), exp = w.exp != isa_number_most(layout->exp),
               lgkm = w.lgkm != isa_number_most(layout->lgkm);
    /* When no counter is waited for, all are shown. */
    const bool all = !vm && !exp && !lgkm;
    const char *space = "";
    if (vm || all) {
        isa_text_add(t, "vmcnt(%u)", w.vm);
        space = " ";
    }
    if (exp || all) {
        isa_text_add(t, "%sexpcnt(%u)", space, w.exp);
        space = " ";
    }
    if (lgkm || all)
        isa_text_add(t, "%slgkmcnt(%u)", space, w.lgkm);
}

void isa_text_hwreg(struct isa_text *t, unsigned simm16)
{
    unsigned id = simm16 & 63, offset = simm16 >> 6 & 31, width = (simm16 >> 11 & 31) + 1;
    const char *name = t->target->hwreg[id].name;
    if (name)
        isa_text_add(t, "hwreg(%s", name);
    else
        isa_text_add(t, "hwreg(%u", id);
    if (offset != 0 || width != 32)
        isa_text_add(t, ", %u, %u", offset, width);
    isa_text_add(t, ")");
}

void isa_text_sendmsg(struct isa_text *t, unsigned simm16)
{
    static const char *const names[16] = {
        [1] = "MSG_INTERRUPT",       [2] = "MSG_GS",
        [3] = "MSG_GS_DONE",         [4] = "MSG_SAVEWAVE",
        [5] = "MSG_STALL_WAVE_GEN",  [6] = "MSG_HALT_WAVES",
        [7] = "MSG_ORDERED_PS_DONE", [8] = "MSG_EARLY_PRIM_DEALLOC",
        [9] = "MSG_GS_ALLOC_REQ",    [10] = "MSG_GET_DOORBELL",
        [15] = "MSG_SYSMSG",
    };
    static const char *const gs_ops[] = {"GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"};
    static const char *const sys_ops[] = {NULL, "SYSMSG_OP_ECC_ERR_INTERRUPT", "SYSMSG_OP_REG_RD", NULL,
                                          "SYSMSG_OP_TTRACE_PC"};
    unsigned id = simm16 & 15, op = simm16 >> 4 & 7, stream = simm16 >> 8 & 3;
    bool gs = id == 2 || id == 3;
    const char *op_name = NULL;
    bool valid = names[id] != NULL;
    if (gs) {
        op_name = op < 4 ? gs_ops[op] : NULL;
        /* MSG_GS needs an operation, and only real ones have a stream. */
        valid = op_name && !(id == 2 && op == 0) && (op != 0 || stream == 0);
    } else if (id == 15) {
        op_name = op < 5 ? sys_ops[op] : NULL;
        valid = op_name && stream == 0;
    } else {
        valid = valid && op == 0 && stream == 0;
    }
    if (!valid && (simm16 & ~0x37fu)) {
        isa_text_add(t, "%u", simm16);
    } else if (!valid) {
        isa_text_add(t, "sendmsg(%u, %u, %u)", id, op, stream);
    } else {
        isa_text_add(t, "sendmsg(%s", names[id]);
        if (op_name) {
            isa_text_add(t, ", %s", op_name);
            if (gs && op != 0)
                isa_text_add(t, ", %u", stream);
        }
        isa_text_add(t, ")");
    }
}

void isa_text_gpr_idx(struct isa_text *t, unsigned mode)
{
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    if (mode & ~15u) {
        isa_text_add(t, "0x%x", mode);
        return;
    }
    isa_text_add(t, "gpr_idx(");
    const char *comma = "";
    for (unsigned i = 0; i < 4; i++) {
        if (mode >> i & 1) {
            isa_text_add(t, "%s%s", comma, names[i]);
            comma = ",";
        }
    }
    isa_text_add(t, ")");
}

void isa_text_swizzle(struct isa_text *t, unsigned offset)
{
    if (offset == 0)
        return;
    isa_text_add(t, " offset:");
    if ((offset & 0xff00) == 0x8000) {
        isa_text_add(t, "swizzle(QUAD_PERM,%u,%u,%u,%u)", offset & 3, offset >> 2 & 3, offset >> 4 & 3,
                     offset >> 6 & 3);
        return;
    }
    unsigned and = offset & 31, or = offset >> 5 & 31, xor = offset >> 10 & 31;
    if (offset >= 0xe000) {
        isa_text_add(t, "swizzle(FFT,%u)", offset & 31);
    } else if (offset >= 0xc000) {
        isa_text_add(t, "swizzle(ROTATE,%u,%u)", offset >> 10 & 1, offset >> 5 & 31);
    } else if (offset & 0x8000) {
        isa_text_add(t, "%u", offset);
    } else if (and == 31 && or == 0 && power_of_two(xor)) {
        isa_text_add(t, "swizzle(SWAP,%u)", xor);
    } else if (and == 31 && or == 0 && xor && !(xor & (xor + 1))) {
        isa_text_add(t, "swizzle(REVERSE,%u)", xor + 1);
    } else {
        unsigned group = 32 - and;
        if (group > 1 && power_of_two(group) && or < group && xor == 0) {
            isa_text_add(t, "swizzle(BROADCAST,%u,%u)", group, or);
            return;
        }
        /* Each bit of the lane number: set, cleared, kept or inverted. */
        isa_text_add(t, "swizzle(BITMASK_PERM,\"");
        for (int bit = 4; bit >= 0; bit--) {
            bool zero = !(and >> bit & 1) && !(or >> bit & 1);
            bool one = or >> bit & 1;
            bool flip = xor >> bit & 1;
            isa_text_add(t, "%c", zero ? (flip ? '1' : '0') : one ? (flip ? '0' : '1') : flip ? 'i' : 'p');
        }
        isa_text_add(t, "\")");
    }
}

void isa_text_dpp_ctrl(struct isa_text *t, unsigned ctrl)
{
    if (ctrl <= 0xff) {
        isa_text_add(t, "quad_perm:[%u,%u,%u,%u]", ctrl & 3, ctrl >> 2 & 3, ctrl >> 4 & 3, ctrl >> 6 & 3);
        return;
    }
    static const char *const counted[] = {"row_shl", "row_shr", "row_ror"};
    if (ctrl < 0x130) {
        isa_text_add(t, "%s:%u", counted[(ctrl >> 4) - 0x10], ctrl & 15);
        return;
    }
    switch (ctrl) {
    case 0x130:
        isa_text_add(t, "wave_shl:1");
        break;
    case 0x134:
        isa_text_add(t, "wave_rol:1");
        break;
    case 0x138:
        isa_text_add(t, "wave_shr:1");
        break;
    case 0x13c:
        isa_text_add(t, "wave_ror:1");
        break;
    case 0x140:
        isa_text_add(t, "row_mirror");
        break;
    case 0x141:
        isa_text_add(t, "row_half_mirror");
        break;
    case 0x142:
        isa_text_add(t, "row_bcast:15");
        break;
    case 0x143:
        isa_text_add(t, "row_bcast:31");
        break;
    default:
        isa_text_add(t, "row_newbcast:%u", ctrl & 15);
        break;
    }
}

void isa_text_buffer_format(struct isa_text *t, unsigned dfmt, unsigned nfmt)
{
    static const char *const data[] = {
        "INVALID",     "8",        "16",          "8_8",         "32",      "16_16",
        "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10",  "8_8_8_8", "32_32",
        "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15",
    };
    static const char *const number[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                         "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
    /* Both fields have a default, which is not shown. */
    if (dfmt == 1 && nfmt == 0)
        return;
    isa_text_add(t, " format:[");
    if (dfmt != 1)
        isa_text_add(t, "BUF_DATA_FORMAT_%s%s", data[dfmt & 15], nfmt != 0 ? "," : "");
    if (nfmt != 0)
        isa_text_add(t, "BUF_NUM_FORMAT_%s", number[nfmt & 7]);
    isa_text_add(t, "]");
}
