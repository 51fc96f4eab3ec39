/* SPDX-License-Identifier: MIT */
/* Records of what a thread does; see time_host.h. */
#include "hip/host/time_host.h"
#include "hip/host/affinity.h"
#include "hip/host/apart.h"
#include "hip/host/numa.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { HEAPS = 1024 };
enum { PUBLISH = 256 }; /* words that a core may have to wait for */
enum { ROOM = EHP_CPU_RING / 2 };

/* Of threads that have no core: what they do goes nowhere. */
static __thread struct ehp_cpu_thread *self;
static __thread bool paused; /* it stays away from its core, whatever it does */
static __thread bool beginning;
static __thread bool inside;    /* it is the library that runs, and its calls are the C library's */
static __thread bool preparing; /* before it is on a core, it has what needs to know of those */
static _Atomic bool has_libraries;
static _Atomic bool begun; /* by any */
static bool child;         /* of a process that forked */

ehp_machine *time_host_machine(void)
{
    static ehp_machine *_Atomic known;
    if (!known) {
        ehp_machine *(*get)(void) = (ehp_machine * (*)(void)) dlsym(RTLD_DEFAULT, "ehpMachine");
        known = get ? get() : NULL;
    }
    return known;
}

static struct ehp_cpu_thread *idle(void)
{
    static struct ehp_cpu_thread one;
    if (!one.idle)
        one.away = one.idle = 1;
    return &one;
}

/* Where the simulator's libraries lie, and this one. */
enum { RANGES = 8 };
static struct range {
    uintptr_t begin, end;
} ours[RANGES], this;

static bool is_in(const struct range *range, const void *address)
{
    return (uintptr_t)address - range->begin < range->end - range->begin;
}

static int note_library(struct dl_phdr_info *info, size_t size, void *count)
{
    static const char *const names[] = {"libehp", "libamdhip64", "libhiprtc", "libLLVM"};
    const char *slash = strrchr(info->dlpi_name, '/'), *name = slash ? slash + 1 : info->dlpi_name;
    unsigned *n = count;
    (void)size;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(name, names[i], strlen(names[i])) != 0 || *n == RANGES)
            continue;
        uintptr_t begin = UINTPTR_MAX, end = 0;
        for (unsigned k = 0; k < info->dlpi_phnum; k++) {
            const ElfW(Phdr) *p = &info->dlpi_phdr[k];
            if (p->p_type != PT_LOAD)
                continue;
            uintptr_t from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
            begin = from < begin ? from : begin;
            end = to > end ? to : end;
        }
        ours[*n] = (struct range){begin, end};
        if (is_in(&ours[*n], &ours))
            this = ours[*n];
        (*n)++;
    }
    return 0;
}

/*
 * When the process's first thread is to take time.  LLVM's OpenMP reads, copies and sorts the whole
 * environment when it is first called: that is now, and what it allocates does not move what the program
 * does.
 */
static void begin_libraries(void)
{
    int (*call)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    unsigned n = 0;
    dl_iterate_phdr(note_library, &n); /* with those that the machine has loaded */
    preparing = true;
    if (call)
        call();
    preparing = false;
}

/*
 * The thread's first piece of code, or the first after a call.  The simulator's own threads come here as
 * well: LLVM's library calls what the program has of C++'s in the place of the C++ library's.
 */
static struct ehp_cpu_thread *begin(void)
{
    if (beginning || paused || apart_runs_this())
        return idle();
    beginning = true;
    if (!self) {
        inside = true;
        ehp_machine *m = time_host_machine();
        time_host_become(m ? affinity_open(affinity_own(), -1) : NULL);
        if (!self->idle && !atomic_exchange(&has_libraries, true))
            begin_libraries();
        inside = false;
    }
    if (!self->idle)
        time_host_enter(0);
    beginning = false;
    return self;
}

static void wait_for_room(struct ehp_cpu_thread *t, uint64_t end)
{
    if (end > EHP_CPU_RING)
        ehp_cpu_thread_wait_read(t, end - EHP_CPU_RING);
}

ENTRY uint64_t *ehp_cpu_block(const struct ehp_cpu_block *block)
{
    struct ehp_cpu_thread *t = self;
    if (__builtin_expect(!t || t->away, 0)) {
        if (!t || !t->idle)
            t = begin();
        if (t->idle)
            return t->word;
    }
    uint64_t at = t->at, place = at % EHP_CPU_RING;
    if (place + 1 + block->words > EHP_CPU_RING) {
        wait_for_room(t, at + 1);
        t->word[place] = EHP_CPU_WRAP;
        at += EHP_CPU_RING - place;
        place = 0;
    }
    if (at - t->head >= PUBLISH)
        __atomic_store_n(&t->head, at, __ATOMIC_RELEASE);
    if (at + 1 + block->words - t->room > EHP_CPU_RING) {
        __atomic_store_n(&t->head, at, __ATOMIC_RELEASE);
        wait_for_room(t, at + 1 + block->words + ROOM);
        t->room = __atomic_load_n(&t->tail, __ATOMIC_ACQUIRE);
    }
    t->word[place] = (uint64_t)(uintptr_t)block;
    t->at = at + 1 + block->words;
    return &t->word[place + 1];
}

ENTRY void ehp_cpu_wait(void)
{
    struct ehp_cpu_thread *t = self;
    if (t && !t->away && !__atomic_load_n(&t->sole, __ATOMIC_RELAXED))
        ehp_cpu_thread_wait(t);
}

/* A process that has been forked off has no cores. */
static void forked(void)
{
    if (self && !self->idle)
        fputs("ehp: a process that was forked off takes no simulated time\n", stderr);
    self = idle();
    begun = false;
    child = true;
}

/* LLVM's OpenMP leaves a file behind when its process is killed.  A later one of the same number looks into
 * it, and has another heap then. */
static void remove_openmp_file(void)
{
    char name[64];
    snprintf(name, sizeof(name), "/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
    shm_unlink(name);
}

/* Code for a Zen 4 is compiled anywhere, but runs on the host. The instruction is executed again, and ends
 * the program. */
static void tell_of_instruction(int number)
{
    static const char line[] = "ehp: an instruction that this host does not have: host code runs on the host "
                               "itself, whatever its -march= says\n";
    (void)number;
    if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
        return; /* there is nobody to tell */
}

static void expect_instructions(void)
{
    struct sigaction now, tell = {.sa_handler = tell_of_instruction, .sa_flags = (int)SA_RESETHAND};
    if (sigaction(SIGILL, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        sigaction(SIGILL, &tell, NULL);
}

__attribute__((constructor)) static void prepare(void)
{
    unsigned n = 0;
    idle();
    remove_openmp_file();
    /* A heap for each thread: the C library lets those beyond eight times the host's cores share, with the
     * simulator's as well. */
    if (!secure_getenv("MALLOC_ARENA_MAX"))
        mallopt(M_ARENA_MAX, HEAPS);
    dl_iterate_phdr(note_library, &n);
    apart_open();
    pthread_atfork(NULL, NULL, forked);
    expect_instructions();
}

bool time_host_is_simulator(const void *caller)
{
    if (inside)
        return true;
    for (unsigned i = 0; i < RANGES && ours[i].end; i++)
        if (is_in(&ours[i], caller))
            return true;
    return false;
}

bool time_host_is_this(const void *caller)
{
    return is_in(&this, caller);
}

bool time_host_on_core(const void *caller)
{
    return self && !self->away && !time_host_is_simulator(caller);
}

bool time_host_has_cores(const void *caller)
{
    return preparing || time_host_on_core(caller);
}

bool time_host_is_child(void)
{
    return child;
}

bool time_host_begun(void)
{
    return begun;
}

struct ehp_cpu_thread *time_host_self(void)
{
    return self;
}

void time_host_become(struct ehp_cpu_thread *thread)
{
    self = thread ? thread : idle();
    if (!thread)
        return;
    numa_take(thread); /* while it is nobody's yet, and who made it waits: it cannot come to its turn */
    ehp_cpu_thread_own(time_host_machine(), thread);
}

void time_host_pause(bool on)
{
    paused = on;
}

/* Away and held, so that simulated time stands still. */
ENTRY void ehp_cpu_pause(bool on)
{
    if (on && self && !self->away)
        time_host_leave();
    time_host_pause(on);
}

uint64_t time_host_leave(void)
{
    inside = true;
    uint64_t ps = ehp_cpu_thread_leave(time_host_machine(), self);
    inside = false;
    return ps;
}

void time_host_enter(uint64_t ps)
{
    inside = true;
    begun = true;
    ehp_cpu_thread_enter(time_host_machine(), self, ps);
    inside = false;
}

static struct time_host_costs costs;

static double value_of(const char *key)
{
    struct ehp_chip_value v = {.size = sizeof(v)};
    return ehp_chip_value(time_host_machine(), key, &v) == EHP_OK ? v.number : 0;
}

static void cost(struct ehp_cpu_block *block, const char *key)
{
    block->cycles = (float)(value_of(key) * value_of("core.clock") / 1e3);
    block->instructions =
        (uint32_t)(block->cycles * value_of("core.ipc") / 2) + 1; /* guess: they wait for each other */
}

static void find_costs(void)
{
    cost(&costs.allocate, "alloc.malloc");
    cost(&costs.release, "alloc.malloc_free");
    costs.map_ps = (uint64_t)(value_of("alloc.map") * 1e6);
    costs.unmap_ps = (uint64_t)(value_of("alloc.unmap") * 1e6);
}

const struct time_host_costs *time_host_costs(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    REAL(pthread_once)(&once, find_costs);
    return &costs;
}

bool time_host_sleep(uint64_t until_ps)
{
    inside = true;
    bool called = ehp_cpu_thread_sleep(time_host_machine(), self, until_ps);
    inside = false;
    return called;
}

static void record_atomic(const void *address)
{
    static const struct ehp_cpu_block block = {
        .accesses = 1, .words = 1, .instructions = 10, .access = {{.bytes = 4, .kind = EHP_CPU_ATOMIC}}};
    *ehp_cpu_block(&block) = (uint64_t)(uintptr_t)address;
}

uint64_t time_host_touch(const void *address)
{
    record_atomic(address);
    if (self && !self->away)
        ehp_cpu_thread_wait(self);
    return self->now_ps;
}

uint64_t time_host_touch_lock(const void *address)
{
    record_atomic(address);
    ehp_cpu_wait();
    return self->now_ps;
}

void *time_host_real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}
