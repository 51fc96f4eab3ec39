/* SPDX-License-Identifier: MIT */
/* Copies and fills by kernels; see blit.h.  The kernels are blit.cl's. */
#include "hip/memory/blit.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/pattern.h"
#include "hip/core/state.h"
#include "hip/memory/memory.h"
#include "hip/stream/stream.h"

extern const unsigned char hip_blit_code[], hip_blit_code_end[];

enum { BLIT_ITEMS = 512, BLIT_BYTES = 16, BLIT_SHIFT_MOST = 9, BLIT_SHIFT_LEAST = 4 };

/* As the kernels for rows have them. */
struct blit_rows {
    uint64_t width;
    uint32_t height, shift;
    uint64_t step;
};
struct blit_copy {
    void *to;
    const void *from;
    struct blit_rows rows;
    uint64_t to_pitch, to_slice, from_pitch, from_slice;
};
struct blit_fill {
    void *to;
    struct blit_rows rows;
    uint64_t pitch, slice, pattern;
};
static_assert(BLIT_ITEMS * BLIT_BYTES == EHP_BLIT_BYTES, "a workgroup's");
static_assert(sizeof(struct blit_copy) == 72 && sizeof(struct blit_fill) == 56, "kernel arguments");

static void blit_load(const struct hip_device *device, struct hip_blits *blits)
{
    ehp_machine *machine = hip_runtime()->machine;
    const struct {
        const char *name;
        uint64_t *object;
    } kernels[] = {{"ehp_blit_copy", &blits->copy},
                   {"ehp_blit_fill", &blits->fill},
                   {"ehp_blit_copy_rows", &blits->copy_rows},
                   {"ehp_blit_fill_rows", &blits->fill_rows}};
    struct ehp_chip_value host = {.size = sizeof host};
    ehp_code *code;

    int status = ehp_code_load(machine, device->agent, hip_blit_code,
                               (size_t)(hip_blit_code_end - hip_blit_code), &code);
    for (unsigned i = 0; status == EHP_OK && i < sizeof kernels / sizeof kernels[0]; i++) {
        struct ehp_kernel kernel = EHP_KERNEL_INIT;
        status = ehp_code_kernel(code, kernels[i].name, &kernel);
        *kernels[i].object = kernel.object;
    }
    if (status != EHP_OK || ehp_chip_value(machine, "blit.host", &host) != EHP_OK) {
        hip_say("%s", ehp_error_text(machine));
        blits->error = hipErrorOutOfMemory;
    }
    blits->host = (uint32_t)host.number;
}

/* With a device's first packet, so that programs that need none have their memory where it would be without.
 */
static const struct hip_blits *blits_of(struct hip_device *device)
{
    hip_arrive();
    pthread_mutex_lock(&device->lock);
    if (!device->blits.opened)
        blit_load(device, &device->blits);
    device->blits.opened = true;
    pthread_mutex_unlock(&device->lock);
    return &device->blits;
}

/* ---- which ---- */

static bool blit_on_device(const void *at)
{
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;

    return ehp_mem_query(hip_runtime()->machine, at, &allocation) == EHP_OK &&
           (allocation.kind == EHP_MEM_DEVICE || allocation.kind == EHP_MEM_CODE);
}

/* Somebody has allocated or registered it, be it hip_blit_pin(). */
static bool blit_is_pinned(const void *at)
{
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;

    return ehp_mem_query(hip_runtime()->machine, at, &allocation) == EHP_OK;
}

static bool blit_reaches(const void *at)
{
    return blit_is_pinned(at) || ehp_mem_pageable(hip_runtime()->machine, at);
}

static unsigned package_of(const void *at)
{
    struct ehp_allocation allocation = EHP_ALLOCATION_INIT;

    ehp_mem_query(hip_runtime()->machine, at, &allocation);
    return ehp_package_of(hip_runtime()->machine, allocation.agent);
}

/* From package to package it is an SDMA engine's, as ROCm has it. */
static bool blit_does(const void *dst, const void *src)
{
    if (blit_on_device(dst) && blit_on_device(src) && package_of(dst) == package_of(src))
        return true;
    return hip_runtime()->no_sdma && blit_reaches(dst) && blit_reaches(src);
}

bool hip_blit_takes(const struct hip_op *op)
{
    if (!hip_runtime()->timing)
        return false;
    switch (op->kind) {
    case HIP_OP_COPY:
        return blit_does(op->copy.dst, op->copy.src);
    case HIP_OP_COPY_3D:
        return blit_does(op->copy_3d.dst, op->copy_3d.src);
    case HIP_OP_FILL:
        return blit_is_pinned(op->fill.dst);
    case HIP_OP_FILL_3D:
        return blit_is_pinned(op->fill_3d.dst);
    default:
        return false;
    }
}

/* ---- the packet ---- */

static void blit_grid(struct ehp_kernel_dispatch_packet *packet, uint64_t x, uint64_t y, uint64_t z)
{
    packet->setup = 3;
    packet->workgroup_size_x = BLIT_ITEMS;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = (uint32_t)(x * BLIT_ITEMS);
    packet->grid_size_y = (uint32_t)y;
    packet->grid_size_z = (uint32_t)z;
}

/* Of so many workgroups, no more than may share what is not all in device memory. */
static uint64_t blit_limit(const struct hip_blits *blits, const struct ehp_copy_3d *box, uint64_t groups,
                           uint64_t below)
{
    const bool device = blit_on_device(box->dst) && (!box->src || blit_on_device(box->src));
    const uint64_t most = (device ? UINT32_MAX / BLIT_ITEMS : blits->host) / below;
    return groups < most ? groups : most ? most : 1;
}

/* As many work-items for a row as it has 16 bytes, in powers of two, or whole workgroups beside each other.
 */
static struct blit_rows blit_shape(const struct hip_blits *blits, const struct ehp_copy_3d *box,
                                   struct ehp_kernel_dispatch_packet *packet)
{
    const uint64_t items = (box->width + BLIT_BYTES - 1) / BLIT_BYTES;
    unsigned shift = BLIT_SHIFT_LEAST;
    while (shift < BLIT_SHIFT_MOST && UINT64_C(1) << shift < items)
        shift++;
    const uint64_t below = BLIT_ITEMS >> shift, groups_y = (box->height + below - 1) / below,
                   beside = (items + (UINT64_C(1) << shift) - 1) >> shift,
                   groups_x = blit_limit(blits, box, beside, groups_y * box->depth);
    blit_grid(packet, groups_x, groups_y, box->depth);
    return (struct blit_rows){.width = box->width,
                              .height = (uint32_t)box->height,
                              .shift = shift,
                              .step = (groups_x << shift) * BLIT_BYTES};
}

/* What an operation does, as a copy of rows; a fill has no source. */
static struct ehp_copy_3d blit_box(const struct hip_op *op)
{
    const struct ehp_fill_3d *f = &op->fill_3d;

    switch (op->kind) {
    case HIP_OP_COPY:
        return (struct ehp_copy_3d){
            .dst = op->copy.dst, .src = op->copy.src, .width = op->copy.bytes, .height = 1, .depth = 1};
    case HIP_OP_COPY_3D:
        return op->copy_3d;
    case HIP_OP_FILL:
        return (struct ehp_copy_3d){
            .dst = op->fill.dst, .width = op->fill.element * op->fill.count, .height = 1, .depth = 1};
    default:
        return (struct ehp_copy_3d){.dst = f->dst,
                                    .dst_pitch = f->pitch,
                                    .dst_slice = f->slice,
                                    .width = f->width * f->element,
                                    .height = f->height,
                                    .depth = f->depth};
    }
}

static void blit_row(const struct hip_blits *blits, const struct hip_op *op, const struct ehp_copy_3d *box,
                     struct ehp_kernel_dispatch_packet *packet, struct ehp_blit_arguments *args)
{
    const uint64_t groups = blit_limit(blits, box, (box->width + EHP_BLIT_BYTES - 1) / EHP_BLIT_BYTES, 1);
    blit_grid(packet, groups, 1, 1);
    args->to = box->dst;
    args->from = box->src ? (uintptr_t)box->src : pattern_of(op->fill.value, op->fill.element);
    args->bytes = box->width;
    args->step = groups * EHP_BLIT_BYTES;
    packet->kernel_object = box->src ? blits->copy : blits->fill;
    if (args->step >= args->bytes)
        packet->reserved2 = box->src ? EHP_BLIT_COPY : EHP_BLIT_FILL;
}

hipError_t hip_blit_packet(struct ihipStream_t *stream, const struct hip_op *op,
                           struct ehp_kernel_dispatch_packet *packet)
{
    const struct hip_blits *blits = blits_of(stream->device);
    if (blits->error != hipSuccess)
        return blits->error;
    const struct ehp_copy_3d box = blit_box(op);
    union {
        struct ehp_blit_arguments row;
        struct blit_copy copy;
        struct blit_fill fill;
    } *args = hip_ring_alloc(stream, sizeof *args, 64);

    if (!args)
        return hipErrorOutOfMemory;
    packet->kernarg_address = args;
    if (op->kind == HIP_OP_COPY || op->kind == HIP_OP_FILL) {
        blit_row(blits, op, &box, packet, &args->row);
        return hipSuccess;
    }
    const struct blit_rows rows = blit_shape(blits, &box, packet);
    if (box.src) {
        args->copy = (struct blit_copy){box.dst,       box.src,       rows,         box.dst_pitch,
                                        box.dst_slice, box.src_pitch, box.src_slice};
        packet->kernel_object = blits->copy_rows;
    } else {
        args->fill = (struct blit_fill){box.dst, rows, box.dst_pitch, box.dst_slice,
                                        pattern_of(op->fill_3d.value, op->fill_3d.element)};
        packet->kernel_object = blits->fill_rows;
    }
    return hipSuccess;
}

/* ---- pageable memory ---- */

static void *blit_pin_side(void *base, uint64_t bytes)
{
    if (blit_reaches(base) || ehp_mem_register(hip_runtime()->machine, base, bytes) != EHP_OK)
        return NULL;
    return base;
}

void hip_blit_pin(const struct hip_op *op, struct hip_blit_pins *pins)
{
    *pins = (struct hip_blit_pins){0};
    if (!hip_runtime()->timing || !hip_runtime()->no_sdma ||
        (op->kind != HIP_OP_COPY && op->kind != HIP_OP_COPY_3D))
        return;
    const struct ehp_copy_3d c = blit_box(op);
    const uint64_t rows = c.height - 1, slices = c.depth - 1;
    pins->base[0] = blit_pin_side(c.dst, slices * c.dst_slice + rows * c.dst_pitch + c.width);
    pins->base[1] =
        blit_pin_side((void *)(uintptr_t)c.src, slices * c.src_slice + rows * c.src_pitch + c.width);
}

void hip_blit_unpin(const struct hip_blit_pins *pins)
{
    for (unsigned i = 0; i < 2; i++)
        if (pins->base[i])
            ehp_mem_unregister(hip_runtime()->machine, pins->base[i]);
}
