/* SPDX-License-Identifier: MIT */
/* Code object metadata; see metadata.h. */
#include "load/metadata.h"

#include <limits.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "base/power.h"

typedef msgpack_object object;

static const char *const arg_kinds[EHP_ARG_HIDDEN_UNKNOWN] = {
    [EHP_ARG_BY_VALUE] = "by_value",
    [EHP_ARG_GLOBAL_BUFFER] = "global_buffer",
    [EHP_ARG_DYNAMIC_SHARED_POINTER] = "dynamic_shared_pointer",
    [EHP_ARG_SAMPLER] = "sampler",
    [EHP_ARG_IMAGE] = "image",
    [EHP_ARG_PIPE] = "pipe",
    [EHP_ARG_QUEUE] = "queue",
    [EHP_ARG_HIDDEN_GLOBAL_OFFSET_X] = "hidden_global_offset_x",
    [EHP_ARG_HIDDEN_GLOBAL_OFFSET_Y] = "hidden_global_offset_y",
    [EHP_ARG_HIDDEN_GLOBAL_OFFSET_Z] = "hidden_global_offset_z",
    [EHP_ARG_HIDDEN_NONE] = "hidden_none",
    [EHP_ARG_HIDDEN_PRINTF_BUFFER] = "hidden_printf_buffer",
    [EHP_ARG_HIDDEN_HOSTCALL_BUFFER] = "hidden_hostcall_buffer",
    [EHP_ARG_HIDDEN_DEFAULT_QUEUE] = "hidden_default_queue",
    [EHP_ARG_HIDDEN_COMPLETION_ACTION] = "hidden_completion_action",
    [EHP_ARG_HIDDEN_MULTIGRID_SYNC_ARG] = "hidden_multigrid_sync_arg",
    [EHP_ARG_HIDDEN_BLOCK_COUNT_X] = "hidden_block_count_x",
    [EHP_ARG_HIDDEN_BLOCK_COUNT_Y] = "hidden_block_count_y",
    [EHP_ARG_HIDDEN_BLOCK_COUNT_Z] = "hidden_block_count_z",
    [EHP_ARG_HIDDEN_GROUP_SIZE_X] = "hidden_group_size_x",
    [EHP_ARG_HIDDEN_GROUP_SIZE_Y] = "hidden_group_size_y",
    [EHP_ARG_HIDDEN_GROUP_SIZE_Z] = "hidden_group_size_z",
    [EHP_ARG_HIDDEN_REMAINDER_X] = "hidden_remainder_x",
    [EHP_ARG_HIDDEN_REMAINDER_Y] = "hidden_remainder_y",
    [EHP_ARG_HIDDEN_REMAINDER_Z] = "hidden_remainder_z",
    [EHP_ARG_HIDDEN_GRID_DIMS] = "hidden_grid_dims",
    [EHP_ARG_HIDDEN_HEAP_V1] = "hidden_heap_v1",
    [EHP_ARG_HIDDEN_DYNAMIC_LDS_SIZE] = "hidden_dynamic_lds_size",
    [EHP_ARG_HIDDEN_PRIVATE_BASE] = "hidden_private_base",
    [EHP_ARG_HIDDEN_SHARED_BASE] = "hidden_shared_base",
    [EHP_ARG_HIDDEN_QUEUE_PTR] = "hidden_queue_ptr",
};

/* In the order of the values that struct ehp_arg has for them. */
static const char *const address_spaces[] = {"private", "global", "constant", "local", "generic", "region"};
static const char *const accesses[] = {"read_only", "write_only", "read_write"};
static const char *const kernel_kinds[] = {"normal", "init", "fini"};

const char *metadata_arg_kind_name(int kind)
{
    return kind >= 0 && kind < EHP_ARG_HIDDEN_UNKNOWN ? arg_kinds[kind] : "hidden_unknown";
}

/* ---- is it MessagePack at all ---- */

/*
 * msgpack-c allocates what an array's header asks for before it has seen the
 * elements, so the note is measured first: every element is at least a byte.
 */
enum { DEPTH_MOST = 24 };

struct cursor {
    const uint8_t *p;
    size_t left;
};

static bool take(struct cursor *c, unsigned width, uint64_t *value)
{
    if (c->left < width)
        return false;
    *value = 0;
    for (unsigned i = 0; i < width; i++)
        *value = *value << 8 | *c->p++;
    c->left -= width;
    return true;
}

static bool drop(struct cursor *c, uint64_t bytes)
{
    if (bytes > c->left)
        return false;
    c->p += bytes;
    c->left -= bytes;
    return true;
}

/* Reads one object's header and its own bytes; *elements is how many objects belong to it. */
static bool measure_one(struct cursor *c, uint64_t *elements)
{
    uint64_t tag, n = 0;
    *elements = 0;
    if (!take(c, 1, &tag))
        return false;
    if (tag < 0x80 || tag >= 0xe0) /* fixint */
        return true;
    if (tag < 0x90) { /* fixmap */
        *elements = 2 * (tag & 15);
        return true;
    }
    if (tag < 0xa0) { /* fixarray */
        *elements = tag & 15;
        return true;
    }
    if (tag < 0xc0) /* fixstr */
        return drop(c, tag & 31);
    switch (tag) {
    case 0xc0: /* nil, false, true */
    case 0xc2:
    case 0xc3:
        return true;
    case 0xc4: /* bin 8, 16, 32 */
    case 0xc5:
    case 0xc6:
        return take(c, 1U << (tag - 0xc4), &n) && drop(c, n);
    case 0xc7: /* ext 8, 16, 32: one byte of type more */
    case 0xc8:
    case 0xc9:
        return take(c, 1U << (tag - 0xc7), &n) && drop(c, n + 1);
    case 0xca: /* float 32, 64 */
    case 0xcb:
        return drop(c, 4U << (tag - 0xca));
    case 0xcc: /* uint 8, 16, 32, 64 */
    case 0xcd:
    case 0xce:
    case 0xcf:
        return drop(c, 1U << (tag - 0xcc));
    case 0xd0: /* int 8, 16, 32, 64 */
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return drop(c, 1U << (tag - 0xd0));
    case 0xd4: /* fixext 1, 2, 4, 8, 16 */
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
        return drop(c, (1U << (tag - 0xd4)) + 1);
    case 0xd9: /* str 8, 16, 32 */
    case 0xda:
    case 0xdb:
        return take(c, 1U << (tag - 0xd9), &n) && drop(c, n);
    case 0xdc: /* array 16, 32 */
    case 0xdd:
        return take(c, 2U << (tag - 0xdc), elements);
    case 0xde: /* map 16, 32 */
    case 0xdf:
        if (!take(c, 2U << (tag - 0xde), &n))
            return false;
        *elements = 2 * n;
        return true;
    default:
        return false;
    }
}

/* SIZE_MAX when the first object is whole, or else the offset of the damage. */
static size_t measure(const void *data, size_t bytes)
{
    struct cursor c = {data, bytes};
    uint64_t pending[DEPTH_MOST] = {1};
    for (unsigned depth = 0;;) {
        while (!pending[depth]) {
            if (!depth)
                return SIZE_MAX;
            depth--;
        }
        pending[depth]--;
        size_t at = bytes - c.left;
        uint64_t elements;
        if (!measure_one(&c, &elements) || elements > c.left || (elements && depth + 1 == DEPTH_MOST))
            return at;
        if (elements)
            pending[++depth] = elements;
    }
}

/* ---- typed access ---- */

static const object *map_get(const object *map, const char *key)
{
    size_t length = strlen(key);
    if (!map || map->type != MSGPACK_OBJECT_MAP)
        return NULL;
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object_kv *kv = &map->via.map.ptr[i];
        if (kv->key.type == MSGPACK_OBJECT_STR && kv->key.via.str.size == length &&
            !memcmp(kv->key.via.str.ptr, key, length))
            return &kv->val;
    }
    return NULL;
}

/*
 * Terminates a string in place.  Every object begins with a byte of header
 * that has been decoded by now, so the byte behind a string is free to be 0.
 */
static const char *as_text(const object *o)
{
    if (!o || o->type != MSGPACK_OBJECT_STR)
        return NULL;
    char *text = (char *)(uintptr_t)o->via.str.ptr;
    text[o->via.str.size] = 0;
    return text;
}

static bool as_u32(const object *o, uint32_t *value)
{
    if (!o || o->type != MSGPACK_OBJECT_POSITIVE_INTEGER || o->via.u64 > UINT32_MAX)
        return false;
    *value = (uint32_t)o->via.u64;
    return true;
}

static uint32_t get_u32(const object *map, const char *key, uint32_t absent)
{
    uint32_t value;
    return as_u32(map_get(map, key), &value) ? value : absent;
}

/* A boolean, which some keys spell as 0 and 1. */
static bool get_bool(const object *map, const char *key)
{
    const object *o = map_get(map, key);
    uint32_t value;
    return o && ((o->type == MSGPACK_OBJECT_BOOLEAN && o->via.boolean) || (as_u32(o, &value) && value));
}

static uint32_t array_size(const object *o)
{
    return o && o->type == MSGPACK_OBJECT_ARRAY ? o->via.array.size : 0;
}

static int word_index(const char *word, const char *const *words, size_t count, int absent)
{
    for (size_t i = 0; word && i < count; i++) {
        if (!strcmp(words[i], word))
            return (int)i;
    }
    return absent;
}
#define WORD_INDEX(word, words, absent) word_index(word, words, sizeof words / sizeof words[0], absent)

/* ---- the maps ---- */

static int parse_arg(struct ehp_arg *arg, const object *map, const char *kernel, unsigned index,
                     struct code_error *err)
{
    const char *kind = as_text(map_get(map, ".value_kind"));
    if (!kind || !as_u32(map_get(map, ".offset"), &arg->offset) ||
        !as_u32(map_get(map, ".size"), &arg->bytes))
        return code_fail(err, EHP_ERR_BAD_IMAGE,
                         "metadata: argument %u of kernel %s lacks .offset, .size or .value_kind", index,
                         kernel);
    arg->kind = WORD_INDEX(kind, arg_kinds, EHP_ARG_HIDDEN_UNKNOWN);
    /* What a later compiler hides is zero; of what it wants from the caller nobody knows the meaning. */
    if (arg->kind == EHP_ARG_HIDDEN_UNKNOWN && strncmp(kind, "hidden_", strlen("hidden_")) != 0)
        return code_fail(err, EHP_ERR_UNSUPPORTED,
                         "metadata: argument %u of kernel %s is of .value_kind %s, which is not known", index,
                         kernel, kind);
    arg->name = as_text(map_get(map, ".name"));
    arg->type_name = as_text(map_get(map, ".type_name"));
    arg->pointee_align = get_u32(map, ".pointee_align", 0);
    arg->address_space = WORD_INDEX(as_text(map_get(map, ".address_space")), address_spaces, -1);
    arg->access = WORD_INDEX(as_text(map_get(map, ".access")), accesses, -1);
    return EHP_OK;
}

static int parse_args(struct metadata_kernel *k, const object *list, struct code_error *err)
{
    uint32_t count = array_size(list);
    k->args = calloc(count ? count : 1, sizeof *k->args);
    if (!k->args)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < count; i++) {
        struct ehp_arg *arg = &k->args[i];
        int status = parse_arg(arg, &list->via.array.ptr[i], k->info.name, i, err);
        if (status != EHP_OK)
            return status;
        if (arg->bytes > k->info.kernarg_bytes || arg->offset > k->info.kernarg_bytes - arg->bytes)
            return code_fail(
                err, EHP_ERR_BAD_IMAGE,
                "metadata: argument %u of kernel %s is %u bytes at %u, its kernarg segment has %u", i,
                k->info.name, arg->bytes, arg->offset, k->info.kernarg_bytes);
    }
    k->info.args = k->args;
    k->info.arg_count = count;
    return EHP_OK;
}

static int parse_kernel(struct metadata_kernel *k, const object *map, unsigned index, struct code_error *err)
{
    struct ehp_kernel *info = &k->info;
    info->size = sizeof *info;
    info->name = as_text(map_get(map, ".name"));
    k->symbol = as_text(map_get(map, ".symbol"));
    if (!info->name || !k->symbol)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "metadata: kernel %u has no .name or no .symbol", index);

    const struct {
        const char *key;
        uint32_t *value;
    } required[] = {
        {".kernarg_segment_size", &info->kernarg_bytes},
        {".kernarg_segment_align", &info->kernarg_align},
        {".group_segment_fixed_size", &info->group_bytes},
        {".private_segment_fixed_size", &info->private_bytes},
        {".wavefront_size", &info->wavefront_size},
        {".max_flat_workgroup_size", &info->max_flat_workgroup_size},
        {".sgpr_count", &info->sgprs},
        {".vgpr_count", &info->vgprs},
    };
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!as_u32(map_get(map, required[i].key), required[i].value))
            return code_fail(err, EHP_ERR_BAD_IMAGE, "metadata: kernel %s has no %s", info->name,
                             required[i].key);
    }
    if (!power_of_two(info->kernarg_align))
        return code_fail(err, EHP_ERR_BAD_IMAGE, "metadata: kernel %s: .kernarg_segment_align is %u",
                         info->name, info->kernarg_align);
    info->agprs = get_u32(map, ".agpr_count", 0);
    info->sgpr_spills = get_u32(map, ".sgpr_spill_count", 0);
    info->vgpr_spills = get_u32(map, ".vgpr_spill_count", 0);
    info->dynamic_stack = get_bool(map, ".uses_dynamic_stack");
    info->uniform_work_group_size = get_bool(map, ".uniform_work_group_size");
    info->kind = WORD_INDEX(as_text(map_get(map, ".kind")), kernel_kinds, EHP_KERNEL_NORMAL);
    const object *reqd = map_get(map, ".reqd_workgroup_size");
    if (array_size(reqd) == 3) {
        for (unsigned i = 0; i < 3; i++)
            (void)as_u32(&reqd->via.array.ptr[i], &info->reqd_workgroup_size[i]);
    }
    return parse_args(k, map_get(map, ".args"), err);
}

static int parse_root(struct metadata *md, const object *root, struct code_error *err)
{
    const object *version = map_get(root, "amdhsa.version"), *kernels = map_get(root, "amdhsa.kernels");
    const object *printf_list = map_get(root, "amdhsa.printf");
    if (array_size(version) != 2 || !as_u32(&version->via.array.ptr[0], &md->version[0]) ||
        !as_u32(&version->via.array.ptr[1], &md->version[1]))
        return code_fail(err, EHP_ERR_BAD_IMAGE, "metadata: no amdhsa.version");
    if (md->version[0] != 1)
        return code_fail(err, EHP_ERR_UNSUPPORTED, "metadata: amdhsa.version is %u.%u, known is 1.x",
                         md->version[0], md->version[1]);
    md->target = as_text(map_get(root, "amdhsa.target"));

    uint32_t count = array_size(kernels);
    md->kernels = calloc(count ? count : 1, sizeof *md->kernels);
    uint32_t formats = array_size(printf_list);
    md->printf = calloc(formats ? formats : 1, sizeof *md->printf);
    if (!md->kernels || !md->printf)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    md->kernel_count = count;
    for (uint32_t i = 0; i < count; i++) {
        int status = parse_kernel(&md->kernels[i], &kernels->via.array.ptr[i], i, err);
        if (status != EHP_OK)
            return status;
    }
    for (uint32_t i = 0; i < formats; i++) {
        const char *text = as_text(&printf_list->via.array.ptr[i]);
        if (!text)
            return code_fail(err, EHP_ERR_BAD_IMAGE, "metadata: amdhsa.printf[%u] is not a string", i);
        md->printf[md->printf_count++] = text;
    }
    return EHP_OK;
}

int metadata_parse(struct metadata *md, const void *note, size_t bytes, struct code_error *err)
{
    *md = (struct metadata){0};
    size_t damage = measure(note, bytes);
    if (damage != SIZE_MAX)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "metadata: damaged MessagePack at byte %zu of %zu", damage,
                         bytes);
    md->text = malloc(bytes + 1);
    if (!md->text)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    memcpy(md->text, note, bytes);

    msgpack_unpacked root;
    msgpack_unpacked_init(&root);
    size_t used = 0;
    msgpack_unpack_return rc = msgpack_unpack_next(&root, md->text, bytes, &used);
    int status;
    if (rc != MSGPACK_UNPACK_SUCCESS && rc != MSGPACK_UNPACK_EXTRA_BYTES)
        status = code_fail(err, EHP_ERR_BAD_IMAGE, "metadata: damaged MessagePack near byte %zu of %zu", used,
                           bytes);
    else
        status = parse_root(md, &root.data, err);
    msgpack_unpacked_destroy(&root);
    if (status != EHP_OK)
        metadata_free(md);
    return status;
}

int metadata_join(struct metadata *md, struct metadata *more, struct code_error *err)
{
    struct metadata *rest = malloc(sizeof *rest);
    struct metadata_kernel *kernels =
        realloc(md->kernels, (md->kernel_count + more->kernel_count + 1) * sizeof *kernels);
    if (kernels)
        md->kernels = kernels;
    const char **formats = realloc(md->printf, (md->printf_count + more->printf_count + 1) * sizeof *formats);
    if (formats)
        md->printf = formats;
    if (!rest || !kernels || !formats) {
        free(rest);
        metadata_free(more);
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    }
    memcpy(kernels + md->kernel_count, more->kernels, more->kernel_count * sizeof *kernels);
    memcpy(formats + md->printf_count, more->printf, more->printf_count * sizeof *formats);
    md->kernel_count += more->kernel_count;
    md->printf_count += more->printf_count;
    free(more->kernels);
    free(more->printf);
    *rest = (struct metadata){.text = more->text, .joined = md->joined};
    md->joined = rest;
    *more = (struct metadata){0};
    return EHP_OK;
}

void metadata_free(struct metadata *md)
{
    for (struct metadata *rest = md->joined, *next; rest; rest = next) {
        next = rest->joined;
        free(rest->text);
        free(rest);
    }
    for (unsigned i = 0; i < md->kernel_count; i++)
        free(md->kernels[i].args);
    free(md->kernels);
    free(md->printf);
    free(md->text);
    *md = (struct metadata){0};
}
