/* SPDX-License-Identifier: MIT */
/*
 * Memory instructions in halves, for an engine in which something else moves
 * the bytes in between: caches, in simulated time.  The handlers of functional
 * mode are made of the same parts (vmem.h, vmem_buffer.h, vmem_typed.h,
 * smem.h), and do both halves at once.
 *
 *   address   where each lane's bytes are, before anything is read
 *   take      what goes to memory, from registers
 *   deliver   what came from memory, to registers
 *
 * Registers may change between address and deliver, but for those that are
 * delivered to: what else the second half needs is in a struct memop_landing.
 *
 * Source: "AMD Instinct MI300 ISA", chapters 8 to 10 and 12.14 to 12.17.
 */
#ifndef EHP_SEM_MEMORY_MEMOP_HALVES_H
#define EHP_SEM_MEMORY_MEMOP_HALVES_H

#include "sem/memory/memop.h"
#include "sem/memory/vmem_buffer.h"
#include "sem/memory/vmem_format.h"
#include "sem/memory/vmem_typed.h"

/* ---- vector memory: FLAT, GLOBAL, SCRATCH, MUBUF, MTBUF ---- */

enum {
    MEMOP_LANE_BYTES = 16
}; /* of a lane's data, at most; of an atomic's: the data, then what to compare */

struct memop_landing {
    const struct memop *op;
    bool returns;     /* something is delivered */
    uint64_t lanes;   /* that are delivered to; of these */
    uint64_t outside; /* are beyond the buffer, and have zeroes */
    bool to_lds;      /* and not to registers: */
    uint64_t lds;     /* lane 0's place there, without its end */
    struct vmem_format format;
};

struct memop_address {
    struct memop_landing landing;
    unsigned bytes; /* of a lane */
    bool write;
    /* Each lane is in one of these, or in none and accesses nothing. */
    uint64_t whole;   /* all of its bytes are at addr[] */
    uint64_t lds;     /* in LDS, by a FLAT address */
    uint64_t split;   /* in `pieces` of `step` bytes each, see memop_piece() */
    uint64_t scratch; /* of `split`, and of `whole` when it is an atomic's: the wave's own memory */
    unsigned pieces, step;
    struct memop_request request; /* lanes' addresses as the instruction makes them */
    struct vmem_buffer buffer;
};

/* The address half, whose faults it raises.  False: the instruction is no access (a fence, or not in memory).
 */
bool memop_address(struct wave *w, const struct xinst *in, struct memop_address *a);

/* Piece `i` of the split lanes: which of them have it, and where; addr[] of others is left alone.  Raises
 * faults as well, so that all pieces are asked for before any is sent.  Of lanes in pieces that store to the
 * same bytes, any may be the last. */
uint64_t memop_piece(struct wave *w, const struct xinst *in, const struct memop_address *a, unsigned i,
                     uint64_t addr[WAVE_LANES]);

/* What a store or an atomic gives each of `lanes`, at lane * stride. */
void memop_take(struct wave *w, const struct xinst *in, const struct memop_address *a, uint64_t lanes,
                uint8_t *data, unsigned stride);

/* What a load or a returning atomic has for each of landing->lanes, from lane * stride; of lanes outside and
 * of those that access nothing the bytes are not looked at. */
void memop_deliver(struct wave *w, const struct xinst *in, const struct memop_landing *landing,
                   const uint8_t *data, unsigned stride);

/* An atomic on the bytes of one lane: replaces the operands by the old value. */
void memop_atomic_apply(const struct memop *op, uint8_t *place, uint8_t *data);

/* Lanes in LDS, which is the workgroup's own: both halves at once. */
void memop_access_lds(struct wave *w, const struct xinst *in, const struct memop_address *a);

/* ---- scalar memory ---- */

enum { MEMOP_SCALAR_BYTES = 64 };

struct memop_scalar {
    const struct memop *op;
    bool write, returns;
    uint64_t address;
    unsigned bytes;  /* of memory; 0: nothing is accessed */
    unsigned dwords; /* of SGPRs: those of a buffer's load that are beyond `bytes` become 0 */
    uint8_t sd;
};

/* As memop_address().  False: no access to data, but a clock, a fence, a probe. */
bool memop_scalar_address(struct wave *w, const struct xinst *in, struct memop_scalar *a);
/* Where an instruction without data points to: s_dcache_discard, s_atc_probe. */
uint64_t memop_scalar_place(const struct wave *w, const struct xinst *in);
void memop_scalar_take(const struct wave *w, const struct memop_scalar *a, uint8_t data[MEMOP_SCALAR_BYTES]);
void memop_scalar_deliver(struct wave *w, const struct memop_scalar *a,
                          const uint8_t data[MEMOP_SCALAR_BYTES]);

#endif
