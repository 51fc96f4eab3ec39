/* SPDX-License-Identifier: MIT */
/* Loads and stores that survive a fault; see guarded.h. */
#include "base/guarded.h"

#include <string.h>

#include <ucontext.h>

/* Offsets, so that the table needs no relocation: of the instruction, and of where to go. */
struct guard {
    int32_t at, handler;
};
extern const struct guard first_guard[] __asm__("__start_ehp_guarded") __attribute__((visibility("hidden")));
extern const struct guard last_guard[] __asm__("__stop_ehp_guarded") __attribute__((visibility("hidden")));

#define GUARD(label)                                                                                         \
    ".pushsection ehp_guarded,\"a\"\n.balign 4\n.long " label " - ., %l[fault] - .\n.popsection\n"

/* Where both are aligned, two values of eight bytes, each whole: so processors with AVX have it. */
static inline bool copy16(uint8_t *to, const uint8_t *from)
{
    __asm__ goto("1: movdqu (%1), %%xmm0\n" GUARD("1b") "2: movdqu %%xmm0, (%0)\n" GUARD("2b")
                 :
                 : "r"(to), "r"(from)
                 : "xmm0", "memory"
                 : fault);
    return true;
fault:
    return false;
}

/* `suffix` of mov, and the size of the register's name. */
#define STORE(name, type, suffix, size)                                                                      \
    static inline bool name(uint8_t *to, const uint8_t *from)                                                \
    {                                                                                                        \
        type value;                                                                                          \
        __builtin_memcpy(&value, from, sizeof(value));                                                       \
        __asm__ goto("1: mov" suffix " %" size "1, (%0)\n" GUARD("1b")                                       \
                     :                                                                                       \
                     : "r"(to), "r"(value)                                                                   \
                     : "memory"                                                                              \
                     : fault);                                                                               \
        return true;                                                                                         \
    fault:                                                                                                   \
        return false;                                                                                        \
    }

STORE(store8, uint64_t, "q", "q")
STORE(store4, uint32_t, "l", "k")
STORE(store2, uint16_t, "w", "w")
STORE(store1, uint8_t, "b", "b")

bool guarded_load_line(uint8_t *to, const uint8_t *line)
{
    for (unsigned i = 0; i < GUARDED_LINE; i += 16)
        if (!copy16(to + i, line + i))
            return false;
    return true;
}

/* Eight bytes under a mask, in the largest aligned pieces. */
static bool store_masked(uint8_t *to, const uint8_t *from, unsigned mask)
{
    if (mask == 0xff)
        return store8(to, from);
    for (unsigned i = 0; i < 8;) {
        if (i % 4 == 0 && (mask >> i & 0xf) == 0xf) {
            if (!store4(to + i, from + i))
                return false;
            i += 4;
        } else if (i % 2 == 0 && (mask >> i & 0x3) == 0x3) {
            if (!store2(to + i, from + i))
                return false;
            i += 2;
        } else {
            if ((mask >> i & 1) && !store1(to + i, from + i))
                return false;
            i++;
        }
    }
    return true;
}

bool guarded_store_line(uint8_t *line, const uint8_t *from, const uint64_t mask[2])
{
    if ((mask[0] & mask[1]) == ~UINT64_C(0)) {
        for (unsigned i = 0; i < GUARDED_LINE; i += 16)
            if (!copy16(line + i, from + i))
                return false;
        return true;
    }
    for (unsigned i = 0; i < GUARDED_LINE; i += 8) {
        unsigned bits = mask[i / 64] >> i % 64 & 0xff;
        if (bits && !store_masked(line + i, from + i, bits))
            return false;
    }
    return true;
}

bool guarded_load(uint8_t *to, const uint8_t *from, size_t bytes)
{
    while (bytes) {
        uint8_t line[GUARDED_LINE];
        size_t at = (uintptr_t)from % GUARDED_LINE, n = GUARDED_LINE - at < bytes ? GUARDED_LINE - at : bytes;
        if (!guarded_load_line(n == GUARDED_LINE ? to : line, from - at))
            return false;
        if (n < GUARDED_LINE)
            memcpy(to, line + at, n);
        to += n;
        from += n;
        bytes -= n;
    }
    return true;
}

bool guarded_store(uint8_t *to, const uint8_t *from, size_t bytes)
{
    while (bytes) {
        uint8_t line[GUARDED_LINE];
        uint64_t mask[2] = {UINT64_MAX, UINT64_MAX};
        size_t at = (uintptr_t)to % GUARDED_LINE, n = GUARDED_LINE - at < bytes ? GUARDED_LINE - at : bytes;
        for (unsigned i = 0; n < GUARDED_LINE && i < GUARDED_LINE; i++)
            if (i < at || i >= at + n)
                mask[i / 64] &= ~(UINT64_C(1) << i % 64);
        if (n < GUARDED_LINE)
            memcpy(line + at, from, n);
        if (!guarded_store_line(to - at, n == GUARDED_LINE ? from : line, mask))
            return false;
        to += n;
        from += n;
        bytes -= n;
    }
    return true;
}

bool guarded_can_write(uint8_t *line)
{
    __asm__ goto("1: lock orl $0, (%0)\n" GUARD("1b") : : "r"(line) : "memory", "cc" : fault);
    return true;
fault:
    return false;
}

bool guarded_resume(void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)registers[REG_RIP];
    for (const struct guard *g = first_guard; g < last_guard; g++)
        if ((uintptr_t)&g->at + (uintptr_t)(intptr_t)g->at == at) {
            uintptr_t handler = (uintptr_t)&g->handler + (uintptr_t)(intptr_t)g->handler;
            registers[REG_RIP] = (greg_t)handler;
            return true;
        }
    return false;
}
