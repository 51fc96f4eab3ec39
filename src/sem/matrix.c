/* SPDX-License-Identifier: MIT */
/*
 * The matrix family's front door, and the moves between VGPRs and AccVGPRs
 * (v_accvgpr_mov_b32 is a VOP1, so the vector ALU's).  Those are ordinary lane moves, under EXEC; matrix
 * instructions ignore EXEC.
 */
#include "sem/matrix.h"
#include "sem/valu_rows.h"

static const struct xinst *x_move(struct wave *w, const struct xinst *in)
{
    row_merge(w->v[in->d], w->v[in->s[0]], w->exec);
    return in + 1;
}

static const struct xinst *x_broadcast(struct wave *w, const struct xinst *in)
{
    uint32_t value = in->prep[0] == XPREP_SGPR ? w->s[in->reg[0]] : (uint32_t)in->literal[0];
    alignas(64) wave_row row;
    VALU_EACH_LANE(i)
    {
        row[i] = value;
    }
    row_merge(w->v[in->d], row, w->exec);
    return in + 1;
}

static exec_fn *find_move(const struct xinst *x)
{
    switch (x->prep[0]) {
    case XPREP_PLAIN:
        return x_move;
    case XPREP_SGPR:
    case XPREP_CONST:
        return x_broadcast;
    default:
        return NULL;
    }
}

exec_fn *SEM(sem_matrix)(const struct isa_inst *inst, struct xinst *x)
{
    switch (inst->op) {
    case ISA_OP_v_accvgpr_read_b32:
    case ISA_OP_v_accvgpr_write_b32:
        return find_move(x);
    default:
        break;
    }
    exec_fn *fn = SEM(sem_matrix_dense)(inst, x);
    if (!fn)
        fn = SEM(sem_matrix_f64)(inst, x);
    if (!fn)
        fn = SEM(sem_matrix_sparse)(inst, x);
    return fn;
}
