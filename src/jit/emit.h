/* SPDX-License-Identifier: MIT */
/*
 * A function of the GPU's code on its way to host code: what the files that emit share.
 *
 * Registers.  VGPRs stay in the wave's rows between stretches (stretch.c).  Scalar registers, SCC and EXEC
 * are values within a basic block, and are stored where a handler may look, control leaves, or blocks join.
 */
#ifndef EHP_JIT_EMIT_H
#define EHP_JIT_EMIT_H

#include "exec/code.h"
#include "jit/body.h"
#include "jit/lift.h"

enum { SREGS = 128, STRETCH_MAX = 256, SHAPES_MAX = 8 };

/* One lane-wise instruction of a stretch. */
struct lane_op {
    const struct xinst *x;
    const struct body *body;
    llvm_value scalar[3][2]; /* sources that are one value for all lanes, as i32 for each dword; NULL: rows */
    llvm_value mask;         /* i64: of the mask source; NULL: none, or made in this stretch */
    int mask_reg;            /* the register pair of a mask source, -1: none */
    llvm_value base;         /* i64: of a load, the scalar that its lanes' offsets are added to; NULL: none */
    bool checks;             /* whether a lane is bad is looked at */
    uint8_t nan_rows;        /* the result is bad where this many rows are a NaN; 0: the body says */
};

/* How a slice's addresses in LDS lie to each other, all as i1: see reads.c. */
struct shape {
    llvm_value row, first; /* the addresses, and the first lane's as an i64 */
    unsigned bytes;        /* of a lane's element */
    llvm_value dense, equal;
};

/* The slice of lanes that a turn of a stretch's loop does. */
struct slice {
    llvm_value rows;             /* the address of row 0's part */
    llvm_value shift;            /* i64: its first lane */
    llvm_value exec;             /* its bits of EXEC */
    llvm_value bad;              /* lanes, as bits; NULL: none can be */
    llvm_value value[WAVE_ROWS]; /* of VGPRs that are known */
    bool dirty[WAVE_ROWS];
    llvm_value mask[SREGS]; /* by the pair's first register: bits that a compare has made */
    struct shape shape[SHAPES_MAX];
    unsigned shapes;
};

struct emit {
    const struct llvm *l;
    struct body_library *library;
    llvm_context context;
    llvm_module module;
    llvm_builder b;
    unsigned slice;
    llvm_type void_, i1, i8, i16, i32, i64, ptr, row, bits; /* bits: one for each lane of a slice */

    const struct exec_block *block;
    bool counts;
    llvm_value function, w, x, v, stats;
    llvm_value guard, lds, lds_bytes, arena, arena_mask; /* of the wave, which stay as they are */
    llvm_value saved;   /* scalar registers as redone instructions leave them; see stretch.c */
    llvm_block entry;   /* before all others */
    llvm_block *blocks; /* where instructions begin a basic block, else NULL */
    llvm_type handler, redo_type;
    llvm_value redo, ctpop, cttz, unlikely;
    unsigned md_prof;

    /* Values of the present basic block. */
    llvm_value s[SREGS], pair[SREGS / 2], scc;
    bool dirty[SREGS], scc_dirty;
    /* What is not yet counted. */
    unsigned count[XC_COUNT], total, bytes_read, lds_bytes_read; /* bytes of a lane */
    unsigned scalar_bytes;

    /* Lane-wise instructions that are not emitted yet. */
    struct lane_op op[STRETCH_MAX];
    unsigned ops;
    bool mask_written[SREGS]; /* by one of them */
    bool scalar_read[SREGS];  /* by one of them, as a scalar or a mask */
    bool accesses;            /* one of them reads memory, which may fault */
    struct slice now;
};

static inline llvm_value emit_i32(const struct emit *e, uint32_t value)
{
    return e->l->ConstInt(e->i32, value, 0);
}

static inline llvm_value emit_i64(const struct emit *e, uint64_t value)
{
    return e->l->ConstInt(e->i64, value, 0);
}

/* Says that `x` accesses memory now, NULL: that nobody does.  See wave/fault.h. */
void emit_access(struct emit *e, const struct xinst *x);
llvm_value emit_call_handler(struct emit *e, const struct xinst *x);

/* The address `bytes` after `base`. */
static inline llvm_value emit_at(const struct emit *e, llvm_value base, int64_t bytes)
{
    llvm_value index = emit_i64(e, (uint64_t)bytes);
    return bytes ? e->l->BuildGEP2(e->b, e->i8, base, &index, 1, "") : base;
}

static inline llvm_value emit_load(const struct emit *e, llvm_type type, llvm_value base, int64_t bytes)
{
    return e->l->BuildLoad2(e->b, type, emit_at(e, base, bytes), "");
}

static inline void emit_store(const struct emit *e, llvm_value value, llvm_value base, int64_t bytes)
{
    e->l->BuildStore(e->b, value, emit_at(e, base, bytes));
}

static inline llvm_block emit_block(const struct emit *e)
{
    return e->l->AppendBasicBlockInContext(e->context, e->function, "");
}

static inline void emit_goto(const struct emit *e, llvm_block block)
{
    e->l->PositionBuilderAtEnd(e->b, block);
}

/* Scalar registers (scalars.c). */
/* A load of which no part is left out. */
llvm_value emit_load_whole(struct emit *e, llvm_type type, llvm_value base, int64_t bytes);
llvm_value scalars_get32(struct emit *e, unsigned reg);
llvm_value scalars_get64(struct emit *e, unsigned reg);
void scalars_set32(struct emit *e, unsigned reg, llvm_value value);
void scalars_set64(struct emit *e, unsigned reg, llvm_value value);
llvm_value scalars_get_scc(struct emit *e); /* i8 */
void scalars_set_scc(struct emit *e, llvm_value value);
void scalars_store(struct emit *e);  /* what has changed; values stay known */
void scalars_forget(struct emit *e); /* what is known: somebody may have changed registers */
/* Emits a scalar load; false when it is not a plain one. */
bool scalars_load(struct emit *e, const struct xinst *x);
/* Emits an instruction of the scalar ALU; false when it has no body. */
bool scalars_emit(struct emit *e, const struct xinst *x);

/* Stretches (stretch.c).  Takes an instruction into the stretch; false when it is not lane-wise. */
bool stretch_add(struct emit *e, const struct xinst *x);
void stretch_flush(struct emit *e);
/* Whether the stretch must come before an instruction that reads or writes this register. */
bool stretch_needs(const struct emit *e, unsigned reg, unsigned count, bool writes);

/* Runs the body of a modifier: its sources are given. */
void slice_modify(struct emit *e, struct slice *s, const char *name, struct body_rows *rows);
/* The same for all lanes. */
llvm_value slice_constant(struct emit *e, uint32_t value);

/* Reads of memory and LDS (reads.c): whether it is one, and its result; `high` NULL: offsets of 32 bits. */
bool reads_is_known(const struct xinst *x);
void reads_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                llvm_value *rows);
/* That a lane reads. */
unsigned reads_bytes(const struct xinst *x);

/*
 * Lanes and each other (cross.c).  DPP: whether lanes read within their slice, what source 0 becomes, and the
 * lanes that are written, as a vector of i1, NULL for all.
 */
bool cross_is_known(const struct emit *e, const struct xinst *x);
void cross_move_source(struct emit *e, const struct slice *s, const struct xinst *x, llvm_value *row);
llvm_value cross_written(struct emit *e, const struct slice *s, const struct xinst *x);
/* The third source of bodies whose instruction has none. */
bool cross_implies_source(unsigned op);
llvm_value cross_implied_source(struct emit *e, struct slice *s, const struct isa_inst *inst);
/* v_mbcnt of a mask of ones; NULL: it is none. */
llvm_value cross_count_lanes(struct emit *e, struct slice *s, const struct isa_inst *inst, llvm_value add);
/* Emits v_writelane_b32; false when it is another one. */
bool cross_write_lane(struct emit *e, const struct xinst *x);

/* A row with the same dword in all lanes. */
llvm_value emit_splat(struct emit *e, llvm_value scalar);

/* VOP3P's modifiers (packed.c): whether there is a way to do them, and what they make of a source. */
bool packed_is_known(const struct isa_inst *inst);
void packed_modify_source(struct emit *e, struct slice *s, const struct isa_inst *inst, int i,
                          llvm_value row[BODY_ROWS_MAX]);

/* The name of an instruction's meaning. */
const char *emit_op_name(unsigned op);

#endif
