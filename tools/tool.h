// SPDX-License-Identifier: MIT
// The parts of the `ehp` command: one function per subcommand, called with argv[0] being the
// subcommand's own name.
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include "ehp/ehp.h"

typedef int tool_fn(int argc, char **argv);

// A name from a file, or a path, as a terminal may see it.
struct room {
    char text[4096];
};

static inline const char *printable(const char *text, struct room *room)
{
    return ehp_printable(text, room->text, sizeof room->text);
}

// `ehp cc`: hipcc's command line over clang. Returns only when nothing was to be executed.
int tool_cc(int argc, char **argv);
// `ehp config`: what hipconfig prints.
int tool_config(int argc, char **argv);

// `ehp run`: a program with the simulated chip as its HIP device.
int tool_run(int argc, char **argv);
// `ehp advise`: what a program with buffers on both sides would gain on one memory.
int tool_advise(int argc, char **argv);
// `ehp info`: the simulated devices, as rocminfo prints real ones.
int tool_info(int argc, char **argv);
// `ehp cache`: what is kept on disk between runs.
int tool_cache(int argc, char **argv);
// `ehp chips`: lists chips, draws one, explains its numbers.
int tool_chips(int argc, char **argv);
// `ehp disasm`: a program's or code object's kernels and instructions.
int tool_disasm(int argc, char **argv);
// `ehp counters`: what timing mode counts.
int tool_counters(int argc, char **argv);
// `ehp isa`: the instructions of gfx942 and how each is tested.
int tool_isa(int argc, char **argv);
// `ehp compare`: the same programs on several designs, and what keeps each from being faster.
int tool_compare(int argc, char **argv);
// `ehp validate`: published numbers beside simulated ones.
int tool_validate(int argc, char **argv);

// A message on stderr, with a newline behind it: what names and paths have in it for a terminal to obey is
// shown.
__attribute__((format(printf, 1, 2))) void tool_say(const char *format, ...);
// argp_parse(), which ends the process with a message of its own for options whose names a terminal would
// obey.
struct argp;
int tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input);
// The directory of what comes with the command, by its name in the source tree: chips, validate, ...
bool tool_find_data(const char *name, char *path, size_t bytes);
// From here on the process ends with status 1, and says why, when what it prints does not arrive.
void tool_check_output(const char *name);

// Links to the command under other names behave as the program of that name: hipcc, hipconfig, amdclang++,
// clang++ and the LLVM tools of a ROCm tree. NULL for any other name.
tool_fn *tool_find_alias(const char *argv0);

#endif
