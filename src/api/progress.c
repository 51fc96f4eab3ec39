/* SPDX-License-Identifier: MIT */
/* A line on the terminal for kernels that take long, and its removal when they end. */
#include <stdio.h>

#include "api/api.h"

static const uint64_t PATIENCE_NS = 1000000000, INTERVAL_NS = 100000000;

void progress_show(struct cp *cp, const struct cp_dispatch *d)
{
    struct ehp_machine *m = machine_of(cp);
    uint64_t now = clock_now_ns();
    if (now - d->start_ns < PATIENCE_NS)
        return;
    uint64_t last = m->progress_ns;
    if (now - last < INTERVAL_NS || !atomic_compare_exchange_strong(&m->progress_ns, &last, now))
        return;
    uint64_t done = d->done;
    char room[64];
    fprintf(stderr, "\r\033[K%.40s  %llu of %llu workgroups  %3.0f %%  %.1f s",
            ehp_printable(d->kernel, room, sizeof(room)), (unsigned long long)done,
            (unsigned long long)d->total, 100.0 * (double)done / (double)d->total,
            (double)(now - d->start_ns) * 1e-9);
    fflush(stderr);
}

void progress_clear(struct ehp_machine *m)
{
    if (atomic_exchange(&m->progress_ns, 0)) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
