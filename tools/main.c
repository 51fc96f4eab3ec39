// SPDX-License-Identifier: MIT
// The `ehp` command: finds the subcommand and hands over.
#include "tool.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    tool_fn *run;
    const char *help;
} commands[] = {
    {"cc", tool_cc, "compile HIP, C++ and C, with hipcc's options"},
    {"config", tool_config, "print where things are, as hipconfig does"},
};

static void print_usage(FILE *f)
{
    fputs("usage: ehp COMMAND [arguments]\n\n", f);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].help);
}

int main(int argc, char **argv)
{
    tool_fn *alias = argc > 0 ? tool_find_alias(argv[0]) : NULL;
    if (alias)
        return alias(argc, argv);
    if (argc < 2) {
        print_usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_usage(stdout);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "ehp: unknown command %s\n", argv[1]);
    print_usage(stderr);
    return 2;
}
