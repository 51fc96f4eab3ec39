/* SPDX-License-Identifier: MIT */
/*
 * How a handler reports that the simulated program did something wrong.
 *
 * wave_fault() records what happened in the wave's guard and does not return:
 * it jumps back to the loop that runs the workgroup.  Accesses to unmapped
 * memory need no check: the host's SIGSEGV ends up in the same place, with the
 * faulting address, when the handler has said which instruction is accessing
 * memory by setting guard->in (and NULL when it is done).
 */
#ifndef EHP_WAVE_FAULT_H
#define EHP_WAVE_FAULT_H

#include <setjmp.h>
#include <stdint.h>

#include "ehp/ehp.h"
#include "wave/wave.h"

struct exec_code;
struct exec_code_cache;

/* What a thread that executes waves has: where to continue after a fault, and its code lookups. */
struct wave_guard {
    sigjmp_buf env;
    bool armed;             /* env is valid: a workgroup is running on this thread */
    struct wave *wave;      /* the one that runs */
    const struct xinst *in; /* the memory instruction in progress, NULL when none */
    struct exec_code *code;
    struct exec_code_cache *cache;
    uint64_t mem_arena, mem_mask; /* for its waves */
    uint64_t in_cache; /* compiled code's stores stay in the host's caches; 0: they may go past them */
    /* Upper halves of addresses that memory instructions may access, less VMEM_NO_WINDOW: see sem/vmem.h. */
    uint32_t windows[WAVE_WINDOWS];
    /* Registered host memory that was accessed last, as long as this many have come and gone. */
    uint64_t registered_first, registered_end, registrations;
    /* An access has found no memory: address, kind.  Whether it shall try again.  NULL: it is a fault. */
    bool (*mend)(struct wave_guard *guard);

    /* The fault, when one happened. */
    enum ehp_fault_kind kind;
    const struct xinst *fault_in;
    uint64_t address;
    bool write;
    unsigned lane; /* UINT_MAX: not a lane's */
    int trap_id;
    bool from_signal;
};

/* lane = UINT_MAX when the fault is the wave's as a whole. */
_Noreturn void wave_fault(struct wave *w, const struct xinst *in, enum ehp_fault_kind kind, uint64_t address,
                          bool write, unsigned lane);

/*
 * Makes this thread able to survive host faults of waves: an alternate signal
 * stack, and the process-wide handler if it is not there yet.  Returns what
 * fault_thread_leave() frees; NULL when memory is short.
 */
struct fault_thread;
struct fault_thread *fault_thread_enter(struct wave_guard *guard);
void fault_thread_leave(struct fault_thread *thread);

/*
 * The process-wide handlers alone, which base/guarded.h needs too.  Puts them on top again if the host
 * program has put its own there, which then get what is not ours.  Thread-safe; two system calls.
 */
void fault_install(void);

/* For a thread that begins something which may fault: fault_install(), at most once in so many ns. */
enum { FAULT_LOOK_NS = 25000 };
static inline void fault_look(uint64_t *looked_ns, uint64_t now_ns)
{
    if (now_ns - *looked_ns < FAULT_LOOK_NS)
        return;
    *looked_ns = now_ns;
    fault_install();
}

/*
 * Who wants to know of a fault of the host program before its own handler, or
 * death: called in the signal handler, on a stack of its own.  `mend` tells whether the access shall try
 * again; if nobody's does, `fn` may say something.  Eight at most; others are not told.
 */
typedef bool fault_mend_fn(void *context, uint64_t address, bool write);
typedef void fault_watch_fn(void *context, uint64_t address);
void fault_watch(fault_mend_fn *mend, fault_watch_fn *fn, void *context);
void fault_unwatch(void *context);

/*
 * Provided by the memory family: the first active lane of this instruction that
 * touches `address`, UINT_MAX when none does.
 */
unsigned mem_fault_lane(struct wave *w, const struct xinst *in, uint64_t address);
/* Bytes that a lane, or a scalar instruction, accesses. */
unsigned mem_access_bytes(const struct isa_inst *inst);

#endif
