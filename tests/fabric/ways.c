/* SPDX-License-Identifier: MIT */
/*
 * Packages whose IODs are no grid: links of unequal rates and latencies, an IOD without memory, ways of
 * several links.  How long a line is under way, which link it takes, how fast the narrowest is, and what is
 * told of that.
 */
#include <math.h>
#include <unistd.h>

#include "ehp/ehp.h"
#include "fabric/internal.h"
#include "package.h"

enum { LINE = FABRIC_LINE, MOST = 4096 };

/* Three IODs in a row: A and C have the XCDs and the memory, B has neither; a long link from A to C. */
#define PACKAGE(long_latency)                                                                                \
    "base = \"mi300a\"; iod: { count = (3, \"guess\"); columns = (3, \"guess\"); };\n"                       \
    "xcd: { count = (4, \"guess\"); }; ccd: { count = (0, \"guess\"); };\n"                                  \
    "partitions = ( (\"spx\", 1) );\n"                                                                       \
    "iods = ( { xcds = 2; hbm = 4; }, { }, { xcds = 2; hbm = 4; } );\n"                                      \
    "links = ( { iods = (0, 1); rate = (100, \"guess\"); latency = (30, \"guess\"); },\n"                    \
    "{ iods = (1, 2); rate = (50, \"guess\"); latency = (20, \"guess\"); },\n"                               \
    "{ iods = (0, 2); rate = (400, \"guess\"); latency = (" long_latency ", \"guess\"); } );\n"

struct asker {
    struct rig *rig;
    struct fabric_request request;
    uint8_t data[LINE];
    uint64_t begun, ended;
};
static struct asker askers[MOST];

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct asker *a = event->self;
    a->ended = port_now_ps(domain);
}

static void ask(struct port_domain *domain, struct port_event *event)
{
    struct asker *a = event->self;
    a->begun = port_now_ps(domain);
    fabric_submit(a->rig->fabric, &a->request);
}

static void open_text(struct rig *rig, const char *text)
{
    char path[] = "./waysXXXXXX.cfg";
    const int fd = mkstemps(path, 4);
    if (!CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text)))
        exit(1);
    close(fd);
    rig_open(rig, path, 1, 2); /* two domains of memory: A's and C's */
    unlink(path);
    for (unsigned i = 0; i < rig->xcds; i++)
        fabric_attach(rig->fabric, i, port_domain(rig->port, i), NULL, NULL);
}

/* So many lines of A's memory, or C's, all asked for at once by an XCD; the time until the last has come. */
static double read_lines(struct rig *rig, unsigned xcd, unsigned domain, unsigned count)
{
    const uint64_t half =
        (uint64_t)(rig->chip.value[CHIP_hbm_stacks] * rig->chip.value[CHIP_hbm_stack_size] / 2);
    struct port_domain *d = port_domain(rig->port, xcd);
    uint64_t first = UINT64_MAX, last = 0;
    for (unsigned i = 0; i < count; i++) {
        askers[i] = (struct asker){.rig = rig};
        askers[i].request = (struct fabric_request){.kind = FABRIC_FETCH,
                                                    .agent = (uint8_t)xcd,
                                                    .data = askers[i].data,
                                                    .done = answered,
                                                    .self = &askers[i]};
        rig_address(rig, &askers[i].request, domain * half + (uint64_t)i * LINE);
        port_post(d, port_cycle_of(d, port_time_ps(rig->port)), ask, &askers[i]);
    }
    port_run(rig->port, PORT_NEVER, NULL, NULL);
    for (unsigned i = 0; i < count; i++) {
        first = askers[i].begun < first ? askers[i].begun : first;
        last = askers[i].ended > last ? askers[i].ended : last;
    }
    return (double)(last - first) / 1000;
}

static struct ehp_part part_of(const struct rig *rig, int kind, unsigned iod, unsigned to)
{
    struct ehp_part p = EHP_PART_INIT;
    for (unsigned i = 0; i < fabric_parts(rig->fabric); i++) {
        fabric_read_part(rig->fabric, i, &p);
        if (p.kind == kind && p.iod == iod && (kind != EHP_PART_LINK || p.to == to))
            return p;
    }
    CHECK(!"a part that there is not");
    return p;
}

/* Of the least latency, and of those the fewest links. */
static void test_routes(const char *text, unsigned hops, double ns)
{
    struct rig rig;
    open_text(&rig, text);
    const struct fabric_route *far = &rig.fabric->route[0][2];
    CHECK_EQ(far->hops, hops);
    CHECK_EQ(far->next, hops == 1 ? 2 : 1);
    CHECK(fabs(far->way_ps - rig.fabric->near_ps - 1000 * ns) < 1);
    CHECK(fabs(far->part_ps * (hops + 1) - far->way_ps) < 1);
    CHECK(fabric_lookahead_ps(&rig.chip) <= (uint64_t)far->part_ps);
    read_lines(&rig, 0, 0, 1);
    read_lines(&rig, 0, 1, 1);
    const double near_hit = read_lines(&rig, 0, 0, 1), far_hit = read_lines(&rig, 0, 1, 1);
    CHECK(far_hit - near_hit > 2 * ns - 2 &&
          far_hit - near_hit < 2 * ns + 4); /* a cycle for each stop, a line's time */
    rig_close(&rig);
}

/* Lines over the two narrow links: the last decides, and all of it is told. */
static void test_rate(void)
{
    enum { COUNT = 2048 };
    struct rig rig;
    open_text(&rig, PACKAGE("60"));
    const double header = rig.chip.value[CHIP_usr_header], bytes = LINE + header;
    read_lines(&rig, 0, 1, COUNT);
    const double before = part_of(&rig, EHP_PART_LINK, 2, 1).busy_ns;
    const double ns = read_lines(&rig, 0, 1, COUNT), each = bytes / 50;
    printf("%u lines over a link of 50 GB/s: %.1f ns, %.1f of them the link's\n", COUNT, ns, COUNT * each);
    CHECK(ns > COUNT * each && ns < 1.05 * COUNT * each + 500);
    const struct ehp_part narrow = part_of(&rig, EHP_PART_LINK, 2, 1),
                          wide = part_of(&rig, EHP_PART_LINK, 1, 0),
                          back = part_of(&rig, EHP_PART_LINK, 0, 1),
                          unused = part_of(&rig, EHP_PART_LINK, 0, 2),
                          hbm = part_of(&rig, EHP_PART_HBM, 2, 0),
                          cache = part_of(&rig, EHP_PART_CACHE, 1, 0);
    CHECK(fabs(narrow.busy_ns - before - COUNT * each) < 1);
    CHECK_EQ(narrow.bytes, 2 * COUNT * (uint64_t)bytes);
    CHECK(fabs(wide.busy_ns - narrow.busy_ns / 2) < 1);
    CHECK_EQ(back.bytes, 2 * COUNT * (uint64_t)header); /* what asked for them */
    CHECK(unused.busy_ns == 0 && unused.bytes == 0);
    CHECK(hbm.busy_ns > 0 && part_of(&rig, EHP_PART_HBM, 0, 0).busy_ns == 0);
    CHECK(cache.units == 0 && cache.busy_ns == 0); /* B has none */
    /* They queue where they are most: half of them for each, on average. */
    CHECK(narrow.waited_ns > 0.8 * COUNT * COUNT * each && wide.waited_ns < 0.05 * narrow.waited_ns);
    const struct ehp_part in = part_of(&rig, EHP_PART_XCD_IN, 0, 0);
    CHECK_EQ(in.lines, 2 * COUNT);
    CHECK(fabs(in.links_ns - 2.0 * COUNT * 100) < 1); /* 50 ns each way */
    CHECK(in.trip_ns > in.links_ns + in.home_ns + narrow.waited_ns && in.home_ns > 0);
    rig_close(&rig);
}

int main(void)
{
    test_routes(PACKAGE("60"), 2, 50);
    test_routes(PACKAGE("50"), 1, 50); /* as long: the fewer links */
    test_routes(PACKAGE("45"), 1, 45);
    test_rate();
    return check_status();
}
