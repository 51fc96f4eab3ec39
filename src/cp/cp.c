/* SPDX-License-Identifier: MIT */
/* Opening and closing the command processor, and who looks at the clock for it; see cp.h. */
#include "cp/cp.h"

#include <stdlib.h>

#include "base/cond.h"
#include "base/thread.h"

/* Between looks at dispatches that run too long. */
enum { WATCH_NS = 10000000 };

/*
 * Looks for dispatches that run too long: those who run them may be at it without an end, and would otherwise
 * all have to look at the clock.
 */
static void *watcher_main(void *argument)
{
    struct cp *cp = argument;
    pthread_mutex_lock(&cp->lock);
    while (!cp->quit) {
        uint64_t now = clock_now_ns();
        for (struct cp_dispatch *d = cp->active; d; d = d->next)
            if (d->begun_ns && now - d->begun_ns > cp->timeout_ns)
                d->stop = true;
        cond_wait_until(&cp->quitting, &cp->lock, now + WATCH_NS);
    }
    pthread_mutex_unlock(&cp->lock);
    return NULL;
}

int cp_open(struct cp *cp)
{
    pthread_mutex_init(&cp->lock, NULL);
    cond_init(&cp->quitting);
    bounds_open(&cp->bounds);
    int status = ace_init(cp);
    if (status != EHP_OK)
        return status;
    if (cp->timeout_ns && thread_start(&cp->watcher, watcher_main, cp) != 0)
        return EHP_ERR_OUT_OF_RESOURCES;
    cp->watcher_started = cp->timeout_ns != 0;
    return EHP_OK;
}

void cp_close(struct cp *cp)
{
    pthread_mutex_lock(&cp->lock);
    cp->quit = true;
    for (struct cp_dispatch *d = cp->active; d; d = d->next)
        cp_dispatch_abort(d);
    pthread_cond_signal(&cp->quitting);
    pthread_mutex_unlock(&cp->lock);
    if (cp->watcher_started)
        pthread_join(cp->watcher, NULL);
    struct engine *engine = cp->engine;
    if (engine)
        engine->ops->stop(engine);
    for (struct cp_dispatch *d = cp->active, *next; d; d = next) {
        next = d->next;
        cp_dispatch_free(d);
    }
    if (engine)
        engine->ops->close(engine);
    cp->engine = NULL;
    ace_destroy(cp);
    bounds_close(&cp->bounds);
    pthread_cond_destroy(&cp->quitting);
    pthread_mutex_destroy(&cp->lock);
}
