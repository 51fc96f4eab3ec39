/* SPDX-License-Identifier: MIT */
/*
 * Memory that the program asks for; see time_host.h.  Where the kernel maps it depends on what is mapped
 * already, and how caches are used depends on where it is: so threads ask in the order of simulated time.  On
 * the chip it is the lock of a process's mappings that has them do so, which is a line that goes from core to
 * core here too.  Small blocks come from a thread's own heap, and
 * take instructions alone.
 */
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "hip/host/apart.h"
#include "hip/host/time_host.h"

/* The least that the C library maps by itself. */
enum { LARGE = 128 * 1024 - 64 };

/*
 * That lock.  Who has it is away, and those on other cores of its CCD may come to it before the window is
 * over in which it left: so it is a lock in simulated time, read and written while no other's core is there.
 */
static struct {
    uint64_t line;
    bool taken;
} mappings;

void time_host_turn(void)
{
    do
        time_host_touch(&mappings.line);
    while (mappings.taken);
}

uint64_t time_host_map(void)
{
    time_host_turn();
    mappings.taken = true;
    return time_host_leave();
}

void time_host_mapped(uint64_t ps)
{
    time_host_enter(ps);
    time_host_touch(&mappings.line);
    mappings.taken = false;
}

static struct {
    __typeof__(malloc) *malloc;
    __typeof__(calloc) *calloc;
    __typeof__(realloc) *realloc;
    __typeof__(aligned_alloc) *aligned_alloc;
    __typeof__(memalign) *memalign;
    __typeof__(posix_memalign) *posix_memalign;
} libc;

/* At the process's first call, when there is one thread.  Who allocates while a function is searched for gets
 * nothing, which the dynamic linker bears. */
static bool find(void)
{
    static bool looking;
    if (libc.posix_memalign)
        return true;
    if (looking) {
        errno = ENOMEM;
        return false;
    }
    looking = true;
#define FIND(name) libc.name = (__typeof__(name) *)time_host_real(#name)
    FIND(malloc);
    FIND(calloc);
    FIND(realloc);
    FIND(aligned_alloc);
    FIND(memalign);
    FIND(posix_memalign);
    return true;
}

/* It is back, a call of the kernel's later where it was one. */
static void back(uint64_t ps, bool mapped)
{
    const int error = errno;
    time_host_mapped(ps + (mapped ? time_host_costs()->map_ps : 0));
    errno = error;
}

#define ASK(on_core, memory, bytes, call)                                                                    \
    do {                                                                                                     \
        if ((bytes) >= LARGE && (on_core)) {                                                                 \
            const uint64_t ps = time_host_map();                                                             \
            call;                                                                                            \
            back(ps, (memory) && time_host_is_mapped(memory));                                               \
        } else {                                                                                             \
            call;                                                                                            \
            if (on_core)                                                                                     \
                (void)ehp_cpu_block(&time_host_costs()->allocate);                                           \
        }                                                                                                    \
    } while (0)

void *time_host_malloc(size_t bytes)
{
    void *memory;
    ASK(true, memory, bytes, memory = libc.malloc(bytes));
    return memory;
}

/* Bytes that the C library itself moves, or clears if there is nothing that they come from. */
static void write_range(void *to, const void *from, size_t bytes)
{
    static const struct {
        struct ehp_cpu_block block;
        struct ehp_cpu_access write;
    } copy = {{.accesses = 2,
               .words = 4,
               .instructions = 20,
               .cycles = 10,
               .access = {{.kind = EHP_CPU_READ_RANGE}}},
              {.kind = EHP_CPU_WRITE_RANGE}},
      clear = {{.accesses = 1,
                .words = 2,
                .instructions = 20,
                .cycles = 10,
                .access = {{.kind = EHP_CPU_WRITE_RANGE}}},
               {0}};
    uint64_t *word = ehp_cpu_block(from ? &copy.block : &clear.block);
    if (from) {
        *word++ = (uint64_t)(uintptr_t)from;
        *word++ = bytes;
    }
    word[0] = (uint64_t)(uintptr_t)to;
    word[1] = bytes;
}

/* What the simulator has of its own, or else of the C library's as the program. */
#define OWN(taken)                                                                                           \
    do {                                                                                                     \
        void *own;                                                                                           \
        if (apart_is_for(__builtin_return_address(0)) && (own = (taken)))                                    \
            return own;                                                                                      \
    } while (0)

ENTRY void *malloc(size_t bytes)
{
    void *memory = NULL;
    OWN(apart_take(bytes, 0));
    if (find())
        ASK(ON_CORE(), memory, bytes, memory = libc.malloc(bytes));
    return memory;
}

ENTRY void *calloc(size_t count, size_t each)
{
    void *memory = NULL;
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes))
        bytes = 0; /* which is refused */
    else
        OWN(apart_take_clear(bytes));
    if (find())
        ASK(ON_CORE(), memory, bytes, memory = libc.calloc(count, each));
    if (memory && bytes && ON_CORE() && !time_host_is_mapped(memory))
        write_range(memory, NULL, bytes);
    return memory;
}

static void *resize(void *old, size_t bytes, const void *caller)
{
    const bool on_core = time_host_on_core(caller);
    void *memory = NULL;
    if (apart_has(old))
        return apart_resize(old, bytes);
    if (!old && apart_is_for(caller) && (memory = apart_take(bytes, 0)))
        return memory;
    const size_t was = old && on_core ? REAL(malloc_usable_size)(old) : 0;
    if (find())
        ASK(on_core, memory, bytes, memory = libc.realloc(old, bytes));
    if (memory && memory != old && was && !time_host_is_mapped(memory))
        write_range(memory, old, was < bytes ? was : bytes);
    return memory;
}

ENTRY void *realloc(void *old, size_t bytes)
{
    return resize(old, bytes, __builtin_return_address(0));
}

/* The C library's does not call the one above. */
ENTRY void *reallocarray(void *old, size_t count, size_t each)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(old, bytes, __builtin_return_address(0));
}

ENTRY size_t malloc_usable_size(void *memory)
{
    return apart_has(memory) ? apart_size(memory) : REAL(malloc_usable_size)(memory);
}

ENTRY void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory = NULL;
    OWN(apart_take(bytes, alignment));
    if (find())
        ASK(ON_CORE(), memory, bytes, memory = libc.aligned_alloc(alignment, bytes));
    return memory;
}

ENTRY void *memalign(size_t alignment, size_t bytes)
{
    void *memory = NULL;
    OWN(apart_take(bytes, alignment));
    if (find())
        ASK(ON_CORE(), memory, bytes, memory = libc.memalign(alignment, bytes));
    return memory;
}

ENTRY int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    int status = ENOMEM;
    void *own = apart_is_for(__builtin_return_address(0)) ? apart_take(bytes, alignment) : NULL;
    if (own) {
        *memory = own;
        return 0;
    }
    if (find())
        ASK(ON_CORE(), status == 0 ? *memory : NULL, bytes,
            status = libc.posix_memalign(memory, alignment, bytes));
    return status;
}

ENTRY void *mmap(void *base, size_t bytes, int protection, int flags, int file, off_t at)
{
    if (!ON_CORE())
        return REAL(mmap)(base ? base : apart_place(bytes), bytes, protection, flags, file, at);
    const uint64_t ps = time_host_map();
    void *memory = REAL(mmap)(base, bytes, protection, flags, file, at);
    back(ps, true);
    return memory;
}

/* One function for both sizes of `at`: they are the same here. */
extern __typeof__(mmap) plain_mmap __asm__("mmap")
    __attribute__((alias("mmap64"), leaf, nothrow, visibility("default")));
