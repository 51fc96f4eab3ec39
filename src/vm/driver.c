/* SPDX-License-Identifier: MIT */
/*
 * Page faults of the GPU with XNACK: the translation waits, an interrupt tells
 * the driver, and its handler takes all faults that have gathered, gives each page
 * an entry, flushes TLBs and lets the translations try again.  A batch costs a time,
 * each page of it another: little when the page exists (minor), more when a frame
 * must be found and cleared (major).
 *
 * Source: Wahlgren et al., UPM on MI300A, V.B, for the times.
 */
#include <stdlib.h>

#include "ehp/ehp.h"
#include "alloc/memory.h"
#include "vm/internal.h"

void vm_start(struct vm *vm, struct port_domain *host, uint64_t delay_ps, const struct fabric *fabric)
{
    vm->fabric = fabric;
    vm->host = host;
    vm->delay_ps = delay_ps;
}

static uint32_t *slot_of(struct vm *vm, uint64_t page)
{
    return &vm->commit_of[(page >> VM_PAGE_SHIFT) % COMMIT_SLOTS];
}

/* The driver's filter knows the last faults only: a page that comes again later is paid again. */
static bool is_committed(struct vm *vm, uint64_t page)
{
    enum { FILTER = 256 };
    uint32_t i = *slot_of(vm, page);
    return i < vm->commit_count && i + FILTER >= vm->commit_count && vm->commits[i].address == page;
}

static void add_commit(struct vm *vm, uint64_t address, uint64_t entry)
{
    *slot_of(vm, address) = (uint32_t)vm->commit_count;
    if (vm->commit_count == vm->commit_capacity) {
        size_t capacity = vm->commit_capacity ? 2 * vm->commit_capacity : 1024;
        struct vm_commit *commits = realloc(vm->commits, capacity * sizeof(*commits));
        if (!commits)
            abort();
        vm->commits = commits;
        vm->commit_capacity = capacity;
    }
    vm->commits[vm->commit_count++] = (struct vm_commit){address, entry};
}

/* Whether the process may access the page: what on-demand memory is.  *spare: it is nobody's. */
static bool allowed(struct vm *vm, uint64_t page, bool *writable, bool *spare)
{
    struct memory_block block;
    bool inside;
    *spare = false;
    if (page - vm->memory->arena < vm->memory->arena_bytes) {
        *writable = true;
        if (memory_find(vm->memory, page, &block, &inside) &&
            page - (block.base & ~(VM_PAGE - 1)) < ((block.bytes + VM_PAGE - 1) & ~(VM_PAGE - 1)))
            return block.on_demand;
        *spare = memory_lend(vm->memory, page, &block);
        return *spare && block.on_demand;
    }
    const struct mapping *m = host_find(&vm->pages, page);
    *writable = m && m->writable;
    return m && m->readable;
}

/* One page; returns what it costs.  Pages come by several translations: the first one pays. */
static uint64_t resolve(struct vm *vm, unsigned package, uint64_t address, bool store, bool *major)
{
    uint64_t page = address & ~(VM_PAGE - 1), cost = vm->minor_ps;
    bool writable, spare;
    uint64_t have = table_get(&vm->gpu, page);
    if (have && (!store || have & PTE_WRITABLE))
        return 0;
    if (is_committed(vm, page))
        return 0;
    if (!allowed(vm, page, &writable, &spare))
        return 0; /* the translation will find nothing */
    pthread_mutex_lock(&vm->lock);
    bool present = host_present(&vm->pages, page);
    if (present) {
        vm->use.minor++;
    } else {
        vm_demand_drop(vm, page); /* what was there before is gone */
        host_populate(&vm->pages, page);
        cost = vm->major_ps;
        *major = true;
        vm->use.major++;
    }
    /* Where a GPU touches it first; what exists, somebody of the program has touched. */
    struct numa_asker gpu = {.package = package};
    uint64_t frame = vm_demand_frame(vm, present ? &vm->memory->numa.program : &gpu, page, present);
    pthread_mutex_unlock(&vm->lock);
    if (frame)
        add_commit(vm, page,
                   frame | PTE_VALID | (writable ? PTE_WRITABLE : 0) | (spare ? PTE_SPARE : 0) |
                       (uint64_t)VM_MTYPE_CC << PTE_MTYPE_SHIFT);
    return cost;
}

static void batch(struct port_domain *domain, struct port_event *event);

static void wake(struct vm *vm, uint64_t at_ps)
{
    vm->awake = true;
    port_post(vm->host, port_cycle_of(vm->host, at_ps), batch, vm);
}

static uint64_t now_ps(const struct vm *vm)
{
    return port_now_ps(vm->host);
}

static void batch_done(struct port_domain *domain, struct port_event *event)
{
    struct vm *vm = event->self;
    for (struct vm_request *r = vm->serving, *next; r; r = next) {
        next = r->next;
        port_send(domain, r->domain, vm->delay_ps, r->done, r->self)->word[0] = r->word;
    }
    vm->serving = NULL;
    vm->served = true;
    vm->awake = false;
    if (vm->pending)
        wake(vm, now_ps(vm));
}

static void batch(struct port_domain *domain, struct port_event *event)
{
    struct vm *vm = event->self;
    uint64_t cost = vm->batch_ps;
    bool major = false;
    if (vm->served) { /* the last batch's entries are not in force yet: they are within this window */
        port_post(domain, port_now(domain) + 1, batch, vm);
        return;
    }
    vm->serving = vm->pending;
    vm->pending = NULL;
    vm->pending_end = &vm->pending;
    host_look(&vm->pages);
    for (const struct vm_request *r = vm->serving; r; r = r->next)
        cost += resolve(vm, r->package, r->address, r->store, &major);
    host_settle(&vm->pages);
    cost += major ? vm->major_batch_ps : 0;
    vm->use.batches++;
    port_post(domain, port_cycle_of(domain, now_ps(vm) + cost), batch_done, vm);
}

/* The handler looks at intervals when it has nothing to do. */
static void arrived(struct port_domain *domain, struct port_event *event)
{
    struct vm *vm = event->self;
    struct vm_request *r = (struct vm_request *)(uintptr_t)event->word[0];
    (void)domain;
    r->next = NULL;
    *vm->pending_end = r;
    vm->pending_end = &r->next;
    if (!vm->awake)
        wake(vm, (now_ps(vm) / vm->interval_ps + 1) * vm->interval_ps);
}

bool vm_fault(struct vm *vm, struct vm_request *r)
{
    if (!vm->memory->xnack || !vm->host)
        return false;
    port_send(r->domain, vm->host, vm->delay_ps, arrived, vm)->word[0] = (uint64_t)(uintptr_t)r;
    return true;
}

uint64_t vm_prefetch(struct vm *vm, unsigned package, uint64_t address, uint64_t bytes)
{
    uint64_t cost = 0;
    bool major = false;
    if (!vm->memory->xnack)
        return 0;
    host_look(&vm->pages);
    for (uint64_t page = address & ~(VM_PAGE - 1); page < address + bytes; page += VM_PAGE)
        cost += resolve(vm, package, page, false, &major);
    host_settle(&vm->pages);
    vm->served = vm->served || vm->commit_count;
    return cost;
}

/* ---- between windows ---- */

/* Pages of a table's last level that are not what the process has any more. */
static bool sync_leaf(struct vm *vm, struct table_node *leaf, uint64_t first)
{
    bool changed = false;
    for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
        uint64_t entry = atomic_load_explicit(&leaf->entry[i], memory_order_relaxed);
        uint64_t page = first + ((uint64_t)i << VM_PAGE_SHIFT);
        bool writable = false, spare;
        if (!entry || entry & PTE_PINNED)
            continue;
        bool present = host_present(&vm->pages, page);
        if (present && allowed(vm, page, &writable, &spare) && writable == ((entry & PTE_WRITABLE) != 0))
            continue;
        pthread_mutex_lock(&vm->lock);
        if (present)
            table_unmap(&vm->gpu, page, 1, NULL, NULL);
        else
            vm_demand_drop(vm, page);
        pthread_mutex_unlock(&vm->lock);
        changed = true;
    }
    return changed;
}

static bool forget_leaf(struct vm *vm, struct table_node *leaf, uint64_t first)
{
    bool changed = false;
    for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
        uint64_t entry = atomic_load_explicit(&leaf->entry[i], memory_order_relaxed);
        if (!entry || entry & PTE_PINNED)
            continue;
        table_unmap(&vm->gpu, first + ((uint64_t)i << VM_PAGE_SHIFT), 1, NULL, NULL);
        changed = true;
    }
    return changed;
}

typedef bool leaf_fn(struct vm *vm, struct table_node *leaf, uint64_t first);

/* Whether `visit` has changed one of the tables of the last level. */
static bool each_leaf(struct vm *vm, struct table_node *node, unsigned level, uint64_t first, leaf_fn *visit)
{
    bool changed = false;
    for (unsigned i = 0; i < TABLE_ENTRIES; i++) {
        uint64_t entry = atomic_load_explicit(&node->entry[i], memory_order_relaxed);
        uint64_t at = first + ((uint64_t)i << (VM_PAGE_SHIFT + level * TABLE_BITS));
        if (!entry || (level == 1 && entry & PTE_LARGE))
            continue;
        struct table_node *below = (struct table_node *)(uintptr_t)entry;
        changed |= level == 1 ? visit(vm, below, at) : each_leaf(vm, below, level - 1, at, visit);
    }
    return changed;
}

void vm_sync(struct vm *vm)
{
    vm->sync = vm->memory->xnack;
}

void vm_forked(struct vm *vm)
{
    pthread_mutex_lock(&vm->lock);
    if (each_leaf(vm, vm->gpu.root, TABLE_LEVELS - 1, 0, forget_leaf))
        atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    pthread_mutex_unlock(&vm->lock);
}

void vm_look(struct vm *vm)
{
    if (!vm->memory->xnack || !vm->use.demand)
        return;
    host_look(&vm->pages);
    if (each_leaf(vm, vm->gpu.root, TABLE_LEVELS - 1, 0, sync_leaf))
        atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
}

static __attribute__((noinline)) void commit(struct vm *vm)
{
    pthread_mutex_lock(&vm->lock);
    table_free_retired(&vm->gpu);
    table_free_retired(&vm->system);
    vm_core_commit(vm);
    bool replaced = false; /* TLBs may have what was there */
    for (size_t i = 0; vm->served && i < vm->commit_count; i++) {
        replaced |= table_get(&vm->gpu, vm->commits[i].address) != 0;
        vm_demand_map(vm, vm->commits[i].address, vm->commits[i].entry);
    }
    if (vm->served)
        vm->commit_count = 0;
    if (replaced)
        atomic_fetch_add_explicit(&vm->generation, 1, memory_order_release);
    vm->served = false;
    bool look = vm->sync;
    vm->sync = false;
    pthread_mutex_unlock(&vm->lock); /* what follows asks the memory, whose lock comes first */
    if (look)
        vm_look(vm);
}

/* Asked between any two windows: mostly there is nothing. */
void vm_commit(struct vm *vm)
{
    if (vm->served || vm->sync || vm->gpu.retired_count || vm->system.retired_count || vm->core_count)
        commit(vm);
}
