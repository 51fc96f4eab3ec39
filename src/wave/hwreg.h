/* SPDX-License-Identifier: MIT */
/* Hardware registers as s_getreg and s_setreg see them.  Source: MI300 ISA, 3.x "Hardware registers". */
#ifndef EHP_WAVE_HWREG_H
#define EHP_WAVE_HWREG_H

#include "wave/wave.h"

enum {
    HWREG_MODE = 1,
    HWREG_STATUS = 2,
    HWREG_TRAPSTS = 3,
    HWREG_HW_ID = 4,
    HWREG_GPR_ALLOC = 5,
    HWREG_LDS_ALLOC = 6,
    HWREG_IB_STS = 7,
    HWREG_SH_MEM_BASES = 15,
    HWREG_XCC_ID = 20,
};

uint32_t hwreg_read(const struct wave *w, unsigned id);
void hwreg_write(struct wave *w, unsigned id, uint32_t value);

#endif
