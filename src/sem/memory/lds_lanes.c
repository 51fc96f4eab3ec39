/* SPDX-License-Identifier: MIT */
/*
 * DS instructions that use the LDS crossbar but not its memory (swizzle,
 * permute, bpermute), or address memory without a VGPR (addtid, append,
 * consume).
 *
 * Source: "AMD Instinct MI300 ISA", 12.13 and 12.13.1 (DS_SWIZZLE_B32 modes).
 */
#include "sem/memory/lds.h"

/* result[l] = data[from[l] % 64] of the active lanes; inactive sources read 0. */
static inline void read_lanes(struct wave *w, const struct xinst *in, const uint32_t *data,
                              const uint32_t *from)
{
    uint32_t *result = w->v[in->d];
#ifdef __AVX512F__
    __m512i source[4];
    for (unsigned i = 0; i < 4; i++)
        source[i] = _mm512_maskz_loadu_epi32((__mmask16)(w->exec >> 16 * i), data + 16 * i);
    const __m512i upper = _mm512_set1_epi32(32);
    for (unsigned i = 0; i < 4; i++) {
        __m512i index = _mm512_loadu_si512(from + 16 * i);
        __m512i low = _mm512_permutex2var_epi32(source[0], index, source[1]);
        __m512i high = _mm512_permutex2var_epi32(source[2], index, source[3]);
        __m512i both = _mm512_mask_mov_epi32(low, _mm512_test_epi32_mask(index, upper), high);
        _mm512_mask_storeu_epi32(result + 16 * i, (__mmask16)(w->exec >> 16 * i), both);
    }
#else
    wave_row source = {0}, both;
    memop_row_merge(source, data, w->exec);
    for (unsigned l = 0; l < WAVE_LANES; l++)
        both[l] = source[from[l] & (WAVE_LANES - 1)];
    memop_row_merge(result, both, w->exec);
#endif
}

static const struct xinst *x_bpermute(struct wave *w, const struct xinst *in)
{
    wave_row from;
    const uint32_t *address = w->v[in->s[0]];
    MEMOP_COUNT(w, lds_bytes, 4);
    for (unsigned l = 0; l < WAVE_LANES; l++)
        from[l] = (address[l] + (uint32_t)memop_offset(in)) / 4;
    read_lanes(w, in, w->v[in->s[1]], from);
    return in + 1;
}

/* Lanes that nobody sends to get 0; of several senders the highest lane wins. */
static const struct xinst *x_permute(struct wave *w, const struct xinst *in)
{
    wave_row sent = {0};
    const uint32_t *address = w->v[in->s[0]], *data = w->v[in->s[1]];
    MEMOP_COUNT(w, lds_bytes, 4);
    MEMOP_FOR_LANES(lane, w->exec)
    sent[(address[lane] + (uint32_t)memop_offset(in)) / 4 % WAVE_LANES] = data[lane];
    memop_row_merge(w->v[in->d], sent, w->exec);
    return in + 1;
}

static const struct xinst *x_swizzle(struct wave *w, const struct xinst *in)
{
    wave_row from;
    MEMOP_COUNT(w, lds_bytes, 4);
    lds_swizzle((uint32_t)memop_offset(in) & 0xffff, from);
    read_lanes(w, in, w->v[in->s[0]], from);
    return in + 1;
}

/* ---- addresses from M0 ---- */

static uint64_t addtid_base(const struct wave *w, const struct xinst *in)
{
    return (w->m0 & 0xffff) + (memop_offset(in) & 0xffff);
}

static const struct xinst *x_read_addtid(struct wave *w, const struct xinst *in)
{
    uint64_t base = addtid_base(w, in);
    MEMOP_COUNT(w, lds_bytes, 4);
    MEMOP_FOR_LANES(lane, w->exec)
    {
        uint64_t at = base + 4 * lane;
        w->v[in->d][lane] = at + 4 <= w->lds_bytes ? *(const memop_u32 *)(w->lds + at) : 0;
    }
    return in + 1;
}

static const struct xinst *x_write_addtid(struct wave *w, const struct xinst *in)
{
    uint64_t base = addtid_base(w, in);
    MEMOP_COUNT(w, lds_bytes, 4);
    MEMOP_FOR_LANES(lane, w->exec)
    {
        uint64_t at = base + 4 * lane;
        if (at + 4 <= w->lds_bytes)
            *(memop_u32 *)(w->lds + at) = w->v[in->s[1]][lane];
    }
    return in + 1;
}

/* One counter for the wave: the number of active lanes is added or taken away. */
static const struct xinst *count_lanes(struct wave *w, const struct xinst *in, bool append)
{
    uint64_t at = addtid_base(w, in);
    uint32_t old = 0, lanes = memop_lanes(w);
    if (!lanes)
        return in + 1;
    if (w->stats) {
        w->stats->lds_bytes += 4;
        w->stats->atomics++;
    }
    if (at + 4 <= w->lds_bytes) {
        memop_u32 *place = (memop_u32 *)(w->lds + at);
        old = *place;
        *place = append ? old + lanes : old - lanes;
    }
    MEMOP_FOR_LANES(lane, w->exec)
    w->v[in->d][lane] = old;
    return in + 1;
}

static const struct xinst *x_append(struct wave *w, const struct xinst *in)
{
    return count_lanes(w, in, true);
}

static const struct xinst *x_consume(struct wave *w, const struct xinst *in)
{
    return count_lanes(w, in, false);
}

static const struct xinst *x_nop(struct wave *w, const struct xinst *in)
{
    (void)w;
    return in + 1;
}

exec_fn *SEM(lds_lanes)(const struct isa_inst *inst, struct xinst *x)
{
    (void)x;
    switch (inst->op) {
    case ISA_OP_ds_bpermute_b32:
        return x_bpermute;
    case ISA_OP_ds_permute_b32:
        return x_permute;
    case ISA_OP_ds_swizzle_b32:
        return x_swizzle;
    case ISA_OP_ds_read_addtid_b32:
        return x_read_addtid;
    case ISA_OP_ds_write_addtid_b32:
        return x_write_addtid;
    case ISA_OP_ds_append:
        return x_append;
    case ISA_OP_ds_consume:
        return x_consume;
    case ISA_OP_ds_nop:
        return x_nop;
    default:
        return NULL;
    }
}
