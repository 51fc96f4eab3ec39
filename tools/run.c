/* SPDX-License-Identifier: MIT */
/*
 * `ehp run`: a program with the simulated chip as its HIP device.  It only sets
 * what the runtime reads from the environment, puts our libamdhip64 first in
 * the library path, and becomes the program, or its parent if there are tables
 * to print about it.
 */
#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment.h"
#include "machine_args.h"
#include "run.h"
#include "tables.h"
#include "tool.h"

struct run_args {
    struct machine_args machine;
    const char *stats, *mode, *engine, *bounds, *counters, *counters_file, *memory, *fabric;
    bool quiet, sample, isolate, no_sdma;
    int program; /* index of the program in argv */
};

enum {
    OPT_STATS = 256,
    OPT_TIMEOUT,
    OPT_MODE,
    OPT_NO_PROGRESS,
    OPT_COUNTERS,
    OPT_COUNTERS_FILE,
    OPT_SAMPLE,
    OPT_ISOLATE,
    OPT_MEMORY,
    OPT_FABRIC,
    OPT_BOUNDS,
    OPT_NO_SDMA,
    OPT_ENGINE
};

static const struct argp_option options[] = {
    {"stats", OPT_STATS, "FILE", OPTION_ARG_OPTIONAL,
     "count instructions and bytes per kernel, and in timing mode say where the time went: a table, or JSON "
     "in "
     "FILE, or CSV if it ends in .csv",
     0},
    {"counters", OPT_COUNTERS, "NAME,...", 0,
     "timing mode: print these counters of each dispatch, or \"all\"; `ehp counters` lists them", 0},
    {"counters-file", OPT_COUNTERS_FILE, "FILE", 0, "write them to FILE as JSON, or CSV if it ends in .csv",
     0},
    {"memory", OPT_MEMORY, "FILE", OPTION_ARG_OPTIONAL,
     "say how much memory was in use, by allocator, and when most; FILE gets all samples as CSV", 0},
    {"fabric", OPT_FABRIC, "FILE", OPTION_ARG_OPTIONAL,
     "timing mode: say how busy links, ports, caches and memory were, and how long requests waited for each: "
     "a "
     "table, or JSON in FILE, or CSV if it ends in .csv; of what is between hipProfilerStart() and "
     "hipProfilerStop(), if the program calls them",
     0},
    {"isolate", OPT_ISOLATE, NULL, 0,
     "kernels reach what is allocated or registered for them, and nothing else of the process", 0},
    {"timeout", OPT_TIMEOUT, "SECONDS", 0, "a kernel that runs longer is a fault (never)", 0},
    {"mode", OPT_MODE, "MODE", 0,
     "functional: results only, as fast as the host allows (the default); timing: in simulated time", 0},
    {"engine", OPT_ENGINE, "ENGINE", 0,
     "auto: what turns out hot is compiled for the host (the default); interpreter: nothing is; compiled: "
     "all "
     "is, before it is executed",
     0},
    {"bounds", OPT_BOUNDS, "warn|fault|off", 0,
     "what an access beyond a buffer does that the chip would not notice: say so once for each kernel and "
     "buffer, and go on (the default); fault; or go on",
     0},
    {"sample", OPT_SAMPLE, NULL, 0,
     "timing mode: of large dispatches, run only so many workgroups in detail that their rate is known", 0},
    {"no-sdma", OPT_NO_SDMA, NULL, 0,
     "timing mode: kernels copy between host and device memory, and not the SDMA engines", 0},
    {"no-progress", OPT_NO_PROGRESS, NULL, 0, "no progress line for long kernels", 0},
    {0},
};

error_t run_parse_program(int key, struct argp_state *state, int *program)
{
    switch (key) {
    case ARGP_KEY_ARG: /* everything from here on is its own */
        *program = state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which program?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct run_args *args = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &args->machine;
        return 0;
    case OPT_STATS:
        args->stats = argument ? argument : "-";
        return 0;
    case OPT_COUNTERS:
        args->counters = argument;
        return 0;
    case OPT_COUNTERS_FILE:
        args->counters_file = argument;
        return 0;
    case OPT_MEMORY:
        args->memory = argument ? argument : "-";
        return 0;
    case OPT_FABRIC:
        args->fabric = argument ? argument : "-";
        return 0;
    case OPT_TIMEOUT:
        args->machine.timeout = argument;
        return 0;
    case OPT_MODE:
        args->mode = argument;
        return 0;
    case OPT_ENGINE:
        args->engine = argument;
        return 0;
    case OPT_BOUNDS:
        args->bounds = argument;
        return 0;
    case OPT_SAMPLE:
        args->sample = true;
        return 0;
    case OPT_ISOLATE:
        args->isolate = true;
        return 0;
    case OPT_NO_SDMA:
        args->no_sdma = true;
        return 0;
    case OPT_NO_PROGRESS:
        args->quiet = true;
        return 0;
    default:
        return run_parse_program(key, state, &args->program);
    }
}

static const struct argp_child children[] = {{&machine_argp, 0, "Machine:", 1}, {0}};
static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "PROGRAM [ARGUMENTS...]",
    .doc = "Run a HIP program on a simulated chip.\v"
           "Examples:\n"
           "  ehp run ./app\n"
           "  ehp run --chip mi300x --stats ./app\n"
           "  ehp run --mode timing --counters SQ_WAVES,FETCH_SIZE ./app\n"
           "  ehp run --partition cpx --timeout 10 ./app input.dat\n\n"
           "Environment, which holds without `ehp run` too, and gives way to options:\n"
           "%ENVIRONMENT%",
    .children = children,
    .help_filter = environment_help_filter,
};

static bool wants_timing(const struct run_args *args)
{
    const char *mode = args->mode ? args->mode : secure_getenv("EHP_MODE");
    return mode && strcmp(mode, "timing") == 0;
}

/* Each name is a counter's, or says why not. */
static bool check_counters(const struct run_args *args)
{
    if (args->sample && !wants_timing(args)) {
        tool_say("ehp run: --sample: only timing mode has a time to sample; add --mode timing");
        return false;
    }
    if (args->fabric && !wants_timing(args)) {
        tool_say("ehp run: --fabric: only timing mode has links that are busy; add --mode timing");
        return false;
    }
    if (args->counters_file && !args->counters) {
        tool_say("ehp run: --counters-file: of which counters? --counters NAME,... says that");
        return false;
    }
    if (!args->counters || !strcmp(args->counters, "all"))
        return true;
    if (!*args->counters) {
        tool_say("ehp run: --counters=: which? NAME,... or all; `ehp counters` lists them");
        return false;
    }
    for (const char *p = args->counters; *p; p += strcspn(p, ","), p += *p == ',') {
        char name[128], error[512];
        unsigned index;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, ","), p);
        if (ehp_counter_find(name, &index, error, sizeof(error)) != EHP_OK) {
            tool_say("ehp run: --counters: %s; `ehp counters` lists all", error);
            return false;
        }
    }
    if (!wants_timing(args)) {
        tool_say("ehp run: --counters: only timing mode counts; add --mode timing");
        return false;
    }
    return true;
}

/* Rather than when the program has run for hours.  It is not touched: the program may fail. */
bool run_check_output(const char *command, const char *option, const char *path)
{
    if (!path || !strcmp(path, "-"))
        return true;
    if (!*path) {
        tool_say("%s: %s=: which file?", command, option);
        return false;
    }
    char directory[PATH_MAX];
    snprintf(directory, sizeof(directory), "%s", path);
    struct stat found;
    bool exists = stat(path, &found) == 0;
    if (exists && S_ISDIR(found.st_mode))
        errno = EISDIR;
    else if (access(exists ? path : dirname(directory), W_OK) == 0)
        return true;
    tool_say("%s: %s=%s: cannot write there: %s", command, option, path, strerror(errno));
    return false;
}

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
}

/* The directory of libamdhip64: ../lib of an installed command, hip/ beside a built one's tools/. */
static bool library_directory(char path[PATH_MAX])
{
    static const char *const places[] = {"../lib/x86_64-linux-gnu", "../lib64", "../lib", "../src/hip"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0)
        return false;
    self[n] = '\0';
    const char *here = dirname(self);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char library[PATH_MAX + 64];
        snprintf(library, sizeof(library), "%s/%s/libamdhip64.so.6", here, places[i]);
        if (access(library, R_OK) == 0) {
            char directory[PATH_MAX + 64];
            snprintf(directory, sizeof(directory), "%s/%s", here, places[i]);
            return realpath(directory, path) != NULL;
        }
    }
    return false;
}

/*
 * Simulated time follows addresses: of the program's own memory too, which the GPU may use.  They are then
 * the same in every run.  Where that is not allowed, as in some containers, times differ by some nanoseconds.
 */
static void keep_addresses(void)
{
    int now = personality(0xffffffff); /* asks */
    if (now != -1)
        personality((unsigned long)now | ADDR_NO_RANDOMIZE);
}

/*
 * What the program is given lies at the end of its stack, and moves what is on it; and of how many variables
 * there are libraries make copies, which move what is on its heap.  So both are as much, in steps, however
 * long the environment and the program's place are.
 */
static void keep_stack(char **argv, const char *place)
{
    enum { STEP = 64 << 10, ALIGN = 16, VARIABLES = 64, NAME = 32 };
    static const char name[] = "EHP_STACK_FILL";
    char more[NAME];
    unsigned variables = 1; /* with the filling's */
    for (unsigned i = 1; i < VARIABLES; i++) {
        snprintf(more, sizeof(more), "%s%u", name, i);
        unsetenv(more);
    }
    unsetenv(name);
    for (char **a = environ; *a; a++)
        variables++;
    for (unsigned i = 1; variables % VARIABLES; i++, variables++) {
        snprintf(more, sizeof(more), "%s%u", name, i);
        setenv(more, "", 1);
    }
    size_t bytes = strlen(place) + 1 + sizeof(name) + 1, pointers = 1; /* of the filling; an empty one's */
    for (char **a = argv; *a; a++, pointers++)
        bytes += strlen(*a) + 1;
    for (char **a = environ; *a; a++, pointers++)
        bytes += strlen(*a) + 1;
    bytes += (pointers * sizeof(char *) + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    char fill[STEP + 1];
    memset(fill, '-', sizeof(fill));
    fill[STEP - bytes % STEP] = '\0';
    setenv(name, fill, 1);
}

struct program {
    char **argv;
    const char *command;
    bool timing;
};

/* Where execvp() finds a program: its name's length is on the stack as well. */
static const char *place_of(const char *name, char place[PATH_MAX])
{
    const char *path = secure_getenv("PATH");
    if (strchr(name, '/') || !path)
        return name;
    for (const char *at = path; *at;) {
        const size_t n = strcspn(at, ":");
        const int bytes = snprintf(place, PATH_MAX, "%.*s/%s", (int)n, at, name);
        if (n && bytes < PATH_MAX && access(place, X_OK) == 0)
            return place;
        at += n + (at[n] == ':');
    }
    return name;
}

/* Becomes the program; an exit status when that fails. */
static int become(void *argument)
{
    const struct program *program = argument;
    char **const argv = program->argv, place[PATH_MAX];

    if (program->timing)
        keep_stack(argv, place_of(argv[0], place));
    execvp(argv[0], argv);
    const int error = errno;
    if (error == ENOENT && !strchr(argv[0], '/') && access(argv[0], X_OK) == 0)
        tool_say("%s: %s: not in PATH: run ./%s", program->command, argv[0], argv[0]);
    else
        tool_say("%s: %s: %s", program->command, argv[0], strerror(error));
    return error == ENOENT ? 127 : 126;
}

/* A library that takes the place of others' calls, in the program and in those that become it. */
static void come_first(const char *library)
{
    const char *old = secure_getenv("LD_PRELOAD");
    char preload[3 * PATH_MAX];
    if (old && strstr(old, library)) /* mpirun's `ehp run`, and then its ranks' */
        return;
    snprintf(preload, sizeof(preload), "%s%s%s", old ? old : "", old && *old ? ":" : "", library);
    set("LD_PRELOAD", preload);
}

/*
 * Packages with CPUs are NUMA nodes: what they are, for the library that answers when the program asks the
 * system (src/hip/host/numa.c).  It comes first in the program, and in those that become it, as numactl.
 */
static bool set_numa(ehp_machine *m, const char *directory)
{
    struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
    char text[512], path[2 * PATH_MAX];
    uint64_t left, all;
    if (ehp_agent_info(m, 0, &info) != EHP_OK || info.packages < 2 || !info.cpu_cores ||
        ehp_numa_info(m, 0, &left, &all) != EHP_OK)
        return true;
    /* Linux's distances: 10 is the node itself; 32, as of other packages by default, is one link. */
    int n = snprintf(text, sizeof(text), "%u:%u:%llu:", info.packages, info.cpu_cores,
                     (unsigned long long)(all / 1024));
    for (unsigned i = 0; i < info.packages * info.packages; i++)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%u", i ? "," : "",
                      10 + 22 * ehp_node_hops(m, i / info.packages, i % info.packages));
    set("EHP_NUMA", text);
    snprintf(path, sizeof(path), "%s/libehp_time_host.so", directory);
    if (access(path, R_OK) != 0) {
        tool_say("%s is not beside libamdhip64.so.6; build or install it", path);
        return false;
    }
    come_first(path);
    return true;
}

/* Whether the program is one of MPI's ranks, or begins them. */
static bool is_mpi(const char *program)
{
    static const char *const starters[] = {"mpirun", "mpiexec", "orterun", "prterun", "prun"};
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    bool found = secure_getenv("OMPI_COMM_WORLD_RANK") != NULL;
    for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
        found |= !strcmp(name, starters[i]);
    return found;
}

/* A number of the chip's or the node's; none: it has no such thing. */
static void add_number(ehp_machine *m, const char *key, char *text, size_t bytes)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    bool found = ehp_chip_value(m, key, &v) == EHP_OK;
    for (unsigned i = 0; !found && ehp_node_value_at(m, i, &v) == EHP_OK; i++)
        found = !strcmp(v.key, key) && *v.source;
    const size_t used = strlen(text);
    if (found)
        snprintf(text + used, bytes - used, "%s=%.17g ", key, v.number);
}

/*
 * Ranks of MPI's keep one simulated time: how long messages take, for the library that comes before MPI's
 * (src/mpi).
 */
static void set_network(ehp_machine *m, const char *directory)
{
    static const char *const keys[] = {"mpi.overhead",  "mpi.latency",   "mpi.rate",        "mpi.reduce",
                                       "mpi.eager",     "mpi.poll",      "network.latency", "network.rate",
                                       "network.ports", "network.ranks", "link.rate",       "link.latency",
                                       "link.header"};
    struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
    char text[2048] = "", path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s/libehp_mpi.so", directory);
    if (access(path, R_OK) != 0)
        snprintf(path, sizeof(path), "%s/../mpi/libehp_mpi.so", directory); /* of a build */
    if (access(path, R_OK) != 0) {
        tool_say("built without MPI: each rank has a simulated time of its own");
        return;
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        add_number(m, keys[i], text, sizeof(text));
    ehp_agent_info(m, 0, &info);
    size_t n = strlen(text);
    n += (size_t)snprintf(text + n, sizeof(text) - n, "packages=%u links=", info.packages);
    for (unsigned i = 0; i < info.packages * info.packages; i++) {
        struct ehp_link link = {.size = sizeof(link)};
        if (ehp_node_link(m, i / info.packages, i % info.packages, &link) != EHP_OK)
            link.count = 0;
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", i ? "," : "", link.count);
    }
    set("EHP_NETWORK", text);
    come_first(path);
}

int run_program(const struct machine_args *machine, char **argv, const char *command)
{
    environment_warn(command);
    struct ehp_options check = EHP_OPTIONS_INIT; /* finds mistakes before the program starts */
    machine_args_to_options(machine, &check);
    check.threads = 1;
    const char *mode = secure_getenv("EHP_MODE");
    check.timing = mode && strcmp(mode, "timing") == 0;
    const char *isolate = secure_getenv("EHP_ISOLATE");
    check.isolate = isolate && strcmp(isolate, "1") == 0;
    ehp_machine *m;
    if (ehp_open(&check, &m) != EHP_OK) {
        tool_say("%s: %s", command, check.error);
        return 2;
    }
    char directory[PATH_MAX];
    bool found = library_directory(directory);
    if (!found)
        tool_say("%s: libamdhip64.so.6 is not beside this command; build or install it", command);
    found = found && set_numa(m, directory);
    if (found && check.timing && is_mpi(argv[0]))
        set_network(m, directory);
    ehp_close(m);
    if (!found)
        return 1;
    const char *old = secure_getenv("LD_LIBRARY_PATH");
    char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s%s%s", directory, old && *old ? ":" : "", old ? old : "");
    set("LD_LIBRARY_PATH", path);
    if (machine->chip || machine->node) { /* one that was asked for here, and none beside it */
        unsetenv("EHP_CHIP");
        unsetenv("EHP_NODE");
    }
    set("EHP_CHIP", machine->chip);
    set("EHP_NODE", machine->node);
    set("EHP_PARTITION", machine->partition);
    set("EHP_NPS", machine->nps);
    set("EHP_XCC_CHUNK", machine->xcc_chunk);
    set("EHP_THREADS", machine->threads);
    set("EHP_TIMEOUT", machine->timeout);
    if (machine->xnack)
        set("HSA_XNACK", "1");
    if (check.timing)
        keep_addresses();
    struct program program = {argv, command, check.timing};
    int status = tables_wanted() ? tables_run(become, &program) : -1;
    return status >= 0 ? status : become(&program);
}

/* Names of what there are several of. */
static bool check_names(const struct run_args *args)
{
    if (args->mode && strcmp(args->mode, "functional") && strcmp(args->mode, "timing")) {
        tool_say("ehp run: there is no mode \"%s\"; there are: functional, timing", args->mode);
        return false;
    }
    if (args->engine && strcmp(args->engine, "auto") && strcmp(args->engine, "interpreter") &&
        strcmp(args->engine, "compiled")) {
        tool_say("ehp run: there is no engine \"%s\"; there are: auto, interpreter, compiled", args->engine);
        return false;
    }
    if (args->bounds && strcmp(args->bounds, "warn") && strcmp(args->bounds, "fault") &&
        strcmp(args->bounds, "off")) {
        tool_say("ehp run: there are no bounds \"%s\"; there are: warn, fault, off", args->bounds);
        return false;
    }
    return true;
}

int tool_run(int argc, char **argv)
{
    struct run_args args = {0};
    argv[0] = "ehp run";
    if (tool_parse(&parser, argc, argv, ARGP_IN_ORDER, &args) != 0)
        return 2;
    if (!check_names(&args) || !check_counters(&args) || !run_check_output(argv[0], "--stats", args.stats) ||
        !run_check_output(argv[0], "--counters-file", args.counters_file) ||
        !run_check_output(argv[0], "--memory", args.memory) ||
        !run_check_output(argv[0], "--fabric", args.fabric))
        return 2;
    set("EHP_MODE", args.mode);
    set("EHP_ENGINE", args.engine);
    set("EHP_BOUNDS", args.bounds);
    set("EHP_STATS", args.stats);
    set("EHP_MEMORY", args.memory);
    set("EHP_FABRIC", args.fabric);
    set("EHP_COUNTERS", args.counters);
    set("EHP_COUNTERS_FILE", args.counters_file);
    if (args.isolate)
        set("EHP_ISOLATE", "1");
    if (args.sample)
        set("EHP_SAMPLE", "1");
    if (args.no_sdma)
        set("HSA_ENABLE_SDMA", "0");
    if (args.quiet)
        set("EHP_PROGRESS", "0");
    return run_program(&args.machine, argv + args.program, argv[0]);
}
