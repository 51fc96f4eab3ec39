/* SPDX-License-Identifier: MIT */
/*
 * A thread's ring, as a core's program.  Where the core has nothing to read it waits for the thread, which is
 * a part of simulated time as its code is: so nobody's events depend on how fast the host executes it.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/guarded.h"
#include "ccd/thread.h"
#include "ccd/internal.h"

enum { SPINS = 64, LOOK_NS = 100000000, LOOKS = 4 };
enum { ROOM = EHP_CPU_RING / 16 }; /* words after which who waits for room is looked for: a power of two */
enum { BLOCKED_CYCLES = 10000 };   /* in which a thread that is blocked is not looked at */

struct blocked {
    uint64_t next_ns;
    unsigned asleep; /* looks that have seen it so */
};

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void cpu_thread_set(struct cpu_thread *t, uint32_t state)
{
    atomic_store_explicit(&t->state, state, memory_order_release);
    futex_wake(&t->state, UINT32_MAX);
}

uint32_t cpu_thread_state(const struct cpu_thread *t)
{
    return atomic_load_explicit(&t->state, memory_order_acquire);
}

void cpu_thread_wait_for(struct cpu_thread *t, bool (*over)(uint32_t state))
{
    uint32_t state;
    for (unsigned spins = 0; !over(state = cpu_thread_state(t)) && !t->stopped; spins++) {
        if (spins < SPINS)
            __builtin_ia32_pause();
        else
            futex_wait(&t->state, state, LOOK_NS);
    }
}

void cpu_thread_wait_read(struct ehp_cpu_thread *ring, uint64_t words)
{
    struct cpu_thread *t = (struct cpu_thread *)ring;
    for (unsigned spins = 0; load(&ring->tail) < words; spins++) {
        if (spins < SPINS) {
            __builtin_ia32_pause();
            continue;
        }
        atomic_store(&t->wanted, words);
        atomic_store(&t->asleep, 1);
        if (__atomic_load_n(&ring->tail, __ATOMIC_SEQ_CST) < words)
            futex_wait(&t->asleep, 1, LOOK_NS);
    }
    atomic_store(&t->asleep, 0);
}

/* The core has read some, or all that there are. */
static void wake_if_room(struct cpu_thread *t)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load(&t->asleep) && t->ring.tail >= atomic_load(&t->wanted)) {
        atomic_store(&t->asleep, 0);
        futex_wake(&t->asleep, 1);
    }
}

/* Not of the ring's end, behind which what follows may not be there yet. */
static bool has_record(struct cpu_thread *t)
{
    const uint64_t head = load(&t->ring.head), at = t->ring.tail;
    if (head == at)
        return false;
    if (t->ring.word[at % EHP_CPU_RING] != EHP_CPU_WRAP)
        return true;
    const uint64_t next = (at / EHP_CPU_RING + 1) * EHP_CPU_RING;
    __atomic_store_n(&t->ring.tail, next, __ATOMIC_RELEASE);
    return head != next;
}

/* In the kernel, where it waits for something. */
static bool sleeps(const struct cpu_thread *t)
{
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", t->tid);
    FILE *file = t->tid ? fopen(path, "re") : NULL;
    bool read = file && fgets(line, sizeof(line), file);
    if (file)
        fclose(file);
    const char *name_end = read ? strrchr(line, ')') : NULL;
    return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}

/*
 * One that waits in a call that is not simulated, perhaps for another thread, whose core waits for this
 * window to be over: it is seen to sleep, several times.  Then simulated time goes on for it, as fast as the
 * host makes it.
 */
static bool is_blocked(struct cpu_thread *t, struct blocked *b)
{
    uint64_t now = clock_now_ns();
    if (t->blocked)
        return sleeps(t);
    if (now < b->next_ns)
        return false;
    b->asleep = b->next_ns && sleeps(t) ? b->asleep + 1 : 0;
    b->next_ns = now + LOOK_NS;
    if (b->asleep < LOOKS)
        return false;
    if (!t->told)
        fputs("ehp: a thread waits in a call of the kernel's that is not simulated: how long depends on the "
              "host\n",
              stderr);
    t->blocked = t->told = true;
    return true;
}

/*
 * Turns of a loop that waits for a word to change.  Nothing tells one of them from the next, so the core does
 * them by itself as long as it finds the same word when the thread would read it.  The thread looks
 * sometimes, as what it has read may have changed and changed back.
 */
enum { AGAIN = 64 };

static bool read_word(const struct cpu_thread *t, uint64_t *value)
{
    *value = 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as the thread wrote it
    return guarded_load((uint8_t *)value, (const uint8_t *)t->turn.address, t->turn.read->bytes);
}

static bool does_again(struct cpu_thread *t)
{
    uint64_t value;
    if (!t->turn.whole || t->turn.again == AGAIN || !read_word(t, &value) || value != t->turn.value)
        return false;
    t->turn.again++;
    t->turn.at = 0;
    t->turn.doing = true;
    return true;
}

/* The thread goes on, perhaps for another turn. */
static void expect_turn(struct cpu_thread *t)
{
    t->turn.whole = false;
    t->turn.again = t->turn.records = t->turn.words = 0;
    if (t->turn.read && !read_word(t, &t->turn.value))
        t->turn.read = NULL;
}

static void note_record(struct cpu_thread *t)
{
    const unsigned words = 1U + t->block->words;
    t->turn.records++;
    if (t->turn.words + words <= CPU_THREAD_TURN)
        memcpy(&t->turn.word[t->turn.words], t->record, words * sizeof(t->record[0]));
    t->turn.words += words;
}

/* It waits for that one, which ends its record. */
static void end_turn(struct cpu_thread *t, const struct ehp_cpu_access *a, uint64_t address)
{
    if (t->turn.doing)
        return;
    const bool loops = a->flags & EHP_CPU_AGAIN && a->bytes && a->bytes <= sizeof(t->turn.value);
    t->turn.whole = loops && t->turn.read == a && t->turn.address == address && t->turn.records == 1 &&
                    t->turn.words + 1 + t->block->words <= CPU_THREAD_TURN;
    t->turn.read = loops ? a : NULL;
    t->turn.address = address;
}

enum found { RECORD, BLOCKED, LEFT, TURN };
static __attribute__((noinline)) enum found wait_for_thread(struct cpu_thread *t)
{
    struct blocked b = {0};
    wake_if_room(t);
    for (unsigned spins = 0; !has_record(t); spins++) {
        const uint32_t state = cpu_thread_state(t);
        if (t->stopped || (state == CPU_THREAD_LEAVES && !has_record(t)))
            return LEFT;
        if (state == CPU_THREAD_WAITS && !has_record(t)) { /* the core is there: the thread goes on */
            if (does_again(t))
                return TURN;
            expect_turn(t);
            t->ring.now_ps = port_now_ps(t->domain);
            cpu_thread_set(t, CPU_THREAD_RUNS);
        }
        if (spins < SPINS) {
            __builtin_ia32_pause();
            continue;
        }
        if (is_blocked(t, &b))
            return BLOCKED;
        sched_yield();
    }
    t->blocked = false;
    return RECORD;
}

static void next_record(struct cpu_thread *t)
{
    uint64_t at = t->ring.tail;
    t->record = t->turn.doing ? &t->turn.word[t->turn.at] : &t->ring.word[at % EHP_CPU_RING];
    t->word = t->record + 1;
    t->block = (const struct ehp_cpu_block *)(uintptr_t)t->record[0];
    t->access = 0;
    t->record_end = at + 1 + t->block->words;
    const unsigned parts = t->block->accesses;
    t->cycles = t->block->cycles > 0 ? (double)t->block->cycles : t->block->instructions / t->ipc;
    t->instructions = t->next_instructions = t->block->instructions;
    if (parts > 1) {
        t->cycles /= parts;
        t->instructions /= parts;
        t->next_instructions -= t->instructions * (parts - 1);
    }
}

static void record_over(struct cpu_thread *t)
{
    const uint64_t at = t->ring.tail;
    t->goes = t->block->goes ? &t->block->access[t->block->accesses] : NULL;
    if (t->turn.doing) {
        t->turn.at += 1U + t->block->words;
        t->turn.doing = t->turn.at != t->turn.words;
        t->block = NULL;
        return;
    }
    if (t->turn.read)
        note_record(t);
    t->block = NULL;
    __atomic_store_n(&t->ring.tail, t->record_end, __ATOMIC_RELEASE);
    if ((at ^ t->record_end) & ~(uint64_t)(ROOM - 1))
        wake_if_room(t);
}

/* The next line of a range. */
static bool next_of_range(struct cpu_thread *t, struct core_op *op)
{
    uint64_t line = t->range & ~(uint64_t)(CORE_LINE - 1);
    op->address = t->range;
    op->instructions = 1;
    op->cycles = t->range_cycles;
    op->kind = t->range_kind == EHP_CPU_READ_RANGE   ? CORE_LOAD
               : t->range_kind == EHP_CPU_WRITE_PAST ? CORE_STORE_PAST
                                                     : CORE_STORE;
    op->bytes = (uint8_t)(t->range_end - t->range < CORE_LINE ? t->range_end - t->range : CORE_LINE);
    t->loads += op->kind == CORE_LOAD;
    t->range = line + CORE_LINE;
    return true;
}

/* How many loads ago that was whose value it needs; 0: it needs none, or one from long ago. */
static uint8_t distance_of(const struct cpu_thread *t, const struct ehp_cpu_access *a)
{
    const uint64_t distance = t->loads + 1 - t->number[a->after];
    return t->number[a->after] && distance < CORE_AFTER_WAIT ? (uint8_t)distance : 0;
}

/* Who asks for the same word again and again has nothing else to do until it changes: for the host's sake it
 * does not do so as often as the window would let it. */
static void wait_after(struct cpu_thread *t, const struct ehp_cpu_access *a, struct core_op *op)
{
    const bool polls = a->kind == EHP_CPU_ATOMIC_READ && op->address == t->polled;
    op->unforeseen |= polls;
    t->polled = a->kind == EHP_CPU_ATOMIC_READ ? op->address : 0;
}

/* A line of a copy is read while the one before is written. */
static double cycles_of_range(const struct cpu_thread *t, const struct ehp_cpu_access *a)
{
    const bool copies = a->kind == EHP_CPU_READ_RANGE && t->access < t->block->accesses &&
                        t->block->access[t->access].kind == EHP_CPU_WRITE_RANGE;
    return a->kind == EHP_CPU_WRITE_RANGE ? t->write_cycles : copies ? 0 : t->read_cycles;
}

static void take_load(struct cpu_thread *t, const struct ehp_cpu_access *a, struct core_op *op)
{
    op->kind = CORE_LOAD;
    op->after = a->after ? distance_of(t, a) : 0;
    op->named = a->flags & EHP_CPU_NAMED;
    t->loads++;
    if (a->number)
        t->number[a->number] = t->loads;
}

static void take_store(struct cpu_thread *t, const struct ehp_cpu_access *a, struct core_op *op)
{
    op->kind = CORE_STORE;
    op->after = a->after ? distance_of(t, a) : 0;
    op->named = a->flags & EHP_CPU_NAMED;
}

static void take_rare(struct cpu_thread *t, const struct ehp_cpu_access *a, struct core_op *op)
{
    switch (a->kind) {
    case EHP_CPU_ATOMIC_READ:
        take_load(t, a, op);
        break;
    case EHP_CPU_ATOMIC_WRITE:
        take_store(t, a, op);
        break;
    case EHP_CPU_WRITE_PAST: /* what lies beyond its line is a range */
        op->kind = CORE_STORE_PAST;
        op->bytes = a->bytes < CORE_LINE ? (uint8_t)a->bytes : CORE_LINE;
        t->range = (op->address | (CORE_LINE - 1)) + 1;
        t->range_end = op->address + a->bytes;
        t->range_kind = a->kind;
        t->range_cycles = t->write_cycles;
        break;
    case EHP_CPU_FENCE:
        op->kind = CORE_FENCE;
        break;
    case EHP_CPU_ATOMIC:
        op->kind = CORE_ATOMIC;
        break;
    default: /* ranges: an operation that does nothing of memory, and then their lines */
        op->kind = CORE_COMPUTE;
        t->range = op->address;
        t->range_end = t->range + *t->word++;
        t->range_kind = a->kind;
        t->range_cycles = cycles_of_range(t, a);
        break;
    }
    op->waits =
        (a->kind >= EHP_CPU_ATOMIC_READ && a->kind <= EHP_CPU_FENCE) || a->kind == EHP_CPU_ATOMIC_WRITE;
    if (op->waits) {
        wait_after(t, a, op);
        end_turn(t, a, op->address);
    }
}

static void take_access(struct cpu_thread *t, const struct ehp_cpu_access *a, struct core_op *op)
{
    op->address = a->kind == EHP_CPU_FENCE ? 0 : *t->word++;
    if (a->kind == EHP_CPU_READ)
        take_load(t, a, op);
    else if (a->kind == EHP_CPU_WRITE)
        take_store(t, a, op);
    else
        take_rare(t, a, op);
}

/* The record's first operation comes behind the branch that the last one ended with.  What a target looks
 * like is the same wherever the host has put it. */
static void take_branch(struct cpu_thread *t, struct core_op *op)
{
    const struct ehp_cpu_access *goes = t->goes;
    const struct ehp_cpu_block *to = t->block;
    op->branch = (uint32_t)goes->bytes << 16 | goes->number;
    op->target = (uint32_t)(uintptr_t)to;
    op->branch_after = goes->after == EHP_CPU_AFTER_WAIT ? CORE_AFTER_WAIT
                       : goes->after                     ? distance_of(t, goes)
                                                         : 0;
    op->jump = goes->kind == EHP_CPU_JUMP;
    op->signature = (uint8_t)(to->instructions ^ to->words << 1 ^ (uint32_t)to->cycles);
    t->goes = NULL;
}

static bool next(struct core_program *program, struct core_op *op)
{
    struct cpu_thread *t = cpu_thread_of(program);
    *op = (struct core_op){.kind = CORE_COMPUTE};
    if (t->range < t->range_end)
        return next_of_range(t, op);
    if (!t->block) {
        const enum found found =
            t->turn.doing || (!t->blocked && has_record(t)) ? RECORD : wait_for_thread(t);
        if (found == LEFT)
            return false;
        if (found == BLOCKED) {
            op->cycles = BLOCKED_CYCLES;
            return true;
        }
        next_record(t);
        if (t->goes)
            take_branch(t, op);
    }
    op->cycles = t->cycles;
    op->instructions = t->next_instructions;
    t->next_instructions = t->instructions;
    if (t->block->accesses)
        take_access(t, &t->block->access[t->access++], op);
    if (t->access == t->block->accesses)
        record_over(t);
    return true;
}

void cpu_thread_open(struct cpu_thread *t, unsigned core, struct port_domain *domain, double ipc,
                     double vector)
{
    t->core = core;
    t->ipc = ipc;
    t->read_cycles = CORE_LINE / (2 * vector);
    t->write_cycles = CORE_LINE / vector;
    t->domain = domain;
    t->program.next = next;
    t->state = CPU_THREAD_AWAY;
    t->ring.away = 1;
}

static bool runs(uint32_t state)
{
    return state != CPU_THREAD_WAITS;
}

void cpu_thread_wait(struct ehp_cpu_thread *ring)
{
    struct cpu_thread *t = (struct cpu_thread *)ring;
    __atomic_store_n(&ring->head, ring->at, __ATOMIC_RELEASE);
    cpu_thread_set(t, CPU_THREAD_WAITS);
    cpu_thread_wait_for(t, runs);
}
