// SPDX-License-Identifier: MIT
// The other names that a ROCm tree's bin directories have and that are links to the command here: build
// systems that go round hipcc (CMake's HIP language calls clang++ directly) find the same compiler, headers
// and libraries.
#include "cc.h"
#include "time_host.h"
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool names_hip_source(const char *arg)
{
    const char *dot = strrchr(arg, '.');
    return dot && (strcmp(dot, ".hip") == 0 || strcmp(dot, ".cu") == 0);
}

// clang with our tree as its ROCm. It stays clang: no suffix is HIP that clang does not take for HIP.
int cc_run_clang(int argc, char **argv)
{
    struct cc_places places;
    struct cc_args words = {0}, archs = {0}, out = {0};
    int status = 1;
    if (cc_args_expand(&words, argc - 1, argv + 1) || cc_places_find(&places) ||
        cc_places_find_clang(&places, NULL))
        goto out;
    bool hip = false, rocm = false, libs = false, link = false;
    for (size_t i = 0; i < words.n; i++) {
        const char *arg = words.v[i];
        link |= strcmp(arg, "--hip-link") == 0;
        hip |= names_hip_source(arg) || strcmp(arg, "-xhip") == 0 ||
               (strcmp(arg, "-x") == 0 && i + 1 < words.n && strcmp(words.v[i + 1], "hip") == 0);
        rocm |= strncmp(arg, "--rocm-path=", 12) == 0 && !cc_is_ehp(arg + 12);
        libs |= strncmp(arg, "--rocm-device-lib-path", 22) == 0 || strcmp(arg, "-nogpulib") == 0;
        if (strncmp(arg, "--offload-arch=", 15) == 0)
            cc_args_push(&archs, strcmp(arg + 15, "native") == 0 ? EHP_PROCESSOR : arg + 15);
    }
    cc_args_push(&out, places.clang);
    if (strstr(base_name(argv[0]), "++"))
        cc_args_push(&out, "--driver-mode=g++");
    else if (strstr(base_name(argv[0]), "-cpp"))
        cc_args_push(&out, "--driver-mode=cpp");
    cc_args_push(&out, "--start-no-unused-arguments");
    if (!rocm)
        cc_args_pushf(&out, "--rocm-path=%s", places.tree);
    if (hip || link) {
        if (archs.n == 0)
            cc_args_push(&out, "--offload-arch=" EHP_PROCESSOR);
        if (!rocm && !libs) {
            if (cc_bitcode_prepare(&places, &archs))
                goto out;
            cc_args_pushf(&out, "--rocm-device-lib-path=%s", places.bitcode);
        }
        // clang itself looks in the tree after the system's directories, and drops a -I that names the tree:
        // the headers of another HIP in /usr/include would come first.
        if (hip && !rocm) {
            cc_args_push(&out, "-isystem");
            cc_args_pushf(&out, "%s/include", places.tree);
        }
        cc_args_pushf(&out, "-L%s", places.lib);
        cc_args_pushf(&out, "-Wl,-rpath,%s", places.lib);
    }
    cc_args_push(&out, "--end-no-unused-arguments");
    for (size_t i = 0; i < words.n; i++)
        cc_args_push(&out, strcmp(words.v[i], "--offload-arch=native") == 0 ? "--offload-arch=" EHP_PROCESSOR
                                                                            : words.v[i]);
    status = cc_exec(places.clang, &out, false);
out:
    cc_args_free(&words);
    cc_args_free(&archs);
    cc_args_free(&out);
    return status;
}

// The tool of that name which belongs to the clang that we use.
int cc_run_llvm_tool(int argc, char **argv)
{
    struct cc_places places;
    struct cc_args args = {0};
    if (cc_places_find(&places) || cc_places_find_clang(&places, NULL))
        return 1;
    char *program = cc_format("%s/%s", places.llvm_bin, base_name(argv[0]));
    cc_args_push(&args, program);
    for (int i = 1; i < argc; i++)
        cc_args_push(&args, argv[i]);
    int status = cc_exec(program, &args, false);
    cc_args_free(&args);
    free(program);
    return status;
}

// rocm_agent_enumerator and its like: the processors of this machine, the CPU being gfx000.
int cc_run_enumerator(int argc, char **argv)
{
    bool gpus_only = strcmp(base_name(argv[0]), "rocm_agent_enumerator") != 0;
    for (int i = 1; i + 1 < argc; i++)
        gpus_only |= strcmp(argv[i], "-t") == 0 && strcmp(argv[i + 1], "GPU") == 0;
    if (!gpus_only)
        puts("gfx000");
    puts(EHP_PROCESSOR);
    return 0;
}

// rocminfo prints what `ehp info` prints.
static int run_info(int argc, char **argv)
{
    struct cc_args args = {0};
    cc_args_push(&args, "ehp");
    cc_args_push(&args, "info");
    for (int i = 1; i < argc; i++)
        cc_args_push(&args, argv[i]);
    int status = cc_exec("/proc/self/exe", &args, false);
    cc_args_free(&args);
    return status;
}

tool_fn *tool_find_alias(const char *argv0)
{
    static const struct {
        const char *name;
        tool_fn *run;
    } list[] = {
        {"hipcc", tool_cc},
        {"as", time_host_assemble},
        {"hipcc.bin", tool_cc},
        {"hipconfig", tool_config},
        {"hipconfig.bin", tool_config},
        {"clang", cc_run_clang},
        {"clang++", cc_run_clang},
        {"clang-cpp", cc_run_clang},
        {"amdclang", cc_run_clang},
        {"amdclang++", cc_run_clang},
        {"amdclang-cpp", cc_run_clang},
        {"rocm_agent_enumerator", cc_run_enumerator},
        {"amdgpu-arch", cc_run_enumerator},
        {"offload-arch", cc_run_enumerator},
        {"rocminfo", run_info},
        {"lld", cc_run_llvm_tool},
        {"ld.lld", cc_run_llvm_tool},
        {"clang-offload-bundler", cc_run_llvm_tool},
        {"clang-offload-packager", cc_run_llvm_tool},
        {"clang-linker-wrapper", cc_run_llvm_tool},
        {"llc", cc_run_llvm_tool},
        {"opt", cc_run_llvm_tool},
    };
    const char *name = base_name(argv0);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(name, list[i].name) == 0)
            return list[i].run;
    return strncmp(name, "llvm-", 5) == 0 ? cc_run_llvm_tool : NULL;
}
