// SPDX-License-Identifier: MIT
// `ehp cc --time-host`: host code that says what it does, for the cores of the simulated CPU.
#ifndef TOOLS_TIME_HOST_H
#define TOOLS_TIME_HOST_H

// The assembler's place in clang's driver, under the name `as`: LLVM's text becomes an object.
int time_host_assemble(int argc, char **argv);

#endif
