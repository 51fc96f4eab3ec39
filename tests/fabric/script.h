/* SPDX-License-Identifier: MIT */
/* Single requests from a script, by what stands in the place of each XCD's L2. */
#ifndef EHP_TESTS_FABRIC_SCRIPT_H
#define EHP_TESTS_FABRIC_SCRIPT_H

#include "package.h"

enum { LINE = FABRIC_LINE };

struct l2 {
    struct rig *rig;
    unsigned xcd;
    uint64_t probes, probed; /* how many, and when the last came, ps, */
    uint64_t probed_line;    /* and of which line */
    uint64_t dirty[2];       /* what it answers probes with, */
    bool stays;              /* and not the next one alone */
    uint8_t bytes[LINE];
};

struct test_request {
    struct fabric_request r;
    uint64_t begin, end;
    uint8_t data[FABRIC_PAIR];
};

static struct l2 l2s[RIG_XCDS];

static inline void probed(struct port_domain *domain, struct port_event *event)
{
    struct l2 *l2 = event->self;
    struct fabric_probe *probe = (struct fabric_probe *)event->word[0];
    l2->probes++;
    l2->probed_line = probe->physical;
    l2->probed = port_ps_of(domain, port_now(domain));
    CHECK_EQ(probe->agent, l2->xcd);
    CHECK(probe->mask[0] == 0 && probe->mask[1] == 0);
    memcpy(probe->data, l2->bytes, LINE);
    memcpy(probe->mask, l2->dirty, sizeof(probe->mask));
    if (!l2->stays)
        l2->dirty[0] = l2->dirty[1] = 0;
    fabric_probe_answer(l2->rig->fabric, probe);
}

static inline void answered(struct port_domain *domain, struct port_event *event)
{
    struct test_request *t = event->self;
    CHECK(event->word[0] == (uint64_t)(uintptr_t)&t->r && t->end == 0);
    t->end = port_ps_of(domain, port_now(domain));
}

static inline void send_now(struct port_domain *domain, struct port_event *event)
{
    struct test_request *t = event->self;
    t->begin = port_ps_of(domain, port_now(domain));
    fabric_submit((struct fabric *)event->word[0], &t->r);
}

/* Submits at `ns`; port_run() does it. */
static inline void at(struct rig *rig, uint64_t ns, struct test_request *t, enum fabric_kind kind,
                      unsigned xcd, uint64_t physical)
{
    struct port_domain *domain = port_domain(rig->port, xcd);
    t->end = 0;
    t->r.kind = kind;
    t->r.agent = (uint8_t)xcd;
    t->r.data = t->data;
    t->r.second = t->data + LINE;
    t->r.done = answered;
    t->r.self = t;
    rig_address(rig, &t->r, physical);
    port_post(domain, port_cycle_of(domain, ns * 1000), send_now, t)->word[0] =
        (uint64_t)(uintptr_t)rig->fabric;
}

static inline void attach_all(struct rig *rig)
{
    for (unsigned i = 0; i < rig->xcds; i++) {
        l2s[i] = (struct l2){.rig = rig, .xcd = i};
        fabric_attach(rig->fabric, i, port_domain(rig->port, i), probed, &l2s[i]);
    }
}

static inline void open_rig(struct rig *rig, const char *chip, unsigned nps)
{
    rig_open(rig, chip, 1, nps);
    attach_all(rig);
}

static inline void run(struct rig *rig)
{
    port_run(rig->port, PORT_NEVER, NULL, NULL);
}

static inline double now_ns(const struct rig *rig)
{
    return (double)port_time_ps(rig->port) / 1000;
}

#endif
