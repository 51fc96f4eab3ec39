/* SPDX-License-Identifier: MIT */
/*
 * The compute units of an XCD in simulated time: which wave issues what in
 * which cycle, and how long it takes.
 *
 *   rates.c   for each instruction: the unit that executes it, and its cycles
 *   issue.c   the SIMDs' issue, cycle by cycle where anything can happen
 *   access.c  memory instructions: addresses out, data back
 *   lds.c     the LDS: banks and conflicts
 *   cu.c      workgroups and barriers
 *
 * Each cycle is one SIMD's turn.  From the waves of that SIMD it issues up to
 * one instruction for each unit.  An instruction that computes is executed by the
 * same handler as in functional mode, when it issues or, if nobody can tell, later
 * (cu_settle()); a memory instruction sends its addresses to the hierarchy
 * (mem/mem.h) and writes registers when the data comes back.  A SIMD is looked at
 * only in cycles in which one of its waves may be ready.
 *
 * Everything of an XCD happens in its domain of port.h.
 *
 * Sources: GCN white paper, compute unit front end; AMD CDNA 3 white paper;
 * AMD Instinct MI300 ISA, chapters 4 and 5; ISCA'24, table 1.
 */
#ifndef EHP_CU_CU_H
#define EHP_CU_CU_H

#include "base/arena.h"
#include "wave/fault.h"
#include "exec/workgroup.h"
#include "isa/facts.h"
#include "mem/mem.h"
#include "port/port.h"
#include "chip/chip.h"

enum { CU_TURN = 4 }; /* cycles from one turn of a SIMD to the next */

/* Where a wave's instructions issue to: in a turn, one to each. */
enum cu_unit {
    UNIT_NONE, /* handled in the instruction buffer: s_nop, s_waitcnt, s_barrier, ... */
    UNIT_VALU,
    UNIT_MATRIX,
    UNIT_SALU,
    UNIT_SMEM,
    UNIT_VMEM,
    UNIT_FLAT, /* both vector memory and LDS */
    UNIT_LDS,
    UNIT_BRANCH,
    UNIT_MESSAGE,
    UNIT_COUNT
};

struct cu_rate {
    uint8_t unit;   /* enum cu_unit */
    uint8_t cycles; /* that it keeps the unit busy for */
    uint8_t result; /* matrix: cycles until a dependent instruction can issue */
    uint8_t alone;  /* matrix: cycles until a vector instruction can */
    uint8_t math;   /* enum isa_math */
    uint8_t mops;   /* matrix: operations of all lanes, in units of 512 */
    bool later;     /* only its wave can see when it is executed */
    bool beside;    /* VALU: leaves it to other waves after a turn, for a unit that it keeps busy instead */
};

/* For every meaning, made once for a chip.  NULL when memory is short. */
struct cu_rate *cu_rates_make(const struct chip *chip);

/* What a wave's cycles went to: each of them is one of these. */
enum cu_stall {
    STALL_START, /* its registers are initialised */
    STALL_ISSUE,
    STALL_DEPENDENCY, /* its own earlier instruction */
    STALL_UNIT,       /* another wave's instruction has the unit */
    STALL_QUEUE,      /* the memory pipeline is full */
    STALL_L1,         /* memory, by the farthest that its access went: the vector or scalar cache, */
    STALL_L2,
    STALL_CACHE, /* the Infinity Cache, */
    STALL_HBM,
    STALL_FENCE, /* write-backs and invalidations */
    STALL_LDS,
    STALL_BARRIER,
    STALL_FETCH,
    STALL_SLEEP,
    STALL_COUNT
};

/* How vector memory instructions are counted. */
enum cu_vmem { CU_FLAT, CU_BUFFER, CU_VMEM_FORMATS };              /* FLAT: GLOBAL and SCRATCH too */
enum cu_direction { CU_READ, CU_WRITE, CU_ATOMIC, CU_DIRECTIONS }; /* what it does to memory */
enum cu_level { CU_LEVEL_VMEM, CU_LEVEL_SMEM, CU_LEVEL_LDS, CU_LEVEL_FETCH, CU_LEVELS }; /* in flight */

/* Since the XCD was opened; uint64_t and nothing else: engine/timed/count.c takes differences word by word.
 */
struct cu_counters {
    uint64_t workgroups, waves, items;
    uint64_t waves_lt_64, waves_lt_48, waves_lt_32, waves_lt_16; /* with fewer work-items */
    uint64_t instructions;
    uint64_t count[UNIT_COUNT];
    uint64_t math[ISA_MATH_COUNT], mops[ISA_MATH_COUNT]; /* mops: of matrix instructions */
    uint64_t vmem[CU_VMEM_FORMATS][CU_DIRECTIONS],
        flat_lds;                                   /* flat_lds: of FLAT format, which may go to LDS */
    uint64_t smem_reads[5];                         /* of 1, 2, 4, 8, 16 dwords */
    uint64_t fetches;                               /* halves of lines that waves came to */
    uint64_t wave_cycles, cu_cycles, engine_cycles; /* with a wave there */
    uint64_t valu_busy_cycles, valu_lane_cycles, matrix_busy_cycles;
    uint64_t lds_busy_cycles, lds_bank_conflict_cycles, lds_address_conflict_cycles;
    uint64_t level[CU_LEVELS]; /* cycles in flight, summed over instructions */
    uint64_t stall[STALL_COUNT];
    struct wave_stats did; /* by the classes of functional mode's statistics */
};

enum { CU_MATRIX_RESULTS = 8 };

struct cu_flight;
struct cu_gather;
struct cu_simd;

/* A wave slot.  What a turn looks at comes first, in one line of the host's cache. */
struct cu_wave {
    alignas(64) struct wave *w; /* NULL: free */
    /* What it issues next.  From w->next up to here instructions have issued and are not executed: see
     * cu_settle(). */
    const struct xinst *in;
    struct cu_simd *simd;
    uint64_t charged; /* cycle up to which its time is accounted for */
    /* Instruction fetch: half a line of the program, which its buffer has; the line that is asked for ahead
     * of it.  ~0: none. */
    uint64_t half, next_line;
    uint8_t slot, priority;
    uint8_t issuing; /* of its cycles not accounted for, those that its last instruction takes; then: */
    uint8_t stall;   /* enum cu_stall */
    uint8_t vm;      /* outstanding memory instructions */
    uint8_t want_vm, want_lgkm;
    bool waits; /* at an s_waitcnt for those two */
    uint16_t lgkm;
    bool ending;      /* its program is over; memory instructions are still on their way */
    uint8_t fetching; /* lines on their way */
    bool next_here, starved;

    alignas(64) struct cu_flight *flights, **flights_end; /* vector memory, in order of issue */
    struct cu_gather *has_read; /* what its next instruction, an atomic of 64 bits, has in scratch */
    uint64_t started;           /* cycle */
    uint64_t matrix_until;      /* none after this */
    unsigned matrix_next;
    /* Matrix results on their way: rows of the wave and when they are there. */
    struct {
        int16_t first, last;
        uint64_t cycle;
    } matrix[CU_MATRIX_RESULTS];
};

struct cu_simd {
    struct cu *cu;
    struct cu_xcd *xcd;
    uint8_t index;
    uint8_t slots;
    uint8_t turn;      /* slot to begin with; `slots`: the first */
    uint8_t highest;   /* priority that any of its waves has had */
    uint32_t may;      /* slots of which ready[] is not PORT_NEVER */
    uint32_t queued;   /* of those, for whose access the CU's vector memory had no room */
    uint32_t for_valu; /* of those, which want the VALU alone: due in each turn, whatever ready[] says */
    uint64_t posted;   /* cycle of its next look, PORT_NEVER: none */
    uint64_t valu_free, trans_free;
    uint64_t matrix_until; /* of its waves' the last */
    alignas(
        64) uint64_t ready[CHIP_MAX_SIMD_WAVES]; /* when a wave may issue; PORT_NEVER: no wave, or it waits */
    uint64_t matrix_free;
    uint32_t taken; /* slots with a wave */
    struct cu_wave wave[CHIP_MAX_SIMD_WAVES];
};

struct cu {
    struct cu_xcd *xcd;
    unsigned index;
    struct cu_simd *simd;
    struct port_server salu, branch, address, lds, lds_port[CHIP_MAX_SIMDS];
    unsigned waves, engine; /* engine: its shader engine */
    uint64_t busy_since;
};

/* The command processor's part of an XCD. */
struct cu_events {
    /* All waves of the workgroup have ended and their memory instructions are complete. */
    void (*done)(void *context, struct workgroup *wg);
    /* A wave did something wrong: guard says what.  Its dispatch is to be dropped. */
    void (*fault)(void *context, struct workgroup *wg, const struct wave_guard *guard);
    /* A wave's access beyond a buffer, which goes on. */
    void (*beyond)(void *context, struct workgroup *wg, const struct wave_guard *guard);
    void *context;
};

struct cu_timing { /* the chip's numbers, in cycles */
    unsigned branch, barrier, fetch, lds_latency, memtime, message, start;
    unsigned lds_banks;
    unsigned vm_limit, lgkm_limit;
};

struct cu_xcd {
    struct port_domain *domain;
    struct xcd_mem *mem;
    const struct cu_rate *rates;
    const struct isa_target *target;
    struct cu_events events;
    struct cu_timing timing;
    unsigned index, cus, simds, engines;
    struct cu *cu;
    struct {
        unsigned waves;
        uint64_t busy_since;
    } engine[CHIP_MAX_SHADER_ENGINES];
    struct arena arena; /* what the room has of the XCD */
    struct cu_flight *spare;
    struct cu_gather *spare_gather;
    struct cu_counters counters;
};

/* Whether the chip's compute units can be simulated. */
bool cu_check(const struct chip *chip, char *error, size_t bytes);
struct cu_xcd *cu_open(const struct chip *chip, const struct isa_target *target, unsigned xcd,
                       const struct cu_rate *rates, struct port_domain *domain, struct xcd_mem *mem,
                       const struct cu_events *events);
void cu_close(struct cu_xcd *xcd);

/* The workgroup, placed by an ACE (wg->cu, wg->simd), begins: at most once for each, in the XCD's domain. */
void cu_start(struct cu_xcd *xcd, struct workgroup *wg);

/* Drops the waves of a workgroup whose dispatch was aborted; its flights end by themselves.  done() follows.
 */
void cu_abort(struct cu_xcd *xcd, struct workgroup *wg);

/* What port_thread() must give to the XCD's events. */
struct cu_thread {
    struct wave_guard guard;
};

/* ---- between the room's files ---- */

/* The wave may issue from `cycle` on, which is not over. */
void cu_ready(struct cu_wave *cw, uint64_t cycle);
/* It waits for something. */
static inline void cu_not_ready(struct cu_wave *cw)
{
    struct cu_simd *simd = cw->simd;
    simd->ready[cw->slot] = PORT_NEVER;
    simd->may &= ~(1U << cw->slot);
    simd->queued &= ~(1U << cw->slot);
    simd->for_valu &= ~(1U << cw->slot);
}
/* The CU's vector memory has room again: for xcd_mem_tell(). */
void cu_vector_room(void *xcd, unsigned cu);

/*
 * Executes what the wave has issued.  Instructions that work on its registers
 * alone are put off until somebody else needs those: then a wave's registers
 * are used by many of its instructions in a row, while the host's caches hold
 * them.  False when one of them was a fault, which then has been told.
 */
bool cu_settle(struct cu_wave *cw);

/* Sends a memory instruction of a wave whose deferred instructions have run.  If that waits for a part of it,
 * the wave's next one is the same again. */
void cu_access(struct cu_wave *cw, const struct xinst *in, uint64_t cycle);
/* Of the CU's, as the memory hierarchy numbers them. */
static inline unsigned cu_wave_number(const struct cu_wave *cw)
{
    const struct cu_simd *simd = cw->simd;
    return (unsigned)simd->index * simd->slots + cw->slot;
}
/* A line of the program is asked for. */
void cu_fetch(struct cu_wave *cw, uint64_t line);
/* That which its next instruction waits for has come, and it may go on at `cycle`. */
void cu_fetched(struct cu_wave *cw, uint64_t cycle);

/* Cycles of the LDS because lanes want different dwords of a bank, and atomics the same one. */
struct cu_lds_conflicts {
    unsigned bank, address;
};

/* Cycles that the LDS is busy with an instruction, by its addresses. */
unsigned cu_lds_cycles(const struct wave *w, const struct xinst *in, unsigned banks,
                       struct cu_lds_conflicts *conflicts);

/* Of a wave that is about to execute something; see port_set_prefetch(). */
void cu_prefetch_wave(const struct cu_wave *cw);
/* The rows that it needs, up to the next access to memory if that is near; the wave has been asked for. */
void cu_prefetch_rows(const struct cu_wave *cw);
/* Of the XCD's SIMDs, and of lines that waves get from the instruction cache. */
void cu_prefetch(struct cu_xcd *xcd);
void cu_prefetch_fetches(struct cu_xcd *xcd);

/* Outstanding counts have changed: an s_waitcnt may be over, an ended wave may leave; it waited for that. */
void cu_returned(struct cu_wave *cw, enum cu_stall why);

/* A wave's program is over. */
void cu_wave_end(struct cu_wave *cw);

#endif
