/* SPDX-License-Identifier: MIT */
/* EHP_STATS: what each kernel did, as a table or as JSON, when the program ends. */
#ifndef HIP_STATS_H
#define HIP_STATS_H

#include "runtime.h"

void hip_stats_init(struct hip_runtime *runtime);

#endif
