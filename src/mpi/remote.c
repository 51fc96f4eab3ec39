/* SPDX-License-Identifier: MIT */
/*
 * What ranks do with each other's windows: it goes to the rank whose window it is, as a message, and what
 * comes of it goes back, mpi.overhead later; a network's card, or the core that asks, does that, so it takes
 * that rank no time.  But its process is who does it on the host, when the rank is at that time.  Locks are
 * given in the order in which they are asked for.
 */
#include <stdlib.h>

#include "base/must.h"
#include "mpi/internal.h"

struct lock {
    struct lock *next;
    uint64_t context;
    unsigned rank, shared; /* `shared`: how many have it */
    bool exclusive;
    struct message *waiting, **end;
};

void remote_begin(struct order *o, unsigned rank, const struct order_op *op, uint64_t back, struct request *r)
{
    struct message *m = must(malloc(sizeof(*m)));
    *m = (struct message){.from = rank,
                          .to = (unsigned)op->peer,
                          .context = op->context,
                          .bytes = op->bytes,
                          .serial = op->serial,
                          .remote = (enum order_remote)op->tag,
                          .back = back,
                          .send = r,
                          .key = (uint64_t)rank << 48 | o->rank[rank].sent[0]++};
    match_put_on_way(o, m, MESSAGE_REMOTE, o->now_ps);
}

static void reply(struct order *o, struct message *m, uint64_t ps)
{
    match_put_on_way(o, m, MESSAGE_REPLY, ps + o->network.overhead_ps);
}

static struct lock *lock_of(struct order *o, uint64_t context, unsigned rank)
{
    struct lock *l = o->locks;
    while (l && (l->context != context || l->rank != rank))
        l = l->next;
    if (!l) {
        l = must(calloc(1, sizeof(*l)));
        *l = (struct lock){.next = o->locks, .context = context, .rank = rank, .end = &l->waiting};
        o->locks = l;
    }
    return l;
}

static void give_lock(struct order *o, struct lock *l)
{
    struct message *m;
    while ((m = l->waiting) && !l->exclusive && (m->remote == REMOTE_LOCK_SHARED || !l->shared)) {
        l->waiting = m->next;
        if (!l->waiting)
            l->end = &l->waiting;
        l->shared += m->remote == REMOTE_LOCK_SHARED;
        l->exclusive = m->remote == REMOTE_LOCK;
        reply(o, m, o->now_ps);
    }
}

void remote_came(struct order *o, void *object)
{
    struct message *m = object;
    if (m->remote == REMOTE_ACCESS || m->remote == REMOTE_COMBINE) {
        order_give(o, m->to, o->now_ps, m->key, m, NULL);
        return;
    }
    struct lock *l = lock_of(o, m->context, m->to);
    if (m->remote == REMOTE_UNLOCK) {
        l->shared -= !l->exclusive;
        l->exclusive = false;
        free(m);
    } else {
        m->next = NULL;
        *l->end = m;
        l->end = &m->next;
    }
    give_lock(o, l);
}

void remote_serve(struct order *o, struct message *m)
{
    struct rank *r = &o->rank[m->to];
    const struct order_answer serves = {.ps = o->now_ps, .count = 1, .says = ORDER_SERVES};
    const struct order_done what = {.peer = (int32_t)m->from, .serial = m->serial};
    r->serves_ps = later(r->serves_ps, o->now_ps);
    if (m->remote == REMOTE_COMBINE)
        r->serves_ps += network_reduce_ps(&o->network, m->bytes);
    o->answer(o->user, m->to, &serves, &what);
    reply(o, m, r->serves_ps);
}

void remote_close(struct order *o)
{
    for (struct lock *l; (l = o->locks); free(l)) {
        o->locks = l->next;
        for (struct message *m; (m = l->waiting); free(m))
            l->waiting = m->next;
    }
}
