/* SPDX-License-Identifier: MIT */
/*
 * What `ehp advise` says: which buffers are on both sides, which copies one memory
 * makes superfluous, which allocator each buffer should have, and what that saves.
 * The advice is that of "Dissecting CPU-GPU Unified Physical Memory on AMD MI300A
 * APUs", III.C.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hip/observe/advise.h"
#include "hip/observe/stats.h"

/* What to do with two buffers that are one. */
enum advise_use { USE_ONE, USE_PINNED, USE_STATIC, USE_STACK, USE_TWO, USE_DIRECT, USE_COUNT };

static const struct {
    const char *shown, *text;
} advise_uses[USE_COUNT] = {
    [USE_ONE] = {"one hipMalloc", "allocate it once with hipMalloc, for the CPU as well"},
    [USE_PINNED] = {"one hipMalloc", "allocate it once with hipMalloc; nothing is to be pinned"},
    [USE_STATIC] =
        {"hipMalloc",
         "allocate it with hipMalloc instead of static variables; __managed__ would do, but the GPU reads "
         "such variables slowly"},
    [USE_STACK] =
        {"hipMalloc or stack",
         "allocate it with hipMalloc, or with HSA_XNACK=1 pass the address of the variable itself, if its "
         "function waits for the kernel"},
    [USE_TWO] = {"two, swapped", "the CPU refills it while a kernel reads the copy: have two of hipMalloc, "
                                 "swap them, and wait for an "
                                 "event before one is filled again"},
    [USE_DIRECT] = {"read in place", "the other side reads and writes it where it is"},
};

/* A buffer of the device with one of the host between which there were copies. */
struct advise_pair {
    int device, host;
    uint64_t to_gpu, to_cpu;
    bool overlapped, merged; /* merged: one of the two goes */
    enum advise_use use;
    unsigned times; /* pairs like this one, from the same places */
};

/* Allocations from one place. */
struct advise_repeats {
    bool any;
    int first;      /* buffer */
    unsigned times; /* that came and went, one after another: several devices have one each at a time */
    uint64_t until; /* when the last of those went */
};

/* Bytes that one event adds: now, and on one memory. */
struct advise_change {
    int64_t bytes[2];
};

struct advise_result {
    struct hip_advise *advise;
    struct advise_pair *pairs;
    int count;
    struct advise_repeats *repeats; /* by site + 1 */
    struct advise_change *change;   /* by event */
    bool *gone;                     /* buffers of the device that are no more */
    uint64_t peak[2];               /* now, and on one memory */
    uint64_t copies, copied;
    double seconds;
};

static const char *const advise_kinds[] = {
    [ADVISE_DEVICE] = "device",
    [ADVISE_VARIABLE] = "device variable",
    [ADVISE_MANAGED] = "managed",
    [ADVISE_MANAGED_VARIABLE] = "managed variable",
    [ADVISE_PINNED] = "hipHostMalloc",
    [ADVISE_REGISTERED] = "hipHostRegister",
    [ADVISE_HEAP] = "heap",
    [ADVISE_STACK] = "stack",
    [ADVISE_STATIC] = "static variable",
};

/* ---- what the copies mean --------------------------------------------------------------------------------
 */

static bool copy_crosses(const struct hip_advise *a, const struct advise_copy *copy)
{
    return advise_is_host(&a->buffers[copy->dst]) != advise_is_host(&a->buffers[copy->src]);
}

static struct advise_pair *result_pair(struct advise_result *r, int device, int host)
{
    for (int i = 0; i < r->count; i++)
        if (r->pairs[i].device == device && r->pairs[i].host == host)
            return &r->pairs[i];
    r->pairs[r->count] = (struct advise_pair){.device = device, .host = host, .times = 1};
    return &r->pairs[r->count++];
}

static double copy_seconds(const struct hip_advise *a, uint64_t calls, uint64_t bytes)
{
    double ns = (double)calls * a->copy_start_ns;
    return (a->copy_bytes_per_ns > 0 ? ns + (double)bytes / a->copy_bytes_per_ns : ns) * 1e-9;
}

static void result_copies(struct advise_result *r)
{
    for (int i = 0; i < r->advise->copy_count; i++) {
        const struct advise_copy *copy = &r->advise->copies[i];
        if (!copy_crosses(r->advise, copy))
            continue;
        bool to_cpu = advise_is_host(&r->advise->buffers[copy->dst]);
        struct advise_pair *pair =
            result_pair(r, to_cpu ? copy->src : copy->dst, to_cpu ? copy->dst : copy->src);
        *(to_cpu ? &pair->to_cpu : &pair->to_gpu) += copy->bytes;
        pair->overlapped |= copy->overlapped;
        r->copies += copy->calls;
        r->copied += copy->bytes;
        r->seconds += copy_seconds(r->advise, copy->calls, copy->bytes);
    }
}

static int pair_order(const void *a, const void *b)
{
    const struct advise_pair *p = a, *q = b;
    uint64_t left = p->to_gpu + p->to_cpu, right = q->to_gpu + q->to_cpu;

    if (left != right)
        return left < right ? 1 : -1;
    return p->device != q->device ? p->device - q->device : p->host - q->host;
}

static bool same_place(const struct advise_buffer *a, const struct advise_buffer *b)
{
    return a->base < b->base + b->bytes && b->base < a->base + a->bytes;
}

static enum advise_use pair_use(const struct advise_buffer *device, const struct advise_buffer *host)
{
    if (host->kind == ADVISE_STATIC || device->kind == ADVISE_VARIABLE ||
        device->kind == ADVISE_MANAGED_VARIABLE)
        return USE_STATIC;
    if (host->kind == ADVISE_STACK)
        return USE_STACK;
    return host->kind == ADVISE_PINNED || host->kind == ADVISE_REGISTERED ? USE_PINNED : USE_ONE;
}

/* Each buffer becomes one with one of the other side, those first between which most was copied. */
static void result_merge(struct advise_result *r)
{
    struct advise_buffer *buffers = r->advise->buffers;

    qsort(r->pairs, (size_t)r->count, sizeof *r->pairs, pair_order);
    for (int i = 0; i < r->count; i++) {
        struct advise_pair *pair = &r->pairs[i];
        const struct advise_buffer *device = &buffers[pair->device], *host = &buffers[pair->host];
        bool taken = false;
        for (int k = 0; k < i; k++)
            taken |= r->pairs[k].merged &&
                     (r->pairs[k].device == pair->device || same_place(&buffers[r->pairs[k].host], host));
        pair->use = taken ? USE_DIRECT : pair->overlapped ? USE_TWO : pair_use(device, host);
        pair->merged = !taken;
        /* As much of the device's as the host has; two that are swapped are two still. */
        r->gone[pair->device] |= pair->merged && !pair->overlapped && host->bytes >= device->bytes / 2;
    }
}

/* Whether the buffer is one of its own: the host's memory is seen once for each buffer that it is copied to.
 */
static bool result_counts(const struct hip_advise *a, int i)
{
    if (a->buffers[i].kind == ADVISE_REGISTERED)
        return false;
    for (int k = 0; a->buffers[i].kind >= ADVISE_HEAP && k < i; k++)
        if (a->buffers[k].kind >= ADVISE_HEAP && same_place(&a->buffers[i], &a->buffers[k]))
            return false;
    return true;
}

/* Bytes at the worst moment, now and without those that are gone. */
static void result_peaks(struct advise_result *r)
{
    const struct hip_advise *a = r->advise;
    struct advise_change *change = r->change;
    int64_t sum[2] = {0, 0};

    for (int i = 0; i < a->buffer_count; i++) {
        const struct advise_buffer *b = &a->buffers[i];
        /* The host's own was there before a copy named it, for all that is known from the beginning. */
        uint64_t born = b->kind >= ADVISE_HEAP ? 0 : b->born;
        for (int k = 0; k < 2 && result_counts(a, i); k++) {
            if (k && r->gone[i])
                continue;
            change[born].bytes[k] += (int64_t)b->bytes;
            if (b->died)
                change[b->died].bytes[k] -= (int64_t)b->bytes;
        }
    }
    for (uint64_t event = 0; event <= a->events; event++)
        for (int k = 0; k < 2; k++) {
            sum[k] += change[event].bytes[k];
            r->peak[k] = (uint64_t)sum[k] > r->peak[k] ? (uint64_t)sum[k] : r->peak[k];
        }
}

/* Pairs from the same places in the program are shown as one. */
static void result_fold(struct advise_result *r)
{
    const struct advise_buffer *buffers = r->advise->buffers;
    int kept = 0;

    for (int i = 0; i < r->count; i++) {
        const struct advise_pair *pair = &r->pairs[i];
        int k;
        for (k = 0; k < kept; k++)
            if (buffers[r->pairs[k].device].site == buffers[pair->device].site &&
                buffers[r->pairs[k].host].site == buffers[pair->host].site && r->pairs[k].use == pair->use &&
                buffers[r->pairs[k].device].bytes == buffers[pair->device].bytes)
                break;
        if (k == kept) {
            r->pairs[kept++] = *pair;
        } else {
            r->pairs[k].to_gpu += pair->to_gpu;
            r->pairs[k].to_cpu += pair->to_cpu;
            r->pairs[k].times++;
        }
    }
    r->count = kept;
}

/* ---- words
 * ------------------------------------------------------------------------------------------------- */

static const char *report_line(const struct hip_advise *a, int site)
{
    return site < 0 ? "?" : a->sites[site].line;
}

const char *advise_bytes(char text[24], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned unit = 0;

    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, 24, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

static const char *report_time(char text[24], double seconds)
{
    if (seconds < 1e-3)
        snprintf(text, 24, "%.1f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(text, 24, "%.2f ms", seconds * 1e3);
    else
        snprintf(text, 24, "%.2f s", seconds);
    return text;
}

/* "device, backprop.hip:12", or a variable's name. */
static const char *report_buffer(struct hip_advise *a, int i, char text[192])
{
    const struct advise_buffer *b = &a->buffers[i];
    char room[160];

    if (b->name[0])
        snprintf(text, 192, "%s %s", advise_kinds[b->kind], ehp_printable(b->name, room, sizeof room));
    else
        snprintf(text, 192, "%s, %s", advise_kinds[b->kind],
                 ehp_printable(report_line(a, b->site), room, sizeof room));
    return text;
}

static const char *copy_remark(const struct advise_copy *copy, char text[96])
{
    int n = snprintf(text, 96, "%s", copy->partial ? "in parts" : "");

    if (copy->overlapped)
        n += snprintf(text + n, 96 - (size_t)n, "%swhile kernels run", n ? ", " : "");
    if (copy->known == copy->bytes)
        snprintf(text + n, 96 - (size_t)n, "%sall of it was there already", n ? ", " : "");
    else if (copy->known)
        snprintf(text + n, 96 - (size_t)n, "%s%.0f %% was there already", n ? ", " : "",
                 100 * (double)copy->known / (double)copy->bytes);
    return text;
}

/* Why a buffer that kernels use should have another allocator, or NULL. */
static const char *buffer_reason(const struct advise_buffer *b)
{
    if (!b->launches)
        return NULL;
    switch (b->kind) {
    case ADVISE_MANAGED:
        return "hipMalloc's memory is one for CPU and GPU as well, in larger pieces: the GPU reads it faster";
    case ADVISE_MANAGED_VARIABLE:
        return "the GPU reads managed variables very slowly: allocate with hipMalloc";
    case ADVISE_PINNED:
        return "kernels use it: hipMalloc's memory is one for CPU and GPU as well, and faster for the GPU";
    case ADVISE_REGISTERED:
        return "kernels use it: allocated with hipMalloc, nothing is to be registered, and the GPU is faster";
    default:
        return NULL;
    }
}

static void result_repeats(struct advise_result *r)
{
    const struct hip_advise *a = r->advise;

    for (int i = 0; i < a->buffer_count; i++) {
        const struct advise_buffer *b = &a->buffers[i];
        struct advise_repeats *at = &r->repeats[b->site + 1];
        if (b->kind >= ADVISE_HEAP)
            continue;
        at->first = at->any ? at->first : i;
        at->any = true;
        if (b->died > b->born && b->born > at->until) {
            at->times++;
            at->until = b->died;
        }
    }
}

/* Of the first buffer of a place: how often allocations from there came and went. */
static unsigned site_repeats(const struct advise_result *r, int i)
{
    const struct advise_repeats *at = &r->repeats[r->advise->buffers[i].site + 1];

    return at->any && at->first == i ? at->times : 0;
}

enum { REPEATS = 4 };

/* ---- text
 * -------------------------------------------------------------------------------------------------- */

static void text_pairs(const struct advise_result *r, FILE *file)
{
    char a[24], b[24], c[24], gpu[192], cpu[192];
    int left = 12, right = 12;
    bool used[USE_COUNT] = {false};

    for (int i = 0; i < r->count; i++) {
        int n = (int)strlen(report_buffer(r->advise, r->pairs[i].device, gpu));
        int m = (int)strlen(report_buffer(r->advise, r->pairs[i].host, cpu));
        left = n > left ? n : left;
        right = m > right ? m : right;
    }
    fprintf(file, "\nOn both sides, which one memory needs once:\n  %9s  %5s  %-*s  %-*s  %9s  %9s  %s\n",
            "size", "times", left, "on the GPU", right, "on the CPU", "to GPU", "to CPU", "instead");
    for (int i = 0; i < r->count; i++) {
        const struct advise_pair *p = &r->pairs[i];
        used[p->use] = true;
        fprintf(file, "  %9s  %5u  %-*s  %-*s  %9s  %9s  %s\n",
                advise_bytes(a, (double)r->advise->buffers[p->device].bytes), p->times, left,
                report_buffer(r->advise, p->device, gpu), right, report_buffer(r->advise, p->host, cpu),
                advise_bytes(b, (double)p->to_gpu), advise_bytes(c, (double)p->to_cpu),
                advise_uses[p->use].shown);
    }
    for (int i = 0; i < USE_COUNT; i++)
        if (used[i] && (i != USE_PINNED || !used[USE_ONE]))
            fprintf(file, "  %s: %s\n", advise_uses[i].shown, advise_uses[i].text);
}

static void text_copies(const struct advise_result *r, FILE *file)
{
    struct hip_advise *a = r->advise;
    char bytes[24], seconds[24], remark[96];

    fprintf(file, "\nCopies, which one memory does not need:\n  %7s  %9s  %9s  %-6s  %-24s\n", "calls",
            "bytes", "time", "to", "at");
    for (int i = 0; i < a->copy_count; i++) {
        const struct advise_copy *copy = &a->copies[i];
        if (!copy_crosses(a, copy))
            continue;
        fprintf(file, "  %7" PRIu64 "  %9s  %9s  %-6s  %-24s  %s\n", copy->calls,
                advise_bytes(bytes, (double)copy->bytes),
                report_time(seconds, copy_seconds(a, copy->calls, copy->bytes)),
                advise_is_host(&a->buffers[copy->dst]) ? "CPU" : "GPU", report_line(a, copy->site),
                copy_remark(copy, remark));
    }
}

static void text_others(const struct advise_result *r, FILE *file)
{
    struct hip_advise *a = r->advise;
    char bytes[24], text[192];
    bool any = a->asked >= 0;

    for (int i = 0; i < a->buffer_count; i++)
        any |= (buffer_reason(&a->buffers[i]) && !r->gone[i]) || site_repeats(r, i) >= REPEATS;
    if (!any)
        return;
    fprintf(file, "\nBesides:\n");
    for (int i = 0; i < a->buffer_count; i++) {
        const char *reason = buffer_reason(&a->buffers[i]);
        unsigned repeats = site_repeats(r, i);
        if (reason && !r->gone[i])
            fprintf(file, "  %s of %s: %s\n", advise_bytes(bytes, (double)a->buffers[i].bytes),
                    report_buffer(a, i, text), reason);
        if (repeats >= REPEATS)
            fprintf(file, "  %s: allocated and freed %u times; once is enough\n", report_buffer(a, i, text),
                    repeats);
    }
    if (a->asked >= 0)
        fprintf(file,
                "  %s: hipMemGetInfo knows of hipMalloc's memory alone; with one memory, all of the system's "
                "counts "
                "(/proc/meminfo)\n",
                report_line(a, a->asked));
}

static void report_text(const struct advise_result *r, FILE *file)
{
    char a[24], b[24], c[24], d[24];

    if (!r->count)
        fprintf(file, "ehp advise: no buffer is on both sides, and nothing is copied between them\n");
    else
        fprintf(file, "ehp advise: %d buffers, %" PRIu64 " copies of %s between CPU and GPU\n",
                r->advise->buffer_count, r->copies, advise_bytes(a, (double)r->copied));
    if (r->count) {
        text_pairs(r, file);
        text_copies(r, file);
    }
    text_others(r, file);
    advise_move_text(r->advise, file);
    if (r->count)
        fprintf(file, "\nSaved: %s of %s (%.0f %%), %" PRIu64 " copies, %s\n",
                advise_bytes(b, (double)(r->peak[0] - r->peak[1])), advise_bytes(c, (double)r->peak[0]),
                r->peak[0] ? 100 * (double)(r->peak[0] - r->peak[1]) / (double)r->peak[0] : 0.0, r->copies,
                report_time(d, r->seconds));
}

/* ---- JSON
 * -------------------------------------------------------------------------------------------------- */

static void json_buffer(struct hip_advise *a, int i, const char *name, FILE *file)
{
    const struct advise_buffer *b = &a->buffers[i];

    fprintf(file, "\"%s\": {\"kind\": \"%s\", \"bytes\": %zu, \"launches\": %" PRIu64 ", \"at\": ", name,
            advise_kinds[b->kind], b->bytes, b->launches);
    stats_json_string(file, report_line(a, b->site));
    if (b->name[0]) {
        fprintf(file, ", \"name\": ");
        stats_json_string(file, b->name);
    }
    fputc('}', file);
}

static void json_others(const struct advise_result *r, FILE *file)
{
    struct hip_advise *a = r->advise;
    const char *separator = "";

    fprintf(file, "],\n \"allocators\": [");
    for (int i = 0; i < a->buffer_count; i++) {
        const char *reason = buffer_reason(&a->buffers[i]);
        if (!reason || r->gone[i])
            continue;
        fprintf(file, "%s\n  {", separator);
        json_buffer(a, i, "buffer", file);
        fprintf(file, ", \"reason\": ");
        stats_json_string(file, reason);
        fputc('}', file);
        separator = ",";
    }
    fprintf(file, "],\n \"repeated\": [");
    separator = "";
    for (int i = 0; i < a->buffer_count; i++) {
        unsigned repeats = site_repeats(r, i);
        if (repeats < REPEATS)
            continue;
        fprintf(file, "%s\n  {\"times\": %u, ", separator, repeats);
        json_buffer(a, i, "buffer", file);
        fputc('}', file);
        separator = ",";
    }
    fprintf(file, "],\n \"asks_for_free_memory\": ");
    if (a->asked >= 0)
        stats_json_string(file, report_line(a, a->asked));
    else
        fprintf(file, "null");
}

static void report_json(const struct advise_result *r, FILE *file)
{
    struct hip_advise *a = r->advise;
    const char *separator = "";

    fprintf(file, "{\"program\": ");
    stats_json_string(file, program_invocation_short_name);
    fprintf(file, ",\n \"pairs\": [");
    for (int i = 0; i < r->count; i++) {
        const struct advise_pair *p = &r->pairs[i];
        fprintf(file, "%s\n  {", i ? "," : "");
        json_buffer(a, p->device, "gpu", file);
        fprintf(file, ", ");
        json_buffer(a, p->host, "cpu", file);
        fprintf(file,
                ", \"times\": %u, \"to_gpu\": %" PRIu64 ", \"to_cpu\": %" PRIu64
                ", \"instead\": \"%s\", \"advice\": ",
                p->times, p->to_gpu, p->to_cpu, advise_uses[p->use].shown);
        stats_json_string(file, advise_uses[p->use].text);
        fputc('}', file);
    }
    fprintf(file, "],\n \"copies\": [");
    for (int i = 0; i < a->copy_count; i++) {
        const struct advise_copy *copy = &a->copies[i];
        if (!copy_crosses(a, copy))
            continue;
        fprintf(file,
                "%s\n  {\"to\": \"%s\", \"calls\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"known\": %" PRIu64
                ", \"seconds\": %.9f, \"partial\": %s, \"overlapped\": %s, \"at\": ",
                separator, advise_is_host(&a->buffers[copy->dst]) ? "cpu" : "gpu", copy->calls, copy->bytes,
                copy->known, copy_seconds(a, copy->calls, copy->bytes), copy->partial ? "true" : "false",
                copy->overlapped ? "true" : "false");
        stats_json_string(file, report_line(a, copy->site));
        fputc('}', file);
        separator = ",";
    }
    json_others(r, file);
    advise_move_json(r->advise, file);
    fprintf(file,
            ",\n \"peak\": %" PRIu64 ", \"saved\": {\"bytes\": %" PRIu64 ", \"copies\": %" PRIu64
            ", \"copied\": %" PRIu64 ", \"seconds\": %.9f}}\n",
            r->peak[0], r->peak[0] - r->peak[1], r->copies, r->copied, r->seconds);
}

/* ---- both --------------------------------------------------------------------------------------------- */

/* Room for an array behind the others. */
static void *part(char *room, size_t *bytes, uint64_t count, size_t element)
{
    void *at = room ? room + *bytes : NULL;

    *bytes += (count * element + 15) & ~(size_t)15;
    return at;
}

/* In `room`, or only how much of it that takes. */
static size_t result_place(struct advise_result *r, char *room)
{
    const struct hip_advise *a = r->advise;
    size_t bytes = 0;

    r->pairs = part(room, &bytes, (uint64_t)a->copy_count, sizeof *r->pairs);
    r->repeats = part(room, &bytes, (uint64_t)a->site_count + 1, sizeof *r->repeats);
    r->change = part(room, &bytes, a->events + 1, sizeof *r->change);
    r->gone = part(room, &bytes, (uint64_t)a->buffer_count, sizeof *r->gone);
    return bytes;
}

/* What reports need comes from the kernel: they do not move the program's memory. */
static void report(void (*print)(const struct advise_result *result, FILE *file), FILE *file)
{
    struct advise_result result = {.advise = hip_runtime()->advise};

    pthread_mutex_lock(&result.advise->lock);
    const size_t bytes = result_place(&result, NULL);
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) {
        result_place(&result, room);
        result_copies(&result);
        result_merge(&result);
        result_peaks(&result);
        result_fold(&result);
        result_repeats(&result);
        print(&result, file);
        munmap(room, bytes);
    }
    pthread_mutex_unlock(&result.advise->lock);
}

void advise_report_text(FILE *file)
{
    report(report_text, file);
}

void advise_report_json(FILE *file)
{
    report(report_json, file);
}
