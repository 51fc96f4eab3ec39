/* SPDX-License-Identifier: MIT */
/* Hardware registers; see hwreg.h. */
#include "wave/hwreg.h"
#include "wave/aperture.h"

void wave_set_mode(struct wave *w, uint32_t mode)
{
    w->mode = mode;
    w->mode_slow = (mode & MODE_FLOAT_BITS) != MODE_FLOAT_PLAIN;
}

uint32_t hwreg_read(const struct wave *w, enum isa_hwreg which)
{
    switch (which) {
    case HWREG_MODE:
        return w->mode;
    case HWREG_STATUS:
        return (w->status & ~0x601u) | (uint32_t)w->scc | (uint32_t)(w->exec == 0) << 9 |
               (uint32_t)(w->vcc == 0) << 10;
    case HWREG_TRAPSTS:
        return w->trapsts;
    case HWREG_HW_ID:
        return w->hw_id;
    case HWREG_GPR_ALLOC:
        return w->gpr_alloc;
    case HWREG_LDS_ALLOC:
        return w->lds_alloc;
    case HWREG_SH_MEM_BASES: /* [15:0] private, [31:16] shared: the top 16 bits of the apertures */
        return (uint32_t)(APERTURE_PRIVATE_BASE >> 48) | (uint32_t)(APERTURE_SHARED_BASE >> 48) << 16;
    case HWREG_XCC_ID:
        return w->xcc_id;
    default:
        return 0; /* IB_STS and others count outstanding work: there is none between instructions here */
    }
}

void hwreg_write(struct wave *w, enum isa_hwreg which, uint32_t value)
{
    switch (which) {
    case HWREG_MODE:
        wave_set_mode(w, value);
        break;
    case HWREG_TRAPSTS:
        w->trapsts = value;
        break;
    default:
        break; /* the others are read-only to user code */
    }
}
