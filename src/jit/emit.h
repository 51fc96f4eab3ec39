/* SPDX-License-Identifier: MIT */
/*
 * A function of the GPU's code on its way to host code: what the files that emit share.
 *
 * Registers.  VGPRs stay in the wave's rows between stretches (stretch.c) and loops (loop.c).  Scalar
 * registers, SCC and EXEC are values within a basic block, and are stored where a handler may look, control
 * leaves, or blocks join.
 */
#ifndef EHP_JIT_EMIT_H
#define EHP_JIT_EMIT_H

#include "exec/code.h"
#include "jit/affine.h"
#include "jit/body.h"
#include "jit/lift.h"

enum { SREGS = 128, STRETCH_MAX = 256, SHAPES_MAX = 8, EVEN_STORES_MAX = 8 };

/* Masks go by their pair's first register; that which SCC follows from is behind them all. */
enum { MASK_SCC = SREGS, MASKS = SREGS + 2 };

/* In loops: how many instructions they may have, and slices at a time; what becomes of a mask in lanes that
 * are not active. */
enum { LOOP_MAX = 1024, LOOP_PARTS = 4 };
enum loop_idle { LOOP_IDLE_NONE, LOOP_IDLE_ALL, LOOP_IDLE_KEPT, LOOP_IDLE_OTHER, LOOP_IDLES };

/* What is a NaN where the result of arithmetic is one: two f32 each by itself, of a pair. */
enum nan_kind { NAN_NONE, NAN_F32, NAN_F64, NAN_PAIR };

/* What instructions read and write; FLAT is both. */
enum emit_space { EMIT_LDS = 1, EMIT_MEMORY = 2 };

/* An access of an even loop, of which the host fetches what is `far` behind it; all as i64: where the first
 * lane is now and was before, and where on the host's stack that is kept.  NULL: it has no place there. */
struct lane_ahead {
    llvm_value far, now, before, place;
};

/* One lane-wise instruction of a stretch. */
struct lane_op {
    const struct xinst *x;
    const struct body *body;
    llvm_value scalar[3][2]; /* sources that are one value for all lanes, as i32 for each dword; NULL: rows */
    llvm_value mask;         /* i64: of the mask source; NULL: none, or made in this stretch */
    int mask_reg;            /* the register pair of a mask source, -1: none */
    bool logic;              /* of masks (masks.c) */
    llvm_value
        pair[2];     /* i64: of logic, a source that is none of EXEC and the stretch's masks; NULL: it is */
    llvm_value base; /* i64: of a load, the scalar that its lanes' offsets are added to; NULL: none */
    llvm_value readers;     /* i64: of DPP that reads from other slices, who has somebody to read from */
    bool alone;             /* it reads EXEC or other slices, and is a stretch by itself */
    bool checks;            /* whether a lane is bad is looked at */
    uint8_t harmless;       /* of a pair's halves, or both bits: nobody sees what NaN it is */
    bool stops_nans;        /* what it makes of a harmless one is looked at */
    bool writes;            /* to memory or LDS */
    bool once;              /* an atomic, that must not be redone when it is done */
    bool second;            /* of two addresses it is the second that it writes to */
    uint16_t place;         /* the node of its addresses, or AFFINE_UNKNOWN */
    uint32_t step;          /* of LDS, with such a node: by which they are expected to go up */
    struct affine_place at; /* what that is, in an even stretch or loop */
    llvm_value firsts;      /* where slices' first addresses are on the host's stack; NULL: at.first is all */
    struct lane_ahead ahead; /* in an even loop */
    enum nan_kind nan_kind;  /* the result is bad where that is a NaN, and nowhere else; else the body says */
};

/* How a slice's addresses in LDS lie to each other, all as i1: see reads.c. */
struct shape {
    llvm_value row, first; /* the addresses, and the first lane's as an i64 */
    unsigned bytes;        /* of a lane's element */
    llvm_value dense, equal;
};

/* A store that is put off to the end of the slice. */
struct put_off {
    const struct lane_op *op;
    llvm_value rows[BODY_ROWS_MAX];
};

/* Values of 64 bits of which v_cndmask_b32 has chosen a half. */
enum { CHOSEN_MAX = 8 };
struct chosen {
    llvm_value mask, no, yes, wide; /* mask: op->mask, or what the slice has */
};

/* The slice of lanes that a turn of a stretch's loop does. */
struct slice {
    llvm_value rows;             /* the address of row 0's part */
    llvm_value shift;            /* i64: its first lane */
    llvm_value exec;             /* its lanes of EXEC */
    llvm_value bad;              /* lanes; NULL: none can be */
    llvm_block redone;           /* where the lanes that are left are redone; NULL: nobody goes there yet */
    llvm_value value[WAVE_ROWS]; /* of VGPRs that are known */
    bool dirty[WAVE_ROWS];
    bool held[WAVE_ROWS];    /* of those: its other lanes have what they had, or what nobody reads */
    llvm_value mask[MASKS];  /* by the pair's first register: lanes that a compare or logic has made */
    llvm_value loose[SREGS]; /* the same but for lanes that are not active; NULL: not known */
    struct shape shape[SHAPES_MAX];
    unsigned shapes;
    struct chosen chosen[CHOSEN_MAX]; /* those that were made last */
    unsigned chosens;
    bool even;  /* known places go up evenly: even.c */
    bool whole; /* all lanes are active, and stay so */
    struct put_off store[EVEN_STORES_MAX];
    unsigned stores;
    llvm_value row_phi[WAVE_ROWS], mask_phi[SREGS]; /* of a loop; NULL: not needed */
};

/* A row that addresses in an even loop follow from, or a pair of them; see loop_even.c. */
enum { LOOP_LEAVES = 12 };
struct loop_leaf {
    uint16_t node, next; /* what it is before an iteration, and after it */
    bool wide, written;
    unsigned row;
    llvm_value first[LOOP_PARTS], step[LOOP_PARTS]; /* of each of the slices that are done together */
    llvm_value after[LOOP_PARTS];                   /* the first one after the iteration */
};

/*
 * A loop that is being emitted with its slices outside and its iterations inside (loop.c).  What an iteration
 * reads before it has written it is loaded before the loop, and is a phi at its head when it is written at
 * all.
 */
struct loop {
    const struct xinst *first, *last; /* the head, and the branch to it */
    const struct xinst *leave;        /* what takes lanes off EXEC; NULL: all have as many iterations */
    bool logic[LOOP_MAX];             /* by instruction: whether it is of masks */
    enum loop_idle idle[SREGS];       /* of masks */
    bool row_held[WAVE_ROWS];         /* rows that lanes which have left must have as they then were */
    llvm_block before;                /* where the scalars of the first iteration are loaded */
    llvm_block enter;                 /* where a slice's rows are, before its first iteration */
    llvm_block head;                  /* phis */
    llvm_block redo;                  /* where handlers do what is left */
    bool redoes;                      /* somebody goes there */
    llvm_value doubt;                 /* active lanes of which a guess is wrong; NULL: there is none */
    bool reads_memory;                /* lanes do */
    bool loads_blind; /* what scalar loads load is no part of an address: they need not wait for a check */
    llvm_value far;   /* i1: such a load would have been of other memory than the GPU's; NULL: of none */
    bool row_read[WAVE_ROWS], row_written[WAVE_ROWS], scalar_written[SREGS], mask_at_end[SREGS];
    bool scalar_left[SREGS];       /* of those that are written: who comes next may read them */
    llvm_value scalar[SREGS], scc; /* phis; NULL: not needed */
    bool checked_after[WAVE_ROWS]; /* rows of f32 that may be NaNs, and pairs, when the loop is left */
    bool pair_checked_after[WAVE_ROWS];
    struct slice part[LOOP_PARTS];  /* slices that are done together */
    llvm_value entered[LOOP_PARTS]; /* lanes of EXEC before the loop */
    unsigned parts;

    /* Of the version whose addresses go up evenly from lane to lane: loop_even.c. */
    bool even;
    bool goes_up[AFFINE_NODES]; /* nodes that do, as far as is known before they are emitted */
    struct loop_leaf leaf[LOOP_LEAVES];
    unsigned leaves;
    llvm_value uneven; /* i1, before the first iteration: a leaf does not */
    llvm_value wrong;  /* i64: what has to be 0 in an iteration */
};

/* A scalar load that is done for the first of several waves: what its registers add up to, and what it loads.
 */
enum { BEGIN_LOADS = 4, BEGIN_DWORDS = 16 };
struct early_load {
    const struct xinst *x;
    llvm_value sum, dword[BEGIN_DWORDS];
};

/* Waves that begin: begin.c. */
struct begin {
    bool loops;                          /* one call does all waves that end */
    bool has_ids;                        /* VGPR 0 is what it was in the beginning */
    size_t ids_end;                      /* up to where this instruction begins */
    struct early_load load[BEGIN_LOADS]; /* of the first basic block */
    unsigned loads;
    llvm_block head, ended;
    llvm_value is;          /* i1: the wave begins, if it is in the first basic block */
    llvm_value ready;       /* i1: and early loads are done */
    llvm_value which, left; /* the head that it is to go to; how many waves there are with it */
};

enum { AHEAD_MAX = 64 }; /* accesses in loops that are fetched ahead by their step */

struct emit {
    const struct llvm *l;
    struct body_library *library;
    llvm_context context;
    llvm_module module;
    llvm_builder b;
    unsigned slice;
    llvm_type void_, i1, i8, i16, i32, i64, ptr, row, bits,
        lanes; /* bits: one for each lane of a slice; lanes: lanes.c */

    const struct exec_block *block;
    struct live *live; /* rows that are read again; NULL: all may be */
    struct constants *constants;
    struct guess *guess; /* NULL: nothing is guessed */
    size_t at;           /* the instruction that is being emitted */
    bool counts, runs;   /* the form: EXEC_COUNTED, EXEC_RUNS */
    enum lift_effort effort;
    uint32_t ahead; /* how far ahead of loads the host fetches, in bytes */
    const struct xinst *loops_end, *has_place[AHEAD_MAX]; /* behind all loops; accesses in loops: ahead.c */
    unsigned placed;
    llvm_value last_places;
    llvm_value function, w, x, v, stats;
    llvm_value guard, lds, lds_bytes, scratch, scratch_bytes, arena,
        arena_mask;      /* of the wave, which stay as they are */
    llvm_value in_cache; /* i64: 0 where stores may go past the host's caches; NULL: they may not */
    llvm_value elements; /* of a slice, for those who store lane after lane: writes.c */
    llvm_value saved;    /* scalar registers as redone instructions leave them; see stretch.c */
    llvm_value carried;  /* from one of a loop's slices to the next; see loop.c */
    llvm_block entry;    /* before all others */
    llvm_block *blocks;  /* where instructions begin a basic block, else NULL */
    llvm_type handler, redo_type, redo_loop_type, redo_leaving_type;
    llvm_value redo, redo_loop, redo_leaving, ctpop, cttz, ctlz, unlikely, nontemporal;
    unsigned md_prof, md_nontemporal;

    /* Values of the present basic block. */
    llvm_value s[SREGS], pair[SREGS / 2], scc;
    bool dirty[SREGS], scc_dirty;
    /* What is not yet counted. */
    unsigned count[XC_COUNT], total;
    unsigned bytes_read, bytes_written, bytes_of_lds, bytes_of_scratch, atomics; /* of a lane */
    unsigned scalar_bytes;

    /* Lane-wise instructions that are not emitted yet. */
    struct lane_op all[STRETCH_MAX], *op; /* op: of these, the ones that are emitted now */
    unsigned ops;
    struct affine affine;           /* what they do to addresses */
    llvm_value firsts[STRETCH_MAX]; /* lane_op.firsts of each; NULL: none had any yet */
    bool mask_written[MASKS];       /* by one of them */
    bool scalar_read[SREGS]; /* by one of them, as a scalar or a mask, or by the scalar ALU between them */
    bool scalar_made[SREGS]; /* by the scalar ALU between them */
    bool late[SREGS];        /* read, and then made: stored when the stretch is done */
    size_t late_at[SREGS];   /* by which instruction */
    bool scc_read, scc_late;
    bool joined;            /* accesses are together that only even ones may be */
    bool accesses;          /* one of them accesses memory, which may fault */
    unsigned reads, writes; /* enum emit_space: where */
    struct slice now;
    struct begin begin;
    struct loop *loop;     /* that is being emitted; NULL: none */
    struct region *region; /* the same of several blocks */
    struct region_flow *flow;
    llvm_value region_left, region_rows; /* what its slices leave behind: region_carry.c */
};

/* Whether it is for one slice after another, with all of their iterations. */
static inline bool emit_turns(const struct emit *e)
{
    return e->loop || e->region;
}

static inline llvm_value emit_i32(const struct emit *e, uint32_t value)
{
    return e->l->ConstInt(e->i32, value, 0);
}

static inline llvm_value emit_i64(const struct emit *e, uint64_t value)
{
    return e->l->ConstInt(e->i64, value, 0);
}

/* A function that becomes host code. */
llvm_value emit_function(struct emit *e, const char *name, llvm_type type);
/* Where an instruction of the block is. */
llvm_value emit_instruction_at(const struct emit *e, const struct xinst *x);
/* The wave gives way, and continues at `next`; everything is settled. */
void emit_yield(struct emit *e, const struct xinst *next);
/* The condition under which a branch is taken; NULL for one that always is. */
llvm_value emit_condition(struct emit *e, unsigned op);

/* What `x` is, as it is emitted (lift.c). */
bool lift_leaves(const struct xinst *x);    /* what follows is to be looked up again */
bool lift_does_nothing(unsigned op);        /* it has no effect here */
bool lift_is_branch(const struct xinst *x); /* to a place in the block */
bool lift_writes_exec(const struct xinst *x);

/* Statistics (counts.c): counts an instruction; what a load reads; adds what is counted to the wave's, as
 * many `times` (NULL: once) and for so many active `lanes` of all times (NULL: EXEC's, once); forgets it. */
void counts_add(struct emit *e, const struct xinst *x);
void counts_add_bytes(struct emit *e, const struct xinst *x);
void counts_store(struct emit *e, llvm_value lanes, llvm_value times);
llvm_value counts_active(struct emit *e, llvm_value exec); /* how many it has */
void counts_clear(struct emit *e);

/* Says that `x` accesses memory now, NULL: that nobody does.  See wave/fault.h. */
void emit_access(struct emit *e, const struct xinst *x);
llvm_value emit_call_handler(struct emit *e, const struct xinst *x);
/* The same for what compiled code counts itself. */
void emit_call_uncounted(struct emit *e, const struct xinst *x);

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
/* A load and a store of which no part is left out. */
llvm_value emit_load_whole(struct emit *e, llvm_type type, llvm_value base, int64_t bytes);
void emit_store_whole(struct emit *e, llvm_value value, llvm_value base, int64_t bytes);
llvm_value scalars_get32(struct emit *e, unsigned reg);
llvm_value scalars_get64(struct emit *e, unsigned reg);
void scalars_set32(struct emit *e, unsigned reg, llvm_value value);
void scalars_set64(struct emit *e, unsigned reg, llvm_value value);
llvm_value scalars_get_scc(struct emit *e); /* i8 */
void scalars_set_scc(struct emit *e, llvm_value value);
void scalars_store(struct emit *e);  /* what has changed and is not late; values stay known */
void scalars_forget(struct emit *e); /* what is known: somebody may have changed registers */
/* What is known of them in a block, and again in one that other ways lead to. */
struct scalars_known {
    llvm_value s[SREGS], pair[SREGS / 2], scc;
    bool dirty[SREGS], scc_dirty;
};
void scalars_keep(const struct emit *e, struct scalars_known *k);
void scalars_restore(struct emit *e, const struct scalars_known *k);
/* Stores those that are late which instructions before this one have made.  Whether one was written after the
 * stretch has read it; see scalars.c. */
void scalars_store_late(struct emit *e, size_t before);
bool scalars_are_late(const struct emit *e, unsigned reg, unsigned count);
/* Emits a scalar load; false when it is not a plain one. */
bool scalars_load(struct emit *e, const struct xinst *x);
bool scalars_is_load(const struct xinst *x);
/* Emits an instruction of the scalar ALU; false when it has no body. */
bool scalars_emit(struct emit *e, const struct xinst *x);
/* Its body when it can be emitted, else NULL; and whether that looks at what the destination was. */
const struct body *scalars_body(struct emit *e, const struct xinst *x);
bool scalars_reads_old(const struct body *body);

/*
 * Waves that begin (begin.c): looks for what is known of them; emits what is before all heads, and sets e->w;
 * leaves the block, as the wave has ended; and closes the loop over waves.  Whether VGPR 0 is before the
 * stretch as it was in the beginning, where g->is; what was loaded for x, whose registers add up to `sum`, if
 * `same`, NULL: nothing was.
 */
void begin_find(struct emit *e, const uint32_t *heads);
void begin_emit(struct emit *e);
void begin_end_wave(struct emit *e);
void begin_close(struct emit *e);
bool begin_has_ids(const struct emit *e);
struct early_load *begin_loaded(struct emit *e, const struct xinst *x, llvm_value sum, llvm_value *same);

/* Stretches (stretch.c).  Takes an instruction into the stretch; false when it is not lane-wise. */
bool stretch_add(struct emit *e, const struct xinst *x);
void stretch_flush(struct emit *e);
/* Where it accesses: enum emit_space, none for scratch. */
unsigned stretch_spaces(const struct xinst *x);
/* Puts it there. */
void stretch_take(struct emit *e, const struct lane_op *op);
/* Whether it would be taken: its body, NULL of a read, and the pair with its mask. */
bool stretch_takes(const struct emit *e, const struct xinst *x, struct lane_op *op);
/* Whether this source is the mask. */
bool stretch_is_mask(const struct lane_op *op, int source);
/* The row of a VGPR or an AccVGPR. */
unsigned stretch_row(const struct isa_operand *o);
bool stretch_is_row(const struct isa_operand *o);
/* Says of the stretch's instructions what is a NaN, and which are looked at (nans.c). */
void nans_find(struct emit *e);
/* What NaN an instruction's result is when a source is one; and whether it is a compare of floats. */
enum nan_kind nans_kind(unsigned op);
bool nans_is_comparison(unsigned op);
/* Which halves of a result nobody in the region sees what NaN they are (region_nans.c): of a pair, or both.
 */
unsigned region_hides_nans(struct emit *e, const struct lane_op *op);
/* The lanes whose f32, or f64 when there is a lower half, is a NaN, as a vector of i1. */
llvm_value nans_in(struct emit *e, llvm_value low, llvm_value high);
/* The lanes that have a NaN in the one half that is looked at of a pair; NULL: both halves are. */
llvm_value nans_of_half(struct emit *e, const struct lane_op *op, const llvm_value *rows);
/* Whether it makes a mask in SGPRs. */
bool stretch_makes_mask(const struct lane_op *op);
/* Emits the instructions for one slice. */
void stretch_emit(struct emit *e, struct slice *s);
/* Stores the slice's rows under EXEC. */
void stretch_store(struct emit *e, const struct slice *s);
/* Forgets its instructions. */
void stretch_clear(struct emit *e);
/* What a host fault is redone from, until `stretch_end_accesses`; the lanes are stored for each slice. */
void stretch_begin_accesses(struct emit *e, const struct xinst *first, const struct xinst *last);
void stretch_end_accesses(struct emit *e);

/*
 * Masks of a slice's lanes (lanes.c), of type e->lanes: bits where the host has registers for such, else a
 * row of dwords that are 0 or ~0, as its compares make and its blends take.  ConstNull and ConstAllOnes are
 * none and all.  From and to a vector of i1, a row, and bits as an i64; of i64 for all lanes the slice's, as
 * bits too, and put there; whether there are some, or all.
 */
llvm_value lanes_of(struct emit *e, llvm_value vector);
llvm_value lanes_vector(struct emit *e, llvm_value lanes);
llvm_value lanes_row(struct emit *e, llvm_value lanes);
llvm_value lanes_bits(struct emit *e, llvm_value lanes);
llvm_value lanes_take(struct emit *e, llvm_value all, llvm_value shift);
llvm_value lanes_constant(struct emit *e, uint64_t all, llvm_value shift);
llvm_value lanes_take_bits(struct emit *e, llvm_value all, llvm_value shift);
llvm_value lanes_put(struct emit *e, llvm_value all, llvm_value lanes, llvm_value shift);
llvm_value lanes_some(struct emit *e, llvm_value lanes);
llvm_value lanes_all(struct emit *e, llvm_value lanes);

/*
 * Logic of masks (masks.c): whether it is an instruction that may be, and how many sources it has; and
 * whether it is one where these masks have been `made`.
 */
bool masks_is_logic(const struct isa_inst *inst);
unsigned masks_sources(const struct isa_inst *inst);
bool masks_has_made(const bool *made, const struct isa_inst *inst);
/* What it makes of bits. */
llvm_value masks_combine(struct emit *e, unsigned op, const llvm_value source[2]);
/* Takes it into the stretch when it is such; into a loop, that has said so. */
bool masks_add(struct emit *e, const struct xinst *x);
void masks_take(struct emit *e, const struct xinst *x);
/* Emits it for a slice. */
void masks_emit(struct emit *e, struct slice *s, const struct lane_op *op);
/* The stretch's masks as i64 as they are for lanes that are not active. */
void masks_without_lanes(struct emit *e, llvm_value value[MASKS]);

/* Whether it writes all of its destination's rows, in active lanes (live.c). */
bool live_overwrites(const struct emit *e, const struct xinst *x, const struct lane_op *op);
/* Which rows are read again (live.c); NULL: memory is short, or nothing is known. */
struct live *live_find(struct emit *e);
void live_free(struct live *live);
/* Whether a lane that is active before an instruction may read what a row is there; the last is the end of
 * the block. */
bool live_before(const struct live *live, size_t at, unsigned row);
/* Whether somebody may read a scalar register, or SCC as MASK_SCC, before an instruction. */
bool live_scalar(const struct live *live, size_t at, unsigned reg);
/* The same of a lane that is not active, and may become so. */
bool live_idle(const struct live *live, size_t at, unsigned row);

/* Loops (loop.c).  Emits the one that begins here; NULL: there is none that is known, else its last
 * instruction. */
const struct xinst *loop_emit(struct emit *e, const struct xinst *first);
/* What an iteration reads that it has not written before. */
llvm_value loop_row(struct emit *e, struct slice *s, unsigned row);
/* Joins a pair of rows that no iteration writes before the first one, and not in each. */
void loop_join(struct emit *e, unsigned row, const llvm_value rows[2]);
/* Whether the version is emitted of which addresses go up evenly; and the node of where a load goes, that
 * does; AFFINE_UNKNOWN. */
static inline bool loop_is_even(const struct emit *e)
{
    return e->loop && e->loop->even;
}
unsigned loop_even_place(struct emit *e, const struct lane_op *op);
/* Whether lanes that have left the loop must have a row as it then was. */
bool loop_holds(const struct emit *e, unsigned row);
llvm_value loop_scalar32(struct emit *e, unsigned reg);
llvm_value loop_scalar64(struct emit *e, unsigned reg); /* NULL: it is to be made of two */
llvm_value loop_scc(struct emit *e);
/* Loops of several basic blocks (region.c).  Emits the one with this head, and goes on where it is to be
 * emitted once more, as it is entered elsewhere or the region does not do. */
void region_emit(struct emit *e, size_t head);
llvm_value region_row(struct emit *e, struct slice *s, unsigned row);
bool region_writes(const struct emit *e, unsigned row);
llvm_value region_scalar32(struct emit *e, unsigned reg);
llvm_value region_scalar64(struct emit *e, unsigned reg); /* NULL: it is to be made of two */
llvm_value region_scc(struct emit *e);
llvm_block region_bail(struct emit *e);
/* Whether the stretch must come before an instruction that reads or writes this register. */
bool stretch_needs(const struct emit *e, unsigned reg, unsigned count, bool writes);

/* A row as it is in the wave. */
llvm_value slice_load(struct emit *e, const struct slice *s, unsigned row);
/* Runs the body of a modifier: its sources are given. */
void slice_modify(struct emit *e, struct slice *s, const char *name, struct body_rows *rows);
/* Has the lanes that are left redone if one of these is active and bad; NULL: in any case. */
void slice_redo(struct emit *e, struct slice *s, llvm_value bad);
/* The body of CLAMP for a result's type. */
const char *slice_clamp_name(const struct isa_inst *inst);
/* CLAMP of floats is done to the result, of pairs only in VOP3P; for integers it is another operation. */
bool slice_clamps_after(const struct isa_inst *inst);
/* The same for all lanes. */
llvm_value slice_constant(struct emit *e, uint32_t value);

/* Reads of memory and LDS (reads.c): whether it is one, whether of half a row, whose other half is in `rows`
 * before; and its result; `high` NULL: offsets of 32 bits. */
bool reads_is_known(const struct xinst *x);
bool reads_half(const struct xinst *x);
void reads_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                llvm_value *rows);
/* Which accesses of a function are fetched ahead, and how far (ahead.c). */
void ahead_find(struct emit *e, const struct exec_block *block);

/*
 * Stretches whose loads and stores are found before to go up evenly from lane to lane (even.c).  Whether an
 * access goes by a step that is known, and that there is no way for, and so would spoil others; whether it
 * is worth a look; whether there is a version for some lanes; of a stretch without any, whether a version for
 * all lanes is worth it, which where masks are rows spares what cuts short ones to EXEC; emits the test for
 * it; may an access be in a stretch with what is there, because it can be told whether they meet; and what is
 * done for it.
 */
bool even_is_hopeless(const struct emit *e, struct lane_op *op);
bool even_is_likely(const struct emit *e);
bool even_may_be_part(const struct emit *e);
bool even_is_worth(const struct emit *e);
llvm_value even_test(struct emit *e);
bool even_may_join(const struct emit *e, const struct lane_op *op);
/* Whether there is no room for another store that is put off; and whether one is to memory. */
bool even_is_full(const struct emit *e);
bool even_stores_memory(const struct emit *e);
bool even_does(const struct slice *s, const struct lane_op *op);
/* Finds where a slice of a loop accesses, and what has to be 0 for that to be in the GPU's own memory; and of
 * any access whether it goes up by what there are ways for. */
llvm_value even_find(struct emit *e, struct lane_op *op);
llvm_value even_is_step(struct emit *e, const struct lane_op *op);
void even_read(struct emit *e, const struct slice *s, const struct lane_op *op, llvm_value *rows);
void even_put_off(struct slice *s, const struct lane_op *op, const llvm_value *rows);
void even_store(struct emit *e, struct slice *s);

/* Writes of the same (writes.c): whether it is one, to two addresses, of a row's upper half, and of how many
 * rows. */
bool writes_is_known(const struct xinst *x);
bool writes_twice(const struct xinst *x);
bool writes_high(const struct xinst *x);
unsigned writes_dwords(const struct xinst *x);
void writes_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                 const llvm_value *rows);

/*
 * Scratch (scratch.c): whether it is a load or store of dwords there; may a store change what was loaded, so
 * that nobody can redo that; emits it, `address` NULL: it has none.
 */
bool scratch_is_known(const struct xinst *x);
bool scratch_may_spoil(const struct emit *e, const struct lane_op *op);
/* Whether one may fault in a later slice of what is no scratch, and is written to by then. */
bool scratch_may_fault_first(const struct emit *e, const struct lane_op *op);
void scratch_read(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value address,
                  llvm_value *rows);
void scratch_write(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value address,
                   const llvm_value *rows);

/*
 * Atomics (atomics.c): whether it is one; the rows of its operands, and how many; emits it, with what memory
 * was before when it returns that.
 */
enum { ATOMICS_ROWS_MAX = 4 };
bool atomics_is_known(const struct emit *e, const struct xinst *x);
unsigned atomics_rows(const struct emit *e, const struct xinst *x, int rows[ATOMICS_ROWS_MAX]);
void atomics_emit(struct emit *e, struct slice *s, const struct lane_op *op, llvm_value low, llvm_value high,
                  const llvm_value *rows, llvm_value *result);

/*
 * Lanes and each other (cross.c).  DPP: whether lanes read from other slices; has them moved, and says which
 * of them have somebody to read from; what source 0 becomes; and the lanes that are written, as a vector of
 * i1, NULL for all.
 */
bool cross_is_wide(const struct emit *e, const struct xinst *x);
llvm_value cross_move_wave(struct emit *e, const struct xinst *x);
void cross_move_source(struct emit *e, const struct slice *s, const struct lane_op *op, llvm_value *row);
llvm_value cross_written(struct emit *e, const struct slice *s, const struct lane_op *op);
/* The third source of bodies whose instruction has none. */
bool cross_implies_source(unsigned op);
llvm_value cross_implied_source(struct emit *e, struct slice *s, const struct isa_inst *inst);
/* v_mbcnt of a mask of ones; NULL: it is none. */
llvm_value cross_count_lanes(struct emit *e, struct slice *s, const struct isa_inst *inst, llvm_value add);
/* Emits v_writelane_b32; false when it is another one. */
bool cross_write_lane(struct emit *e, const struct xinst *x);

/*
 * The whole wave at once (crossbar.c).  ds_bpermute_b32 and ds_swizzle_b32: whether it is one; emits it,
 * false when it is none.  The stretch's only instruction, which is DPP that reads from other slices.
 */
bool crossbar_is_known(const struct xinst *x);
bool crossbar_emit(struct emit *e, const struct xinst *x);
void crossbar_emit_dpp(struct emit *e);

/* A row with the same dword in all lanes. */
llvm_value emit_splat(struct emit *e, llvm_value scalar);

/* VOP3P's modifiers (packed.c): whether there is a way to do them, and what they make of a source. */
bool packed_is_known(const struct isa_inst *inst);
/* Which of a source's rows it reads: bits. */
unsigned packed_rows_read(const struct isa_inst *inst, int i);
void packed_modify_source(struct emit *e, struct slice *s, const struct isa_inst *inst, int i,
                          llvm_value row[BODY_ROWS_MAX]);

/* The name of an instruction's meaning. */
const char *emit_op_name(unsigned op);

#endif
