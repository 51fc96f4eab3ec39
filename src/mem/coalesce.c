/* SPDX-License-Identifier: MIT */
/* Lanes to lines and back; see room.h. */
#include <string.h>

#include "base/copy_once.h"
#include "mem/vl1_state.h"

void mask_copy_part(uint8_t *to, const uint8_t *from, struct mask mask)
{
    for (unsigned h = 0; h < 2; h++) {
        uint64_t w = mask.w[h];
        while (w) { /* run by run */
            unsigned first = (unsigned)__builtin_ctzll(w);
            uint64_t rest = ~(w >> first);
            unsigned run = rest ? (unsigned)__builtin_ctzll(rest) : 64;
            copy_once(to + h * 64 + first, from + h * 64 + first, run);
            w = first + run < 64 ? w & (~UINT64_C(0) << (first + run)) : 0;
        }
    }
}

/* Compilers make moves of the sizes that instructions have. */
static inline void copy_lane(uint8_t *to, const uint8_t *from, unsigned bytes)
{
    switch (bytes) {
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, bytes);
    }
}

struct builder {
    struct xcd_mem *mem;
    struct mem_access *access;
    struct mem_request *first, **end;
    unsigned count, lookups, cycles;
    unsigned at_once, left; /* lines that are looked up in a cycle, and still may be in the present one */
    uint8_t kind;
    uint8_t group, present; /* of lanes, and the present cycle's */
    /* add_lanes(): */
    uint8_t slot[256]; /* 1 + index of a line that falls there, or before; half of them stay 0 */
    struct mem_request *line[2 * ACCESS_LANES];
};

static struct mem_request *new_line(struct builder *b, uint64_t line)
{
    struct mem_access *a = b->access;
    struct mem_request *r = request_new(b->mem);
    r->access = a;
    r->kind = b->kind;
    r->policy = a->policy;
    r->cu = a->cu;
    r->wave = a->wave;
    r->line = line;
    b->count++;
    *b->end = r;
    b->end = &r->next;
    return r;
}

static struct mem_request *find_line(struct builder *b, uint64_t line)
{
    uint8_t slot = (uint8_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
    for (; b->slot[slot]; slot++)
        if (b->line[b->slot[slot] - 1]->line == line)
            return b->line[b->slot[slot] - 1];
    struct mem_request *r = new_line(b, line);
    b->line[b->count - 1] = r;
    b->slot[slot] = (uint8_t)b->count;
    return r;
}

/* The newest first: neighbours mostly share. */
static inline struct mem_request *line_of(struct builder *b, uint64_t line)
{
    if (b->count && b->line[b->count - 1]->line == line)
        return b->line[b->count - 1];
    return find_line(b, line);
}

/* Another line of the lanes that the tags see together. */
static inline void look_up(struct builder *b, struct mem_request *r)
{
    if (!b->left || b->present != b->group) {
        b->left = b->at_once;
        b->present = b->group;
        b->cycles++;
        r->cycles++;
    }
    b->left--;
    b->lookups++;
    r->group = b->group;
    r->lookup = (uint8_t)(b->cycles - 1);
    r->lookups++;
}

/* `part` bytes from byte `skip` of the lane, at `offset` of the line. */
static inline void add_part(struct builder *b, unsigned lane, uint64_t line, unsigned offset, unsigned skip,
                            unsigned part)
{
    struct mem_request *r = line_of(b, line);
    if (r->group != b->group)
        look_up(b, r);
    r->lanes |= UINT64_C(1) << lane;
    const unsigned at = offset % 64;
    if (at + part <= 64)
        r->mask.w[offset / 64] |= ((UINT64_C(1) << part) - 1) << at;
    else
        r->mask = mask_or(r->mask, mask_of(offset, part));
    if (r->kind == REQUEST_STORE)
        copy_lane(r->data + offset, mem_access_lane(b->access, lane) + skip, part);
}

/* How many lanes at most work on one element: those are one after another. */
static uint8_t depth_of(const struct mem_access *a, const struct mem_request *r)
{
    uint8_t lanes[LINE / 4] = {0}, most = 0;
    for (uint64_t left = r->lanes; left; left &= left - 1) {
        unsigned at = (unsigned)(a->addr[__builtin_ctzll(left)] & (LINE - 1)) / 4;
        if (++lanes[at] > most)
            most = lanes[at];
    }
    return most;
}

bool mem_access_in_row(const struct mem_access *a, const uint64_t addr[ACCESS_LANES])
{
    unsigned bytes = a->bytes;
    if (a->lanes != UINT64_MAX || a->kind == ACCESS_ATOMIC || a->stride != bytes || LINE % bytes ||
        addr[0] % bytes)
        return false;
    uint64_t differs = 0, next = addr[0];
    if (addr[ACCESS_LANES - 1] - next != (ACCESS_LANES - 1) * bytes) /* most of those that are not */
        return false;
    for (unsigned lane = 0; lane < ACCESS_LANES; lane++, next += bytes)
        differs |= addr[lane] ^ next;
    return !differs;
}

static uint64_t lanes_of(unsigned first, unsigned count)
{
    return (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
}

/* Cycles of the tags for a line's lanes; `inverse` divides by the lanes of a cycle. */
static uint8_t lookups_of(unsigned lane, unsigned count, unsigned inverse)
{
    return (uint8_t)(((lane + count - 1) * inverse >> 16) - (lane * inverse >> 16) + 1);
}

/* What most accesses are: the same as lane by lane. */
static void add_row(struct builder *b, unsigned together)
{
    struct mem_access *a = b->access;
    unsigned shift = (unsigned)__builtin_ctz(a->bytes);
    unsigned inverse = 65536 / together + 1; /* to divide numbers of lanes */
    uint64_t address = a->addr[0];
    for (unsigned lane = 0, count; lane < ACCESS_LANES; lane += count) {
        unsigned offset = (unsigned)(address & (LINE - 1));
        bool pair = b->mem->pairs && address % PAIR == 0 && (ACCESS_LANES - lane) << shift >= PAIR;
        count = (pair ? PAIR : LINE - offset) >> shift;
        count = count < ACCESS_LANES - lane ? count : ACCESS_LANES - lane;
        struct mem_request *r = new_line(b, address - offset);
        address += pair ? PAIR : LINE - offset;
        r->pair = pair;
        r->lookups = lookups_of(lane, pair ? count / 2 : count, inverse);
        r->lookup = (uint8_t)(b->lookups + r->lookups - 1);
        if (pair)
            r->lookups += lookups_of(lane + count / 2, count / 2, inverse);
        r->cycles = r->lookups;
        b->lookups = b->cycles += r->lookups;
        r->lanes = lanes_of(lane, count);
        uint8_t *bytes = a->data + ((size_t)lane << shift);
        if (pair || count << shift == LINE) {
            r->mask = (struct mask){{~UINT64_C(0), ~UINT64_C(0)}};
            r->bytes = bytes;
        } else {
            r->mask = mask_of(offset, count << shift);
            if (r->kind == REQUEST_STORE)
                memcpy(r->data + offset, bytes, (size_t)count << shift);
        }
    }
}

/* So are those of which all lanes load the same bytes. */
static void add_same(struct builder *b, unsigned together)
{
    const struct mem_access *a = b->access;
    unsigned offset = (unsigned)(a->addr[0] & (LINE - 1));
    struct mem_request *r = new_line(b, a->addr[0] - offset);
    b->lookups = b->cycles = (ACCESS_LANES - 1) / together + 1;
    r->lookups = r->cycles = (uint8_t)b->lookups;
    r->lookup = (uint8_t)(b->lookups - 1);
    r->lanes = UINT64_MAX;
    r->mask = mask_of(offset, a->bytes);
}

static void add_lanes(struct builder *b, unsigned together)
{
    const struct mem_access *a = b->access;
    const unsigned bytes = a->bytes, inverse = 65536 / together + 1; /* to divide numbers of lanes */
    memset(b->slot, 0, sizeof(b->slot));
    b->at_once = a->kind == ACCESS_ATOMIC ? b->mem->timing.atomics : 1;
    b->left = 0;
    for (uint64_t left = a->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t line = a->addr[lane] & ~(uint64_t)(LINE - 1);
        unsigned offset = (unsigned)(a->addr[lane] - line);
        b->group = (uint8_t)((lane * inverse >> 16) + 1);
        if (offset + bytes <= LINE) {
            add_part(b, lane, line, offset, 0, bytes);
        } else {
            unsigned part = LINE - offset;
            add_part(b, lane, line, offset, 0, part);
            add_part(b, lane, line + LINE, 0, part, bytes - part);
        }
    }
}

struct mem_request *coalesce(struct xcd_mem *mem, struct mem_access *a, unsigned *cycles)
{
    struct builder b;
    b.mem = mem;
    b.access = a;
    b.end = &b.first;
    b.count = b.lookups = b.cycles = 0;
    b.kind = a->kind == ACCESS_LOAD ? REQUEST_LOAD : a->kind == ACCESS_STORE ? REQUEST_STORE : REQUEST_ATOMIC;
    const unsigned together = a->bytes > 4 ? mem->timing.wide : mem->timing.lanes;
    if (a->in_row)
        add_row(&b, together);
    else if (a->same)
        add_same(&b, together);
    else
        add_lanes(&b, together);
    mem->counters.tcp_cache_accesses += b.lookups;
    *b.end = NULL;
    if (a->kind == ACCESS_ATOMIC)
        for (struct mem_request *r = b.first; r; r = r->next)
            r->depth = depth_of(a, r);
    a->pending = b.count;
    *cycles = b.cycles;
    return b.first;
}

/* Lanes of `bytes`, which compilers know. */
__attribute__((always_inline)) static inline void
deliver_lanes(struct mem_access *a, const struct mem_request *r, const uint8_t *data, unsigned bytes)
{
    for (uint64_t left = r->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint8_t *to = mem_access_lane(a, lane);
        uint64_t offset = a->addr[lane] - r->line; /* wraps for the second part of a lane */
        if (offset + bytes <= LINE && offset < LINE) {
            memcpy(to, data + offset, bytes);
        } else if (offset < LINE) {
            memcpy(to, data + offset, LINE - offset);
        } else {
            unsigned skip = (unsigned)(r->line - a->addr[lane]);
            memcpy(to + skip, data, bytes - skip);
        }
    }
}

void coalesce_deliver(struct mem_access *a, const struct mem_request *r, const uint8_t *data)
{
    if (a->in_row) {
        unsigned lane = (unsigned)__builtin_ctzll(r->lanes), count = (unsigned)__builtin_popcountll(r->lanes);
        uint8_t *to = mem_access_lane(a, lane);
        if (to != data)
            memcpy(to, data + (mem_access_address(a, lane) - r->line), (size_t)count * a->bytes);
    } else if (a->same) {
        copy_lane(a->data, data + (a->addr[0] - r->line), a->bytes);
    } else if (a->bytes == 4) {
        deliver_lanes(a, r, data, 4);
    } else if (a->bytes == 8) {
        deliver_lanes(a, r, data, 8);
    } else {
        deliver_lanes(a, r, data, a->bytes);
    }
}
