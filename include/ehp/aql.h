/* SPDX-License-Identifier: MIT */
/*
 * Layouts that user-mode queues share with the hardware, with device code and
 * with other HSA software: AQL packets, signals, queue descriptors.
 *
 * Sources: HSA Platform System Architecture 1.2 (2.8 signals, 2.9 queues and
 * AQL packets); LLVM "User Guide for AMDGPU Backend" (kernel dispatch packet,
 * amd_queue_t fields that code generation reads).
 *
 * All fields are little-endian; sizes are asserted below.
 */
#ifndef EHP_AQL_H
#define EHP_AQL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define EHP_STATIC_ASSERT static_assert
#else
#define EHP_STATIC_ASSERT _Static_assert
#endif

/* A signal's handle is the address of its struct ehp_signal_block. */
typedef struct ehp_signal {
    uint64_t handle;
} ehp_signal;

/* amd_signal_t: 64 bytes, 64-byte aligned.  `value` is what packets decrement; kernels: ehp_signal_share().
 */
struct ehp_signal_block {
    int64_t kind;
    int64_t value;
    uint64_t event_mailbox_ptr;
    uint32_t event_id;
    uint32_t reserved1;
    uint64_t start_ts; /* 100 MHz ticks, kernel start; set on completion of a packet */
    uint64_t end_ts;
    uint64_t queue_ptr; /* doorbells: the queue */
    uint64_t owner;     /* the machine; opaque */
};
EHP_STATIC_ASSERT(sizeof(struct ehp_signal_block) == 64, "amd_signal_t is 64 bytes");

enum ehp_packet_type {
    EHP_PACKET_VENDOR = 0,
    EHP_PACKET_INVALID = 1,
    EHP_PACKET_KERNEL_DISPATCH = 2,
    EHP_PACKET_BARRIER_AND = 3,
    EHP_PACKET_AGENT_DISPATCH = 4,
    EHP_PACKET_BARRIER_OR = 5,
};

enum ehp_fence_scope { EHP_SCOPE_NONE = 0, EHP_SCOPE_AGENT = 1, EHP_SCOPE_SYSTEM = 2 };

/* Fields of a packet's 16-bit header. */
#define EHP_HEADER_TYPE_SHIFT    0
#define EHP_HEADER_BARRIER_SHIFT 8
#define EHP_HEADER_ACQUIRE_SHIFT 9
#define EHP_HEADER_RELEASE_SHIFT 11
#define EHP_HEADER(type, barrier, acquire, release)                                                          \
    ((uint16_t)((unsigned)(type) | (unsigned)(barrier) << EHP_HEADER_BARRIER_SHIFT |                         \
                (unsigned)(acquire) << EHP_HEADER_ACQUIRE_SHIFT |                                            \
                (unsigned)(release) << EHP_HEADER_RELEASE_SHIFT))

/* Scratch of a work-item, at most: WAVESIZE of COMPUTE_TMPRING_SIZE has 13 bits, of 256 dwords for a wave. */
#define EHP_SCRATCH_MAX 131056u

struct ehp_kernel_dispatch_packet {
    uint16_t header;
    uint16_t setup; /* bits 1:0 dimensions */
    uint16_t workgroup_size_x, workgroup_size_y, workgroup_size_z;
    uint16_t reserved0;
    uint32_t grid_size_x, grid_size_y, grid_size_z; /* in work-items */
    uint32_t private_segment_size;                  /* bytes a lane */
    uint32_t group_segment_size;                    /* bytes a workgroup, static and dynamic */
    uint64_t kernel_object;                         /* address of the kernel descriptor */
    void *kernarg_address;
    uint64_t reserved2;
    ehp_signal completion_signal;
};
EHP_STATIC_ASSERT(sizeof(struct ehp_kernel_dispatch_packet) == 64, "AQL packets are 64 bytes");

/*
 * `reserved2` of a kernel dispatch packet, for copies and fills of a runtime's: the kernel has these
 * arguments, and its workgroup i moves the bytes from i * EHP_BLIT_BYTES on, to the next one's, and no
 * others.  An engine may then know what it leaves out; others execute it like any kernel.
 */
enum ehp_blit { EHP_BLIT_NONE, EHP_BLIT_COPY, EHP_BLIT_FILL };
#define EHP_BLIT_BYTES 8192u
struct ehp_blit_arguments {
    void *to;
    uint64_t from; /* address; of a fill: eight bytes, again and again */
    uint64_t bytes;
    uint64_t step; /* what all workgroups have: not less than `bytes` */
};

struct ehp_barrier_packet {
    uint16_t header;
    uint16_t reserved0;
    uint32_t reserved1;
    ehp_signal dep_signal[5]; /* null handles are ignored; a dependency holds when its value is 0 */
    uint64_t reserved2;
    ehp_signal completion_signal;
};
EHP_STATIC_ASSERT(sizeof(struct ehp_barrier_packet) == 64, "AQL packets are 64 bytes");

/*
 * HSA's agent dispatch: a request to something that is not a compute unit.
 * The functions that EHP's agents serve are below; arguments are as listed.
 * COPY*, FILL* are done by the SDMA engines, CALL and WAIT_VALUE on the host.
 */
enum ehp_agent_function {
    EHP_AGENT_COPY = 0x8001,    /* arg: dst, src, bytes */
    EHP_AGENT_FILL = 0x8002,    /* arg: dst, value, element size (1, 2, 4, 8), element count */
    EHP_AGENT_COPY_3D = 0x8003, /* arg: const struct ehp_copy_3d *, alive until completion */
    EHP_AGENT_FILL_3D = 0x8004, /* arg: const struct ehp_fill_3d *, alive until completion */
    EHP_AGENT_CALL = 0x8005,    /* arg: void (*fn)(void *), void *user; on a thread of its own, in order */
    EHP_AGENT_WAIT_VALUE =
        0x8006, /* arg: address, value, mask, bytes | condition << 8 (0 >=, 1 ==, 2 and, 3 nor) */
    EHP_AGENT_WRITE_VALUE = 0x8007, /* arg: address, value, bytes */
    EHP_AGENT_PREFETCH =
        0x8008, /* arg: address, bytes, agent; memory on demand enters the GPU's page table */
};

struct ehp_copy_3d {
    void *dst;
    const void *src;
    uint64_t dst_pitch, dst_slice; /* bytes from row to row, from slice to slice */
    uint64_t src_pitch, src_slice;
    uint64_t width, height, depth; /* bytes, rows, slices */
};

struct ehp_fill_3d {
    void *dst;
    uint64_t pitch, slice;
    uint64_t value, element;       /* element: 1, 2, 4 or 8 bytes */
    uint64_t width, height, depth; /* elements, rows, slices */
};

struct ehp_agent_dispatch_packet {
    uint16_t header;
    uint16_t type; /* enum ehp_agent_function */
    uint32_t reserved0;
    void *return_address; /* unused */
    uint64_t arg[4];
    uint64_t reserved2;
    ehp_signal completion_signal;
};
EHP_STATIC_ASSERT(sizeof(struct ehp_agent_dispatch_packet) == 64, "AQL packets are 64 bytes");

union ehp_packet {
    uint16_t header; /* written last, with release order */
    struct ehp_kernel_dispatch_packet dispatch;
    struct ehp_barrier_packet barrier;
    struct ehp_agent_dispatch_packet agent;
    uint64_t qword[8];
};

/* hsa_queue_t, the head of amd_queue_t: what a kernel's queue pointer points to a copy of. */
struct ehp_hsa_queue {
    uint32_t type; /* 0 multi-producer, 1 single */
    uint32_t features;
    void *base_address; /* the ring: `size` packets */
    ehp_signal doorbell_signal;
    uint32_t size; /* packets, a power of two */
    uint32_t reserved1;
    uint64_t id;
};
EHP_STATIC_ASSERT(sizeof(struct ehp_hsa_queue) == 40, "hsa_queue_t is 40 bytes");

/* amd_queue_t: what device libraries may read, then the rest up to 256 bytes. */
struct ehp_queue_block {
    struct ehp_hsa_queue hsa;
    uint32_t reserved1[4];
    uint64_t write_dispatch_id;
    uint32_t group_segment_aperture_base_hi;
    uint32_t private_segment_aperture_base_hi;
    uint32_t max_cu_id;
    uint32_t max_wave_id;
    uint64_t max_legacy_doorbell_dispatch_id_plus_1;
    uint32_t legacy_doorbell_lock;
    uint32_t reserved2[9];
    uint64_t read_dispatch_id;
    uint32_t read_dispatch_id_field_base_byte_offset;
    uint32_t compute_tmpring_size;
    uint32_t scratch_resource_descriptor[4];
    uint64_t scratch_backing_memory_location;
    uint64_t scratch_backing_memory_byte_size;
    uint32_t scratch_wave64_lane_byte_size;
    uint32_t queue_properties;
    uint32_t reserved3[2];
    ehp_signal queue_inactive_signal;
    uint32_t reserved4[14];
};
EHP_STATIC_ASSERT(sizeof(struct ehp_queue_block) == 256, "amd_queue_t is 256 bytes");

#ifdef __cplusplus
}
#endif
#endif
