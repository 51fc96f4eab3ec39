/* SPDX-License-Identifier: MIT */
/* Opening LLVM's shared library; see llvm.h. */
#include "jit/llvm.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LLVM_MAJOR = 22 };

/* Debian's name, and the one that upstream gives it. */
static const char *const names[] = {"libLLVM.so.22.1", "libLLVM-22.so", "libLLVM.so.22"};

/*
 * LLVM makes many of its tables when they are first used, and has them destroyed
 * at exit(), each before whatever was registered earlier: no handler of ours
 * could hold them back while a thread compiles.  So from when it is open on, what
 * it registers is forgotten; its tables live as long as the process.
 */
static int register_nothing(void (*fn)(void *), void *argument, void *library)
{
    (void)fn, (void)argument, (void)library;
    return 0;
}

/* Puts another function where the library finds __cxa_atexit(): an entry of its procedure linkage table. */
static bool replace_registration(void *handle)
{
    struct link_map *map;
    const ElfW(Rela) *jumps = NULL;
    const ElfW(Sym) *symbols = NULL;
    const char *names_of = NULL;
    size_t bytes = 0;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return false;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) { /* addresses: ld.so has relocated them */
        if (d->d_tag == DT_JMPREL)
            jumps = (const ElfW(Rela) *)d->d_un.d_ptr;
        else if (d->d_tag == DT_PLTRELSZ)
            bytes = d->d_un.d_val;
        else if (d->d_tag == DT_SYMTAB)
            symbols = (const ElfW(Sym) *)d->d_un.d_ptr;
        else if (d->d_tag == DT_STRTAB)
            names_of = (const char *)d->d_un.d_ptr;
    }
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; jumps && symbols && names_of && i < bytes / sizeof(*jumps); i++) {
        if (strcmp(names_of + symbols[ELF64_R_SYM(jumps[i].r_info)].st_name, "__cxa_atexit") != 0)
            continue;
        uintptr_t *entry = (uintptr_t *)(map->l_addr + jumps[i].r_offset);
        void *around = (void *)((uintptr_t)entry & ~(page - 1));
        if (mprotect(around, page, PROT_READ | PROT_WRITE) != 0)
            return false;
        *entry = (uintptr_t)register_nothing; /* the page stays writable: other data may share it */
        return true;
    }
    return false;
}

void *llvm_load(void)
{
    void *handle = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !handle; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

bool llvm_open(struct llvm *l, char *why, size_t size)
{
    *l = (struct llvm){.handle = llvm_load()};
    if (!l->handle) {
        snprintf(why, size, "%s is not installed (Debian: libllvm22, which clang-22 brings)", names[0]);
        return false;
    }
#define X(result, name, arguments)                                                                           \
    l->name = (result(*) arguments)dlsym(l->handle, "LLVM" #name);                                           \
    if (!l->name) {                                                                                          \
        snprintf(why, size, "LLVM's library has no LLVM%s", #name);                                          \
        return false;                                                                                        \
    }
    LLVM_CALLS(X)
#undef X
    l->GetVersion(&l->major, &l->minor, &l->patch);
    if (l->major != LLVM_MAJOR) {
        snprintf(why, size, "LLVM's library is version %u, not %u", l->major, (unsigned)LLVM_MAJOR);
        return false;
    }
    if (!replace_registration(l->handle)) {
        snprintf(why, size, "LLVM's library is not linked as expected: it would end before its users");
        return false;
    }
    l->InitializeX86TargetInfo();
    l->InitializeX86Target();
    l->InitializeX86TargetMC();
    l->InitializeX86AsmPrinter();
    return true;
}

bool llvm_probe(char *text, size_t size)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        void (*version)(unsigned *, unsigned *, unsigned *) =
            handle ? (void (*)(unsigned *, unsigned *, unsigned *))dlsym(handle, "LLVMGetVersion") : NULL;
        unsigned major = 0, minor = 0, patch = 0;
        if (version)
            version(&major, &minor, &patch);
        if (handle)
            dlclose(handle);
        if (major == LLVM_MAJOR) {
            snprintf(text, size, "LLVM %u.%u.%u", major, minor, patch);
            return true;
        }
    }
    snprintf(text, size, "%s is not installed (Debian: libllvm22, which clang-22 brings)", names[0]);
    return false;
}
