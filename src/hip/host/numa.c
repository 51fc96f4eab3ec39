/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls about NUMA, of a simulated node; see numa.h.
 *
 * A policy is a thread's; those that never set one have what the program began with, which numactl leaves in
 * the environment.  Where a page lies is decided when it is touched by a core, or a GPU; of pages that are
 * touched by code whose time is not simulated nobody sees that, and it is decided when somebody asks.
 *
 * Sources: mbind(2), set_mempolicy(2), get_mempolicy(2), move_pages(2); Linux, mm/mempolicy.c.
 */
#include "hip/host/numa.h"

#include <dlfcn.h>
#include <assert.h>
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hip/host/affinity.h"
#include "hip/host/time_host.h"

enum { PAGE = 4096, WORD = 64 };
#define MOVE_PS UINT64_C(2000000) /* guess: a page is unmapped, copied and mapped */
static_assert((int)EHP_NUMA_BIND == MPOL_BIND && (int)EHP_NUMA_PREFERRED_MANY == MPOL_PREFERRED_MANY,
              "Linux's numbers");

/* ---- the node ---- */

static struct numa_nodes node;
static pthread_once_t read_once = PTHREAD_ONCE_INIT;

/* What the program began with, and the calling thread's own. */
static struct ehp_numa_policy first_policy;
static uint32_t first_flags;
static __thread struct {
    struct ehp_numa_policy policy;
    uint32_t flags; /* MPOL_MODE_FLAGS */
    bool has;
} own;

/* EHP_NUMA: nodes:cpus:KiB:distances, a row for each. */
static void read_node(void)
{
    const char *text = secure_getenv("EHP_NUMA"), *policy = secure_getenv("EHP_NUMA_POLICY");
    struct numa_nodes n = {0};
    int used = 0;
    if (!text || sscanf(text, "%u:%u:%lu:%n", &n.nodes, &n.cpus, &n.kib, &used) < 3 || !used ||
        n.nodes > EHP_PACKAGES_MAX)
        return;
    char *at = (char *)text + used;
    for (unsigned a = 0; a < n.nodes; a++)
        for (unsigned b = 0; b < n.nodes; b++)
            n.distance[a][b] = (uint8_t)strtoul(at + (*at == ','), &at, 10);
    node = n;
    if (policy)
        sscanf(policy, "%u:%u:%lx", &first_policy.mode, &first_flags, &first_policy.nodes);
    affinity_inherit(secure_getenv("EHP_NUMA_CPUS"));
}

const struct numa_nodes *numa_nodes(void)
{
    pthread_once(&read_once, read_node);
    return &node;
}

bool numa_answers(const void *caller)
{
    return numa_nodes()->nodes && !time_host_is_simulator(caller);
}

uint64_t numa_all_nodes(void)
{
    return (UINT64_C(1) << node.nodes) - 1;
}

struct ehp_cpu_set numa_own_cpus(void)
{
    struct ehp_cpu_set all = {{0}};
    const struct ehp_cpu_set *mine = affinity_own();
    for (unsigned cpu = 0; cpu < node.nodes * node.cpus; cpu++)
        all.word[cpu / WORD] |= UINT64_C(1) << cpu % WORD;
    return mine ? *mine : all;
}

/* The machine, if it is open: a program may ask before its first HIP call, and then fork. */
static ehp_machine *open_machine(void)
{
    static ehp_machine *(*get)(void);
    if (!get)
        get = (ehp_machine * (*)(void)) dlsym(RTLD_DEFAULT, "ehpMachineIfOpen");
    return get ? get() : NULL;
}

uint64_t numa_free_kib(unsigned which)
{
    uint64_t left = node.kib * 1024, all;
    ehp_machine *m = open_machine();
    if (m)
        ehp_numa_info(m, which, &left, &all);
    return left / 1024;
}

/* ---- policies of threads ---- */

struct ehp_numa_policy numa_policy(void)
{
    return own.has ? own.policy : first_policy;
}

static uint32_t own_flags(void)
{
    return own.has ? own.flags : first_flags;
}

void numa_begin(const struct ehp_numa_policy *policy)
{
    own.policy = *policy;
    own.has = true;
}

void numa_take(struct ehp_cpu_thread *thread)
{
    if (!numa_nodes()->nodes)
        return;
    const struct ehp_numa_policy policy = numa_policy();
    ehp_numa_set(time_host_machine(), thread, 0, &policy);
}

void numa_forget(const void *base, size_t bytes, bool tell)
{
    static const struct ehp_numa_policy none;
    ehp_machine *m = numa_nodes()->nodes ? open_machine() : NULL;
    if (!m || !bytes)
        return;
    ehp_numa_bind(m, base, (bytes + PAGE - 1) & ~(size_t)(PAGE - 1), &none);
    if (tell)
        ehp_host_unmapped(m, base, bytes);
}

/* The thread's core; NULL: it has none, or is away. */
static struct ehp_cpu_thread *on_core(const void *caller)
{
    return time_host_on_core(caller) ? time_host_self() : NULL;
}

void numa_tell(void)
{
    ehp_machine *m = open_machine();
    const struct ehp_numa_policy policy = numa_policy();
    const int cpu = affinity_first();
    if (m)
        ehp_numa_set(m, NULL, cpu < 0 ? 0 : (unsigned)cpu / node.cpus, &policy);
}

bool numa_is_alone(void)
{
    return __libc_single_threaded || time_host_is_child();
}

/* A program that this one becomes begins with it. */
static void leave_to_next(void)
{
    char text[64];
    snprintf(text, sizeof(text), "%u:%u:%lx", own.policy.mode, own.flags, own.policy.nodes);
    if (numa_is_alone())
        setenv("EHP_NUMA_POLICY", text, 1);
}

/* Nodes that there are among the kernel's argument; bits beyond the mask's end are none. */
static uint64_t read_nodes(const unsigned long *mask, unsigned long bits)
{
    uint64_t nodes = mask && bits > 1 ? *mask : 0;
    if (bits - 1 < WORD && bits > 1)
        nodes &= (UINT64_C(1) << (bits - 1)) - 1;
    return nodes;
}

static bool write_nodes(uint64_t nodes, unsigned long *mask, unsigned long bits)
{
    if (!mask)
        return true;
    if (bits < node.nodes)
        return false;
    const size_t words = (bits - 1 + WORD - 1) / WORD;
    memset(mask, 0, words * sizeof(*mask));
    if (words)
        *mask = nodes;
    return true;
}

/* An errno. */
static int read_policy(unsigned long mode, const unsigned long *mask, unsigned long bits,
                       struct ehp_numa_policy *policy, uint32_t *flags)
{
    const uint64_t asked = read_nodes(mask, bits), nodes = asked & numa_all_nodes();
    *flags = (uint32_t)mode & MPOL_MODE_FLAGS;
    *policy = (struct ehp_numa_policy){.mode = (uint32_t)mode & ~(uint32_t)MPOL_MODE_FLAGS, .nodes = nodes};
    switch (policy->mode) {
    case MPOL_DEFAULT:
    case MPOL_LOCAL:
        return asked || *flags ? EINVAL : 0;
    case MPOL_PREFERRED:
        if (!asked && !*flags) {
            policy->mode = MPOL_LOCAL;
            return 0;
        }
        break;
    case MPOL_BIND:
    case MPOL_INTERLEAVE:
    case MPOL_PREFERRED_MANY:
        break;
    default:
        return EINVAL;
    }
    return nodes ? 0 : EINVAL;
}

static int set_policy(const long a[6], struct ehp_cpu_thread *thread)
{
    struct ehp_numa_policy policy;
    uint32_t flags;
    const int error =
        read_policy((unsigned long)a[0], (const unsigned long *)a[1], (unsigned long)a[2], &policy, &flags);
    if (error)
        return error;
    own.policy = policy;
    own.flags = flags;
    own.has = true;
    if (getpid() == gettid()) {
        first_policy = policy;
        first_flags = flags;
        leave_to_next();
    }
    if (thread)
        numa_take(thread);
    else
        numa_tell();
    return 0;
}

/* ---- pages ---- */

/* Somebody has mapped all of it. */
static bool is_mapped(uint64_t base, uint64_t bytes)
{
    enum { SOME = 1024 };
    unsigned char resident[SOME];
    for (uint64_t at = 0; at < bytes; at += SOME * PAGE) {
        const uint64_t left = bytes - at;
        if (mincore((void *)(uintptr_t)(base + at), left < SOME * PAGE ? left : SOME * PAGE, resident) != 0)
            return false;
    }
    return true;
}

static void *page_at(uint64_t address)
{
    return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr): as the kernel takes it
}

/* The node of a page that is there, or -errno. */
static int node_of_page(ehp_machine *m, struct ehp_cpu_thread *thread, uint64_t page)
{
    unsigned package;
    switch (ehp_numa_find(m, thread, page_at(page), &package)) {
    case EHP_OK:
        return (int)package;
    case EHP_ERR_NOT_FOUND:
        return -ENOENT;
    default:
        return -ENOMEM;
    }
}

/* 0, or -errno. */
static int move_page(ehp_machine *m, uint64_t page, unsigned to)
{
    switch (ehp_numa_move(m, page_at(page), to)) {
    case EHP_OK:
        return 0;
    case EHP_ERR_NOT_FOUND:
        return -ENOENT;
    default:
        return -EBUSY;
    }
}

/* Node `n` of a policy's, from the first again behind the last. */
static unsigned nth_node(uint64_t nodes, uint64_t n)
{
    for (n %= (unsigned)__builtin_popcountll(nodes); n > 0; n--)
        nodes &= nodes - 1;
    return (unsigned)__builtin_ctzll(nodes);
}

/* Pages that are there have the places that they had before; or are moved to where the policy has them. */
static int bind_range(const long a[6], struct ehp_cpu_thread *thread, uint64_t *moved)
{
    const uint64_t base = (uint64_t)a[0], bytes = ((uint64_t)a[1] + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    const unsigned flags = (unsigned)a[5];
    struct ehp_numa_policy policy;
    uint32_t mode_flags;
    if (base % PAGE || base + bytes < base || flags & ~(unsigned)MPOL_MF_VALID)
        return EINVAL;
    int error = read_policy((unsigned long)a[2], (const unsigned long *)a[3], (unsigned long)a[4], &policy,
                            &mode_flags);
    if (error || !bytes)
        return error;
    if (!is_mapped(base, bytes))
        return EFAULT;
    ehp_machine *m = time_host_machine();
    if (!m)
        return 0; /* whose pages are nobody's */
    const bool moves = flags & (MPOL_MF_MOVE | MPOL_MF_MOVE_ALL) && policy.nodes;
    for (uint64_t at = 0; at < bytes; at += PAGE) {
        unsigned char resident = 0;
        if (mincore(page_at(base + at), PAGE, &resident) != 0 || !(resident & 1))
            continue;
        const int now = node_of_page(m, thread, base + at);
        if (now < 0 || !policy.nodes || policy.nodes >> now & 1)
            continue;
        const unsigned to =
            policy.mode == MPOL_INTERLEAVE ? nth_node(policy.nodes, at / PAGE) : nth_node(policy.nodes, 0);
        if (moves && move_page(m, base + at, to) == 0)
            ++*moved;
        else if (flags & MPOL_MF_STRICT)
            error = EIO;
    }
    ehp_numa_bind(m, page_at(base), bytes, &policy);
    return error;
}

/* Linux looks the page up by touching it. */
static int find_page(uint64_t address, struct ehp_cpu_thread *thread, int *out)
{
    if (!is_mapped(address & ~(uint64_t)(PAGE - 1), PAGE))
        return EFAULT;
    madvise(page_at(address & ~(uint64_t)(PAGE - 1)), PAGE, MADV_POPULATE_READ);
    ehp_machine *m = time_host_machine();
    const int found = m ? node_of_page(m, thread, address) : 0;
    *out = found;
    return found < 0 ? EFAULT : 0;
}

static int get_policy(const long a[6], struct ehp_cpu_thread *thread)
{
    int *mode = (int *)a[0];
    unsigned long *mask = (unsigned long *)a[1];
    const unsigned long bits = (unsigned long)a[2];
    const unsigned flags = (unsigned)a[4];
    const uint64_t address = (uint64_t)a[3];
    struct ehp_numa_policy policy = numa_policy();
    uint32_t mode_flags = own_flags();
    if (flags & ~(unsigned)(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED))
        return EINVAL;
    if (flags & MPOL_F_MEMS_ALLOWED) {
        if (flags & (MPOL_F_NODE | MPOL_F_ADDR))
            return EINVAL;
        if (mode)
            *mode = 0;
        return write_nodes(numa_all_nodes(), mask, bits) ? 0 : EINVAL;
    }
    if (!(flags & MPOL_F_ADDR) && address)
        return EINVAL;
    if (flags & MPOL_F_ADDR) {
        if (!is_mapped(address & ~(uint64_t)(PAGE - 1), PAGE))
            return EFAULT;
        ehp_machine *m = time_host_machine();
        if (m && ehp_numa_policy_of(m, page_at(address), &policy) == EHP_OK)
            mode_flags = 0;
    }
    int value = (int)(policy.mode | mode_flags);
    if (flags & MPOL_F_NODE) {
        int error = 0;
        if (flags & MPOL_F_ADDR)
            error = find_page(address, thread, &value);
        else if (policy.mode == MPOL_INTERLEAVE)
            value = (int)nth_node(policy.nodes, 0);
        else
            error = EINVAL;
        if (error)
            return error;
    }
    if (mode)
        *mode = value;
    return write_nodes(policy.nodes, mask, bits) ? 0 : EINVAL;
}

static int move_pages_of(const long a[6], struct ehp_cpu_thread *thread, uint64_t *moved)
{
    const pid_t pid = (pid_t)a[0];
    const unsigned long count = (unsigned long)a[1];
    const uint64_t *page = (const uint64_t *)a[2];
    const int *to = (const int *)a[3];
    int *status = (int *)a[4];
    if ((unsigned)a[5] & ~(unsigned)(MPOL_MF_MOVE | MPOL_MF_MOVE_ALL)) /* an int, of the long */
        return EINVAL;
    if (pid && pid != getpid())
        return EPERM; /* another's machine is its own */
    ehp_machine *m = time_host_machine();
    for (unsigned long i = 0; to && i < count; i++)
        if (to[i] < 0 || to[i] >= (int)node.nodes)
            return ENODEV;
    for (unsigned long i = 0; i < count; i++) {
        const uint64_t first = page[i] & ~(uint64_t)(PAGE - 1);
        int now = is_mapped(first, PAGE) ? m ? node_of_page(m, thread, first) : 0 : -EFAULT;
        if (now >= 0 && to && now != to[i]) {
            now = m ? move_page(m, first, (unsigned)to[i]) : 0;
            *moved += now == 0;
            now = now == 0 ? to[i] : now;
        }
        if (status)
            status[i] = now;
    }
    return 0;
}

/* ---- the calls ---- */

static long finish(int error)
{
    if (!error)
        return 0;
    errno = error;
    return -1;
}

bool numa_syscall(long number, const long a[6], const void *caller, long *result)
{
    /* The runtime asks for its program, as ROCm's does. */
    if (!numa_nodes()->nodes)
        return false;
    const bool of_program = !time_host_is_simulator(caller);
    switch (number) {
    case SYS_sched_setaffinity:
    case SYS_sched_getaffinity:
        if (!of_program || (a[0] && a[0] != gettid()))
            return false;
        break;
    case SYS_getcpu:
    case SYS_mbind:
    case SYS_set_mempolicy:
    case SYS_get_mempolicy:
    case SYS_move_pages:
    case SYS_migrate_pages:
        break;
    default:
        return false;
    }
    if (number == SYS_sched_setaffinity) {
        *result = finish(affinity_set((size_t)a[1], (const cpu_set_t *)a[2], time_host_on_core(caller)));
        return true;
    }
    if (number == SYS_sched_getaffinity) {
        *result = affinity_get((size_t)a[1], (cpu_set_t *)a[2]);
        *result = *result < 0 ? finish(EINVAL) : *result;
        return true;
    }
    if (number == SYS_getcpu) {
        *result = 0;
        return affinity_getcpu((unsigned *)a[0], (unsigned *)a[1], caller);
    }
    struct ehp_cpu_thread *thread = on_core(caller);
    const uint64_t ps = thread ? time_host_leave() : 0;
    uint64_t moved = 0;
    const int error = number == SYS_mbind           ? bind_range(a, thread, &moved)
                      : number == SYS_set_mempolicy ? set_policy(a, thread)
                      : number == SYS_get_mempolicy ? get_policy(a, thread)
                      : number == SYS_move_pages    ? move_pages_of(a, thread, &moved)
                                                    : ENOSYS;
    if (thread)
        time_host_enter(ps + KERNEL_PS + moved * MOVE_PS);
    *result = finish(error);
    return true;
}
