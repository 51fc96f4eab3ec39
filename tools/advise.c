/* SPDX-License-Identifier: MIT */
/*
 * `ehp advise`: a program that has buffers on both sides runs as it is, and at the
 * end the runtime says what one memory would save.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "machine_args.h"
#include "run.h"
#include "tool.h"

struct advise_args {
    struct machine_args machine;
    const char *json, *mode;
    int program; /* index of the program in argv */
};

enum { OPT_JSON = 256, OPT_MODE };

static const struct argp_option options[] = {
    {"json", OPT_JSON, "FILE", 0, "write what is printed to FILE as JSON too", 0},
    {"mode", OPT_MODE, "MODE", 0,
     "functional (the default), or timing: also what the costliest kernels would take on the package's CPU "
     "cores, and work of the cores as a kernel",
     0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct advise_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->machine;
        return 0;
    case OPT_JSON:
        args->json = argument;
        return 0;
    case OPT_MODE:
        args->mode = argument;
        return 0;
    default:
        return run_parse_program(key, state, &args->program);
    }
}

static const struct argp_child children[] = {{&machine_argp, 0, "Machine:", 1}, {0}};
static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PROGRAM [ARGUMENTS...]",
    .doc = "Run a HIP program that copies between CPU and GPU, and print what it would gain on one memory: "
           "which "
           "buffers it has on both sides, which copies are superfluous, which allocator each buffer should "
           "have, and "
           "what that saves. In timing mode also what work would take on the other side.\v"
           "What a kernel would take on one CPU core and on all, and as a kernel what cores do (code "
           "compiled with `ehp cc --time-host`, "
           "ehp_cpu_run()), is an estimate: from what was counted (operations, bytes by level, loads that "
           "follow one another) and the "
           "chip's numbers, the larger of the time for instructions and for memory, and a chain of loads and "
           "the start besides; it says which "
           "is most. It takes loops to be vectorised on cores and parallel on the GPU, and caches to be "
           "cold.\n\n"
           "Compiled with -g, a program has source lines in the report.\n"
           "Examples:\n"
           "  ehp advise ./app\n"
           "  ehp advise --json advice.json ./app input.dat\n"
           "  ehp advise --mode timing ./app\n\n"
           "`ehp run --help` explains the environment.",
    .children = children,
};

int tool_advise(int argc, char **argv)
{
    struct advise_args args = {0};
    argv[0] = "ehp advise";
    if (tool_parse(&parser, argc, argv, ARGP_IN_ORDER, &args) != 0)
        return 2;
    if (!run_check_output(argv[0], "--json", args.json))
        return 2;
    if (args.mode && strcmp(args.mode, "functional") && strcmp(args.mode, "timing")) {
        tool_say("ehp advise: there is no mode \"%s\"; there are: functional, timing", args.mode);
        return 2;
    }
    if (args.mode)
        setenv("EHP_MODE", args.mode, 1);
    setenv("EHP_ADVISE", args.json ? args.json : "-", 1);
    return run_program(&args.machine, argv + args.program, argv[0]);
}
