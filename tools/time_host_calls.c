// SPDX-License-Identifier: MIT
// What calls of functions take that are in libraries; see time_host_calls.def.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "time_host.h"

enum { NAME = 80 };

static const struct {
    const char *name;
    struct time_host_cost cost;
} calls[] = {
#define CALL(name, instructions, cycles) {#name, {cycles, instructions}},
#include "time_host_calls.def"
#undef CALL
};

static const struct {
    const char *name;
    unsigned first;
} formats[] = {
#define CALL(name, instructions, cycles)
#define FORMAT(name, first) {#name, first},
#include "time_host_calls.def"
#undef FORMAT
#undef CALL
};

// "llvm.sin.v4f64" is four calls of sin, "_ZGVdN4v_sin" one that works on four lanes, which is taken for as
// long (a guess): the function's own name, and how many times.
static unsigned plain_name(const char *name, char plain[NAME])
{
    const char *type = strrchr(name, '.');
    unsigned lanes = 1;
    if (strncmp(name, "llvm.", 5) == 0 && type > name + 5) {
        const size_t n = (size_t)(type - name - 5);
        const char *element = type + 1;
        if (*element == 'v')
            lanes = (unsigned)strtoul(element + 1, (char **)&element, 10);
        const bool single = strcmp(element, "f32") == 0;
        snprintf(plain, NAME, "%.*s%s", (int)(n < NAME - 2 ? n : NAME - 2), name + 5, single ? "f" : "");
    } else if (strncmp(name, "_ZGV", 4) == 0 && strchr(name + 4, '_')) {
        snprintf(plain, NAME, "%s", strchr(name + 4, '_') + 1);
    } else {
        snprintf(plain, NAME, "%s", name);
    }
    return lanes;
}

bool time_host_call(const char *name, struct time_host_cost *cost)
{
    char plain[NAME];
    const unsigned times = plain_name(name, plain);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, plain) == 0) {
            cost->cycles += times * calls[i].cost.cycles;
            cost->instructions += times * calls[i].cost.instructions;
            return true;
        }
    return false;
}

bool time_host_format(const char *name, unsigned *first)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0) {
            *first = formats[i].first;
            return true;
        }
    return false;
}
