/* SPDX-License-Identifier: MIT */
/*
 * `ehp compare`: the same programs on several designs in simulated time, how fast each is, and what of the
 * package keeps it from being faster.  That is told from what `ehp run` has measured, by --fabric and
 * --stats: which part is busy nearly all of the time, and where none is, how long a read is under way and
 * where.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "tool.h"

enum {
    DESIGNS = 6,
    PARTS = 512,
    WIDTH = 100, /* of what is printed, */
    INDENT = 39, /* and where reasons begin */
    FULL = 75    /* %, from which on a part is what binds: queues are long then, and bursts meet them */
};

struct compare_args {
    const char *chip[DESIGNS];
    unsigned chips;
    const char *only[16];
    unsigned onlys;
    const char *json, *threads;
    bool all;
    char **program; /* the user's own, with its arguments; NULL: ours */
};

/* What of a chip decides what can run there. */
struct design {
    const char *chip;
    char title[64];
    unsigned xcds, ccds, cores, gpu_iods, memory_iods;
    double xcd_misses, ccd_misses; /* lines that an XCD's L2, or a CCD, waits for at a time */
    const char *partition;         /* that makes each IOD with XCDs a device; NULL: there is none */
};

/* Where a program runs. */
enum place {
    PACKAGE, /* one device, one memory */
    NEAR     /* a device for each IOD with XCDs, and memory by IOD */
};
enum needs { GPU = 1, GPUS = 2, CPU = 4 };

struct program {
    const char *name, *title, *source;
    const char *arguments[6]; /* "%x": XCDs, "%c": cores */
    enum place place;
    unsigned needs;
    bool application, xnack;
};

static const struct program programs[] = {
    {"near", "one GPU complex reads the HBM next to it", "package", {"near"}, NEAR, GPU, false, false},
    {"far", "another GPU complex reads the same memory", "package", {"far"}, NEAR, GPU | GPUS, false, false},
    {"whole",
     "a triad by all GPUs, over all of the memory",
     "package",
     {"whole"},
     PACKAGE,
     GPU,
     false,
     false},
    {"matrix",
     "matrix products in registers, on all GPUs",
     "package",
     {"matrix"},
     PACKAGE,
     GPU,
     false,
     false},
    {"messages",
     "an atomic from the first XCD to the last and back, one way",
     "package",
     {"messages", "%x"},
     PACKAGE,
     GPU,
     false,
     false},
    {"cpu-latency",
     "loads of a CPU core that follow one another",
     "package",
     {"cpu-latency", "%c"},
     PACKAGE,
     CPU,
     false,
     false},
    {"cpu-read", "all CPU cores read memory", "package", {"cpu-read", "%c"}, PACKAGE, CPU, false, false},
    {"backprop",
     "application: a neural network's training step",
     "backprop",
     {"--unified", "--size", "16384"},
     PACKAGE,
     GPU | CPU,
     true,
     false},
    {"dwt2d",
     "application: a wavelet transform",
     "dwt2d",
     {"--unified", "--size", "504"},
     PACKAGE,
     GPU | CPU,
     true,
     false},
    {"heartwall",
     "application: points of a heart wall, over frames",
     "heartwall_v2",
     {"--unified", "--size", "609", "--steps", "2"},
     PACKAGE,
     GPU | CPU,
     true,
     false},
    {"hotspot",
     "application: heat of a chip",
     "hotspot",
     {"--unified", "--size", "512", "--steps", "8"},
     PACKAGE,
     GPU | CPU,
     true,
     false},
    {"nn",
     "application: nearest neighbours",
     "nn",
     {"--unified", "--size", "131072"},
     PACKAGE,
     GPU | CPU,
     true,
     true},
    {"srad",
     "application: speckles of an image",
     "srad_v1",
     {"--unified", "--size", "256", "--steps", "2"},
     PACKAGE,
     GPU | CPU,
     true,
     false},
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

/* A line of --fabric. */
struct part {
    char kind[16];
    unsigned package, iod, to, index, units;
    double busy_ns, waited_ns, bytes, lines, trip_ns, links_ns, home_ns;
};

struct result {
    bool ran;
    double value;
    char unit[16];
    double ns; /* that the parts were looked at */
    unsigned parts;
    struct part part[PARTS];
    /* Of the kernel that took most time: % of the time that units work, and of its waves' time by cause. */
    char kernel[64];
    double kernels_ns, vector, matrix, memory, fence;
    char why[768];
};

/* ---- arguments ---- */

enum { OPT_JSON = 256, OPT_ALL };

static const struct argp_option options[] = {
    {"only", 'o', "NAME", 0, "of ours, this one; may be repeated", 0},
    {"all", OPT_ALL, NULL, 0, "the six applications of apps/ too, which take minutes", 0},
    {"json", OPT_JSON, "FILE", 0,
     "write what was measured to FILE as JSON too, every part of the packages among it", 0},
    {"threads", 't', "N", 0, "host threads that execute waves (all cores)", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct compare_args *args = state->input;
    switch (key) {
    case 'o':
        if (args->onlys == sizeof(args->only) / sizeof(args->only[0]))
            argp_error(state, "too many of them");
        args->only[args->onlys++] = argument;
        return 0;
    case OPT_ALL:
        args->all = true;
        return 0;
    case OPT_JSON:
        args->json = argument;
        return 0;
    case 't':
        args->threads = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (!strcmp(state->argv[state->next - 2], "--")) { /* everything from here on is the program's */
            args->program = state->argv + state->next - 1;
            state->next = state->argc;
            return 0;
        }
        if (args->chips == DESIGNS)
            argp_error(state, "no more than %d designs", DESIGNS);
        args->chip[args->chips++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (args->chips < 2)
            argp_error(state, "which designs? Two of those that `ehp chips` lists, or chip files");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "CHIP CHIP [...] [-- PROGRAM [ARGUMENTS...]]",
    .doc =
        "Run the same programs on several designs in simulated time: how fast each is, compared with the "
        "first "
        "one, and what of its package keeps it from being faster.\v"
        "Ours are, by name: near, far (a GPU complex reads memory next to it, and far from it), whole (all "
        "GPUs, "
        "all of the memory), matrix, messages (from GPU to GPU), cpu-latency and cpu-read; backprop, dwt2d, "
        "heartwall, hotspot, nn and srad are applications. One's own comes behind two dashes: how long "
        "all of it took is compared.\n\n"
        "A part of the package that is busy for more than three quarters of the time is what binds; what "
        "waits for "
        "it, waits so long on average. Where no part is, a chain of accesses does: then it says where a "
        "read's "
        "time goes.\n\n"
        "Examples:\n"
        "  ehp compare ehpv4 mi300a\n"
        "  ehp compare --only whole --only far ehpv3 ehpv4 mi300a\n"
        "  ehp compare ehpv4 mi300-4-2 -- ./app input.dat\n\n"
        "Programs of ours are compiled first, as by `ehp cc`. `ehp chips show NAME` draws a design.",
};

/* ---- designs ---- */

static bool open_chip(const char *chip, const char *partition, ehp_machine **m, char error[256])
{
    struct ehp_options o = EHP_OPTIONS_INIT;
    o.chip = chip;
    o.partition = partition;
    o.threads = 1;
    const bool opened = ehp_open(&o, m) == EHP_OK;
    snprintf(error, 256, "%s", opened ? "" : o.error);
    return opened;
}

static unsigned number_of(ehp_machine *m, const char *key)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    return ehp_chip_value(m, key, &v) == EHP_OK ? (unsigned)v.number : 0;
}

static bool read_design(const char *chip, struct design *d)
{
    static const char *const modes[] = {"spx", "dpx", "tpx", "qpx", "cpx"};
    char error[256];
    ehp_machine *m;
    if (!open_chip(chip, NULL, &m, error)) {
        tool_say("ehp compare: %s", error);
        return false;
    }
    struct ehp_chip_value title = {.size = sizeof(title)};
    ehp_chip_value(m, "chip.title", &title);
    *d = (struct design){.chip = chip};
    snprintf(d->title, sizeof(d->title), "%s", title.text);
    d->xcds = number_of(m, "xcd.count");
    d->ccds = number_of(m, "ccd.count");
    d->cores = d->ccds * number_of(m, "ccd.cores");
    d->xcd_misses = (double)number_of(m, "l2.misses") * number_of(m, "l2.channels");
    d->ccd_misses = number_of(m, "ccd.misses");
    struct ehp_iod iod = {.size = sizeof(iod)};
    for (unsigned i = 0; ehp_chip_iod(m, i, &iod) == EHP_OK; i++) {
        d->gpu_iods += iod.xcds != 0;
        d->memory_iods += iod.hbm_stacks != 0;
    }
    ehp_close(m);
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) && d->xcds && !d->partition; i++)
        if (open_chip(chip, modes[i], &m, error)) {
            d->partition = ehp_agent_count(m) == d->gpu_iods ? modes[i] : NULL;
            ehp_close(m);
        }
    return true;
}

/* Why a program has nothing to run on, or NULL. */
static const char *lacks(const struct program *p, const struct design *d)
{
    if (p->needs & GPU && !d->xcds)
        return "has no XCDs";
    if (p->needs & CPU && !d->cores)
        return "has no CPU cores";
    if (p->needs & GPUS && d->gpu_iods < 2)
        return "has its XCDs on one IOD";
    if (p->place == NEAR && !d->partition)
        return "has no partition mode with a device for each IOD with XCDs";
    return NULL;
}

/* ---- running ---- */

static char scratch[PATH_MAX];

static const char *in_scratch(const char *name, char path[PATH_MAX])
{
    if ((size_t)snprintf(path, PATH_MAX, "%s/%s", scratch, name) >= PATH_MAX)
        abort(); /* it was made with room for our short names */
    return path;
}

/* Its output goes to a file; what it says is shown if it fails. */
static bool execute(char *const *words, const char *what, bool xnack)
{
    char out[PATH_MAX], line[512];
    in_scratch("output", out);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(127);
        if (xnack)
            setenv("HSA_XNACK", "1", 1);
        execv("/proc/self/exe", words);
        _exit(127);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        tool_say("ehp compare: %s failed:", what);
        FILE *file = fopen(out, "re");
        while (file && fgets(line, sizeof(line), file)) {
            line[strcspn(line, "\n")] = '\0';
            tool_say("  %s", line);
        }
        if (file)
            fclose(file);
        return false;
    }
    return true;
}

static bool compile(const struct program *p)
{
    char directory[PATH_MAX], source[PATH_MAX + 32], program[PATH_MAX];
    if (!tool_find_data(p->application ? "apps" : "compare", directory, sizeof(directory))) {
        tool_say("ehp compare: its programs are not where the command expects them; install EHP as a whole");
        return false;
    }
    if (access(in_scratch(p->source, program), X_OK) == 0)
        return true;
    snprintf(source, sizeof(source), "%s/%s.hip", directory, p->source);
    char *words[] = {"ehp", "cc", "-O2", "-std=c++17", "-munsafe-fp-atomics", source, "-o", program, NULL};
    return execute(words, source, false);
}

static void read_value(struct result *r)
{
    char path[PATH_MAX], line[512];
    FILE *file = fopen(in_scratch("output", path), "re");
    while (file && fgets(line, sizeof(line), file) && !*r->unit)
        if (sscanf(line, "%lf %15s", &r->value, r->unit) != 2)
            *r->unit = '\0';
    if (file)
        fclose(file);
}

static bool read_parts(struct result *r)
{
    char path[PATH_MAX], line[512];
    FILE *file = fopen(in_scratch("fabric.csv", path), "re");
    while (file && fgets(line, sizeof(line), file) && r->parts < PARTS) {
        struct part *p = &r->part[r->parts];
        if (sscanf(line, "%15[^,],%u,%u,%u,%u,%u,%lf,%lf,%lf,%lf,%lf,%lf,%lf", p->kind, &p->package, &p->iod,
                   &p->to, &p->index, &p->units, &p->busy_ns, &p->waited_ns, &p->bytes, &p->lines,
                   &p->trip_ns, &p->links_ns, &p->home_ns) != 13)
            continue; /* the heading */
        if (!strcmp(p->kind, "time"))
            r->ns = p->busy_ns;
        else
            r->parts++;
    }
    if (file)
        fclose(file);
    return r->ns > 0;
}

/* Takes the next field of a CSV line, without its quotes. */
static char *next_field(char **line)
{
    char *from = *line, *to = from, *field = from;
    bool quoted = false;
    for (; *from && (quoted || (*from != ',' && *from != '\n')); from++) {
        if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    *line = *from ? from + 1 : from;
    *to = '\0';
    return field;
}

static void read_kernels(struct result *r)
{
    static const char *const names[] = {"kernel",     "seconds",           "VALUBusy",        "MfmaUtil",
                                        "EHP_CYCLES", "EHP_CYCLES_MEMORY", "EHP_CYCLES_FENCE"};
    enum { KERNEL, SECONDS, VECTOR, MATRIX, CYCLES, MEMORY, FENCE, NAMES };
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    int column[NAMES] = {-1, -1, -1, -1, -1, -1, -1};
    double longest = 0;
    FILE *file = fopen(in_scratch("stats.csv", path), "re");
    for (unsigned number = 0; file && getline(&line, &room, file) > 0; number++) {
        const char *found[NAMES] = {"", "0", "0", "0", "0", "0", "0"};
        char *at = line;
        for (int i = 0; *at; i++) {
            const char *field = next_field(&at);
            for (int k = 0; k < NAMES; k++)
                if (number == 0 && !strcmp(field, names[k]))
                    column[k] = i;
                else if (number && i == column[k])
                    found[k] = field;
        }
        if (number == 0)
            continue;
        const double seconds = atof(found[SECONDS]), cycles = atof(found[CYCLES]);
        r->kernels_ns += seconds * 1e9;
        if (seconds <= longest || cycles <= 0)
            continue;
        longest = seconds;
        snprintf(r->kernel, sizeof(r->kernel), "%s", found[KERNEL]);
        r->vector = atof(found[VECTOR]);
        r->matrix = atof(found[MATRIX]);
        r->memory = 100 * atof(found[MEMORY]) / cycles;
        r->fence = 100 * atof(found[FENCE]) / cycles;
    }
    free(line);
    if (file)
        fclose(file);
}

/* A program on a design: ours (`p`) or the user's. */
static bool measure(const struct compare_args *args, const struct program *p, const struct design *d,
                    struct result *r)
{
    char fabric[PATH_MAX + 16], stats[PATH_MAX + 16], path[PATH_MAX], program[PATH_MAX], numbers[2][16],
        nps[16], what[256];
    unsigned count = 0, given = 0;
    while (args->program && args->program[given])
        given++;
    char **words = calloc(given + 32, sizeof(*words));
    if (!words)
        abort();
#define WORD(text) (words[count++] = (char *)(uintptr_t)(text))
    WORD("ehp"), WORD("run"), WORD("--mode"), WORD("timing"), WORD("--no-progress"), WORD("--chip"),
        WORD(d->chip);
    if (args->threads)
        WORD("--threads"), WORD(args->threads);
    if (p && p->place == NEAR) {
        snprintf(nps, sizeof(nps), "%u", d->memory_iods);
        WORD("--partition"), WORD(d->partition), WORD("--nps"), WORD(nps);
    }
    snprintf(fabric, sizeof(fabric), "--fabric=%s", in_scratch("fabric.csv", path));
    unlink(path);
    WORD(fabric);
    snprintf(stats, sizeof(stats), "--stats=%s", in_scratch("stats.csv", path));
    unlink(path);
    WORD(stats);
    if (p) {
        snprintf(numbers[0], sizeof(numbers[0]), "%u", d->xcds);
        snprintf(numbers[1], sizeof(numbers[1]), "%u", d->cores);
        WORD(in_scratch(p->source, program));
        for (unsigned i = 0; i < 6 && p->arguments[i]; i++)
            WORD(!strcmp(p->arguments[i], "%x")   ? numbers[0]
                 : !strcmp(p->arguments[i], "%c") ? numbers[1]
                                                  : p->arguments[i]);
    }
    for (unsigned i = 0; !p && i < given; i++)
        WORD(args->program[i]);
#undef WORD
    snprintf(what, sizeof(what), "%s on %s", p ? p->name : args->program[0], d->chip);
    r->ran = execute(words, what, p && p->xnack);
    free(words);
    if (!r->ran)
        return false;
    r->ran = read_parts(r);
    if (!r->ran) {
        tool_say("ehp compare: %s made no HIP call, so that nothing was simulated", what);
        return false;
    }
    if (p && !p->application)
        read_value(r);
    if (!*r->unit) {
        r->value = r->ns / 1e6;
        snprintf(r->unit, sizeof(r->unit), "ms");
    }
    read_kernels(r);
    return true;
}

/* ---- reasons ---- */

static bool is(const struct part *p, const char *kind)
{
    return !strcmp(p->kind, kind);
}

static void name_part(const struct part *p, char *name, size_t bytes)
{
    const char a = 'A' + (char)p->iod;
    if (is(p, "link"))
        snprintf(name, bytes, "the link from %c to %c", a, 'A' + (char)p->to);
    else if (is(p, "ingress"))
        snprintf(name, bytes, "what IOD %c takes from others", a);
    else if (is(p, "cache"))
        snprintf(name, bytes, "the Infinity Cache of IOD %c", a);
    else if (is(p, "hbm"))
        snprintf(name, bytes, "HBM stack %u at IOD %c", p->index, a);
    else
        snprintf(name, bytes, "the port %s %s %u", strstr(p->kind, "_out") ? "out of" : "into",
                 strstr(p->kind, "xcd")   ? "XCD"
                 : strstr(p->kind, "ccd") ? "CCD"
                                          : "SDMA engine",
                 p->index);
}

static double busy(const struct result *r, const struct part *p)
{
    return 100 * p->busy_ns / r->ns;
}

static const struct part *busiest(const struct result *r, const char *kind)
{
    const struct part *best = NULL;
    for (const struct part *p = r->part; p < r->part + r->parts; p++)
        if ((!kind || is(p, kind)) && (!best || p->busy_ns > best->busy_ns))
            best = p;
    return best && best->busy_ns > 0 ? best : NULL;
}

__attribute__((format(printf, 2, 3))) static void add(struct result *r, const char *format, ...)
{
    const size_t at = strlen(r->why);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why + at, sizeof(r->why) - at, format, arguments);
    va_end(arguments);
}

/* How busy what people ask about is, of what has not been named. */
static void add_others(struct result *r, const struct part *but)
{
    static const struct {
        const char *kind, *name;
    } kinds[] = {{"link", "links"}, {"hbm", "HBM"}};
    const char *before = "; ";
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct part *p = busiest(r, kinds[i].kind);
        if (!p || (but && is(but, kinds[i].kind)))
            continue;
        add(r, "%s%s at most %.0f %%", before, kinds[i].name, busy(r, p));
        before = ", ";
    }
    if (r->matrix >= 1 && r->matrix < FULL)
        add(r, "%smatrix cores %.0f %%", before, r->matrix);
}

/* Of those of one kind of asker who asked most. */
static void add_trip(struct result *r)
{
    static const char *const kinds[] = {"xcd_in", "ccd_in"};
    double most = 0, ns = 0, links = 0, home = 0;
    const char *who = "";
    for (size_t i = 0; i < 2; i++) {
        double lines = 0, sum[3] = {0};
        for (const struct part *p = r->part; p < r->part + r->parts; p++)
            if (is(p, kinds[i])) {
                lines += p->lines;
                sum[0] += p->trip_ns;
                sum[1] += p->links_ns;
                sum[2] += p->home_ns;
            }
        if (lines <= most)
            continue;
        most = lines;
        ns = sum[0] / lines;
        links = sum[1] / lines;
        home = sum[2] / lines;
        who = i ? "a CCD's" : "an XCD's";
    }
    if (most > 0)
        add(r,
            "; %s read takes %.0f ns: %.0f over links, %.0f in memory and its cache, %.0f in ports and "
            "networks",
            who, ns, links, home, ns - links - home);
}

/* Whose misses take most of the room that there is for them: lines under way, on average (Little). */
static const struct part *most_missing(const struct design *d, const struct result *r, double *percent)
{
    const struct part *best = NULL;
    *percent = 0;
    for (const struct part *p = r->part; p < r->part + r->parts; p++) {
        const double room = is(p, "xcd_in") ? d->xcd_misses : is(p, "ccd_in") ? d->ccd_misses : 0;
        if (room > 0 && 100 * p->trip_ns / r->ns / room > *percent) {
            *percent = 100 * p->trip_ns / r->ns / room;
            best = p;
        }
    }
    return best;
}

/* What binds, from what was measured. */
static void explain(const struct design *d, struct result *r, bool own)
{
    const struct part *p = busiest(r, NULL);
    double missing;
    const struct part *asker = most_missing(d, r, &missing);
    char name[64];
    if (own)
        add(r, "kernels run for %.0f %% of it; ", fmin(100, 100 * r->kernels_ns / r->ns));
    if (r->matrix >= FULL || r->vector >= FULL) {
        add(r, "%s are full: %.0f %% busy", r->matrix >= r->vector ? "matrix cores" : "vector ALUs",
            fmax(r->matrix, r->vector));
        add_others(r, NULL);
    } else if (p && busy(r, p) >= FULL) {
        name_part(p, name, sizeof(name));
        add(r, "%s is full: %.0f %% busy", name, busy(r, p));
        if (p->bytes > 0)
            add(r, ", a line waits %.0f ns for it", p->waited_ns / (p->bytes / 128));
        add_others(r, p);
    } else if (missing >= FULL) {
        add(r, "%s %u has no room for more misses: %.0f %% of %.0f",
            is(asker, "xcd_in") ? "the L2 of XCD" : "CCD", asker->index, missing,
            is(asker, "xcd_in") ? d->xcd_misses : d->ccd_misses);
        add_trip(r);
    } else {
        add(r, "no part is full");
        if (p && busy(r, p) >= 1) {
            name_part(p, name, sizeof(name));
            add(r, " (%s %.0f %%)", name, busy(r, p));
        }
        add_trip(r);
    }
}

/* ---- output ---- */

/* In lines that fit, from the column on where it begins. */
static void print_wrapped(const char *text)
{
    unsigned column = INDENT;
    for (const char *word = text; *word;) {
        size_t n = strcspn(word, " ");
        if (!strncmp(word + n, " %", 2)) /* stays with its number */
            n += 2 + strcspn(word + n + 2, " ");
        if (column > INDENT && column + 1 + n > WIDTH) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
        }
        printf("%s%.*s", column > INDENT ? " " : "", (int)n, word);
        column += (unsigned)n + (column > INDENT);
        word += n + strspn(word + n, " ");
    }
    putchar('\n');
}

/* How many times as fast as the first that ran. */
static double as_fast(const struct result *first, const struct result *r)
{
    return strchr(r->unit, '/') ? r->value / first->value : first->value / r->value;
}

static const struct result *first_of(const struct result *r, unsigned designs)
{
    for (unsigned i = 0; i < designs; i++)
        if (r[i].ran)
            return &r[i];
    return NULL;
}

static void print_row(const struct design *d, const struct result *r, const struct result *first)
{
    char cell[40] = "", factor[16] = "";
    struct room room;
    if (r->ran) {
        snprintf(cell, sizeof(cell), "%11.*f %-8s", r->value < 10 ? 2 : r->value < 100, r->value, r->unit);
        if (r != first)
            snprintf(factor, sizeof(factor), "x%.2f", as_fast(first, r));
    }
    const char *slash = strrchr(d->chip, '/');
    printf("  %-9.9s %-20s%-7s", printable(slash ? slash + 1 : d->chip, &room), cell, factor);
    print_wrapped(r->why);
}

static void write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++)
        fprintf(file, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', file);
}

static void write_design(FILE *json, const struct design *d, const struct result *r,
                         const struct result *first)
{
    fprintf(json, "    {\"chip\": ");
    write_string(json, d->chip);
    if (r->ran) {
        fprintf(json, ", \"value\": %.9g, \"unit\": \"%s\", \"as_fast\": %.6g, \"ns\": %.1f, \"kernel\": ",
                r->value, r->unit, as_fast(first, r), r->ns);
        write_string(json, r->kernel);
        fprintf(json,
                ", \"kernels_ns\": %.1f, \"vector_busy\": %.2f, \"matrix_busy\": %.2f, "
                "\"waves_wait_for_memory\": "
                "%.2f, \"waves_wait_for_fences\": %.2f, \"parts\": [",
                r->kernels_ns, r->vector, r->matrix, r->memory, r->fence);
        for (const struct part *p = r->part; p < r->part + r->parts; p++)
            fprintf(json,
                    "%s\n      {\"kind\": \"%s\", \"iod\": %u, \"to\": %u, \"index\": %u, \"busy\": %.3f, "
                    "\"bytes\": "
                    "%.0f, \"waited_ns\": %.1f, \"lines\": %.0f, \"trip_ns\": %.1f, \"links_ns\": %.1f, "
                    "\"home_ns\": %.1f}",
                    p == r->part ? "" : ",", p->kind, p->iod, p->to, p->index, busy(r, p), p->bytes,
                    p->waited_ns, p->lines, p->trip_ns, p->links_ns, p->home_ns);
        fprintf(json, "]");
    }
    fprintf(json, ", \"why\": ");
    write_string(json, r->why);
    fprintf(json, "}");
}

static void say_progress(const char *verb, const char *what, const char *where)
{
    if (isatty(2))
        fprintf(stderr, "\r\033[K%s %s%s%s", verb, what, *where ? " on " : "", where);
}

static void clear_progress(void)
{
    if (isatty(2))
        fprintf(stderr, "\r\033[K");
}

/* One program, or the user's (NULL), on all designs. */
static bool compare(const struct compare_args *args, const struct program *p, const struct design *d,
                    FILE *json, bool more)
{
    const char *name = p ? p->name : args->program[0];
    bool good = true;
    struct room room;
    struct result *r = calloc(args->chips, sizeof(*r));
    if (!r)
        abort();
    if (p) {
        say_progress("compiling", p->source, "");
        good = compile(p);
    }
    for (unsigned i = 0; i < args->chips && good; i++) {
        const char *lack = p ? lacks(p, &d[i]) : NULL;
        say_progress("running", name, d[i].chip);
        if (lack)
            add(&r[i], "%s", lack);
        else if (measure(args, p, &d[i], &r[i]))
            explain(&d[i], &r[i], !p || p->application);
        else
            good = false;
    }
    clear_progress();
    const struct result *first = first_of(r, args->chips);
    if (good) {
        printf("%s%s%s\n", printable(name, &room), p ? ": " : "", p ? p->title : "");
        for (unsigned i = 0; i < args->chips; i++)
            print_row(&d[i], &r[i], first);
        putchar('\n');
        fflush(stdout);
    }
    if (good && json) {
        fprintf(json, "%s\n  {\"program\": ", more ? "," : "");
        write_string(json, name);
        fprintf(json, ", \"designs\": [\n");
        for (unsigned i = 0; i < args->chips; i++) {
            write_design(json, &d[i], &r[i], first);
            fputs(i + 1 < args->chips ? ",\n" : "]}", json);
        }
    }
    free(r);
    return good;
}

static bool wanted(const struct compare_args *args, const struct program *p)
{
    for (unsigned i = 0; i < args->onlys; i++)
        if (!strcmp(args->only[i], p->name))
            return true;
    return !args->onlys && (args->all || !p->application);
}

static bool check_names(const struct compare_args *args)
{
    for (unsigned i = 0; i < args->onlys; i++) {
        bool known = false;
        for (unsigned k = 0; k < PROGRAMS; k++)
            known |= !strcmp(programs[k].name, args->only[i]);
        if (!known) {
            fflush(stdout);
            tool_say("ehp compare: --only: there is no program \"%s\"; `ehp compare --help` names them",
                     args->only[i]);
            return false;
        }
    }
    if (args->program && (args->onlys || args->all)) {
        tool_say("ehp compare: %s: with a program of one's own, none of ours runs",
                 args->all ? "--all" : "--only");
        return false;
    }
    return true;
}

static bool make_scratch(void)
{
    const char *directory = secure_getenv("TMPDIR");
    const int n = snprintf(scratch, sizeof(scratch) - 64, "%s/ehp-compare-XXXXXX",
                           directory && *directory ? directory : "/tmp");
    if (n > 0 && (size_t)n < sizeof(scratch) - 64 && mkdtemp(scratch))
        return true;
    tool_say("ehp compare: cannot make a directory in %s (TMPDIR): %s", directory ? directory : "/tmp",
             strerror(errno));
    return false;
}

static void remove_scratch(void)
{
    static const char *const files[] = {"output", "fabric.csv", "stats.csv"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(in_scratch(files[i], path));
    for (unsigned i = 0; i < PROGRAMS; i++)
        unlink(in_scratch(programs[i].source, path));
    rmdir(scratch);
}

int tool_compare(int argc, char **argv)
{
    struct compare_args args = {0};
    struct design design[DESIGNS];
    argv[0] = "ehp compare";
    if (tool_parse(&parser, argc, argv, ARGP_IN_ORDER, &args) != 0)
        return 2;
    if (!check_names(&args) || !run_check_output(argv[0], "--json", args.json))
        return 2;
    for (unsigned i = 0; i < args.chips; i++)
        if (!read_design(args.chip[i], &design[i]))
            return 1;
    if (!make_scratch())
        return 1;
    FILE *json = args.json ? fopen(args.json, "we") : NULL;
    if (args.json && !json) {
        tool_say("ehp compare: %s: cannot write there: %s", args.json, strerror(errno));
        remove_scratch();
        return 1;
    }
    for (unsigned i = 0; i < args.chips; i++)
        printf("%-10s %s\n", args.chip[i], design[i].title);
    putchar('\n');
    bool good = true, more = false;
    if (json)
        fputs("[", json);
    for (unsigned i = 0; i < PROGRAMS && !args.program; i++)
        if (wanted(&args, &programs[i])) {
            const bool done = compare(&args, &programs[i], design, json, more);
            more |= done;
            good &= done;
        }
    if (args.program)
        good = compare(&args, NULL, design, json, false);
    if (json) {
        fputs("\n]\n", json);
        if (fclose(json) != 0) {
            tool_say("ehp compare: %s: cannot write there: %s", args.json, strerror(errno));
            good = false;
        }
    }
    remove_scratch();
    return good ? 0 : 1;
}
