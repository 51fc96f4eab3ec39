/* SPDX-License-Identifier: MIT */
/*
 * DS atomics.  A workgroup runs on one host thread, so they are plain
 * operations, lane after lane.
 *
 * Source: "AMD Instinct MI300 ISA", 12.13.
 */
#include "sem/memory/lds.h"
#include "sem/memory/memop_atomic.h"

#define INLINE __attribute__((always_inline)) static inline

/* `result` NULL: nobody wants it. */
INLINE void lane32(memop_u32 *place, enum memop_atomic op, const uint32_t *data, const uint32_t *extra,
                   uint32_t *result, unsigned lane)
{
    const uint32_t old = *place;
    *place = memop_atomic32(op, old, data[lane], extra[lane]);
    if (result)
        result[lane] = old;
}

/* Out of range: returns 0, as a read does. */
INLINE const struct xinst *atomic32(struct wave *w, const struct xinst *in, enum memop_atomic op,
                                    bool returns)
{
    struct lds_request r;
    const uint32_t *data = w->v[in->s[1]], *extra = w->v[in->s[2]];
    uint32_t *result = w->v[in->d];
    uint8_t *lds = w->lds;
    MEMOP_COUNT(w, lds_bytes, 4);
    MEMOP_COUNT(w, atomics, 1);
    lds_address(w, w->v[in->s[0]], (uint32_t)memop_offset(in), 4, &r);
    if (MEMOP_LIKELY(r.mask == UINT64_MAX)) { /* without a search for the next lane */
#pragma GCC unroll 8
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            lane32((memop_u32 *)(lds + r.addr[lane]), op, data, extra, returns ? result : NULL, lane);
        return in + 1;
    }
    if (returns)
        MEMOP_FOR_LANES(lane, w->exec & ~r.mask)
    result[lane] = 0;
    MEMOP_FOR_LANES(lane, r.mask)
    lane32((memop_u32 *)(lds + r.addr[lane]), op, data, extra, returns ? result : NULL, (unsigned)lane);
    return in + 1;
}

/* `result` NULL: nobody wants it. */
INLINE void lane64(memop_u64 *place, enum memop_atomic op, const wave_row *data, const wave_row *extra,
                   wave_row *result, unsigned lane)
{
    const uint64_t old = *place;
    *place = memop_atomic64(op, old, data[0][lane] | (uint64_t)data[1][lane] << 32,
                            extra[0][lane] | (uint64_t)extra[1][lane] << 32);
    if (result) {
        result[0][lane] = (uint32_t)old;
        result[1][lane] = (uint32_t)(old >> 32);
    }
}

INLINE const struct xinst *atomic64(struct wave *w, const struct xinst *in, enum memop_atomic op,
                                    bool returns)
{
    struct lds_request r;
    const wave_row *data = w->v + in->s[1], *extra = w->v + in->s[2];
    wave_row *result = w->v + in->d;
    MEMOP_COUNT(w, lds_bytes, 8);
    MEMOP_COUNT(w, atomics, 1);
    if (op == MEMOP_CONDXCHG32) { /* ignores the address's low bits */
        wave_row aligned;
        for (unsigned l = 0; l < WAVE_LANES; l++)
            aligned[l] = (w->v[in->s[0]][l] + (uint32_t)memop_offset(in)) & 0xfff8;
        lds_address(w, aligned, 0, 8, &r);
    } else {
        lds_address(w, w->v[in->s[0]], (uint32_t)memop_offset(in), 8, &r);
    }
    if (MEMOP_LIKELY(r.mask == UINT64_MAX)) {
#pragma GCC unroll 4
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            lane64((memop_u64 *)(w->lds + r.addr[lane]), op, data, extra, returns ? result : NULL, lane);
        return in + 1;
    }
    if (returns)
        MEMOP_FOR_LANES(lane, w->exec & ~r.mask)
    result[0][lane] = result[1][lane] = 0;
    MEMOP_FOR_LANES(lane, r.mask)
    lane64((memop_u64 *)(w->lds + r.addr[lane]), op, data, extra, returns ? result : NULL, (unsigned)lane);
    return in + 1;
}

#define HANDLERS(op, width)                                                                                  \
    static const struct xinst *x_##op##width(struct wave *w, const struct xinst *in)                         \
    {                                                                                                        \
        return atomic##width(w, in, op, false);                                                              \
    }                                                                                                        \
    static const struct xinst *x_##op##width##_rtn(struct wave *w, const struct xinst *in)                   \
    {                                                                                                        \
        return atomic##width(w, in, op, true);                                                               \
    }
#define HANDLERS_32(op) HANDLERS(op, 32)
#define HANDLERS_64(op) HANDLERS(op, 64)
MEMOP_BOTH_WIDTHS(HANDLERS_32)
MEMOP_BOTH_WIDTHS(HANDLERS_64)
MEMOP_ONLY_32(HANDLERS_32)
MEMOP_ONLY_64(HANDLERS_64)

#define ROW_32(op) [op] = {x_##op##32, x_##op##32_rtn},
#define ROW_64(op) [op] = {x_##op##64, x_##op##64_rtn},
static exec_fn *const handlers32[][2] = {MEMOP_BOTH_WIDTHS(ROW_32) MEMOP_ONLY_32(ROW_32)};
static exec_fn *const handlers64[][2] = {MEMOP_BOTH_WIDTHS(ROW_64) MEMOP_ONLY_64(ROW_64)};

exec_fn *SEM(lds_atomic)(const struct isa_inst *inst, struct xinst *x)
{
    const struct memop *op = memop_of(inst->op);
    if (op->atomic == MEMOP_CMPSWAP ||
        op->atomic == MEMOP_FCMPSWAP) { /* DS compares with the first operand */
        int16_t compare = x->s[1];
        x->s[1] = x->s[2];
        x->s[2] = compare;
    }
    return (op->kind == MEMOP_B64 ? handlers64 : handlers32)[op->atomic][op->returns];
}
