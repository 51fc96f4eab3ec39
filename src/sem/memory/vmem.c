/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of FLAT, GLOBAL and SCRATCH, and the family's lookup.
 *
 * Cache policy: functional memory is coherent, so it changes nothing,
 * except that a store of agent or system scope is followed by a host
 * fence.  The chip's s_waitcnt before a later load orders the two; on an x86
 * host the load could overtake the store.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 10; LLVM AMDGPUUsage, "Memory Model
 * gfx942".
 */
#include "wave/fuse.h"
#include "sem/memory/vmem.h"

#define INLINE   __attribute__((always_inline)) static inline
#define NOINLINE __attribute__((noinline)) static

/* Above any of a wave's accesses from its first address. */
enum { REACH = WAVE_LANES * 16 };

/* What a common path knows of an access that it leaves to the slow one. */
enum known {
    NOTHING,
    ONE_BY_ONE, /* lanes are to be accessed each by itself */
    IN_WINDOW,  /* all lanes are active and in the window, and are not dense */
};
typedef const struct xinst *slow_fn(struct wave *w, const struct xinst *in, enum known known);

/* The upper half of the first active lane's address, or of the scalar that lanes add to.  There must be one.
 */
INLINE uint32_t high_of(const struct wave *w, const struct xinst *in, unsigned first)
{
    return memop_has_sbase(in) ? w->s[in->ss[0] + 1] : w->v[in->s[0] + 1][first];
}

/* Whether consecutive lanes outside of the window may access this. */
NOINLINE bool dense_elsewhere(struct wave *w, const struct xinst *in, uint32_t high, uint64_t address)
{
    vmem_learn_window(w, in, high);
    return !wave_is_outside(w, address) || wave_may_access(w, address, REACH);
}

/* Whether some lanes alone, or lanes that are not in the window, are consecutive. */
INLINE bool slow_dense(struct wave *w, const struct xinst *in, enum memop_kind kind, enum known known,
                       uint64_t *address)
{
    const uint32_t *lo = w->v[in->s[0]], *hi = lo + WAVE_LANES;
    const bool sbase = memop_has_sbase(in);
    const unsigned first = (unsigned)__builtin_ctzll(w->exec);
    if (known == IN_WINDOW)
        return false;
    *address = memop_offset(in) + lo[first] + (sbase ? wave_sgpr64(w, in->ss[0]) : (uint64_t)hi[first] << 32);
    if (memop_shape_of(lo, sbase ? NULL : hi, memop_bytes(kind), w->exec, first) != MEMOP_DENSE)
        return false;
    const uint32_t high = high_of(w, in, first);
    return MEMOP_LIKELY(high == vmem_window(w, in)) || dense_elsewhere(w, in, high, *address);
}

/* Whether all active lanes are in the window, where they may access; their addresses then are `base` and
 * their offsets. */
INLINE bool all_in_window(const struct wave *w, const struct xinst *in, enum known known, uint64_t *base)
{
    const uint32_t window = vmem_window(w, in);
    const bool sbase = memop_has_sbase(in);
    if (memop_space_of(in) == MEMOP_SCRATCH || !w->exec || !memop_has_vaddr(in))
        return false;
    *base = memop_offset(in) + (sbase ? wave_sgpr64(w, in->ss[0]) : (uint64_t)window << 32);
    return known == IN_WINDOW || (high_of(w, in, (unsigned)__builtin_ctzll(w->exec)) == window &&
                                  (sbase || !(w->exec & ~memop_lanes_of(w->v[in->s[0] + 1], window))));
}

/* The addresses of lanes that are not.  Faults when an active one's cannot be. */
INLINE void find_addresses(struct wave *w, const struct xinst *in, struct memop_request *r,
                           enum memop_kind kind)
{
    vmem_address(w, in, memop_space_of(in), r);
    if (memop_space_of(in) != MEMOP_SCRATCH && w->exec)
        vmem_learn_window(w, in, high_of(w, in, (unsigned)__builtin_ctzll(w->exec)));
    vmem_check(w, in, r, memop_bytes(kind));
}

/* For the lanes of a mask in turn, and those of each 8 that are all in it without looking for the next one.
 */
#define FOR_LANES(mask, ...)                                                                                 \
    for (uint64_t some = (mask); some;) {                                                                    \
        const unsigned lanes = (unsigned)__builtin_ctzll(some) & ~7u;                                        \
        const uint64_t all = UINT64_C(255) << lanes;                                                         \
        if ((some & all) == all) {                                                                           \
            for (unsigned lane = lanes; lane < lanes + 8; lane++)                                            \
                __VA_ARGS__;                                                                                 \
        } else {                                                                                             \
            MEMOP_FOR_LANES(lane, some & all)                                                                \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        some &= ~all;                                                                                        \
    }

/* What the common paths do themselves, of accesses of all lanes in the window. */
INLINE enum memop_shape common_shape(const struct wave *w, const struct xinst *in, bool sbase, uint32_t step,
                                     bool *in_window, uint64_t *address)
{
    const uint32_t *lo = w->v[in->s[0]], *hi = lo + WAVE_LANES, window = vmem_window(w, in);
    *in_window = !sbase || w->s[in->ss[0] + 1] == window;
    *address = memop_offset(in) + lo[0] + (sbase ? wave_sgpr64(w, in->ss[0]) : (uint64_t)window << 32);
    if (MEMOP_LIKELY(*in_window && memop_steps(lo, lo[0], step, sbase ? NULL : hi, window)))
        return MEMOP_LIKELY(memop_has_room(lo[0], step)) ? MEMOP_DENSE : MEMOP_ANY;
    if (sbase)
        return *in_window && memop_same(lo, NULL) ? MEMOP_UNIFORM : MEMOP_ANY;
    const unsigned same = memop_same_in(lo, hi, window);
    *in_window = (same & MEMOP_HIGH) != 0;
    return same == (MEMOP_HIGH | MEMOP_SAME) ? MEMOP_UNIFORM : MEMOP_ANY;
}

/* ---- loads ---- */

/* Some lanes in LDS or scratch. */
INLINE void load_mixed(struct wave *w, const struct memop_request *r, wave_row *d, enum memop_kind kind)
{
    static const uint8_t zero[16];
    unsigned bytes = memop_bytes(kind);
    MEMOP_FOR_LANES(lane, r->mask)
    {
        uint8_t copy[16];
        const uint8_t *from = copy;
        if (r->scratch >> lane & 1) {
            vmem_scratch_read(w, (uint32_t)r->addr[lane], (unsigned)lane, copy, bytes);
        } else {
            from = vmem_pointer(w, r, (unsigned)lane, bytes);
            from = from ? from : zero;
        }
        memop_lane_load(d, (unsigned)lane, kind, from);
    }
}

INLINE const struct xinst *gather(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                  enum known known)
{
    struct memop_request r;
    wave_row *d = w->v + in->d;
    uint64_t base;
    r.write = false;
    if (MEMOP_LIKELY(all_in_window(w, in, known, &base))) {
        const uint32_t *offset = w->v[in->s[0]];
        memop_begin(w, in);
        FOR_LANES(w->exec,
                  memop_lane_load(d, (unsigned)lane, kind, (const void *)(uintptr_t)(base + offset[lane])))
        memop_end(w);
        return in + 1;
    }
    find_addresses(w, in, &r, kind);
    memop_begin(w, in);
    if (MEMOP_UNLIKELY(r.lds | r.scratch))
        load_mixed(w, &r, d, kind);
    else
        FOR_LANES(r.mask, memop_lane_load(d, (unsigned)lane, kind, (const void *)(uintptr_t)r.addr[lane]))
    memop_end(w);
    return in + 1;
}

#define ALL_LOADS(X)                                                                                         \
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
#define ALL_STORES(X)                                                                                        \
    X(MEMOP_B8)                                                                                              \
    X(MEMOP_B16)                                                                                             \
    X(MEMOP_B8_D16_HI)                                                                                       \
    X(MEMOP_B16_D16_HI)                                                                                      \
    X(MEMOP_B32)                                                                                             \
    X(MEMOP_B64)                                                                                             \
    X(MEMOP_B96)                                                                                             \
    X(MEMOP_B128)

/*
 * FLAT, where all active lanes are at one dword of their scratch, as for what is on the stack: each dword of
 * the access is one row of memory.  Somebody is active.
 */
INLINE bool flat_scratch_row(const struct wave *w, const struct xinst *in, unsigned bytes, uint32_t *offset)
{
    const uint32_t *lo = w->v[in->s[0]], *hi = lo + WAVE_LANES;
    const unsigned first = (unsigned)__builtin_ctzll(w->exec);
    if (MEMOP_LIKELY(hi[first] != APERTURE_PRIVATE_BASE >> 32) || memop_space_of(in) != MEMOP_FLAT ||
        w->exec & ~(memop_lanes_of(lo, lo[first]) & memop_lanes_of(hi, hi[first])))
        return false;
    const uint64_t at = lo[first] + memop_offset(in); /* below 0 is beyond all scratch */
    *offset = (uint32_t)at;
    return at % 4 == 0 && at < w->scratch_bytes && at + bytes <= w->scratch_bytes;
}

INLINE void load_scratch_row(struct wave *w, const struct xinst *in, enum memop_kind kind, uint32_t offset)
{
    for (unsigned i = 0; i < memop_dwords(kind); i++)
        memop_row_merge(w->v[in->d + (int)i],
                        (const uint32_t *)(w->scratch + (size_t)(offset / 4 + i) * sizeof(wave_row)),
                        w->exec);
}

INLINE void store_scratch_row(struct wave *w, const struct xinst *in, enum memop_kind kind, uint32_t offset)
{
    for (unsigned i = 0; i < memop_dwords(kind); i++)
        memop_row_merge((uint32_t *)(w->scratch + (size_t)(offset / 4 + i) * sizeof(wave_row)),
                        w->v[in->s[1] + (int)i], w->exec);
}

/* Out of line, so that the common path calls nothing and keeps no frame. */
INLINE const struct xinst *load_slow(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                     enum known known)
{
    uint64_t address;
    uint32_t offset;
    bool all = w->exec == UINT64_MAX;
    if (kind >= MEMOP_B32 && w->exec && flat_scratch_row(w, in, memop_bytes(kind), &offset)) {
        load_scratch_row(w, in, kind, offset);
        return in + 1;
    }
    if (w->exec == 0 || (!all && memop_is_d16(kind)) || !slow_dense(w, in, kind, known, &address))
        return gather(w, in, kind, known);
    const void *from = (const void *)(uintptr_t)address;
    memop_begin(w, in);
    if (all)
        memop_rows_load(w->v + in->d, kind, from);
    else
        memop_rows_load_some(w->v + in->d, kind, from, w->exec);
    memop_end(w);
    return in + 1;
}

#define LOAD_SLOW(kind)                                                                                      \
    NOINLINE const struct xinst *load_slow_##kind(struct wave *w, const struct xinst *in, enum known known)  \
    {                                                                                                        \
        return load_slow(w, in, kind, known);                                                                \
    }
ALL_LOADS(LOAD_SLOW)

INLINE const struct xinst *load(struct wave *w, const struct xinst *in, enum memop_kind kind, bool sbase,
                                slow_fn *slow)
{
    uint64_t address;
    bool in_window;
    MEMOP_COUNT(w, bytes_read, memop_bytes(kind));
    if (MEMOP_UNLIKELY(w->exec != UINT64_MAX))
        return slow(w, in, NOTHING);
    enum memop_shape shape = common_shape(w, in, sbase, memop_bytes(kind), &in_window, &address);
    if (MEMOP_UNLIKELY(shape == MEMOP_ANY))
        return slow(w, in, in_window ? IN_WINDOW : NOTHING);
    const void *from = (const void *)(uintptr_t)address;
    memop_begin(w, in);
    if (shape == MEMOP_DENSE)
        memop_rows_load(w->v + in->d, kind, from);
    else
        memop_rows_splat(w->v + in->d, kind, from);
    memop_end(w);
    return in + 1;
}

/* ---- stores ---- */

INLINE void store_mixed(struct wave *w, const struct memop_request *r, const wave_row *s,
                        enum memop_kind kind)
{
    unsigned bytes = memop_bytes(kind);
    MEMOP_FOR_LANES(lane, r->mask)
    {
        if (r->scratch >> lane & 1) {
            uint8_t copy[16];
            memop_lane_store(s, (unsigned)lane, kind, copy);
            vmem_scratch_write(w, (uint32_t)r->addr[lane], (unsigned)lane, copy, bytes);
        } else {
            uint8_t *to = vmem_pointer(w, r, (unsigned)lane, bytes);
            if (to)
                memop_lane_store(s, (unsigned)lane, kind, to);
        }
    }
}

/* Lanes in order: of several that store to one place, the last one's value stays. */
INLINE const struct xinst *scatter(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                   enum known known)
{
    struct memop_request r;
    const wave_row *s = w->v + in->s[1];
    uint64_t base;
    r.write = true;
    if (MEMOP_LIKELY(all_in_window(w, in, known, &base))) {
        const uint32_t *offset = w->v[in->s[0]];
        memop_begin(w, in);
        FOR_LANES(w->exec,
                  memop_lane_store(s, (unsigned)lane, kind, (void *)(uintptr_t)(base + offset[lane])))
        memop_end(w);
        return in + 1;
    }
    find_addresses(w, in, &r, kind);
    memop_begin(w, in);
    if (MEMOP_UNLIKELY(r.lds | r.scratch))
        store_mixed(w, &r, s, kind);
    else
        FOR_LANES(r.mask, memop_lane_store(s, (unsigned)lane, kind, (void *)(uintptr_t)r.addr[lane]))
    memop_end(w);
    return in + 1;
}

INLINE const struct xinst *store_slow(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                      enum known known)
{
    uint64_t address;
    uint32_t offset;
    bool all = w->exec == UINT64_MAX;
    if (kind >= MEMOP_B32 && w->exec && flat_scratch_row(w, in, memop_bytes(kind), &offset)) {
        store_scratch_row(w, in, kind, offset);
        return in + 1;
    }
    if (w->exec == 0 || (all ? known == ONE_BY_ONE : !memop_is_run(w->exec)) ||
        !slow_dense(w, in, kind, known, &address))
        return scatter(w, in, kind, known);
    void *to = (void *)(uintptr_t)address;
    memop_begin(w, in);
    if (all)
        memop_rows_store(w->v + in->s[1], kind, to);
    else
        memop_rows_store_run(w->v + in->s[1], kind, to, w->exec);
    memop_end(w);
    return in + 1;
}

#define STORE_SLOW(kind)                                                                                     \
    NOINLINE const struct xinst *store_slow_##kind(struct wave *w, const struct xinst *in, enum known known) \
    {                                                                                                        \
        return store_slow(w, in, kind, known);                                                               \
    }
ALL_STORES(STORE_SLOW)

INLINE const struct xinst *store(struct wave *w, const struct xinst *in, enum memop_kind kind, bool sbase,
                                 slow_fn *slow)
{
    uint64_t address;
    bool in_window;
    MEMOP_COUNT(w, bytes_written, memop_bytes(kind));
    if (MEMOP_UNLIKELY(w->exec != UINT64_MAX))
        return slow(w, in, NOTHING);
    if (common_shape(w, in, sbase, memop_bytes(kind), &in_window, &address) != MEMOP_DENSE)
        return slow(w, in, in_window ? IN_WINDOW : NOTHING);
    memop_begin(w, in);
    memop_rows_store(w->v + in->s[1], kind, (void *)(uintptr_t)address);
    memop_end(w);
    return in + 1;
}

/* ---- scratch ---- */

/*
 * When all active lanes use the same, dword-aligned offset of their segment,
 * each dword of the access is one row of memory.
 */
INLINE bool scratch_row(const struct wave *w, const struct xinst *in, unsigned bytes, uint32_t *offset)
{
    *offset = vmem_scratch_base(w, in);
    if (memop_has_vaddr(in)) {
        const uint32_t *v = w->v[in->s[0]];
        if (w->exec == 0)
            return true;
        uint32_t first = v[__builtin_ctzll(w->exec)], differs = 0;
        if (w->exec == UINT64_MAX)
            for (unsigned l = 0; l < WAVE_LANES; l++)
                differs |= v[l] ^ first;
        else
            MEMOP_FOR_LANES(lane, w->exec)
        differs |= v[lane] ^ first;
        if (differs)
            return false;
        *offset += first;
    }
    return *offset % 4 == 0 && (uint64_t)*offset + bytes <= w->scratch_bytes;
}

/*
 * Each lane at its own offset: where in w->scratch a lane's first dword is.
 * False when a lane's access is beyond its segment, or not a part of a dword or
 * whole dwords.
 */
INLINE bool scratch_places(const struct wave *w, const struct xinst *in, enum memop_kind kind,
                           uint32_t *place)
{
    const uint32_t *v = w->v[in->s[0]];
    const uint32_t base = vmem_scratch_base(w, in), bytes = memop_bytes(kind);
    if (!memop_has_vaddr(in) || w->scratch_bytes < bytes || w->scratch_bytes > 1u << 24)
        return false;
    const uint32_t last = w->scratch_bytes - bytes, whole = bytes < 4 ? 4 - bytes : 0;
    uint32_t wrong = 0;
    for (uint32_t l = 0; l < WAVE_LANES; l++) {
        const uint32_t offset = base + v[l];
        wrong |= (offset > last ? 1u : 0) | (offset % 4 > whole ? 1u : 0);
        place[l] = offset / 4 * (uint32_t)sizeof(wave_row) + l * 4 + offset % 4;
    }
    return !wrong;
}

INLINE const struct xinst *scratch_gather(struct wave *w, const struct xinst *in, enum memop_kind kind)
{
    uint32_t place[WAVE_LANES];
    wave_row *d = w->v + in->d;
    if (MEMOP_UNLIKELY(!scratch_places(w, in, kind, place)))
        return gather(w, in, kind, NOTHING);
    for (unsigned i = 0; i < memop_dwords(kind); i++)
        MEMOP_FOR_LANES(lane, w->exec)
    memop_lane_load(d + i, (unsigned)lane, kind < MEMOP_B32 ? kind : MEMOP_B32,
                    w->scratch + place[lane] + i * sizeof(wave_row));
    return in + 1;
}

INLINE const struct xinst *scratch_scatter(struct wave *w, const struct xinst *in, enum memop_kind kind)
{
    uint32_t place[WAVE_LANES];
    const wave_row *s = w->v + in->s[1];
    if (MEMOP_UNLIKELY(!scratch_places(w, in, kind, place)))
        return scatter(w, in, kind, NOTHING);
    for (unsigned i = 0; i < memop_dwords(kind); i++)
        MEMOP_FOR_LANES(lane, w->exec)
    memop_lane_store(s + i, (unsigned)lane, kind < MEMOP_B32 ? kind : MEMOP_B32,
                     w->scratch + place[lane] + i * sizeof(wave_row));
    return in + 1;
}

INLINE const struct xinst *scratch_load(struct wave *w, const struct xinst *in, enum memop_kind kind)
{
    uint32_t offset;
    MEMOP_COUNT(w, scratch_bytes, memop_bytes(kind));
    if (MEMOP_LIKELY(kind >= MEMOP_B32 && scratch_row(w, in, memop_bytes(kind), &offset))) {
        if (MEMOP_LIKELY(w->exec))
            load_scratch_row(w, in, kind, offset);
        return in + 1;
    }
    return scratch_gather(w, in, kind);
}

INLINE const struct xinst *scratch_store(struct wave *w, const struct xinst *in, enum memop_kind kind)
{
    uint32_t offset;
    MEMOP_COUNT(w, scratch_bytes, memop_bytes(kind));
    if (MEMOP_LIKELY(kind >= MEMOP_B32 && scratch_row(w, in, memop_bytes(kind), &offset))) {
        if (MEMOP_LIKELY(w->exec))
            store_scratch_row(w, in, kind, offset);
        return in + 1;
    }
    return scratch_scatter(w, in, kind);
}

/* ---- handlers ---- */

#define LOAD_HANDLERS(kind)                                                                                  \
    static const struct xinst *x_load_v_##kind(struct wave *w, const struct xinst *in)                       \
    {                                                                                                        \
        return load(w, in, kind, false, load_slow_##kind);                                                   \
    }                                                                                                        \
    static const struct xinst *x_load_s_##kind(struct wave *w, const struct xinst *in)                       \
    {                                                                                                        \
        return load(w, in, kind, true, load_slow_##kind);                                                    \
    }                                                                                                        \
    static const struct xinst *x_load_scratch_##kind(struct wave *w, const struct xinst *in)                 \
    {                                                                                                        \
        return scratch_load(w, in, kind);                                                                    \
    }
ALL_LOADS(LOAD_HANDLERS)

#define STORE_HANDLERS(kind)                                                                                 \
    static const struct xinst *x_store_v_##kind(struct wave *w, const struct xinst *in)                      \
    {                                                                                                        \
        return store(w, in, kind, false, store_slow_##kind);                                                 \
    }                                                                                                        \
    static const struct xinst *x_store_s_##kind(struct wave *w, const struct xinst *in)                      \
    {                                                                                                        \
        return store(w, in, kind, true, store_slow_##kind);                                                  \
    }                                                                                                        \
    static const struct xinst *x_store_scratch_##kind(struct wave *w, const struct xinst *in)                \
    {                                                                                                        \
        return scratch_store(w, in, kind);                                                                   \
    }                                                                                                        \
    static const struct xinst *x_store_scoped_##kind(struct wave *w, const struct xinst *in)                 \
    {                                                                                                        \
        MEMOP_COUNT(w, bytes_written, memop_bytes(kind));                                                    \
        store_slow_##kind(w, in, ONE_BY_ONE);                                                                \
        atomic_thread_fence(memory_order_seq_cst);                                                           \
        return in + 1;                                                                                       \
    }
ALL_STORES(STORE_HANDLERS)

#define ROW_LOAD_V(kind)        [kind] = x_load_v_##kind,
#define ROW_LOAD_S(kind)        [kind] = x_load_s_##kind,
#define ROW_LOAD_SCRATCH(kind)  [kind] = x_load_scratch_##kind,
#define ROW_STORE_V(kind)       [kind] = x_store_v_##kind,
#define ROW_STORE_S(kind)       [kind] = x_store_s_##kind,
#define ROW_STORE_SCRATCH(kind) [kind] = x_store_scratch_##kind,
#define ROW_STORE_SCOPED(kind)  [kind] = x_store_scoped_##kind,

static exec_fn *const load_v[MEMOP_KINDS] = {ALL_LOADS(ROW_LOAD_V)};
static exec_fn *const load_s[MEMOP_KINDS] = {ALL_LOADS(ROW_LOAD_S)};
static exec_fn *const load_scratch[MEMOP_KINDS] = {ALL_LOADS(ROW_LOAD_SCRATCH)};
static exec_fn *const store_v[MEMOP_KINDS] = {ALL_STORES(ROW_STORE_V)};
static exec_fn *const store_s[MEMOP_KINDS] = {ALL_STORES(ROW_STORE_S)};
static exec_fn *const store_scratch[MEMOP_KINDS] = {ALL_STORES(ROW_STORE_SCRATCH)};
static exec_fn *const store_scoped[MEMOP_KINDS] = {ALL_STORES(ROW_STORE_SCOPED)};

static const struct xinst *x_load_lds(struct wave *w, const struct xinst *in)
{
    const enum memop_kind kind = (enum memop_kind)in->mem.kind;
    struct memop_request r;
    r.write = false;
    MEMOP_COUNT(w, bytes_read, memop_bytes(kind));
    vmem_address(w, in, memop_space_of(in), &r);
    r.mask &= vmem_lds_lanes(w, in);
    r.scratch &= r.mask;
    vmem_check(w, in, &r, memop_bytes(kind));
    memop_begin(w, in);
    MEMOP_FOR_LANES(lane, r.mask)
    {
        uint8_t copy[4];
        const uint8_t *from = copy;
        if (!r.scratch)
            from = (const uint8_t *)(uintptr_t)r.addr[lane];
        else if (MEMOP_LIKELY(r.addr[lane] % 4 + memop_bytes(kind) <= 4))
            from = vmem_scratch_byte(w, (uint32_t)r.addr[lane], (unsigned)lane);
        else
            vmem_scratch_read(w, (uint32_t)r.addr[lane], (unsigned)lane, copy, memop_bytes(kind));
        vmem_to_lds(w, vmem_lds_base(w, in), (unsigned)lane, kind, from);
    }
    memop_end(w);
    return in + 1;
}

/* ---- accesses whose sum of a scalar and offsets was put off: see wave/fuse.h ---- */

/* The first address when all lanes' are consecutive, in the window, and offsets less than 4 GiB; else 0. */
INLINE uint64_t sum_dense(const struct wave *w, const struct xinst *in, uint32_t step)
{
    const struct xinst *sum = fuse_sum(in);
    const uint32_t *lo = w->v[sum->s[2]], *hi = lo + WAVE_LANES;
    const uint64_t base = wave_sgpr64(w, sum->reg[0]);
    if (!fuse_waits(w) || (uint32_t)(base >> 32) != vmem_window(w, in) ||
        !memop_steps(lo, lo[0], step, hi, 0) || !memop_has_room(lo[0], step))
        return 0;
    return base + lo[0] + memop_offset(in);
}

/* The first address of such an access when lanes may lie in any window; 0: they are not consecutive. */
INLINE uint64_t sum_dense_far(const struct wave *w, const struct xinst *in, uint32_t step)
{
    const struct xinst *sum = fuse_sum(in);
    const uint32_t *lo = w->v[sum->s[2]], *hi = lo + WAVE_LANES;
    const uint64_t base = wave_sgpr64(w, sum->reg[0]);
    const uint64_t address = base + (lo[0] | (uint64_t)hi[0] << 32) + memop_offset(in);
    if (!fuse_waits(w))
        return 0;
    vmem_learn_window(w, in, (uint32_t)(base >> 32));
    if (wave_is_outside(w, address)) /* the access by itself asks for more */
        return 0;
    return memop_shape_of(lo, hi, step, UINT64_MAX, 0) == MEMOP_DENSE ? address : 0;
}

/* The sum, which the wave wants after all, and the access by itself. */
NOINLINE const struct xinst *sum_first(struct wave *w, const struct xinst *in)
{
    if (fuse_waits(w))
        fuse_single(fuse_sum(in))(w, fuse_sum(in));
    return fuse_single(in)(w, in);
}

INLINE const struct xinst *sum_load(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                    uint64_t address)
{
    memop_begin(w, fuse_sum(in));
    memop_rows_load(w->v + in->d, kind, (const void *)(uintptr_t)address);
    memop_end(w);
    return in + 1;
}

INLINE const struct xinst *sum_store(struct wave *w, const struct xinst *in, enum memop_kind kind,
                                     uint64_t address)
{
    memop_begin(w, fuse_sum(in));
    memop_rows_store(w->v + in->s[1], kind, (void *)(uintptr_t)address);
    memop_end(w);
    return in + 1;
}

/* The common paths call nothing and keep no frame. */
#define SUM_HANDLERS_OF(access, kind)                                                                        \
    NOINLINE const struct xinst *access##_far_##kind(struct wave *w, const struct xinst *in)                 \
    {                                                                                                        \
        uint64_t address = sum_dense_far(w, in, memop_bytes(kind));                                          \
        return address ? access(w, in, kind, address) : sum_first(w, in);                                    \
    }                                                                                                        \
    static const struct xinst *x_##access##_##kind(struct wave *w, const struct xinst *in)                   \
    {                                                                                                        \
        uint64_t address = sum_dense(w, in, memop_bytes(kind));                                              \
        return MEMOP_LIKELY(address) ? access(w, in, kind, address) : access##_far_##kind(w, in);            \
    }
#define SUM_HANDLERS(kind)                                                                                   \
    SUM_HANDLERS_OF(sum_load, kind)                                                                          \
    SUM_HANDLERS_OF(sum_store, kind)
#define SUM_KINDS(X)                                                                                         \
    X(MEMOP_B32)                                                                                             \
    X(MEMOP_B64)                                                                                             \
    X(MEMOP_B128)
SUM_KINDS(SUM_HANDLERS)

exec_fn *SEM(sem_fused)(const struct isa_inst *access)
{
#define ROW_SUM_LOAD(kind)  [kind] = x_sum_load_##kind,
#define ROW_SUM_STORE(kind) [kind] = x_sum_store_##kind,
    static exec_fn *const loads[MEMOP_KINDS] = {SUM_KINDS(ROW_SUM_LOAD)};
    static exec_fn *const stores[MEMOP_KINDS] = {SUM_KINDS(ROW_SUM_STORE)};
    const struct memop *op = memop_of(access->op);
    if (op->space != MEMOP_GLOBAL)
        return NULL;
    return op->action == MEMOP_LOAD                                             ? loads[op->kind]
           : op->action == MEMOP_STORE && !isa_policy_beyond_cu(access->policy) ? stores[op->kind]
                                                                                : NULL;
}

exec_fn *SEM(sem_vmem)(const struct isa_inst *inst, struct xinst *x)
{
    const struct memop *op = memop_of(inst->op);
    bool scratch = op->space == MEMOP_SCRATCH;
    if (op->space == MEMOP_BUFFER || op->space == MEMOP_TBUFFER)
        return SEM(vmem_buffer)(inst, x);
    if (op->space != MEMOP_FLAT && op->space != MEMOP_GLOBAL && !scratch)
        return NULL;
    memop_resolve(inst, x);
    bool sbase = memop_has_sbase(x);
    switch (op->action) {
    case MEMOP_LOAD:
        return (scratch ? load_scratch : sbase ? load_s : load_v)[op->kind];
    case MEMOP_STORE:
        if (isa_policy_beyond_cu(inst->policy) && !scratch)
            return store_scoped[op->kind];
        return (scratch ? store_scratch : sbase ? store_s : store_v)[op->kind];
    case MEMOP_ATOMIC:
        return SEM(vmem_atomic)(inst, x);
    case MEMOP_LOAD_LDS:
        return x_load_lds;
    default:
        return NULL;
    }
}
