/* SPDX-License-Identifier: MIT */
/* Ranks, their calls, and what happens next; see order.h. */
#include "mpi/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "mpi/internal.h"

/* ---- events: first those of the earliest time, of one time those that were posted first ---- */

static bool before(const struct event *a, const struct event *b)
{
    return a->ps < b->ps || (a->ps == b->ps && a->order < b->order);
}

void order_post(struct order *o, uint64_t ps, void (*fn)(struct order *, void *), void *object)
{
    if (o->events == o->room) {
        o->room = o->room ? 2 * o->room : 64;
        o->event = must(realloc(o->event, o->room * sizeof(*o->event)));
    }
    const struct event e = {ps, o->posted++, fn, object};
    unsigned at = o->events++;
    for (; at && before(&e, &o->event[(at - 1) / 2]); at = (at - 1) / 2)
        o->event[at] = o->event[(at - 1) / 2];
    o->event[at] = e;
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
        match_free(request->message);
    free(request);
}

/* Whether what the rank waits for is so; it is told, and what it costs to receive a message.  Of ORDER_ONE,
 * several being done, the first of those that were asked for. */
static bool try_await(struct order *o, unsigned rank)
{
    struct rank *r = &o->rank[rank];
    const struct told *t = r->waits;
    const uint32_t all = t->op.words, flags = t->op.flags;
    struct order_done *done = must(calloc(all + 1, sizeof(*done)));
    uint32_t count = 0, least = flags & (ORDER_ONE | ORDER_SOME) ? all > 0 : all;
    for (uint32_t i = 0; i < all && !((flags & ORDER_ONE) && count); i++)
        if (r->request[t->word[i]]->done)
            done[count++] = done_of(r->request[t->word[i]], i);
    if (count < least && (flags & ORDER_BLOCKS)) {
        free(done);
        return false;
    }
    uint64_t ps = o->now_ps;
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

void order_request_done(struct order *o, struct request *request)
{
    request->done = true;
    if (request->owner) {
        struct collective *owner = request->owner;
        if (request->kind == REQUEST_RECEIVE)
            match_free(request->message);
        free(request);
        collect_done(o, owner);
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

void order_message_came(struct order *o, unsigned rank)
{
    const struct rank *r = &o->rank[rank];
    if (r->waits && r->waits->op.kind == ORDER_PROBE)
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
    struct request *s = match_send(o,
                                   &(struct message){.from = rank,
                                                     .to = (unsigned)op->peer,
                                                     .context = op->context,
                                                     .tag = op->tag,
                                                     .bytes = op->bytes,
                                                     .serial = op->serial,
                                                     .waits = op->flags & ORDER_MEETS},
                                   NULL);
    if (op->request)
        name(&o->rank[rank], s, op->request);
}

static void receive(struct order *o, unsigned rank, const struct order_op *op)
{
    struct request *r = receive_of(rank, op);
    name(&o->rank[rank], r, op->request);
    match_receive(o, r);
}

static void cancel(struct order *o, unsigned rank, const struct order_op *op)
{
    struct request *r = o->rank[rank].request[op->request];
    if (!r || r->kind != REQUEST_RECEIVE || r->done || !match_cancel(o, r))
        return;
    r->cancelled = true;
    order_request_done(o, r);
}

static void happen(struct order *o, unsigned rank)
{
    struct rank *r = &o->rank[rank];
    struct told *t = r->first;
    r->first = t->next;
    if (!r->first)
        r->end = &r->first;
    o->now_ps = r->ps = t->op.ps;
    r->package = t->op.package;
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
    case ORDER_BYE:
        r->state = RANK_GONE;
        break;
    case ORDER_IN:
        answer(o, rank, o->now_ps, NULL, 0);
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

/* What is earliest, unless a rank may yet tell something that is earlier: of one time events are before
 * calls, and of those the lower rank's.  A call makes events of its own time, and none makes an earlier one.
 */
static bool go_on(struct order *o)
{
    uint64_t bound_ps;
    const unsigned slowest = order_slowest(o, &bound_ps);
    unsigned next = o->ranks;
    for (unsigned i = 0; i < o->ranks; i++)
        if (o->rank[i].first && (next == o->ranks || o->rank[i].first->op.ps < o->rank[next].first->op.ps))
            next = i;
    const uint64_t call_ps = next < o->ranks ? o->rank[next].first->op.ps : UINT64_MAX;
    if (o->events && o->event[0].ps <= call_ps) {
        if (o->event[0].ps > bound_ps)
            return false;
        const struct event e = take_event(o);
        o->now_ps = e.ps;
        e.fn(o, e.object);
        return true;
    }
    if (next == o->ranks || call_ps > bound_ps || (call_ps == bound_ps && slowest < next))
        return false;
    happen(o, next);
    return true;
}

void order_take(struct order *o, unsigned rank, const struct order_op *op, const uint64_t *words)
{
    struct rank *r = &o->rank[rank];
    if (op->kind == ORDER_GROUP) {
        add_group(o, op, words);
        return;
    }
    if (op->kind == ORDER_IN && r->state == RANK_OUTSIDE) { /* else it is back before its going is due */
        answer(o, rank, op->ps > o->now_ps ? op->ps : o->now_ps, NULL, 0);
    } else {
        struct told *t = must(malloc(sizeof(*t) + op->words * sizeof(uint64_t)));
        *t = (struct told){.op = *op};
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
        *r = (struct rank){.package = network_package(&o->network, i)};
        r->end = &r->first;
        r->messages_end = &r->messages;
        r->receives_end = &r->receives;
    }
    return o;
}

void order_close(struct order *o)
{
    for (unsigned i = 0; i < o->ranks; i++) {
        struct rank *r = &o->rank[i];
        for (struct told *t; (t = r->first); free(t))
            r->first = t->next;
        for (struct message *m; (m = r->messages); match_free(m))
            r->messages = m->next;
        free(r->waits);
        free(r->request);
    }
    for (struct group *g; (g = o->groups); free(g))
        o->groups = g->next;
    collect_close(o);
    network_close(&o->network);
    free(o->rank);
    free(o->event);
    free(o);
}
