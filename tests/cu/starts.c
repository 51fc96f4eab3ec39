/* SPDX-License-Identifier: MIT */
/*
 * When workgroups start: an XCD's waves one after another, and its workgroups no sooner than it has counted
 * through those of all XCDs that lie between.
 */
#include "timed_machine.h"

enum { XCDS = 6, EACH = 1000, FIRST = 320, GROUPS = XCDS * EACH };

/* Cycles from one workgroup of an XCD's to the next, of so many waves, while there is room on the CUs. */
static double interval(const char *hsaco, unsigned step, unsigned waves)
{
    struct rig r = {0};
    rig_open_cp(&r, hsaco, "workgroup", step);
    CHECK_EQ(rig_chip(&r, "xcd.count"), XCDS);
    r.left = rig_memory(r.m, sizeof(*r.left) * RIG_WAVES * GROUPS);
    const unsigned last = EACH / waves - 1, first = FIRST / waves;
    for (unsigned warm = 0; warm < 4; warm++) { /* code and arguments are in every cache then */
        rig_submit(&r, "nop_0", XCDS * EACH / waves, waves);
        rig_wait(&r);
    }
    double cycles = 0;
    for (unsigned xcd = 0; xcd < XCDS; xcd++)
        cycles += (double)(r.left[(last * XCDS + xcd) * RIG_WAVES].start -
                           r.left[(first * XCDS + xcd) * RIG_WAVES].start);
    rig_close(&r);
    return cycles / XCDS / (last - first);
}

int main(int argc, char **argv)
{
    const char *hsaco = argc > 1 ? argv[1] : "kernels.hsaco";
    static const struct {
        unsigned step, waves;
        double expected;
    } cases[] = {
        {1, 1, XCDS}, {2, 1, 2 * XCDS}, {3, 1, 3 * XCDS}, {3, 4, 3 * XCDS}, {4, 4, 4 * XCDS},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double cycles = interval(hsaco, cases[i].step, cases[i].waves);
        printf("%u cycles a workgroup of the grid, %u waves: every %.3f cycles\n", cases[i].step,
               cases[i].waves, cycles);
        CHECK(cycles > 0.995 * cases[i].expected && cycles < 1.005 * cases[i].expected);
    }
    return check_status();
}
