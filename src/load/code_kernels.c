/* SPDX-License-Identifier: MIT */
/* The kernels of a code object: metadata note, descriptors, and the two brought together. */
#include "load/code.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

enum { NT_AMDGPU_METADATA = 32, ENTRY_ALIGN = 256 };

static const char note_vendor[] = "AMDGPU";

static int add_note(struct metadata *md, const void *note, size_t bytes, unsigned count,
                    struct code_error *err)
{
    if (count == 0)
        return metadata_parse(md, note, bytes, err);
    struct metadata more;
    int status = metadata_parse(&more, note, bytes, err);
    return status == EHP_OK ? metadata_join(md, &more, err) : status;
}

/* Every metadata note; *count says how many there were. */
static int read_notes(struct metadata *md, const struct code_elf *in, unsigned *count)
{
    Elf_Scn *scn = NULL;
    *count = 0;
    while ((scn = elf_nextscn(in->elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE)
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        if (!data || !data->d_buf)
            continue;
        GElf_Nhdr nh;
        size_t name_at, desc_at;
        for (size_t at = 0; (at = gelf_getnote(data, at, &nh, &name_at, &desc_at));) {
            const char *buffer = data->d_buf;
            if (nh.n_type != NT_AMDGPU_METADATA || nh.n_namesz != sizeof note_vendor ||
                memcmp(buffer + name_at, note_vendor, sizeof note_vendor))
                continue;
            int status = add_note(md, buffer + desc_at, nh.n_descsz, *count, in->err);
            if (status != EHP_OK)
                return status;
            ++*count;
        }
    }
    return EHP_OK;
}

static bool ends_in_kd(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".kd");
}

/* What the processor must refuse, whatever a dispatch asks for. */
static int check_descriptor(const struct ehp_code *code, const struct code_kernel *k, struct code_error *err)
{
    const struct kernel_descriptor *kd = k->descriptor;
    const char *name = k->info.name;
    uint64_t entry = k->info.object + (uint64_t)kd->kernel_code_entry_byte_offset, start, end;
    if (kd->kernel_code_properties & KD_WAVEFRONT_SIZE32)
        return code_fail(err, EHP_ERR_BAD_IMAGE,
                         "kernel %s: wavefronts of 32 lanes, which this processor lacks", name);
    if (code->isa->architected_flat_scratch &&
        kd->kernel_code_properties & (KD_SGPR_PRIVATE_SEGMENT_BUFFER | KD_SGPR_FLAT_SCRATCH_INIT))
        return code_fail(err, EHP_ERR_BAD_IMAGE,
                         "kernel %s: asks for scratch in SGPRs, which this processor does not set up", name);
    if (entry % ENTRY_ALIGN || !code_function_at(code, entry, &start, &end, NULL) || k->info.entry >= end)
        return code_fail(err, EHP_ERR_BAD_IMAGE,
                         "kernel %s: its entry, %lld bytes from the descriptor, is not code", name,
                         (long long)kd->kernel_code_entry_byte_offset);
    return EHP_OK;
}

static int place_kernel(struct ehp_code *code, struct code_kernel *k, const char *symbol,
                        struct code_error *err)
{
    const struct code_variable *v = code_variable_by_name(code, symbol);
    if (!v)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "kernel %s: its descriptor %s is not in the symbol table",
                         k->info.name, symbol);
    if (v->bytes != sizeof *k->descriptor || v->address % 64)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "kernel %s: its descriptor is %llu bytes at 0x%llx",
                         k->info.name, (unsigned long long)v->bytes,
                         (unsigned long long)(v->address - code->bias));
    k->descriptor = (const struct kernel_descriptor *)(uintptr_t)v->address;
    k->info.object = v->address;
    k->info.entry = kd_entry(k->descriptor, v->address);
    k->info.code_version = code->version;
    k->info.dynamic_stack |= kd_dynamic_stack(k->descriptor);
    k->info.held_sgprs = kd_sgprs(code->isa, k->descriptor);
    k->info.held_vgprs = kd_arch_vgprs(code->isa, k->descriptor);
    k->info.held_agprs = kd_acc_vgprs(code->isa, k->descriptor);
    return check_descriptor(code, k, err);
}

/* Hand-written code may have descriptors and no metadata: the descriptor says enough to launch it. */
static int kernels_from_descriptors(struct ehp_code *code, struct code_error *err)
{
    struct metadata *md = &code->metadata;
    size_t text = 0, count = 0;
    for (size_t i = 0; i < code->variable_count; i++) {
        if (ends_in_kd(code->variables[i].name)) {
            text += strlen(code->variables[i].name) + 1;
            count++;
        }
    }
    md->text = malloc(text + 1);
    md->kernels = calloc(count + 1, sizeof *md->kernels);
    if (!md->text || !md->kernels)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    char *p = md->text;
    for (size_t i = 0; i < code->variable_count; i++) {
        const struct code_variable *v = &code->variables[i];
        if (!ends_in_kd(v->name))
            continue;
        if (v->bytes != sizeof(struct kernel_descriptor))
            return code_fail(err, EHP_ERR_BAD_IMAGE, "descriptor %s: %llu bytes", v->name,
                             (unsigned long long)v->bytes);
        struct kernel_descriptor kd;
        memcpy(&kd, (const void *)(uintptr_t)v->address, sizeof kd);
        size_t length = strlen(v->name) - 3;
        memcpy(p, v->name, length);
        p[length] = 0;
        md->kernels[md->kernel_count++] =
            (struct metadata_kernel){.symbol = v->name,
                                     .info = {.size = sizeof(struct ehp_kernel),
                                              .name = p,
                                              .kernarg_bytes = kd.kernarg_size,
                                              .kernarg_align = 16,
                                              .group_bytes = kd.group_segment_fixed_size,
                                              .private_bytes = kd.private_segment_fixed_size,
                                              .sgprs = kd_sgprs(code->isa, &kd),
                                              .vgprs = kd_vgprs(code->isa, &kd),
                                              .agprs = kd_acc_vgprs(code->isa, &kd),
                                              .wavefront_size = 64,
                                              .max_flat_workgroup_size = 1024}};
        p += length + 1;
    }
    return EHP_OK;
}

static int compare_name(const void *a, const void *b)
{
    const struct code_kernel *const *x = a, *const *y = b;
    return strcmp((*x)->info.name, (*y)->info.name);
}

static int compare_object(const void *a, const void *b)
{
    const struct code_kernel *const *x = a, *const *y = b;
    return ((*x)->info.object > (*y)->info.object) - ((*x)->info.object < (*y)->info.object);
}

int code_read_kernels(struct ehp_code *code, const struct code_elf *in)
{
    unsigned notes;
    struct metadata *md = &code->metadata;
    int status = read_notes(md, in, &notes);
    if (status == EHP_OK && notes == 0)
        status = kernels_from_descriptors(code, in->err);
    if (status != EHP_OK)
        return status;
    code->kernels = calloc(md->kernel_count + 1, sizeof *code->kernels);
    code->by_name = calloc(md->kernel_count + 1, sizeof *code->by_name);
    code->by_object = calloc(md->kernel_count + 1, sizeof *code->by_object);
    if (!code->kernels || !code->by_name || !code->by_object)
        return code_fail(in->err, EHP_ERR_NO_MEMORY, "out of memory");
    for (unsigned i = 0; i < md->kernel_count; i++) {
        struct code_kernel *k = &code->kernels[i];
        k->info = md->kernels[i].info;
        status = place_kernel(code, k, md->kernels[i].symbol, in->err);
        if (status != EHP_OK)
            return status;
        code->by_name[i] = code->by_object[i] = k;
    }
    code->kernel_count = md->kernel_count;
    qsort(code->by_name, code->kernel_count, sizeof *code->by_name, compare_name);
    qsort(code->by_object, code->kernel_count, sizeof *code->by_object, compare_object);
    return EHP_OK;
}

/* ---- lookups ---- */

const struct code_kernel *code_kernel_by_object(const struct ehp_code *code, uint64_t object)
{
    const struct code_kernel probe = {.info.object = object}, *key = &probe;
    const struct code_kernel **found =
        bsearch(&key, code->by_object, code->kernel_count, sizeof *code->by_object, compare_object);
    return found ? *found : NULL;
}

const struct code_kernel *code_kernel_by_name(const struct ehp_code *code, const char *name)
{
    const struct code_kernel probe = {.info.name = name}, *key = &probe;
    const struct code_kernel **found =
        bsearch(&key, code->by_name, code->kernel_count, sizeof *code->by_name, compare_name);
    return found ? *found : NULL;
}

/* ---- ehp.h ---- */

unsigned ehp_code_kernel_count(const ehp_code *code)
{
    return code->kernel_count;
}

/* Callers of an older library have a shorter struct. */
static int copy_kernel(const struct code_kernel *k, struct ehp_kernel *out)
{
    if (!k)
        return EHP_ERR_NOT_FOUND;
    size_t size = out->size;
    if (size < offsetof(struct ehp_kernel, name))
        return EHP_ERR_INVALID;
    memcpy(out, &k->info, size < sizeof k->info ? size : sizeof k->info);
    out->size = size;
    return EHP_OK;
}

const char *ehp_code_isa(const ehp_code *code)
{
    return code->isa->name;
}

int ehp_code_kernel_at(const ehp_code *code, unsigned index, struct ehp_kernel *out)
{
    return copy_kernel(index < code->kernel_count ? &code->kernels[index] : NULL, out);
}

int ehp_code_kernel(const ehp_code *code, const char *name, struct ehp_kernel *out)
{
    return copy_kernel(name ? code_kernel_by_name(code, name) : NULL, out);
}

int ehp_code_symbol(const ehp_code *code, const char *name, void **address, uint64_t *bytes)
{
    const struct code_variable *v = name ? code_variable_by_name(code, name) : NULL;
    if (!v)
        return EHP_ERR_NOT_FOUND;
    if (address)
        *address = (void *)(uintptr_t)v->address;
    if (bytes)
        *bytes = v->bytes;
    return EHP_OK;
}

const char *ehp_code_printf(const ehp_code *code, unsigned index)
{
    return index < code->metadata.printf_count ? code->metadata.printf[index] : NULL;
}
