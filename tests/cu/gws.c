/* SPDX-License-Identifier: MIT */
/* Semaphores of global wave sync in timing mode: what a dropped wave waited for, or was granted, is for
 * others. */
#include "wave/gws.h"

#include <stdlib.h>

#include "check.h"
#include "wave/handlers.h"
#include "exec/workgroup.h"

enum { XCDS = 2, WAVES = 3 };

static struct gws resource[GWS_RESOURCES];
static _Atomic bool later;
static struct exec_launch launch = {.gws = resource, .gws_later = &later};
static struct workgroup group[XCDS];
static struct wave wave[WAVES];
static struct isa_inst isa = {.op = ISA_OP_ds_gws_sema_p};
static struct xinst inst = {.isa = &isa};

static bool goes_on(struct wave *w)
{
    w->next = &inst;
    return sem_gws(&isa, &inst)(w, &inst) != NULL;
}

/* All are at the semaphore, which is at 0: waves 0 and 1 of XCD 0, wave 2 of XCD 1. */
static void all_wait(void)
{
    free(resource[0].waiters);
    resource[0] = (struct gws){0};
    for (unsigned i = 0; i < WAVES; i++) {
        wave[i] = (struct wave){.wg = &group[i / 2], .exec = 1};
        CHECK(!goes_on(&wave[i]));
    }
    gws_settle(resource, XCDS);
    for (unsigned i = 0; i < WAVES; i++)
        CHECK(!goes_on(&wave[i]));
    gws_settle(resource, XCDS);
}

static void grant(int count)
{
    resource[0].count += count;
    gws_settle(resource, XCDS);
}

int main(void)
{
    for (unsigned i = 0; i < XCDS; i++)
        group[i] = (struct workgroup){.launch = &launch, .xcc = i};

    all_wait();
    gws_drop(&wave[0]); /* before a grant */
    grant(2);
    CHECK(goes_on(&wave[1]) && goes_on(&wave[2]));
    CHECK(resource[0].count == 0);

    all_wait();
    grant(3);
    gws_drop(&wave[0]); /* after it */
    CHECK(goes_on(&wave[1]) && goes_on(&wave[2]));
    CHECK(resource[0].count == 1);

    all_wait();
    grant(1); /* XCD 0's, for either of its waves */
    gws_drop(&wave[0]);
    CHECK(goes_on(&wave[1]) && !goes_on(&wave[2]));
    grant(1);
    CHECK(goes_on(&wave[2]));

    all_wait();
    grant(3);
    CHECK(goes_on(&wave[0]) && goes_on(&wave[1]));
    gws_drop(&wave[0]); /* it waits no more */
    CHECK(goes_on(&wave[2]) && resource[0].count == 0);
    free(resource[0].waiters);
    return check_status();
}
