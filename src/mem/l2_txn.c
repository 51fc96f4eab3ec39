/* SPDX-License-Identifier: MIT */
/* What the L2 asks of the fabric: reads, write-backs, and who waits for them. */
#include <string.h>

#include "mem/l2_state.h"

struct l2_txn *l2_txn_of(const struct l2 *l2, uint64_t line)
{
    struct l2_txn *t = l2->txn[bucket_of(line, TXN_BUCKETS)];
    while (t && t->fabric.line != line && !(t->fabric.pair && t->fabric.line + LINE == line))
        t = t->chain;
    return t;
}

struct l2_txn *l2_txn_new(struct xcd_mem *mem, enum txn_kind kind, uint64_t line, uint64_t physical,
                          uint32_t set, uint32_t way)
{
    struct l2 *l2 = mem->l2;
    struct l2_txn *t = pool_take(&l2->txn_pool, &mem->arena, sizeof(*t), offsetof(struct l2_txn, data));
    clear_lines(t, offsetof(struct l2_txn, data));
    static const uint8_t asks[] = {FABRIC_READ,   FABRIC_OWN,   FABRIC_FETCH, FABRIC_WRITE,
                                   FABRIC_ATOMIC, FABRIC_WRITE, FABRIC_WRITE};
    t->fabric.kind = asks[kind];
    t->fabric.agent = (uint8_t)mem->xcd;
    t->fabric.line = line;
    t->fabric.physical = physical;
    t->fabric.done = l2_answered;
    t->fabric.self = t;
    t->mem = mem;
    t->kind = (uint8_t)kind;
    t->channel = (uint16_t)(set >> l2->map.set_bits);
    t->bucket = (uint16_t)bucket_of(line, TXN_BUCKETS);
    t->way = way;
    t->second = NO_WAY;
    t->began = port_now(mem->domain);
    queue_clear(&t->waiting);
    struct l2_txn **at = &l2->txn[t->bucket];
    t->chain = *at;
    *at = t;
    l2_set_busy(l2, way);
    l2->channel[t->channel].asks += l2_asks(t);
    l2->txns++;
    return t;
}

void l2_txn_pair(struct l2_txn *t, uint32_t second)
{
    struct l2 *l2 = t->mem->l2;
    l2->channel[t->channel].asks += l2_asks(t);
    t->fabric.pair = true;
    t->second = second;
    l2_set_busy(l2, second);
    l2->txns++;
}

void l2_submit(struct l2_txn *t)
{
    struct mem_counters *c = &t->mem->counters;
    switch (t->fabric.kind) {
    case FABRIC_WRITE: {
        if (t->fabric.nobody)
            break;
        struct mask m = {{t->fabric.mask[0], t->fabric.mask[1]}};
        c->ea_writes += mask_halves(m) * l2_txn_lines(t);
        c->ea_writes_64b +=
            ((m.w[0] == ~UINT64_C(0) ? 1U : 0U) + (m.w[1] == ~UINT64_C(0) ? 1U : 0U)) * l2_txn_lines(t);
        break;
    }
    case FABRIC_ATOMIC:
        c->ea_atomics++;
        break;
    default:
        c->ea_reads += l2_txn_lines(t);
    }
    fabric_submit(t->mem->fabric, &t->fabric);
    if (t->fabric.kind != FABRIC_WRITE || !t->fabric.waited_ps)
        return;
    struct l2_channel *channel = &t->mem->l2->channel[t->channel];
    uint64_t now = port_now(t->mem->domain),
             from = channel->write_stalled > now ? channel->write_stalled : now,
             until = port_cycle_of(t->mem->domain, port_ps_of(t->mem->domain, now) + t->fabric.waited_ps);
    if (until > from) {
        c->ea_write_stall += until - from;
        channel->write_stalled = until;
    }
}

void l2_set_write(struct l2_txn *t, uint8_t *data, struct mask mask, bool keeps)
{
    t->fabric.data = data;
    t->fabric.mask[0] = mask.w[0];
    t->fabric.mask[1] = mask.w[1];
    t->fabric.keeps = keeps;
}

bool l2_may_pair(const struct l2_line *line)
{
    return mask_full(line->dirty) && !line->owned && !line->nobody;
}

/* Where that line is, if it is to be written as well. */
static uint32_t dirty_pair_of(const struct xcd_mem *mem, uint32_t way)
{
    const struct l2 *l2 = mem->l2;
    const struct l2_line *line = &l2->line[way];
    if (!mem->pairs || !l2_may_pair(line))
        return NO_WAY;
    uint32_t set = l2_set_of(&l2->map, line->physical ^ LINE);
    if (!l2_may_ask(mem, l2_channel_at(l2, set), 2 * ASKS_WRITE))
        return NO_WAY;
    uint32_t other = l2_find(l2, set, (line->tag & ~UINT64_C(1)) ^ LINE);
    return other != NO_WAY && l2_may_pair(&l2->line[other]) && !l2_is_busy(l2, other) ? other : NO_WAY;
}

void l2_clean(struct xcd_mem *mem, uint32_t way)
{
    struct l2 *l2 = mem->l2;
    uint32_t other = dirty_pair_of(mem, way), second = other;
    if (other != NO_WAY && l2->line[other].tag < l2->line[way].tag) {
        second = way;
        way = other;
    }
    struct l2_line *line = &l2->line[way];
    struct l2_txn *t = l2_txn_new(mem, TXN_CLEAN, line->tag & ~UINT64_C(1), line->physical,
                                  l2_set_of(&l2->map, line->physical), way);
    l2_set_write(t, l2->data + (size_t)way * LINE, line->dirty, line->whole);
    t->epoch = l2_epoch_enter(l2);
    t->fabric.nobody = line->nobody;
    l2_set_dirty(l2, way, mask_of(0, 0));
    mem->counters.tcc_writebacks += !line->nobody;
    if (second != NO_WAY) {
        l2_txn_pair(t, second);
        t->fabric.second = l2->data + (size_t)second * LINE;
        l2_set_dirty(l2, second, mask_of(0, 0));
        mem->counters.tcc_writebacks++;
    }
    l2_submit(t);
}

void l2_push_out(struct xcd_mem *mem, uint32_t set, uint32_t way, uint32_t second)
{
    struct l2 *l2 = mem->l2;
    const struct l2_line *line = &l2->line[way];
    struct l2_txn *t = l2_txn_new(mem, TXN_EVICT, line->tag & ~UINT64_C(1), line->physical, set, NO_WAY);
    memcpy(t->data, l2->data + (size_t)way * LINE, LINE);
    l2_set_write(t, t->data, line->dirty, false);
    t->epoch = l2_epoch_enter(l2);
    t->fabric.nobody = line->nobody;
    mem->counters.tcc_writebacks += !line->nobody;
    if (second != NO_WAY) {
        l2_txn_pair(t, NO_WAY);
        t->fabric.second = t->data + LINE;
        memcpy(t->fabric.second, l2->data + (size_t)second * LINE, LINE);
        mem->counters.tcc_writebacks++;
        l2_set_dirty(l2, second, mask_of(0, 0));
    }
    l2_submit(t);
    l2_set_dirty(l2, way, mask_of(0, 0));
}

/* Of sixteen numbers, that of the first of the least. */
