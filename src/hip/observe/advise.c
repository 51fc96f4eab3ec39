/* SPDX-License-Identifier: MIT */
/* What `ehp advise` is told while the program runs; see advise.h. */
#include <execinfo.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/observe/advise.h"
#include "hip/core/registry.h"
#include "hip/observe/report.h"
#include "hip/observe/stats.h"
#include "hip/stream/stream.h"

/* Where this library's code is: callers are elsewhere. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* One more element of an array that doubles; its index, or -1. */
static int advise_grow(void **array, int *count, size_t element)
{
    int n = *count;

    if ((n & (n - 1)) == 0) {
        void *more = realloc(*array, (n ? 2 * (size_t)n : 1) * element);
        if (!more)
            return -1;
        *array = more;
    }
    memset((char *)*array + (size_t)n * element, 0, element);
    return (*count)++;
}

/* A place in the program by return addresses. */
static int advise_site_of(struct hip_advise *advise, void *const *frame, unsigned some)
{
    for (int i = 0; i < advise->site_count; i++)
        if (advise->sites[i].count == some && !memcmp(advise->sites[i].frame, frame, some * sizeof *frame))
            return i;
    int site = advise_grow((void **)&advise->sites, &advise->site_count, sizeof *advise->sites);
    if (site < 0)
        return site;
    struct advise_site *s = &advise->sites[site];
    s->count = some;
    memcpy(s->frame, frame, some * sizeof *frame);
    /* Now, as reports allocate no memory. */
    if (ehp_host_line(s->frame, s->count, s->line, sizeof s->line) != EHP_OK)
        snprintf(s->line, sizeof s->line, "?");
    return site;
}

/* The place in the program that the current call comes from. */
static int advise_site(struct hip_advise *advise)
{
    void *frame[32];
    int count = backtrace(frame, (int)(sizeof frame / sizeof frame[0])), first = 0;

    while (first < count && (const char *)frame[first] >= __ehdr_start && (const char *)frame[first] < etext)
        first++;
    return advise_site_of(advise, frame + first,
                          count - first < ADVISE_FRAMES ? (unsigned)(count - first) : ADVISE_FRAMES);
}

static int advise_buffer(struct hip_advise *advise, const void *base, size_t bytes, enum advise_kind kind)
{
    int i = advise_grow((void **)&advise->buffers, &advise->buffer_count, sizeof *advise->buffers);

    if (i >= 0) {
        struct advise_buffer *buffer = &advise->buffers[i];
        *buffer = (struct advise_buffer){
            .base = (uintptr_t)base,
            .bytes = bytes,
            .kind = kind,
            .born = ++advise->events,
            .partner = -1,
        };
        buffer->site = advise_site(advise);
    }
    return i;
}

static enum advise_kind advise_kind_of(const struct hip_memory *memory)
{
    switch (memory->kind) {
    case EHP_MEM_HOST:
        return ADVISE_PINNED;
    case EHP_MEM_MANAGED:
        return ADVISE_MANAGED;
    case EHP_MEM_REGISTERED:
        return memory->adopted ? ADVISE_MANAGED_VARIABLE : memory->mapped ? ADVISE_DEVICE : ADVISE_REGISTERED;
    default:
        return ADVISE_DEVICE;
    }
}

/* A device variable at this address; its name goes to the buffer. */
static void advise_name(struct hip_advise *advise, int i, const void *address)
{
    const char *name;
    void *base;
    size_t bytes;

    if (i >= 0 && hip_symbol_at(address, &name, &base, &bytes))
        snprintf(advise->buffers[i].name, sizeof advise->buffers[i].name, "%s", name);
}

void hip_advise_allocated(struct hip_memory *memory)
{
    struct hip_advise *advise = hip_runtime()->advise;

    pthread_mutex_lock(&advise->lock);
    int i = advise_buffer(advise, memory->base, memory->bytes, advise_kind_of(memory));
    memory->advise = i;
    if (memory->adopted)
        advise_name(advise, i, memory->base);
    pthread_mutex_unlock(&advise->lock);
}

/* The buffer of an allocator that contains the address, or -1. */
static int advise_find(const void *address)
{
    const struct hip_memory *memory = hip_memory_find(address, NULL);
    return memory ? memory->advise : -1;
}

void hip_advise_freed(const struct hip_memory *memory)
{
    struct hip_advise *advise = hip_runtime()->advise;

    pthread_mutex_lock(&advise->lock);
    if (memory->advise >= 0)
        advise->buffers[memory->advise].died = ++advise->events;
    pthread_mutex_unlock(&advise->lock);
}

static enum advise_kind advise_host_kind(const void *address)
{
    pthread_attr_t attributes;
    Dl_info info;
    void *stack;
    size_t bytes;

    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &bytes);
        pthread_attr_destroy(&attributes);
        if ((uintptr_t)address - (uintptr_t)stack < bytes)
            return ADVISE_STACK;
    }
    return dladdr(address, &info) ? ADVISE_STATIC : ADVISE_HEAP;
}

/*
 * The host program's own memory is known by the copies that name it: those with
 * the same buffer of the device that touch or overlap are of one buffer.
 */
static int advise_host(struct hip_advise *advise, uintptr_t base, size_t bytes, int other)
{
    for (int i = advise->buffer_count - 1; i >= 0; i--) {
        struct advise_buffer *b = &advise->buffers[i];
        if (b->kind < ADVISE_HEAP || b->partner != other || base > b->base + b->bytes ||
            base + bytes < b->base)
            continue;
        uintptr_t end = base + bytes > b->base + b->bytes ? base + bytes : b->base + b->bytes;
        b->base = base < b->base ? base : b->base;
        b->bytes = end - b->base;
        return i;
    }
    int i = advise_buffer(advise, (const void *)base, bytes, advise_host_kind((const void *)base));
    if (i >= 0)
        advise->buffers[i].partner = other;
    return i;
}

/* A buffer that some allocator knows, device variables included. */
static int advise_known(struct hip_advise *advise, const void *address)
{
    const char *name;
    void *base;
    size_t bytes;
    int i = advise_find(address);

    if (i < 0 && hip_symbol_at(address, &name, &base, &bytes)) {
        i = advise_buffer(advise, base, bytes, ADVISE_VARIABLE);
        advise_name(advise, i, address);
    }
    return i;
}

bool advise_is_host(const struct advise_buffer *buffer)
{
    return buffer->kind >= ADVISE_PINNED;
}

static void advise_note_copy(struct hip_advise *advise, int dst, int src, const void *first, size_t bytes,
                             bool known, bool async)
{
    int site = advise_site(advise), i;

    for (i = 0; i < advise->copy_count; i++)
        if (advise->copies[i].site == site && advise->copies[i].dst == dst && advise->copies[i].src == src)
            break;
    if (i == advise->copy_count)
        i = advise_grow((void **)&advise->copies, &advise->copy_count, sizeof *advise->copies);
    if (i < 0)
        return;
    struct advise_copy *copy = &advise->copies[i];
    const struct advise_buffer *to = &advise->buffers[dst], *from = &advise->buffers[src];
    copy->site = site;
    copy->dst = dst;
    copy->src = src;
    copy->first = copy->calls++ ? copy->first : first;
    copy->bytes += bytes;
    copy->known += known ? bytes : 0;
    copy->async |= async;
    copy->partial |= bytes < (advise_is_host(to) ? from->bytes : to->bytes);
    /* A copy from the same place as before, since a kernel was launched that reads it, and the host has
     * waited for nothing.
     */
    copy->overlapped |= advise_is_host(from) && !advise_is_host(to) && copy->calls > 1 &&
                        copy->first == first && to->last_launch > advise->settled;
}

void hip_advise_copy(const void *dst, size_t dst_span, const void *src, size_t src_span, size_t bytes,
                     bool async)
{
    struct hip_advise *advise = hip_runtime()->advise;

    pthread_mutex_lock(&advise->lock);
    int to = advise_known(advise, dst), from = advise_known(advise, src);
    if (to < 0 && from >= 0)
        to = advise_host(advise, (uintptr_t)dst, dst_span, from);
    else if (from < 0 && to >= 0)
        from = advise_host(advise, (uintptr_t)src, src_span, to);
    /* While a kernel runs, what is there may change. */
    bool still = advise->settled == advise->launches && dst_span == bytes && src_span == bytes;
    if (to >= 0 && from >= 0)
        advise_note_copy(advise, to, from, dst, bytes, still && memcmp(dst, src, bytes) == 0, async);
    pthread_mutex_unlock(&advise->lock);
}

void hip_advise_launch(const struct ihipModuleSymbol_t *function, const unsigned char *kernarg)
{
    struct hip_advise *advise = hip_runtime()->advise;

    pthread_mutex_lock(&advise->lock);
    uint64_t number = ++advise->launches;
    for (uint32_t at = 0; at + sizeof(uintptr_t) <= function->explicit_bytes; at += sizeof(uintptr_t)) {
        const void *value;
        memcpy(&value, kernarg + at, sizeof value);
        int i = advise_find(value);
        if (i < 0)
            continue;
        struct advise_buffer *buffer = &advise->buffers[i];
        buffer->launches += buffer->last_launch != number;
        buffer->last_launch = number;
    }
    /* Which variables it uses is in its code alone: any may be. */
    for (int i = 0; i < advise->buffer_count; i++)
        if (advise->buffers[i].kind == ADVISE_VARIABLE ||
            advise->buffers[i].kind == ADVISE_MANAGED_VARIABLE) {
            advise->buffers[i].launches++;
            advise->buffers[i].last_launch = number;
        }
    pthread_mutex_unlock(&advise->lock);
}

void hip_advise_waited(void)
{
    struct hip_advise *advise = hip_runtime()->advise;

    pthread_mutex_lock(&advise->lock);
    advise->waits += advise->settled != advise->launches;
    advise->settled = advise->launches;
    pthread_mutex_unlock(&advise->lock);
}

void hip_advise_cpu_begins(void)
{
    struct hip_advise *advise = hip_runtime()->advise;
    const struct advise_cores now = advise_cores_of(hip_runtime()->machine, &advise->rates);

    pthread_mutex_lock(&advise->lock);
    advise->before = now;
    pthread_mutex_unlock(&advise->lock);
}

static struct advise_job *advise_job(struct hip_advise *advise, int site, int operation)
{
    int i;

    for (i = 0; i < advise->job_count; i++)
        if (advise->jobs[i].site == site && advise->jobs[i].operation == operation)
            return &advise->jobs[i];
    i = advise_grow((void **)&advise->jobs, &advise->job_count, sizeof *advise->jobs);
    if (i < 0)
        return NULL;
    advise->jobs[i].site = site;
    advise->jobs[i].operation = operation;
    return &advise->jobs[i];
}

/* What the work says that it moves: the middle of long streams is not executed. */
static void advise_note_job(struct hip_advise *advise, const struct ehp_cpu_work *work, uint64_t far)
{
    uint64_t bytes = 0;

    for (unsigned k = 0; k < work->ranges; k++)
        bytes += work->bytes[k] * (work->operation == EHP_CPU_STREAM ? work->passes : 1);
    struct advise_job *job = advise_job(advise, advise_site(advise), work->operation);
    if (!job)
        return;
    const bool chase = work->operation == EHP_CPU_CHASE, update = work->operation == EHP_CPU_UPDATE;
    const uint64_t places = update ? work->passes * work->cores : work->passes;
    job->cores = chase ? 1 : work->cores;
    job->calls++;
    job->bytes += chase || update ? places * 64 : bytes;
    job->accessed += chase || update ? places * 64 : bytes;
    job->instructions += work->instructions ? work->instructions : chase || update ? places : bytes / 64 * 4;
    job->chained += chase ? work->passes : 0;
    job->far += far;
    job->ns += work->ns;
}

/* From `before` to `now`, which is not of other host code. */
static struct advise_cores advise_count(struct hip_advise *advise, const struct advise_cores *before,
                                        const struct advise_cores *now)
{
    const struct advise_cores did = {
        .instructions = now->instructions - before->instructions,
        .accesses = now->accesses - before->accesses,
        .bytes = now->bytes - before->bytes,
        .far = now->far - before->far,
        .chained = now->chained - before->chained,
        .chains = now->chains - before->chains,
        .busy_ns = now->busy_ns - before->busy_ns,
    };
    advise->by_jobs.instructions += did.instructions;
    advise->by_jobs.accesses += did.accesses;
    advise->by_jobs.bytes += did.bytes;
    advise->by_jobs.far += did.far;
    advise->by_jobs.chained += did.chained;
    advise->by_jobs.busy_ns += did.busy_ns;
    return did;
}

void hip_advise_region_begins(const void *team, uint64_t ps)
{
    struct hip_advise *advise = hip_runtime()->advise;
    const struct advise_cores now = advise_cores_of(hip_runtime()->machine, &advise->rates);

    pthread_mutex_lock(&advise->lock);
    if (!advise->team) {
        advise->team = team;
        advise->region = now;
        advise->region_ps = ps;
    }
    pthread_mutex_unlock(&advise->lock);
}

void hip_advise_region_ended(const void *team, const void *code, unsigned cores, uint64_t ps)
{
    struct hip_advise *advise = hip_runtime()->advise;
    const struct advise_cores now = advise_cores_of(hip_runtime()->machine, &advise->rates);
    void *const frame[] = {(void *)(uintptr_t)code};

    pthread_mutex_lock(&advise->lock);
    struct advise_job *job =
        advise->team == team ? advise_job(advise, advise_site_of(advise, frame, 1), -1) : NULL;
    if (job) {
        const struct advise_cores did = advise_count(advise, &advise->region, &now);
        job->cores = cores;
        job->calls++;
        job->instructions += did.instructions;
        job->accessed += did.accesses * (uint64_t)advise->rates.vector;
        job->bytes += did.bytes;
        job->far += did.far / cores;
        job->chained += did.chains / cores;
        job->ns += (ps - advise->region_ps) / 1000;
    }
    advise->team = advise->team == team ? NULL : advise->team;
    pthread_mutex_unlock(&advise->lock);
}

void hip_advise_cpu_ended(const struct ehp_cpu_work *work)
{
    struct hip_advise *advise = hip_runtime()->advise;
    const struct advise_cores now = advise_cores_of(hip_runtime()->machine, &advise->rates);

    pthread_mutex_lock(&advise->lock);
    const struct advise_cores did = advise_count(advise, &advise->before, &now);
    advise_note_job(advise, work, did.far);
    pthread_mutex_unlock(&advise->lock);
}

void hip_advise_asked(void)
{
    struct hip_advise *advise = hip_runtime()->advise;

    pthread_mutex_lock(&advise->lock);
    if (advise->asked < 0)
        advise->asked = advise_site(advise);
    pthread_mutex_unlock(&advise->lock);
}

static double advise_chip(struct hip_runtime *runtime, const char *key)
{
    struct ehp_chip_value value = {.size = sizeof value};
    return ehp_chip_value(runtime->machine, key, &value) == EHP_OK ? value.number : 0;
}

/* EHP_ADVISE=- prints on stderr; a file's name writes JSON there too. */
bool hip_advise_init(struct hip_runtime *runtime)
{
    const char *where = secure_getenv("EHP_ADVISE");

    if (!where || !*where)
        return true;
    runtime->advise = calloc(1, sizeof *runtime->advise);
    if (!runtime->advise)
        return false;
    pthread_mutex_init(&runtime->advise->lock, NULL);
    runtime->advise->asked = -1;
    runtime->advise->copy_start_ns = advise_chip(runtime, "sdma.start");
    runtime->advise->copy_bytes_per_ns =
        advise_chip(runtime, "sdma.width") * advise_chip(runtime, "sdma.clock") / 1000;
    if (runtime->timing) {
        runtime->advise->rates = advise_rates_of(runtime->machine);
        ehp_stats_enable(runtime->machine, true);
    }
    return hip_report_add("EHP_ADVISE", NULL, advise_report_text) &&
           (!strcmp(where, "-") || hip_report_add("EHP_ADVISE", where, advise_report_json));
}
