/* SPDX-License-Identifier: MIT */
/*
 * User-mode queues: creation, and the writer's side of the ring.  The reader's
 * side is cp/packet.c.
 *
 * Source: HSA Platform System Architecture 1.2, 2.9.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/power.h"
#include "cp/signal.h"
#include "wave/aperture.h"
#include "soc/machine.h"

/* What waves see: nothing of it is what the host goes by. */
static bool make_seen(struct cp_queue *q, uint32_t packets)
{
    struct memory *memory = q->cp->memory;
    const uint64_t bytes = (uint64_t)packets * sizeof(union ehp_packet);
    int status;
    q->started = memory_alloc(memory, q->agent, EHP_MEM_INTERNAL, bytes, 0, &status);
    q->seen = memory_alloc(memory, q->agent, EHP_MEM_INTERNAL, sizeof(*q->seen), 0, &status);
    if (!q->started || !q->seen)
        return false;
    for (uint32_t i = 0; i < packets; i++)
        q->started[i].header = EHP_PACKET_INVALID;
    *q->seen = q->block;
    q->seen->hsa.base_address = q->started;
    q->seen->hsa.doorbell_signal = (ehp_signal){0};
    return memory_protect(memory, q->seen);
}

static void queue_free(struct cp_queue *q)
{
    struct memory *memory = q->cp->memory;
    ehp_signal_destroy(q->block.hsa.doorbell_signal);
    for (unsigned i = 0; i < GWS_RESOURCES; i++)
        free(q->gws[i].waiters);
    free(q->cu_mask);
    if (q->started)
        memory_free(memory, q->started);
    if (q->seen)
        memory_free(memory, q->seen);
    free(q->block.hsa.base_address);
    free(q);
}

/* Beside NULL: it falls to the next ACE. */
static int queue_create(ehp_machine *m, unsigned agent, uint32_t packets, int priority,
                        const struct cp_queue *beside, struct ehp_queue_block **out)
{
    if (agent >= m->agents)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u; the machine has %u", agent, m->agents);
    if (packets < 2 || packets > EHP_QUEUE_PACKETS_MAX || !power_of_two(packets))
        return machine_error(m, EHP_ERR_INVALID,
                             "a queue of %u packets: the size must be a power of two from 2 to %u", packets,
                             EHP_QUEUE_PACKETS_MAX);
    struct cp_queue *q = calloc(1, sizeof(*q));
    if (!q)
        return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a queue");
    engine_arrive(m->cp.engine);
    union ehp_packet *ring = aligned_alloc(64, (size_t)packets * sizeof(*ring));
    q->cp = &m->cp;
    q->agent = agent;
    q->priority = (unsigned)(priority < 0 ? 0 : priority > 2 ? 2 : priority);
    q->block = (struct ehp_queue_block){
        .hsa = {.type = 0, .features = 3, .base_address = ring, .size = packets},
        .group_segment_aperture_base_hi = (uint32_t)(APERTURE_SHARED_BASE >> 32),
        .private_segment_aperture_base_hi = (uint32_t)(APERTURE_PRIVATE_BASE >> 32),
        .read_dispatch_id_field_base_byte_offset =
            (uint32_t)offsetof(struct ehp_queue_block, read_dispatch_id),
    };
    ehp_signal doorbell = {0};
    if (!ring || ehp_signal_create(m, -1, &doorbell) != EHP_OK) {
        queue_free(q);
        return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a queue of %u packets", packets);
    }
    memset(ring, 0, (size_t)packets * sizeof(*ring));
    for (uint32_t i = 0; i < packets; i++)
        ring[i].header = EHP_PACKET_INVALID;
    cp_signal_of(doorbell)->block.kind = SIGNAL_KIND_DOORBELL;
    cp_signal_of(doorbell)->block.queue_ptr = (uint64_t)(uintptr_t)q;
    q->block.hsa.doorbell_signal = doorbell;
    pthread_mutex_lock(&m->cp.lock);
    q->block.hsa.id = ++m->cp.queue_ids;
    pthread_mutex_unlock(&m->cp.lock);
    if (!make_seen(q, packets)) {
        queue_free(q);
        return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a queue of %u packets", packets);
    }
    pthread_mutex_lock(&m->cp.lock);
    for (const struct cp_queue *other = m->cp.queues; other && !beside; other = other->next)
        if (other->agent == agent && other->number > q->number)
            q->number = other->number;
    q->number = beside ? beside->number : q->number + 1;
    q->next = m->cp.queues;
    m->cp.queues = q;
    pthread_mutex_unlock(&m->cp.lock);
    *out = &q->block;
    return EHP_OK;
}

int ehp_queue_create(ehp_machine *m, unsigned agent, uint32_t packets, int priority,
                     struct ehp_queue_block **out)
{
    return queue_create(m, agent, packets, priority, NULL, out);
}

int ehp_queue_beside(struct ehp_queue_block *block, struct ehp_queue_block **out)
{
    const struct cp_queue *q = (const struct cp_queue *)block;
    return queue_create(machine_of(q->cp), q->agent, block->hsa.size, (int)q->priority, q, out);
}

uint64_t ehp_queue_address(const struct ehp_queue_block *block)
{
    return (uint64_t)(uintptr_t)((const struct cp_queue *)block)->seen;
}

/* ---- waiting for the reader ---- */

static bool has_finished(void *context)
{
    return cp_queue_idle(context);
}

struct room {
    const struct ehp_queue_block *queue;
    uint64_t end; /* packets up to here have room */
};

static bool has_room(void *context)
{
    const struct room *r = context;
    return r->end - __atomic_load_n(&r->queue->read_dispatch_id, __ATOMIC_ACQUIRE) <= r->queue->hsa.size;
}

/* False: the time is over. */
static bool wait_for(struct cp *cp, bool (*holds)(void *context), void *context, uint64_t timeout_ns)
{
    const struct engine_wish wish = {.holds = holds, .context = context};
    return cp->engine->ops->wait(cp->engine, &wish, timeout_ns);
}

/*
 * Lets packets that have started finish; those that have not are not executed, as when a process destroys its
 * queue.  But they complete: other queues may wait for their signals.
 */
void ehp_queue_stop(struct ehp_queue_block *block)
{
    struct cp_queue *q = (struct cp_queue *)block;
    struct cp *cp = q->cp;
    pthread_mutex_lock(&cp->lock);
    q->destroyed = true;
    if (q->blocked) {
        q->blocked = false;
        cp->blocked_count--;
    }
    pthread_mutex_unlock(&cp->lock);
    if (!cp_queue_idle(q)) {
        ehp_signal_store(block->hsa.doorbell_signal, (int64_t)block->write_dispatch_id - 1);
        wait_for(cp, has_finished, q, UINT64_MAX);
    }
}

void ehp_queue_destroy(struct ehp_queue_block *block)
{
    if (!block)
        return;
    struct cp_queue *q = (struct cp_queue *)block;
    struct cp *cp = q->cp;
    ehp_queue_stop(block);
    pthread_mutex_lock(&cp->lock);
    for (struct cp_queue **at = &cp->queues; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    pthread_mutex_unlock(&cp->lock);
    queue_free(q);
}

uint64_t ehp_queue_reserve(struct ehp_queue_block *q, unsigned packets)
{
    uint64_t first = __atomic_fetch_add(&q->write_dispatch_id, packets, __ATOMIC_ACQ_REL);
    struct room room = {q, first + packets};
    if (!has_room(&room)) /* its reader makes some */
        wait_for(((struct cp_queue *)q)->cp, has_room, &room, UINT64_MAX);
    return first;
}

static void publish(struct ehp_queue_block *q, const union ehp_packet *packet, uint64_t index)
{
    union ehp_packet *slot = (union ehp_packet *)q->hsa.base_address + (index & (q->hsa.size - 1));
    memcpy((char *)slot + 4, (const char *)packet + 4, sizeof(*slot) - 4);
    uint32_t head;
    memcpy(&head, packet, 4); /* header and setup are published together */
    __atomic_store_n((uint32_t *)slot, head, __ATOMIC_RELEASE);
    ehp_signal_store(q->hsa.doorbell_signal, (int64_t)index);
}

uint64_t ehp_queue_submit(struct ehp_queue_block *q, const union ehp_packet *packet)
{
    uint64_t index = ehp_queue_reserve(q, 1);
    publish(q, packet, index);
    return index;
}

bool ehp_queue_offer(struct ehp_queue_block *q, const union ehp_packet *packet, uint64_t timeout_ns)
{
    uint64_t index = __atomic_load_n(&q->write_dispatch_id, __ATOMIC_ACQUIRE);
    do {
        struct room room = {q, index + 1};
        if (!has_room(&room) &&
            (!timeout_ns || !wait_for(((struct cp_queue *)q)->cp, has_room, &room, timeout_ns)))
            return false;
    } while (!__atomic_compare_exchange_n(&q->write_dispatch_id, &index, index + 1, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    publish(q, packet, index);
    return true;
}

/*
 * The driver deals the bits of a mask out to the XCDs in turn, in each of them to the shader engines in turn
 * (Linux, kfd_mqd_manager.c: mqd_symmetrically_map_cu_mask).  Returns how many CUs are enabled.
 */
static unsigned deal_mask(const struct cp *cp, unsigned xccs, const uint32_t *mask, unsigned bits,
                          uint32_t *out)
{
    const unsigned cus = cp->xcd_cus;
    unsigned enabled = 0;
    for (unsigned x = 0; x < xccs; x++)
        for (unsigned i = 0, bit = x; i < cus; i++, bit += xccs) {
            const unsigned at = x * cus + cp->launch_order[i];
            if (bit < bits && (mask[bit / 32] >> bit % 32 & 1)) {
                out[at / 32] |= UINT32_C(1) << at % 32;
                enabled++;
            }
        }
    return enabled;
}

int ehp_queue_cu_mask(struct ehp_queue_block *block, const uint32_t *mask, unsigned bits)
{
    struct cp_queue *q = (struct cp_queue *)block;
    const unsigned xccs = q->cp->xcds_per_agent, cus = q->cp->xcd_cus * xccs;
    uint32_t *copy = NULL;
    if (mask) {
        copy = calloc((cus + 31) / 32, sizeof(*copy));
        if (!copy)
            return machine_error(machine_of(q->cp), EHP_ERR_NO_MEMORY, "no memory for a CU mask");
        if (!deal_mask(q->cp, xccs, mask, bits, copy)) {
            free(copy);
            return machine_error(machine_of(q->cp), EHP_ERR_INVALID,
                                 "a CU mask without any of the agent's %u CUs", cus);
        }
    }
    pthread_mutex_lock(&q->cp->lock);
    free(q->cu_mask);
    q->cu_mask = copy;
    pthread_mutex_unlock(&q->cp->lock);
    return EHP_OK;
}

int ehp_queue_fault(struct ehp_queue_block *block, struct ehp_fault *out)
{
    struct cp_queue *q = (struct cp_queue *)block;
    pthread_mutex_lock(&q->cp->lock);
    bool faulted = q->fault.kind != EHP_FAULT_NONE;
    if (faulted && out)
        *out = q->fault;
    pthread_mutex_unlock(&q->cp->lock);
    return faulted ? EHP_OK : EHP_ERR_NOT_FOUND;
}
