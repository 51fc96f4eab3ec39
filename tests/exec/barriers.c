/* SPDX-License-Identifier: MIT */
/*
 * Waves leave a barrier together where one may look at memory before it writes to LDS; where none does, each
 * goes on by itself.
 */
#include <stdlib.h>

#include "../check.h"
#include "exec/code.h"
#include "no_machine.h"

enum { WORDS = 8, CODES = 15 };

#define END          0xbf810000
#define BARRIER      0xbf8a0000
#define NOP          0xbf800000
#define BRANCH(n)    (0xbf820000 | ((n) & 0xffff)) /* s_branch: so many words on from the next instruction */
#define BRANCH_IF(n) (0xbf850000 | ((n) & 0xffff))
#define READ         0xd86c0000, 0x01000000 /* ds_read_b32 v1, v0 */
#define WRITE        0xd81a0000, 0x00000100 /* ds_write_b32 v0, v1 */
#define ADD          0xd8000000, 0x00000100 /* ds_add_u32 v0, v1 */
#define PERMUTE      0xd87e0000, 0x01000100 /* ds_bpermute_b32 v1, v0, v1 */
#define LOAD         0xdc508000, 0x01000000 /* global_load_dword v1, v0, s[0:1] */
#define STORE        0xdc708000, 0x00000100 /* global_store_dword v0, v1, s[0:1] */
#define LOAD_S       0xc0020000, 0x00000000 /* s_load_dword s0, s[0:1], 0x0 */
#define SETPC        0xbe801d06             /* s_setpc_b64 s[6:7] */

/* What is behind the barrier. */
static const struct {
    bool looks;
    uint32_t behind[WORDS];
} cases[CODES] = {
    {false, {NOP, WRITE, READ, END}},
    {false, {NOP, ADD, END}},
    {false, {NOP, END}},
    {false, {PERMUTE, BARRIER, READ, END}},
    {false, {BRANCH_IF(2), WRITE, WRITE, END}},
    {false, {BRANCH(2), READ, WRITE, END}},
    {false, {WRITE, BRANCH(-4), END}},
    {false, {STORE, WRITE, END}},
    {true, {READ, WRITE, END}},
    {true, {NOP, LOAD, WRITE, END}},
    {true, {LOAD_S, WRITE, END}},
    {true, {BRANCH_IF(2), WRITE, READ, END}},
    {true, {BRANCH_IF(2), READ, WRITE, END}},
    {true, {SETPC, END}},
    {true, {NOP, BRANCH(-2), END}}, /* nobody knows that it does not end */
};

static uint32_t code[CODES][1 + WORDS];

static bool bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    (void)context;
    for (unsigned i = 0; i < CODES; i++) {
        *start = (uint64_t)(uintptr_t)code[i];
        *end = *start + sizeof(code[i]);
        if (pc >= *start && pc < *end)
            return true;
    }
    return false;
}

int main(void)
{
    struct exec_code all;
    struct exec_code_cache cache = {0};
    exec_code_init(&all, &isa_gfx942, bounds, NULL);
    for (unsigned i = 0; i < CODES; i++) {
        code[i][0] = BARRIER;
        memcpy(code[i] + 1, cases[i].behind, sizeof(cases[i].behind));
        const struct xinst *x = exec_code_find(&all, &cache, (uint64_t)(uintptr_t)code[i]);
        if (!CHECK(x && x->op == ISA_OP_s_barrier && x->control.looks == cases[i].looks))
            fprintf(stderr, "case %u\n", i);
    }
    exec_code_destroy(&all);
    return check_status();
}
