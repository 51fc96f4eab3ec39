/* SPDX-License-Identifier: MIT */
/* Opening LLVM's shared library; see llvm.h. */
#include "jit/llvm.h"

#include <dlfcn.h>
#include <stdio.h>

enum { LLVM_MAJOR = 22 };

/* Debian's name, and the one that upstream gives it. */
static const char *const names[] = {"libLLVM.so.22.1", "libLLVM-22.so", "libLLVM.so.22"};

bool llvm_open(struct llvm *l, char *why, size_t size)
{
    *l = (struct llvm){0};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !l->handle; i++)
        l->handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
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
