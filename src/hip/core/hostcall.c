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
 *
 * The buffer is the device's to write to.  So the host keeps for itself where its
 * parts are and what it has given away, takes from the buffer what it checks, once,
 * and calls it the program's error when that cannot be what the device library
 * writes.
 */
#include "hip/core/hostcall.h"

#include <semaphore.h>
#include <stdarg.h>
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

/* More than a printf's arguments and strings can have, of as many as are printed at the same time. */
#define HOSTCALL_WORDS    (size_t)(16u << 20)
#define HOSTCALL_MESSAGES (size_t)(4u << 20)

struct hip_hostcall {
    struct hip_device *device;
    struct hostcall_buffer *buffer;
    struct hostcall_header *headers; /* where the buffer says that they are, as long as nobody changes it */
    struct hostcall_payload *payloads;
    uint64_t count; /* packets, a power of two */
    ehp_signal doorbell;
    pthread_t thread;
    sem_t serves;         /* the thread does */
    pthread_mutex_t lock; /* what follows */
    struct hostcall_message *messages;
    size_t message_count;
    void **memory; /* that the device has asked for */
    size_t memory_count, memory_room;
    bool refused; /* something, and said so */
    _Atomic bool printed;
};

/* What the device asks for cannot be: says so once, and what is launched from now on fails. */
__attribute__((format(printf, 2, 3))) static void hostcall_refuse(struct hip_hostcall *call,
                                                                  const char *format, ...)
{
    va_list list;
    int none = 0;

    atomic_compare_exchange_strong(&call->device->fault, &none, (int)hipErrorLaunchFailure);
    if (call->refused)
        return;
    call->refused = true;
    fputs("ehp: host call: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

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
        if (call->message_count >= HOSTCALL_MESSAGES)
            return false;
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
        uint64_t *words =
            message->count < HOSTCALL_WORDS ? realloc(message->words, room * sizeof *words) : NULL;
        if (!words)
            length = 0;
        else {
            message->words = words;
            message->room = room;
        }
    }
    if (length)
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

static bool hostcall_free(struct hip_hostcall *call, void *memory)
{
    for (size_t i = call->memory_count; i-- > 0;)
        if (call->memory[i] == memory) {
            call->memory[i] = call->memory[--call->memory_count];
            ehp_mem_free(hip_runtime()->machine, memory);
            return true;
        }
    return false;
}

static void *hostcall_alloc(struct hip_hostcall *call, uint64_t bytes)
{
    const uint64_t slab = UINT64_C(2) << 20, align = bytes == slab ? slab : 4096;
    void *memory;

    if (call->memory_count == call->memory_room) {
        size_t room = call->memory_room * 2 + 64;
        void **more = realloc(call->memory, room * sizeof *more);
        if (!more)
            return NULL;
        call->memory = more;
        call->memory_room = room;
    }
    if (ehp_mem_alloc(hip_runtime()->machine, call->device->agent, EHP_MEM_DEVICE, bytes, align, &memory) !=
        EHP_OK)
        return NULL;
    call->memory[call->memory_count++] = memory;
    return memory;
}

/* Frees slot[0], or allocates slot[1] bytes: pages, or 2 MiB slabs that the device finds by masking
 * addresses. */
static void hostcall_devmem(struct hip_hostcall *call, uint64_t *slot)
{
    if (!slot[0]) {
        slot[0] = (uint64_t)(uintptr_t)hostcall_alloc(call, slot[1]);
        return;
    }
    if (!hostcall_free(call, (void *)(uintptr_t)slot[0]))
        hostcall_refuse(call, "device code frees %#llx, which is not what its malloc was given",
                        (unsigned long long)slot[0]);
    slot[0] = 0;
}

/* ---- functions ----------------------------------------------------------------------------------------- */

typedef void hostcall_function(uint64_t *output, const uint64_t *input);

static bool hostcall_is_code(uint64_t address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (maps && !found && getline(&line, &room, maps) > 0) {
        char *end, *more;
        unsigned long long first = strtoull(line, &end, 16),
                           last = *end == '-' ? strtoull(end + 1, &more, 16) : 0;
        found = last && address >= first && address < last && strlen(more) > 3 && more[3] == 'x';
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
}

static void hostcall_function_call(struct hip_hostcall *call, uint64_t *slot)
{
    uint64_t output[2] = {0, 0};
    hostcall_function *function = (hostcall_function *)(uintptr_t)slot[0];

    if (hip_runtime()->isolate)
        hostcall_refuse(call,
                        "device code asks for a call of the host's function at %#llx: --isolate has none",
                        (unsigned long long)slot[0]);
    else if (function && !hostcall_is_code(slot[0]))
        hostcall_refuse(call, "device code asks for a call of the host's function at %#llx: there is no code",
                        (unsigned long long)slot[0]);
    else if (function)
        function(output, slot + 1);
    slot[0] = output[0];
    slot[1] = output[1];
}

/* ---- the serving thread -------------------------------------------------------------------------------- */

/* A lane's request; leaves the answer in the first two of its words. */
static void hostcall_lane(struct hip_hostcall *call, uint32_t service, uint64_t *slot)
{
    switch (service) {
    case HOSTCALL_FUNCTION:
        hostcall_function_call(call, slot);
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
        hostcall_refuse(call, "device code asks for service %u, which does not exist", service);
        slot[0] = slot[1] = 0;
        break;
    }
}

static void hostcall_serve(struct hip_hostcall *call, const struct hostcall_header *header,
                           struct hostcall_payload *payload)
{
    uint32_t service = __atomic_load_n(&header->service, __ATOMIC_RELAXED);
    uint64_t active = __atomic_load_n(&header->active, __ATOMIC_RELAXED), slot[8];

    for (uint64_t lanes = active; lanes; lanes &= lanes - 1) {
        uint64_t *words = payload->slots[__builtin_ctzll(lanes)];
        memcpy(slot, words, sizeof slot); /* what is checked does not change any more */
        hostcall_lane(call, service, slot);
        memcpy(words, slot, 2 * sizeof *slot);
    }
}

static void hostcall_take(struct hip_hostcall *call)
{
    const uint64_t mask = call->count - 1;
    uint64_t turned = 0, packets = 0;

    pthread_mutex_lock(&call->lock); /* a reset is before all of it or behind it */
    uint64_t ready = atomic_exchange_explicit(&call->buffer->ready_stack, 0, memory_order_acquire);
    /* The last to arrive is on top: turn the list round. */
    for (; ready && packets < call->count; packets++) {
        struct hostcall_header *header = &call->headers[ready & mask];
        uint64_t next = __atomic_load_n(&header->next, __ATOMIC_RELAXED);
        __atomic_store_n(&header->next, turned, __ATOMIC_RELAXED);
        turned = ready;
        ready = next;
    }
    if (ready)
        hostcall_refuse(call, "device code has overwritten the list of its calls, which has no end");
    for (; turned && packets > 0; packets--) {
        uint64_t index = turned & mask;
        struct hostcall_header *header = &call->headers[index];
        turned = __atomic_load_n(&header->next, __ATOMIC_RELAXED);
        hostcall_serve(call, header, &call->payloads[index]);
        atomic_fetch_and_explicit(&header->control, ~UINT32_C(1),
                                  memory_order_release); /* the wave's again */
    }
    pthread_mutex_unlock(&call->lock);
}

static void *hostcall_main(void *argument)
{
    struct hip_hostcall *call = argument;
    int64_t seen = HOSTCALL_BEGIN - 1;

    /* The first wait is over at once, and simulated time stands still until the next one. */
    seen = ehp_signal_wait(call->doorbell, EHP_COND_NE, seen, UINT64_MAX);
    sem_post(&call->serves);
    for (;;) {
        seen = ehp_signal_wait(call->doorbell, EHP_COND_NE, seen, UINT64_MAX);
        hostcall_take(call);
    }
    return NULL;
}

/* ---- making it ----------------------------------------------------------------------------------------- */

/* The buffer as it begins: all packets are free. */
static void hostcall_begin(struct hip_hostcall *call, void *doorbell)
{
    struct hostcall_buffer *buffer = call->buffer;

    buffer->headers = call->headers;
    buffer->payloads = call->payloads;
    buffer->doorbell.handle = (uint64_t)(uintptr_t)doorbell;
    buffer->index_mask = call->count - 1;
    /* No stack word may be 0, that ends a list: packet 0 begins with a counter of 1. */
    uint64_t next = 0;
    for (uint64_t i = call->count; i-- > 0;) {
        call->headers[i].next = next;
        atomic_store_explicit(&call->headers[i].control, 0, memory_order_relaxed);
        next = i ? i : call->count;
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
    void *buffer, *headers, *payloads, *doorbell;

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
    call->headers = headers;
    call->payloads = payloads;
    call->count = count;
    if (ehp_signal_create(machine, HOSTCALL_BEGIN, &call->doorbell) != EHP_OK ||
        ehp_signal_share(call->doorbell, &doorbell) != EHP_OK) {
        free(call);
        return NULL;
    }
    hostcall_begin(call, doorbell);
    if (thread_start(&call->thread, hostcall_main, call) != 0) {
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
    void *heap = atomic_exchange(&device->heap, NULL), *doorbell;

    if (heap)
        ehp_mem_free(hip_runtime()->machine, heap);
    if (!call)
        return;
    pthread_mutex_lock(&call->lock);
    if (ehp_signal_share(call->doorbell, &doorbell) == EHP_OK)
        hostcall_begin(call, doorbell); /* waves that died kept their packets */
    for (size_t i = 0; i < call->message_count; i++)
        call->messages[i].used = false;
    while (call->memory_count)
        ehp_mem_free(hip_runtime()->machine, call->memory[--call->memory_count]);
    call->refused = false;
    pthread_mutex_unlock(&call->lock);
}
