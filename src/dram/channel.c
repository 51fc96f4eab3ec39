/* SPDX-License-Identifier: MIT */
/* The controller of a pseudo channel: which request next; see dram.h. */
#include "dram/dram.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static void queue_clear(struct dram_queue *queue)
{
    queue->first = NULL;
    queue->end = &queue->first;
}

static void queue_add(struct dram_queue *queue, struct dram_request *request)
{
    request->next = NULL;
    *queue->end = request;
    queue->end = &request->next;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void dram_channel_open(struct dram_channel *ch, const struct dram_timing *timing, uint64_t first_refresh)
{
    memset(ch, 0, sizeof(*ch));
    dram_open(&ch->device, timing);
    for (unsigned s = 0; s < 2; s++) {
        for (unsigned b = 0; b < CHIP_MAX_BANKS; b++)
            queue_clear(&ch->side[s].bank[b].queue);
    }
    ch->refresh = first_refresh;
    ch->wake = DRAM_NEVER;
}

/*
 * Consecutive lines go to different bank groups, then along the row; rows of one
 * bank are far apart, and which bank follows which depends on the row, so that
 * streams at a distance of a power of two do not meet in one bank.
 */
void dram_place(const struct dram_timing *t, uint32_t index, struct dram_request *request)
{
    const uint32_t in_group = t->by_in_group.by;
    uint32_t group, skip, bank, turn, skewed;
    const uint32_t rest = divide(t->by_lines, divide(t->by_groups, index, &group), &skip);
    const uint32_t row = divide(t->by_in_group, rest, &bank), mix = row * UINT32_C(0x9e3779b1);
    divide(t->by_in_group, mix >> 16, &turn);
    divide(t->by_groups, group + (rest ^ rest >> 3 ^ mix >> 28), &skewed);
    bank += turn;
    bank -= bank < in_group ? 0 : in_group;
    request->row = row;
    request->bank = (uint8_t)(bank * t->groups + skewed);
}

/* ---- refresh ---- */

static void forget_rows(struct dram_channel *ch)
{
    for (unsigned s = 0; s < 2; s++)
        ch->side[s].hits = 0;
}

/* All banks at once.  What happened while nobody asked needs no more than its last refresh. */
static void refresh_due(struct dram_channel *ch, uint64_t tick)
{
    const struct dram_timing *t = ch->device.timing;
    while (ch->refresh <= tick) {
        uint64_t missed = (tick - ch->refresh) / t->refi, due = ch->refresh + missed * t->refi;
        for (uint64_t open = ch->device.open; open; open &= open - 1) {
            const unsigned b = (unsigned)__builtin_ctzll(open);
            dram_issue(&ch->device, DRAM_PRECHARGE, b, 0, dram_ready(&ch->device, DRAM_PRECHARGE, b, due));
        }
        dram_issue(&ch->device, DRAM_REFRESH, 0, 0, dram_ready(&ch->device, DRAM_REFRESH, 0, due));
        ch->counters.refreshes += missed + 1;
        ch->refresh = due + t->refi;
        forget_rows(ch);
    }
}

/* ---- rows ---- */

/* How far ahead a command is decided on: while two lines pass the bus. */
static uint64_t ahead(const struct dram_timing *t)
{
    return 2 * (uint64_t)t->bursts * t->ccd_s;
}

/* When to be called for what can go at `ready`: a little before, so that the bus does not wait, and not more,
 * so that there is enough to decide on. */
static uint64_t wake_for(uint64_t ready, uint64_t tick)
{
    return later(ready - 4, tick + 1);
}

static void find_hit(struct dram_side *side, unsigned bank, struct dram_request *from, uint32_t row)
{
    while (from && from->row != row)
        from = from->next;
    if (from) {
        side->bank[bank].hit = from->arrival;
        side->hits |= UINT64_C(1) << bank;
    } else {
        side->hits &= ~(UINT64_C(1) << bank);
    }
}

/* Opens the row that the bank's oldest request needs, if that can begin now; else notes when. */
static bool open_row(struct dram_channel *ch, struct dram_side *side, unsigned bank, uint64_t tick)
{
    struct dram_device *d = &ch->device;
    bool open = d->bank[bank].row != DRAM_CLOSED;
    uint64_t ready = dram_ready(d, open ? DRAM_PRECHARGE : DRAM_ACTIVATE, bank, tick);
    side->bank[bank].retry = ready;
    if (ready > tick + ahead(d->timing))
        return false;
    if (open)
        dram_issue(d, DRAM_PRECHARGE, bank, 0, ready);
    uint32_t row = side->bank[bank].queue.first->row;
    dram_issue(d, DRAM_ACTIVATE, bank, row, dram_ready(d, DRAM_ACTIVATE, bank, tick));
    ch->counters.activates++;
    side->overdue &= ~(UINT64_C(1) << bank);
    for (unsigned s = 0; s < 2; s++)
        find_hit(&ch->side[s], bank, ch->side[s].bank[bank].queue.first, row);
    return true;
}

/* ---- requests ---- */

bool dram_full(const struct dram_channel *ch)
{
    unsigned window = ch->device.timing->window;
    return ch->side[0].count >= window || ch->side[1].count >= window;
}

void dram_submit(struct dram_channel *ch, struct dram_request *request, uint64_t tick)
{
    struct dram_side *side = &ch->side[request->write];
    refresh_due(ch, tick);
    request->arrival = tick;
    unsigned bank = request->bank;
    bool alone = !(ch->side[0].pending >> bank & 1) && !(ch->side[1].pending >> bank & 1);
    queue_add(&side->bank[bank].queue, request);
    side->pending |= UINT64_C(1) << bank;
    side->count++;
    side->bank[bank].retry = alone ? 0 : side->bank[bank].retry;
    if (ch->device.bank[bank].row == request->row) {
        if (!(side->hits >> bank & 1))
            side->bank[bank].hit = request->arrival;
        side->hits |= UINT64_C(1) << bank;
    } else if (alone && (side == &ch->side[1]) == ch->writing) {
        open_row(ch, side, bank, tick);
    }
}

/* Takes the first request for the open row out of its queue. */
static struct dram_request *take_hit(const struct dram_channel *ch, struct dram_side *side, unsigned bank,
                                     uint64_t tick)
{
    struct dram_queue *queue = &side->bank[bank].queue;
    uint32_t row = ch->device.bank[bank].row;
    struct dram_request **link = &queue->first;
    while ((*link)->row != row)
        link = &(*link)->next;
    struct dram_request *request = *link;
    *link = request->next;
    if (!*link)
        queue->end = link;
    find_hit(side, bank, *link, row);
    if (!queue->first)
        side->pending &= ~(UINT64_C(1) << bank);
    else if (queue->first->row != row && queue->first->arrival + ch->device.timing->patience < tick)
        side->overdue |= UINT64_C(1) << bank;
    side->count--;
    return request;
}

static void choose_side(struct dram_channel *ch)
{
    const struct dram_timing *t = ch->device.timing;
    unsigned reads = ch->side[0].count, writes = ch->side[1].count;
    bool writing = ch->writing ? writes && (!reads || writes > t->write_low)
                               : writes && (!reads || writes >= t->write_high);
    ch->counters.turns += writing != ch->writing;
    ch->writing = writing;
}

uint64_t dram_step(struct dram_channel *ch, uint64_t tick, dram_done_fn *done, void *context)
{
    struct dram_device *d = &ch->device;
    const struct dram_timing *t = d->timing;
    uint64_t limit = tick + ahead(t);
    /* Banks of `side` whose row cannot be changed before `limit`, and the soonest that one can. */
    const struct dram_side *of = NULL;
    uint64_t closed = 0, next = DRAM_NEVER;
    refresh_due(ch, tick);
    for (;;) {
        choose_side(ch);
        bool write = ch->writing;
        struct dram_side *side = &ch->side[write];
        if (!side->count)
            return DRAM_NEVER;
        const uint64_t wait = side->pending & (~side->hits | side->overdue);
        if (side != of || closed & ~wait) {
            of = side;
            closed = 0;
            next = DRAM_NEVER;
        }
        for (uint64_t banks = wait & ~closed; banks; banks &= banks - 1) {
            unsigned bank = (unsigned)__builtin_ctzll(banks);
            if (side->bank[bank].retry > limit || !open_row(ch, side, bank, tick)) {
                next = sooner(next, side->bank[bank].retry);
                closed |= banks & -banks;
            }
        }
        /* The oldest of those that can go now; else the one that can go soonest. */
        uint64_t oldest = DRAM_NEVER, ready = DRAM_NEVER;
        unsigned chosen = CHIP_MAX_BANKS;
        for (uint64_t banks = side->hits & ~side->overdue; banks; banks &= banks - 1) {
            unsigned bank = (unsigned)__builtin_ctzll(banks), group = t->group_of[bank];
            uint64_t column = write ? later(d->bank[bank].write, d->group[group].write)
                                    : later(d->bank[bank].read, d->group[group].read);
            if (column <= limit ? ready > limit || side->bank[bank].hit < oldest : column < ready) {
                ready = column;
                oldest = side->bank[bank].hit;
                chosen = bank;
            }
        }
        if (chosen == CHIP_MAX_BANKS)
            return wake_for(next, tick);
        enum dram_command command = write ? DRAM_WRITE : DRAM_READ;
        ready = dram_ready(d, command, chosen, tick);
        if (ready > limit)
            return wake_for(sooner(ready, next), tick);
        uint64_t end = dram_issue(d, command, chosen, 0, ready);
        struct dram_request *request = take_hit(ch, side, chosen, tick);
        if (write) {
            ch->counters.writes++;
        } else {
            ch->counters.reads++;
            ch->counters.read_ticks += end - request->arrival;
        }
        done(context, request, end);
    }
}
