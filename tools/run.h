/* SPDX-License-Identifier: MIT */
/* Running a program with the simulated chip as its HIP device. */
#ifndef EHP_TOOLS_RUN_H
#define EHP_TOOLS_RUN_H

#include <stdbool.h>

#include "machine_args.h"

/* Whether a file can be written that `option` of `command` names (NULL: none, "-": stderr), or a message. */
bool run_check_output(const char *command, const char *option, const char *path);

/* The end of an argp parser whose command runs a program: its index in argv. */
error_t run_parse_program(int key, struct argp_state *state, int *program);

/* Becomes argv[0], with our libamdhip64, or waits for it; returns an exit status: the program's, or when it
 * cannot be run, after a message of `command`. */
int run_program(const struct machine_args *machine, char **argv, const char *command);

#endif
