/* SPDX-License-Identifier: MIT */
/* Ranks, their calls, and what happens next; see order.h. */
#include "mpi/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "mpi/internal.h"

/* ---- events: first those of the earliest time ---- */

static bool before(const struct event *a, const struct event *b)
{
    return a->ps < b->ps || (a->ps == b->ps && a->key < b->key);
}

void order_post(struct order *o, const struct event *event)
{
    if (o->events == o->room) {
        o->room = o->room ? 2 * o->room : 64;
        o->event = must(realloc(o->event, o->room * sizeof(*o->event)));
    }
    unsigned at = o->events++;
    for (; at && before(event, &o->event[(at - 1) / 2]); at = (at - 1) / 2)
        o->event[at] = o->event[(at - 1) / 2];
    o->event[at] = *event;
}

static struct event take_event(struct order *o)
{
    const struct event top = o->event[0], last = o->event[--o->events];
    unsigned at = 0;
    for (unsigned child; (child = 2 * at + 1) < o->events; at = child) {
        if (child + 1 < o->events && before(&o->event[child + 1], &o->event[child]))
            child++;
        if (!before(&o->event[child], &last))
            break;
        o->event[at] = o->event[child];
    }
    o->event[at] = last;
    return top;
}

void order_give(struct order *o, unsigned rank, uint64_t ps, uint64_t key, struct message *message,
                struct request *request)
{
    struct item *item = must(malloc(sizeof(*item))), **at = &o->rank[rank].items;
    while (*at && ((*at)->ps < ps || ((*at)->ps == ps && (*at)->key <= key)))
        at = &(*at)->next;
    *item = (struct item){*at, ps, key, message, request};
    *at = item;
}

/* ---- answers ---- */

/* The rank goes on from then. */
static void answer(struct order *o, unsigned rank, uint64_t ps, const struct order_done *done, uint32_t count)
{
    struct rank *r = &o->rank[rank];
    const struct order_answer a = {.ps = ps, .count = count};
    r->state = RANK_RUNS;
    r->ps = ps;
    free(r->waits);
    r->waits = NULL;
    o->answer(o->user, rank, &a, done);
}

static struct order_done done_of(const struct request *request, uint32_t index)
{
    const struct message *m = request->kind == REQUEST_RECEIVE ? request->message : NULL;
    struct order_done d = {.index = index, .cancelled = request->cancelled};
    if (m) {
        d.peer = (int32_t)m->from;
        d.tag = m->tag;
        d.serial = m->serial;
        d.bytes = m->bytes;
    }
    return d;
}

static void forget(struct rank *r, struct request *request)
{
    r->request[request->number] = NULL;
    if (request->kind == REQUEST_RECEIVE && request->message)
        free(request->message);
    free(request);
}

/* Whether what the rank waits for is so; it is told, and what it costs to receive a message.  Of ORDER_ONE,
 * several being done, the first of those that were asked for. */
static bool try_await(struct order *o, unsigned rank)
{
    struct rank *r = &o->rank[rank];
    struct told *t = r->waits;
    const uint32_t all = t->op.words, flags = t->op.flags;
    while (t->ready < all && r->request[t->word[t->ready]]->done)
        t->ready++;
    if (t->ready < all && (flags & ORDER_BLOCKS) && !(flags & (ORDER_ONE | ORDER_SOME)))
        return false;
    struct order_done *done = must(calloc(all + 1, sizeof(*done)));
    uint32_t count = 0, least = flags & (ORDER_ONE | ORDER_SOME) ? all > 0 : all;
    for (uint32_t i = 0; i < all && !((flags & ORDER_ONE) && count); i++)
        if (r->request[t->word[i]]->done)
            done[count++] = done_of(r->request[t->word[i]], i);
    if (count < least && (flags & ORDER_BLOCKS)) {
        free(done);
        return false;
    }
    uint64_t ps = t->op.ps; /* what is done later has been looked for by who waits, and nobody else */
    if (flags & ORDER_BLOCKS)
        for (uint32_t i = 0; i < count; i++)
            ps = later(ps, r->request[t->word[done[i].index]]->done_ps);
    if (count < least) {
        ps += o->network.poll_ps;
        count = 0;
    }
    for (uint32_t i = 0; i < count && !(flags & ORDER_KEEP); i++) {
        struct request *request = r->request[t->word[done[i].index]];
        if (request->kind == REQUEST_RECEIVE && !request->cancelled)
            ps += o->network.overhead_ps;
        forget(r, request);
    }
    answer(o, rank, ps, done, count);
    free(done);
    return true;
}

static struct request *receive_of(unsigned rank, const struct order_op *op)
{
    struct request *r = must(calloc(1, sizeof(*r)));
    *r = (struct request){.kind = REQUEST_RECEIVE,
                          .rank = rank,
                          .number = op->request,
                          .context = op->context,
                          .peer = op->peer,
                          .tag = op->tag};
    return r;
}

static void name(struct rank *r, struct request *request, uint32_t number)
{
    if (number >= r->requests) {
        const uint32_t old = r->requests;
        r->requests = number + 64;
        r->request = must(realloc(r->request, r->requests * sizeof(struct request *)));
        memset(r->request + old, 0, (r->requests - old) * sizeof(struct request *));
    }
    request->number = number;
    r->request[number] = request;
}

static bool try_probe(struct order *o, unsigned rank)
{
    struct rank *r = &o->rank[rank];
    const struct order_op op = r->waits->op;
    struct request *wanted = receive_of(rank, &op);
    const struct message *m = match_find(o, wanted);
    if (!m && (op.flags & ORDER_BLOCKS)) {
        free(wanted);
        return false;
    }
    struct order_done d = {0};
    if (m)
        d = (struct order_done){
            .peer = (int32_t)m->from, .tag = m->tag, .serial = m->serial, .bytes = m->bytes};
    if (m && (op.flags & ORDER_TAKE)) {
        wanted->peer = (int32_t)m->from;
        wanted->tag = m->tag;
        name(r, wanted, op.request);
        match_receive(o, wanted);
    } else {
        free(wanted);
    }
    answer(o, rank, o->now_ps + o->network.poll_ps, &d, m != NULL);
    return true;
}

void order_done_at(struct order *o, struct request *request, uint64_t ps)
{
    request->done = true;
    request->done_ps = ps;
    if (request->owner) {
        struct collective *owner = request->owner;
        if (request->kind == REQUEST_RECEIVE)
            free(request->message);
        free(request);
        collect_done(o, owner, ps);
        return;
    }
    if (!request->number) {
        free(request);
        return;
    }
    const struct rank *r = &o->rank[request->rank];
    if (r->waits && r->waits->op.kind == ORDER_AWAIT)
        try_await(o, request->rank);
}

static void take_item(struct order *o, unsigned rank, struct item **at)
{
    struct rank *r = &o->rank[rank];
    const struct item item = **at;
    free(*at);
    *at = item.next;
    o->now_ps = item.ps;
    if (item.request)
        order_done_at(o, item.request, item.ps);
    else if (item.message->phase == MESSAGE_REMOTE)
        remote_serve(o, item.message);
    else if (!match_came(o, item.message) && r->waits && r->waits->op.kind == ORDER_PROBE)
        try_probe(o, rank);
}

/* ---- what ranks tell ---- */

static void add_group(struct order *o, const struct order_op *op, const uint64_t *words)
{
    const struct group *known = o->groups;
    while (known && known->context != op->context)
        known = known->next;
    if (known)
        return;
    struct group *g = must(malloc(sizeof(*g) + op->words * sizeof(g->rank[0])));
    *g = (struct group){.next = o->groups, .context = op->context, .size = op->words};
    for (uint32_t i = 0; i < op->words; i++)
        g->rank[i] = (unsigned)words[i];
    o->groups = g;
}

static void send(struct order *o, unsigned rank, const struct order_op *op)
{
    struct request *s = must(calloc(1, sizeof(*s)));
    *s = (struct request){.kind = REQUEST_SEND, .rank = rank};
    if (op->request)
        name(&o->rank[rank], s, op->request);
    match_send(o,
               &(struct message){.from = rank,
                                 .to = (unsigned)op->peer,
                                 .context = op->context,
                                 .tag = op->tag,
                                 .bytes = op->bytes,
                                 .serial = op->serial,
                                 .waits = op->flags & ORDER_MEETS,
                                 .copied = op->flags & ORDER_COPIED},
               s);
}

static void receive(struct order *o, unsigned rank, const struct order_op *op)
{
    struct request *r = receive_of(rank, op);
    name(&o->rank[rank], r, op->request);
    match_receive(o, r);
}

static void remote(struct order *o, unsigned rank, const struct order_op *op, const uint64_t *words)
{
    struct request *r = NULL;
    if (op->request) {
        r = must(calloc(1, sizeof(*r)));
        *r = (struct request){.kind = REQUEST_REMOTE, .rank = rank};
        name(&o->rank[rank], r, op->request);
    }
    remote_begin(o, rank, op, op->words ? words[0] : 0, r);
}

static void cancel(struct order *o, unsigned rank, const struct order_op *op)
{
    struct request *r = o->rank[rank].request[op->request];
    if (!r || r->kind != REQUEST_RECEIVE || r->done || !match_cancel(o, r))
        return;
    r->cancelled = true;
    order_done_at(o, r, o->now_ps);
}

static void happen(struct order *o, unsigned rank)
{
    struct rank *r = &o->rank[rank];
    struct told *t = r->first;
    r->first = t->next;
    if (!r->first)
        r->end = &r->first;
    o->now_ps = r->ps = t->op.ps;
    switch ((enum order_kind)t->op.kind) {
    case ORDER_SEND:
        send(o, rank, &t->op);
        break;
    case ORDER_RECEIVE:
        receive(o, rank, &t->op);
        break;
    case ORDER_COLLECT: {
        struct request *request = must(calloc(1, sizeof(*request)));
        *request = (struct request){.kind = REQUEST_COLLECT, .rank = rank};
        name(r, request, t->op.request);
        collect_begin(o, rank, &t->op, t->word, request);
        break;
    }
    case ORDER_REMOTE:
        remote(o, rank, &t->op, t->word);
        break;
    case ORDER_AWAIT:
    case ORDER_PROBE:
        r->state = RANK_WAITS;
        r->waits = t;
        if (t->op.kind == ORDER_AWAIT)
            try_await(o, rank);
        else
            try_probe(o, rank);
        return;
    case ORDER_CANCEL:
        cancel(o, rank, &t->op);
        break;
    case ORDER_OUT:
        r->state = RANK_OUTSIDE;
        break;
    case ORDER_BYE: /* or its process has ended while it waited */
        r->state = RANK_GONE;
        free(r->waits);
        r->waits = NULL;
        break;
    case ORDER_IN:
        answer(o, rank, later(o->now_ps, o->most_ps), NULL, 0);
        break;
    case ORDER_GROUP:
        assert(false); /* see order_take() */
    }
    free(t);
}

unsigned order_slowest(const struct order *o, uint64_t *ps)
{
    unsigned slowest = o->ranks;
    for (unsigned i = 0; i < o->ranks; i++)
        if (o->rank[i].state == RANK_RUNS && !o->rank[i].first &&
            (slowest == o->ranks || o->rank[i].ps < o->rank[slowest].ps))
            slowest = i;
    *ps = slowest < o->ranks ? o->rank[slowest].ps : UINT64_MAX;
    return slowest;
}

/* ---- what may happen ---- */

/* What does not depend on what comes to the rank. */
static bool is_free(const struct order_op *op)
{
    return op->kind == ORDER_SEND || op->kind == ORDER_COLLECT || op->kind == ORDER_REMOTE;
}

/* Before then a rank does nothing by itself. */
static uint64_t bound_of(const struct rank *r)
{
    uint64_t ps = UINT64_MAX;
    if (r->first)
        ps = r->first->op.ps;
    else if (r->state == RANK_RUNS)
        ps = r->ps;
    return r->items && r->items->ps < ps ? r->items->ps : ps;
}

uint64_t order_distance(const struct order *o, unsigned from, unsigned to, bool leaves)
{
    const struct network *w = &o->network;
    if (from / w->each != to / w->each)
        return w->overhead_ps + w->far_ps;
    return leaves ? w->overhead_ps : w->overhead_ps + w->near_ps;
}

/* Whether no other rank has anything to say about what is there then. */
static bool is_due(const struct order *o, uint64_t ps, unsigned rank, bool leaves, bool own)
{
    for (unsigned i = 0; i < o->ranks; i++) {
        const uint64_t bound = i == rank && own ? UINT64_MAX : bound_of(&o->rank[i]);
        if (bound != UINT64_MAX && ps >= bound + order_distance(o, i, rank, leaves))
            return false;
    }
    return true;
}

static bool event_happens(struct order *o)
{
    if (!o->events)
        return false;
    const struct event *top = &o->event[0];
    if (top->place != EVENT_OWN && !is_due(o, top->ps, top->rank, top->place == EVENT_LEAVES, false))
        return false;
    const struct event e = take_event(o);
    o->now_ps = e.ps;
    e.fn(o, e.object);
    return true;
}

/*
 * Who waits for all of some requests, and for messages from certain ranks alone, need not be told in the
 * order of time: of one rank's messages none passes another, and it does nothing until all are there.
 */
static bool is_certain(const struct order *o, unsigned rank)
{
    const struct rank *r = &o->rank[rank];
    return r->waits && r->waits->op.kind == ORDER_AWAIT && (r->waits->op.flags & ORDER_BLOCKS) &&
           !(r->waits->op.flags & (ORDER_ONE | ORDER_SOME)) && !match_asks_any(o, rank);
}

static bool certain_item(struct order *o, unsigned rank)
{
    if (!o->rank[rank].items || !is_certain(o, rank))
        return false;
    for (struct item **at = &o->rank[rank].items; *at; at = &(*at)->next)
        if ((*at)->request ||
            ((*at)->message->phase != MESSAGE_REMOTE && match_is_asked(o, (*at)->message))) {
            take_item(o, rank, at);
            return true;
        }
    return false;
}

/* What is next of a rank's: of one time what comes to it before what it does. */
static bool rank_happens(struct order *o, unsigned rank)
{
    struct rank *r = &o->rank[rank];
    if (certain_item(o, rank))
        return true;

    const bool item = r->items && !(r->first && r->first->op.ps < r->items->ps);
    if (!item && !r->first)
        return false;
    const uint64_t ps = item ? r->items->ps : r->first->op.ps;
    if ((item && !r->first && r->state == RANK_RUNS && ps > r->ps) || (o->events && o->event[0].ps <= ps) ||
        !is_due(o, ps, rank, false, true))
        return false;
    if (item)
        take_item(o, rank, &r->items);
    else
        happen(o, rank);
    return true;
}

static bool is_free_next(const struct rank *r)
{
    return r->first && is_free(&r->first->op);
}

/* What is free is the first: others go by what comes of it. */
static bool go_on(struct order *o)
{
    bool any = false;
    for (unsigned i = 0; i < o->ranks; i++)
        for (; is_free_next(&o->rank[i]); any = true)
            happen(o, i);
    any = any || event_happens(o);
    for (unsigned i = 0; i < o->ranks && !any; i++)
        any = rank_happens(o, i);
    o->most_ps = later(o->most_ps, o->now_ps);
    return any;
}

void order_take(struct order *o, unsigned rank, const struct order_op *op, const uint64_t *words)
{
    struct rank *r = &o->rank[rank];
    if (op->kind == ORDER_GROUP) {
        add_group(o, op, words);
        return;
    }
    if (op->kind == ORDER_IN && r->state == RANK_OUTSIDE) { /* else it is back before its going is due */
        answer(o, rank, later(op->ps, o->most_ps), NULL, 0);
    } else {
        struct told *t = must(malloc(sizeof(*t) + op->words * sizeof(uint64_t)));
        *t = (struct told){.op = *op};
        if (op->words)
            memcpy(t->word, words, op->words * sizeof(uint64_t));
        if (t->op.ps < r->ps) /* another thread of the rank's was here before */
            t->op.ps = r->ps;
        r->ps = t->op.ps;
        *r->end = t;
        r->end = &t->next;
    }
    if (op->kind == ORDER_COLLECT && (op->flags & ORDER_BLOCKS))
        collect_told(o, op);
    while (go_on(o))
        ;
}

bool order_stuck(const struct order *o)
{
    uint64_t ps;
    bool any = false;
    for (unsigned i = 0; i < o->ranks; i++) {
        if (o->rank[i].state == RANK_OUTSIDE)
            return false;
        any |= o->rank[i].state == RANK_WAITS;
    }
    for (unsigned i = 0; i < o->ranks; i++)
        any &= !o->rank[i].items && !o->rank[i].first;
    return any && order_slowest(o, &ps) == o->ranks && !o->events;
}

struct order *order_open(const struct network_numbers *numbers, unsigned ranks, order_answer_fn *fn,
                         void *user)
{
    struct order *o = must(calloc(1, sizeof(*o)));
    network_open(&o->network, numbers, ranks);
    o->ranks = ranks;
    o->rank = must(calloc(ranks, sizeof(*o->rank)));
    o->answer = fn;
    o->user = user;
    for (unsigned i = 0; i < ranks; i++) {
        struct rank *r = &o->rank[i];
        r->end = &r->first;
        for (unsigned b = 0; b < 2; b++) {
            r->box[b].messages_end = &r->box[b].messages;
            r->box[b].receives_end = &r->box[b].receives;
        }
    }
    return o;
}

void order_close(struct order *o)
{
    for (unsigned i = 0; i < o->ranks; i++) {
        struct rank *r = &o->rank[i];
        for (struct told *t; (t = r->first); free(t))
            r->first = t->next;
        for (struct item *item; (item = r->items); free(item)) {
            r->items = item->next;
            free(item->message);
        }
        for (unsigned b = 0; b < 2; b++)
            for (struct message *m; (m = r->box[b].messages); free(m))
                r->box[b].messages = m->next;
        free(r->waits);
        free(r->request);
    }
    for (struct group *g; (g = o->groups); free(g))
        o->groups = g->next;
    collect_close(o);
    remote_close(o);
    network_close(&o->network);
    free(o->rank);
    free(o->event);
    free(o);
}
