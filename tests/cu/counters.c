/* SPDX-License-Identifier: MIT */
/*
 * Counters of dispatches: what kernels of known instructions count, what adds
 * up to what, names; and that no counter and no clock depends on how many host
 * threads simulate.
 */
#include <assert.h>

#include "timed_machine.h"

enum { DISPATCHES = 16, COUNTERS = 512 };

struct record {
    unsigned count;
    struct {
        uint64_t id, start_ns, end_ns;
        double value[COUNTERS];
    } dispatch[DISPATCHES];
    struct left left[DISPATCHES][RIG_WAVES * RIG_GROUPS];
};

static void note(const struct ehp_dispatch *d, void *user)
{
    struct record *record = user;
    unsigned i = record->count++;
    assert(i < DISPATCHES);
    record->dispatch[i].id = d->id;
    record->dispatch[i].start_ns = d->start_ns;
    record->dispatch[i].end_ns = d->end_ns;
    for (unsigned k = 0; k < ehp_counter_count(); k++)
        record->dispatch[i].value[k] = ehp_counter_value(d->counters, k);
}

static unsigned named(const char *name)
{
    unsigned index = 0;
    char error[512];
    if (ehp_counter_find(name, &index, error, sizeof(error)) != EHP_OK) {
        CHECK(false);
        fprintf(stderr, "%s\n", error);
    }
    return index;
}

static struct record *open_recorded(struct rig *r, const char *hsaco, unsigned threads)
{
    rig_open(r, hsaco, threads);
    struct record *record = calloc(1, sizeof(*record));
    CHECK(ehp_set_dispatch_handler(r->m, note, record) == EHP_OK);
    ehp_stats_enable(r->m, true);
    return record;
}

/* Of the last dispatch. */
static double value(const struct record *record, const char *name)
{
    return record->dispatch[record->count - 1].value[named(name)];
}

#define EXPECT(name, expected)                                                                               \
    do {                                                                                                     \
        if (!CHECK_EQ(value(record, name), expected))                                                        \
            fprintf(stderr, "  %s\n", name);                                                                 \
    } while (0)

/* tests/cu/kernels.s, "counted": each of six waves. */
static void check_instructions(struct rig *r, const struct record *record)
{
    rig_run(r, "counted", 3, 2);
    EXPECT("SQ_WAVES", 6);
    EXPECT("SQ_WAVES_sum", 6);
    EXPECT("SQ_WAVES_EQ_64", 6);
    EXPECT("SQ_ITEMS", 6 * 64);
    EXPECT("SPI_CSN_NUM_THREADGROUPS", 3);
    EXPECT("SQ_INSTS_VALU_ADD_F32", 6 * 2);
    EXPECT("SQ_INSTS_VALU_MUL_F32", 6);
    EXPECT("SQ_INSTS_VALU_FMA_F32", 6 * 2);
    EXPECT("SQ_INSTS_VALU_TRANS_F32", 6);
    EXPECT("SQ_INSTS_VALU_ADD_F16", 6);
    EXPECT("SQ_INSTS_VALU_MUL_F16", 6);
    EXPECT("SQ_INSTS_VALU_FMA_F16", 6);
    EXPECT("SQ_INSTS_VALU_ADD_F64", 6);
    EXPECT("SQ_INSTS_VALU_FMA_F64", 6);
    EXPECT("SQ_INSTS_VALU_INT32", 6 * 2);
    EXPECT("SQ_INSTS_VALU_INT64", 6);
    EXPECT("SQ_INSTS_VALU_CVT", 6);
    EXPECT("SQ_INSTS_MFMA", 6 * 7);
    EXPECT("SQ_INSTS_VALU_MFMA_F16", 6 * 2);
    EXPECT("SQ_INSTS_VALU_MFMA_MOPS_F16", 6 * (32 * 32 * 8 + 16 * 16 * 32) * 2 / 512);
    EXPECT("SQ_INSTS_VALU_MFMA_MOPS_F32", 6 * 4 * 4 * 1 * 16 * 2 / 512);
    EXPECT("SQ_INSTS_VALU_MFMA_MOPS_F64", 6 * 16 * 16 * 4 * 2 / 512);
    EXPECT("SQ_INSTS_VALU_MFMA_MOPS_I8", 6 * 32 * 32 * 16 * 2 / 512);
    EXPECT("SQ_INSTS_VALU_MFMA_MOPS_F8", 6 * 16 * 16 * 32 * 2 / 512);
    EXPECT("SQ_INSTS_VALU_MFMA_MOPS_BF16", 6 * 32 * 32 * 4 * 2 * 2 / 512);
    EXPECT("MfmaFlopsBF16", 6 * 32 * 32 * 4 * 2 * 2);
    EXPECT("SQ_INSTS_SMEM", 6 * 2);
    EXPECT("SQC_DCACHE_REQ_READ_2", 6);
    EXPECT("SQC_DCACHE_REQ_READ_4", 6);
    EXPECT("SQ_INSTS_VMEM_WR", 6 * 2);
    EXPECT("TA_FLAT_WRITE_WAVEFRONTS_sum", 6 * 2);
    EXPECT("TCP_TOTAL_ACCESSES_sum", 6 * 2); /* of one lane each */
    /* The vL1 combines a wave's two, which lie in the same half of a line, if the second comes soon enough.
     */
    double writes = value(record, "TCC_WRITE_sum");
    CHECK(writes >= 6 && writes <= 6 * 2);
    EXPECT("SQ_INSTS_BRANCH", 6 * 2);
    EXPECT("TCP_TOTAL_WRITEBACK_INVALIDATES_sum", value(record, "CU_NUM"));
    EXPECT("CU_NUM", 6 * 38);
}

/* Halves of lines: twice a hundred rounds through two, or in one, each time anew; of one the last jump lies
 * in the next. */
static void check_fetches(struct rig *r, const struct record *record)
{
    rig_run(r, "loop_in_half", 1, 1);
    double one = value(record, "SQ_IFETCH");
    rig_run(r, "loop_over_halves", 1, 1);
    EXPECT("SQ_IFETCH", one - 1 + 2 * 100);
}

static void check_memory(struct rig *r, const struct record *record)
{
    rig_run(r, "lds_conflict_4", 1, 1); /* twice: two groups of 32 lanes, each of four cycles */
    EXPECT("SQ_INSTS_LDS", 2);
    EXPECT("SQ_LDS_IDX_ACTIVE", 2 * 8);
    EXPECT("SQ_LDS_BANK_CONFLICT", 2 * 6);
    EXPECT("LdsBankConflict", 3);

    rig_run(r, "lds_add_4", 1, 1); /* each unit has four of a group's operations */
    EXPECT("SQ_LDS_IDX_ACTIVE", 2 * 8);
    EXPECT("SQ_LDS_BANK_CONFLICT", 0);
    EXPECT("SQ_LDS_ADDR_CONFLICT", 2 * 6);

    /* The groups of a wide read are not those of a write; and one SIMD's port hides it. */
    rig_run(r, "lds_read_quads", 1, 1);
    EXPECT("SQ_LDS_IDX_ACTIVE", 2 * 8);
    EXPECT("SQ_LDS_BANK_CONFLICT", 0);
    rig_run(r, "lds_write_quads", 1, 1);
    EXPECT("SQ_LDS_IDX_ACTIVE", 2 * 16);
    EXPECT("SQ_LDS_BANK_CONFLICT", 2 * 8);
    rig_run(r, "lds_read_128", 1, 1); /* wide, and no conflict */
    EXPECT("SQ_LDS_IDX_ACTIVE", 2 * 8);
    EXPECT("SQ_LDS_BANK_CONFLICT", 0);
    rig_run(r, "load_all", 1, 1); /* 256 bytes: two lines, the second time out of the vector cache */
    EXPECT("SQ_INSTS_VMEM_RD", 2);
    EXPECT("TCP_TCC_READ_REQ_sum", 2);
    EXPECT("EHP_TCP_HIT", 2);
    EXPECT("EHP_TCP_MISS", 2);
    CHECK(value(record, "EHP_CYCLES_HBM") + value(record, "EHP_CYCLES_INFINITY_CACHE") > 500);
    CHECK(value(record, "EHP_CYCLES_L1") > 100);
}

static void check_sums(const struct record *record)
{
    static const char *const parts[] = {"START",  "ISSUE", "DEPENDENCY", "UNIT",    "QUEUE",
                                        "MEMORY", "LDS",   "FETCH",      "BARRIER", "SLEEP"};
    double sum = 0;
    for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        char name[64];
        snprintf(name, sizeof(name), "EHP_CYCLES_%s", parts[i]);
        sum += value(record, name);
    }
    CHECK_EQ(sum, value(record, "EHP_CYCLES"));
    CHECK_EQ((uint64_t)sum / 4, value(record, "SQ_WAVE_CYCLES"));
    CHECK_EQ(value(record, "SQ_BUSY_CU_CYCLES") + value(record, "EHP_CU_IDLE_CYCLES"),
             value(record, "GRBM_GUI_ACTIVE") * 38);
    EXPECT("TCC_REQ_sum",
           value(record, "TCC_READ_sum") + value(record, "TCC_WRITE_sum") + value(record, "TCC_ATOMIC_sum"));
    EXPECT("SQC_DCACHE_REQ", value(record, "SQC_DCACHE_HITS") + value(record, "SQC_DCACHE_MISSES") +
                                 value(record, "SQC_DCACHE_MISSES_DUPLICATE"));
}

/* A kernel's are those of its dispatches. */
static void check_kernel(struct rig *r, const struct record *record)
{
    struct ehp_stats s = {.size = sizeof(s)};
    CHECK_EQ(ehp_stats_count(r->m), 1);
    CHECK(ehp_stats_get(r->m, 0, &s) == EHP_OK);
    CHECK_EQ(s.dispatches, record->count);
    double insts = 0, salu = 0;
    for (unsigned i = 0; i < record->count; i++) {
        insts += record->dispatch[i].value[named("SQ_INSTS")];
        salu += record->dispatch[i].value[named("SQ_INSTS_SALU")];
    }
    CHECK_EQ(s.instructions, insts);
    CHECK_EQ(ehp_counter_value(s.counters, named("SQ_INSTS")), insts);
    CHECK_EQ(ehp_counter_value(s.counters, named("SQ_INSTS_SALU")), salu);
    CHECK(s.seconds > 0);
}

static void check_names(void)
{
    CHECK(ehp_counter_count() <= COUNTERS);
    for (unsigned i = 0; i < ehp_counter_count(); i++) {
        struct ehp_counter c = EHP_COUNTER_INIT;
        unsigned found = ~0U;
        CHECK(ehp_counter_at(i, &c) == EHP_OK);
        CHECK(ehp_counter_find(c.name, &found, NULL, 0) == EHP_OK && found == i); /* no two have one name */
        CHECK(*c.help && *c.block && c.derived == !strcmp(c.block, "derived"));
    }
    unsigned index;
    char error[512];
    CHECK(ehp_counter_find("TCC_HITS", &index, error, sizeof(error)) == EHP_ERR_NOT_FOUND);
    CHECK(strstr(error, "TCC_HIT") != NULL);
    CHECK(ehp_counter_find("hit", &index, error, sizeof(error)) == EHP_ERR_NOT_FOUND);
    CHECK(strstr(error, "TCC_HIT") != NULL);
    CHECK(ehp_counter_find("", &index, NULL, 0) == EHP_ERR_NOT_FOUND);
}

static void check_functional(void)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    ehp_machine *m;
    CHECK(ehp_open(&options, &m) == EHP_OK);
    CHECK(ehp_set_dispatch_handler(m, note, NULL) == EHP_ERR_UNSUPPORTED);
    CHECK(strstr(ehp_error_text(m), "simulated time") != NULL);
    ehp_close(m);
}

static struct record *run_program(const char *hsaco, unsigned threads)
{
    static const char *const functions[] = {
        "load_both", "barrier", "lds_conflict_32", "counted", "load_all", "load_scalar", "miss"};
    struct rig r = {0};
    struct record *record = open_recorded(&r, hsaco, threads);
    for (unsigned i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        rig_run(&r, functions[i], RIG_GROUPS, 4);
        memcpy(record->left[i], r.left, sizeof(record->left[i]));
    }
    ehp_set_dispatch_handler(r.m, NULL, NULL);
    rig_close(&r);
    return record;
}

static void check_threads(const char *hsaco)
{
    struct record *one = run_program(hsaco, 1);
    static const unsigned threads[] = {1, 2, 4};
    for (unsigned t = 0; t < 3; t++) {
        struct record *other = run_program(hsaco, threads[t]);
        if (!CHECK(memcmp(one, other, sizeof(*one)) == 0)) {
            for (unsigned i = 0; i < one->count; i++)
                for (unsigned k = 0; k < ehp_counter_count(); k++) {
                    struct ehp_counter c = EHP_COUNTER_INIT;
                    ehp_counter_at(k, &c);
                    if (one->dispatch[i].value[k] != other->dispatch[i].value[k])
                        fprintf(stderr, "%u threads, dispatch %u: %s %g, with one %g\n", threads[t], i + 1,
                                c.name, other->dispatch[i].value[k], one->dispatch[i].value[k]);
                }
        }
        free(other);
    }
    free(one);
}

int main(int argc, char **argv)
{
    const char *hsaco = argc > 1 ? argv[1] : "kernels.hsaco";
    struct rig r = {0};
    struct record *record = open_recorded(&r, hsaco, 1);
    check_names();
    check_functional();
    check_instructions(&r, record);
    check_sums(record);
    check_fetches(&r, record);
    check_memory(&r, record);
    check_sums(record);
    rig_run(&r, "barrier", 2, 4);
    check_sums(record);
    CHECK(value(record, "EHP_CYCLES_BARRIER") > 2 * 2 * 3 * 64 * 20);
    check_kernel(&r, record);
    rig_close(&r);
    free(record);
    check_threads(hsaco);
    return check_status();
}
