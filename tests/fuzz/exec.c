/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: random instructions, executed by a workgroup of two waves.
 * Whatever they do, the workgroup is done, waits, or has faulted within its
 * budget; nothing outside of the sandbox is read or written.
 *
 * Bytes 0-15 choose registers and MODE, the rest are instructions: units of
 * nine bytes, the first of which picks a row of the instruction tables whose
 * encoding the next eight are made to match (or none: raw words).  Device
 * addresses are confined by what they are made of: every register starts with
 * an address of the arena or a small number, and an instruction whose address
 * lies elsewhere is dropped before it runs.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wave/aperture.h"
#include "exec/code.h"
#include "wave/fault.h"
#include "wave/gws.h"
#include "wave/handlers.h"
#include "exec/observe.h"
#include "wave/special.h"
#include "exec/workgroup.h"
#include "isa/isa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { UNIT = 10, UNITS_MAX = 200, WAVES = 2, STEPS = 3000, LDS_BYTES = 4096, SCRATCH_BYTES = 128 };

/* What addresses are made to point into: the arena, with nothing around it for as far as offsets reach. */
#define RESERVED    (UINT64_C(8) << 30) /* offsets are 32 bits wide */
#define ARENA_AT    (UINT64_C(2) << 30)
#define ARENA_BYTES (UINT64_C(4) << 20)

struct sandbox {
    uint8_t *reserved, *arena;
    struct exec_launch launch;
    struct workgroup *wg;
    struct wave_guard guard;
    struct fault_thread *thread;
    struct exec_code code;
    struct exec_code_cache cache;
    struct gws gws[GWS_RESOURCES];
    uint64_t code_start, code_end;
    uint64_t random;
};

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* What the machine provides to waves. */
void wave_interrupt(struct wave *w)
{
    (void)w;
}

bool wave_may_access(struct wave *w, uint64_t address, unsigned bytes)
{
    (void)w;
    return address < APERTURE_HOST_LIMIT - bytes;
}

uint64_t wave_clock(const struct wave *w)
{
    (void)w;
    return 1000;
}

uint64_t wave_realtime(const struct wave *w)
{
    (void)w;
    return 1000;
}

static uint32_t next_random(struct sandbox *s)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)(s->random >> 16);
}

static bool code_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    const struct sandbox *s = context;
    *start = s->code_start;
    *end = s->code_end;
    return pc >= *start && pc < *end;
}

static bool code_observes(void *context, uint64_t pc)
{
    const struct sandbox *s = context;
    (void)pc;
    return exec_observes(&isa_gfx942, (const uint32_t *)(uintptr_t)s->code_start,
                         (s->code_end - s->code_start) / 4);
}

static struct sandbox *sandbox_make(void)
{
    struct sandbox *s = aligned_alloc(64, (sizeof *s + 63) & ~(size_t)63);
    require(s != NULL);
    memset(s, 0, sizeof *s);
    s->reserved = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(s->reserved != MAP_FAILED);
    s->arena = s->reserved + ARENA_AT;
    require(mprotect(s->arena, ARENA_BYTES, PROT_READ | PROT_WRITE) == 0);
    s->launch = (struct exec_launch){
        .id_sgpr = {-1, -1, -1},
        .info_sgpr = -1,
        .vgprs = 256,
        .agprs = 256,
        .lds_bytes = LDS_BYTES,
        .scratch_bytes = SCRATCH_BYTES,
        .items = {WAVES * WAVE_LANES, 1, 1},
        .grid = {WAVES * WAVE_LANES, 1, 1},
        .groups = {1, 1, 1},
        .id_dims = 1,
        .waves = WAVES,
        .gws = s->gws,
    };
    require(launch_make_ids(&s->launch));
    s->thread = fault_thread_enter(&s->guard);
    require(s->thread != NULL);
    exec_code_init(&s->code, &isa_gfx942, code_bounds, s);
    s->code.observes = code_observes;
    s->guard.code = &s->code;
    s->guard.cache = &s->cache;
    return s;
}

/* ---- code ---- */

static size_t make_code(uint32_t *words, const uint8_t *data, size_t bytes)
{
    size_t n = 0;
    for (size_t at = 0; at + UNIT <= bytes && n + 3 < UNITS_MAX * 3; at += UNIT) {
        uint16_t pick;
        uint64_t w;
        memcpy(&pick, data + at, 2);
        memcpy(&w, data + at + 2, 8);
        size_t row = (pick & 0x3fff) % isa_gfx942.row_count;
        const struct isa_form *form = &isa_gfx942.rows[row].form[pick >> 14 == 1   ? 1
                                                                 : pick >> 14 == 2 ? 2
                                                                                   : 0];
        if (pick >> 14 != 3 && form->mask)
            w = (w & ~form->mask & form->live) | form->match;
        uint32_t two[2] = {(uint32_t)w, (uint32_t)(w >> 32)};
        struct isa_inst inst;
        uint32_t three[3] = {two[0], two[1], (uint32_t)(w >> 16)};
        size_t size = isa_decode(&isa_gfx942, three, 3, &inst) ? inst.size / 4u : 1;
        memcpy(words + n, three, size * 4);
        n += size;
    }
    words[n++] = 0xbf810000; /* s_endpgm */
    return n;
}

/* ---- confining addresses ---- */

static uint64_t somewhere(struct sandbox *s, uint32_t offset, bool flat)
{
    uint32_t r = next_random(s) & 31;
    if (flat && r < 4)
        return (r < 2 ? APERTURE_SHARED_BASE : APERTURE_PRIVATE_BASE) + (offset & 0xffff);
    if (r == 4) /* nothing is there */
        return (uint64_t)(uintptr_t)s->reserved + (offset & 0xfffffff);
    return (uint64_t)(uintptr_t)s->arena + ARENA_BYTES / 2 + (offset & 0xffff);
}

/* Makes the addresses of an instruction lead into the sandbox; false when it cannot: it is left out. */
static bool confine(struct sandbox *s, struct wave *w, const struct xinst *in)
{
    const struct isa_inst *i = in->isa;
    const struct isa_operand *address = &i->src[ISA_ADDR], *base = &i->src[ISA_SBASE];
    bool flat = i->format == ISA_FLAT;
    unsigned sbase = base->reg, row = address->reg;
    switch (i->format) {
    case ISA_FLAT:
    case ISA_GLOBAL:
        if (base->kind == ISA_SGPR) {
            if (sbase + 2u > 128)
                return false;
            wave_set_sgpr64(w, sbase, somewhere(s, w->s[sbase], false));
            for (unsigned l = 0; l < WAVE_LANES && address->kind == ISA_VGPR; l++)
                w->v[row][l] &= 0xffff;
        } else if (base->kind != ISA_NONE) {
            return false;
        } else if (address->kind == ISA_VGPR) {
            uint64_t all = somewhere(s, w->v[row][0], flat);
            for (unsigned l = 0; l < WAVE_LANES; l++) {
                uint64_t to = all > (uint64_t)(uintptr_t)s->arena + ARENA_BYTES || next_random(s) & 15
                                  ? (all & ~UINT64_C(0xffff)) | (w->v[row][l] & 0xffff)
                                  : somewhere(s, w->v[row][l], flat);
                w->v[row][l] = (uint32_t)to;
                w->v[row + 1][l] = (uint32_t)(to >> 32);
            }
        }
        return true;
    case ISA_SMEM:
        if (base->kind == ISA_NONE)
            return true;
        if (base->kind != ISA_SGPR || sbase + base->dwords > 128u)
            return false;
        if (i->soffset.kind == ISA_SGPR) {
            if (i->soffset.reg >= sbase && i->soffset.reg < sbase + base->dwords)
                return false;
            w->s[i->soffset.reg] &= 0xffff;
        }
        wave_set_sgpr64(w, sbase, somewhere(s, w->s[sbase], false) & ~UINT64_C(3));
        return true;
    case ISA_MUBUF:
    case ISA_MTBUF: {
        unsigned v = in->ss[0];
        if (in->fn && !(i->dst.kind || i->src[ISA_DATA].kind || address->kind || base->kind))
            return true; /* a cache control */
        if (v + 4 > 128)
            return false;
        if (in->ss[1] < 128) {
            if (in->ss[1] >= v && in->ss[1] < v + 4)
                return false;
            w->s[in->ss[1]] &= 0x3fff;
        } else if (in->ss[1] != XSRC_CONST) {
            return false;
        }
        uint64_t at = somewhere(s, w->s[v], false);
        w->s[v] = (uint32_t)at;
        w->s[v + 1] = (w->s[v + 1] & 0xffff0000) | (uint32_t)(at >> 32);
        if (next_random(s) & 1)
            w->s[v + 2] &= 0xffff;
        for (unsigned r = row; address->kind == ISA_VGPR && r < row + (unsigned)address->dwords; r++)
            for (unsigned l = 0; l < WAVE_LANES; l++)
                w->v[r][l] &= 0x3ff;
        return true;
    }
    default:
        return true;
    }
}

/* ---- running ---- */

static void run_wave(struct sandbox *s, struct wave *w, unsigned *steps)
{
    const struct xinst *in = w->next;
    while (in && *steps) {
        --*steps;
        if (in->isa && !confine(s, w, in)) {
            in++;
            continue;
        }
        in = w->mode & MODE_SPECIAL ? exec_special_step(w, in) : in->fn(w, in);
    }
    if (in) /* out of steps */
        w->next = in;
}

static void check_fault(const struct sandbox *s)
{
    const struct wave_guard *g = &s->guard;
    char text[256] = "no instruction";
    require(g->kind > EHP_FAULT_NONE && g->kind <= EHP_FAULT_EXCEPTION);
    require(g->fault_in != NULL);
    if (g->fault_in->isa && g->fault_in->isa->op != ISA_OP_INVALID)
        require(isa_print(&isa_gfx942, g->fault_in->isa, g->fault_in->pc, text, sizeof text) > 0);
    /* The host's own fault: nothing but the sandbox is touched. */
    uint64_t base = (uint64_t)(uintptr_t)s->reserved;
    if (g->from_signal && (g->address < base || g->address - base >= RESERVED)) {
        fprintf(stderr, "%s reaches %lx, outside of %lx + %lx\n", text, g->address, base, RESERVED);
        abort();
    }
    require(!g->from_signal || mem_fault_lane(g->wave, g->fault_in, g->address) <= UINT_MAX);
}

static void run_workgroup(struct sandbox *s, struct workgroup *wg)
{
    volatile unsigned left = STEPS;
    s->guard.kind = EHP_FAULT_NONE;
    s->guard.in = NULL;
    s->guard.armed = true;
    if (sigsetjmp(s->guard.env, 0)) {
        s->guard.armed = false;
        check_fault(s);
        s->guard.in = NULL;
        return;
    }
    for (unsigned rounds = 0; left && rounds < 64; rounds++) {
        unsigned live = 0, waiting = 0;
        for (unsigned i = 0; i < wg->waves && left; i++) {
            struct wave *w = &wg->wave[i];
            if (w->state == WAVE_DONE)
                continue;
            live++;
            if (w->state == WAVE_BARRIER) {
                waiting++;
                continue;
            }
            w->state = WAVE_RUNNING;
            w->budget = 100;
            w->guard = &s->guard;
            w->special = true; /* by steps here, too, so that each is confined */
            w->mem_mask = APERTURE_HOST_MASK;
            w->stats = i ? &wg->stats : NULL;
            s->guard.wave = w;
            unsigned steps = left;
            run_wave(s, w, &steps);
            left = steps;
        }
        if (!live)
            break;
        for (unsigned i = 0; waiting == live && i < wg->waves; i++)
            if (wg->wave[i].state == WAVE_BARRIER)
                wg->wave[i].state = WAVE_RUNNING;
    }
    s->guard.armed = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct sandbox *s;
    if (!s)
        s = sandbox_make();
    if (bytes < 16)
        return 0;
    uint64_t seed[2];
    memcpy(seed, data, 16);
    /* Exactly as large as it is, so that the sanitizer sees a read beyond. */
    static uint32_t made[UNITS_MAX * 3 + 4];
    size_t count = make_code(made, data + 16, bytes - 16);
    uint32_t *words = malloc(count * 4);
    require(words != NULL);
    memcpy(words, made, count * 4);
    s->code_start = (uint64_t)(uintptr_t)words;
    s->code_end = s->code_start + count * 4;
    s->random = seed[0] | 1;
    s->launch.entry = exec_code_find(&s->code, &s->cache, s->code_start);
    require(s->launch.entry != NULL);
    for (unsigned i = 0; i < 102; i++)
        s->launch.sgprs[i] = next_random(s) >> (next_random(s) & 31);
    s->launch.mode = seed[1] & 1 ? (uint32_t)(seed[1] >> 8) : MODE_FLOAT_PLAIN | MODE_IEEE | MODE_DX10_CLAMP;
    memset(s->gws, 0, sizeof s->gws);
    s->wg = workgroup_start(s->wg, &s->launch, 0, NULL);
    require(s->wg != NULL);
    for (unsigned i = 0; i < s->wg->waves; i++) {
        struct wave *w = &s->wg->wave[i];
        for (unsigned r = 0; r < WAVE_ROWS; r++)
            for (unsigned l = 0; l < WAVE_LANES; l++)
                w->v[r][l] = (uint32_t)((s->random += 0x9e3779b97f4a7c15) >> 20) >> (l & 28);
        if (seed[1] & 2) /* partial from the start */
            w->exec = s->random | 1;
        for (unsigned k = 0; k < SCRATCH_BYTES * WAVE_LANES; k += 4)
            memcpy(w->scratch + k, &seed[k / 4 & 1], 4);
    }
    run_workgroup(s, s->wg);
    exec_code_drop(&s->code, s->code_start, s->code_end);
    free(words);
    return 0;
}
