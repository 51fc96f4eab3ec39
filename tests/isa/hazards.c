/* SPDX-License-Identifier: MIT */
/*
 * Missing wait states are found, all of them and no more: pairs of instructions
 * with fewer and with just enough states between them, also over a branch.
 */
#include <string.h>

#include "../check.h"
#include "isa/isa.h"

#include <ehp/ehp.h>

static const struct pair {
    unsigned needed;
    const char *first, *second;
    uint32_t words[4];
} pairs[] = {
#define HAZARD(needed, first, second, a, b, c, d) {needed, first, second, {a, b, c, d}},
#include "hazards.def"
#undef HAZARD
};

enum { S_NOP = 0xbf800000, S_BRANCH = 0xbf820000, S_CBRANCH_SCC0 = 0xbf840000, S_ENDPGM = 0xbf810000 };

static void note(const struct ehp_hazard *hazard, void *user)
{
    *(struct ehp_hazard *)user = *hazard;
}

static size_t put(uint32_t *code, size_t at, const uint32_t *words)
{
    struct isa_inst inst;
    if (!CHECK(isa_decode(&isa_gfx942, words, 2, &inst)))
        return at;
    memcpy(code + at, words, inst.size);
    return at + inst.size / 4;
}

/* Idle states, as s_nop says them. */
static size_t wait(uint32_t *code, size_t at, unsigned states)
{
    for (; states > 16; states -= 16)
        code[at++] = S_NOP | 15;
    if (states)
        code[at++] = S_NOP | (states - 1);
    return at;
}

static void expect(const struct pair *p, const uint32_t *code, size_t n, size_t second, unsigned states)
{
    struct ehp_hazard found = {0};
    const int count = ehp_hazards("gfx942", code, n, 0x1000, note, &found);
    const unsigned missing = p->needed > states ? p->needed - states : 0;
    bool same = CHECK_EQ(count, missing ? 1 : 0) && CHECK_EQ(found.missing, missing);
    if (missing)
        same = same && CHECK_EQ(found.needed, p->needed) && CHECK_EQ(found.pc, 0x1000 + 4 * second) &&
               CHECK_EQ(found.from, 0x1000);
    if (!same)
        fprintf(stderr, "%s; %u states; %s\n", p->first, states, p->second);
}

int main(void)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const struct pair *p = &pairs[i];
        for (unsigned states = 0; states <= p->needed + 1; states++) {
            uint32_t code[40];
            size_t n = wait(code, put(code, 0, p->words), states);
            const size_t second = n;
            n = put(code, n, p->words + 2);
            code[n++] = S_ENDPGM;
            expect(p, code, n, second, states);
            /* A branch away and back, which is a state each. */
            if (states < 2)
                continue;
            n = put(code, 0, p->words);
            code[n++] = S_CBRANCH_SCC0 | 1; /* to what comes after the end */
            code[n++] = S_ENDPGM;
            n = wait(code, n, states - 2);
            code[n++] = S_BRANCH | 1;
            code[n++] = S_ENDPGM;
            const size_t there = n;
            n = put(code, n, p->words + 2);
            code[n++] = S_ENDPGM;
            expect(p, code, n, there, states);
        }
    }
    return check_status();
}
