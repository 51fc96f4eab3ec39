// SPDX-License-Identifier: MIT
// Completes the device libraries. Debian's rocm-device-libs are from LLVM 15: modules for the newer
// processors and for code object version 6 are missing. Each is one constant, so it is assembled here and put
// with links to the others into one directory, as clang's driver wants them (clang: HIP Support, "Device
// Library").
#include "base/folder.h"
#include "cc.h"
#include "tool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// Where the libraries are, malloc'ed, or NULL. Newer Debians have a package for each LLVM, in its clang's
// directory: that of the compiler, or an older one, whose bitcode it can read.
static char *find_device_libs(const struct cc_places *p)
{
    static const char *const dirs[] = {
        "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
        "/usr/lib/amdgcn/bitcode",
        "/usr/lib64/amdgcn/bitcode",
        "/usr/share/amdgcn/bitcode",
        "/opt/rocm/amdgcn/bitcode",
    };
    const char *wanted = secure_getenv("EHP_DEVICE_LIBS");
    if (wanted && *wanted)
        return cc_copy(wanted);
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        char *path = cc_format("%s/ocml.bc", dirs[i]);
        bool found = cc_can_read(path);
        free(path);
        if (found)
            return cc_copy(dirs[i]);
    }
    enum { OLDEST = 17, NEWEST = 26 };
    for (int version = *p->llvm_version ? atoi(p->llvm_version) : NEWEST; version >= OLDEST; version--) {
        char *dir = cc_format("/usr/lib/llvm-%d/lib/clang/%d/amdgcn/bitcode", version, version);
        char *path = cc_format("%s/ocml.bc", dir);
        bool found = cc_can_read(path);
        free(path);
        if (found)
            return dir;
        free(dir);
    }
    return NULL;
}

// Modules that are made here even where the system has them: theirs do not have all that is asked of them.
static bool is_own(const char *module)
{
    return strncmp(module, "oclc_abi_version_", 17) == 0;
}

// Links every other module of from into dir. Several compilers of one parallel make may do this at once, so
// an existing link is as good as ours.
static int link_modules(const char *dir, const char *from)
{
    DIR *d = opendir(from);
    if (!d)
        return -1;
    int status = 0;
    for (struct dirent *e; (e = readdir(d)) && status == 0;) {
        size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 3, ".bc") != 0 || is_own(e->d_name))
            continue;
        char *target = cc_format("%s/%s", from, e->d_name), *name = cc_format("%s/%s", dir, e->d_name);
        if (!cc_can_read(name)) {
            unlink(name); // a link whose target has gone
            if (symlink(target, name) && errno != EEXIST)
                status = -1;
        }
        free(target);
        free(name);
    }
    closedir(d);
    return status;
}

// What buffered printf of HIP asks for, which the libraries have for OpenCL only: bytes from the buffer that
// a hidden argument points to, or null when they are not left (LLVM AMDGPUUsage, "hidden_printf_buffer").
// Where that argument is depends on the ABI's version, so this is part of the modules that give it.
static void put_printf_alloc(FILE *f, int abi)
{
    fprintf(f,
            "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
            "define linkonce_odr protected ptr addrspace(1) @__printf_alloc(i32 %%bytes) {\n"
            "  %%args = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
            "  %%slot = getelementptr i8, ptr addrspace(4) %%args, i64 %d\n"
            "  %%buffer = load ptr addrspace(1), ptr addrspace(4) %%slot, align 8\n"
            "  %%limit = getelementptr i8, ptr addrspace(1) %%buffer, i64 4\n"
            "  %%size = load i32, ptr addrspace(1) %%limit, align 4\n"
            "  %%first = load atomic i32, ptr addrspace(1) %%buffer syncscope(\"agent\") monotonic, align 4\n"
            "  br label %%try\n"
            "try:\n"
            "  %%used = phi i32 [ %%first, %%0 ], [ %%seen, %%take ]\n"
            "  %%next = add i32 %%used, %%bytes\n"
            "  %%end = add i32 %%next, 8\n"
            "  %%full = icmp ugt i32 %%end, %%size\n"
            "  br i1 %%full, label %%none, label %%take\n"
            "take:\n"
            "  %%pair = cmpxchg ptr addrspace(1) %%buffer, i32 %%used, i32 %%next syncscope(\"agent\") "
            "monotonic monotonic, align 4\n"
            "  %%seen = extractvalue { i32, i1 } %%pair, 0\n"
            "  %%taken = extractvalue { i32, i1 } %%pair, 1\n"
            "  br i1 %%taken, label %%done, label %%try\n"
            "done:\n"
            "  %%past = getelementptr i8, ptr addrspace(1) %%buffer, i64 8\n"
            "  %%at32 = zext i32 %%used to i64\n"
            "  %%at = getelementptr i8, ptr addrspace(1) %%past, i64 %%at32\n"
            "  ret ptr addrspace(1) %%at\n"
            "none:\n"
            "  ret ptr addrspace(1) null\n"
            "}\n",
            abi < 500 ? 24 : 72);
}

// Writes the module that holds one i32 constant. The compiler writes to a name of our own; rename() then
// makes the module appear whole.
static int make_constant(const struct cc_places *p, const char *dir, const char *module, const char *symbol,
                         int value)
{
    char *source = cc_format("%s/.%s.%ld.ll", dir, module, (long)getpid());
    char *object = cc_format("%s/.%s.%ld.bc", dir, module, (long)getpid());
    char *final = cc_format("%s/%s.bc", dir, module);
    int status = -1;
    FILE *f = fopen(source, "we");
    if (f) {
        fprintf(f,
                "target triple = \"amdgcn-amd-amdhsa\"\n"
                "@%s = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 %d, align 4\n"
                // clang 22 no longer links oclc_daz_opt_*.bc, which the libraries of ROCm 5 ask for.
                "@__oclc_daz_opt = linkonce_odr protected local_unnamed_addr addrspace(4) constant i8 0, "
                "align 1\n",
                symbol, value);
        if (strcmp(symbol, "__oclc_ABI_version") == 0)
            put_printf_alloc(f, value);
        if (fclose(f) == 0) {
            pid_t child = fork();
            if (child == 0) {
                execl(p->clang, p->clang, "--target=amdgcn-amd-amdhsa", "-nogpulib", "-Wno-override-module",
                      "-x", "ir", source, "-c", "-emit-llvm", "-o", object, (char *)NULL);
                _exit(127);
            }
            int code = 0;
            if (child > 0 && waitpid(child, &code, 0) == child && code == 0 && rename(object, final) == 0)
                status = 0;
        }
        unlink(source);
    }
    if (status)
        tool_say("ehp cc: cannot make %s: %s", final, strerror(errno));
    free(source);
    free(object);
    free(final);
    return status;
}

// "9402" for "942", "9400" for "9-4-generic": 1000 * major + 100 * minor + stepping (ROCm-Device-Libs,
// oclc/). -1 for what is no processor's number.
static int isa_version(const char *name)
{
    if (strstr(name, "-generic")) {
        char *end;
        long major = strtol(name, &end, 10), minor = 0;
        if (*end == '-' && isdigit((unsigned char)end[1]))
            minor = strtol(end + 1, &end, 10);
        return strcmp(end, "-generic") == 0 && major > 0 && major < 100 ? (int)(1000 * major + 100 * minor)
                                                                        : -1;
    }
    // gfx90a: the last digit is the stepping and the one before the minor version, both hexadecimal.
    size_t n = strlen(name);
    if (n < 3 || n > 4 || strspn(name, "0123456789abcdef") != n)
        return -1;
    long number = strtol(name, NULL, 16), major = n == 4 ? 10 * (number >> 12 & 15) : 0;
    major += number >> 8 & 15;
    return (int)(1000 * major + 100 * (number >> 4 & 15) + (number & 15));
}

static int add_module(const struct cc_places *p, const char *dir, const char *module, const char *symbol,
                      int value)
{
    char *path = cc_format("%s/%s.bc", dir, module);
    bool there = cc_can_read(path);
    free(path);
    return there ? 0 : make_constant(p, dir, module, symbol, value);
}

// The name of the module for an --offload-arch value; NULL when it names no processor. Features after a colon
// do not matter.
static char *isa_module(const char *arch, int *version)
{
    if (strncmp(arch, "gfx", 3) != 0)
        return NULL;
    char *name = cc_copy(arch + 3);
    name[strcspn(name, ":")] = 0;
    *version = isa_version(name);
    char *module = *version > 0 ? cc_format("oclc_isa_version_%s", name) : NULL;
    free(name);
    return module;
}

// What the modules in a directory were made by, in the file made-by: when this changes, they are made again.
enum { RECIPE = 3 };

static char *made_by(const struct cc_places *p)
{
    return cc_format("recipe %d, %s", RECIPE, p->llvm_bin);
}

static bool is_current(const struct cc_places *p, const char *dir)
{
    char *path = cc_format("%s/made-by", dir), *wanted = made_by(p), line[CC_PATH_MAX + 64] = "";
    FILE *f = fopen(path, "re");
    bool current = f && fgets(line, sizeof line, f) && strcmp(line, wanted) == 0;
    if (f)
        fclose(f);
    free(path);
    free(wanted);
    return current;
}

// Removes the modules that another version made; links to the system's stay.
static void remove_made(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        struct stat st;
        if (n > 3 && strcmp(e->d_name + n - 3, ".bc") == 0 &&
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (S_ISREG(st.st_mode) || is_own(e->d_name)))
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

static int sign(const struct cc_places *p, const char *dir)
{
    char *path = cc_format("%s/made-by", dir), *own = cc_format("%s/.made-by.%ld", dir, (long)getpid());
    char *text = made_by(p);
    FILE *f = fopen(own, "we");
    int status = -1;
    if (f) {
        bool written = fputs(text, f) >= 0;
        status = fclose(f) == 0 && written && rename(own, path) == 0 ? 0 : -1;
    }
    free(path);
    free(own);
    free(text);
    return status;
}

static bool complete(const struct cc_places *p, const char *dir, const struct cc_args *archs)
{
    if (!is_current(p, dir))
        return false;
    static const char *const always[] = {"ocml", "ockl", "oclc_isa_version_942", "oclc_abi_version_600"};
    bool all = true;
    for (size_t i = 0; i < sizeof always / sizeof *always && all; i++) {
        char *path = cc_format("%s/%s.bc", dir, always[i]);
        all = cc_can_read(path);
        free(path);
    }
    for (size_t i = 0; i < archs->n && all; i++) {
        int version;
        char *module = isa_module(archs->v[i], &version);
        if (module) {
            char *path = cc_format("%s/%s.bc", dir, module);
            all = cc_can_read(path);
            free(path);
        }
        free(module);
    }
    return all;
}

static int fill(const struct cc_places *p, const char *dir, const struct cc_args *archs)
{
    char *from = find_device_libs(p);
    if (!from) {
        fputs("ehp cc: no AMD device libraries; on Debian: apt-get install rocm-device-libs (or "
              "rocm-device-libs-21)\n"
              "EHP_DEVICE_LIBS=/path/to/amdgcn/bitcode names others.\n",
              stderr);
        return -1;
    }
    if (!is_current(p, dir))
        remove_made(dir);
    bool filled = folder_make_all(dir) == 0 && link_modules(dir, from) == 0 && sign(p, dir) == 0;
    free(from);
    if (!filled) {
        tool_say("ehp cc: cannot fill %s: %s", dir, strerror(errno));
        return -1;
    }
    static const struct {
        const char *module, *symbol;
        int value;
    } always[] = {
        {"oclc_isa_version_942", "__oclc_ISA_version", 9402},
        {"oclc_abi_version_400", "__oclc_ABI_version", 400},
        {"oclc_abi_version_500", "__oclc_ABI_version", 500},
        {"oclc_abi_version_600", "__oclc_ABI_version", 600},
    };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (add_module(p, dir, always[i].module, always[i].symbol, always[i].value))
            return -1;
    int status = 0;
    for (size_t i = 0; i < archs->n && status == 0; i++) {
        int version;
        char *module = isa_module(archs->v[i], &version);
        if (module)
            status = add_module(p, dir, module, "__oclc_ISA_version", version);
        free(module);
    }
    return status;
}

int cc_bitcode_make(const struct cc_places *p, const char *dir)
{
    struct cc_args none = {0};
    return fill(p, dir, &none);
}

static int make_own(const char *dir)
{
    char why[256];
    if (folder_make_own(dir, why, sizeof why))
        return 0;
    tool_say("ehp cc: %s %s; or set XDG_CACHE_HOME to a directory of yours", dir, why);
    return -1;
}

void cc_bitcode_cache(char *dir, size_t bytes)
{
    char own[CC_PATH_MAX - 16];
    folder_of_cache(own, sizeof own);
    snprintf(dir, bytes, "%s/bitcode", own);
}

// Where the user's cache is; its last two directories are private.
static int find_cache(struct cc_places *p)
{
    char own[CC_PATH_MAX - 16];
    folder_of_cache(own, sizeof own);
    char *above = cc_format("%.*s", (int)(strrchr(own, '/') - own), own);
    int status = *above && folder_make_all(above) ? -1 : 0;
    if (status)
        tool_say("ehp cc: cannot make %s: %s", above, strerror(errno));
    free(above);
    cc_bitcode_cache(p->bitcode, sizeof p->bitcode);
    return status == 0 && make_own(own) == 0 ? make_own(p->bitcode) : -1;
}

int cc_bitcode_prepare(struct cc_places *p, const struct cc_args *archs)
{
    snprintf(p->bitcode, sizeof p->bitcode, "%.4000s/amdgcn/bitcode", p->tree);
    if (complete(p, p->bitcode, archs))
        return 0;
    // An installation that belongs to root cannot be completed now; the user's cache can.
    if (access(p->bitcode, W_OK) != 0) {
        if (find_cache(p))
            return -1;
        if (complete(p, p->bitcode, archs))
            return 0;
    }
    return fill(p, p->bitcode, archs);
}
