/* SPDX-License-Identifier: MIT */
/* Some XCDs' hierarchies on the fabric, and accesses of one lane or sixty-four. */
#ifndef EHP_TESTS_MEM_HIERARCHIES_H
#define EHP_TESTS_MEM_HIERARCHIES_H

#include <stdlib.h>
#include <sys/mman.h>

#include "check.h"
#include "wave/fault.h"
#include "fabric/fabric.h"
#include "mem/mem.h"
#include "chip/chip.h"
#include "vm/vm.h"

enum { RIG_XCDS = 6, ARENA = 64 << 20 };

/* The test's own page table: one arena, contiguous from physical address 0. */
struct vm {
    uint8_t *arena;
    uint64_t bytes, fragment;
    uint8_t mtype;
    bool read_only;
    uint64_t generation;
    _Atomic uint64_t walks;
};

struct rig {
    struct chip chip;
    struct port *port;
    struct fabric *fabric;
    struct vm vm;
    struct port_domain *domain[RIG_XCDS];
    struct xcd_mem *mem[RIG_XCDS];
    uint8_t *arena;
};

/* An access with what the test wants to know of it. */
struct shot {
    struct mem_access a; /* first */
    struct rig *rig;
    unsigned xcd;
    uint64_t submitted, completed;
    unsigned order;
};

bool vm_walk(struct vm *vm, unsigned package, uint64_t address, struct vm_entry *out)
{
    (void)package;
    uint64_t offset = address - (uint64_t)(uintptr_t)vm->arena;
    vm->walks++;
    if (offset >= vm->bytes) {
        *out = (struct vm_entry){.table = UINT64_C(1) << 36};
        return false;
    }
    uint64_t start = offset & ~(vm->fragment - 1);
    uint64_t line_bytes = vm->fragment < 32768 ? 32768 : vm->fragment, line = offset & ~(line_bytes - 1);
    *out = (struct vm_entry){.base = (uint64_t)(uintptr_t)vm->arena + start,
                             .bytes = vm->fragment,
                             .physical = start,
                             .line = (uint64_t)(uintptr_t)vm->arena + line,
                             .line_bytes = line_bytes,
                             .line_key = line / line_bytes,
                             .table = (UINT64_C(1) << 36) + line / line_bytes * 64,
                             .mtype = vm->mtype,
                             .writable = !vm->read_only};
    return true;
}

/* Without XNACK. */
bool vm_fault(struct vm *vm, struct vm_request *request)
{
    (void)vm;
    (void)request;
    return false;
}

uint64_t vm_generation(const struct vm *vm)
{
    return vm->generation;
}

static inline void rig_open(struct rig *rig, bool several_l2s, unsigned threads)
{
    char error[256];
    memset(rig, 0, sizeof(*rig));
    if (chip_load("mi300a", &rig->chip, error, sizeof(error)) != 0) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    CHECK(xcd_mem_check(&rig->chip, error, sizeof(error)));
    unsigned iods = chip_get(&rig->chip, CHIP_iod_count);
    rig->port = port_open(RIG_XCDS + iods, fabric_lookahead_ps(&rig->chip), threads, NULL);
    rig->fabric = fabric_open(&rig->chip, rig->port, RIG_XCDS, 1);
    rig->arena =
        mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    rig->vm = (struct vm){.arena = rig->arena, .bytes = ARENA, .fragment = 2 << 20};
    for (unsigned x = 0; x < RIG_XCDS; x++) {
        rig->domain[x] = port_domain(rig->port, x);
        port_set_clock(rig->domain[x], rig->chip.value[CHIP_chip_clock]);
        rig->mem[x] = xcd_mem_open(&rig->chip, x, several_l2s, rig->domain[x], rig->fabric, &rig->vm);
    }
}

static inline void rig_close(struct rig *rig)
{
    for (unsigned x = 0; x < RIG_XCDS; x++)
        xcd_mem_close(rig->mem[x]);
    fabric_close(rig->fabric);
    port_close(rig->port);
    munmap(rig->arena, ARENA);
    chip_free(&rig->chip);
}

static inline void shot_done(struct mem_access *a)
{
    struct shot *s = (struct shot *)a;
    s->completed = port_now(s->rig->domain[s->xcd]);
}

static inline void shot_submit(struct port_domain *domain, struct port_event *event)
{
    struct shot *s = event->self;
    s->submitted = port_now(domain);
    s->a.in_row = s->a.kind < ACCESS_SLOAD && mem_access_in_row(&s->a, s->a.addr);
    xcd_mem_submit(s->rig->mem[s->xcd], &s->a);
}

static inline struct shot shot(struct rig *rig, unsigned xcd, unsigned cu, enum mem_access_kind kind,
                               uint64_t offset, unsigned bytes)
{
    struct shot s = {.rig = rig, .xcd = xcd};
    s.a.kind = kind;
    s.a.cu = (uint16_t)cu;
    s.a.bytes = (uint8_t)bytes;
    s.a.stride = ACCESS_LANE_BYTES;
    s.a.lanes = 1;
    s.a.addr[0] = (uint64_t)(uintptr_t)rig->arena + offset;
    s.a.done = shot_done;
    return s;
}

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* In so many cycles from where the XCD is. */
static inline void start(struct shot *s, uint64_t delay)
{
    struct port_domain *d = s->rig->domain[s->xcd];
    uint64_t now = port_cycle_of(d, port_time_ps(s->rig->port));
    s->completed = 0;
    port_post(d, now + delay, shot_submit, s);
}

static inline void run_all(struct rig *rig)
{
    port_run(rig->port, PORT_NEVER, NULL, NULL);
}

/* Cycles that it took. */
static inline uint64_t run(struct shot *s)
{
    start(s, 1);
    run_all(s->rig);
    CHECK(s->completed != 0);
    return s->completed - s->submitted;
}

static inline uint32_t get(struct shot *s)
{
    uint32_t v;
    run(s);
    memcpy(&v, s->a.data, 4);
    return v;
}

static inline uint32_t load32(struct rig *rig, unsigned xcd, unsigned cu, uint64_t offset,
                              enum isa_scope scope)
{
    struct shot s = shot(rig, xcd, cu, ACCESS_LOAD, offset, 4);
    s.a.policy.scope = (uint8_t)scope;
    return get(&s);
}

static inline void store32(struct rig *rig, unsigned xcd, unsigned cu, uint64_t offset, uint32_t v,
                           enum isa_scope scope)
{
    struct shot s = shot(rig, xcd, cu, ACCESS_STORE, offset, 4);
    s.a.policy.scope = (uint8_t)scope;
    memcpy(s.a.data, &v, 4);
    run(&s);
}

static inline void fence(struct rig *rig, unsigned xcd, unsigned cu, enum mem_access_kind kind,
                         enum isa_scope scope)
{
    struct shot s = shot(rig, xcd, cu, kind, 0, 4);
    s.a.policy.scope = (uint8_t)scope;
    s.a.lanes = 0;
    run(&s);
}

static inline uint32_t memory32(const struct rig *rig, uint64_t offset)
{
    uint32_t v;
    memcpy(&v, rig->arena + offset, 4);
    return v;
}

static inline struct mem_counters counters(const struct rig *rig, unsigned xcd)
{
    struct mem_counters c;
    xcd_mem_read_counters(rig->mem[xcd], &c);
    return c;
}

/* A whole wave's, each lane so many bytes after the one before. */
static inline void spread_lanes(struct shot *s, uint64_t first, unsigned stride)
{
    s->a.lanes = ~UINT64_C(0);
    for (unsigned i = 0; i < 64; i++)
        s->a.addr[i] = (uint64_t)(uintptr_t)s->rig->arena + first + (uint64_t)i * stride;
}

/* fetch-and-add on 32 bits. */
static inline void add32(struct mem_access *a, unsigned lane, uint8_t *place)
{
    uint32_t old, operand;
    memcpy(&old, place, 4);
    memcpy(&operand, a->data + lane * ACCESS_LANE_BYTES, 4);
    memcpy(a->data + lane * ACCESS_LANE_BYTES, &old, 4);
    old += operand;
    memcpy(place, &old, 4);
}

static inline struct shot adder(struct rig *rig, unsigned xcd, unsigned cu, uint64_t offset, uint32_t v,
                                enum isa_scope scope)
{
    struct shot s = shot(rig, xcd, cu, ACCESS_ATOMIC, offset, 4);
    s.a.atomic = add32;
    s.a.returns = true;
    s.a.policy.scope = (uint8_t)scope;
    memcpy(s.a.data, &v, 4);
    return s;
}

#endif
