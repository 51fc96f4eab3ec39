/* SPDX-License-Identifier: MIT */
/* A machine, from a chip to something that runs; see machine.h. */
#include "soc/machine.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cu/cu.h"
#include "engine/engine.h"
#include "fabric/fabric.h"
#include "jit/jit.h"
#include "mem/mem.h"

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

/* ---- code ---- */

/* Where the function around pc begins and ends; exec_bounds_fn. */
static bool code_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
    struct ehp_machine *m = context;
    pthread_rwlock_rdlock(&m->codes.lock);
    struct ehp_code *code = code_list_find(&m->codes, pc);
    bool found = code && code_function_at(code, pc, start, end, NULL);
    pthread_rwlock_unlock(&m->codes.lock);
    return found;
}

/* Whether code looks at float exceptions; exec_observes_fn. */
static bool code_observes(void *context, uint64_t pc)
{
    struct ehp_machine *m = context;
    pthread_rwlock_rdlock(&m->codes.lock);
    const struct ehp_code *code = code_list_find(&m->codes, pc);
    const bool observes = code && code->observes_exceptions;
    pthread_rwlock_unlock(&m->codes.lock);
    return observes;
}

/* ---- open and close ---- */

static int choose_partition(struct ehp_machine *m, struct ehp_options *options)
{
    const char *wanted =
        options->partition && *options->partition ? options->partition : m->chip.partition[0].name;
    char known[64] = "";
    m->agents = m->xcds_per_agent = 0;
    if (!chip_get(&m->chip, CHIP_xcd_count) && !*wanted)
        return EHP_OK;
    if (!chip_get(&m->chip, CHIP_xcd_count)) {
        snprintf(options->error, sizeof(options->error),
                 "chip %s has no XCDs that partition mode \"%s\" could divide: leave it out", m->chip.name,
                 wanted);
        return EHP_ERR_INVALID;
    }
    for (unsigned i = 0; i < m->chip.partitions; i++) {
        if (!strcmp(m->chip.partition[i].name, wanted)) {
            m->agents = m->chip.partition[i].count * m->node.packages;
            m->xcds_per_agent = chip_get(&m->chip, CHIP_xcd_count) / m->chip.partition[i].count;
            return EHP_OK;
        }
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "",
                 m->chip.partition[i].name);
    }
    snprintf(options->error, sizeof(options->error), "chip %s has no partition mode \"%s\"; it has %s",
             m->chip.name, wanted, known);
    return EHP_ERR_INVALID;
}

uint64_t machine_memory_bytes(const struct ehp_machine *m)
{
    return (uint64_t)(m->chip.value[CHIP_hbm_stacks] * m->chip.value[CHIP_hbm_stack_size]);
}

uint64_t machine_resident_bytes(void)
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

static unsigned host_threads(const struct ehp_options *options)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return options->threads ? options->threads : cores > 0 ? (unsigned)cores : 1;
}

/* The program's host code is on cores: it was compiled for that. */
static bool host_is_timed(void)
{
    return dlsym(RTLD_DEFAULT, "ehp_cpu_block") != NULL;
}

/*
 * Simulated time stands still while something is compiled, so that LLVM's memory lies where it lies in every
 * run.  With XNACK simulated time follows where the program's own memory is, which LLVM's would move; and so
 * it does with host code on cores, whose library keeps the simulator's memory apart (hip/host/apart.h).
 */
static void open_compiler(struct ehp_machine *m, const struct ehp_options *options)
{
    const int engine =
        options->size > offsetof(struct ehp_options, engine) ? options->engine : EHP_ENGINE_AUTO;
    if (engine == EHP_ENGINE_INTERPRETER || (m->timing && m->memory.xnack))
        return;
    m->jit = jit_open(m->code.level, engine == EHP_ENGINE_COMPILED ? JIT_FIRST
                                     : m->timing                   ? JIT_HOT_WAITING
                                                                   : JIT_HOT);
    if (m->jit && m->timing && host_is_timed())
        jit_load();
    m->code.compiler = m->jit ? jit_compiler(m->jit) : NULL;
}

static int open_processor(struct ehp_machine *m, const struct ehp_options *options,
                          const struct cp_listener *listener)
{
    struct engine *engine;
    const struct engine_options how = {
        .threads = host_threads(options),
        .nps = m->nps,
        .sample = options->size > offsetof(struct ehp_options, sample) && options->sample,
    };
    m->cp = (struct cp){
        .listener = listener,
        .chip = &m->chip,
        .memory = &m->memory,
        .code = &m->code,
        .codes = &m->codes,
        .node = &m->node,
        .xcds_per_agent = m->xcds_per_agent,
        .xcc_chunk = options->xcc_chunk ? options->xcc_chunk : 1,
        .timeout_ns = options->timeout_ms * UINT64_C(1000000),
        .tells_progress = options->progress,
    };
    int status = cp_open(&m->cp);
    if (status == EHP_OK)
        status =
            m->timing ? timed_engine_open(&m->cp, &how, &engine) : host_engine_open(&m->cp, &how, &engine);
    return status;
}

/* What the options name, and whether its parts fit each other. */
static int read_files(struct ehp_machine *m, struct ehp_options *options)
{
    const char *node = options->size > offsetof(struct ehp_options, node) ? options->node : NULL;
    const char *chip = options->chip && *options->chip ? options->chip : NULL;
    char *error = options->error;
    int status = EHP_OK;
    node_single(&m->node);
    if (node && *node)
        status = node_load(node, &m->node, error, sizeof(options->error));
    if (status == EHP_OK && *m->node.name && chip && strcmp(chip, m->node.chip) != 0) {
        snprintf(error, sizeof(options->error), "node %s is of chip %s, and not of %s: leave --chip out",
                 m->node.name, m->node.chip, chip);
        status = EHP_ERR_INVALID;
    }
    if (status == EHP_OK)
        status = chip_load(*m->node.name ? m->node.chip
                           : chip        ? chip
                                         : "mi300a",
                           &m->chip, error, sizeof(options->error));
    if (status == EHP_OK && !node_check(&m->node, &m->chip, error, sizeof(options->error)))
        status = EHP_ERR_BAD_CHIP;
    return status;
}

/* How many NUMA domains the memory can be, besides one: its IODs, where all that have any have as much. */
static unsigned memory_domains(const struct chip *chip)
{
    unsigned domains = 0, each = 0;
    for (unsigned i = 0; i < chip->iods; i++) {
        const unsigned stacks = chip->iod[i].hbm_stacks;
        if (stacks && each && stacks != each)
            return 1;
        each = stacks ? stacks : each;
        domains += stacks != 0;
    }
    return domains;
}

static_assert((int)HEAP_DOMAINS >= (int)CHIP_MAX_IODS, "a domain for each IOD with memory");

/* An agent's is its first XCD's. */
static void set_domains(struct ehp_machine *m)
{
    struct memory *memory = &m->memory;
    memory->domains = m->nps;
    unsigned xcd = 0, domain = 0;
    for (unsigned i = 0; i < m->chip.iods && m->nps > 1; i++) {
        for (unsigned k = 0; k < m->chip.iod[i].xcds; k++, xcd++)
            if (xcd % m->xcds_per_agent == 0)
                memory->domain_of[xcd / m->xcds_per_agent] = (uint8_t)(domain % m->nps);
        domain += m->chip.iod[i].hbm_stacks != 0;
    }
}

int machine_open(struct ehp_options *options, const struct cp_listener *listener, struct ehp_machine **out)
{
    *out = NULL;
    uint64_t before = machine_resident_bytes();
    struct ehp_machine *m = aligned_alloc(64, (sizeof(*m) + 63) & ~(size_t)63);
    if (!m)
        return EHP_ERR_NO_MEMORY;
    memset(m, 0, sizeof(*m));
    int status = read_files(m, options);
    if (status == EHP_OK)
        status = choose_partition(m, options);
    m->nps = options->nps ? options->nps : 1;
    const unsigned domains = status == EHP_OK ? memory_domains(&m->chip) : 1;
    if (status == EHP_OK && m->nps != 1 && m->nps != domains) {
        snprintf(options->error, sizeof(options->error),
                 domains > 1
                     ? "the memory is one NUMA domain (nps 1), or one for each IOD with memory (nps "
                       "%u), not %u"
                     : "the memory is one NUMA domain (nps %u), not %u: IODs have none, or not as much "
                       "as others",
                 domains, m->nps);
        status = EHP_ERR_INVALID;
    }
    if (status == EHP_OK && options->size > offsetof(struct ehp_options, bounds) &&
        (options->bounds < EHP_BOUNDS_WARN || options->bounds > EHP_BOUNDS_OFF)) {
        snprintf(options->error, sizeof(options->error), "there are no bounds %d (enum ehp_bounds)",
                 options->bounds);
        status = EHP_ERR_INVALID;
    }
    if (status == EHP_OK && options->size > offsetof(struct ehp_options, engine) &&
        (options->engine < EHP_ENGINE_AUTO || options->engine > EHP_ENGINE_COMPILED)) {
        snprintf(options->error, sizeof(options->error), "there is no engine %d (enum ehp_engine)",
                 options->engine);
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
        (!fabric_check(&m->chip, m->nps, m->node.packages, options->error, sizeof(options->error)) ||
         !xcd_mem_check(&m->chip, options->error, sizeof(options->error)) ||
         !cu_check(&m->chip, options->error, sizeof(options->error))))
        status = EHP_ERR_BAD_CHIP;
    const struct isa_target *target =
        status == EHP_OK ? isa_target_find(m->chip.text[CHIP_TEXT_chip_isa]) : NULL;
    if (status == EHP_OK && !target) {
        snprintf(options->error, sizeof(options->error),
                 "chip %s: nothing here executes the instructions of chip.isa = \"%s\"", m->chip.name,
                 m->chip.text[CHIP_TEXT_chip_isa]);
        status = EHP_ERR_BAD_CHIP;
    }
    if (status != EHP_OK) {
        make_printable(options->error, sizeof(options->error));
        chip_free(&m->chip);
        node_free(&m->node);
        free(m);
        return status;
    }
    m->timing = options->timing;
    pthread_key_create(&m->error_key, free);
    code_list_init(&m->codes);
    pthread_mutex_init(&m->handler_lock, NULL);
    pthread_mutex_init(&m->event_lock, NULL);
    bool room =
        memory_init(&m->memory, machine_memory_bytes(m), m->node.packages, machine_package_agents(m), xnack);
    set_domains(m);
    memory_set_host(&m->memory, (uint64_t)m->chip.value[CHIP_host_memory]);
    for (unsigned a = 0; a < m->node.packages; a++)
        for (unsigned b = 0; b < m->node.packages; b++) {
            uint8_t way[NODE_MAX_PACKAGES];
            m->memory.numa.hops[a][b] = (uint8_t)node_way(&m->node, a, b, way);
        }
    if (options->size > offsetof(struct ehp_options, bounds))
        m->memory.bounds = isolate ? EHP_BOUNDS_FAULT : options->bounds; /* nobody's memory is nobody's */
    m->memory.exact = isolate;
    name_isa(m, xnack);
    exec_code_init(&m->code, target, code_bounds, m);
    m->code.observes = code_observes;
    open_compiler(m, options);
    status = room ? open_processor(m, options, listener) : EHP_ERR_NO_MEMORY;
    if (status != EHP_OK) {
        if (room)
            snprintf(options->error, sizeof(options->error), "the host cannot start %u threads",
                     host_threads(options));
        else
            snprintf(options->error, sizeof(options->error),
                     "the host has no addresses left for the simulated memory (ulimit -v?)");
        machine_stop(m);
        machine_close(m);
        return status;
    }
    uint64_t after = machine_resident_bytes();
    m->own_bytes = after > before ? after - before : 0;
    *out = m;
    return EHP_OK;
}

void machine_stop(struct ehp_machine *m)
{
    if (m->cp.chip)
        cp_close(&m->cp);
}

void machine_close(struct ehp_machine *m)
{
    exec_code_destroy(&m->code);
    jit_close(m->jit);
    code_list_destroy(&m->codes);
    memory_destroy(&m->memory);
    free(pthread_getspecific(m->error_key));
    pthread_key_delete(m->error_key);
    pthread_mutex_destroy(&m->handler_lock);
    pthread_mutex_destroy(&m->event_lock);
    chip_free(&m->chip);
    node_free(&m->node);
    free(m);
}
