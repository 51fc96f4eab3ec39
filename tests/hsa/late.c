/* SPDX-License-Identifier: MIT */
/* A signal that changes when a wait's time has just run out: it counts once the engine has said so. */
#include <stdlib.h>

#include "check.h"
#include "cp/signal.h"
#include "ehp/ehp.h"
#include "engine/engine.h"
#include "soc/machine.h"

static unsigned waits, reached_at;

/* Its time is over, and then another thread completes the work. */
static bool runs_out(struct engine *engine, const struct engine_wish *wish, uint64_t timeout_ns)
{
    (void)engine;
    (void)timeout_ns;
    if (++waits == reached_at)
        return true;
    *wish->signal->value = 0;
    return false;
}

int main(void)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    ehp_machine *m = NULL;
    ehp_signal s;
    if (!CHECK(ehp_open(&options, &m) == EHP_OK))
        exit(1);
    CHECK(ehp_signal_create(m, 1, &s) == EHP_OK);
    const struct engine_ops *real = m->cp.engine->ops;
    struct engine_ops ops = *real;
    ops.wait = runs_out;
    m->cp.engine->ops = &ops;
    reached_at = 3;
    CHECK_EQ(ehp_signal_wait(s, EHP_COND_EQ, 0, 1000), 0);
    CHECK_EQ(waits, 3);
    waits = 0; /* what it does not wait for */
    CHECK_EQ(ehp_signal_wait(s, EHP_COND_EQ, 7, 1000), 0);
    CHECK_EQ(waits, 1);
    waits = 0; /* who waits for any change has no time of its own */
    CHECK_EQ(ehp_signal_wait(s, EHP_COND_NE, 1, 1000), 0);
    CHECK_EQ(waits, 1);
    m->cp.engine->ops = real;
    ehp_signal_destroy(s);
    ehp_close(m);
    return check_status();
}
