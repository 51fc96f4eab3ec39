/* SPDX-License-Identifier: MIT */
/*
 * Code objects compiled from data/kernels.hip and data/external.s: what is
 * expected was read off the sources and `llvm-readelf`, not off our loader.
 *   objects DIRECTORY
 */
#include "blob.h"

#include "load/lines.h"

static const char *directory;
static struct pool pool;
static struct code_error err;

static const char agent[] = "gfx942:sramecc+:xnack-";

static struct code_params params(const char *isa)
{
    return (struct code_params){.allocator = {&pool, pool_alloc, pool_free}, .isa = isa, .error = &err};
}

static struct ehp_code *load(const char *file)
{
    struct blob b = read_file(directory, file);
    struct guarded g = guard_new(b.data, b.bytes);
    struct ehp_code *code = NULL;
    struct code_params p = params(agent);
    err.text[0] = 0;
    if (!CHECK_EQ(code_load(&p, g.data, b.bytes, &code), EHP_OK))
        fprintf(stderr, "%s: %s\n", file, err.text);
    guard_free(g); /* the image may go away */
    free(b.data);
    return code;
}

static void check_arg(const struct ehp_kernel *k, unsigned i, unsigned offset, unsigned bytes, int kind)
{
    if (!CHECK(i < k->arg_count))
        return;
    CHECK_EQ(k->args[i].offset, offset);
    CHECK_EQ(k->args[i].bytes, bytes);
    CHECK_EQ(k->args[i].kind, kind);
}

static uint64_t symbol(const struct ehp_code *code, const char *name, uint64_t bytes)
{
    void *address = NULL;
    uint64_t size = 0;
    CHECK_EQ(ehp_code_symbol(code, name, &address, &size), EHP_OK);
    CHECK_EQ(size, bytes);
    return (uintptr_t)address;
}

static void check_functions(const struct ehp_code *code)
{
    const struct code_kernel *k = code_kernel_by_name(code, "args");
    uint64_t start, end;
    const char *name;
    CHECK(code_function_at(code, k->info.entry + 8, &start, &end, &name));
    CHECK_STR(name, "args");
    CHECK(start <= k->info.entry && end > k->info.entry + 8 && end - start < 1024);

    /* From the function pointers, which are relocated data. */
    uint64_t functions[2];
    memcpy(functions, (void *)symbol(code, "functions", 16), 16);
    CHECK(code_function_at(code, functions[0] + 4, &start, &end, &name));
    CHECK_STR(name, "twice");
    CHECK_EQ(start, functions[0]);
    uint64_t twice_end = end;
    CHECK(code_function_at(code, functions[1], &start, &end, &name));
    CHECK_STR(name, "thrice");
    CHECK_EQ(start, functions[1]);
    CHECK(twice_end <= start);

    /* Padding behind the last function before a 256-byte boundary is executable and nobody's. */
    CHECK(code_function_at(code, end, &start, &end, &name));
    CHECK_STR(name, NULL);
    CHECK(end > start);
    CHECK(!code_function_at(code, symbol(code, "table", 16), NULL, NULL, NULL));
    CHECK(!code_function_at(code, 0, NULL, NULL, NULL));

    struct ehp_function f = EHP_FUNCTION_INIT, g = EHP_FUNCTION_INIT;
    CHECK_EQ(ehp_code_function_count(code), 5);
    for (unsigned i = 0; i < 5; i++) {
        CHECK_EQ(ehp_code_function_at(code, i, &f), EHP_OK);
        CHECK_EQ(ehp_code_function(code, f.end - 4, &g), EHP_OK);
        CHECK(f.name == g.name && f.start == g.start);
    }
    CHECK_EQ(ehp_code_function_at(code, 5, &f), EHP_ERR_NOT_FOUND);
    CHECK_EQ(ehp_code_function(code, 64, &f), EHP_ERR_NOT_FOUND);
    CHECK(!code_function_at(code, UINT64_MAX, NULL, NULL, NULL));
}

static void check_data(const struct ehp_code *code)
{
    int table[4];
    uint64_t at = symbol(code, "table", 16), middle;
    memcpy(table, (void *)at, sizeof table);
    CHECK_EQ(table[0], 10);
    CHECK_EQ(table[3], 13);
    memcpy(&middle, (void *)symbol(code, "middle", 8), 8);
    CHECK_EQ(middle, at + 8);
    const int *zeros = (const int *)symbol(code, "zeros", 4000);
    int any = 0;
    for (int i = 0; i < 1000; i++)
        any |= zeros[i];
    CHECK_EQ(any, 0);
    float scale;
    memcpy(&scale, (void *)symbol(code, "scale", 4), 4);
    CHECK(scale == 2.5f);
    CHECK(code_contains(code, at));
    CHECK(!code_contains(code, (uintptr_t)&at));
    CHECK_EQ(ehp_code_symbol(code, "scal", NULL, NULL), EHP_ERR_NOT_FOUND);
    CHECK_EQ(ehp_code_symbol(code, "scale2", NULL, NULL), EHP_ERR_NOT_FOUND);
}

static void check_args_kernel(const struct ehp_code *code, unsigned version)
{
    struct ehp_kernel k = EHP_KERNEL_INIT;
    CHECK_EQ(ehp_code_kernel(code, "args", &k), EHP_OK);
    CHECK_STR(k.name, "args");
    CHECK_EQ(k.code_version, version);
    CHECK_EQ(k.group_bytes, 384);
    CHECK_EQ(k.private_bytes, 0);
    CHECK_EQ(k.wavefront_size, 64);
    CHECK_EQ(k.max_flat_workgroup_size, 1024);
    CHECK_EQ(k.kernarg_align, 8);
    CHECK(!k.dynamic_stack);
    CHECK_EQ(k.kind, EHP_KERNEL_NORMAL);
    CHECK_EQ(k.arg_count, 6);
    check_arg(&k, 0, 0, 1, EHP_ARG_BY_VALUE);
    check_arg(&k, 1, 2, 2, EHP_ARG_BY_VALUE);
    check_arg(&k, 2, 8, 8, EHP_ARG_GLOBAL_BUFFER);
    check_arg(&k, 3, 16, 8, EHP_ARG_GLOBAL_BUFFER);
    check_arg(&k, 4, 24, 12, EHP_ARG_BY_VALUE);
    check_arg(&k, 5, 36, 4, EHP_ARG_BY_VALUE);
    CHECK_EQ(k.args[2].address_space, 1);
    CHECK_EQ(k.args[0].address_space, -1);
    CHECK_EQ(k.args[2].access, -1);

    const struct code_kernel *found = code_kernel_by_object(code, k.object);
    CHECK(found && found->info.entry == k.entry);
    CHECK(!code_kernel_by_object(code, k.object + 1));
    CHECK_EQ(ehp_code_kernel(code, "arg", &k), EHP_ERR_NOT_FOUND);

    /* A caller with a struct from before `entry` was added gets what fits. */
    struct ehp_kernel old;
    memset(&old, 0xee, sizeof old);
    old.size = offsetof(struct ehp_kernel, entry);
    CHECK_EQ(ehp_code_kernel(code, "args", &old), EHP_OK);
    CHECK_EQ(old.object, k.object);
    CHECK_EQ(old.entry, 0xeeeeeeeeeeeeeeeeULL);
    CHECK_EQ(old.size, offsetof(struct ehp_kernel, entry));
}

static void check_hidden_kernel(const struct ehp_code *code, unsigned version)
{
    struct ehp_kernel k = EHP_KERNEL_INIT;
    CHECK_EQ(ehp_code_kernel(code, "hidden", &k), EHP_OK);
    check_arg(&k, 0, 0, 8, EHP_ARG_GLOBAL_BUFFER);
    if (version == 4) {
        check_arg(&k, 1, 8, 8, EHP_ARG_HIDDEN_GLOBAL_OFFSET_X);
        check_arg(&k, 4, 32, 8, EHP_ARG_HIDDEN_NONE);
        CHECK_EQ(k.kernarg_bytes, 64);
    } else { /* offsets of v5's implicit arguments: 4-byte counts, 2-byte sizes, remainders */
        check_arg(&k, 1, 8, 4, EHP_ARG_HIDDEN_BLOCK_COUNT_X);
        check_arg(&k, 3, 16, 4, EHP_ARG_HIDDEN_BLOCK_COUNT_Z);
        check_arg(&k, 4, 20, 2, EHP_ARG_HIDDEN_GROUP_SIZE_X);
        check_arg(&k, 9, 30, 2, EHP_ARG_HIDDEN_REMAINDER_Z);
        check_arg(&k, 10, 48, 8, EHP_ARG_HIDDEN_GLOBAL_OFFSET_X);
        check_arg(&k, 13, 72, 2, EHP_ARG_HIDDEN_GRID_DIMS);
        CHECK_EQ(k.kernarg_bytes, 264);
    }
    const struct kernel_descriptor *kd = code_kernel_by_name(code, "hidden")->descriptor;
    CHECK(kd_workgroup_id(kd, 1));
    CHECK_EQ(kd_workitem_id(kd), 2);
    CHECK_EQ(kd->kernarg_size, k.kernarg_bytes);

    CHECK_EQ(ehp_code_kernel(code, "indirect", &k), EHP_OK);
    CHECK_EQ(k.max_flat_workgroup_size, 64);
    CHECK(version == 4 || k.dynamic_stack);
    CHECK(k.vgprs >= 40);
    CHECK(kd_private_segment(code_kernel_by_name(code, "indirect")->descriptor));
}

static void test_hip_object(const char *file, unsigned version, bool preload)
{
    struct ehp_code *code = load(file);
    if (!code)
        return;
    CHECK_EQ(code->version, version);
    CHECK_EQ(ehp_code_kernel_count(code), 3);
    check_args_kernel(code, version);
    check_hidden_kernel(code, version);
    check_functions(code);
    check_data(code);
    CHECK(!ehp_code_printf(code, 0));
    for (unsigned i = 0; i < 3; i++) {
        struct ehp_kernel k = EHP_KERNEL_INIT;
        CHECK_EQ(ehp_code_kernel_at(code, i, &k), EHP_OK);
        const struct kernel_descriptor *kd = (const void *)(uintptr_t)k.object;
        CHECK_EQ(k.entry - k.object - (uint64_t)kd->kernel_code_entry_byte_offset, preload ? 256 : 0);
        CHECK_EQ(kd_preload_dwords(kd) != 0, preload);
        CHECK(kd_vgprs(&isa_gfx942, kd) >= k.vgprs && kd_vgprs(&isa_gfx942, kd) < k.vgprs + 8);
        CHECK(kd_sgprs(&isa_gfx942, kd) >= k.sgprs && kd_sgprs(&isa_gfx942, kd) < k.sgprs + 16);
        CHECK_EQ(kd_user_sgprs(kd), kd_fixed_user_sgprs(kd) + kd_preload_dwords(kd));
        CHECK_EQ(kd_float_mode(kd), 0xf0); /* round to nearest even, keep denormals */
        CHECK(kd_dx10_clamp(kd) && kd_ieee_mode(kd));
    }
    CHECK_EQ(ehp_code_kernel_at(code, 3, &(struct ehp_kernel)EHP_KERNEL_INIT), EHP_ERR_NOT_FOUND);
    code_destroy(code);
}

/* ---- hand-written: no metadata, every descriptor field set, symbols of others ---- */

static bool bind(void *context, const char *name, uint64_t *address)
{
    ++*(int *)context;
    if (strcmp(name, "elsewhere") != 0)
        return false;
    *address = 0x123456789000;
    return true;
}

static void test_external(void)
{
    struct blob b = read_file(directory, "external.hsaco");
    struct ehp_code *code;
    struct code_params p = params(agent);
    CHECK_EQ(code_load(&p, b.data, b.bytes, &code), EHP_ERR_NOT_FOUND);
    CHECK(strstr(err.text, "elsewhere") != NULL);
    CHECK(!code);

    int asked = 0;
    p.bind = bind;
    p.bind_context = &asked;
    CHECK_EQ(code_load(&p, b.data, b.bytes, &code), EHP_OK);
    free(b.data);
    if (!code)
        return;
    CHECK_EQ(asked, 2);
    uint64_t slots[4], at = symbol(code, "slots", 32);
    memcpy(slots, (void *)at, sizeof slots);
    const struct code_kernel *k = code_kernel_by_name(code, "bare");
    CHECK_EQ(slots[0], 0x123456789010);
    CHECK_EQ(slots[1], 0);
    CHECK_EQ(slots[3], at);
    if (!CHECK(k != NULL))
        return;
    CHECK_EQ(slots[2], k->info.entry - 256 + 4);
    static const uint32_t first = 0xbe821c00; /* s_getpc_b64 s[2:3], behind the prologue */
    CHECK_EQ(*(const uint32_t *)(uintptr_t)k->info.entry, first);
    CHECK_EQ(k->info.kernarg_bytes, 24);
    CHECK_EQ(k->info.group_bytes, 1024);
    CHECK_EQ(k->info.private_bytes, 16);
    CHECK_EQ(k->info.arg_count, 0);
    CHECK(k->info.dynamic_stack);

    const struct kernel_descriptor *kd = k->descriptor;
    CHECK_EQ(kd_vgprs(&isa_gfx942, kd), 24);
    CHECK_EQ(kd_arch_vgprs(&isa_gfx942, kd), 12);
    CHECK_EQ(kd_acc_vgprs(&isa_gfx942, kd), 12);
    CHECK_EQ(kd_sgprs(&isa_gfx942, kd), 48); /* 40, VCC, FLAT_SCRATCH and XNACK_MASK */
    CHECK_EQ(kd->kernel_code_properties & 0x7f, KD_SGPR_DISPATCH_PTR | KD_SGPR_KERNARG_SEGMENT_PTR);
    CHECK_EQ(kd_fixed_user_sgprs(kd), 4);
    CHECK_EQ(kd_preload_dwords(kd), 3);
    CHECK_EQ(kd_preload_offset(kd), 2);
    CHECK_EQ(kd_user_sgprs(kd), 7);
    CHECK(kd_workgroup_id(kd, 0) && kd_workgroup_id(kd, 1) && !kd_workgroup_id(kd, 2));
    CHECK(!kd_workgroup_info(kd));
    CHECK_EQ(kd_workitem_id(kd), 2);
    CHECK_EQ(kd_float_mode(kd), 0xf1);
    CHECK(!kd_ieee_mode(kd) && kd_dx10_clamp(kd) && kd_fp16_ovfl(kd) && kd_tg_split(kd));
    CHECK_EQ(kd_exceptions(kd), 1 << 2);
    CHECK(!kd_trap_handler(kd));
    code_destroy(code);
}

/* ---- debug information ---- */

static void test_lines(void)
{
    struct ehp_code *code = load("debug.hsaco");
    if (!code)
        return;
    uint64_t functions[2];
    memcpy(functions, (void *)symbol(code, "functions", 16), 16);
    char text[64] = "";
    bool found = code_line_at(code, functions[1] + 4, text, sizeof text);
#if EHP_LIBDW
    CHECK(found);
    CHECK_STR(text, "kernels.hip:31"); /* return x * 3; */
#else
    CHECK(!found);
#endif
    CHECK(!code_line_at(code, symbol(code, "table", 16), text, sizeof text));
    code_destroy(code);
    code = load("v5.hsaco");
    CHECK(!code_line_at(code, code_kernel_by_name(code, "args")->info.entry, text, sizeof text));
    code_destroy(code);
}

/* ---- refusals ---- */

static void expect(const char *file, const char *isa, int status, const char *words)
{
    struct blob b = read_file(directory, file);
    struct code_params p = params(isa);
    struct ehp_code *code = NULL;
    int got = code_load(&p, b.data, b.bytes, &code);
    CHECK_EQ(got, status);
    if (words)
        CHECK_STR(strstr(err.text, words) ? words : err.text, words);
    code_destroy(code);
    free(b.data);
}

/* Overwrites bytes of a good object. */
static void expect_patched(size_t offset, uint64_t value, size_t width, int status, const char *words)
{
    struct blob b = read_file(directory, "v5.hsaco");
    memcpy(b.data + offset, &value, width);
    struct code_params p = params(agent);
    struct ehp_code *code = NULL;
    CHECK_EQ(code_load(&p, b.data, b.bytes, &code), status);
    CHECK_STR(strstr(err.text, words) ? words : err.text, words);
    code_destroy(code);
    free(b.data);
}

static void test_refusals(void)
{
    expect("v5.hsaco", agent, EHP_OK, NULL);
    expect("generic.hsaco", agent, EHP_OK, NULL);
    expect("exact.hsaco", agent, EHP_OK, NULL);
    expect("gfx90a.hsaco", agent, EHP_ERR_WRONG_ISA, "is for gfx90a; this machine is gfx942:sramecc+:xnack-");
    expect("xnack.hsaco", agent, EHP_ERR_WRONG_ISA, "is for gfx942:xnack+; this machine is gfx942");
    expect("xnack.hsaco", "gfx942:sramecc+:xnack+", EHP_OK, NULL);
    expect("exact.hsaco", "gfx942:sramecc+:xnack+", EHP_ERR_WRONG_ISA, "xnack-");
    expect("gfx90a.hsaco", "gfx90a:sramecc+:xnack-", EHP_ERR_WRONG_ISA, "nothing here decodes gfx90a");
    expect("generic.hsaco", "gfx90a:sramecc+:xnack-", EHP_ERR_WRONG_ISA, "gfx9-4-generic");
    expect("v5.hsaco", "not an isa:x", EHP_ERR_INVALID, "ISA");

    expect_patched(18, 62, 2, EHP_ERR_WRONG_ISA, "x86-64");
    expect_patched(8, 1, 1, EHP_ERR_UNSUPPORTED, "version 3");
    expect_patched(8, 9, 1, EHP_ERR_UNSUPPORTED, "version 11");
    expect_patched(7, 0, 1, EHP_ERR_UNSUPPORTED, "OS ABI");
    expect_patched(16, 1, 2, EHP_ERR_UNSUPPORTED, "relocatable");
    expect_patched(48, 0x0ff, 1, EHP_ERR_WRONG_ISA, "0x0ff");
    /* Program header 1, the first PT_LOAD, is at 64 + 56: offset, vaddr, file size, memory size. */
    expect_patched(120 + 8, 1 << 30, 8, EHP_ERR_BAD_IMAGE, "the file ends at");
    expect_patched(120 + 32, 1 << 30, 8, EHP_ERR_BAD_IMAGE, "segment 1");
    expect_patched(120 + 40, 1ULL << 50, 8, EHP_ERR_NO_MEMORY, "no memory for a code object of");
    expect_patched(120 + 48, 3, 8, EHP_ERR_BAD_IMAGE, "alignment");
}

/* Every prefix and many bit flips: any answer but a crash, a read past the end, or a leak. */
static void test_damage(const char *file)
{
    struct blob b = read_file(directory, file);
    struct code_params p = params(agent);
    struct ehp_code *code;
    for (size_t bytes = 0; bytes < b.bytes; bytes += bytes < 4096 ? 7 : 61) {
        struct guarded g = guard_new(b.data, bytes);
        err.text[0] = 0;
        if (code_load(&p, g.data, bytes, &code) != EHP_OK)
            CHECK(err.text[0] != 0);
        code_destroy(code);
        err.text[0] = 0; /* and by an address alone, at the end of what can be read */
        if (code_load(&p, bytes ? g.data : g.map, EHP_IMAGE_SIZE_UNKNOWN, &code) != EHP_OK)
            CHECK(err.text[0] != 0);
        code_destroy(code);
        guard_free(g);
    }
    uint64_t seed = 88172645463325252ULL;
    for (int i = 0; i < 4000; i++) {
        struct guarded g = guard_new(b.data, b.bytes);
        for (int flips = 0; flips < 3; flips++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            g.data[(seed >> 8) % b.bytes] ^= (uint8_t)(1U << (seed & 7));
        }
        if (code_load(&p, g.data, b.bytes, &code) == EHP_OK) {
            char text[64];
            for (unsigned k = 0; k < code->kernel_count; k++)
                (void)code_line_at(code, code->kernels[k].info.entry, text, sizeof text);
        }
        code_destroy(code);
        guard_free(g);
    }
    free(b.data);
}

int main(int argc, char **argv)
{
    directory = argc > 1 ? argv[1] : ".";
    test_hip_object("v4.hsaco", 4, false);
    test_hip_object("v5.hsaco", 5, false);
    test_hip_object("v6.hsaco", 6, false);
    test_hip_object("generic.hsaco", 6, false);
    test_hip_object("exact.hsaco", 5, false);
    test_hip_object("debug.hsaco", 5, false);
    test_hip_object("preload.hsaco", 5, true);
    test_hip_object("plain.hipfb", 5, false);
    test_hip_object("ccob2.hipfb", 5, false);
    test_hip_object("ccob3.hipfb", 5, false);
    test_external();
    test_lines();
    test_refusals();
    test_damage("v5.hsaco");
    test_damage("debug.hsaco");
    test_damage("ccob3.hipfb");
    test_damage("plain.hipfb");
    CHECK_EQ(code_load(&(struct code_params){.isa = agent, .error = &err}, (void *)0x1000,
                       EHP_IMAGE_SIZE_UNKNOWN, &(struct ehp_code *){NULL}),
             EHP_ERR_BAD_IMAGE);
    CHECK(strstr(err.text, "nothing can be read at 0x1000") != NULL);
    CHECK_EQ(pool.live, 0);
    return check_status();
}
