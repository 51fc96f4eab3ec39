/* SPDX-License-Identifier: MIT */
/*
 * Loops of several basic blocks, of which each slice of lanes goes its own way (region.c).  Which blocks they
 * are (region_flow.c); what registers hold in them and which branches are whose (region_find.c); what becomes
 * of masks and scalars where a slice has no lane, and others go on (region_idle.c); instructions
 * (region_block.c); what slices leave behind (region_carry.c).
 */
#ifndef EHP_JIT_REGION_H
#define EHP_JIT_REGION_H

#include "jit/emit.h"
#include "jit/loop.h"

enum {
    REGION_BLOCKS = 64,
    REGION_INSTRUCTIONS = 640,
    REGION_ROWS = 96, /* that somebody reads behind it */
    REGION_EXITS = 4,
    /* Masks go by half of their register; what SCC follows from is behind them. */
    REGION_SCC = SREGS / 2,
    REGION_MASKS
};

/* A function's basic blocks, and who comes before and after. */
struct region_flow {
    unsigned count;
    size_t *first;   /* instructions; of the block behind the last its end */
    int (*to)[2];    /* the next, and where the branch at the end goes; -1: nowhere */
    unsigned *begin; /* of a block's predecessors in `from` */
    unsigned *from;
    uint32_t *number; /* of the block that an instruction begins */
    uint32_t *seen, turn;
};

struct region_flow *region_flow_find(struct emit *e);
void region_flow_free(struct region_flow *flow);
/* The blocks of the loop with this head, itself first; 0: there is none, or it is too large. */
unsigned region_flow_loop(struct region_flow *flow, unsigned head, unsigned blocks[REGION_BLOCKS]);

/* How a block ends: it goes on, its branch is taken by all slices or none, or follows from EXEC. */
enum region_end { REGION_GOES, REGION_ALIKE, REGION_OF_LANES };

/* Where an edge goes, if not to one of the blocks. */
enum { REGION_NOWHERE = -1, REGION_OUT = REGION_BLOCKS /* from here on: exits */ };

/* What a mask may be, in lanes that were not active for a while. */
struct region_idle {
    uint8_t set[REGION_MASKS];  /* bits, of enum loop_idle */
    uint8_t kept[REGION_MASKS]; /* of LOOP_IDLE_KEPT: what which mask was */
    bool written[SREGS + 1];    /* scalar registers, and SCC, by the scalar ALU and loads */
};

struct region_block {
    size_t first, end;
    unsigned base; /* its first instruction's number in the region */
    enum region_end how;
    int to[2];       /* the next, and where its branch goes */
    bool back[2];    /* the edge goes back to a block that control came by, which is not the head */
    unsigned empty;  /* OF_LANES: where a slice without lanes goes */
    bool by_scalars; /* ALIKE: by a mask in VCC that is EXEC and a scalar (uniform_at) */
    size_t uniform_at;
    struct loop_forms form; /* before it */
    bool reached;
    /* OF_LANES: what a slice without lanes would have had of the others' way, where they meet again. */
    bool check_none[REGION_MASKS], check_all[REGION_MASKS], poisons[SREGS + 1];
};

struct region {
    struct region_flow *flow;
    size_t head; /* its first instruction */
    unsigned blocks, instructions, exits;
    struct region_block block[REGION_BLOCKS];
    size_t exit[REGION_EXITS];
    struct loop_forms exit_form, head_form; /* where it is left, and where it goes on */
    struct region_idle exit_idle, head_idle;
    bool logic[REGION_INSTRUCTIONS];
    bool row_used[WAVE_ROWS], row_written[WAVE_ROWS], row_left[WAVE_ROWS]; /* left: stored behind it */
    bool mask_written[REGION_MASKS], scalar_written[SREGS + 1];
    bool poisoned[SREGS + 1];     /* it may be what a slice does not know */
    bool shows_nan[2][WAVE_ROWS]; /* f32 and f64: an instruction sees what is in a NaN */
    bool may_be_nan[WAVE_ROWS + 1], pair_may_be_nan[WAVE_ROWS + 1]; /* of rows that nobody looked at */
    bool reads_memory, nested;
    const struct xinst *access; /* the first */
    unsigned ops;

    /* While it is emitted. */
    llvm_block before, enter, bail;
    llvm_value row[LOOP_PARTS][WAVE_ROWS], mask[REGION_MASKS], exec[LOOP_PARTS]; /* variables */
    llvm_value scalar[SREGS + 1], poison[SREGS + 1], bad, turns, fuel;
    llvm_value known[SREGS], known64[SREGS / 2], known_scc; /* of registers that it does not write */
    llvm_value poison_now[SREGS + 1], uniform;
    llvm_value bits[REGION_MASKS]; /* of masks that are known in the present block */
    bool mask_dirty[REGION_MASKS]; /* made by lane-wise instructions that are not emitted yet */
    struct loop_forms now;
    llvm_block start[REGION_BLOCKS], leave[REGION_EXITS], latch;
    struct slice part[LOOP_PARTS];
    unsigned parts;
};

/* What EXEC becomes by logic of masks: of which sources, and which operation; false: something else. */
struct region_exec {
    unsigned op;
    const struct isa_operand *source[2]; /* NULL: EXEC */
    int saved;                           /* the pair that EXEC goes to before; -1: none */
};
bool region_exec(const struct isa_inst *inst, struct region_exec *x);
/* What an instruction of the region uses, EXEC's included. */
bool region_uses(struct emit *e, const struct region *r, size_t at, unsigned number, struct loop_uses *u);

bool region_find(struct emit *e, struct region *r, size_t head);
bool region_find_idle(struct emit *e, struct region *r);
void region_find_nans(struct emit *e, struct region *r);
/* The lanes with NaNs in rows that are read behind the region, and that nobody looked at; NULL: there are no
 * such rows. */
llvm_value region_late_nans(struct emit *e, unsigned part);
/* Whether a mask is one there, and somebody may read it before an instruction. */
bool region_has_mask(struct emit *e, const struct loop_forms *form, size_t at, unsigned mask);

/* Variables of the region (region_block.c), whose values are those of the place where code is emitted. */
void region_make_variables(struct emit *e, const llvm_value *entered, llvm_value budget);
llvm_value region_row_now(struct emit *e, unsigned part, unsigned row);
/* A mask, as bits of all lanes that are done together; and such bits of a scalar register, that of a mask. */
llvm_value region_mask_now(struct emit *e, unsigned mask);
llvm_value region_take(struct emit *e, llvm_value all);
llvm_value region_bits_of(struct emit *e, unsigned reg);
llvm_type region_bits_type(struct emit *e);
/* Whether the slice does not know a register, or SCC; NULL: it does. */
llvm_value region_poison_now(struct emit *e, unsigned reg);
/* Forgets what is known in a block. */
void region_begin_block(struct emit *e, const struct loop_forms *form, llvm_block start);
void region_emit_block(struct emit *e, unsigned number);
/* Leaves when it is true: nothing of the region has happened then. */
void region_bail_if(struct emit *e, llvm_value wrong);

/* What slices leave behind (region_carry.c): before the first one; when one has left by an exit, or goes on
 * at the head when the wave has given way (-1), with its lanes to begin with; and when all have. */
void region_begin_carrying(struct emit *e, llvm_value budget);
void region_carry(struct emit *e, int exit, const llvm_value *entered);
/* Whether it must give way now, after so many turns. */
llvm_value region_stops(struct emit *e, llvm_value turns);
void region_settle(struct emit *e, llvm_value exec, llvm_value budget);
/* The lanes of EXEC of the slices from `begin` on that are done together. */
llvm_value region_next(struct emit *e, llvm_value exec, llvm_value begin);

#endif
