/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the bundle reader: bundles of every kind, sizes, the choice of an
 * entry.  What comes out must lie inside of what went in.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "load/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static uint8_t sum;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char isa[] = "gfx942:sramecc+:xnack-";
    struct target agent;
    struct bundle_pick pick;
    struct code_error err;
    target_parse(&agent, isa, sizeof isa - 1);
    size_t size = bundle_size(data, bytes);
    if (size > bytes)
        abort();
    if (bundle_find(&pick, data, bytes, &agent, &err) == 0) {
        for (size_t i = 0; i < pick.bytes; i += 64) /* the sanitizer watches */
            sum = (uint8_t)(sum + pick.data[i]);
        bundle_pick_free(&pick);
    } else if (!memchr(err.text, 0, sizeof err.text)) {
        abort();
    }
    return 0;
}
