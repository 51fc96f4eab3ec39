/* SPDX-License-Identifier: MIT */
/*
 * LDS banks: an access is served in groups of lanes that together ask for a dword
 * of each bank, one group a cycle when no two lanes of it want different dwords of
 * one bank; lanes that want the same dword share it.  Not those of an atomic: a bank
 * has one unit for them, which makes one operation a cycle.
 *
 * Groups are neighbours, but for reads of 128 bits.
 *
 * Sources: GCN white paper, local data share (32 banks of dwords, broadcast, 32 atomic
 * units); ROCm blogs, Avoiding LDS Bank Conflicts (CK-Tile): which lanes of ds_read_b128
 * and ds_write_b128 must not conflict.
 */
#include "cu/cu.h"
#include "sem/memory/memop.h"

struct access {
    const uint32_t *addr;
    uint64_t mask;
    unsigned dwords, banks;
    bool read, atomic;
};

/* The lane that is the n-th to be served. */
static unsigned lane_of(const struct access *a, unsigned n)
{
    static const uint8_t first[4] = {0, 4, 8, 12}, second[4] = {20, 16, 28, 24};
    if (!a->read || a->dwords != 4)
        return n;
    const unsigned group = n / 8 % 4, i = n % 8;
    return n / 32 * 32 + (i < 4 ? first[group] + i : second[group] + i - 4);
}

/* Cycles of one group: the most different dwords that fall to one bank.  *operations: of an atomic's lanes.
 */
static unsigned group_cycles(const struct access *a, unsigned first, unsigned lanes, unsigned *operations)
{
    const uint32_t *addr = a->addr;
    const unsigned dwords = a->dwords, banks = a->banks;
    uint32_t seen[CHIP_MAX_LDS_BANKS][64];
    uint8_t count[CHIP_MAX_LDS_BANKS] = {0}, asked[CHIP_MAX_LDS_BANKS] = {0};
    unsigned most = 1;
    *operations = 1;
    for (unsigned n = first; n < first + lanes; n++) {
        const unsigned lane = lane_of(a, n);
        if (!(a->mask >> lane & 1))
            continue;
        for (unsigned i = 0; i < dwords; i++) {
            uint32_t dword = addr[lane] / 4 + i, bank = dword & (banks - 1);
            unsigned k = 0;
            if (++asked[bank] > *operations)
                *operations = asked[bank];
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

static unsigned access_cycles(const struct access *a, struct cu_lds_conflicts *conflicts)
{
    const unsigned lanes = a->banks / (a->dwords == 1 ? 1 : a->dwords == 2 ? 2 : 4);
    unsigned cycles = 0;
    for (unsigned first = 0; first < WAVE_LANES; first += lanes) {
        unsigned operations, banks = group_cycles(a, first, lanes, &operations),
                             needed = a->atomic ? operations : banks;
        conflicts->bank += banks - 1;
        conflicts->address += needed - banks;
        cycles += needed;
    }
    return cycles;
}

unsigned cu_lds_cycles(const struct wave *w, const struct xinst *in, unsigned banks,
                       struct cu_lds_conflicts *conflicts)
{
    const struct memop *op = memop_of(in->isa->op);
    const unsigned bytes = memop_bytes((enum memop_kind)op->kind);
    uint32_t addr[WAVE_LANES];
    const struct access a = {.addr = addr,
                             .mask = w->exec,
                             .dwords = bytes < 4 ? 1 : (bytes + 3) / 4,
                             .banks = banks,
                             .read = op->action == MEMOP_LOAD || op->action == MEMOP_LOAD2,
                             .atomic = op->action == MEMOP_ATOMIC || op->action == MEMOP_EXCHANGE2};
    *conflicts = (struct cu_lds_conflicts){0};
    switch (op->action) {
    case MEMOP_LOAD:
    case MEMOP_STORE:
    case MEMOP_ATOMIC:
        for (unsigned l = 0; l < WAVE_LANES; l++)
            addr[l] = w->v[in->s[0]][l] + (uint32_t)memop_offset(in);
        return access_cycles(&a, conflicts);
    case MEMOP_LOAD2:
    case MEMOP_STORE2:
    case MEMOP_EXCHANGE2: {
        unsigned cycles = 0;
        uint32_t offsets[2] = {(uint32_t)in->mem.offset, in->mem.second};
        for (int i = 0; i < 2; i++) {
            for (unsigned l = 0; l < WAVE_LANES; l++)
                addr[l] = w->v[in->s[0]][l] + offsets[i];
            cycles += access_cycles(&a, conflicts);
        }
        return cycles;
    }
    default: /* lanes exchange registers through the crossbar: as an access without conflicts */
        return WAVE_LANES / banks;
    }
}
