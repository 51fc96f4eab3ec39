/* SPDX-License-Identifier: MIT */
/*
 * Virtual memory in timing mode: physical frames, the system's page table and the
 * GPU's, and the driver that keeps them in step.
 *
 *   frames.c   physical memory
 *   table.c    a page table
 *   vm.c       what allocators put into the tables, walks
 *   host.c     the host program's own pages, as the kernel tells
 *   driver.c   page faults of the GPU, in batches
 *   core.c     the CPU's walks and page faults
 *
 * What is allocated up front is in the GPU's page table from the beginning:
 * hipMalloc memory in pieces as large as there are, pinned host memory in chunks.
 * Memory on demand (the process's own, and managed memory with XNACK) gets there
 * by page faults, which only happen with XNACK: then the system page table is
 * asked.  It has the frames of pages that exist; which these are, the host's
 * kernel knows (/proc/self/pagemap), so that a first touch by the host program is
 * seen.  What the program unmaps is taken from both tables when the next
 * dispatch begins, or when time goes on under a running one.
 *
 * Threads: walks from any, at any time.  Blocks come and go with the memory's
 * lock.  Page faults are handled in the host's domain, and what they change is
 * seen by walks after the window (vm_commit()), so that runs do not depend on
 * the host's threads.
 */
#ifndef EHP_VM_VM_H
#define EHP_VM_VM_H

#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"

struct chip;
struct fabric;
struct memory;
struct numa_asker;

enum { VM_PAGE_SHIFT = 12 };

/*
 * How L2 caches may hold a page.  Source: LLVM AMDGPUUsage, Memory Model GFX942.
 *
 * RW: hipMalloc memory and code.  CC: memory that the host uses at the same
 * time; atomics are executed at the home, where it sees them.  NC: not kept
 * coherent by probes.  UC: never cached.
 */
enum vm_mtype { VM_MTYPE_RW, VM_MTYPE_NC, VM_MTYPE_CC, VM_MTYPE_UC };

struct vm_entry {
    uint64_t base;             /* first virtual address of the fragment; not aligned to its size */
    uint64_t bytes;            /* of the fragment, at least a page */
    uint64_t physical;         /* of its first address; above the bytes of a package, which package */
    uint64_t line, line_bytes; /* first virtual address of what the entries beside it in its line cover */
    uint64_t line_key;         /* the line's, and the same on every run, as virtual addresses are not */
    uint64_t table;            /* physical address of that line of entries, which a walk reads */
    uint8_t mtype;             /* enum vm_mtype */
    bool writable;
    bool spare; /* beyond a buffer, and mapped all the same */
};

struct vm;
/* NULL when memory is short.  From now on it follows what is allocated in `memory`. */
struct vm *vm_open(const struct chip *chip, struct memory *memory);
void vm_close(struct vm *vm);

/* Bits of a physical address below the package's number: as a chip has them. */
unsigned vm_package_shift(const struct chip *chip);

/*
 * The GPU's page table, as a package's GPU sees it, for which memory of other packages is NC if it is cached
 * at all (Linux, amdgpu, gmc_v9_0.c).  False when nothing is mapped there; `table` is then where a walk ends.
 */
bool vm_walk(struct vm *vm, unsigned package, uint64_t address, struct vm_entry *out);

/*
 * For an SDMA engine, in the host's domain.  With XNACK it reaches all of the process's memory: as vm_walk(),
 * or the page's frame, which it gets if it has none.
 */
bool vm_find(struct vm *vm, unsigned package, uint64_t address, struct vm_entry *out);
/*
 * More frames of a package, as a CPU's first touch gets them, for memory that the GPU does not know; their
 * first byte, and how many follow.  Nobody gives them back.  False: there are none.
 */
bool vm_take(struct vm *vm, unsigned package, uint64_t *physical, uint64_t *bytes);

/*
 * For a CPU core, from any domain: where an address is, and the entry of a page table that a walk reads last.
 * Pages are small for it.  False: the page does not exist yet.
 */
bool vm_core_walk(const struct vm *vm, uint64_t address, uint64_t *page, uint64_t *entry);
/* The page alone. */
bool vm_core_find(const struct vm *vm, uint64_t address, uint64_t *page);

/* A core's page fault; the core's, until the kernel has handled it: an event of `done` with word[0] the
 * fault. */
struct vm_core_fault {
    uint64_t address;
    struct numa_asker *asker; /* of whom the core is */
    bool again;               /* it has just had another */
    struct port_domain *domain;
    port_fn *done;
    void *self;
};
void vm_core_fault(struct vm *vm, struct vm_core_fault *fault);

/* Changes when entries were removed: TLBs compare it. */
uint64_t vm_generation(const struct vm *vm);
const _Atomic uint64_t *vm_generation_word(const struct vm *vm); /* where that is */

/* ---- page faults ---- */

/* A translation that waits for its page; the asker's, until it is told. */
struct vm_request {
    struct vm_request *next;
    uint64_t address;
    bool store;
    uint8_t package;            /* the asker's, whose memory a page gets that has none */
    struct port_domain *domain; /* who asks, and the event that tells it: word[0] = word */
    port_fn *done;
    void *self;
    uint64_t word;
};

/* The driver's domain; events between domains take `delay_ps` at least; a package's fabric. */
void vm_start(struct vm *vm, struct port_domain *host, uint64_t delay_ps, const struct fabric *fabric);

/*
 * From the asker's domain: the GPU's page table has no entry, or one that forbids
 * the store.  False: faults are not replayed (no XNACK).  Else `done` happens when
 * the driver has looked after it, and a walk then tells whether there is an entry.
 */
bool vm_fault(struct vm *vm, struct vm_request *request);

/* Between windows: entries that the driver has made come into force. */
void vm_commit(struct vm *vm);
/* Between windows: entries of pages that the program has unmapped, discarded or protected go. */
void vm_look(struct vm *vm);
/* In the host's domain, when a dispatch begins: so after this window. */
void vm_sync(struct vm *vm);

/*
 * In the host's domain: pages on demand of a range enter the GPU's page table
 * before it asks for them.  Returns how long the driver is at it, in picoseconds.
 */
uint64_t vm_prefetch(struct vm *vm, unsigned package, uint64_t address, uint64_t bytes);

/* The process has forked: its pages are both processes' until written to, and the GPU's entries for them go.
 */
void vm_forked(struct vm *vm);

struct vm_use {
    uint64_t demand;       /* frames that were taken on demand, in bytes */
    uint64_t major, minor; /* page faults of the GPU */
    uint64_t cpu_faults, batches;
};
void vm_get_use(struct vm *vm, struct vm_use *use);

/*
 * The host program touches pages, with a core of a package's CPU: they then
 * exist, and have frames.  Returns how many of them did not.
 */
uint64_t vm_touch(struct vm *vm, unsigned package, uint64_t address, uint64_t bytes);
/* It has given up those that lie whole in this: what comes there later faults. */
void vm_unmapped(struct vm *vm, uint64_t address, uint64_t bytes);
/* Pages are elsewhere now: those that exist do there too, in other frames (a chunk's are for neighbours). */
void vm_moved(struct vm *vm, uint64_t from, uint64_t to, uint64_t bytes);

#endif
