/* SPDX-License-Identifier: MIT */
/*
 * The memory hierarchy inside an XCD: a vL1 for each CU, sL1 and instruction
 * cache shared by CUs, the L2 with its channels, the TLBs.  The caches hold
 * bytes, so a program with a missing fence reads what is stale.
 *
 * A CU hands in a struct mem_access for each memory instruction, keeps it in
 * place, and is told when it is done.  Loads take their bytes when the lines are looked up, stores
 * give theirs to the L2 when they arrive there, atomics run where the line
 * lives.
 *
 * Everything of an XCD is in the XCD's domain of port.h.
 *
 * Sources: ISCA'24, IV.B; GCN white paper, vector memory and L2; AMD Instinct
 * MI300 ISA, chapters 8 to 10; LLVM AMDGPUUsage, Memory Model GFX942.
 */
#ifndef EHP_MEM_MEM_H
#define EHP_MEM_MEM_H

#include <stdalign.h>

#include "chip/chip.h"
#include "isa/policy.h"
#include "port/port.h"

struct chip;
struct fabric;
struct vm;
struct xcd_mem;

enum mem_access_kind {
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC,
    ACCESS_INV, /* buffer_inv */
    ACCESS_WB,  /* buffer_wbl2 */
    ACCESS_SLOAD,
    ACCESS_SSTORE,
    ACCESS_SATOMIC,
    ACCESS_SPROBE,   /* s_atc_probe: a translation, whose fault nobody hears of */
    ACCESS_SINV,     /* s_dcache_inv */
    ACCESS_SWB,      /* s_dcache_wb */
    ACCESS_SDISCARD, /* s_dcache_discard: the line of the address is forgotten, written or not */
    ACCESS_FETCH     /* instructions: a 64-byte line, whose bytes nobody is given */
};

/* The farthest that an access had to go. */
enum mem_level { MEM_LEVEL_L1, MEM_LEVEL_L2, MEM_LEVEL_CACHE, MEM_LEVEL_HBM }; /* cache: the Infinity Cache */

enum { ACCESS_LANES = 64, ACCESS_LANE_BYTES = 16 };

struct mem_access {
    enum mem_access_kind kind;
    struct isa_policy policy;
    uint16_t cu;    /* of the XCD */
    uint8_t wave;   /* of the CU, below CHIP_MAX_CU_WAVES: whose vector accesses complete in order */
    uint8_t bytes;  /* of a lane, up to 16; of a scalar access up to 64 */
    uint8_t stride; /* of the lanes in `data`, up to ACCESS_LANE_BYTES */
    /* Every lane is on, its bytes follow those of the lane before, and none is on two lines: addr[0] says
     * where all of them are.  mem_access_in_row() tells. */
    bool in_row;
    /* A load of which every lane is on and has the address addr[0], on one line: its bytes are lane 0's. */
    bool same;
    uint64_t lanes; /* that access memory; none is allowed */
    /* Atomics: runs on the bytes at `place` for one lane, in the L2 or at the home; replaces the lane's data
     * by the old value. */
    void (*atomic)(struct mem_access *access, unsigned lane, uint8_t *place);
    unsigned atomic_op; /* for that function */
    bool returns;       /* atomics: somebody waits for the old value */

    /*
     * Called once, in the XCD's domain, at the cycle in which the CU sees it complete: data is back, or the
     * store is acknowledged by the level that its scope asks for.  Not before xcd_mem_submit() has returned.
     */
    void (*done)(struct mem_access *access);
    /* May be NULL; asks the host's memory for what done() needs: port.h, port_set_prefetch(). */
    bool (*prefetch)(const struct mem_access *access, unsigned stage);
    void *self; /* the CU's */

    /* The host has no memory there, or may not be accessed so; the first such lane. */
    bool faulted;
    bool beyond; /* a buffer, in what is mapped with it; the first such lane, if none has faulted */
    uint8_t fault_lane;
    uint64_t fault_addr;

    uint8_t level; /* enum mem_level, when done */
    /* The hierarchy's own, until done. */
    bool complete;
    unsigned pending; /* of its lines */
    uint64_t cycle;
    struct mem_access *next, *next_of_wave;

    /* Large, and so behind what is looked at more often. */
    alignas(64) uint64_t addr[ACCESS_LANES];
    /* Loads: what was read, at lane * stride; stores and atomics: what to write. Scalar: from 0. */
    uint8_t data[ACCESS_LANES * ACCESS_LANE_BYTES];
};

static inline uint8_t *mem_access_lane(struct mem_access *access, unsigned lane)
{
    return access->data + (size_t)lane * access->stride;
}

static inline uint64_t mem_access_address(const struct mem_access *access, unsigned lane)
{
    if (access->in_row)
        return access->addr[0] + (uint64_t)lane * access->bytes;
    return access->addr[access->same ? 0 : lane];
}
/* For in_row, of an access of which the rest is set, with these addresses. */
bool mem_access_in_row(const struct mem_access *access, const uint64_t addr[ACCESS_LANES]);

/* Whether the chip's numbers fit each other; else one line in `error`. */
bool xcd_mem_check(const struct chip *chip, char *error, size_t bytes);

/* `xcd` of the package; its events happen in `domain`.  NULL when memory is short. */
struct xcd_mem *xcd_mem_open(const struct chip *chip, unsigned xcd, bool several_l2s,
                             struct port_domain *domain, struct fabric *fabric, struct vm *vm);
void xcd_mem_close(struct xcd_mem *mem);

/*
 * Takes an access at the present cycle.  Vector accesses of one wave complete
 * in the order of submission, loads, stores, atomics, buffer_inv and
 * buffer_wbl2 alike (LLVM AMDGPUUsage: completion is reported to a wavefront
 * in execution order); loads of one CU return in order besides.  Scalar
 * accesses and fetches complete in any order.
 *
 * buffer_wbl2 starts when the L2 has the earlier stores of its wave.
 */
void xcd_mem_submit(struct xcd_mem *mem, struct mem_access *access);

/*
 * The wave waits for its memory instructions: stores of its that the vL1 keeps back to
 * combine them (combine.c) go.  Its program is over: it does not wait for those, the
 * accesses complete.  Neither concerns what it submits later.
 */
void xcd_mem_wave_waits(struct xcd_mem *mem, unsigned cu, unsigned wave);
void xcd_mem_wave_ends(struct xcd_mem *mem, unsigned cu, unsigned wave);

/*
 * Each CU gets half a line of code a cycle (32 bytes: GCN white paper, CU front-end).  ACCESS_FETCH is for
 * the half that is wanted first; this for the other half of a line that has come, and returns the cycle in
 * which it comes.
 */
uint64_t xcd_mem_fetch_half(struct xcd_mem *mem, unsigned cu);
/*
 * As a submitted ACCESS_FETCH of the line, if nothing can come between it and its line: it is in the
 * instruction cache, and its translation at hand. Returns the cycle in which it is complete, of which the CU
 * is not told. PORT_NEVER: nothing has happened, it is to be submitted.
 */
uint64_t xcd_mem_fetch_hit(struct xcd_mem *mem, unsigned cu, uint64_t line);
/* The CU has so few fetches to do that a line may be asked for which is not yet wanted. */
bool xcd_mem_fetch_ready(const struct xcd_mem *mem, unsigned cu);

/* The CU's address unit can take another vector access this cycle. */
bool xcd_mem_vector_ready(const struct xcd_mem *mem, unsigned cu);
/*
 * It cannot: when to ask again.  PORT_NEVER: it tells by `room` when its queues are empty, as
 * a page fault takes tens of thousands of cycles.
 */
uint64_t xcd_mem_vector_again(struct xcd_mem *mem, unsigned cu);
void xcd_mem_tell(struct xcd_mem *mem, void (*room)(void *context, unsigned cu), void *context);

/*
 * Kernel boundaries, by the command processor.  Release: vL1s send the stores that they keep back, sL1s and
 * the L2 write dirty lines back (L2: for the host when `system`, else as by a buffer_wbl2 of agent scope).
 * Acquire: vL1s and sL1s are emptied, and the L2 as by buffer_inv. Then an event of `done` with
 * word[0] = context, in the XCD's domain.
 */
void xcd_mem_release(struct xcd_mem *mem, bool system, port_fn *done, void *context);
void xcd_mem_acquire(struct xcd_mem *mem, bool system, port_fn *done, void *context);

/*
 * Code was loaded or unloaded: I-caches are emptied.  No acquire does that: memory models are about data
 * (LLVM's AMDGPUUsage, Memory Model gfx942, names the vector, scalar and L2 caches), so a runtime that loads
 * code asks the command processor to empty the caches of code.
 */
void xcd_mem_invalidate_code(struct xcd_mem *mem);

/*
 * Host code ran since the last event: what it wrote, its caches would have
 * probed out of the L2.  Drops clean lines that differ from memory.  Called
 * while no window runs, before the simulation goes on.
 */
void xcd_mem_host_wrote(struct xcd_mem *mem);

/* Lines of the L2: all of them, those used since its clock said `since`, and those of these with dirty bytes.
 */
struct mem_l2_use {
    uint64_t lines, used, dirty;
};
uint64_t xcd_mem_l2_clock(const struct xcd_mem *mem);
struct mem_l2_use xcd_mem_l2_use(const struct xcd_mem *mem, uint64_t since);

/*
 * For dispatches of which a part is left out (engine/timed/sample.c): fills the L2 with lines of which a part
 * is dirty, nobody's and the first to go, in place of what has not been used since its clock said `since`;
 * but only if there is less room than for `lines`.  Whether it did.  xcd_mem_forget() drops what is still
 * there of them, when no request is under way.
 */
bool xcd_mem_age(struct xcd_mem *mem, uint64_t since, uint64_t lines, double dirty);
void xcd_mem_forget(struct xcd_mem *mem);

/* Nothing is in flight and no line is dirty. */
bool xcd_mem_idle(const struct xcd_mem *mem);

/*
 * Counters by the blocks of the profiler's names: TCP (vL1), TCC (L2), SQC
 * (sL1, I-cache), UTCL1, UTCL2.  For each CU's cache or channel summed.
 */
struct mem_counters {
    /* vL1: wave-instructions by kind; atomics that return the old value; lanes; tag look-ups; lines found and
     * not; requests to the L2 (128-byte reads, 64-byte writes), all and by enum vm_mtype; invalidations;
     * cycles in which a request waited for a free entry, the address unit worked, data went to the registers.
     */
    uint64_t tcp_read, tcp_write, tcp_atomic, tcp_atomic_returns;
    uint64_t tcp_accesses, tcp_cache_accesses, tcp_hits, tcp_misses;
    uint64_t tcp_tcc_read, tcp_tcc_write, tcp_tcc_atomic, tcp_tcc_atomic_returns;
    uint64_t tcp_tcc_read_by[4], tcp_tcc_write_by[4], tcp_tcc_atomic_by[4];
    uint64_t tcp_invalidates, tcp_pending_stall, ta_busy, td_busy;
    /* L2: requests of 128 bytes (writes 64) by kind and by enum vm_mtype; lines written back, and those of
     * them and lines in all that made room for others; probes; cycles that requests waited for a free entry.
     */
    uint64_t tcc_requests, tcc_read, tcc_write, tcc_atomic, tcc_requests_by[4];
    uint64_t tcc_hits, tcc_misses, tcc_writebacks, tcc_evict_writebacks, tcc_evicts, tcc_probes;
    uint64_t tcc_tag_stall, tcc_streaming;
    /* To the fabric: reads of 128 bytes, writes of up to 64 and those of all 64, atomics; their latencies
     * summed; reads and atomics whose line the Infinity Cache had, or had not. */
    uint64_t ea_reads, ea_writes, ea_writes_64b, ea_atomics;
    uint64_t ea_write_stall; /* cycles of channels with a write that waits for the XCD's port */
    uint64_t ea_read_cycles, ea_write_cycles, ea_atomic_cycles, cache_hits, cache_misses;
    uint64_t sqc_data_writes; /* lines, to the L2 */
    uint64_t sqc_data_requests, sqc_data_hits, sqc_data_misses, sqc_data_merged;
    uint64_t sqc_inst_requests, sqc_inst_hits, sqc_inst_misses, sqc_inst_merged, sqc_inst_ahead;
    /* UTCL1: of the vL1s. */
    uint64_t utcl1_requests, utcl1_hits, utcl1_misses, utcl1_merged, utcl2_hits, utcl2_misses, walks;
};
void xcd_mem_read_counters(const struct xcd_mem *mem, struct mem_counters *out);

#endif
