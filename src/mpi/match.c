/* SPDX-License-Identifier: MIT */
/* Messages on their way, and the receives that they are for; see internal.h. */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/internal.h"

static struct box *box_of(const struct order *o, unsigned rank, uint64_t collective)
{
    return &o->rank[rank].box[collective != 0];
}

static void came(struct order *o, struct message *m);
static void got_leave(struct order *o, void *object);
static void came_to_call(struct order *o, void *object);

static bool goes_back(enum message_phase phase)
{
    return phase == MESSAGE_LEAVE || phase == MESSAGE_REPLY;
}

/* That it has on its way now. */
static uint64_t bytes_of(const struct message *m)
{
    if (m->phase == MESSAGE_REPLY)
        return m->back;
    return m->phase == MESSAGE_BYTES || m->phase == MESSAGE_REMOTE ? m->bytes : 0;
}

/* The receiver has all of it; or has been asked, or the sender told. */
static void arrive(struct order *o, struct message *m, uint64_t ps)
{
    struct event e = {.ps = ps, .key = m->key, .object = m, .rank = m->to, .place = EVENT_OWN};
    m->came_ps = ps;
    if (m->phase == MESSAGE_LEAVE) {
        e.fn = got_leave;
        e.rank = m->from;
        order_post(o, &e);
    } else if (m->phase == MESSAGE_REMOTE) {
        e.fn = remote_came;
        e.place = EVENT_COMES;
        order_post(o, &e);
    } else if (m->phase == MESSAGE_REPLY) {
        order_give(o, m->from, ps, m->key, NULL, m->send);
        free(m);
    } else if (m->collective) {
        e.fn = came_to_call;
        order_post(o, &e);
    } else if (m->phase == MESSAGE_BYTES && m->waits) {
        order_give(o, m->to, ps, m->key, NULL, m->receive);
        if (m->send)
            order_give(o, m->from, ps, m->key, NULL, m->send);
    } else {
        order_give(o, m->to, ps, m->key, m, NULL);
    }
}

static void head_moved(struct order *o, void *object)
{
    struct message *m = object;
    const uint64_t ps = network_pass(&m->way, o->now_ps, bytes_of(m));
    if (m->way.at == m->way.stages)
        arrive(o, m, ps);
    else
        order_post(o, &(struct event){.ps = ps,
                                      .key = m->key,
                                      .fn = head_moved,
                                      .object = m,
                                      .rank = goes_back(m->phase) ? m->from : m->to,
                                      .place = EVENT_COMES});
}

void match_put_on_way(struct order *o, struct message *m, enum message_phase phase, uint64_t ps)
{
    const bool back = goes_back(phase);
    const unsigned from = back ? m->to : m->from, to = back ? m->from : m->to;
    m->phase = phase;
    network_find(&o->network, &m->way, from, to);
    order_post(
        o, &(struct event){
               .ps = ps, .key = m->key, .fn = head_moved, .object = m, .rank = from, .place = EVENT_LEAVES});
}

static void got_leave(struct order *o, void *object)
{
    match_put_on_way(o, object, MESSAGE_BYTES, o->now_ps + o->network.overhead_ps);
}

static void came_to_call(struct order *o, void *object)
{
    struct message *m = object;
    if (m->phase == MESSAGE_ASKS || !m->waits) {
        came(o, m);
        return;
    }
    struct request *send = m->send; /* the message ends with its receive */
    order_done_at(o, m->receive, o->now_ps);
    if (send)
        order_done_at(o, send, o->now_ps);
}

void match_send(struct order *o, const struct message *message, struct request *send)
{
    struct message *m = must(malloc(sizeof(*m)));
    const unsigned calls = message->collective != 0;
    *m = *message;
    m->key = (uint64_t)m->from << 48 | (uint64_t)calls << 47 | o->rank[m->from].sent[calls]++;
    m->waits |= (double)m->bytes > o->network.numbers.eager;
    m->send = send;
    match_put_on_way(o, m, m->waits ? MESSAGE_ASKS : MESSAGE_BYTES, o->now_ps);
    if (!m->waits || m->copied) { /* the bytes are elsewhere already, or in the program's buffer */
        m->send = NULL;
        order_done_at(o, send, o->now_ps);
    }
}

static bool fits(const struct message *m, const struct request *r)
{
    return m->context == r->context && m->collective == r->collective &&
           (r->peer == ORDER_ANY || (unsigned)r->peer == m->from) &&
           (r->tag == ORDER_ANY || r->tag == m->tag);
}

/* The two have found each other.  Of a collective call's either may have been heard of before it is there. */
static void join(struct order *o, struct message *m, struct request *receive)
{
    const uint64_t ps = later(receive->since_ps, m->came_ps);
    receive->message = m;
    m->receive = receive;
    if (m->waits)
        match_put_on_way(o, m, MESSAGE_LEAVE, ps + o->network.overhead_ps);
    else
        order_done_at(o, receive, ps);
}

static struct request **find_receive(const struct order *o, const struct message *m)
{
    struct request **at = &box_of(o, m->to, m->collective)->receives;
    while (*at && !fits(m, *at))
        at = &(*at)->next;
    return at;
}

static void take_receive(struct box *box, struct request **at)
{
    struct request *r = *at;
    *at = r->next;
    if (!r->next)
        box->receives_end = at;
}

static void came(struct order *o, struct message *m)
{
    struct box *box = box_of(o, m->to, m->collective);
    struct request **at = find_receive(o, m), *r = *at;
    if (r) {
        take_receive(box, at);
        join(o, m, r);
        return;
    }
    m->next = NULL;
    *box->messages_end = m;
    box->messages_end = &m->next;
}

bool match_came(struct order *o, struct message *m)
{
    const bool asked = match_is_asked(o, m);
    came(o, m);
    return asked;
}

bool match_is_asked(const struct order *o, const struct message *m)
{
    return *find_receive(o, m) != NULL;
}

bool match_asks_any(const struct order *o, unsigned rank)
{
    const struct request *r = o->rank[rank].box[0].receives;
    while (r && r->peer != ORDER_ANY)
        r = r->next;
    return r != NULL;
}

struct message *match_find(const struct order *o, const struct request *r)
{
    struct message *m = box_of(o, r->rank, r->collective)->messages;
    while (m && !fits(m, r))
        m = m->next;
    return m;
}

void match_receive(struct order *o, struct request *r)
{
    struct box *box = box_of(o, r->rank, r->collective);
    struct message *m = match_find(o, r);
    r->since_ps = o->now_ps;
    if (!m) {
        r->next = NULL;
        *box->receives_end = r;
        box->receives_end = &r->next;
        return;
    }
    struct message **at = &box->messages;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    if (!m->next)
        box->messages_end = at;
    join(o, m, r);
}

bool match_cancel(struct order *o, struct request *r)
{
    struct box *box = box_of(o, r->rank, r->collective);
    for (struct request **at = &box->receives; *at; at = &(*at)->next)
        if (*at == r) {
            take_receive(box, at);
            return true;
        }
    return false;
}
