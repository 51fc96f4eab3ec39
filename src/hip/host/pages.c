/* SPDX-License-Identifier: MIT */
/*
 * Pages that the program gives back, by the system's calls or by free(); see time_host.h.  They fault when
 * they are touched again.
 */
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "hip/host/apart.h"
#include "hip/host/numa.h"
#include "hip/host/time_host.h"

/* free() takes longer than malloc() from 32 MiB on, where the C library never keeps what it has mapped
 * (Wahlgren et al., V.A); less is unmapped in as long as it is mapped, a guess. */
static uint64_t unmap_ps(size_t bytes)
{
    const struct time_host_costs *costs = time_host_costs();
    return bytes >= 32 << 20 ? costs->unmap_ps : costs->map_ps;
}

/* The thread's core has done what it does to them; then they go. */
#define GIVE_BACK(call, base, bytes)                                                                         \
    do {                                                                                                     \
        uint64_t ps = time_host_map();                                                                       \
        call;                                                                                                \
        ehp_host_unmapped(time_host_machine(), base, bytes);                                                 \
        time_host_mapped(ps + unmap_ps(bytes));                                                              \
    } while (0)

ENTRY int munmap(void *base, size_t bytes)
{
    int status;
    if (!ON_CORE()) {
        status = REAL(munmap)(base, bytes);
        if (status == 0 && !time_host_is_simulator(__builtin_return_address(0)))
            numa_forget(base, bytes, true);
        return status;
    }
    GIVE_BACK(status = REAL(munmap)(base, bytes), base, status == 0 ? bytes : 0);
    numa_forget(base, status == 0 ? bytes : 0, false);
    return status;
}

ENTRY int madvise(void *base, size_t bytes, int advice)
{
    int status;
    if (!ON_CORE() || advice != MADV_DONTNEED)
        return REAL(madvise)(base, bytes, advice);
    GIVE_BACK(status = REAL(madvise)(base, bytes, advice), base, status == 0 ? bytes : 0);
    return status;
}

ENTRY void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
    void *wish = NULL;
    if (flags & MREMAP_FIXED) {
        va_list list;
        va_start(list, flags);
        wish = va_arg(list, void *);
        va_end(list);
    }
    if (!ON_CORE())
        return REAL(mremap)(old, old_bytes, bytes, flags, wish);
    const uint64_t ps = time_host_map();
    const size_t page = 4096, was = (old_bytes + page - 1) & ~(page - 1),
                 is = (bytes + page - 1) & ~(page - 1), kept = was < is ? was : is;
    void *at = REAL(mremap)(old, old_bytes, bytes, flags, wish);
    if (at != MAP_FAILED && wish) /* what was there is gone */
        ehp_host_unmapped(time_host_machine(), at, is);
    if (at != MAP_FAILED && at != old)
        ehp_host_moved(time_host_machine(), old, at, kept);
    if (at != MAP_FAILED && (at != old || is < was))
        ehp_host_unmapped(time_host_machine(), (char *)old + (at == old ? is : 0),
                          at == old ? was - is : was);
    time_host_mapped(ps + KERNEL_PS);
    return at;
}

/* Another allocator's memory has no such word. */
static bool is_of_libc(void *function)
{
    Dl_info own, libc;
    return dladdr(function, &own) && dladdr((void *)gnu_get_libc_version, &libc) &&
           own.dli_fbase == libc.dli_fbase;
}

/* As it marks it in the word before. */
bool time_host_is_mapped(const void *memory)
{
    enum { IS_MMAPPED = 2 };
    static _Atomic int known; /* whose memory it is: 1 another's, 2 the C library's */
    if (!known)
        known = is_of_libc(time_host_real("free")) ? 2 : 1;
    return known == 2 && ((const size_t *)memory)[-1] & IS_MMAPPED;
}

static void give_back(void *memory, bool on_core)
{
    if (apart_has(memory)) {
        apart_give(memory);
        return;
    }
    static __typeof__(free) *real;
    static bool looking; /* the search may itself free something, which then stays */
    if (!real && looking)
        return;
    if (!real) {
        looking = true;
        real = (__typeof__(free) *)time_host_real("free");
    }
    const bool timed = memory && on_core;
    if (!timed || !time_host_is_mapped(memory)) {
        real(memory);
        if (timed)
            (void)ehp_cpu_block(&time_host_costs()->release);
        return;
    }
    enum { HEAD = 2 * sizeof(size_t) }; /* of the C library's, at the mapping's beginning */
    const size_t bytes = malloc_usable_size(memory) + HEAD;
    GIVE_BACK(real(memory), (char *)memory - HEAD, bytes);
}

ENTRY void free(void *memory)
{
    give_back(memory, ON_CORE());
}

void time_host_free(void *memory)
{
    give_back(memory, true);
}
