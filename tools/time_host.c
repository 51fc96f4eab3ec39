// SPDX-License-Identifier: MIT
// What stands in the assembler's place when clang compiles with --time-host. clang writes LLVM's own text
// there
// (-emit-llvm), optimised; each straight piece of it gets a call that tells what it does (ehp/cpu_thread.h),
// each memory instruction a store of its address into the thread's ring, and LLVM makes the object.
//
// A piece ends with its basic block, a call, or what its thread waits for. Where a load's address comes from
// another load's value, as far as the function shows it, the second waits for the first: how long a list
// takes follows from that.
#include "time_host.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc.h"
#include "ehp/cpu_thread.h"
#include "jit/llvm.h"
#include "tool.h"

enum { DEPTH = 12, VISITS = 500, MOST_ACCESSES = 1000 };

// Loads by their value, in a hash table.
struct number {
    llvm_value load;
    size_t place; // in the text
    uint16_t number;
};

struct host {
    struct llvm l;
    llvm_context context;
    llvm_module module;
    llvm_builder builder;
    llvm_layout layout;
    llvm_type i8, i16, i32, i64, f32, pointer, access_type, hook_type, wait_type, ticks_type;
    llvm_value hook, wait, ticks, cpu;
    unsigned nontemporal; /* the kind of metadata that says it of a store */
    struct number *number;
    size_t numbers; // a power of two
    uint16_t next_number;
    uint16_t same[UINT16_MAX + 1]; // of a number: one that stands for the same loads; 0: itself
    struct time_host_cost *cost;   // of basic blocks, in their order; NULL: not known
    size_t blocks;
    uint32_t function, parts; // the one that is looked at: of its name; branches in it so far
};

// What one of the instructions that LLVM's text has stands for, of a block's cost.
struct share {
    double cycles, each;
};

// A piece of code that has no call of ours yet.
struct piece {
    llvm_value first;
    unsigned instructions, words, n;
    struct ehp_cpu_access goes; // kind: 0, or what a core must foresee of how it goes on
    struct share cost;
    struct time_host_cost calls; // what it calls of libraries
    struct ehp_cpu_access access[MOST_ACCESSES];
    struct {
        llvm_value before; // the instruction that does it
        llvm_value word[2];
    } at[MOST_ACCESSES];
};

// ---- loads ----

static struct number *find(const struct host *h, llvm_value load)
{
    size_t i = ((uintptr_t)load >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (h->numbers - 1);
    while (h->number[i].load && h->number[i].load != load)
        i = (i + 1) & (h->numbers - 1);
    return &h->number[i];
}

static void number_loads(struct host *h)
{
    const struct llvm *l = &h->l;
    size_t loads = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (llvm_value f = l->GetFirstFunction(h->module); f; f = l->GetNextFunction(f))
            for (llvm_block b = l->GetFirstBasicBlock(f); b; b = l->GetNextBasicBlock(b))
                for (llvm_value i = l->GetFirstInstruction(b); i; i = l->GetNextInstruction(i)) {
                    if (l->GetInstructionOpcode(i) != LLVM_LOAD)
                        continue;
                    loads++;
                    if (pass == 0)
                        continue;
                    struct number *n = find(h, i);
                    n->load = i;
                    n->place = loads;
                    n->number = h->next_number =
                        (uint16_t)(h->next_number == EHP_CPU_AFTER_WAIT - 1 ? 1 : h->next_number + 1);
                }
        if (pass == 0) {
            for (h->numbers = 64; h->numbers < 2 * loads;)
                h->numbers *= 2;
            h->number = calloc(h->numbers, sizeof *h->number);
            if (!h->number)
                exit(1);
        }
    }
}

static uint16_t standing_for(const struct host *h, uint16_t number)
{
    while (h->same[number])
        number = h->same[number];
    return number;
}

struct search {
    const struct number *found;
    bool waits; // a read-modify-write's value is among what it comes from
    unsigned visits;
};

static void look_for(const struct host *h, llvm_value v, unsigned depth, struct search *s)
{
    const struct llvm *l = &h->l;
    if (depth == DEPTH || s->visits == VISITS || !l->IsAInstruction(v))
        return;
    s->visits++;
    int opcode = l->GetInstructionOpcode(v);
    if (opcode == LLVM_LOAD) {
        const struct number *n = find(h, v);
        s->found = !s->found || n->place > s->found->place ? n : s->found;
    }
    const bool modifies = opcode == LLVM_ATOMICRMW || opcode == LLVM_CMPXCHG;
    s->waits |= modifies;
    if (modifies || opcode == LLVM_LOAD || opcode == LLVM_CALL || opcode == LLVM_INVOKE ||
        opcode == LLVM_ALLOCA || opcode == LLVM_CALLBR)
        return;
    unsigned n = opcode == LLVM_PHI ? l->CountIncoming(v) : l->GetNumOperands(v);
    for (unsigned i = 0; i < n; i++)
        look_for(h, opcode == LLVM_PHI ? l->GetIncomingValue(v, i) : l->GetOperand(v, i), depth + 1, s);
}

// The load that an address comes from, by way of what only computes; 0: none that is seen.  Of several it is
// the last in the text: those before are what a loop began with, as an array's base.
static uint16_t source_of(const struct host *h, llvm_value v)
{
    struct search s = {0};
    look_for(h, v, 0, &s);
    return s.found ? standing_for(h, s.found->number) : 0;
}

// The same of what a branch is decided by, which may be what the thread has waited for.
static uint16_t decided_by(const struct host *h, llvm_value v)
{
    struct search s = {0};
    look_for(h, v, 0, &s);
    return s.waits ? (uint16_t)EHP_CPU_AFTER_WAIT : s.found ? standing_for(h, s.found->number) : 0;
}

// Where ways meet, as at the beginning of a loop, a value is of whichever load came last: all of them are
// one.
static void unite(struct host *h, llvm_value phi)
{
    const struct llvm *l = &h->l;
    uint16_t first = 0;
    for (unsigned i = 0; i < l->CountIncoming(phi); i++) {
        uint16_t one = source_of(h, l->GetIncomingValue(phi, i));
        if (one && first && one != first)
            h->same[one] = first;
        first = first ? first : one;
    }
}

static void unite_all(struct host *h)
{
    const struct llvm *l = &h->l;
    for (llvm_value f = l->GetFirstFunction(h->module); f; f = l->GetNextFunction(f))
        for (llvm_block b = l->GetFirstBasicBlock(f); b; b = l->GetNextBasicBlock(b))
            for (llvm_value i = l->GetFirstInstruction(b); i && l->GetInstructionOpcode(i) == LLVM_PHI;
                 i = l->GetNextInstruction(i))
                unite(h, i);
}

// ---- pieces ----

static llvm_value constant(const struct host *h, llvm_type type, uint64_t value)
{
    return h->l.ConstInt(type, value, 0);
}

// The description of a piece, a constant.
static llvm_value describe(const struct host *h, const struct piece *p)
{
    const struct llvm *l = &h->l;
    unsigned instructions =
        (p->cost.each > 0 ? (unsigned)(p->cost.each * p->instructions + 0.5) : p->instructions) +
        p->calls.instructions;
    double cycles = p->cost.cycles * p->instructions + p->calls.cycles;
    if (!h->cost && p->calls.instructions) /* guess, as core.ipc is */
        cycles += p->instructions / 2.0;
    const unsigned goes = p->goes.kind ? 1 : 0;
    llvm_value *access = calloc(p->n + 1, sizeof(*access));
    for (unsigned i = 0; access && i < p->n + goes; i++) {
        const struct ehp_cpu_access *a = i < p->n ? &p->access[i] : &p->goes;
        llvm_value field[] = {constant(h, h->i16, a->number), constant(h, h->i16, a->after),
                              constant(h, h->i16, a->bytes), constant(h, h->i8, a->kind),
                              constant(h, h->i8, a->flags)};
        access[i] = l->ConstStructInContext(h->context, field, 5, 0);
    }
    llvm_value field[] = {constant(h, h->i32, p->n),    constant(h, h->i16, p->words),
                          constant(h, h->i16, goes),    constant(h, h->i32, instructions ? instructions : 1),
                          l->ConstReal(h->f32, cycles), l->ConstArray2(h->access_type, access, p->n + goes)};
    llvm_value value = l->ConstStructInContext(h->context, field, 6, 0);
    llvm_value global = l->AddGlobal(h->module, l->TypeOf(value), "");
    l->SetInitializer(global, value);
    l->SetGlobalConstant(global, 1);
    l->SetLinkage(global, LLVM_INTERNAL);
    free(access);
    return global;
}

static void close_piece(const struct host *h, struct piece *p, bool waits)
{
    const struct llvm *l = &h->l;
    if (p->first && p->instructions) {
        l->PositionBuilderBefore(h->builder, p->first);
        llvm_value block = describe(h, p),
                   words = l->BuildCall2(h->builder, h->hook_type, h->hook, &block, 1, "");
        unsigned word = 0;
        for (unsigned i = 0; i < p->n; i++) {
            l->PositionBuilderBefore(h->builder, p->at[i].before);
            for (unsigned k = 0; k < 2 && p->at[i].word[k]; k++) {
                llvm_value index = constant(h, h->i64, word++), value = p->at[i].word[k];
                llvm_value place = l->BuildGEP2(h->builder, h->i64, words, &index, 1, "");
                if (k == 0)
                    value = l->BuildPtrToInt(h->builder, value, h->i64, "");
                else
                    value = l->BuildZExt(h->builder, value, h->i64, "");
                l->BuildStore(h->builder, value, place);
            }
        }
        if (waits)
            l->BuildCall2(h->builder, h->wait_type, h->wait, NULL, 0, "");
    }
    p->first = NULL;
    p->instructions = p->words = p->n = 0;
    p->goes.kind = 0;
    p->calls = (struct time_host_cost){0};
}

static void add(const struct host *h, struct piece *p, llvm_value before, llvm_value address,
                llvm_value bytes, struct ehp_cpu_access access)
{
    access.after = address ? source_of(h, address) : 0;
    p->at[p->n].before = before;
    p->at[p->n].word[0] = address;
    p->at[p->n].word[1] = bytes;
    p->access[p->n++] = access;
    p->words += bytes ? 2 : address ? 1 : 0;
}

// memcpy and its like: what is read and written, as two ranges. True: it is one of them.
static bool add_range(const struct host *h, struct piece *p, llvm_value call, const char *name)
{
    static const struct {
        const char *name;
        bool reads;
    } list[] = {{"llvm.memcpy.", true}, {"llvm.memmove.", true}, {"llvm.memset.", false},
                {"memcpy", true},       {"memmove", true},       {"memset", false}};
    const struct llvm *l = &h->l;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        size_t n = strlen(list[i].name);
        bool intrinsic = list[i].name[n - 1] == '.';
        if (intrinsic ? strncmp(name, list[i].name, n) != 0 : strcmp(name, list[i].name) != 0)
            continue;
        llvm_value bytes = l->GetOperand(call, 2);
        if (list[i].reads)
            add(h, p, call, l->GetOperand(call, 1), bytes,
                (struct ehp_cpu_access){.kind = EHP_CPU_READ_RANGE});
        add(h, p, call, l->GetOperand(call, 0), bytes, (struct ehp_cpu_access){.kind = EHP_CPU_WRITE_RANGE});
        return true;
    }
    return false;
}

static uint16_t bytes_of(const struct host *h, llvm_type type)
{
    unsigned long long bytes = h->l.StoreSizeOfType(h->layout, type);
    return bytes < UINT16_MAX ? (uint16_t)bytes : UINT16_MAX;
}

// Whether the load is all of a loop that goes on until it reads another value: nothing else in its block
// tells one turn from the next.
static bool is_loop(const struct host *h, llvm_block b, llvm_value load)
{
    const struct llvm *l = &h->l;
    bool loops = false;
    for (llvm_value i = l->GetFirstInstruction(b); i; i = l->GetNextInstruction(i)) {
        const int opcode = l->GetInstructionOpcode(i);
        if (opcode == LLVM_BR && l->GetNumOperands(i) == 3) {
            const llvm_value self = l->BasicBlockAsValue(b);
            loops = l->GetOperand(i, 1) == self || l->GetOperand(i, 2) == self;
        } else if (opcode == LLVM_CALL) {
            const llvm_value called = l->IsAFunction(l->GetCalledValue(i));
            size_t n;
            if (!called || strcmp(l->GetValueName2(called, &n), "llvm.x86.sse2.pause") != 0)
                return false;
        } else if (opcode == LLVM_PHI || opcode == LLVM_STORE || opcode == LLVM_FENCE ||
                   opcode == LLVM_INVOKE || opcode == LLVM_CMPXCHG || opcode == LLVM_ATOMICRMW ||
                   (opcode == LLVM_LOAD && i != load)) {
            return false;
        }
    }
    return loops;
}

// Whether it is at a distance from the stack's pointer that the instruction itself says.
static bool is_named(const struct host *h, llvm_value address)
{
    const struct llvm *l = &h->l;
    while (l->IsAInstruction(address) && l->GetInstructionOpcode(address) == LLVM_GEP) {
        for (unsigned i = 1; i < (unsigned)l->GetNumOperands(address); i++)
            if (!l->IsConstant(l->GetOperand(address, i)))
                return false;
        address = l->GetOperand(address, 0);
    }
    return l->IsAInstruction(address) && l->GetInstructionOpcode(address) == LLVM_ALLOCA &&
           l->IsConstant(l->GetOperand(address, 0));
}

static void add_load(const struct host *h, struct piece *p, llvm_block b, llvm_value i)
{
    const struct llvm *l = &h->l;
    bool waits = l->GetOrdering(i) || l->GetVolatile(i);
    add(h, p, i, l->GetOperand(i, 0), NULL,
        (struct ehp_cpu_access){.number = standing_for(h, find(h, i)->number),
                                .bytes = bytes_of(h, l->TypeOf(i)),
                                .kind = waits ? EHP_CPU_ATOMIC_READ : EHP_CPU_READ,
                                .flags = (waits && is_loop(h, b, i) ? EHP_CPU_AGAIN : 0) |
                                         (is_named(h, l->GetOperand(i, 0)) ? EHP_CPU_NAMED : 0)});
    if (waits)
        close_piece(h, p, true);
}

static void add_store(const struct host *h, struct piece *p, llvm_value i)
{
    const struct llvm *l = &h->l;
    bool waits = l->GetOrdering(i) || l->GetVolatile(i);
    enum ehp_cpu_access_kind kind = l->GetOrdering(i) == LLVM_SEQUENTIALLY_CONSISTENT
                                        ? EHP_CPU_ATOMIC /* XCHG on x86-64 */
                                    : waits                             ? EHP_CPU_ATOMIC_WRITE
                                    : l->GetMetadata(i, h->nontemporal) ? EHP_CPU_WRITE_PAST
                                                                        : EHP_CPU_WRITE;
    add(h, p, i, l->GetOperand(i, 1), NULL,
        (struct ehp_cpu_access){.bytes = bytes_of(h, l->TypeOf(l->GetOperand(i, 0))),
                                .kind = (uint8_t)kind,
                                .flags = is_named(h, l->GetOperand(i, 1)) ? EHP_CPU_NAMED : 0});
    p->access[p->n - 1].after = source_of(h, l->GetOperand(i, 0)); /* the value's */
    if (waits)
        close_piece(h, p, true);
}

// ---- the counter of cycles ----

static llvm_value resize(const struct host *h, llvm_value v, llvm_type type)
{
    if (h->l.TypeOf(v) == type)
        return v;
    return type == h->i64 ? h->l.BuildZExt(h->builder, v, type, "")
                          : h->l.BuildTrunc(h->builder, v, type, "");
}

static llvm_value ask(const struct host *h, llvm_value function, llvm_value native)
{
    llvm_value wide = resize(h, native, h->i64);
    return resize(h, h->l.BuildCall2(h->builder, h->ticks_type, function, &wide, 1, ""), h->l.TypeOf(native));
}

static llvm_value ask_part(const struct host *h, llvm_value function, llvm_value result, unsigned part)
{
    llvm_value now = ask(h, function, h->l.BuildExtractValue(h->builder, result, part, ""));
    return h->l.BuildInsertValue(h->builder, result, now, part, "");
}

static bool is_word(const struct host *h, llvm_value v)
{
    return h->l.TypeOf(v) == h->i64 || h->l.TypeOf(v) == h->i32;
}

// Halves, as assembly has them in EAX and EDX.
static llvm_value ask_halves(const struct host *h, llvm_value result)
{
    const struct llvm *l = &h->l;
    llvm_value half[2], shift = constant(h, h->i64, 32);
    for (unsigned i = 0; i < 2; i++) {
        half[i] = l->BuildExtractValue(h->builder, result, i, "");
        if (!is_word(h, half[i]))
            return result;
    }
    llvm_value low = resize(h, resize(h, half[0], h->i32), h->i64),
               high = l->BuildShl(h->builder, resize(h, half[1], h->i64), shift, ""),
               now = ask(h, h->ticks, l->BuildOr(h->builder, low, high, "")),
               low_now = resize(h, resize(h, now, h->i32), l->TypeOf(half[0])),
               high_now = resize(h, l->BuildLShr(h->builder, now, shift, ""), l->TypeOf(half[1]));
    return l->BuildInsertValue(h->builder, l->BuildInsertValue(h->builder, result, low_now, 0, ""), high_now,
                               1, "");
}

// Also by assembly of the program's own.
static bool reads_counter(const struct host *h, llvm_value call, const char *name)
{
    const struct llvm *l = &h->l;
    llvm_value text = l->IsAInlineAsm(l->GetCalledValue(call));
    size_t n;
    return strcmp(name, "llvm.x86.rdtsc") == 0 || strcmp(name, "llvm.x86.rdtscp") == 0 ||
           strcmp(name, "llvm.readcyclecounter") == 0 ||
           (text && strstr(l->GetInlineAsmAsmString(text, &n), "rdtsc"));
}

static void replace_counter(const struct host *h, llvm_value call, const char *name)
{
    const struct llvm *l = &h->l;
    const bool with_cpu = strcmp(name, "llvm.x86.rdtscp") == 0;
    l->PositionBuilderBefore(h->builder, l->GetNextInstruction(call));
    const llvm_type type = l->TypeOf(call);
    const int kind = l->GetTypeKind(type);
    llvm_value users = l->BuildPhi(h->builder, type, ""),
               now = call; // stands for the result where it is used
    l->ReplaceAllUsesWith(call, users);
    if (kind == LLVM_INTEGER && is_word(h, call))
        now = ask(h, h->ticks, call);
    else if (kind == LLVM_STRUCT && with_cpu)
        now = ask_part(h, h->cpu, ask_part(h, h->ticks, call, 0), 1);
    else if (kind == LLVM_STRUCT && l->CountStructElementTypes(type) >= 2)
        now = ask_halves(h, call);
    l->ReplaceAllUsesWith(users, now);
    l->InstructionEraseFromParent(users);
}

// It ends with what is not always the same: `decided` says which way.
static void part(struct host *h, struct piece *p, llvm_value decided, enum ehp_cpu_access_kind kind)
{
    const uint32_t number = h->function + ++h->parts * UINT32_C(0x9e3779b1);
    p->goes = (struct ehp_cpu_access){.number = (uint16_t)number,
                                      .bytes = (uint16_t)(number >> 16),
                                      .after = decided_by(h, decided),
                                      .kind = (uint8_t)kind};
}

// What is written or read by a format: the call, and each of its arguments, of glibc as time_host_calls.def
// says.
static void add_format(const struct host *h, struct piece *p, llvm_value call, unsigned first)
{
    static const struct time_host_cost base = {92, 372}, whole = {65, 368}, floating = {350, 1300};
    const struct llvm *l = &h->l;
    const unsigned n = l->GetNumOperands(call) - 1; /* the last is what is called */
    p->calls.cycles += base.cycles;
    p->calls.instructions += base.instructions;
    for (unsigned i = first; i < n; i++) {
        const bool is_floating = l->GetTypeKind(l->TypeOf(l->GetOperand(call, i))) == LLVM_DOUBLE;
        p->calls.cycles += is_floating ? floating.cycles : whole.cycles;
        p->calls.instructions += is_floating ? floating.instructions : whole.instructions;
    }
}

// A call ends a piece, unless LLVM itself makes of it what it is.
static void add_call(struct host *h, struct piece *p, llvm_value i)
{
    const struct llvm *l = &h->l;
    llvm_value called = l->IsAFunction(l->GetCalledValue(i));
    size_t n;
    const char *name = called ? l->GetValueName2(called, &n) : "";
    bool range = add_range(h, p, i, name);
    unsigned first;
    if (time_host_format(name, &first))
        add_format(h, p, i, first);
    else if (!called || l->IsDeclaration(called))
        time_host_call(name, &p->calls);
    if (strncmp(name, "llvm.dbg.", 9) == 0 || strncmp(name, "llvm.lifetime.", 14) == 0)
        p->instructions--;
    if (strcmp(name, "llvm.x86.sse.sfence") == 0 || strcmp(name, "llvm.x86.sse2.mfence") == 0) {
        add(h, p, i, NULL, NULL, (struct ehp_cpu_access){.kind = EHP_CPU_FENCE});
        close_piece(h, p, true);
        return;
    }
    if (reads_counter(h, i, name)) {
        close_piece(h, p, false);
        replace_counter(h, i, name);
    } else if (strcmp(name, "strlen") == 0 && l->GetInstructionOpcode(i) == LLVM_CALL) {
        /* What LLVM makes of loops too. What it has read is known behind it. */
        close_piece(h, p, false);
        p->first = l->GetNextInstruction(i);
        add(h, p, p->first, l->GetOperand(i, 0), i, (struct ehp_cpu_access){.kind = EHP_CPU_READ_RANGE});
    } else if (strncmp(name, "llvm.", 5) != 0 || range) {
        if (!called && !l->IsAInlineAsm(l->GetCalledValue(i)) && l->IsAInstruction(l->GetCalledValue(i)))
            part(h, p, l->GetCalledValue(i), EHP_CPU_JUMP);
        close_piece(h, p, false);
    }
}

// Whether it counts, among those of a block over which the block's cost is spread.
static bool counts(int opcode)
{
    return opcode != LLVM_PHI && opcode != LLVM_LANDINGPAD && opcode != LLVM_GEP && opcode != LLVM_BITCAST &&
           opcode != LLVM_ALLOCA;
}

static struct share share_cost(const struct host *h, llvm_block b, size_t block)
{
    const struct llvm *l = &h->l;
    unsigned n = 0;
    for (llvm_value i = l->GetFirstInstruction(b); i; i = l->GetNextInstruction(i))
        n += counts(l->GetInstructionOpcode(i));
    if (!h->cost || block >= h->blocks || !n)
        return (struct share){0};
    return (struct share){.cycles = h->cost[block].cycles / n,
                          .each = (double)h->cost[block].instructions / n};
}

static void take_block(struct host *h, llvm_block b, struct piece *p)
{
    const struct llvm *l = &h->l;
    bool begun = false;
    for (llvm_value i = l->GetFirstInstruction(b), next; i; i = next) {
        int opcode = l->GetInstructionOpcode(i);
        next = l->GetNextInstruction(i);
        if (opcode == LLVM_PHI || opcode == LLVM_LANDINGPAD || (!begun && opcode == LLVM_ALLOCA))
            continue;
        begun = true;
        if (!p->first)
            p->first = i;
        p->instructions += counts(opcode);
        if (opcode == LLVM_LOAD)
            add_load(h, p, b, i);
        else if (opcode == LLVM_STORE)
            add_store(h, p, i);
        else if (opcode == LLVM_ATOMICRMW || opcode == LLVM_CMPXCHG) {
            add(h, p, i, l->GetOperand(i, 0), NULL,
                (struct ehp_cpu_access){.bytes = bytes_of(h, l->TypeOf(l->GetOperand(i, 1))),
                                        .kind = EHP_CPU_ATOMIC});
            close_piece(h, p, true);
        } else if (opcode == LLVM_FENCE && l->GetOrdering(i) != LLVM_SEQUENTIALLY_CONSISTENT) {
            p->instructions--; /* none on x86-64, whose loads and stores are in order */
        } else if (opcode == LLVM_FENCE) {
            add(h, p, i, NULL, NULL, (struct ehp_cpu_access){.kind = EHP_CPU_FENCE});
            close_piece(h, p, true);
        } else if (opcode == LLVM_CALL || opcode == LLVM_INVOKE || opcode == LLVM_CALLBR) {
            add_call(h, p, i);
        } else if (opcode == LLVM_FREM) {
            time_host_call(l->GetTypeKind(l->TypeOf(i)) == LLVM_DOUBLE ? "fmod" : "fmodf", &p->calls);
        } else if (opcode == LLVM_BR && l->GetNumOperands(i) == 3) {
            part(h, p, l->GetOperand(i, 0), EHP_CPU_BRANCH);
        } else if (opcode == LLVM_SWITCH || opcode == LLVM_INDIRECTBR) {
            part(h, p, l->GetOperand(i, 0), EHP_CPU_JUMP);
        }
        if (p->n + 2 >= MOST_ACCESSES)
            close_piece(h, p, false);
    }
    close_piece(h, p, false);
}

// Its branches are known by numbers that follow from its name.
static void begin_function(struct host *h, llvm_value function)
{
    size_t n;
    const char *name = h->l.GetValueName2(function, &n);
    h->parts = 0;
    h->function = 2166136261U; // FNV-1a
    for (size_t i = 0; i < n; i++)
        h->function = (h->function ^ (uint8_t)name[i]) * 16777619U;
}

static void take_module(struct host *h)
{
    const struct llvm *l = &h->l;
    struct piece *p = calloc(1, sizeof(*p));
    if (!p)
        exit(1);
    h->i8 = l->Int8TypeInContext(h->context);
    h->i16 = l->Int16TypeInContext(h->context);
    h->i32 = l->Int32TypeInContext(h->context);
    h->i64 = l->Int64TypeInContext(h->context);
    h->f32 = l->FloatTypeInContext(h->context);
    h->pointer = l->PointerTypeInContext(h->context, 0);
    llvm_type access[] = {h->i16, h->i16, h->i16, h->i8, h->i8};
    h->access_type = l->StructTypeInContext(h->context, access, 5, 0);
    h->hook_type = l->FunctionType(h->pointer, &h->pointer, 1, 0);
    h->wait_type = l->FunctionType(l->VoidTypeInContext(h->context), NULL, 0, 0);
    h->layout = l->GetModuleDataLayout(h->module);
    h->builder = l->CreateBuilderInContext(h->context);
    static const char nontemporal[] = "nontemporal";
    h->nontemporal = l->GetMDKindIDInContext(h->context, nontemporal, sizeof nontemporal - 1);
    number_loads(h);
    unite_all(h);
    h->hook = l->AddFunction(h->module, "ehp_cpu_block", h->hook_type);
    h->wait = l->AddFunction(h->module, "ehp_cpu_wait", h->wait_type);
    h->ticks_type = l->FunctionType(h->i64, &h->i64, 1, 0);
    h->ticks = l->AddFunction(h->module, "ehp_cpu_ticks", h->ticks_type);
    h->cpu = l->AddFunction(h->module, "ehp_cpu_number", h->ticks_type);
    size_t block = 0;
    for (llvm_value f = l->GetFirstFunction(h->module); f; f = l->GetNextFunction(f)) {
        begin_function(h, f);
        for (llvm_block b = l->GetFirstBasicBlock(f); b; b = l->GetNextBasicBlock(b), block++) {
            p->cost = share_cost(h, b, block);
            take_block(h, b, p);
        }
    }
    free(p);
}

// ---- costs ----

static size_t name_blocks(const struct host *h)
{
    const struct llvm *l = &h->l;
    size_t n = 0;
    for (llvm_value f = l->GetFirstFunction(h->module); f; f = l->GetNextFunction(f))
        for (llvm_block b = l->GetFirstBasicBlock(f); b; b = l->GetNextBasicBlock(b)) {
            char name[32];
            int length = snprintf(name, sizeof name, TIME_HOST_BLOCK "%zu", n++);
            l->SetValueName2(l->BasicBlockAsValue(b), name, (size_t)length);
        }
    return n;
}

static llvm_machine machine_of(const struct host *h)
{
    const struct llvm *l = &h->l;
    const char *triple = l->GetTarget(h->module);
    llvm_target target;
    char *message = NULL;
    if (l->GetTargetFromTriple(triple, &target, &message)) {
        tool_say("ehp cc: --time-host: %s", message);
        return NULL;
    }
    return l->CreateTargetMachine(target, triple, "x86-64", "", LLVM_CODEGEN_DEFAULT, LLVM_RELOC_PIC,
                                  LLVM_CODE_MODEL_SMALL);
}

// LLVM changes a module as it makes code of it: this one is dropped afterwards.
static void find_costs(struct host *h)
{
    const struct llvm *l = &h->l;
    llvm_machine machine = machine_of(h);
    llvm_buffer text;
    char *message = NULL;
    size_t blocks = name_blocks(h);
    if (!machine)
        return;
    l->SetTargetMachineAsmVerbosity(machine, 1);
    if (l->TargetMachineEmitToMemoryBuffer(machine, h->module, LLVM_ASSEMBLY_FILE, &message, &text))
        return;
    struct time_host_cost *cost = calloc(blocks + 1, sizeof *cost);
    if (cost && time_host_costs(l->GetBufferStart(text), cost, blocks)) {
        h->cost = cost;
        h->blocks = blocks;
    } else {
        tool_say("ehp cc: note: --time-host: without llvm-mca, which LLVM 22 has, code costs its "
                 "instructions alone");
        free(cost);
    }
    l->DisposeMemoryBuffer(text);
    l->DisposeTargetMachine(machine);
    l->DisposeModule(h->module);
}

// ---- files ----

static bool parse(struct host *h, const char *path)
{
    const struct llvm *l = &h->l;
    llvm_buffer text;
    char *message = NULL;
    if (l->CreateMemoryBufferWithContentsOfFile(path, &text, &message) ||
        l->ParseIRInContext(h->context, text, &h->module, &message)) {
        tool_say("ehp cc: --time-host: %s", message ? message : "cannot read what clang wrote");
        return false;
    }
    return true;
}

static bool write_object(const struct host *h, const char *path)
{
    const struct llvm *l = &h->l;
    llvm_buffer object;
    char *message = NULL;
    if (l->VerifyModule(h->module, 2, &message)) {
        tool_say("ehp cc: --time-host: %s", message);
        return false;
    }
    llvm_machine machine = machine_of(h);
    if (!machine)
        return false;
    if (l->TargetMachineEmitToMemoryBuffer(machine, h->module, LLVM_OBJECT_FILE, &message, &object)) {
        tool_say("ehp cc: --time-host: %s", message);
        return false;
    }
    FILE *file = fopen(path, "wb");
    size_t bytes = l->GetBufferSize(object);
    bool done = file && fwrite(l->GetBufferStart(object), 1, bytes, file) == bytes;
    if (file && fclose(file) != 0)
        done = false;
    if (!done)
        tool_say("ehp cc: cannot write %s", path);
    return done;
}

// clang's own text begins so; what a user wrote in assembly goes to the assembler.
static bool is_llvm(const char *path)
{
    static const char start[] = "; ModuleID = ";
    char text[sizeof start] = "";
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(text, 1, sizeof start - 1, file) : 0;
    if (file)
        fclose(file);
    return n == sizeof start - 1 && memcmp(text, start, n) == 0;
}

int time_host_assemble(int argc, char **argv)
{
    const char *in = NULL, *out = "a.out";
    char why[256];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            out = argv[++i];
        else if (argv[i][0] != '-')
            in = argv[i];
    }
    if (!in || !is_llvm(in)) {
        execv("/usr/bin/as", argv);
        tool_say("ehp cc: cannot run /usr/bin/as");
        return 1;
    }
    static struct host h;
    if (!llvm_open(&h.l, why, sizeof why)) {
        tool_say("ehp cc: --time-host needs LLVM: %s", why);
        return 1;
    }
    h.l.InitializeX86AsmParser(); // of inline assembly
    h.context = h.l.ContextCreate();
    if (!parse(&h, in))
        return 1;
    find_costs(&h);
    if (!parse(&h, in))
        return 1;
    take_module(&h);
    return write_object(&h, out) ? 0 : 1;
}
