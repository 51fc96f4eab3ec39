/* SPDX-License-Identifier: MIT */
/*
 * A sampled dispatch takes about as long as the whole, and so do those after it, which find what it leaves in
 * the caches; and it does the same with each engine: on one small XCD.
 * What a short stretch shows depends on where in it memory refreshes, so that each is sampled on chips
 * that start it some time apart, and the mean is held to less than each.
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "ehp/ehp.h"

/* Of the first dispatch: short workgroups lose step with each other, and get 5 % slower after what is in
 * detail. */
#define MEAN  0.05
#define LATER 0.08 /* of later dispatches: their L2s' lines are written at the end and by those left out */
#define EACH  0.2  /* deviations of later wide copies have a root mean square of 5 %, and there are many */
enum { STARTS = 8, APART = 150 /* ns */, TIMES = 3 };
enum { ITEMS = 256, GROUPS = 4800, BYTES = GROUPS * ITEMS * 16 };

struct result {
    double ns[TIMES], error; /* ns: of one dispatch after another */
    unsigned times;
    uint64_t detailed, workgroups, instructions, waves;
    uint64_t written; /* a hash of that */
};

struct launch {
    const char *kernel;
    uint64_t rounds; /* 0: it copies */
    unsigned bytes;  /* of a work-item */
};

static void dispatch_done(const struct ehp_dispatch *dispatch, void *user)
{
    struct result *result = user;
    if (CHECK(result->times < TIMES))
        result->ns[result->times++] = (double)(dispatch->end_ns - dispatch->start_ns);
}

static void *memory(ehp_machine *m, size_t bytes)
{
    void *p = NULL;
    CHECK(ehp_mem_alloc(m, 0, EHP_MEM_DEVICE, bytes, 0, &p) == EHP_OK);
    return p;
}

static void submit(ehp_machine *m, ehp_code *code, const struct launch *launch, void *arguments)
{
    struct ehp_kernel kernel = EHP_KERNEL_INIT;
    struct ehp_queue_block *queue;
    ehp_signal done;
    CHECK(ehp_code_kernel(code, launch->kernel, &kernel) == EHP_OK);
    if (!CHECK(ehp_queue_create(m, 0, 16, 1, &queue) == EHP_OK) ||
        !CHECK(ehp_signal_create(m, 1, &done) == EHP_OK))
        return;
    union ehp_packet packet = {
        .dispatch = {.header = EHP_HEADER(EHP_PACKET_KERNEL_DISPATCH, 1, EHP_SCOPE_SYSTEM, EHP_SCOPE_SYSTEM),
                     .setup = 1,
                     .workgroup_size_x = ITEMS,
                     .workgroup_size_y = 1,
                     .workgroup_size_z = 1,
                     .grid_size_x = GROUPS * ITEMS,
                     .grid_size_y = 1,
                     .grid_size_z = 1,
                     .kernel_object = kernel.object,
                     .kernarg_address = arguments,
                     .completion_signal = done}};
    ehp_queue_submit(queue, &packet);
    ehp_signal_wait(done, EHP_COND_EQ, 0, UINT64_MAX);
    ehp_queue_destroy(queue);
    ehp_signal_destroy(done);
}

static uint64_t hash(const uint32_t *data, size_t dwords)
{
    uint64_t h = 0;
    for (size_t i = 0; i < dwords; i++)
        h = (h ^ data[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return h;
}

static struct result run(const char *chip, const char *hsaco, const struct launch *launch, bool sample,
                         unsigned threads, int engine)
{
    struct result result = {0};
    struct ehp_options options = EHP_OPTIONS_INIT;
    options.chip = chip;
    options.partition = "cpx";
    options.timing = true;
    options.sample = sample;
    options.threads = threads;
    options.engine = engine;
    ehp_machine *m;
    if (ehp_open(&options, &m) != EHP_OK) {
        fprintf(stderr, "%s\n", options.error);
        exit(1);
    }
    static uint8_t image[1 << 17];
    FILE *file = fopen(hsaco, "rb");
    size_t bytes = file ? fread(image, 1, sizeof(image), file) : 0;
    if (file)
        fclose(file);
    ehp_code *code;
    if (!CHECK(ehp_code_load(m, 0, image, bytes, &code) == EHP_OK))
        exit(1);
    ehp_set_dispatch_handler(m, dispatch_done, &result);
    ehp_stats_enable(m, true);
    uint32_t *from = memory(m, BYTES), *to = memory(m, BYTES);
    uint64_t *arguments = memory(m, 4096);
    for (size_t i = 0; i < BYTES / 4; i++)
        from[i] = (uint32_t)i * 7 + 1;
    memset(to, 0, BYTES);
    arguments[0] = (uint64_t)(uintptr_t)(launch->rounds ? to : from);
    arguments[1] = launch->rounds ? launch->rounds : (uint64_t)(uintptr_t)to;
    submit(m, code, launch, arguments);
    if (!launch->rounds) {
        CHECK(memcmp(from, to, (size_t)GROUPS * ITEMS * launch->bytes) == 0);
        for (int time = 1; time < TIMES; time++) {
            /* The L2s have none of what the next time overwrites behind them. */
            for (size_t i = 0; i < BYTES / 4; i++)
                from[i] ^= 0xffff;
            submit(m, code, launch, arguments);
            CHECK(memcmp(from, to, (size_t)GROUPS * ITEMS * launch->bytes) == 0);
        }
    } else {
        for (size_t i = 0; i < (size_t)GROUPS * ITEMS; i++)
            CHECK(((float *)to)[i] != 0);
    }
    result.written = hash(to, BYTES / 4);
    struct ehp_compiled compiled = EHP_COMPILED_INIT;
    struct ehp_engine_info info = EHP_ENGINE_INFO_INIT;
    CHECK(ehp_engine_info(&info) == EHP_OK);
    if (info.compiled && engine == EHP_ENGINE_COMPILED)
        CHECK(ehp_compiled(m, &compiled) == EHP_OK && compiled.functions > 0);
    else if (engine == EHP_ENGINE_INTERPRETER)
        CHECK(ehp_compiled(m, &compiled) != EHP_OK);
    struct ehp_stats stats = {.size = sizeof(stats)};
    CHECK(ehp_stats_get(m, 0, &stats) == EHP_OK);
    result.detailed = stats.detailed_workgroups / stats.dispatches;
    result.error = stats.sample_error;
    result.workgroups = stats.workgroups / stats.dispatches;
    result.instructions = stats.instructions / stats.dispatches;
    result.waves = stats.waves / stats.dispatches;
    ehp_code_unload(code);
    ehp_close(m);
    return result;
}

/* A small chip, whose packets take `packet` ns. */
static void make_chip(const char *path, int packet)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file,
                          "base = \"mi300a\"; xcd: { cus = (8, \"guess: a test is to be quick\"); };\n"
                          "infinity_cache: { size = (16777216, \"guess: a copy is to fill it\"); };\n"
                          "cp: { packet = (%d, \"guess: to start elsewhere\"); };\n",
                          packet) > 0);
    CHECK(file && fclose(file) == 0);
}

static void check_engines(const char *chip, const char *hsaco, const struct launch *launch,
                          const struct result *part)
{
    for (int engine = EHP_ENGINE_AUTO; engine <= EHP_ENGINE_COMPILED; engine++) {
        struct result again = run(chip, hsaco, launch, true, 2, engine);
        CHECK(memcmp(again.ns, part->ns, sizeof(again.ns)) == 0 && again.detailed == part->detailed);
        CHECK(again.instructions == part->instructions && again.written == part->written);
    }
}

int main(int argc, char **argv)
{
    static const struct launch launches[] = {{"fma", 1, 4}, {"copy", 0, 4}, {"copy_wide", 0, 16}};
    char chip[] = "./chipXXXXXX.cfg";
    int fd = mkstemps(chip, 4);
    CHECK(argc == 2 && fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++) {
        double mean[TIMES] = {0};
        unsigned times = 0;
        for (int start = 0; start < STARTS; start++) {
            make_chip(chip, 1000 + APART * start);
            struct result whole = run(chip, argv[1], &launches[i], false, 1, EHP_ENGINE_AUTO),
                          part = run(chip, argv[1], &launches[i], true, 1, EHP_ENGINE_INTERPRETER);
            times = part.times;
            for (unsigned time = 0; time < times; time++) {
                double error = part.ns[time] / whole.ns[time] - 1;
                mean[time] += error / STARTS;
                printf(
                    "%-10s %.2f us, sampled %.2f us: %+.1f %%, estimated %.1f %%, %llu of %llu workgroups\n",
                    launches[i].kernel, whole.ns[time] * 1e-3, part.ns[time] * 1e-3, 100 * error,
                    100 * part.error, (unsigned long long)part.detailed, (unsigned long long)part.workgroups);
                CHECK(fabs(error) < EACH);
            }
            CHECK(whole.detailed == 0 && part.detailed > 0 && part.detailed < GROUPS / 2);
            CHECK_EQ(part.waves, whole.waves);
            CHECK(fabs((double)part.instructions / (double)whole.instructions - 1) < 0.001);
            CHECK(part.written == whole.written);
            if (start == 0)
                check_engines(chip, argv[1], &launches[i], &part);
        }
        for (unsigned time = 0; time < times; time++)
            CHECK(fabs(mean[time]) < (time ? LATER : MEAN));
        printf("means: %+.1f %+.1f %+.1f %%\n", 100 * mean[0], 100 * mean[1], 100 * mean[2]);
    }
    unlink(chip);
    return check_status();
}
