/* SPDX-License-Identifier: MIT */
/*
 * SDWA and DPP: every control, every selection, with lanes off and masked,
 * against tables written from the manual's text (MI300 ISA, 6.2 and 13.3.9,
 * 13.3.10) that share nothing with translation.
 */
#include <stdlib.h>
#include <string.h>

#include "../../check.h"
#include "exec/code.h"
#include "wave/fault.h"
#include "isa/isa.h"

enum { A = 1, B = 2, D = 3 };

struct rig {
    alignas(64) wave_row rows[WAVE_TEMPS + WAVE_ROWS];
    struct wave w;
    struct exec_code code;
    struct exec_code_cache cache;
    uint32_t words[3];
};

static uint64_t seed = 88172645463325252u;

static uint64_t random_bits(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1du;
}

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    struct rig *r = context;
    (void)pc;
    *start = (uint64_t)(uintptr_t)r->words;
    *end = *start + sizeof(r->words);
    return true;
}

/* Runs words[0..1]; v[A], v[B] and v[D] hold new random values first, also in `old`. */
static bool run(struct rig *r, wave_row *old, uint64_t exec)
{
    uint64_t start = (uint64_t)(uintptr_t)r->words;
    r->words[2] = 0xbf810000;
    for (int row = A; row <= D; row++)
        for (int l = 0; l < WAVE_LANES; l++)
            r->w.v[row][l] = (uint32_t)(random_bits() >> 20);
    memcpy(old, r->w.v, (D + 1) * sizeof(wave_row));
    r->w.exec = exec;
    exec_code_drop(&r->code, start, start + sizeof(r->words));
    const struct xinst *x = exec_code_find(&r->code, &r->cache, start);
    if (!CHECK(x && x->isa->size == 8))
        return false;
    return CHECK(x->fn(&r->w, x) == x + 1);
}

static uint64_t pattern(unsigned i)
{
    return i % 4 == 0   ? UINT64_MAX
           : i % 4 == 1 ? random_bits()
           : i % 4 == 2 ? random_bits() | random_bits()
                        : 0xfff;
}

/* ---- DPP ---- */

/* The lane that lane l reads; -1: none. */
static int reads(unsigned control, int l)
{
    int n = control & 15, i = l % 16, first = l - i;
    switch (control >> 4) {
    case 0x10:
        return i + n > 15 ? -1 : l + n;
    case 0x11:
        return i < n ? -1 : l - n;
    case 0x12:
        return first + (i + 16 - n) % 16;
    case 0x15:
        return first + n;
    case 0x13:
        switch (n) {
        case 0:
            return l == 63 ? -1 : l + 1;
        case 4:
            return (l + 1) % 64;
        case 8:
            return l - 1;
        default:
            return (l + 63) % 64;
        }
    case 0x14:
        switch (n) {
        case 0:
            return first + 15 - i;
        case 1:
            return l - l % 8 + 7 - l % 8;
        case 2:
            return first - 1;
        default:
            return l < 32 ? -1 : 31;
        }
    default: /* a quarter for each of four lanes, two bits each */
        return l - l % 4 + (int)(control >> (l % 4 * 2) & 3);
    }
}

static void check_dpp(struct rig *r, bool add, unsigned control, unsigned i)
{
    unsigned row_mask = i % 3 ? 15 : (unsigned)(random_bits() >> 60),
             bank_mask = i % 5 ? 15 : (unsigned)(random_bits() >> 60);
    bool bound = i & 1;
    uint64_t exec = pattern(i / 2);
    wave_row old[D + 1];
    r->words[0] = add ? 52u << 25 | D << 17 | B << 9 | 0xfa : 0x7e000000u | D << 17 | 1 << 9 | 0xfa;
    r->words[1] = A | control << 8 | (uint32_t)bound << 19 | bank_mask << 24 | row_mask << 28;
    if (!run(r, old, exec))
        return;
    for (int l = 0; l < WAVE_LANES; l++) {
        int from = reads(control, l);
        bool valid = from >= 0 && (exec >> from & 1);
        bool write = (exec >> l & 1) && (row_mask >> l / 16 & 1) && (bank_mask >> l % 16 / 4 & 1);
        uint32_t a = valid ? old[A][from] : 0, want = add ? a + old[B][l] : a;
        if (!write || (!valid && !bound))
            want = old[D][l];
        if (!CHECK(r->w.v[D][l] == want)) {
            fprintf(stderr, "dpp_ctrl %#x, lane %d: %08x, expected %08x\n", control, l, r->w.v[D][l], want);
            return;
        }
    }
}

/* ---- SDWA ---- */

static uint32_t part(uint32_t x, unsigned select, bool sign)
{
    uint8_t b[4] = {(uint8_t)x, (uint8_t)(x >> 8), (uint8_t)(x >> 16), (uint8_t)(x >> 24)};
    if (select < 4)
        return sign ? (uint32_t)(int32_t)(int8_t)b[select] : b[select];
    if (select < 6) {
        uint16_t h = (uint16_t)(b[2 * (select - 4)] | b[2 * (select - 4) + 1] << 8);
        return sign ? (uint32_t)(int32_t)(int16_t)h : h;
    }
    return x;
}

/* Byte by byte: what is selected, or by `unused` zero, the sign above, or as it was. */
static uint32_t placed(uint32_t x, uint32_t old, unsigned select, unsigned unused)
{
    if (select == 6)
        return x;
    unsigned first = select < 4 ? select : 2 * (select - 4), count = select < 4 ? 1 : 2;
    bool negative = x >> (8 * count - 1) & 1;
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t byte = unused == 2 ? old >> 8 * i & 0xff : unused == 1 && i > first && negative ? 0xff : 0;
        if (i >= first && i < first + count)
            byte = x >> 8 * (i - first) & 0xff;
        result |= byte << 8 * i;
    }
    return result;
}

static void check_sdwa(struct rig *r, unsigned i)
{
    unsigned dst = i % 7, unused = i / 7 % 3, s0 = i / 21 % 7, s1 = i / 147 % 7, sext = i / 1029 % 4;
    uint64_t exec = pattern((unsigned)random_bits());
    wave_row old[D + 1];
    r->words[0] = 52u << 25 | D << 17 | B << 9 | 0xf9;
    r->words[1] = A | dst << 8 | unused << 11 | s0 << 16 | (sext & 1) << 19 | s1 << 24 | (sext >> 1) << 27;
    if (!run(r, old, exec))
        return;
    for (int l = 0; l < WAVE_LANES; l++) {
        uint32_t sum = part(old[A][l], s0, sext & 1) + part(old[B][l], s1, sext >> 1);
        uint32_t want = exec >> l & 1 ? placed(sum, old[D][l], dst, unused) : old[D][l];
        if (!CHECK(r->w.v[D][l] == want)) {
            fprintf(stderr,
                    "dst_sel %u unused %u src0_sel %u src1_sel %u sext %u, lane %d: %08x, expected %08x\n",
                    dst, unused, s0, s1, sext, l, r->w.v[D][l], want);
            return;
        }
    }
}

int main(void)
{
    struct rig *r = aligned_alloc(64, (sizeof(*r) + 63) & ~(size_t)63);
    memset(r, 0, sizeof(*r));
    r->w.v = r->rows + WAVE_TEMPS;
    wave_set_mode(&r->w, MODE_FLOAT_PLAIN);
    exec_code_init(&r->code, &isa_gfx942, bounds, r);
    for (unsigned level = r->code.level; level >= 2; level--) {
        r->code.level = level;
        unsigned controls = 0;
        for (unsigned control = 0; control < 512; control++) {
            struct isa_inst inst;
            uint32_t words[2] = {0x7e0202fa, control << 8 | 0xffu << 24};
            if (!isa_decode(&isa_gfx942, words, 2, &inst))
                continue;
            controls++;
            for (unsigned i = 0; i < 32; i++)
                check_dpp(r, i >= 16, control, i);
        }
        CHECK(controls == 256 + 3 * 15 + 4 + 4 + 16);
        for (unsigned i = 0; i < 7 * 3 * 7 * 7 * 4; i++)
            check_sdwa(r, i);
    }
    exec_code_destroy(&r->code);
    free(r);
    return check_status();
}
