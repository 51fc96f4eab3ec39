/* SPDX-License-Identifier: MIT */
/*
 * Where the lanes of a slice access LDS and memory, and how their addresses lie to each other: what reads and
 * writes in stretches have in common.  Nothing here accesses anything.
 */
#ifndef EHP_JIT_PLACES_H
#define EHP_JIT_PLACES_H

#include "jit/emit.h"
#include "sem/memory/memop.h"

/* What is in memory, of D16 too; whether elements are parts of a dword, and their type: the part's, or a
 * dword's of several. */
enum memop_kind places_kind(const struct xinst *x);
bool places_is_part(unsigned kind);
llvm_type places_element(struct emit *e, unsigned kind);

/* A row of first, first + step, ... */
llvm_value places_row(struct emit *e, uint32_t first, uint32_t step);
llvm_value places_first(struct emit *e, llvm_value row);
llvm_value places_and(struct emit *e, llvm_value a, llvm_value b);
/* The active lanes, and whether something holds for all of them. */
llvm_value places_active(struct emit *e, const struct slice *s);
llvm_value places_hold(struct emit *e, const struct slice *s, llvm_value lanes);
llvm_value places_splat64(struct emit *e, llvm_value value);
/* Rows one after the other, 2 to 4; and of such, or of one mask of lanes, line `at` of elements of so many
 * dwords. */
llvm_value places_join(struct emit *e, llvm_value a, llvm_value b, unsigned lanes);
llvm_value places_concat(struct emit *e, const llvm_value *rows, unsigned count);
llvm_value places_line(struct emit *e, llvm_value all, unsigned dwords, unsigned at, unsigned rows);
/* Whether the host loads and stores parts for some lanes alone. */
bool places_masks_parts(const struct emit *e);
llvm_value emit_intrinsic(struct emit *e, const char *name, llvm_type *types, unsigned count,
                          llvm_value *arguments, unsigned argument_count);

/*
 * LDS.  What is known of a row of addresses is found once for all instructions that add an offset to it;
 * `bytes` is a lane's element.
 */
const struct shape *places_shape(struct emit *e, struct slice *s, llvm_value row, unsigned bytes);
/* How an access of LDS may lie that are worth a way of their own, as bits: all, where there is the effort for
 * it, else how it is guessed to. */
enum { PLACES_DENSE = 1, PLACES_EQUAL = 2 };
unsigned places_likely_ways(const struct emit *e, const struct lane_op *op, unsigned bytes);
/* Whether so many bytes at this place (i64) are the workgroup's. */
llvm_value places_inside(struct emit *e, llvm_value place, unsigned bytes);
/* The lanes whose elements, at a row of addresses, are. */
llvm_value places_in_lds(struct emit *e, llvm_value at, unsigned bytes);
/* Pointers to so many bytes after the addresses. */
llvm_value places_of_lds(struct emit *e, llvm_value at, unsigned bytes);

/* Memory: `low` and, but for offsets of 32 bits to a scalar, `high` are the rows of addresses. */
struct memory_places {
    llvm_value low, high, base; /* base: i64 that is added to all */
    llvm_value first;           /* a pointer: the first lane's */
    llvm_value
        near; /* i1: from there on, without a carry from 32 bits, a slice's elements are all the GPU's */
    llvm_value delta;    /* dwords from the first lane's to each */
    llvm_value together; /* i1: active lanes' upper halves are the same; NULL: there are none */
};
struct memory_places places_memory(struct emit *e, const struct slice *s, const struct lane_op *op,
                                   llvm_value low, llvm_value high, unsigned bytes);
/* Whether each active lane's address is `step` bytes after the one before, and `near` holds; 0: all are
 * equal. */
llvm_value places_go_by(struct emit *e, const struct slice *s, const struct memory_places *p, unsigned step);
/* Whether all of the 4 GiB that the active lanes' addresses are in are the GPU's, an element of `bytes` more
 * than that; and pointers to those, which the host makes of a scalar and of 32 bits for each lane. */
llvm_value places_in_window(struct emit *e, const struct memory_places *p, unsigned bytes,
                            llvm_value *window);
llvm_value places_of_window(struct emit *e, const struct memory_places *p, llvm_value window);
/* All addresses as i64, and the lanes whose address is not of the memory that the GPU may always access. */
llvm_value places_addresses(struct emit *e, const struct memory_places *p, llvm_value *beyond);

/* One way to read, and the block that it ends with. */
struct read_way {
    llvm_block end;
    llvm_value rows[4];
};

/*
 * Ways (reads.c, writes.c): rows of consecutive elements at an address; of elements that overlap, of which
 * each is a step after the one before, in bytes (at most READS_STEPS ways, and how many); the same element
 * for all lanes.  The present block ends a way, and `done` follows; what comes of several.
 */
enum { READS_STEPS = 2 };
unsigned reads_steps_of(unsigned kind, unsigned steps[READS_STEPS]);
void reads_dense(struct emit *e, llvm_value address, unsigned kind, llvm_value lanes, llvm_value *rows);
void reads_steps(struct emit *e, llvm_value address, unsigned kind, unsigned step, llvm_value lanes,
                 llvm_value *rows);
void reads_equal(struct emit *e, llvm_value address, unsigned kind, llvm_value *rows);
void reads_end_way(struct emit *e, struct read_way *way, llvm_block done);
void reads_merge(struct emit *e, struct read_way *ways, unsigned count, unsigned dwords, llvm_value *rows);
/* For all lanes, or those of a mask; and for all past the host's caches, to a place that is aligned. */
void writes_dense(struct emit *e, llvm_value address, unsigned kind, const llvm_value *rows,
                  llvm_value lanes);
void writes_past(struct emit *e, llvm_value address, unsigned kind, const llvm_value *rows);
/* Of elements of fewer bytes compiled code takes about as long as memory, and nothing is gained past the
 * caches. */
enum { WRITES_PAST_LEAST = 8 };
/* Some lanes' elements, to a row of pointers. */
void writes_scattered(struct emit *e, llvm_value pointers, llvm_value lanes, unsigned kind,
                      const llvm_value *rows);

/* Fetches what lanes are likely to access next, when they access consecutive elements (ahead.c). */
void ahead_of_read(struct emit *e, const struct slice *s, const struct xinst *x, llvm_value address,
                   unsigned kind);
void ahead_of_write(struct emit *e, const struct slice *s, const struct xinst *x, llvm_value address,
                    unsigned kind);
/* In an even loop: how far ahead, which is the same for all slices that are done together; fetches; what is
 * from the iteration before; and the loop is left. */
void ahead_in_even_loop(struct emit *e, struct lane_op *op, unsigned part);
void ahead_of_even_read(struct emit *e, const struct lane_op *op, llvm_value address, unsigned kind);
void ahead_close_even_loop(struct emit *e);
void ahead_leave_even_loop(struct emit *e);

#endif
