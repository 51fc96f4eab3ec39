// SPDX-License-Identifier: MIT
// `ehp cc`: hipcc's command line over clang. Sources become HIP by their suffix as hipcc takes them, our
// headers, device libraries and runtime are put in front of the system's, and clang does the rest.
#include "cc.h"
#include "environment.h"
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// LLVM takes this option once at most, so the user's own replaces ours.
#define SCHEDULE "-amdgpu-sched-strategy"

struct cc_job {
    struct cc_args args;  // the user's words in their order, with -x put in
    struct cc_args archs; // values of --offload-arch
    char *rocm;           // --rocm-path: another ROCm's compiler and headers
    bool link;            // false after -c, -S, -E and their like
    bool has_hip, has_host, has_input;
    bool has_optimise, has_schedule, rdc, user_bitcode, quiet, openmp, time_host;
};

enum source { SOURCE_NONE, SOURCE_HIP, SOURCE_CXX, SOURCE_C };

bool cc_takes_value(const char *arg)
{
    static const char *const list[] = {
        "-o",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-isysroot",
        "-iprefix",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-include-pch",
        "-MF",
        "-MT",
        "-MQ",
        "-MJ",
        "-Xlinker",
        "-Xclang",
        "-Xassembler",
        "-Xpreprocessor",
        "-Xanalyzer",
        "-mllvm",
        "-T",
        "-u",
        "-z",
        "-e",
        "-target",
        "-arch",
        "-framework",
        "--param",
        "-Xarch_device",
        "-Xarch_host",
        "-Xoffload-linker",
        "-Xcuda-fatbinary",
        "-Xcuda-ptxas",
        "-working-directory",
        "--sysroot",
        "-G",
        "-rpath",
        "-stdlib++-isystem",
        "-cxx-isystem",
        "-dumpdir",
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(arg, list[i]) == 0)
            return true;
    return strncmp(arg, "-Xopenmp-target", 15) == 0;
}

// Options after which clang does not link.
static bool stops_before_link(const char *arg)
{
    static const char *const list[] = {"-c",
                                       "-S",
                                       "-E",
                                       "-M",
                                       "-MM",
                                       "-fsyntax-only",
                                       "--precompile",
                                       "-emit-llvm",
                                       "--emit-static-lib",
                                       "--cuda-device-only",
                                       "--offload-device-only",
                                       "--hip-device-only"};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(arg, list[i]) == 0)
            return true;
    return false;
}

static enum source source_kind(const char *name)
{
    static const struct {
        const char *suffix;
        enum source kind;
    } list[] = {
        {"hip", SOURCE_HIP}, {"cu", SOURCE_HIP},  {"cuh", SOURCE_HIP}, {"cpp", SOURCE_CXX},
        {"cc", SOURCE_CXX},  {"cxx", SOURCE_CXX}, {"C", SOURCE_CXX},   {"cp", SOURCE_CXX},
        {"CPP", SOURCE_CXX}, {"c++", SOURCE_CXX}, {"c", SOURCE_C},     {"hpp", SOURCE_CXX},
        {"hxx", SOURCE_CXX},
    };
    const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
    for (size_t i = 0; dot && i < sizeof list / sizeof *list; i++)
        if (strcmp(dot + 1, list[i].suffix) == 0)
            return list[i].kind;
    return SOURCE_NONE;
}

// hipcc's switch for projects whose C++ files are not HIP.
static bool cxx_is_hip(void)
{
    const char *value = secure_getenv("HIP_COMPILE_CXX_AS_HIP");
    return !value || strcmp(value, "0") != 0;
}

static const char *starts(const char *arg, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(arg, prefix, n) == 0 ? arg + n : NULL;
}

static void add_arch(struct cc_job *job, const char *list)
{
    char *copy = cc_copy(list), *rest = copy;
    for (char *one; (one = strsep(&rest, ",")) != NULL;)
        if (*one) // this machine's GPU is the one that EHP simulates
            cc_args_push(&job->archs, strcmp(one, "native") == 0 ? EHP_PROCESSOR : one);
    free(copy);
}

static void add_input(struct cc_job *job, const char *name, const char *language, const char **current)
{
    job->has_input = true;
    const char *wanted = "none";
    if (language) {
        job->has_hip |= strcmp(language, "hip") == 0;
        job->has_host |= strcmp(language, "c") == 0 || strcmp(language, "c++") == 0;
        cc_args_push(&job->args, name);
        return;
    }
    switch (source_kind(name)) {
    case SOURCE_HIP:
        wanted = "hip";
        break;
    case SOURCE_CXX:
        wanted = cxx_is_hip() ? "hip" : "c++";
        break;
    case SOURCE_C:
        wanted = "c";
        break;
    case SOURCE_NONE:
        break;
    }
    job->has_hip |= strcmp(wanted, "hip") == 0;
    job->has_host |= strcmp(wanted, "c") == 0 || strcmp(wanted, "c++") == 0;
    if (strcmp(*current, wanted) != 0) {
        cc_args_push(&job->args, "-x");
        cc_args_push(&job->args, wanted);
        *current = wanted;
    }
    cc_args_push(&job->args, name);
}

// Options that are hipcc's own or that we need to know about. Returns true when clang must not see arg.
static bool take_own_option(struct cc_job *job, const char *arg)
{
    const char *value;
    if ((value = starts(arg, "--offload-arch=")) || (value = starts(arg, "--amdgpu-target=")) ||
        (value = starts(arg, "--cuda-gpu-arch="))) {
        add_arch(job, value);
        return true;
    }
    if ((value = starts(arg, "--rocm-path="))) {
        free(job->rocm);
        job->rocm = cc_copy(value);
        return true;
    }
    if (strcmp(arg, "--time-host") == 0) {
        job->time_host = true;
        return true;
    }
    if (strcmp(arg, "--genco") == 0) {
        cc_args_push(&job->args, "--cuda-device-only");
        job->link = false;
        return true;
    }
    // hipcc's own switches that change nothing here: device functions can always be called, the runtime is
    // always shared, and linking always looks for device code. So do two that only AMD's clang knows: how
    // many devices it compiles for at a time, and its optimiser that is not LLVM's.
    static const char *const idle[] = {"--hipcc-func-supp", "--hipcc-no-func-supp", "-use-staticlib",
                                       "-use-sharedlib",    "--hip-link",           "-famd-opt"};
    if (starts(arg, "-parallel-jobs="))
        return true;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (strcmp(arg, idle[i]) == 0)
            return true;
    if (strcmp(arg, "-fgpu-rdc") == 0 || strcmp(arg, "-fno-gpu-rdc") == 0)
        job->rdc = strcmp(arg, "-fgpu-rdc") == 0;
    else if (starts(arg, "--rocm-device-lib-path=") || strcmp(arg, "-nogpulib") == 0 ||
             strcmp(arg, "--no-offloadlib") == 0)
        job->user_bitcode = true;
    else if (arg[0] == '-' && arg[1] == 'O')
        job->has_optimise = true;
    else if (strcmp(arg, "-w") == 0)
        job->quiet = true;
    else if (strcmp(arg, "-fopenmp") == 0 || strcmp(arg, "-fopenmp=libomp") == 0)
        job->openmp = true;
    if (stops_before_link(arg))
        job->link = false;
    return false;
}

static int read_command(struct cc_job *job, const struct cc_args *words)
{
    const char *language = NULL, *current = "none";
    bool only_inputs = false;
    for (size_t i = 0; i < words->n; i++) {
        const char *arg = words->v[i], *x = NULL;
        if (only_inputs || arg[0] != '-' || strcmp(arg, "-") == 0) {
            add_input(job, arg, language, &current);
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            // clang's own "--" would hide the -x that we put before inputs.
            only_inputs = true;
            continue;
        }
        if (strcmp(arg, "--offload-arch") == 0 || strcmp(arg, "--rocm-path") == 0 || strcmp(arg, "-x") == 0 ||
            cc_takes_value(arg)) {
            if (i + 1 == words->n) {
                tool_say("ehp cc: %s needs a value", arg);
                return -1;
            }
            const char *value = words->v[++i];
            if (strcmp(arg, "--offload-arch") == 0) {
                add_arch(job, value);
            } else if (strcmp(arg, "--rocm-path") == 0) {
                free(job->rocm);
                job->rocm = cc_copy(value);
            } else if (strcmp(arg, "-x") == 0) {
                x = value;
            } else {
                cc_args_push(&job->args, arg);
                cc_args_push(&job->args, value);
                job->has_input |= strcmp(arg, "-l") == 0;
                job->has_schedule |= strstr(value, SCHEDULE) != NULL;
            }
        } else if (starts(arg, "-fopenmp-targets=")) {
            tool_say("ehp cc: %s: OpenMP's offloading needs a runtime on HSA, which EHP does not have; "
                     "without this option target regions run on the host",
                     arg);
            return -1;
        } else if (arg[1] == 'x' && arg[2]) {
            x = arg + 2;
        } else if (!take_own_option(job, arg)) {
            cc_args_push(&job->args, arg);
            job->has_schedule |= strstr(arg, SCHEDULE) != NULL; // -mllvm=... and -Wl,-mllvm,...
            job->has_input |= arg[1] == 'l' && arg[2];
        }
        if (x) {
            language = strcmp(x, "cu") == 0 || strcmp(x, "cuda") == 0 ? "hip" : x;
            cc_args_push(&job->args, "-x");
            cc_args_push(&job->args, language);
            current = language = strcmp(language, "none") == 0 ? NULL : language;
            if (!language)
                current = "none";
        }
    }
    return 0;
}

// A ROCm that the environment names counts only when there is one.
static char *rocm_from_environment(void)
{
    const char *path = secure_getenv("ROCM_PATH");
    if (!path || !*path)
        return NULL;
    char *header = cc_format("%s/include/hip/hip_runtime.h", path);
    bool usable = cc_can_read(header);
    free(header);
    return usable ? cc_copy(path) : NULL;
}

static void check_archs(struct cc_job *job)
{
    if (job->archs.n > 0 && job->openmp && job->has_host && !job->has_hip && !job->quiet)
        tool_say("ehp cc: note: --offload-arch is for HIP's code; OpenMP's target regions run on the host");
    if (job->archs.n == 0) {
        const char *list = secure_getenv("HCC_AMDGPU_TARGET");
        add_arch(job, list && *list ? list : EHP_PROCESSOR);
    }
    for (size_t i = 0; i < job->archs.n; i++)
        if (starts(job->archs.v[i], EHP_PROCESSOR) || starts(job->archs.v[i], "gfx9-4-generic"))
            return;
    if (!job->has_hip || job->quiet)
        return;
    char *archs = cc_args_join(&job->archs, ", ");
    tool_say("ehp cc: note: building for %s only; MI300A and MI300X run code for " EHP_PROCESSOR, archs);
    free(archs);
}

static int read_environment(struct cc_job *job, const char *name)
{
    struct cc_args words = {0};
    const char *text = secure_getenv(name);
    if (text)
        cc_args_split(&words, text);
    int status = read_command(job, &words);
    cc_args_free(&words);
    return status;
}

// LLVM 22 leaves a load where its value is needed when moving it up would cost occupancy, so that loops wait
// for each of their loads; LLVM 19, which ROCm 6.3 and 6.4 have, puts them together, and so does this
// strategy of 22.
static void build_schedule(struct cc_args *out, const struct cc_job *job, const struct cc_places *places)
{
    enum { FIRST_VERSION = 22 };
    if (job->rocm || job->has_schedule || !(job->has_hip || job->rdc) ||
        atoi(places->llvm_version) < FIRST_VERSION)
        return;
    cc_args_push(out, "-mllvm");
    cc_args_push(out, SCHEDULE "=max-memory-clause");
}

static void build_compile_flags(struct cc_args *out, const struct cc_job *job, const struct cc_places *places)
{
    // clang warns of options that the inputs at hand make no use of; those below are not the user's.
    cc_args_push(out, "--start-no-unused-arguments");
    cc_args_pushf(out, "--rocm-path=%s", job->rocm ? job->rocm : places->tree);
    if (!job->user_bitcode && !job->rocm)
        cc_args_pushf(out, "--rocm-device-lib-path=%s", places->bitcode);
    for (size_t i = 0; i < job->archs.n; i++)
        cc_args_pushf(out, "--offload-arch=%s", job->archs.v[i]);
    cc_args_push(out, "-isystem");
    cc_args_pushf(out, "%s/include", job->rocm ? job->rocm : places->tree);
    if (job->has_host && !job->has_hip)
        cc_args_push(out, "-D__HIP_PLATFORM_AMD__=1");
    if (!job->has_optimise)
        cc_args_push(out, "-O3"); // hipcc's default
    build_schedule(out, job, places);
    cc_args_push(out, "--end-no-unused-arguments");
}

static void build_link_flags(struct cc_args *front, struct cc_args *back, const struct cc_places *places,
                             bool time_host)
{
    cc_args_push(front, "--hip-link");
    cc_args_push(front, "-no-hip-rt"); // ours follows, also when the headers are another ROCm's
    cc_args_pushf(front, "-L%s", places->lib);
    cc_args_pushf(front, "-Wl,-rpath,%s", places->lib);
    // compiler-rt has the conversions of _Float16 and __bf16 that older libgcc lack.
    if (places->resource_rt[0]) {
        cc_args_push(front, "--rtlib=compiler-rt");
        cc_args_push(front, "-unwindlib=libgcc");
    }
    // The runtime is found when the program runs, also by one that calls nothing of HIP.
    if (time_host) {
        cc_args_push(back, "-Wl,--push-state,--no-as-needed");
        cc_args_push(back, "-lehp_time_host");
    }
    cc_args_push(back, "-lamdhip64");
    if (time_host)
        cc_args_push(back, "-Wl,--pop-state");
    cc_args_push(back, "-lgcc_s");
    cc_args_push(back, "-lgcc");
    cc_args_push(back, "-lpthread");
    cc_args_push(back, "-lm");
    cc_args_push(back, "-lrt");
}

static void print_list(const struct cc_args *list)
{
    for (size_t i = 0; i < list->n; i++)
        printf("%s%s", i ? " " : "", list->v[i]);
}

// What is asked of the driver itself. Returns true when that was all, with *status set.
static bool answer_question(const struct cc_args *words, struct cc_places *places, int *status)
{
    *status = 0;
    for (size_t i = 0; i < words->n; i++) {
        const char *arg = words->v[i];
        if (cc_takes_value(arg)) {
            i++;
            continue;
        }
        if (strcmp(arg, "--version") == 0 || strcmp(arg, "-version") == 0) {
            printf("HIP version: %d.%d.%d-ehp\n", places->hip_major, places->hip_minor, places->hip_patch);
            if (cc_places_find_clang(places, NULL))
                return true;
            struct cc_args args = {0};
            cc_args_push(&args, places->clang);
            cc_args_push(&args, "--version");
            *status = cc_exec(places->clang, &args, false);
            return true;
        }
        if (strcmp(arg, "--short-version") == 0) {
            printf("%d.%d.%d\n", places->hip_major, places->hip_minor, places->hip_patch);
            return true;
        }
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            puts("usage: ehp cc [options] file...\n"
                 "Compiles and links HIP, C++ and C for the chips that EHP simulates; takes hipcc's "
                 "options.\n\n"
                 "  .hip .cu .cpp .cc .cxx    HIP, unless -x or HIP_COMPILE_CXX_AS_HIP=0 says otherwise\n"
                 "  .c                        C\n"
                 "  --offload-arch=ARCH       processor to compile for, " EHP_PROCESSOR
                 " by default; may be repeated\n"
                 "  --genco                   make a code object for hipModuleLoad\n"
                 "  --time-host               host code takes its time on the simulated CPU, in timing mode\n"
                 "  -fgpu-rdc                 let device code call functions of other files\n"
                 "  --rocm-path=DIR           use the compiler, headers and device libraries of an installed "
                 "ROCm\n"
                 "  --version                 version of HIP and of clang\n"
                 "  --cxxflags, --ldflags     print what is added to compile and to link\n\n"
                 "All other options are clang's.\n\n"
                 "Environment:");
            environment_print(stdout, ENVIRONMENT_COMPILER);
            return true;
        }
        if (strcmp(arg, "--cxxflags") == 0 || strcmp(arg, "--ldflags") == 0 || strcmp(arg, "--cflags") == 0) {
            struct cc_args front = {0}, back = {0};
            if (strcmp(arg, "--ldflags") == 0) {
                if (cc_places_find_clang(places, NULL) == 0)
                    build_link_flags(&front, &back, places, false);
                cc_args_append(&front, &back);
            } else {
                cc_args_push(&front, "-D__HIP_PLATFORM_AMD__=1");
                cc_args_pushf(&front, "-isystem %s/include", places->tree);
            }
            print_list(&front);
            putchar('\n');
            cc_args_free(&front);
            cc_args_free(&back);
            return true;
        }
        if (strcmp(arg, "--make-device-libs") == 0 && i + 1 < words->n) { // the build's question
            *status = cc_places_find_clang(places, NULL) || cc_bitcode_make(places, words->v[i + 1]);
            return true;
        }
    }
    return false;
}

// clang would only say that it cannot find omp.h or -lomp.
static bool has_openmp(const struct cc_places *places)
{
    char *library = cc_format("%s/../lib/libomp.so", places->llvm_bin);
    bool found = cc_can_read(library) || !places->llvm_version[0];
    free(library);
    if (!found)
        tool_say("ehp cc: -fopenmp needs clang's OpenMP library; on Debian: apt-get install libomp-%s-dev",
                 places->llvm_version);
    return found;
}

static int run_job(struct cc_job *job, struct cc_places *places, const struct cc_args *words)
{
    struct cc_args front = {0}, link_front = {0}, back = {0};
    int status = 1;
    if (read_command(job, words) || read_environment(job, "HIPCC_COMPILE_FLAGS_APPEND"))
        goto out;
    if (!job->rocm)
        job->rocm = rocm_from_environment();
    if (job->rocm && cc_is_ehp(job->rocm)) {
        free(job->rocm);
        job->rocm = NULL;
    }
    if (job->rocm && !cc_dir_exists(job->rocm)) {
        tool_say("ehp cc: --rocm-path=%s is not a directory", job->rocm);
        goto out;
    }
    if (cc_places_find_clang(places, job->rocm))
        goto out;
    if (job->openmp && !job->rocm && !has_openmp(places))
        goto out;
    cc_args_push(&front, places->clang);
    cc_args_push(&front, "--driver-mode=g++");
    bool link = job->link && job->has_input;
    if (job->has_input || job->has_hip) {
        check_archs(job);
        bool device = job->has_hip || (link && job->rdc);
        if (device && !job->user_bitcode && !job->rocm && cc_bitcode_prepare(places, &job->archs))
            goto out;
        build_compile_flags(&front, job, places);
    }
    if (link) {
        build_link_flags(&link_front, &back, places, job->time_host);
        if (read_environment(job, "HIPCC_LINK_FLAGS_APPEND"))
            goto out;
    }
    const char *trace = secure_getenv("HIPCC_VERBOSE");
    bool verbose = trace && strtol(trace, NULL, 10) & 1;
    if (job->time_host && (link || cc_makes_objects(&job->args))) {
        status = cc_time_run(places, &front, link ? &link_front : NULL, &job->args, &back, verbose);
        goto out;
    }
    if (cc_mixed_needed(&job->args)) {
        status = cc_mixed_run(places->clang, &front, link ? &link_front : NULL, &job->args, &back, verbose);
        goto out;
    }
    cc_args_append(&front, &link_front);
    cc_args_append(&front, &job->args);
    cc_args_append(&front, &back);
    status = cc_exec(places->clang, &front, verbose);
out:
    cc_args_free(&front);
    cc_args_free(&link_front);
    cc_args_free(&back);
    return status;
}

int tool_cc(int argc, char **argv)
{
    const char *platform = secure_getenv("HIP_PLATFORM");
    if (platform && *platform && strcmp(platform, "amd") != 0 && strcmp(platform, "hcc") != 0) {
        tool_say("ehp cc: HIP_PLATFORM=%s: only amd can be compiled for", platform);
        return 1;
    }
    struct cc_args words = {0};
    struct cc_places places;
    struct cc_job job = {.link = true};
    int status = 1;
    if (cc_args_expand(&words, argc - 1, argv + 1) == 0 && cc_places_find(&places) == 0) {
        if (words.n == 0)
            fputs("ehp cc: no input files\n", stderr);
        else if (!answer_question(&words, &places, &status))
            status = run_job(&job, &places, &words);
    }
    free(job.rocm);
    cc_args_free(&job.args);
    cc_args_free(&job.archs);
    cc_args_free(&words);
    return status;
}
