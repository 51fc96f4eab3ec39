/* SPDX-License-Identifier: MIT */
/*
 * Requests for two lines at once: they do what two requests do, however their lines fare.
 *
 * Writers store and load rows of lanes in regions of their own, and words here and there between, so that a
 * pair's lines differ in every cache: one is there, one is partly stored, one is owned, one is on its way.
 * Readers of other XCDs look at those regions: a word never goes back to what it was.
 */
#include "mem/xcd.h"
#include "hierarchies.h"

enum { WRITERS = 36, READERS = 36, STEPS = 400, ACTORS = WRITERS + READERS, WORDS = 512 };
enum { SPACE = 8 << 20 }; /* between regions of equal number: in the same set of the L2 */

struct actor {
    struct shot shot; /* first */
    uint64_t random, hash;
    uint64_t region;
    uint32_t seen[WORDS]; /* a writer's: what is there; a reader's: what it has seen */
    uint32_t version;
    unsigned step, wrong;
    bool reader, acquired;
};

static unsigned word_of(const struct actor *a, uint64_t address)
{
    return (unsigned)(address - (uint64_t)(uintptr_t)a->shot.rig->arena - a->region) / 4;
}

/* All lanes, one behind another; mostly from where pairs begin. */
static void in_a_row(struct actor *a, uint64_t r)
{
    struct mem_access *m = &a->shot.a;
    unsigned bytes = 4U << (r >> 50) % 3, room = WORDS * 4 - 64 * bytes;
    uint64_t from =
        r >> 53 & 3 ? (r >> 20) % (room / PAIR + 1) * PAIR : (r >> 20) % (room / bytes + 1) * bytes;
    m->lanes = UINT64_MAX;
    m->bytes = m->stride = (uint8_t)bytes;
    for (unsigned i = 0; i < 64; i++)
        m->addr[i] = (uint64_t)(uintptr_t)a->shot.rig->arena + a->region + from + (uint64_t)i * bytes;
}

static void here_and_there(struct actor *a, uint64_t r)
{
    struct mem_access *m = &a->shot.a;
    m->lanes = (r & r >> 7) | 1;
    m->bytes = 4;
    m->stride = ACCESS_LANE_BYTES;
    for (unsigned i = 0; i < 64; i++) /* each word once */
        m->addr[i] = (uint64_t)(uintptr_t)a->shot.rig->arena + a->region +
                     (i + (r >> 30) % (WORDS - 63)) * UINT64_C(4);
}

static void set_values(struct actor *a)
{
    struct mem_access *m = &a->shot.a;
    a->version++;
    for (unsigned i = 0; i < 64; i++)
        for (unsigned b = 0; (m->lanes >> i & 1) && b < m->bytes; b += 4) {
            a->seen[word_of(a, m->addr[i] + b)] = a->version;
            memcpy(m->data + i * (unsigned)m->stride + b, &a->version, 4);
        }
}

static void compare(struct actor *a)
{
    const struct mem_access *m = &a->shot.a;
    for (unsigned i = 0; i < 64; i++)
        for (unsigned b = 0; (m->lanes >> i & 1) && b < m->bytes; b += 4) {
            uint32_t *seen = &a->seen[word_of(a, m->addr[i] + b)], now;
            memcpy(&now, m->data + i * (unsigned)m->stride + b, 4);
            a->wrong += a->reader ? now < *seen : now != *seen;
            *seen = now;
        }
}

static void step(struct actor *a);

static void stepped(struct mem_access *access)
{
    struct actor *a = (struct actor *)access;
    shot_done(access);
    a->hash = (a->hash ^ a->shot.completed) * UINT64_C(0x9e3779b97f4a7c15);
    if (access->kind == ACCESS_LOAD)
        compare(a);
    step(a);
}

static void write_or_load(struct actor *a, uint64_t r)
{
    struct mem_access *m = &a->shot.a;
    m->policy.streams = r >> 49 & r >> 48 & 1;
    switch (r >> 60) {
    case 0: /* the L2 comes to own a line, and its last bytes are an atomic's */
        here_and_there(a, r);
        m->kind = ACCESS_ATOMIC;
        m->atomic = add32;
        m->returns = false;
        m->policy.streams = false;
        m->lanes = 1;
        a->version++;
        memcpy(m->data, &(uint32_t){a->version - a->seen[word_of(a, m->addr[0])]}, 4);
        a->seen[word_of(a, m->addr[0])] = a->version;
        break;
    case 1:
        m->kind = r >> 59 & 1 ? ACCESS_WB : ACCESS_INV;
        m->policy.scope = ISA_SCOPE_AGENT;
        m->lanes = 0;
        break;
    case 2:
    case 3:
        here_and_there(a, r);
        m->kind = ACCESS_STORE;
        m->policy.scope = r >> 59 & 1 ? ISA_SCOPE_AGENT : ISA_SCOPE_WAVE;
        set_values(a);
        break;
    case 4:
    case 5:
        here_and_there(a, r);
        m->kind = ACCESS_LOAD;
        m->policy.scope = r >> 59 & 1 ? ISA_SCOPE_AGENT : ISA_SCOPE_WAVE;
        break;
    default:
        in_a_row(a, r);
        m->kind = r >> 59 & 1 ? ACCESS_STORE : ACCESS_LOAD;
        m->policy.scope = (r >> 54 & 7) == 0 ? ISA_SCOPE_AGENT : ISA_SCOPE_WAVE;
        if (m->kind == ACCESS_STORE)
            set_values(a);
    }
}

/* What it has loaded before is old: it gives that up before each load. */
static void read_on(struct actor *a, uint64_t r)
{
    struct mem_access *m = &a->shot.a;
    a->acquired = !a->acquired;
    if (a->acquired) {
        m->kind = ACCESS_INV;
        m->policy.scope = ISA_SCOPE_AGENT;
        m->lanes = 0;
        return;
    }
    (r >> 57 & 3 ? in_a_row : here_and_there)(a, r);
    m->kind = ACCESS_LOAD;
}

static void step(struct actor *a)
{
    struct mem_access *m = &a->shot.a;
    uint64_t r = next_random(&a->random);
    if (a->step++ == STEPS)
        return;
    m->policy = (struct isa_policy){ISA_SCOPE_WAVE, false};
    (a->reader ? read_on : write_or_load)(a, r);
    m->in_row = m->lanes && mem_access_in_row(m, m->addr);
    xcd_mem_submit(a->shot.rig->mem[a->shot.xcd], m);
    if (r >> 40 & 1)
        xcd_mem_wave_waits(a->shot.rig->mem[a->shot.xcd], m->cu, m->wave);
}

static void begin(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    step(event->self);
}

static uint64_t run_pairs(unsigned threads, uint8_t mtype, uint64_t seed)
{
    struct rig rig;
    struct actor *actors = calloc(ACTORS, sizeof(*actors));
    rig_open(&rig, true, threads);
    rig.vm.mtype = mtype;
    for (unsigned i = 0; i < ACTORS; i++) {
        struct actor *a = &actors[i];
        a->reader = i >= WRITERS;
        unsigned writer = i % WRITERS;
        a->region = (uint64_t)(writer % 6) * SPACE + (uint64_t)(writer / 6) * WORDS * 4;
        a->shot = shot(&rig, (writer + (a->reader ? 1 : 0)) % RIG_XCDS, i / RIG_XCDS, ACCESS_LOAD, 0, 4);
        a->shot.a.done = stepped;
        a->random = seed + i * UINT64_C(0x9e3779b97f4a7c15);
        port_post(rig.domain[a->shot.xcd], 1 + i, begin, a);
    }
    run_all(&rig);
    for (unsigned x = 0; x < RIG_XCDS; x++)
        fence(&rig, x, 0, ACCESS_WB, ISA_SCOPE_SYSTEM);
    uint64_t hash = 0;
    unsigned lost = 0, seen = 0;
    for (unsigned i = 0; i < ACTORS; i++) {
        const struct actor *a = &actors[i];
        if (!CHECK_EQ(a->wrong, 0))
            printf("%u reader %d mtype %u\n", i, a->reader, mtype);
        hash = (hash ^ a->hash) * 31;
        for (unsigned w = 0; w < WORDS; w++)
            if (a->reader)
                seen += a->seen[w] != 0;
            else
                lost += memory32(&rig, a->region + w * 4) != a->seen[w];
    }
    CHECK_EQ(lost, 0);
    CHECK(seen > READERS * WORDS / 4); /* readers do see what writers do */
    for (unsigned x = 0; x < RIG_XCDS; x++)
        CHECK(xcd_mem_idle(rig.mem[x]));
    free(actors);
    rig_close(&rig);
    return hash;
}

/* A row of lanes, by its first byte and the bytes of a lane. */
static struct shot row(struct rig *rig, unsigned cu, enum mem_access_kind kind, uint64_t offset,
                       unsigned bytes)
{
    struct shot s = shot(rig, 0, cu, kind, offset, bytes);
    s.a.stride = (uint8_t)bytes;
    s.a.lanes = UINT64_MAX;
    for (unsigned i = 0; i < 64; i++)
        s.a.addr[i] = s.a.addr[0] + (uint64_t)i * bytes;
    return s;
}

/* Two lines of one pair take the time of two, and count as two, wherever they are found. */
static void check_counts(void)
{
    struct rig rig;
    rig_open(&rig, true, 1);
    CHECK(rig.mem[0]->pairs);
    struct shot warm = row(&rig, 0, ACCESS_LOAD, 1 << 20, 4), s;
    run(&warm); /* the page */
    struct mem_counters a = counters(&rig, 0), b;
    s = row(&rig, 0, ACCESS_LOAD, 4096, 16); /* four pairs from memory */
    run(&s);
    b = counters(&rig, 0);
    CHECK_EQ(b.tcp_misses - a.tcp_misses, 8);
    CHECK_EQ(b.tcp_tcc_read - a.tcp_tcc_read, 8);
    CHECK_EQ(b.tcc_read - a.tcc_read, 8);
    CHECK_EQ(b.tcc_misses - a.tcc_misses, 8);
    CHECK_EQ(b.ea_reads - a.ea_reads, 8);
    CHECK_EQ(b.cache_hits + b.cache_misses - a.cache_hits - a.cache_misses, 8);
    a = b;
    run(&s); /* from the vL1 */
    b = counters(&rig, 0);
    CHECK_EQ(b.tcp_hits - a.tcp_hits, 8);
    CHECK_EQ(b.tcc_requests, a.tcc_requests);
    s.a.cu = 1;
    a = b;
    run(&s); /* from the L2 */
    b = counters(&rig, 0);
    CHECK_EQ(b.tcc_hits - a.tcc_hits, 8);
    CHECK_EQ(b.ea_reads, a.ea_reads);
    a = b;
    s = row(&rig, 1, ACCESS_STORE, 8192, 16); /* each line misses with its first half */
    run(&s);
    b = counters(&rig, 0);
    CHECK_EQ(b.tcp_tcc_write - a.tcp_tcc_write, 16);
    CHECK_EQ(b.tcc_write - a.tcc_write, 16);
    CHECK_EQ(b.tcc_misses - a.tcc_misses, 8);
    CHECK_EQ(b.tcc_hits - a.tcc_hits, 8);
    a = b;
    fence(&rig, 0, 1, ACCESS_WB, ISA_SCOPE_SYSTEM);
    b = counters(&rig, 0);
    CHECK_EQ(b.ea_writes - a.ea_writes, 16);
    CHECK_EQ(b.ea_writes_64b - a.ea_writes_64b, 16);
    CHECK_EQ(b.tcc_writebacks - a.tcc_writebacks, 8);
    rig_close(&rig);
}

/* From memory, the vL1, the L2, and to it: with pairs and without.  A pair's second line is close behind its
 * first, where alone it leaves when it has been looked up. */
static void check_time(void)
{
    uint64_t cycles[2][3][4];
    for (unsigned pairs = 0; pairs < 2; pairs++) {
        struct rig rig;
        rig_open(&rig, true, 1);
        rig.mem[0]->pairs = pairs;
        for (unsigned cu = 0; cu < 2; cu++) {
            struct shot warm = row(&rig, cu, ACCESS_LOAD, 1 << 20, 4);
            run(&warm); /* the page */
        }
        for (unsigned i = 0; i < 3; i++) {
            struct shot s = row(&rig, 0, ACCESS_LOAD, i * 65536, 4U << i);
            for (unsigned k = 0; k < 2; k++)
                cycles[pairs][i][k] = run(&s);
            s.a.cu = 1;
            cycles[pairs][i][2] = run(&s);
            s.a.kind = ACCESS_STORE;
            cycles[pairs][i][3] = run(&s);
        }
        rig_close(&rig);
    }
    static const char *const what[] = {"a load from memory", "from the vL1", "from the L2", "a store"};
    static const int most[] = {4, 0, 3, 2}; /* memory: its clock is another */
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 4; k++) {
            int more = (int)(cycles[1][i][k] - cycles[0][i][k]);
            printf("%2u bytes a lane, %-18s %" PRIu64 " cycles, %d more in pairs\n", 4U << i, what[k],
                   cycles[0][i][k], more);
            CHECK(abs(more) <= most[k]);
        }
}

int main(void)
{
    fault_install();
    check_counts();
    check_time();
    static const uint8_t mtypes[] = {VM_MTYPE_RW, VM_MTYPE_NC, VM_MTYPE_CC};
    for (unsigned i = 0; i < sizeof(mtypes); i++) {
        uint64_t once = run_pairs(1, mtypes[i], 1 + i);
        CHECK_EQ(run_pairs(2, mtypes[i], 1 + i), once);
    }
    return check_status();
}
