/* SPDX-License-Identifier: MIT */
/* The parts of `ehp compare`: compare.c says what is to run and prints, compare_run.c runs it, compare_why.c
 * says what binds. */
#ifndef EHP_TOOLS_COMPARE_H
#define EHP_TOOLS_COMPARE_H

#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum { COMPARE_DESIGNS = 6, COMPARE_PARTS = 512 };

/* What of a chip decides what can run there. */
struct design {
    const char *chip;
    char title[64];
    unsigned xcds, ccds, cores, gpu_iods, memory_iods;
    double xcd_misses, ccd_misses; /* lines that an XCD's L2, or a CCD, waits for at a time */
    const char *partition;         /* that makes each IOD with XCDs a device; NULL: there is none */
};

/* Where a program runs. */
enum place {
    PACKAGE, /* one device, one memory */
    NEAR     /* a device for each IOD with XCDs, and memory by IOD */
};

/* One of ours. */
struct program {
    const char *name, *title, *source;
    const char *arguments[6]; /* "%x": XCDs, "%c": cores */
    enum place place;
    bool application, xnack;
};

/* A line of --fabric. */
struct part {
    char kind[16];
    unsigned package, iod, to, index, units;
    double busy_ns, waited_ns, bytes, lines, trip_ns, links_ns, home_ns;
};

struct result {
    bool ran;
    double value;
    char unit[16];
    double ns; /* that the parts were looked at */
    unsigned parts;
    struct part part[COMPARE_PARTS];
    /* Of the kernel that took most time: % of the time that units work, and of its waves' time by cause. */
    char kernel[64];
    double kernels_ns, vector, matrix, memory, fence;
    char why[768];
};

/* ---- compare_run.c ---- */

/* A directory for what is compiled and measured; false, after a message: there is none. */
bool compare_make_scratch(void);
void compare_remove_scratch(void);
bool compare_compile(const struct program *p);
/* A program on a design: ours (`p`), or the user's (`own`), with its arguments; false after a message. */
bool compare_measure(const struct program *p, char *const *own, const char *threads, const struct design *d,
                     struct result *r);

/* ---- compare_why.c ---- */

/* % of the time. */
double compare_busy(const struct result *r, const struct part *p);
/* Writes r->why; `whole`: a program was measured from beginning to end. */
void compare_explain(const struct design *d, struct result *r, bool whole);

#endif
