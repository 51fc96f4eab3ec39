/* SPDX-License-Identifier: MIT */
/* The symbols of a code object: functions by address, variables by name. */
#include "load/code.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* "AMDGPU ELF Symbols": a variable in LDS, whose value is an alignment. */
enum { SHN_AMDGPU_LDS = 0xff00 };

struct raw_function {
    struct code_function f;
    bool global;
};

/* .symtab has the local functions too, but may be stripped; then .dynsym has what others can see. */
static Elf_Scn *symbol_table(Elf *elf, GElf_Shdr *header)
{
    Elf_Scn *scn = NULL, *dynamic = NULL;
    GElf_Shdr dynamic_header = {0};
    while ((scn = elf_nextscn(elf, scn))) {
        if (!gelf_getshdr(scn, header))
            continue;
        if (header->sh_type == SHT_SYMTAB)
            return scn;
        if (header->sh_type == SHT_DYNSYM) {
            dynamic = scn;
            dynamic_header = *header;
        }
    }
    *header = dynamic_header;
    return dynamic;
}

/* Copies the string table, terminated whatever it holds. */
static int copy_names(struct ehp_code *code, const struct code_elf *in, size_t section, size_t *bytes)
{
    Elf_Scn *scn = elf_getscn(in->elf, section);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
    if (!data || !data->d_buf || !data->d_size)
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "symbol table: its names in section %zu are damaged",
                         section);
    code->names = malloc(data->d_size + 1);
    if (!code->names)
        return code_fail(in->err, EHP_ERR_NO_MEMORY, "out of memory");
    memcpy(code->names, data->d_buf, data->d_size);
    code->names[data->d_size] = 0;
    *bytes = data->d_size;
    return EHP_OK;
}

static int compare_function(const void *a, const void *b)
{
    const struct raw_function *x = a, *y = b;
    if (x->f.start != y->f.start)
        return x->f.start < y->f.start ? -1 : 1;
    if (x->global != y->global) /* of several names the one that others know */
        return x->global ? -1 : 1;
    return (x->f.end < y->f.end) - (x->f.end > y->f.end);
}

static int compare_variable(const void *a, const void *b)
{
    const struct code_variable *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order)
        return order;
    if (x->local != y->local)
        return x->local ? 1 : -1;
    return (x->address > y->address) - (x->address < y->address);
}

static const struct code_range *executable_at(const struct ehp_code *code, uint64_t address)
{
    for (unsigned i = 0; i < code->executable_count; i++) {
        if (address >= code->executable[i].start && address < code->executable[i].end)
            return &code->executable[i];
    }
    return NULL;
}

/* Sorted functions that do not overlap; one without a size reaches to the next. */
static int settle_functions(struct ehp_code *code, struct raw_function *raw, size_t count,
                            struct code_error *err)
{
    qsort(raw, count, sizeof *raw, compare_function);
    code->functions = calloc(count + 1, sizeof *code->functions);
    if (!code->functions)
        return code_fail(err, EHP_ERR_NO_MEMORY, "out of memory");
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && code->functions[kept - 1].start == raw[i].f.start)
            continue;
        size_t next = i + 1;
        while (next < count && raw[next].f.start == raw[i].f.start)
            next++;
        struct code_function f = raw[i].f;
        uint64_t limit = executable_at(code, f.start)->end;
        if (next < count && raw[next].f.start < limit)
            limit = raw[next].f.start;
        f.end &= ~3ULL;
        if (f.end <= f.start || f.end > limit)
            f.end = limit;
        code->functions[kept++] = f;
    }
    code->function_count = kept;
    return EHP_OK;
}

static int add_symbol(struct ehp_code *code, const struct code_elf *in, const GElf_Sym *sym,
                      size_t name_bytes, struct raw_function *raw, size_t *raw_count)
{
    unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || sym->st_shndx == SHN_AMDGPU_LDS ||
        (type != STT_FUNC && type != STT_OBJECT))
        return EHP_OK;
    if (sym->st_name >= name_bytes)
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "symbol table: a name at offset %u of %zu", sym->st_name,
                         name_bytes);
    const char *name = code->names + sym->st_name;
    uint64_t address = sym->st_value + code->bias;
    if (!code_in_segments(code, sym->st_value, sym->st_size))
        return code_fail(in->err, EHP_ERR_BAD_IMAGE,
                         "symbol %s: %llu bytes at 0x%llx, outside of every segment", name,
                         (unsigned long long)sym->st_size, (unsigned long long)sym->st_value);
    if (type == STT_OBJECT) {
        code->variables[code->variable_count++] =
            (struct code_variable){name, address, sym->st_size, bind == STB_LOCAL};
        return EHP_OK;
    }
    if (address % 4 || !executable_at(code, address))
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "function %s: 0x%llx is not where instructions can be",
                         name, (unsigned long long)sym->st_value);
    raw[(*raw_count)++] = (struct raw_function){{address, address + sym->st_size, name}, bind != STB_LOCAL};
    return EHP_OK;
}

int code_read_symbols(struct ehp_code *code, const struct code_elf *in)
{
    GElf_Shdr header;
    Elf_Scn *scn = symbol_table(in->elf, &header);
    if (!scn)
        return code_fail(in->err, EHP_ERR_BAD_IMAGE, "the code object has no symbol table");
    Elf_Data *data = elf_getdata(scn, NULL);
    size_t name_bytes = 0;
    int status = copy_names(code, in, header.sh_link, &name_bytes);
    if (status != EHP_OK)
        return status;
    size_t count = data && data->d_buf ? data->d_size / sizeof(Elf64_Sym) : 0;
    struct raw_function *raw = calloc(count + 1, sizeof *raw);
    code->variables = calloc(count + 1, sizeof *code->variables);
    if (!raw || !code->variables)
        status = code_fail(in->err, EHP_ERR_NO_MEMORY, "out of memory");
    size_t raw_count = 0;
    for (size_t i = 0; status == EHP_OK && i < count; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym))
            status = code_fail(in->err, EHP_ERR_BAD_IMAGE, "symbol %zu: %s", i, elf_errmsg(-1));
        else
            status = add_symbol(code, in, &sym, name_bytes, raw, &raw_count);
    }
    if (status == EHP_OK) {
        qsort(code->variables, code->variable_count, sizeof *code->variables, compare_variable);
        status = settle_functions(code, raw, raw_count, in->err);
    }
    free(raw);
    return status;
}

/* ---- lookups ---- */

bool code_function_at(const struct ehp_code *code, uint64_t pc, uint64_t *start, uint64_t *end,
                      const char **name)
{
    const struct code_range *range = executable_at(code, pc);
    if (!range)
        return false;
    /* The first function that starts behind pc. */
    size_t low = 0, high = code->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->functions[middle].start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    struct code_function found = {range->start, range->end, NULL};
    if (low < code->function_count && code->functions[low].start < found.end)
        found.end = code->functions[low].start;
    if (low) {
        const struct code_function *before = &code->functions[low - 1];
        if (pc < before->end)
            found = *before;
        else if (before->end > found.start)
            found.start = before->end;
    }
    if (start)
        *start = found.start;
    if (end)
        *end = found.end;
    if (name)
        *name = found.name;
    return true;
}

const struct code_variable *code_variable_by_name(const struct ehp_code *code, const char *name)
{
    size_t low = 0, high = code->variable_count;
    while (low < high) { /* the first that is not before name */
        size_t middle = low + (high - low) / 2;
        if (strcmp(code->variables[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == code->variable_count || strcmp(code->variables[low].name, name) != 0)
        return NULL;
    return &code->variables[low];
}

/* ---- ehp.h ---- */

unsigned ehp_code_function_count(const ehp_code *code)
{
    return (unsigned)code->function_count;
}

static int copy_function(struct ehp_function found, struct ehp_function *out)
{
    if (out->size < sizeof found) /* the first version of the struct is this one */
        return EHP_ERR_INVALID;
    found.size = out->size;
    *out = found;
    return EHP_OK;
}

int ehp_code_function_at(const ehp_code *code, unsigned index, struct ehp_function *out)
{
    if (index >= code->function_count)
        return EHP_ERR_NOT_FOUND;
    const struct code_function *f = &code->functions[index];
    return copy_function((struct ehp_function){.name = f->name, .start = f->start, .end = f->end}, out);
}

int ehp_code_function(const ehp_code *code, uint64_t pc, struct ehp_function *out)
{
    struct ehp_function found = {0};
    if (!code_function_at(code, pc, &found.start, &found.end, &found.name))
        return EHP_ERR_NOT_FOUND;
    return copy_function(found, out);
}
