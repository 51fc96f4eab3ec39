/* SPDX-License-Identifier: MIT */
/*
 * What the HIP ABI forces on a process: its calls name no context, so the runtime is the process's.  This is
 * all of its state but for hip_thread() and for the ranges of handles, which libhiprtc has as well
 * (handle.c).
 */
#ifndef HIP_STATE_H
#define HIP_STATE_H

#include <pthread.h>

#include "hip/core/module.h"
#include "hip/core/registry.h"
#include "hip/core/runtime.h"
#include "hip/graph/capture.h"
#include "hip/memory/memory.h"
#include "hip/memory/pool.h"
#include "hip/memory/virtual.h"
#include "hip/observe/fabric.h"
#include "hip/observe/usage.h"
#include "hip/stream/stream.h"

struct hip_state {
    struct hip_runtime runtime;
    struct hip_registry registry;
    struct module_list modules;
    struct memory_list memories;
    struct pool_list pools;
    struct virtual_state virtual;
    struct capture_list captures;
    struct marker_pool markers;
    struct usage usage;
    struct fabric_report fabric;
    struct hip_last_wait last_wait;
    pthread_key_t stream_key; /* threads that have a hipStreamPerThread */
    pthread_once_t stream_key_once;
    _Atomic bool output_lost; /* some that was asked for could not be written */
};

struct hip_state *hip_state(void);

#endif
