/* SPDX-License-Identifier: MIT */
/* See apart.h: blocks of four sizes for each doubling, each with a list of those that are free. */
#include "hip/host/apart.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip/host/time_host.h"

/* Below where the kernel puts anything: the heap's region, and behind it mappings. */
#define HEAP_BASE UINT64_C(0x100000000000)
#define HEAP_SIZE (UINT64_C(1) << 38)
#define MAP_BASE  (HEAP_BASE + HEAP_SIZE)
#define MAP_SIZE  (UINT64_C(1) << 43)
enum { ALIGN = 16, PAGE = 4096, HUGE = 2 << 20, STACK = 8 << 20 };
enum { SMALL = 8 * ALIGN, CLASSES = 8 + 4 * 64 };
enum { LARGE = 128 << 10 }; /* whole pages, which go back to the kernel when they are free */

/* Before what the caller has; the beginning of a block that is free. */
struct head {
    uint32_t class;
    uint32_t before; /* bytes of the block */
    uint64_t bytes;  /* of the block */
};
_Static_assert(sizeof(struct head) == ALIGN, "as malloc() aligns");

struct free_block {
    struct free_block *next;
};

/* Of a thread, which nobody else has before nobody asks for that one, and the kernel has none of its number.
 */
struct stack {
    struct stack *next;
    char *base;
    bool left;            /* it was joined, or detached */
    _Atomic pid_t thread; /* 0: it has not begun */
    void *(*run)(void *);
    void *argument;
};

static struct {
    bool on;
    pthread_mutex_t lock;
    char *next; /* what was never taken of the heap */
    struct free_block *free[CLASSES];
    struct stack *stacks;
    _Atomic uint64_t mapped;
} apart = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread bool is_simulators;

bool apart_runs_this(void)
{
    return is_simulators;
}

static void lock(void)
{
    REAL(pthread_mutex_lock)(&apart.lock);
}

static void unlock(void)
{
    REAL(pthread_mutex_unlock)(&apart.lock);
}

void apart_open(void)
{
    const char *mode = secure_getenv("EHP_MODE");
    if (!mode || strcmp(mode, "timing") != 0)
        return;
    apart.next =
        mmap((void *)HEAP_BASE, HEAP_SIZE, PROT_READ | PROT_WRITE, // NOLINT(performance-no-int-to-ptr)
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (apart.next == MAP_FAILED)
        return;
    madvise(apart.next, HEAP_SIZE, MADV_DONTDUMP);
    lock(); /* so that both functions have been found */
    unlock();
    pthread_atfork(lock, unlock, unlock);
    apart.on = true;
}

bool apart_is_for(const void *caller)
{
    return apart.on && (is_simulators || time_host_is_simulator(caller)) && !time_host_is_this(caller);
}

bool apart_has(const void *memory)
{
    return (uintptr_t)memory - HEAP_BASE < HEAP_SIZE;
}

/* The class, and how long its blocks are. */
static unsigned class_of(size_t least, size_t *bytes)
{
    if (least <= SMALL) {
        const unsigned lines = (unsigned)((least + ALIGN - 1) / ALIGN);
        *bytes = (size_t)lines * ALIGN;
        return lines - 1;
    }
    const unsigned top = 63 - (unsigned)__builtin_clzll(least - 1), quarter = (least - 1) >> (top - 2) & 3;
    *bytes = ((size_t)quarter + 5) << (top - 2);
    return SMALL / ALIGN + 4 * top + quarter;
}

static char *take_block(unsigned class, size_t bytes)
{
    lock();
    char *block = (char *)apart.free[class];
    if (block) {
        apart.free[class] = apart.free[class]->next;
    } else {
        const uintptr_t step = bytes >= LARGE ? PAGE : ALIGN, at = ((uintptr_t)apart.next + step - 1) & -step;
        if (HEAP_BASE + HEAP_SIZE - at > bytes) {
            block = apart.next + (at - (uintptr_t)apart.next);
            apart.next = block + bytes;
        }
    }
    unlock();
    return block;
}

void *apart_take(size_t bytes, size_t alignment)
{
    if (alignment < ALIGN)
        alignment = ALIGN;
    size_t all, more = sizeof(struct head) + (alignment > ALIGN ? alignment : 0);
    if (bytes > HEAP_SIZE || alignment > UINT32_MAX / 2) /* head.before */
        return NULL;
    const unsigned class = class_of(bytes + more, &all);
    char *block = take_block(class, all);
    if (!block)
        return NULL;
    char *memory = block + sizeof(struct head);
    memory += -(uintptr_t)memory & (alignment - 1);
    *((struct head *)memory - 1) =
        (struct head){.class = class, .before = (uint32_t)(memory - block), .bytes = all};
    return memory;
}

void *apart_take_clear(size_t bytes)
{
    char *memory = apart_take(bytes, ALIGN);
    if (memory) /* a large one has no other bytes than those of its first page, where the list was */
        memset(memory, 0, bytes + sizeof(struct head) < LARGE ? bytes : PAGE - sizeof(struct head));
    return memory;
}

void apart_give(void *memory)
{
    const struct head head = *((struct head *)memory - 1);
    char *block = (char *)memory - head.before;
    if (head.bytes >= LARGE && madvise(block + PAGE, head.bytes - PAGE, MADV_DONTNEED) != 0)
        memset(block + PAGE, 0, head.bytes - PAGE); /* the program has locked its memory */
    lock();
    struct free_block *first = (struct free_block *)block;
    first->next = apart.free[head.class];
    apart.free[head.class] = first;
    unlock();
}

size_t apart_size(const void *memory)
{
    const struct head *head = (const struct head *)memory - 1;
    return head->bytes - head->before;
}

void *apart_resize(void *old, size_t bytes)
{
    const size_t has = apart_size(old);
    if (!bytes) {
        apart_give(old);
        return NULL;
    }
    if (bytes <= has && bytes >= has / 4)
        return old;
    void *memory = apart_take(bytes, ALIGN);
    if (memory) {
        memcpy(memory, old, bytes < has ? bytes : has);
        apart_give(old);
    }
    return memory;
}

/* ---- mappings ---- */

static void *place(size_t bytes)
{
    const size_t room = (bytes / HUGE + 2) * HUGE;
    uint64_t at = atomic_fetch_add(&apart.mapped, room);
    return (void *)(uintptr_t)(MAP_BASE + at % (MAP_SIZE / 2)); // NOLINT(performance-no-int-to-ptr): a wish
}

void *apart_place(size_t bytes)
{
    return apart.on && is_simulators && bytes <= MAP_SIZE / 2 ? place(bytes) : NULL;
}

/* ---- threads ---- */

static void *begin(void *argument)
{
    struct stack *stack = argument;
    is_simulators = true;
    stack->thread = gettid();
    return stack->run(stack->argument);
}

static struct stack *reuse_stack(void)
{
    lock();
    struct stack *s = apart.stacks;
    while (s && (!s->left || !s->thread || tgkill(getpid(), s->thread, 0) == 0))
        s = s->next;
    if (s) {
        s->left = false;
        s->thread = 0;
    }
    unlock();
    return s;
}

static struct stack *make_stack(void)
{
    char *base = REAL(mmap)(place(STACK), STACK, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    struct stack *s = base != MAP_FAILED ? apart_take(sizeof(*s), ALIGN) : NULL;
    if (!s)
        return NULL;
    mprotect(base, PAGE, PROT_NONE);
    lock();
    *s = (struct stack){.base = base, .next = apart.stacks};
    apart.stacks = s;
    unlock();
    return s;
}

void apart_left(pthread_t id)
{
    if ((uint64_t)id - MAP_BASE >= MAP_SIZE)
        return;
    lock();
    struct stack *s = apart.stacks;
    while (s &&
           (uintptr_t)id - (uintptr_t)s->base >= STACK) /* where the C library keeps what it knows of it */
        s = s->next;
    if (s)
        s->left = true;
    unlock();
}

int apart_create(pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    pthread_attr_t own;
    if (!apart.on || attributes)
        return REAL(pthread_create)(id, attributes, run, argument);
    struct stack *s = reuse_stack();
    if (!s && !(s = make_stack()))
        return REAL(pthread_create)(id, NULL, run, argument);
    s->run = run;
    s->argument = argument;
    pthread_attr_init(&own);
    pthread_attr_setstack(&own, s->base + PAGE, STACK - PAGE);
    const int status = REAL(pthread_create)(id, &own, begin, s);
    pthread_attr_destroy(&own);
    if (status) { /* nobody has it */
        s->thread = INT_MAX;
        s->left = true;
    }
    return status;
}
