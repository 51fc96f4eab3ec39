/* SPDX-License-Identifier: MIT */
/*
 * A program that measures its kernels by the host's clock has how long the simulation took, unless its host
 * code is on cores (host/time_host.h).  What is in memory tells by what it imports: the clock, HIP, and what
 * code on cores calls.
 */
#include <link.h>
#include <string.h>

#include "hip/core/runtime.h"

/* What times are taken by, and what it is to who reads the line; time() is for seeds. */
static const struct clock {
    const char *symbol, *said;
} clocks[] = {
    {"clock_gettime", "clock_gettime()"},
    {"gettimeofday", "gettimeofday()"},
    {"timespec_get", "timespec_get()"},
    {"clock", "clock()"},
    {"omp_get_wtime", "omp_get_wtime()"},
    {"_ZNSt6chrono3_V212steady_clock3nowEv", "std::chrono::steady_clock"},
    {"_ZNSt6chrono3_V212system_clock3nowEv", "std::chrono::system_clock"},
    {"_ZNSt3__16chrono12steady_clock3nowEv", "std::chrono::steady_clock"},
    {"_ZNSt3__16chrono12system_clock3nowEv", "std::chrono::system_clock"},
};

struct imports {
    const struct clock *clock;
    bool hip, on_cores;
};

static void note(struct imports *found, const char *name)
{
    found->hip |= strncmp(name, "hip", 3) == 0 || strncmp(name, "__hip", 5) == 0;
    found->on_cores |= strcmp(name, "ehp_cpu_block") == 0;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (strcmp(name, clocks[i].symbol) == 0)
            found->clock = &clocks[i];
}

/* The symbols that its relocations ask for. */
static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    const struct clock **measures = context;
    const ElfW(Dyn) *entry = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    struct {
        const ElfW(Rela) * first;
        size_t bytes;
    } table[2] = {{0}};
    struct imports found = {0};

    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const void *at = (const void *)entry->d_un.d_ptr; /* glibc has added where the object lies */
        switch (entry->d_tag) {
        case DT_SYMTAB:
            symbols = at;
            break;
        case DT_STRTAB:
            names = at;
            break;
        case DT_JMPREL:
            table[0].first = at;
            break;
        case DT_PLTRELSZ:
            table[0].bytes = entry->d_un.d_val;
            break;
        case DT_RELA:
            table[1].first = at;
            break;
        case DT_RELASZ:
            table[1].bytes = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    for (unsigned t = 0; symbols && names && t < 2; t++)
        for (size_t i = 0; table[t].first && i < table[t].bytes / sizeof(ElfW(Rela)); i++) {
            const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(table[t].first[i].r_info)];
            if (symbol->st_shndx == SHN_UNDEF)
                note(&found, names + symbol->st_name);
        }
    if (found.hip && found.clock && !found.on_cores)
        *measures = found.clock;
    return *measures != NULL;
}

void hip_say_clocks(const struct hip_runtime *runtime)
{
    struct ehp_chip_value ccds = {.size = sizeof ccds};
    const struct clock *clock = NULL;

    if (!runtime->timing || !dl_iterate_phdr(look, &clock))
        return;
    const bool cores = ehp_chip_value(runtime->machine, "ccd.count", &ccds) == EHP_OK && ccds.number > 0;
    hip_say("%s tells this program the host's time, and not the simulated: measure by events%s", clock->said,
            cores ? ", or compile with --time-host (HIPCC_COMPILE_FLAGS_APPEND=--time-host)" : "");
}
