/* SPDX-License-Identifier: MIT */
/*
 * The library exports every symbol of ROCm 6.3's libamdhip64 under its version
 * node, whichever soname it is loaded by, and has that soname.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include "../check.h"

/* In the data a star stands for C++ mangling, as in the linker script it comes from. */
static const char *const mangled[][2] = {
    {"hipCreateSurfaceObject*", "_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc"},
    {"hipDestroySurfaceObject*", "_Z23hipDestroySurfaceObjectP13__hip_surface"},
    {"hipHccModuleLaunchKernel*",
     "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_"},
    {"hipExtModuleLaunchKernel*",
     "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"},
    {"hipGetCmdName*", "hipGetCmdName"},
};

static const char *spelling(const char *symbol)
{
    for (size_t i = 0; i < sizeof mangled / sizeof *mangled; i++)
        if (!strcmp(symbol, mangled[i][0]))
            return mangled[i][1];
    return symbol;
}

static void check_soname(void *library, const char *path)
{
    struct link_map *map;
    const char *strings = NULL, *base = strrchr(path, '/');
    ElfW(Xword) soname = 0;

    if (!CHECK(dlinfo(library, RTLD_DI_LINKMAP, &map) == 0))
        return;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_SONAME)
            soname = entry->d_un.d_val;
    }
    CHECK(strings && soname);
    CHECK_STR(strings + soname, base ? base + 1 : path);
}

int main(int argc, char **argv)
{
    char line[512];

    if (argc < 3)
        return 2;
    for (int i = 2; i < argc; i++) {
        FILE *file = fopen(argv[1], "r");
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!file || !library) {
            fprintf(stderr, "%s\n", library ? argv[1] : dlerror());
            return 2;
        }
        check_soname(library, argv[i]);
        unsigned symbols = 0;
        while (fgets(line, sizeof line, file)) {
            char *comma = strchr(line, ','), *end = strchr(line, '\n');
            if (!comma || !end || !strncmp(line, "symbol,", 7))
                continue;
            *comma = *end = 0;
            symbols++;
            if (!dlvsym(library, spelling(line), comma + 1)) {
                fprintf(stderr, "%s: no %s@%s\n", argv[i], line, comma + 1);
                CHECK(!"exported");
            }
        }
        CHECK(symbols > 490);
        fclose(file);
        dlclose(library);
    }
    return check_status();
}
