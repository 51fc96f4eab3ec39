/* SPDX-License-Identifier: MIT */
/* Several programs on one core take turns. */
#include "rig.h"

struct turn {
    struct list list; /* first */
    struct rig *rig;
    double begins, again; /* cycles; again: after it has ended, once; 0: not */
    uint64_t end[2];      /* ps */
    unsigned ended;
};

static void turn_ended(struct core_program *program, uint64_t ps)
{
    struct turn *t = (struct turn *)program;
    t->end[t->ended++] = ps;
    if (t->ended > 1 || t->again == 0)
        return;
    t->list.at = 0;
    ccds_begin(t->rig->ccds, 0, program, ps + (uint64_t)(t->again / t->rig->ghz * 1e3));
}

static void add_turn(struct rig *rig, struct turn *t, unsigned hundreds)
{
    memset(&t->list, 0, sizeof(t->list));
    t->list.program.next = next;
    t->list.program.ended = turn_ended;
    t->list.domain = port_domain(rig->port, rig->first);
    t->rig = rig;
    for (unsigned i = 0; i < hundreds; i++)
        t->list.op[t->list.n++] = (struct core_op){.kind = CORE_COMPUTE, .cycles = 100, .instructions = 100};
    ccds_begin(rig->ccds, 0, &t->list.program, (uint64_t)(t->begins / rig->ghz * 1e3));
}

/* When each ends, in cycles; the unit of what is given is a hundred of them. */
static void take_turns(struct turn *turn, const unsigned *hundreds, unsigned n, unsigned switches)
{
    struct rig rig;
    struct core_counters c;
    rig_open_with(&rig, 1, true);
    for (unsigned i = 0; i < n; i++)
        add_turn(&rig, &turn[i], hundreds[i]);
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    ccds_read_counters(rig.ccds, 0, &c);
    CHECK_EQ(c.switches, switches);
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(turn[i].list.at, turn[i].list.n);
    rig_close(&rig);
}

static bool ends_at(const struct turn *t, unsigned which, double cycles)
{
    const double at = (double)t->end[which] / 1e3 * 3.7;
    if (fabs(at - cycles) > 5)
        fprintf(stderr, "ends at %.1f, not %.1f\n", at, cycles);
    return fabs(at - cycles) <= 5;
}

static void test_turns(void)
{
    static struct turn t[3];
    /* Alone a program has all slices; those that ask for nothing more within one follow each other. */
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){100}, 1, 0);
    CHECK(ends_at(&t[0], 0, 10000));
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){37, 10}, 2, 1);
    CHECK(ends_at(&t[0], 0, 3700));
    CHECK(ends_at(&t[1], 0, 3700 + 370 + 1000));
    /* One whose slice is over goes on behind the other. */
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){38, 10}, 2, 2);
    CHECK(ends_at(&t[1], 0, 3800 + 370 + 1000));
    CHECK(ends_at(&t[0], 0, 3800 + 370 + 1000 + 370));
    /* Three of two slices each, round and round. */
    memset(t, 0, sizeof(t));
    take_turns(t, (const unsigned[]){75, 75, 75}, 3, 5);
    for (unsigned i = 0; i < 3; i++)
        CHECK(ends_at(&t[i], 0, 3 * 3800 + (i + 1) * 3700 + (3 + i) * 370));
    /* Who comes back before the switch is over goes on in its slice, and has no more than that; who comes
     * later is the last. */
    memset(t, 0, sizeof(t));
    t[0].again = 300;
    take_turns(t, (const unsigned[]){20, 10}, 2, 2);
    CHECK(ends_at(&t[0], 0, 2000));
    CHECK(ends_at(&t[1], 0, 3800 + 370 + 1000));
    CHECK(ends_at(&t[0], 1, 3800 + 370 + 1000 + 370 + 500));
    memset(t, 0, sizeof(t));
    t[0].again = 400;
    take_turns(t, (const unsigned[]){20, 10}, 2, 2);
    CHECK(ends_at(&t[1], 0, 2000 + 370 + 1000));
    CHECK(ends_at(&t[0], 1, 2000 + 370 + 1000 + 370 + 2000));
}

int main(void)
{
    test_turns();
    return check_status();
}
