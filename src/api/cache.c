/* SPDX-License-Identifier: MIT */
/* The cache of compiled code, for who looks at it. */
#include <assert.h>
#include <string.h>

#include "ehp/ehp.h"
#include "jit/cache.h"

int ehp_cache_info(struct ehp_cache_info *out)
{
    struct jit_cache_usage usage;
    jit_cache_usage(NULL, &usage);
    struct ehp_cache_info info = {
        .size = out->size < sizeof(info) ? out->size : sizeof(info),
        .entries = usage.entries,
        .bytes = usage.bytes,
        .limit = usage.limit,
    };
    static_assert(sizeof(info.folder) == sizeof(usage.folder) && sizeof(info.off) == sizeof(usage.off),
                  "copied");
    memcpy(info.folder, usage.folder, sizeof(info.folder));
    memcpy(info.off, usage.off, sizeof(info.off));
    memcpy(out, &info, info.size);
    return EHP_OK;
}

int ehp_cache_clear(void)
{
    return jit_cache_clear(NULL) ? EHP_OK : EHP_ERR_UNSUPPORTED;
}
