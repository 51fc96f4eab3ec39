// SPDX-License-Identifier: MIT
// What the parts of `ehp cc` share: growing argument lists and the places where things are.
#ifndef TOOLS_CC_H
#define TOOLS_CC_H

#include <stdbool.h>
#include <stddef.h>

// A growing, NULL-terminated list of strings that it owns.
struct cc_args {
    char **v;
    size_t n, cap;
};

void cc_args_push(struct cc_args *a, const char *s);
// Formats one argument.
void cc_args_pushf(struct cc_args *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cc_args_append(struct cc_args *a, const struct cc_args *b);
void cc_args_free(struct cc_args *a);
// All of them, malloc'ed.
char *cc_args_join(const struct cc_args *a, const char *between);
// Splits text by the shell-like rules of GCC's response files (blanks, '...', "...", backslash).
void cc_args_split(struct cc_args *a, const char *text);
// Copies argv with every @file replaced by the words in it, nested ones too.
int cc_args_expand(struct cc_args *a, int argc, char **argv);

// malloc'ed text or exit: the driver has nothing to undo when memory runs out.
char *cc_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *cc_copy(const char *s);

enum { CC_PATH_MAX = 4096 };

// Where the driver's things are. Paths are absolute.
struct cc_places {
    char tree[CC_PATH_MAX];        // our tree in ROCm's shape: bin, include, lib, amdgcn/bitcode, share/hip
    char lib[CC_PATH_MAX];         // the directory that really holds libamdhip64.so
    char llvm_bin[CC_PATH_MAX];    // clang, lld, the offload bundler
    char clang[CC_PATH_MAX];       // the compiler to run
    char llvm_version[16];         // its major version, or "" when its name does not tell
    char resource_rt[CC_PATH_MAX]; // compiler-rt's directory or "" when it is not installed
    char bitcode[CC_PATH_MAX];     // device libraries, complete
    int hip_major, hip_minor, hip_patch;
};

// Finds the tree and the version; the rest stays empty. Returns 0, or -1 with a message on stderr.
int cc_places_find(struct cc_places *p);
// Finds a clang that knows EHP_PROCESSOR; rocm is a ROCm installation to prefer, or NULL.
int cc_places_find_clang(struct cc_places *p, const char *rocm);
// Makes sure that the device libraries are complete for the named processors ("gfx942:xnack-", ...) and
// sets p->bitcode.
int cc_bitcode_prepare(struct cc_places *p, const struct cc_args *archs);
// Where the user's cache has those that an installation without them needs.
void cc_bitcode_cache(char *dir, size_t bytes);
// Completes the directory dir itself; for the build.
int cc_bitcode_make(const struct cc_places *p, const char *dir);

bool cc_dir_exists(const char *path);
bool cc_can_read(const char *path);
// Whether the directory is an EHP's, by its tree or by where it is installed, and no ROCm.
bool cc_is_ehp(const char *directory);
bool cc_can_run(const char *path);
// Prints the command when verbose and becomes it.
int cc_exec(const char *program, struct cc_args *args, bool verbose);
// The same as a child; returns its exit status.
int cc_run(const char *program, struct cc_args *args, bool verbose);

// Options that take the next word as their value.
bool cc_takes_value(const char *arg);

// Whether C sources need another -std= than the rest of the command.
bool cc_mixed_needed(const struct cc_args *args);
// Runs such a command: compile and link (NULL: no linking) go before the words, back follows them.
int cc_mixed_run(const char *clang, const struct cc_args *compile, const struct cc_args *link,
                 const struct cc_args *args, const struct cc_args *back, bool verbose);

// A new directory for temporary files, malloc'ed, or NULL with a message; and what removes it.
char *cc_scratch(void);
void cc_remove_scratch(const char *dir);

// Whether -c is among them.
bool cc_makes_objects(const struct cc_args *args);
// --time-host: as cc_mixed_run().
int cc_time_run(const struct cc_places *places, const struct cc_args *compile, const struct cc_args *link,
                const struct cc_args *args, const struct cc_args *back, bool verbose);

// The parts below are whole programs of their own.
int cc_run_clang(int argc, char **argv);      // clang++ with our tree as its ROCm
int cc_run_llvm_tool(int argc, char **argv);  // an LLVM tool by its plain name
int cc_run_enumerator(int argc, char **argv); // rocm_agent_enumerator

#endif
