// SPDX-License-Identifier: MIT
// What basic blocks cost where memory takes no time: LLVM makes assembly of the module as it is without our
// calls, with the blocks' names in its comments, and llvm-mca tells the cycles of each on a Zen 4. Parts of a
// block that LLVM has torn apart add up.
#include "time_host.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cc.h"
#include "tool.h"

// Of a block after itself: what the last of them take more than the first ones is without its beginning, in
// which nothing leaves the pipeline yet.
static const unsigned iterations[] = {20, 100};

// The number behind "# %ehp." in a line of assembly; -1: there is none.
static long block_of(const char *line)
{
    const char *name = strstr(line, "# %" TIME_HOST_BLOCK);
    return name ? strtol(name + strlen("# %" TIME_HOST_BLOCK), NULL, 10) : -1;
}

static bool is_instruction(const char *line)
{
    return line[0] == '\t' && islower((unsigned char)line[1]);
}

// Of an operand in memory: its parentheses. NULL: there is none. `(1)` of `%st(1)` is a register's.
static char *address_of(char *line)
{
    char *open = strchr(line, '(');
    while (open && open - line >= 3 && strncmp(open - 3, "%st", 3) == 0)
        open = strchr(open + 1, '(');
    return open;
}

// All memory at one address, which nothing computes: how long a value takes that comes from memory is the
// simulated core's business, and so is what waits for it as an address. Of a gather, indices are a vector
// that it takes apart; what moves strings knows of its own registers alone.
static void hide_address(char *line)
{
    char *open = address_of(line), *close = open ? strchr(open, ')') : NULL;
    if (!close || strncmp(line, "\tlea", 4) == 0 || strncmp(line, "\tlods", 5) == 0 || strstr(line, "%es:("))
        return;
    char *start = open, *comma = memchr(open, ',', (size_t)(close - open));
    const bool gathers = comma && strncmp(comma + 3, "mm", 2) == 0;
    while (start > line && !strchr(" \t,*", start[-1]))
        start--;
    char rest[512];
    snprintf(rest, sizeof rest, "%s", gathers ? comma : close);
    size_t room = 512 - (size_t)(start - line);
    snprintf(start, room, "(%%rsp%s", rest);
}

// The blocks of the assembly, each between llvm-mca's marks, and how many. Its calls are no part of it.
static size_t write_regions(FILE *out, const char *text)
{
    long block = -1;
    size_t regions = 0;
    bool open = false;
    fputs("\t.text\n", out);
    for (const char *line = text, *end; *line; line = end) {
        end = strchr(line, '\n');
        end = end ? end + 1 : line + strlen(line);
        char copy[512];
        snprintf(copy, sizeof copy, "%.*s", (int)(end - line < 500 ? end - line : 500), line);
        bool label =
            !is_instruction(copy) && (strncmp(copy, ".LBB", 4) == 0 || strncmp(copy, "# %bb.", 6) == 0);
        bool over = strncmp(copy, ".Lfunc_end", 10) == 0;
        if ((label || over) && open) {
            fputs("# LLVM-MCA-END\n", out);
            open = false;
        }
        if (over)
            block = -1;
        if (label && block_of(copy) >= 0)
            block = block_of(copy);
        if (block < 0 || !is_instruction(copy) || strncmp(copy, "\tcall", 5) == 0 ||
            strncmp(copy, "\tret", 4) == 0)
            continue;
        hide_address(copy);
        if (!open) {
            fprintf(out, "# LLVM-MCA-BEGIN %ld\n", block);
            regions++;
        }
        open = true;
        fputs(copy, out);
    }
    if (open)
        fputs("# LLVM-MCA-END\n", out);
    return regions;
}

// `n` iterations: of the last run what one of them takes, and less what it took in the first.
static void read_costs(FILE *in, unsigned n, bool last, struct time_host_cost *cost, size_t blocks)
{
    const double of_each = 1.0 / (iterations[1] - iterations[0]);
    char line[256];
    size_t block = blocks;
    while (fgets(line, sizeof line, in)) {
        const char *region = strstr(line, "Code Region - ");
        unsigned long value;
        if (region)
            block = strtoul(region + strlen("Code Region - "), NULL, 10);
        if (block >= blocks)
            continue;
        if (sscanf(line, "Instructions: %lu", &value) == 1)
            cost[block].instructions += last ? (unsigned)value / n : 0;
        else if (sscanf(line, "Total Cycles: %lu", &value) == 1)
            cost[block].cycles += last ? (double)value * of_each : -(double)value * of_each;
    }
}

static bool run(const char *mca, const char *in_name, const char *out_name, unsigned n)
{
    struct cc_args args = {0};
    cc_args_push(&args, mca);
    cc_args_push(&args, "-mtriple=x86_64-pc-linux-gnu");
    cc_args_push(&args, "-mcpu=znver4");
    cc_args_pushf(&args, "-iterations=%u", n);
    cc_args_push(&args, "-instruction-info=0");
    cc_args_push(&args, "-resource-pressure=0");
    cc_args_push(&args, "-skip-unsupported-instructions=any");
    cc_args_push(&args, in_name);
    cc_args_push(&args, "-o");
    cc_args_push(&args, out_name);
    bool done = cc_run(mca, &args, false) == 0;
    cc_args_free(&args);
    return done;
}

bool time_host_costs(const char *assembly, struct time_host_cost *cost, size_t blocks)
{
    struct cc_places places;
    if (cc_places_find(&places) || cc_places_find_clang(&places, NULL))
        return false;
    char *mca = cc_format("%s/llvm-mca", places.llvm_bin), *dir = cc_scratch();
    char *in_name = cc_format("%s/blocks.s", dir ? dir : ""),
         *out_name = cc_format("%s/costs", dir ? dir : "");
    FILE *in = dir && cc_can_run(mca) ? fopen(in_name, "w") : NULL;
    // llvm-mca takes a file without instructions (tables alone, say) for an error.
    const size_t regions = in ? write_regions(in, assembly) : 0;
    bool done = in && !ferror(in);
    if (in && fclose(in) != 0)
        done = false;
    for (unsigned i = 0; i < 2 && done && regions > 0; i++) {
        FILE *out = run(mca, in_name, out_name, iterations[i]) ? fopen(out_name, "r") : NULL;
        done = out != NULL;
        if (out) {
            read_costs(out, iterations[i], i == 1, cost, blocks);
            fclose(out);
        }
    }
    if (dir)
        cc_remove_scratch(dir);
    free(mca);
    free(dir);
    free(in_name);
    free(out_name);
    return done;
}
