/* SPDX-License-Identifier: MIT */
/* `ehp chips`: lists chip and node files; draws a package or a node, and prints the numbers with their
 * sources.
 */
#include <argp.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine_args.h"
#include "tool.h"

struct chips_args {
    const char *words[2];
    bool guesses; /* before the other numbers */
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct chips_args *args = state->input;
    if (key == 'g') {
        args->guesses = true;
        return 0;
    }
    if (key == ARGP_KEY_ARG && state->arg_num < 2) {
        args->words[state->arg_num] = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option options[] = {
    {"guesses", 'g', NULL, 0, "with show: the numbers that are guesses first", 0},
    {0},
};

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[show NAME|FILE | keys]",
    .doc = "List the chips and nodes; draw one and print its numbers, each with its source; list the keys of "
           "a chip "
           "file.",
};

static void print_chip(const char *name, const char *path, const char *title, void *user)
{
    (void)path;
    (void)user;
    printf("  %-10s %s\n", name, title);
}

static double number(ehp_machine *m, const char *key)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    return ehp_chip_value(m, key, &v) == EHP_OK ? v.number : 0;
}

/* "256 MiB", "5325 GB/s", "38". */
static void format_value(char *text, size_t bytes, const struct ehp_chip_value *v)
{
    if (v->text) {
        snprintf(text, bytes, "%s", v->text);
    } else if (!strcmp(v->unit, "B")) {
        static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
        double n = v->number;
        int u = 0;
        while (u < 3 && n >= 1024 && fmod(n, 1024) == 0) {
            n /= 1024;
            u++;
        }
        snprintf(text, bytes, "%g %s", n, units[u]);
    } else {
        snprintf(text, bytes, "%g%s%s", v->number, *v->unit ? " " : "", v->unit);
    }
}

enum { CELL = 30, IOD_LINES = 4 }; /* inner width and height of a drawn IOD */

static void box_rule(unsigned columns)
{
    printf("  +");
    for (unsigned k = 0; k < columns; k++) {
        for (int i = 0; i < CELL; i++)
            putchar('-');
        putchar('+');
    }
    printf("\n");
}

/* What lies on an IOD, as lines of a drawn box. */
static void iod_lines(const struct ehp_iod *d, unsigned index, unsigned cus, unsigned cores,
                      char lines[IOD_LINES][CELL + 1])
{
    snprintf(lines[0], CELL + 1, " IOD %c%s", 'A' + (char)index, d->mirrored ? " (mirrored)" : "");
    lines[1][0] = lines[2][0] = lines[3][0] = '\0';
    if (d->xcds)
        snprintf(lines[1], CELL + 1, "   %u XCD%s x %u CUs", d->xcds, d->xcds == 1 ? "" : "s", cus);
    if (d->ccds)
        snprintf(lines[d->xcds ? 2 : 1], CELL + 1, "   %u CCD%s x %u cores", d->ccds, d->ccds == 1 ? "" : "s",
                 cores);
    if (d->hbm_stacks)
        snprintf(lines[3], CELL + 1, "   %u HBM stack%s", d->hbm_stacks, d->hbm_stacks == 1 ? "" : "s");
}

static void draw(ehp_machine *m)
{
    unsigned iods = (unsigned)number(m, "iod.count"), cus = (unsigned)number(m, "xcd.cus");
    unsigned cores = (unsigned)number(m, "ccd.cores");
    /* Rows in the order of the package, to and fro: A B above D C, neighbours share an edge. */
    unsigned columns = (unsigned)number(m, "iod.columns");
    box_rule(columns);
    for (unsigned row = 0; row * columns < iods; row++) {
        for (unsigned line = 0; line < IOD_LINES; line++) {
            printf("  |");
            for (unsigned k = 0; k < columns; k++) {
                unsigned index = row * columns + (row & 1 ? columns - 1 - k : k);
                char lines[IOD_LINES][CELL + 1];
                struct ehp_iod d = {.size = sizeof(d)};
                ehp_chip_iod(m, index, &d);
                iod_lines(&d, index, cus, cores, lines);
                printf("%-*s|", CELL, lines[line]);
            }
            printf("\n");
        }
        box_rule(columns);
    }
}

/* Which IODs have a link, and what it passes. */
static void print_links(ehp_machine *m)
{
    struct ehp_iod_link link = EHP_IOD_LINK_INIT;
    for (unsigned i = 0; ehp_chip_link(m, i, &link) == EHP_OK; i++) {
        char rate[80];
        snprintf(rate, sizeof(rate), "%g GB/s, %g ns", link.rate, link.latency);
        printf("  link %c-%-15c %-24s %s\n", 'A' + (char)link.iod[0], 'A' + (char)link.iod[1], rate,
               link.rate_source);
        if (strcmp(link.latency_source, link.rate_source) != 0)
            printf("  %-22s %-24s %s\n", "", "", link.latency_source);
    }
    putchar('\n');
}

/* All numbers, or those whose source says that they are guesses, or the others. */
enum which { ALL, GUESSES, OTHERS };

static void print_numbers(ehp_machine *m, enum which which)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    for (unsigned i = 0; ehp_chip_value_at(m, i, &v) == EHP_OK; i++) {
        bool guess = !strncmp(v.source, "guess", 5);
        if (which != ALL && guess != (which == GUESSES))
            continue;
        char text[80];
        format_value(text, sizeof(text), &v);
        printf("  %-22s %-24s %s\n", v.key, text, v.source);
    }
}

static int show(const char *name, bool guesses)
{
    struct machine_args args = {.chip = name, .threads = "1"};
    ehp_machine *m = machine_args_open(&args);
    struct ehp_chip_value title = {.size = sizeof(title)};
    ehp_chip_value(m, "chip.title", &title);
    printf("%s\n\n", title.text);
    draw(m);
    printf("\n  %.0f XCDs, %.0f CUs; %.0f CCDs, %.0f cores; %.0f GiB in %.0f HBM stacks of %.0f channels; "
           "%.0f MiB Infinity Cache\n\n",
           number(m, "xcd.count"), number(m, "xcd.count") * number(m, "xcd.cus"), number(m, "ccd.count"),
           number(m, "ccd.count") * number(m, "ccd.cores"),
           number(m, "hbm.stacks") * number(m, "hbm.stack_size") / 1073741824.0, number(m, "hbm.stacks"),
           number(m, "hbm.channels"), number(m, "infinity_cache.size") / 1048576.0);
    print_links(m);
    if (guesses) {
        print_numbers(m, GUESSES);
        printf("\n");
        print_numbers(m, OTHERS);
    } else {
        print_numbers(m, ALL);
    }
    ehp_close(m);
    return 0;
}

/* ---- nodes ---- */

struct wanted {
    const char *name;
    bool found;
};

static void look_for(const char *name, const char *path, const char *title, void *user)
{
    struct wanted *w = user;
    (void)path;
    (void)title;
    w->found |= !strcmp(name, w->name);
}

/* A node by name, or a file of which the chip directory is not: one that has packages. */
static bool is_node(const char *name)
{
    struct wanted w = {.name = name};
    if (ehp_nodes(look_for, &w) == EHP_OK && w.found)
        return true;
    FILE *file = strchr(name, '/') || strstr(name, ".cfg") ? fopen(name, "re") : NULL;
    char line[512];
    bool packages = false;
    while (file && !packages && fgets(line, sizeof(line), file))
        packages = !strncmp(line + strspn(line, " \t"), "packages", strlen("packages"));
    if (file)
        fclose(file);
    return packages;
}

/* Who has links with whom: how many, and from which IOD to which. */
static void draw_node(ehp_machine *m, unsigned packages)
{
    for (unsigned line = 0; line <= packages; line++) {
        printf("  %-4s", "");
        for (unsigned p = 0; p < packages; p++)
            printf("+-------");
        printf("+\n");
        if (line == packages)
            break;
        printf("  %-4u", line);
        for (unsigned p = 0; p < packages; p++) {
            char text[32] = "";
            struct ehp_link link = {.size = sizeof(link)};
            if (p == line)
                snprintf(text, sizeof(text), "  %u", p);
            else if (ehp_node_link(m, line, p, &link) == EHP_OK)
                snprintf(text, sizeof(text), "%ux %c-%c", link.count, 'A' + (char)link.iod[0],
                         'A' + (char)link.iod[1]);
            printf("|%-7s", text);
        }
        printf("|\n");
    }
}

static double node_number(ehp_machine *m, const char *key)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    for (unsigned i = 0; ehp_node_value_at(m, i, &v) == EHP_OK; i++)
        if (!strcmp(v.key, key) && *v.source)
            return v.number;
    return 0;
}

/* What such nodes hang on, if they do. */
static void draw_network(ehp_machine *m)
{
    const double ports = node_number(m, "network.ports"), ranks = node_number(m, "network.ranks");
    if (ports == 0)
        return;
    printf(
        "  +--------+      +---------+      +--------+\n"
        "  | node 0 |======| network |======| node 1 | ...   %gx %g GB/s each way, %g ns, %g rank%s a node\n"
        "  +--------+      +---------+      +--------+\n\n",
        ports, node_number(m, "network.rate"), node_number(m, "network.latency"), ranks,
        ranks == 1 ? "" : "s");
}

static int show_node(const char *name)
{
    struct machine_args args = {.node = name, .threads = "1"};
    ehp_machine *m = machine_args_open(&args);
    struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
    ehp_agent_info(m, 0, &info);
    printf("%s\n\n", ehp_node_title(m));
    draw_node(m, info.packages);
    printf("\n  %u packages, each: %s (`ehp chips show %s`), %.0f GiB, %u CPU cores\n", info.packages,
           info.name, info.chip, number(m, "hbm.stacks") * number(m, "hbm.stack_size") / 1073741824.0,
           info.cpu_cores);
    printf("  Between two of them so many x16 links side by side, from IOD to IOD\n\n");
    draw_network(m);
    struct ehp_chip_value v = {.size = sizeof(v)};
    for (unsigned i = 0; ehp_node_value_at(m, i, &v) == EHP_OK; i++) {
        char text[80];
        if (!*v.source) /* it has none of these */
            continue;
        format_value(text, sizeof(text), &v);
        printf("  %-22s %-24s %s\n", v.key, text, v.source);
    }
    ehp_close(m);
    return 0;
}

static int list_keys(void)
{
    struct machine_args args = {.threads = "1"};
    ehp_machine *m = machine_args_open(&args);
    struct ehp_chip_value v = {.size = sizeof(v)};
    for (unsigned i = 0; ehp_chip_value_at(m, i, &v) == EHP_OK; i++)
        printf("  %-22s %-5s %s\n", v.key, v.unit, v.help);
    printf("\nOf a node file:\n\n");
    for (unsigned i = 0; ehp_node_value_at(m, i, &v) == EHP_OK; i++)
        printf("  %-22s %-5s %s\n", v.key, v.unit, v.help);
    ehp_close(m);
    return 0;
}

int tool_chips(int argc, char **argv)
{
    struct chips_args args = {0};
    argv[0] = "ehp chips";
    if (tool_parse(&parser, argc, argv, 0, &args) != 0)
        return 2;
    const char *const *words = args.words;
    if (!words[0] && !args.guesses) {
        if (ehp_chips(print_chip, NULL) != EHP_OK) {
            tool_say("ehp chips: no chip directory; set EHP_CHIPS");
            return 1;
        }
        ehp_nodes(print_chip, NULL);
        return 0;
    }
    if (words[0] && !strcmp(words[0], "show") && words[1])
        return is_node(words[1]) ? show_node(words[1]) : show(words[1], args.guesses);
    if (words[0] && !strcmp(words[0], "keys") && !words[1] && !args.guesses)
        return list_keys();
    tool_say("ehp chips: expected nothing, \"show [--guesses] NAME\" or \"keys\"");
    return 2;
}
