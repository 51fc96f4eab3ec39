/* SPDX-License-Identifier: MIT */
/*
 * What an instruction means, as LLVM has it.
 *
 * The lane functions and scalar functions of src/sem are in the library as bitcode (bitcode.h), each a
 * function of one basic block.  A body is such a function taken apart: its instructions are copied to where
 * code is being emitted, with the operands that it would load from rows of registers given as values, and
 * what it would store taken as values.  So nothing needs to be inlined or promoted to registers afterwards.
 *
 * Threads: one at a time.
 */
#ifndef EHP_JIT_BODY_H
#define EHP_JIT_BODY_H

#include "jit/llvm.h"
#include "jit/pairs.h"

/* The parameters of a lane function: see src/sem/vector/slice.c. */
enum body_parameter { BODY_D, BODY_DM, BODY_A, BODY_B, BODY_C, BODY_M, BODY_O, BODY_BAD, BODY_PARAMETERS };

enum { BODY_ROWS_MAX = 4 };

struct body;

/* All bodies of a module, in its context. */
struct body_library;
struct body_library *body_library_open(const struct llvm *l, llvm_context context, llvm_module bodies,
                                       unsigned slice);
void body_library_close(struct body_library *library);

/* NULL when there is none of that name, or it is of a shape that cannot be taken apart. */
const struct body *body_find(struct body_library *library, const char *name);

/* Rows of a parameter that it reads, or writes, as bits. */
unsigned body_reads(const struct body *body, enum body_parameter parameter);
unsigned body_writes(const struct body *body, enum body_parameter parameter);

/* Values of type <slice x i32>; those it reads are given, those it writes are set. */
struct body_rows {
    llvm_value row[BODY_PARAMETERS][BODY_ROWS_MAX];
};

void body_emit(struct body_library *library, const struct body *body, llvm_module into, llvm_builder builder,
               struct body_rows *rows);

/* What is known of rows that bodies have made.  To be cleared before code for another module is emitted. */
struct pairs *body_pairs(struct body_library *library);

/* Whether a scalar function looks at its argument of that number. */
bool body_takes(const struct body *body, unsigned argument);

/* A scalar function: of values of 64 bits, and of SCC as a value of 8 bits. Returns its result. */
llvm_value body_emit_scalar(struct body_library *library, const struct body *body, llvm_module into,
                            llvm_builder builder, const llvm_value arguments[3], llvm_value *scc);

#endif
