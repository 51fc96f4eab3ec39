/* SPDX-License-Identifier: MIT */
/*
 * What code objects come wrapped in: clang offload bundles, plain or
 * compressed, and several of them one after another, as the linker leaves
 * them in .hip_fatbin.
 *
 *   struct bundle b;
 *   if (bundle_open(&b, image, bytes, &err) == EHP_OK) {
 *       for (unsigned i = 0; i < b.count; i++) ... b.entries[i] ...
 *       bundle_close(&b);
 *   }
 *
 * Nothing is trusted: every offset is checked against the size that is known,
 * or where only an address is, against the memory that can be read there
 * (image_readable()).
 *
 * Source: Clang documentation, "Clang Offload Bundler", sections "Bundled
 * Binary File Layout" and "Compression and Decompression".
 */
#ifndef EHP_LOAD_BUNDLE_H
#define EHP_LOAD_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "load/bundle_target.h"
#include "load/code_error.h"

enum bundle_kind { BUNDLE_NONE, BUNDLE_ELF, BUNDLE_PLAIN, BUNDLE_COMPRESSED };

struct bundle_entry {
    const char *id; /* "hipv4-amdgcn-amd-amdhsa--gfx942"; not terminated; "" for an ELF file by itself */
    size_t id_bytes;
    const uint8_t *data;
    size_t bytes;
    bool is_target; /* device code for an AMD GPU, and this is the one: */
    struct target target;
};

struct bundle {
    enum bundle_kind kind; /* as found in the image */
    size_t consumed;       /* bytes of the image that this bundle takes */
    struct bundle_entry *entries;
    unsigned count;
    uint8_t *owned; /* the decompressed bundle */
};

/* By the magic number at the start of `bytes` bytes. */
enum bundle_kind bundle_kind(const void *image, size_t bytes);

/*
 * Bytes of the ELF file or bundle that starts at `image`, of which `bytes`
 * bytes can be read; 0 when it is none, or is damaged.
 */
size_t bundle_size(const void *image, size_t bytes);

/* Opens the one bundle (or ELF file) at the start of the image.  The entries point into it. */
int bundle_open(struct bundle *bundle, const void *image, size_t bytes, struct code_error *err);
void bundle_close(struct bundle *bundle);

/* Offset of the next bundle or ELF file at or after `from`, past the linker's padding; `bytes` when none. */
size_t bundle_next(const void *image, size_t bytes, size_t from);

/* The code object in a (series of) bundles that fits an agent best. */
struct bundle_pick {
    const uint8_t *data;
    size_t bytes;
    struct bundle bundle; /* keeps data alive */
};

/* EHP_ERR_WRONG_ISA says what there is instead.  An ELF file by itself is not looked into: it is the pick. */
int bundle_find(struct bundle_pick *pick, const void *image, size_t bytes, const struct target *agent,
                struct code_error *err);
void bundle_pick_free(struct bundle_pick *pick);

/* ---- image.c ---- */

/* Bytes from an address to the end of what this process can read there without a gap; 0: none. */
size_t image_readable(const void *image);
/*
 * A copy, which the caller frees, of `*bytes` bytes, or of as many as the image's headers say if that is
 * EHP_IMAGE_SIZE_UNKNOWN; then also sets it.  EHP_ERR_BAD_IMAGE: they are not all there, which is no crash
 * once fault_install() was called.
 */
int image_copy(uint8_t **copy, size_t *bytes, const void *image, struct code_error *err);

/* ---- bundle_compress.c ---- */

/* Size of the compressed bundle at image, as bundle_size(). */
size_t bundle_compressed_size(const uint8_t *image, size_t bytes);
/* Decompresses; *out is malloc()ed. */
int bundle_decompress(const uint8_t *image, size_t bytes, uint8_t **out, size_t *out_bytes,
                      struct code_error *err);

#endif
