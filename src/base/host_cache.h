/* SPDX-License-Identifier: MIT */
/* How many bytes the host's last cache has. */
#ifndef EHP_BASE_HOST_CACHE_H
#define EHP_BASE_HOST_CACHE_H

#include <stdint.h>

uint64_t host_cache_bytes(void);

#endif
