/* SPDX-License-Identifier: MIT */
/*
 * The process's runtime: opened by the first call that needs the machine, from
 * the environment that `ehp run` sets (EHP_CHIP, EHP_PARTITION, ...).
 */
#include "hip/core/state.h"
#include "hip/core/runtime.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hip/observe/advise.h"
#include "hip/core/device.h"
#include "hip/observe/stats.h"
#include "hip/stream/stream.h"
#include "hip/observe/fabric.h"
#include "hip/observe/usage.h"

struct hip_runtime *hip_runtime(void)
{
    return &hip_state()->runtime;
}

struct hip_thread *hip_thread(void)
{
    static _Thread_local struct hip_thread thread;
    return &thread;
}

hipError_t hip_return(hipError_t error)
{
    struct hip_thread *thread = hip_thread();

    if (thread->refused)
        error = hip_wait_refused();
    thread->last_result = error;
    /* ROCm 6 remembers the last call; ROCm 7 the last failure, as CUDA does. */
    if (hip_abi_major() < 7 || (error != hipSuccess && error != hipErrorNotReady))
        thread->last_error = error;
    return error;
}

hipError_t hip_from_status(int status)
{
    switch (status) {
    case EHP_OK:
        return hipSuccess;
    case EHP_ERR_NO_MEMORY:
        return hipErrorOutOfMemory;
    case EHP_ERR_NOT_FOUND:
        return hipErrorNotFound;
    case EHP_ERR_BAD_CHIP:
        return hipErrorNoDevice;
    case EHP_ERR_BAD_IMAGE:
        return hipErrorInvalidImage;
    case EHP_ERR_WRONG_ISA:
        return hipErrorNoBinaryForGpu;
    case EHP_ERR_UNSUPPORTED:
        return hipErrorNotSupported;
    case EHP_ERR_OUT_OF_RESOURCES:
        return hipErrorLaunchOutOfResources;
    case EHP_ERR_TIMEOUT:
        return hipErrorLaunchTimeOut;
    case EHP_ERR_FAULT:
        return hipErrorLaunchFailure;
    default:
        return hipErrorInvalidValue;
    }
}

void hip_say(const char *format, ...)
{
    va_list arguments;
    char *text;

    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    const size_t most = 4 * (size_t)length + 1; /* all of it escaped */
    char *room = malloc(most);
    fprintf(stderr, "ehp: %s\n", room ? ehp_printable(text, room, most) : "out of memory");
    free(room);
    free(text);
}

int hip_unsupported_entry(const char *name, _Atomic bool *said)
{
    if (!atomic_exchange(said, true))
        hip_say("%s is not supported", name);
    return hip_return(hipErrorNotSupported);
}

/* A decimal number in the environment; false, with a message, when it is not one. */
static bool runtime_fraction(const char *name, double least, double most, double *value)
{
    const char *text = secure_getenv(name);
    char *end;

    if (!text || !*text)
        return true;
    errno = 0;
    double number = strtod(text, &end);
    if (errno || end == text || *end || !(number >= least && number <= most)) {
        hip_say("%s=%s: expected a number from %g to %g", name, text, least, most);
        return false;
    }
    *value = number;
    return true;
}

/* A whole number from the environment, within bounds. */
static bool runtime_number(const char *name, double least, double most, double *value)
{
    if (!runtime_fraction(name, least, most, value))
        return false;
    if (*value == (double)(int64_t)*value)
        return true;
    hip_say("%s=%s: expected a whole number from %.0f to %.0f", name, secure_getenv(name), least, most);
    return false;
}

static const char *runtime_text(const char *name)
{
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

/* A line that is drawn over needs a terminal that can. */
static bool can_draw(void)
{
    const char *terminal = secure_getenv("TERM");

    return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

/* EHP_MODE: functional, or timing. */
static bool runtime_mode(bool *timing)
{
    const char *mode = runtime_text("EHP_MODE");

    *timing = mode && strcmp(mode, "timing") == 0;
    if (!mode || *timing || strcmp(mode, "functional") == 0)
        return true;
    hip_say("EHP_MODE=%s: the modes are functional and timing", mode);
    return false;
}

/* EHP_BOUNDS: warn, fault or off; `ehp run --bounds` checks the same names. */
static bool runtime_bounds(int *bounds)
{
    static const char *const names[] = {"warn", "fault", "off"}; /* enum ehp_bounds */
    const char *text = runtime_text("EHP_BOUNDS");

    for (*bounds = EHP_BOUNDS_WARN; text && strcmp(text, names[*bounds]) != 0; ++*bounds)
        if (*bounds == EHP_BOUNDS_OFF) {
            hip_say("EHP_BOUNDS=%s: there are: warn, fault, off", text);
            return false;
        }
    return true;
}

/* EHP_ENGINE: auto, interpreter or compiled; `ehp run --engine` checks the same names. */
static bool runtime_engine(int *engine)
{
    static const char *const names[] = {"auto", "interpreter", "compiled"}; /* enum ehp_engine */
    const char *text = runtime_text("EHP_ENGINE");

    for (*engine = EHP_ENGINE_AUTO; text && strcmp(text, names[*engine]) != 0; ++*engine)
        if (*engine == EHP_ENGINE_COMPILED) {
            hip_say("EHP_ENGINE=%s: there are: auto, interpreter, compiled", text);
            return false;
        }
    return true;
}

/* It was asked for, and results are the same: only slower. */
static void runtime_say_interpreted(const struct ehp_options *options)
{
    struct ehp_engine_info info = EHP_ENGINE_INFO_INIT;

    if (options->engine != EHP_ENGINE_COMPILED || ehp_engine_info(&info) != EHP_OK)
        return;
    if (!info.compiled)
        hip_say("EHP_ENGINE=compiled: kernels are interpreted: %s", info.text);
    else if (options->timing && options->xnack)
        hip_say("EHP_ENGINE=compiled: kernels are interpreted: with XNACK, simulated time follows where the "
                "program's memory is");
}

static bool runtime_options(struct ehp_options *options)
{
    double nps = 0, threads = 0, timeout = 0, chunk = 0, progress = can_draw(), sdma = 1, sample = 0,
           xnack = 0, isolate = 0;

    if (!runtime_number("EHP_NPS", 1, 64, &nps) || !runtime_number("EHP_THREADS", 0, 4096, &threads) ||
        !runtime_fraction("EHP_TIMEOUT", 0, 1e9, &timeout) ||
        !runtime_number("EHP_XCC_CHUNK", 1, 1e6, &chunk) ||
        !runtime_number("EHP_PROGRESS", 0, 1, &progress) || !runtime_number("HSA_ENABLE_SDMA", 0, 1, &sdma) ||
        !runtime_number("EHP_SAMPLE", 0, 1, &sample) || !runtime_number("HSA_XNACK", 0, 1, &xnack) ||
        !runtime_number("EHP_ISOLATE", 0, 1, &isolate))
        return false;
    if (!runtime_mode(&options->timing) || !runtime_bounds(&options->bounds) ||
        !runtime_engine(&options->engine))
        return false;
    options->chip = runtime_text("EHP_CHIP");
    options->node = runtime_text("EHP_NODE");
    options->partition = runtime_text("EHP_PARTITION");
    options->nps = (unsigned)nps;
    options->threads = (unsigned)threads;
    options->timeout_ms = (uint64_t)(timeout * 1000);
    if (timeout > 0 && !options->timeout_ms)
        options->timeout_ms = 1;
    options->xcc_chunk = (unsigned)chunk;
    options->progress = progress != 0;
    hip_runtime()->no_sdma = sdma == 0;
    options->sample = sample != 0;
    options->xnack = xnack != 0;
    options->isolate = isolate != 0;
    return true;
}

/*
 * HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES: a comma-separated list of
 * indices, in the order the program shall see them; the list ends at the first
 * one that does not exist (ROCm documentation, "GPU isolation techniques").
 */
static int runtime_visible(const char *name, unsigned *map, int count)
{
    const char *text = secure_getenv(name);
    unsigned chosen[HIP_DEVICES_MAX];
    int n = 0;

    if (!text)
        return count;
    while (*text && n < HIP_DEVICES_MAX) {
        char *end;
        long index = strtol(text, &end, 10);
        if (end == text || (*end && *end != ',')) {
            hip_say("%s=%s: expected device numbers separated by commas", name, secure_getenv(name));
            return 0;
        }
        if (index < 0 || index >= count)
            break;
        chosen[n++] = map[index];
        text = *end ? end + 1 : end;
    }
    memcpy(map, chosen, (size_t)n * sizeof *map);
    return n;
}

/* What the program has asked the system for, of its memory (host/numa.c). */
static void runtime_numa(struct hip_runtime *runtime)
{
    struct ehp_numa_policy policy = {0};
    int mode = 0;
    unsigned cpu = 0, package = 0;

    if (!secure_getenv("EHP_NUMA") || !hip_numa_policy(&mode, &policy.nodes))
        return;
    policy.mode = (uint32_t)mode;
    if (syscall(SYS_getcpu, &cpu, &package, NULL) == 0)
        ehp_numa_set(runtime->machine, NULL, package, &policy);
}

bool hip_numa_policy(int *mode, uint64_t *nodes)
{
    enum { BITS = 64 };
    unsigned long mask[BITS / 64] = {0};

    if (syscall(SYS_get_mempolicy, mode, mask, BITS, NULL, 0) != 0)
        return false;
    *mode &= ~MPOL_MODE_FLAGS;
    *nodes = mask[0];
    return true;
}

static hipError_t runtime_open(struct hip_runtime *runtime)
{
    struct ehp_options options = EHP_OPTIONS_INIT;
    unsigned map[HIP_DEVICES_MAX];
    double hw_queues = 4; /* ROCm's default */

    if (!runtime_options(&options) || !runtime_number("GPU_MAX_HW_QUEUES", 1, 1024, &hw_queues))
        return hipErrorInvalidValue;
    runtime->hw_queues = (unsigned)hw_queues;
    runtime->timing = options.timing;
    runtime->isolate = options.isolate;
    if (ehp_open(&options, &runtime->machine) != EHP_OK) {
        hip_say("%s", options.error);
        return hipErrorNoDevice;
    }
    runtime_say_interpreted(&options);
    hip_say_clocks(runtime);
    runtime_numa(runtime);
    int count = (int)ehp_agent_count(runtime->machine);
    for (int i = 0; i < count; i++)
        map[i] = (unsigned)i;
    count = runtime_visible("ROCR_VISIBLE_DEVICES", map, count);
    count = runtime_visible(
        secure_getenv("HIP_VISIBLE_DEVICES") ? "HIP_VISIBLE_DEVICES" : "CUDA_VISIBLE_DEVICES", map, count);
    for (int i = 0; i < count; i++)
        if (!hip_device_init(runtime, i, map[i]))
            return hipErrorNoDevice;
    runtime->devices = count;
    hip_fault_install(runtime);
    if (!hip_advise_init(runtime) || !hip_stats_init(runtime) || !hip_usage_init(runtime) ||
        !hip_fabric_init(runtime))
        return hipErrorOutOfMemory;
    if (!hip_counters_init(runtime))
        return hipErrorInvalidValue;
    return count ? hipSuccess : hipErrorNoDevice;
}

/* ---- fork ---- */

static void runtime_forks(void)
{
    struct hip_runtime *runtime = hip_runtime();
    struct hip_thread *thread = hip_thread();
    thread->forks = atomic_load(&runtime->state) && runtime->machine && !runtime->forked;
    if (thread->forks)
        (void)ehp_host_forks(runtime->machine);
}

static void runtime_parent(void)
{
    if (hip_thread()->forks)
        (void)ehp_host_forked(hip_runtime()->machine);
}

/* The machine's threads are the parent's: here is no GPU, as the child of a process that has opened the real
 * one has none. */
static void runtime_child(void)
{
    struct hip_runtime *runtime = hip_runtime();
    runtime->forked = true;
    runtime->failure = hipErrorNotInitialized;
    atomic_store(&runtime->state, 2);
}

static void runtime_say_forked(struct hip_runtime *runtime)
{
    if (!atomic_exchange(&runtime->said_forked, true))
        fprintf(stderr,
                "ehp: this process was forked from one that uses the GPU, and has none: fork before the "
                "first HIP call, or exec\n");
}

bool hip_forked(void)
{
    return hip_runtime()->forked;
}

hipError_t hip_open(void)
{
    struct hip_runtime *runtime = hip_runtime();
    int state = atomic_load_explicit(&runtime->state, memory_order_acquire);

    if (state == 0) {
        pthread_mutex_lock(&runtime->lock);
        state = atomic_load(&runtime->state);
        if (state == 0) {
            runtime->failure = runtime_open(runtime);
            pthread_atfork(runtime_forks, runtime_parent, runtime_child);
            atexit(hip_wait_ends);
            state = runtime->failure == hipSuccess ? 1 : 2;
            atomic_store_explicit(&runtime->state, state, memory_order_release);
        }
        pthread_mutex_unlock(&runtime->lock);
    }
    if (runtime->forked)
        runtime_say_forked(runtime);
    return state == 1 ? hipSuccess : runtime->failure;
}

ehp_machine *hip_open_machine(void)
{
    const hipError_t error = hip_open();

    return error == hipSuccess || error == hipErrorNoDevice ? hip_runtime()->machine : NULL;
}

hipError_t hip_current(struct hip_device **device)
{
    hipError_t error = hip_open();

    if (error != hipSuccess)
        return error;
    *device = &hip_runtime()->device[hip_thread()->device];
    return hipSuccess;
}

hipError_t hip_device_at(int ordinal, struct hip_device **device)
{
    hipError_t error = hip_open();

    if (error != hipSuccess)
        return error;
    if (ordinal < 0 || ordinal >= hip_runtime()->devices)
        return hipErrorInvalidDevice;
    *device = &hip_runtime()->device[ordinal];
    return hipSuccess;
}

hipError_t hip_enter(struct hip_device **device)
{
    hipError_t error = hip_current(device);

    if (error == hipSuccess)
        hip_arrive();
    if (error == hipSuccess)
        error = hip_device_error(*device);
    return error == hipSuccess ? hip_capture_forbids() : error;
}
