/* SPDX-License-Identifier: MIT */
/*
 * Packed and mixed arithmetic and dot products, every modifier and several
 * MODEs, lane by lane against scalar arithmetic: f16 results are found by
 * searching all f16 values for the one nearest to the exact result.
 */
#define RIG_FAMILY(level) sem_packed_##level
#include "matrix_wave.h"

enum { A_REG = 10, B_REG = 12, C_REG = 14, D_REG = 16, SCALAR = 20 };

enum kind { INT16, FLOAT16, FLOAT32, MOVE32, MIX, DOT };

static const struct test_case {
    unsigned op;
    const char *name;
    enum kind kind;
    int sources;
} cases[] = {
#define CASE(name, kind, sources) {ISA_OP_##name, #name, kind, sources},
    CASE(v_pk_mad_i16, INT16, 3) CASE(v_pk_mul_lo_u16, INT16, 2) CASE(v_pk_add_i16, INT16, 2)
        CASE(v_pk_sub_i16, INT16, 2) CASE(v_pk_lshlrev_b16, INT16, 2) CASE(v_pk_lshrrev_b16, INT16, 2)
            CASE(v_pk_ashrrev_i16, INT16, 2) CASE(v_pk_max_i16, INT16, 2) CASE(v_pk_min_i16, INT16, 2)
                CASE(v_pk_mad_u16, INT16, 3) CASE(v_pk_add_u16, INT16, 2) CASE(v_pk_sub_u16, INT16, 2)
                    CASE(v_pk_max_u16, INT16, 2) CASE(v_pk_min_u16, INT16, 2) CASE(v_pk_fma_f16, FLOAT16, 3)
                        CASE(v_pk_add_f16, FLOAT16, 2) CASE(v_pk_mul_f16, FLOAT16, 2)
                            CASE(v_pk_min_f16, FLOAT16, 2) CASE(v_pk_max_f16, FLOAT16, 2)
                                CASE(v_pk_fma_f32, FLOAT32, 3) CASE(v_pk_mul_f32, FLOAT32, 2)
                                    CASE(v_pk_add_f32, FLOAT32, 2) CASE(v_pk_mov_b32, MOVE32, 2)
                                        CASE(v_fma_mix_f32, MIX, 3) CASE(v_fma_mixlo_f16, MIX, 3)
                                            CASE(v_fma_mixhi_f16, MIX, 3) CASE(v_dot2_f32_f16, DOT, 3)
                                                CASE(v_dot2_i32_i16, DOT, 3) CASE(v_dot2_u32_u16, DOT, 3)
                                                    CASE(v_dot4_i32_i8, DOT, 3) CASE(v_dot4_u32_u8, DOT, 3)
                                                        CASE(v_dot8_i32_i4, DOT, 3)
                                                            CASE(v_dot8_u32_u4, DOT, 3)
#undef CASE
};

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

/* ---- f16 by search ---- */

static __float128 magnitude_of(unsigned h)
{
    return h >= 0x7c00 ? 65536 : (__float128)rig_value(RIG_F16, h);
}

/* mode: 0 even, 1 up, 2 down, 3 zero */
static unsigned round_f16(__float128 x, unsigned mode)
{
    unsigned sign = __builtin_signbit(x) ? 0x8000 : 0, low = 0, high = 0x7c00;
    __float128 m = x < 0 ? -x : x;
    if (x > 1e300 || x < -1e300)
        return sign | 0x7c00;
    while (low + 1 < high) {
        unsigned middle = (low + high) / 2;
        if (magnitude_of(middle) <= m)
            low = middle;
        else
            high = middle;
    }
    if (m >= 65536)
        low = 0x7bff, high = 0x7c00;
    __float128 below = m - magnitude_of(low), above = magnitude_of(high) - m;
    if (below == 0)
        return sign | low;
    bool up;
    if (mode == 0)
        up = above < below || (above == below && (high & 1) == 0);
    else
        up = mode == 3 ? false : (mode == 1) == (sign == 0);
    return sign | (up ? high : low);
}

static bool nan16(unsigned h)
{
    return (h & 0x7fff) > 0x7c00;
}

static unsigned flush16(unsigned h, bool keep)
{
    return keep || (h & 0x7c00) ? h : h & 0x8000;
}

static unsigned ref_f16(const char *name, const unsigned *s, int n, uint32_t mode, bool clamp)
{
    unsigned in[3], r = 0;
    for (int i = 0; i < n; i++)
        in[i] = flush16(s[i], mode & 0x40);
    bool done = false;
    if (has(name, "min") || has(name, "max")) {
        bool max = has(name, "max");
        done = true;
        bool signalling0 = nan16(in[0]) && !(in[0] & 0x200), signalling1 = nan16(in[1]) && !(in[1] & 0x200);
        if ((mode & MODE_IEEE) && signalling0)
            r = in[0] | 0x200;
        else if ((mode & MODE_IEEE) && signalling1)
            r = in[1] | 0x200;
        else if (nan16(in[0]))
            r = in[1];
        else if (nan16(in[1]))
            r = in[0];
        else {
            double x = rig_value(RIG_F16, in[0]), y = rig_value(RIG_F16, in[1]);
            bool less = x < y || (x == 0 && y == 0 && signbit(x) && !signbit(y));
            r = less != max ? in[0] : in[1];
        }
    }
    for (int i = 0; i < n && !done; i++)
        if (nan16(in[i])) {
            r = in[i] | 0x200;
            done = true;
        }
    if (!done) {
        __float128 x = rig_value(RIG_F16, in[0]), y = rig_value(RIG_F16, in[1]), first = x, second = y, v;
        unsigned round = mode >> 2 & 3;
        if (has(name, "mul"))
            v = x * y;
        else if (has(name, "fma"))
            first = x * y, second = rig_value(RIG_F16, in[2]), v = first + second;
        else
            v = x + y;
        if (v != v) {
            r = 0x7e00;
        } else {
            if (!has(name, "mul") && v == 0 && __builtin_signbit(first) != __builtin_signbit(second))
                v = round == 2 ? -0.0 : 0.0;
            r = flush16(round_f16(v, round), mode & 0x80);
        }
    }
    if (clamp) {
        if (nan16(r))
            r = mode & MODE_DX10_CLAMP ? 0 : r;
        else
            r = r & 0x8000 ? 0 : r > 0x3c00 ? 0x3c00 : r;
    }
    return r;
}

/* ---- f32 ---- */

static float as_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static uint32_t as_bits(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}

static bool nan32(uint32_t u)
{
    return (u & 0x7fffffff) > 0x7f800000;
}

static uint32_t ref_f32(const char *name, const uint32_t *s, int n, bool clamp, bool dx10)
{
    uint32_t r = 0;
    bool nan = false;
    for (int i = 0; i < n && !nan; i++)
        if (nan32(s[i])) {
            r = s[i] | 0x400000;
            nan = true;
        }
    if (!nan) {
        volatile float x = as_float(s[0]), y = as_float(s[1]), v;
        if (has(name, "fma"))
            v = fmaf(x, y, as_float(s[2]));
        else if (has(name, "mul"))
            v = x * y;
        else
            v = x + y;
        r = isnan(v) ? 0x7fc00000 : as_bits(v);
    }
    if (clamp && nan32(r))
        return dx10 ? 0 : r;
    if (clamp)
        return r >> 31 ? 0 : as_float(r) > 1 ? 0x3f800000 : r;
    return r;
}

/* ---- integers ---- */

static uint32_t ref_int(const char *name, uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
    bool is_signed = has(name, "i16");
    int64_t x = is_signed ? (int16_t)a : (int64_t)a, y = is_signed ? (int16_t)b : (int64_t)b,
            z = is_signed ? (int16_t)c : (int64_t)c, v;
    if (has(name, "lshlrev"))
        return b << (a & 15) & 0xffff;
    if (has(name, "shrrev"))
        return (uint32_t)(y >> (a & 15)) & 0xffff;
    if (has(name, "mad"))
        v = x * y + z;
    else if (has(name, "mul"))
        v = x * y;
    else if (has(name, "add"))
        v = x + y;
    else if (has(name, "sub"))
        v = x - y;
    else
        v = (x < y) == has(name, "min") ? x : y;
    int64_t most = is_signed ? 32767 : 65535, least = is_signed ? -32768 : 0;
    if (clamp)
        v = v > most ? most : v < least ? least : v;
    return (uint32_t)v & 0xffff;
}

static uint32_t ref_dot(const char *name, uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
    int n = name[5] - '0', bits = 32 / n;
    bool is_signed = has(name, "_i32");
    __int128 sum = is_signed ? (__int128)(int32_t)c : (__int128)c;
    for (int e = 0; e < n; e++) {
        int64_t x = a >> e * bits & ((1u << bits) - 1), y = b >> e * bits & ((1u << bits) - 1);
        if (is_signed && x >> (bits - 1))
            x -= 1 << bits;
        if (is_signed && y >> (bits - 1))
            y -= 1 << bits;
        sum += x * y;
    }
    __int128 most = is_signed ? INT32_MAX : UINT32_MAX, least = is_signed ? INT32_MIN : 0;
    if (clamp)
        sum = sum > most ? most : sum < least ? least : sum;
    return (uint32_t)sum;
}

/* ---- one instruction, all lanes ---- */

static uint32_t random_f16(struct rig *r)
{
    static const uint16_t special[] = {0,      0x8000, 1,      0x3ff,  0x400,  0x7bff,
                                       0x7c00, 0xfc00, 0x7e12, 0x7d00, 0xfd01, 0x3c00};
    uint32_t x = rig_random(r);
    return x % 8 == 0 ? special[x / 8 % 12] : x >> 16;
}

static uint32_t random_operand(struct rig *r, enum kind kind, int i, const char *name)
{
    bool half = kind == FLOAT16 || (kind == MIX && rig_random(r) & 1) || (has(name, "dot2_f32") && i < 2);
    if (half)
        return random_f16(r) | random_f16(r) << 16;
    if (kind == FLOAT32 || kind == MIX || has(name, "dot2_f32")) {
        static const uint32_t special[] = {0,          0x80000000, 1,          0x007fffff,
                                           0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000,
                                           0x7fc00001, 0x7fa00001, 0xffa00000, 0x3f800000};
        uint32_t x = rig_random(r);
        return x % 8 == 0 ? special[x / 8 % 12] : x % 8 < 4 ? (x & 0x807fffff) | 0x3f000000 : x;
    }
    return rig_random(r) % 4 ? rig_random(r) : rig_random(r) & 0x80008000u ? 0x80008000u : 0xffffffffu;
}

static uint32_t half_of(uint32_t x, unsigned high)
{
    return high ? x >> 16 : x & 0xffff;
}

/* The result registers of one lane; lo and hi are what the sources' registers hold. */
static void reference(const struct rig *r, const struct test_case *t, const uint32_t *lo, const uint32_t *hi,
                      uint32_t old, uint32_t *out)
{
    const struct isa_inst *in = &r->inst;
    uint32_t mode = r->w.mode;
    out[0] = out[1] = 0;
    switch (t->kind) {
    case MOVE32:
        out[0] = in->op_sel & 1 ? hi[0] : lo[0];
        out[1] = in->op_sel & 2 ? hi[1] : lo[1];
        return;
    case FLOAT32:
        for (int h = 0; h < 2; h++) {
            uint32_t s[3];
            for (int i = 0; i < t->sources; i++) {
                s[i] = (h ? in->op_sel_hi : in->op_sel) >> i & 1 ? hi[i] : lo[i];
                s[i] ^= (uint32_t)((h ? in->neg_hi : in->neg) >> i & 1) << 31;
            }
            out[h] = ref_f32(t->name, s, t->sources, in->clamp, mode & MODE_DX10_CLAMP);
        }
        return;
    case FLOAT16:
    case INT16:
        for (int h = 0; h < 2; h++) {
            unsigned s[3] = {0};
            for (int i = 0; i < t->sources; i++) {
                s[i] = half_of(lo[i], (h ? in->op_sel_hi : in->op_sel) >> i & 1);
                if (t->kind == FLOAT16)
                    s[i] ^= (unsigned)((h ? in->neg_hi : in->neg) >> i & 1) << 15;
            }
            unsigned v = t->kind == FLOAT16 ? ref_f16(t->name, s, t->sources, mode, in->clamp)
                                            : ref_int(t->name, s[0], s[1], s[2], in->clamp);
            out[0] |= v << 16 * h;
        }
        return;
    case MIX: {
        uint32_t s[3];
        for (int i = 0; i < 3; i++) {
            s[i] = lo[i];
            if (in->op_sel_hi >> i & 1) {
                uint32_t half = half_of(lo[i], in->op_sel >> i & 1);
                s[i] = nan16(half) ? (half & 0x8000) << 16 | 0x7fc00000 | (half & 0x3ff) << 13
                                   : as_bits((float)rig_value(RIG_F16, half));
            }
            if (in->neg_hi >> i & 1)
                s[i] &= 0x7fffffff;
            s[i] ^= (uint32_t)(in->neg >> i & 1) << 31;
        }
        uint32_t v = ref_f32("fma", s, 3, in->clamp, mode & MODE_DX10_CLAMP);
        if (has(t->name, "f16")) {
            uint32_t half =
                nan32(v) ? (v >> 16 & 0x8000) | 0x7e00 | (v >> 13 & 0x3ff) : round_f16(as_float(v), 0);
            v = has(t->name, "lo") ? (old & 0xffff0000) | half : (old & 0xffff) | half << 16;
        }
        out[0] = v;
        return;
    }
    case DOT: {
        uint32_t a = lo[0], b = lo[1], c = lo[2];
        if (has(t->name, "dot2")) {
            a = half_of(lo[0], in->op_sel & 1) | half_of(lo[0], in->op_sel_hi & 1) << 16;
            b = half_of(lo[1], in->op_sel & 2) | half_of(lo[1], in->op_sel_hi & 2) << 16;
        }
        if (!has(t->name, "f16")) {
            out[0] = ref_dot(t->name, a, b, c, in->clamp);
            return;
        }
        c ^= (uint32_t)(in->neg >> 2 & 1) << 31;
        volatile float v = as_float(c);
        for (int h = 0; h < 2; h++) {
            double x = rig_value(RIG_F16, half_of(a, (unsigned)h)),
                   y = rig_value(RIG_F16, half_of(b, (unsigned)h));
            x = (h ? in->neg_hi : in->neg) & 1 ? -x : x;
            y = (h ? in->neg_hi : in->neg) & 2 ? -y : y;
            v = (float)((__float128)x * y + v); /* the sum of 22 and 24 bits: rounded once from quad */
        }
        out[0] = isnan(v) ? 0x7fc00000 : as_bits(v);
        if (in->clamp)
            out[0] = isnan(v) ? (mode & MODE_DX10_CLAMP ? 0 : out[0])
                     : v <= 0 ? 0
                     : v > 1  ? 0x3f800000
                              : out[0];
        return;
    }
    }
}

static void run(struct rig *r, const struct rig_level *level, const struct test_case *t, bool modifiers,
                uint32_t mode, int overlap, int scalar)
{
    wave_row *v = r->w.v;
    bool pair = t->kind == FLOAT32 || t->kind == MOVE32;
    unsigned dwords = pair ? 2 : 1;
    static const unsigned regs[3] = {A_REG, B_REG, C_REG};
    rig_clear(r, t->op);
    r->inst.format = ISA_VOP3P;
    r->inst.op_sel_hi = t->kind == MIX ? 0 : 7;
    if (modifiers) {
        r->inst.op_sel = rig_random(r) & 7;
        r->inst.op_sel_hi = rig_random(r) & 7;
        r->inst.clamp = rig_random(r) & 1;
        if (t->kind != INT16 && t->kind != MOVE32) {
            r->inst.neg = rig_random(r) & 7;
            r->inst.neg_hi = rig_random(r) & 7;
        }
    }
    rig_operand(r, -1, ISA_VGPR, overlap < 0 ? D_REG : regs[overlap], dwords);
    for (int i = 0; i < t->sources; i++)
        if (i == scalar && pair)
            rig_scalar(r, i, SCALAR, dwords);
        else if (i == scalar)
            rig_constant(r, i, 0x3c00, 1);
        else
            rig_operand(r, i, ISA_VGPR, regs[i], dwords);
    static uint32_t lo[64][3], hi[64][3];
    static wave_row old[2];
    r->w.s[SCALAR] = 0x40400000;
    r->w.s[SCALAR + 1] = 0xbf000000;
    for (int l = 0; l < 64; l++) {
        for (int i = 0; i < 3; i++)
            for (unsigned d = 0; d < 2; d++)
                v[regs[i] + d][l] = random_operand(r, t->kind, i, t->name);
        if (t->kind == FLOAT16 && t->sources == 3 && l % 4 == 0) {
            /* A product halfway between two f16, and a third source far below that decides: one rounding, not
             * two. */
            v[A_REG][l] = 0x3c013c01 | (rig_random(r) & 0x00ff00ff);
            v[B_REG][l] = 0x3e003e00;
            v[C_REG][l] = 0x00010001 | (rig_random(r) & 0x80028002);
        }
        v[D_REG][l] = rig_random(r);
        v[D_REG + 1][l] = rig_random(r);
        for (int i = 0; i < 3; i++) {
            lo[l][i] = i != scalar ? v[regs[i]][l] : pair ? r->w.s[SCALAR] : 0x3c00;
            hi[l][i] = i != scalar ? v[regs[i] + 1][l] : pair ? r->w.s[SCALAR + 1] : 0;
        }
    }
    memcpy(old, v + r->x.d, sizeof(old));
    r->w.mode = mode;
    r->w.mode_slow = (mode & MODE_FLOAT_BITS) != MODE_FLOAT_PLAIN;
    r->w.exec = rig_random(r) & 1 ? UINT64_MAX : (uint64_t)rig_random(r) << 32 | rig_random(r);
    exec_fn *fn = level->lookup(&r->inst, &r->x);
    if (!fn) {
        fprintf(stderr, "%s has no handler\n", t->name);
        r->failures++;
        return;
    }
    oracle_ran_op(r->inst.op, ORACLE_HANDLER);
    fn(&r->w, &r->x);
    for (int l = 0; l < 64; l++) {
        uint32_t want[2];
        reference(r, t, lo[l], hi[l], old[0][l], want);
        for (unsigned d = 0; d < dwords; d++) {
            uint32_t w = r->w.exec >> l & 1 ? want[d] : old[d][l], got = v[r->x.d + (int)d][l];
            r->checks++;
            if (got != w && r->failures++ < 20)
                fprintf(stderr,
                        "%s (%s) mode %x op_sel %x,%x neg %x,%x clamp %d: %08x,%08x %08x,%08x %08x,%08x "
                        "gives %08x in register %u, not %08x\n",
                        t->name, level->name, mode, r->inst.op_sel, r->inst.op_sel_hi, r->inst.neg,
                        r->inst.neg_hi, r->inst.clamp, lo[l][0], hi[l][0], lo[l][1], hi[l][1], lo[l][2],
                        hi[l][2], got, d, w);
        }
    }
}

int main(void)
{
    struct rig *r = rig_new(31337);
    const uint32_t plain = MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP;
    for (const struct rig_level *level = rig_levels(); level->name; level++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
            for (int n = 0; n < 12; n++) {
                const struct test_case *t = &cases[i];
                run(r, level, t, false, plain, -1, -1);
                run(r, level, t, true, plain, -1, -1);
                run(r, level, t, true, MODE_FLOAT_PLAIN, n % t->sources, -1);
                run(r, level, t, true, plain, -1, n % t->sources);
                if (t->kind == FLOAT16)
                    for (uint32_t round = 0; round < 4; round++)
                        run(r, level, t, true, (plain & ~(round & 2 ? 0xc0u : 0u)) | round << 2, -1, -1);
            }
    printf("%ld registers compared, %ld wrong\n", r->checks, r->failures);
    long failures = r->failures;
    free(r);
    return failures != 0;
}
