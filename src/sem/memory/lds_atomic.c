/* SPDX-License-Identifier: MIT */
/*
 * DS atomics.  A workgroup runs on one host thread, so they are plain
 * operations, lane after lane.
 *
 * Source: "AMD Instinct MI300 ISA", 12.13.
 */
#include "sem/memory/lds.h"
#include "sem/memory/mem_atomic.h"

#define INLINE __attribute__((always_inline)) static inline

/* Out of range: returns 0, as a read does. */
INLINE const struct xinst *atomic32(struct wave *w, const struct xinst *in, enum mem_atomic op, bool returns)
{
    struct lds_request r;
    const uint32_t *data = w->v[in->s[1]], *extra = w->v[in->s[2]];
    uint32_t *result = w->v[in->d];
    uint8_t *lds = w->lds;
    MEM_COUNT(w, lds_bytes, 4);
    MEM_COUNT(w, atomics, 1);
    lds_address(w, w->v[in->s[0]], (uint32_t)mem_offset(in), 4, &r);
    if (returns)
        MEM_FOR_LANES(lane, w->exec & ~r.mask)
    result[lane] = 0;
    MEM_FOR_LANES(lane, r.mask)
    {
        mem_u32 *place = (mem_u32 *)(lds + r.addr[lane]);
        uint32_t old = *place;
        *place = mem_atomic32(op, old, data[lane], extra[lane]);
        if (returns)
            result[lane] = old;
    }
    return in + 1;
}

INLINE const struct xinst *atomic64(struct wave *w, const struct xinst *in, enum mem_atomic op, bool returns)
{
    struct lds_request r;
    const wave_row *data = w->v + in->s[1], *extra = w->v + in->s[2];
    wave_row *result = w->v + in->d;
    MEM_COUNT(w, lds_bytes, 8);
    MEM_COUNT(w, atomics, 1);
    if (op == MEM_CONDXCHG32) { /* ignores the address's low bits */
        wave_row aligned;
        for (unsigned l = 0; l < WAVE_LANES; l++)
            aligned[l] = (w->v[in->s[0]][l] + (uint32_t)mem_offset(in)) & 0xfff8;
        lds_address(w, aligned, 0, 8, &r);
    } else {
        lds_address(w, w->v[in->s[0]], (uint32_t)mem_offset(in), 8, &r);
    }
    if (returns)
        MEM_FOR_LANES(lane, w->exec & ~r.mask)
    result[0][lane] = result[1][lane] = 0;
    MEM_FOR_LANES(lane, r.mask)
    {
        mem_u64 *place = (mem_u64 *)(w->lds + r.addr[lane]);
        uint64_t old = *place;
        *place = mem_atomic64(op, old, data[0][lane] | (uint64_t)data[1][lane] << 32,
                              extra[0][lane] | (uint64_t)extra[1][lane] << 32);
        if (returns) {
            result[0][lane] = (uint32_t)old;
            result[1][lane] = (uint32_t)(old >> 32);
        }
    }
    return in + 1;
}

#define BOTH_WIDTHS(X)                                                                                       \
    X(MEM_SWAP)                                                                                              \
    X(MEM_CMPSWAP)                                                                                           \
    X(MEM_ADD)                                                                                               \
    X(MEM_SUB)                                                                                               \
    X(MEM_RSUB)                                                                                              \
    X(MEM_SMIN)                                                                                              \
    X(MEM_UMIN)                                                                                              \
    X(MEM_SMAX)                                                                                              \
    X(MEM_UMAX)                                                                                              \
    X(MEM_AND)                                                                                               \
    X(MEM_OR)                                                                                                \
    X(MEM_XOR)                                                                                               \
    X(MEM_INC)                                                                                               \
    X(MEM_DEC)                                                                                               \
    X(MEM_MSKOR)                                                                                             \
    X(MEM_FADD)                                                                                              \
    X(MEM_FMIN)                                                                                              \
    X(MEM_FMAX)                                                                                              \
    X(MEM_FCMPSWAP)
#define ONLY_32(X)                                                                                           \
    X(MEM_WRAP)                                                                                              \
    X(MEM_PK_ADD_F16)                                                                                        \
    X(MEM_PK_ADD_BF16)
#define ONLY_64(X) X(MEM_CONDXCHG32)

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
BOTH_WIDTHS(HANDLERS_32)
BOTH_WIDTHS(HANDLERS_64)
ONLY_32(HANDLERS_32)
ONLY_64(HANDLERS_64)

#define ROW_32(op) [op] = {x_##op##32, x_##op##32_rtn},
#define ROW_64(op) [op] = {x_##op##64, x_##op##64_rtn},
static exec_fn *const handlers32[][2] = {BOTH_WIDTHS(ROW_32) ONLY_32(ROW_32)};
static exec_fn *const handlers64[][2] = {BOTH_WIDTHS(ROW_64) ONLY_64(ROW_64)};

exec_fn *SEM(lds_atomic)(const struct isa_inst *inst, struct xinst *x)
{
    const struct mem_op *op = mem_op_of(inst->op);
    if (op->atomic == MEM_CMPSWAP || op->atomic == MEM_FCMPSWAP) { /* DS compares with the first operand */
        int16_t compare = x->s[1];
        x->s[1] = x->s[2];
        x->s[2] = compare;
    }
    return (op->kind == MEM_B64 ? handlers64 : handlers32)[op->atomic][op->returns];
}
