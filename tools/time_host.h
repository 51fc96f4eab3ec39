// SPDX-License-Identifier: MIT
// `ehp cc --time-host`: host code that says what it does, for the cores of the simulated CPU.
#ifndef TOOLS_TIME_HOST_H
#define TOOLS_TIME_HOST_H

#include <stdbool.h>
#include <stddef.h>

// The assembler's place in clang's driver, under the name `as`: LLVM's text becomes an object.
int time_host_assemble(int argc, char **argv);

// What a basic block costs by itself, by the scheduling model of the simulated cores; blocks are named
// TIME_HOST_BLOCK and their number in the assembly that they are of. False: that cannot be told, and nothing
// is known.
#define TIME_HOST_BLOCK "ehp."
struct time_host_cost {
    double cycles;
    unsigned instructions;
};
bool time_host_costs(const char *assembly, struct time_host_cost *cost, size_t blocks);

// Adds what a call of that function takes, of a library that is not compiled so. False: that is not known.
bool time_host_call(const char *name, struct time_host_cost *cost);
// Whether it writes or reads by a format, and how many arguments come before those that the format names.
bool time_host_format(const char *name, unsigned *first);

#endif
