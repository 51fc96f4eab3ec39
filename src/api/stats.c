/* SPDX-License-Identifier: MIT */
/* Counts per kernel, summed over dispatches. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "engine/timed/count.h"

struct stats {
    bool enabled; /* guarded by lock, as the rest */
    pthread_mutex_t lock;
    struct ehp_stats **kernel; /* names are owned here */
    size_t count;
};

struct stats *stats_open(void)
{
    struct stats *stats = calloc(1, sizeof(*stats));
    if (stats)
        pthread_mutex_init(&stats->lock, NULL);
    return stats;
}

void stats_close(struct stats *stats)
{
    for (size_t i = 0; i < stats->count; i++) {
        free((char *)(uintptr_t)stats->kernel[i]->kernel);
        free((void *)(uintptr_t)stats->kernel[i]->counters);
        free(stats->kernel[i]);
    }
    free(stats->kernel);
    pthread_mutex_destroy(&stats->lock);
    free(stats);
}

static struct ehp_stats *find_or_add(struct stats *stats, const char *name)
{
    for (size_t i = 0; i < stats->count; i++)
        if (!strcmp(stats->kernel[i]->kernel, name))
            return stats->kernel[i];
    struct ehp_stats **list = realloc(stats->kernel, (stats->count + 1) * sizeof(*list));
    struct ehp_stats *row = calloc(1, sizeof(*row));
    char *copy = strdup(name);
    if (list)
        stats->kernel = list;
    if (!list || !row || !copy) {
        free(row);
        free(copy);
        return NULL;
    }
    row->size = sizeof(*row);
    row->kernel = copy;
    list[stats->count++] = row;
    return row;
}

/* The kernel's own, of all its dispatches; behind them is what ehp_stats_get() has shown of them. */
static void add_counters(struct ehp_stats *sum, const struct ehp_counters *more)
{
    struct ehp_counters *all = (struct ehp_counters *)(uintptr_t)sum->counters;
    if (!all)
        sum->counters = all = calloc(2, sizeof(*all));
    if (all)
        counters_add(all, more);
}

/* The lock is held. */
static void add(struct stats *stats, const struct ehp_stats *one)
{
    struct ehp_stats *sum = find_or_add(stats, one->kernel);
    if (sum) {
        sum->dispatches++;
        sum->workgroups += one->workgroups;
        sum->waves += one->waves;
        memcpy(sum->grid, one->grid, sizeof(sum->grid));
        memcpy(sum->block, one->block, sizeof(sum->block));
        sum->instructions += one->instructions;
        sum->valu += one->valu;
        sum->salu += one->salu;
        sum->mfma += one->mfma;
        sum->vmem += one->vmem;
        sum->smem += one->smem;
        sum->lds += one->lds;
        sum->flat_scratch += one->flat_scratch;
        sum->branch += one->branch;
        sum->other += one->other;
        sum->lanes_valu += one->lanes_valu;
        sum->bytes_read += one->bytes_read;
        sum->bytes_written += one->bytes_written;
        sum->lds_bytes += one->lds_bytes;
        sum->scratch_bytes += one->scratch_bytes;
        sum->atomics += one->atomics;
        sum->compiled += one->compiled;
        sum->seconds += one->seconds;
        if (one->detailed_workgroups || sum->detailed_workgroups) {
            sum->sample_error = one->sample_error > sum->sample_error ? one->sample_error : sum->sample_error;
            sum->detailed_workgroups += one->detailed_workgroups ? one->detailed_workgroups : one->workgroups;
        }
        if (one->counters)
            add_counters(sum, one->counters);
    }
}

static void show(struct ehp_machine *m, const struct cp_dispatch *d)
{
    struct ehp_dispatch shown = {.size = sizeof(shown),
                                 .id = d->serial,
                                 .kernel = d->kernel,
                                 .agent = d->queue->agent,
                                 .lds_bytes = d->launch.lds_bytes,
                                 .vgprs = d->vgprs,
                                 .sgprs = d->sgprs,
                                 .start_ns = d->start_ns,
                                 .end_ns = cp_now_ns(d->cp),
                                 .counters = d->stats.counters};
    memcpy(shown.grid, d->stats.grid, sizeof(shown.grid));
    memcpy(shown.block, d->stats.block, sizeof(shown.block));
    m->dispatch_fn(&shown, m->dispatch_user);
}

void stats_completed(struct cp *cp, struct cp_dispatch *d)
{
    struct ehp_machine *m = machine_of(cp);
    if (cp->tells_progress)
        progress_clear(m);
    if (!cp->counts)
        return;
    if (m->dispatch_fn && d->stats.counters)
        show(m, d);
    pthread_mutex_lock(&m->stats->lock);
    if (m->stats->enabled)
        add(m->stats, &d->stats);
    pthread_mutex_unlock(&m->stats->lock);
}

void ehp_stats_enable(ehp_machine *m, bool on)
{
    pthread_mutex_lock(&m->stats->lock);
    m->stats->enabled = on;
    m->cp.counts = on || m->dispatch_fn;
    pthread_mutex_unlock(&m->stats->lock);
}

int ehp_set_dispatch_handler(ehp_machine *m, ehp_dispatch_fn *fn, void *user)
{
    if (!m->timing)
        return machine_error(m, EHP_ERR_UNSUPPORTED,
                             "dispatches are counted in simulated time: open the machine with .timing");
    pthread_mutex_lock(&m->stats->lock);
    m->dispatch_user = user;
    m->dispatch_fn = fn;
    m->cp.counts = fn || m->stats->enabled;
    pthread_mutex_unlock(&m->stats->lock);
    return EHP_OK;
}

unsigned ehp_stats_count(ehp_machine *m)
{
    pthread_mutex_lock(&m->stats->lock);
    unsigned n = (unsigned)m->stats->count;
    pthread_mutex_unlock(&m->stats->lock);
    return n;
}

int ehp_stats_get(ehp_machine *m, unsigned index, struct ehp_stats *out)
{
    pthread_mutex_lock(&m->stats->lock);
    bool ok = index < m->stats->count;
    if (ok) {
        size_t size = out->size < sizeof(*out) ? out->size : sizeof(*out);
        struct ehp_stats shown = *m->stats->kernel[index];
        if (shown.counters) {
            struct ehp_counters *all = (struct ehp_counters *)(uintptr_t)shown.counters;
            all[1] = all[0];
            shown.counters = &all[1];
        }
        memcpy(out, &shown, size);
        out->size = size;
    }
    pthread_mutex_unlock(&m->stats->lock);
    return ok ? EHP_OK
              : machine_error(m, EHP_ERR_NOT_FOUND, "there are statistics of %u kernels, not %u",
                              ehp_stats_count(m), index + 1);
}
