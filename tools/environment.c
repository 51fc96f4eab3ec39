/* SPDX-License-Identifier: MIT */
/* Names and meanings of environment variables.  tests/output/help.py compares them with the sources. */
#include "environment.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/distance.h"
#include "tool.h"

struct variable {
    const char *name, *help;
};

static const struct variable of_programs[] = {
    {"EHP_CHIP", "as --chip"},
    {"EHP_NODE", "as --node"},
    {"EHP_PARTITION", "as --partition"},
    {"EHP_NPS", "as --nps"},
    {"EHP_XCC_CHUNK", "as --xcc-chunk"},
    {"EHP_THREADS", "as --threads"},
    {"EHP_TIMEOUT", "as --timeout"},
    {"EHP_MODE", "as --mode"},
    {"EHP_ENGINE", "as --engine"},
    {"EHP_BOUNDS", "as --bounds"},
    {"EHP_ISOLATE", "1: as --isolate"},
    {"EHP_SAMPLE", "1: as --sample"},
    {"EHP_PROGRESS", "0: as --no-progress; 1: also where no terminal is"},
    {"EHP_STATS", "as --stats: a file, or - for standard error"},
    {"EHP_MEMORY", "as --memory: a file, or -"},
    {"EHP_FABRIC", "as --fabric: a file, or -"},
    {"EHP_COUNTERS", "as --counters"},
    {"EHP_COUNTERS_FILE", "as --counters-file"},
    {"EHP_ADVISE", "as `ehp advise`: a file for its JSON, or -"},
    {"EHP_CACHE_DIR", "directory for compiled code; empty: keep none"},
    {"EHP_CACHE_SIZE", "MiB of compiled code to keep (256)"},
    {"EHP_CHIPS", "directory of the chip files (EHP's own)"},
    {"EHP_NODES", "directory of the node files (EHP's own)"},
    {"EHP_ROCM", "tree that has the compiler of hiprtc (EHP's own)"},
    {"EHP_NUMA", "`ehp run` sets it: packages of a node, as NUMA nodes"},
    {"EHP_NUMA_CPUS", "numactl sets it: simulated CPUs of the program that it becomes"},
    {"EHP_NUMA_POLICY", "numactl sets it: memory policy of the program that it becomes"},
    {"EHP_STACK_FILL", "`ehp run` sets it: so that a program's stack is where it always is"},
    {"EHP_NETWORK", "`ehp run` sets it: how long messages of MPI take"},
    {"EHP_TABLES", "`ehp run` sets it: where programs leave their tables"},
    {"OMPI_COMM_WORLD_RANK", "mpirun sets it: one of MPI's ranks"},
    {"HSA_XNACK", "1: as --xnack"},
    {"HSA_ENABLE_SDMA", "0: as --no-sdma"},
    {"GPU_MAX_HW_QUEUES", "hardware queues that streams share (4)"},
    {"ROCR_VISIBLE_DEVICES", "numbers of the devices that there are, as 0,2 (all)"},
    {"HIP_VISIBLE_DEVICES", "numbers of those that the program sees (all)"},
    {"CUDA_VISIBLE_DEVICES", "the same, where HIP_VISIBLE_DEVICES is not set"},
    {"OMP_PLACES", "simulated CPUs that timed threads of OpenMP are on"},
    {"OMP_PROC_BIND", "how they are spread over those"},
    {"XDG_CACHE_HOME", "compiled code is in ehp/compiled there (~/.cache)"},
    {"TMPDIR", "directory for temporary files (/tmp)"},
};

static const struct variable of_the_compiler[] = {
    {"EHP_CLANG", "the clang to use"},
    {"EHP_DEVICE_LIBS", "directory of AMD's device libraries"},
    {"ROCM_PATH", "an installed ROCm, as --rocm-path"},
    {"HIP_CLANG_PATH", "directory of the clang to use"},
    {"HIP_PLATFORM", "amd; another is refused"},
    {"HIP_COMPILE_CXX_AS_HIP", "0: .cpp, .cc and .cxx files are C++"},
    {"HCC_AMDGPU_TARGET", "as --offload-arch, where there is none"},
    {"HIPCC_COMPILE_FLAGS_APPEND", "options added when compiling"},
    {"HIPCC_LINK_FLAGS_APPEND", "options added when linking"},
    {"HIPCC_VERBOSE", "1: print the commands that are run"},
    {"XDG_CACHE_HOME", "directory for completed device libraries (~/.cache)"},
    {"TMPDIR", "directory for temporary files (/tmp)"},
};

static const struct variable *list_of(enum environment_reader reader, size_t *count)
{
    if (reader == ENVIRONMENT_PROGRAM) {
        *count = sizeof(of_programs) / sizeof(of_programs[0]);
        return of_programs;
    }
    *count = sizeof(of_the_compiler) / sizeof(of_the_compiler[0]);
    return of_the_compiler;
}

void environment_print(FILE *out, enum environment_reader reader)
{
    size_t count;
    const struct variable *list = list_of(reader, &count);
    size_t longest = 0;

    for (size_t i = 0; i < count; i++)
        if (strlen(list[i].name) > longest)
            longest = strlen(list[i].name);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  %-*s  %s\n", (int)longest, list[i].name, list[i].help);
}

void environment_print_names(FILE *out, enum environment_reader reader)
{
    enum { WIDTH = 78 };
    size_t count, column = 0;
    const struct variable *list = list_of(reader, &count);

    for (size_t i = 0; i < count; i++) {
        const size_t n = strlen(list[i].name);
        if (column && column + 1 + n > WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%s", column ? " " : "    ", list[i].name);
        column += n + (column ? 1 : 4);
    }
    fputc('\n', out);
}

/* The name that is the nearest to this one, by a letter, or two of a long one; NULL: none, or this is one. */
static const char *meant(const char *name)
{
    const char *nearest = NULL;
    unsigned least = strlen(name) > strlen("EHP_THREAD") ? 3 : 2;
    for (enum environment_reader reader = ENVIRONMENT_PROGRAM; reader <= ENVIRONMENT_COMPILER; reader++) {
        size_t count;
        const struct variable *list = list_of(reader, &count);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(name, list[i].name) == 0)
                return NULL;
            const unsigned far = word_distance(name, list[i].name);
            if (far < least) {
                least = far;
                nearest = list[i].name;
            }
        }
    }
    return nearest;
}

/* Others may have variables of this beginning that are nobody's business: only what is nearly right is named.
 */
void environment_warn(const char *command)
{
    static const char begins[] = "EHP_";
    for (char **v = environ; *v; v++) {
        const char *end = strchr(*v, '=');
        if (!end || strncmp(*v, begins, strlen(begins)) != 0)
            continue;
        char *name = strndup(*v, (size_t)(end - *v));
        const char *right = name ? meant(name) : NULL;
        if (right)
            tool_say("%s: %s is ignored; is %s meant?", command, name, right);
        free(name);
    }
}

char *environment_help_filter(int key, const char *text, void *input)
{
    static const char mark[] = "%ENVIRONMENT%";
    const char *place = text ? strstr(text, mark) : NULL;
    char *filled = NULL;
    size_t bytes;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC || !place)
        return (char *)text; /* argp's way to say "as it is" */
    FILE *out = open_memstream(&filled, &bytes);
    if (!out)
        return (char *)text;
    fprintf(out, "%.*s", (int)(place - text), text);
    environment_print(out, ENVIRONMENT_PROGRAM);
    fputs(place + strlen(mark), out);
    if (fclose(out) == 0)
        return filled;
    free(filled);
    return (char *)text;
}
