/* SPDX-License-Identifier: MIT */
/* The event engine: order, horizon, clocks, and the same result for every number of threads. */
#include "port/port.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "check.h"

enum { DOMAINS = 7, LOOKAHEAD = 20000 };

struct rig {
    struct port *port;
    struct node {
        struct rig *rig;
        struct port_domain *domain;
        uint64_t random, hash, events;
        uint64_t last; /* cycle of the last event */
    } node[DOMAINS];
    unsigned beat; /* 0: none */
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Mixes what it is and when, and makes more of its kind, near, far, and in other domains. */
static void storm(struct port_domain *domain, struct port_event *event)
{
    struct node *n = event->self;
    CHECK(port_now(domain) == port_now(domain) && port_now(domain) >= n->last);
    n->last = port_now(domain);
    n->hash = (n->hash ^ port_now(domain) ^ event->word[0] << 20) * UINT64_C(0x9e3779b97f4a7c15);
    n->events++;
    uint64_t life = event->word[0];
    if (life == 0)
        return;
    uint64_t r = next_random(&n->random);
    static const uint64_t far[] = {0, 1, 3, 50, 4000, 9000, 200000};
    port_post(domain, port_now(domain) + far[r % 7], storm, n)->word[0] = life - 1;
    if (r >> 20 & 1) {
        struct node *to = &n->rig->node[(r >> 24) % DOMAINS];
        if (to != n)
            port_send(domain, to->domain, LOOKAHEAD + (r >> 30) % 100000, storm, to)->word[0] = life - 1;
    }
}

/* `cut`: in pieces of about so many picoseconds. */
static uint64_t run_storm(unsigned threads, uint64_t cut, uint64_t *events)
{
    struct rig rig = {.port = port_open(DOMAINS, LOOKAHEAD, threads, NULL)};
    for (unsigned i = 0; i < DOMAINS; i++) {
        struct node *n = &rig.node[i];
        *n = (struct node){.rig = &rig, .domain = port_domain(rig.port, i), .random = 77 + i};
        port_set_clock(n->domain, 900 + 333.3 * i);
        for (unsigned k = 0; k < 6; k++)
            port_post(n->domain, k * 1000, storm, n)->word[0] = 16;
    }
    uint64_t until = 0, random = 99;
    while (cut && port_next_ps(rig.port) != PORT_NEVER) {
        until += 1 + next_random(&random) % (2 * cut);
        CHECK(port_run(rig.port, until, NULL, NULL) >= until);
    }
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    CHECK(port_next_ps(rig.port) == PORT_NEVER);
    uint64_t hash = 0;
    *events = 0;
    for (unsigned i = 0; i < DOMAINS; i++) {
        hash = hash * 31 + rig.node[i].hash;
        *events += rig.node[i].events;
    }
    port_close(rig.port);
    return hash;
}

static void test_threads(void)
{
    uint64_t events, again;
    uint64_t hash = run_storm(1, 0, &events);
    CHECK(events > 20000);
    for (unsigned threads = 1; threads <= 4; threads++) {
        CHECK(run_storm(threads, 0, &again) == hash);
        CHECK(again == events);
    }
    /* Whoever stops it at some time changes nothing. */
    for (uint64_t cut = LOOKAHEAD / 20; cut <= 20 * LOOKAHEAD; cut *= 20) {
        CHECK(run_storm(2, cut, &again) == hash);
        CHECK(again == events);
    }
}

static void note(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    uint64_t **log = event->self;
    *(*log)++ = event->word[0];
}

/* The same of one event at a time, mostly: it makes one of its kind, here or elsewhere, and seldom a second.
 */
static void trickle(struct port_domain *domain, struct port_event *event)
{
    struct node *n = event->self;
    CHECK(port_now(domain) >= n->last);
    n->last = port_now(domain);
    n->hash = (n->hash ^ port_now(domain) ^ event->word[0] << 20) * UINT64_C(0x9e3779b97f4a7c15);
    n->events++;
    const uint64_t life = event->word[0];
    if (life <= 1)
        return;
    static const uint64_t far[] = {0, 1, 3, 20, 4000, 9000, 200000};
    const uint64_t r = next_random(&n->random), beat = n->rig->beat;
    uint64_t cycle = port_now(domain) + far[r % 7], delay = LOOKAHEAD + (r >> 50);
    if (beat) {
        cycle = (cycle + beat - 1) / beat * beat;
        delay =
            ((port_now(domain) * 1000 + delay) / (beat * 1000) + 1) * beat * 1000 - port_now(domain) * 1000;
    }
    const unsigned second = (unsigned)(r >> 20) % 8; /* 0: one before it; 1: one behind it */
    struct node *to = &n->rig->node[(r >> 24) % DOMAINS];
    if (second == 0)
        port_post(domain, cycle, trickle, n)->word[0] = 1;
    if (r >> 30 & 1 || to == n)
        port_post(domain, cycle, trickle, n)->word[0] = life - 1;
    else
        port_send(domain, to->domain, delay, trickle, to)->word[0] = life - 1;
    if (second == 1)
        port_post(domain, cycle, trickle, n)->word[0] = 1;
}

enum { BESIDE = 40 };
static uint64_t run_trickle(unsigned trickles, unsigned beat, unsigned beside, uint64_t cut, uint64_t *events)
{
    struct rig rig = {.port = port_open(DOMAINS + 1, LOOKAHEAD, 1, NULL), .beat = beat};
    for (unsigned i = 0; i < DOMAINS; i++) {
        struct node *n = &rig.node[i];
        *n = (struct node){.rig = &rig, .domain = port_domain(rig.port, i), .random = 177 + i};
        port_set_clock(n->domain, beat ? 1000 : 900 + 333.3 * i);
    }
    uint64_t unused[BESIDE], *log = unused, until = 0, random = 99, hash = 0;
    for (unsigned i = 0; i < beside; i++)
        port_post(port_domain(rig.port, DOMAINS), UINT64_C(1) << 40, note, &log);
    for (unsigned i = 0; i < trickles; i++)
        port_post(rig.node[i % 2].domain, 10, trickle, &rig.node[i % 2])->word[0] = 5000 + i;
    while (cut && port_next_ps(rig.port) < UINT64_C(1) << 40) {
        until += 1 + next_random(&random) % (2 * cut);
        CHECK(port_run(rig.port, until, NULL, NULL) >= until);
    }
    port_run(rig.port, PORT_NEVER, NULL, NULL);
    *events = 0;
    for (unsigned i = 0; i < DOMAINS; i++) {
        hash = hash * 31 + rig.node[i].hash;
        *events += rig.node[i].events;
    }
    port_close(rig.port);
    return hash;
}

/* A few events are in one list, in the same order: as if there were many others, far off.  With some of these
 * they become few and many all the time. */
static void test_few(unsigned trickles, unsigned beat)
{
    uint64_t events, again;
    const uint64_t hash = run_trickle(trickles, beat, BESIDE, 0, &events);
    CHECK(events > 5000);
    for (unsigned beside = 0; beside < 13; beside++)
        CHECK(run_trickle(trickles, beat, beside, 0, &again) == hash && again == events);
    for (uint64_t cut = LOOKAHEAD; cut <= 400 * LOOKAHEAD; cut *= 20)
        CHECK(run_trickle(trickles, beat, 0, cut, &again) == hash && again == events);
}

/* Near and far events of one cycle keep the order in which they were posted. */
static void test_order(void)
{
    struct port *port = port_open(1, LOOKAHEAD, 1, NULL);
    struct port_domain *d = port_domain(port, 0);
    uint64_t log[8] = {0}, *at = log;
    port_post(d, 100000, note, &at)->word[0] = 1; /* beyond the wheel */
    port_post(d, 5, note, &at)->word[0] = 2;
    CHECK(port_run(port, UINT64_C(99000) * 1000, NULL, NULL) == UINT64_C(99000) * 1000);
    CHECK(at == log + 1 && log[0] == 2);
    port_post(d, 100000, note, &at)->word[0] = 3;
    port_post(d, 99999, note, &at)->word[0] = 4;
    port_post(d, 100000, note, &at)->word[0] = 5;
    port_run(port, PORT_NEVER, NULL, NULL);
    static const uint64_t want[] = {2, 4, 1, 3, 5};
    CHECK(at == log + 5 && memcmp(log, want, sizeof(want)) == 0);
    port_close(port);
}

struct meeting {
    struct port_domain *b;
    uint64_t arrived;
};

static void arrive(struct port_domain *domain, struct port_event *event)
{
    struct meeting *m = event->self;
    m->arrived = port_now(domain);
}

static void depart(struct port_domain *domain, struct port_event *event)
{
    struct meeting *m = event->self;
    port_send(domain, m->b, event->word[0], arrive, m);
}

/* Cycle 21 of a 2100 MHz clock begins at 10 ns; it arrives with the first cycle that begins then or later. */
static void test_clocks(void)
{
    struct port *port = port_open(2, LOOKAHEAD, 1, NULL);
    struct port_domain *a = port_domain(port, 0), *b = port_domain(port, 1);
    port_set_clock(a, 2100);
    port_set_clock(b, 1300);
    CHECK(port_ps_of(a, 21) == 10000);
    CHECK(port_cycle_of(a, 10000) == 21 && port_cycle_of(a, 10001) == 22 && port_cycle_of(a, 9999) == 21);
    for (uint64_t ps = 0; ps < 3000000; ps += 997) {
        uint64_t c = port_cycle_of(b, ps);
        CHECK(port_ps_of(b, c) >= ps && (c == 0 || port_ps_of(b, c - 1) < ps));
    }
    struct meeting m = {.b = b};
    port_post(a, 21, depart, &m)->word[0] = 20000;
    port_run(port, PORT_NEVER, NULL, NULL);
    CHECK(m.arrived == 39); /* 30 ns * 1.3 GHz = 39 exactly */
    port_post(a, 42, depart, &m)->word[0] = 20001;
    port_run(port, PORT_NEVER, NULL, NULL);
    CHECK(m.arrived == 53); /* 40.001 ns: cycle 52 begins at 40.000 */
    port_close(port);
}

static void test_server(void)
{
    struct port_server s = {0};
    CHECK(port_take(&s, 10, 4) == 10);
    CHECK(port_take(&s, 13, 4) == 14);
    CHECK(port_take(&s, 18, 4) == 18);
}

/* ---- late workers ---- */

enum { MANY = 16, WINDOWS = 3000 };

struct crowd {
    struct member {
        struct crowd *crowd;
        unsigned index;
        _Atomic unsigned running;
        uint64_t windows;
    } member[MANY];
    _Atomic unsigned twice;
};

/*
 * As many domains as a window's number says, so that a worker that comes late finds another number than the
 * one it came for.  It also says when a domain is run by two.
 */
static void take_part(struct port_domain *domain, struct port_event *event)
{
    struct member *m = event->self;
    m->crowd->twice += m->running++ != 0;
    if (event->word[0] == 0 && m->windows++ < WINDOWS) {
        uint64_t wait = 1;
        while ((m->windows + wait) % MANY < m->index)
            wait++;
        m->windows += wait - 1;
        for (unsigned i = 0; i < 8; i++)
            port_post(domain, port_now(domain) + wait * 20, take_part, m)->word[0] = i;
    }
    m->running--;
}

/* Ten windows with something to do, in which nobody waits, as there is one thread. */
static void spin(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    (void)event;
    for (uint64_t start = clock_now_ns(); clock_now_ns() < start + 1000000;)
        ;
}

static bool idle(void *context)
{
    (void)context;
    for (uint64_t start = clock_now_ns(); clock_now_ns() < start + 500000;)
        ;
    return false;
}

static void test_times(void)
{
    struct port *port = port_open(2, LOOKAHEAD, 1, NULL);
    struct port_domain *domain = port_domain(port, 1);
    struct port_times times = {0};
    port_set_clock(domain, 1000);
    for (unsigned i = 0; i < 30; i++)
        port_post(domain, port_cycle_of(domain, 2 * LOOKAHEAD * i), spin, NULL);
    port_run(port, 2 * LOOKAHEAD * 10 - LOOKAHEAD, idle, NULL); /* not measured */
    port_measure(port, &times);
    uint64_t start = clock_now_ns();
    port_run(port, 2 * LOOKAHEAD * 20 - LOOKAHEAD, idle, NULL);
    uint64_t took = clock_now_ns() - start;
    CHECK_EQ(times.windows, 10);
    CHECK(times.ns[PORT_WITHIN] >= 10000000 && times.ns[PORT_BETWEEN] >= 5000000);
    CHECK(times.ns[PORT_WITHIN] + times.ns[PORT_BETWEEN] <= took && times.ns[PORT_WAITING] == 0);
    const struct port_times before = times;
    port_measure(port, NULL);
    port_run(port, PORT_NEVER, idle, NULL);
    CHECK(memcmp(&before, &times, sizeof(times)) == 0);
    port_close(port);
}

static void test_late_workers(void)
{
    struct crowd *crowd = calloc(1, sizeof(*crowd));
    struct port *port = port_open(MANY, LOOKAHEAD, 8, NULL);
    for (unsigned i = 0; i < MANY; i++) {
        crowd->member[i].crowd = crowd;
        crowd->member[i].index = i;
        port_set_clock(port_domain(port, i), 1000);
        port_post(port_domain(port, i), 0, take_part, &crowd->member[i])->word[0] = 0;
    }
    port_run(port, PORT_NEVER, NULL, NULL);
    CHECK_EQ(crowd->twice, 0);
    for (unsigned i = 0; i < MANY; i++)
        CHECK(crowd->member[i].windows >= WINDOWS);
    port_close(port);
    free(crowd);
}

int main(int argc, char **argv)
{
    (void)argv;
    test_late_workers();
    if (argc == 1) { /* else it is built to look for races, and slow */
        for (unsigned trickles = 1; trickles <= 5; trickles += 2) {
            test_few(trickles, 0);
            test_few(trickles, 64); /* they meet in cycles that are multiples of that */
        }
        test_order();
        test_clocks();
        test_server();
        test_threads();
        test_times();
    }
    return check_status();
}
