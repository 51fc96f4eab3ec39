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
static bool oracle_rows[ORACLE_ROWS], oracle_ops[ISA_OP_COUNT];

/* One row: the decoded instruction ran as this encoding has it. */
__attribute__((unused)) static void oracle_ran(const struct isa_inst *inst)
{
    oracle_rows[inst->row] = true;
}

/* A meaning, apart from any encoding. */
__attribute__((unused)) static void oracle_ran_op(unsigned op)
{
    oracle_ops[op] = true;
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
    for (size_t r = 0; r < isa_row_count && r < ORACLE_ROWS; r++)
        if (oracle_rows[r] || oracle_ops[isa_rows[r].op])
            fprintf(f, "%s %u %s\n", isa_format_name(isa_rows[r].format), isa_rows[r].opcode,
                    isa_rows[r].name);
    fclose(f);
}

#endif
