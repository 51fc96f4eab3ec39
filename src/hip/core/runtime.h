/* SPDX-License-Identifier: MIT */
/*
 * What all of libamdhip64 shares: the process's one runtime, its devices, the
 * calling thread's state, and the frame of every entry point.
 *
 * HIP's interface has no handle for "the runtime": hipMalloc() takes none.  So
 * there is exactly one piece of process-wide state here, hip_runtime(), and one
 * piece of per-thread state, hip_thread().  Everything else hangs from them.
 *
 * The runtime reaches the machine through <ehp/ehp.h> alone, and <ehp/cpu_thread.h>.
 */
#ifndef HIP_RUNTIME_H
#define HIP_RUNTIME_H

#include <hip/hip_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <ehp/cpu_thread.h>
#include <ehp/ehp.h>

#define HIP_ENTRY __attribute__((visibility("default")))
/* A second name for an entry point. */
#define HIP_ALIAS(target, name)                                                                              \
    extern __typeof__(target) name __attribute__((visibility("default"), alias(#target)))
#define HIP_DEVICES_MAX EHP_AGENTS_MAX
#define HIP_LANES_MAX   32

struct ihipMemPoolHandle_t;
struct graph_memory;
struct hip_hostcall;
struct hip_queue;
struct hip_registry;
struct ihipStream_t;

/* hipCtx_t: contexts are trivial, one to a device, always the primary one. */
struct ihipCtx_t {
    int device;
    unsigned flags;
};

/* Bytes of graphs' allocation nodes. */
struct hip_graph_memory {
    uint64_t used, used_high, reserved, reserved_high;
    struct graph_memory *first;
};

/* hip/memory/blit.h: its kernels' descriptors, and how many workgroups share one in the host's memory. */
struct hip_blits {
    bool opened;
    hipError_t error;
    uint64_t copy, fill, copy_rows, fill_rows;
    uint32_t host;
};

struct hip_device {
    struct hip_blits blits; /* with `lock` */
    int ordinal;            /* HIP's number, after HIP_VISIBLE_DEVICES */
    unsigned agent;         /* libehp's number */
    struct ehp_agent_info info;
    hipDeviceProp_tR0600 props;
    struct ihipCtx_t ctx;
    unsigned flags; /* hipSetDeviceFlags */
    bool active;    /* the primary context is in use */
    size_t limits[hipLimitRange];
    bool peer[HIP_DEVICES_MAX];

    /* The first fault since the last reset: a hipError_t, or 0.  Sticky. */
    _Atomic int fault;
    _Atomic bool assertion; /* the device has printed a failed assert() */

    pthread_mutex_t streams_lock; /* guards the list and the creation of null_stream */
    struct ihipStream_t *streams; /* every stream of this device, the null stream too */
    struct ihipStream_t *_Atomic null_stream;
    _Atomic unsigned blocking_streams; /* how many of them synchronise with the null stream */

    pthread_mutex_t queues_lock; /* guards the list; the machine is not called with it held */
    struct hip_queue *queues;

    pthread_mutex_t lock;                      /* guards what follows */
    struct ihipStream_t *lanes[HIP_LANES_MAX]; /* for graphs' branches; made when first needed */
    struct hip_hostcall *_Atomic hostcall;
    void *_Atomic heap;
    struct ihipMemPoolHandle_t *default_pool, *pool;
    struct hip_graph_memory graphs;
};

struct hip_runtime {
    pthread_mutex_t lock;
    _Atomic int state; /* 0 closed, 1 open, 2 failed */
    hipError_t failure;
    bool forked; /* the child of a process that has it open */
    _Atomic bool said_forked, said_refused, said_no_cores;
    ehp_machine *machine;
    unsigned hw_queues; /* that the streams of a device and priority share: GPU_MAX_HW_QUEUES */
    bool timing;        /* simulated time */
    bool no_sdma;       /* HSA_ENABLE_SDMA=0 */
    bool isolate;       /* device code has nothing of the host's called */
    struct hip_device device[HIP_DEVICES_MAX];
    int devices;
    struct hip_registry *registry;
    bool stats;
    struct hip_reports *reports;   /* NULL: none */
    struct hip_counters *counters; /* EHP_COUNTERS; NULL: none */
    struct hip_advise *advise;     /* EHP_ADVISE; NULL: none */
    _Atomic bool read_only;        /* there has been memory that devices may only read */
    _Atomic uint64_t next_id;      /* captures, buffers, threads, streams */
};

struct hip_call_config {
    dim3 grid, block;
    size_t shared;
    hipStream_t stream;
};

/* What a process that ends, or unloads a library with kernels, has seen of the work it waits for. */
struct hip_last_wait {
    const char *why;
    uint64_t work;
    unsigned slices, still; /* of waiting, and since something has got on */
    bool left;              /* nothing does */
};

#define HIP_CONFIG_DEPTH 16
#define HIP_CTX_DEPTH    32

struct hip_thread {
    int device;
    hipError_t last_error;  /* hipGetLastError() */
    hipError_t last_result; /* hipExtGetLastError() */
    struct hip_call_config config[HIP_CONFIG_DEPTH];
    unsigned configs;
    int ctx[HIP_CTX_DEPTH]; /* hipCtxPushCurrent(): devices beneath the current one */
    unsigned ctxs;
    hipStreamCaptureMode capture_mode;
    uint64_t id; /* 0 until a capture asks for it */
    bool forks;  /* between ehp_host_forks() and ehp_host_forked() */
    struct ihipStream_t *per_thread[HIP_DEVICES_MAX];
    bool per_thread_key;
    struct ihipStream_t *call;  /* in a host function: the stream that it is of */
    bool refused;               /* ... and something in this HIP call would have waited for it */
    struct hip_last_wait *last; /* this waits only for as long as the work gets on */
    struct {                    /* hipConfigureCall(), hipSetupArgument() */
        struct hip_call_config config;
        unsigned char args[4096];
        size_t bytes;
    } *legacy_launch;
};

struct hip_runtime *hip_runtime(void);
struct hip_thread *hip_thread(void);

/* 5, 6 or 7: which soname this copy was linked as. */
int hip_abi_major(void);

/* Opens the machine on first use. */
hipError_t hip_open(void);
/* The machine, also where it has no device; NULL: there is none. */
ehp_machine *hip_open_machine(void);
/* The calling thread's memory policy: of the simulated node under `ehp run --node`; else the system's. */
bool hip_numa_policy(int *mode, uint64_t *nodes);
/* Whether this is the child of a process that had opened the machine: it has no GPU, and nothing to close. */
bool hip_forked(void);
/* The calling thread's device, opening the machine if need be. */
hipError_t hip_current(struct hip_device **device);
/* By HIP's number. */
hipError_t hip_device_at(int ordinal, struct hip_device **device);
/* The sticky error of this device. */
static inline hipError_t hip_device_error(struct hip_device *device)
{
    return (hipError_t)atomic_load_explicit(&device->fault, memory_order_acquire);
}
/* hipErrorStreamCaptureUnsupported when a capture forbids a call that is not stream-ordered. */
hipError_t hip_capture_forbids(void);
/* hip_current(), the sticky error and hip_capture_forbids() in one: the head of most calls. */
hipError_t hip_enter(struct hip_device **device);
/* Before a lock is taken that others hold while they call the machine: see ehp_cpu_arrive(). */
static inline void hip_arrive(void)
{
    if (hip_runtime()->machine)
        ehp_cpu_arrive(hip_runtime()->machine);
}

/*
 * Every entry point that returns an error returns through this: it remembers it for hipGetLastError(), and
 * makes one of what a host function could not wait for.
 */
hipError_t hip_return(hipError_t error);

/* What libehp's status means in HIP. */
hipError_t hip_from_status(int status);

/* A line on stderr: what names and paths of the environment have in it for a terminal to obey is shown. */
__attribute__((format(printf, 1, 2))) void hip_say(const char *format, ...);

/* In timing mode, that the program measures by the host's clock. */
void hip_say_clocks(const struct hip_runtime *runtime);

/* An entry point without an implementation: says so once on stderr. */
int hip_unsupported_entry(const char *name, _Atomic bool *said);

#endif
