/* SPDX-License-Identifier: MIT */
/* Random states of a wave and its memory, from which programs of blocks_make.h begin. */
#ifndef EHP_TESTS_JIT_BLOCKS_STATES_H
#define EHP_TESTS_JIT_BLOCKS_STATES_H

#include <stdalign.h>
#include <stddef.h>

#include "blocks_make.h"

enum {
    ARENA = 65536,
    HOLE = 4096, /* at its end: the host has no memory there */
    LDS_BYTES = 4096,
    SCRATCH_BYTES = 256, /* a lane's */
    ROWS = 64,           /* VGPRs and AccVGPRs that are compared: programs name no others */
    BASE = ARENA / 4,
};

/* What the GPU may always access, and beside it what it may when asked.  There is no other memory near, as
 * handlers ask but once for addresses that have their upper half in common. */
struct host {
    alignas(ARENA) uint8_t arena[ARENA];
    uint8_t other[ARENA / 4];
};
enum { HOST_BYTES = offsetof(struct host, other) + ARENA / 4 };

struct state {
    uint32_t v[2 * ROWS][WAVE_LANES], s[128];
    bool scc;
    uint32_t mode, trapsts, lds_bytes, scratch_bytes;
    uint8_t arena[ARENA - HOLE], other[ARENA / 4], lds[LDS_BYTES], scratch[SCRATCH_BYTES * WAVE_LANES];
};

/* How lanes lie: by a step within rows of so many lanes, as of a workgroup's items, and from row to row by
 * another one; half of the time that is the step as well. */
struct rows {
    uint32_t width, pitch;
};

/* For whom a state is. */
struct use {
    const struct host *host;
    struct rows rows; /* of all addresses; of no width: they are chosen */
    bool even;        /* most have all lanes active */
};

static inline uint64_t get64(const uint32_t *s, unsigned reg)
{
    return s[reg] | (uint64_t)s[reg + 1] << 32;
}

static inline void put64(uint32_t *s, unsigned reg, uint64_t value)
{
    s[reg] = (uint32_t)value;
    s[reg + 1] = (uint32_t)(value >> 32);
}

enum kind { F32, F64, F16, U32, SMALL, KINDS };

/* A value as arithmetic likes it, or one that breaks it. */
static inline uint64_t value_of(enum kind kind, bool hard)
{
    static const uint8_t types[] = {ISA_T_F32, ISA_T_F64, ISA_T_PKF16, ISA_T_U32, ISA_T_U32};
    const uint64_t r = rig_random();
    if (hard)
        return rig_hard(types[kind]);
    switch (kind) {
    case F32:
        return ((uint32_t)r & 0x807fffff) | (0x77 + (r >> 40 & 15)) << 23;
    case F64:
        return (r & 0x800fffffffffffff) | (0x3f7 + (rig_random() & 15)) << 52;
    case F16:
        return (r & 0x83ff83ff) | (11 + (r >> 32 & 7)) << 10 | (11 + (r >> 40 & 7)) << 26;
    case SMALL:
        return r & 63;
    default:
        return (uint32_t)r;
    }
}

static inline void fill_rows(struct state *s)
{
    const unsigned breaks = below(3), usual = below(KINDS + 2);
    for (unsigned row = 0; row < 2 * ROWS; row++) {
        const enum kind kind = usual < KINDS && below(4) ? (enum kind)usual : (enum kind)below(KINDS);
        const bool pair = kind == F64 && row + 1 < 2 * ROWS;
        for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
            const uint64_t value = value_of(kind, breaks == 2 ? true : breaks ? below(64) == 0 : false);
            s->v[row][lane] = (uint32_t)value;
            if (pair)
                s->v[row + 1][lane] = (uint32_t)(value >> 32);
        }
        row += pair;
    }
}

/* An offset that is to be asked about, or where nothing is. */
static inline uint32_t stray(void)
{
    switch (below(3)) {
    case 0:
        return ARENA - BASE + 4 * below(512);
    case 1:
        return ARENA - BASE - HOLE + 4 * below(HOLE / 4);
    default:
        return 0x1000000 + 4 * below(4096);
    }
}

static inline struct rows choose_rows(const struct use *use)
{
    if (use->rows.width)
        return use->rows;
    const bool one = below(2);
    return (struct rows){one ? WAVE_LANES : 4u << below(4), one ? 0 : 4 * below(16) - 4 * below(8)};
}

static inline uint32_t place_in(const struct rows *rows, uint32_t lane, uint32_t step)
{
    return lane % rows->width * step + lane / rows->width * rows->pitch;
}

/* What addresses are made of. */
static inline void fill_indices(struct state *s, const struct use *use, uint64_t base)
{
    const struct rows rows = choose_rows(use);
    static const uint8_t steps[] = {0, 1, 1, 1, 1, 2, 4, 255};
    const uint32_t step = (uint32_t)(int8_t)steps[below(sizeof steps)], first = below(2) ? below(256) : 0,
                   bytes = 4 * (below(4) ? 1 : below(5)), stray = below(8) ? WAVE_LANES : below(WAVE_LANES);
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        const uint32_t index = lane == stray ? 1 : first + place_in(&rows, lane, step);
        s->v[ROW_INDEX][lane] = s->v[ROW_INDEX_PAIR][lane] = index;
        s->v[ROW_INDEX + 1][lane] = first;
        s->v[ROW_INDEX_PAIR + 1][lane] = 0;
        for (unsigned i = 0; i < 4; i++)
            s->v[ROW_MADE + i][lane] = index << i;
        for (unsigned i = 0; i < 2; i++) {
            const uint64_t at = base + 256 * i + (uint64_t)(int32_t)place_in(&rows, lane, bytes);
            s->v[ROW_MADE_PAIR + 2 * i][lane] = (uint32_t)at;
            s->v[ROW_MADE_PAIR + 2 * i + 1][lane] = (uint32_t)(at >> 32);
        }
    }
    if (below(4) == 0) /* one is elsewhere */
        s->v[ROW_MADE_PAIR + below(4)][below(WAVE_LANES)] += 4 * below(8);
}

static inline void fill_addresses(struct state *s, const struct use *use)
{
    const bool apart = below(8) == 0; /* where the GPU may access what it asks for */
    const uint64_t base = (uint64_t)(uintptr_t)(apart ? use->host->other + sizeof use->host->other / 4
                                                      : use->host->arena + BASE);
    const bool strays = below(8) == 0;
    const struct rows rows = choose_rows(use);
    const uint32_t equal = 4 * below(1024), step = 1u << below(5), own = 4 * below(SCRATCH_BYTES / 8);
    const unsigned turns = below(8) ? 1 + below(12) : 1200;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
        s->v[ROW_SCRATCH][lane] = strays && below(64) == 0 ? below(1000) : 4 * below(SCRATCH_BYTES / 8);
        s->v[ROW_SCRATCH + 1][lane] = own;
        const uint32_t scattered = strays && below(32) == 0 ? stray() : 4 * below(2048);
        s->v[ROW_LDS][lane] = 4 * lane;
        s->v[ROW_LDS + 1][lane] = 512 + 8 * lane;
        s->v[ROW_LDS + 2][lane] = 4 * below(1100);
        s->v[ROW_LDS + 3][lane] = equal;
        s->v[ROW_TURNS][lane] = below(turns);
        s->v[ROW_OFFSET][lane] = place_in(&rows, lane, step);
        s->v[ROW_OFFSET + 1][lane] = scattered;
        s->v[ROW_OFFSET + 2][lane] = equal;
        s->v[ROW_OFFSET + 3][lane] = 16 * lane;
        const bool lds = strays && below(8) == 0;
        const uint64_t at[] = {base + (uint64_t)(int32_t)place_in(&rows, lane, step), base + scattered,
                               lds ? APERTURE_SHARED_BASE + equal : base + equal};
        for (unsigned i = 0; i < 3; i++) {
            s->v[ROW_PAIR + 2 * i][lane] = (uint32_t)at[i];
            s->v[ROW_PAIR + 2 * i + 1][lane] = (uint32_t)(at[i] >> 32);
        }
    }
    put64(s->s, SREG_KEPT, base);
    fill_indices(s, use, base);
    for (unsigned i = SREG_KEPT + 2; i <= SREG_COUNTER; i++)
        s->s[i] = 4 * below(64);
}

static inline void fill_bytes(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += 4) {
        const uint32_t word = (uint32_t)value_of((enum kind)below(KINDS), below(64) == 0);
        memcpy(bytes + i, &word, 4);
    }
}

static inline void fill(struct state *s, const struct use *use)
{
    fill_rows(s);
    if (below(4) == 0) /* as work-item ids do */
        for (uint32_t lane = 0, first = 64 * below(4), width = 4u << below(5); lane < WAVE_LANES; lane++)
            s->v[0][lane] = first + lane % width + (lane / width << 10);
    for (unsigned i = 0; i < 128; i++)
        s->s[i] = (uint32_t)value_of((enum kind)below(KINDS), below(4) == 0);
    fill_addresses(s, use);
    put64(s->s, SREG_VCC, rig_exec());
    put64(s->s, SREG_EXEC, use->even && below(8) ? UINT64_MAX : rig_exec());
    s->scc = below(2);
    s->lds_bytes = below(4) ? LDS_BYTES : below(2) ? 1000 + below(100) : below(5);
    s->scratch_bytes = below(8) ? SCRATCH_BYTES : below(SCRATCH_BYTES);
    s->mode = below(6) ? MODE_FLOAT_PLAIN | (below(2) ? MODE_IEEE : 0) | (below(2) ? MODE_DX10_CLAMP : 0)
                       : rig_mode();
    fill_bytes(s->arena, sizeof s->arena);
    fill_bytes(s->other, sizeof s->other);
    fill_bytes(s->lds, sizeof s->lds);
    fill_bytes(s->scratch, sizeof s->scratch);
}

#endif
