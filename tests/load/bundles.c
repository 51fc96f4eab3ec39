/* SPDX-License-Identifier: MIT */
/*
 * Bundles written here by the layout in Clang's documentation, and those that
 * clang-offload-bundler wrote (data/make.sh).
 *   bundles DIRECTORY
 */
#include "blob.h"

#include <stdarg.h>
#include <zlib.h>
#include <zstd.h>

#include "ehp/ehp.h"
#include "load/bundle.h"

static struct code_error err;

/* ---- writers ---- */

static void put(struct blob *b, const void *data, size_t bytes)
{
    uint8_t *bigger = realloc(b->data, b->bytes + bytes + 1);
    if (!bigger)
        abort();
    b->data = bigger;
    if (bytes)
        memcpy(b->data + b->bytes, data, bytes);
    b->bytes += bytes;
}

static void put_le(struct blob *b, uint64_t value, size_t width)
{
    put(b, &value, width);
}

/* Entries named by the arguments (NULL ends); the content of each is its own name, 100 times. */
static struct blob write_plain(const char *first, ...)
{
    const char *ids[16];
    size_t count = 0;
    va_list args;
    va_start(args, first);
    for (const char *id = first; id; id = va_arg(args, const char *))
        ids[count++] = id;
    va_end(args);

    struct blob b = {0};
    size_t offset = 32;
    for (size_t i = 0; i < count; i++)
        offset += 24 + strlen(ids[i]);
    put(&b, "__CLANG_OFFLOAD_BUNDLE__", 24);
    put_le(&b, count, 8);
    for (size_t i = 0; i < count; i++) {
        put_le(&b, offset, 8);
        put_le(&b, 100 * strlen(ids[i]), 8);
        put_le(&b, strlen(ids[i]), 8);
        put(&b, ids[i], strlen(ids[i]));
        offset += 100 * strlen(ids[i]);
    }
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < 100; k++)
            put(&b, ids[i], strlen(ids[i]));
    }
    return b;
}

static struct blob write_ccob(struct blob plain, unsigned version, bool zstd, uint64_t plain_bytes)
{
    struct blob b = {0}, z = {malloc(plain.bytes + 1000), plain.bytes + 1000};
    if (zstd) {
        z.bytes = ZSTD_compress(z.data, z.bytes, plain.data, plain.bytes, 3);
    } else {
        uLongf length = z.bytes;
        compress(z.data, &length, plain.data, plain.bytes);
        z.bytes = length;
    }
    put(&b, "CCOB", 4);
    put_le(&b, version, 2);
    put_le(&b, zstd, 2);
    if (version == 1) {
        put_le(&b, plain_bytes, 4);
    } else {
        size_t width = version == 2 ? 4 : 8;
        put_le(&b, z.bytes + 8 + 2 * width + 8, width);
        put_le(&b, plain_bytes, width);
    }
    put_le(&b, 0x1122334455667788, 8);
    put(&b, z.data, z.bytes);
    free(z.data);
    return b;
}

/* ---- checks ---- */

static struct target agent_of(const char *text)
{
    struct target t;
    CHECK(target_parse(&t, text, strlen(text)));
    return t;
}

/* The entry that bundle_find() takes must be `wanted`. */
static void expect_pick(struct blob b, const char *agent, const char *wanted)
{
    struct target t = agent_of(agent);
    struct bundle_pick pick;
    struct guarded g = guard_new(b.data, b.bytes);
    err.text[0] = 0;
    if (CHECK_EQ(bundle_find(&pick, g.data, b.bytes, &t, &err), EHP_OK)) {
        CHECK_EQ(pick.bytes, 100 * strlen(wanted));
        CHECK(pick.bytes >= strlen(wanted) && !memcmp(pick.data, wanted, strlen(wanted)));
        bundle_pick_free(&pick);
    } else {
        fprintf(stderr, "%s\n", err.text);
    }
    guard_free(g);
}

static void expect_failure(struct blob b, const char *agent, int status, const char *words)
{
    struct target t = agent_of(agent);
    struct bundle_pick pick;
    struct guarded g = guard_new(b.data, b.bytes);
    CHECK_EQ(bundle_find(&pick, g.data, b.bytes, &t, &err), status);
    CHECK_STR(strstr(err.text, words) ? words : err.text, words);
    guard_free(g);
}

#define HOST "host-x86_64-unknown-linux-gnu-"
#define V4   "hipv4-amdgcn-amd-amdhsa--"

static const char mi300[] = "gfx942:sramecc+:xnack-";

static void test_choice(void)
{
    struct blob b = write_plain(HOST, V4 "gfx90a", V4 "gfx942", V4 "gfx1100", NULL);
    expect_pick(b, mi300, V4 "gfx942");
    expect_pick(b, "gfx90a:sramecc+:xnack+", V4 "gfx90a");
    free(b.data);

    b = write_plain(HOST, V4 "gfx9-4-generic", V4 "gfx942:xnack+", V4 "gfx942:sramecc+:xnack-", NULL);
    expect_pick(b, mi300, V4 "gfx942:sramecc+:xnack-");
    expect_pick(b, "gfx942:sramecc+:xnack+", V4 "gfx942:xnack+");
    expect_pick(b, "gfx942:sramecc-:xnack-", V4 "gfx9-4-generic");
    expect_pick(b, "gfx950:sramecc+:xnack-", V4 "gfx9-4-generic");
    free(b.data);

    /* The names that other versions of clang have used. */
    b = write_plain("hip-amdgcn-amd-amdhsa--gfx942", HOST, NULL);
    expect_pick(b, mi300, "hip-amdgcn-amd-amdhsa--gfx942");
    free(b.data);
    b = write_plain(HOST, "hip-amdgcn-amd-amdhsa-gfx942", NULL);
    expect_pick(b, mi300, "hip-amdgcn-amd-amdhsa-gfx942");
    free(b.data);

    b = write_plain(HOST, V4 "gfx906", V4 "gfx90a:xnack-", V4 "gfx90a:xnack-", V4 "gfx90", NULL);
    expect_failure(b, mi300, EHP_ERR_WRONG_ISA,
                   "the bundle holds gfx906, gfx90a:xnack-, gfx90; this machine is gfx942:sramecc+:xnack-");
    free(b.data);
    b = write_plain(HOST, V4 "gfx942:xnack+", "hip-spirv64-amd-amdhsa--amdgcnspirv", NULL);
    expect_failure(b, mi300, EHP_ERR_WRONG_ISA, "gfx942:xnack+, hip-spirv64-amd-amdhsa--amdgcnspirv;");
    free(b.data);
    b = write_plain("", "\033[31m", NULL);
    expect_failure(b, mi300, EHP_ERR_WRONG_ISA, "the bundle holds an entry without a name, \\x1b[31m; this");
    free(b.data);
    b = write_plain(HOST, NULL);
    expect_failure(b, mi300, EHP_ERR_WRONG_ISA, "no device code");
    free(b.data);
}

static void test_several(void)
{
    struct blob first = write_plain(HOST, V4 "gfx90a", NULL), second = write_plain(HOST, V4 "gfx942", NULL);
    struct blob packed = write_ccob(second, 3, true, second.bytes), both = {0};
    static const uint8_t padding[4096];
    put(&both, first.data, first.bytes);
    put(&both, padding, 4096 - first.bytes % 4096);
    size_t at = both.bytes;
    put(&both, packed.data, packed.bytes);
    put(&both, padding, 100);
    expect_pick(both, mi300, V4 "gfx942");
    expect_pick(both, "gfx90a", V4 "gfx90a");
    expect_failure(both, "gfx1100", EHP_ERR_WRONG_ISA, "gfx90a, gfx942");
    CHECK_EQ(ehp_image_size(both.data), first.bytes);
    CHECK_EQ(bundle_next(both.data, both.bytes, first.bytes), at);
    CHECK_EQ(bundle_next(both.data, both.bytes, at + packed.bytes), both.bytes);
    free(first.data);
    free(second.data);
    free(packed.data);
    free(both.data);
}

static void test_compressed(void)
{
    struct blob plain = write_plain(HOST, V4 "gfx942", NULL);
    for (unsigned version = 1; version <= 3; version++) {
        for (int zstd = 0; zstd <= 1; zstd++) {
            struct blob b = write_ccob(plain, version, zstd, plain.bytes);
            expect_pick(b, mi300, V4 "gfx942");
            /* By a pointer alone, with the end of the stream at the end of what can be read. */
            struct guarded g = guard_new(b.data, b.bytes);
            CHECK_EQ(ehp_image_size(g.data), b.bytes);
            CHECK_EQ(bundle_size(g.data, b.bytes - 1), 0);
            guard_free(g);
            b.bytes--;
            expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "compressed bundle: ");
            free(b.data);
            b = write_ccob(plain, version, zstd, plain.bytes + 1);
            expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "compressed bundle: ");
            free(b.data);
            b = write_ccob(plain, version, zstd, plain.bytes - 1);
            expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "compressed bundle: ");
            free(b.data);
        }
    }
    /* A claim of 2^60 bytes must not be allocated. */
    struct blob b = write_ccob(plain, 3, false, 1ULL << 60);
    expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "1152921504606846976");
    b.data[6] = 2;
    expect_failure(b, mi300, EHP_ERR_UNSUPPORTED, "method 2");
    b.data[4] = 4;
    expect_failure(b, mi300, EHP_ERR_UNSUPPORTED, "version 4");
    free(b.data);
    struct blob text = {(uint8_t *)strdup("this is no bundle"), 17};
    expect_failure(text, mi300, EHP_ERR_BAD_IMAGE, "neither an ELF file nor an offload bundle");
    b = write_ccob(text, 2, true, text.bytes);
    expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "what is inside is not a bundle");
    free(b.data);
    free(text.data);
    free(plain.data);
}

static void test_damaged(void)
{
    struct blob b = write_plain(HOST, V4 "gfx942", NULL);
    uint64_t value = 1 << 20;
    uint8_t *saved = malloc(b.bytes);
    memcpy(saved, b.data, b.bytes);

    memcpy(b.data + 24, &value, 8);
    expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "1048576 entries at offset 24");
    CHECK_EQ(ehp_image_size(b.data), 0);
    memcpy(b.data, saved, b.bytes);

    memcpy(b.data + 32 + 16, &value, 8); /* the first id's length */
    expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "entry 0 has a name of 1048576 bytes at offset 48");
    memcpy(b.data, saved, b.bytes);

    memcpy(b.data + 32 + 24 + strlen(HOST), &value, 8); /* the second offset */
    expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "entry 1 (" V4 "gfx942) is 3100 bytes at offset 1048576");
    value = UINT64_MAX;
    memcpy(b.data + 32 + 24 + strlen(HOST), &value, 8);
    expect_failure(b, mi300, EHP_ERR_BAD_IMAGE, "entry 1 (");
    CHECK_EQ(ehp_image_size(b.data), 0);
    memcpy(b.data, saved, b.bytes);

    for (size_t bytes = 0; bytes < b.bytes; bytes++) {
        struct blob part = {b.data, bytes};
        expect_failure(part, mi300, EHP_ERR_BAD_IMAGE, "");
        CHECK_EQ(bundle_size(b.data, bytes), 0);
    }
    CHECK_EQ(bundle_size(b.data, b.bytes), b.bytes);
    free(saved);
    free(b.data);
}

/* What clang-offload-bundler wrote: an x86 entry that is empty, then gfx90a, gfx942 xnack- and xnack+. */
static void test_clang(const char *directory)
{
    static const char *const files[] = {"plain.hipfb", "ccob2.hipfb", "ccob3.hipfb"};
    struct blob minus = read_file(directory, "exact.hsaco"), plus = read_file(directory, "xnack.hsaco");
    for (size_t i = 0; i < 3; i++) {
        struct blob b = read_file(directory, files[i]);
        CHECK_EQ(ehp_image_size(b.data), b.bytes);
        struct bundle_pick pick;
        struct target t = agent_of("gfx942:sramecc+:xnack-");
        CHECK_EQ(bundle_find(&pick, b.data, b.bytes, &t, &err), EHP_OK);
        CHECK(pick.bytes == minus.bytes && !memcmp(pick.data, minus.data, minus.bytes));
        bundle_pick_free(&pick);
        t = agent_of("gfx942:sramecc+:xnack+");
        CHECK_EQ(bundle_find(&pick, b.data, b.bytes, &t, &err), EHP_OK);
        CHECK(pick.bytes == plus.bytes && !memcmp(pick.data, plus.data, plus.bytes));
        bundle_pick_free(&pick);
        expect_failure(b, "gfx908:sramecc+:xnack-", EHP_ERR_WRONG_ISA,
                       "gfx90a, gfx942:sramecc+:xnack-, gfx942:sramecc+:xnack+;");
        free(b.data);
    }
    CHECK_EQ(ehp_image_size(minus.data), minus.bytes);
    CHECK_EQ(ehp_image_size("nothing of the kind, 64 bytes are not enough to be an ELF file"), 0);
    CHECK_EQ(ehp_image_size(NULL), 0);
    free(minus.data);
    free(plus.data);
}

/* ---- target ids ---- */

static void test_targets(void)
{
    static const struct {
        const char *code, *agent;
        bool runs;
    } pairs[] = {
        {"gfx942", "gfx942:sramecc+:xnack-", true},
        {"gfx942:sramecc+", "gfx942:sramecc+:xnack-", true},
        {"gfx942:sramecc-", "gfx942:sramecc+:xnack-", false},
        {"gfx942:xnack-", "gfx942:sramecc+:xnack-", true},
        {"gfx942:xnack+", "gfx942:sramecc+:xnack-", false},
        {"gfx942:xnack+", "gfx942:sramecc+:xnack+", true},
        {"gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack-", true},
        {"gfx942:xnack+", "gfx942", false}, /* the agent has no xnack at all */
        {"gfx90a", "gfx942:sramecc+:xnack-", false},
        {"gfx94", "gfx942:sramecc+:xnack-", false},
        {"gfx9-4-generic", "gfx942:sramecc+:xnack-", true},
        {"gfx9-4-generic:xnack+", "gfx942:sramecc+:xnack-", false},
        {"gfx9-generic", "gfx942:sramecc+:xnack-", false},
        {"gfx9-generic", "gfx906:xnack-", true},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct target code = agent_of(pairs[i].code), agent = agent_of(pairs[i].agent);
        char text[80];
        if (!CHECK_EQ(target_runs_on(&code, &agent), pairs[i].runs))
            fprintf(stderr, "%s on %s\n", pairs[i].code, pairs[i].agent);
        target_print(&code, text, sizeof text);
        CHECK_STR(text, pairs[i].code);
    }
    static const char *const wrong[] = {"",
                                        ":xnack+",
                                        "gfx942:",
                                        "gfx942:xnack",
                                        "gfx942:foo+",
                                        "gfx942:xnack*",
                                        "gfx942:xnack+:xnack-",
                                        "gfx942:xnack+:"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct target t;
        if (!CHECK(!target_parse(&t, wrong[i], strlen(wrong[i]))))
            fprintf(stderr, "%s\n", wrong[i]);
    }
    struct target t, agent = agent_of(mi300);
    CHECK(target_from_flags(&t, 0xe4c, false));
    char text[80];
    target_print(&t, text, sizeof text);
    CHECK_STR(text, "gfx942:sramecc+:xnack-");
    CHECK(target_from_flags(&t, 0x0100055f, true));
    CHECK_STR(t.processor, "gfx9-4-generic");
    CHECK_EQ(t.generic_version, 1);
    CHECK(target_runs_on(&t, &agent));
    CHECK(!target_from_flags(&t, 0x5ff, false));
}

int main(int argc, char **argv)
{
    test_targets();
    test_choice();
    test_several();
    test_compressed();
    test_damaged();
    test_clang(argc > 1 ? argv[1] : ".");
    return check_status();
}
