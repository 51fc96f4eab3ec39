/* SPDX-License-Identifier: MIT */
/* What compiled-in HIP code registers before main(): fat binaries, kernels, variables. */
#ifndef HIP_REGISTRY_H
#define HIP_REGISTRY_H

#include "hip/core/module.h"

/* The device or managed variable that contains the address, on any device. */
bool hip_symbol_at(const void *address, const char **name, void **base, size_t *bytes);
/* Drops what was loaded on this device; it is loaded again when used again. */
void hip_registry_forget(struct hip_device *device);

struct hip_registry {
    pthread_rwlock_t lock; /* the table */
    pthread_mutex_t load;  /* loading code */
    struct hip_symbol **table;
    size_t count, room; /* room: a power of two, at most half full */
    struct hip_fatbin *fats;
};

#endif
