/* SPDX-License-Identifier: MIT */
/* The rules between commands of a pseudo channel; see dram.h. */
#include "dram/dram.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/power.h"
#include "chip/chip.h"

enum { LINE = 128 };

void dram_timing_divide(struct dram_timing *timing)
{
    for (unsigned i = 0; i < timing->banks && i < CHIP_MAX_BANKS; i++)
        timing->group_of[i] = (uint8_t)(i % timing->groups);
    timing->by_groups = divisor_of(timing->groups);
    timing->by_lines = divisor_of(timing->lines);
    timing->by_in_group = divisor_of(timing->banks / timing->groups);
}

void dram_timing_of(const struct chip *chip, struct dram_timing *timing)
{
    double mhz = chip->value[CHIP_hbm_clock];
#define TICKS(key) ((unsigned)ceil(chip->value[CHIP_hbm_##key] * mhz / 1000 - 1e-9))
    *timing = (struct dram_timing){
        .mhz = mhz,
        .cl = TICKS(tcl),
        .cwl = TICKS(tcwl),
        .rcd_read = TICKS(trcd_read),
        .rcd_write = TICKS(trcd_write),
        .rp = TICKS(trp),
        .ras = TICKS(tras),
        .rrd_s = TICKS(trrd_s),
        .rrd_l = TICKS(trrd_l),
        .faw = TICKS(tfaw),
        .ccd_s = chip_get(chip, CHIP_hbm_tccd_s),
        .ccd_l = chip_get(chip, CHIP_hbm_tccd_l),
        .wr = TICKS(twr),
        .wtr_s = TICKS(twtr_s),
        .wtr_l = TICKS(twtr_l),
        .rtp = TICKS(trtp),
        .refi = TICKS(trefi),
        .rfc = TICKS(trfc),
        .groups = chip_get(chip, CHIP_hbm_bank_groups),
        .banks = chip_get(chip, CHIP_hbm_bank_groups) * chip_get(chip, CHIP_hbm_banks) *
                 chip_get(chip, CHIP_hbm_stack_ids),
        .lines = chip_get(chip, CHIP_hbm_row) / LINE,
        .bursts = LINE / chip_get(chip, CHIP_hbm_burst),
        .write_high = chip_get(chip, CHIP_hbm_write_high),
        .write_low = chip_get(chip, CHIP_hbm_write_low),
        .window = chip_get(chip, CHIP_hbm_queue),
        .patience = chip_get(chip, CHIP_hbm_patience),
    };
#undef TICKS
    dram_timing_divide(timing);
    timing->burst = timing->ccd_s;
    /* The bus turns around: write data may follow the last read's, with one tick between. */
    timing->rtw =
        timing->cl + timing->burst + 1 > timing->cwl ? timing->cl + timing->burst + 1 - timing->cwl : 1;
}

void dram_open(struct dram_device *device, const struct dram_timing *timing)
{
    assert(timing->banks <= CHIP_MAX_BANKS && timing->groups <= CHIP_MAX_BANK_GROUPS);
    assert(power_of_two(timing->ccd_s) && power_of_two(timing->ccd_l));
    assert(timing->ccd_s <= timing->ccd_l && timing->ccd_l <= DRAM_LANES * timing->ccd_s);
    memset(device, 0, sizeof(*device));
    device->timing = timing;
    for (unsigned i = 0; i < timing->banks; i++)
        device->bank[i].row = DRAM_CLOSED;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The first slot at or after `tick` in any lane: lane i's begin at i * tCCD_S, every tCCD_L (powers of two).
 */
static uint64_t first_slot(const struct dram_device *d, uint64_t tick, unsigned *lane)
{
    const struct dram_timing *t = d->timing;
    uint64_t best = DRAM_NEVER, phase = 0;
    for (unsigned i = 0; phase < t->ccd_l; i++, phase += t->ccd_s) {
        uint64_t from = later(tick, d->lane[i]);
        uint64_t slot = from + ((phase - from) & (t->ccd_l - 1));
        if (slot < best) {
            best = slot;
            *lane = i;
        }
    }
    return best;
}

uint64_t dram_ready(const struct dram_device *d, enum dram_command command, unsigned bank, uint64_t tick)
{
    const struct dram_timing *t = d->timing;
    const struct dram_bank *b = &d->bank[bank];
    unsigned group = t->group_of[bank], lane;
    uint64_t ready = tick;
    switch (command) {
    case DRAM_ACTIVATE:
        ready = later(later(ready, later(b->activate, d->refreshed)),
                      later(d->group[group].activate, d->activate));
        return later(ready, d->window[d->oldest]);
    case DRAM_PRECHARGE:
        return later(ready, b->precharge);
    case DRAM_READ:
        return first_slot(d, later(later(ready, b->read), later(d->group[group].read, d->read)), &lane);
    case DRAM_WRITE:
        return first_slot(d, later(later(ready, b->write), later(d->group[group].write, d->write)), &lane);
    case DRAM_REFRESH:
        return later(ready, later(d->idle, d->refreshed));
    }
    return DRAM_NEVER;
}

static void issue_activate(struct dram_device *d, unsigned bank, uint32_t row, uint64_t tick)
{
    const struct dram_timing *t = d->timing;
    struct dram_bank *b = &d->bank[bank];
    unsigned group = t->group_of[bank];
    b->row = row;
    b->read = tick + t->rcd_read;
    b->write = tick + t->rcd_write;
    b->precharge = tick + t->ras;
    b->activate = tick + t->ras + t->rp;
    d->idle = later(d->idle, b->activate);
    d->open |= UINT64_C(1) << bank;
    d->group[group].activate = tick + t->rrd_l;
    d->activate = tick + t->rrd_s;
    d->window[d->oldest] = tick + t->faw;
    d->oldest = (d->oldest + 1) % DRAM_WINDOW;
}

static uint64_t issue_column(struct dram_device *d, bool write, unsigned bank, uint64_t tick)
{
    const struct dram_timing *t = d->timing;
    struct dram_bank *b = &d->bank[bank];
    unsigned group = t->group_of[bank], lane = 0;
    uint64_t slot = first_slot(d, tick, &lane), last = tick + (uint64_t)(t->bursts - 1) * t->ccd_l;
    assert(slot == tick);
    d->lane[lane] = last + t->ccd_l;
    d->group[group].read = later(d->group[group].read, last + t->ccd_l);
    d->group[group].write = later(d->group[group].write, last + t->ccd_l);
    if (!write) {
        uint64_t end = last + t->cl + t->burst;
        b->precharge = later(b->precharge, last + t->rtp);
        d->write = later(d->write, last + t->rtw);
        return end;
    }
    uint64_t end = last + t->cwl + t->burst;
    b->precharge = later(b->precharge, end + t->wr);
    d->read = later(d->read, end + t->wtr_s);
    d->group[group].read = later(d->group[group].read, end + t->wtr_l);
    return end;
}

uint64_t dram_issue(struct dram_device *d, enum dram_command command, unsigned bank, uint32_t row,
                    uint64_t tick)
{
    const struct dram_timing *t = d->timing;
    struct dram_bank *b = &d->bank[bank];
    switch (command) {
    case DRAM_ACTIVATE:
        issue_activate(d, bank, row, tick);
        return tick;
    case DRAM_PRECHARGE:
        b->row = DRAM_CLOSED;
        b->activate = later(b->activate, tick + t->rp);
        d->idle = later(d->idle, b->activate);
        d->open &= ~(UINT64_C(1) << bank);
        return tick;
    case DRAM_READ:
    case DRAM_WRITE:
        return issue_column(d, command == DRAM_WRITE, bank, tick);
    case DRAM_REFRESH:
        d->refreshed = tick + t->rfc;
        return d->refreshed;
    }
    return tick;
}
