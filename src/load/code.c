/* SPDX-License-Identifier: MIT */
/* Loading a code object: checks, segments, and what is torn down again; see code.h. */
#include "load/code.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/power.h"
#include "load/bundle.h"
#include "load/lines.h"

/* "AMDGPU ELF Header Enumeration Values" */
enum {
    MACHINE_AMDGPU = 224,
    OSABI_AMDGPU_HSA = 64,
    ABI_V3 = 1, /* ELFABIVERSION_AMDGPU_HSA_V3; a version is this plus 2 */
    ABI_V4 = 2,
    ABI_V6 = 4,
};

enum { PAGE = 4096, ALIGN_MOST = 1 << 21 };

bool code_in_segments(const struct ehp_code *code, uint64_t vaddr, uint64_t bytes)
{
    uint64_t offset = vaddr + code->bias - (uintptr_t)code->base;
    return offset <= code->bytes && bytes <= code->bytes - offset;
}

bool code_contains(const struct ehp_code *code, uint64_t address)
{
    return address - (uintptr_t)code->base < code->bytes;
}

/* ---- what it is ---- */

static const char *machine_hint(unsigned machine)
{
    switch (machine) {
    case EM_X86_64:
        return " (x86-64: a host program; its device code is in the section .hip_fatbin)";
    case EM_AARCH64:
        return " (AArch64)";
    default:
        return "";
    }
}

static int check_header(struct ehp_code *code, const GElf_Ehdr *eh, const struct target *agent,
                        struct code_error *err)
{
    if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "not a 64-bit little-endian ELF file");
    if (eh->e_machine != MACHINE_AMDGPU)
        return code_fail(err, EHP_ERR_WRONG_ISA, "an ELF file for machine %u%s, not for AMD GPUs",
                         eh->e_machine, machine_hint(eh->e_machine));
    if (eh->e_ident[EI_OSABI] != OSABI_AMDGPU_HSA)
        return code_fail(err, EHP_ERR_UNSUPPORTED, "the code object's OS ABI is %u, not HSA (64)",
                         eh->e_ident[EI_OSABI]);
    unsigned abi = eh->e_ident[EI_ABIVERSION];
    if (abi < ABI_V4 || abi > ABI_V6)
        return code_fail(err, EHP_ERR_UNSUPPORTED,
                         "code object version %u; versions 4, 5 and 6 are supported: compile with "
                         "-mcode-object-version=5",
                         abi + 2);
    if (eh->e_type == ET_REL)
        return code_fail(err, EHP_ERR_UNSUPPORTED, "a relocatable object: link it with ld.lld -shared first");
    if (eh->e_type != ET_DYN)
        return code_fail(err, EHP_ERR_BAD_IMAGE, "ELF type %u; a code object is a shared object (3)",
                         eh->e_type);
    code->version = abi + 2;
    char is[80], self[80];
    bool known = target_from_flags(&code->target, eh->e_flags, abi >= ABI_V6);
    if (!known || !target_runs_on(&code->target, agent)) {
        target_print(&code->target, is, sizeof is);
        target_print(agent, self, sizeof self);
        return code_fail(err, EHP_ERR_WRONG_ISA, "the code object is for %s; this machine is %s", is, self);
    }
    code->isa =
        isa_target_find(agent->processor); /* a generic processor's code is in the agent's encodings */
    if (!code->isa)
        return code_fail(err, EHP_ERR_WRONG_ISA, "nothing here decodes %s", agent->processor);
    return EHP_OK;
}

/* ---- segments ---- */

struct span {
    uint64_t low, high, align;
    unsigned loads, executables;
};

static int check_segment(const GElf_Phdr *ph, size_t index, size_t bytes, struct code_error *err)
{
    uint64_t end;
    if (ph->p_filesz > ph->p_memsz || __builtin_add_overflow(ph->p_vaddr, ph->p_memsz, &end))
        return code_fail(err, EHP_ERR_BAD_IMAGE,
                         "segment %zu: %llu bytes in the file for %llu in memory at 0x%llx", index,
                         (unsigned long long)ph->p_filesz, (unsigned long long)ph->p_memsz,
                         (unsigned long long)ph->p_vaddr);
    if (ph->p_offset > bytes || ph->p_filesz > bytes - ph->p_offset)
        return code_fail(err, EHP_ERR_BAD_IMAGE,
                         "segment %zu: %llu bytes at offset %llu, but the file ends at %zu", index,
                         (unsigned long long)ph->p_filesz, (unsigned long long)ph->p_offset, bytes);
    if (ph->p_align > ALIGN_MOST || (ph->p_align && !power_of_two(ph->p_align)))
        return code_fail(err, EHP_ERR_BAD_IMAGE, "segment %zu: its alignment is %llu", index,
                         (unsigned long long)ph->p_align);
    return EHP_OK;
}

static int find_span(const struct code_elf *in, size_t headers, struct span *span)
{
    *span = (struct span){.low = UINT64_MAX, .align = PAGE};
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr ph;
        if (!gelf_getphdr(in->elf, (int)i, &ph))
            return code_fail(in->err, EHP_ERR_BAD_IMAGE, "program header %zu: %s", i, elf_errmsg(-1));
        if (ph.p_type != PT_LOAD || !ph.p_memsz)
            continue;
        int status = check_segment(&ph, i, in->bytes, in->err);
        if (status != EHP_OK)
            return status;
        span->loads++;
        span->executables += (ph.p_flags & PF_X) != 0;
        span->low = ph.p_vaddr < span->low ? ph.p_vaddr : span->low;
        span->high = ph.p_vaddr + ph.p_memsz > span->high ? ph.p_vaddr + ph.p_memsz : span->high;
        span->align = ph.p_align > span->align ? ph.p_align : span->align;
    }
    if (!span->loads)
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "the code object has nothing to load");
    span->low &= ~(span->align - 1);
    return EHP_OK;
}

static int compare_range(const void *a, const void *b)
{
    const struct code_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int load_segments(struct ehp_code *code, const struct code_elf *in)
{
    size_t headers;
    struct span span;
    if (elf_getphdrnum(in->elf, &headers) != 0)
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "program headers: %s", elf_errmsg(-1));
    int status = find_span(in, headers, &span);
    if (status != EHP_OK)
        return status;
    code->executable = calloc(span.executables + 1, sizeof *code->executable);
    if (!code->executable)
        return code_fail(in->err, EHP_ERR_NO_MEMORY, "out of memory");
    code->bytes = span.high - span.low;
    code->base =
        code->allocator.alloc(code->allocator.context, code->allocator.agent, code->bytes, span.align);
    if (!code->base)
        return code_fail(in->err, EHP_ERR_NO_MEMORY, "no memory for a code object of %llu bytes",
                         (unsigned long long)code->bytes);
    code->bias = (uintptr_t)code->base - span.low;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr ph;
        if (!gelf_getphdr(in->elf, (int)i, &ph) || ph.p_type != PT_LOAD || !ph.p_memsz)
            continue;
        memcpy(code->base + (ph.p_vaddr - span.low), in->data + ph.p_offset, ph.p_filesz);
        /* In whole dwords: whoever decodes may count on it. */
        uint64_t start = (ph.p_vaddr + code->bias + 3) & ~3ULL,
                 end = (ph.p_vaddr + ph.p_memsz + code->bias) & ~3ULL;
        if (ph.p_flags & PF_X && start < end)
            code->executable[code->executable_count++] = (struct code_range){start, end};
    }
    qsort(code->executable, code->executable_count, sizeof *code->executable, compare_range);
    return EHP_OK;
}

/* ---- all of it ---- */

static int load_elf(struct ehp_code *code, struct code_elf *in, const struct target *agent)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return code_fail(in->err, EHP_ERR_UNSUPPORTED, "libelf: %s", elf_errmsg(-1));
    /* libelf wants char *, and does not write to it. */
    in->elf = elf_memory((char *)(uintptr_t)in->data, in->bytes);
    GElf_Ehdr eh;
    if (!in->elf || elf_kind(in->elf) != ELF_K_ELF || !gelf_getehdr(in->elf, &eh))
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "damaged ELF header: %s", elf_errmsg(-1));
    int status = check_header(code, &eh, agent, in->err);
    if (status == EHP_OK)
        status = load_segments(code, in);
    if (status == EHP_OK)
        status = code_read_symbols(code, in);
    if (status == EHP_OK)
        status = code_relocate(code, in);
    if (status == EHP_OK)
        status = code_read_kernels(code, in);
    if (status == EHP_OK)
        code->lines = lines_create(in->elf, in->data, in->bytes);
    return status;
}

int code_load(const struct code_params *params, const void *image, size_t bytes, struct ehp_code **out)
{
    struct target agent;
    struct bundle_pick pick;
    struct code_error *err = params->error;
    *out = NULL;
    if (!image || !params->isa || !target_parse(&agent, params->isa, strlen(params->isa)))
        return code_fail(err, EHP_ERR_INVALID, image ? "the agent's ISA has no valid name" : "no image");
    uint8_t *own;
    int status = image_copy(&own, &bytes, image, err);
    if (status != EHP_OK)
        return status;
    status = bundle_find(&pick, own, bytes, &agent, err);
    if (status != EHP_OK) {
        free(own);
        return status;
    }
    struct ehp_code *code = calloc(1, sizeof *code);
    if (code) {
        code->allocator = params->allocator;
        struct code_elf in = {.data = pick.data,
                              .bytes = pick.bytes,
                              .bind = params->bind,
                              .bind_context = params->bind_context,
                              .err = err};
        status = load_elf(code, &in, &agent);
        elf_end(in.elf);
    } else {
        status = code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    }
    bundle_pick_free(&pick);
    free(own);
    if (status == EHP_OK)
        *out = code;
    else
        code_destroy(code);
    return status;
}

void code_destroy(struct ehp_code *code)
{
    if (!code)
        return;
    lines_destroy(code->lines);
    metadata_free(&code->metadata);
    free(code->by_name);
    free(code->by_object);
    free(code->kernels);
    free(code->variables);
    free(code->functions);
    free(code->names);
    free(code->executable);
    if (code->base)
        code->allocator.free(code->allocator.context, code->base);
    free(code);
}
