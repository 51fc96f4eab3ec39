/* SPDX-License-Identifier: MIT */
/* The packed family's front door: tells handlers whether there are modifiers, and finds them. */
#include "sem/vector/packed.h"

/* Sources that an instruction has: their OP_SEL_HI bits count. */
static unsigned source_mask(const struct isa_inst *inst)
{
    unsigned mask = 0;
    for (int i = 0; i < 3; i++)
        if (inst->src[i].kind != ISA_NONE)
            mask |= 1u << i;
    return mask;
}

exec_fn *SEM(sem_packed)(const struct isa_inst *inst, struct xinst *x)
{
    unsigned mask = source_mask(inst);
    x->post = (inst->op_sel & mask) || (~(unsigned)inst->op_sel_hi & mask) ||
              ((inst->neg | inst->neg_hi) & mask) || inst->clamp;
    sem_lookup_fn *const parts[] = {SEM(sem_packed_f32), SEM(sem_packed_f16), SEM(sem_packed_int),
                                    SEM(sem_packed_dot)};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        exec_fn *fn = parts[i](inst, x);
        if (fn)
            return fn;
    }
    return NULL;
}
