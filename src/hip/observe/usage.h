/* SPDX-License-Identifier: MIT */
/* Memory in use over the program's life, when EHP_MEMORY asks for it. */
#ifndef HIP_USAGE_H
#define HIP_USAGE_H

#include "hip/core/runtime.h"

/* EHP_MEMORY=- prints the peak on stderr at exit; a file name gets all samples besides, as CSV.  False: no
 * thread. */
bool hip_usage_init(struct hip_runtime *runtime);
/* Something was allocated, or is about to be freed. */
void hip_usage_changed(void);

#endif
