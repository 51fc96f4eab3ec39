/* SPDX-License-Identifier: MIT */
/*
 * Every CU of six XCDs at once on few lines: each lane has bytes of its own, between
 * those of others, and all share counters.  No byte may be lost or appear from
 * nowhere, and every cycle count must be the same again, on one thread and on two.
 */
#include "hierarchies.h"

enum { CUS = 12, WAVES = 2, ROUNDS = 30, COUNTERS = 8, SLOTS = RIG_XCDS * CUS * WAVES };
static const uint64_t counters_at = 1 << 20;

struct actor {
    struct shot shot; /* first */
    uint64_t random;
    uint32_t last[64]; /* what it wrote */
    unsigned slot, round, step;
    uint64_t hash;
    uint32_t added;
    unsigned wrong;
};

struct storm {
    struct rig rig;
    struct actor actor[SLOTS];
};

/* Where the actor's word of a lane is: words of all actors are side by side. */
static uint64_t place(const struct actor *a, unsigned lane)
{
    return (uint64_t)(uintptr_t)a->shot.rig->arena + ((uint64_t)lane * SLOTS + a->slot) * 4;
}

static void step(struct actor *a);

static void stepped(struct mem_access *access)
{
    struct actor *a = (struct actor *)access;
    shot_done(access);
    a->hash = (a->hash ^ a->shot.completed) * UINT64_C(0x9e3779b97f4a7c15);
    if (access->kind == ACCESS_LOAD)
        for (unsigned i = 0; i < 64; i++)
            if ((access->lanes >> i & 1) && memcmp(access->data + i * ACCESS_LANE_BYTES, &a->last[i], 4) != 0)
                a->wrong++;
    step(a);
}

/* Store, load back, add, and now and then a fence: each waits for the one before. */
static void step(struct actor *a)
{
    struct mem_access *m = &a->shot.a;
    uint64_t r = next_random(&a->random);
    if (a->round == ROUNDS)
        return;
    m->policy = (struct isa_policy){ISA_SCOPE_WAVE, false};
    m->lanes = r | 1;
    m->bytes = 4;
    m->stride = ACCESS_LANE_BYTES;
    switch (a->step++) {
    case 0:
        m->kind = ACCESS_STORE;
        m->policy.scope = r >> 60 == 0 ? ISA_SCOPE_AGENT : ISA_SCOPE_WAVE;
        for (unsigned i = 0; i < 64; i++) {
            m->addr[i] = place(a, i);
            if (m->lanes >> i & 1)
                a->last[i] = (uint32_t)next_random(&a->random);
            memcpy(m->data + i * ACCESS_LANE_BYTES, &a->last[i], 4);
        }
        break;
    case 1:
        m->kind = ACCESS_LOAD;
        m->policy.scope =
            (uint8_t)((r >> 61 == 0 ? ISA_SCOPE_AGENT : 0) | (r >> 62 == 0 ? ISA_SCOPE_WORKGROUP : 0));
        for (unsigned i = 0; i < 64; i++)
            m->addr[i] = place(a, i);
        break;
    case 2:
        m->kind = ACCESS_ATOMIC;
        m->atomic = add32;
        m->returns = r >> 20 & 1;
        m->policy.scope = r >> 62 == 0 ? ISA_SCOPE_SYSTEM : ISA_SCOPE_AGENT;
        m->lanes &= 0xff;
        for (unsigned i = 0; i < 8; i++) {
            uint32_t one = 1;
            m->addr[i] =
                (uint64_t)(uintptr_t)a->shot.rig->arena + counters_at + (r >> (8 + i * 3)) % COUNTERS * 32;
            memcpy(m->data + i * ACCESS_LANE_BYTES, &one, 4);
        }
        a->added += (uint32_t)__builtin_popcountll(m->lanes);
        break;
    default:
        a->step = 0;
        a->round++;
        m->kind = r >> 63 ? ACCESS_WB : ACCESS_INV;
        m->policy.scope = r >> 60 == 7 ? ISA_SCOPE_SYSTEM : ISA_SCOPE_AGENT;
        m->lanes = 0;
    }
    struct xcd_mem *mem = a->shot.rig->mem[a->shot.xcd];
    m->in_row = mem_access_in_row(m, m->addr);
    xcd_mem_submit(mem, m);
    if (r >> 40 & 1) /* else its stores go when they are old or others come */
        (r >> 41 & 1 ? xcd_mem_wave_ends : xcd_mem_wave_waits)(mem, m->cu, m->wave);
}

static void begin(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    step(event->self);
}

static uint64_t run_storm(unsigned threads)
{
    struct storm *s = calloc(1, sizeof(*s));
    rig_open(&s->rig, true, threads);
    for (unsigned i = 0; i < SLOTS; i++) {
        struct actor *a = &s->actor[i];
        a->shot = shot(&s->rig, i % RIG_XCDS, i / RIG_XCDS % CUS, ACCESS_LOAD, 0, 4);
        a->shot.a.wave = (uint8_t)(i / RIG_XCDS / CUS);
        a->shot.a.done = stepped;
        a->slot = i;
        a->random = 1234567 + i * UINT64_C(0x9e3779b97f4a7c15);
        port_post(s->rig.domain[a->shot.xcd], 1 + i, begin, a);
    }
    run_all(&s->rig);
    for (unsigned x = 0; x < RIG_XCDS; x++)
        fence(&s->rig, x, 0, ACCESS_WB, ISA_SCOPE_SYSTEM);
    uint64_t hash = 0;
    uint32_t added = 0, counted = 0;
    unsigned lost = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        struct actor *a = &s->actor[i];
        CHECK_EQ(a->round, ROUNDS);
        CHECK_EQ(a->wrong, 0);
        hash = (hash ^ a->hash) * 31;
        added += a->added;
        for (unsigned lane = 0; lane < 64; lane++)
            lost += memcmp((void *)(uintptr_t)place(a, lane), &a->last[lane], 4) != 0;
    }
    for (unsigned c = 0; c < COUNTERS; c++)
        counted += memory32(&s->rig, counters_at + c * 32);
    CHECK_EQ(lost, 0);
    CHECK_EQ(counted, added);
    for (unsigned x = 0; x < RIG_XCDS; x++)
        CHECK(xcd_mem_idle(s->rig.mem[x]));
    rig_close(&s->rig);
    free(s);
    return hash;
}

int main(void)
{
    fault_install();
    uint64_t once = run_storm(1);
    CHECK_EQ(run_storm(1), once);
    CHECK_EQ(run_storm(2), once);
    return check_status();
}
