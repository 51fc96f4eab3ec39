/* SPDX-License-Identifier: MIT */
/*
 * The order of what ranks of MPI do, without MPI: what it costs, by hand; who gets which message; and that
 * nothing depends on whose calls come first over the sockets.
 */
#include "mpi/order.h"

#include <stdlib.h>

#include "check.h"
#include "mpi/network.h"
#include "mpi/schedule.h"

/* A node of two packages, two ranks each; picoseconds below are of these. */
#define NUMBERS                                                                                              \
    "mpi.overhead=400 mpi.latency=200 mpi.rate=20 mpi.reduce=10 mpi.eager=1000 mpi.poll=50 "                 \
    "network.latency=1000 network.rate=10 network.ports=1 network.ranks=4 "                                  \
    "link.rate=32 link.latency=100 link.header=16 packages=2 links=0,2,2,0"
enum { O = 400000, LOCAL = 200000, FAR = 1000000, LINK = 100000, POLL = 50000, RANKS = 8, CONTEXT = 7 };

struct rig {
    struct order *order;
    struct order_answer last[RANKS];
    struct order_done done[RANKS][16];
    unsigned answers[RANKS], goes[RANKS], serves[RANKS];
    uint64_t served[RANKS][16]; /* who, and its number */
};

static void answer(void *user, unsigned rank, const struct order_answer *a, const struct order_done *done)
{
    struct rig *rig = user;
    if (a->says == ORDER_GOES)
        rig->goes[rank]++;
    if (a->says == ORDER_SERVES && rig->serves[rank] < 16)
        rig->served[rank][rig->serves[rank]++] = (uint64_t)done->peer << 32 | done->serial;
    if (a->says != ORDER_ANSWERS)
        return;
    rig->last[rank] = *a;
    rig->answers[rank]++;
    for (uint32_t i = 0; i < a->count && i < 16; i++)
        rig->done[rank][i] = done[i];
}

static void open_rig(struct rig *rig, unsigned ranks)
{
    struct network_numbers n;
    char wrong[64];
    uint64_t all[RANKS];
    *rig = (struct rig){0};
    CHECK(network_read(&n, NUMBERS, wrong));
    rig->order = order_open(&n, ranks, answer, rig);
    for (unsigned i = 0; i < ranks; i++)
        all[i] = i;
    order_take(rig->order, 0, &(struct order_op){.kind = ORDER_GROUP, .context = CONTEXT, .words = ranks},
               all);
}

static void send(struct rig *rig, unsigned rank, uint64_t ps, int to, int tag, uint64_t bytes,
                 uint32_t request)
{
    order_take(rig->order, rank,
               &(struct order_op){.kind = ORDER_SEND,
                                  .ps = ps + O,
                                  .context = CONTEXT,
                                  .bytes = bytes,
                                  .request = request,
                                  .peer = to,
                                  .tag = tag},
               NULL);
}

static void receive(struct rig *rig, unsigned rank, uint64_t ps, int from, int tag, uint32_t request)
{
    order_take(rig->order, rank,
               &(struct order_op){.kind = ORDER_RECEIVE,
                                  .ps = ps,
                                  .context = CONTEXT,
                                  .request = request,
                                  .peer = from,
                                  .tag = tag},
               NULL);
}

static void await(struct rig *rig, unsigned rank, uint64_t ps, uint32_t flags, const uint64_t *requests,
                  uint32_t count)
{
    order_take(rig->order, rank,
               &(struct order_op){.kind = ORDER_AWAIT, .flags = flags, .ps = ps, .words = count}, requests);
}

static void await_one(struct rig *rig, unsigned rank, uint64_t ps, uint64_t request)
{
    await(rig, rank, ps, ORDER_BLOCKS, &request, 1);
}

static void bye(struct rig *rig, unsigned rank)
{
    order_take(rig->order, rank, &(struct order_op){.kind = ORDER_BYE}, NULL);
}

/* One message, and all others gone: when its receiver goes on, and its sender. */
static void test_one(int to, uint64_t bytes, uint64_t receiver_ps, uint64_t sender_ps)
{
    struct rig rig;
    open_rig(&rig, RANKS);
    for (unsigned i = 1; i < RANKS; i++)
        if ((int)i != to)
            bye(&rig, i);
    receive(&rig, (unsigned)to, 0, 0, ORDER_ANY, 1);
    await_one(&rig, (unsigned)to, 0, 1);
    send(&rig, 0, 0, to, 3, bytes, 1);
    await_one(&rig, 0, O, 1);
    CHECK_EQ(rig.last[to].ps, receiver_ps);
    CHECK_EQ(rig.last[0].ps, sender_ps);
    CHECK(rig.done[to][0].peer == 0 && rig.done[to][0].tag == 3 && rig.done[to][0].bytes == bytes);
    order_close(rig.order);
}

static void test_ways(void)
{
    /* Within a package a core copies 20 GB/s: 50 ps a byte.  Two links of 32 GB/s have 64 of 80 bytes for
     * what is sent: 19.53125 ps a byte.  The network has 100. */
    test_one(2, 0, O + LOCAL + O, O);
    test_one(2, 1000, O + LOCAL + 50000 + O, O);
    test_one(1, 1000, O + LOCAL + LINK + 19531 + O, O);
    test_one(4, 1000, O + FAR + 100000 + O, O);
    /* Longer than mpi.eager: it asks, gets leave, and then its bytes go; the sender waits for that. */
    const uint64_t there = O + FAR + O + FAR + O + FAR + 100100;
    test_one(4, 1001, there + O, there);
}

/* One that is longer than mpi.eager, of which its sender has a copy: that goes on at once, the message as
 * others. */
static void test_copied(void)
{
    struct rig rig;
    open_rig(&rig, RANKS);
    for (unsigned i = 1; i < RANKS; i++)
        if (i != 4)
            bye(&rig, i);
    order_take(rig.order, 0,
               &(struct order_op){.kind = ORDER_SEND,
                                  .flags = ORDER_COPIED,
                                  .ps = O,
                                  .context = CONTEXT,
                                  .bytes = 1001,
                                  .request = 1,
                                  .peer = 4},
               NULL);
    await_one(&rig, 0, O, 1);
    receive(&rig, 4, 0, 0, ORDER_ANY, 1);
    await_one(&rig, 4, 0, 1);
    bye(&rig, 0);
    CHECK_EQ(rig.last[0].ps, O);
    CHECK_EQ(rig.last[4].ps, O + FAR + O + FAR + O + FAR + 100100 + O);
    order_close(rig.order);
}

/* Two from one node to two others: its one port is busy with the first; so is the receiver's. */
static void test_ports(void)
{
    struct rig rig;
    open_rig(&rig, RANKS);
    for (unsigned i = 2; i < 6; i++)
        bye(&rig, i);
    receive(&rig, 6, 0, 0, 0, 1);
    await_one(&rig, 6, 0, 1);
    receive(&rig, 7, 0, 1, 0, 1);
    await_one(&rig, 7, 0, 1);
    send(&rig, 0, 0, 6, 0, 1000, 0);
    send(&rig, 1, 10, 7, 0, 1000, 0);
    bye(&rig, 0);
    bye(&rig, 1);
    CHECK_EQ(rig.last[6].ps, O + FAR + 100000 + O);
    CHECK_EQ(rig.last[7].ps, O + FAR + 100000 + 100000 + O);
    order_close(rig.order);
}

/* The first in simulated time wins, whoever's call is there first; and nobody is told before it is known. */
static void test_any(void)
{
    struct rig rig;
    open_rig(&rig, 4);
    bye(&rig, 3);
    receive(&rig, 0, 0, ORDER_ANY, ORDER_ANY, 1);
    await_one(&rig, 0, 0, 1);
    send(&rig, 2, LINK + 1, 0, 22, 0, 0); /* the host's first */
    CHECK_EQ(rig.answers[0], 0);          /* rank 1 may still be earlier */
    send(&rig, 1, 0, 0, 11, 0, 0);        /* over a link, and so a picosecond before the other */
    CHECK_EQ(rig.answers[0], 1);          /* nothing that either tells now is here sooner */
    CHECK_EQ(rig.done[0][0].peer, 1);
    order_close(rig.order);

    open_rig(&rig, 4); /* the other way round */
    bye(&rig, 3);
    receive(&rig, 0, 0, ORDER_ANY, ORDER_ANY, 1);
    await_one(&rig, 0, 0, 1);
    send(&rig, 2, LINK - 1, 0, 22, 0, 0);
    CHECK_EQ(rig.answers[0], 0);
    send(&rig, 1, 0, 0, 11, 0, 0);
    CHECK_EQ(rig.done[0][0].peer, 2);
    order_close(rig.order);

    /* Who waits for a certain rank needs not hear of the others. */
    open_rig(&rig, 4);
    receive(&rig, 0, 0, 2, ORDER_ANY, 1);
    await_one(&rig, 0, 0, 1);
    await(&rig, 1, 1, 0, NULL, 0);
    await(&rig, 3, 1, 0, NULL, 0);
    send(&rig, 2, 0, 0, 22, 1000, 0);
    CHECK_EQ(rig.last[0].ps, O + LOCAL + 50000 + O);
    order_close(rig.order);

    /* At one time the lower rank's: 3 is in another package than 0, as 1 is. */
    open_rig(&rig, 4);
    bye(&rig, 2);
    receive(&rig, 0, 0, ORDER_ANY, ORDER_ANY, 1);
    await_one(&rig, 0, 0, 1);
    send(&rig, 3, 5000, 0, 33, 0, 0);
    send(&rig, 1, 5000, 0, 11, 0, 0);
    bye(&rig, 1);
    bye(&rig, 3);
    CHECK_EQ(rig.done[0][0].tag, 11);
    order_close(rig.order);
}

/* Looks cost time, and say what is there at that time: one picosecond makes the difference. */
static void test_looks(void)
{
    const uint64_t one = 1;
    for (int late = 0; late < 2; late++) {
        struct rig rig;
        open_rig(&rig, 4);
        for (unsigned i = 1; i < 3; i++)
            bye(&rig, i);
        receive(&rig, 0, 0, 3, 5, 1);
        await(&rig, 0, O + LOCAL - 1, 0, &one, 1); /* nothing that rank 3 may tell is here by then */
        CHECK_EQ(rig.last[0].ps, O + LOCAL - 1 + POLL);
        CHECK_EQ(rig.last[0].count, 0);
        await(&rig, 0, O + LOCAL - 1 + POLL, 0, &one, 1);
        CHECK_EQ(rig.answers[0], 1); /* but now it may be */
        send(&rig, 3, 0, 0, 5, 0, 0);
        bye(&rig, 3);
        CHECK_EQ(rig.last[0].ps, O + LOCAL - 1 + 2 * POLL);
        CHECK_EQ(rig.last[0].count, 0);
        const uint64_t there = O + LOCAL + LINK;
        await(&rig, 0, there - (late ? 0 : 1), 0, &one, 1);
        CHECK_EQ(rig.last[0].count, late);
        CHECK_EQ(rig.last[0].ps, late ? there + O : there - 1 + POLL);
        order_close(rig.order);
    }
}

/* In the order in which they were sent, by tag and by communicator; a probe leaves it there. */
static void test_match(void)
{
    struct rig rig;
    const uint64_t three[] = {3, 1, 2};
    open_rig(&rig, 4);
    for (unsigned i = 2; i < 4; i++)
        bye(&rig, i);
    for (int i = 0; i < 3; i++)
        send(&rig, 1, 1000 * (uint64_t)i, 0, i == 1 ? 8 : 9, (uint64_t)i, 0);
    bye(&rig, 1);
    order_take(
        rig.order, 0,
        &(struct order_op){
            .kind = ORDER_PROBE, .flags = ORDER_BLOCKS, .context = CONTEXT, .peer = ORDER_ANY, .tag = 8},
        NULL);
    CHECK_EQ(rig.done[0][0].bytes, 1);
    const uint64_t ps = rig.last[0].ps;
    CHECK_EQ(ps, 1000 + O + LOCAL + LINK + 20 + POLL);
    receive(&rig, 0, ps, 1, 9, 1);
    receive(&rig, 0, ps, ORDER_ANY, ORDER_ANY, 2);
    receive(&rig, 0, ps, 1, 9, 3);
    await(&rig, 0, ps, ORDER_BLOCKS, three, 3);
    CHECK_EQ(rig.done[0][1].bytes, 0); /* request 1 */
    CHECK_EQ(rig.done[0][2].bytes, 1); /* request 2: the one that had come by then */
    CHECK_EQ(rig.done[0][0].bytes, 2);
    CHECK_EQ(rig.last[0].ps, ps + 3 * O);
    /* One that nobody sends to can be given up. */
    const uint64_t four = 4;
    receive(&rig, 0, 3 * ps, 1, 9, 4);
    order_take(rig.order, 0, &(struct order_op){.kind = ORDER_CANCEL, .ps = 3 * ps, .request = 4}, NULL);
    await(&rig, 0, 3 * ps, ORDER_BLOCKS, &four, 1);
    CHECK(rig.done[0][0].cancelled);
    CHECK_EQ(rig.last[0].ps, 3 * ps);
    receive(&rig, 0, 4 * ps, 1, 9, 4);
    await(&rig, 0, 4 * ps, ORDER_BLOCKS, &four, 1);
    CHECK(order_stuck(rig.order));
    order_close(rig.order);
}

static void remote(struct rig *rig, unsigned rank, uint64_t ps, int to, enum order_remote what,
                   uint64_t bytes, uint64_t back, uint32_t request)
{
    order_take(rig->order, rank,
               &(struct order_op){.kind = ORDER_REMOTE,
                                  .ps = ps + O,
                                  .context = CONTEXT,
                                  .bytes = bytes,
                                  .serial = request,
                                  .request = request,
                                  .peer = to,
                                  .tag = (int32_t)what,
                                  .words = 1},
               &back);
}

static void test_access(enum order_remote what, uint64_t bytes, uint64_t back, uint64_t ps)
{
    struct rig rig;
    open_rig(&rig, RANKS);
    for (unsigned i = 1; i < RANKS; i++)
        if (i != 4)
            bye(&rig, i);
    remote(&rig, 0, 0, 4, what, bytes, back, 1);
    await_one(&rig, 0, O, 1);
    CHECK_EQ(rig.serves[4], 0);
    await(&rig, 4, O + FAR + bytes * 100 - 1, 0, NULL, 0); /* it may still use what is there */
    CHECK_EQ(rig.serves[4], 0);
    CHECK_EQ(rig.answers[0], 0);
    await(&rig, 4, O + FAR + bytes * 100, 0, NULL, 0);
    CHECK_EQ(rig.serves[4], 1);
    CHECK_EQ(rig.last[4].ps, O + FAR + bytes * 100); /* which it costs nothing */
    bye(&rig, 4);
    CHECK_EQ(rig.last[0].ps, ps);
    order_close(rig.order);
}

/* What is done with another's window: there, mpi.overhead, and back; and in the order in which it is there.
 */
static void test_remote(void)
{
    const uint64_t there = O + FAR, back = O + FAR;
    test_access(REMOTE_ACCESS, 1000, 0, there + 100000 + back);
    test_access(REMOTE_ACCESS, 8000, 0,
                there + 800000 + back); /* longer than mpi.eager: it asks for no leave */
    test_access(REMOTE_ACCESS, 0, 1000, there + back + 100000);
    test_access(REMOTE_COMBINE, 1000, 1000, there + 100000 + 100000 + back + 100000);

    struct rig rig;
    open_rig(&rig, RANKS);
    for (unsigned i = 2; i < RANKS; i++)
        if (i != 4)
            bye(&rig, i);
    remote(&rig, 1, 5, 4, REMOTE_ACCESS, 0, 0, 11); /* the host's first */
    remote(&rig, 0, 4, 4, REMOTE_ACCESS, 0, 0, 22);
    bye(&rig, 0);
    bye(&rig, 1);
    await(&rig, 4, 2 * there, 0, NULL, 0);
    CHECK_EQ(rig.serves[4], 2);
    CHECK_EQ(rig.served[4][0], 22);
    CHECK_EQ(rig.served[4][1], UINT64_C(1) << 32 | 11);
    order_close(rig.order);
}

/* Two have it together, then one alone, then two; who computes does not see them come and go. */
static void test_locks(void)
{
    struct rig rig;
    const enum order_remote what[] = {REMOTE_LOCK_SHARED, REMOTE_LOCK_SHARED, REMOTE_LOCK,
                                      REMOTE_LOCK_SHARED};
    const uint64_t there = O + FAR, back = O + FAR, late = 100000000;
    open_rig(&rig, RANKS);
    for (unsigned i = 4; i < RANKS; i++)
        bye(&rig, i);
    for (unsigned i = 0; i < 4; i++) {
        remote(&rig, i, i, 4, what[i], 0, 0, 1);
        await_one(&rig, i, i + O, 1);
    }
    CHECK_EQ(rig.last[0].ps, there + back);
    CHECK_EQ(rig.last[1].ps, 1 + there + back);
    CHECK_EQ(rig.answers[2], 0);
    remote(&rig, 0, late, 4, REMOTE_UNLOCK, 0, 0, 0);
    bye(&rig, 0);
    CHECK_EQ(rig.answers[2], 0);
    remote(&rig, 1, late + 7, 4, REMOTE_UNLOCK, 0, 0, 0);
    bye(&rig, 1);
    CHECK_EQ(rig.last[2].ps, late + 7 + there + back);
    CHECK_EQ(rig.answers[3], 0);
    remote(&rig, 2, 2 * late, 4, REMOTE_UNLOCK, 0, 0, 0);
    bye(&rig, 2);
    CHECK_EQ(rig.last[3].ps, 2 * late + there + back);
    CHECK_EQ(rig.serves[4], 0);
    order_close(rig.order);
}

/* A rank outside keeps nobody waiting; it is back no sooner than the others have got. */
static void test_outside(void)
{
    struct rig rig;
    open_rig(&rig, 4);
    for (unsigned i = 2; i < 4; i++)
        bye(&rig, i);
    receive(&rig, 0, 0, 3, 0, 1);
    send(&rig, 0, 500000, 0, 0, 0, 2);
    await_one(&rig, 0, 500000 + O, 2);
    CHECK_EQ(rig.answers[0], 0);
    order_take(rig.order, 1, &(struct order_op){.kind = ORDER_OUT, .ps = 10}, NULL);
    CHECK_EQ(rig.answers[0], 1);
    order_take(rig.order, 1, &(struct order_op){.kind = ORDER_IN, .ps = 10}, NULL);
    CHECK_EQ(rig.last[1].ps, 500000 + O);
    order_close(rig.order);
}

/* ---- collective calls ---- */

static void come(struct rig *rig, unsigned rank, uint64_t ps, enum collect_kind kind, int root,
                 uint64_t bytes)
{
    order_take(rig->order, rank,
               &(struct order_op){.kind = ORDER_COLLECT,
                                  .flags = ORDER_BLOCKS,
                                  .ps = ps,
                                  .context = CONTEXT,
                                  .serial = 1,
                                  .bytes = bytes,
                                  .request = 1,
                                  .peer = root,
                                  .tag = (int32_t)kind},
               NULL);
    await_one(rig, rank, ps, 1);
}

static void finish(struct rig *rig, unsigned ranks)
{
    for (unsigned i = 0; i < ranks; i++) /* whose answers wait for those that are through before */
        bye(rig, i);
}

static void test_collectives(void)
{
    struct rig rig;
    /* Two ranks in two nodes: a message each, at once; and what it brings is added. */
    open_rig(&rig, RANKS);
    uint64_t pair[] = {0, 4};
    order_take(rig.order, 0, &(struct order_op){.kind = ORDER_GROUP, .context = 9, .words = 2}, pair);
    for (unsigned i = 0; i < RANKS; i++)
        if (i != 0 && i != 4)
            bye(&rig, i);
    for (unsigned i = 0; i < 5; i += 4) {
        CHECK_EQ(rig.goes[0], 0);
        order_take(rig.order, i,
                   &(struct order_op){.kind = ORDER_COLLECT,
                                      .flags = ORDER_BLOCKS,
                                      .ps = 1000 * i,
                                      .context = 9,
                                      .serial = 1,
                                      .bytes = 800,
                                      .request = 1,
                                      .tag = COLLECT_ALL_REDUCE},
                   NULL);
        await_one(&rig, i, 1000 * i, 1);
    }
    CHECK_EQ(rig.goes[0], 1);
    CHECK_EQ(rig.goes[4], 1);
    bye(&rig, 4);
    CHECK_EQ(rig.last[0].ps, 4000 + O + FAR + 80000 + O + 80000);
    CHECK_EQ(rig.last[4].ps, O + FAR + 80000 + O + 80000);
    order_close(rig.order);

    /* Nobody leaves before all have come: the root of a broadcast neither. */
    open_rig(&rig, 4);
    for (unsigned i = 0; i < 4; i++)
        come(&rig, i, i == 2 ? 90000000 : 0, COLLECT_BROADCAST, 0, 8);
    finish(&rig, 4);
    for (unsigned i = 0; i < 4; i++)
        CHECK(rig.last[i].ps >= 90000000);
    CHECK_EQ(rig.last[0].ps, 90000000 + O + LOCAL); /* when it may know that */
    /* Its message waits there, and costs what receiving it and passing it on does. */
    CHECK_EQ(rig.last[2].ps, 90000000 + 2 * O);
    order_close(rig.order);
}

/* Each schedule, for all numbers of ranks: what a rank sends another receives, in the same order, and what is
 * to get from everybody to everybody does.  `knows`: a bit for each whose data a rank has. */
struct play {
    unsigned ranks;
    unsigned number[16];
    struct step step[16];
    unsigned got[16]; /* of the step's receives */
    bool sent[16], over[16];
    uint32_t knows[16], queue[16][16][64]; /* from, to: what was known then */
    unsigned head[16][16], tail[16][16];
    struct step_send send[16][32];
    unsigned receive[16][32];
};

static bool play_on(struct play *p, const struct schedule *s, unsigned r)
{
    struct step *step = &p->step[r];
    if (p->over[r])
        return false;
    if (!p->sent[r]) {
        step->send = p->send[r];
        step->receive = p->receive[r];
        p->over[r] = !schedule_step(s, p->number[r]++, step);
        p->sent[r] = true;
        p->got[r] = 0;
        for (unsigned i = 0; i < step->sends && !p->over[r]; i++)
            p->queue[r][step->send[i].to][p->tail[r][step->send[i].to]++] = p->knows[r];
        return true;
    }
    if (p->got[r] < step->receives) {
        const unsigned from = step->receive[p->got[r]];
        if (p->head[from][r] == p->tail[from][r])
            return false;
        p->knows[r] |= p->queue[from][r][p->head[from][r]++];
        p->got[r]++;
        return true;
    }
    p->sent[r] = false;
    return true;
}

static void test_schedule(enum collect_kind kind, unsigned ranks, unsigned root, uint64_t bytes, bool parts)
{
    static struct play p;
    uint64_t part[16];
    p = (struct play){.ranks = ranks};
    for (unsigned i = 0; i < ranks; i++) {
        p.knows[i] = 1U << i;
        part[i] = 10 * i;
    }
    for (bool any = true; any;) {
        any = false;
        for (unsigned r = 0; r < ranks; r++) {
            const struct schedule s = {kind, ranks, r, root, bytes, parts ? part : NULL};
            any |= play_on(&p, &s, r);
        }
    }
    const uint32_t all = (1U << ranks) - 1;
    for (unsigned r = 0; r < ranks; r++) {
        CHECK(p.over[r]);
        for (unsigned other = 0; other < ranks; other++)
            CHECK_EQ(p.head[r][other], p.tail[r][other]); /* nothing is left on its way */
        const bool to_all = kind == COLLECT_BARRIER || kind == COLLECT_ALL_REDUCE ||
                            kind == COLLECT_ALL_GATHER || kind == COLLECT_ALL_TO_ALL ||
                            kind == COLLECT_REDUCE_SCATTER,
                   to_root = kind == COLLECT_REDUCE || kind == COLLECT_GATHER,
                   from_root = kind == COLLECT_BROADCAST || kind == COLLECT_SCATTER;
        if (to_all || (to_root && r == root))
            CHECK_EQ(p.knows[r], all);
        if (from_root)
            CHECK(p.knows[r] >> root & 1);
        if (kind == COLLECT_SCAN)
            CHECK_EQ(p.knows[r], (1U << (r + 1)) - 1);
    }
}

int main(void)
{
    test_ways();
    test_copied();
    test_ports();
    test_any();
    test_looks();
    test_match();
    test_remote();
    test_locks();
    test_outside();
    test_collectives();
    for (unsigned ranks = 1; ranks <= 13; ranks++)
        for (int kind = COLLECT_BARRIER; kind < COLLECT_KINDS; kind++)
            for (unsigned root = 0; root < ranks; root += 3)
                for (uint64_t bytes = 8; bytes < 1000000; bytes *= 50) {
                    test_schedule((enum collect_kind)kind, ranks, root, bytes, false);
                    if (kind == COLLECT_GATHER || kind == COLLECT_SCATTER || kind == COLLECT_ALL_GATHER ||
                        kind == COLLECT_ALL_TO_ALL)
                        test_schedule((enum collect_kind)kind, ranks, root, bytes, true);
                }
    return check_status();
}
