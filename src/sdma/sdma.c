/* SPDX-License-Identifier: MIT */
/* SDMA engines; see sdma.h. */
#include "sdma/sdma.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/guarded.h"
#include "base/must.h"
#include "chip/chip.h"
#include "fabric/fabric.h"
#include "vm/vm.h"

/* Of a job that is alone: what is not measured at first, what is, what is then moved at a time, and what is
 * left for the end; in bytes. */
enum { SKIP_WARM = 1 << 20, SKIP_MEASURED = 8 << 20, SKIP_STEP = 1 << 20, SKIP_END = 1 << 18 };

/* A request: what an aligned line or pair has of a row.  Those that write are in the order of the rows. */
struct transfer {
    struct fabric_request request; /* first */
    struct engine *engine;
    struct transfer *next;
    uint64_t address; /* of its first byte */
    uint64_t at;      /* the job's bytes before it */
    uint16_t first;   /* where its first byte is in `data` */
    uint16_t bytes;
    uint16_t missing; /* of a write: bytes that have not been fetched */
    bool arrived, unknown;
    struct transfer
        *into; /* of a fetch: the write that its first byte is for; of a write: the one behind it */
    alignas(64) uint8_t data[FABRIC_PAIR];
};

/* How far a job is, in the order of its rows. */
struct cursor {
    uint64_t x, y, z, at; /* at: bytes */
};

struct engine {
    struct sdma *sdma;
    uint8_t agent;                     /* of the fabric */
    struct sdma_job *first, **end;     /* the one that is served, and those that wait */
    struct cursor read, write;         /* where the next fetch and the next write begin */
    struct transfer *fetch, *planned;  /* the last fetch, if it may have more bytes than there are writes; the
                                          last write that was planned */
    struct transfer *full, **full_end; /* writes that have all of their bytes */
    unsigned fetching, writing;        /* lines: to be fetched or held, and on their way to memory */
    unsigned under_way;                /* requests */
    struct vm_entry
        entry[2]; /* translations that were used last; this and the next: [0] fetching, [1] writing */
    uint64_t generation[2];
    /* Since it is alone: where it was, and where and when the measurement began. */
    uint64_t alone_at, measured_at, measured_ps;
    bool alone, skipping;
};

/* Frames of memory that the GPU does not know, by its place in a job. */
struct frames {
    uint64_t *chunk, bytes; /* of a chunk */
    size_t count, capacity;
};

struct sdma {
    struct port_domain *domain;
    struct fabric *fabric;
    struct vm *vm;
    bool pairs;
    unsigned engines, outstanding;
    struct engine *engine;
    struct frames frames[2];
    uint8_t *nobody; /* what the fabric reads in the place of such lines */
    struct transfer *spare;
    struct fabric_skip *skip; /* of one step */
    struct arena arena;
};

/* ---- transfers ---- */

static struct transfer *take(struct engine *e)
{
    struct sdma *s = e->sdma;
    struct transfer *t = s->spare;
    if (t)
        s->spare = t->next;
    else
        t = arena_take(&s->arena, sizeof(*t));
    memset(t, 0, offsetof(struct transfer, data));
    t->engine = e;
    return t;
}

static void give(struct transfer *t)
{
    struct sdma *s = t->engine->sdma;
    t->next = s->spare;
    s->spare = t;
}

static unsigned lines_of(const struct transfer *t)
{
    return t->request.pair ? 2 : 1;
}

/* ---- where a job is ---- */

static bool at_end(const struct sdma_job *job, const struct cursor *c)
{
    return c->z == job->depth;
}

static void advance(const struct sdma_job *job, struct cursor *c, uint64_t bytes)
{
    c->x += bytes;
    c->at += bytes;
    if (c->x < job->width)
        return;
    c->x = 0;
    if (++c->y < job->height)
        return;
    c->y = 0;
    c->z++;
}

static uint64_t offset_of(const struct sdma_side *side, const struct cursor *c)
{
    return c->z * side->slice + c->y * side->pitch + c->x;
}

static const struct sdma_side *side_of(const struct engine *e, bool write)
{
    return write ? &e->first->to : &e->first->from;
}

/* What of the row a request can have that begins at `place`, an address or an offset. */
static unsigned reach(const struct sdma *s, uint64_t place, uint64_t left, bool *pair)
{
    *pair = s->pairs && place % FABRIC_PAIR == 0 && left >= FABRIC_PAIR;
    uint64_t bytes = *pair ? FABRIC_PAIR : FABRIC_LINE - place % FABRIC_LINE;
    return (unsigned)(bytes < left ? bytes : left);
}

static bool find_frame(struct sdma *s, bool write, uint64_t offset, uint64_t *physical)
{
    struct frames *f = &s->frames[write];
    while (!f->count || offset / f->bytes >= f->count) {
        if (f->count == f->capacity) {
            f->capacity = f->capacity ? 2 * f->capacity : 256;
            f->chunk = must(realloc(f->chunk, f->capacity * sizeof(*f->chunk)));
        }
        if (!vm_take(s->vm, fabric_package(s->fabric), &f->chunk[f->count], &f->bytes))
            return false;
        f->count++;
    }
    *physical = f->chunk[offset / f->bytes] + offset % f->bytes;
    return true;
}

static bool translate(struct engine *e, uint64_t offset, bool write, uint64_t *physical)
{
    const struct sdma_side *side = side_of(e, write);
    struct vm *vm = e->sdma->vm;
    struct vm_entry *entry = &e->entry[write];
    uint64_t now = vm_generation(vm), address = side->base + offset;
    if (side->unknown)
        return find_frame(e->sdma, write, offset, physical);
    if (e->generation[write] != now || address - entry->base >= entry->bytes) {
        e->generation[write] = now;
        if (!vm_find(vm, fabric_package(e->sdma->fabric), address, entry)) {
            entry->bytes = 0;
            return false;
        }
    }
    *physical = entry->physical + (address - entry->base);
    return true;
}

static void set_mask(uint64_t mask[2], unsigned first, unsigned bytes)
{
    for (unsigned i = 0; i < 2; i++) {
        unsigned from = first > 64 * i ? first - 64 * i : 0,
                 end = first + bytes > 64 * i ? first + bytes - 64 * i : 0;
        if (from < 64 && end > from)
            mask[i] |= (end < 64 ? (UINT64_C(1) << end) - 1 : UINT64_MAX) & UINT64_MAX << from;
    }
}

/* ---- requests ---- */

static void go_on(struct engine *e);

static void note_fault(struct engine *e, uint64_t address, bool write)
{
    struct sdma_job *job = e->first;
    if (job->faulted)
        return;
    job->faulted = true;
    job->fault_write = write;
    job->fault_address = address;
}

/* What writes want of a fetch that has come, from `w` on. */
static void pass_on(struct engine *e, const struct transfer *t, struct transfer *w)
{
    const uint64_t end = t->at + t->bytes;
    while (w) {
        uint64_t from = t->at > w->at ? t->at : w->at, w_end = w->at + w->bytes,
                 bytes = (end < w_end ? end : w_end) - from;
        struct transfer *next = w_end < end ? w->into : NULL;
        memcpy(w->data + w->first + (from - w->at), t->data + t->first + (from - t->at), bytes);
        w->missing = (uint16_t)(w->missing - bytes);
        if (!w->missing) {
            w->next = NULL;
            *e->full_end = w;
            e->full_end = &w->next;
        }
        w = next;
    }
}

static void fetched(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct transfer *t = (struct transfer *)(uintptr_t)event->word[0];
    struct engine *e = t->engine;
    t->arrived = true;
    e->under_way--;
    if (t->unknown ? !guarded_load(t->data + t->first, (const uint8_t *)(uintptr_t)t->address, t->bytes)
                   : t->request.faulted)
        note_fault(e, t->address, false);
    pass_on(e, t, t->into);
    if (t != e->fetch)
        give(t);
    go_on(e);
}

static void written(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct transfer *t = (struct transfer *)(uintptr_t)event->word[0];
    struct engine *e = t->engine;
    e->under_way--;
    e->writing -= lines_of(t);
    if (t->unknown ? !guarded_store((uint8_t *)(uintptr_t)t->address, t->data + t->first, t->bytes)
                   : t->request.faulted)
        note_fault(e, t->address, true);
    give(t);
    go_on(e);
}

/* What of the row begins at the cursor, in a transfer of its own. */
static struct transfer *next_transfer(struct engine *e, struct cursor *c, bool write)
{
    const struct sdma_side *side = side_of(e, write);
    struct transfer *t = take(e);
    uint64_t offset = offset_of(side, c), place = side->unknown ? offset : side->base + offset;
    bool pair;
    t->address = side->base + offset;
    t->at = c->at;
    t->first = (uint16_t)(place % FABRIC_LINE);
    t->bytes = (uint16_t)reach(e->sdma, place, e->first->width - c->x, &pair);
    t->request.pair = pair;
    t->unknown = side->unknown;
    return t;
}

static void send(struct engine *e, struct transfer *t, bool write)
{
    struct sdma *s = e->sdma;
    struct fabric_request *r = &t->request;
    r->kind = write ? FABRIC_WRITE : FABRIC_FETCH;
    r->agent = e->agent;
    r->line = t->address - t->first;
    r->data = t->data;
    r->second = t->data + FABRIC_LINE;
    r->done = write ? written : fetched;
    r->self = e;
    e->under_way++;
    if (translate(e, t->address - t->first - side_of(e, write)->base, write, &r->physical)) {
        if (t->unknown) {
            r->line = write ? r->physical : (uint64_t)(uintptr_t)s->nobody;
            r->nobody = write;
        }
        fabric_submit(s->fabric, r);
        return;
    }
    t->unknown = true; /* to the fabric as well */
    port_post(s->domain, port_now(s->domain) + 1, r->done, e)->word[0] = (uint64_t)(uintptr_t)r;
}

/* As much of the buffer as is free is planned to be written, and what that needs is asked for. */
static void fetch_more(struct engine *e)
{
    const struct sdma *s = e->sdma;
    const struct sdma_job *job = e->first;
    while (!job->fills && !job->faulted && !e->skipping && !at_end(job, &e->write) &&
           e->fetching + 2 <= s->outstanding) {
        struct transfer *w = next_transfer(e, &e->write, true);
        advance(job, &e->write, w->bytes);
        w->missing = w->bytes;
        e->fetching += lines_of(w);
        if (e->planned)
            e->planned->into = w;
        e->planned = w;
        if (e->fetch && e->fetch->arrived && e->fetch->at + e->fetch->bytes > w->at)
            pass_on(e, e->fetch, w);
        while (e->read.at < e->write.at) {
            struct transfer *t = next_transfer(e, &e->read, false);
            advance(job, &e->read, t->bytes);
            if (e->fetch && e->fetch->arrived)
                give(e->fetch);
            e->fetch = t;
            t->into = w;
            send(e, t, false);
        }
    }
}

static void make_bytes(const struct sdma_job *job, const struct cursor *at, uint8_t *to, unsigned bytes)
{
    unsigned turn = at->x % 8 * 8;
    uint64_t pattern = turn ? job->pattern >> turn | job->pattern << (64 - turn) : job->pattern;
    for (unsigned done = 0; done < bytes; done += 8)
        memcpy(to + done, &pattern, bytes - done < 8 ? bytes - done : 8);
}

static void send_write(struct engine *e, struct transfer *t)
{
    set_mask(t->request.mask, t->first, t->request.pair ? FABRIC_LINE : t->bytes);
    e->writing += lines_of(t);
    send(e, t, true);
}

static void write_more(struct engine *e)
{
    const struct sdma *s = e->sdma;
    const struct sdma_job *job = e->first;
    while (!job->faulted && e->writing + 2 <= s->outstanding) {
        struct transfer *t = e->full;
        if (t) {
            e->full = t->next;
            if (!e->full)
                e->full_end = &e->full;
            if (e->planned == t)
                e->planned = NULL;
            e->fetching -= lines_of(t);
        } else if (job->fills && !e->skipping && !at_end(job, &e->write)) {
            t = next_transfer(e, &e->write, true);
            make_bytes(job, &e->write, t->data + t->first, t->bytes);
            advance(job, &e->write, t->bytes);
        } else {
            return;
        }
        send_write(e, t);
    }
}

/* ---- what is left out ---- */

/* One row, which is as good as in the middle. */
static bool can_skip(const struct engine *e)
{
    const struct sdma_job *job = e->first;
    return e->sdma->pairs && job->alone && !job->faulted && job->height == 1 && job->depth == 1 &&
           job->width - e->write.x >= SKIP_STEP + SKIP_END && job->alone(job);
}

/* The pair of lines where the byte is. */
static void note_skip(struct engine *e, uint64_t at, bool write, unsigned *count)
{
    struct fabric_skip *skip = &e->sdma->skip[*count];
    const struct sdma_side *side = side_of(e, write);
    uint64_t place = side->unknown ? at : side->base + at;
    skip->write = write;
    *count += translate(e, at - place % FABRIC_PAIR, write, &skip->physical);
}

static void skip_bytes(struct engine *e, uint64_t at, unsigned bytes)
{
    const struct sdma_job *job = e->first;
    const struct cursor cursor = {.x = at};
    uint8_t data[FABRIC_PAIR];
    if (job->fills)
        make_bytes(job, &cursor, data, bytes);
    else if (!guarded_load(data, (const uint8_t *)(uintptr_t)(job->from.base + at), bytes))
        note_fault(e, job->from.base + at, false);
    if (!job->faulted && !guarded_store((uint8_t *)(uintptr_t)(job->to.base + at), data, bytes))
        note_fault(e, job->to.base + at, true);
}

static void forget_fetch(struct engine *e)
{
    if (e->fetch)
        give(e->fetch);
    e->fetch = NULL;
}

/* What has taken its time is moved. */
static void skip_step(struct engine *e)
{
    struct sdma *s = e->sdma;
    struct sdma_job *job = e->first;
    uint64_t at = e->write.at, end = at + SKIP_STEP;
    unsigned count = 0;
    if (!s->skip)
        s->skip = arena_take(&s->arena, 2 * (2 + SKIP_STEP / FABRIC_PAIR) * sizeof(*s->skip));
    for (uint64_t bytes; at < end && !job->faulted; at += bytes) {
        bytes = end - at < FABRIC_PAIR ? end - at : FABRIC_PAIR;
        if (!job->fills)
            note_skip(e, at, false, &count);
        note_skip(e, at, true, &count);
        skip_bytes(e, at, (unsigned)bytes);
    }
    forget_fetch(e);
    fabric_skip(s->fabric, s->domain, 0, s->skip, count, NULL);
    job->skipped = true;
    e->read.x = e->read.at = e->write.x = e->write.at = at;
}

static void step_over(struct port_domain *domain, struct port_event *event);

static void begin_step(struct engine *e, uint64_t ps)
{
    struct port_domain *domain = e->sdma->domain;
    e->skipping = true;
    port_post(domain, port_cycle_of(domain, port_now_ps(domain) + ps), step_over, e)->word[0] = ps;
}

static void step_over(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct engine *e = event->self;
    if (e->under_way) { /* it is held up all the same: nothing is left out */
        e->alone = e->skipping = false;
        return;
    }
    skip_step(e);
    if (can_skip(e)) {
        begin_step(e, event->word[0]);
    } else {
        e->alone = e->skipping = false;
        go_on(e);
    }
}

static void look_whether_alone(struct engine *e)
{
    if (e->skipping)
        return;
    if (!can_skip(e)) {
        e->alone = false;
        return;
    }
    const uint64_t at = e->write.x, now = port_now_ps(e->sdma->domain);
    if (!e->alone) {
        e->alone = true;
        e->alone_at = at;
        e->measured_ps = 0;
    } else if (!e->measured_ps && at >= e->alone_at + SKIP_WARM) {
        e->measured_ps = now;
        e->measured_at = at;
    } else if (e->measured_ps && at >= e->measured_at + SKIP_MEASURED) {
        double rate = (double)(now - e->measured_ps) / (double)(at - e->measured_at);
        begin_step(e, (uint64_t)(rate * SKIP_STEP));
    }
}

/* ---- jobs ---- */

static void begin(struct engine *e)
{
    e->read = e->write = (struct cursor){0};
    e->alone = false;
    e->entry[0].bytes = e->entry[1].bytes = 0;
    go_on(e);
}

/* Frees buffer for what is to be fetched, and room for what is to be written. */
static void go_on(struct engine *e)
{
    struct sdma_job *job = e->first;
    look_whether_alone(e);
    write_more(e);
    fetch_more(e);
    write_more(e);
    if (e->under_way || e->skipping || (!job->faulted && !at_end(job, &e->write)))
        return;
    forget_fetch(e);
    for (struct transfer *t; (t = e->full); give(t)) /* it faulted */
        e->full = t->next;
    e->full_end = &e->full;
    e->planned = NULL;
    e->fetching = 0;
    e->first = job->next;
    if (!e->first)
        e->end = &e->first;
    job->done(job);
    if (e->first)
        begin(e);
}

static void ready(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct engine *e = event->self;
    struct sdma_job *job = (struct sdma_job *)(uintptr_t)event->word[0];
    job->next = NULL;
    *e->end = job;
    e->end = &job->next;
    if (e->first == job)
        begin(e);
}

void sdma_submit(struct sdma *s, unsigned engine, struct sdma_job *job)
{
    job->faulted = job->skipped = false;
    if (job->width == 0 || job->height == 0)
        job->depth = 0;
    port_post(s->domain, port_cycle_of(s->domain, port_now_ps(s->domain) + job->start_ps), ready,
              &s->engine[engine])
        ->word[0] = (uint64_t)(uintptr_t)job;
}

/* ---- life ---- */

unsigned sdma_engines(const struct sdma *s)
{
    return s->engines;
}

struct sdma *sdma_open(const struct chip *chip, struct port_domain *domain, struct fabric *fabric,
                       struct vm *vm)
{
    struct sdma *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->domain = domain;
    s->fabric = fabric;
    s->vm = vm;
    s->pairs = fabric_pairs(fabric);
    s->engines = chip_get(chip, CHIP_sdma_engines);
    s->outstanding = chip_get(chip, CHIP_sdma_outstanding);
    s->engine = arena_take(&s->arena, s->engines * sizeof(*s->engine));
    uint64_t room = (uint64_t)(uintptr_t)arena_take(&s->arena, 2 * FABRIC_PAIR);
    s->nobody = (uint8_t *)(uintptr_t)((room + FABRIC_PAIR - 1) & ~(uint64_t)(FABRIC_PAIR - 1));
    for (unsigned i = 0; i < s->engines; i++) {
        struct engine *e = &s->engine[i];
        e->sdma = s;
        e->agent = fabric_agent(fabric, FABRIC_SDMA, i);
        fabric_attach(fabric, e->agent, domain, NULL, NULL);
        e->end = &e->first;
        e->full_end = &e->full;
    }
    return s;
}

void sdma_close(struct sdma *s)
{
    if (!s)
        return;
    free(s->frames[0].chunk);
    free(s->frames[1].chunk);
    arena_free(&s->arena);
    free(s);
}
