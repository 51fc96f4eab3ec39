/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores of FLAT, GLOBAL and SCRATCH, and the family's lookup.
 *
 * Scope bits: functional memory is coherent, so sc0, sc1 and nt change nothing,
 * except that a store of agent or system scope (sc1) is followed by a host
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
    return mem_has_sbase(in) ? w->s[in->ss[0] + 1] : w->v[in->s[0] + 1][first];
}

/* Whether consecutive lanes outside of the window may access this. */
NOINLINE bool dense_elsewhere(struct wave *w, const struct xinst *in, uint32_t high, uint64_t address)
{
    vmem_learn_window(w, in, high);
    return !wave_is_outside(w, address) || wave_may_access(w, address, REACH);
}

/* Whether some lanes alone, or lanes that are not in the window, are consecutive. */
INLINE bool slow_dense(struct wave *w, const struct xinst *in, enum mem_kind kind, enum known known,
                       uint64_t *address)
{
    const uint32_t *lo = w->v[in->s[0]], *hi = lo + WAVE_LANES;
    const bool sbase = mem_has_sbase(in);
    const unsigned first = (unsigned)__builtin_ctzll(w->exec);
    if (known == IN_WINDOW)
        return false;
    *address = mem_offset(in) + lo[first] + (sbase ? wave_sgpr64(w, in->ss[0]) : (uint64_t)hi[first] << 32);
    if (mem_shape_of(lo, sbase ? NULL : hi, mem_bytes(kind), w->exec, first) != MEM_DENSE)
        return false;
    const uint32_t high = high_of(w, in, first);
    return MEM_LIKELY(high == vmem_window(w, in)) || dense_elsewhere(w, in, high, *address);
}

/* Faults when an active lane's address cannot be, out of the window. */
INLINE void check(struct wave *w, const struct xinst *in, const struct mem_request *r, enum mem_kind kind,
                  enum known known)
{
    const uint32_t window = vmem_window(w, in);
    if (known == IN_WINDOW)
        return;
    if (mem_space_of(in) != MEM_SCRATCH && w->exec) {
        const uint32_t high = high_of(w, in, (unsigned)__builtin_ctzll(w->exec));
        if (MEM_LIKELY(high == window &&
                       (mem_has_sbase(in) || !(w->exec & ~mem_lanes_of(w->v[in->s[0] + 1], window)))))
            return;
        vmem_learn_window(w, in, high);
    }
    vmem_check(w, in, r, mem_bytes(kind));
}

/* What the common paths do themselves, of accesses of all lanes in the window. */
INLINE enum mem_shape common_shape(const struct wave *w, const struct xinst *in, bool sbase, uint32_t step,
                                   bool *in_window, uint64_t *address)
{
    const uint32_t *lo = w->v[in->s[0]], *hi = lo + WAVE_LANES, window = vmem_window(w, in);
    *in_window = !sbase || w->s[in->ss[0] + 1] == window;
    *address = mem_offset(in) + lo[0] + (sbase ? wave_sgpr64(w, in->ss[0]) : (uint64_t)window << 32);
    if (MEM_LIKELY(*in_window && mem_steps(lo, lo[0], step, sbase ? NULL : hi, window)))
        return MEM_LIKELY(mem_has_room(lo[0], step)) ? MEM_DENSE : MEM_ANY;
    if (sbase)
        return *in_window && mem_same(lo, NULL) ? MEM_UNIFORM : MEM_ANY;
    const unsigned same = mem_same_in(lo, hi, window);
    *in_window = (same & MEM_HIGH) != 0;
    return same == (MEM_HIGH | MEM_SAME) ? MEM_UNIFORM : MEM_ANY;
}

/* ---- loads ---- */

/* Some lanes in LDS or scratch. */
INLINE void load_mixed(struct wave *w, const struct mem_request *r, wave_row *d, enum mem_kind kind)
{
    static const uint8_t zero[16];
    unsigned bytes = mem_bytes(kind);
    MEM_FOR_LANES(lane, r->mask)
    {
        uint8_t copy[16];
        const uint8_t *from = copy;
        if (r->scratch >> lane & 1) {
            vmem_scratch_read(w, (uint32_t)r->addr[lane], (unsigned)lane, copy, bytes);
        } else {
            from = vmem_pointer(w, r, (unsigned)lane, bytes);
            from = from ? from : zero;
        }
        mem_lane_load(d, (unsigned)lane, kind, from);
    }
}

INLINE const struct xinst *gather(struct wave *w, const struct xinst *in, enum mem_kind kind,
                                  enum known known)
{
    struct mem_request r;
    wave_row *d = w->v + in->d;
    r.write = false;
    vmem_address(w, in, mem_space_of(in), &r);
    check(w, in, &r, kind, known);
    mem_begin(w, in);
    if (MEM_UNLIKELY(r.lds | r.scratch)) {
        load_mixed(w, &r, d, kind);
    } else if (r.mask == UINT64_MAX) {
        for (unsigned l = 0; l < WAVE_LANES; l++)
            mem_lane_load(d, l, kind, (const void *)(uintptr_t)r.addr[l]);
    } else {
        MEM_FOR_LANES(lane, r.mask)
        mem_lane_load(d, (unsigned)lane, kind, (const void *)(uintptr_t)r.addr[lane]);
    }
    mem_end(w);
    return in + 1;
}

#define ALL_LOADS(X)                                                                                         \
    X(MEM_B8)                                                                                                \
    X(MEM_I8)                                                                                                \
    X(MEM_B16)                                                                                               \
    X(MEM_I16)                                                                                               \
    X(MEM_B8_D16)                                                                                            \
    X(MEM_B8_D16_HI)                                                                                         \
    X(MEM_I8_D16)                                                                                            \
    X(MEM_I8_D16_HI)                                                                                         \
    X(MEM_B16_D16)                                                                                           \
    X(MEM_B16_D16_HI)                                                                                        \
    X(MEM_B32)                                                                                               \
    X(MEM_B64)                                                                                               \
    X(MEM_B96)                                                                                               \
    X(MEM_B128)
#define ALL_STORES(X)                                                                                        \
    X(MEM_B8)                                                                                                \
    X(MEM_B16)                                                                                               \
    X(MEM_B8_D16_HI)                                                                                         \
    X(MEM_B16_D16_HI)                                                                                        \
    X(MEM_B32)                                                                                               \
    X(MEM_B64)                                                                                               \
    X(MEM_B96)                                                                                               \
    X(MEM_B128)

/* Out of line, so that the common path calls nothing and keeps no frame. */
INLINE const struct xinst *load_slow(struct wave *w, const struct xinst *in, enum mem_kind kind,
                                     enum known known)
{
    uint64_t address;
    bool all = w->exec == UINT64_MAX;
    if (w->exec == 0 || (!all && mem_is_d16(kind)) || !slow_dense(w, in, kind, known, &address))
        return gather(w, in, kind, known);
    const void *from = (const void *)(uintptr_t)address;
    mem_begin(w, in);
    if (all)
        mem_rows_load(w->v + in->d, kind, from);
    else
        mem_rows_load_some(w->v + in->d, kind, from, w->exec);
    mem_end(w);
    return in + 1;
}

#define LOAD_SLOW(kind)                                                                                      \
    NOINLINE const struct xinst *load_slow_##kind(struct wave *w, const struct xinst *in, enum known known)  \
    {                                                                                                        \
        return load_slow(w, in, kind, known);                                                                \
    }
ALL_LOADS(LOAD_SLOW)

INLINE const struct xinst *load(struct wave *w, const struct xinst *in, enum mem_kind kind, bool sbase,
                                slow_fn *slow)
{
    uint64_t address;
    bool in_window;
    MEM_COUNT(w, bytes_read, mem_bytes(kind));
    if (MEM_UNLIKELY(w->exec != UINT64_MAX))
        return slow(w, in, NOTHING);
    enum mem_shape shape = common_shape(w, in, sbase, mem_bytes(kind), &in_window, &address);
    if (MEM_UNLIKELY(shape == MEM_ANY))
        return slow(w, in, in_window ? IN_WINDOW : NOTHING);
    const void *from = (const void *)(uintptr_t)address;
    mem_begin(w, in);
    if (shape == MEM_DENSE)
        mem_rows_load(w->v + in->d, kind, from);
    else
        mem_rows_splat(w->v + in->d, kind, from);
    mem_end(w);
    return in + 1;
}

/* ---- stores ---- */

INLINE void store_mixed(struct wave *w, const struct mem_request *r, const wave_row *s, enum mem_kind kind)
{
    unsigned bytes = mem_bytes(kind);
    MEM_FOR_LANES(lane, r->mask)
    {
        if (r->scratch >> lane & 1) {
            uint8_t copy[16];
            mem_lane_store(s, (unsigned)lane, kind, copy);
            vmem_scratch_write(w, (uint32_t)r->addr[lane], (unsigned)lane, copy, bytes);
        } else {
            uint8_t *to = vmem_pointer(w, r, (unsigned)lane, bytes);
            if (to)
                mem_lane_store(s, (unsigned)lane, kind, to);
        }
    }
}

/* Lanes in order: of several that store to one place, the last one's value stays. */
INLINE const struct xinst *scatter(struct wave *w, const struct xinst *in, enum mem_kind kind,
                                   enum known known)
{
    struct mem_request r;
    const wave_row *s = w->v + in->s[1];
    r.write = true;
    vmem_address(w, in, mem_space_of(in), &r);
    check(w, in, &r, kind, known);
    mem_begin(w, in);
    if (MEM_UNLIKELY(r.lds | r.scratch)) {
        store_mixed(w, &r, s, kind);
    } else {
        MEM_FOR_LANES(lane, r.mask)
        mem_lane_store(s, (unsigned)lane, kind, (void *)(uintptr_t)r.addr[lane]);
    }
    mem_end(w);
    return in + 1;
}

INLINE const struct xinst *store_slow(struct wave *w, const struct xinst *in, enum mem_kind kind,
                                      enum known known)
{
    uint64_t address;
    bool all = w->exec == UINT64_MAX;
    if (w->exec == 0 || (all ? known == ONE_BY_ONE : !mem_is_run(w->exec)) ||
        !slow_dense(w, in, kind, known, &address))
        return scatter(w, in, kind, known);
    void *to = (void *)(uintptr_t)address;
    mem_begin(w, in);
    if (all)
        mem_rows_store(w->v + in->s[1], kind, to);
    else
        mem_rows_store_run(w->v + in->s[1], kind, to, w->exec);
    mem_end(w);
    return in + 1;
}

#define STORE_SLOW(kind)                                                                                     \
    NOINLINE const struct xinst *store_slow_##kind(struct wave *w, const struct xinst *in, enum known known) \
    {                                                                                                        \
        return store_slow(w, in, kind, known);                                                               \
    }
ALL_STORES(STORE_SLOW)

INLINE const struct xinst *store(struct wave *w, const struct xinst *in, enum mem_kind kind, bool sbase,
                                 slow_fn *slow)
{
    uint64_t address;
    bool in_window;
    MEM_COUNT(w, bytes_written, mem_bytes(kind));
    if (MEM_UNLIKELY(w->exec != UINT64_MAX))
        return slow(w, in, NOTHING);
    if (common_shape(w, in, sbase, mem_bytes(kind), &in_window, &address) != MEM_DENSE)
        return slow(w, in, in_window ? IN_WINDOW : NOTHING);
    mem_begin(w, in);
    mem_rows_store(w->v + in->s[1], kind, (void *)(uintptr_t)address);
    mem_end(w);
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
    if (mem_has_vaddr(in)) {
        const uint32_t *v = w->v[in->s[0]];
        if (w->exec == 0)
            return true;
        uint32_t first = v[__builtin_ctzll(w->exec)], differs = 0;
        if (w->exec == UINT64_MAX)
            for (unsigned l = 0; l < WAVE_LANES; l++)
                differs |= v[l] ^ first;
        else
            MEM_FOR_LANES(lane, w->exec)
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
INLINE bool scratch_places(const struct wave *w, const struct xinst *in, enum mem_kind kind, uint32_t *place)
{
    const uint32_t *v = w->v[in->s[0]];
    const uint32_t base = vmem_scratch_base(w, in), bytes = mem_bytes(kind);
    if (!mem_has_vaddr(in) || w->scratch_bytes < bytes || w->scratch_bytes > 1u << 24)
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

INLINE const struct xinst *scratch_gather(struct wave *w, const struct xinst *in, enum mem_kind kind)
{
    uint32_t place[WAVE_LANES];
    wave_row *d = w->v + in->d;
    if (MEM_UNLIKELY(!scratch_places(w, in, kind, place)))
        return gather(w, in, kind, NOTHING);
    for (unsigned i = 0; i < mem_dwords(kind); i++)
        MEM_FOR_LANES(lane, w->exec)
    mem_lane_load(d + i, (unsigned)lane, kind < MEM_B32 ? kind : MEM_B32,
                  w->scratch + place[lane] + i * sizeof(wave_row));
    return in + 1;
}

INLINE const struct xinst *scratch_scatter(struct wave *w, const struct xinst *in, enum mem_kind kind)
{
    uint32_t place[WAVE_LANES];
    const wave_row *s = w->v + in->s[1];
    if (MEM_UNLIKELY(!scratch_places(w, in, kind, place)))
        return scatter(w, in, kind, NOTHING);
    for (unsigned i = 0; i < mem_dwords(kind); i++)
        MEM_FOR_LANES(lane, w->exec)
    mem_lane_store(s + i, (unsigned)lane, kind < MEM_B32 ? kind : MEM_B32,
                   w->scratch + place[lane] + i * sizeof(wave_row));
    return in + 1;
}

INLINE const struct xinst *scratch_load(struct wave *w, const struct xinst *in, enum mem_kind kind)
{
    uint32_t offset;
    MEM_COUNT(w, scratch_bytes, mem_bytes(kind));
    if (MEM_LIKELY(kind >= MEM_B32 && scratch_row(w, in, mem_bytes(kind), &offset))) {
        if (MEM_LIKELY(w->exec))
            for (unsigned i = 0; i < mem_dwords(kind); i++)
                mem_row_merge(w->v[in->d + (int)i],
                              (const uint32_t *)(w->scratch + (size_t)(offset / 4 + i) * sizeof(wave_row)),
                              w->exec);
        return in + 1;
    }
    return scratch_gather(w, in, kind);
}

INLINE const struct xinst *scratch_store(struct wave *w, const struct xinst *in, enum mem_kind kind)
{
    uint32_t offset;
    MEM_COUNT(w, scratch_bytes, mem_bytes(kind));
    if (MEM_LIKELY(kind >= MEM_B32 && scratch_row(w, in, mem_bytes(kind), &offset))) {
        if (MEM_LIKELY(w->exec))
            for (unsigned i = 0; i < mem_dwords(kind); i++)
                mem_row_merge((uint32_t *)(w->scratch + (size_t)(offset / 4 + i) * sizeof(wave_row)),
                              w->v[in->s[1] + (int)i], w->exec);
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
        MEM_COUNT(w, bytes_written, mem_bytes(kind));                                                        \
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

static exec_fn *const load_v[MEM_KINDS] = {ALL_LOADS(ROW_LOAD_V)};
static exec_fn *const load_s[MEM_KINDS] = {ALL_LOADS(ROW_LOAD_S)};
static exec_fn *const load_scratch[MEM_KINDS] = {ALL_LOADS(ROW_LOAD_SCRATCH)};
static exec_fn *const store_v[MEM_KINDS] = {ALL_STORES(ROW_STORE_V)};
static exec_fn *const store_s[MEM_KINDS] = {ALL_STORES(ROW_STORE_S)};
static exec_fn *const store_scratch[MEM_KINDS] = {ALL_STORES(ROW_STORE_SCRATCH)};
static exec_fn *const store_scoped[MEM_KINDS] = {ALL_STORES(ROW_STORE_SCOPED)};

static const struct xinst *x_load_lds(struct wave *w, const struct xinst *in)
{
    const enum mem_kind kind = (enum mem_kind)in->mem.kind;
    struct mem_request r;
    r.write = false;
    MEM_COUNT(w, bytes_read, mem_bytes(kind));
    vmem_address(w, in, mem_space_of(in), &r);
    r.mask &= vmem_lds_lanes(w, in);
    r.scratch &= r.mask;
    vmem_check(w, in, &r, mem_bytes(kind));
    mem_begin(w, in);
    MEM_FOR_LANES(lane, r.mask)
    {
        uint8_t copy[4];
        const uint8_t *from = copy;
        if (!r.scratch)
            from = (const uint8_t *)(uintptr_t)r.addr[lane];
        else if (MEM_LIKELY(r.addr[lane] % 4 + mem_bytes(kind) <= 4))
            from = vmem_scratch_byte(w, (uint32_t)r.addr[lane], (unsigned)lane);
        else
            vmem_scratch_read(w, (uint32_t)r.addr[lane], (unsigned)lane, copy, mem_bytes(kind));
        vmem_to_lds(w, vmem_lds_base(w, in), (unsigned)lane, kind, from);
    }
    mem_end(w);
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
        !mem_steps(lo, lo[0], step, hi, 0) || !mem_has_room(lo[0], step))
        return 0;
    return base + lo[0] + mem_offset(in);
}

/* The first address of such an access when lanes may lie in any window; 0: they are not consecutive. */
INLINE uint64_t sum_dense_far(const struct wave *w, const struct xinst *in, uint32_t step)
{
    const struct xinst *sum = fuse_sum(in);
    const uint32_t *lo = w->v[sum->s[2]], *hi = lo + WAVE_LANES;
    const uint64_t base = wave_sgpr64(w, sum->reg[0]);
    const uint64_t address = base + (lo[0] | (uint64_t)hi[0] << 32) + mem_offset(in);
    if (!fuse_waits(w))
        return 0;
    vmem_learn_window(w, in, (uint32_t)(base >> 32));
    if (wave_is_outside(w, address)) /* the access by itself asks for more */
        return 0;
    return mem_shape_of(lo, hi, step, UINT64_MAX, 0) == MEM_DENSE ? address : 0;
}

/* The sum, which the wave wants after all, and the access by itself. */
NOINLINE const struct xinst *sum_first(struct wave *w, const struct xinst *in)
{
    if (fuse_waits(w))
        fuse_single(fuse_sum(in))(w, fuse_sum(in));
    return fuse_single(in)(w, in);
}

INLINE const struct xinst *sum_load(struct wave *w, const struct xinst *in, enum mem_kind kind,
                                    uint64_t address)
{
    mem_begin(w, fuse_sum(in));
    mem_rows_load(w->v + in->d, kind, (const void *)(uintptr_t)address);
    mem_end(w);
    return in + 1;
}

INLINE const struct xinst *sum_store(struct wave *w, const struct xinst *in, enum mem_kind kind,
                                     uint64_t address)
{
    mem_begin(w, fuse_sum(in));
    mem_rows_store(w->v + in->s[1], kind, (void *)(uintptr_t)address);
    mem_end(w);
    return in + 1;
}

/* The common paths call nothing and keep no frame. */
#define SUM_HANDLERS_OF(access, kind)                                                                        \
    NOINLINE const struct xinst *access##_far_##kind(struct wave *w, const struct xinst *in)                 \
    {                                                                                                        \
        uint64_t address = sum_dense_far(w, in, mem_bytes(kind));                                            \
        return address ? access(w, in, kind, address) : sum_first(w, in);                                    \
    }                                                                                                        \
    static const struct xinst *x_##access##_##kind(struct wave *w, const struct xinst *in)                   \
    {                                                                                                        \
        uint64_t address = sum_dense(w, in, mem_bytes(kind));                                                \
        return MEM_LIKELY(address) ? access(w, in, kind, address) : access##_far_##kind(w, in);              \
    }
#define SUM_HANDLERS(kind)                                                                                   \
    SUM_HANDLERS_OF(sum_load, kind)                                                                          \
    SUM_HANDLERS_OF(sum_store, kind)
#define SUM_KINDS(X)                                                                                         \
    X(MEM_B32)                                                                                               \
    X(MEM_B64)                                                                                               \
    X(MEM_B128)
SUM_KINDS(SUM_HANDLERS)

exec_fn *SEM(sem_fused)(const struct isa_inst *access)
{
#define ROW_SUM_LOAD(kind)  [kind] = x_sum_load_##kind,
#define ROW_SUM_STORE(kind) [kind] = x_sum_store_##kind,
    static exec_fn *const loads[MEM_KINDS] = {SUM_KINDS(ROW_SUM_LOAD)};
    static exec_fn *const stores[MEM_KINDS] = {SUM_KINDS(ROW_SUM_STORE)};
    const struct mem_op *op = mem_op_of(access->op);
    if (op->space != MEM_GLOBAL)
        return NULL;
    return op->action == MEM_LOAD                    ? loads[op->kind]
           : op->action == MEM_STORE && !access->sc1 ? stores[op->kind]
                                                     : NULL;
}

exec_fn *SEM(sem_vmem)(const struct isa_inst *inst, struct xinst *x)
{
    const struct mem_op *op = mem_op_of(inst->op);
    bool scratch = op->space == MEM_SCRATCH;
    if (op->space == MEM_BUFFER || op->space == MEM_TBUFFER)
        return SEM(vmem_buffer)(inst, x);
    if (op->space != MEM_FLAT && op->space != MEM_GLOBAL && !scratch)
        return NULL;
    mem_resolve(inst, x);
    bool sbase = mem_has_sbase(x);
    switch (op->action) {
    case MEM_LOAD:
        return (scratch ? load_scratch : sbase ? load_s : load_v)[op->kind];
    case MEM_STORE:
        if (inst->sc1 && !scratch)
            return store_scoped[op->kind];
        return (scratch ? store_scratch : sbase ? store_s : store_v)[op->kind];
    case MEM_ATOMIC:
        return SEM(vmem_atomic)(inst, x);
    case MEM_LOAD_LDS:
        return x_load_lds;
    default:
        return NULL;
    }
}
