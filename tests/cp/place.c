/* SPDX-License-Identifier: MIT */
/* Which XCD and CU a workgroup gets, and how many of them an XCD holds. */
#include <stdlib.h>

#include "check.h"
#include "soc/machine.h"

static struct ehp_machine *machine_with(const char *chip, const char *partition)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.chip = chip;
    options.partition = partition;
    options.threads = 1;
    struct ehp_machine *m = NULL;
    if (!CHECK(ehp_open(&options, &m) == EHP_OK)) {
        fprintf(stderr, "%s\n", options.error);
        exit(1);
    }
    return m;
}

/* How many workgroups of this shape one XCD takes before it is full. */
static unsigned capacity(struct ehp_machine *m, unsigned waves, unsigned vgprs, uint32_t lds)
{
    struct cp_queue queue = {.cp = &m->cp};
    struct cp_dispatch d = {
        .cp = &m->cp, .queue = &queue, .xccs = 1, .chunk = 1, .vgprs = vgprs, .sgprs = 16, .lds = lds};
    d.launch.waves = waves;
    char why[160];
    if (!ace_can_ever_fit(&m->cp, &d, why, sizeof(why)))
        return 0;
    enum { MOST = 2000 };
    struct workgroup *all = calloc(MOST, sizeof(*all));
    unsigned n = 0;
    while (n < MOST) {
        all[n].waves = waves;
        if (!ace_place(&m->cp, &m->cp.round, &d, &all[n]))
            break;
        n++;
    }
    for (unsigned i = 0; i < n; i++)
        ace_release(&m->cp, &d, &all[i]);
    for (unsigned c = 0; c < 38; c++) {
        const struct cp_cu *cu = &m->cp.cu[0][c];
        CHECK(cu->lds == 0 && cu->workgroups == 0 && cu->waves[0] == 0 && cu->vgprs[3] == 0 &&
              cu->sgprs[1] == 0);
    }
    free(all);
    return n;
}

static void test_limits(void)
{
    struct ehp_machine *m = machine_with("mi300a", "spx");
    /* 38 CUs of 4 SIMDs of 8 waves; 512 VGPRs a SIMD; 64 KiB LDS; 16 barriers. */
    CHECK_EQ(capacity(m, 1, 64, 0), 38 * 32);
    CHECK_EQ(capacity(m, 1, 128, 0), 38 * 16);
    CHECK_EQ(capacity(m, 1, 136, 0), 38 * 12);
    CHECK_EQ(capacity(m, 1, 512, 0), 38 * 4);
    CHECK_EQ(capacity(m, 4, 128, 0), 38 * 4);
    CHECK_EQ(capacity(m, 16, 128, 0), 38 * 1);
    CHECK_EQ(capacity(m, 16, 136, 0), 0);
    CHECK_EQ(capacity(m, 2, 8, 0), 38 * 16);
    CHECK_EQ(capacity(m, 1, 8, 32768), 38 * 2);
    CHECK_EQ(capacity(m, 1, 8, 33280), 38 * 1);
    CHECK_EQ(capacity(m, 1, 8, 65536), 38 * 1);
    CHECK_EQ(capacity(m, 1, 8, 66048), 0);
    ehp_close(m);
}

static unsigned xcc_of(const struct cp_dispatch *d, uint64_t linear)
{
    const struct ace_turn turn = ace_turn_of(d, linear);
    return ace_turn_xcc(d, &turn);
}

/* One after another they go where they go by themselves, from wherever that begins. */
static void test_turns(const struct cp_dispatch *d)
{
    for (uint64_t first = 0; first < 13; first++) {
        struct ace_turn turn = ace_turn_of(d, first);
        for (uint64_t i = first; i < first + 40; i++) {
            CHECK_EQ(ace_turn_xcc(d, &turn), xcc_of(d, i));
            ace_turn_next(d, &turn);
        }
    }
}

static void test_share(void)
{
    struct cp_dispatch d = {.first_xcc = 0, .xccs = 6, .chunk = 1, .takers = 6, .taker = {0, 1, 2, 3, 4, 5}};
    for (unsigned i = 0; i < 20; i++)
        CHECK_EQ(xcc_of(&d, i), i % 6);
    test_turns(&d);
    d.chunk = 4;
    CHECK_EQ(xcc_of(&d, 3), 0);
    CHECK_EQ(xcc_of(&d, 4), 1);
    CHECK_EQ(xcc_of(&d, 24), 0);
    test_turns(&d);
    d = (struct cp_dispatch){.first_xcc = 4, .xccs = 2, .chunk = 1, .takers = 2, .taker = {0, 1}};
    CHECK_EQ(xcc_of(&d, 0), 4);
    CHECK_EQ(xcc_of(&d, 1), 5);
    CHECK_EQ(xcc_of(&d, 2), 4);
    d = (struct cp_dispatch){.first_xcc = 0, .xccs = 6, .chunk = 2, .takers = 2, .taker = {1, 4}};
    CHECK_EQ(xcc_of(&d, 1), 1);
    CHECK_EQ(xcc_of(&d, 2), 4);
    CHECK_EQ(xcc_of(&d, 4), 1);
    test_turns(&d);
}

/* Consecutive workgroups of an XCD go to different shader engines; every CU is used before one is used twice.
 */
static void test_spread(void)
{
    struct ehp_machine *m = machine_with("mi300a", NULL);
    struct cp_queue queue = {.cp = &m->cp};
    struct cp_dispatch d = {.cp = &m->cp, .queue = &queue, .xccs = 6, .chunk = 1, .vgprs = 8, .sgprs = 16};
    d.launch.waves = 1;
    struct workgroup *wg = calloc(38, sizeof(*wg));
    unsigned used[38] = {0};
    unsigned engine[4];
    for (unsigned i = 0; i < 38; i++) {
        wg[i].waves = 1;
        CHECK(ace_place(&m->cp, &m->cp.round, &d, &wg[i]));
        used[wg[i].cu]++;
        if (i < 4)
            engine[i] = wg[i].wave[0].hw_id >> 13 & 7;
    }
    for (unsigned i = 0; i < 38; i++)
        CHECK_EQ(used[i], 1);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(engine[i], i);
    free(wg);

    /* A CU mask keeps workgroups on its CUs. */
    uint32_t mask[8] = {1u << 5};
    queue.cu_mask = mask;
    struct workgroup one = {.waves = 1};
    CHECK(ace_place(&m->cp, &m->cp.round, &d, &one));
    CHECK_EQ(one.cu, 5);
    ehp_close(m);
}

/* Host threads place on CUs of their own first, and on every other before they call an XCD full. */
static void test_ranges(void)
{
    struct ehp_machine *m = machine_with("mi300a", NULL);
    struct cp_queue queue = {.cp = &m->cp};
    struct cp_dispatch d = {
        .cp = &m->cp, .queue = &queue, .xccs = 6, .chunk = 1, .vgprs = 8, .sgprs = 16, .lds = 65536};
    d.launch.waves = 1;
    for (unsigned of = 1; of <= 50; of += 7) {
        struct ace_round round[50];
        struct workgroup *wg = calloc(39, sizeof(*wg));
        unsigned used[38] = {0}, n = 0, own = of < 38 ? 38 / of : 1;
        for (unsigned i = 0; i < of; i++)
            CHECK(ace_round_init(&m->cp, &round[i], i, of));
        for (unsigned i = 0; i < of && n + own <= 38; i++)
            for (unsigned k = 0; k < own; k++, n++) {
                wg[n].waves = 1;
                CHECK(ace_place(&m->cp, &round[i], &d, &wg[n]));
                used[wg[n].cu]++;
                /* Not a CU of the range of another. */
                CHECK(of > 38 || wg[n].cu == m->cp.launch_order[i * own + k]);
            }
        for (; n < 38; n++) {
            wg[n].waves = 1;
            CHECK(ace_place(&m->cp, &round[0], &d, &wg[n]));
            used[wg[n].cu]++;
        }
        for (unsigned c = 0; c < 38; c++)
            CHECK_EQ(used[c], 1);
        wg[38].waves = 1;
        for (unsigned i = 0; i < of; i++) {
            CHECK(!ace_place(&m->cp, &round[i], &d, &wg[38]));
            free(round[i].next);
        }
        for (unsigned i = 0; i < 38; i++)
            ace_release(&m->cp, &d, &wg[i]);
        free(wg);
    }
    ehp_close(m);
}

/* Places that are kept are those that a round without would come to, and are nobody else's until let go. */
static void test_kept(unsigned waves)
{
    const uint32_t lds = 65536; /* a CU has room for one */
    struct ehp_machine *m = machine_with("mi300a", NULL);
    struct cp_queue queue = {.cp = &m->cp};
    struct cp_dispatch d = {
        .cp = &m->cp, .queue = &queue, .xccs = 6, .chunk = 1, .vgprs = 8, .sgprs = 16, .lds = lds};
    d.launch.waves = waves;
    struct ace_round round, plain, other;
    CHECK(ace_round_init(&m->cp, &round, 1, 3) && ace_round_init(&m->cp, &plain, 1, 3) &&
          ace_round_init(&m->cp, &other, 0, 1));
    struct workgroup *wg = calloc(40, sizeof(*wg)), *b = &wg[39];
    for (unsigned i = 0; i < 40; i++) {
        wg[i].waves = waves;
        wg[i].xcc = 3;
    }
    b->xcc = 2;
    for (unsigned i = 0; i < 50; i++) {
        CHECK(ace_place(&m->cp, &plain, &d, b));
        ace_release(&m->cp, &d, b);
        CHECK(ace_place(&m->cp, &round, &d, wg));
        CHECK(wg->cu == b->cu && memcmp(wg->simd, b->simd, waves) == 0);
        CHECK(wg->wave[waves - 1].hw_id == b->wave[waves - 1].hw_id && wg->wave[0].xcc_id == 3);
        CHECK(ace_keep(&m->cp, &round, &d, wg));
        CHECK_EQ(round.kept_count, i < round.count ? i + 1 : round.count);
    }
    for (unsigned i = 0; i < round.count; i++)
        CHECK_EQ(m->cp.cu[3][m->cp.launch_order[round.first + i]].lds, lds);
    /* Another finds room on the other CUs, and then on none. */
    unsigned n = 0;
    while (n < 38 && ace_place(&m->cp, &other, &d, &wg[n]))
        n++;
    CHECK_EQ(n, 38 - round.count);
    /* A partial one has another shape: it gets a place that is let go. */
    b->waves = 1;
    b->xcc = 3;
    CHECK(ace_place(&m->cp, &round, &d, b));
    CHECK(round.kept_count == 0 && !ace_keep(&m->cp, &round, &d, b));
    for (; n < 37; n++)
        CHECK(ace_place(&m->cp, &other, &d, &wg[n]));
    CHECK(!ace_place(&m->cp, &other, &d, &wg[n]));
    while (n-- > 0)
        ace_release(&m->cp, &d, &wg[n]);
    ace_release(&m->cp, &d, b);
    static const struct cp_cu empty;
    for (unsigned c = 0; c < 38; c++)
        CHECK(memcmp(&m->cp.cu[3][c].waves, &empty.waves, sizeof(empty) - offsetof(struct cp_cu, waves)) ==
              0);
    /* Who has no range of his own keeps nothing. */
    free(other.next);
    CHECK(ace_round_init(&m->cp, &other, 3, 39) && ace_place(&m->cp, &other, &d, wg));
    CHECK(!ace_keep(&m->cp, &other, &d, wg));
    free(round.next);
    free(plain.next);
    free(other.next);
    free(wg);
    ehp_close(m);
}

static void test_partitions(void)
{
    static const struct {
        const char *chip, *partition;
        unsigned agents, xcds;
    } cases[] = {
        {"mi300a", "spx", 1, 6}, {"mi300a", "tpx", 3, 2}, {"mi300a", "cpx", 6, 1}, {"mi300x", "spx", 1, 8},
        {"mi300x", "dpx", 2, 4}, {"mi300x", "qpx", 4, 2}, {"mi300x", "cpx", 8, 1},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ehp_machine *m = machine_with(cases[i].chip, cases[i].partition);
        struct ehp_agent_info info = EHP_AGENT_INFO_INIT;
        CHECK_EQ(ehp_agent_count(m), cases[i].agents);
        CHECK(ehp_agent_info(m, cases[i].agents - 1, &info) == EHP_OK);
        CHECK_EQ(info.xcds, cases[i].xcds);
        CHECK_EQ(info.cus, cases[i].xcds * 38);
        CHECK(ehp_agent_info(m, cases[i].agents, &info) == EHP_ERR_INVALID);
        ehp_close(m);
    }
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.partition = "dpx";
    struct ehp_machine *m;
    CHECK(ehp_open(&options, &m) == EHP_ERR_INVALID);
    CHECK(strstr(options.error, "tpx") != NULL);
}

int main(void)
{
    test_limits();
    test_share();
    test_spread();
    test_ranges();
    test_kept(2);
    test_kept(7);
    test_partitions();
    return check_status();
}
