/* SPDX-License-Identifier: MIT */
/* Virtual memory management: hipMemCreate's memory, mapped or not. */
#ifndef HIP_VIRTUAL_H
#define HIP_VIRTUAL_H

#include <sys/types.h>

#include "hip/core/runtime.h"

/* Bytes of this device that hipMemCreate() has taken. */
uint64_t hip_virtual_bytes(int device);

struct virtual_state {
    pthread_mutex_t lock;
    struct virtual_map *maps;
    struct virtual_range *ranges;
    int fd;                          /* -1, or the file of all memory that is not exported */
    off_t end;                       /* of what was handed out in it; places are not used again */
    uint64_t bytes[HIP_DEVICES_MAX]; /* of memory that this process has made */
};

#endif
