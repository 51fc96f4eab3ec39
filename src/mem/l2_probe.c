/* SPDX-License-Identifier: MIT */
/*
 * What takes lines of the L2 away, or makes them void: probes, and what the host has written, which cannot
 * probe here.
 */
#include <string.h>

#include "base/guarded.h"
#include "mem/l2_state.h"

/* ---- the host's memory ---- */

static uint64_t line_of(const struct l2_line *line)
{
    return line->tag & ~UINT64_C(1);
}

bool l2_is_stale(const struct l2 *l2, uint32_t way, struct mask written)
{
    if (!l2->line[way].whole)
        return false;
    struct mask clean = mask_without(mask_of(0, LINE), mask_or(l2->line[way].dirty, written));
    uint8_t now[LINE], masked[LINE];
    const uint8_t *have = l2->data + (size_t)way * LINE;
    if (!guarded_load_line(now, (const uint8_t *)(uintptr_t)line_of(&l2->line[way])))
        return true;
    if (mask_full(clean))
        return memcmp(now, have, LINE) != 0;
    memcpy(masked, now, LINE);
    mask_copy(masked, have, clean);
    return memcmp(now, masked, LINE) != 0;
}

/*
 * After a buffer_inv of agent scope clean bytes of NC memory are void.  Those of CC memory are not: a host
 * that stores to them probes.  Here it cannot, so that they are compared when they are used next.  So are
 * those of RW memory after one of system scope.
 */
void l2_make_fresh(struct l2 *l2, uint32_t way)
{
    struct l2_line *line = &l2->line[way];
    bool compares = line->mtype == VM_MTYPE_CC ||
                    (line->mtype == VM_MTYPE_RW && (int)(l2->system_epoch - line->epoch) > 0);
    struct mask written = mask_of(0, 0);
    bool busy = compares && l2_is_busy(l2, way);
    if (busy) {
        const struct l2_txn *t = l2_txn_of(l2, line->tag & ~UINT64_C(1));
        if (t->kind != TXN_CLEAN)
            return; /* who wants the line waits, and comes here again */
        written = (struct mask){{t->fabric.mask[0], t->fabric.mask[1]}};
    }
    if (line->mtype == VM_MTYPE_NC || (compares && l2_is_stale(l2, way, written)))
        line->whole = false;
    if (!busy)
        line->epoch = l2->epoch;
}

/* ---- probes ---- */

static void probe_answer(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct xcd_mem *mem = event->self;
    fabric_probe_answer(mem->fabric, (struct fabric_probe *)(uintptr_t)event->word[0]);
}

/*
 * Drops the line's clean bytes; its owner hands the dirty ones over.  Another's dirty bytes stay
 * until their own time, as those of a line that was never read.  One that waits for its fill
 * keeps its way: an answer that has not come was made after the probe (fabric.h).
 */
void l2_probe(struct port_domain *domain, struct port_event *event)
{
    struct xcd_mem *mem = event->self;
    struct l2 *l2 = mem->l2;
    struct fabric_probe *probe = (struct fabric_probe *)(uintptr_t)event->word[0];
    struct l2_txn *t = l2_txn_of(l2, probe->line);
    uint32_t set = l2_set_of(&l2->map, probe->physical),
             way = t ? l2_txn_way(t, probe->line) : l2_find(l2, set, probe->line);
    struct l2_channel *c = l2_channel_at(l2, set);
    uint64_t cycle = port_take(&c->tag, port_now(domain), 1);
    mem->counters.tcc_probes++;
    probe->mask[0] = probe->mask[1] = 0;
    fabric_probe_take(mem->fabric, probe);
    if (way != NO_WAY) {
        struct l2_line *line = &l2->line[way];
        if (probe->owner && mask_any(line->dirty)) {
            if (cycle < c->write.free) /* what it has been asked to do to the line comes first */
                cycle = c->write.free;
            memcpy(probe->data, l2->data + (size_t)way * LINE, LINE);
            probe->mask[0] = line->dirty.w[0];
            probe->mask[1] = line->dirty.w[1];
            l2_set_dirty(l2, way, mask_of(0, 0));
        }
        line->whole = false;
        line->owned = false;
        if (!t && !mask_any(line->dirty))
            l2_free_way(l2, way);
    }
    port_post(domain, cycle + mem->timing.probe, probe_answer, mem)->word[0] = (uint64_t)(uintptr_t)probe;
}

static void compare(struct xcd_mem *mem, uint32_t way, bool pages_went)
{
    struct l2 *l2 = mem->l2;
    struct l2_line *line = &l2->line[way];
    struct vm_entry entry;
    if (pages_went && !vm_walk(mem->vm, mem->package, line_of(line), &entry)) {
        l2_free_way(l2, way);
        return;
    }
    /* Dirty bytes stay: a probe would have brought them to memory, under what the host then wrote. */
    if (!l2_is_stale(l2, way, mask_of(0, 0)))
        return;
    if (mask_any(line->dirty))
        line->whole = false;
    else
        l2_free_way(l2, way);
}

void l2_host_wrote(struct xcd_mem *mem)
{
    struct l2 *l2 = mem->l2;
    uint32_t words = (l2->map.channels * l2->map.sets * l2->map.ways + 63) / 64;
    bool pages_went = l2->pages != vm_generation(mem->vm);
    l2->pages = vm_generation(mem->vm);
    for (uint32_t word = 0; word < words; word++) {
        const uint64_t ways = l2->held[word] & ~l2->busy[word];
        for (uint64_t left = ways; left; left &= left - 1) { /* both are far, and memory's lie anywhere */
            const uint32_t way = word * 64 + (unsigned)__builtin_ctzll(left);
            port_prefetch((const void *)(uintptr_t)line_of(&l2->line[way]), LINE);
            port_prefetch(l2->data + (size_t)way * LINE, LINE);
        }
        for (uint64_t left = ways; left; left &= left - 1)
            compare(mem, word * 64 + (unsigned)__builtin_ctzll(left), pages_went);
    }
}
