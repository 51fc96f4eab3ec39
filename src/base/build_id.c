/* SPDX-License-Identifier: MIT */
/* See build_id.h. */
#include "base/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool is_here(const struct dl_phdr_info *info)
{
    const uintptr_t here = (uintptr_t)build_id;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && here - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

static uintptr_t round_up(uintptr_t n, uintptr_t to)
{
    return (n + to - 1) & ~(to - 1);
}

/* Notes: a header, the owner's name, the description, each padded to the segment's alignment. */
static bool find_in(uintptr_t at, uintptr_t end, uintptr_t align, char *text)
{
    while (end - at >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        const uintptr_t name = at + sizeof(*note), bytes = name + round_up(note->n_namesz, 4);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            memcmp((const void *)name, "GNU", 4) == 0) {
            for (unsigned i = 0; i < note->n_descsz && 2 * i + 2 < BUILD_ID_TEXT; i++)
                snprintf(text + (size_t)2 * i, 3, "%02x", ((const uint8_t *)bytes)[i]);
            return true;
        }
        at = round_up(bytes + note->n_descsz, align);
        if (at > end)
            break;
    }
    return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *text)
{
    (void)size;
    if (!is_here(info))
        return 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_NOTE && find_in(at, at + p->p_memsz, p->p_align > 4 ? p->p_align : 4, text))
            break;
    }
    return 1;
}

void build_id(char text[BUILD_ID_TEXT])
{
    text[0] = 0;
    dl_iterate_phdr(look_at, text);
}
