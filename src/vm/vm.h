/* SPDX-License-Identifier: MIT */
/*
 * The GPU's page table in timing mode: for each page of the process that the
 * GPU has used, a simulated physical frame, how far its PTE fragment reaches,
 * and how caches may treat it.
 *
 * Nothing is kept that memory.h knows: an entry is a function of the allocation
 * that the page belongs to.  hipMalloc memory is contiguous, in large
 * fragments; what the host's kernel hands out is scattered in small ones.  Pages
 * that no allocation covers are the process's own, and are looked for in its
 * map of memory.
 *
 * Threads: every function may be called from any; walks take a lock.  The frames
 * are the same on every run, whatever the order of walks.
 */
#ifndef EHP_VM_VM_H
#define EHP_VM_VM_H

#include <stdbool.h>
#include <stdint.h>

struct memory;
struct chip;

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
    uint64_t base;     /* first virtual address of the fragment; not aligned to its size */
    uint64_t bytes;    /* of the fragment, at least a page */
    uint64_t physical; /* of its first address */
    uint8_t mtype;     /* enum vm_mtype */
    bool writable;
};

struct vm;
/* NULL when memory is short. */
struct vm *vm_open(const struct chip *chip, struct memory *memory);
void vm_close(struct vm *vm);

/* False when nothing is mapped there. */
bool vm_walk(struct vm *vm, uint64_t address, struct vm_entry *out);

/* Changes when something was freed or registered: TLBs compare it. */
uint64_t vm_generation(const struct vm *vm);

#endif
