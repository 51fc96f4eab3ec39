/* SPDX-License-Identifier: MIT */
/* The options that choose a machine, the same for every command that opens one; an argp child parser. */
#ifndef EHP_TOOLS_MACHINE_ARGS_H
#define EHP_TOOLS_MACHINE_ARGS_H

#include <argp.h>
#include <stdbool.h>

#include "ehp/ehp.h"

struct machine_args {
    const char *chip, *node, *partition, *nps, *threads, *timeout, *xcc_chunk;
    bool xnack;
};

extern const struct argp machine_argp; /* its input is a struct machine_args * */

/* Exits with a message when a number is not one, or a name is empty. */
void machine_args_to_options(const struct machine_args *args, struct ehp_options *options);
/* Opens, or exits with the reason. */
ehp_machine *machine_args_open(const struct machine_args *args);

#endif
