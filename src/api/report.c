/* SPDX-License-Identifier: MIT */
/* The report of a fault: what a person needs to find it. */
#include "api/api.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "wave/aperture.h"
#include "wave/fault.h"
#include "isa/isa.h"
#include "alloc/site.h"

static void add(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}

static const char *kind_text(int kind)
{
    switch (kind) {
    case EHP_FAULT_MEMORY:
        return "memory access fault";
    case EHP_FAULT_MISALIGNED:
        return "misaligned access";
    case EHP_FAULT_SCRATCH_RANGE:
        return "access beyond scratch (stack overflow?)";
    case EHP_FAULT_ILLEGAL_INSTRUCTION:
        return "illegal instruction";
    case EHP_FAULT_UNIMPLEMENTED:
        return "instruction that is not implemented";
    case EHP_FAULT_TRAP:
        return "trap (abort, assert or __builtin_trap)";
    case EHP_FAULT_TIMEOUT:
        return "kernel still running when its time was over";
    case EHP_FAULT_RESOURCES:
        return "not enough resources";
    case EHP_FAULT_EXCEPTION:
        return "float exception";
    case EHP_FAULT_NO_MEMORY:
        return "no memory";
    default:
        return "fault";
    }
}

/* By bits of TRAPSTS. */
static const char *exception_text(int bit)
{
    static const char *const names[] = {
        "invalid operation", "denormal source", "division by zero",        "overflow",
        "underflow",         "inexact result",  "integer division by zero"};
    return bit >= 0 && bit < 7 ? names[bit] : "unknown";
}

/* Whether this is a page of the process that can be read: asked of the kernel, so that nothing can fault. */
static bool host_can_read(uint64_t address)
{
    char byte;
    struct iovec to = {&byte, 1}, from = {(void *)(uintptr_t)address, 1};
    return address < APERTURE_HOST_LIMIT && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

/* Addresses below are an offset from NULL; an allocation farther away has nothing to do with the fault. */
static const uint64_t NULL_PAGES = 65536, NEAR = UINT64_C(1) << 32;

static void add_where(char *text, size_t bytes, uint64_t address, const struct memory_block *block,
                      bool freed)
{
    char where[64], what[512], room[512];
    uint64_t end = block->base + block->bytes;
    if (address < block->base)
        snprintf(where, sizeof(where), "%#llx bytes before", (unsigned long long)(block->base - address));
    else if (address >= end)
        snprintf(where, sizeof(where), "%#llx bytes past the end of", (unsigned long long)(address - end));
    else
        snprintf(where, sizeof(where), "%#llx bytes into", (unsigned long long)(address - block->base));
    site_print_block(block, freed, what, sizeof(what));
    add(text, bytes, "\n  %s %s", where, ehp_printable(what, room, sizeof(room)));
}

/* Memory of the host program, that exists and that the GPU may not access. */
static bool add_host_memory(struct cp *cp, char *text, size_t bytes, const struct ehp_fault *f)
{
    if (cp->memory->xnack || !f->kernel || f->address - cp->memory->arena < cp->memory->arena_bytes ||
        !host_can_read(f->address))
        return false;
    add(text, bytes,
        "\n  host memory that the GPU may not access: XNACK is off. Register it (hipHostRegister), allocate "
        "it "
        "with hipMalloc, hipHostMalloc or hipMallocManaged, or run with HSA_XNACK=1");
    return true;
}

enum { BEYOND = 16 }; /* bytes of an access, at most */

static void add_memory(struct cp *cp, char *text, size_t bytes, struct ehp_fault *f)
{
    struct memory_block block, freed;
    bool inside, near = memory_find(cp->memory, f->address, &block, &inside);
    if (near)
        f->nearest = (struct ehp_allocation){.size = sizeof(f->nearest),
                                             .base = (void *)(uintptr_t)block.base,
                                             .bytes = block.bytes,
                                             .kind = block.kind,
                                             .agent = block.agent,
                                             .serial = block.serial,
                                             .user = block.user};
    if (f->address < NULL_PAGES) {
        add(text, bytes, "\n  a null pointer, or an index on one");
        return;
    }
    if (f->kind == EHP_FAULT_MEMORY && f->write && (inside || cp->memory->xnack || !f->kernel) &&
        host_can_read(f->address)) {
        bool registered = inside && memory_is_registered(&block);
        if (registered && cp->memory->exact && f->address + BEYOND > block.base + block.bytes)
            add(text, bytes,
                "\n  beyond the %llu bytes that are registered, which is all that --isolate allows",
                (unsigned long long)block.bytes);
        else if (inside && block.kind == EHP_MEM_INTERNAL)
            add(text, bytes, "\n  memory of the runtime that kernels may only read: a queue");
        else
            add(text, bytes, "\n  memory of the process that may only be read (mprotect, const)");
        return;
    }
    if (f->kind == EHP_FAULT_MEMORY && !inside) {
        bool host = add_host_memory(cp, text, bytes, f);
        if (memory_find_freed(cp->memory, f->address, &freed))
            add_where(text, bytes, f->address, &freed, true);
        else if (!host &&
                 (!near || f->address + NEAR < block.base || f->address > block.base + block.bytes + NEAR))
            add(text, bytes, "\n  no allocation is near");
        else if (!host)
            add_where(text, bytes, f->address, &block, false);
        return;
    }
    if (near && f->address + NEAR >= block.base && f->address <= block.base + block.bytes + NEAR)
        add_where(text, bytes, f->address, &block, false);
    else
        add(text, bytes, "\n  no allocation is near");
}

static bool has_address(int kind)
{
    return kind == EHP_FAULT_MEMORY || kind == EHP_FAULT_MISALIGNED || kind == EHP_FAULT_SCRATCH_RANGE;
}

/* Where in the program it was; *f has it. */
static void add_place(struct cp *cp, char *text, size_t bytes, const struct ehp_fault *f, const char *detail)
{
    const struct ehp_machine *m = machine_of(cp);
    const unsigned xcds = m->xcds_per_agent * machine_package_agents(m);
    char room[512];
    if (f->kernel)
        add(text, bytes, "\n  in kernel %s, workgroup (%u, %u, %u), wave %u",
            ehp_printable(f->kernel, room, sizeof(room)), f->workgroup[0], f->workgroup[1], f->workgroup[2],
            f->wave);
    if (f->lane != UINT_MAX)
        add(text, bytes, ", lane %u", f->lane);
    if (f->kernel && m->node.packages > 1)
        add(text, bytes, " on package %u, XCD %u", f->xcc / xcds, f->xcc % xcds);
    else if (f->kernel)
        add(text, bytes, " on XCD %u", f->xcc);
    if (f->kernel && f->cu != UINT_MAX)
        add(text, bytes, ", SE %u, CU %u", f->se, f->cu);
    if (f->pc)
        add(text, bytes, "\n  at pc %#llx: %s", (unsigned long long)f->pc, f->disassembly);
    if (detail && *detail)
        add(text, bytes, "\n  %s", ehp_printable(detail, room, sizeof(room)));
}

void report_text(struct cp *cp, struct ehp_fault *f, const char *detail)
{
    char *text = f->text;
    size_t bytes = sizeof(f->text);
    text[0] = '\0';
    add(text, bytes, "%s", kind_text(f->kind));
    if (has_address(f->kind))
        add(text, bytes, ": %s %#llx", f->write ? "write to" : "read from", (unsigned long long)f->address);
    if (f->kind == EHP_FAULT_EXCEPTION)
        add(text, bytes, ": %s, which MODE enables", exception_text(f->trap_id));
    add_place(cp, text, bytes, f, detail);
    if (f->kind == EHP_FAULT_MEMORY || f->kind == EHP_FAULT_MISALIGNED)
        add_memory(cp, text, bytes, f);
}

/* Fills *f but for its text, and `detail`. */
static void describe(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                     struct ehp_fault *f, char *detail, size_t detail_bytes)
{
    struct cp *cp = d->cp;
    struct wave *w = guard->wave;
    const struct xinst *in = guard->fault_in;
    const struct chip_place at = chip_cu_place(cp->chip, wg->cu);
    f->kind = (int)guard->kind;
    f->dispatch_id = d->id;
    memcpy(f->workgroup, wg->id, sizeof(f->workgroup));
    f->wave = w->index;
    f->lane = guard->lane;
    f->xcc = wg->xcc;
    /* In functional mode it is where a host thread happened to find room. */
    const bool timed = cp->engine->packets_take_time;
    f->se = timed ? at.engine : UINT_MAX;
    f->cu = timed ? at.index : UINT_MAX;
    f->address = guard->address;
    f->write = guard->write;
    f->trap_id = guard->trap_id;
    f->pc = in ? in->pc : 0;
    detail[0] = '\0';
    if (in && in->isa) {
        if (guard->from_signal)
            f->lane = mem_fault_lane(w, in, f->address);
        if (in->isa->op != ISA_OP_INVALID)
            isa_print(cp->code->target, in->isa, in->pc, f->disassembly, sizeof(f->disassembly));
        else
            snprintf(f->disassembly, sizeof(f->disassembly), ".long 0x%08x",
                     *(const uint32_t *)(uintptr_t)in->pc);
    }
    /* The queue keeps the report, and so the name: it belongs to the code object's metadata. */
    pthread_rwlock_rdlock(&cp->codes->lock);
    struct ehp_code *code = code_list_find(cp->codes, d->packet.kernel_object);
    const struct code_kernel *kernel = code ? code_kernel_by_object(code, d->packet.kernel_object) : NULL;
    if (kernel)
        f->kernel = kernel->info.name;
    struct ehp_code *here = f->pc ? code_list_find(cp->codes, f->pc) : NULL;
    char line[400];
    if (here && code_line_at(here, f->pc, line, sizeof(line)))
        snprintf(detail, detail_bytes, "source %s", line);
    pthread_rwlock_unlock(&cp->codes->lock);
}

void report_wave(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                 struct ehp_fault *f)
{
    char detail[512];
    describe(d, wg, guard, f, detail, sizeof(detail));
    report_text(d->cp, f, detail);
}

void report_beyond(struct cp_dispatch *d, struct workgroup *wg, const struct wave_guard *guard,
                   const struct memory_block *near, struct ehp_fault *f)
{
    char detail[512];
    describe(d, wg, guard, f, detail, sizeof(detail));
    f->lane = UINT_MAX;
    f->text[0] = '\0';
    add(f->text, sizeof(f->text), "warning: %s of %u bytes beyond a buffer, %s %#llx",
        f->write ? "write" : "read", mem_access_bytes(guard->fault_in->isa), f->write ? "to" : "from",
        (unsigned long long)f->address);
    add_place(d->cp, f->text, sizeof(f->text), f, detail);
    add_where(f->text, sizeof(f->text), f->address, near, false);
}

void report_to_handler(struct cp *cp, const struct ehp_fault *fault)
{
    struct ehp_machine *m = machine_of(cp);
    pthread_mutex_lock(&m->handler_lock);
    ehp_fault_fn *fn = m->fault_fn;
    void *user = m->fault_user;
    pthread_mutex_unlock(&m->handler_lock);
    if (fn)
        fn(fault, user);
    else
        fprintf(stderr, "ehp: %s\n", fault->text);
}

void ehp_set_fault_handler(ehp_machine *m, ehp_fault_fn *fn, void *user)
{
    pthread_mutex_lock(&m->handler_lock);
    m->fault_fn = fn;
    m->fault_user = user;
    pthread_mutex_unlock(&m->handler_lock);
}

/* It dies of that, as on the chip, but may know why. */
void report_host_fault(void *context, uint64_t address)
{
    const struct cp *cp = context;
    struct memory_block block;
    bool inside;
    char text[768];
    if (address - cp->memory->arena >= cp->memory->arena_bytes)
        return;
    bool freed = memory_find_freed(cp->memory, address, &block);
    if (!freed && !memory_find(cp->memory, address, &block, &inside))
        return;
    site_print_block(&block, freed, text, sizeof(text));
    fprintf(stderr, "ehp: host access to %#llx: %s %s\n", (unsigned long long)address,
            freed                                 ? "freed memory,"
            : address >= block.base + block.bytes ? "past the end of"
                                                  : "before",
            text);
}
