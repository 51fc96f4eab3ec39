/* SPDX-License-Identifier: MIT */
/* What is compiled when, and the thread that does it; see jit.h. */
#include "jit/jit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "jit/bitcode.h"
#include "jit/cache.h"
#include "jit/lift.h"
#include "jit/narrow.h"
#include "jit/object.h"
#include "jit/refused.h"

/*
 * The heat (exec/code.c) from which on a function is looked for in the cache, some milliseconds of
 * interpreting; and compiled: so much for LLVM, which has to be opened, and for each instruction.  Compiling
 * takes some 60 ms and half a millisecond for an instruction; who has interpreted for about half as long is
 * likely to go on for longer than that, and who ends sooner has lost nothing.  Simulating what is executed in
 * runs takes much longer than executing it: some tenths of a second.
 */
enum { WARM = 500000, HOT = 4000000, HOT_EACH = 10000, HOT_RUNS = 4096000 };

static const char triple[] = "x86_64-unknown-linux-gnu";
static const char passes[] = "function(mem2reg,adce,early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/*
 * What LLVM takes for a function, about, in units of 10 us: one for each of its instructions, and
 * 40 for each of its basic blocks, between which it allocates registers.
 */
enum { COST_INSTRUCTION = 1, COST_BLOCK = 40 };

/*
 * A function is made with the most effort that costs no more than this.  What costs more with the least is
 * mostly code without optimisation, of stretches of one or two instructions, which compiled code is hardly
 * faster at than handlers.  LIFT_PLAIN costs a quarter of LIFT_VERSIONS at least.
 */
static const unsigned cost_most[] = {[LIFT_PLAIN] = 200000, [LIFT_SINGLE] = 120000, [LIFT_VERSIONS] = 60000};

/* One version of a function. */
struct unit {
    struct unit *next;
    struct exec_block *block; /* NULL: nobody's any more */
    enum exec_form form;
    bool hot; /* to be compiled, if the cache has not got it */
    struct exec_compiled compiled;
    struct jit_object *object;
    uint32_t *heads;
    struct exec_run *runs;
};

/* Of the process's exit, which may come before the jit is closed, or after; it stays. */
struct last {
    pthread_mutex_t lock;
    struct jit *jit; /* NULL: closed */
    pid_t process;
};

struct jit {
    struct exec_compiler compiler;
    unsigned level;
    bool waits;              /* who asks does, until it is compiled */
    enum lift_effort effort; /* with which functions are tried first */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool started, stopping;
    bool opened; /* LLVM's library is */
    bool exits;  /* LLVM is not to be called any more */
    unsigned pauses;
    struct unit *waiting, *busy, *ready;
    struct jit_cache *cache;
    struct jit_totals totals;
    struct refused_list refused;

    /* The thread's. */
    char no_llvm[128];          /* why LLVM cannot be had; "": it can, or has not been needed yet */
    char why[JIT_OBJECT_ERROR]; /* what was wrong with the last function */
    struct last *last;
    struct llvm llvm;
    llvm_machine machine;
    llvm_layout layout;
    struct lift_target target;
};

static struct jit *jit_of(struct exec_compiler *compiler)
{
    return (struct jit *)(void *)((char *)compiler - offsetof(struct jit, compiler));
}

static unsigned lanes_of(unsigned level)
{
    return level == 4 ? 16 : 8;
}

/* ---- the process's exit ---- */

static void unit_free(struct unit *unit)
{
    jit_object_free(unit->object);
    free(unit->heads);
    free(unit->runs);
    free(unit);
}

/* With the lock held: nothing new, and what is being compiled is the last. */
static void stop(struct jit *jit)
{
    jit->stopping = true;
    while (jit->waiting) {
        struct unit *next = jit->waiting->next;
        unit_free(jit->waiting);
        jit->waiting = next;
    }
    pthread_cond_broadcast(&jit->changed);
}

static void at_exit(int status, void *context)
{
    (void)status;
    struct last *last = context;
    if (getpid() != last->process) /* a child has not the thread, and locks as they happened to be */
        return;
    pthread_mutex_lock(&last->lock);
    struct jit *jit = last->jit;
    if (jit) {
        pthread_mutex_lock(&jit->lock);
        stop(jit);
        while (jit->busy)
            pthread_cond_wait(&jit->changed, &jit->lock);
        jit->exits = true;
        const bool started = jit->started;
        jit->started = false;
        pthread_mutex_unlock(&jit->lock);
        if (started)
            pthread_join(jit->thread, NULL);
    }
    pthread_mutex_unlock(&last->lock);
}

/*
 * LLVM's library takes what it works with away when the process exits, by handlers that are registered while
 * it is loaded (not later: llvm.c); those that were registered last go first.  So ours, which ends the
 * thread, is registered once more after that, and who asks for a function waits for it (ask()): a program
 * that waits for its kernels exits later.
 */
static bool register_exit(struct jit *jit)
{
    if (!jit->last) {
        jit->last = calloc(1, sizeof(*jit->last));
        if (!jit->last)
            return false;
        pthread_mutex_init(&jit->last->lock, NULL);
        jit->last->jit = jit;
        jit->last->process = getpid();
    }
    return on_exit(at_exit, jit->last) == 0;
}

/* ---- compiling ---- */

static void ignore_diagnostic(void *info, void *context)
{
    (void)info, (void)context;
}

static bool open_target(struct jit *jit)
{
    if (!llvm_open(&jit->llvm, jit->no_llvm, sizeof(jit->no_llvm)))
        return false;
    snprintf(jit->no_llvm, sizeof(jit->no_llvm), "memory is short");
    if (!register_exit(jit))
        return false;
    pthread_mutex_lock(&jit->lock);
    jit->opened = true;
    pthread_cond_broadcast(&jit->changed);
    pthread_mutex_unlock(&jit->lock);
    snprintf(jit->no_llvm, sizeof(jit->no_llvm), "LLVM does not take the bodies of instructions");
    const struct llvm *l = &jit->llvm;
    size_t size;
    const void *bitcode = jit_bitcode(jit->level, &size);
    llvm_target target;
    char *message = NULL;
    if (!bitcode || l->GetTargetFromTriple(triple, &target, &message)) {
        if (message)
            l->DisposeMessage(message);
        return false;
    }
    /* Gathers are slower than loads on some hosts with AVX2, but LLVM makes a branch for each lane of them.
     */
    jit->machine = l->CreateTargetMachine(target, triple, jit->level == 4 ? "x86-64-v4" : "x86-64-v3",
                                          jit->level == 4 ? "" : "+fast-gather", LLVM_CODEGEN_LESS,
                                          LLVM_RELOC_PIC, LLVM_CODE_MODEL_SMALL);
    jit->layout = l->CreateTargetDataLayout(jit->machine);
    llvm_context context = l->ContextCreate();
    l->ContextSetDiagnosticHandler(context, ignore_diagnostic, NULL);
    llvm_module bodies;
    llvm_buffer buffer = l->CreateMemoryBufferWithMemoryRange(bitcode, size, "bodies", 0);
    const bool parsed = !l->ParseBitcodeInContext2(context, buffer, &bodies);
    l->DisposeMemoryBuffer(buffer);
    if (!parsed)
        return false;
    jit->target = (struct lift_target){.l = l,
                                       .context = context,
                                       .library = body_library_open(l, context, bodies, lanes_of(jit->level)),
                                       .slice = lanes_of(jit->level)};
    if (jit->target.library)
        jit->no_llvm[0] = 0;
    return jit->target.library != NULL;
}

static bool run_passes(struct jit *jit, llvm_module module)
{
    const struct llvm *l = &jit->llvm;
    llvm_pass_options options = l->CreatePassBuilderOptions();
    llvm_error error = l->RunPasses(module, passes, jit->machine, options);
    l->DisposePassBuilderOptions(options);
    if (error) {
        char *message = l->GetErrorMessage(error);
        snprintf(jit->why, sizeof(jit->why), "LLVM: %s", message);
        l->DisposeErrorMessage(message);
    }
    return !error;
}

/* What compiled code follows from, beside the library and the host's level. */
struct key {
    size_t size;
    uint8_t *bytes;
};

static struct key key_of(const struct unit *unit)
{
    const struct exec_block *block = unit->block;
    const size_t code = (size_t)(block->end - block->start), name = strlen(block->target->name) + 1;
    struct key key = {1 + name + code, malloc(1 + name + code)};
    if (key.bytes) {
        key.bytes[0] = (uint8_t)unit->form;
        memcpy(key.bytes + 1, block->target->name, name);
        memcpy(key.bytes + 1 + name, (const void *)(uintptr_t)block->start, code);
    }
    return key;
}

static bool load_object(struct jit *jit, struct unit *unit, const void *bytes, size_t size)
{
    unit->object = jit_object_load(bytes, size, lift_symbol, jit, jit->why);
    unit->compiled.fn =
        unit->object ? (exec_compiled_fn *)(uintptr_t)jit_object_find(unit->object, LIFT_NAME) : NULL;
    return unit->compiled.fn != NULL;
}

static bool load_cached(struct jit *jit, struct unit *unit, const struct key *key)
{
    struct jit_blob blob;
    if (!jit_cache_get(jit->cache, key->bytes, key->size, &blob))
        return false;
    const bool loaded = load_object(jit, unit, blob.bytes, blob.size);
    jit_blob_free(&blob);
    return loaded;
}

static bool emit_object(struct jit *jit, llvm_module module, struct unit *unit, const struct key *key)
{
    const struct llvm *l = &jit->llvm;
    llvm_buffer buffer;
    char *message = NULL;
    if (l->TargetMachineEmitToMemoryBuffer(jit->machine, module, LLVM_OBJECT_FILE, &message, &buffer)) {
        snprintf(jit->why, sizeof(jit->why), "LLVM: %s", message);
        l->DisposeMessage(message);
        return false;
    }
    const bool loaded = load_object(jit, unit, l->GetBufferStart(buffer), l->GetBufferSize(buffer));
    if (loaded)
        jit_cache_put(jit->cache, key->bytes, key->size, l->GetBufferStart(buffer), l->GetBufferSize(buffer));
    l->DisposeMemoryBuffer(buffer);
    return loaded;
}

static unsigned cost_of(const struct llvm *l, llvm_module module)
{
    unsigned cost = 0;
    for (llvm_value f = l->GetFirstFunction(module); f; f = l->GetNextFunction(f))
        for (llvm_block b = l->GetFirstBasicBlock(f); b; b = l->GetNextBasicBlock(b)) {
            cost += COST_BLOCK;
            for (llvm_value i = l->GetFirstInstruction(b); i; i = l->GetNextInstruction(i))
                cost += COST_INSTRUCTION;
        }
    return cost;
}

/* NULL: it is too much for LLVM. */
static llvm_module lift_unit(struct jit *jit, const struct unit *unit)
{
    const struct llvm *l = &jit->llvm;
    unsigned cost = 0;
    for (unsigned effort = jit->effort + 1; effort-- > 0 && cost / 4 <= cost_most[LIFT_PLAIN];) {
        llvm_module module = l->ModuleCreateWithNameInContext("function", jit->target.context);
        l->SetTarget(module, triple);
        l->SetModuleDataLayout(module, jit->layout);
        lift_function(&jit->target, module, unit->block, unit->form, unit->heads, unit->runs,
                      (enum lift_effort)effort);
        cost = cost_of(l, module);
        if (cost <= cost_most[effort])
            return module;
        l->DisposeModule(module);
    }
    snprintf(jit->why, sizeof(jit->why), "LLVM would take long for its %zu instructions", unit->block->count);
    return NULL;
}

static bool compile_with_llvm(struct jit *jit, struct unit *unit, const struct key *key)
{
    const struct llvm *l = &jit->llvm;
    if (!jit->target.library && (*jit->no_llvm || !open_target(jit))) {
        snprintf(jit->why, sizeof(jit->why), "%s", jit->no_llvm);
        return false;
    }
    llvm_module module = lift_unit(jit, unit);
    if (!module)
        return false;
    bool ok = run_passes(jit, module);
    narrow_by_shuffles(l, jit->target.context, module);
    ok = ok && emit_object(jit, module, unit, key);
    l->DisposeModule(module);
    return ok;
}

/* Where it can be entered; of runs there may be none, and nothing to be made. */
static unsigned heads_of(const struct unit *unit)
{
    unsigned heads = 0;
    for (size_t i = 0; i < unit->block->count; i++)
        heads += unit->heads[i] != 0;
    return heads;
}

static bool find_heads(struct jit *jit, struct unit *unit)
{
    const bool room = unit->form == EXEC_RUNS ? unit->runs && lift_runs(unit->block, unit->heads, unit->runs)
                                              : lift_heads(unit->block, unit->heads) != 0;
    const unsigned heads = heads_of(unit);
    if (heads > LIFT_BLOCKS_MAX)
        snprintf(jit->why, sizeof(jit->why), "it has %u basic blocks, more than %d", heads, LIFT_BLOCKS_MAX);
    return room && heads <= LIFT_BLOCKS_MAX;
}

/* Makes it if it is hot, or takes what was made before; says which. */
static bool compile(struct jit *jit, struct unit *unit, bool *cached)
{
    if (atomic_load_explicit(&unit->block->compiled[unit->form], memory_order_relaxed)) {
        unit->hot = false; /* it was found in the cache, and got hot before that */
        return false;
    }
    unit->heads = calloc(unit->block->count + 1, sizeof(*unit->heads));
    unit->compiled.heads = unit->heads;
    unit->compiled.stores = lift_stores(unit->block);
    if (unit->form == EXEC_RUNS)
        unit->compiled.runs = unit->runs = calloc(unit->block->count + 1, sizeof(*unit->runs));
    struct key key = key_of(unit);
    snprintf(jit->why, sizeof(jit->why), "memory is short");
    bool ok = unit->heads && key.bytes && find_heads(jit, unit);
    *cached = ok && heads_of(unit) && load_cached(jit, unit, &key);
    ok = *cached || (ok && unit->hot && (!heads_of(unit) || compile_with_llvm(jit, unit, &key)));
    free(key.bytes);
    return ok;
}

/* ---- the thread ---- */

/* With the lock held. */
static void finish(struct jit *jit, struct unit *unit, bool compiled, bool cached, uint64_t took_ns)
{
    jit->busy = NULL;
    if (compiled && unit->block) {
        jit->totals.functions += unit->object != NULL;
        jit->totals.from_cache += cached;
        jit->totals.instructions += unit->object ? unit->block->count : 0;
        unit->next = jit->ready;
        jit->ready = unit;
        atomic_store_explicit(&unit->block->compiled[unit->form], &unit->compiled, memory_order_release);
    } else {
        if (unit->hot) {
            jit->totals.refused++;
            refused_add(&jit->refused, unit->block->start, "%s", jit->why);
        }
        unit_free(unit);
    }
    jit->totals.nanoseconds += took_ns;
    pthread_cond_broadcast(&jit->changed);
}

static void *run(void *context)
{
    struct jit *jit = context;
    pthread_mutex_lock(&jit->lock);
    while (!jit->stopping) {
        struct unit *unit = jit->pauses ? NULL : jit->waiting;
        if (!unit) {
            pthread_cond_wait(&jit->changed, &jit->lock);
            continue;
        }
        jit->waiting = unit->next;
        jit->busy = unit;
        pthread_mutex_unlock(&jit->lock);
        const uint64_t began = clock_now_ns();
        bool cached;
        const bool compiled = compile(jit, unit, &cached);
        const uint64_t ended = clock_now_ns();
        pthread_mutex_lock(&jit->lock);
        finish(jit, unit, compiled, cached, ended - began);
    }
    pthread_mutex_unlock(&jit->lock);
    return NULL;
}

void jit_pause(struct jit *jit)
{
    pthread_mutex_lock(&jit->lock);
    jit->pauses++;
    while (jit->busy)
        pthread_cond_wait(&jit->changed, &jit->lock);
    pthread_mutex_unlock(&jit->lock);
}

void jit_go_on(struct jit *jit)
{
    pthread_mutex_lock(&jit->lock);
    jit->pauses--;
    pthread_cond_broadcast(&jit->changed);
    pthread_mutex_unlock(&jit->lock);
}

static bool is_pending(const struct jit *jit, const struct unit *unit)
{
    if (jit->busy == unit)
        return true;
    for (const struct unit *u = jit->waiting; u; u = u->next)
        if (u == unit)
            return true;
    return false;
}

static void ask(struct exec_compiler *compiler, struct exec_block *block, enum exec_form form, bool hot)
{
    struct jit *jit = jit_of(compiler);
    /* What is too large is said as soon as it is warm, as large code takes long to get hot. */
    const bool large = block->count > LIFT_INSTRUCTIONS_MAX,
               again = hot && compiler->warm[form] < compiler->hot[form];
    if (large ? again : !hot && jit_cache_off(jit->cache))
        return;
    struct unit *unit = large ? NULL : calloc(1, sizeof(*unit));
    pthread_mutex_lock(&jit->lock);
    if (unit && !jit->started && !jit->stopping && register_exit(jit))
        jit->started = thread_start(&jit->thread, run, jit) == 0;
    if (!unit || !jit->started || jit->stopping) {
        jit->totals.refused++;
        if (large)
            refused_add(&jit->refused, block->start, "it has %zu instructions, more than %d", block->count,
                        LIFT_INSTRUCTIONS_MAX);
        else
            refused_add(&jit->refused, block->start, "no memory, or no thread");
        pthread_mutex_unlock(&jit->lock);
        free(unit);
        return;
    }
    unit->block = block;
    unit->form = form;
    unit->hot = hot;
    struct unit **last = &jit->waiting;
    while (*last)
        last = &(*last)->next;
    *last = unit;
    pthread_cond_broadcast(&jit->changed);
    while ((jit->waits || !jit->opened) && is_pending(jit, unit))
        pthread_cond_wait(&jit->changed, &jit->lock);
    pthread_mutex_unlock(&jit->lock);
}

static void drop_from(struct unit **list, const struct exec_block *block)
{
    while (*list) {
        struct unit *unit = *list;
        if (unit->block == block) {
            *list = unit->next;
            unit_free(unit);
        } else {
            list = &unit->next;
        }
    }
}

static void forget(struct exec_compiler *compiler, struct exec_block *block)
{
    struct jit *jit = jit_of(compiler);
    pthread_mutex_lock(&jit->lock);
    drop_from(&jit->waiting, block);
    while (jit->busy && jit->busy->block == block)
        pthread_cond_wait(&jit->changed, &jit->lock);
    drop_from(&jit->ready, block);
    refused_unload(&jit->refused, block->start);
    pthread_mutex_unlock(&jit->lock);
}

/* ---- outside ---- */

bool jit_available(unsigned level, char *text, size_t size)
{
    size_t bytes;
    if (!jit_bitcode(level, &bytes)) {
        snprintf(text, size, level < 3 ? "the host has no AVX2" : "EHP was built without clang-22");
        return false;
    }
    return llvm_probe(text, size) && jit_object_allowed(text, size);
}

struct jit *jit_open(unsigned level, enum jit_when when)
{
    size_t bytes;
    char why[128];
    const bool can = jit_bitcode(level, &bytes) && jit_object_allowed(why, sizeof(why));
    struct jit *jit = can ? calloc(1, sizeof(*jit)) : NULL;
    if (!jit)
        return NULL;
    jit->compiler = (struct exec_compiler){.ask = ask, .redo = lift_redo, .forget = forget};
    for (unsigned form = 0; form < EXEC_FORMS; form++) {
        const bool runs = form == EXEC_RUNS;
        jit->compiler.warm[form] = when >= JIT_FIRST ? 1 : runs ? HOT_RUNS : WARM;
        jit->compiler.hot[form] = when >= JIT_FIRST ? 1 : runs ? HOT_RUNS : HOT;
        jit->compiler.hot_each[form] = when >= JIT_FIRST || runs ? 0 : HOT_EACH;
    }
    jit->level = level;
    jit->waits = when != JIT_HOT;
    jit->effort = when == JIT_FIRST_PLAIN    ? LIFT_PLAIN
                  : when == JIT_FIRST_SINGLE ? LIFT_SINGLE
                                             : LIFT_VERSIONS;
    jit->cache = jit_cache_open(NULL, level == 4 ? "LLVM 22.1, x86-64-v4" : "LLVM 22.1, x86-64-v3, gathers");
    pthread_mutex_init(&jit->lock, NULL);
    pthread_cond_init(&jit->changed, NULL);
    return jit;
}

static void *load(void *context)
{
    (void)context;
    return llvm_load();
}

void jit_load(void)
{
    pthread_t thread; /* what LLVM allocates is the simulator's, and not the calling thread's */
    if (thread_start(&thread, load, NULL) == 0)
        pthread_join(thread, NULL);
}

static void close_target(struct jit *jit)
{
    const struct llvm *l = &jit->llvm;
    body_library_close(jit->target.library);
    if (jit->target.context)
        l->ContextDispose(jit->target.context);
    if (jit->layout)
        l->DisposeTargetData(jit->layout);
    if (jit->machine)
        l->DisposeTargetMachine(jit->machine);
}

void jit_close(struct jit *jit)
{
    if (!jit)
        return;
    pthread_mutex_lock(&jit->lock);
    stop(jit);
    pthread_mutex_unlock(&jit->lock);
    if (jit->started)
        pthread_join(jit->thread, NULL);
    if (jit->last) {
        pthread_mutex_lock(&jit->last->lock);
        jit->last->jit = NULL;
        pthread_mutex_unlock(&jit->last->lock);
    }
    if (!jit->exits)
        close_target(jit);
    jit_cache_close(jit->cache);
    pthread_mutex_destroy(&jit->lock);
    pthread_cond_destroy(&jit->changed);
    free(jit);
}

struct exec_compiler *jit_compiler(struct jit *jit)
{
    return &jit->compiler;
}

const char *jit_cache_why_off(struct jit *jit)
{
    return jit_cache_off(jit->cache);
}

struct jit_totals jit_totals(struct jit *jit)
{
    pthread_mutex_lock(&jit->lock);
    const struct jit_totals totals = jit->totals;
    pthread_mutex_unlock(&jit->lock);
    return totals;
}

bool jit_refused(struct jit *jit, unsigned index, struct jit_refused *out)
{
    pthread_mutex_lock(&jit->lock);
    const bool found = index < jit->refused.count;
    if (found)
        *out = jit->refused.entry[index];
    pthread_mutex_unlock(&jit->lock);
    return found;
}
