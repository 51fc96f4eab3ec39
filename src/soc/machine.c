/* SPDX-License-Identifier: MIT */
/* Opening and closing machines, and the parts of the interface that belong to no room; see machine.h. */
#include "soc/machine.h"

#include "ccd/ccd.h"
#include "cp/sim.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "wave/aperture.h"
#include "wave/fault.h"
#include "exec/observe.h"
#include "fabric/fabric.h"
#include "load/code.h"
#include "hsa/hsa.h"
#include "alloc/site.h"
#include "vm/vm.h"

const char *ehp_version(void)
{
    return "0.1.0";
}

const char *ehp_status_name(int status)
{
    switch (status) {
    case EHP_OK:
        return "ok";
    case EHP_ERR_INVALID:
        return "invalid argument";
    case EHP_ERR_NO_MEMORY:
        return "out of memory";
    case EHP_ERR_NOT_FOUND:
        return "not found";
    case EHP_ERR_BAD_CHIP:
        return "bad chip file";
    case EHP_ERR_BAD_IMAGE:
        return "bad code object";
    case EHP_ERR_WRONG_ISA:
        return "code object for another processor";
    case EHP_ERR_UNSUPPORTED:
        return "not supported";
    case EHP_ERR_OUT_OF_RESOURCES:
        return "out of resources";
    case EHP_ERR_TIMEOUT:
        return "timeout";
    case EHP_ERR_FAULT:
        return "queue inactive after a fault";
    default:
        return "unknown status";
    }
}

uint64_t machine_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- errors ---- */

enum { ERROR_BYTES = 512 };

/* Names from files, paths and whatever else is in a message. */
static void make_printable(char *text, size_t bytes)
{
    char room[ERROR_BYTES];
    if (ehp_printable(text, room, bytes < sizeof(room) ? bytes : sizeof(room)) == room)
        snprintf(text, bytes, "%s", room);
}

int machine_error(struct ehp_machine *m, int status, const char *format, ...)
{
    char *text = pthread_getspecific(m->error_key);
    if (!text) {
        text = malloc(ERROR_BYTES);
        if (!text || pthread_setspecific(m->error_key, text) != 0) {
            free(text);
            return status;
        }
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, ERROR_BYTES, format, arguments);
    va_end(arguments);
    make_printable(text, ERROR_BYTES);
    return status;
}

const char *ehp_error_text(ehp_machine *m)
{
    const char *text = pthread_getspecific(m->error_key);
    return text ? text : "";
}

/* ---- code ---- */

static void *code_memory(void *context, uint64_t bytes, uint64_t align)
{
    struct ehp_machine *m = context;
    int status;
    return memory_alloc(&m->memory, 0, EHP_MEM_CODE, bytes, align, &status);
}

static void code_memory_free(void *context, void *base)
{
    struct ehp_machine *m = context;
    memory_free(&m->memory, base);
}

struct ehp_code *machine_code_containing(struct ehp_machine *m, uint64_t address)
{
    for (size_t i = 0; i < m->code_count; i++)
        if (code_contains(m->codes[i], address))
            return m->codes[i];
    return NULL;
}

/* Where the function around pc begins and ends; exec_bounds_fn. */
static bool code_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    struct ehp_machine *m = context;
    pthread_rwlock_rdlock(&m->codes_lock);
    struct ehp_code *code = machine_code_containing(m, pc);
    bool found = code && code_function_at(code, pc, start, end, NULL);
    pthread_rwlock_unlock(&m->codes_lock);
    return found;
}

/* Whether code looks at float exceptions; exec_observes_fn. */
static bool code_observes(void *context, uint64_t pc)
{
    struct ehp_machine *m = context;
    pthread_rwlock_rdlock(&m->codes_lock);
    const struct ehp_code *code = machine_code_containing(m, pc);
    const bool observes = code && code->observes_exceptions;
    pthread_rwlock_unlock(&m->codes_lock);
    return observes;
}

static bool observes_exceptions(const struct ehp_code *code)
{
    for (unsigned i = 0; i < code->kernel_count; i++)
        if (kd_exceptions(code->kernels[i].descriptor))
            return true;
    for (unsigned i = 0; i < code->executable_count; i++) {
        const struct code_range *range = &code->executable[i];
        if (exec_observes((const uint32_t *)(uintptr_t)range->start, (range->end - range->start) / 4))
            return true;
    }
    return false;
}

int ehp_code_load(ehp_machine *m, unsigned agent, const void *image, size_t bytes, ehp_code **out)
{
    if (agent >= m->agents || !image)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u, or no image", agent);
    struct code_error error = {0};
    struct code_params params = {
        .allocator = {.context = m, .alloc = code_memory, .free = code_memory_free},
        .isa = m->isa,
        .error = &error,
    };
    struct ehp_code *code;
    fault_install(); /* the image may be in a mapped file that was cut off */
    int status = code_load(&params, image, bytes, &code);
    if (status != EHP_OK)
        return machine_error(m, status, "%s", error.text);
    code->machine = m;
    code->agent = agent;
    code->observes_exceptions = observes_exceptions(code);
    pthread_rwlock_wrlock(&m->codes_lock);
    if (m->code_count == m->code_capacity) {
        size_t capacity = m->code_capacity ? m->code_capacity * 2 : 16;
        struct ehp_code **codes = realloc(m->codes, capacity * sizeof(struct ehp_code *));
        if (!codes) {
            pthread_rwlock_unlock(&m->codes_lock);
            code_destroy(code);
            return machine_error(m, EHP_ERR_NO_MEMORY, "no memory for a code object");
        }
        m->codes = codes;
        m->code_capacity = capacity;
    }
    m->codes[m->code_count++] = code;
    pthread_rwlock_unlock(&m->codes_lock);
    *out = code;
    return EHP_OK;
}

void ehp_code_unload(ehp_code *code)
{
    if (!code)
        return;
    struct ehp_machine *m = code->machine;
    pthread_rwlock_wrlock(&m->codes_lock);
    for (size_t i = 0; i < m->code_count; i++)
        if (m->codes[i] == code) {
            m->codes[i] = m->codes[--m->code_count];
            break;
        }
    pthread_rwlock_unlock(&m->codes_lock);
    uint64_t start = (uint64_t)(uintptr_t)code->base;
    exec_code_drop(&m->code, start, start + code->bytes);
    code_destroy(code);
}

/* ---- what waves ask of the machine ---- */

static struct ehp_machine *machine_of(const struct wave *w)
{
    const struct cp_dispatch *d = w->wg->owner;
    return d->machine;
}

void wave_interrupt(struct wave *w)
{
    signal_interrupt(machine_of(w), w->m0 & 0xffffff);
}

bool wave_may_access(struct wave *w, uint64_t address, unsigned bytes)
{
    struct wave_guard *g = w->guard;
    if (address >= APERTURE_HOST_LIMIT)
        return false;
    struct memory *memory = &machine_of(w)->memory;
    if (memory->xnack || address - memory->arena < memory->arena_bytes)
        return true;
    uint64_t registrations = memory->registrations;
    if (registrations == g->registrations && address >= g->registered_first &&
        address + bytes <= g->registered_end)
        return true;
    g->registrations = registrations;
    return memory_registered(memory, address, bytes, &g->registered_first, &g->registered_end);
}

uint64_t wave_clock(const struct wave *w)
{
    const struct ehp_machine *m = machine_of(w);
    if (m->cp.sim)
        return sim_clock(m->cp.sim, w->wg->xcc);
    return (uint64_t)((double)machine_now_ns() * 1e-9 * m->clock_hz);
}

uint64_t wave_realtime(const struct wave *w)
{
    struct ehp_machine *m = machine_of(w);
    if (m->cp.sim)
        return sim_ps(m->cp.sim, w->wg->xcc) / 1000 * chip_get(&m->chip, CHIP_chip_timestamp_clock) / 1000;
    return ehp_timestamp(m);
}

uint64_t ehp_timestamp(ehp_machine *m)
{
    uint64_t ns = m->cp.sim ? sim_host_ns(m->cp.sim) : machine_now_ns();
    return ns * chip_get(&m->chip, CHIP_chip_timestamp_clock) / 1000;
}

/* ---- open and close ---- */

static int choose_partition(struct ehp_machine *m, struct ehp_options *options)
{
    const char *wanted =
        options->partition && *options->partition ? options->partition : m->chip.partition[0].name;
    char known[64] = "";
    for (unsigned i = 0; i < m->chip.partitions; i++) {
        if (!strcmp(m->chip.partition[i].name, wanted)) {
            m->agents = m->chip.partition[i].count;
            m->xcds_per_agent = chip_get(&m->chip, CHIP_xcd_count) / m->agents;
            return EHP_OK;
        }
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "",
                 m->chip.partition[i].name);
    }
    snprintf(options->error, sizeof(options->error), "chip %s has no partition mode \"%s\"; it has %s",
             m->chip.name, wanted, known);
    return EHP_ERR_INVALID;
}

static uint64_t package_memory(const struct ehp_machine *m)
{
    return (uint64_t)(m->chip.value[CHIP_hbm_stacks] * m->chip.value[CHIP_hbm_stack_size]);
}

/* Of the process. */
static uint64_t resident_bytes(void)
{
    unsigned long long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%llu %llu", &all, &resident) != 2)
            resident = 0;
        fclose(file);
    }
    return resident * 4096;
}

/* The chip's target with the state of XNACK, which is the process's choice. */
static void name_isa(struct ehp_machine *m, bool xnack)
{
    snprintf(m->isa, sizeof(m->isa), "%s", m->chip.text[CHIP_TEXT_chip_isa]);
    char *feature = strstr(m->isa, ":xnack");
    if (feature)
        feature[strlen(":xnack")] = xnack ? '+' : '-';
}

/*
 * The host program has touched memory that it had freed: it dies of that, as on
 * the chip, but may know why.  Runs in the signal handler of a thread that was in
 * the program's code, so it holds no lock of ours.
 */
static void tell_host_fault(void *context, uint64_t address)
{
    struct ehp_machine *m = context;
    struct memory_block block;
    bool inside;
    char text[768];
    if (address - m->memory.arena >= m->memory.arena_bytes)
        return;
    bool freed = memory_find_freed(&m->memory, address, &block);
    if (!freed && !memory_find(&m->memory, address, &block, &inside))
        return;
    site_print_block(&block, freed, text, sizeof(text));
    fprintf(stderr, "ehp: host access to %#llx: %s %s\n", (unsigned long long)address,
            freed                                 ? "freed memory,"
            : address >= block.base + block.bytes ? "past the end of"
                                                  : "before",
            text);
}

int ehp_open(struct ehp_options *options, ehp_machine **out)
{
    *out = NULL;
    uint64_t before = resident_bytes();
    struct ehp_machine *m = aligned_alloc(64, (sizeof(*m) + 63) & ~(size_t)63);
    if (!m)
        return EHP_ERR_NO_MEMORY;
    memset(m, 0, sizeof(*m));
    int status = chip_load(options->chip && *options->chip ? options->chip : "mi300a", &m->chip,
                           options->error, sizeof(options->error));
    if (status == EHP_OK)
        status = choose_partition(m, options);
    m->nps = options->nps ? options->nps : 1;
    if (status == EHP_OK && m->nps != 1 && m->nps != 4) {
        snprintf(options->error, sizeof(options->error),
                 "the memory is one NUMA domain or four (nps 1 or 4), not %u", m->nps);
        status = EHP_ERR_INVALID;
    }
    if (status == EHP_OK && options->size > offsetof(struct ehp_options, bounds) &&
        (options->bounds < EHP_BOUNDS_WARN || options->bounds > EHP_BOUNDS_OFF)) {
        snprintf(options->error, sizeof(options->error), "there are no bounds %d (enum ehp_bounds)",
                 options->bounds);
        status = EHP_ERR_INVALID;
    }
    bool xnack = options->size > offsetof(struct ehp_options, xnack) && options->xnack;
    bool isolate = options->size > offsetof(struct ehp_options, isolate) && options->isolate;
    if (status == EHP_OK && isolate && xnack) {
        snprintf(options->error, sizeof(options->error),
                 "--isolate and XNACK exclude each other: with --xnack (HSA_XNACK=1) kernels reach "
                 "all of the process's memory");
        status = EHP_ERR_INVALID;
    }
    if (status == EHP_OK && options->timing &&
        (!fabric_check(&m->chip, m->nps, options->error, sizeof(options->error)) ||
         !xcd_mem_check(&m->chip, options->error, sizeof(options->error)) ||
         !cu_check(&m->chip, options->error, sizeof(options->error))))
        status = EHP_ERR_BAD_CHIP;
    if (status != EHP_OK) {
        make_printable(options->error, sizeof(options->error));
        chip_free(&m->chip);
        free(m);
        return status;
    }
    m->timeout_ns = options->timeout_ms * UINT64_C(1000000);
    m->xcc_chunk = options->xcc_chunk ? options->xcc_chunk : 1;
    m->progress = options->progress;
    m->timing = options->timing;
    m->sample = options->size > offsetof(struct ehp_options, sample) && options->sample;
    m->no_sdma = options->size > offsetof(struct ehp_options, no_sdma) && options->no_sdma;
    m->clock_hz = m->chip.value[CHIP_chip_clock] * 1e6;
    pthread_key_create(&m->error_key, free);
    pthread_rwlock_init(&m->codes_lock, NULL);
    pthread_mutex_init(&m->fault_lock, NULL);
    pthread_mutex_init(&m->event_lock, NULL);
    bounds_open(&m->bounds);
    bool room = memory_init(&m->memory, package_memory(m), xnack);
    if (options->size > offsetof(struct ehp_options, bounds))
        m->memory.bounds = isolate ? EHP_BOUNDS_FAULT : options->bounds; /* nobody's memory is nobody's */
    m->memory.exact = isolate;
    name_isa(m, xnack);
    stats_init(&m->stats);
    exec_code_init(&m->code, code_bounds, m);
    m->code.observes = code_observes;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = options->threads ? options->threads : cores > 0 ? (unsigned)cores : 1;
    status = room ? cp_start(m, threads) : EHP_ERR_NO_MEMORY;
    if (status != EHP_OK) {
        if (room)
            snprintf(options->error, sizeof(options->error), "the host cannot start %u threads", threads);
        else
            snprintf(options->error, sizeof(options->error),
                     "the host has no addresses left for the simulated memory (ulimit -v?)");
        ehp_close(m);
        return status;
    }
    fault_install(); /* its threads may not have come to it yet */
    fault_watch(bounds_mend_host, tell_host_fault, m);
    uint64_t after = resident_bytes();
    m->own_bytes = after > before ? after - before : 0;
    *out = m;
    return EHP_OK;
}

void ehp_close(ehp_machine *m)
{
    if (!m)
        return;
    fault_unwatch(m);
    cp_stop(m);
    while (m->cp.queues)
        ehp_queue_destroy(&m->cp.queues->block);
    while (m->code_count)
        ehp_code_unload(m->codes[m->code_count - 1]);
    exec_code_destroy(&m->code);
    free(m->codes);
    memory_destroy(&m->memory);
    bounds_close(&m->bounds);
    stats_destroy(&m->stats);
    free(pthread_getspecific(m->error_key));
    pthread_key_delete(m->error_key);
    pthread_rwlock_destroy(&m->codes_lock);
    pthread_mutex_destroy(&m->fault_lock);
    pthread_mutex_destroy(&m->event_lock);
    free(m->events);
    signal_free_all(m);
    chip_free(&m->chip);
    free(m);
}

/* ---- agents ---- */

unsigned ehp_agent_count(const ehp_machine *m)
{
    return m->agents;
}

int ehp_agent_info(ehp_machine *m, unsigned agent, struct ehp_agent_info *info)
{
    if (agent >= m->agents)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u; the machine has %u", agent, m->agents);
    const struct chip *c = &m->chip;
    struct ehp_agent_info i = {
        .size = info->size < sizeof(i) ? info->size : sizeof(i),
        .xcds = m->xcds_per_agent,
        .cus = m->xcds_per_agent * chip_get(c, CHIP_xcd_cus),
        .cus_per_xcd = chip_get(c, CHIP_xcd_cus),
        .shader_engines_per_xcd = chip_get(c, CHIP_xcd_shader_engines),
        .simds_per_cu = chip_get(c, CHIP_cu_simds),
        .waves_per_simd = chip_get(c, CHIP_cu_waves_per_simd),
        .wave_size = chip_get(c, CHIP_cu_wave_size),
        .vgprs_per_simd = chip_get(c, CHIP_cu_vgprs),
        .sgprs_per_wave = chip_get(c, CHIP_cu_sgprs_per_wave),
        .workgroup_max = chip_get(c, CHIP_cu_workgroup_items),
        .grid_max = {2147483647, 65535, 65535},
        .lds_bytes = chip_get(c, CHIP_cu_lds),
        .memory_bytes = package_memory(m) / m->nps,
        .l1_bytes = chip_get(c, CHIP_vl1_size),
        .l2_bytes = chip_get(c, CHIP_l2_size),
        .infinity_cache_bytes = (uint64_t)c->value[CHIP_infinity_cache_size],
        .clock_mhz = chip_get(c, CHIP_chip_clock),
        .memory_clock_mhz = chip_get(c, CHIP_hbm_clock),
        .timestamp_mhz = chip_get(c, CHIP_chip_timestamp_clock),
        .memory_bus_bits = chip_get(c, CHIP_hbm_bus),
        .pci_bus =
            1, /* the package is the first device behind a root port; its partitions are functions of it */
        .pci_function = agent,
        .pci_id = chip_get(c, CHIP_chip_pci_id),
        .numa_nodes = m->nps,
        .partition_index = agent,
        .partition_count = m->agents,
        .apu = chip_get(c, CHIP_ccd_count) > 0,
        .cpu_cores = chip_get(c, CHIP_ccd_count) * chip_get(c, CHIP_ccd_cores),
        .xnack = m->memory.xnack,
    };
    snprintf(i.name, sizeof(i.name), "%s", c->text[CHIP_TEXT_chip_title]);
    snprintf(i.chip, sizeof(i.chip), "%s", c->name);
    snprintf(i.isa, sizeof(i.isa), "%s", m->isa);
    memcpy(info, &i, i.size);
    return EHP_OK;
}

int ehp_chip_value_at(ehp_machine *m, unsigned index, struct ehp_chip_value *out)
{
    if (index >= CHIP_ALL)
        return machine_error(m, EHP_ERR_NOT_FOUND, "a chip has %d keys", CHIP_ALL);
    size_t size = out->size < sizeof(*out) ? out->size : sizeof(*out);
    struct ehp_chip_value v = {
        .size = size,
        .key = chip_key_name(index),
        .text = m->chip.text[index],
        .unit = chip_key_unit(index),
        .source = m->chip.source[index],
        .help = chip_key_help(index),
        .number = index < CHIP_KEYS ? m->chip.value[index] : 0,
    };
    memcpy(out, &v, size);
    return EHP_OK;
}

int ehp_chip_value(ehp_machine *m, const char *key, struct ehp_chip_value *out)
{
    for (unsigned i = 0; i < CHIP_ALL; i++)
        if (!strcmp(chip_key_name(i), key))
            return ehp_chip_value_at(m, i, out);
    return machine_error(m, EHP_ERR_NOT_FOUND, "no key \"%s\" in a chip", key);
}

int ehp_chip_iod(ehp_machine *m, unsigned index, struct ehp_iod *out)
{
    if (index >= chip_get(&m->chip, CHIP_iod_count) || index >= CHIP_MAX_IODS)
        return machine_error(m, EHP_ERR_NOT_FOUND, "the chip has no IOD %u", index);
    struct ehp_iod d = {
        .size = out->size < sizeof(d) ? out->size : sizeof(d),
        .xcds = m->chip.iod[index].xcds,
        .ccds = m->chip.iod[index].ccds,
        .hbm_stacks = m->chip.iod[index].hbm_stacks,
        .mirrored = m->chip.iod[index].mirrored,
    };
    memcpy(out, &d, d.size);
    return EHP_OK;
}

/* ---- memory ---- */

static void spend(struct ehp_machine *m, uint64_t ns)
{
    if (m->cp.sim && ns)
        sim_host_spend(m->cp.sim, ns * 1000);
}

int ehp_mem_alloc(ehp_machine *m, unsigned agent, int kind, uint64_t bytes, uint64_t align, void **out)
{
    if (agent >= m->agents)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u; the machine has %u", agent, m->agents);
    int status;
    *out = memory_alloc(&m->memory, agent, kind, bytes, align, &status);
    if (status == EHP_ERR_OUT_OF_RESOURCES) {
        char why[256];
        heap_explain(why, sizeof(why));
        return machine_error(m, EHP_ERR_NO_MEMORY, "%llu bytes: %s", (unsigned long long)bytes, why);
    }
    if (status == EHP_ERR_NO_MEMORY) {
        const uint64_t *use = m->memory.upfront;
        return machine_error(m, status,
                             "%llu bytes do not fit into %llu: device memory has %llu, host %llu, managed "
                             "%llu, registered %llu, scratch and the runtime %llu",
                             (unsigned long long)bytes, (unsigned long long)m->memory.size,
                             (unsigned long long)m->memory.heap.device, (unsigned long long)use[EHP_MEM_HOST],
                             (unsigned long long)use[EHP_MEM_MANAGED],
                             (unsigned long long)use[EHP_MEM_REGISTERED],
                             (unsigned long long)use[EHP_MEM_INTERNAL]);
    }
    if (status == EHP_OK)
        spend(m, ccd_alloc_ns(&m->chip, kind, bytes, m->memory.xnack));
    return status == EHP_OK ? EHP_OK
                            : machine_error(m, status, "%llu bytes aligned to %llu",
                                            (unsigned long long)bytes, (unsigned long long)align);
}

int ehp_mem_free(ehp_machine *m, void *base)
{
    struct memory_block block;
    bool inside, found = memory_find(&m->memory, (uint64_t)(uintptr_t)base, &block, &inside);
    int status = memory_free(&m->memory, base);
    if (status == EHP_OK && found)
        spend(m, ccd_free_ns(&m->chip, block.kind, block.bytes, block.on_demand));
    return status == EHP_OK ? EHP_OK : machine_error(m, status, "%p is not the start of an allocation", base);
}

static int register_memory(ehp_machine *m, void *base, uint64_t bytes, bool uncached)
{
    int status = memory_register(&m->memory, base, bytes, uncached);
    return status == EHP_OK ? EHP_OK
                            : machine_error(m, status, "%p overlaps memory that is known already", base);
}

int ehp_mem_register(ehp_machine *m, void *base, uint64_t bytes)
{
    return register_memory(m, base, bytes, false);
}

int ehp_mem_register_uncached(ehp_machine *m, void *base, uint64_t bytes)
{
    return register_memory(m, base, bytes, true);
}

int ehp_mem_unregister(ehp_machine *m, void *base)
{
    int status = memory_unregister(&m->memory, base);
    return status == EHP_OK ? EHP_OK : machine_error(m, status, "%p is not registered", base);
}

int ehp_mem_set_user(ehp_machine *m, void *base, uint64_t user)
{
    return memory_set_user(&m->memory, base, user)
               ? EHP_OK
               : machine_error(m, EHP_ERR_NOT_FOUND, "no allocation at %p", base);
}

int ehp_mem_set_site(ehp_machine *m, void *base, int event, void *const *returns, unsigned count)
{
    struct memory_site site = {0};
    for (unsigned i = 0; i < count && i < MEMORY_SITES; i++)
        site.address[i] = (uint64_t)(uintptr_t)returns[i];
    enum memory_event which = event == EHP_MEM_FREED ? MEMORY_FREED : MEMORY_ALLOCATED;
    return memory_set_site(&m->memory, base, which, &site)
               ? EHP_OK
               : machine_error(m, EHP_ERR_NOT_FOUND, "no allocation at %p", base);
}

int ehp_mem_history(ehp_machine *m, const void *address, char *text, size_t bytes)
{
    struct memory_block block;
    bool inside;
    uint64_t at = (uint64_t)(uintptr_t)address;
    const bool found = memory_find(&m->memory, at, &block, &inside) && inside;
    if (!found && !memory_find_freed(&m->memory, at, &block))
        return machine_error(m, EHP_ERR_NOT_FOUND, "%p was never in an allocation, or long ago", address);
    site_print_block(&block, !found || block.freed.address[0], text, bytes);
    return EHP_OK;
}

int ehp_mem_query(ehp_machine *m, const void *address, struct ehp_allocation *out)
{
    struct memory_block block;
    bool inside;
    if (!memory_find(&m->memory, (uint64_t)(uintptr_t)address, &block, &inside) || !inside)
        return EHP_ERR_NOT_FOUND;
    struct ehp_allocation a = {
        .size = out->size < sizeof(a) ? out->size : sizeof(a),
        .base = (void *)(uintptr_t)block.base,
        .bytes = block.bytes,
        .kind = block.kind,
        .agent = block.agent,
        .serial = block.serial,
        .user = block.user,
    };
    memcpy(out, &a, a.size);
    return EHP_OK;
}

bool ehp_mem_pageable(ehp_machine *m, const void *address)
{
    const struct memory *memory = &m->memory;
    return memory->xnack && !ehp_mem_reserved(m, address);
}

bool ehp_mem_reserved(ehp_machine *m, const void *address)
{
    return (uint64_t)(uintptr_t)address - m->memory.arena < m->memory.arena_bytes;
}

int ehp_mem_info(ehp_machine *m, unsigned agent, uint64_t *free_bytes, uint64_t *total_bytes)
{
    if (agent >= m->agents)
        return machine_error(m, EHP_ERR_INVALID, "no agent %u; the machine has %u", agent, m->agents);
    uint64_t total = m->memory.size / m->nps, used = memory_reserved(&m->memory, true);
    if (total_bytes)
        *total_bytes = total;
    if (free_bytes)
        *free_bytes = used < total ? total - used : 0;
    return EHP_OK;
}

/* ---- the process's use ---- */

int ehp_mem_use(ehp_machine *m, struct ehp_mem_use *out)
{
    uint64_t resident = resident_bytes(), managed, ours = memory_resident(&m->memory, &managed);
    struct ehp_mem_use u = {
        .size = out->size < sizeof(u) ? out->size : sizeof(u),
        .total = m->memory.size,
        .managed = managed,
        .process = resident > ours + m->own_bytes ? resident - ours - m->own_bytes : 0,
    };
    pthread_mutex_lock(&m->memory.lock);
    memcpy(u.upfront, m->memory.upfront, sizeof(u.upfront));
    pthread_mutex_unlock(&m->memory.lock);
    memcpy(out, &u, u.size);
    return EHP_OK;
}

int ehp_cpu_run(ehp_machine *m, struct ehp_cpu_work *work)
{
    unsigned cores = chip_get(&m->chip, CHIP_ccd_count) * chip_get(&m->chip, CHIP_ccd_cores);
    if (!m->cp.sim)
        return machine_error(m, EHP_ERR_UNSUPPORTED, "CPU cores take time in timing mode only");
    if (!cores)
        return machine_error(m, EHP_ERR_UNSUPPORTED, "%s has no CPU cores in its package", m->chip.name);
    if (!work->cores || work->cores > cores || work->ranges > 3 ||
        (!work->ranges && (!work->instructions || work->operation == EHP_CPU_CHASE)))
        return machine_error(m, EHP_ERR_INVALID,
                             "%u cores on %u ranges: the package has %u cores, for up to 3", work->cores,
                             work->ranges, cores);
    ccd_run(&m->chip, m->cp.sim->vm, work);
    spend(m, work->ns);
    return EHP_OK;
}

int ehp_host_forked(ehp_machine *m)
{
    if (m->cp.sim)
        vm_forked(m->cp.sim->vm);
    return EHP_OK;
}

int ehp_host_spend(ehp_machine *m, uint64_t ns)
{
    spend(m, ns);
    return EHP_OK;
}

int ehp_host_query(ehp_machine *m)
{
    if (m->cp.sim)
        sim_host_spend(m->cp.sim, m->cp.sim->query_ps);
    return EHP_OK;
}

/* ---- faults ---- */

void ehp_set_fault_handler(ehp_machine *m, ehp_fault_fn *fn, void *user)
{
    pthread_mutex_lock(&m->fault_lock);
    m->fault_fn = fn;
    m->fault_user = user;
    pthread_mutex_unlock(&m->fault_lock);
}
