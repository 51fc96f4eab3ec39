/* SPDX-License-Identifier: MIT */
/* Options that choose a machine; see machine_args.h. */
#include "machine_args.h"
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_CHUNK = 512, OPT_XNACK, OPT_NODE };

static const struct argp_option options[] = {
    {"chip", 'c', "NAME|FILE", 0, "chip to simulate: a name that `ehp chips` lists, or a chip file (mi300a)",
     0},
    {"node", OPT_NODE, "NAME|FILE", 0,
     "several packages with links between them, one after another devices of the program: a node that `ehp "
     "chips` "
     "lists, or a node file",
     0},
    {"partition", 'p', "MODE", 0, "spx, tpx, dpx, qpx, cpx: how the package is divided into devices (spx)",
     0},
    {"nps", 'n', "NUMBER", 0, "NUMA domains of the memory: 1, or one for each IOD that has some (1)", 0},
    {"xcc-chunk", OPT_CHUNK, "N", 0, "consecutive workgroups that one XCD takes (1)", 0},
    {"xnack", OPT_XNACK, NULL, 0,
     "the GPU takes page faults, and so may use all memory of the process: malloc's, static variables, the "
     "stack",
     0},
    {"threads", 't', "N", 0, "host threads that execute waves (all cores)", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct machine_args *args = state->input;
    switch (key) {
    case 'c':
        args->chip = argument;
        return 0;
    case OPT_NODE:
        args->node = argument;
        return 0;
    case 'p':
        args->partition = argument;
        return 0;
    case 'n':
        args->nps = argument;
        return 0;
    case OPT_CHUNK:
        args->xcc_chunk = argument;
        return 0;
    case OPT_XNACK:
        args->xnack = true;
        return 0;
    case 't':
        args->threads = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp machine_argp = {.options = options, .parser = parse};

static unsigned number(const char *option, const char *text, unsigned long most)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value == 0 || value > most) {
        tool_say("ehp: --%s takes a number from 1 to %lu, not \"%s\"", option, most, text);
        exit(2);
    }
    return (unsigned)value;
}

static void check_name(const char *option, const char *name, const char *right)
{
    if (!name || *name)
        return;
    tool_say("ehp: --%s takes %s, not \"\"", option, right);
    exit(2);
}

void machine_args_to_options(const struct machine_args *args, struct ehp_options *o)
{
    check_name("chip", args->chip, "a name that `ehp chips` lists, or a chip file");
    check_name("partition", args->partition, "one of spx, tpx, dpx, qpx and cpx");
    check_name("node", args->node, "a node that `ehp chips` lists, or a node file");
    o->node = args->node ? args->node : args->chip ? NULL : secure_getenv("EHP_NODE");
    o->chip = args->chip ? args->chip : args->node ? NULL : secure_getenv("EHP_CHIP");
    o->partition = args->partition ? args->partition : secure_getenv("EHP_PARTITION");
    const char *xnack = secure_getenv("HSA_XNACK");
    o->xnack = args->xnack || (xnack && strcmp(xnack, "1") == 0);
    if (args->nps)
        o->nps = number("nps", args->nps, 64);
    if (args->xcc_chunk)
        o->xcc_chunk = number("xcc-chunk", args->xcc_chunk, 1000000);
    if (args->threads)
        o->threads = number("threads", args->threads, 1024);
    if (args->timeout)
        o->timeout_ms = number("timeout", args->timeout, 1000000) * UINT64_C(1000);
}

ehp_machine *machine_args_open(const struct machine_args *args)
{
    struct ehp_options o = EHP_OPTIONS_INIT;
    machine_args_to_options(args, &o);
    ehp_machine *m;
    if (ehp_open(&o, &m) != EHP_OK) {
        tool_say("ehp: %s", o.error);
        exit(1);
    }
    return m;
}
