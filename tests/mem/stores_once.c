/* SPDX-License-Identifier: MIT */
/*
 * Who takes a value from memory that the GPU writes does not find it again.  The copies are done one
 * instruction of the host's at a time, and after each what has arrived is taken away, as another thread
 * could.
 */
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

#include "base/copy_once.h"
#include "check.h"
#include "mem/vl1_state.h"
#include "sem/memory/memop.h"

enum { BYTES = 1024, TRAP_FLAG = 0x100 };

static alignas(64) uint8_t memory[BYTES + 64];
static unsigned arrived[BYTES + 64];
static unsigned torn;           /* elements that were there in part */
static unsigned element, first; /* bytes of one, and where they begin; 0: not looked at */

static void take(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    for (unsigned i = 0; i < sizeof(memory); i++)
        if (element && memory[i] && (i - first) % element == 0)
            for (unsigned k = 1; k < element; k++)
                torn += !memory[i + k];
    for (unsigned i = 0; i < sizeof(memory); i++) {
        arrived[i] += memory[i] != 0;
        memory[i] = 0;
    }
}

/* No red zone is in the way: what is called saves what it needs. */
static void trap(bool on)
{
    uint64_t flags = __builtin_ia32_readeflags_u64();
    __builtin_ia32_writeeflags_u64(on ? flags | TRAP_FLAG : flags & ~(uint64_t)TRAP_FLAG);
}

static void begin(unsigned bytes, unsigned at)
{
    memset(arrived, 0, sizeof(arrived));
    torn = 0;
    element = bytes;
    first = at;
    trap(true);
}

/* Of which byte how many are right. */
static void end(const uint8_t *expected)
{
    unsigned wrong = 0;
    trap(false);
    for (unsigned i = 0; i < sizeof(memory); i++)
        wrong += arrived[i] != (expected[i] != 0);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(torn, 0);
}

static void test_bytes(void)
{
    static uint8_t from[BYTES], expected[sizeof(memory)];
    memset(from, 7, sizeof(from));
    for (unsigned at = 0; at < 16; at++)
        for (unsigned n = 1; n < 80; n++) {
            memset(expected, 0, sizeof(expected));
            memset(expected + at, 1, n);
            begin(0, 0);
            copy_once(memory + at, from, n);
            end(expected);
        }
}

static void test_rows(enum memop_kind kind)
{
    static alignas(64) wave_row rows[4];
    static uint8_t expected[sizeof(memory)];
    const unsigned step = memop_bytes(kind);
    memset(rows, 7, sizeof(rows));
    for (unsigned lanes = 1; lanes <= 17; lanes++) {
        const unsigned at = 16 % step ? 4 : 16;
        memset(expected, 0, sizeof(expected));
        memset(expected + at, 1, (size_t)lanes * step);
        begin(step == 12 ? 4 : step, at);
        memop_rows_store_run(rows, kind, memory + at, ((UINT64_C(1) << lanes) - 1) << 3);
        end(expected);
    }
}

/* Lines that are written in part. */
static void test_lines(void)
{
    static uint8_t from[LINE], expected[sizeof(memory)];
    memset(from, 7, sizeof(from));
    for (unsigned run = 4; run < 64; run += 4)
        for (unsigned at = 0; at + run <= LINE; at += 20) {
            struct mask mask = {{0, 0}};
            memset(expected, 0, sizeof(expected));
            for (unsigned i = at; i < at + run; i++) {
                mask.w[i / 64] |= UINT64_C(1) << i % 64;
                expected[i] = 1;
            }
            begin(4, 0);
            mask_copy(memory, from, mask);
            end(expected);
        }
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGTRAP, &action, NULL);
    test_bytes();
    test_rows(MEMOP_B8);
    test_rows(MEMOP_B16);
    test_rows(MEMOP_B32);
    test_rows(MEMOP_B64);
    test_rows(MEMOP_B96);
    test_rows(MEMOP_B128);
    test_lines();
    return check_status();
}
