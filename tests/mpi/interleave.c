/* SPDX-License-Identifier: MIT */
/*
 * Ranks that send, receive from anybody, look, compute, use each other's windows and meet at random:
 * whichever of them the host lets go on first, each gets the same messages at the same times, and its window
 * sees others in the same order.
 */
#include <stdlib.h>

#include "check.h"
#include "mpi/network.h"
#include "mpi/order.h"
#include "mpi/schedule.h"

#define NUMBERS                                                                                              \
    "mpi.overhead=400 mpi.latency=200 mpi.rate=20 mpi.reduce=10 mpi.eager=1000 mpi.poll=50 "                 \
    "network.latency=1000 network.rate=10 network.ports=1 network.ranks=2 "                                  \
    "link.rate=32 link.latency=100 link.header=16 packages=2 links=0,2,2,0"
enum { RANKS = 5, ROUNDS = 6, MOST = 4, CONTEXT = 3, WINDOW = 4, LOG = 4096 };

/* What a rank does in a round: computes and sends, looks, receives, awaits its sends, and perhaps meets all.
 */
struct round {
    unsigned sends, receives, looks;
    unsigned to[MOST];
    uint64_t bytes[MOST], compute[MOST + 1];
    bool meets, certain; /* `certain`: it asks for all of its messages at once */
    enum collect_kind kind;
    /* With windows: under a lock of the first's, if it is one. */
    unsigned accesses, window[MOST];
    enum order_remote lock, access[MOST];
    uint64_t put[MOST], got[MOST];
};

enum stage { LOCKING, ACCESSING, SENDING, LOOKING, RECEIVING, AWAITING, MEETING, OVER };
struct actor {
    uint64_t ps;
    bool waits;
    unsigned round, at, count;
    enum stage stage;
    uint64_t log[LOG], serial[RANKS], meetings;
    unsigned logged;
    uint64_t served[LOG]; /* who, and its number */
    unsigned serves;
};

static struct round script[RANKS][ROUNDS];
static struct actor actor[RANKS];
static struct order *order;

static uint64_t draw(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

static void answer(void *user, unsigned rank, const struct order_answer *a, const struct order_done *done)
{
    struct actor *r = &actor[rank];
    (void)user;
    if (a->says == ORDER_SERVES) {
        CHECK(r->serves < LOG);
        r->served[r->serves++] = (uint64_t)done->peer << 32 | done->serial;
    }
    if (a->says != ORDER_ANSWERS)
        return;
    r->ps = a->ps;
    r->waits = false;
    r->count = a->count;
    CHECK(r->logged + 1 + 2 * a->count < LOG);
    r->log[r->logged++] = a->ps;
    for (uint32_t i = 0; i < a->count; i++) {
        r->log[r->logged++] = (uint64_t)done[i].index << 32 | (uint32_t)done[i].peer;
        r->log[r->logged++] = done[i].serial << 32 | done[i].bytes;
    }
}

static void tell(unsigned rank, struct order_op op, const uint64_t *words)
{
    op.ps = actor[rank].ps;
    op.context = CONTEXT;
    actor[rank].waits = op.kind == ORDER_AWAIT || op.kind == ORDER_PROBE;
    order_take(order, rank, &op, words);
}

static void await(unsigned rank, uint32_t flags, unsigned first, unsigned count)
{
    uint64_t words[MOST * RANKS];
    for (unsigned i = 0; i < count; i++)
        words[i] = first + i;
    tell(rank, (struct order_op){.kind = ORDER_AWAIT, .flags = flags, .words = count}, words);
}

static void reach(unsigned rank, unsigned to, enum order_remote what, uint32_t request, uint64_t put,
                  uint64_t got)
{
    actor[rank].ps += 400000;
    order_take(order, rank,
               &(struct order_op){.kind = ORDER_REMOTE,
                                  .ps = actor[rank].ps,
                                  .context = WINDOW,
                                  .bytes = put,
                                  .serial = actor[rank].serial[to]++,
                                  .request = request,
                                  .peer = (int32_t)to,
                                  .tag = (int32_t)what,
                                  .words = 1},
               &got);
}

/* Requests: 1.. are sends, 11.. receives, 31.. accesses, 50 is the meeting, 60 a lock. */
static void act(unsigned rank)
{
    struct actor *r = &actor[rank];
    const struct round *s = &script[rank][r->round];
    switch (r->stage) {
    case LOCKING:
        r->stage = ACCESSING;
        if (s->accesses && s->lock >= REMOTE_LOCK_SHARED && s->lock <= REMOTE_LOCK) {
            reach(rank, s->window[0], s->lock, 60, 0, 0);
            await(rank, ORDER_BLOCKS, 60, 1);
        }
        break;
    case ACCESSING:
        if (r->at < s->accesses) {
            reach(rank, s->window[r->at], s->access[r->at], 31 + r->at, s->put[r->at], s->got[r->at]);
            r->at++;
        } else if (r->at++ == s->accesses && s->accesses) {
            await(rank, ORDER_BLOCKS, 31, s->accesses);
        } else {
            if (s->accesses && s->lock >= REMOTE_LOCK_SHARED && s->lock <= REMOTE_LOCK)
                reach(rank, s->window[0], REMOTE_UNLOCK, 0, 0, 0);
            r->stage = SENDING;
            r->at = 0;
        }
        break;
    case SENDING:
        if (r->at == s->sends) {
            r->stage = LOOKING;
            r->at = 0;
            break;
        }
        r->ps += s->compute[r->at] + 400000;
        tell(rank,
             (struct order_op){.kind = ORDER_SEND,
                               .request = r->at + 1,
                               .peer = (int32_t)s->to[r->at],
                               .tag = (int32_t)r->round,
                               .serial = r->serial[s->to[r->at]]++,
                               .bytes = s->bytes[r->at]},
             NULL);
        r->at++;
        break;
    case LOOKING:
        if (r->at++ == s->looks) {
            r->stage = RECEIVING;
            r->at = 0;
            break;
        }
        tell(rank, (struct order_op){.kind = ORDER_PROBE, .peer = ORDER_ANY, .tag = ORDER_ANY}, NULL);
        break;
    case RECEIVING:
        if (r->at == s->receives) {
            r->stage = AWAITING;
            break;
        }
        tell(rank,
             (struct order_op){
                 .kind = ORDER_RECEIVE, .request = 11 + r->at, .peer = ORDER_ANY, .tag = (int32_t)r->round},
             NULL);
        r->at++;
        if (!s->certain)
            await(rank, ORDER_BLOCKS, 10 + r->at, 1);
        else if (r->at == s->receives)
            await(rank, ORDER_BLOCKS, 11, s->receives);
        break;
    case AWAITING:
        await(rank, ORDER_BLOCKS, 1, s->sends);
        r->stage = MEETING;
        r->at = 0;
        break;
    case MEETING:
        if (s->meets && r->at++ == 0) {
            tell(rank,
                 (struct order_op){.kind = ORDER_COLLECT,
                                   .request = 50,
                                   .tag = (int32_t)s->kind,
                                   .serial = ++r->meetings,
                                   .bytes = 8000},
                 NULL);
            await(rank, ORDER_BLOCKS, 50, 1);
            break;
        }
        r->ps += s->compute[MOST];
        r->at = 0;
        r->stage = ++r->round == ROUNDS ? OVER : LOCKING;
        if (r->stage == OVER)
            tell(rank, (struct order_op){.kind = ORDER_BYE}, NULL);
        break;
    case OVER:
        break;
    }
}

static void write_script(uint64_t seed)
{
    memset(script, 0, sizeof(script));
    for (unsigned round = 0; round < ROUNDS; round++) {
        const bool meets = draw(&seed, 2);
        const enum collect_kind kind = (enum collect_kind)draw(&seed, COLLECT_KINDS);
        for (unsigned rank = 0; rank < RANKS; rank++) {
            struct round *s = &script[rank][round];
            s->sends = (unsigned)draw(&seed, MOST + 1);
            s->looks = (unsigned)draw(&seed, 6);
            s->certain = draw(&seed, 2);
            s->meets = meets;
            s->kind = kind;
            s->accesses = draw(&seed, 2) ? (unsigned)draw(&seed, MOST + 1) : 0;
            s->lock = (enum order_remote)draw(&seed, REMOTE_UNLOCK + 1);
            for (unsigned i = 0; i < s->accesses; i++) {
                s->window[i] = (unsigned)draw(&seed, RANKS);
                s->access[i] = draw(&seed, 2) ? REMOTE_ACCESS : REMOTE_COMBINE;
                s->put[i] = draw(&seed, 5000);
                s->got[i] = draw(&seed, 3) ? 0 : draw(&seed, 50000);
            }
            for (unsigned i = 0; i < s->sends; i++) {
                s->to[i] = (unsigned)draw(&seed, RANKS);
                s->bytes[i] = draw(&seed, 2) ? draw(&seed, 100) : draw(&seed, 50000);
                s->compute[i] = draw(&seed, 3) ? 0 : draw(&seed, 4000000);
                script[s->to[i]][round].receives++;
            }
            s->compute[MOST] = draw(&seed, 2) ? 0 : draw(&seed, 9000000);
        }
    }
}

/* True: all came to their ends. */
static bool play(uint64_t seed)
{
    const struct order_op group = {.kind = ORDER_GROUP, .context = CONTEXT, .words = RANKS};
    struct network_numbers n;
    uint64_t all[RANKS] = {0, 1, 2, 3, 4};
    char wrong[64];
    unsigned over = 0;
    CHECK(network_read(&n, NUMBERS, wrong));
    memset(actor, 0, sizeof(actor));
    order = order_open(&n, RANKS, answer, NULL);
    order_take(order, 0, &group, all);
    for (unsigned idle = 0; over < RANKS && idle < 10000;) {
        const unsigned rank = (unsigned)draw(&seed, RANKS);
        if (actor[rank].stage == OVER || actor[rank].waits) {
            idle++;
            continue;
        }
        idle = 0;
        act(rank);
        over += actor[rank].stage == OVER;
    }
    order_close(order);
    return over == RANKS;
}

int main(void)
{
    static struct actor first[RANKS];
    for (uint64_t program = 1; program <= 1000; program++) {
        write_script(program);
        CHECK(play(1000 + program));
        memcpy(first, actor, sizeof(first));
        for (uint64_t host = 1; host <= 4; host++) {
            CHECK(play(host));
            for (unsigned rank = 0; rank < RANKS; rank++)
                CHECK(first[rank].serves == actor[rank].serves &&
                      memcmp(first[rank].served, actor[rank].served, actor[rank].serves * sizeof(uint64_t)) ==
                          0);
            for (unsigned rank = 0; rank < RANKS; rank++)
                CHECK(first[rank].logged == actor[rank].logged &&
                      memcmp(first[rank].log, actor[rank].log, actor[rank].logged * sizeof(uint64_t)) == 0);
        }
    }
    return check_status();
}
