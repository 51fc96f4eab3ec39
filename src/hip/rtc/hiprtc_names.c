/* SPDX-License-Identifier: MIT */
/*
 * Lowered names.  For each name expression the compiled source has a device
 * pointer initialised with it; in the code object that is a relative relocation
 * at the pointer's address, whose addend is the address of the symbol asked for
 * (LLVM AMDGPUUsage, "Relocation Records").
 */
#include <elf.h>
#include <string.h>

#include "hip/rtc/hiprtc.h"

#define NAMES_RELATIVE64 13
#define NAMES_ABS64      3

struct names_image {
    const char *bytes;
    size_t count;
    const Elf64_Shdr *sections;
    size_t section_count;
};

static const void *names_at(const struct names_image *image, uint64_t offset, uint64_t bytes)
{
    if (offset > image->count || bytes > image->count - offset || offset % 8)
        return NULL;
    return image->bytes + offset;
}

static bool names_open(struct names_image *image, const char *bytes, size_t count)
{
    image->bytes = bytes;
    image->count = count;
    const Elf64_Ehdr *header = names_at(image, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shentsize != sizeof *image->sections)
        return false;
    image->section_count = header->e_shnum;
    image->sections = names_at(image, header->e_shoff, image->section_count * sizeof *image->sections);
    return image->sections != NULL;
}

struct names_symbols {
    const Elf64_Sym *symbols;
    size_t count;
    const char *strings;
    size_t string_bytes;
};

static bool names_symbols(const struct names_image *image, struct names_symbols *out)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const Elf64_Shdr *section = &image->sections[i];
        if (section->sh_type != SHT_DYNSYM || section->sh_link >= image->section_count)
            continue;
        const Elf64_Shdr *strings = &image->sections[section->sh_link];
        if (strings->sh_offset > image->count || strings->sh_size > image->count - strings->sh_offset)
            return false;
        out->count = section->sh_size / sizeof *out->symbols;
        out->symbols = names_at(image, section->sh_offset, section->sh_size);
        out->strings = image->bytes + strings->sh_offset;
        out->string_bytes = strings->sh_size;
        return out->symbols && out->string_bytes && !out->strings[out->string_bytes - 1];
    }
    return false;
}

static const char *names_string(const struct names_symbols *symbols, size_t index)
{
    size_t at = index < symbols->count ? symbols->symbols[index].st_name : 0;
    return at < symbols->string_bytes ? symbols->strings + at : "";
}

static char *names_by_address(const struct names_symbols *symbols, uint64_t address)
{
    for (size_t i = 1; i < symbols->count; i++) {
        unsigned type = ELF64_ST_TYPE(symbols->symbols[i].st_info);
        if (symbols->symbols[i].st_value == address && (type == STT_FUNC || type == STT_OBJECT))
            return strdup(names_string(symbols, i));
    }
    return NULL;
}

char *rtc_lowered_name(const char *bytes, size_t count, const char *variable)
{
    struct names_image image;
    struct names_symbols symbols;
    uint64_t address = 0;

    if (!names_open(&image, bytes, count) || !names_symbols(&image, &symbols))
        return NULL;
    for (size_t i = 1; i < symbols.count && !address; i++)
        if (!strcmp(names_string(&symbols, i), variable))
            address = symbols.symbols[i].st_value;
    for (size_t i = 0; address && i < image.section_count; i++) {
        const Elf64_Shdr *section = &image.sections[i];
        if (section->sh_type != SHT_RELA)
            continue;
        const Elf64_Rela *rela = names_at(&image, section->sh_offset, section->sh_size);
        for (size_t k = 0; rela && k < section->sh_size / sizeof *rela; k++) {
            if (rela[k].r_offset != address)
                continue;
            if (ELF64_R_TYPE(rela[k].r_info) == NAMES_RELATIVE64)
                return names_by_address(&symbols, (uint64_t)rela[k].r_addend);
            if (ELF64_R_TYPE(rela[k].r_info) == NAMES_ABS64)
                return strdup(names_string(&symbols, ELF64_R_SYM(rela[k].r_info)));
        }
    }
    return NULL;
}
