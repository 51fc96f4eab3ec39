/* SPDX-License-Identifier: MIT */
/*
 * HBM3: the pseudo channels of the stacks, and the controller in front of each.
 *
 * Two layers.  struct dram_device knows the commands and the rules between them:
 * dram_ready() says from which tick on a command is allowed, dram_issue() does it.
 * It has no clock of its own.  struct dram_channel is the controller: it holds
 * requests for lines and decides what is issued when (first ready, first come,
 * first served; writes in bursts; refresh).  Time is ticks of the memory clock (CK).
 *
 * A command to a column moves a whole line here: as many bursts as the line has, at
 * tCCD_L, because they are in one bank group.  A line thus takes every other slot of
 * the data bus, and a line of another bank group fits between: the slots are dealt
 * out in tCCD_L / tCCD_S lanes.
 *
 * Sources: JEDEC JESD238 (HBM3) for the organisation and the rules' names; the
 * numbers are the chip files'.
 */
#ifndef EHP_DRAM_DRAM_H
#define EHP_DRAM_DRAM_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/divisor.h"
#include "chip/chip.h"

enum dram_command { DRAM_ACTIVATE, DRAM_PRECHARGE, DRAM_READ, DRAM_WRITE, DRAM_REFRESH };
enum { DRAM_LANES = 4, DRAM_WINDOW = 4 };
#define DRAM_CLOSED UINT32_MAX
#define DRAM_NEVER  UINT64_MAX

/* In ticks. */
struct dram_timing {
    double mhz;
    unsigned cl, cwl;       /* column command to data */
    unsigned burst, bursts; /* a burst on the bus, and bursts of a line */
    unsigned rcd_read, rcd_write, rp, ras;
    unsigned rrd_s, rrd_l, faw;
    unsigned ccd_s, ccd_l;
    unsigned wr, wtr_s, wtr_l, rtw, rtp;
    unsigned refi, rfc;
    unsigned groups, banks; /* bank groups, and banks of all of them; bank i is in group i % groups */
    unsigned lines;         /* of a row */
    unsigned write_high, write_low, window; /* the controller's queues */
    unsigned patience;
    /* What follows by dram_timing_divide(): of each bank its group; divisors by groups, lines, and a group's
     * banks. */
    uint8_t group_of[CHIP_MAX_BANKS];
    static_assert(CHIP_MAX_BANK_GROUPS <= UINT8_MAX, "a byte each");
    struct divisor by_groups, by_lines, by_in_group;
};
/* Fills in what follows from groups, banks and lines. */
void dram_timing_divide(struct dram_timing *timing);
void dram_timing_of(const struct chip *chip, struct dram_timing *timing);

struct dram_device {
    const struct dram_timing *timing;
    uint64_t activate, read, write; /* any bank */
    uint64_t lane[DRAM_LANES];
    uint64_t window[DRAM_WINDOW]; /* the last activates */
    unsigned oldest;
    uint64_t open;      /* banks with an open row */
    uint64_t idle;      /* from when on every bank may be opened, but for those that are */
    uint64_t refreshed; /* end of the last refresh */
    struct {
        uint64_t activate, read, write;
    } group[CHIP_MAX_BANK_GROUPS];
    struct dram_bank {
        uint32_t row;
        uint64_t activate, precharge, read, write;
    } bank[CHIP_MAX_BANKS];
};

void dram_open(struct dram_device *device, const struct dram_timing *timing);
/* The first tick, not before `tick`, at which the command may be issued; for columns, the row's being open is
 * the caller's business.  DRAM_REFRESH is for all banks, which must be closed. */
uint64_t dram_ready(const struct dram_device *device, enum dram_command command, unsigned bank,
                    uint64_t tick);
/* At `tick`, which is not before dram_ready(). Returns when the data of a column command end on the bus. */
uint64_t dram_issue(struct dram_device *device, enum dram_command command, unsigned bank, uint32_t row,
                    uint64_t tick);

/* One line; the caller's until it is done. */
struct dram_request {
    struct dram_request *next;
    uint32_t row;
    uint8_t bank;
    bool write;
    uint64_t arrival;
};

struct dram_queue {
    struct dram_request *first, **end;
};

struct dram_counters {
    uint64_t reads, writes, activates, refreshes, turns;
    uint64_t read_ticks; /* from a read's arrival to the end of its data, of all together */
};

struct dram_channel {
    struct dram_device device;
    struct dram_side { /* reads, writes */
        struct dram_waiting {
            struct dram_queue queue;
            uint64_t hit;   /* arrival of the first request for the open row, if the bank is in `hits` */
            uint64_t retry; /* when the row can be changed, as far as known */
        } bank[CHIP_MAX_BANKS];
        uint64_t pending; /* banks with requests */
        static_assert(CHIP_MAX_BANKS <= 64, "a bit each");
        uint64_t hits;    /* banks with a request for the open row */
        uint64_t overdue; /* banks whose oldest request has been passed for too long */
        unsigned count;   /* in the banks' queues */
    } side[2];
    bool writing;
    uint64_t refresh; /* when the next one is due */
    uint64_t wake;    /* when dram_step() is to be called: the caller's note */
    struct dram_counters counters;
};

void dram_channel_open(struct dram_channel *channel, const struct dram_timing *timing,
                       uint64_t first_refresh);
/* Which bank and row line `index` of the channel's lines is in. */
void dram_place(const struct dram_timing *timing, uint32_t index, struct dram_request *request);
/* Asks the host's memory for what all of these look at. */
static inline void dram_prefetch(const struct dram_channel *channel)
{
    __builtin_prefetch(&channel->side[0].pending);
    __builtin_prefetch(&channel->side[1].pending);
    __builtin_prefetch(&channel->wake);
}
/* Whether the controller has as many reads or writes as it chooses among: no more should be submitted. */
bool dram_full(const struct dram_channel *channel);
void dram_submit(struct dram_channel *channel, struct dram_request *request, uint64_t tick);

/*
 * Issues what may be issued at `tick` or two lines' time after; calls done() with each
 * request whose column command is on its way, and the tick at which its data have passed
 * the bus.  Returns the tick at which it wants to be called again, DRAM_NEVER if it has
 * nothing to do.
 */
typedef void dram_done_fn(void *context, struct dram_request *request, uint64_t end);
uint64_t dram_step(struct dram_channel *channel, uint64_t tick, dram_done_fn *done, void *context);

#endif
