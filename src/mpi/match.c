/* SPDX-License-Identifier: MIT */
/* Messages on their way, and the receives that they are for; see internal.h. */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/internal.h"

static void arrived(struct order *o, void *object);

static void head_moved(struct order *o, void *object)
{
    struct message *m = object;
    const uint64_t bytes = m->phase == MESSAGE_BYTES ? m->bytes : 0,
                   ps = network_pass(&m->way, o->now_ps, bytes);
    order_post(o, ps, m->way.at < m->way.stages ? head_moved : arrived, m);
}

static void put_on_way(struct order *o, struct message *m, enum message_phase phase, uint64_t ps)
{
    const bool back = phase == MESSAGE_LEAVE;
    const unsigned from = back ? m->to : m->from, to = back ? m->from : m->to;
    m->phase = phase;
    network_find(&o->network, &m->way, from, o->rank[from].package, to, o->rank[to].package);
    order_post(o, ps, head_moved, m);
}

static void sent(struct order *o, void *request)
{
    order_request_done(o, request);
}

struct request *match_send(struct order *o, const struct message *message, struct collective *owner)
{
    struct message *m = must(malloc(sizeof(*m)));
    struct request *send = must(calloc(1, sizeof(*send)));
    *m = *message;
    m->waits |= (double)m->bytes > o->network.numbers.eager;
    m->send = send;
    *send = (struct request){.kind = REQUEST_SEND, .rank = m->from, .owner = owner, .message = m};
    put_on_way(o, m, m->waits ? MESSAGE_ASKS : MESSAGE_BYTES, o->now_ps);
    if (!m->waits) { /* the bytes are elsewhere already */
        m->send = NULL;
        send->message = NULL;
        order_post(o, o->now_ps, sent, send);
    }
    return send;
}

static bool fits(const struct message *m, const struct request *r)
{
    return m->context == r->context && m->collective == r->collective &&
           (r->peer == ORDER_ANY || (unsigned)r->peer == m->from) &&
           (r->tag == ORDER_ANY || r->tag == m->tag);
}

/* The two have found each other now. */
static void join(struct order *o, struct message *m, struct request *receive)
{
    receive->message = m;
    m->receive = receive;
    if (m->waits)
        put_on_way(o, m, MESSAGE_LEAVE, o->now_ps + o->network.overhead_ps);
    else
        order_request_done(o, receive);
}

static void came(struct order *o, struct message *m)
{
    struct rank *to = &o->rank[m->to];
    for (struct request **at = &to->receives; *at; at = &(*at)->next) {
        struct request *r = *at;
        if (!fits(m, r))
            continue;
        *at = r->next;
        if (!r->next)
            to->receives_end = at;
        join(o, m, r);
        return;
    }
    m->next = NULL;
    *to->messages_end = m;
    to->messages_end = &m->next;
    order_message_came(o, m->to);
}

static void arrived(struct order *o, void *object)
{
    struct message *m = object;
    if (m->phase == MESSAGE_LEAVE) {
        put_on_way(o, m, MESSAGE_BYTES, o->now_ps + o->network.overhead_ps);
    } else if (m->phase == MESSAGE_ASKS || !m->waits) {
        came(o, m);
    } else { /* the sender's bytes have left its memory, and are here */
        struct request *send = m->send;
        m->send = NULL;
        send->message = NULL;
        order_request_done(o, m->receive);
        order_request_done(o, send);
    }
}

struct message *match_find(const struct order *o, const struct request *r)
{
    struct message *m = o->rank[r->rank].messages;
    while (m && !fits(m, r))
        m = m->next;
    return m;
}

void match_receive(struct order *o, struct request *r)
{
    struct rank *rank = &o->rank[r->rank];
    struct message *m = match_find(o, r);
    if (!m) {
        r->next = NULL;
        *rank->receives_end = r;
        rank->receives_end = &r->next;
        return;
    }
    struct message **at = &rank->messages;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    if (!m->next)
        rank->messages_end = at;
    join(o, m, r);
}

bool match_cancel(struct order *o, struct request *r)
{
    struct rank *rank = &o->rank[r->rank];
    for (struct request **at = &rank->receives; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            if (!r->next)
                rank->receives_end = at;
            return true;
        }
    return false;
}

void match_free(struct message *m)
{
    free(m);
}
