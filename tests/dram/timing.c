/* SPDX-License-Identifier: MIT */
/* Each rule between DRAM commands at its edge: not ready a tick before, ready at it. */
#include "dram/dram.h"

#include "check.h"
#include "chip/chip.h"

/* In ticks of 1 GHz, all different, so that no rule hides another. */
static struct dram_timing rules = {
    .mhz = 1000,
    .cl = 14,
    .cwl = 5,
    .burst = 2,
    .bursts = 4,
    .rcd_read = 15,
    .rcd_write = 11,
    .rp = 13,
    .ras = 37,
    .rrd_s = 3,
    .rrd_l = 7,
    .faw = 29,
    .ccd_s = 2,
    .ccd_l = 4,
    .wr = 17,
    .wtr_s = 6,
    .wtr_l = 9,
    .rtw = 12,
    .rtp = 8,
    .refi = 3900,
    .rfc = 350,
    .groups = 4,
    .banks = 16,
    .lines = 8,
    .write_high = 48,
    .write_low = 16,
    .window = 64,
};

/* The command is ready at `tick` and not a tick before. */
static void edge(const struct dram_device *d, enum dram_command command, unsigned bank, uint64_t tick,
                 int line)
{
    uint64_t ready = dram_ready(d, command, bank, 0);
    if (ready != tick)
        fprintf(stderr, "line %d: ready at %" PRIu64 ", expected %" PRIu64 "\n", line, ready, tick);
    CHECK(ready == tick);
    CHECK(dram_ready(d, command, bank, tick - 1) == tick); /* not before */
    CHECK(dram_ready(d, command, bank, tick) == tick);     /* then */
}
#define EDGE(command, bank, tick) edge(&d, DRAM_##command, bank, tick, __LINE__)

/* Up to the next slot of the lanes, at multiples of tCCD_S. */
static uint64_t slot(uint64_t tick)
{
    return (tick + rules.ccd_s - 1) / rules.ccd_s * rules.ccd_s;
}

static void test_rows(void)
{
    struct dram_device d;
    dram_open(&d, &rules);
    dram_issue(&d, DRAM_ACTIVATE, 0, 5, 100);
    CHECK_EQ(d.bank[0].row, 5);
    EDGE(READ, 0, slot(100 + 15));    /* tRCD for reads */
    EDGE(WRITE, 0, slot(100 + 11));   /* and for writes */
    EDGE(PRECHARGE, 0, 100 + 37);     /* tRAS */
    EDGE(ACTIVATE, 0, 100 + 37 + 13); /* tRC */
    EDGE(ACTIVATE, 1, 100 + 3);       /* tRRD_S: another bank group */
    EDGE(ACTIVATE, 4, 100 + 7);       /* tRRD_L: another bank of the group */
    dram_issue(&d, DRAM_PRECHARGE, 0, 0, 140);
    CHECK_EQ(d.bank[0].row, DRAM_CLOSED);
    EDGE(ACTIVATE, 0, 140 + 13); /* tRP, after tRC */
}

static void test_four_activates(void)
{
    struct dram_device d;
    dram_open(&d, &rules);
    for (unsigned i = 0; i < 4; i++)
        dram_issue(&d, DRAM_ACTIVATE, i, 0, 100 + 4 * i);
    EDGE(ACTIVATE, 4, 100 + 29); /* tFAW from the first of four; tRRD allows 115 */
    dram_issue(&d, DRAM_ACTIVATE, 4, 0, 129);
    EDGE(ACTIVATE, 5, 104 + 29); /* from the second; tRRD allows 132 */
}

static void test_columns(void)
{
    struct dram_device d;
    dram_open(&d, &rules);
    for (unsigned i = 0; i < 5; i++)
        d.bank[i].row = 0;
    uint64_t last = 200 + 3 * 4; /* the fourth burst's command */
    CHECK_EQ(dram_issue(&d, DRAM_READ, 0, 0, 200), last + 14 + 2);
    /* tCCD_S: between the first line's bursts */
    CHECK_EQ(dram_ready(&d, DRAM_READ, 1, 201), 200 + 2);
    CHECK_EQ(dram_ready(&d, DRAM_READ, 1, 200 + 2), 200 + 2);
    EDGE(READ, 4, last + 4);      /* tCCD_L: same bank group, after its last burst */
    EDGE(PRECHARGE, 0, last + 8); /* tRTP */
    EDGE(WRITE, 1, last + 12);    /* read to write: the bus turns */
    dram_issue(&d, DRAM_READ, 1, 0, 202);
    EDGE(READ, 2, 200 + 16); /* both lanes are taken until the first line has passed */
}

static void test_writes(void)
{
    struct dram_device d;
    dram_open(&d, &rules);
    uint64_t last = 300 + 3 * 4, end = last + 5 + 2;
    CHECK_EQ(dram_issue(&d, DRAM_WRITE, 0, 0, 300), end);
    CHECK_EQ(dram_ready(&d, DRAM_WRITE, 1, 301), 302); /* tCCD_S */
    EDGE(WRITE, 4, last + 4);                          /* tCCD_L */
    EDGE(READ, 1, slot(end + 6));                      /* tWTR_S: another bank group */
    EDGE(READ, 4, slot(end + 9));                      /* tWTR_L: the same */
    EDGE(PRECHARGE, 0, end + 17);                      /* tWR */
}

static void test_refresh(void)
{
    struct dram_device d;
    dram_open(&d, &rules);
    dram_issue(&d, DRAM_ACTIVATE, 3, 0, 100);
    dram_issue(&d, DRAM_PRECHARGE, 3, 0, 150);
    EDGE(REFRESH, 0, 150 + 13); /* tRP after the last precharge */
    dram_issue(&d, DRAM_REFRESH, 0, 0, 163);
    for (unsigned i = 0; i < rules.banks; i++)
        EDGE(ACTIVATE, i, 163 + 350); /* tRFC */
}

/* The chip file's nanoseconds in ticks, rounded up. */
static void test_chip(void)
{
    struct chip chip;
    char error[256];
    if (!CHECK(chip_load("mi300a", &chip, error, sizeof(error)) == 0))
        return;
    struct dram_timing t;
    dram_timing_of(&chip, &t);
    CHECK_EQ(t.rcd_read, 19); /* 14 ns at 1300 MHz are 18.2 */
    CHECK_EQ(t.bursts, 4);
    CHECK_EQ(t.lines, 8);
    CHECK_EQ(t.banks, 32);
    CHECK_EQ(t.refi, (uint64_t)(chip.value[CHIP_hbm_trefi] * t.mhz / 1000));
    /* A pseudo channel's peak, times all of them, is the package's. */
    double peak = 32.0 / t.ccd_s * t.mhz * 1e6 * 2 * 128;
    CHECK(peak / 1e9 > 0.999 * chip.value[CHIP_hbm_bandwidth] &&
          peak / 1e9 < 1.001 * chip.value[CHIP_hbm_bandwidth]);
    chip_free(&chip);
}

/* Where a quotient changes, up to the largest number. */
static void test_division(void)
{
    for (uint32_t by = 1; by < 1000; by++) {
        const struct divisor d = divisor_of(by);
        for (uint32_t k = 0; k < 40; k++)
            for (uint32_t i = 0; i < 3; i++) {
                const uint32_t near[] = {by * k, UINT32_MAX / by * by - by * k, UINT32_MAX - k},
                               n = near[i] - (k & 1);
                uint32_t rest;
                CHECK_EQ(divide(d, n, &rest), n / by);
                CHECK_EQ(rest, n % by);
            }
    }
}

int main(void)
{
    dram_timing_divide(&rules);
    test_division();
    test_rows();
    test_four_activates();
    test_columns();
    test_writes();
    test_refresh();
    test_chip();
    return check_status();
}
