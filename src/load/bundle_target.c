/* SPDX-License-Identifier: MIT */
/* Target ids; see bundle_target.h. */
#include "load/bundle_target.h"

#include <stdio.h>
#include <string.h>

/* e_flags bits, "AMDGPU ELF Header e_flags for Code Object V4 and V5" and "... V6 and After". */
enum {
    EF_MACH = 0xff,
    EF_XNACK_SHIFT = 8,
    EF_SRAMECC_SHIFT = 10,
    EF_GENERIC_SHIFT = 24,
};

/* "AMDGPU EF_AMDGPU_MACH Values"; processors that cannot be named here are an error with their number. */
static const struct {
    uint8_t mach;
    const char *name;
} machs[] = {
    {0x020, "gfx600"},          {0x021, "gfx601"},          {0x022, "gfx700"},
    {0x023, "gfx701"},          {0x024, "gfx702"},          {0x025, "gfx703"},
    {0x026, "gfx704"},          {0x028, "gfx801"},          {0x029, "gfx802"},
    {0x02a, "gfx803"},          {0x02b, "gfx810"},          {0x02c, "gfx900"},
    {0x02d, "gfx902"},          {0x02e, "gfx904"},          {0x02f, "gfx906"},
    {0x030, "gfx908"},          {0x031, "gfx909"},          {0x032, "gfx90c"},
    {0x033, "gfx1010"},         {0x034, "gfx1011"},         {0x035, "gfx1012"},
    {0x036, "gfx1030"},         {0x037, "gfx1031"},         {0x038, "gfx1032"},
    {0x039, "gfx1033"},         {0x03a, "gfx602"},          {0x03b, "gfx705"},
    {0x03c, "gfx805"},          {0x03d, "gfx1035"},         {0x03e, "gfx1034"},
    {0x03f, "gfx90a"},          {0x041, "gfx1100"},         {0x042, "gfx1013"},
    {0x043, "gfx1150"},         {0x044, "gfx1103"},         {0x045, "gfx1036"},
    {0x046, "gfx1101"},         {0x047, "gfx1102"},         {0x048, "gfx1200"},
    {0x049, "gfx1250"},         {0x04a, "gfx1151"},         {0x04c, "gfx942"},
    {0x04e, "gfx1201"},         {0x04f, "gfx950"},          {0x051, "gfx9-generic"},
    {0x052, "gfx10-1-generic"}, {0x053, "gfx10-3-generic"}, {0x054, "gfx11-generic"},
    {0x055, "gfx1152"},         {0x058, "gfx1153"},         {0x059, "gfx12-generic"},
    {0x05a, "gfx1251"},         {0x05f, "gfx9-4-generic"},
};

/* "AMDGPU Generic Processors", the two that processors with 64 lanes and a matrix core can come under. */
static const struct {
    const char *generic, *processor;
    unsigned since; /* the generic version that added it */
} generics[] = {
    {"gfx9-generic", "gfx900", 1},   {"gfx9-generic", "gfx902", 1},   {"gfx9-generic", "gfx904", 1},
    {"gfx9-generic", "gfx906", 1},   {"gfx9-generic", "gfx909", 1},   {"gfx9-generic", "gfx90c", 1},
    {"gfx9-4-generic", "gfx942", 1}, {"gfx9-4-generic", "gfx950", 1},
};

static bool same(const char *text, size_t bytes, const char *word)
{
    return bytes == strlen(word) && !memcmp(text, word, bytes);
}

bool target_parse(struct target *target, const char *text, size_t bytes)
{
    *target = (struct target){0};
    const char *end = text + bytes;
    const char *colon = memchr(text, ':', bytes);
    size_t name = (size_t)((colon ? colon : end) - text);
    if (!name || name >= sizeof target->processor)
        return false;
    memcpy(target->processor, text, name);
    for (const char *p = text + name; p < end;) {
        p++; /* the colon */
        const char *next = memchr(p, ':', (size_t)(end - p));
        size_t length = (size_t)((next ? next : end) - p);
        if (length < 2 || (p[length - 1] != '+' && p[length - 1] != '-'))
            return false;
        signed char value = p[length - 1] == '+' ? TARGET_ON : TARGET_OFF;
        if (same(p, length - 1, "sramecc") && !target->sramecc)
            target->sramecc = value;
        else if (same(p, length - 1, "xnack") && !target->xnack)
            target->xnack = value;
        else
            return false;
        p += length;
    }
    return true;
}

/* The two-bit fields: 0 unsupported, 1 any, 2 off, 3 on. */
static signed char feature_from_bits(uint32_t bits)
{
    static const signed char values[4] = {TARGET_ANY, TARGET_ANY, TARGET_OFF, TARGET_ON};
    return values[bits & 3];
}

bool target_from_flags(struct target *target, uint32_t e_flags, bool v6)
{
    *target = (struct target){0};
    target->xnack = feature_from_bits(e_flags >> EF_XNACK_SHIFT);
    target->sramecc = feature_from_bits(e_flags >> EF_SRAMECC_SHIFT);
    if (v6)
        target->generic_version = e_flags >> EF_GENERIC_SHIFT;
    for (size_t i = 0; i < sizeof machs / sizeof machs[0]; i++) {
        if (machs[i].mach == (e_flags & EF_MACH)) {
            snprintf(target->processor, sizeof target->processor, "%s", machs[i].name);
            return true;
        }
    }
    snprintf(target->processor, sizeof target->processor, "processor 0x%03x", e_flags & EF_MACH);
    return false;
}

static bool processor_runs_on(const struct target *code, const struct target *agent)
{
    if (!strcmp(code->processor, agent->processor))
        return true;
    for (size_t i = 0; i < sizeof generics / sizeof generics[0]; i++) {
        if (!strcmp(generics[i].generic, code->processor) && !strcmp(generics[i].processor, agent->processor))
            return !code->generic_version || code->generic_version >= generics[i].since;
    }
    return false;
}

bool target_runs_on(const struct target *code, const struct target *agent)
{
    return processor_runs_on(code, agent) && (!code->sramecc || code->sramecc == agent->sramecc) &&
           (!code->xnack || code->xnack == agent->xnack);
}

unsigned target_specificity(const struct target *code)
{
    bool generic = strstr(code->processor, "-generic") != NULL;
    return (generic ? 0U : 4U) + (code->sramecc ? 1U : 0U) + (code->xnack ? 1U : 0U);
}

void target_print(const struct target *target, char *text, size_t bytes)
{
    static const char *const sign[3] = {"-", "", "+"};
    snprintf(text, bytes, "%s%s%s%s%s", target->processor, target->sramecc ? ":sramecc" : "",
             sign[target->sramecc + 1], target->xnack ? ":xnack" : "", sign[target->xnack + 1]);
}
