/* SPDX-License-Identifier: MIT */
/* Copies in batches, and boxes between devices (HIP 7.0). */
#include <stdint.h>

#include "hip/memory/array.h"
#include "hip/memory/copy.h"
#include "hip/core/size.h"
#include "hip/stream/stream.h"

/* A batch's sources may have to be read before its call returns. */
static hipError_t batch_order(hipMemcpySrcAccessOrder order, bool *at_once)
{
    if (order < hipMemcpySrcAccessOrderStream || order > hipMemcpySrcAccessOrderAny)
        return hipErrorInvalidValue;
    *at_once |= order == hipMemcpySrcAccessOrderDuringApiCall;
    return hipSuccess;
}

static bool batch_attributes_ok(const size_t *indices, size_t attributes, size_t count)
{
    if (!attributes || attributes > count || indices[0] != 0)
        return false;
    for (size_t i = 1; i < attributes; i++)
        if (indices[i] <= indices[i - 1] || indices[i] >= count)
            return false;
    return true;
}

static hipError_t batch_linear(void **dsts, void **srcs, const size_t *sizes, size_t count,
                               const hipMemcpyAttributes *attributes, const size_t *indices,
                               size_t attribute_count, size_t *failed, hipStream_t stream)
{
    bool at_once = false;
    size_t attribute = 0;

    *failed = SIZE_MAX;
    if (!dsts || !srcs || !sizes || !count || !attributes || !indices ||
        !batch_attributes_ok(indices, attribute_count, count))
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        while (attribute + 1 < attribute_count && indices[attribute + 1] <= i)
            attribute++;
        hipError_t error = batch_order(attributes[attribute].srcAccessOrder, &at_once);
        if (error == hipSuccess)
            error = hip_copy_linear(dsts[i], srcs[i], sizes[i], hipMemcpyDefault,
                                    (struct hip_copy_call){stream, true});
        if (error != hipSuccess) {
            *failed = i;
            return error;
        }
    }
    return at_once ? hipStreamSynchronize(stream) : hipSuccess;
}

HIP_ENTRY hipError_t hipMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count,
                                         hipMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
                                         size_t *failIdx, hipStream_t stream)
{
    size_t failed;
    hipError_t error = batch_linear(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, &failed, stream);

    if (failIdx && error != hipSuccess)
        *failIdx = failed;
    return hip_return(error);
}

/* Elements are bytes, unless an array is on either side. */
static size_t batch_element(const hipMemcpy3DOperand *operand)
{
    return operand->type == hipMemcpyOperandTypeArray && hip_array_ok(operand->op.array.array)
               ? operand->op.array.array->element
               : 1;
}

static hipError_t batch_side(const hipMemcpy3DOperand *operand, size_t element, const hipExtent *extent,
                             hipArray_t *array, struct hipPos *pos, hipPitchedPtr *ptr)
{
    size_t row, rows;

    switch (operand->type) {
    case hipMemcpyOperandTypePointer:
        row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
        rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
        *ptr = (hipPitchedPtr){operand->op.ptr.ptr, size_mul(row, element), size_mul(row, element), rows};
        return ptr->ptr ? hipSuccess : hipErrorInvalidValue;
    case hipMemcpyOperandTypeArray:
        *array = operand->op.array.array;
        *pos = (struct hipPos){operand->op.array.offset.x, operand->op.array.offset.y,
                               operand->op.array.offset.z};
        return hip_array_ok(*array) ? hipSuccess : hipErrorInvalidValue;
    default:
        return hipErrorInvalidValue;
    }
}

static hipError_t batch_box(const hipMemcpy3DBatchOp *op, bool *at_once, hipStream_t stream)
{
    hipMemcpy3DParms box = {.extent = op->extent, .kind = hipMemcpyDefault};
    const size_t from = batch_element(&op->src), to = batch_element(&op->dst), element = from > 1 ? from : to;

    if (from > 1 && to > 1 && from != to)
        return hipErrorInvalidValue;
    hipError_t error = batch_order(op->srcAccessOrder, at_once);
    if (error == hipSuccess)
        error = batch_side(&op->src, element, &op->extent, &box.srcArray, &box.srcPos, &box.srcPtr);
    if (error == hipSuccess)
        error = batch_side(&op->dst, element, &op->extent, &box.dstArray, &box.dstPos, &box.dstPtr);
    return error == hipSuccess ? hip_copy_params(&box, (struct hip_copy_call){stream, true}) : error;
}

HIP_ENTRY hipError_t hipMemcpy3DBatchAsync(size_t numOps, struct hipMemcpy3DBatchOp *opList, size_t *failIdx,
                                           unsigned long long flags, hipStream_t stream)
{
    bool at_once = false;

    if (!numOps || !opList || flags) {
        if (failIdx)
            *failIdx = SIZE_MAX;
        return hip_return(hipErrorInvalidValue);
    }
    for (size_t i = 0; i < numOps; i++) {
        hipError_t error = batch_box(&opList[i], &at_once, stream);
        if (error != hipSuccess) {
            if (failIdx)
                *failIdx = i;
            return hip_return(error);
        }
    }
    return at_once ? hipStreamSynchronize(stream) : hip_return(hipSuccess);
}

static hipError_t peer_box(const hipMemcpy3DPeerParms *p, struct hip_copy_call call)
{
    struct hip_device *device;

    if (!p)
        return hipErrorInvalidValue;
    hipError_t error = hip_device_at(p->dstDevice, &device);
    if (error == hipSuccess)
        error = hip_device_at(p->srcDevice, &device);
    if (error != hipSuccess)
        return error;
    const hipMemcpy3DParms box = {.srcArray = p->srcArray,
                                  .srcPos = p->srcPos,
                                  .srcPtr = p->srcPtr,
                                  .dstArray = p->dstArray,
                                  .dstPos = p->dstPos,
                                  .dstPtr = p->dstPtr,
                                  .extent = p->extent,
                                  .kind = hipMemcpyDeviceToDevice};
    return hip_copy_params(&box, call);
}

HIP_ENTRY hipError_t hipMemcpy3DPeer(hipMemcpy3DPeerParms *p)
{
    return hip_return(peer_box(p, (struct hip_copy_call){NULL, false}));
}

HIP_ENTRY hipError_t hipMemcpy3DPeerAsync(hipMemcpy3DPeerParms *p, hipStream_t stream)
{
    return hip_return(peer_box(p, (struct hip_copy_call){stream, true}));
}
