/* SPDX-License-Identifier: MIT */
/*
 * What is said about a run: statistics, samples of memory.  It is written as the program runs, as a process
 * may end in ways that it is not told of: a file that an environment variable names is, at any time, whole
 * and as of the last wait for the GPU (or a tenth of a second ago).  A table on stderr is printed when the
 * process ends by exit() or quick_exit(); up to then it is in a file of the directory EHP_TABLES, if that is
 * set, where `ehp run` finds it when the process has ended otherwise.
 *
 * All reports together take up to a quarter of a second and a twentieth of the time; then they wait.
 */
#ifndef HIP_REPORT_H
#define HIP_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints the report as of now; it is called on any thread, for one at a time, with no other lock than this
 * file's held, and allocates no memory: simulated time follows the addresses of the program's.
 */
typedef void hip_report_fn(FILE *file);

/* A report into the file `path`, or on stderr (NULL), that the environment variable asks for.  False: no
 * memory, or no thread. */
bool hip_report_add(const char *variable, const char *path, hip_report_fn *print);
/* A wait for the GPU is over. */
void hip_report_update(void);

/*
 * The end of what is written to a file that an environment variable names, or NULL if it could not be opened
 * (errno), and of a table on stderr.  What did not arrive is said, and the process ends with status 1 if its
 * own would be 0.
 */
void report_close(FILE *file, const char *variable, const char *path);
void report_printed(void);

#endif
