/* SPDX-License-Identifier: MIT */
/* The scalar functions that compiled code is made of (sem/scalar/bodies.c) against the handlers, and where
 * the library has them all. */
#include <stdlib.h>

#include "../check.h"
#include "../hard.h"
#include "jit/bitcode.h"
#include "jit/config.h"
#include "wave/handlers.h"

typedef uint64_t scalar_fn(uint64_t a, uint64_t b, uint64_t d, uint8_t *scc);

enum { SGPR_A = 2, SGPR_B = 4, SGPR_D = 6 };

/* What the function's result is: the destination, of 32 or 64 bits, EXEC, EXEC and destination, or nothing.
 */
enum result { RESULT_32, RESULT_64, RESULT_EXEC, RESULT_BOTH, RESULT_NONE };

struct scalar_case {
    const char *name;
    uint16_t op;
    scalar_fn *scalar;
    int bits_a, bits_b; /* 0: the constant, EXEC, none */
    enum result result;
    bool constant;
};

#define OP2(name, ...)         scalar_fn scalar_##name;
#define OP1(name, ...)         OP2(name)
#define UPDATE(name, ...)      OP2(name)
#define WHEN_SCC(name, ...)    OP2(name)
#define CONSTANT(name, ...)    OP2(name)
#define SAVEEXEC(name, ...)    OP2(name)
#define WREXEC(name, ...)      OP2(name)
#define COMPARE(name, ...)     OP2(name)
#define COMPARE_K(name, ...)   OP2(name)
#define COMPARE_BIT(name, ...) OP2(name)
#include "sem/scalar/compute.def"

static const struct scalar_case cases[] = {
#define CASE(name)               #name, ISA_OP_##name, scalar_##name
#define OP2(name, D, S0, S1)     {CASE(name), S0, S1, RESULT_##D, false},
#define OP1(name, D, S0)         {CASE(name), S0, 0, RESULT_##D, false},
#define UPDATE(name, D, S0, e)   {CASE(name), S0, 0, RESULT_##D, false},
#define WHEN_SCC(name, D)        {CASE(name), D, 0, RESULT_##D, false},
#define CONSTANT(name, f)        {CASE(name), 0, 0, RESULT_32, true},
#define SAVEEXEC(name, e)        {CASE(name), 64, 0, RESULT_EXEC, false},
#define WREXEC(name, e)          {CASE(name), 64, 0, RESULT_BOTH, false},
#define COMPARE(name, t, b, o)   {CASE(name), b, b, RESULT_NONE, false},
#define COMPARE_K(name, t, w, o) {CASE(name), 0, 0, RESULT_NONE, true},
#define COMPARE_BIT(name, b, v)  {CASE(name), b, 32, RESULT_NONE, false},
#include "sem/scalar/compute.def"
};

static uint64_t random_bits(void)
{
    static uint64_t seed = 0x9e3779b97f4a7c15u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1du;
}

static uint64_t hard(void)
{
    return hard_u64(random_bits(), random_bits());
}

static uint64_t low(uint64_t x, int bits)
{
    return bits == 32 ? (uint32_t)x : x;
}

static void test(struct wave *w, const struct scalar_case *c)
{
    const uint64_t exec = hard(), simm = (uint64_t)(int64_t)(int16_t)random_bits();
    struct isa_inst inst = {.op = c->op};
    struct xinst x = {.isa = &inst, .sd = SGPR_D, .ss = {SGPR_A, SGPR_B}};
    if (c->constant)
        x.control.simm = simm;
    const uint64_t a = w->s64[SGPR_A / 2] = hard(), b = w->s64[SGPR_B / 2] = hard();
    const uint64_t d = w->s64[SGPR_D / 2] = hard();
    w->exec = exec;
    w->scc = random_bits() >> 63;
    uint8_t scc = w->scc;
    exec_fn *fn = sem_salu(&inst, &x);
    if (!CHECK(fn != NULL))
        exit(1);
    fn(w, &x);
    const bool execs = c->result == RESULT_EXEC || c->result == RESULT_BOTH;
    const uint64_t r = c->scalar(c->constant ? simm : low(a, c->bits_a), execs ? exec : low(b, c->bits_b),
                                 c->result == RESULT_32 || c->constant ? (uint32_t)d : d, &scc);
    const uint64_t after = c->result == RESULT_32     ? (d & ~UINT64_C(0xffffffff)) | (uint32_t)r
                           : c->result == RESULT_NONE ? d
                           : c->result == RESULT_EXEC ? exec
                                                      : r;
    bool same = w->s64[SGPR_D / 2] == after && w->exec == (execs ? r : exec) && w->scc == scc;
    same &= c->result != RESULT_32 || r <= UINT32_MAX;
    if (!CHECK(same))
        fprintf(stderr,
                "%s: a %" PRIx64 " b %" PRIx64 " d %" PRIx64 ": %" PRIx64 " scc %d, not %" PRIx64 " scc %d\n",
                c->name, a, b, d, r, scc, w->s64[SGPR_D / 2], w->scc);
}

static void test_bitcode(void)
{
    size_t size = 1;
    CHECK(!jit_bitcode(2, &size) && size == 0);
    for (unsigned level = 3; level <= 4; level++) {
        const void *bitcode = jit_bitcode(level, &size);
        CHECK(EHP_JIT ? bitcode && size > 4 && memcmp(bitcode, "BC\xc0\xde", 4) == 0 : !bitcode);
    }
}

int main(void)
{
    test_bitcode();
    struct wave *w = aligned_alloc(64, (sizeof(*w) + 63) & ~(size_t)63);
    memset(w, 0, sizeof(*w));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int k = 0; k < 3000; k++)
            test(w, &cases[i]);
    free(w);
    return check_status();
}
