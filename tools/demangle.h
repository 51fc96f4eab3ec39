// SPDX-License-Identifier: MIT
// C++ names for people.
#ifndef TOOLS_DEMANGLE_H
#define TOOLS_DEMANGLE_H

// The declaration behind a mangled name, malloc()ed; the name itself when it is not mangled or nobody here
// can demangle.
char *demangle(const char *name);

#endif
