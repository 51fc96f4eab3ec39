/* SPDX-License-Identifier: MIT */
/* Relocations of an object: System V ABI, AMD64 supplement, table 4.9. S, A, P, G and GOT are the table's. */
#include <string.h>

#include "jit/object_link.h"

static bool asks_got(unsigned type)
{
    return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
}

/* The bytes that a relocation writes; 0: none that is known. */
static size_t width(unsigned type)
{
    switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC64:
        return 8;
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        return 4;
    default:
        return asks_got(type) ? 4 : 0;
    }
}

typedef bool each_fn(struct link *l, const struct place *in, const GElf_Rela *rela);

static bool each_in(struct link *l, size_t section, const GElf_Shdr *header, each_fn *fn)
{
    const struct place *in = &l->places[header->sh_info];
    Elf_Data *data = elf_getdata(elf_getscn(l->elf, section), NULL);
    if (header->sh_type != SHT_RELA || header->sh_link != l->table || !data || (data->d_size && !data->d_buf))
        return link_fail(l, "damaged relocations in section %zu", section);
    const size_t count = data->d_size / sizeof(Elf64_Rela);
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        if (i > INT32_MAX || !gelf_getrela(data, (int)i, &rela))
            return link_fail(l, "relocation %zu of section %zu: %s", i, section, elf_errmsg(-1));
        const unsigned type = (unsigned)GELF_R_TYPE(rela.r_info);
        const size_t bytes = width(type);
        if (type == R_X86_64_NONE)
            continue;
        if (!bytes)
            return link_fail(l, "relocation %zu of section %zu is of type %u", i, section, type);
        if (rela.r_offset > in->bytes || in->bytes - rela.r_offset < bytes)
            return link_fail(l, "relocation %zu of section %zu lies outside", i, section);
        if (!fn(l, in, &rela))
            return false;
    }
    return true;
}

/* Calls fn for each relocation of sections that are loaded, until it fails. */
static bool each_relocation(struct link *l, each_fn *fn)
{
    for (size_t i = 1; i < l->section_count; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(l->elf, i);
        if (!section || !gelf_getshdr(section, &header))
            return link_fail(l, "header of section %zu: %s", i, elf_errmsg(-1));
        if ((header.sh_type != SHT_RELA && header.sh_type != SHT_REL) || header.sh_info >= l->section_count ||
            !l->places[header.sh_info].loaded)
            continue;
        if (!each_in(l, i, &header, fn))
            return false;
    }
    return true;
}

static bool count_slot(struct link *l, const struct place *in, const GElf_Rela *rela)
{
    const size_t index = GELF_R_SYM(rela->r_info);
    GElf_Sym symbol;
    const char *name;
    (void)in;
    if (!link_symbol(l, index, &symbol, &name))
        return false;
    const bool outside = index && symbol.st_shndx == SHN_UNDEF;
    if ((outside || asks_got((unsigned)GELF_R_TYPE(rela->r_info))) && !l->slots[index])
        l->slots[index] = ++l->slot_count;
    return true;
}

bool link_count_slots(struct link *l)
{
    return each_relocation(l, count_slot);
}

static uint8_t *slot_of(const struct link *l, size_t symbol)
{
    return l->memory + l->got_at + (size_t)(l->slots[symbol] - 1) * SLOT;
}

static uint8_t *stub_of(const struct link *l, size_t symbol)
{
    return l->memory + l->stubs_at + (size_t)(l->slots[symbol] - 1) * STUB;
}

/* jmp *SLOT(%rip) */
static void write_stub(uint8_t *stub, const uint8_t *slot)
{
    static const uint8_t jump[2] = {0xff, 0x25};
    const int32_t distance = (int32_t)(slot - (stub + 6));
    memcpy(stub, jump, sizeof(jump));
    memcpy(stub + sizeof(jump), &distance, sizeof(distance));
}

static bool fill_slots(struct link *l)
{
    for (size_t i = 0; i < l->symbol_count; i++) {
        GElf_Sym symbol;
        const char *name;
        uint64_t address = 0;
        if (!l->slots[i])
            continue;
        if (!link_symbol(l, i, &symbol, &name))
            return false;
        if (i && symbol.st_shndx == SHN_UNDEF) {
            address = (uintptr_t)l->resolve(l->context, name);
            if (!address)
                return link_fail(l, "nothing is called \"%s\"", name);
        } else if (i && !link_address(l, &symbol, name, &address)) {
            return false;
        }
        memcpy(slot_of(l, i), &address, sizeof(address));
        write_stub(stub_of(l, i), slot_of(l, i));
    }
    return true;
}

static bool apply(struct link *l, const struct place *in, const GElf_Rela *rela)
{
    const unsigned type = (unsigned)GELF_R_TYPE(rela->r_info);
    const size_t index = GELF_R_SYM(rela->r_info);
    uint8_t *at = l->memory + in->at + rela->r_offset;
    const uint64_t p = (uintptr_t)at;
    GElf_Sym symbol;
    const char *name;
    uint64_t s = 0;
    if (!link_symbol(l, index, &symbol, &name))
        return false;
    if (asks_got(type))
        s = (uintptr_t)slot_of(l, index);
    else if (index && symbol.st_shndx == SHN_UNDEF && (type == R_X86_64_PC32 || type == R_X86_64_PLT32))
        s = (uintptr_t)stub_of(l, index);
    else if (index && symbol.st_shndx == SHN_UNDEF)
        memcpy(&s, slot_of(l, index), sizeof(s));
    else if (index && !link_address(l, &symbol, name, &s))
        return false;
    const bool relative = type != R_X86_64_64 && type != R_X86_64_32 && type != R_X86_64_32S;
    const uint64_t value = s + (uint64_t)rela->r_addend - (relative ? p : 0);
    if (width(type) == 8) {
        memcpy(at, &value, 8);
        return true;
    }
    const bool fits = type == R_X86_64_32 ? value <= UINT32_MAX : (int64_t)value == (int32_t)value;
    if (!fits)
        return link_fail(l, "\"%s\" is too far for a relocation of type %u", name, type);
    memcpy(at, &value, 4);
    return true;
}

bool link_relocate(struct link *l)
{
    return fill_slots(l) && each_relocation(l, apply);
}
