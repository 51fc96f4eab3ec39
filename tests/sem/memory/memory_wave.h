/* SPDX-License-Identifier: MIT */
/*
 * A wave built by hand, and one instruction run on it at every instruction set
 * level that this host has.  The reference side of each test works on copies
 * and knows nothing of the handlers.
 */
#ifndef EHP_TESTS_SEM_MEMORY_MEMORY_WAVE_H
#define EHP_TESTS_SEM_MEMORY_MEMORY_WAVE_H

#include <limits.h>
#include <stdlib.h>

#include "../../check.h"
#include "../../halves.h"
#include "../../oracle/record.h"
#include "wave/aperture.h"
#include "wave/fault.h"
#include "wave/handlers.h"

enum { RIG_LDS = 4096, RIG_SCRATCH = 256, RIG_HOST = 16384, RIG_REGS = 32 };

struct rig {
    alignas(64) wave_row rows[WAVE_TEMPS + WAVE_ROWS];
    alignas(64) uint8_t lds[RIG_LDS + 512];
    alignas(64) uint8_t scratch[RIG_SCRATCH * WAVE_LANES];
    alignas(64) uint8_t host[RIG_HOST];
    struct wave w;
    struct wave_guard guard;
    struct wave_stats stats;
};

static uint64_t rig_seed = 88172645463325252ull;

static inline uint64_t rig_random(void)
{
    rig_seed ^= rig_seed << 13;
    rig_seed ^= rig_seed >> 7;
    rig_seed ^= rig_seed << 17;
    return rig_seed * 2685821657736338717ull >> 8 ^ rig_seed << 40;
}

static inline void rig_noise(void *to, size_t bytes)
{
    uint8_t *p = to;
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t x = rig_random();
        memcpy(p + i, &x, bytes - i < 8 ? bytes - i : 8);
    }
}

static inline struct rig *rig_make(void)
{
    struct rig *r = aligned_alloc(64, (sizeof(*r) + 63) & ~(size_t)63);
    memset(r, 0, sizeof(*r));
    rig_noise(r->rows, sizeof(r->rows));
    rig_noise(r->lds, sizeof(r->lds));
    rig_noise(r->scratch, sizeof(r->scratch));
    rig_noise(r->host, sizeof(r->host));
    r->w.v = r->rows + WAVE_TEMPS;
    r->w.exec = UINT64_MAX;
    r->w.lds = r->lds;
    r->w.lds_bytes = RIG_LDS;
    r->w.scratch = r->scratch;
    r->w.scratch_bytes = RIG_SCRATCH;
    r->w.mem_mask = APERTURE_HOST_MASK;
    r->w.guard = &r->guard;
    return r;
}

/* A copy whose pointers lead into itself, except that device addresses stay those of the original. */
static inline struct rig *rig_copy(const struct rig *from)
{
    struct rig *r = aligned_alloc(64, (sizeof(*r) + 63) & ~(size_t)63);
    memcpy(r, from, sizeof(*r));
    r->w.v = r->rows + WAVE_TEMPS;
    r->w.lds = r->lds;
    r->w.scratch = r->scratch;
    r->w.guard = &r->guard;
    return r;
}

static inline struct isa_operand rig_vgpr(unsigned reg, unsigned dwords)
{
    return (struct isa_operand){.kind = ISA_VGPR, .reg = (uint16_t)reg, .dwords = (uint8_t)dwords};
}

static inline struct isa_operand rig_sgpr(unsigned reg, unsigned dwords)
{
    return (struct isa_operand){.kind = ISA_SGPR, .reg = (uint16_t)reg, .dwords = (uint8_t)dwords};
}

static const unsigned rig_levels[] = {2, 3, 4, HALVES_LEVEL};

static inline bool rig_has_level(unsigned level)
{
    return level == 2 || level == HALVES_LEVEL ? true
           : level == 3 ? __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                              __builtin_cpu_supports("fma")
                        : __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static inline exec_fn *rig_handler(unsigned level, const struct isa_inst *inst, struct xinst *x)
{
    static sem_lookup_fn *const lds[] = {sem_lds_v2, sem_lds_v3, sem_lds_v4};
    static sem_lookup_fn *const vmem[] = {sem_vmem_v2, sem_vmem_v3, sem_vmem_v4};
    *x = (struct xinst){.isa = inst};
    if (inst->format == ISA_SMEM)
        return sem_smem(inst, x);
    return (inst->format == ISA_DS ? lds : vmem)[level - 2](inst, x);
}

/* EHP_FAULT_NONE when it ran; details in r->guard otherwise. */
static inline int rig_run(struct rig *r, unsigned level, const struct isa_inst *inst)
{
    struct xinst x[2];
    exec_fn *fn = rig_handler(level == HALVES_LEVEL ? 2 : level, inst, x);
    if (fn && level == HALVES_LEVEL && halves_has(inst))
        fn = halves_run;
    if (!CHECK(fn != NULL))
        return -1;
    x->fn = fn;
    r->guard.kind = EHP_FAULT_NONE;
    r->guard.wave = &r->w;
    r->guard.in = NULL;
    if (sigsetjmp(r->guard.env, 1))
        return (int)r->guard.kind;
    const struct xinst *next = fn(&r->w, x);
    CHECK(next == x + 1);
    CHECK(r->guard.in == NULL);
    oracle_ran_op(inst->op, fn == halves_run ? ORACLE_HALVES : ORACLE_HANDLER);
    return EHP_FAULT_NONE;
}

static inline uint64_t rig_exec(unsigned pattern)
{
    switch (pattern % 8) {
    case 0:
    case 1:
    case 2:
        return UINT64_MAX;
    case 3:
        return rig_random();
    case 4:
        return (UINT64_C(1) << rig_random() % 64) - 1;
    case 5:
        return UINT64_C(1) << rig_random() % 64;
    case 6:
        return ~(UINT64_C(1) << rig_random() % 64);
    default:
        return pattern % 16 == 7 ? 0 : rig_random() & rig_random();
    }
}

/* Compares registers, LDS and scratch of two rigs; says where they differ first. */
static inline bool rig_same(const struct rig *a, const struct rig *b, const char *what)
{
    bool ok = true;
    for (int row = 0; row < WAVE_ROWS && ok; row++)
        for (int l = 0; l < WAVE_LANES && ok; l++)
            if (a->w.v[row][l] != b->w.v[row][l]) {
                fprintf(stderr, "%s: v%d lane %d is %08x, expected %08x\n", what, row, l, a->w.v[row][l],
                        b->w.v[row][l]);
                ok = false;
            }
    for (unsigned i = 0; i < RIG_LDS + 512 && ok; i++)
        if (a->lds[i] != b->lds[i]) {
            fprintf(stderr, "%s: LDS byte %u is %02x, expected %02x\n", what, i, a->lds[i], b->lds[i]);
            ok = false;
        }
    for (unsigned i = 0; i < sizeof(a->scratch) && ok; i++)
        if (a->scratch[i] != b->scratch[i]) {
            fprintf(stderr, "%s: scratch byte %u is %02x, expected %02x\n", what, i, a->scratch[i],
                    b->scratch[i]);
            ok = false;
        }
    if (ok && memcmp(a->w.s, b->w.s, sizeof(a->w.s))) {
        fprintf(stderr, "%s: scalar registers differ\n", what);
        ok = false;
    }
    return CHECK(ok);
}

static inline bool rig_same_host(const uint8_t *a, const uint8_t *b, const char *what)
{
    for (unsigned i = 0; i < RIG_HOST; i++)
        if (a[i] != b[i]) {
            fprintf(stderr, "%s: memory byte %u is %02x, expected %02x\n", what, i, a[i], b[i]);
            return CHECK(false);
        }
    return true;
}

#endif
