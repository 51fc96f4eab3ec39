// SPDX-License-Identifier: MIT
// ehp isa: the table of gfx942's instructions, and how each is tested.
//
// Everything here is expanded from isa/gfx942.def and isa/facts.def, and from isa/gfx942.oracles, which the
// tests write.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "isa/facts.h"
#include "isa/inst.h"
#include "tool.h"

struct row {
    const char *format, *name;
    unsigned op, opcode, flags;
    bool sdwa, dpp;
    unsigned dst, src0;
    const char *oracles; // NULL: none ran it
};

#define FORM(mask, match, live) true
#define NOFORM                  false
// clang-format off
static const struct row rows[] = {
#define INST(fmt, opcode, name, flags, dst, sdst, s0, s1, s2, s3, where, plain, sdwa, dpp) \
    {#fmt, #name, ISA_OP_##name, opcode, flags, sdwa, dpp, ISA_T_##dst, ISA_T_##s0, NULL},
#include "gfx942.def"
#undef INST
};
static const struct row tested[] = {
#define ORACLE(fmt, opcode, name, tests) {#fmt, #name, ISA_OP_##name, opcode, 0, false, false, 0, 0, tests},
#include "gfx942.oracles"
#undef ORACLE
};
static const struct isa_facts facts[ISA_OP_COUNT] = {
#define FACTS(name, unit, passes, math, mops, effects) \
    [ISA_OP_##name] = {ISA_UNIT_##unit, passes, ISA_MATH_##math, mops, effects},
#include "facts.def"
#undef FACTS
};
// clang-format on

enum { ROWS = sizeof(rows) / sizeof(rows[0]), TESTED = sizeof(tested) / sizeof(tested[0]) };

static const char *oracles_of(const struct row *row)
{
    for (size_t i = 0; i < TESTED; i++)
        if (tested[i].opcode == row->opcode && !strcmp(tested[i].format, row->format))
            return tested[i].oracles;
    return "";
}

// Decoding is checked by the tests of that room, the meaning by the others.
static bool decode_tested(const char *oracles)
{
    return strstr(oracles, "isa_") != NULL;
}

static bool meaning_tested(const char *oracles)
{
    for (const char *p = oracles; *p;) {
        size_t n = strcspn(p, " ");
        if (strncmp(p, "isa_", 4) != 0)
            return true;
        p += n + strspn(p + n, " ");
    }
    return false;
}

// Simulated time executes accesses to memory in halves, and everything else by the handlers of functional
// mode.
static bool in_halves(const struct row *row)
{
    const unsigned unit = facts[row->op].unit;
    return (unit == ISA_UNIT_SMEM || unit == ISA_UNIT_VMEM || unit == ISA_UNIT_FLAT) &&
           row->op != ISA_OP_s_memtime && row->op != ISA_OP_s_memrealtime;
}

static bool timing_tested(const struct row *row, const char *oracles)
{
    return in_halves(row) ? strstr(oracles, ":halves") != NULL : meaning_tested(oracles);
}

static const char *valu_part(const struct row *row)
{
    // Whoever does not ask EXEC names its lane.
    if (row->flags & ISA_F_DST_SGPR || !(facts[row->op].effects & ISA_E_READS_EXEC))
        return "VALU, scalar registers";
    return row->dst == ISA_T_F64 || row->src0 == ISA_T_F64 ? "VALU, f64" : "VALU";
}

// The part of a CU that executes it.
static const char *unit_of(const struct row *row)
{
    static const char *const names[ISA_UNIT_COUNT] = {
        [ISA_UNIT_CONTROL] = "wave control",    [ISA_UNIT_SALU] = "SALU",
        [ISA_UNIT_BRANCH] = "branch",           [ISA_UNIT_MESSAGE] = "wave control",
        [ISA_UNIT_SMEM] = "scalar memory",      [ISA_UNIT_TRANS] = "VALU, transcendental",
        [ISA_UNIT_MATRIX] = "matrix core",      [ISA_UNIT_LDS] = "LDS",
        [ISA_UNIT_GWS] = "global wave sync",    [ISA_UNIT_VMEM] = "vector memory",
        [ISA_UNIT_FLAT] = "vector memory, LDS",
    };
    const struct isa_facts *known = &facts[row->op];
    if (known->unit == ISA_UNIT_VALU)
        return valu_part(row);
    return known->unit == ISA_UNIT_VMEM && known->effects & ISA_E_LDS ? "vector memory, LDS"
                                                                      : names[known->unit];
}

static void print_row(const struct row *row)
{
    const char *oracles = oracles_of(row);
    printf("%-8s  %4u  %-36s  %-22s  %-9s  %s\n", row->format, row->opcode, row->name, unit_of(row),
           row->sdwa && row->dpp ? "sdwa,dpp"
           : row->sdwa           ? "sdwa"
           : row->dpp            ? "dpp"
                                 : "",
           *oracles ? oracles : "not tested");
}

// A mnemonic, part of one with *, or a format.
static bool matches(const struct row *row, const char *filter)
{
    size_t n = strlen(filter);
    if (!strcasecmp(row->format, filter))
        return true;
    if (n && filter[n - 1] == '*')
        return !strncasecmp(row->name, filter, n - 1);
    return !strcasecmp(row->name, filter);
}

static bool wanted(const struct row *row, char **filters, int count)
{
    for (int i = 0; i < count; i++)
        if (matches(row, filters[i]))
            return true;
    return count == 0;
}

static void print_share(const char *of, unsigned count, unsigned total)
{
    // Rounded down: 100 % is all of them.
    printf("%-26s %4u of %u encodings, %3u %%\n", of, count, total, count * 100 / total);
}

static int coverage(char **filters, int count)
{
    unsigned total = 0, decoded = 0, functional = 0, timing = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (!wanted(&rows[i], filters, count))
            continue;
        const char *oracles = oracles_of(&rows[i]);
        const bool decode = decode_tested(oracles), meaning = meaning_tested(oracles),
                   timed = timing_tested(&rows[i], oracles);
        total++;
        decoded += decode;
        functional += meaning;
        timing += timed;
        if (!decode || !meaning || !timed)
            printf("%-8s  %4u  %-36s  no oracle for%s%s%s\n", rows[i].format, rows[i].opcode, rows[i].name,
                   decode ? "" : " decoding", meaning ? "" : " functional mode",
                   timed ? "" : " simulated time");
    }
    if (!total)
        return 1;
    print_share("decoding:", decoded, total);
    print_share("meaning, functional mode:", functional, total);
    print_share("meaning, simulated time:", timing, total);
    return 0;
}

static void usage(FILE *out)
{
    fprintf(out, "usage: ehp isa [--coverage] [FILTER..]\n\n"
                 "The instructions of gfx942: format, opcode, mnemonic, the unit that executes it, other "
                 "forms of its\n"
                 "encoding, and the tests that compared it with something else than this simulator.\n\n"
                 "  FILTER      a format (VOP3), a mnemonic (v_add_f32) or its beginning (v_add*)\n"
                 "  --coverage  how many are tested, and which are not\n");
}

int tool_isa(int argc, char **argv)
{
    bool cover = false;
    int count = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            usage(stdout);
            return 0;
        }
        if (!strcmp(argv[i], "--coverage")) {
            cover = true;
        } else if (argv[i][0] == '-') {
            tool_say("ehp isa: no option \"%s\"; `ehp isa --help` lists them", argv[i]);
            return 2;
        } else {
            argv[1 + count++] = argv[i];
        }
    }
    if (cover && !coverage(argv + 1, count))
        return 0;
    unsigned printed = 0;
    for (size_t i = 0; i < ROWS && !cover; i++)
        if (wanted(&rows[i], argv + 1, count)) {
            print_row(&rows[i]);
            printed++;
        }
    if (!printed) {
        tool_say("ehp isa: gfx942 has no such instruction or format");
        return 1;
    }
    return 0;
}
