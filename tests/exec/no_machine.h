/* SPDX-License-Identifier: MIT */
/* What a machine provides to waves, of tests that have none. */
#ifndef EHP_TESTS_EXEC_NO_MACHINE_H
#define EHP_TESTS_EXEC_NO_MACHINE_H

#include "wave/wave.h"

void wave_interrupt(struct wave *w)
{
    (void)w;
}

bool wave_may_access(struct wave *w, uint64_t address, unsigned bytes)
{
    (void)w, (void)address, (void)bytes;
    return false;
}

uint64_t wave_clock(const struct wave *w)
{
    (void)w;
    return 0;
}

uint64_t wave_realtime(const struct wave *w)
{
    (void)w;
    return 0;
}

#endif
