// SPDX-License-Identifier: MIT
// Demangling by the C++ runtime's own function ("Itanium C++ ABI", section 3.4). It is looked up when a
// mangled name is there, so that the command does not need a C++ library to start or to be built.
#include "demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_fn(const char *name, char *buffer, size_t *bytes, int *status);

char *demangle(const char *name)
{
    char *text = NULL;
    if (strncmp(name, "_Z", 2) == 0) {
        // Not closed: the next name needs it again.
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
        demangle_fn *fn;
        memcpy(&fn, &symbol, sizeof fn);
        int status = 0;
        if (fn)
            text = fn(name, NULL, NULL, &status);
    }
    return text ? text : strdup(name);
}
