/* SPDX-License-Identifier: MIT */
/* What page tables say; see ccd.h.  That it is kept here takes no part in simulated time. */
#include "ccd/internal.h"

const struct core_page *core_look_up(struct core *core, struct core_page *p, uint64_t address,
                                     uint64_t generation)
{
    p->page = 0;
    if (!vm_core_walk(core->ccd->all->vm, address, &p->physical, &p->table))
        return NULL;
    p->page = (address >> VM_PAGE_SHIFT) + 1;
    p->generation = generation;
    return p;
}
