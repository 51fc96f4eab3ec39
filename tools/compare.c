/* SPDX-License-Identifier: MIT */
/*
 * `ehp compare`: the same programs on several designs in simulated time, how fast each is, and what of the
 * package keeps it from being faster.  That is told from what `ehp run` has measured, by --fabric and
 * --stats.
 */
#include "compare.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run.h"
#include "tool.h"

enum {
    WIDTH = 100, /* of what is printed, */
    INDENT = 39  /* and where reasons begin */
};

struct compare_args {
    const char *chip[COMPARE_DESIGNS];
    unsigned chips;
    const char *only[16];
    unsigned onlys;
    const char *json, *threads;
    bool all;
    char **program; /* the user's own, with its arguments; NULL: ours */
};

#define PROBE(name, title, place, ...) {name, title, "package", {__VA_ARGS__}, place, false, false}
#define APPLICATION(name, source, title, xnack, ...)                                                         \
    {name, "an application, " title, source, {"--unified", "--size", __VA_ARGS__}, PACKAGE, true, xnack}
static const struct program programs[] = {
    PROBE("near", "one GPU complex reads the HBM next to it", NEAR, "near"),
    PROBE("far", "another GPU complex reads the same memory", NEAR, "far"),
    PROBE("whole", "a triad by all GPUs, over all of the memory", PACKAGE, "whole"),
    PROBE("matrix", "matrix products in registers, on all GPUs", PACKAGE, "matrix"),
    PROBE("messages", "an atomic from the first XCD to the last and back, one way", PACKAGE, "messages",
          "%x"),
    PROBE("cpu-latency", "loads of a CPU core that follow one another", PACKAGE, "cpu-latency", "%c"),
    PROBE("cpu-read", "all CPU cores read memory", PACKAGE, "cpu-read", "%c"),
    APPLICATION("backprop", "backprop", "a neural network's training step", false, "16384"),
    APPLICATION("dwt2d", "dwt2d", "a wavelet transform", false, "504"),
    APPLICATION("heartwall", "heartwall_v2", "points of a heart wall in a film", false, "609", "--steps",
                "2"),
    APPLICATION("hotspot", "hotspot", "heat on a chip", false, "512", "--steps", "8"),
    APPLICATION("nn", "nn", "nearest neighbours", true, "131072"),
    APPLICATION("srad", "srad_v1", "speckles of an image", true, "256", "--steps", "2"),
};
enum { PROGRAMS = sizeof(programs) / sizeof(programs[0]) };

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
        if (args->chips == COMPARE_DESIGNS)
            argp_error(state, "no more than %d designs", COMPARE_DESIGNS);
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
        "it, waits so long on average. Where no part is, a cache may have no room for more misses, or "
        "accesses follow "
        "one another: then it says where a read's time goes.\n\n"
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
    const bool cpu = !strncmp(p->name, "cpu", 3);
    if (!cpu && !d->xcds)
        return "has no XCDs";
    if ((cpu || p->application) && !d->cores)
        return "has no CPU cores";
    if (!strcmp(p->name, "far") && d->gpu_iods < 2)
        return "has its XCDs on one IOD";
    if (p->place == NEAR && !d->partition)
        return "has no partition mode with a device for each IOD with XCDs";
    return NULL;
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
                    p == r->part ? "" : ",", p->kind, p->iod, p->to, p->index, compare_busy(r, p), p->bytes,
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
        good = compare_compile(p);
    }
    for (unsigned i = 0; i < args->chips && good; i++) {
        const char *lack = p ? lacks(p, &d[i]) : NULL;
        say_progress("running", name, d[i].chip);
        if (lack)
            snprintf(r[i].why, sizeof(r[i].why), "%s", lack);
        else if (compare_measure(p, args->program, args->threads, &d[i], &r[i]))
            compare_explain(&d[i], &r[i], !p || p->application);
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

int tool_compare(int argc, char **argv)
{
    struct compare_args args = {0};
    struct design design[COMPARE_DESIGNS];
    argv[0] = "ehp compare";
    if (tool_parse(&parser, argc, argv, ARGP_IN_ORDER, &args) != 0)
        return 2;
    if (!check_names(&args) || !run_check_output(argv[0], "--json", args.json))
        return 2;
    for (unsigned i = 0; i < args.chips; i++)
        if (!read_design(args.chip[i], &design[i]))
            return 1;
    if (!compare_make_scratch())
        return 1;
    FILE *json = args.json ? fopen(args.json, "we") : NULL;
    if (args.json && !json) {
        tool_say("ehp compare: %s: cannot write there: %s", args.json, strerror(errno));
        compare_remove_scratch();
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
    compare_remove_scratch();
    return good ? 0 : 1;
}
