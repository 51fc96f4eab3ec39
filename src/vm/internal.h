/* SPDX-License-Identifier: MIT */
/* Shared by the files of this room; see vm.h. */
#ifndef EHP_VM_INTERNAL_H
#define EHP_VM_INTERNAL_H

#include <pthread.h>

#include "ehp/ehp.h"
#include "alloc/memory.h"
#include "alloc/numa.h"
#include "vm/frames.h"
#include "vm/table.h"
#include "vm/vm.h"

#define VM_PAGE ((uint64_t)1 << VM_PAGE_SHIFT)

/* A mapping of the process, as /proc/self/maps has it. */
struct mapping {
    uint64_t start, end;
    bool readable, writable;
};

/* What the kernel said of so many pages. */
enum { HOST_WINDOW = 64, HOST_WINDOWS = 1024, HOST_PENDING = 4096 };
struct host_window {
    uint64_t looks, number; /* struct host_pages.looks when it was read; its first page by HOST_WINDOW */
    uint64_t entry[HOST_WINDOW];
};

/* The kernel's answers about the process's own pages. */
struct host_pages {
    int pagemap; /* -1: the kernel does not tell */
    struct mapping *mappings;
    size_t count, capacity;
    uint64_t looks;
    struct host_window *window;
    uint64_t *pending; /* pages to come */
    size_t pending_count;
};

/* Pages of the process are touched one by one, the same ones on every run: none that it has not asked for is
 * larger. */
void host_small_pages(void);
bool host_open(struct host_pages *h);
void host_close(struct host_pages *h);
/* Reads the process's map again; forgets which pages exist. */
bool host_look(struct host_pages *h);
const struct mapping *host_find(const struct host_pages *h, uint64_t address);
/* Whether the process has this page: somebody has touched it. */
bool host_present(struct host_pages *h, uint64_t address);
/* Makes it exist, as far as its mapping allows: at the latest in host_settle(), which host_close() calls. */
void host_populate(struct host_pages *h, uint64_t address);
void host_settle(struct host_pages *h);

enum { COMMIT_SLOTS = 1 << 16 };

struct vm_commit {
    uint64_t address, entry;
};

struct vm {
    struct memory *memory;
    unsigned host_order;
    unsigned demand_order[2]; /* touched first by the GPU, by a CPU */
    double bias;              /* of the latter's frames: what stacks from touch_stacks on do not get */
    unsigned touch_stacks;
    unsigned line_pages; /* whose entries a walk reads at once */
    uint64_t random;
    const struct fabric *fabric;
    pthread_mutex_t lock;              /* tables' writers, frames */
    struct frames frames[HEAP_PLACES]; /* memory_place() */
    unsigned turn;                     /* the domain that memory of nobody's comes from next */
    unsigned package_shift;
    uint64_t tables; /* physical address of page tables in their package */
    struct table gpu, system;
    _Atomic uint64_t generation;
    _Atomic bool spare_walked; /* TLBs may have pages that nobody had */
    struct vm_use use;

    /* The driver's, in the host's domain. */
    struct host_pages pages;
    struct port_domain *host;
    uint64_t delay_ps, interval_ps, batch_ps, minor_ps, major_ps, major_batch_ps;
    struct vm_request *pending, **pending_end;
    struct vm_request *serving;
    bool awake; /* a batch is waited for or in progress */
    struct vm_commit *commits;
    size_t commit_count, commit_capacity;
    uint32_t *commit_of; /* by the last bits of the page's number: which of them it may be */
    bool served, sync;   /* for vm_commit() */

    /* The kernel's, for CPU cores, in the host's domain: when its lock is free, pages that walks are to see.
     */
    uint64_t core_fault_ps, core_page_ps, core_serial_ps, core_free_ps;
    uint64_t *core_pages;
    size_t core_count, core_capacity;
};

static inline uint64_t package_base(const struct vm *vm, unsigned package)
{
    return (uint64_t)package << vm->package_shift;
}

static inline unsigned package_of(const struct vm *vm, uint64_t physical)
{
    const uint64_t package = (physical & PTE_FRAME) >> vm->package_shift;
    return package < vm->memory->packages ? (unsigned)package
                                          : vm->memory->packages; /* a host, which may have
                                                                     more than a package */
}

/* With the lock: the frame of a page on demand, which gets one if it has none, as who touches it first wants.
 * 0: memory is full. */
uint64_t vm_demand_frame(struct vm *vm, struct numa_asker *asker, uint64_t page_address, bool cpu_first);
/* With the lock: cores' walks find the page; and the same between windows, for those of faults. */
void vm_core_see(struct vm *vm, uint64_t page_address);
void vm_core_commit(struct vm *vm);
/* With the lock: the page is gone from the process. */
void vm_demand_drop(struct vm *vm, uint64_t page_address);
/* With the lock: an entry of the GPU's table for a page on demand; neighbours become one fragment. */
void vm_demand_map(struct vm *vm, uint64_t page_address, uint64_t entry);

#endif
