/* SPDX-License-Identifier: MIT */
/*
 * What is left out of the runtime's long copies and fills (enum ehp_blit), which are the same all the time.
 *
 * An XCD runs the first workgroups of its share in detail, until they have filled its L2.  Then there is a
 * gap: it moves the bytes of many workgroups at once, and goes on behind them as if those were the next; when
 * a few generations later is known what one takes, there may be another gap; the last generations are in
 * detail again. What a workgroup takes changes with what the Infinity Cache asks of memory: it is full at
 * some time of what was written, or holds some of what is read.  So its tags are kept as if nothing were left
 * out, in steps, and a step takes what those workgroups do that were measured when as much was moved, or a
 * time between them.  All of it is added when the rest is over.
 *
 * Only a copy that has the machine to itself has gaps, and none from when somebody else begins.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/guarded.h"
#include "ehp/aql.h"
#include "engine/timed/timed.h"
#include "fabric/fabric.h"
#include "vm/vm.h"

enum {
    GAPS = 2,
    STEPS = 32,       /* of each */
    STEP_PS = 100000, /* from one of an XCD's to the next: all come to a gap at about the same time */
    /* A generation is as many workgroups as an XCD holds.  Started together they load and store together, so
     * that only whole ones say how long they take.  */
    FIRST = 1, /* after the L2 is full: their rhythm is worst, and a part of what all take; behind a gap, */
    SETTLING = 1, /* which still sees what was before, */
    MEASURED = 3, /* and those from which it is taken. */
    LEAST = 3     /* that are worth leaving out */
};
#define OFF   0.03 /* more than was seen of what is added */
#define ALIKE 0.1  /* lines that are moved, for one that is read or written, more or less */

struct gap_share { /* each the XCD's */
    struct gap {   /* numbers of workgroups that have been started, and when the last two were */
        uint64_t begin, behind, again, end;
        uint64_t again_ps, end_ps;
        uint64_t left_out;
    } gap[GAPS];
    unsigned gaps, at;
    unsigned asked; /* answers that come */
    bool none;      /* no more */
};

struct timed_gap {
    /* In domain 0. */
    bool over;                 /* its dispatch is */
    unsigned told;             /* answers of IODs */
    double moved[GAPS][STEPS]; /* lines to and from memory */
    unsigned xccs;
    enum ehp_blit kind;
    struct ehp_blit_arguments arguments;
    struct gap_share share[];
};

/* ---- in domain 0 ---- */

static unsigned package_of(const struct timed *timed, const struct cp_dispatch *d)
{
    return d->first_xcc / timed->package_xcds;
}

/* Device memory of the package that copies: what is another's goes over links. */
static bool is_device(const struct timed *timed, const struct cp_dispatch *d, uint64_t address,
                      uint64_t bytes)
{
    const struct memory *memory = timed->engine.cp->memory;
    struct memory_block block;
    bool inside;
    return memory_find(timed->engine.cp->memory, address, &block, &inside) && inside &&
           memory_is_device(block.kind) && memory_package(memory, block.agent) == package_of(timed, d) &&
           bytes <= block.base + block.bytes - address;
}

static bool is_long(const struct timed *timed, const struct cp_dispatch *d, struct ehp_blit_arguments *a)
{
    if (d->packet.reserved2 != EHP_BLIT_COPY && d->packet.reserved2 != EHP_BLIT_FILL)
        return false;
    return guarded_load((uint8_t *)a, d->packet.kernarg_address, sizeof(*a)) &&
           d->total == (a->bytes + EHP_BLIT_BYTES - 1) / EHP_BLIT_BYTES &&
           is_device(timed, d, (uint64_t)(uintptr_t)a->to, a->bytes) &&
           (d->packet.reserved2 == EHP_BLIT_FILL || is_device(timed, d, a->from, a->bytes));
}

/*
 * Where the gaps are in a share of `total` workgroups.  The first one begins a generation after the L2 is
 * full. Of what can fill the Infinity Cache, one ends when half of that is full of it.
 */
static void plan(const struct timed *timed, const struct cp_dispatch *d, struct gap_share *own,
                 uint64_t total, bool fills)
{
    const struct chip *chip = timed->engine.cp->chip;
    const uint64_t waves = d->packet.workgroup_size_x / 64,
                   generation = (uint64_t)d->cp->xcd_cus * (d->cp->cu_simds * d->cp->simd_waves / waves),
                   rest = (SETTLING + MEASURED) * generation,
                   l2 = chip_get(chip, CHIP_l2_size) / EHP_BLIT_BYTES,
                   cache = chip_get(chip, CHIP_infinity_cache_size) / EHP_BLIT_BYTES / d->xccs;
    /* A workgroup that copies takes twice the room of its bytes. */
    const uint64_t room = fills ? 1 : 2, fill = cache / room, behind[GAPS] = {fill / 2, total - rest};
    uint64_t begin = l2 / room + FIRST * generation;
    for (unsigned i = total < fill + fill / 2; i < GAPS && total > rest; i++) {
        struct gap *gap = &own->gap[own->gaps];
        if (begin + LEAST * generation > behind[i])
            continue;
        gap->begin = begin;
        gap->behind = behind[i];
        gap->again = gap->behind + SETTLING * generation;
        begin = gap->end = gap->again + MEASURED * generation;
        own->gaps++;
    }
}

void gap_open(struct timed *timed, struct cp_dispatch *d)
{
    struct ehp_blit_arguments arguments;
    if (timed->engine.cp->active->next || timed->tasks || timed->unreleased || d->takers != d->xccs ||
        !is_long(timed, d, &arguments))
        return;
    struct timed_gap *g = calloc(1, sizeof(*g) + d->xccs * sizeof(g->share[0]));
    if (!g)
        return;
    g->xccs = d->xccs;
    g->kind = (enum ehp_blit)d->packet.reserved2;
    g->arguments = arguments;
    for (unsigned i = 0; i < d->xccs; i++)
        plan(timed, d, &g->share[i], timed_share_of(d, d->first_xcc + i), g->kind == EHP_BLIT_FILL);
    d->gap = g;
    timed->gap = d;
}

/* Frees it when its dispatch is over and no answers are to come. */
static void free_gap(struct timed_gap *g)
{
    unsigned asked = 0;
    for (unsigned i = 0; i < g->xccs; i++)
        asked += g->share[i].asked;
    if (g->told == asked)
        free(g);
}

void gap_close(struct cp_dispatch *d)
{
    struct timed_gap *g = d->gap;
    if (!g)
        return;
    g->over = true;
    d->gap = NULL;
    free_gap(g);
}

static void disturbed(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    const struct timed_xcd *x = event->self;
    const struct cp_dispatch *d = (const struct cp_dispatch *)(uintptr_t)event->word[0];
    for (const struct timed_share *share = x->shares; share; share = share->next)
        if (share->d == d && d->serial == event->word[1])
            d->gap->share[x->index - d->first_xcc].none = true;
}

void gap_disturb(struct timed *timed)
{
    const struct cp_dispatch *d = timed->gap;
    for (unsigned i = 0; d && i < d->xccs; i++) {
        struct timed_xcd *x = &timed->xcd[d->first_xcc + i];
        struct port_event *e = port_send(timed->host, x->domain, timed->way_ps, disturbed, x);
        e->word[0] = (uint64_t)(uintptr_t)d;
        e->word[1] = d->serial;
    }
    timed->gap = NULL;
}

/* ---- in an XCD's domain ---- */

struct side {
    uint64_t base;
    bool write;
    struct vm_entry entry;
};

/* The pairs of lines in which the bytes are. */
static bool note_pairs(struct vm *vm, unsigned package, struct side *side, uint64_t at, uint64_t bytes,
                       struct fabric_skip *pairs, unsigned *count)
{
    const uint64_t first = (side->base + at) / FABRIC_PAIR * FABRIC_PAIR, end = side->base + at + bytes;
    /* That which two workgroups have a part of is the latter's. */
    for (uint64_t a = first; a + FABRIC_PAIR <= end || (a == first && a < end); a += FABRIC_PAIR) {
        if (a - side->entry.base >= side->entry.bytes && !vm_walk(vm, package, a, &side->entry)) {
            side->entry.bytes = 0;
            return false;
        }
        pairs[*count].physical = side->entry.physical + (a - side->entry.base);
        pairs[(*count)++].write = side->write;
    }
    return true;
}

static bool move_bytes(const struct timed_gap *g, uint64_t at, uint64_t bytes)
{
    uint8_t data[EHP_BLIT_BYTES];
    const uint64_t to = (uint64_t)(uintptr_t)g->arguments.to + at;
    if (g->kind == EHP_BLIT_FILL)
        for (unsigned i = 0; i < EHP_BLIT_BYTES; i += sizeof(g->arguments.from))
            memcpy(data + i, &g->arguments.from, sizeof(g->arguments.from));
    else if (!guarded_load(data, (const uint8_t *)(uintptr_t)(g->arguments.from + at), bytes))
        return false;
    return guarded_store((uint8_t *)(uintptr_t)to, data, bytes);
}

static void step_told(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_gap *g = event->self;
    g->moved[event->word[1] / STEPS][event->word[1] % STEPS] += (double)event->word[0];
    g->told++;
    if (g->over)
        free_gap(g);
}

/* As much of the gap as can be. */
static void leave_out(struct timed_xcd *x, struct timed_share *share, struct gap_share *own)
{
    struct timed *timed = x->timed;
    struct timed_gap *g = share->d->gap;
    struct gap *gap = &own->gap[own->at];
    const unsigned package = package_of(timed, share->d);
    struct fabric *fabric = timed->package[package].fabric;
    const uint64_t all = gap->behind - gap->begin;
    struct side to = {.base = (uint64_t)(uintptr_t)g->arguments.to, .write = true},
                from = {.base = g->arguments.from};
    struct fabric_skip *pairs =
        malloc((all / STEPS + 1) * 2 * (EHP_BLIT_BYTES / FABRIC_PAIR + 1) * sizeof(*pairs));
    if (!pairs)
        return;
    bool can = true;
    for (unsigned i = 0; i < STEPS && can; i++) {
        unsigned count = 0;
        for (uint64_t n = all * i / STEPS; n < all * (i + 1) / STEPS && can; n++) {
            const uint64_t at = timed_nth_workgroup(share->d, x->index, share->started) * EHP_BLIT_BYTES;
            can = (g->kind == EHP_BLIT_FILL ||
                   note_pairs(timed->vm, package, &from, at, EHP_BLIT_BYTES, pairs, &count)) &&
                  note_pairs(timed->vm, package, &to, at, EHP_BLIT_BYTES, pairs, &count) &&
                  move_bytes(g, at, EHP_BLIT_BYTES);
            if (!can)
                break; /* that one faults, or it is a mystery, in detail */
            share->started++;
            share->left--;
            gap->left_out++;
        }
        const struct fabric_skip_told told = {step_told, timed->host, g, own->at * STEPS + i};
        fabric_skip(fabric, x->domain, (uint64_t)i * STEP_PS, pairs, count, &told);
        own->asked += fabric_iods(fabric);
    }
    free(pairs);
}

void gap_started(struct timed_xcd *x, struct timed_share *share)
{
    struct gap_share *own = &share->d->gap->share[x->index - share->d->first_xcc];
    for (unsigned i = 0; i < own->gaps; i++) {
        struct gap *gap = &own->gap[i];
        if (share->started == gap->again)
            gap->again_ps = port_now_ps(x->domain);
        if (share->started == gap->end)
            gap->end_ps = port_now_ps(x->domain);
    }
    if (own->at < own->gaps && share->started == own->gap[own->at].begin && !own->none && !share->aborted) {
        leave_out(x, share, own);
        own->at++;
    }
}

/* ---- in domain 0: the end ---- */

static void finished(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    timed_dispatch_ended(event->self, (struct cp_dispatch *)(uintptr_t)event->word[0]);
}

struct measured {
    double left_out;  /* workgroups */
    double ps, moved; /* for one of an XCD; lines to and from memory for one that it reads or writes */
};

static struct measured measured(const struct timed_gap *g, unsigned gap)
{
    struct measured m = {.left_out = 0};
    unsigned xcds = 0;
    for (unsigned i = 0; i < g->xccs; i++) {
        const struct gap *own = &g->share[i].gap[gap];
        if (!own->left_out)
            continue;
        m.left_out += (double)own->left_out;
        m.ps += (double)(own->end_ps - own->again_ps) / (double)(own->end - own->again);
        xcds++;
    }
    if (xcds)
        m.ps /= xcds;
    return m;
}

/* What is between two is so by what is moved. */
static double pace(const struct measured at[GAPS], double moved)
{
    const double apart = at[1].moved - at[0].moved;
    if (fabs(apart) <= ALIKE)
        return (at[0].ps + at[1].ps) / 2;
    const double place = (moved - at[0].moved) / apart;
    return at[0].ps + (at[1].ps - at[0].ps) * (place < 0 ? 0 : place > 1 ? 1 : place);
}

bool gap_wait(struct timed *timed, struct cp_dispatch *d)
{
    struct timed_gap *g = d->gap;
    if (timed->gap == d)
        timed->gap = NULL;
    if (!g || d->aborted)
        return false;
    struct measured at[GAPS];
    double lines[GAPS], ps = 0, left_out = 0; /* lines: of a step */
    for (unsigned i = 0; i < GAPS; i++) {
        at[i] = measured(g, i);
        lines[i] = at[i].left_out * EHP_BLIT_BYTES / FABRIC_LINE / STEPS;
        if (at[i].left_out > 0)
            at[i].moved = g->moved[i][STEPS - 1] / lines[i];
        left_out += at[i].left_out;
    }
    if (left_out <= 0)
        return false;
    if (at[1].left_out <= 0)
        at[1] = (struct measured){0, at[0].ps, at[0].moved};
    for (unsigned i = 0; i < GAPS; i++)
        for (unsigned k = 0; k < STEPS && at[i].left_out > 0; k++)
            ps += pace(at, g->moved[i][k] / lines[i]) * at[i].left_out / d->xccs / STEPS;
    timed->host_wrote = timed->pause = true; /* what the L2s have of it is stale */
    d->stats.detailed_workgroups = d->total - (uint64_t)left_out;
    d->stats.sample_error = OFF * ps / 1000 / ((double)(timed_now_ns(timed) - d->start_ns) + ps / 1000);
    port_post(timed->host, port_cycle_of(timed->host, port_now_ps(timed->host) + (uint64_t)ps), finished,
              timed)
        ->word[0] = (uint64_t)(uintptr_t)d;
    return true;
}
