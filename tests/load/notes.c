/* SPDX-License-Identifier: MIT */
/*
 * Metadata notes written here with msgpack-c's packer: every value kind, the
 * fields that real compilers rarely write, and damage.
 */
#include "blob.h"

#include <msgpack.h>

#include "load/metadata.h"

static struct code_error err;

struct writer {
    msgpack_sbuffer buffer;
    msgpack_packer pk;
};

static void text(struct writer *w, const char *s)
{
    msgpack_pack_str(&w->pk, strlen(s));
    msgpack_pack_str_body(&w->pk, s, strlen(s));
}

static void number(struct writer *w, const char *key, uint64_t value)
{
    text(w, key);
    msgpack_pack_uint64(&w->pk, value);
}

static void word(struct writer *w, const char *key, const char *value)
{
    text(w, key);
    text(w, value);
}

static void list(struct writer *w, const char *key, size_t count)
{
    text(w, key);
    msgpack_pack_array(&w->pk, count);
}

static void begin(struct writer *w, unsigned minor, size_t keys)
{
    msgpack_sbuffer_init(&w->buffer);
    msgpack_packer_init(&w->pk, &w->buffer, msgpack_sbuffer_write);
    msgpack_pack_map(&w->pk, keys);
    list(w, "amdhsa.version", 2);
    msgpack_pack_int(&w->pk, 1);
    msgpack_pack_int(&w->pk, (int)minor);
}

/* The nine keys that every kernel must have, with .kernarg_segment_size as said; `more` follow. */
static void kernel(struct writer *w, const char *name, const char *symbol, unsigned kernarg, size_t more)
{
    msgpack_pack_map(&w->pk, 10 + more);
    word(w, ".name", name);
    word(w, ".symbol", symbol);
    number(w, ".kernarg_segment_size", kernarg);
    number(w, ".kernarg_segment_align", 8);
    number(w, ".group_segment_fixed_size", 1);
    number(w, ".private_segment_fixed_size", 2);
    number(w, ".wavefront_size", 64);
    number(w, ".sgpr_count", 20);
    number(w, ".vgpr_count", 30);
    number(w, ".max_flat_workgroup_size", 256);
}

static int parse(struct metadata *md, struct writer *w)
{
    struct guarded g = guard_new(w->buffer.data, w->buffer.size);
    int status = metadata_parse(md, g.data, w->buffer.size, &err);
    guard_free(g);
    msgpack_sbuffer_destroy(&w->buffer);
    return status;
}

/* In the order of the tables in LLVM's "Code Object Metadata": their spelling is the point. */
static const struct {
    const char *name;
    int kind;
} kinds[] = {
    {"by_value", EHP_ARG_BY_VALUE},
    {"global_buffer", EHP_ARG_GLOBAL_BUFFER},
    {"dynamic_shared_pointer", EHP_ARG_DYNAMIC_SHARED_POINTER},
    {"sampler", EHP_ARG_SAMPLER},
    {"image", EHP_ARG_IMAGE},
    {"pipe", EHP_ARG_PIPE},
    {"queue", EHP_ARG_QUEUE},
    {"hidden_global_offset_x", EHP_ARG_HIDDEN_GLOBAL_OFFSET_X},
    {"hidden_global_offset_y", EHP_ARG_HIDDEN_GLOBAL_OFFSET_Y},
    {"hidden_global_offset_z", EHP_ARG_HIDDEN_GLOBAL_OFFSET_Z},
    {"hidden_none", EHP_ARG_HIDDEN_NONE},
    {"hidden_printf_buffer", EHP_ARG_HIDDEN_PRINTF_BUFFER},
    {"hidden_hostcall_buffer", EHP_ARG_HIDDEN_HOSTCALL_BUFFER},
    {"hidden_default_queue", EHP_ARG_HIDDEN_DEFAULT_QUEUE},
    {"hidden_completion_action", EHP_ARG_HIDDEN_COMPLETION_ACTION},
    {"hidden_multigrid_sync_arg", EHP_ARG_HIDDEN_MULTIGRID_SYNC_ARG},
    {"hidden_block_count_x", EHP_ARG_HIDDEN_BLOCK_COUNT_X},
    {"hidden_block_count_y", EHP_ARG_HIDDEN_BLOCK_COUNT_Y},
    {"hidden_block_count_z", EHP_ARG_HIDDEN_BLOCK_COUNT_Z},
    {"hidden_group_size_x", EHP_ARG_HIDDEN_GROUP_SIZE_X},
    {"hidden_group_size_y", EHP_ARG_HIDDEN_GROUP_SIZE_Y},
    {"hidden_group_size_z", EHP_ARG_HIDDEN_GROUP_SIZE_Z},
    {"hidden_remainder_x", EHP_ARG_HIDDEN_REMAINDER_X},
    {"hidden_remainder_y", EHP_ARG_HIDDEN_REMAINDER_Y},
    {"hidden_remainder_z", EHP_ARG_HIDDEN_REMAINDER_Z},
    {"hidden_grid_dims", EHP_ARG_HIDDEN_GRID_DIMS},
    {"hidden_heap_v1", EHP_ARG_HIDDEN_HEAP_V1},
    {"hidden_dynamic_lds_size", EHP_ARG_HIDDEN_DYNAMIC_LDS_SIZE},
    {"hidden_private_base", EHP_ARG_HIDDEN_PRIVATE_BASE},
    {"hidden_shared_base", EHP_ARG_HIDDEN_SHARED_BASE},
    {"hidden_queue_ptr", EHP_ARG_HIDDEN_QUEUE_PTR},
    {"hidden_of_next_year", EHP_ARG_HIDDEN_UNKNOWN},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void test_args(void)
{
    struct writer w;
    struct metadata md;
    begin(&w, 2, 2);
    list(&w, "amdhsa.kernels", 1);
    kernel(&w, "k", "k.kd", 8 * KINDS + 8, 1);
    list(&w, ".args", KINDS + 1);
    for (size_t i = 0; i < KINDS; i++) {
        msgpack_pack_map(&w.pk, 3);
        number(&w, ".offset", 8 * i);
        number(&w, ".size", 8);
        word(&w, ".value_kind", kinds[i].name);
    }
    msgpack_pack_map(&w.pk, 9);
    word(&w, ".name", "tile");
    word(&w, ".type_name", "float*");
    word(&w, ".value_kind", "dynamic_shared_pointer");
    word(&w, ".address_space", "local");
    word(&w, ".access", "read_write");
    number(&w, ".pointee_align", 16);
    number(&w, ".offset", 8 * KINDS);
    number(&w, ".size", 4);
    text(&w, ".is_const");
    msgpack_pack_true(&w.pk);
    if (!CHECK_EQ(parse(&md, &w), EHP_OK)) {
        fprintf(stderr, "%s\n", err.text);
        return;
    }
    const struct ehp_kernel *k = &md.kernels[0].info;
    CHECK_EQ(k->arg_count, KINDS + 1);
    for (unsigned i = 0; i < KINDS; i++) {
        CHECK_EQ(k->args[i].kind, kinds[i].kind);
        CHECK_EQ(k->args[i].offset, 8 * i);
        if (kinds[i].kind != EHP_ARG_HIDDEN_UNKNOWN)
            CHECK_STR(metadata_arg_kind_name(kinds[i].kind), kinds[i].name);
    }
    CHECK_EQ(KINDS, EHP_ARG_HIDDEN_UNKNOWN + 1);
    CHECK_STR(k->args[KINDS].name, "tile");
    CHECK_STR(k->args[KINDS].type_name, "float*");
    CHECK_EQ(k->args[KINDS].address_space, 3);
    CHECK_EQ(k->args[KINDS].access, 2);
    CHECK_EQ(k->args[KINDS].pointee_align, 16);
    CHECK_EQ(k->args[0].name != NULL, false);
    CHECK_STR(metadata_arg_kind_name(-1), "hidden_unknown");
    metadata_free(&md);
}

static void test_kernels(void)
{
    struct writer w;
    struct metadata md;
    begin(&w, 2, 4);
    word(&w, "amdhsa.target", "amdgcn-amd-amdhsa--gfx942");
    list(&w, "amdhsa.printf", 2);
    text(&w, "1:1:4:value %d\n");
    text(&w, "2:0:done\n");
    list(&w, "amdhsa.kernels", 3);
    kernel(&w, "one", "one.kd", 0, 6);
    text(&w, ".uses_dynamic_stack");
    msgpack_pack_true(&w.pk);
    number(&w, ".uniform_work_group_size", 1);
    number(&w, ".agpr_count", 7);
    number(&w, ".vgpr_spill_count", 3);
    word(&w, ".kind", "init");
    list(&w, ".reqd_workgroup_size", 3);
    for (int i = 1; i <= 3; i++)
        msgpack_pack_int(&w.pk, i);
    kernel(&w, "two", "two.kd", 0, 1);
    word(&w, ".kind", "fini");
    kernel(&w, "three", "three.kd", 0, 1);
    word(&w, "vendor.of_something_else", "is skipped");
    if (!CHECK_EQ(parse(&md, &w), EHP_OK)) {
        fprintf(stderr, "%s\n", err.text);
        return;
    }
    CHECK_STR(md.target, "amdgcn-amd-amdhsa--gfx942");
    CHECK_EQ(md.version[1], 2);
    CHECK_EQ(md.printf_count, 2);
    CHECK_STR(md.printf[0], "1:1:4:value %d\n");
    CHECK_STR(md.printf[1], "2:0:done\n");
    CHECK_EQ(md.kernel_count, 3);
    const struct ehp_kernel *k = &md.kernels[0].info;
    CHECK(k->dynamic_stack && k->uniform_work_group_size);
    CHECK_EQ(k->agprs, 7);
    CHECK_EQ(k->vgpr_spills, 3);
    CHECK_EQ(k->kind, EHP_KERNEL_INIT_ARRAY);
    CHECK_EQ(k->reqd_workgroup_size[0] + 10 * k->reqd_workgroup_size[1] + 100 * k->reqd_workgroup_size[2],
             321);
    CHECK_EQ(k->group_bytes, 1);
    CHECK_EQ(k->private_bytes, 2);
    CHECK_EQ(k->sgprs, 20);
    CHECK_EQ(k->vgprs, 30);
    CHECK_EQ(k->max_flat_workgroup_size, 256);
    CHECK_EQ(md.kernels[1].info.kind, EHP_KERNEL_FINI_ARRAY);
    CHECK_EQ(md.kernels[2].info.kind, EHP_KERNEL_NORMAL);
    CHECK_STR(md.kernels[2].symbol, "three.kd");
    metadata_free(&md);
}

static void expect(struct writer *w, int status, const char *words)
{
    struct metadata md;
    CHECK_EQ(parse(&md, w), status);
    CHECK_STR(strstr(err.text, words) ? words : err.text, words);
}

static void expect_bytes(const void *bytes, size_t count, const char *words)
{
    struct metadata md;
    struct guarded g = guard_new(bytes, count);
    CHECK_EQ(metadata_parse(&md, g.data, count, &err), EHP_ERR_BAD_IMAGE);
    CHECK_STR(strstr(err.text, words) ? words : err.text, words);
    guard_free(g);
}

static void test_refusals(void)
{
    struct writer w;
    begin(&w, 2, 2);
    list(&w, "amdhsa.kernels", 1);
    msgpack_pack_map(&w.pk, 1);
    word(&w, ".name", "half");
    expect(&w, EHP_ERR_BAD_IMAGE, "kernel 0 has no .name or no .symbol");

    begin(&w, 2, 2);
    list(&w, "amdhsa.kernels", 1);
    msgpack_pack_map(&w.pk, 2);
    word(&w, ".name", "half");
    word(&w, ".symbol", "half.kd");
    expect(&w, EHP_ERR_BAD_IMAGE, "kernel half has no .kernarg_segment_size");

    begin(&w, 2, 2);
    list(&w, "amdhsa.kernels", 1);
    kernel(&w, "k", "k.kd", 15, 1);
    list(&w, ".args", 1);
    msgpack_pack_map(&w.pk, 3);
    number(&w, ".offset", 8);
    number(&w, ".size", 8);
    word(&w, ".value_kind", "by_value");
    expect(&w, EHP_ERR_BAD_IMAGE, "argument 0 of kernel k is 8 bytes at 8, its kernarg segment has 15");

    begin(&w, 2, 2);
    list(&w, "amdhsa.kernels", 1);
    kernel(&w, "k", "k.kd", 15, 1);
    list(&w, ".args", 1);
    msgpack_pack_map(&w.pk, 1);
    number(&w, ".offset", 8);
    expect(&w, EHP_ERR_BAD_IMAGE, "argument 0 of kernel k lacks");

    msgpack_sbuffer_init(&w.buffer);
    msgpack_packer_init(&w.pk, &w.buffer, msgpack_sbuffer_write);
    msgpack_pack_map(&w.pk, 0);
    expect(&w, EHP_ERR_BAD_IMAGE, "no amdhsa.version");

    expect_bytes("", 0, "byte 0 of 0");
    expect_bytes("\xc1", 1, "byte 0");     /* a tag that is never used */
    expect_bytes("\x92\x01", 2, "byte 0"); /* one element of two */
    expect_bytes("\x92\x01\xc1", 3, "byte 2");
    expect_bytes("\xdd\xff\xff\xff\xff\x01", 6, "byte 0"); /* four billion elements in a byte */
    expect_bytes("\xdb\xff\xff\xff\xff", 5, "byte 0");     /* a string of 4 GiB */
    expect_bytes("\xc9\xff\xff\xff\xff\x01", 6, "byte 0"); /* ext */
    char deep[100];
    memset(deep, 0x91, sizeof deep); /* arrays in arrays */
    expect_bytes(deep, sizeof deep, "damaged MessagePack");
}

/* What a terminal obeys is spelt out, and nothing else changes. */
static void test_printable(void)
{
    char room[32];
    static const char plain[] = "k\xc3\xb6rnel<int>(float*)\t\xe2\x82\xac \xf0\x9f\x98\x80";
    CHECK(ehp_printable(plain, room, sizeof room) == plain);
    CHECK_STR(ehp_printable("", room, sizeof room), "");
    CHECK_STR(ehp_printable("a\033[2J\nb\x7f", room, sizeof room), "a\\x1b[2J\\x0ab\\x7f");
    CHECK_STR(ehp_printable("\xc2\x9b", room, sizeof room), "\\xc2\\x9b");          /* CSI in one character */
    CHECK_STR(ehp_printable("\x9b\xc3", room, sizeof room), "\\x9b\\xc3");          /* in one byte; cut off */
    CHECK_STR(ehp_printable("\xe2\x80\xae", room, sizeof room), "\\xe2\\x80\\xae"); /* right to left */
    CHECK_STR(ehp_printable("\xc0\x80", room, sizeof room), "\\xc0\\x80");          /* too long a form */
    CHECK_STR(ehp_printable("abcd\n", room, 8), "abcd");
    CHECK_STR(ehp_printable("abcd\n", room, 9), "abcd\\x0a");
}

int main(void)
{
    test_args();
    test_kernels();
    test_refusals();
    test_printable();
    return check_status();
}
