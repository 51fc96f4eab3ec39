/* SPDX-License-Identifier: MIT */
/*
 * How a handler reports that the simulated program did something wrong.
 *
 * wave_fault() records what happened in the wave's guard and does not return:
 * it jumps back to the loop that runs the workgroup.  Accesses to unmapped
 * memory need no check: the host's SIGSEGV ends up in the same place, with the
 * faulting address, when the handler has said which instruction is accessing
 * memory by setting guard->in (exec sets it before every memory handler).
 */
#ifndef EHP_EXEC_FAULT_H
#define EHP_EXEC_FAULT_H

#include <setjmp.h>
#include <stdint.h>

#include "ehp/ehp.h"
#include "exec/wave.h"

struct wave_guard {
    sigjmp_buf env;
    struct wave *wave;             /* running on this thread; NULL outside of handlers */
    const struct xinst *in;        /* the memory instruction in progress, NULL when none */
    enum ehp_fault_kind kind;
    uint64_t address;
    bool write;
    unsigned lane;                 /* UINT_MAX: not a lane's */
    int trap_id;
};

/* lane = UINT_MAX when the fault is the wave's as a whole. */
_Noreturn void wave_fault(struct wave *w, const struct xinst *in, enum ehp_fault_kind kind, uint64_t address,
                          bool write, unsigned lane);

#endif
