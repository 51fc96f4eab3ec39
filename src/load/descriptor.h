/* SPDX-License-Identifier: MIT */
/*
 * The kernel descriptor: 64 bytes that a dispatch packet points to, from which
 * the command processor sets up waves.
 *
 * Source: LLVM, "User Guide for AMDGPU Backend", sections "Kernel Descriptor",
 * "Initial Kernel Execution State" and "Preloaded Kernel Arguments".  The
 * accessors are those of processors with a unified register file and packed
 * work-item ids.
 *
 * SGPRs of a wave, in this order and dense from s0 (each that is enabled):
 *   dispatch ptr 2, queue ptr 2, kernarg segment ptr 2, dispatch id 2,
 *   private segment size 1, preloaded kernargs; these are the user SGPRs.
 *   Then the system SGPRs: workgroup id x, y, z, workgroup info.
 */
#ifndef EHP_LOAD_DESCRIPTOR_H
#define EHP_LOAD_DESCRIPTOR_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/target.h"

struct kernel_descriptor {
    uint32_t group_segment_fixed_size;   /* static LDS, bytes a workgroup */
    uint32_t private_segment_fixed_size; /* scratch, bytes a lane */
    uint32_t kernarg_size;               /* 0: not stated */
    uint8_t reserved0[4];
    int64_t kernel_code_entry_byte_offset; /* from the descriptor's own address */
    uint8_t reserved1[20];
    uint32_t compute_pgm_rsrc3;
    uint32_t compute_pgm_rsrc1;
    uint32_t compute_pgm_rsrc2;
    uint16_t kernel_code_properties; /* KD_* */
    uint16_t kernarg_preload;        /* bits 6:0 dwords, bits 15:7 offset in dwords */
    uint8_t reserved3[4];
};

static_assert(sizeof(struct kernel_descriptor) == 64, "descriptor is 64 bytes");
static_assert(offsetof(struct kernel_descriptor, kernarg_size) == 8, "bit 64");
static_assert(offsetof(struct kernel_descriptor, kernel_code_entry_byte_offset) == 16, "bit 128");
static_assert(offsetof(struct kernel_descriptor, compute_pgm_rsrc3) == 44, "bit 352");
static_assert(offsetof(struct kernel_descriptor, compute_pgm_rsrc1) == 48, "bit 384");
static_assert(offsetof(struct kernel_descriptor, compute_pgm_rsrc2) == 52, "bit 416");
static_assert(offsetof(struct kernel_descriptor, kernel_code_properties) == 56, "bit 448");
static_assert(offsetof(struct kernel_descriptor, kernarg_preload) == 58, "bit 464");

/* kernel_code_properties */
enum {
    KD_SGPR_PRIVATE_SEGMENT_BUFFER = 1 << 0, /* 4; not with architected flat scratch */
    KD_SGPR_DISPATCH_PTR = 1 << 1,           /* 2 */
    KD_SGPR_QUEUE_PTR = 1 << 2,              /* 2 */
    KD_SGPR_KERNARG_SEGMENT_PTR = 1 << 3,    /* 2 */
    KD_SGPR_DISPATCH_ID = 1 << 4,            /* 2 */
    KD_SGPR_FLAT_SCRATCH_INIT = 1 << 5,      /* 2; not with architected flat scratch */
    KD_SGPR_PRIVATE_SEGMENT_SIZE = 1 << 6,   /* 1 */
    KD_WAVEFRONT_SIZE32 = 1 << 10,
    KD_USES_DYNAMIC_STACK = 1 << 11,
};

/* Bytes that hardware with kernarg preload skips: code that loads what older firmware does not preload. */
enum { KD_PRELOAD_PROLOGUE = 256 };

static inline uint32_t kd_bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((1U << count) - 1);
}

/* Registers are counted in the target's granules. */

/* VGPRs of a lane, AccVGPRs included, in the unified register file. */
static inline unsigned kd_vgprs(const struct isa_target *target, const struct kernel_descriptor *kd)
{
    return (kd_bits(kd->compute_pgm_rsrc1, 0, 6) + 1) * target->registers.vgpr_granule;
}

/* Those that are not AccVGPRs, and so where AccVGPR 0 is in the unified file. */
static inline unsigned kd_arch_vgprs(const struct isa_target *target, const struct kernel_descriptor *kd)
{
    const unsigned offset = (kd_bits(kd->compute_pgm_rsrc3, 0, 6) + 1) * target->registers.accum_granule;
    const unsigned all = kd_vgprs(target, kd);
    return offset < all ? offset : all;
}

static inline unsigned kd_acc_vgprs(const struct isa_target *target, const struct kernel_descriptor *kd)
{
    return kd_vgprs(target, kd) - kd_arch_vgprs(target, kd);
}

/* SGPRs of a wave, VCC, FLAT_SCRATCH and XNACK_MASK included. */
static inline unsigned kd_sgprs(const struct isa_target *target, const struct kernel_descriptor *kd)
{
    return (kd_bits(kd->compute_pgm_rsrc1, 6, 4) / 2 + 1) * target->registers.sgpr_granule;
}

/* Bits 7:0 of MODE: rounding 32, rounding 16 and 64, denormals 32, denormals 16 and 64. */
static inline uint32_t kd_float_mode(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc1, 12, 8);
}

static inline bool kd_dx10_clamp(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc1, 21, 1);
}

static inline bool kd_ieee_mode(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc1, 23, 1);
}

static inline bool kd_fp16_ovfl(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc1, 26, 1);
}

/* FLAT_SCRATCH is to be set up. */
static inline bool kd_private_segment(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc2, 0, 1);
}

static inline unsigned kd_user_sgprs(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc2, 1, 5);
}

static inline bool kd_trap_handler(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc2, 6, 1);
}

static inline bool kd_workgroup_id(const struct kernel_descriptor *kd, unsigned dimension)
{
    return kd_bits(kd->compute_pgm_rsrc2, 7 + dimension, 1);
}

static inline bool kd_workgroup_info(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc2, 10, 1);
}

/* 0: v0 has the work-item id x; 1: x and y; 2: x, y and z; 10 bits each. */
static inline unsigned kd_workitem_id(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc2, 11, 2);
}

/* Bits 18:12 of MODE: invalid, denormal source, divide by zero, overflow, underflow, inexact, integer divide.
 */
static inline uint32_t kd_exceptions(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc2, 24, 7);
}

/* Waves of a workgroup may be on different CUs; no LDS, no barriers. */
static inline bool kd_tg_split(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->compute_pgm_rsrc3, 16, 1);
}

static inline bool kd_dynamic_stack(const struct kernel_descriptor *kd)
{
    return kd->kernel_code_properties & KD_USES_DYNAMIC_STACK;
}

/* Kernarg dwords that go to SGPRs behind the other user SGPRs. */
static inline unsigned kd_preload_dwords(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->kernarg_preload, 0, 7);
}

/* The first of them, in dwords from the start of the kernarg segment. */
static inline unsigned kd_preload_offset(const struct kernel_descriptor *kd)
{
    return kd_bits(kd->kernarg_preload, 7, 9);
}

/* User SGPRs before the preloaded kernargs. */
static inline unsigned kd_fixed_user_sgprs(const struct kernel_descriptor *kd)
{
    unsigned p = kd->kernel_code_properties;
    return (p & KD_SGPR_PRIVATE_SEGMENT_BUFFER ? 4U : 0U) + (p & KD_SGPR_DISPATCH_PTR ? 2U : 0U) +
           (p & KD_SGPR_QUEUE_PTR ? 2U : 0U) + (p & KD_SGPR_KERNARG_SEGMENT_PTR ? 2U : 0U) +
           (p & KD_SGPR_DISPATCH_ID ? 2U : 0U) + (p & KD_SGPR_FLAT_SCRATCH_INIT ? 2U : 0U) +
           (p & KD_SGPR_PRIVATE_SEGMENT_SIZE ? 1U : 0U);
}

/* Address of the first instruction that executes, for the descriptor at `address`. */
static inline uint64_t kd_entry(const struct kernel_descriptor *kd, uint64_t address)
{
    return address + (uint64_t)kd->kernel_code_entry_byte_offset +
           (kd_preload_dwords(kd) ? KD_PRELOAD_PROLOGUE : 0);
}

#endif
