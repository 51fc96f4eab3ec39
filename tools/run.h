/* SPDX-License-Identifier: MIT */
/* Running a program with the simulated chip as its HIP device. */
#ifndef EHP_TOOLS_RUN_H
#define EHP_TOOLS_RUN_H

#include "machine_args.h"

/* Becomes argv[0], with our libamdhip64; returns an exit status when that fails, after a message of
 * `command`. */
int run_program(const struct machine_args *machine, char **argv, const char *command);

#endif
