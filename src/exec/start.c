/* SPDX-License-Identifier: MIT */
/* Starting workgroups: their memory, and their waves' registers; see workgroup.h. */
#include "exec/workgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALL_ROWS = WAVE_TEMPS + WAVE_ROWS };

/* What a wave of the launch needs, from row 0 on. */
static unsigned rows_of(const struct exec_launch *launch)
{
    if (!launch->rows)
        return WAVE_ROWS;
    unsigned rows = launch->agprs ? WAVE_ACC + launch->agprs : launch->vgprs;
    return rows > launch->rows ? rows : launch->rows;
}

/*
 * Rows from one wave to the next.  Odd, which keeps equal registers of different waves out of the same sets
 * of the host's L1 cache.
 */
static size_t stride_of(const struct exec_launch *launch)
{
    return (WAVE_TEMPS + rows_of(launch)) | 1;
}

/* More than the user SGPRs, workgroup ids and info; the lines with flat_scratch, VCC, M0 and EXEC. */
enum { LAUNCH_SGPRS = 32, SPECIAL_SGPRS = 96 };

static uint32_t packed_id(const uint32_t items[3], uint32_t flat, unsigned dims)
{
    uint32_t x = flat % items[0], y = flat / items[0] % items[1], z = flat / items[0] / items[1];
    return dims == 1 ? x : dims == 2 ? x | y << 10 : x | y << 10 | z << 20;
}

bool launch_make_ids(struct exec_launch *launch)
{
    launch->v0 = aligned_alloc(64, launch->waves * sizeof(wave_row));
    if (!launch->v0)
        return false;
    for (unsigned i = 0; i < launch->waves; i++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            launch->v0[i][lane] = packed_id(launch->items, i * WAVE_LANES + lane, launch->id_dims);
    return true;
}

/* Touched only where they are used; NULL when memory is short. */
static wave_row *rows_map(size_t rows)
{
    void *map = mmap(NULL, rows * sizeof(wave_row), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static void rows_unmap(wave_row *rows, size_t count)
{
    munmap(rows, count * sizeof(wave_row));
}

void workgroup_free(struct workgroup *wg)
{
    if (!wg)
        return;
    if (wg->rows_mapped)
        rows_unmap(wg->rows, wg->capacity_rows);
    for (unsigned i = 0; i < WORKGROUP_MAX_WAVES; i++) {
        if (wg->grown[i])
            rows_unmap(wg->grown[i], ALL_ROWS);
        free(wg->scratch[i]);
    }
    free(wg->lds);
    if (!wg->arena)
        free(wg);
}

/* For this launch. */
static bool reserve_rows(struct workgroup *wg, const struct exec_launch *launch)
{
    size_t stride = stride_of(launch), rows = launch->waves * stride, had = wg->capacity_rows;
    if (rows <= had)
        return true;
    if (wg->rows_mapped)
        rows_unmap(wg->rows, had);
    wg->rows_mapped = !wg->arena || stride > WAVE_ACC; /* most of so many are not used */
    if (wg->rows_mapped) {
        wg->rows = rows_map(rows);
        wg->rows_mapped = wg->rows != NULL;
    } else { /* what it had stays there unused: so by so much more that this is not often */
        rows = had && rows < had + had / 2 ? had + had / 2 : rows;
        wg->rows = arena_take(wg->arena, rows * sizeof(wave_row));
    }
    wg->capacity_rows = wg->rows ? rows : 0;
    return wg->rows != NULL;
}

void wave_grow(struct wave *w)
{
    struct workgroup *wg = w->wg;
    wave_row **grown = &wg->grown[w->index];
    if (!*grown)
        *grown = rows_map(ALL_ROWS);
    if (!*grown) {
        fputs("ehp: the host has no memory for a wave's registers\n", stderr);
        abort();
    }
    memcpy(*grown, w->v - WAVE_TEMPS, (WAVE_TEMPS + w->rows) * sizeof(wave_row));
    w->v = *grown + WAVE_TEMPS;
    w->rows = WAVE_ROWS;
}

static bool reserve(struct workgroup *wg, const struct exec_launch *launch)
{
    const unsigned had = wg->capacity_waves;
    if (!reserve_rows(wg, launch))
        return false;
    if (had < launch->waves) {
        memset(wg->wave + had, 0, (launch->waves - had) * sizeof(wg->wave[0]));
        wg->capacity_waves = launch->waves;
    }
    if (wg->capacity_lds < launch->lds_bytes || !wg->lds) {
        free(wg->lds);
        wg->capacity_lds = 0;
        /* A little more than asked: whole-row copies at the end stay inside. */
        wg->lds = aligned_alloc(64, ((size_t)launch->lds_bytes + 512 + 63) & ~(size_t)63);
        if (!wg->lds)
            return false;
        wg->capacity_lds = launch->lds_bytes;
    }
    if (wg->capacity_scratch < launch->scratch_bytes) {
        for (unsigned i = 0; i < WORKGROUP_MAX_WAVES; i++) {
            free(wg->scratch[i]);
            wg->scratch[i] = NULL;
        }
        wg->capacity_scratch = launch->scratch_bytes;
    }
    if (launch->scratch_bytes)
        for (unsigned i = 0; i < launch->waves; i++)
            if (!wg->scratch[i]) {
                wg->scratch[i] = aligned_alloc(64, (size_t)wg->capacity_scratch * WAVE_LANES);
                if (!wg->scratch[i])
                    return false;
            }
    return true;
}

/*
 * Plain vectors, as wide as the host's: the compiler's string instructions take longer to begin than these
 * few lines take, and what compiled code reads by wide vectors must have been written by such, or it waits
 * until it is in the cache.
 */
typedef uint32_t vector16 __attribute__((vector_size(16), may_alias));
typedef uint32_t vector32 __attribute__((vector_size(32), may_alias));
typedef uint32_t vector64 __attribute__((vector_size(64), may_alias));
#define COPY(bytes)                                                                                          \
    static inline __attribute__((always_inline)) void copy##bytes(uint32_t *to, const uint32_t *from,        \
                                                                  unsigned dwords)                           \
    {                                                                                                        \
        for (unsigned i = 0; i < dwords; i += bytes / sizeof(*to))                                           \
            *(vector##bytes *)(to + i) = *(const vector##bytes *)(from + i);                                 \
    }
COPY(16)
COPY(32)
COPY(64)
/* Volatile: else the compiler makes its string instructions of it. */
#define CLEAR(bytes)                                                                                         \
    static inline __attribute__((always_inline)) void clear##bytes(uint8_t *to, size_t size)                 \
    {                                                                                                        \
        for (size_t i = 0; i < size; i += bytes)                                                             \
            *(volatile vector##bytes *)(to + i) = (vector##bytes){0};                                        \
    }
CLEAR(16)
CLEAR(32)
CLEAR(64)
typedef void copy_fn(uint32_t *to, const uint32_t *from, unsigned dwords);

/* What no wave of the launch changes. */
static void prepare_wave(struct workgroup *wg, const struct exec_launch *launch, unsigned i)
{
    struct wave *w = &wg->wave[i];
    w->vgprs = launch->vgprs;
    w->agprs = launch->agprs;
    w->lds = wg->lds;
    w->lds_bytes = launch->lds_bytes;
    w->scratch = wg->scratch[i];
    w->scratch_bytes = launch->scratch_bytes;
    w->wg = wg;
    w->index = i;
    w->stats = NULL;
}

/* What is the same for every workgroup of the launch that has this memory. */
static void prepare(struct workgroup *wg, const struct exec_launch *launch)
{
    struct wave *fresh = &wg->fresh;
    static_assert(sizeof(fresh->s) == sizeof(launch->sgprs), "equal numbers are equal registers");
    memset(fresh, 0, sizeof(*fresh));
    memcpy(fresh->s, launch->sgprs, sizeof(fresh->s));
    wave_set_mode(fresh, launch->mode);
    fresh->gpr_alloc = launch->vgprs << 8;
    fresh->lds_alloc = launch->lds_bytes / 4 << 12;
    fresh->next = launch->entry;
    fresh->state = WAVE_RUNNING;
    fresh->budget = WORKGROUP_STRETCH;
    wg->launch = launch;
    wg->whole = true;
    for (int d = 0; d < 3; d++)
        wg->whole = wg->whole && (uint64_t)launch->groups[d] * launch->items[d] == launch->grid[d];
    wg->whole_items = launch->items[0] * launch->items[1] * launch->items[2];
    wg->wave_rows = rows_of(launch);
    wg->wave_stride = stride_of(launch);
    wg->guard = NULL;
    wg->begin = NULL;
    for (unsigned i = 0; i < launch->waves; i++)
        prepare_wave(wg, launch, i);
}

/* What the waves of one workgroup have in common. */
struct start {
    uint32_t items[3], total; /* items: of one that has not the same ids */
    bool same_ids;            /* a full workgroup's items that it has too have the same ids there */
};

/* What differs from workgroup to workgroup and from wave to wave; `left`: items from its first one on. */
static inline __attribute__((always_inline)) void set_ids(struct wave *w, const struct workgroup *wg,
                                                          const struct exec_launch *launch, uint32_t left)
{
    uint32_t *s = w->s;
    for (int d = 0; d < 3; d++)
        if (launch->id_sgpr[d] >= 0)
            s[launch->id_sgpr[d]] = wg->id[d];
    if (launch->info_sgpr >= 0)
        s[launch->info_sgpr] = wg->waves | (uint32_t)(w == wg->wave) << 31;
    w->exec = left >= WAVE_LANES ? UINT64_MAX : (UINT64_C(1) << left) - 1;
}

static inline __attribute__((always_inline)) void start_wave(struct workgroup *wg, struct wave *w,
                                                             wave_row *v, const wave_row *ids, copy_fn *copy)
{
    enum { CHANGING = (offsetof(struct wave, mem_arena) - offsetof(struct wave, s)) / sizeof(uint32_t) };
    w->rows = wg->wave_rows; /* wave_grow() changes these */
    w->v = v;
    /* As on the chip, registers that a launch does not set hold what the last wave left: SGPRs between those
     * of the launch and VCC, and VGPRs. */
    copy(w->s, wg->fresh.s, LAUNCH_SGPRS);
    copy(w->s + SPECIAL_SGPRS, wg->fresh.s + SPECIAL_SGPRS, CHANGING - SPECIAL_SGPRS);
    if (ids)
        copy(*v, *ids, WAVE_LANES);
}

/* Of a partial workgroup that has not the ids of a full one. */
static void make_ids(struct workgroup *wg, const struct exec_launch *launch, const struct start *start)
{
    for (unsigned i = 0; i < wg->waves; i++)
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            wg->wave[i].v[0][lane] = packed_id(start->items, i * WAVE_LANES + lane, launch->id_dims);
}

#define START_WAVES(bytes, ...)                                                                              \
    __VA_ARGS__ static void start_waves##bytes(struct workgroup *wg, const struct exec_launch *launch,       \
                                               const struct start *start)                                    \
    {                                                                                                        \
        const wave_row *ids = start->same_ids ? launch->v0 : NULL;                                           \
        wave_row *v = wg->rows + WAVE_TEMPS;                                                                 \
        uint32_t left = start->total;                                                                        \
        clear##bytes(wg->lds, launch->lds_bytes); /* and less than a vector behind */                        \
        for (struct wave *w = wg->wave, *end = w + wg->waves; w != end; w++) {                               \
            start_wave(wg, w, v, ids, copy##bytes);                                                          \
            set_ids(w, wg, launch, left);                                                                    \
            left -= WAVE_LANES;                                                                              \
            v += wg->wave_stride;                                                                            \
            ids += ids != NULL;                                                                              \
        }                                                                                                    \
    }
START_WAVES(16)
START_WAVES(32, __attribute__((target("avx"))))
START_WAVES(64, __attribute__((target("avx512f"))))

static void find_id(struct workgroup *wg, const struct exec_launch *launch, uint64_t linear)
{
    const uint64_t row = linear < launch->groups[0] ? 0 : linear / launch->groups[0];
    wg->id[0] = (uint32_t)(linear - row * launch->groups[0]);
    wg->id[1] = (uint32_t)(row < launch->groups[1] ? row : row % launch->groups[1]);
    wg->id[2] = (uint32_t)(row < launch->groups[1] ? 0 : row / launch->groups[1]);
}

/* A workgroup at the grid's edge may be partial. */
static struct start find_items(const struct workgroup *wg, const struct exec_launch *launch)
{
    struct start start;
    uint32_t *items = start.items;
    if (wg->whole)
        return (struct start){.total = wg->whole_items, .same_ids = true};
    for (int d = 0; d < 3; d++) {
        const uint32_t left = launch->grid[d] - wg->id[d] * launch->items[d];
        items[d] = left >= launch->items[d] ? launch->items[d] : left;
    }
    start.total = items[0] * items[1] * items[2];
    start.same_ids = items[0] == launch->items[0] && items[1] == launch->items[1];
    return start;
}

static void begin(struct workgroup *wg, const struct exec_launch *launch)
{
    const struct start start = find_items(wg, launch);
    const uint32_t row = launch->items[0] | WAVE_LANES;
    const uint8_t counts_up = (uint8_t)(start.same_ids ? row & -row : 0);
    /* Written each time, it would have the copy below wait for all stores before it, the last workgroup's to
     * memory included: the host does not take a vector from a byte that is on its way to the cache. */
    if (wg->fresh.counts_up != counts_up)
        wg->fresh.counts_up = counts_up;
    wg->waves = (start.total + WAVE_LANES - 1) / WAVE_LANES;
    wg->live = wg->waves;
    wg->runs = wg->wary = 0;
    wg->begins = true;
    wg->leaving = false;
    wg->compiled = NULL;
    if (__builtin_cpu_supports("avx512f"))
        start_waves64(wg, launch, &start);
    else if (__builtin_cpu_supports("avx"))
        start_waves32(wg, launch, &start);
    else
        start_waves16(wg, launch, &start);
    if (!start.same_ids)
        make_ids(wg, launch, &start);
}

struct workgroup *workgroup_start(struct workgroup *wg, const struct exec_launch *launch, uint64_t linear,
                                  struct arena *arena)
{
    if (!wg) {
        size_t bytes = (sizeof(*wg) + 63) & ~(size_t)63;
        wg = arena ? arena_take(arena, bytes) : aligned_alloc(64, bytes);
        if (!wg)
            return NULL;
        memset(wg, 0, offsetof(struct workgroup, wave));
        wg->arena = arena;
    }
    if (!reserve(wg, launch)) {
        workgroup_free(wg);
        return NULL;
    }
    prepare(wg, launch);
    wg->linear = linear;
    find_id(wg, launch, linear);
    begin(wg, launch);
    return wg;
}

void workgroup_start_again(struct workgroup *wg, uint64_t linear)
{
    const struct exec_launch *launch = wg->launch;
    const bool beside = linear == wg->linear + 1 && wg->id[0] + 1 < launch->groups[0];
    wg->linear = linear;
    if (beside) /* as mostly, and it needs no division */
        wg->id[0]++;
    else
        find_id(wg, launch, linear);
    begin(wg, launch);
}
