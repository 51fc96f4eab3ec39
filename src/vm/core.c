/* SPDX-License-Identifier: MIT */
/*
 * CPU cores and the system's page table: what a walk finds, and page faults, which the kernel handles in the
 * host's domain.  A page is seen by walks from the next window on.
 */
#include <stdlib.h>

#include "alloc/memory.h"
#include "base/must.h"
#include "vm/internal.h"

/* Whether a core's walk finds a page, in either table, and its frame. */
static bool find_frame(const struct vm *vm, uint64_t address, uint64_t *frame)
{
    uint64_t entry = table_get(&vm->gpu, address), span = entry & PTE_LARGE ? VM_PAGE << TABLE_BITS : VM_PAGE;
    if (entry & PTE_PINNED) {
        *frame = (entry & PTE_FRAME) + (address & (span - 1) & ~(VM_PAGE - 1));
        return true;
    }
    entry = table_get(&vm->system, address);
    *frame = entry & PTE_FRAME;
    return entry & PTE_CPU;
}

bool vm_core_find(const struct vm *vm, uint64_t address, uint64_t *page)
{
    return find_frame(vm, address, page);
}

/* A line of entries lies by the first frame that they are of, so that it is the same on every run. */
bool vm_core_walk(const struct vm *vm, uint64_t address, uint64_t *page, uint64_t *entry)
{
    enum { LINE = 64, ENTRIES = LINE / sizeof(uint64_t) };
    uint64_t first = address & ~(ENTRIES * VM_PAGE - 1), frame = 0;
    if (!find_frame(vm, address, page))
        return false;
    for (unsigned i = 0; i < ENTRIES && !find_frame(vm, first + i * VM_PAGE, &frame);)
        i++;
    const unsigned package = package_of(vm, frame);
    frame -= package_base(vm, package);
    *entry = package_base(vm, package) + vm->tables +
             (frame >> VM_PAGE_SHIFT) * LINE % (vm->memory->size - vm->tables) +
             (address - first) / VM_PAGE * sizeof(uint64_t);
    return true;
}

void vm_core_see(struct vm *vm, uint64_t page)
{
    struct table_node *leaf = table_leaf(&vm->system, page, false);
    unsigned index = (unsigned)(page >> VM_PAGE_SHIFT) & (TABLE_ENTRIES - 1);
    if (leaf && atomic_load_explicit(&leaf->entry[index], memory_order_relaxed))
        atomic_fetch_or_explicit(&leaf->entry[index], PTE_CPU, memory_order_release);
}

void vm_core_commit(struct vm *vm)
{
    for (size_t i = 0; i < vm->core_count; i++)
        vm_core_see(vm, vm->core_pages[i]);
    vm->core_count = 0;
}

static void add_page(struct vm *vm, uint64_t page)
{
    if (vm->core_count == vm->core_capacity) {
        vm->core_capacity = vm->core_capacity ? 2 * vm->core_capacity : 256;
        vm->core_pages = must(realloc(vm->core_pages, vm->core_capacity * sizeof(*vm->core_pages)));
    }
    vm->core_pages[vm->core_count++] = page;
}

/* One fault after the other through the kernel's lock; the first of several costs the core more. */
static uint64_t handle(struct vm *vm, const struct vm_core_fault *f, uint64_t now)
{
    uint64_t least = f->again ? vm->core_page_ps : vm->core_fault_ps,
             locked = vm->core_free_ps > now ? vm->core_free_ps : now;
    vm->core_free_ps = locked + vm->core_serial_ps;
    vm->use.cpu_faults++;
    return now + least > vm->core_free_ps ? now + least : vm->core_free_ps;
}

static void arrived(struct port_domain *domain, struct port_event *event)
{
    struct vm *vm = event->self;
    struct vm_core_fault *f = (struct vm_core_fault *)(uintptr_t)event->word[0];
    uint64_t page = f->address & ~(VM_PAGE - 1), now = port_now_ps(domain), when = now;
    pthread_mutex_lock(&vm->lock);
    if (!(table_get(&vm->gpu, page) & PTE_PINNED)) {
        if (!table_get(&vm->system, page))
            when = handle(vm, f, now);
        vm_demand_frame(vm, f->asker, page, true);
        add_page(vm, page);
    }
    pthread_mutex_unlock(&vm->lock);
    port_send(domain, f->domain, when - now + vm->delay_ps, f->done, f->self)->word[0] =
        (uint64_t)(uintptr_t)f;
}

void vm_core_fault(struct vm *vm, struct vm_core_fault *f)
{
    port_send(f->domain, vm->host, vm->delay_ps, arrived, vm)->word[0] = (uint64_t)(uintptr_t)f;
}
