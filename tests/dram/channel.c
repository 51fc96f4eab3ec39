/* SPDX-License-Identifier: MIT */
/* The controller: latency, order, starvation, refresh, and what of the peak streams and random lines get. */
#include "dram/dram.h"

#include <stdlib.h>

#include "check.h"
#include "chip/chip.h"

enum { FLIGHT = 96 };

struct rig {
    struct dram_timing timing;
    struct dram_channel channel;
    struct dram_request pool[FLIGHT];
    struct dram_request *spare;
    uint64_t done, last_end, order[FLIGHT];
    uint64_t bytes;
};

static void done(void *context, struct dram_request *request, uint64_t end)
{
    struct rig *rig = context;
    rig->order[rig->done++ % FLIGHT] = (uint64_t)(request - rig->pool);
    rig->last_end = end > rig->last_end ? end : rig->last_end;
    request->next = rig->spare;
    rig->spare = request;
    rig->bytes += 128;
}

static void open_rig(struct rig *rig)
{
    struct chip chip;
    char error[256];
    CHECK(chip_load("mi300a", &chip, error, sizeof(error)) == 0);
    dram_timing_of(&chip, &rig->timing);
    chip_free(&chip);
    dram_channel_open(&rig->channel, &rig->timing, rig->timing.refi);
    rig->spare = NULL;
    rig->done = rig->last_end = rig->bytes = 0;
    for (unsigned i = FLIGHT; i--;) {
        rig->pool[i].next = rig->spare;
        rig->spare = &rig->pool[i];
    }
}

static struct dram_request *submit(struct rig *rig, uint32_t line, bool write, uint64_t tick)
{
    struct dram_request *r = rig->spare;
    rig->spare = r->next;
    dram_place(&rig->timing, line, r);
    r->write = write;
    dram_submit(&rig->channel, r, tick);
    return r;
}

static void drain(struct rig *rig, uint64_t tick)
{
    while (tick != DRAM_NEVER)
        tick = dram_step(&rig->channel, tick, done, rig);
}

static void test_idle(void)
{
    static struct rig rig;
    open_rig(&rig);
    const struct dram_timing *t = &rig.timing;
    submit(&rig, 0, false, 1000);
    drain(&rig, 1000);
    uint64_t data = (t->bursts - 1) * t->ccd_l + t->cl + t->burst;
    uint64_t latency = rig.last_end - 1000;
    CHECK(latency >= t->rcd_read + data && latency < t->rcd_read + data + t->ccd_s); /* a closed bank */
    submit(&rig, t->groups, false, 1500);
    drain(&rig, 1500);
    latency = rig.last_end - 1500;
    CHECK(latency >= data && latency < data + t->ccd_s); /* an open row */
    uint32_t other = t->groups * t->lines;
    struct dram_request a, b;
    dram_place(t, 0, &a);
    do
        dram_place(t, other += t->groups * t->lines, &b);
    while (b.bank != a.bank);
    submit(&rig, other, false, 2000);
    drain(&rig, 2000);
    latency = rig.last_end - 2000;
    CHECK(latency >= t->rp + t->rcd_read + data &&
          latency < t->rp + t->rcd_read + data + t->ccd_s); /* conflict */
    /* In the middle of a refresh. */
    submit(&rig, 0, false, t->refi + 10);
    drain(&rig, t->refi + 10);
    CHECK(rig.last_end >= t->refi + t->rp + t->rfc + t->rcd_read + data);
    CHECK(rig.last_end < t->refi + t->rp + t->rfc + t->rcd_read + data + t->ccd_s);
    /* After refreshes that nobody saw, the row is closed and nothing is owed. */
    uint64_t late = 100 * (uint64_t)t->refi + t->refi / 2;
    submit(&rig, 0, false, late);
    drain(&rig, late);
    CHECK(rig.last_end - late < t->rcd_read + data + t->ccd_s);
    CHECK_EQ(rig.channel.counters.refreshes, 100);
}

static void test_place(void)
{
    static struct rig rig;
    open_rig(&rig);
    static uint8_t seen[64][4096];
    memset(seen, 0, sizeof(seen));
    unsigned rows = 200, lines = rows * rig.timing.banks * rig.timing.lines;
    for (uint32_t i = 0; i < lines; i++) {
        struct dram_request r;
        dram_place(&rig.timing, i, &r);
        CHECK(r.bank < rig.timing.banks && r.row < rows);
        seen[r.bank][r.row]++;
    }
    for (unsigned b = 0; b < rig.timing.banks; b++)
        for (unsigned r = 0; r < rows; r++)
            CHECK_EQ(seen[b][r], rig.timing.lines);
}

/* Hits of an open row do not pass the oldest request of their bank for ever. */
static void test_starvation(void)
{
    static struct rig rig;
    open_rig(&rig);
    const struct dram_timing *t = &rig.timing;
    struct dram_request a, b;
    dram_place(t, 0, &a);
    uint32_t other = 0;
    do
        dram_place(t, other += t->groups * t->lines, &b);
    while (b.bank != a.bank);
    uint64_t tick = 100, victim_done = 0;
    for (unsigned i = 0; i < 3; i++)
        submit(&rig, i * t->groups, false, tick);
    struct dram_request *victim = submit(&rig, other, false, tick);
    uint64_t index = (uint64_t)(victim - rig.pool);
    for (unsigned i = 0; i < 4000 && !victim_done; i++) {
        uint64_t before = rig.done;
        uint64_t next = dram_step(&rig.channel, tick, done, &rig);
        for (; before < rig.done && !victim_done; before++) {
            if (rig.order[before % FLIGHT] == index)
                victim_done = tick;
            else
                submit(&rig, (uint32_t)(before % t->lines) * t->groups, false, tick);
        }
        tick = next == DRAM_NEVER ? tick + 1 : next;
    }
    CHECK(victim_done > 1000 && victim_done < 4000);
}

/* Keeps `FLIGHT` requests in the queues; each kind of traffic's share of the peak. */
struct load {
    const char *name;
    unsigned writes_of_three;
    unsigned streams; /* 0: random lines */
    double least, most;
};

static void test_load(const struct load *load)
{
    static struct rig rig;
    open_rig(&rig);
    uint64_t tick = 0, random = 88172645463325252U, count = 0;
    uint32_t position[16] = {0};
    const uint64_t end = 400000;
    while (tick < end) {
        while (rig.spare && !dram_full(&rig.channel)) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            unsigned s = load->streams ? (unsigned)((count / 16) % load->streams) : 0;
            uint32_t line = load->streams ? (s << 20) + position[s]++ : (uint32_t)(random >> 42);
            submit(&rig, line, count / 16 % 3 < load->writes_of_three, tick);
            count++;
        }
        uint64_t next = dram_step(&rig.channel, tick, done, &rig);
        tick = next > tick ? next : tick + 1;
    }
    double share = (double)rig.bytes / ((double)end * 32 / rig.timing.ccd_s);
    struct dram_counters *c = &rig.channel.counters;
    printf("%-28s %5.1f %% of the peak, %.2f activates a line, %" PRIu64 " turns\n", load->name, 100 * share,
           (double)c->activates / (double)(c->reads + c->writes), c->turns);
    CHECK(share > load->least && share < load->most);
    CHECK(c->refreshes >= end / rig.timing.refi - 1);
}

/* As many reads, or as many writes, as it chooses among; one is served, and there is place. */
static void test_full(void)
{
    static struct rig rig;
    for (unsigned write = 0; write < 2; write++) {
        open_rig(&rig);
        for (unsigned i = 0; i < rig.timing.window; i++) {
            CHECK(!dram_full(&rig.channel));
            submit(&rig, i, write, 100);
        }
        CHECK(dram_full(&rig.channel));
        uint64_t tick = 100;
        while (!rig.done) {
            CHECK(dram_full(&rig.channel));
            tick = dram_step(&rig.channel, tick, done, &rig);
        }
        CHECK(!dram_full(&rig.channel));
    }
}

int main(void)
{
    test_idle();
    test_full();
    test_place();
    test_starvation();
    static const struct load loads[] = {
        {"one stream of reads", 0, 1, 0.8, 0.95},
        {"three streams of reads", 0, 3, 0.75, 0.95},
        {"three streams, one written", 1, 3, 0.6, 0.9},
        {"writes only", 3, 1, 0.7, 0.95},
        {"random reads", 0, 0, 0.3, 0.9},
    };
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        test_load(&loads[i]);
    return check_status();
}
