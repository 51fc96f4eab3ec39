/* SPDX-License-Identifier: MIT */
/* Inside of the HSA layer: what belongs to a machine.  Programs use include/ehp/ehp.h and include/ehp/aql.h.
 */
#ifndef EHP_HSA_HSA_H
#define EHP_HSA_HSA_H

struct ehp_machine;

/* Frees the memory of a machine's signals, when it is closed. */
void signal_free_all(struct ehp_machine *m);

#endif
