/* SPDX-License-Identifier: MIT */
/* Reads an object's sections and symbols, and makes the mapping that they are executed from. */
#include "jit/object.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/must.h"
#include "ehp/ehp.h"
#include "jit/object_link.h"

/* The most that an object may take: what lies in it reaches each other with 32 bits. */
static const uint64_t MAPPING_MOST = 1 << 28;

struct export {
    const char *name;
    void *address;
};

struct jit_object {
    uint8_t *memory;
    size_t bytes;
    char *names;
    struct export *exports; /* by name */
    size_t export_count;
};

bool link_fail(struct link *l, const char *format, ...)
{
    char room[JIT_OBJECT_ERROR];
    va_list args;
    va_start(args, format);
    vsnprintf(l->error, JIT_OBJECT_ERROR, format, args);
    va_end(args);
    /* Names come from the file: a terminal should not obey them. */
    if (ehp_printable(l->error, room, sizeof(room)) == room)
        memcpy(l->error, room, sizeof(room));
    return false;
}

bool link_symbol(struct link *l, size_t index, GElf_Sym *symbol, const char **name)
{
    if (index >= l->symbol_count || !gelf_getsym(l->symbols, (int)index, symbol))
        return link_fail(l, "symbol %zu of %zu", index, l->symbol_count);
    if (symbol->st_name >= l->name_bytes)
        return link_fail(l, "the name of symbol %zu lies outside of its table", index);
    *name = l->names + symbol->st_name;
    return true;
}

bool link_address(struct link *l, const GElf_Sym *symbol, const char *name, uint64_t *address)
{
    const unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (type == STT_TLS || type == STT_GNU_IFUNC)
        return link_fail(l, "symbol \"%s\" is of type %u", name, type);
    if (symbol->st_shndx == SHN_ABS) {
        *address = symbol->st_value;
        return true;
    }
    if (symbol->st_shndx >= l->section_count || !l->places[symbol->st_shndx].loaded)
        return link_fail(l, "symbol \"%s\" is in section %u, which is not loaded", name, symbol->st_shndx);
    const struct place *in = &l->places[symbol->st_shndx];
    if (symbol->st_value > in->bytes || symbol->st_size > in->bytes - symbol->st_value)
        return link_fail(l, "symbol \"%s\" lies outside of its section", name);
    *address = (uintptr_t)l->memory + in->at + symbol->st_value;
    return true;
}

/* ---- layout -------------------------------------------------------------------------------------------- */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

/* Unwind tables are for whoever throws through the code, and nobody does. */
static bool is_wanted(const GElf_Shdr *header, const char *name)
{
    return (header->sh_flags & SHF_ALLOC) && header->sh_size && header->sh_type != SHT_X86_64_UNWIND &&
           header->sh_type != SHT_NOTE && strcmp(name, ".eh_frame") != 0;
}

static bool check_wanted(struct link *l, const GElf_Shdr *header, const char *name)
{
    if (header->sh_type != SHT_PROGBITS)
        return link_fail(l, "section %s has type %u", name, header->sh_type);
    if (header->sh_flags & (SHF_TLS | SHF_COMPRESSED))
        return link_fail(l, "section %s has flags %#llx", name, (unsigned long long)header->sh_flags);
    if ((header->sh_flags & SHF_WRITE) && strncmp(name, ".data.rel.ro", 12) != 0)
        return link_fail(l, "section %s is for data that changes", name);
    if (header->sh_addralign & (header->sh_addralign - 1) || header->sh_addralign > 4096)
        return link_fail(l, "section %s is aligned to %llu", name, (unsigned long long)header->sh_addralign);
    return true;
}

static bool section_header(struct link *l, size_t index, GElf_Shdr *header, const char **name)
{
    Elf_Scn *section = elf_getscn(l->elf, index);
    size_t names;
    if (!section || !gelf_getshdr(section, header) || elf_getshdrstrndx(l->elf, &names) != 0)
        return link_fail(l, "header of section %zu: %s", index, elf_errmsg(-1));
    *name = elf_strptr(l->elf, names, header->sh_name);
    return *name || link_fail(l, "name of section %zu: %s", index, elf_errmsg(-1));
}

/* Sections with code, or all others, from 0 on. */
static bool place_sections(struct link *l, bool code, size_t *at)
{
    *at = 0;
    for (size_t i = 1; i < l->section_count; i++) {
        GElf_Shdr header;
        const char *name;
        if (!section_header(l, i, &header, &name))
            return false;
        if (!is_wanted(&header, name) || !(header.sh_flags & SHF_EXECINSTR) == code)
            continue;
        if (!check_wanted(l, &header, name))
            return false;
        const Elf_Data *data = elf_rawdata(elf_getscn(l->elf, i), NULL);
        if (!data || !data->d_buf || data->d_size != header.sh_size)
            return link_fail(l, "section %s: %s", name, elf_errmsg(-1));
        *at = round_up(*at, header.sh_addralign ? header.sh_addralign : 1);
        if (header.sh_size > MAPPING_MOST - *at)
            return link_fail(l, "more than %llu MiB of code and constants",
                             (unsigned long long)MAPPING_MOST >> 20);
        l->places[i] = (struct place){true, code, *at, header.sh_size};
        *at += header.sh_size;
    }
    return true;
}

static void copy_sections(struct link *l)
{
    for (size_t i = 1; i < l->section_count; i++)
        if (l->places[i].loaded)
            memcpy(l->memory + l->places[i].at, elf_rawdata(elf_getscn(l->elf, i), NULL)->d_buf,
                   l->places[i].bytes);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static bool read_header(struct link *l)
{
    GElf_Ehdr header;
    if (!l->elf || elf_kind(l->elf) != ELF_K_ELF || !gelf_getehdr(l->elf, &header))
        return link_fail(l, "damaged ELF header: %s", elf_errmsg(-1));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != EM_X86_64 || header.e_type != ET_REL)
        return link_fail(l, "no relocatable object for x86-64");
    if (elf_getshdrnum(l->elf, &l->section_count) != 0)
        return link_fail(l, "section headers: %s", elf_errmsg(-1));
    l->places = must(calloc(l->section_count + 1, sizeof(*l->places)));
    return true;
}

static bool read_names(struct link *l, size_t section)
{
    Elf_Scn *table = elf_getscn(l->elf, section);
    const Elf_Data *data = table ? elf_rawdata(table, NULL) : NULL;
    if (!data || !data->d_buf || !data->d_size || ((const char *)data->d_buf)[data->d_size - 1])
        return link_fail(l, "damaged names of symbols");
    l->names = data->d_buf;
    l->name_bytes = data->d_size;
    return true;
}

static bool read_symbols(struct link *l)
{
    for (size_t i = 1; i < l->section_count; i++) {
        GElf_Shdr header;
        const char *name;
        if (!section_header(l, i, &header, &name))
            return false;
        if (header.sh_type == SHT_SYMTAB_SHNDX || (header.sh_type == SHT_SYMTAB && l->table))
            return link_fail(l, "more tables of symbols than one");
        if (header.sh_type != SHT_SYMTAB)
            continue;
        l->table = i;
        l->symbols = elf_getdata(elf_getscn(l->elf, i), NULL);
        if (!l->symbols || (l->symbols->d_size && !l->symbols->d_buf))
            return link_fail(l, "symbols: %s", elf_errmsg(-1));
        l->symbol_count = l->symbols->d_size / sizeof(Elf64_Sym);
        if (l->symbol_count > INT32_MAX)
            return link_fail(l, "%zu symbols", l->symbol_count);
        if (!read_names(l, header.sh_link))
            return false;
    }
    l->slots = must(calloc(l->symbol_count + 1, sizeof(*l->slots)));
    return true;
}

/* ---- what the object offers ---------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct export *)a)->name, ((const struct export *)b)->name);
}

static bool collect_exports(struct link *l, struct jit_object *o)
{
    o->names = must(malloc(l->name_bytes + 1));
    if (l->name_bytes)
        memcpy(o->names, l->names, l->name_bytes);
    o->exports = must(calloc(l->symbol_count + 1, sizeof(*o->exports)));
    for (size_t i = 1; i < l->symbol_count; i++) {
        GElf_Sym symbol;
        const char *name = "";
        uint64_t address;
        if (!link_symbol(l, i, &symbol, &name))
            return false;
        if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL || symbol.st_shndx == SHN_UNDEF ||
            symbol.st_shndx == SHN_ABS)
            continue;
        if (!link_address(l, &symbol, name, &address))
            return false;
        if (symbol.st_value == l->places[symbol.st_shndx].bytes)
            return link_fail(l, "symbol \"%s\" lies outside of its section", name);
        o->exports[o->export_count++] =
            (struct export){o->names + symbol.st_name, (void *)(uintptr_t)address};
    }
    qsort(o->exports, o->export_count, sizeof(*o->exports), by_name);
    for (size_t i = 1; i < o->export_count; i++)
        if (strcmp(o->exports[i - 1].name, o->exports[i].name) == 0)
            return link_fail(l, "two symbols \"%s\"", o->exports[i].name);
    return true;
}

void *jit_object_find(const struct jit_object *o, const char *name)
{
    const struct export key = {.name = name};
    const struct export *found = bsearch(&key, o->exports, o->export_count, sizeof(key), by_name);
    return found ? found->address : NULL;
}

/* ---- the mapping --------------------------------------------------------------------------------------- */

bool jit_object_allowed(char *why, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        snprintf(why, size, "no memory for code: %s", strerror(errno));
        return false;
    }
    const bool allowed = mprotect(memory, page, PROT_READ | PROT_EXEC) == 0;
    if (!allowed)
        snprintf(why, size, "this host does not let memory become executable: %s", strerror(errno));
    munmap(memory, page);
    return allowed;
}

/* Code and stubs first, to `code` bytes, a number of pages; then constants and the GOT. */
static bool lay_out(struct link *l, size_t *code, size_t *all)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t instructions, constants;
    if (!place_sections(l, true, &instructions) || !place_sections(l, false, &constants) ||
        !link_count_slots(l))
        return false;
    if (!instructions)
        return link_fail(l, "the object has no code");
    l->stubs_at = round_up(instructions, STUB);
    *code = round_up(l->stubs_at + (size_t)l->slot_count * STUB, page);
    for (size_t i = 1; i < l->section_count; i++)
        if (l->places[i].loaded && !l->places[i].code)
            l->places[i].at += *code;
    l->got_at = *code + round_up(constants, SLOT);
    *all = round_up(l->got_at + (size_t)l->slot_count * SLOT, page);
    return true;
}

static bool make_mapping(struct link *l, struct jit_object *o)
{
    size_t code = 0;
    if (!lay_out(l, &code, &o->bytes))
        return false;
    void *memory = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return link_fail(l, "no memory for %zu bytes of code: %s", o->bytes, strerror(errno));
    l->memory = o->memory = memory;
    memset(o->memory, 0xcc, code); /* int3 between functions */
    copy_sections(l);
    if (!link_relocate(l) || !collect_exports(l, o))
        return false;
    if (mprotect(o->memory, code, PROT_READ | PROT_EXEC) != 0)
        return link_fail(l, "this host does not let memory become executable: %s", strerror(errno));
    if (o->bytes > code && mprotect(o->memory + code, o->bytes - code, PROT_READ) != 0)
        return link_fail(l, "cannot protect constants: %s", strerror(errno));
    return true;
}

struct jit_object *jit_object_load(const void *bytes, size_t size, jit_symbol_fn *resolve, void *context,
                                   char error[JIT_OBJECT_ERROR])
{
    struct jit_object *o = must(calloc(1, sizeof(*o)));
    struct link l = {.resolve = resolve, .context = context, .error = error};
    error[0] = 0;
    bool loaded = elf_version(EV_CURRENT) != EV_NONE || link_fail(&l, "libelf: %s", elf_errmsg(-1));
    if (loaded) {
        l.elf = elf_memory((char *)(uintptr_t)bytes, size);
        loaded = read_header(&l) && read_symbols(&l) && make_mapping(&l, o);
    }
    elf_end(l.elf);
    free(l.places);
    free(l.slots);
    if (!loaded) {
        jit_object_free(o);
        o = NULL;
    }
    return o;
}

void jit_object_free(struct jit_object *o)
{
    if (!o)
        return;
    if (o->memory)
        munmap(o->memory, o->bytes);
    free(o->exports);
    free(o->names);
    free(o);
}
