/* SPDX-License-Identifier: MIT */
/*
 * What the packet processor reads and writes beside its registers: packets in a queue's ring, kernels'
 * descriptors, the memory by which XCDs agree that a dispatch is over, completion signals.  They lie in
 * memory that no L2 keeps, so each access goes to the line's home and back.  The parts of the processor that
 * do it sit in the XCDs.
 *
 * The bytes are cp/'s business: what travels stands for them.
 */
#include "engine/timed/timed.h"
#include "fabric/fabric.h"
#include "vm/vm.h"

enum { PLACE_LINES = 512, AGENT_QUEUES = 64 };

struct timed_access {
    struct fabric_request fabric; /* first */
    struct timed_access *next;    /* spare ones */
    struct timed_xcd *x;
    bool from_host; /* from domain 0, whose it is; else the XCD's */
    port_fn *done;
    uint64_t word[3];
    uint8_t data[FABRIC_LINE], memory[2 * FABRIC_LINE - 1];
};

uint64_t timed_place_of(const struct timed *timed, const struct cp_queue *queue, enum timed_place place)
{
    /* Behind the page tables, which end before the memory does. */
    const struct cp *cp = timed->engine.cp;
    const uint64_t first = cp->memory->size - (uint64_t)PLACE_LINES * FABRIC_LINE,
                   package = memory_package(cp->memory, queue->agent);
    const unsigned agent = queue->agent % cp->memory->package_agents,
                   line = (agent * AGENT_QUEUES + queue->number) * PLACES + place;
    return (package << vm_package_shift(cp->chip)) + first + line % PLACE_LINES * (uint64_t)FABRIC_LINE;
}

static void change(struct fabric_request *request, uint8_t *line)
{
    (void)request;
    (void)line;
}

static void tell(struct port_event *e, const struct timed_access *a)
{
    for (unsigned i = 0; i < sizeof(a->word) / sizeof(a->word[0]); i++)
        e->word[i] = a->word[i];
}

static void give(struct timed_accesses *of, struct timed_access *a)
{
    a->next = of->spare;
    of->spare = a;
}

static void returned(struct port_domain *domain, struct port_event *event)
{
    struct timed *timed = event->self;
    struct timed_access *a = (struct timed_access *)(uintptr_t)event->word[0];
    tell(event, a);
    give(&timed->accesses, a);
    a->done(domain, event);
}

static void answered(struct port_domain *domain, struct port_event *event)
{
    struct timed_access *a = (struct timed_access *)(uintptr_t)event->word[0];
    struct timed *timed = a->x->timed;
    if (a->from_host) {
        port_send(domain, timed->host, timed->way_ps, returned, timed)->word[0] = (uint64_t)(uintptr_t)a;
    } else {
        tell(port_send(domain, timed->host, timed->way_ps, a->done, timed), a);
        give(&a->x->accesses, a);
    }
}

static struct timed_access *take(struct timed_accesses *from, struct timed_xcd *x, bool atomic,
                                 uint64_t physical, port_fn *done, const uint64_t word[3])
{
    struct timed_access *a = from->spare;
    if (a)
        from->spare = a->next;
    else
        a = arena_take(&from->arena, sizeof(*a));
    a->x = x;
    a->from_host = from == &x->timed->accesses;
    a->done = done;
    for (unsigned i = 0; i < sizeof(a->word) / sizeof(a->word[0]); i++)
        a->word[i] = word[i];
    const uint64_t aligned = ~(uint64_t)(FABRIC_LINE - 1);
    a->fabric = (struct fabric_request){.kind = atomic ? FABRIC_ATOMIC : FABRIC_FETCH,
                                        .agent = (uint8_t)(x->index % x->timed->package_xcds),
                                        .operations = 1,
                                        .depth = 1,
                                        .line = ((uint64_t)(uintptr_t)a->memory + FABRIC_LINE - 1) & aligned,
                                        .physical = physical,
                                        .data = a->data,
                                        .atomic = change,
                                        .done = answered,
                                        .self = x};
    return a;
}

void timed_access_from(struct timed_xcd *x, bool atomic, uint64_t physical, port_fn *done,
                       const uint64_t word[3])
{
    fabric_submit(timed_package_of(x->timed, x->index)->fabric,
                  &take(&x->accesses, x, atomic, physical, done, word)->fabric);
}

static void begin(struct port_domain *domain, struct port_event *event)
{
    (void)domain;
    struct timed_access *a = (struct timed_access *)(uintptr_t)event->word[0];
    fabric_submit(timed_package_of(a->x->timed, a->x->index)->fabric, &a->fabric);
}

void timed_access(struct timed *timed, unsigned xcd, bool atomic, uint64_t physical, port_fn *done,
                  const uint64_t word[3])
{
    struct timed_xcd *x = &timed->xcd[xcd];
    port_send(timed->host, x->domain, timed->way_ps, begin, x)->word[0] =
        (uint64_t)(uintptr_t)take(&timed->accesses, x, atomic, physical, done, word);
}
