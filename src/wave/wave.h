/* SPDX-License-Identifier: MIT */
/*
 * The architected state of a wavefront, and the executable form of an
 * instruction.
 *
 * Registers.  A VGPR is a row of 64 dwords.  All rows of a wave are one array,
 * so that an operand is a row number: rows 0..255 are the VGPRs, AccVGPR i is
 * row WAVE_ACC + i, and the WAVE_TEMPS rows *before*
 * row 0 are scratch rows, into which exec_prepare() puts operands that are not
 * plain VGPRs (scalars broadcast, neg/abs, SDWA and DPP selects).  A lane
 * function therefore only ever reads rows.  There are as many as the function
 * names that the wave is in, or its kernel's descriptor.
 *
 * Execution.  `struct xinst` is a decoded instruction with its handler.  A
 * handler executes it for a whole wave and returns the next one.
 *
 * Threads: a wave belongs to the thread that runs its workgroup.
 */
#ifndef EHP_WAVE_WAVE_H
#define EHP_WAVE_WAVE_H

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "isa/inst.h"

#define WAVE_LANES   64
#define WAVE_ACC     256 /* row of AccVGPR 0 */
#define WAVE_ROWS    512
#define WAVE_WINDOWS 64 /* of a thread */

typedef uint32_t wave_row[WAVE_LANES]; /* one VGPR */

/* Temp rows, at negative numbers.  Each source has four rows (up to 128 bits). */
enum {
    WAVE_TEMPS = 32,
    TEMP_SRC0 = -32, /* .. -29 */
    TEMP_SRC1 = -28,
    TEMP_SRC2 = -24,
    TEMP_DST = -20, /* .. -5: results before they are merged under EXEC */
    TEMP_MASK = -4, /* a lane mask as 0 / ~0 dwords */
    TEMP_X = -3,    /* free for a handler's own use */
};

/* Fields of the MODE register. */
enum {
    MODE_ROUND_32 = 0x3, /* 0 even, 1 +inf, 2 -inf, 3 zero */
    MODE_ROUND_16_64 = 0xc,
    MODE_DENORM_32 = 0x30, /* bit 4: keep source denormals, bit 5: keep result denormals */
    MODE_DENORM_16_64 = 0xc0,
    MODE_DX10_CLAMP = 1 << 8,
    MODE_IEEE = 1 << 9,
    MODE_EXCP = 0x1ff << 12,
    MODE_FP16_OVFL = 1 << 23,
    MODE_GPR_IDX_EN = 1 << 27,
    MODE_VSKIP = 1 << 28,
    MODE_CSP = (int)(7u << 29),
    /* Round to nearest even everywhere, all denormals kept: what the plain handlers assume. */
    MODE_FLOAT_BITS = MODE_ROUND_32 | MODE_ROUND_16_64 | MODE_DENORM_32 | MODE_DENORM_16_64,
    MODE_FLOAT_PLAIN = MODE_DENORM_32 | MODE_DENORM_16_64,
};

struct xinst;
struct wave;
struct workgroup;
struct cu_wave;

/* Executes one instruction for a wave; returns the next to execute. */
typedef const struct xinst *exec_fn(struct wave *w, const struct xinst *in);

/* How exec_prepare() makes source i's rows, when it is not a plain VGPR. */
enum xprep {
    XPREP_PLAIN, /* in->s[i] is the row to read */
    XPREP_SGPR,  /* broadcast w->s[reg], [reg + 1].. to in->s[i], a temp row */
    XPREP_CONST, /* broadcast in->literal[i] */
    XPREP_SLOW,  /* SDWA, DPP, special registers: from the decoded instruction in->isa */
};

/* SOPP, SOPK, s_set_gpr_idx_on: beside a source at most. */
struct xcontrol {
    uint64_t source; /* literal[0] */
    uint64_t simm;   /* the 16 bits, sign-extended */
    bool looks;      /* s_barrier: who leaves it may read memory before it writes to LDS */
};

/* Memory instructions: what does not depend on registers. */
struct xmemory {
    uint64_t offset;  /* sign-extended; with two addresses of the first one, in bytes */
    uint32_t second;  /* LDS: offset of the second one, in bytes */
    uint32_t soffset; /* SMEM, buffers: the scalar offset when it is in no SGPR */
    uint8_t space;    /* enum memop_space */
    uint8_t kind;     /* enum memop_kind */
    uint8_t atomic;   /* enum memop_atomic */
    bool returns;     /* an atomic that does */
    uint8_t window;   /* its place in wave_guard.windows */
    uint8_t partner;  /* fused: so many instructions back is the sum */
};

/* Read-only once it is made: threads share it. */
struct xinst {
    exec_fn *fn;
    const struct isa_inst *isa; /* the decoded instruction, for everything that is not hot */
    int16_t d;                  /* row of the VGPR result */
    int16_t s[3];    /* rows of the sources, after exec_prepare(); memory: address, data, more data */
    uint8_t prep[3]; /* enum xprep */
    uint8_t rows[3]; /* dwords of each source; memory: rows[0] is 0 when there is no address */
    uint8_t drows;   /* dwords of the result */
    bool any_prep;   /* some prep[] is not XPREP_PLAIN, or neg/abs/op_sel apply */
    bool post;       /* omod, clamp, SDWA destination, DPP masks: result goes through exec_finish() */
    uint8_t cls;     /* enum xclass, for statistics */
    uint8_t sd;      /* SGPR number of a scalar result: VOPC mask, carry out, SALU destination; SMEM: data */
    uint8_t ss[3];   /* SGPR numbers of scalar sources of SALU and SMEM; memory: base, offset; or XSRC_* */
    uint16_t op;     /* isa->op */
    uint64_t pc;     /* address of this instruction */
    union {
        const struct xinst *target; /* branches: where to go; NULL when it is in another function */
        const struct xdpp *dpp;     /* DPP */
        exec_fn *alone;             /* fuse.h: the handler that it has by itself; NULL when it is not fused */
    };
    union {                      /* by family */
        struct {                 /* VALU, matrix, SALU: sources that are not plain VGPRs */
            uint64_t literal[3]; /* XPREP_CONST, XSRC_CONST: the value */
            uint16_t reg[3];     /* XPREP_SGPR, XSRC_SPECIAL: the number; of a VGPR the row, before DPP */
            uint16_t partner;    /* fused: so many instructions on is the access */
        };
        struct xcontrol control;
        struct xmemory mem;
    };
};

/* What DPP moves, worked out once. */
struct xdpp {
    uint8_t from[WAVE_LANES]; /* the lane that a lane reads; itself when there is none */
    uint64_t exists;          /* lanes that have one to read */
    uint64_t writes;          /* lanes that row_mask and bank_mask leave on */
    bool in_rows;             /* no lane reads from another row of 16 */
};

/* xinst.ss of a scalar source that is not an SGPR. */
enum { XSRC_SPECIAL = 254 /* in->reg[i]: 235.. apertures, vccz, execz, scc */, XSRC_CONST = 255 };

enum xclass {
    XC_VALU,
    XC_SALU,
    XC_MFMA,
    XC_VMEM,
    XC_SMEM,
    XC_LDS,
    XC_FLAT_SCRATCH,
    XC_BRANCH,
    XC_OTHER,
    XC_COUNT
};

struct wave_stats {
    uint64_t count[XC_COUNT];
    uint64_t lanes_valu;
    uint64_t bytes_read, bytes_written, lds_bytes, scratch_bytes, atomics;
    uint64_t compiled; /* of all instructions, those that compiled code executed */
};

enum wave_state { WAVE_RUNNING, WAVE_BARRIER, WAVE_YIELD, WAVE_DONE, WAVE_FAULT };

struct wave {
    wave_row *v;           /* row 0 = VGPR 0; 64-byte aligned; [-WAVE_TEMPS .. rows) are valid */
    unsigned vgprs, agprs; /* allocated */
    unsigned rows;         /* enough for these and for the code that it is in: wave_grow() */

    alignas(64) union {
        uint32_t s[128]; /* SGPRs, then those of enum isa_sreg */
        uint64_t s64[64];
        struct {
            uint32_t sgpr_[102];
            uint64_t flat_scratch, xnack_mask, vcc;
            uint64_t ttmp_[8];
            uint32_t m0, null_;
            uint64_t exec;
        };
    };
    bool scc;
    bool mode_slow; /* MODE's float bits are not MODE_FLOAT_PLAIN: handlers take the exact path */
    uint32_t mode;  /* MODE; change it with wave_set_mode() */
    uint32_t trapsts, status, hw_id, xcc_id, gpr_alloc, lds_alloc; /* hardware registers, see hwreg.h */

    /* Compiled code that reads memory for several instructions at once: from the first on, the lanes for
     * which they are not done, and handlers are to do them after a fault.  NULL: it does not.  The last NULL:
     * they are to go on from the first as they would. */
    struct {
        const struct xinst *first, *last;
        uint64_t lanes;
    } stretch;

    const struct xinst *next; /* where to continue; set by handlers that stop the wave */
    uint64_t dpp_lanes;       /* lanes that the DPP instruction in progress may write */
    enum wave_state state;
    bool gws_waits; /* it has done its part of a GWS instruction, and waits for what that brings */
    uint32_t gws_generation;
    bool special;       /* exec_special_run() is running it */
    bool slept;         /* it yielded by s_sleep: it waits for somebody */
    bool spinning;      /* it was seen to wait for a value in memory when it last gave way */
    bool compiled;      /* it has executed compiled code when it last ran */
    bool leaving;       /* it has just left a barrier: compiled code stops where it would write to LDS */
    bool last;          /* no other wave of its workgroup is left: barriers do not stop it */
    uint8_t counts_up;  /* its work-item ids were one more from lane to lane of so many when it began */
    int budget;         /* instructions until the wave yields; branches check it */
    uint64_t gone_back; /* over how many bytes of instructions branches went back, in the interpreter */

    /* From here on a wave of a launch keeps what it has (exec/start.c); what is before, down to VCC, is set
     * when it begins.  Memory that the GPU may access: addresses whose bits under the mask are those of the
     * arena. More may be: wave_may_access() knows. */
    alignas(64) uint64_t mem_arena;
    uint64_t mem_mask;

    uint8_t *lds;           /* of the workgroup */
    uint32_t lds_bytes;     /* allocated; an access beyond it reads 0 and writes nothing */
    uint8_t *scratch;       /* of this wave: dword-interleaved over the 64 lanes */
    uint32_t scratch_bytes; /* a lane */

    struct workgroup *wg;
    unsigned index;           /* in the workgroup */
    struct wave_stats *stats; /* NULL when off */
    struct wave_guard *guard; /* fault recovery of this thread; see fault.h */
    struct cu_wave *slot;     /* timing mode: where it runs */
};

static_assert(offsetof(struct wave, vcc) - offsetof(struct wave, s) == SREG_VCC * 4, "vcc is s[106]");
static_assert(offsetof(struct wave, m0) - offsetof(struct wave, s) == SREG_M0 * 4, "m0 is s[124]");
static_assert(offsetof(struct wave, exec) - offsetof(struct wave, s) == SREG_EXEC * 4, "exec is s[126]");

static inline bool wave_is_outside(const struct wave *w, uint64_t address)
{
    return ((address ^ w->mem_arena) & w->mem_mask) != 0;
}

/* Whether a wave may access memory outside the arena: registered host memory, or all of it with XNACK. */
bool wave_may_access(struct wave *w, uint64_t address, unsigned bytes);

/* s_sendmsg MSG_INTERRUPT: wakes whoever waits on a signal.  s_memtime: core clock cycles.  s_memrealtime:
 * 100 MHz. */
void wave_interrupt(struct wave *w);
uint64_t wave_clock(const struct wave *w);
uint64_t wave_realtime(const struct wave *w);

/* It is to execute what names more rows than it has: gives it all there are. */
void wave_grow(struct wave *w);

/* Sets MODE and what is derived from it. */
void wave_set_mode(struct wave *w, uint32_t mode);

/* Reads 64 bits of scalar registers at an arbitrary (not necessarily even) number. */
static inline uint64_t wave_sgpr64(const struct wave *w, unsigned reg)
{
    uint64_t value;
    memcpy(&value, &w->s[reg], sizeof(value)); /* one load, which two would not become */
    return value;
}

static inline void wave_set_sgpr64(struct wave *w, unsigned reg, uint64_t value)
{
    w->s[reg] = (uint32_t)value;
    w->s[reg + 1] = (uint32_t)(value >> 32);
}

#endif
