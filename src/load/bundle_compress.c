/* SPDX-License-Identifier: MIT */
/*
 * Compressed offload bundles ("CCOB").  Three headers are in circulation:
 *
 *   version 1 (20 bytes)   magic, u16 version, u16 method, u32 plain size, u64 hash
 *   version 2 (24 bytes)   magic, u16 version, u16 method, u32 file size, u32 plain size, u64 hash
 *   version 3 (32 bytes)   magic, u16 version, u16 method, u64 file size, u64 plain size, u64 hash
 *
 * The method is 0 for zlib and 1 for zstd; the file size includes the header.
 * Version 1 does not say how long it is: its end is where the compressed
 * stream ends.  The hash names the content for caches; nobody checks it.
 */
#include "load/bundle.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "ehp/ehp.h"

enum { METHOD_ZLIB = 0, METHOD_ZSTD = 1 };

struct ccob {
    unsigned version, method;
    size_t header;
    uint64_t file; /* 0: not stated */
    uint64_t plain;
};

static uint64_t get_le(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static int ccob_read(struct ccob *h, const uint8_t *image, size_t bytes, struct code_error *err)
{
    if (bytes < 8)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: cut off in its header, %zu bytes",
                         bytes);
    *h = (struct ccob){.version = (unsigned)get_le(image + 4, 2), .method = (unsigned)get_le(image + 6, 2)};
    static const size_t headers[] = {0, 20, 24, 32};
    if (h->version < 1 || h->version > 3)
        return code_fail(err, EHP_ERR_UNSUPPORTED, "compressed bundle: version %u, known are 1 to 3",
                         h->version);
    h->header = headers[h->version];
    if (bytes < h->header)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: cut off in its header, %zu bytes of %zu",
                         bytes, h->header);
    if (h->version == 1) {
        h->plain = get_le(image + 8, 4);
    } else {
        unsigned width = h->version == 2 ? 4 : 8;
        h->file = get_le(image + 8, width);
        h->plain = get_le(image + 8 + width, width);
        if (h->file < h->header)
            return code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: its size at offset 8 is %llu",
                             (unsigned long long)h->file);
    }
    if (h->method != METHOD_ZLIB && h->method != METHOD_ZSTD)
        return code_fail(err, EHP_ERR_UNSUPPORTED,
                         "compressed bundle: method %u at offset 6, known are 0 (zlib) and 1 (zstd)",
                         h->method);
    return EHP_OK;
}

/* Length of one zstd frame from its headers alone (RFC 8878, section 3.1.1); 0 when it is none or cut off. */
static size_t zstd_frame_size(const uint8_t *p, size_t bytes)
{
    if (bytes < 5 || get_le(p, 4) != 0xfd2fb528)
        return 0;
    static const size_t id_bytes[4] = {0, 1, 2, 4}, size_bytes[4] = {0, 2, 4, 8};
    unsigned descriptor = p[4];
    bool single = descriptor & 0x20, checksum = descriptor & 4;
    unsigned size_flag = descriptor >> 6;
    size_t at =
        5 + (single ? 0U : 1U) + id_bytes[descriptor & 3] + (size_flag ? size_bytes[size_flag] : single);
    for (bool last = false; !last;) {
        if (at > bytes || bytes - at < 3)
            return 0;
        uint32_t block = (uint32_t)get_le(p + at, 3);
        unsigned type = block >> 1 & 3;
        last = block & 1;
        if (type == 3)
            return 0;
        at += 3 + (type == 1 ? 1 : block >> 3);
    }
    at += checksum ? 4 : 0;
    return at <= bytes ? at : 0;
}

/* Length of one zlib stream.  Fed a byte at a time, so that nothing behind its end is read. */
static size_t zlib_stream_size(const uint8_t *p, size_t bytes)
{
    enum { WINDOW = 1 << 15 };
    uint8_t *sink = malloc(WINDOW);
    z_stream z = {0};
    if (!sink || inflateInit(&z) != Z_OK) {
        free(sink);
        return 0;
    }
    size_t used = 0;
    int rc = Z_OK;
    while (rc == Z_OK && used < bytes) {
        z.next_in = (uint8_t *)(uintptr_t)(p + used++);
        z.avail_in = 1;
        do {
            z.next_out = sink;
            z.avail_out = WINDOW;
            rc = inflate(&z, Z_NO_FLUSH);
        } while (rc == Z_OK && !z.avail_out);
        if (rc == Z_BUF_ERROR) /* asks for more input */
            rc = Z_OK;
    }
    inflateEnd(&z);
    free(sink);
    return rc == Z_STREAM_END ? used : 0;
}

size_t bundle_compressed_size(const uint8_t *image, size_t bytes)
{
    struct ccob h;
    if (ccob_read(&h, image, bytes, NULL) != EHP_OK)
        return 0;
    if (h.file)
        return h.file <= bytes ? h.file : 0;
    const uint8_t *stream = image + h.header;
    size_t room = bytes - h.header;
    size_t length = h.method == METHOD_ZSTD ? zstd_frame_size(stream, room) : zlib_stream_size(stream, room);
    return length ? h.header + length : 0;
}

static int inflate_all(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes,
                       struct code_error *err)
{
    z_stream z = {0};
    if (inflateInit(&z) != Z_OK)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    size_t taken = 0, made = 0;
    int rc = Z_OK;
    const size_t most = 1U << 30; /* zlib counts in unsigned int */
    while (rc == Z_OK) {
        size_t give = in_bytes - taken < most ? in_bytes - taken : most;
        size_t room = out_bytes - made < most ? out_bytes - made : most;
        z.next_in = (uint8_t *)(uintptr_t)(in + taken);
        z.avail_in = (unsigned)give;
        z.next_out = out + made;
        z.avail_out = (unsigned)room;
        rc = inflate(&z, Z_NO_FLUSH);
        taken += give - z.avail_in;
        made += room - z.avail_out;
    }
    const char *why = z.msg ? z.msg : rc == Z_BUF_ERROR ? "cut off, or more than the header says" : "damaged";
    int status = EHP_OK;
    if (rc != Z_STREAM_END)
        status = code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: zlib stream bad at byte %zu: %s",
                           taken, why);
    else if (made != out_bytes)
        status = code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: holds %zu bytes, its header says %zu",
                           made, out_bytes);
    inflateEnd(&z);
    return status;
}

static int unzstd_all(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes,
                      struct code_error *err)
{
    size_t made = ZSTD_decompress(out, out_bytes, in, in_bytes);
    if (ZSTD_isError(made))
        return code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: zstd frame: %s",
                         ZSTD_getErrorName(made));
    if (made != out_bytes)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: holds %zu bytes, its header says %zu",
                         made, out_bytes);
    return EHP_OK;
}

int bundle_decompress(const uint8_t *image, size_t bytes, uint8_t **out, size_t *out_bytes,
                      struct code_error *err)
{
    struct ccob h;
    int status = ccob_read(&h, image, bytes, err);
    if (status != EHP_OK)
        return status;
    if (h.file > bytes)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: cut off, %zu bytes of %llu", bytes,
                         (unsigned long long)h.file);
    size_t total = bundle_compressed_size(image, bytes);
    if (!total)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "compressed bundle: its stream is damaged or cut off");
    const uint8_t *stream = image + h.header;
    size_t length = total - h.header;

    /* Before memory is spent: no stream expands more than this, and zstd frames say their size. */
    const uint64_t most = h.method == METHOD_ZSTD ? 1 << 15 : 1032;
    bool lie = h.plain / most > length;
    if (h.method == METHOD_ZSTD) {
        unsigned long long stated = ZSTD_getFrameContentSize(stream, length);
        lie |= stated == ZSTD_CONTENTSIZE_ERROR || (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != h.plain);
    }
    if (lie || !h.plain)
        return code_fail(
            err, EHP_ERR_BAD_IMAGE,
            "compressed bundle: its header says %llu bytes, the %zu bytes of its stream do not hold that",
            (unsigned long long)h.plain, length);
    uint8_t *plain = malloc(h.plain);
    if (!plain)
        return code_fail(err, EHP_ERR_NO_MEMORY, "no memory for a bundle of %llu bytes",
                         (unsigned long long)h.plain);
    status = h.method == METHOD_ZSTD ? unzstd_all(stream, length, plain, h.plain, err)
                                     : inflate_all(stream, length, plain, h.plain, err);
    if (status != EHP_OK) {
        free(plain);
        return status;
    }
    *out = plain;
    *out_bytes = h.plain;
    return EHP_OK;
}
