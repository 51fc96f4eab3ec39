/* SPDX-License-Identifier: MIT */
/* Memory of the host without which there is no going on. */
#ifndef EHP_BASE_MUST_H
#define EHP_BASE_MUST_H

/* What malloc() and the like returned; ends the process with a line on stderr when that is NULL. */
void *must(void *memory);

#endif
