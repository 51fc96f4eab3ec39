/* SPDX-License-Identifier: MIT */
/*
 * What a test has really checked against its reference: it notes every row of
 * the instruction table, or every meaning, that it ran, and at its end writes
 * the list to $EHP_ORACLES/PROGRAM, when that is set.  isa/gfx942.oracles is the
 * sum of those lists; tests/oracle/coverage.py makes and compares it.
 */
#ifndef EHP_TESTS_ORACLE_RECORD_H
#define EHP_TESTS_ORACLE_RECORD_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/isa.h"

enum { ORACLE_ROWS = 2048 };

/* By its handler, as functional mode runs it; or in the halves of simulated time (halves.h). */
enum oracle_way { ORACLE_HANDLER, ORACLE_HALVES, ORACLE_WAYS };
static bool oracle_rows[ORACLE_ROWS][ORACLE_WAYS], oracle_ops[ISA_OP_COUNT][ORACLE_WAYS];

/* One row: the decoded instruction ran as this encoding has it. */
__attribute__((unused)) static void oracle_ran(const struct isa_inst *inst, enum oracle_way way)
{
    oracle_rows[inst->row][way] = true;
}

/* A meaning, apart from any encoding. */
__attribute__((unused)) static void oracle_ran_op(unsigned op, enum oracle_way way)
{
    oracle_ops[op][way] = true;
}

/* When the program ends: the list, in a file of its name. */
__attribute__((destructor)) static void oracle_write(void)
{
    const char *directory = getenv("EHP_ORACLES");
    char path[1024];
    if (!directory)
        return;
    snprintf(path, sizeof path, "%s/%s", directory, program_invocation_short_name);
    FILE *f = fopen(path, "w");
    if (!f)
        return; /* which whoever reads the lists notices */
    for (size_t r = 0; r < isa_gfx942.row_count && r < ORACLE_ROWS; r++)
        for (int way = 0; way < ORACLE_WAYS; way++)
            if (oracle_rows[r][way] || oracle_ops[isa_gfx942.rows[r].op][way])
                fprintf(f, "%s %u %s %s\n", isa_format_name(isa_gfx942.rows[r].format),
                        isa_gfx942.rows[r].opcode, isa_gfx942.rows[r].name,
                        way == ORACLE_HALVES ? "halves" : "handler");
    fclose(f);
}

#endif
