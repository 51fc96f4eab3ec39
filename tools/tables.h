/* SPDX-License-Identifier: MIT */
/* Tables about a program that a process of it did not live to print. */
#ifndef EHP_TOOLS_TABLES_H
#define EHP_TOOLS_TABLES_H

#include <stdbool.h>

/* Whether the environment asks for a table on stderr. */
bool tables_wanted(void);

/*
 * Runs the program, which this process stays the parent of, and prints what is left of tables when it has
 * ended, however it did.  Signals that are sent to this process go on to the program; it stops when the
 * program stops, and ends as the program does: returns its exit status, or dies of its signal.  `start`
 * becomes the program in the child, or returns an exit status.  -1: without a directory or a process, start()
 * is to be called here.
 */
int tables_run(int (*start)(void *argument), void *argument);

#endif
