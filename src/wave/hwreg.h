/* SPDX-License-Identifier: MIT */
/* Hardware registers as s_getreg and s_setreg see them.  Source: MI300 ISA, 3.x "Hardware registers". */
#ifndef EHP_WAVE_HWREG_H
#define EHP_WAVE_HWREG_H

#include "wave/wave.h"

uint32_t hwreg_read(const struct wave *w, enum isa_hwreg which);
void hwreg_write(struct wave *w, enum isa_hwreg which, uint32_t value);

#endif
