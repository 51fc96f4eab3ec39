/* SPDX-License-Identifier: MIT */
/*
 * libehp: a simulated AMD Instinct package as a C library.
 *
 * Open a machine from a chip, load a code object, create a queue, put packets
 * into it, wait for their signals, read counters, close.  The `ehp` command
 * and the HIP runtime are built on this header alone.
 *
 *   struct ehp_options opt = EHP_OPTIONS_INIT;
 *   ehp_machine *m;
 *   if (ehp_open(&opt, &m) != EHP_OK) { fputs(opt.error, stderr); return 1; }
 *   ...
 *   ehp_close(m);
 *
 * Memory is the process's own: a device address is a host address.
 *
 * Threads: every function may be called from any thread, on one machine or on
 * several, except that nothing may run concurrently with ehp_close() or with
 * the destruction of the object it is given.
 *
 * Errors: functions return EHP_OK (0) or a negative enum ehp_status;
 * ehp_error_text() has one line that says what was wrong, where, what to do.
 * A fault of a simulated program is not a return value: it reaches the fault
 * handler, and the queue it happened on becomes inactive.
 *
 * ABI: structs that callers allocate begin with `size`, set by the INIT
 * macros; fields are only ever appended.  Sizes are in bytes, times in
 * nanoseconds unless a name says otherwise.
 */
#ifndef EHP_H
#define EHP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ehp/aql.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EHP_VERSION_MAJOR 0
#define EHP_VERSION_MINOR 1
#define EHP_API           __attribute__((visibility("default")))

typedef struct ehp_machine ehp_machine;
typedef struct ehp_code ehp_code;

enum ehp_status {
    EHP_OK = 0,
    EHP_ERR_INVALID = -1,     /* an argument makes no sense */
    EHP_ERR_NO_MEMORY = -2,   /* the simulated (or the host's) memory is exhausted */
    EHP_ERR_NOT_FOUND = -3,   /* no such chip, file, kernel, symbol */
    EHP_ERR_BAD_CHIP = -4,    /* the chip file is malformed or inconsistent */
    EHP_ERR_BAD_IMAGE = -5,   /* not a code object, or a damaged one */
    EHP_ERR_WRONG_ISA = -6,   /* a code object, but for another processor */
    EHP_ERR_UNSUPPORTED = -7, /* valid, but not implemented */
    EHP_ERR_OUT_OF_RESOURCES = -8,
    EHP_ERR_TIMEOUT = -9,
    EHP_ERR_FAULT = -10, /* the queue is inactive after a fault */
};

/* ---- machine ------------------------------------------------------------------------------------------ */

/*
 * Accesses beyond an allocation that stay in what the chip has mapped with it: blocks of 2 MiB, from which
 * small allocations are cut.  An access to memory that was freed, or that no block has, is a fault always.
 */
enum ehp_bounds {
    EHP_BOUNDS_WARN, /* they go on, as on the chip, with a warning on stderr for each kernel and allocation */
    EHP_BOUNDS_FAULT, /* beyond its last page they are faults */
    EHP_BOUNDS_OFF,   /* they go on */
};

/* How instructions are executed; results and simulated times are the same to the bit.  In timing mode that is
 * those that compute, and all that sampling leaves out; not with xnack.  See ehp_engine_info(). */
enum ehp_engine {
    EHP_ENGINE_AUTO,        /* interpreted at first, and what turns out hot is compiled, where that can be */
    EHP_ENGINE_INTERPRETER, /* nothing is compiled */
    EHP_ENGINE_COMPILED, /* functions are compiled before they are executed, which makes short programs slower
                          */
};

struct ehp_options {
    size_t size;
    const char *chip;      /* name ("mi300a"), or a path to a chip file; NULL: "mi300a", or the node's */
    const char *partition; /* "spx", "tpx", "cpx", ...; NULL: spx */
    unsigned nps;          /* NUMA domains of the memory: 1, or one for each IOD with HBM; 0: 1 */
    unsigned threads;      /* host threads that execute waves; 0: all cores */
    uint64_t timeout_ms;   /* a dispatch that runs longer is a fault; 0: never */
    unsigned xcc_chunk;    /* consecutive workgroups that one XCD takes; 0: 1 */
    bool progress;         /* draw a progress line on stderr for long kernels */
    bool timing;           /* run in simulated time */
    char error[256];       /* out: why ehp_open() failed */
    bool sample;           /* timing mode: of large dispatches, only some workgroups in detail */
    bool xnack;            /* the GPU may access all of the process's memory, and its faults are replayed */
    int bounds;            /* enum ehp_bounds */
    bool isolate;     /* waves reach what is allocated, or registered to the byte, for them and nothing else:
                         not with xnack, and bounds are EHP_BOUNDS_FAULT */
    int engine;       /* enum ehp_engine */
    const char *node; /* name ("mi300a-x4"), or a path to a node file; NULL: one package of `chip`, which a
                         node names itself */
};
#define EHP_OPTIONS_INIT {.size = sizeof(struct ehp_options)}

EHP_API int ehp_open(struct ehp_options *options, ehp_machine **machine);
EHP_API void ehp_close(ehp_machine *machine);
EHP_API const char *ehp_version(void);
EHP_API const char *ehp_status_name(int status);
/* The calling thread's last failure on this machine; valid until its next call. Never NULL. */
EHP_API const char *ehp_error_text(ehp_machine *machine);

/* What there is to execute instructions with on this host. */
struct ehp_engine_info {
    size_t size;
    unsigned handlers; /* level of the host that the interpreter's are built for: 2, 3 (AVX2), 4 (AVX-512) */
    bool compiled;     /* there is a compiled engine */
    char text[160];    /* what it is, or why there is none */
};
#define EHP_ENGINE_INFO_INIT {.size = sizeof(struct ehp_engine_info)}
/* Needs no machine; looks for LLVM's library, which takes some ms, and whether memory may become executable.
 */
EHP_API int ehp_engine_info(struct ehp_engine_info *info);

/* A compute partition of the package: what HSA calls an agent and HIP a device. */
struct ehp_agent_info {
    size_t size;
    char name[64]; /* "AMD Instinct MI300A" */
    char chip[32]; /* "mi300a" */
    char isa[64];  /* "gfx942:sramecc+:xnack-" */
    unsigned xcds; /* in this partition */
    unsigned cus;  /* in this partition, active */
    unsigned cus_per_xcd, shader_engines_per_xcd;
    unsigned simds_per_cu, waves_per_simd, wave_size;
    unsigned vgprs_per_simd; /* 512: unified, per lane */
    unsigned sgprs_per_wave;
    unsigned workgroup_max; /* work-items */
    unsigned grid_max[3];   /* workgroups */
    uint64_t lds_bytes;     /* a CU and the most a workgroup can have */
    uint64_t memory_bytes;  /* this partition's */
    uint64_t l1_bytes, l2_bytes, infinity_cache_bytes;
    unsigned clock_mhz, memory_clock_mhz, timestamp_mhz, memory_bus_bits;
    unsigned pci_domain, pci_bus, pci_device, pci_function; /* a bus for each package */
    unsigned pci_id;                                        /* device id */
    unsigned numa_nodes;                                    /* NPS */
    unsigned partition_index, partition_count;
    bool apu; /* CPU cores share the package */
    unsigned cpu_cores;
    bool xnack;                                          /* page faults are replayed: see ehp_options */
    unsigned sgprs_per_simd, vgpr_granule, sgpr_granule; /* granule: registers are allocated in multiples */
    unsigned package, packages;                          /* of the node; agents of one share its memory */
};
#define EHP_AGENT_INFO_INIT {.size = sizeof(struct ehp_agent_info)}

/* No node has more packages than EHP_PACKAGES_MAX, and no machine becomes more agents than EHP_AGENTS_MAX. */
#define EHP_PACKAGES_MAX 8
#define EHP_AGENTS_MAX   64
EHP_API unsigned ehp_agent_count(const ehp_machine *machine);
EHP_API int ehp_agent_info(ehp_machine *machine, unsigned agent, struct ehp_agent_info *info);
/* The package that an agent is of; 0 for one that there is not. */
EHP_API unsigned ehp_package_of(const ehp_machine *machine, unsigned agent);

/*
 * Current time in ticks of the 100 MHz reference clock, the one of s_memrealtime and signal timestamps; in
 * timing mode the host program's.
 */
EHP_API uint64_t ehp_timestamp(ehp_machine *machine);

/* ---- memory ------------------------------------------------------------------------------------------- */

enum ehp_memory_kind {
    EHP_MEM_DEVICE,     /* hipMalloc */
    EHP_MEM_HOST,       /* hipHostMalloc: pinned, coherent */
    EHP_MEM_MANAGED,    /* hipMallocManaged */
    EHP_MEM_REGISTERED, /* the user's own, ehp_mem_register() */
    EHP_MEM_CODE,       /* a loaded code object */
    EHP_MEM_INTERNAL,   /* kernargs, rings, scratch: the runtime's */
};

struct ehp_allocation {
    size_t size;
    void *base;
    uint64_t bytes;
    int kind; /* enum ehp_memory_kind */
    unsigned agent;
    uint64_t serial; /* 1, 2, ... in order of allocation */
    uint64_t user;   /* ehp_mem_set_user() */
};
#define EHP_ALLOCATION_INIT {.size = sizeof(struct ehp_allocation)}

/*
 * Zero-filled, page-aligned when `align` is 0.  All of it is in one physical
 * memory; managed memory takes its pages when they are touched if the machine has
 * XNACK, everything else takes them here.
 */
EHP_API int ehp_mem_alloc(ehp_machine *machine, unsigned agent, int kind, uint64_t bytes, uint64_t align,
                          void **out);
EHP_API int ehp_mem_free(ehp_machine *machine, void *base);
EHP_API int ehp_mem_register(ehp_machine *machine, void *base, uint64_t bytes);
/* The same, and the GPU's caches do not keep it: managed variables. */
EHP_API int ehp_mem_register_uncached(ehp_machine *machine, void *base, uint64_t bytes);
/* The same, and it is an agent's device memory: what another process has handed over, or is mapped twice. */
EHP_API int ehp_mem_register_device(ehp_machine *machine, unsigned agent, void *base, uint64_t bytes);
EHP_API int ehp_mem_unregister(ehp_machine *machine, void *base);
EHP_API int ehp_mem_set_user(ehp_machine *machine, void *base, uint64_t user);
/* The allocation that contains `address`; EHP_ERR_NOT_FOUND when there is none. */
EHP_API int ehp_mem_query(ehp_machine *machine, const void *address, struct ehp_allocation *out);
/* Whether the GPU may access it without its being anybody's here: with XNACK, the process's own memory. */
EHP_API bool ehp_mem_pageable(ehp_machine *machine, const void *address);
/* Whether it lies where only ehp_mem_alloc() puts memory: it is nobody's else, also when it has been freed.
 */
EHP_API bool ehp_mem_reserved(ehp_machine *machine, const void *address);
/* Where the host program allocates this, or is about to free it: return addresses, innermost first. */
enum ehp_mem_event { EHP_MEM_ALLOCATED, EHP_MEM_FREED };
EHP_API int ehp_mem_set_site(ehp_machine *machine, void *base, int event, void *const *returns,
                             unsigned count);
/*
 * A line about the allocation that contains `address`, or contained it before it
 * was freed: what it is, where it was allocated and freed, by function and line if
 * the program has debug information.  EHP_ERR_NOT_FOUND: there was none, or long ago.
 */
EHP_API int ehp_mem_history(ehp_machine *machine, const void *address, char *text, size_t bytes);
/*
 * Calls access(context) on this thread.  EHP_ERR_FAULT: it touched memory that is not there, or wrote what
 * may only be read, and was left at that point: it must hold nothing.  Thread-safe; not within another one.
 */
EHP_API int ehp_mem_try(void (*access)(void *context), void *context);
/* Free and all bytes of device memory, as hipMemGetInfo has them: they know nothing of other memory. */
EHP_API int ehp_mem_info(ehp_machine *machine, unsigned agent, uint64_t *free_bytes, uint64_t *total_bytes);

/*
 * What really is in use, by allocator: what was taken up front by enum
 * ehp_memory_kind, the touched part of managed memory on demand, and the host
 * program's own memory, which is what of the process is resident less what it was
 * before the simulator opened (its own memory is not counted).
 */
struct ehp_mem_use {
    size_t size;
    uint64_t total;                         /* the package's */
    uint64_t upfront[EHP_MEM_INTERNAL + 1]; /* by enum ehp_memory_kind */
    uint64_t managed, process;              /* touched pages, in bytes */
};
EHP_API int ehp_mem_use(ehp_machine *machine, struct ehp_mem_use *out);

/*
 * The process is about to fork: waits until no function is being compiled, which may take a second, so that
 * the child can exit.  ehp_host_forked() must follow in the parent; pthread_atfork() is the place of both.
 */
EHP_API int ehp_host_forks(ehp_machine *machine);

/*
 * The process has forked, and this is the parent: its own pages are copied when written to from now on.  In
 * timing mode the GPU loses its entries for those that it reached by page faults.
 */
EHP_API int ehp_host_forked(ehp_machine *machine);

/*
 * The process has unmapped memory of its own, or discarded what is in it (MADV_DONTNEED).  In timing mode its
 * whole pages fault when they are touched again.  Not needed for what no core and no GPU has touched.
 */
EHP_API int ehp_host_unmapped(ehp_machine *machine, const void *base, uint64_t bytes);
/* It has moved pages (mremap()), which do not overlap with where they are now: those that exist do not fault
 * again there. Addresses and `bytes` are multiples of a page. */
EHP_API int ehp_host_moved(ehp_machine *machine, const void *from, const void *to, uint64_t bytes);

/*
 * Where pages of the host program lie: packages of a node are NUMA nodes, and what a page's memory is of is
 * asked for as Linux has it (mbind(2), set_mempolicy(2)), whose numbers these modes have.  A policy holds for
 * pages that have no place yet: one that a core or a GPU touches, that is registered, or asked for, gets it
 * then.  Memory of ehp_mem_alloc() that has its pages from the beginning is not concerned.
 */
enum ehp_numa_mode {
    EHP_NUMA_DEFAULT,        /* as LOCAL; of a range: as its thread's policy says */
    EHP_NUMA_PREFERRED,      /* the first of the nodes; another, if its memory is full */
    EHP_NUMA_BIND,           /* these nodes alone, the nearest first */
    EHP_NUMA_INTERLEAVE,     /* page after page in turn */
    EHP_NUMA_LOCAL,          /* where it is touched first */
    EHP_NUMA_PREFERRED_MANY, /* the nearest of these nodes; another, if their memory is full */
};
struct ehp_numa_policy {
    uint32_t mode;  /* enum ehp_numa_mode */
    uint32_t first; /* INTERLEAVE of a range: which page of a turn it begins with */
    uint64_t nodes; /* a bit for each package */
};
/*
 * Of pages that a thread on a core touches first; of thread NULL: host code whose time is not simulated,
 * which is taken to run on package `package`.
 */
struct ehp_cpu_thread;
EHP_API int ehp_numa_set(ehp_machine *machine, struct ehp_cpu_thread *thread, unsigned package,
                         const struct ehp_numa_policy *policy);
/* Of a range of whole pages. */
EHP_API int ehp_numa_bind(ehp_machine *machine, const void *base, uint64_t bytes,
                          const struct ehp_numa_policy *policy);
/* The policy of the range that an address is in; EHP_ERR_NOT_FOUND: none. */
EHP_API int ehp_numa_policy_of(ehp_machine *machine, const void *address, struct ehp_numa_policy *policy);
/*
 * The package of the page at an address, which gets a place as if that thread had touched it first if it has
 * none.  EHP_ERR_NOT_FOUND: the process has no page there; EHP_ERR_NO_MEMORY: no package has room that may.
 */
EHP_API int ehp_numa_find(ehp_machine *machine, struct ehp_cpu_thread *thread, const void *address,
                          unsigned *package);
/*
 * Moves a page.  EHP_ERR_NOT_FOUND: the process has none there; EHP_ERR_UNSUPPORTED: it is pinned;
 * EHP_ERR_OUT_OF_RESOURCES: a GPU is at work that has it in its page table, or the package is full.
 */
EHP_API int ehp_numa_move(ehp_machine *machine, const void *address, unsigned package);
/* Free and all bytes of a package: what is taken up front is not free. */
EHP_API int ehp_numa_info(ehp_machine *machine, unsigned package, uint64_t *free_bytes,
                          uint64_t *total_bytes);

/* Timing mode: the host program spends this long; what is on its way goes on meanwhile. Else nothing. */
EHP_API int ehp_host_spend(ehp_machine *machine, uint64_t ns);
/*
 * Timing mode: the host program's time, in picoseconds, and not before that one: what is on its way goes on
 * meanwhile.  While the program is outside it waits for another process, whose simulated time is what it goes
 * on from: none passes here but by its calls, however long that takes.
 */
EHP_API uint64_t ehp_host_ps(ehp_machine *machine);
EHP_API int ehp_host_reach(ehp_machine *machine, uint64_t ps);
EHP_API int ehp_host_outside(ehp_machine *machine, bool on);
/*
 * Timing mode: the host program is about to look whether something has happened, which it may do
 * again and again: a load from memory, of what packets have changed.  Else nothing.
 */
EHP_API int ehp_host_query(ehp_machine *machine);

/*
 * Timing mode: cores of the package's CPU at work, one on each CCD in turn.  Their loads and stores go
 * through their caches and the fabric, beside what the GPU asks for, and that takes the host program time.
 * What they compute meanwhile is `instructions`.  Faults come first.
 *
 * Said before the work is done: pages that nobody has touched yet fault then.
 */
enum ehp_cpu_operation {
    EHP_CPU_TOUCH,  /* each page of each range once */
    EHP_CPU_STREAM, /* all lines of all ranges side by side, each core its part, `passes` times */
    EHP_CPU_CHASE,  /* one after the other, `passes` dependent loads in the first range; one core */
    EHP_CPU_UPDATE, /* `passes` additions of each core to words of 8 bytes at random in the first range */
};
struct ehp_cpu_work {
    size_t size;
    int operation; /* enum ehp_cpu_operation */
    unsigned cores;
    uint64_t passes;
    unsigned ranges; /* 1 to 3; 0 with `instructions` */
    void *base[3];
    uint64_t bytes[3];
    uint64_t instructions; /* of all cores together */
    /* out */
    uint64_t ns, faults;
    /* in; with a `size` that ends before them, 0 */
    unsigned written; /* STREAM: a bit for each range that is written, not read */
    unsigned dies;    /* the CCDs that the cores are on; 0: all */
    unsigned package; /* of the node, whose cores they are */
    unsigned past;    /* STREAM: a bit for each of those written whose stores go past the caches */
    uint64_t cycles;  /* that `instructions` take where memory keeps nobody waiting; 0: what core.ipc says */
};
#define EHP_CPU_WORK_INIT {.size = sizeof(struct ehp_cpu_work)}
EHP_API int ehp_cpu_run(ehp_machine *machine, struct ehp_cpu_work *work);

/*
 * Timing mode: what a core of the package's CPU has done so far, by the names of Zen 4's events.  Cores are
 * numbered as threads get them, one on each CCD in turn.  EHP_ERR_NOT_FOUND: there is no such core, or cores
 * take no time.
 */
struct ehp_core {
    size_t size;
    unsigned ccd;
    uint64_t ex_ret_instr, ls_not_halted_cyc;    /* instructions; cycles in which it had something to do */
    uint64_t ld_dispatch, store_dispatch, locks; /* loads, stores, atomic operations */
    uint64_t l1_misses, l2_misses,
        l3_misses; /* of those, and those that wait for a line that is on its way */
    uint64_t prefetches, walks, faults;
    uint64_t probes; /* lines that others took away */
    /* Loads that had to follow one another, an address being another's value: the longest chain of each
     * stretch of code that it executed, all together. */
    uint64_t chained;
    uint64_t ex_ret_brn, ex_ret_brn_misp; /* branches and indirect calls; those that were predicted wrongly */
};
#define EHP_CORE_INIT {.size = sizeof(struct ehp_core)}
EHP_API int ehp_core_get(ehp_machine *machine, unsigned core, struct ehp_core *out);

/*
 * Timing mode: what requests pass on their way over a package, and how busy each such part was since the
 * machine opened.  Parts are numbered from 0 on, those of one package after another's.  EHP_ERR_NOT_FOUND:
 * there is no such part, or the machine has no simulated time.
 */
enum ehp_part_kind {
    EHP_PART_LINK,    /* from IOD `iod` to IOD `to` */
    EHP_PART_INGRESS, /* what IOD `iod` takes from others for what it carries */
    EHP_PART_XCD_OUT, /* requests of XCD `index`, on IOD `iod` */
    EHP_PART_XCD_IN,  /* and what it gets */
    EHP_PART_CCD_OUT,
    EHP_PART_CCD_IN,
    EHP_PART_SDMA_OUT,
    EHP_PART_SDMA_IN,
    EHP_PART_CACHE, /* the slices of the Infinity Cache on IOD `iod`, or what stands in their place */
    EHP_PART_HBM,   /* the pseudo channels of stack `index`, on IOD `iod` */
};
struct ehp_part {
    size_t size;
    int kind; /* enum ehp_part_kind */
    unsigned package, iod, to, index;
    unsigned units;   /* slices or pseudo channels; else 1 */
    double busy_ns;   /* of a unit, on average: of the time that refreshes leave, for a channel */
    double waited_ns; /* for it, of all requests together; HBM: beyond a read of a closed row */
    uint64_t bytes;   /* 0: what it passes is not told in bytes */
    /* Of ..._IN: lines of reads and atomics that were answered, the time that those took altogether, and of
     * that what links between IODs take without any wait, and what they were at their home: Infinity Cache
     * and memory. */
    uint64_t lines;
    double trip_ns, links_ns, home_ns;
};
#define EHP_PART_INIT {.size = sizeof(struct ehp_part)}
EHP_API int ehp_part_get(ehp_machine *machine, unsigned part, struct ehp_part *out);

/* ---- code objects ------------------------------------------------------------------------------------- */

/*
 * `image` is an ELF code object, a clang offload bundle (plain or compressed,
 * one after another too) or a HIP fat binary; the entry for the agent's ISA is
 * taken.  The image may be freed afterwards.  With EHP_IMAGE_SIZE_UNKNOWN for
 * `bytes` its headers say how long it is; it is one bundle or ELF file then, and
 * nothing is read behind the memory that begins there.  What cannot be read, as
 * in a mapped file that was cut off, is EHP_ERR_BAD_IMAGE.
 */
#define EHP_IMAGE_SIZE_UNKNOWN SIZE_MAX
EHP_API int ehp_code_load(ehp_machine *machine, unsigned agent, const void *image, size_t bytes,
                          ehp_code **out);
EHP_API void ehp_code_unload(ehp_code *code);
/* Bytes of the bundle or ELF file that starts at `image`, from its own headers; 0 when it is neither. */
EHP_API size_t ehp_image_size(const void *image);
/* The same for an image that is known to have `bytes` bytes: nothing behind them is read; 0 also when cut
 * off. */
EHP_API size_t ehp_image_size_within(const void *image, size_t bytes);

enum ehp_arg_kind { /* metadata .value_kind */
                    EHP_ARG_BY_VALUE,
                    EHP_ARG_GLOBAL_BUFFER,
                    EHP_ARG_DYNAMIC_SHARED_POINTER,
                    EHP_ARG_SAMPLER,
                    EHP_ARG_IMAGE,
                    EHP_ARG_PIPE,
                    EHP_ARG_QUEUE,
                    EHP_ARG_HIDDEN_GLOBAL_OFFSET_X,
                    EHP_ARG_HIDDEN_GLOBAL_OFFSET_Y,
                    EHP_ARG_HIDDEN_GLOBAL_OFFSET_Z,
                    EHP_ARG_HIDDEN_NONE,
                    EHP_ARG_HIDDEN_PRINTF_BUFFER,
                    EHP_ARG_HIDDEN_HOSTCALL_BUFFER,
                    EHP_ARG_HIDDEN_DEFAULT_QUEUE,
                    EHP_ARG_HIDDEN_COMPLETION_ACTION,
                    EHP_ARG_HIDDEN_MULTIGRID_SYNC_ARG,
                    EHP_ARG_HIDDEN_BLOCK_COUNT_X,
                    EHP_ARG_HIDDEN_BLOCK_COUNT_Y,
                    EHP_ARG_HIDDEN_BLOCK_COUNT_Z,
                    EHP_ARG_HIDDEN_GROUP_SIZE_X,
                    EHP_ARG_HIDDEN_GROUP_SIZE_Y,
                    EHP_ARG_HIDDEN_GROUP_SIZE_Z,
                    EHP_ARG_HIDDEN_REMAINDER_X,
                    EHP_ARG_HIDDEN_REMAINDER_Y,
                    EHP_ARG_HIDDEN_REMAINDER_Z,
                    EHP_ARG_HIDDEN_GRID_DIMS,
                    EHP_ARG_HIDDEN_HEAP_V1,
                    EHP_ARG_HIDDEN_DYNAMIC_LDS_SIZE,
                    EHP_ARG_HIDDEN_PRIVATE_BASE,
                    EHP_ARG_HIDDEN_SHARED_BASE,
                    EHP_ARG_HIDDEN_QUEUE_PTR,
                    EHP_ARG_HIDDEN_UNKNOWN, /* of a later version: zero */
};

struct ehp_arg {
    const char *name, *type_name; /* may be NULL; owned by the code object */
    uint32_t offset, bytes;
    int kind; /* enum ehp_arg_kind */
    uint32_t pointee_align;
    int address_space; /* 0 private, 1 global, 2 constant, 3 local, 4 generic, 5 region; -1 absent */
    int access;        /* 0 read only, 1 write only, 2 read and write; -1 absent */
};

/* Global constructors and destructors on the device are kernels that the runtime must launch. */
enum ehp_kernel_kind {
    EHP_KERNEL_NORMAL,
    EHP_KERNEL_INIT_ARRAY, /* once after loading, before any other kernel */
    EHP_KERNEL_FINI_ARRAY, /* before unloading, after every other kernel */
};

struct ehp_kernel {
    size_t size;
    const char *name; /* owned by the code object */
    uint64_t object;  /* for the dispatch packet: the kernel descriptor's address */
    uint64_t entry;   /* address of the first instruction that executes */
    uint32_t kernarg_bytes, kernarg_align;
    uint32_t group_bytes;   /* static LDS */
    uint32_t private_bytes; /* fixed scratch a lane */
    bool dynamic_stack;
    uint32_t sgprs, vgprs, agprs, sgpr_spills, vgpr_spills;
    uint32_t wavefront_size, max_flat_workgroup_size;
    uint32_t reqd_workgroup_size[3]; /* 0 0 0: any */
    bool uniform_work_group_size;
    uint32_t code_version; /* 4, 5, 6 */
    const struct ehp_arg *args;
    unsigned arg_count;
    int kind;                                    /* enum ehp_kernel_kind */
    uint32_t held_sgprs, held_vgprs, held_agprs; /* allocated for a wave; a VGPR and an AccVGPR are apart */
};
#define EHP_KERNEL_INIT {.size = sizeof(struct ehp_kernel)}

/* The processor whose instructions it has: "gfx942". */
EHP_API const char *ehp_code_isa(const ehp_code *code);
EHP_API unsigned ehp_code_kernel_count(const ehp_code *code);
EHP_API int ehp_code_kernel_at(const ehp_code *code, unsigned index, struct ehp_kernel *out);
/* By name, without ".kd". */
EHP_API int ehp_code_kernel(const ehp_code *code, const char *name, struct ehp_kernel *out);
/* A variable's device address and size. */
EHP_API int ehp_code_symbol(const ehp_code *code, const char *name, void **address, uint64_t *bytes);
/* Functions, kernels among them, in order of address; they do not overlap. */
struct ehp_function {
    size_t size;
    const char *name;    /* owned by the code object; NULL: code between the functions that have names */
    uint64_t start, end; /* addresses */
};
#define EHP_FUNCTION_INIT {.size = sizeof(struct ehp_function)}

EHP_API unsigned ehp_code_function_count(const ehp_code *code);
EHP_API int ehp_code_function_at(const ehp_code *code, unsigned index, struct ehp_function *out);
/* The function that contains pc. */
EHP_API int ehp_code_function(const ehp_code *code, uint64_t pc, struct ehp_function *out);
/* "path/file.hip:12", the source of pc; EHP_ERR_NOT_FOUND when there is no debug information. */
EHP_API int ehp_code_line(const ehp_code *code, uint64_t pc, char *text, size_t bytes);

/*
 * "app.hip:12", where the host program made a call: return addresses of the process, innermost first.  Of
 * lines in headers and outside of them it is the innermost outside; "main+0x1f" when there is no debug
 * information.
 */
EHP_API int ehp_host_line(void *const *returns, unsigned count, char *text, size_t bytes);

/* The printf formats of buffered printf ("amdhsa.printf"), or NULL past the end. */
EHP_API const char *ehp_code_printf(const ehp_code *code, unsigned index);

/* ---- signals and queues ------------------------------------------------------------------------------- */

enum ehp_condition { EHP_COND_EQ, EHP_COND_NE, EHP_COND_LT, EHP_COND_GE };

EHP_API int ehp_signal_create(ehp_machine *machine, int64_t initial, ehp_signal *out);
EHP_API void ehp_signal_destroy(ehp_signal signal);
/*
 * A signal is the host's and its packets'; waves do not reach it.  This lets them: *address is where its
 * amd_signal_t is for device code, which may change the value, write the event id to the mailbox and
 * interrupt.  Before anybody waits on it; the value is then read with ehp_signal_load().  Once more: all but
 * the value is what it was, whatever waves have written there.
 */
EHP_API int ehp_signal_share(ehp_signal signal, void **address);
EHP_API int64_t ehp_signal_load(ehp_signal signal);               /* acquire */
EHP_API void ehp_signal_store(ehp_signal signal, int64_t value);  /* release; rings doorbells */
EHP_API int64_t ehp_signal_add(ehp_signal signal, int64_t value); /* returns the old value */
/* Waits until the condition holds or the time is over (UINT64_MAX: never); returns the last value seen. */
EHP_API int64_t ehp_signal_wait(ehp_signal signal, int condition, int64_t value, uint64_t timeout_ns);

/*
 * A queue is the host's memory: hsa.base_address is a ring of hsa.size packets.  Reserve
 * indices, fill the packets (header last, with a release store), then store
 * the last index to hsa.doorbell_signal.  ehp_queue_reserve() waits for room.  The size is a power of two, up
 * to what ROCr gives as HSA_AGENT_INFO_QUEUE_MAX_SIZE.
 * The priority is 0 (low), 1 or 2 (high).
 *
 * ehp_queue_stop() waits for the packets that are being executed.  Those behind them, and later ones, are not
 * executed any more, but complete: nobody waits for their signals for ever.  ehp_queue_destroy() does the
 * same before it frees the queue.
 *
 * ehp_queue_beside() makes one for the copies and fills of somebody whose other packets go to the first: with
 * its agent, size, priority and ACE.  What is in the one does not wait for what is in the other.
 */
#define EHP_QUEUE_PACKETS_MAX 0x20000u
EHP_API int ehp_queue_create(ehp_machine *machine, unsigned agent, uint32_t packets, int priority,
                             struct ehp_queue_block **out);
EHP_API int ehp_queue_beside(struct ehp_queue_block *queue, struct ehp_queue_block **out);
EHP_API void ehp_queue_stop(struct ehp_queue_block *queue);
EHP_API void ehp_queue_destroy(struct ehp_queue_block *queue);
/*
 * What a kernel's queue pointer is: a copy of the block that waves can read, as the queue was created, with
 * the packets that have started in place of the ring.  The queue itself is out of waves' reach, so they
 * cannot submit packets.
 */
EHP_API uint64_t ehp_queue_address(const struct ehp_queue_block *queue);
EHP_API uint64_t ehp_queue_reserve(struct ehp_queue_block *queue, unsigned packets);
/*
 * Restricts dispatches to CUs.  Bits of the mask go round the agent's XCDs, and in each round the shader
 * engines, as the driver deals them; CUs beyond the mask are off.  An XCD that has none takes no workgroups.
 * NULL: all. EHP_ERR_INVALID: a mask of no CU.
 */
EHP_API int ehp_queue_cu_mask(struct ehp_queue_block *queue, const uint32_t *mask, unsigned bits);

/*
 * What there is left to do: a number that changes when that gets on (a workgroup begins or ends, a packet
 * completes), and in `text` what comes first of it, as in "the kernel scale, of 20 workgroups".
 */
EHP_API uint64_t ehp_work_left(ehp_machine *machine, char *text, size_t bytes);

/* reserve, copy, publish, ring: for one packet. Returns its index. */
EHP_API uint64_t ehp_queue_submit(struct ehp_queue_block *queue, const union ehp_packet *packet);
/* The same if there is room within that time; false, and nothing is done, when there is none. */
EHP_API bool ehp_queue_offer(struct ehp_queue_block *queue, const union ehp_packet *packet,
                             uint64_t timeout_ns);

/* ---- faults ------------------------------------------------------------------------------------------- */

enum ehp_fault_kind {
    EHP_FAULT_NONE,
    EHP_FAULT_MEMORY, /* page not mapped, or not permitted */
    EHP_FAULT_MISALIGNED,
    EHP_FAULT_SCRATCH_RANGE,
    EHP_FAULT_ILLEGAL_INSTRUCTION, /* not an instruction of this processor */
    EHP_FAULT_UNIMPLEMENTED,       /* an instruction that EHP does not model */
    EHP_FAULT_TRAP,                /* s_trap: abort(), assert, __builtin_trap */
    EHP_FAULT_TIMEOUT,
    EHP_FAULT_PACKET,    /* invalid packet, descriptor or dispatch dimensions */
    EHP_FAULT_RESOURCES, /* needs more than a CU has */
    EHP_FAULT_EXCEPTION, /* a float exception that MODE enables: there is no trap handler */
    EHP_FAULT_NO_MEMORY, /* for scratch */
};

struct ehp_fault {
    size_t size;
    int kind; /* enum ehp_fault_kind */
    struct ehp_queue_block *queue;
    uint64_t dispatch_id;
    const char *kernel;
    uint32_t workgroup[3];
    unsigned wave, lane;  /* lane: UINT_MAX when the fault is the wave's */
    unsigned xcc, se, cu; /* xcc: of all packages; se, cu: UINT_MAX in functional mode, without a meaning */
    uint64_t pc;
    char disassembly[128];
    uint64_t address;
    bool write;
    struct ehp_allocation nearest; /* nearest.base NULL: none */
    int trap_id;                   /* s_trap's; of a float exception its bit in TRAPSTS */
    char text[1024];               /* all of the above as the message for a person, several lines */
};

/*
 * Called once per fault on a thread of the machine, before completion signals
 * fire; it must not call the library.  NULL: print to stderr.
 */
typedef void ehp_fault_fn(const struct ehp_fault *fault, void *user);
EHP_API void ehp_set_fault_handler(ehp_machine *machine, ehp_fault_fn *fn, void *user);
/* The fault that made this queue inactive: EHP_OK and *out, or EHP_ERR_NOT_FOUND. */
EHP_API int ehp_queue_fault(struct ehp_queue_block *queue, struct ehp_fault *out);

/*
 * A wave has sent MSG_INTERRUPT (s_sendmsg 1) after storing to a signal's mailbox; waiters on signals are
 * woken by the library.  No callback is needed for host calls: wait on their doorbell signal.
 */

/* ---- statistics --------------------------------------------------------------------------------------- */

/* What was counted in simulated time, of one dispatch or of several; see below. */
typedef struct ehp_counters ehp_counters;

struct ehp_stats { /* of one dispatch, or a sum over dispatches of a kernel */
    size_t size;
    const char *kernel; /* owned by the machine */
    uint64_t dispatches, workgroups, waves;
    uint32_t grid[3], block[3]; /* of the last */
    uint64_t instructions;      /* wave-instructions, all classes */
    uint64_t valu, salu, mfma, vmem, smem, lds, flat_scratch, branch, other;
    uint64_t lanes_valu; /* active lanes summed over VALU instructions */
    uint64_t bytes_read, bytes_written, lds_bytes, scratch_bytes, atomics;
    double seconds; /* first wave to last: the host's, or simulated ones in timing mode */
    /* Timing mode; else NULL.  Owned by the machine; of the last ehp_stats_get() for the kernel. */
    const ehp_counters *counters;
    /* Dispatches that were sampled (options.sample): workgroups simulated in detail, of which the counters
     * are worked out; the estimated error of the time, of 1.  0 and 0 when none was. */
    uint64_t detailed_workgroups;
    double sample_error;
    uint64_t compiled; /* functional mode: of all instructions, those that compiled code executed */
};

/* Off by default, costs a few per cent. */
EHP_API void ehp_stats_enable(ehp_machine *machine, bool on);
EHP_API unsigned ehp_stats_count(ehp_machine *machine);
EHP_API int ehp_stats_get(ehp_machine *machine, unsigned index, struct ehp_stats *out);

/* What a machine's compiled engine has done so far. */
struct ehp_compiled {
    size_t size;
    unsigned functions;    /* compiled; with and without statistics are two */
    unsigned from_cache;   /* of these, those that were found on disk */
    unsigned refused;      /* that stay in the interpreter */
    uint64_t instructions; /* of the functions that were compiled */
    uint64_t ns;           /* that it took, beside the program */
};
#define EHP_COMPILED_INIT {.size = sizeof(struct ehp_compiled)}
/* EHP_ERR_UNSUPPORTED: the machine has none. */
EHP_API int ehp_compiled(ehp_machine *machine, struct ehp_compiled *out);

struct ehp_refused {
    size_t size;
    char name[256]; /* "": it was unloaded, or has none */
    char why[256];
};
#define EHP_REFUSED_INIT {.size = sizeof(struct ehp_refused)}
/* The first functions that stay in the interpreter; EHP_ERR_NOT_FOUND behind the last that is remembered. */
EHP_API int ehp_refused_at(ehp_machine *machine, unsigned index, struct ehp_refused *out);

/* ---- counters: timing mode ---------------------------------------------------------------------------- */

/* What the machine counts, by rocprofv3's names where it has them (docs/counters.md). */
struct ehp_counter {
    size_t size;
    const char *name, *block, *help; /* block: "SQ", "TCP", ... or "derived" */
    bool derived;                    /* worked out of others: not a whole number */
};
#define EHP_COUNTER_INIT {.size = sizeof(struct ehp_counter)}

EHP_API unsigned ehp_counter_count(void);
EHP_API int ehp_counter_at(unsigned index, struct ehp_counter *out);
/* By name.  EHP_ERR_NOT_FOUND when there is none: `error` (may be NULL) then has a line with names near it.
 */
EHP_API int ehp_counter_find(const char *name, unsigned *index, char *error, size_t bytes);
EHP_API double ehp_counter_value(const ehp_counters *counters, unsigned index);

struct ehp_dispatch {
    size_t size;
    uint64_t id;        /* 1, 2, ... in the order in which the machine began them */
    const char *kernel; /* this and the counters: until the handler returns */
    unsigned agent;
    uint32_t grid[3], block[3]; /* workgroups; work-items of one */
    uint32_t lds_bytes, vgprs, sgprs;
    uint64_t start_ns, end_ns; /* simulated */
    const ehp_counters *counters;
};

/*
 * Called at the end of every dispatch, on a thread of the machine, before its
 * completion signal; it may call ehp_counter_*() and nothing else.  Set it
 * before the first dispatch.  EHP_ERR_UNSUPPORTED without .timing.
 */
typedef void ehp_dispatch_fn(const struct ehp_dispatch *dispatch, void *user);
EHP_API int ehp_set_dispatch_handler(ehp_machine *machine, ehp_dispatch_fn *fn, void *user);

/* ---- chips -------------------------------------------------------------------------------------------- */

/* The node directory: $EHP_NODES, or beside the chips.  Calls fn for each node file found. */
EHP_API int ehp_nodes(void (*fn)(const char *name, const char *path, const char *title, void *user),
                      void *user);
/* The links between two packages of a machine's node, side by side; EHP_ERR_NOT_FOUND: there are none. */
struct ehp_link {
    size_t size;
    unsigned iod[2], count;
};
EHP_API int ehp_node_link(ehp_machine *machine, unsigned package, unsigned other, struct ehp_link *out);
/* How many links the way between two packages takes, one behind the other; 0: they are one. */
EHP_API unsigned ehp_node_hops(const ehp_machine *machine, unsigned package, unsigned other);
/*
 * Timing mode: what went over the links from a package to one that it has links with, so far, headers
 * included, and how long it waited for them in all.  The number behind the last package is a host behind
 * PCIe. EHP_ERR_NOT_FOUND: there are no such links, or they take no time.
 */
struct ehp_traffic {
    size_t size;
    uint64_t bytes, packets, waited_ns;
};
EHP_API int ehp_node_traffic(ehp_machine *machine, unsigned from, unsigned to, struct ehp_traffic *out);
/* What the node is called; "": one package alone. */
EHP_API const char *ehp_node_title(const ehp_machine *machine);

/* The chip directory: $EHP_CHIPS, or where the library was installed.  Calls fn for each chip file found. */
EHP_API int ehp_chips(void (*fn)(const char *name, const char *path, const char *title, void *user),
                      void *user);

/* A number of the chip by its key ("xcd.count"), with its unit and source; for listing, index from 0. */
struct ehp_chip_value {
    size_t size;
    const char *key, *text, *unit, *source, *help;
    double number;
};
EHP_API int ehp_chip_value(ehp_machine *machine, const char *key, struct ehp_chip_value *out);
EHP_API int ehp_chip_value_at(ehp_machine *machine, unsigned index, struct ehp_chip_value *out);
/* The same, of its node's file; without a source where there is no node. */
EHP_API int ehp_node_value_at(ehp_machine *machine, unsigned index, struct ehp_chip_value *out);

/* An I/O die of the package and what is stacked on it or attached to it. */
struct ehp_iod {
    size_t size;
    unsigned xcds, ccds, hbm_stacks;
    bool mirrored;
};
EHP_API int ehp_chip_iod(ehp_machine *machine, unsigned index, struct ehp_iod *out);
/* A link between two of them, from 0 on: GB/s each way and ns one way, each with its source. */
struct ehp_iod_link {
    size_t size;
    unsigned iod[2];
    double rate, latency;
    const char *rate_source, *latency_source;
};
#define EHP_IOD_LINK_INIT {.size = sizeof(struct ehp_iod_link)}
EHP_API int ehp_chip_link(ehp_machine *machine, unsigned index, struct ehp_iod_link *out);

/* ---- text ---------------------------------------------------------------------------------------------- */

/*
 * Text from a file (a kernel's name, a path) for a terminal: `text` itself, or
 * if it has control characters but tabs, others that a terminal obeys, or bytes
 * that are not UTF-8, a copy in `room` of `bytes` bytes with those as "\\x1b", cut off
 * where the room ends.  What this library returns as an error or as the report
 * of a fault has been through it.  Thread-safe.
 */
EHP_API const char *ehp_printable(const char *text, char *room, size_t bytes);

/* ---- processors and disassembly ----------------------------------------------------------------------- */

/* What is compiled for when nobody names a processor: that of the chip which is simulated when nobody names
 * one. */
#define EHP_PROCESSOR "gfx942"

/*
 * `isa` is whose code it is: a processor ("gfx942") or a target id, as in struct
 * ehp_agent_info.  Nothing is an instruction of a processor that is not known.
 */

/* Decodes one instruction of `words` dwords at `pc`; writes LLVM syntax.  Returns its bytes, 0 when invalid.
 */
EHP_API unsigned ehp_disassemble(const char *isa, const uint32_t *code, size_t words, uint64_t pc, char *text,
                                 size_t bytes);

/* Where a branch that has its distance in the instruction goes to; false when it is none. */
EHP_API bool ehp_branch_target(const char *isa, const uint32_t *code, size_t words, uint64_t pc,
                               uint64_t *target);

/* An instruction that comes too soon after another: the hardware leaves it to software to wait. */
struct ehp_hazard {
    size_t size;
    uint64_t pc, from;        /* it, and the earlier one */
    unsigned needed, missing; /* wait states between them: by the rule, and how many more */
    const char *rule;         /* what is wrong, in words */
};
typedef void ehp_hazard_fn(const struct ehp_hazard *hazard, void *user);

/* Checks a function's `words` dwords at `pc`.  Returns how many instructions come too soon, or an error. */
EHP_API int ehp_hazards(const char *isa, const uint32_t *code, size_t words, uint64_t pc, ehp_hazard_fn *fn,
                        void *user);

/* ---- cache of compiled code ---------------------------------------------------------------------------- */

/* What earlier runs compiled, on disk: in the folder that EHP_CACHE_DIR names, or in the user's cache. */
struct ehp_cache_info {
    size_t size;
    char folder[4096];
    char off[4352]; /* why it is not used; "" when it is */
    uint64_t entries, bytes;
    uint64_t limit; /* of bytes: what was not used for longest goes */
};

EHP_API int ehp_cache_info(struct ehp_cache_info *out);
/* Removes the entries; EHP_ERR_UNSUPPORTED when it is another's folder, or some stay. */
EHP_API int ehp_cache_clear(void);

#ifdef __cplusplus
}
#endif
#endif
