/* SPDX-License-Identifier: MIT */
/*
 * The hostcall protocol of the device library (ockl, __ockl_hostcall_internal,
 * as rocm-device-libs 5 and 6 compile it): a wave pops a packet from the free
 * stack, fills a header and eight words a lane, pushes it on the ready stack,
 * adds one to the doorbell and spins until the host clears the ready flag.
 *
 * Stack words are a packet's index in their low bits and a counter against ABA
 * above; a wave never waits for a packet, so there are as many packets as the
 * device can have waves.
 */
#include "hostcall.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

#define HOSTCALL_LANES 64
#define HOSTCALL_BEGIN 1 /* the doorbell's first value */

enum hostcall_service {
    HOSTCALL_FUNCTION = 1,
    HOSTCALL_PRINTF = 2,
    HOSTCALL_DEVMEM = 3,
    HOSTCALL_SANITIZER = 4,
};

struct hostcall_header {
    uint64_t next;
    uint64_t active;
    uint32_t service;
    _Atomic uint32_t control; /* bit 0: ready */
};
_Static_assert(sizeof(struct hostcall_header) == 24, "shared with the device library");

struct hostcall_payload {
    uint64_t slots[HOSTCALL_LANES][8];
};

struct hostcall_buffer {
    struct hostcall_header *headers;
    struct hostcall_payload *payloads;
    ehp_signal doorbell;
    _Atomic uint64_t free_stack;
    _Atomic uint64_t ready_stack;
    uint64_t index_mask;
};
_Static_assert(sizeof(struct hostcall_buffer) == 48, "shared with the device library");

/* A printf on its way: it arrives in pieces of up to seven words. */
struct hostcall_message {
    uint64_t *words;
    size_t count, room;
    bool used;
};

struct hip_hostcall {
    struct hip_device *device;
    struct hostcall_buffer *buffer;
    pthread_t thread;
    sem_t serves;         /* the thread does */
    pthread_mutex_t lock; /* messages */
    struct hostcall_message *messages;
    size_t message_count;
    _Atomic bool printed;
};

/* ---- printf -------------------------------------------------------------------------------------------- */

/* A printf word: bit 0 begins a message, bit 1 ends it, bits 5-7 count its words, bits 8- name it. */
#define MESSAGE_BEGIN     UINT64_C(1)
#define MESSAGE_END       UINT64_C(2)
#define MESSAGE_LENGTH(d) ((size_t)((d) >> 5 & 7))
#define MESSAGE_ID(d)     ((size_t)((d) >> 8))

static bool message_find(struct hip_hostcall *call, uint64_t descriptor, size_t *id)
{
    if (!(descriptor & MESSAGE_BEGIN)) {
        *id = MESSAGE_ID(descriptor);
        return *id < call->message_count && call->messages[*id].used;
    }
    for (*id = 0; *id < call->message_count; ++*id)
        if (!call->messages[*id].used)
            break;
    if (*id == call->message_count) {
        size_t count = call->message_count ? call->message_count * 2 : 64;
        struct hostcall_message *more = realloc(call->messages, count * sizeof *more);
        if (!more)
            return false;
        memset(more + call->message_count, 0, (count - call->message_count) * sizeof *more);
        call->messages = more;
        call->message_count = count;
    }
    call->messages[*id].used = true;
    call->messages[*id].count = 0;
    return true;
}

static void hostcall_printf(struct hip_hostcall *call, uint64_t *slot)
{
    uint64_t descriptor = slot[0];
    size_t id, length = MESSAGE_LENGTH(descriptor);

    if (!message_find(call, descriptor, &id)) {
        slot[0] = UINT64_MAX; /* printf returns -1 */
        return;
    }
    struct hostcall_message *message = &call->messages[id];
    if (message->count + length > message->room) {
        size_t room = (message->count + length) * 2 + 32;
        uint64_t *words = realloc(message->words, room * sizeof *words);
        if (!words)
            length = 0;
        else {
            message->words = words;
            message->room = room;
        }
    }
    memcpy(message->words + message->count, slot + 1, length * sizeof *slot);
    message->count += length;
    if (descriptor & MESSAGE_END) {
        slot[0] = (uint64_t)(int64_t)hip_printf_message(message->words, message->count, call->device);
        message->used = false;
        atomic_store(&call->printed, true);
    } else {
        slot[0] = (descriptor & ~MESSAGE_BEGIN & 0xff) | (uint64_t)id << 8;
    }
}

/* ---- device malloc ------------------------------------------------------------------------------------- */

/* Frees slot[0], or allocates slot[1] bytes: pages, or 2 MiB slabs that the device finds by masking
 * addresses. */
static void hostcall_devmem(struct hip_hostcall *call, uint64_t *slot)
{
    ehp_machine *machine = hip_runtime()->machine;
    const uint64_t slab = UINT64_C(2) << 20;
    void *memory;

    if (slot[0]) {
        ehp_mem_free(machine, (void *)(uintptr_t)slot[0]);
        slot[0] = 0;
        return;
    }
    uint64_t align = slot[1] == slab ? slab : 4096;
    slot[0] = ehp_mem_alloc(machine, call->device->agent, EHP_MEM_DEVICE, slot[1], align, &memory) == EHP_OK
                  ? (uint64_t)(uintptr_t)memory
                  : 0;
}

/* ---- the serving thread -------------------------------------------------------------------------------- */

typedef void hostcall_function(uint64_t *output, const uint64_t *input);

static void hostcall_function_call(uint64_t *slot)
{
    uint64_t output[2] = {0, 0};
    hostcall_function *function = (hostcall_function *)(uintptr_t)slot[0];

    if (function)
        function(output, slot + 1);
    slot[0] = output[0];
    slot[1] = output[1];
}

static void hostcall_serve(struct hip_hostcall *call, struct hostcall_header *header,
                           struct hostcall_payload *payload)
{
    for (uint64_t lanes = header->active; lanes; lanes &= lanes - 1) {
        uint64_t *slot = payload->slots[__builtin_ctzll(lanes)];
        switch (header->service) {
        case HOSTCALL_FUNCTION:
            hostcall_function_call(slot);
            break;
        case HOSTCALL_PRINTF:
            hostcall_printf(call, slot);
            break;
        case HOSTCALL_DEVMEM:
            hostcall_devmem(call, slot);
            break;
        case HOSTCALL_SANITIZER:
            fprintf(stderr, "ehp: device address sanitizer: bad access at %#llx, pc %#llx\n",
                    (unsigned long long)slot[0], (unsigned long long)slot[1]);
            break;
        default:
            fprintf(stderr, "ehp: device code asks for host service %u, which does not exist\n",
                    header->service);
            slot[0] = slot[1] = 0;
            break;
        }
    }
}

static void hostcall_take(struct hip_hostcall *call)
{
    struct hostcall_buffer *buffer = call->buffer;
    uint64_t ready = atomic_exchange_explicit(&buffer->ready_stack, 0, memory_order_acquire), turned = 0;

    /* The last to arrive is on top: turn the list round. */
    while (ready) {
        struct hostcall_header *header = &buffer->headers[ready & buffer->index_mask];
        uint64_t next = header->next;
        header->next = turned;
        turned = ready;
        ready = next;
    }
    pthread_mutex_lock(&call->lock);
    while (turned) {
        uint64_t index = turned & buffer->index_mask;
        struct hostcall_header *header = &buffer->headers[index];
        turned = header->next; /* the wave owns the packet again after the next line but one */
        hostcall_serve(call, header, &buffer->payloads[index]);
        atomic_fetch_and_explicit(&header->control, ~UINT32_C(1), memory_order_release);
    }
    pthread_mutex_unlock(&call->lock);
}

static void *hostcall_main(void *argument)
{
    struct hip_hostcall *call = argument;
    int64_t seen = HOSTCALL_BEGIN - 1;

    /* The first wait is over at once, and simulated time stands still until the next one. */
    seen = ehp_signal_wait(call->buffer->doorbell, EHP_COND_NE, seen, UINT64_MAX);
    sem_post(&call->serves);
    for (;;) {
        seen = ehp_signal_wait(call->buffer->doorbell, EHP_COND_NE, seen, UINT64_MAX);
        hostcall_take(call);
    }
    return NULL;
}

/* ---- making it ----------------------------------------------------------------------------------------- */

static void hostcall_stack(struct hostcall_buffer *buffer)
{
    uint64_t count = buffer->index_mask + 1;

    /* No stack word may be 0, that ends a list: packet 0 begins with a counter of 1. */
    uint64_t next = 0;
    for (uint64_t i = count; i-- > 0;) {
        buffer->headers[i].next = next;
        atomic_store_explicit(&buffer->headers[i].control, 0, memory_order_relaxed);
        next = i ? i : count;
    }
    atomic_store(&buffer->ready_stack, 0);
    atomic_store(&buffer->free_stack, next);
}

static struct hip_hostcall *hostcall_new(struct hip_device *device)
{
    ehp_machine *machine = hip_runtime()->machine;
    const struct ehp_agent_info *info = &device->info;
    uint64_t waves = (uint64_t)info->cus * info->simds_per_cu * info->waves_per_simd, count = 64;
    struct hip_hostcall *call = calloc(1, sizeof *call);
    void *buffer, *headers, *payloads;

    while (count < waves)
        count *= 2;
    if (!call)
        return NULL;
    call->device = device;
    pthread_mutex_init(&call->lock, NULL);
    sem_init(&call->serves, 0, 0);
    if (ehp_mem_alloc(machine, device->agent, EHP_MEM_INTERNAL, sizeof *call->buffer, 0, &buffer) != EHP_OK ||
        ehp_mem_alloc(machine, device->agent, EHP_MEM_INTERNAL, count * sizeof(struct hostcall_header), 0,
                      &headers) != EHP_OK ||
        ehp_mem_alloc(machine, device->agent, EHP_MEM_INTERNAL, count * sizeof(struct hostcall_payload), 0,
                      &payloads) != EHP_OK) {
        free(call);
        return NULL;
    }
    call->buffer = buffer;
    call->buffer->headers = headers;
    call->buffer->payloads = payloads;
    call->buffer->index_mask = count - 1;
    hostcall_stack(call->buffer);
    if (ehp_signal_create(machine, HOSTCALL_BEGIN, &call->buffer->doorbell) != EHP_OK ||
        thread_start(&call->thread, hostcall_main, call) != 0) {
        free(call);
        return NULL;
    }
    pthread_detach(call->thread);
    while (sem_wait(&call->serves) != 0) /* a kernel that begins sooner would see how soon that is */
        ;
    return call;
}

void *hip_hostcall_buffer(struct hip_device *device)
{
    struct hip_hostcall *call = atomic_load_explicit(&device->hostcall, memory_order_acquire);

    if (!call) {
        pthread_mutex_lock(&device->lock);
        call = atomic_load(&device->hostcall);
        if (!call) {
            call = hostcall_new(device);
            atomic_store_explicit(&device->hostcall, call, memory_order_release);
        }
        pthread_mutex_unlock(&device->lock);
    }
    return call ? call->buffer : NULL;
}

/*
 * The heap of device malloc is a struct of counters and tables (about 100 KiB)
 * that the device library grows by asking for slabs.  All zero is its empty
 * state; with no initial slabs, the first malloc asks for one.
 */
#define HOSTCALL_HEAP (256u << 10)

void *hip_hostcall_heap(struct hip_device *device)
{
    void *heap = atomic_load_explicit(&device->heap, memory_order_acquire);

    if (!heap) {
        pthread_mutex_lock(&device->lock);
        heap = atomic_load(&device->heap);
        if (!heap && ehp_mem_alloc(hip_runtime()->machine, device->agent, EHP_MEM_INTERNAL, HOSTCALL_HEAP, 0,
                                   &heap) == EHP_OK)
            atomic_store_explicit(&device->heap, heap, memory_order_release);
        pthread_mutex_unlock(&device->lock);
    }
    return heap;
}

void hip_hostcall_flush(struct hip_device *device)
{
    struct hip_hostcall *call = atomic_load_explicit(&device->hostcall, memory_order_acquire);

    if (call && atomic_exchange(&call->printed, false))
        fflush(stdout);
}

void hip_hostcall_reset(struct hip_device *device)
{
    struct hip_hostcall *call = atomic_load(&device->hostcall);
    void *heap = atomic_exchange(&device->heap, NULL);

    if (heap)
        ehp_mem_free(hip_runtime()->machine, heap);
    if (!call)
        return;
    pthread_mutex_lock(&call->lock);
    hostcall_stack(call->buffer); /* waves that died kept their packets */
    for (size_t i = 0; i < call->message_count; i++)
        call->messages[i].used = false;
    pthread_mutex_unlock(&call->lock);
}
