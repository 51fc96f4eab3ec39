// SPDX-License-Identifier: MIT
// Between the two files of `ehp disasm`.
#ifndef TOOLS_DISASM_H
#define TOOLS_DISASM_H

#include <stdbool.h>

#include "ehp/ehp.h"

struct disasm_options {
    const char *kernel; // NULL: all
    bool source;        // source text, not only lines
    bool list;          // no instructions
    bool hazards;       // only instructions that come too soon after others
    unsigned *found;    // counts them
};

// Prints a loaded code object to stdout; the number of functions that were asked for.
unsigned disasm_print(const ehp_code *code, const struct disasm_options *opt);

#endif
