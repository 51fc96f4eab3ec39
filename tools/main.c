/* SPDX-License-Identifier: MIT */
/* The `ehp` command: finds the subcommand and runs it. */
#include <stdio.h>
#include <string.h>

#include "ehp/ehp.h"
#include "environment.h"
#include "tool.h"

struct subcommand {
    const char *name;
    tool_fn *run;
    const char *help;
    const char *heading; /* of it and those that follow */
};

static const struct subcommand subcommands[] = {
    {"cc", tool_cc, "compile and link HIP programs, with hipcc's options", "HIP programs"},
    {"run", tool_run, "run a program on a simulated chip", NULL},
    {"advise", tool_advise, "run a program and say what it would gain on one memory", NULL},
    {"compare", tool_compare, "run the same programs on several designs and say what binds each", NULL},
    {"disasm", tool_disasm, "disassemble a program or code object", NULL},
    {"counters", tool_counters, "list what timing mode counts, explain a counter", NULL},
    {"info", tool_info, "describe the simulated devices, as rocminfo does", NULL},
    {"chips", tool_chips, "list chips, draw one, explain its numbers", NULL},
    {"cache", tool_cache, "show what is kept on disk between runs, or remove it", NULL},
    {"config", tool_config, "print paths and versions, as hipconfig does", NULL},
    {"validate", tool_validate, "compare published measurements with the simulated chips",
     "EHP itself, for who develops it or asks how far to trust it"},
    {"isa", tool_isa, "list gfx942's instructions and how each is tested", NULL},
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]) };

static void usage(FILE *out)
{
    fprintf(out, "usage: ehp COMMAND [ARGUMENTS]\n\n"
                 "An AMD Instinct MI300 in software: HIP programs for gfx942 run without a GPU.\n"
                 "\n    ehp cc -O2 app.hip -o app && ehp run ./app\n");
    for (const struct subcommand *s = subcommands; s < subcommands + SUBCOMMANDS; s++) {
        if (s->heading)
            fprintf(out, "\n%s:\n", s->heading);
        fprintf(out, "  %-8s  %s\n", s->name, s->help);
    }
    fprintf(out, "\n`ehp COMMAND --help` explains a command.\n"
                 "\nEnvironment variables of programs, which `ehp run --help` explains:\n");
    environment_print_names(out, ENVIRONMENT_PROGRAM);
    fprintf(out, "and of the compiler, which `ehp cc --help` explains:\n");
    environment_print_names(out, ENVIRONMENT_COMPILER);
}

int main(int argc, char **argv)
{
    tool_check_output("ehp");
    tool_fn *alias = tool_find_alias(argv[0]);
    if (alias)
        return alias(argc, argv);
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
        printf("ehp %s\n", ehp_version());
        return 0;
    }
    for (int i = 0; i < SUBCOMMANDS; i++)
        if (!strcmp(argv[1], subcommands[i].name))
            return subcommands[i].run(argc - 1, argv + 1);
    tool_say("ehp: no command \"%s\"; `ehp --help` lists them", argv[1]);
    return 2;
}
