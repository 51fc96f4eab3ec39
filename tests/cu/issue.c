/* SPDX-License-Identifier: MIT */
/*
 * The compute unit's rules, each by the exact cycles of a sequence of
 * instructions between two s_memtime: one cycle more or less is a failure.
 * What the chip file says is taken from there.
 */
#include "timed_machine.h"

/* Cycles that the sequence adds to one with nothing in it. */
static uint64_t cost(struct rig *r, const char *name)
{
    return rig_cycles(r, name) - rig_cycles(r, "nothing");
}

static uint64_t turns(uint64_t cycles)
{
    return (cycles + 3) / 4 * 4;
}

static void check_vector(struct rig *r)
{
    CHECK_EQ(cost(r, "valu"), 8 * 4);
    CHECK_EQ(cost(r, "salu"), 8 * 4);
    CHECK_EQ(cost(r, "packed"), 4 * 4);
    CHECK_EQ(cost(r, "double"), 4 * 4);
    CHECK_EQ(cost(r, "rcp"), 4 * 16);
    CHECK_EQ(cost(r, "exp16"), 4 * 16);
    CHECK_EQ(cost(r, "rcp64"), 2 * 16);
    CHECK_EQ(cost(r, "mul_lo"), 4 * 4);
    CHECK_EQ(cost(r, "mul_24"), 4 * 4);
    CHECK_EQ(cost(r, "mad_64"), 4 * 4);
    CHECK_EQ(cost(r, "cvt"), 4 * 16);
    CHECK_EQ(cost(r, "cvt16"), 4 * 16);
    CHECK_EQ(cost(r, "cvt64"), 4 * 4);
    CHECK_EQ(cost(r, "swap"), 2 * 8);
    CHECK_EQ(cost(r, "rcp_salu"), 16 + 4);
}

static void check_buffered(struct rig *r)
{
    CHECK_EQ(cost(r, "nop_0"), 4);
    CHECK_EQ(cost(r, "nop_7"), 8 * 4);
    CHECK_EQ(cost(r, "nop_15"), 16 * 4);
    CHECK_EQ(cost(r, "sleep_1"), 4 + 64);
    CHECK_EQ(cost(r, "sleep_3"), 4 + 3 * 64);
}

/* A second matrix instruction issues when the first has left: its passes are four cycles each. */
static void check_matrix(struct rig *r)
{
    unsigned extra = rig_chip(r, "cu.matrix_result");
    CHECK_EQ(cost(r, "mfma_4x4"), 2 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_16x16_f16"), 4 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_16x16_f32"), 8 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_32x32_f16"), 8 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_32x32_f32"), 16 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_16x16_f64"), 8 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_4x4_f64"), 4 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_read_16x16"), turns(4 * 4 + extra) + 4);
    CHECK_EQ(cost(r, "mfma_read_32x32"), turns(16 * 4 + extra) + 4);
    CHECK_EQ(cost(r, "mfma_overwrite"), turns(4 * 4 + extra) + 4);
    CHECK_EQ(cost(r, "mfma_next_register"), 4 + 4);
    CHECK_EQ(cost(r, "mfma_beside_xf32"), 4 + 4);
    CHECK_EQ(cost(r, "mfma_beside_f32"), 8 * 4 + 4); /* not before the first is done */
    CHECK_EQ(cost(r, "mfma_beside_f64"), 4 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_beside_sparse"), 2 * 4 + 4); /* a turn more for its index */
    CHECK_EQ(cost(r, "mfma_accumulate"), 4 * 4 + 4);
    CHECK_EQ(cost(r, "mfma_factor"), turns(4 * 4 + extra) + 4);
    CHECK_EQ(cost(r, "mfma_salu"), 4 + 4);
}

/*
 * Cycles from an LDS instruction to the one after its s_waitcnt, which finds it back a cycle later: of the
 * banks, or of the port, which takes twice as long as banks without conflicts.
 */
static uint64_t lds_cycles(struct rig *r, unsigned banks, unsigned without)
{
    unsigned through = banks < 2 * without ? 2 * without : banks;
    return turns(rig_chip(r, "cu.lds_latency") + through + 1);
}

static void check_lds(struct rig *r)
{
    CHECK_EQ(cost(r, "lds_read"), lds_cycles(r, 2, 2));
    CHECK_EQ(cost(r, "lds_broadcast"), lds_cycles(r, 2, 2));
    CHECK_EQ(cost(r, "lds_pairs"), lds_cycles(r, 2, 2));
    CHECK_EQ(cost(r, "lds_bytes"), lds_cycles(r, 2, 2));
    CHECK_EQ(cost(r, "lds_permute"), lds_cycles(r, 2, 2));
    CHECK_EQ(cost(r, "lds_conflict_2"), lds_cycles(r, 2 * 2, 2));
    CHECK_EQ(cost(r, "lds_conflict_4"), lds_cycles(r, 2 * 4, 2));
    CHECK_EQ(cost(r, "lds_conflict_32"), lds_cycles(r, 2 * 32, 2));
    CHECK_EQ(cost(r, "lds_read_64"), lds_cycles(r, 4, 4));
    CHECK_EQ(cost(r, "lds_conflict_64"), lds_cycles(r, 4 * 2, 4));
    CHECK_EQ(cost(r, "lds_read_128"), lds_cycles(r, 8, 8));
    CHECK_EQ(cost(r, "lds_read2"), lds_cycles(r, 4, 4));
    CHECK_EQ(cost(r, "lds_add"), lds_cycles(r, 2, 2));
    CHECK_EQ(cost(r, "lds_add_4"), lds_cycles(r, 2 * 4, 2));
    CHECK_EQ(cost(r, "lds_add_same"), lds_cycles(r, 2 * 32, 2));
    CHECK_EQ(cost(r, "lds_add_64_same"), lds_cycles(r, 4 * 16, 4));
    CHECK_EQ(cost(r, "lds_exchange2"), lds_cycles(r, 4, 4));
}

/* The last wave to come lets all go on; each asks for the time in its turn of one unit. */
static void check_barrier(struct rig *r)
{
    rig_run(r, "barrier", 1, 4);
    uint64_t last = 0, first = UINT64_MAX, latency = rig_chip(r, "cu.barrier");
    uint64_t memtime = turns(rig_chip(r, "cu.memtime") + 1);
    for (unsigned i = 0; i < 4; i++) {
        last = r->left[i].start > last ? r->left[i].start : last;
        first = r->left[i].end < first ? r->left[i].end : first;
        CHECK(r->left[i].end > r->left[0].start); /* wave 0 slept */
    }
    CHECK_EQ(last, r->left[0].start);
    /* It waits for its clock, then comes to the barrier; the first to go on has the next turn of its SIMD. */
    uint64_t released = last + memtime + latency;
    CHECK(first >= released);
    CHECK(first < released + 8);
}

static void check_waits(struct rig *r)
{
    /* One of two LDS reads may stay out: as if it had not been asked for, but for its issue, and the port. */
    CHECK_EQ(cost(r, "lds_two"), lds_cycles(r, 2, 2));
    CHECK_EQ(cost(r, "lds_unwaited"), 4 + 4);
    CHECK_EQ(cost(r, "load_unwaited"), 4 + 4);
    uint64_t one = cost(r, "load_all"), first = cost(r, "load_one_of_two"), both = cost(r, "load_both");
    CHECK_EQ(first, one);
    CHECK(both > first);
    CHECK(both <= first + 16);
    CHECK(one > 60);
    uint64_t scalar = cost(r, "load_scalar"), latency = rig_chip(r, "sl1.latency");
    CHECK(scalar >= latency);
    CHECK(scalar <= turns(latency + 1) + 4);
}

static void check_fetch(struct rig *r)
{
    uint64_t branch = turns(rig_chip(r, "cu.branch")), latency = rig_chip(r, "icache.latency");
    CHECK_EQ(cost(r, "branch_taken"), branch);
    CHECK_EQ(cost(r, "branch_not_taken"), branch);
    CHECK_EQ(cost(r, "lines"), 40 * 4 + cost(r, "lines") % 4);
    uint64_t far = cost(r, "branch_far");
    CHECK(far >= turns(branch + latency));
    CHECK(far <= turns(branch + latency) + 8);
    /* The other half of a line, which is not fetched by itself, and the next line are there with it. */
    CHECK_EQ(cost(r, "branch_near"), far);
    CHECK_EQ(cost(r, "branch_to_end"), far + 4 * 4);
    struct left miss = rig_run(r, "miss", 1, 1);
    uint64_t missed = (miss.hw_id | (uint64_t)miss.more << 32) - miss.other;
    CHECK(missed > 4 * latency);
}

/* Cycles that some waves of a workgroup take from the first one's start to the last one's end. */
static uint64_t span(struct rig *r, const char *name, unsigned waves)
{
    rig_run(r, name, 1, waves);
    uint64_t start = UINT64_MAX, end = 0;
    for (unsigned i = 0; i < waves; i++) {
        start = r->left[i].start < start ? r->left[i].start : start;
        end = r->left[i].end > end ? r->left[i].end : end;
    }
    return end - start;
}

/*
 * Waves that jump to and fro.  What they jump to is fetched each time, wherever it is, and the CU gets half a
 * line of code each cycle.
 */
static void check_loops(struct rig *r)
{
    enum { LOOPS = 100, WAVES = 16, SIMDS = 4 };
    uint64_t nothing = rig_cycles(r, "nothing"), branch = turns(rig_chip(r, "cu.branch"));
    uint64_t jump = turns(branch + rig_chip(r, "icache.latency")), half = span(r, "loop_in_half", WAVES),
             both = span(r, "loop_over_halves", WAVES);
    /* One by itself waits for the cache; many for its port, which lines ahead have as well when it is free.
     */
    const uint64_t alone = span(r, "loop_in_half", 1);
    CHECK(alone >= LOOPS * (4 + jump));
    CHECK(alone < LOOPS * (4 + jump) + LOOPS);
    CHECK_EQ(span(r, "loop_over_halves", 1), alone + 7 * 4); /* what is before it; each half is in time */
    CHECK(half >= LOOPS * WAVES);
    CHECK(half < LOOPS * 2 * WAVES);
    CHECK(both >= LOOPS * 2 * WAVES);
    CHECK(both < LOOPS * 3 * WAVES);
    /* The branch unit is a pipeline that all SIMDs share. */
    for (unsigned waves = 1; waves <= SIMDS; waves++) {
        rig_run(r, "branches", 1, waves);
        for (unsigned i = 0; i < waves; i++)
            CHECK_EQ(r->left[i].end - r->left[i].start - nothing, 8 * branch);
    }
}

/* Cycles that waves 0 and 4, which are on one SIMD, take for their eight instructions; of both together. */
static void contend(struct rig *r, const char *name, uint64_t first, uint64_t second, uint64_t both)
{
    uint64_t alone = rig_cycles(r, "nothing");
    rig_run(r, name, 1, 8);
    const struct left *a = &r->left[0], *b = &r->left[4];
    CHECK_EQ(a->hw_id >> 4 & 3, b->hw_id >> 4 & 3);
    uint64_t start = a->start < b->start ? a->start : b->start, end = a->end > b->end ? a->end : b->end;
    bool ok = CHECK_EQ(a->end - a->start - alone, first);
    ok &= CHECK_EQ(b->end - b->start - alone, second);
    ok &= CHECK_EQ(end - start - alone, both);
    if (!ok)
        fprintf(stderr, "in %s; started %d cycles apart\n", name, (int)(b->start - a->start));
}

enum { SLICED = 400 };

/* Simulated time that runs of a kernel take from its dispatch to the host's going on. */
static void run_sliced(const char *file, bool slices, uint64_t took[SLICED])
{
    struct rig r = {0};
    rig_open(&r, file, 1);
    for (unsigned i = 0; i < SLICED; i++) {
        if (slices)
            r.slice_ns = 20000 + i * 1000;
        const uint64_t before = ehp_timestamp(r.m);
        rig_cycles(&r, "nothing");
        took[i] = ehp_timestamp(r.m) - before;
    }
    rig_close(&r);
}

/* A host that waits in slices of its own time sees the kernel's end at the same simulated time, whatever a
 * refresh of the memory or so makes of one run. */
static void check_slices(const char *file)
{
    uint64_t whole[SLICED], sliced[SLICED];
    run_sliced(file, false, whole);
    run_sliced(file, true, sliced);
    for (unsigned i = 0; i < SLICED; i++)
        if (!CHECK(sliced[i] + 2 >= whole[i] && sliced[i] <= whole[i] + 2)) /* in ticks of 10 ns */
            fprintf(stderr, "slices of %u ns: %u ticks, not %u\n", 20000 + i * 1000, (unsigned)sliced[i],
                    (unsigned)whole[i]);
}

int main(int argc, char **argv)
{
    struct rig r = {0};
    const char *file = argc > 1 ? argv[1] : "kernels.hsaco";
    rig_open(&r, file, 1);
    check_vector(&r);
    check_buffered(&r);
    check_matrix(&r);
    check_lds(&r);
    check_barrier(&r);
    check_waits(&r);
    check_fetch(&r);
    check_loops(&r);
    /* The second starts four cycles after the first, as s_memtime has one unit too. */
    contend(&r, "valu_nop", 32, 32, 36);
    contend(&r, "valu_salu", 32, 32, 36);
    contend(&r, "valu_valu", 60, 60, 8 * (4 + 4)); /* in turn */
    contend(&r, "salu_salu", 60, 60, 8 * (4 + 4));
    contend(&r, "valu_valu_priority", 32, 60, 8 * (4 + 4));
    if (rig_chip(&r, "cu.trans_beside")) /* the other wave has a turn while one has the transcendental unit */
        contend(&r, "rcp_valu", 8 * 16, 8 * 4 + 3 * 4, 8 * 16 + 4);
    else
        contend(&r, "rcp_valu", 156, 156, 8 * (16 + 4));
    rig_close(&r);
    check_slices(file);
    return check_status();
}
