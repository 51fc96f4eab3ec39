/* SPDX-License-Identifier: MIT */
/* What requests an access becomes, and what its lanes get, against the same lane by lane and byte by byte. */
#include "mem/vl1_state.h"
#include "hierarchies.h"

struct want { /* of a line, in order of lanes */
    uint64_t line, lanes;
    struct mask mask;
    unsigned lookup, lookups, cycles, group;
    uint8_t data[LINE];
};

struct plain {
    unsigned count, cycles;
    struct want line[2 * ACCESS_LANES];
};

static struct want *line_at(struct plain *p, uint64_t line)
{
    for (unsigned i = 0; i < p->count; i++)
        if (p->line[i].line == line)
            return &p->line[i];
    struct want *w = &p->line[p->count++];
    *w = (struct want){.line = line};
    return w;
}

/* `at_once`: lines of lanes that are looked up together which one cycle takes. */
static void plainly(struct plain *p, const struct mem_access *a, const uint64_t *address, unsigned together,
                    unsigned at_once)
{
    unsigned lines = 0, group = 0;
    p->count = p->cycles = 0;
    for (unsigned lane = 0; lane < ACCESS_LANES; lane++)
        for (unsigned byte = 0; byte < a->bytes && a->lanes >> lane & 1; byte++) {
            uint64_t at = address[lane] + byte;
            unsigned offset = at % LINE;
            struct want *w = line_at(p, at - offset);
            if (w->group != lane / together + 1) {
                w->group = lane / together + 1;
                lines = w->group == group ? lines + 1 : 1;
                group = w->group;
                p->cycles += lines % at_once == 1 || at_once == 1;
                w->cycles += lines % at_once == 1 || at_once == 1;
                w->lookup = p->cycles - 1;
                w->lookups++;
            }
            w->lanes |= UINT64_C(1) << lane;
            w->mask.w[offset / 64] |= UINT64_C(1) << offset % 64;
            if (a->kind == ACCESS_STORE)
                w->data[offset] = a->data[lane * a->stride + byte];
        }
}

static bool bytes_equal(const uint8_t *a, const uint8_t *b, struct mask mask)
{
    for (unsigned i = 0; i < LINE; i++)
        if ((mask.w[i / 64] >> i % 64 & 1) && a[i] != b[i])
            return false;
    return true;
}

static uint64_t random_of(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 11;
}

/* Coalesces it, compares line by line, and gives a load's lanes what lies in memory.  Returns how many pairs
 * there were.
 */
static unsigned compare(struct rig *rig, struct mem_access *a, const uint64_t *address)
{
    static struct plain plain;
    const struct mem_timing *t = &rig->mem[0]->timing;
    const unsigned together = a->bytes > 4 ? t->wide : t->lanes; /* lanes of a look-up */
    plainly(&plain, a, address, together, a->kind == ACCESS_ATOMIC ? t->atomics : 1);
    unsigned cycles, i = 0, pairs = 0;
    struct mem_request *next, *r = coalesce(rig->mem[0], a, &cycles);
    CHECK_EQ(cycles, plain.cycles);
    for (struct mem_request *pair = r; pair; pair = pair->next)
        if (pair->pair) {
            pairs++;
            CHECK(pair->line % PAIR == 0 && a->in_row);
            struct mem_request *second = request_split(pair);
            second->next = pair->next;
            pair->next = second;
        }
    CHECK_EQ(a->pending, plain.count);
    for (; r && i < plain.count; r = next, i++) {
        const struct want *w = &plain.line[i];
        CHECK_EQ(r->line, w->line);
        CHECK_EQ(r->lanes, w->lanes);
        CHECK_EQ(r->mask.w[0], w->mask.w[0]);
        CHECK_EQ(r->mask.w[1], w->mask.w[1]);
        CHECK_EQ(r->lookup, w->lookup);
        CHECK_EQ(r->lookups, w->lookups);
        CHECK_EQ(r->cycles, w->cycles);
        if (a->kind == ACCESS_STORE)
            CHECK(bytes_equal(r->bytes, w->data, w->mask));
        else if (a->kind == ACCESS_LOAD)
            coalesce_deliver(a, r, (const uint8_t *)(uintptr_t)r->line);
        next = r->next;
        request_free(r);
    }
    CHECK(!r && i == plain.count);
    for (unsigned lane = 0; a->kind == ACCESS_LOAD && lane < ACCESS_LANES; lane++)
        if (a->lanes >> lane & 1)
            CHECK(
                !memcmp(mem_access_lane(a, a->same ? 0 : lane), (void *)(uintptr_t)address[lane], a->bytes));
    return pairs;
}

enum shape { ROW, SAME, NEAR, FAR, SHAPES };

static void check_random(void)
{
    static const uint8_t sizes[] = {1, 2, 4, 8, 12, 16};
    struct rig rig;
    rig_open(&rig, true, 1);
    uint64_t random = 1, address[ACCESS_LANES];
    for (unsigned i = 0; i < 1 << 20; i++)
        rig.arena[i] = (uint8_t)random_of(&random);
    unsigned shapes[SHAPES] = {0}, pairs = 0, most = 0;
    store32(&rig, 0, 0, 1 << 20, 0, ISA_SCOPE_WAVE); /* the CU has a vL1 from then on */
    for (unsigned round = 0; round < 4000; round++) {
        uint64_t r = random_of(&random), first = (uint64_t)(uintptr_t)rig.arena + random_of(&random) % 500000;
        enum shape shape = (enum shape)(r % SHAPES);
        enum mem_access_kind kind = (r >> 13) % 4 == 0 ? ACCESS_ATOMIC
                                    : r >> 4 & 1       ? ACCESS_LOAD
                                                       : ACCESS_STORE;
        const uint8_t size = kind == ACCESS_ATOMIC ? (r >> 8 & 1 ? 4 : 8) : sizes[(r >> 8) % sizeof(sizes)];
        struct shot s = shot(&rig, 0, 0, kind, 0, size);
        struct mem_access *a = &s.a;
        bool all = r >> 5 & 1, aligned = kind == ACCESS_ATOMIC || r >> 6 & 1;
        a->stride = r >> 7 & 1 ? a->bytes : ACCESS_LANE_BYTES;
        a->lanes = all ? UINT64_MAX : random_of(&random) | random_of(&random) << 50;
        for (unsigned lane = 0; lane < ACCESS_LANES; lane++) {
            uint64_t far = random_of(&random);
            address[lane] = first + (shape == ROW    ? (uint64_t)lane * a->bytes
                                     : shape == SAME ? 0
                                     : shape == NEAR ? far % 600
                                                     : far % 500000);
            if (shape == FAR && r >> 12 & 1)
                address[lane] |= LINE - 1; /* on two lines each, if not aligned */
            if (aligned)
                address[lane] -= address[lane] % a->bytes;
        }
        for (unsigned i = 0; i < sizeof(a->data); i++)
            a->data[i] = (uint8_t)random_of(&random);
        memcpy(a->addr, address, sizeof(address));
        a->in_row = mem_access_in_row(a, address);
        a->same = shape == SAME && kind == ACCESS_LOAD && all && address[0] % LINE + a->bytes <= LINE;
        if (a->in_row || a->same) /* what the CU then gives */
            memset(a->addr + 1, 0, sizeof(a->addr) - sizeof(a->addr[0]));
        shapes[a->in_row ? ROW : a->same ? SAME : shape == NEAR ? NEAR : FAR]++;
        pairs += compare(&rig, a, address);
        most = a->pending > most ? a->pending : most;
    }
    CHECK(most > 3 * ACCESS_LANES / 2);
    CHECK(pairs > 100);
    for (unsigned i = 0; i < SHAPES; i++)
        CHECK(shapes[i] > 100);
    rig_close(&rig);
}

int main(void)
{
    check_random();
    return check_status();
}
