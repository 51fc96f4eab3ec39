/* SPDX-License-Identifier: MIT */
/*
 * Source lines, see lines.h.  The ELF file is copied, because the image does
 * not outlive loading; only files with a line table are.  libdw is opened at
 * the first question and used under a lock: it is not made for threads.
 */
#include "load/lines.h"

#include "load/code.h"

#if EHP_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct code_lines {
    pthread_mutex_t lock;
    char *data;
    size_t bytes;
    Elf *elf;
    Dwarf *dwarf;
    bool opened;
};

static bool has_lines(Elf *elf)
{
    size_t names;
    Elf_Scn *scn = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line")))
            return true;
    }
    return false;
}

struct code_lines *lines_create(struct Elf *elf, const uint8_t *data, size_t bytes)
{
    if (!has_lines(elf))
        return NULL;
    struct code_lines *lines = calloc(1, sizeof *lines);
    if (lines)
        lines->data = malloc(bytes);
    if (!lines || !lines->data) {
        free(lines);
        return NULL;
    }
    memcpy(lines->data, data, bytes);
    lines->bytes = bytes;
    pthread_mutex_init(&lines->lock, NULL);
    return lines;
}

void lines_destroy(struct code_lines *lines)
{
    if (!lines)
        return;
    dwarf_end(lines->dwarf);
    elf_end(lines->elf);
    pthread_mutex_destroy(&lines->lock);
    free(lines->data);
    free(lines);
}

/* Compilation units without .debug_aranges are found by their ranges. */
static bool unit_at(Dwarf *dwarf, Dwarf_Addr vaddr, Dwarf_Die *found)
{
    if (dwarf_addrdie(dwarf, vaddr, found))
        return true;
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;
    while (!dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL)) {
        if (dwarf_haspc(&unit, vaddr) > 0) {
            *found = unit;
            return true;
        }
    }
    return false;
}

static bool find_line(struct code_lines *lines, uint64_t vaddr, bool full, char *text, size_t bytes)
{
    if (!lines->opened) {
        lines->opened = true;
        lines->elf = elf_memory(lines->data, lines->bytes);
        lines->dwarf = lines->elf ? dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL) : NULL;
    }
    Dwarf_Die unit;
    if (!lines->dwarf || !unit_at(lines->dwarf, vaddr, &unit))
        return false;
    Dwarf_Line *line = dwarf_getsrc_die(&unit, vaddr);
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    int number;
    if (!file || dwarf_lineno(line, &number) != 0 || number <= 0) /* line 0: nobody wrote this code */
        return false;
    const char *slash = full ? NULL : strrchr(file, '/');
    snprintf(text, bytes, "%s:%d", slash ? slash + 1 : file, number);
    return true;
}

bool lines_at(struct code_lines *lines, uint64_t vaddr, bool full, char *text, size_t bytes)
{
    if (!lines)
        return false;
    pthread_mutex_lock(&lines->lock);
    bool found = find_line(lines, vaddr, full, text, bytes);
    pthread_mutex_unlock(&lines->lock);
    return found;
}

#else

struct code_lines *lines_create(struct Elf *elf, const uint8_t *data, size_t bytes)
{
    (void)elf, (void)data, (void)bytes;
    return NULL;
}

void lines_destroy(struct code_lines *lines)
{
    (void)lines;
}

bool lines_at(struct code_lines *lines, uint64_t vaddr, bool full, char *text, size_t bytes)
{
    (void)lines, (void)vaddr, (void)full, (void)text, (void)bytes;
    return false;
}

#endif

bool code_line_at(const struct ehp_code *code, uint64_t pc, char *text, size_t bytes)
{
    return lines_at(code->lines, pc - code->bias, false, text, bytes);
}

int ehp_code_line(const ehp_code *code, uint64_t pc, char *text, size_t bytes)
{
    return text && lines_at(code->lines, pc - code->bias, true, text, bytes) ? EHP_OK : EHP_ERR_NOT_FOUND;
}
