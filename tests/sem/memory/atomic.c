/* SPDX-License-Identifier: MIT */
/*
 * Atomics of LDS, FLAT, GLOBAL, MUBUF and SMEM: every operation against its own
 * plain function, in lane order; shared and distinct addresses, apertures, old
 * values returned; two host threads on the same words.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "memory_wave.h"

enum { ADDR = 4, DATA = 12, DATA2 = 16, DST = 20 };

/* ---- what each operation does: old value m, operand d, second operand e, width b in bits ---- */

typedef uint64_t op_fn(uint64_t m, uint64_t d, uint64_t e, unsigned b);

static int64_t sext(uint64_t x, unsigned b)
{
    return b == 32 ? (int64_t)(int32_t)x : (int64_t)x;
}

static double as_float(uint64_t x, unsigned b)
{
    float f;
    double g;
    uint32_t u = (uint32_t)x;
    memcpy(&f, &u, 4);
    memcpy(&g, &x, 8);
    return b == 32 ? (double)f : g;
}

static uint64_t o_swap(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)m, (void)e, (void)b;
    return d;
}
static uint64_t o_cmpswap(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)b;
    return m == e ? d : m;
}
static uint64_t o_add(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return m + d;
}
static uint64_t o_sub(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return m - d;
}
static uint64_t o_rsub(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return d - m;
}
static uint64_t o_smin(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e;
    return sext(d, b) < sext(m, b) ? d : m;
}
static uint64_t o_smax(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e;
    return sext(d, b) > sext(m, b) ? d : m;
}
static uint64_t o_umin(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return d < m ? d : m;
}
static uint64_t o_umax(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return d > m ? d : m;
}
static uint64_t o_and(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return m & d;
}
static uint64_t o_or(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return m | d;
}
static uint64_t o_xor(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return m ^ d;
}
static uint64_t o_inc(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return m < d ? m + 1 : 0;
}
static uint64_t o_dec(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return m != 0 && m <= d ? m - 1 : d;
}
static uint64_t o_mskor(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)b;
    return (m & ~d) | e;
}
static uint64_t o_wrap(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)b;
    return m >= d ? m - d : m + e;
}
static uint64_t o_fmin(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e;
    return as_float(d, b) < as_float(m, b) ? d : m;
}
static uint64_t o_fmax(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e;
    return as_float(d, b) > as_float(m, b) ? d : m;
}
static uint64_t o_fcmpswap(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    return as_float(m, b) == as_float(e, b) ? d : m;
}
static uint64_t o_fadd(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e;
    double x = as_float(m, b), y = as_float(d, b);
    if (isnan(x))
        return m | (b == 32 ? 1u << 22 : UINT64_C(1) << 51);
    if (isnan(y))
        return d | (b == 32 ? 1u << 22 : UINT64_C(1) << 51);
    if (isinf(x) && isinf(y) && x != y)
        return b == 32 ? 0x7fc00000 : UINT64_C(0x7ff8) << 48;
    if (b == 64) {
        double s = x + y;
        memcpy(&m, &s, 8);
        return m;
    }
    float s = (float)x + (float)y;
    uint32_t u;
    memcpy(&u, &s, 4);
    return u;
}
/* Sums of 16-bit floats by long division of the exact integers would be long; f64 is exact enough to round
 * once. */
static uint16_t round16(double v, int mantissa, int least)
{
    int exponent;
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    v = fabs(v);
    if (v == 0)
        return sign;
    frexp(v, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    double scaled = nearbyint(ldexp(v, mantissa - exponent)); /* units in the last place */
    uint32_t code = (uint32_t)(exponent - least) * (1u << mantissa) + (uint32_t)scaled;
    uint32_t infinity = (mantissa == 10 ? 31u : 255u) << mantissa;
    return sign | (uint16_t)(code > infinity ? infinity : code);
}
static double value16(uint16_t x, int mantissa, int least)
{
    int field = (x & 0x7fff) >> mantissa;
    double m = (double)(x & ((1 << mantissa) - 1)) + (field ? 1 << mantissa : 0);
    double v = ldexp(m, (field ? field - 1 : 0) + least - mantissa);
    return x & 0x8000 ? -v : v;
}
static uint64_t packed(uint64_t m, uint64_t d, int mantissa, int least)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i += 16)
        r |= (uint64_t)round16(value16((uint16_t)(m >> i), mantissa, least) +
                                   value16((uint16_t)(d >> i), mantissa, least),
                               mantissa, least)
             << i;
    return r;
}
static uint64_t o_pk_f16(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return packed(m, d, 10, -14);
}
static uint64_t o_pk_bf16(uint64_t m, uint64_t d, uint64_t e, unsigned b)
{
    (void)e, (void)b;
    return packed(m, d, 7, -126);
}

/* ---- operands ---- */

static uint64_t operand(op_fn *fn, unsigned b)
{
    static const uint64_t special32[] = {0,          0x80000000, 0x7fc00000, 0x7f800001, 0xff800000,
                                         0x7f800000, 0x00000001, 0x807fffff, 0x3f800000, 0xffc12345};
    static const uint64_t special64[] = {0,
                                         UINT64_C(0x8000000000000000),
                                         UINT64_C(0x7ff8000000000000),
                                         UINT64_C(0x7ff0000000000001),
                                         UINT64_C(0x7ff0000000000000),
                                         UINT64_C(0xfff0000000000000),
                                         1,
                                         UINT64_C(0x3ff0000000000000)};
    if (fn == o_pk_f16 || fn == o_pk_bf16) { /* finite */
        uint64_t x = rig_random() & 0xffffffff;
        return x & 0xbfffbfff;
    }
    switch (rig_random() % 4) {
    case 0:
        return b == 32 ? special32[rig_random() % 10] : special64[rig_random() % 8];
    case 1:
        return rig_random() % 5;
    default:
        return b == 32 ? rig_random() & 0xffffffff : rig_random();
    }
}

static uint64_t get(const uint8_t *p, unsigned b)
{
    uint64_t v = 0;
    memcpy(&v, p, b / 8);
    return v;
}

static void set_reg(struct rig *r, int reg, unsigned lane, uint64_t v, unsigned b)
{
    r->w.v[reg][lane] = (uint32_t)v;
    if (b == 64)
        r->w.v[reg + 1][lane] = (uint32_t)(v >> 32);
}

/* ---- one instruction ---- */

static void test_one(uint16_t op, const char *name, int format, unsigned b, op_fn *fn, bool returns,
                     unsigned round)
{
    struct rig *base = rig_make();
    unsigned bytes = b / 8;
    bool ds = format == ISA_DS, compare = fn == o_cmpswap || fn == o_fcmpswap;
    bool extra = compare || fn == o_mskor || fn == o_wrap;
    int32_t offset = (int32_t)(rig_random() % 64) * 8;
    uint64_t data[64], more[64], address[64];
    base->w.exec = rig_exec((unsigned)rig_random());
    unsigned spread = round % 4 == 0 ? 1 : round % 4 == 1 ? 4 : 200;
    for (unsigned i = 0; i < RIG_HOST && i < RIG_LDS;
         i += bytes) { /* values that the operation finds interesting */
        uint64_t v = operand(fn, b), u = operand(fn, b);
        memcpy(base->host + i, &v, bytes);
        memcpy(base->lds + i, &u, bytes);
    }
    for (unsigned i = 0; i < sizeof(base->scratch) && (fn == o_pk_f16 || fn == o_pk_bf16); i += 2)
        base->scratch[i + 1] &= 0xbf;
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t slot = rig_random() % spread * bytes,
                 space = format == ISA_FLAT && round % 3 == 0 ? rig_random() % 3 : 0;
        data[lane] = operand(fn, b);
        address[lane] = ds ? slot : (uint64_t)(uintptr_t)base->host + slot;
        if (ds && round % 5 == 0 && lane % 7 == 0)
            address[lane] = RIG_LDS - bytes + 1 + slot; /* out of range */
        if (space == 1)
            address[lane] = APERTURE_SHARED_BASE + slot;
        else if (space == 2)
            address[lane] = APERTURE_PRIVATE_BASE + slot % (RIG_SCRATCH - 8);
        /* Half of the comparisons succeed when the place is not shared. */
        more[lane] =
            space || rig_random() % 2 || address[lane] > RIG_LDS ? operand(fn, b) : get(base->lds + slot, b);
        if (!ds && !space && rig_random() % 2)
            more[lane] = get(base->host + slot, b);
        if (compare && ds) { /* first operand is compared with */
            set_reg(base, DATA, lane, more[lane], b);
            set_reg(base, DATA2, lane, data[lane], b);
        } else if (extra && ds) {
            set_reg(base, DATA, lane, data[lane], b);
            set_reg(base, DATA2, lane, more[lane], b);
        } else {
            set_reg(base, DATA, lane, data[lane], b);
            if (compare)
                set_reg(base, DATA + (int)bytes / 4, lane, more[lane], b);
        }
        uint64_t v = format == ISA_MUBUF ? slot : address[lane] - (uint64_t)offset;
        base->w.v[ADDR][lane] = (uint32_t)v;
        base->w.v[ADDR + 1][lane] = (uint32_t)(v >> 32);
    }
    struct isa_inst inst = {.op = op, .format = (uint8_t)format, .size = 8, .offset = offset};
    unsigned dwords = bytes / 4;
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, ds || format == ISA_MUBUF ? 1 : 2);
    inst.src[ISA_DATA] = rig_vgpr(DATA, !ds && compare ? 2 * dwords : dwords);
    if (ds && extra)
        inst.src[ISA_DATA2] = rig_vgpr(DATA2, dwords);
    int dst = format == ISA_MUBUF ? DATA : round % 3 ? DST : DATA;
    if (returns)
        inst.dst = rig_vgpr((unsigned)dst, dwords);
    uint64_t records = 100 * bytes;
    if (format == ISA_MUBUF) {
        uint64_t start = (uint64_t)(uintptr_t)base->host - (uint64_t)offset;
        wave_set_sgpr64(&base->w, 8, start);
        base->w.s[10] = (uint32_t)(records + (uint64_t)offset);
        base->w.s[11] = 0;
        inst.offen = true;
        inst.src[ISA_SBASE] = rig_sgpr(8, 4);
        inst.soffset = (struct isa_operand){.kind = ISA_CONST, .dwords = 1};
    }
    struct rig *ref = rig_copy(base);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint8_t bytes_of[8], *p = NULL;
        uint64_t a = address[lane], old = 0;
        bool scratch = a >> 32 == 0x20000;
        if (!(base->w.exec >> lane & 1))
            continue;
        if (ds || a >> 32 == 0x10000)
            p = (uint32_t)a + bytes <= RIG_LDS ? ref->lds + (uint32_t)a : NULL;
        else if (!scratch)
            p = ref->host + (a - (uint64_t)(uintptr_t)base->host);
        if (format == ISA_MUBUF && a - (uint64_t)(uintptr_t)base->host + bytes > records)
            p = NULL;
        if (scratch)
            for (unsigned i = 0; i < bytes; i++)
                bytes_of[i] = ref->scratch[((uint32_t)a + i) / 4 * 256 + lane * 4 + ((uint32_t)a + i) % 4];
        if (p || scratch) {
            old = get(p ? p : bytes_of, b);
            uint64_t now = fn(old, data[lane], more[lane], b);
            if (p)
                memcpy(p, &now, bytes);
            for (unsigned i = 0; i < bytes && scratch; i++)
                ref->scratch[((uint32_t)a + i) / 4 * 256 + lane * 4 + ((uint32_t)a + i) % 4] =
                    (uint8_t)(now >> 8 * i);
        }
        if (returns)
            set_reg(ref, dst, lane, old, b);
    }
    uint8_t *saved = malloc(RIG_HOST);
    memcpy(saved, base->host, RIG_HOST);
    for (unsigned i = 0; i < 3; i++) {
        char what[100];
        if (!rig_has_level(rig_levels[i]))
            continue;
        struct rig *r = rig_copy(base);
        memcpy(base->host, saved, RIG_HOST);
        snprintf(what, sizeof(what), "%s v%u format %d round %u", name, rig_levels[i], format, round);
        CHECK_EQ(rig_run(r, rig_levels[i], &inst), EHP_FAULT_NONE);
        rig_same(r, ref, what);
        rig_same_host(base->host, ref->host, what);
        free(r);
    }
    free(saved);
    free(ref);
    free(base);
}

static const struct op {
    const char *name;
    uint16_t op[5];
    uint8_t format[5];
    uint8_t bits;
    op_fn *fn;
    bool ds, returns;
} ops[] = {
#define DS1(name, bits, fn) {#name, {ISA_OP_ds_##name}, {ISA_DS}, bits, fn, true, false},
#define DSR(name, bits, fn) {#name, {ISA_OP_ds_##name}, {ISA_DS}, bits, fn, true, true},
#define DS(op, t, fn)                                                                                        \
    DS1(op##_##t##32, 32, fn)                                                                                \
    DSR(op##_rtn_##t##32, 32, fn) DS1(op##_##t##64, 64, fn) DSR(op##_rtn_##t##64, 64, fn)
#define V(name, bits, fn)                                                                                    \
    {#name,                                                                                                  \
     {ISA_OP_flat_atomic_##name, ISA_OP_global_atomic_##name, ISA_OP_buffer_atomic_##name},                  \
     {ISA_FLAT, ISA_GLOBAL, ISA_MUBUF},                                                                      \
     bits,                                                                                                   \
     fn,                                                                                                     \
     false,                                                                                                  \
     false},
#define VECTOR(name, fn) V(name, 32, fn) V(name##_x2, 64, fn)
    DS(add, u, o_add) DS(sub, u, o_sub) DS(rsub, u, o_rsub) DS(inc, u, o_inc) DS(dec, u, o_dec)
        DS(min, i, o_smin) DS(max, i, o_smax) DS(min, u, o_umin) DS(max, u, o_umax) DS(and, b, o_and)
            DS(or, b, o_or) DS(xor, b, o_xor) DS(mskor, b, o_mskor) DS(cmpst, b, o_cmpswap)
                DS(cmpst, f, o_fcmpswap) DS(min, f, o_fmin) DS(max, f, o_fmax) DS(add, f, o_fadd) DSR(
                    wrxchg_rtn_b32, 32, o_swap) DSR(wrxchg_rtn_b64, 64, o_swap) DSR(wrap_rtn_b32, 32, o_wrap)
                    DS1(pk_add_f16, 32, o_pk_f16) DSR(pk_add_rtn_f16, 32, o_pk_f16) DS1(
                        pk_add_bf16, 32, o_pk_bf16) DSR(pk_add_rtn_bf16, 32, o_pk_bf16) VECTOR(swap, o_swap)
                        VECTOR(cmpswap, o_cmpswap) VECTOR(add, o_add) VECTOR(sub, o_sub) VECTOR(smin, o_smin)
                            VECTOR(smax, o_smax) VECTOR(umin, o_umin) VECTOR(umax, o_umax) VECTOR(and, o_and)
                                VECTOR(or, o_or) VECTOR(xor, o_xor) VECTOR(inc, o_inc) VECTOR(dec, o_dec)
                                    V(add_f32, 32, o_fadd) V(pk_add_f16, 32, o_pk_f16) V(add_f64, 64, o_fadd)
                                        V(min_f64, 64, o_fmin)
                                            V(max_f64, 64, o_fmax){"pk_add_bf16",
                                                                   {ISA_OP_flat_atomic_pk_add_bf16,
                                                                    ISA_OP_global_atomic_pk_add_bf16},
                                                                   {ISA_FLAT, ISA_GLOBAL},
                                                                   32,
                                                                   o_pk_bf16,
                                                                   false,
                                                                   false},
};

/* ---- the ones that are different ---- */

static void test_condxchg(void)
{
    struct rig *r = rig_make();
    struct isa_inst inst = {.op = ISA_OP_ds_condxchg32_rtn_b64, .format = ISA_DS, .size = 8, .offset = 3};
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, 1);
    inst.src[ISA_DATA] = rig_vgpr(DATA, 2);
    inst.dst = rig_vgpr(DST, 2);
    struct rig *ref = rig_copy(r);
    for (unsigned lane = 0; lane < 64; lane++) {
        unsigned at = lane * 8;
        r->w.v[ADDR][lane] = ref->w.v[ADDR][lane] = at + lane % 5; /* low bits are ignored */
        for (unsigned half = 0; half < 2; half++) {
            uint32_t data = r->w.v[DATA + (int)half][lane], old;
            memcpy(&old, ref->lds + at + 4 * half, 4);
            ref->w.v[DST + (int)half][lane] = old;
            if (data >> 31)
                old = data & 0x7fffffff;
            memcpy(ref->lds + at + 4 * half, &old, 4);
        }
    }
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    rig_same(r, ref, "condxchg32");
    free(ref);
    free(r);
}

static void test_misaligned(void)
{
    struct rig *r = rig_make();
    struct isa_inst inst = {.op = ISA_OP_global_atomic_add_x2, .format = ISA_GLOBAL, .size = 8};
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, 2);
    inst.src[ISA_DATA] = rig_vgpr(DATA, 2);
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t a = (uint64_t)(uintptr_t)r->host + lane * 8 + (lane == 11 ? 4 : 0);
        r->w.v[ADDR][lane] = (uint32_t)a;
        r->w.v[ADDR + 1][lane] = (uint32_t)(a >> 32);
    }
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_MISALIGNED);
    CHECK_EQ(r->guard.lane, 11);
    CHECK(r->guard.write);
    inst.op = ISA_OP_global_atomic_add; /* 4 is enough for 32 bits */
    inst.src[ISA_DATA] = rig_vgpr(DATA, 1);
    CHECK_EQ(rig_run(r, 2, &inst), EHP_FAULT_NONE);
    free(r);
}

/* ---- two threads ---- */

enum { ROUNDS = 2000, WORDS = 8 };

struct shared {
    _Alignas(64) uint32_t add[WORDS];
    float sum[WORDS];
    uint64_t max, one;
    uint32_t claimed;
};

struct worker {
    struct shared *shared;
    unsigned id;
    bool seen_twice;
    uint8_t taken[ROUNDS * 64 * 2];
};

static void point(struct rig *r, const void *base, unsigned stride, unsigned modulo)
{
    for (unsigned lane = 0; lane < 64; lane++) {
        uint64_t a = (uint64_t)(uintptr_t)base + lane % modulo * stride;
        r->w.v[ADDR][lane] = (uint32_t)a;
        r->w.v[ADDR + 1][lane] = (uint32_t)(a >> 32);
    }
}

static void *work(void *argument)
{
    struct worker *me = argument;
    struct shared *s = me->shared;
    struct rig *r = rig_make();
    struct isa_inst inst = {.format = ISA_GLOBAL, .size = 8};
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, 2);
    inst.src[ISA_DATA] = rig_vgpr(DATA, 2);
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned lane = 0; lane < 64; lane++) {
            r->w.v[DATA][lane] = 1;
            r->w.v[DATA + 1][lane] = 0;
        }
        inst.dst.kind = ISA_NONE;
        inst.op = ISA_OP_global_atomic_add;
        point(r, s->add, 4, WORDS); /* eight words, eight lanes each */
        rig_run(r, 2, &inst);
        inst.op = ISA_OP_global_atomic_add_x2;
        point(r, &s->one, 0, 1); /* one word, all lanes */
        rig_run(r, 2, &inst);
        inst.op = ISA_OP_global_atomic_umax_x2;
        point(r, &s->max, 0, 1);
        for (unsigned lane = 0; lane < 64; lane++)
            r->w.v[DATA][lane] = i * 64 + lane + me->id;
        rig_run(r, 2, &inst);
        inst.op = ISA_OP_global_atomic_add_f32;
        for (unsigned lane = 0; lane < 64; lane++)
            r->w.v[DATA][lane] = 0x3f800000;
        point(r, s->sum, 4, WORDS);
        rig_run(r, 2, &inst);
        inst.op = ISA_OP_global_atomic_inc; /* every value is handed out once */
        inst.dst = rig_vgpr(DST, 1);
        for (unsigned lane = 0; lane < 64; lane++)
            r->w.v[DATA][lane] = UINT32_MAX;
        point(r, &s->claimed, 0, 1);
        rig_run(r, 2, &inst);
        for (unsigned lane = 0; lane < 64; lane++) {
            uint8_t *t = &me->taken[r->w.v[DST][lane] % sizeof(me->taken)];
            me->seen_twice |= *t;
            *t = 1;
        }
    }
    free(r);
    return NULL;
}

static void test_threads(void)
{
    static struct shared shared;
    struct worker *workers[2];
    pthread_t threads[2];
    for (unsigned i = 0; i < 2; i++) {
        workers[i] = calloc(1, sizeof(*workers[i]));
        workers[i]->shared = &shared;
        workers[i]->id = i;
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, workers[i]);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < WORDS; i++) {
        CHECK_EQ(shared.add[i], 2 * ROUNDS * 64 / WORDS);
        CHECK_EQ((uint64_t)shared.sum[i], 2 * ROUNDS * 64 / WORDS);
    }
    CHECK_EQ(shared.one, 2 * ROUNDS * 64);
    CHECK_EQ(shared.max, (ROUNDS - 1) * 64 + 63 + 1);
    CHECK_EQ(shared.claimed, 2 * ROUNDS * 64);
    for (unsigned i = 0; i < ROUNDS * 64 * 2; i++)
        if (workers[0]->taken[i] + workers[1]->taken[i] != 1) {
            CHECK(!"every value exactly once");
            break;
        }
    CHECK(!workers[0]->seen_twice && !workers[1]->seen_twice);
    free(workers[0]);
    free(workers[1]);
}

/* ---- 8 and 16 aligned bytes are read and written in one piece, however the lanes' addresses lie ---- */

enum { PIECES = 64, TEAR_ROUNDS = 20000, TEAR_READS = 1000 };

struct pieces {
    _Alignas(64) uint32_t quad[PIECES * 4];
    _Alignas(64) uint32_t pair[PIECES * 2];
    _Atomic bool done;
    _Atomic unsigned reads, torn;
};

/* Consecutive, the same for all, or in reverse order; and whether every lane takes part, one, or a few. */
static void shape(struct rig *r, const uint32_t *base, unsigned bytes, unsigned i)
{
    static const uint64_t masks[] = {UINT64_MAX, 1, 0xff00, 0x5555555555555555};
    r->w.exec = masks[i / 3 % 4];
    for (unsigned lane = 0; lane < 64; lane++) {
        const unsigned at = i % 3 == 0 ? lane : i % 3 == 1 ? 0 : 63 - lane;
        const uint64_t a = (uint64_t)(uintptr_t)base + at * bytes;
        r->w.v[ADDR][lane] = (uint32_t)a;
        r->w.v[ADDR + 1][lane] = (uint32_t)(a >> 32);
    }
}

static void *write_pieces(void *argument)
{
    struct pieces *p = argument;
    struct rig *r = rig_make();
    struct isa_inst inst = {.format = ISA_GLOBAL, .size = 8};
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, 2);
    /* On a busy host the reader may begin when all of that is over. */
    for (uint32_t i = 0; i < TEAR_ROUNDS || atomic_load(&p->reads) < TEAR_READS; i++) {
        const bool quad = i & 1;
        inst.op = quad ? ISA_OP_global_store_dwordx4 : ISA_OP_global_store_dwordx2;
        inst.src[ISA_DATA] = rig_vgpr(DATA, quad ? 4 : 2);
        shape(r, quad ? p->quad : p->pair, quad ? 16 : 8, (uint32_t)rig_random());
        for (unsigned d = 0; d < 4; d++)
            for (unsigned lane = 0; lane < 64; lane++)
                r->w.v[DATA + d][lane] = i;
        rig_run(r, rig_has_level(2 + i % 3) ? 2 + i % 3 : 2, &inst);
    }
    atomic_store(&p->done, true);
    free(r);
    return NULL;
}

static void *read_pieces(void *argument)
{
    struct pieces *p = argument;
    struct rig *r = rig_make();
    struct isa_inst inst = {.format = ISA_GLOBAL, .size = 8};
    inst.src[ISA_ADDR] = rig_vgpr(ADDR, 2);
    for (uint32_t i = 0; !atomic_load(&p->done); i++) {
        const bool quad = i & 1;
        inst.op = quad ? ISA_OP_global_load_dwordx4 : ISA_OP_global_load_dwordx2;
        inst.dst = rig_vgpr(DATA, quad ? 4 : 2);
        shape(r, quad ? p->quad : p->pair, quad ? 16 : 8, i >> 1);
        rig_run(r, rig_has_level(2 + i % 3) ? 2 + i % 3 : 2, &inst);
        for (unsigned lane = 0; lane < 64; lane++) {
            if (!(r->w.exec >> lane & 1))
                continue;
            const uint32_t first = r->w.v[DATA][lane];
            bool same = r->w.v[DATA + 1][lane] == first;
            if (quad)
                same &= r->w.v[DATA + 2][lane] == first && r->w.v[DATA + 3][lane] == first;
            if (!same)
                p->torn++;
        }
        p->reads++;
    }
    free(r);
    return NULL;
}

static void test_one_piece(void)
{
    static struct pieces pieces;
    pthread_t thread[2];
    pthread_create(&thread[0], NULL, read_pieces, &pieces);
    pthread_create(&thread[1], NULL, write_pieces, &pieces);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
#ifndef __SANITIZE_ADDRESS__ /* sanitized, it is compiled with -O1, at which GCC makes halves of 8 bytes     \
                                that are taken apart */
    CHECK_EQ(pieces.torn, 0);
#endif
}

int main(void)
{
    for (unsigned i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        for (unsigned round = 0; round < 16; round++)
            for (unsigned f = 0; f < 3; f++) {
                const struct op *o = &ops[i];
                if (!o->op[f])
                    continue;
                test_one(o->op[f], o->name, o->format[f], o->bits, o->fn, o->ds ? o->returns : round % 2,
                         round);
            }
    test_condxchg();
    test_misaligned();
    test_threads();
    test_one_piece();
    return check_status();
}
