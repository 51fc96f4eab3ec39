/* SPDX-License-Identifier: MIT */
/*
 * The matrix family's front door, and the moves between VGPRs and AccVGPRs
 * (v_accvgpr_mov_b32 is a VOP1, so the vector ALU's).  Those are ordinary lane moves, under EXEC; matrix
 * instructions ignore EXEC.
 */
#include "sem/matrix/matrix.h"
#include "sem/vector/valu_rows.h"

static const struct xinst *x_move(struct wave *w, const struct xinst *in)
{
    if (in->any_prep)
        exec_prepare(w, in);
    row_merge(w->v[in->d], w->v[in->s[0]], w->exec);
    return in + 1;
}

exec_fn *SEM(sem_matrix)(const struct isa_inst *inst, struct xinst *x)
{
    switch (inst->op) {
    case ISA_OP_v_accvgpr_read_b32:
    case ISA_OP_v_accvgpr_write_b32:
        return x_move;
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
