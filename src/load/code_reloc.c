/* SPDX-License-Identifier: MIT */
/*
 * Dynamic relocations of a code object.
 *
 * Source: LLVM, "User Guide for AMDGPU Backend", section "Relocation Records".
 * lld leaves R_AMDGPU_ABS64 and R_AMDGPU_RELATIVE64; the others that can be
 * computed without a global offset table of our own are taken too.
 */
#include "load/code.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

enum {
    R_NONE = 0,
    R_ABS32_LO = 1,
    R_ABS32_HI = 2,
    R_ABS64 = 3,
    R_REL32 = 4,
    R_REL64 = 5,
    R_ABS32 = 6,
    R_REL32_LO = 10,
    R_REL32_HI = 11,
    R_RELATIVE64 = 13,
};

static const struct {
    const char *name;
    unsigned bytes; /* 0: not a dynamic relocation */
} relocations[] = {
    [R_NONE] = {"R_AMDGPU_NONE", 0},
    [R_ABS32_LO] = {"R_AMDGPU_ABS32_LO", 4},
    [R_ABS32_HI] = {"R_AMDGPU_ABS32_HI", 4},
    [R_ABS64] = {"R_AMDGPU_ABS64", 8},
    [R_REL32] = {"R_AMDGPU_REL32", 4},
    [R_REL64] = {"R_AMDGPU_REL64", 8},
    [R_ABS32] = {"R_AMDGPU_ABS32", 4},
    [7] = {"R_AMDGPU_GOTPCREL", 0},
    [8] = {"R_AMDGPU_GOTPCREL32_LO", 0},
    [9] = {"R_AMDGPU_GOTPCREL32_HI", 0},
    [R_REL32_LO] = {"R_AMDGPU_REL32_LO", 4},
    [R_REL32_HI] = {"R_AMDGPU_REL32_HI", 4},
    [R_RELATIVE64] = {"R_AMDGPU_RELATIVE64", 8},
    [14] = {"R_AMDGPU_REL16", 0},
};

/* The symbols that relocations refer to. */
struct symbols {
    Elf_Data *data;
    size_t names; /* section */
};

static int resolve(const struct ehp_code *code, const struct code_elf *in, const struct symbols *symbols,
                   uint64_t index, uint64_t *address, const char **name)
{
    GElf_Sym sym;
    *address = 0;
    *name = "";
    if (!index)
        return EHP_OK;
    if (!symbols->data || index > INT32_MAX || !gelf_getsym(symbols->data, (int)index, &sym))
        return code_fail(in->err, EHP_ERR_BAD_IMAGE,
                         "relocation: it refers to symbol %llu, which is not there",
                         (unsigned long long)index);
    const char *text = elf_strptr(in->elf, symbols->names, sym.st_name);
    if (!text)
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "relocation: the name of symbol %llu is damaged",
                         (unsigned long long)index);
    *name = text;
    if (sym.st_shndx == SHN_ABS)
        *address = sym.st_value;
    else if (sym.st_shndx != SHN_UNDEF)
        *address = sym.st_value + code->bias;
    else if (!in->bind || !in->bind(in->bind_context, text, address)) {
        *address = 0;
        if (GELF_ST_BIND(sym.st_info) != STB_WEAK)
            return code_fail(in->err, EHP_ERR_NOT_FOUND,
                             "the code object uses the symbol %s, which nobody defines", text);
    }
    return EHP_OK;
}

static int apply(struct ehp_code *code, const struct code_elf *in, const struct symbols *symbols,
                 const GElf_Rela *rela)
{
    uint64_t type = GELF_R_TYPE(rela->r_info), s;
    const size_t known = sizeof relocations / sizeof relocations[0];
    const char *symbol;
    if (type == R_NONE)
        return EHP_OK;
    if (type >= known || !relocations[type].bytes)
        return code_fail(in->err, EHP_ERR_UNSUPPORTED, "relocation type %llu (%s) at 0x%llx",
                         (unsigned long long)type,
                         type < known && relocations[type].name ? relocations[type].name : "unknown",
                         (unsigned long long)rela->r_offset);
    unsigned bytes = relocations[type].bytes;
    if (!code_in_segments(code, rela->r_offset, bytes))
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "%s at 0x%llx, outside of every segment",
                         relocations[type].name, (unsigned long long)rela->r_offset);
    int status = resolve(code, in, symbols, GELF_R_SYM(rela->r_info), &s, &symbol);
    if (status != EHP_OK)
        return status;
    uint64_t p = rela->r_offset + code->bias, absolute = s + (uint64_t)rela->r_addend, value = absolute;
    switch (type) {
    case R_RELATIVE64:
        value = code->bias + (uint64_t)rela->r_addend;
        break;
    case R_REL32:
    case R_REL64:
    case R_REL32_LO:
        value = absolute - p;
        break;
    case R_REL32_HI:
        value = (absolute - p) >> 32;
        break;
    case R_ABS32_HI:
        value = absolute >> 32;
        break;
    default:
        break;
    }
    bool fits =
        (type != R_ABS32 || value <= UINT32_MAX) && (type != R_REL32 || (int64_t)value == (int32_t)value);
    if (!fits)
        return code_fail(in->err, EHP_ERR_UNSUPPORTED, "%s to %s at 0x%llx: 0x%llx does not fit in 32 bits",
                         relocations[type].name, symbol, (unsigned long long)rela->r_offset,
                         (unsigned long long)value);
    memcpy((void *)(uintptr_t)p, &value, bytes); /* little-endian: the low bytes first */
    return EHP_OK;
}

static int apply_section(struct ehp_code *code, const struct code_elf *in, Elf_Scn *scn,
                         const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    Elf_Scn *table = elf_getscn(in->elf, header->sh_link);
    GElf_Shdr table_header;
    struct symbols symbols = {0};
    if (table && gelf_getshdr(table, &table_header) &&
        (table_header.sh_type == SHT_DYNSYM || table_header.sh_type == SHT_SYMTAB)) {
        symbols.data = elf_getdata(table, NULL);
        symbols.names = table_header.sh_link;
    }
    size_t count = data && data->d_buf ? data->d_size / sizeof(Elf64_Rela) : 0;
    if (count != header->sh_size / sizeof(Elf64_Rela))
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "relocations: %s", elf_errmsg(-1));
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        if (!gelf_getrela(data, (int)i, &rela))
            return code_fail(in->err, EHP_ERR_BAD_IMAGE, "relocation %zu: %s", i, elf_errmsg(-1));
        int status = apply(code, in, &symbols, &rela);
        if (status != EHP_OK)
            return status;
    }
    return EHP_OK;
}

int code_relocate(struct ehp_code *code, const struct code_elf *in)
{
    Elf_Scn *scn = NULL;
    while ((scn = elf_nextscn(in->elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header))
            return code_fail(in->err, EHP_ERR_BAD_IMAGE, "section header: %s", elf_errmsg(-1));
        if (!(header.sh_flags & SHF_ALLOC)) /* those of debug information are not the loader's */
            continue;
        if (header.sh_type == SHT_REL || header.sh_type == 19 /* SHT_RELR */)
            return code_fail(in->err, EHP_ERR_UNSUPPORTED,
                             "relocations without addends: link with --pack-dyn-relocs=none");
        if (header.sh_type != SHT_RELA)
            continue;
        int status = apply_section(code, in, scn, &header);
        if (status != EHP_OK)
            return status;
    }
    return EHP_OK;
}
