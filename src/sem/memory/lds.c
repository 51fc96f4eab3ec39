/* SPDX-License-Identifier: MIT */
/*
 * DS reads and writes with one and two addresses, and the family's lookup.
 *
 * Source: "AMD Instinct MI300 ISA", 12.13.
 */
#include "sem/memory/lds.h"

#define INLINE   __attribute__((always_inline)) static inline
#define NOINLINE __attribute__((noinline)) static

typedef void partial_read_fn(struct wave *w, const struct lds_request *r, wave_row *d);
typedef void partial_write_fn(struct wave *w, const struct lds_request *r, const wave_row *s);

/* Active lanes out of range get zero. */
INLINE void read_some(struct wave *w, const struct lds_request *r, wave_row *d, enum memop_kind kind)
{
    static const uint8_t zero[16];
    MEMOP_FOR_LANES(lane, r->mask)
    memop_lane_load(d, (unsigned)lane, kind, w->lds + r->addr[lane]);
    MEMOP_FOR_LANES(lane, w->exec & ~r->mask)
    memop_lane_load(d, (unsigned)lane, kind, zero);
}

/* Out of line, so that the common path keeps a small frame. */
INLINE void read_partial(struct wave *w, const struct lds_request *r, wave_row *d, enum memop_kind kind)
{
    if (r->mask && r->mask == w->exec && !memop_is_d16(kind)) {
        unsigned first = (unsigned)__builtin_ctzll(r->mask);
        if (memop_shape_of(r->addr, NULL, memop_bytes(kind), r->mask, first) == MEMOP_DENSE) {
            memop_rows_load_some(d, kind, w->lds + r->addr[first], r->mask);
            return;
        }
    }
    read_some(w, r, d, kind);
}

INLINE void lds_read(struct wave *w, const uint32_t *row, uint32_t offset, wave_row *d, enum memop_kind kind,
                     partial_read_fn *partial)
{
    struct lds_request r;
    lds_address(w, row, offset, memop_bytes(kind), &r);
    if (MEMOP_UNLIKELY(r.mask != UINT64_MAX)) {
        partial(w, &r, d);
        return;
    }
    switch (memop_shape_of(r.addr, NULL, memop_bytes(kind), UINT64_MAX, 0)) {
    case MEMOP_DENSE:
        memop_rows_load(d, kind, w->lds + r.addr[0]);
        break;
    case MEMOP_UNIFORM:
        memop_rows_splat(d, kind, w->lds + r.addr[0]);
        break;
    default:
        for (unsigned l = 0; l < WAVE_LANES; l++)
            memop_lane_load(d, l, kind, w->lds + r.addr[l]);
        break;
    }
}

INLINE void write_partial(struct wave *w, const struct lds_request *r, const wave_row *s,
                          enum memop_kind kind)
{
    if (r->mask && memop_is_run(r->mask)) {
        unsigned first = (unsigned)__builtin_ctzll(r->mask);
        if (memop_shape_of(r->addr, NULL, memop_bytes(kind), r->mask, first) == MEMOP_DENSE) {
            memop_rows_store_run(s, kind, w->lds + r->addr[first], r->mask);
            return;
        }
    }
    MEMOP_FOR_LANES(lane, r->mask)
    memop_lane_store(s, (unsigned)lane, kind, w->lds + r->addr[lane]);
}

INLINE void lds_write(struct wave *w, const uint32_t *row, uint32_t offset, const wave_row *s,
                      enum memop_kind kind, partial_write_fn *partial)
{
    struct lds_request r;
    lds_address(w, row, offset, memop_bytes(kind), &r);
    if (MEMOP_UNLIKELY(r.mask != UINT64_MAX))
        partial(w, &r, s);
    else if (memop_shape_of(r.addr, NULL, memop_bytes(kind), UINT64_MAX, 0) == MEMOP_DENSE)
        memop_rows_store(s, kind, w->lds + r.addr[0]);
    else
        for (unsigned l = 0; l < WAVE_LANES; l++)
            memop_lane_store(s, l, kind, w->lds + r.addr[l]);
}

#define READ(kind)                                                                                           \
    NOINLINE void read_partial_##kind(struct wave *w, const struct lds_request *r, wave_row *d)              \
    {                                                                                                        \
        read_partial(w, r, d, kind);                                                                         \
    }                                                                                                        \
    static const struct xinst *x_read_##kind(struct wave *w, const struct xinst *in)                         \
    {                                                                                                        \
        MEMOP_COUNT(w, lds_bytes, memop_bytes(kind));                                                        \
        lds_read(w, w->v[in->s[0]], (uint32_t)memop_offset(in), w->v + in->d, kind, read_partial_##kind);    \
        return in + 1;                                                                                       \
    }
#define WRITE(kind)                                                                                          \
    NOINLINE void write_partial_##kind(struct wave *w, const struct lds_request *r, const wave_row *s)       \
    {                                                                                                        \
        write_partial(w, r, s, kind);                                                                        \
    }                                                                                                        \
    static const struct xinst *x_write_##kind(struct wave *w, const struct xinst *in)                        \
    {                                                                                                        \
        MEMOP_COUNT(w, lds_bytes, memop_bytes(kind));                                                        \
        lds_write(w, w->v[in->s[0]], (uint32_t)memop_offset(in), w->v + in->s[1], kind,                      \
                  write_partial_##kind);                                                                     \
        return in + 1;                                                                                       \
    }

#define ALL_READS(X)                                                                                         \
    X(MEMOP_B8)                                                                                              \
    X(MEMOP_I8)                                                                                              \
    X(MEMOP_B16)                                                                                             \
    X(MEMOP_I16)                                                                                             \
    X(MEMOP_B8_D16)                                                                                          \
    X(MEMOP_B8_D16_HI)                                                                                       \
    X(MEMOP_I8_D16)                                                                                          \
    X(MEMOP_I8_D16_HI)                                                                                       \
    X(MEMOP_B16_D16)                                                                                         \
    X(MEMOP_B16_D16_HI)                                                                                      \
    X(MEMOP_B32)                                                                                             \
    X(MEMOP_B64)                                                                                             \
    X(MEMOP_B96)                                                                                             \
    X(MEMOP_B128)
#define ALL_WRITES(X)                                                                                        \
    X(MEMOP_B8)                                                                                              \
    X(MEMOP_B16)                                                                                             \
    X(MEMOP_B8_D16_HI)                                                                                       \
    X(MEMOP_B16_D16_HI)                                                                                      \
    X(MEMOP_B32)                                                                                             \
    X(MEMOP_B64)                                                                                             \
    X(MEMOP_B96)                                                                                             \
    X(MEMOP_B128)
ALL_READS(READ)
ALL_WRITES(WRITE)

#define ROW_READ(kind)  [kind] = x_read_##kind,
#define ROW_WRITE(kind) [kind] = x_write_##kind,
static exec_fn *const reads[MEMOP_KINDS] = {ALL_READS(ROW_READ)};
static exec_fn *const writes[MEMOP_KINDS] = {ALL_WRITES(ROW_WRITE)};

/* ---- two addresses ---- */

/* The result may overwrite the address: it is read twice before. */
INLINE const struct xinst *read2(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                 partial_read_fn *partial)
{
    wave_row addr;
    unsigned dwords = memop_dwords(kind);
    MEMOP_COUNT(w, lds_bytes, 2 * memop_bytes(kind));
    memcpy(addr, w->v[in->s[0]], sizeof(addr));
    lds_read(w, addr, (uint32_t)in->mem.offset, w->v + in->d, kind, partial);
    lds_read(w, addr, in->mem.second, w->v + in->d + dwords, kind, partial);
    return in + 1;
}

INLINE const struct xinst *write2(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                  partial_write_fn *partial)
{
    MEMOP_COUNT(w, lds_bytes, 2 * memop_bytes(kind));
    lds_write(w, w->v[in->s[0]], (uint32_t)in->mem.offset, w->v + in->s[1], kind, partial);
    lds_write(w, w->v[in->s[0]], in->mem.second, w->v + in->s[2], kind, partial);
    return in + 1;
}

/* Reads both places, then writes both, lane after lane. */
INLINE const struct xinst *exchange2(struct wave *w, const struct xinst *in, enum memop_kind kind)
{
    static const uint8_t zero[16];
    struct lds_request r[2];
    unsigned dwords = memop_dwords(kind);
    MEMOP_COUNT(w, lds_bytes, 2 * memop_bytes(kind));
    MEMOP_COUNT(w, atomics, 1);
    for (unsigned i = 0; i < 2; i++)
        lds_address(w, w->v[in->s[0]], i ? in->mem.second : (uint32_t)in->mem.offset, memop_bytes(kind),
                    &r[i]);
    if (MEMOP_LIKELY((r[0].mask & r[1].mask) == w->exec)) {
        const wave_row *s0 = w->v + in->s[1], *s1 = w->v + in->s[2];
        wave_row *d0 = w->v + in->d, *d1 = d0 + dwords;
        MEMOP_FOR_LANES(lane, w->exec)
        {
            void *p0 = w->lds + r[0].addr[lane], *p1 = w->lds + r[1].addr[lane];
            uint64_t old[2] = {0}, data[2] = {0};
            memcpy(&old[0], p0, memop_bytes(kind));
            memcpy(&old[1], p1, memop_bytes(kind));
            memop_lane_store(s0, (unsigned)lane, kind, &data[0]);
            memop_lane_store(s1, (unsigned)lane, kind, &data[1]);
            memcpy(p0, &data[0], memop_bytes(kind));
            memcpy(p1, &data[1], memop_bytes(kind));
            memop_lane_load(d0, (unsigned)lane, kind, &old[0]);
            memop_lane_load(d1, (unsigned)lane, kind, &old[1]);
        }
        return in + 1;
    }
    MEMOP_FOR_LANES(lane, w->exec)
    {
        uint8_t old[2][16], data[2][16];
        for (unsigned i = 0; i < 2; i++) {
            bool inside = r[i].mask >> lane & 1;
            memcpy(old[i], inside ? w->lds + r[i].addr[lane] : zero, memop_bytes(kind));
            memop_lane_store(w->v + in->s[1 + i], (unsigned)lane, kind, data[i]);
        }
        for (unsigned i = 0; i < 2; i++) {
            if (r[i].mask >> lane & 1)
                memcpy(w->lds + r[i].addr[lane], data[i], memop_bytes(kind));
            memop_lane_load(w->v + in->d + i * dwords, (unsigned)lane, kind, old[i]);
        }
    }
    return in + 1;
}

#define TWO(name, kind, ...)                                                                                 \
    static const struct xinst *x_##name##_##kind(struct wave *w, const struct xinst *in)                     \
    {                                                                                                        \
        return name(w, in, kind __VA_ARGS__);                                                                \
    }
TWO(read2, MEMOP_B32, , read_partial_MEMOP_B32)
TWO(read2, MEMOP_B64, , read_partial_MEMOP_B64)
TWO(write2, MEMOP_B32, , write_partial_MEMOP_B32)
TWO(write2, MEMOP_B64, , write_partial_MEMOP_B64)
TWO(exchange2, MEMOP_B32)
TWO(exchange2, MEMOP_B64)

exec_fn *SEM(sem_lds)(const struct isa_inst *inst, struct xinst *x)
{
    const struct memop *op = memop_of(inst->op);
    if (op->space != MEMOP_LDS || op->action == MEMOP_NONE || inst->gds)
        return NULL; /* gfx942 has no global data share */
    memop_resolve(inst, x);
    bool wide = op->kind == MEMOP_B64;
    switch (op->action) {
    case MEMOP_LOAD:
        return reads[op->kind];
    case MEMOP_STORE:
        return writes[op->kind];
    case MEMOP_LOAD2:
        return wide ? x_read2_MEMOP_B64 : x_read2_MEMOP_B32;
    case MEMOP_STORE2:
        return wide ? x_write2_MEMOP_B64 : x_write2_MEMOP_B32;
    case MEMOP_EXCHANGE2:
        return wide ? x_exchange2_MEMOP_B64 : x_exchange2_MEMOP_B32;
    case MEMOP_ATOMIC:
        return SEM(lds_atomic)(inst, x);
    case MEMOP_LANES:
        return SEM(lds_lanes)(inst, x);
    default:
        return NULL;
    }
}
