/* SPDX-License-Identifier: MIT */
/*
 * LDS banks: an access is served in groups of lanes that together ask for a dword
 * of each bank, one group a cycle when no two lanes of it want different dwords of
 * one bank; lanes that want the same dword share it.
 *
 * Source: GCN white paper, local data share (32 banks of dwords, broadcast).
 */
#include "cu/cu.h"
#include "sem/memory/memop.h"

/* Cycles of one group: the most different dwords that fall to one bank. */
static unsigned group_cycles(const uint32_t *addr, uint64_t mask, unsigned first, unsigned lanes,
                             unsigned dwords, unsigned banks)
{
    uint32_t seen[CHIP_MAX_LDS_BANKS][64];
    uint8_t count[CHIP_MAX_LDS_BANKS] = {0};
    unsigned most = 1;
    for (unsigned lane = first; lane < first + lanes; lane++) {
        if (!(mask >> lane & 1))
            continue;
        for (unsigned i = 0; i < dwords; i++) {
            uint32_t dword = addr[lane] / 4 + i, bank = dword & (banks - 1);
            unsigned k = 0;
            while (k < count[bank] && seen[bank][k] != dword)
                k++;
            if (k == count[bank] && count[bank] < 64) {
                seen[bank][count[bank]++] = dword;
                most = count[bank] > most ? count[bank] : most;
            }
        }
    }
    return most;
}

static unsigned access_cycles(const uint32_t *addr, uint64_t mask, unsigned bytes, unsigned banks,
                              unsigned *conflicts)
{
    unsigned dwords = bytes < 4 ? 1 : (bytes + 3) / 4;
    unsigned lanes = banks / (dwords == 1 ? 1 : dwords == 2 ? 2 : 4), cycles = 0;
    for (unsigned first = 0; first < WAVE_LANES; first += lanes)
        cycles += group_cycles(addr, mask, first, lanes, dwords, banks);
    *conflicts += cycles - WAVE_LANES / lanes;
    return cycles;
}

unsigned cu_lds_cycles(const struct wave *w, const struct xinst *in, unsigned banks, unsigned *conflicts)
{
    const struct memop *op = memop_of(in->isa->op);
    unsigned bytes = memop_bytes((enum memop_kind)op->kind);
    uint32_t addr[WAVE_LANES];
    switch (op->action) {
    case MEMOP_LOAD:
    case MEMOP_STORE:
    case MEMOP_ATOMIC:
        for (unsigned l = 0; l < WAVE_LANES; l++)
            addr[l] = w->v[in->s[0]][l] + (uint32_t)memop_offset(in);
        return access_cycles(addr, w->exec, bytes, banks, conflicts);
    case MEMOP_LOAD2:
    case MEMOP_STORE2:
    case MEMOP_EXCHANGE2: {
        unsigned cycles = 0;
        uint32_t offsets[2] = {(uint32_t)in->mem.offset, in->mem.second};
        for (int i = 0; i < 2; i++) {
            for (unsigned l = 0; l < WAVE_LANES; l++)
                addr[l] = w->v[in->s[0]][l] + offsets[i];
            cycles += access_cycles(addr, w->exec, bytes, banks, conflicts);
        }
        return cycles;
    }
    default: /* lanes exchange registers through the crossbar: as an access without conflicts */
        return WAVE_LANES / banks;
    }
}
