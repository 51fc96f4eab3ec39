/* SPDX-License-Identifier: MIT */
/* Frames and fragments of pages; see vm.h. */
#include "vm/vm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ehp/ehp.h"
#include "soc/chip.h"
#include "soc/memory.h"

enum { PAGE = 1 << VM_PAGE_SHIFT, MAP_LINE = 1024 };

/* A mapping of the process, as /proc/self/maps has it. */
struct mapping {
    uint64_t start, end;
    uint64_t physical;
    bool readable, writable;
};

struct vm {
    struct memory *memory;
    uint64_t device_fragment, host_fragment, malloc_fragment;
    uint64_t next_mapping; /* in the quarter of physical memory for the process's own */
    pthread_mutex_t lock;
    struct mapping *mappings; /* sorted; read again when an address is in none */
    size_t count, capacity;
};

struct vm *vm_open(const struct chip *chip, struct memory *memory)
{
    struct vm *vm = calloc(1, sizeof(*vm));
    if (!vm)
        return NULL;
    vm->memory = memory;
    vm->device_fragment = (uint64_t)chip->value[CHIP_vm_device_fragment];
    vm->host_fragment = (uint64_t)chip->value[CHIP_vm_host_fragment];
    vm->malloc_fragment = (uint64_t)chip->value[CHIP_vm_malloc_fragment];
    pthread_mutex_init(&vm->lock, NULL);
    return vm;
}

void vm_close(struct vm *vm)
{
    if (!vm)
        return;
    pthread_mutex_destroy(&vm->lock);
    free(vm->mappings);
    free(vm);
}

/* The fragment around address `p` of something at first .. end: a power of two, aligned, whole inside. */
static uint64_t fragment_of(uint64_t p, uint64_t first, uint64_t end, uint64_t most, uint64_t *bytes)
{
    uint64_t size = most;
    while (size > PAGE && ((p & ~(size - 1)) < first || (p & ~(size - 1)) + size > end))
        size /= 2;
    *bytes = size;
    return p & ~(size - 1);
}

/*
 * Where granule after granule of a quarter of physical memory lies: a permutation,
 * so that no two share frames.
 */
static uint64_t scatter(const struct vm *vm, uint64_t quarter, uint64_t offset, uint64_t granule)
{
    uint64_t count = vm->memory->physical[1] / granule, i = (offset / granule) & (count - 1);
    for (unsigned round = 0; round < 2; round++) {
        i = (i * UINT64_C(0x9e3779b97f4a7c15)) & (count - 1);
        i ^= i >> 7;
    }
    return quarter + i * granule + offset % granule;
}

/*
 * Addresses differ from run to run, so frames come from the order of mappings,
 * which does not: those found first, from the lowest address up, come first.  A
 * mapping that was there before keeps its frames.
 */
static bool read_mappings(struct vm *vm)
{
    FILE *file = fopen("/proc/self/maps", "re");
    if (!file)
        return false;
    struct mapping *old = vm->mappings;
    size_t olds = vm->count, next_old = 0;
    vm->mappings = NULL;
    vm->count = vm->capacity = 0;
    char line[MAP_LINE];
    bool ok = true;
    while (ok && fgets(line, sizeof(line), file)) {
        unsigned long long start, end;
        char flags[8];
        if (sscanf(line, "%llx-%llx %7s", &start, &end, flags) < 3)
            continue;
        if (vm->count == vm->capacity) {
            size_t capacity = vm->capacity ? vm->capacity * 2 : 256;
            struct mapping *mappings = realloc(vm->mappings, capacity * sizeof(*mappings));
            ok = mappings != NULL;
            if (!ok)
                break;
            vm->mappings = mappings;
            vm->capacity = capacity;
        }
        struct mapping m = {
            .start = start, .end = end, .readable = flags[0] == 'r', .writable = flags[1] == 'w'};
        while (next_old < olds && old[next_old].end <= start)
            next_old++;
        if (next_old < olds && old[next_old].start < end && old[next_old].readable) {
            /* It may have grown, either way. */
            m.physical = old[next_old].physical + (start - old[next_old].start);
        } else if (m.readable) {
            m.physical = vm->next_mapping;
            vm->next_mapping += (end - start + vm->malloc_fragment - 1) & ~(vm->malloc_fragment - 1);
        }
        vm->mappings[vm->count++] = m;
    }
    free(old);
    fclose(file);
    return ok;
}

static const struct mapping *find_mapping(const struct vm *vm, uint64_t address)
{
    size_t low = 0, high = vm->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (vm->mappings[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < vm->count && vm->mappings[low].start <= address ? &vm->mappings[low] : NULL;
}

/* The process's own memory. */
static bool walk_mapping(struct vm *vm, uint64_t address, struct vm_entry *out)
{
    pthread_mutex_lock(&vm->lock);
    const struct mapping *m = find_mapping(vm, address);
    if ((!m || !m->readable || !m->writable) && read_mappings(vm)) /* it may have changed */
        m = find_mapping(vm, address);
    bool found = m && m->readable;
    if (found) {
        uint64_t p = m->physical + (address - m->start), bytes;
        uint64_t start =
            fragment_of(p, m->physical, m->physical + (m->end - m->start), vm->malloc_fragment, &bytes);
        *out = (struct vm_entry){
            .base = address - (p - start),
            .bytes = bytes,
            .physical = scatter(vm, 3 * vm->memory->physical[1], start, vm->malloc_fragment),
            .mtype = VM_MTYPE_CC,
            .writable = m->writable,
        };
    }
    pthread_mutex_unlock(&vm->lock);
    return found;
}

bool vm_walk(struct vm *vm, uint64_t address, struct vm_entry *out)
{
    struct memory_block block;
    bool inside;
    if (!memory_find(vm->memory, address, &block, &inside) || (!inside && block.base > address))
        return walk_mapping(vm, address, out);
    uint64_t base = block.base & ~(uint64_t)(PAGE - 1), physical = block.physical & ~(uint64_t)(PAGE - 1);
    uint64_t bytes = ((block.base + block.bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1)) - base;
    if (address - base >= bytes) /* the rest of a block's last page belongs to it */
        return walk_mapping(vm, address, out);
    bool device = memory_is_device(block.kind);
    uint64_t most = device ? vm->device_fragment : vm->host_fragment;
    if (block.kind == EHP_MEM_REGISTERED && vm->malloc_fragment < most)
        most = vm->malloc_fragment;
    uint64_t p = physical + (address - base), size,
             start = fragment_of(p, physical, physical + bytes, most, &size);
    *out = (struct vm_entry){
        .base = address - (p - start),
        .bytes = size,
        .physical = device ? start : scatter(vm, vm->memory->physical[0], start, vm->host_fragment),
        .mtype = device ? VM_MTYPE_RW : VM_MTYPE_CC,
        .writable = true,
    };
    return true;
}

uint64_t vm_generation(const struct vm *vm)
{
    return atomic_load_explicit(&vm->memory->changes, memory_order_acquire);
}
