/* SPDX-License-Identifier: MIT */
/*
 * Every encoding of the scalar ALU and of program control (SOP1, SOP2, SOPC,
 * SOPK, SOPP) against a second implementation, as valu.c does for the vector
 * ALU; what instructions mean is in salu.def.
 *
 *   salu [encodings per row [mnemonic]]
 */
#include "one_instruction.h"

struct scalar {
    uint64_t pc, exec;
    bool scc, exec_changes;
};

/* ---- the words of salu.def ---- */

static uint64_t sets(struct scalar *s, uint64_t value, bool scc)
{
    s->scc = scc;
    return value;
}

static uint64_t nonzero(struct scalar *s, uint64_t value)
{
    return sets(s, value, value != 0);
}

static uint64_t overflowing(struct scalar *s, int64_t value)
{
    return sets(s, (uint64_t)value, value < INT32_MIN || value > INT32_MAX);
}

/* EXEC becomes `to`; the result is what it was. */
static uint64_t saved(struct scalar *s, uint64_t to)
{
    const uint64_t old = s->exec;
    s->exec = to;
    s->exec_changes = true;
    s->scc = to != 0;
    return old;
}

static uint64_t mirrored(uint64_t x, int bits)
{
    uint64_t r = 0;
    for (int i = 0; i < bits; i++)
        r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

static uint64_t count(uint64_t x)
{
    uint64_t n = 0;
    for (int i = 0; i < 64; i++)
        n += x >> i & 1;
    return n;
}

static uint64_t lowest(uint64_t x, int bits)
{
    for (int i = 0; i < bits; i++)
        if (x >> i & 1)
            return (uint64_t)i;
    return UINT64_MAX;
}

/* Which quads have a bit set: a bit each, or the whole quad. */
static uint64_t groups(uint64_t x, int bits, bool whole)
{
    uint64_t r = 0;
    for (int i = 0; i < bits; i++)
        if (x >> (i & ~3) & 15)
            r |= UINT64_C(1) << (whole ? i : i / 4);
    return r;
}

static uint64_t doubled(uint64_t x)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) * 3 << 2 * i;
    return r;
}

/* Offset in the low bits of `where`, width from bit 16. */
static uint64_t field(uint64_t x, uint64_t where, int bits, bool is_signed)
{
    const int offset = (int)(where % (unsigned)bits), width = (int)(where >> 16 & 127);
    uint64_t r = 0;
    for (int i = 0; i < width && i < bits; i++) {
        const int from = offset + i < bits ? offset + i : is_signed ? bits - 1 : bits;
        if (from < bits)
            r |= (x >> from & 1) << i;
    }
    if (is_signed && width > 0 && width < bits && r >> (width - 1) & 1)
        r |= UINT64_MAX << width;
    return r;
}

/* The difference wraps before its sign counts. */
static uint64_t distance(uint32_t a, uint32_t b)
{
    return (a - b) >> 31 ? b - a : a - b;
}

typedef uint64_t scalar_fn(struct scalar *s, uint64_t a, uint64_t b, uint64_t k, uint64_t old);

#define BODY(name, expression)                                                                               \
    static uint64_t mean_##name(struct scalar *s, uint64_t a, uint64_t b, uint64_t k, uint64_t old)          \
    {                                                                                                        \
        const uint64_t exec = s->exec;                                                                       \
        const bool scc = s->scc;                                                                             \
        (void)a, (void)b, (void)k, (void)old, (void)exec, (void)scc;                                         \
        return (uint64_t)(expression);                                                                       \
    }
#define REF(name, expression)  BODY(name, expression)
#define TEST(name, expression) BODY(name, sets(s, 0, expression))
#include "salu.def"
#undef REF
#undef TEST

static scalar_fn *const meanings[ISA_OP_COUNT] = {
#define REF(name, expression)  [ISA_OP_##name] = mean_##name,
#define TEST(name, expression) [ISA_OP_##name] = mean_##name,
#include "salu.def"
#undef REF
#undef TEST
};

/* ---- operands ---- */

static uint64_t fetch(const struct rig_state *s, const struct isa_operand *o)
{
    uint64_t x = 0;
    switch (o->kind) {
    case ISA_SGPR:
        x = o->dwords > 1 ? rig_sreg64(s, o->reg) : s->s[o->reg];
        break;
    case ISA_CONST:
        x = o->value;
        break;
    case ISA_SPECIAL:
        if (o->reg <= 238) /* apertures: 2^48 shared, 2^49 private; base, limit */
            x = (UINT64_C(1) << (o->reg <= 236 ? 48 : 49)) + (o->reg % 2 ? 0 : UINT32_MAX);
        else
            x = o->reg == 251   ? rig_sreg64(s, SREG_VCC) == 0
                : o->reg == 252 ? rig_sreg64(s, SREG_EXEC) == 0
                                : s->scc;
        break;
    default:
        break;
    }
    return o->dwords > 1 ? x : (uint32_t)x;
}

static void put(struct rig_state *s, const struct isa_operand *o, uint64_t value)
{
    s->s[o->reg] = (uint32_t)value;
    if (o->dwords > 1)
        s->s[o->reg + 1] = (uint32_t)(value >> 32);
}

/* ---- registers of the hardware that code may set: MODE and TRAPSTS ---- */

static uint32_t *hardware(struct rig_state *s, unsigned id)
{
    return id == 1 ? &s->mode : id == 3 ? &s->trapsts : NULL;
}

static uint64_t field_mask(unsigned simm16)
{
    return ((UINT64_C(2) << (simm16 >> 11 & 31)) - 1) << (simm16 >> 6 & 31) & UINT32_MAX;
}

/* ---- what is more than operands and a result ---- */

static uint64_t here(void)
{
    return (uint64_t)(uintptr_t)rig.code;
}

static bool branches(const struct isa_inst *inst, const struct rig_state *s, bool *taken)
{
    const bool vccz = rig_sreg64(s, SREG_VCC) == 0, execz = rig_sreg64(s, SREG_EXEC) == 0;
    switch (inst->op) {
    case ISA_OP_s_branch:
    case ISA_OP_s_call_b64:
        *taken = true;
        return true;
    case ISA_OP_s_cbranch_scc0:
    case ISA_OP_s_cbranch_scc1:
        *taken = s->scc == (inst->op == ISA_OP_s_cbranch_scc1);
        return true;
    case ISA_OP_s_cbranch_vccz:
    case ISA_OP_s_cbranch_vccnz:
        *taken = vccz == (inst->op == ISA_OP_s_cbranch_vccz);
        return true;
    case ISA_OP_s_cbranch_execz:
    case ISA_OP_s_cbranch_execnz:
        *taken = execz == (inst->op == ISA_OP_s_cbranch_execz);
        return true;
    case ISA_OP_s_cbranch_cdbgsys: /* no debugger */
    case ISA_OP_s_cbranch_cdbguser:
    case ISA_OP_s_cbranch_cdbgsys_or_user:
    case ISA_OP_s_cbranch_cdbgsys_and_user:
        *taken = false;
        return true;
    default:
        return false;
    }
}

/* No effect that a wave can see. */
static bool is_hint(unsigned op)
{
    switch (op) {
    case ISA_OP_s_nop:
    case ISA_OP_s_waitcnt:
    case ISA_OP_s_wakeup:
    case ISA_OP_s_setprio:
    case ISA_OP_s_icache_inv:
    case ISA_OP_s_incperflevel:
    case ISA_OP_s_decperflevel:
    case ISA_OP_s_ttracedata:
    case ISA_OP_s_setkill:
        return true;
    default:
        return false;
    }
}

/* A fork goes both ways: the side with fewer lanes first, the other waits in SGPRs 4 * CSP and up. */
static void forked(const struct rig_state *before, struct rig_state *after, uint64_t condition,
                   uint64_t target)
{
    const uint64_t exec = rig_sreg64(before, SREG_EXEC), pass = condition & exec, fail = ~condition & exec;
    const unsigned csp = before->mode >> 29;
    if (pass == exec) {
        after->next = target;
    } else if (fail != exec) {
        const bool fail_first = count(fail) < count(pass);
        rig_set_sreg64(after, SREG_EXEC, fail_first ? fail : pass);
        rig_set_sreg64(after, 4 * csp, fail_first ? pass : fail);
        rig_set_sreg64(after, 4 * csp + 2, fail_first ? target : after->next);
        after->next = fail_first ? after->next : target;
        after->mode = (before->mode & 0x1fffffff) | ((csp + 1) & 7) << 29;
    }
}

/* Gives expected state a shape that the instruction can have; false when it has no reference here. */
static bool refer(const struct isa_inst *inst, struct rig_state *before, struct rig_state *after)
{
    const unsigned simm16 = (uint16_t)inst->simm16;
    bool taken;
    const uint64_t target = here() + inst->size + 4 * (rig_random() % 13); /* not inside of it */
    if (inst->op == ISA_OP_s_setpc_b64 || inst->op == ISA_OP_s_swappc_b64) {
        if (inst->src[0].kind != ISA_SGPR)
            return false;
        put(before, &inst->src[0], target);
    }
    const bool relative = inst->op == ISA_OP_s_movrels_b32 || inst->op == ISA_OP_s_movrels_b64 ||
                          inst->op == ISA_OP_s_movreld_b32 || inst->op == ISA_OP_s_movreld_b64;
    const struct isa_operand *moved =
        inst->op == ISA_OP_s_movreld_b32 || inst->op == ISA_OP_s_movreld_b64 ? &inst->dst : &inst->src[0];
    if (relative) { /* M0 says by how much, within s0..s101 */
        const unsigned room = 102u - moved->dwords;
        if (moved->kind != ISA_SGPR || moved->reg > room)
            return false;
        before->s[SREG_M0] = (uint32_t)(rig_random() % (room - moved->reg + 1)) & ~(moved->dwords - 1u);
    }
    const bool forks = inst->op == ISA_OP_s_cbranch_g_fork || inst->op == ISA_OP_s_cbranch_i_fork;
    if (forks || inst->op == ISA_OP_s_cbranch_join) {
        before->mode |= (uint32_t)(rig_random() % 8) << 29;
        if (inst->op == ISA_OP_s_cbranch_g_fork && inst->src[1].kind != ISA_SGPR)
            return false;
        if (inst->op == ISA_OP_s_cbranch_g_fork)
            put(before, &inst->src[1], target);
    }
    if (inst->op == ISA_OP_s_cbranch_join) {
        const unsigned csp = before->mode >> 29;
        if (inst->src[0].kind == ISA_SGPR && rig_random() % 4 == 0)
            before->s[inst->src[0].reg] = csp;
        if (fetch(before, &inst->src[0]) != csp)
            rig_set_sreg64(before, 4 * ((csp - 1) & 7) + 2, target);
        if (fetch(before, &inst->src[0]) == csp) { /* perhaps only now */
            *after = *before;
            return true;
        }
    }
    *after = *before;
    if (forks) {
        forked(before, after, fetch(before, &inst->src[0]),
               inst->op == ISA_OP_s_cbranch_g_fork ? fetch(before, &inst->src[1])
                                                   : here() + 4 + 4 * (uint64_t)inst->simm16);
        return true;
    }
    if (is_hint(inst->op))
        return true;
    if (branches(inst, before, &taken)) {
        if (taken)
            after->next = here() + 4 + (uint64_t)((int64_t)inst->simm16 * 4);
        if (inst->op == ISA_OP_s_call_b64)
            put(after, &inst->dst, here() + 4);
        return true;
    }
    switch (inst->op) {
    case ISA_OP_s_swappc_b64:
        put(after, &inst->dst, here() + inst->size);
        after->next = target;
        return true;
    case ISA_OP_s_setpc_b64:
        after->next = target;
        return true;
    case ISA_OP_s_movrels_b32:
    case ISA_OP_s_movrels_b64:
        put(after, &inst->dst,
            inst->dst.dwords > 1 ? rig_sreg64(before, moved->reg + before->s[SREG_M0])
                                 : before->s[moved->reg + before->s[SREG_M0]]);
        return true;
    case ISA_OP_s_movreld_b32:
    case ISA_OP_s_movreld_b64: {
        struct isa_operand to = inst->dst;
        to.reg = (uint16_t)(to.reg + before->s[SREG_M0]);
        put(after, &to, fetch(before, &inst->src[0]));
        return true;
    }
    case ISA_OP_s_getreg_b32: {
        const uint32_t *reg = hardware(before, simm16 & 63);
        if (!reg)
            return false;
        put(after, &inst->dst, (*reg & field_mask(simm16)) >> (simm16 >> 6 & 31));
        return true;
    }
    case ISA_OP_s_setreg_b32:
    case ISA_OP_s_setreg_imm32_b32: {
        uint32_t *reg = hardware(after, simm16 & 63);
        if (!reg)
            return false;
        const uint64_t mask = field_mask(simm16);
        *reg = (uint32_t)((*reg & ~mask) | (fetch(before, &inst->src[0]) << (simm16 >> 6 & 31) & mask));
        return true;
    }
    case ISA_OP_s_cbranch_join: {
        const unsigned top = 4 * (((before->mode >> 29) - 1) & 7);
        after->mode = before->mode - (UINT32_C(1) << 29);
        rig_set_sreg64(after, SREG_EXEC, rig_sreg64(before, top));
        after->next = rig_sreg64(before, top + 2);
        return true;
    }
    case ISA_OP_s_setvskip:
        after->mode = before->mode & ~(1u << 28);
        if (fetch(before, &inst->src[0]) >> (fetch(before, &inst->src[1]) & 31) & 1)
            after->mode |= 1u << 28;
        return true;
    case ISA_OP_s_set_gpr_idx_on: /* the second source's field is a constant */
        after->mode |= 1u << 27;
        after->s[SREG_M0] = (before->s[SREG_M0] & 0xffff0f00) | (fetch(before, &inst->src[0]) & 0xff) |
                            (rig.code[0] >> 8 & 15) << 12;
        return true;
    case ISA_OP_s_set_gpr_idx_off:
        before->mode |= MODE_GPR_IDX_EN;
        return true;
    case ISA_OP_s_set_gpr_idx_idx:
        after->s[SREG_M0] = (before->s[SREG_M0] & ~0xffu) | (fetch(before, &inst->src[0]) & 0xff);
        return true;
    case ISA_OP_s_set_gpr_idx_mode:
        after->s[SREG_M0] = (before->s[SREG_M0] & ~0xf000u) | (simm16 & 15) << 12;
        return true;
    default:
        break;
    }
    scalar_fn *mean = meanings[inst->op];
    if (!mean)
        return false;
    struct scalar s = {.pc = here(), .exec = rig_sreg64(before, SREG_EXEC), .scc = before->scc};
    const uint64_t value = mean(&s, fetch(before, &inst->src[0]), fetch(before, &inst->src[1]),
                                (uint32_t)inst->simm16, fetch(before, &inst->dst));
    after->scc = s.scc;
    const bool exec_first = inst->op != ISA_OP_s_andn1_wrexec_b64 && inst->op != ISA_OP_s_andn2_wrexec_b64;
    if (inst->dst.kind == ISA_SGPR && exec_first)
        put(after, &inst->dst, value);
    if (s.exec_changes)
        rig_set_sreg64(after, SREG_EXEC, s.exec);
    if (inst->dst.kind == ISA_SGPR && !exec_first)
        put(after, &inst->dst, value);
    return true;
}

static void check_row(const struct isa_row *row, unsigned wanted)
{
    static struct rig_state before, after;
    unsigned done = 0, bad = 0;
    for (unsigned tries = 0; done < wanted && tries < wanted * 100 && bad < 2; tries++) {
        uint32_t words[4];
        struct isa_inst inst;
        bool taken;
        rig_words(row, 0, words);
        if (row->format == ISA_SOPP || row->op == ISA_OP_s_call_b64 || row->op == ISA_OP_s_cbranch_i_fork)
            words[0] = (words[0] & ~0xffffu) | (uint32_t)(rig_random() % 15); /* stays in the code */
        if (row->op == ISA_OP_s_setreg_b32 || row->op == ISA_OP_s_setreg_imm32_b32 ||
            row->op == ISA_OP_s_getreg_b32)
            words[0] = (words[0] & ~63u) | (rig_random() & 1 ? 1 : 3);
        if (!isa_decode(&isa_gfx942, words, 4, &inst) || inst.reserved)
            continue;
        rig_fill(&before, &inst);
        if (row->format == ISA_SOPK && inst.src[0].kind == ISA_SGPR &&
            rig_random() & 1) /* equality happens */
            before.s[inst.src[0].reg] = rig_random() & 1 ? (uint32_t)inst.simm16 : (uint16_t)inst.simm16;
        if (rig_random() % 4 == 0)
            rig_set_sreg64(&before, SREG_VCC, 0);
        /* Branches look at translated code: the reference needs it in place. */
        rig_translate(2, words, inst.size);
        if (!refer(&inst, &before, &after)) {
            if (row->op != ISA_OP_s_setpc_b64 && row->op != ISA_OP_s_swappc_b64 &&
                row->op != ISA_OP_s_cbranch_g_fork && strncmp(row->name, "s_movrel", 8) != 0)
                return;
            continue;
        }
        if (inst.size > 4 && branches(&inst, &before, &taken))
            continue;
        done++;
        bad += !rig_compare(2, words, &inst, &before, &after); /* compiled once for all levels */
    }
    if (!CHECK(done > 0))
        fprintf(stderr, "%s: no encoding found\n", row->name);
}

int main(int argc, char **argv)
{
    const unsigned wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    for (size_t r = 0; r < isa_gfx942.row_count; r++) {
        const struct isa_row *row = &isa_gfx942.rows[r];
        if (row->format >= ISA_SOP2 && row->format <= ISA_SOPP && (argc <= 2 || !strcmp(argv[2], row->name)))
            check_row(row, wanted);
    }
    return check_status();
}
