/* SPDX-License-Identifier: MIT */
/*
 * Which float exceptions a vector instruction raises in one lane: what TRAPSTS
 * records, and what MODE lets trap.  The result itself is the handler's; this is
 * asked only for code that looks (exec/observe.h).
 *
 * Source: "AMD Instinct MI300 ISA", 3 "Program state" (MODE, TRAPSTS) and the
 * tables of 6; IEEE 754-2008, chapter 7, where they leave it to that.  What is
 * chosen where neither decides is in docs/conformance.md.
 */
#ifndef EHP_SEM_VECTOR_EXCEPTIONS_H
#define EHP_SEM_VECTOR_EXCEPTIONS_H

#include "base/exact.h"
#include "isa/inst.h"

/* Whether it may raise any. */
bool sem_can_raise(const struct isa_inst *inst);

/*
 * What it raises, as bits of TRAPSTS.  Sources are as exec_prepare() leaves them: modifiers are applied,
 * but not those of VOP3P.
 */
uint32_t sem_raised(const struct isa_inst *inst, uint32_t mode, const uint64_t source[3]);

#endif
