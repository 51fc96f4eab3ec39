/* SPDX-License-Identifier: MIT */
/*
 * What kernels did: EHP_STATS, for each kernel (stats.c,
 * stats_table.c), and EHP_COUNTERS, for each dispatch (counters.c).
 */
#ifndef HIP_STATS_H
#define HIP_STATS_H

#include <stdio.h>

#include "hip/core/runtime.h"

/* False: no memory, or no thread. */
bool hip_stats_init(struct hip_runtime *runtime);
/* False, with a message, when EHP_COUNTERS asks for what there is not. */
bool hip_counters_init(struct hip_runtime *runtime);

void stats_table(FILE *file, ehp_machine *machine);
bool stats_is_csv(const char *path);
void stats_csv_string(FILE *file, const char *text);
void stats_json_string(FILE *file, const char *text);
void stats_print_value(FILE *file, double value);

#endif
