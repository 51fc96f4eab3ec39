/* SPDX-License-Identifier: MIT */
/*
 * Float exceptions.  Handlers neither record them nor trap, which costs code
 * that does not look nothing.  Code that does (it reads TRAPSTS, or enables
 * exceptions in MODE) is translated to other handlers, which first find out what
 * each active lane raises, record it in TRAPSTS, and end the wave with a fault
 * when MODE enables it, as there is no trap handler.
 *
 * Whole code objects look or do not: exec_observes() says whether instructions
 * do, and exec_code.observes is asked when a function is translated.
 *
 * Source: "AMD Instinct MI300 ISA", chapter 3: MODE.EXCP_EN, TRAPSTS.EXCP.
 */
#ifndef EHP_EXEC_OBSERVE_H
#define EHP_EXEC_OBSERVE_H

#include "exec/code.h"

/* Some dword among them begins an s_getreg of TRAPSTS, or an s_setreg of MODE's exception enables. */
bool exec_observes(const struct isa_target *target, const uint32_t *words, size_t count);

/* Gives a translated function the handlers that look. */
void exec_observe_block(struct exec_block *block);

/* Records what `x` raises; a fault is reported at `in`.  Nothing when `in` is not observed. */
void exec_observe(struct wave *w, const struct xinst *x, const struct xinst *in);

#endif
