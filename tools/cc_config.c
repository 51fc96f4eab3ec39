// SPDX-License-Identifier: MIT
// `ehp config`: answers hipconfig's questions. Build systems read single answers from it, so these come
// without a newline, as hipconfig's do.
#include "cc.h"
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum question {
    ASK_PATH,
    ASK_ROCM_PATH,
    ASK_CPP,
    ASK_COMPILER,
    ASK_PLATFORM,
    ASK_RUNTIME,
    ASK_CLANG_PATH,
    ASK_VERSION,
    ASK_CHECK,
    ASK_NEWLINE,
    ASK_FULL,
    ASK_HELP,
};

static const struct {
    const char *letter, *word;
    enum question question;
    const char *help;
} options[] = {
    {"-p", "--path", ASK_PATH, "directory that holds bin/hipcc and include/hip"},
    {"-R", "--rocmpath", ASK_ROCM_PATH, "the same, as ROCm's root"},
    {"-C", "--cpp_config", ASK_CPP, "options for the preprocessor"},
    {"-c", "--compiler", ASK_COMPILER, "kind of compiler"},
    {"-P", "--platform", ASK_PLATFORM, "amd"},
    {"-r", "--runtime", ASK_RUNTIME, "kind of runtime"},
    {"-l", "--hipclangpath", ASK_CLANG_PATH, "directory of clang++"},
    {"-v", "--version", ASK_VERSION, "version of HIP"},
    {"", "--check", ASK_CHECK, "look whether all is there"},
    {"-n", "--newline", ASK_NEWLINE, "end with a newline"},
    {"-f", "--full", ASK_FULL, "everything, for a person"},
    {"-h", "--help", ASK_HELP, "this text"},
};

static void print_cpp(const struct cc_places *p)
{
    printf(" -D__HIP_PLATFORM_HCC__= -D__HIP_PLATFORM_AMD__= -I%s/include", p->tree);
}

static int check(struct cc_places *p)
{
    struct cc_args none = {0};
    char *header = cc_format("%s/include/hip/hip_runtime.h", p->tree);
    char *library = cc_format("%s/lib/libamdhip64.so", p->tree);
    bool have_header = cc_can_read(header), have_library = cc_can_read(library);
    bool have_clang = cc_places_find_clang(p, NULL) == 0;
    bool have_bitcode = have_clang && cc_bitcode_prepare(p, &none) == 0;
    printf("headers           %s\nruntime           %s\ncompiler          %s\ndevice libraries  %s\n",
           have_header ? header : "missing", have_library ? library : "missing",
           have_clang ? p->clang : "missing", have_bitcode ? p->bitcode : "missing");
    free(header);
    free(library);
    return have_header && have_library && have_bitcode ? 0 : 1;
}

static int print_full(struct cc_places *p)
{
    struct utsname host;
    const char *path = secure_getenv("PATH");
    printf("HIP version  : %d.%d.%d-ehp\n\n", p->hip_major, p->hip_minor, p->hip_patch);
    printf("== hipconfig\nHIP_PATH     : %s\nROCM_PATH    : %s\nHIP_COMPILER : clang\nHIP_PLATFORM : amd\n"
           "HIP_RUNTIME  : rocclr\nCPP_CONFIG   :",
           p->tree, p->tree);
    print_cpp(p);
    printf("\n\n== hip-clang\nHIP_CLANG_PATH : %s/llvm/bin\n", p->tree);
    int status = check(p);
    printf("\n== Environment Variables\nPATH=%s\n", path ? path : "");
    if (uname(&host) == 0)
        printf("\n== %s %s %s\n", host.sysname, host.release, host.machine);
    return status;
}

static int print_help(void)
{
    puts("usage: ehp config [option]...\nPrints where things are, as hipconfig does.\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        printf("  %-3s %-16s %s\n", options[i].letter, options[i].word, options[i].help);
    return 0;
}

static int answer(struct cc_places *p, enum question question)
{
    switch (question) {
    case ASK_PATH:
    case ASK_ROCM_PATH:
        fputs(p->tree, stdout);
        break;
    case ASK_CPP:
        print_cpp(p);
        break;
    case ASK_COMPILER:
        fputs("clang", stdout);
        break;
    case ASK_PLATFORM:
        fputs("amd", stdout);
        break;
    case ASK_RUNTIME:
        fputs("rocclr", stdout);
        break;
    case ASK_CLANG_PATH:
        printf("%s/llvm/bin", p->tree);
        break;
    case ASK_VERSION:
        printf("%d.%d.%d-ehp", p->hip_major, p->hip_minor, p->hip_patch);
        break;
    case ASK_CHECK:
        return check(p);
    case ASK_NEWLINE:
        break;
    case ASK_FULL:
        return print_full(p);
    case ASK_HELP:
        return print_help();
    }
    return 0;
}

int tool_config(int argc, char **argv)
{
    struct cc_places places;
    if (cc_places_find(&places))
        return 1;
    if (argc < 2)
        return print_full(&places);
    bool newline = false;
    int status = 0;
    for (int i = 1; i < argc && status == 0; i++) {
        size_t k = 0, n = sizeof options / sizeof *options;
        while (k < n && strcmp(argv[i], options[k].word) != 0 && strcmp(argv[i], options[k].letter) != 0)
            k++;
        if (k == n) {
            tool_say("ehp config: unknown option %s; --help lists them", argv[i]);
            return 1;
        }
        newline |= options[k].question == ASK_NEWLINE;
        status = answer(&places, options[k].question);
    }
    if (newline)
        putchar('\n');
    return status;
}
