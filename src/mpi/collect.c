/* SPDX-License-Identifier: MIT */
/*
 * Collective calls.  Each rank goes through the steps of its schedule as if it sent and received; it is over
 * for no rank before it may know that all have come, as the call that moves the bytes may wait for them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "mpi/internal.h"
#include "mpi/schedule.h"

struct collective {
    struct collective *next; /* of those that are through before all have come */
    struct request *request;
    struct meeting *meeting;
    const struct group *group;
    struct schedule schedule;
    struct step step;
    unsigned rank, number, pending; /* the step's, and messages of it that are not done */
    uint64_t ready_ps;              /* those that are */
    uint64_t over_ps;
    uint64_t parts[];
};

struct meeting {
    struct meeting *next;
    uint64_t context, serial;
    unsigned told, came, left;
    struct collective *through;
    uint64_t came_ps[]; /* each of the group */
};

/* A message of a step, when its turn comes. */
struct sending {
    struct collective *collective;
    unsigned to;
    uint64_t bytes;
};

static void post(struct order *o, const struct collective *c, uint64_t ps, void (*fn)(struct order *, void *),
                 void *object)
{
    order_post(o, &(struct event){.ps = ps,
                                  .key = (uint64_t)c->rank << 48 | c->meeting->serial,
                                  .fn = fn,
                                  .object = object,
                                  .rank = c->rank,
                                  .place = EVENT_OWN});
}

static const struct group *group_of(const struct order *o, uint64_t context)
{
    const struct group *g = o->groups;
    while (g->context != context)
        g = g->next;
    return g;
}

static struct meeting *meeting_of(struct order *o, uint64_t context, uint64_t serial)
{
    struct meeting *m = o->meetings;
    while (m && (m->context != context || m->serial != serial))
        m = m->next;
    if (!m) {
        m = must(calloc(1, sizeof(*m) + group_of(o, context)->size * sizeof(m->came_ps[0])));
        *m = (struct meeting){.next = o->meetings, .context = context, .serial = serial};
        o->meetings = m;
    }
    return m;
}

static void drop(struct order *o, struct meeting *m)
{
    struct meeting **at = &o->meetings;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    free(m);
}

/* When it may know that all have come: each says so, in the shortest time. */
static uint64_t known_ps(const struct order *o, const struct collective *c)
{
    uint64_t ps = c->over_ps;
    for (unsigned i = 0; i < c->group->size; i++)
        if (i != c->schedule.me)
            ps = later(ps, c->meeting->came_ps[i] + order_distance(o, c->group->rank[i], c->rank, false));
    return ps;
}

/* Those that are through are done, if all have come. */
static void let_go(struct order *o, struct meeting *m)
{
    struct collective *c;
    const unsigned size = m->through ? m->through->group->size : 0;
    if (!size || m->came < size)
        return;
    while ((c = m->through)) {
        m->through = c->next;
        m->left++;
        order_give(o, c->rank, known_ps(o, c), UINT64_MAX, NULL, c->request);
        free(c->step.send);
        free(c->step.receive);
        free(c);
    }
    if (m->left == size)
        drop(o, m);
}

static void take_step(struct order *o, void *object);

static void send_one(struct order *o, void *object)
{
    struct sending *s = object;
    struct collective *c = s->collective;
    struct request *r = must(calloc(1, sizeof(*r)));
    *r = (struct request){.kind = REQUEST_SEND, .rank = c->rank, .owner = c};
    match_send(o,
               &(struct message){.from = c->rank,
                                 .to = c->group->rank[s->to],
                                 .context = c->meeting->context,
                                 .collective = c->meeting->serial,
                                 .bytes = s->bytes},
               r);
    free(s);
}

static void begin_step(struct order *o, struct collective *c)
{
    struct step *s = &c->step;
    c->pending = s->sends + s->receives;
    c->ready_ps = o->now_ps;
    for (unsigned i = 0; i < s->sends; i++) {
        struct sending *one = must(malloc(sizeof(*one)));
        *one = (struct sending){c, s->send[i].to, s->send[i].bytes};
        post(o, c, o->now_ps + (i + 1) * o->network.overhead_ps, send_one, one);
    }
    for (unsigned i = 0; i < s->receives; i++) {
        struct request *r = must(calloc(1, sizeof(*r)));
        *r = (struct request){.kind = REQUEST_RECEIVE,
                              .rank = c->rank,
                              .owner = c,
                              .context = c->meeting->context,
                              .collective = c->meeting->serial,
                              .peer = (int32_t)c->group->rank[s->receive[i]]};
        match_receive(o, r);
    }
}

static void take_step(struct order *o, void *object)
{
    struct collective *c = object;
    while (schedule_step(&c->schedule, c->number++, &c->step))
        if (c->step.sends + c->step.receives) {
            begin_step(o, c);
            return;
        }
    c->over_ps = o->now_ps;
    c->next = c->meeting->through;
    c->meeting->through = c;
    let_go(o, c->meeting);
}

void collect_done(struct order *o, struct collective *c, uint64_t ps)
{
    c->ready_ps = later(c->ready_ps, ps);
    if (--c->pending == 0)
        post(o, c,
             c->ready_ps + c->step.receives * o->network.overhead_ps +
                 network_reduce_ps(&o->network, c->step.reduced),
             take_step, c);
}

void collect_told(struct order *o, const struct order_op *op)
{
    const struct group *g = group_of(o, op->context);
    const struct order_answer go = {.says = ORDER_GOES};
    if (++meeting_of(o, op->context, op->serial)->told == g->size)
        for (unsigned i = 0; i < g->size; i++)
            o->answer(o->user, g->rank[i], &go, NULL);
}

void collect_begin(struct order *o, unsigned rank, const struct order_op *op, const uint64_t *words,
                   struct request *request)
{
    struct collective *c = must(calloc(1, sizeof(*c) + op->words * sizeof(uint64_t)));
    const struct group *g = group_of(o, op->context);
    memcpy(c->parts, words, op->words * sizeof(uint64_t));
    c->request = request;
    c->group = g;
    c->rank = rank;
    c->schedule = (struct schedule){.kind = (enum collect_kind)op->tag,
                                    .ranks = g->size,
                                    .root = (unsigned)op->peer,
                                    .bytes = op->bytes,
                                    .parts = op->words ? c->parts : NULL};
    while (g->rank[c->schedule.me] != rank)
        c->schedule.me++;
    c->step.send = must(calloc(g->size, sizeof(*c->step.send)));
    c->step.receive = must(calloc(g->size, sizeof(*c->step.receive)));
    c->meeting = meeting_of(o, op->context, op->serial);
    c->meeting->came++;
    c->meeting->came_ps[c->schedule.me] = o->now_ps;
    let_go(o, c->meeting);
    take_step(o, c);
}

void collect_close(struct order *o)
{
    while (o->meetings) {
        struct meeting *m = o->meetings;
        o->meetings = m->next;
        while (m->through) {
            struct collective *c = m->through;
            m->through = c->next;
            free(c->step.send);
            free(c->step.receive);
            free(c->request);
            free(c);
        }
        free(m);
    }
}
