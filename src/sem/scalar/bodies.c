/* SPDX-License-Identifier: MIT */
/*
 * The scalar ALU's instructions as functions for code generators: compiled to bitcode, from which src/jit
 * takes the body of each.  Sources are zero-extended to 64 bits, d is the destination before the instruction,
 * and the result is the destination after it:
 *
 *   SOPK                     a is the constant, sign-extended, and d the register
 *   *_saveexec, *_wrexec     b is EXEC, and the result the new one; the destination is the caller's to write
 *   compares                 the result is 0: only *scc counts
 *
 * *scc, 0 or 1, is read and written as the instruction does: one that leaves SCC alone does not touch it.
 */
#include "sem/scalar/scalar.h"

#define BODY(name)                                                                                           \
    uint64_t scalar_##name(uint64_t a, uint64_t b, uint64_t d, uint8_t *scc_byte);                           \
    uint64_t scalar_##name(uint64_t a, uint64_t b, uint64_t d, uint8_t *scc_byte)
#define UNUSED (void)a, (void)b, (void)d, (void)scc_byte
#define SCC    ((bool *)scc_byte)

#define OP2(name, D, S0, S1)                                                                                 \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        return name((uint##S0##_t)a, (uint##S1##_t)b, SCC);                                                  \
    }
#define OP1(name, D, S0)                                                                                     \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        return name((uint##S0##_t)a, SCC);                                                                   \
    }
#define UPDATE(name, D, S0, expression)                                                                      \
    static inline uint##D##_t update_##name(uint##S0##_t a, uint##D##_t d)                                   \
    {                                                                                                        \
        return expression;                                                                                   \
    }                                                                                                        \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        return update_##name((uint##S0##_t)a, (uint##D##_t)d);                                               \
    }
#define WHEN_SCC(name, D)                                                                                    \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        return *SCC ? (uint##D##_t)a : (uint##D##_t)d;                                                       \
    }
#define CONSTANT(name, function)                                                                             \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        return function((uint32_t)d, (uint32_t)a, SCC);                                                      \
    }
#define SAVEEXEC(name, expression)                                                                           \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        const uint64_t s = a, exec = b, r = (expression);                                                    \
        *scc_byte = r != 0;                                                                                  \
        return r;                                                                                            \
    }
#define WREXEC SAVEEXEC
#define COMPARE(name, type, bits, operator)                                                                  \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        *scc_byte = (type)a operator(type) b;                                                                \
        return 0;                                                                                            \
    }
#define COMPARE_K(name, type, widen, operator)                                                               \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        *scc_byte = (type)d operator(type)(widen) a;                                                         \
        return 0;                                                                                            \
    }
#define COMPARE_BIT(name, bits, value)                                                                       \
    BODY(name)                                                                                               \
    {                                                                                                        \
        UNUSED;                                                                                              \
        *scc_byte = ((uint##bits##_t)a >> (b & (bits - 1)) & 1) == (value);                                  \
        return 0;                                                                                            \
    }
#include "sem/scalar/compute.def"
