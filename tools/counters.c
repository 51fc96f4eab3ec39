/* SPDX-License-Identifier: MIT */
/* `ehp counters`: what timing mode counts, as a list for people or as docs/counters.md. */
#include <argp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ehp/ehp.h"
#include "tool.h"

struct counters_args {
    bool markdown;
    const char *filter;
};

static const struct argp_option options[] = {
    {"markdown", 'm', NULL, 0, "print docs/counters.md", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct counters_args *args = state->input;
    switch (key) {
    case 'm':
        args->markdown = true;
        return 0;
    case ARGP_KEY_ARG:
        args->filter = argument;
        return state->arg_num ? ARGP_ERR_UNKNOWN : 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    .options = options,
    .parser = parse,
    .args_doc = "[BLOCK|NAME|PART]",
    .doc = "List what `ehp run --mode timing --counters` counts for each dispatch, by rocprofv3's names.\v"
           "Examples:\n"
           "  ehp counters TCC\n"
           "  ehp counters VALU\n",
};

/* NAME_sum beside NAME: the same once more. */
static bool is_sum(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, "_sum") == 0;
}

static bool has_sum(unsigned index)
{
    struct ehp_counter next = EHP_COUNTER_INIT;
    return ehp_counter_at(index + 1, &next) == EHP_OK && is_sum(next.name);
}

static void print_markdown(void)
{
    puts("# Counters\n\n"
         "What `ehp run --mode timing --counters` counts for each dispatch, `ehp counters` lists, and "
         "`include/ehp/ehp.h`\nhands out. Names are rocprofv3's where it has the counter; those that begin "
         "with "
         "EHP are ours. A value is summed over\nall instances of its block, as the profiler's tool sums it; "
         "where "
         "there are many in an XCD, NAME_sum is the same.\n\n"
         "XCDs count from the start of their share of a dispatch, before caches are invalidated, to its end, "
         "after "
         "they are\nwritten back. Kernels that run at once on an XCD count each other's as well. Each cycle "
         "of a "
         "wave is one of the\nEHP_CYCLES; one that waits for memory counts by the farthest that the access "
         "it waits "
         "for went.\n\n"
         "Made from `src/api/counters.def` by `ehp counters --markdown`; a line there is a counter.");
    const char *block = "";
    for (unsigned i = 0; i < ehp_counter_count(); i++) {
        struct ehp_counter c = EHP_COUNTER_INIT;
        ehp_counter_at(i, &c);
        if (is_sum(c.name) && i && has_sum(i - 1))
            continue;
        if (strcmp(block, c.block) != 0)
            printf("\n## %s\n\n| counter | | what |\n|---|---|---|\n", c.block);
        block = c.block;
        printf("| %s | %s | %s |\n", c.name, has_sum(i) ? "_sum" : "", c.help);
    }
}

static bool wanted(const struct ehp_counter *c, const char *filter)
{
    return !filter || strcasecmp(c->block, filter) == 0 || strcasestr(c->name, filter);
}

int tool_counters(int argc, char **argv)
{
    struct counters_args args = {0};
    argv[0] = "ehp counters";
    if (tool_parse(&parser, argc, argv, 0, &args) != 0)
        return 2;
    if (args.markdown) {
        print_markdown();
        return 0;
    }
    unsigned found = 0;
    for (unsigned i = 0; i < ehp_counter_count(); i++) {
        struct ehp_counter c = EHP_COUNTER_INIT;
        ehp_counter_at(i, &c);
        if (is_sum(c.name) && i && has_sum(i - 1) && (!args.filter || strcasecmp(c.name, args.filter) != 0))
            continue;
        if (!wanted(&c, args.filter))
            continue;
        printf("%-8s %-34s %s\n", c.block, c.name, c.help);
        found++;
    }
    if (found)
        return 0;
    char error[512];
    unsigned index;
    ehp_counter_find(args.filter, &index, error, sizeof(error));
    tool_say("ehp counters: %s", error);
    return 1;
}
