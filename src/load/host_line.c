/* SPDX-License-Identifier: MIT */
/*
 * Where in the host program's source a call is.  Calls are often made by small
 * functions of a header, inlined or not: what is meant is the innermost line that
 * is in no header.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ehp/ehp.h"

/* The call is before the address that it returns to. */
static uint64_t call_of(const void *returns)
{
    return (uint64_t)(uintptr_t)returns - 1;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

#if EHP_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

struct host_line {
    char *text;
    size_t bytes;
    bool some; /* a line of a header is there, for want of a better one */
};

/* By its name: .h, .hpp, .hh, ..., .inl, .tcc, or none at all as C++'s own. */
static bool is_header(const char *file)
{
    const char *dot = strrchr(base_name(file), '.');
    if (!dot || !strcmp(dot, ".inl") || !strcmp(dot, ".tcc"))
        return true;
    return dot[1] == 'h' && strcmp(dot, ".hip") != 0;
}

/* Takes the first, but gives it up for one that is in no header; true when it is that. */
static bool take(struct host_line *best, const char *file, int number)
{
    if (!file || number <= 0)
        return false;
    bool header = is_header(file);
    if (!header || !best->some)
        snprintf(best->text, best->bytes, "%s:%d", base_name(file), number);
    best->some = true;
    return !header;
}

/* The lines that functions inlined at `pc` were called from, innermost first. */
static bool take_inlined(struct host_line *best, Dwarf_Die *unit, Dwarf_Addr pc)
{
    Dwarf_Die *scopes = NULL;
    Dwarf_Files *files;
    size_t file_count;
    bool found = false;
    int count = dwarf_getscopes(unit, pc, &scopes);
    if (dwarf_getsrcfiles(unit, &files, &file_count) != 0)
        count = 0;
    for (int i = 0; i < count && !found; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Word file, line;
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine &&
            dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file) == 0 &&
            dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &line) == 0)
            found = take(best, dwarf_filesrc(files, file, NULL, NULL), (int)line);
    }
    free(scopes);
    return found;
}

/* clang writes no .debug_aranges, so units are found by their ranges. */
static bool unit_at(Dwarf *dwarf, Dwarf_Addr pc, Dwarf_Die *unit)
{
    Dwarf_CU *cu = NULL;
    while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, unit, NULL))
        if (dwarf_haspc(unit, pc) > 0)
            return true;
    return false;
}

static bool take_frame(struct host_line *best, Dwfl *dwfl, Dwarf_Addr at)
{
    int number = 0;
    Dwarf_Addr bias;
    Dwarf_Die unit;
    Dwfl_Module *module = dwfl_addrmodule(dwfl, at);
    Dwarf *dwarf = module ? dwfl_module_getdwarf(module, &bias) : NULL;
    if (!dwarf || !unit_at(dwarf, at - bias, &unit))
        return false;
    Dwarf_Line *line = dwarf_getsrc_die(&unit, at - bias);
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (file && dwarf_lineno(line, &number) == 0 && take(best, file, number))
        return true;
    return take_inlined(best, &unit, at - bias);
}

/* Without lines, the function of the innermost frame. */
static bool take_function(Dwfl *dwfl, Dwarf_Addr at, char *text, size_t bytes)
{
    GElf_Off offset;
    GElf_Sym symbol;
    Dwfl_Module *module = dwfl_addrmodule(dwfl, at);
    const char *name = module ? dwfl_module_addrinfo(module, at, &offset, &symbol, NULL, NULL, NULL) : NULL;
    if (name)
        snprintf(text, bytes, "%s+%#llx", name, (unsigned long long)offset);
    return name != NULL;
}

static bool find_line(void *const *returns, unsigned count, char *text, size_t bytes)
{
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    struct host_line best = {text, bytes, false};
    bool found = false;
    Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl && dwfl_linux_proc_report(dwfl, getpid()) == 0 && dwfl_report_end(dwfl, NULL, NULL) == 0) {
        /* A function that is called back has callers in libraries: they are not meant. */
        const Dwfl_Module *module = dwfl_addrmodule(dwfl, call_of(returns[0]));
        for (unsigned i = 0; i < count && !found && dwfl_addrmodule(dwfl, call_of(returns[i])) == module; i++)
            found = take_frame(&best, dwfl, call_of(returns[i]));
        found = found || best.some || take_function(dwfl, call_of(returns[0]), text, bytes);
    }
    dwfl_end(dwfl);
    return found;
}

#else

static bool find_line(void *const *returns, unsigned count, char *text, size_t bytes)
{
    (void)returns, (void)count, (void)text, (void)bytes;
    return false;
}

#endif

int ehp_host_line(void *const *returns, unsigned count, char *text, size_t bytes)
{
    Dl_info info;
    if (!count || !bytes)
        return EHP_ERR_INVALID;
    if (find_line(returns, count, text, bytes))
        return EHP_OK;
    if (!dladdr((const void *)(uintptr_t)call_of(returns[0]), &info) || !info.dli_fname)
        return EHP_ERR_NOT_FOUND;
    uint64_t from = (uint64_t)(uintptr_t)(info.dli_sname ? info.dli_saddr : info.dli_fbase);
    snprintf(text, bytes, "%s+%#llx", info.dli_sname ? info.dli_sname : base_name(info.dli_fname),
             (unsigned long long)(call_of(returns[0]) - from));
    return EHP_OK;
}
