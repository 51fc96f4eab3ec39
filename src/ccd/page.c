/* SPDX-License-Identifier: MIT */
/* What page tables say; see ccd.h.  That it is kept here takes no part in simulated time. */
#include "ccd/internal.h"

const struct core_page *core_page_of(struct core *core, uint64_t address)
{
    struct vm *vm = core->ccd->all->vm;
    uint64_t number = address >> VM_PAGE_SHIFT, generation = vm_generation(vm);
    struct core_page *p = &core->page[number % CORE_KNOWN];
    if (p->page == number + 1 && p->generation == generation)
        return p;
    p->page = 0;
    if (!vm_core_walk(vm, address, &p->physical, &p->table))
        return NULL;
    p->page = number + 1;
    p->generation = generation;
    return p;
}
