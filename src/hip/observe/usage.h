/* SPDX-License-Identifier: MIT */
/* Memory in use over the program's life, when EHP_MEMORY asks for it. */
#ifndef HIP_USAGE_H
#define HIP_USAGE_H

#include "hip/core/runtime.h"

#define USAGE_SAMPLES 4096

struct usage_sample {
    double seconds;
    uint64_t bytes[5]; /* in the order of usage_names */
};

struct usage {
    pthread_mutex_t lock;
    pthread_t thread;
    bool on;
    _Atomic bool quit;
    ehp_machine *machine;
    uint64_t start, step;
    struct usage_sample sample[USAGE_SAMPLES], peak;
    size_t count;
};

/* EHP_MEMORY=- prints the peak on stderr at exit; a file name gets all samples besides, as CSV.  False: no
 * thread. */
bool hip_usage_init(struct hip_runtime *runtime);
/* Something was allocated, or is about to be freed. */
void hip_usage_changed(void);

#endif
