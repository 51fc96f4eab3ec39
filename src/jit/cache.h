/* SPDX-License-Identifier: MIT */
/*
 * What the compiled engine made before, in a folder of the user's: a file for each piece of code, found by
 * its key, the bytes that the code was made of.
 *
 *   struct jit_cache *cache = jit_cache_open(NULL, "LLVM 22.1, v4");
 *   struct jit_blob blob;
 *   if (jit_cache_get(cache, key, key_size, &blob)) {
 *       ... blob.bytes, blob.size ...
 *       jit_blob_free(&blob);
 *   } else {
 *       ...
 *       jit_cache_put(cache, key, key_size, bytes, size);
 *   }
 *
 * What comes back is what was put, whole, by this build of the library with the same maker, from a folder and
 * a file that only this user can write to; anything else is as if it were not there, and is replaced.  The
 * folder has bounds (EHP_CACHE_SIZE, 256 MiB): what was not used for longest goes.  Several processes may use
 * it.  A folder that cannot be used means that nothing is kept, and jit_cache_off() says why.
 *
 * All may be called from several threads at once but open and close.
 */
#ifndef EHP_JIT_CACHE_H
#define EHP_JIT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_cache;

/* `bytes` are aligned to 16. */
struct jit_blob {
    const uint8_t *bytes;
    size_t size;
    void *memory;
};

/* `folder` NULL: EHP_CACHE_DIR, or `compiled` in EHP's part of the user's cache.  `maker`: what else the
 * code depends on and the key has not.  Never NULL. */
struct jit_cache *jit_cache_open(const char *folder, const char *maker);
void jit_cache_close(struct jit_cache *cache);

/* NULL, or why nothing is kept any more; stays as long as the cache is open. */
const char *jit_cache_off(const struct jit_cache *cache);

/* False: it is not there. */
bool jit_cache_get(struct jit_cache *cache, const void *key, size_t key_size, struct jit_blob *blob);
void jit_blob_free(struct jit_blob *blob);

/* False: it was not kept. */
bool jit_cache_put(struct jit_cache *cache, const void *key, size_t key_size, const void *bytes, size_t size);

/* What a folder (NULL: as above) has.  The folder need not be there, and is not made. */
struct jit_cache_usage {
    char folder[4096];
    char off[4352]; /* "", or why it is not used */
    uint64_t entries, bytes, limit;
};
void jit_cache_usage(const char *folder, struct jit_cache_usage *usage);

/* Removes all entries of a folder. False: some stay, as it is not this user's alone. */
bool jit_cache_clear(const char *folder);

#endif
