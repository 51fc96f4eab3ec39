// SPDX-License-Identifier: MIT
// Finds what the compiler driver needs: our own ROCm-shaped tree, beside the running executable in the build
// directory or below the installation's library directory, and a clang.
#include "cc.h"
#include "tool.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The library directory below the prefix, and the way to the prefix from the command's directory; from Meson.
#ifndef EHP_LIBDIR
#define EHP_LIBDIR "lib"
#endif

bool cc_dir_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool cc_can_read(const char *path)
{
    return access(path, R_OK) == 0;
}

bool cc_can_run(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

// Writes a path into a buffer of CC_PATH_MAX bytes; a path that does not fit exists nowhere, so it becomes
// "".
static __attribute__((format(printf, 2, 3))) bool put_path(char *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(out, CC_PATH_MAX, format, list);
    va_end(list);
    if (n < 0 || n >= CC_PATH_MAX) {
        out[0] = 0;
        return false;
    }
    return true;
}

static bool real_path(char *out, const char *path)
{
    char buffer[PATH_MAX];
    return realpath(path, buffer) && put_path(out, "%s", buffer);
}

static void strip_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
}

bool cc_is_ehp(const char *directory)
{
    static const char *const marks[] = {"share/hip/ehp", "share/ehp/chips"};
    char path[CC_PATH_MAX];
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (put_path(path, "%s/%s", directory, marks[i]) && cc_can_read(path))
            return true;
    return false;
}

static int read_version(struct cc_places *p)
{
    char path[CC_PATH_MAX], line[256];
    if (!put_path(path, "%s/share/hip/version", p->tree))
        return -1;
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    while (fgets(line, sizeof line, f)) {
        const char *value = strchr(line, '=');
        if (!value)
            continue;
        int number = (int)strtol(value + 1, NULL, 10);
        if (strncmp(line, "HIP_VERSION_MAJOR=", 18) == 0)
            p->hip_major = number;
        else if (strncmp(line, "HIP_VERSION_MINOR=", 18) == 0)
            p->hip_minor = number;
        else if (strncmp(line, "HIP_VERSION_PATCH=", 18) == 0)
            p->hip_patch = number;
    }
    fclose(f);
    return p->hip_major > 0 ? 0 : -1;
}

int cc_places_find(struct cc_places *p)
{
    *p = (struct cc_places){0};
    char self[CC_PATH_MAX], candidate[CC_PATH_MAX], library[CC_PATH_MAX];
    if (!real_path(self, "/proc/self/exe")) {
        tool_say("ehp cc: cannot tell where this program is: %s", strerror(errno));
        return -1;
    }
    strip_last(self);
    static const char *const below[] = {"../rocm", "../" EHP_LIBDIR "/ehp/rocm"};
    for (size_t i = 0; i < sizeof below / sizeof *below && !p->tree[0]; i++) {
        if (!put_path(candidate, "%s/%s", self, below[i]) || !real_path(p->tree, candidate))
            continue;
        if (read_version(p))
            p->tree[0] = 0;
    }
    if (!p->tree[0]) {
        tool_say("ehp cc: found neither %s/%s nor %s/%s: is the installation complete?", self, below[0], self,
                 below[1]);
        return -1;
    }
    // The link in the tree leads to the library itself, whose own run path is relative to where it really is.
    if (put_path(candidate, "%s/lib/libamdhip64.so", p->tree) && real_path(library, candidate)) {
        strip_last(library);
        put_path(p->lib, "%s", library);
    } else {
        put_path(p->lib, "%s/lib", p->tree);
    }
    return 0;
}

// Does this compiler know the processor? Asked only of compilers whose version the name does not tell.
static bool knows_processor(const char *clang)
{
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "r", stdin))
            _exit(126);
        execl(clang, clang, "--target=amdgcn-amd-amdhsa", "-mcpu=" EHP_PROCESSOR, "-nogpulib",
              "-fsyntax-only", "-x", "c", "-", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Looks a program up in PATH.
static bool find_in_path(char *out, const char *name)
{
    const char *path = secure_getenv("PATH");
    for (const char *s = path ? path : "/usr/local/bin:/usr/bin:/bin"; *s;) {
        size_t n = strcspn(s, ":");
        if (n > 0 && put_path(out, "%.*s/%s", (int)n, s, name) && cc_can_run(out))
            return true;
        s += n + (s[n] == ':');
    }
    return false;
}

// A link to ourselves under clang's name would run for ever.
static bool is_ourselves(const char *path)
{
    char a[CC_PATH_MAX], b[CC_PATH_MAX];
    return real_path(a, path) && real_path(b, "/proc/self/exe") && strcmp(a, b) == 0;
}

static bool accept(struct cc_places *p, const char *path, bool probe)
{
    char real[CC_PATH_MAX];
    if (!cc_can_run(path) || is_ourselves(path) || !real_path(real, path) ||
        (probe && !knows_processor(path)))
        return false;
    put_path(p->clang, "%s", path);
    strip_last(real);
    put_path(p->llvm_bin, "%s", real);
    // bin/../lib/clang/N/lib/linux holds compiler-rt.
    const char *version = strstr(real, "/llvm-");
    p->resource_rt[0] = p->llvm_version[0] = 0;
    if (version && sscanf(version, "/llvm-%15[0-9]", p->llvm_version) == 1) {
        char rt[CC_PATH_MAX];
        if (put_path(rt, "%s/../lib/clang/%s/lib/linux", real, p->llvm_version) && cc_dir_exists(rt))
            put_path(p->resource_rt, "%s", rt);
    }
    return true;
}

static bool try_directory(struct cc_places *p, const char *dir, const char *below)
{
    char path[CC_PATH_MAX];
    return dir && *dir && put_path(path, "%s%s/clang", dir, below) && accept(p, path, false);
}

int cc_places_find_clang(struct cc_places *p, const char *rocm)
{
    char path[CC_PATH_MAX];
    const char *wanted = secure_getenv("EHP_CLANG");
    if (wanted && *wanted) {
        bool found = strchr(wanted, '/') ? put_path(path, "%s", wanted) : find_in_path(path, wanted);
        if (found && accept(p, path, false))
            return 0;
        tool_say("ehp cc: EHP_CLANG=%s is not a program", wanted);
        return -1;
    }
    if (try_directory(p, rocm, "/llvm/bin") || try_directory(p, rocm, "/lib/llvm/bin") ||
        try_directory(p, secure_getenv("HIP_CLANG_PATH"), ""))
        return 0;
    // 22 is what is tested; then newer ones; then older ones down to 17, the first that knew it.
    static const int versions[] = {22, 26, 25, 24, 23, 21, 20, 19, 18, 17};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        char name[32];
        snprintf(name, sizeof name, "clang-%d", versions[i]);
        if ((put_path(path, "/usr/lib/llvm-%d/bin/clang", versions[i]) && accept(p, path, false)) ||
            (find_in_path(path, name) && accept(p, path, false)))
            return 0;
    }
    if (find_in_path(path, "clang") && accept(p, path, true))
        return 0;
    fputs("ehp cc: no clang that knows " EHP_PROCESSOR " (17 or newer, best 22); on Debian:\n"
          "    apt-get install clang-22 clang-tools-22 lld-22 llvm-22 libclang-rt-22-dev rocm-device-libs\n"
          "EHP_CLANG=/path/to/clang names another one.\n",
          stderr);
    return -1;
}

static void print_command(const struct cc_args *args)
{
    char *words = cc_args_join(args, " ");
    tool_say("hipcc-cmd: %s", words);
    free(words);
}

int cc_exec(const char *program, struct cc_args *args, bool verbose)
{
    if (verbose)
        print_command(args);
    fflush(NULL);
    execv(program, args->v);
    tool_say("ehp cc: cannot run %s: %s", program, strerror(errno));
    return 1;
}

int cc_run(const char *program, struct cc_args *args, bool verbose)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(cc_exec(program, args, verbose));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        tool_say("ehp cc: cannot run %s: %s", program, strerror(errno));
        return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
