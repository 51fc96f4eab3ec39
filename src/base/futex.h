/* SPDX-License-Identifier: MIT */
/* The host's futexes, of this process: futex(2). */
#ifndef EHP_BASE_FUTEX_H
#define EHP_BASE_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while the 32 bits at `address` are `value`, for at most so long; it may also return for nothing. */
static inline void futex_wait(const volatile void *address, uint32_t value, uint64_t timeout_ns)
{
    const struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000),
                               .tv_nsec = (long)(timeout_ns % 1000000000)};
    syscall(SYS_futex, address, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, &t, NULL, 0);
}

static inline void futex_wake(const volatile void *address, uint32_t count)
{
    syscall(SYS_futex, address, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count > INT_MAX ? INT_MAX : (int)count, NULL,
            NULL, 0);
}

#endif
