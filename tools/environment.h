/* SPDX-License-Identifier: MIT */
/* The environment variables that EHP heeds, for --help. */
#ifndef EHP_TOOLS_ENVIRONMENT_H
#define EHP_TOOLS_ENVIRONMENT_H

#include <stdio.h>

enum environment_reader {
    ENVIRONMENT_PROGRAM, /* programs that run on a simulated chip */
    ENVIRONMENT_COMPILER /* ehp cc */
};

/* Each with what it does, a line for each. */
void environment_print(FILE *out, enum environment_reader reader);
/* The names alone, in lines that fit a terminal. */
void environment_print_names(FILE *out, enum environment_reader reader);

/* Says which variables of the environment are nearly, and not quite, called as one of these. */
void environment_warn(const char *command);

/* Of an argp parser's help: "%ENVIRONMENT%" at its end is replaced by what programs read. */
char *environment_help_filter(int key, const char *text, void *input);

#endif
