/* SPDX-License-Identifier: MIT */
/* CCDs with a page table of the test's own, and cores that execute lists of operations. */
#ifndef TESTS_CCD_RIG_H
#define TESTS_CCD_RIG_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ccd/ccd.h"
#include "ccd/internal.h"
#include "check.h"
#include "chip/chip.h"
#include "fabric/fabric.h"
#include "vm/vm.h"
#include "wave/fault.h"

enum { BYTES = 64 << 20, MOST = 4096, PAGE = 4096, LINE = 64 };

/* The test's own page table: one arena, contiguous; faults take so long. */
struct vm {
    uint64_t base;
    bool missing; /* pages do not exist until they have faulted */
    uint8_t exists[BYTES / PAGE];
    unsigned faults;
};

bool vm_core_walk(const struct vm *vm, uint64_t address, uint64_t *page, uint64_t *entry)
{
    uint64_t offset = address - vm->base;
    if (vm->missing && !vm->exists[offset / PAGE])
        return false;
    *page = (UINT64_C(1) << 30) + (offset & ~(uint64_t)(PAGE - 1));
    *entry = (UINT64_C(1) << 36) + offset / PAGE * 8;
    return true;
}

bool vm_core_find(const struct vm *vm, uint64_t address, uint64_t *page)
{
    uint64_t entry;
    return vm_core_walk(vm, address, page, &entry);
}

void vm_core_fault(struct vm *vm, struct vm_core_fault *fault)
{
    vm->exists[(fault->address - vm->base) / PAGE] = 1;
    vm->faults++;
    port_post(fault->domain, port_now(fault->domain) + 1000, fault->done, fault->self)->word[0] =
        (uint64_t)(uintptr_t)fault;
}

const _Atomic uint64_t *vm_generation_word(const struct vm *vm)
{
    static const _Atomic uint64_t always;
    (void)vm;
    return &always;
}

struct rig {
    struct chip chip;
    struct port *port;
    struct fabric *fabric;
    struct ccds *ccds;
    struct vm vm;
    uint8_t *arena;
    double ghz;
    unsigned first, ccd_count; /* domains of CCDs */
};

/* `small`: caches that soon push lines out, and slices of 3750 cycles, with 370 between two. */
static inline void rig_open_with(struct rig *rig, unsigned threads, bool small)
{
    char error[256];
    memset(rig, 0, sizeof(*rig));
    fault_install();
    if (chip_load("mi300a", &rig->chip, error, sizeof(error)) != 0) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    if (small) {
        rig->chip.value[CHIP_core_l1] = 4 << 10;
        rig->chip.value[CHIP_core_l2] = 8 << 10;
        rig->chip.value[CHIP_ccd_l3] = 32 << 10;
        rig->chip.value[CHIP_core_slice] = 3750 / 3.7e3;
        rig->chip.value[CHIP_core_switch] = 0.1;
    }
    unsigned iods = chip_get(&rig->chip, CHIP_iod_count), ccds = chip_get(&rig->chip, CHIP_ccd_count);
    rig->arena =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    rig->vm.base = (uint64_t)(uintptr_t)rig->arena;
    rig->port = port_open(iods + ccds + 1, fabric_lookahead_ps(&rig->chip), threads, NULL);
    rig->fabric = fabric_open(&rig->chip, rig->port, 0, 1);
    rig->ccds = ccds_open(&rig->chip, rig->port, iods, rig->fabric, &rig->vm);
    rig->first = iods;
    rig->ccd_count = ccds;
    rig->ghz = rig->chip.value[CHIP_core_clock] / 1e3;
    port_set_clock(port_domain(rig->port, iods + ccds), rig->chip.value[CHIP_chip_clock]);
}

static inline void rig_open(struct rig *rig, unsigned threads)
{
    rig_open_with(rig, threads, false);
}

static inline void rig_close(struct rig *rig)
{
    ccds_close(rig->ccds);
    fabric_close(rig->fabric);
    port_close(rig->port);
    munmap(rig->arena, BYTES);
    chip_free(&rig->chip);
}

/* A core's program: operations, and when they had all been done. */
struct list {
    struct core_program program; /* first */
    struct core_op op[MOST];
    unsigned n, at;
    struct port_domain *domain;
    uint64_t asked_ps, ended_ps; /* asked: for what comes after the last */
};

static inline bool next(struct core_program *program, struct core_op *op)
{
    struct list *l = (struct list *)program;
    if (l->at == l->n) {
        l->asked_ps = port_now_ps(l->domain);
        return false;
    }
    *op = l->op[l->at++];
    return true;
}

static inline void ended(struct core_program *program, uint64_t ps)
{
    ((struct list *)program)->ended_ps = ps;
}

static inline struct list *new_list(void)
{
    struct list *l = calloc(1, sizeof(*l));
    if (!l)
        exit(1);
    l->program.next = next;
    l->program.ended = ended;
    return l;
}

static inline void add(struct list *l, const struct rig *rig, enum core_op_kind kind, uint64_t offset,
                       unsigned after)
{
    l->op[l->n++] = (struct core_op){
        .address = rig->vm.base + offset, .kind = (uint8_t)kind, .after = (uint8_t)after, .instructions = 1};
}

static inline void add_past(struct list *l, const struct rig *rig, uint64_t offset, unsigned bytes)
{
    add(l, rig, CORE_STORE_PAST, offset, 0);
    l->op[l->n - 1].bytes = (uint8_t)bytes;
}

/* Begun at once; cycles until all of them were done. */
static inline double run(struct rig *rig, struct list *const *list, unsigned cores)
{
    uint64_t start = port_time_ps(rig->port), last = 0;
    for (unsigned i = 0; i < cores; i++)
        if (list[i]) {
            list[i]->domain = port_domain(rig->port, rig->first + i % rig->ccd_count);
            ccds_begin(rig->ccds, i, &list[i]->program, start);
        }
    port_run(rig->port, PORT_NEVER, NULL, NULL);
    for (unsigned i = 0; i < cores; i++) {
        if (list[i] && list[i]->ended_ps > last)
            last = list[i]->ended_ps;
        if (list[i])
            CHECK_EQ(list[i]->at, list[i]->n);
    }
    return (double)(last - start) / 1e3 * rig->ghz;
}

static inline double run_one(struct rig *rig, struct list *l)
{
    double cycles = run(rig, &l, 1);
    free(l);
    return cycles;
}

static inline double key(const struct rig *rig, enum chip_key k)
{
    return rig->chip.value[k];
}

static inline double misses_of(const struct rig *rig)
{
    struct core_counters c;
    ccds_read_counters(rig->ccds, 0, &c);
    return (double)c.l3_misses;
}

#endif
