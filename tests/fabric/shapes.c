/* SPDX-License-Identifier: MIT */
/*
 * Packages of other shapes than MI300's: one IOD, a row, a column, two rows and two columns
 * of four.  A line is as far from an XCD as there are links on the way.
 */
#include <unistd.h>

#include "package.h"

struct shape {
    unsigned columns, rows, stacks; /* stacks: of an IOD */
    const char *iods;
};

#define IOD(xcds, stacks) "{ xcds = " #xcds "; hbm = " #stacks "; }"

static const struct shape shapes[] = {
    {1, 1, 8, IOD(6, 8)},
    {4, 1, 2, IOD(2, 2) "," IOD(2, 2) "," IOD(2, 2) "," IOD(0, 2)},
    {1, 4, 2, IOD(2, 2) "," IOD(2, 2) "," IOD(2, 2) "," IOD(0, 2)},
    {4, 2, 1,
     IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(0, 1) "," IOD(
         0, 1)},
    {2, 4, 1,
     IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(1, 1) "," IOD(0, 1) "," IOD(
         0, 1)},
};

static void place(const struct shape *s, unsigned iod, int *x, int *y)
{
    const int columns = (int)s->columns;
    *y = (int)iod / columns;
    *x = *y & 1 ? columns - 1 - (int)iod % columns : (int)iod % columns;
}

/* Between neighbours, those along rows first. */
static void print_links(FILE *file, const struct shape *s)
{
    bool any = false;
    for (int along = 0; along < 2; along++)
        for (unsigned a = 0; a < s->columns * s->rows; a++)
            for (unsigned b = a + 1; b < s->columns * s->rows; b++) {
                int xa, ya, xb, yb;
                place(s, a, &xa, &ya);
                place(s, b, &xb, &yb);
                if (abs(xa - xb) != !along || abs(ya - yb) != along)
                    continue;
                fprintf(file, "%s { iods = (%u, %u); rate = \"usr.%s\"; latency = \"usr.latency\"; }",
                        any ? "," : "", a, b, along ? "vertical" : "horizontal");
                any = true;
            }
}

static void open_shape(struct rig *rig, const struct shape *s)
{
    char path[] = "./shapeXXXXXX.cfg";
    int fd = mkstemps(path, 4);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!CHECK(file != NULL))
        exit(1);
    fprintf(file,
            "base = \"mi300a\";\niod: { count = (%u, \"guess\"); columns = (%u, \"guess\"); "
            "xcd_ports = (6, \"guess\"); };\n"
            "ccd: { count = (0, \"guess\"); };\niods = ( %s );\nlinks = (",
            s->columns * s->rows, s->columns, s->iods);
    print_links(file, s);
    fprintf(file, " );\n");
    fclose(file);
    rig_open(rig, path, 1, 1);
    unlink(path);
}

/* ---- one request at a time ---- */

struct asker {
    struct rig *rig;
    struct fabric_request request;
    uint8_t data[FABRIC_LINE];
    uint64_t begun, took;
};

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct fabric_request *r = (struct fabric_request *)event->word[0];
    struct asker *a = event->self;
    CHECK(r == &a->request && !r->faulted);
    a->took = port_now_ps(domain) - a->begun;
}

static void ask(struct port_domain *domain, struct port_event *event)
{
    struct asker *a = event->self;
    a->begun = port_now_ps(domain);
    fabric_submit(a->rig->fabric, &a->request);
}

static void never_probed(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    (void)event;
    CHECK(!"a line that one XCD has read is not probed");
}

static uint64_t read_time(struct rig *rig, unsigned xcd, uint64_t physical)
{
    struct asker a = {.rig = rig};
    a.request = (struct fabric_request){
        .kind = FABRIC_FETCH, .agent = (uint8_t)xcd, .data = a.data, .done = answered, .self = &a};
    rig_address(rig, &a.request, physical);
    struct port_domain *domain = port_domain(rig->port, xcd);
    port_post(domain, port_cycle_of(domain, port_time_ps(rig->port)), ask, &a);
    port_run(rig->port, PORT_NEVER, NULL, NULL);
    CHECK(a.took > 0);
    return a.took;
}

/* The same of a line on the IOD that its Infinity Cache has. */
static uint64_t hit_time(struct rig *rig, unsigned xcd, unsigned iod)
{
    uint64_t physical = 0;
    while (fabric_place_of(rig->fabric, physical).iod != iod)
        physical += 4096;
    read_time(rig, xcd, physical);
    return read_time(rig, xcd, physical);
}

/* Column and row of an IOD, as its place in the list says: to and fro. */
static unsigned links_between(const struct shape *s, unsigned a, unsigned b)
{
    int xa, ya, xb, yb;
    place(s, a, &xa, &ya);
    place(s, b, &xb, &yb);
    return (unsigned)(abs(xa - xb) + abs(ya - yb));
}

static unsigned iod_of_xcd(const struct rig *rig, unsigned xcd)
{
    unsigned iod = 0;
    for (unsigned first = 0; first + rig->chip.iod[iod].xcds <= xcd; iod++)
        first += rig->chip.iod[iod].xcds;
    return iod;
}

int main(void)
{
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const struct shape *s = &shapes[i];
        static struct rig rig;
        open_shape(&rig, s);
        for (unsigned x = 0; x < rig.xcds; x++)
            fabric_attach(rig.fabric, x, port_domain(rig.port, x), never_probed, NULL);
        const double link = 1000 * rig.chip.value[CHIP_usr_latency];
        const double near = (double)hit_time(&rig, 0, 0);
        for (unsigned x = 0; x < rig.xcds; x++)
            for (unsigned home = 0; home < rig.iods; home++) {
                const double links = 2 * links_between(s, iod_of_xcd(&rig, x), home);
                const double more = (double)hit_time(&rig, x, home) - near - links * link;
                CHECK(more > -2000 && more < 2000); /* each stop is rounded to a cycle */
            }
        rig_close(&rig);
    }
    return check_status();
}
