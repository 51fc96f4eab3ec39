/* SPDX-License-Identifier: MIT */
#include "hip/core/state.h"

struct hip_state *hip_state(void)
{
    static struct hip_state state = {
        .runtime = {.lock = PTHREAD_MUTEX_INITIALIZER},
        .registry = {.lock = PTHREAD_RWLOCK_INITIALIZER, .load = PTHREAD_MUTEX_INITIALIZER},
        .modules.lock = PTHREAD_MUTEX_INITIALIZER,
        .memories.lock = PTHREAD_MUTEX_INITIALIZER,
        .pools.lock = PTHREAD_MUTEX_INITIALIZER,
        .virtual = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1},
        .captures.lock = PTHREAD_MUTEX_INITIALIZER,
        .markers.lock = PTHREAD_MUTEX_INITIALIZER,
        .usage.lock = PTHREAD_MUTEX_INITIALIZER,
        .last_wait.why = "the program has ended",
        .stream_key_once = PTHREAD_ONCE_INIT,
    };
    return &state;
}
