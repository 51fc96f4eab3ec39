/* SPDX-License-Identifier: MIT */
/*
 * Arrays: memory with a shape and an element format.  CDNA cannot sample them
 * (there is no image hardware), but allocating and copying them works.
 */
#include <string.h>

#include "hip/memory/array.h"
#include "hip/core/size.h"

/* ---- formats ------------------------------------------------------------------------------------------- */

static unsigned array_format_bytes(hipArray_Format format)
{
    switch (format) {
    case HIP_AD_FORMAT_UNSIGNED_INT8:
    case HIP_AD_FORMAT_SIGNED_INT8:
        return 1;
    case HIP_AD_FORMAT_UNSIGNED_INT16:
    case HIP_AD_FORMAT_SIGNED_INT16:
    case HIP_AD_FORMAT_HALF:
        return 2;
    case HIP_AD_FORMAT_UNSIGNED_INT32:
    case HIP_AD_FORMAT_SIGNED_INT32:
    case HIP_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static hipChannelFormatKind array_format_kind(hipArray_Format format)
{
    switch (format) {
    case HIP_AD_FORMAT_SIGNED_INT8:
    case HIP_AD_FORMAT_SIGNED_INT16:
    case HIP_AD_FORMAT_SIGNED_INT32:
        return hipChannelFormatKindSigned;
    case HIP_AD_FORMAT_HALF:
    case HIP_AD_FORMAT_FLOAT:
        return hipChannelFormatKindFloat;
    default:
        return hipChannelFormatKindUnsigned;
    }
}

static bool array_format_of(int bits, hipChannelFormatKind kind, hipArray_Format *format)
{
    static const hipArray_Format of_unsigned[] = {HIP_AD_FORMAT_UNSIGNED_INT8, HIP_AD_FORMAT_UNSIGNED_INT16,
                                                  HIP_AD_FORMAT_UNSIGNED_INT32};
    static const hipArray_Format of_signed[] = {HIP_AD_FORMAT_SIGNED_INT8, HIP_AD_FORMAT_SIGNED_INT16,
                                                HIP_AD_FORMAT_SIGNED_INT32};
    int index = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : -1;

    if (index < 0 || (kind == hipChannelFormatKindFloat && index == 0))
        return false;
    switch (kind) {
    case hipChannelFormatKindUnsigned:
        *format = of_unsigned[index];
        return true;
    case hipChannelFormatKindSigned:
        *format = of_signed[index];
        return true;
    case hipChannelFormatKindFloat:
        *format = index == 1 ? HIP_AD_FORMAT_HALF : HIP_AD_FORMAT_FLOAT;
        return true;
    default:
        return false;
    }
}

bool hip_array_format(const hipChannelFormatDesc *desc, hipArray_Format *format, unsigned *channels)
{
    const int bits[4] = {desc->x, desc->y, desc->z, desc->w};

    *channels = 0;
    while (*channels < 4 && bits[*channels])
        ++*channels;
    for (unsigned i = 1; i < 4; i++)
        if (bits[i] != (i < *channels ? bits[0] : 0))
            return false;
    return (*channels == 1 || *channels == 2 || *channels == 4) && array_format_of(bits[0], desc->f, format);
}

static hipChannelFormatDesc array_to_desc(hipArray_Format format, unsigned channels)
{
    int bits = (int)array_format_bytes(format) * 8;

    return (hipChannelFormatDesc){bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0,
                                  channels > 3 ? bits : 0, array_format_kind(format)};
}

HIP_ENTRY struct hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w,
                                                           enum hipChannelFormatKind f)
{
    return (struct hipChannelFormatDesc){x, y, z, w, f};
}

/* ---- arrays -------------------------------------------------------------------------------------------- */

bool hip_array_ok(hipArray_const_t array)
{
    if (!hip_handle_ok(HIP_KIND_ARRAY, array))
        return false;
    const struct hip_memory *memory = hip_memory_find(array->data, NULL);
    return memory && memory->id == array->memory;
}

hipError_t hip_array_new(hipArray_t *out, const HIP_ARRAY3D_DESCRIPTOR *d)
{
    struct hip_device *device;
    unsigned format = array_format_bytes(d->Format);
    void *data;

    if (!format || (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4) || !d->Width ||
        (!d->Height && d->Depth && !(d->Flags & hipArrayLayered)))
        return hipErrorInvalidValue;
    if (d->Flags &
        ~(unsigned)(hipArrayLayered | hipArraySurfaceLoadStore | hipArrayCubemap | hipArrayTextureGather))
        return hipErrorInvalidValue;
    hipError_t error = hip_enter(&device);
    if (error != hipSuccess)
        return error;
    size_t element = (size_t)format * d->NumChannels, rows = d->Height ? d->Height : 1,
           slices = d->Depth ? d->Depth : 1, pitch = size_mul(d->Width, element),
           slice = size_mul(pitch, rows);
    struct hipArray *array = hip_handle_new(HIP_KIND_ARRAY, sizeof *array);
    if (!array)
        return hipErrorOutOfMemory;
    error = hip_memory_alloc(device, EHP_MEM_DEVICE, size_mul(slice, slices), 0, d->Flags, &data);
    if (error != hipSuccess) {
        hip_handle_free(array);
        return error;
    }
    array->data = data;
    array->memory = hip_memory_find(data, NULL)->id;
    array->width = d->Width;
    array->height = d->Height;
    array->depth = d->Depth;
    array->pitch = pitch;
    array->slice = slice;
    array->desc = array_to_desc(d->Format, d->NumChannels);
    array->format = d->Format;
    array->channels = d->NumChannels;
    array->flags = d->Flags;
    array->element = element;
    *out = array;
    return hipSuccess;
}

hipError_t hip_array_delete(hipArray_t array)
{
    if (!hip_handle_ok(HIP_KIND_ARRAY, array) || array->borrowed)
        return array ? hipErrorContextIsDestroyed : hipErrorInvalidValue;
    hipError_t error = hip_array_ok(array) ? hip_memory_free(array->data, false) : hipErrorContextIsDestroyed;
    hip_handle_free(array);
    return error;
}

static hipError_t array_from_runtime(hipArray_t *out, const hipChannelFormatDesc *desc, hipExtent extent,
                                     unsigned flags)
{
    HIP_ARRAY3D_DESCRIPTOR d = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};

    if (!out || !desc || !hip_array_format(desc, &d.Format, &d.NumChannels))
        return hipErrorInvalidValue;
    return hip_array_new(out, &d);
}

HIP_ENTRY hipError_t hipMallocArray(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width,
                                    size_t height, unsigned int flags)
{
    return hip_return(array_from_runtime(array, desc, (hipExtent){width, height, 0}, flags));
}

HIP_ENTRY hipError_t hipMalloc3DArray(hipArray_t *array, const struct hipChannelFormatDesc *desc,
                                      struct hipExtent extent, unsigned int flags)
{
    return hip_return(array_from_runtime(array, desc, extent, flags));
}

HIP_ENTRY hipError_t hipArrayCreate(hipArray_t *pHandle, const HIP_ARRAY_DESCRIPTOR *pAllocateArray)
{
    if (!pHandle || !pAllocateArray)
        return hip_return(hipErrorInvalidValue);
    const HIP_ARRAY3D_DESCRIPTOR d = {.Width = pAllocateArray->Width,
                                      .Height = pAllocateArray->Height,
                                      .Format = pAllocateArray->Format,
                                      .NumChannels = pAllocateArray->NumChannels};
    return hip_return(hip_array_new(pHandle, &d));
}

HIP_ENTRY hipError_t hipArray3DCreate(hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    return hip_return(array && pAllocateArray ? hip_array_new(array, pAllocateArray) : hipErrorInvalidValue);
}

HIP_ENTRY hipError_t hipFreeArray(hipArray_t array)
{
    return hip_return(hip_array_delete(array));
}

HIP_ENTRY hipError_t hipArrayDestroy(hipArray_t array)
{
    return hip_return(hip_array_delete(array));
}

HIP_ENTRY hipError_t hipArrayGetInfo(hipChannelFormatDesc *desc, hipExtent *extent, unsigned int *flags,
                                     hipArray_t array)
{
    if (!hip_array_ok(array))
        return hip_return(hipErrorInvalidHandle);
    if (desc)
        *desc = array->desc;
    if (extent)
        *extent = (hipExtent){array->width, array->height, array->depth};
    if (flags)
        *flags = array->flags;
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipArrayGetDescriptor(HIP_ARRAY_DESCRIPTOR *pArrayDescriptor, hipArray_t array)
{
    if (!pArrayDescriptor)
        return hip_return(hipErrorInvalidValue);
    if (!hip_array_ok(array))
        return hip_return(hipErrorInvalidHandle);
    *pArrayDescriptor = (HIP_ARRAY_DESCRIPTOR){array->width, array->height, array->format, array->channels};
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipArray3DGetDescriptor(HIP_ARRAY3D_DESCRIPTOR *pArrayDescriptor, hipArray_t array)
{
    if (!pArrayDescriptor)
        return hip_return(hipErrorInvalidValue);
    if (!hip_array_ok(array))
        return hip_return(hipErrorInvalidHandle);
    *pArrayDescriptor = (HIP_ARRAY3D_DESCRIPTOR){array->width,  array->height,   array->depth,
                                                 array->format, array->channels, array->flags};
    return hip_return(hipSuccess);
}

HIP_ENTRY hipError_t hipGetChannelDesc(hipChannelFormatDesc *desc, hipArray_const_t array)
{
    if (!desc)
        return hip_return(hipErrorInvalidValue);
    if (!hip_array_ok(array))
        return hip_return(hipErrorInvalidHandle);
    *desc = array->desc;
    return hip_return(hipSuccess);
}

/* The texture width that linear memory of this format may have. */
hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                               const hipChannelFormatDesc *fmtDesc, int device);

HIP_ENTRY hipError_t hipDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                         const hipChannelFormatDesc *fmtDesc, int device)
{
    struct hip_device *found;

    if (!maxWidthInElements || !fmtDesc)
        return hip_return(hipErrorInvalidValue);
    hipError_t error = hip_device_at(device, &found);
    if (error != hipSuccess)
        return hip_return(error);
    size_t bits = (size_t)fmtDesc->x + (size_t)fmtDesc->y + (size_t)fmtDesc->z + (size_t)fmtDesc->w;
    if (bits < 8)
        return hip_return(hipErrorInvalidValue);
    *maxWidthInElements = (size_t)found->props.maxTexture1DLinear / (bits / 8);
    return hip_return(hipSuccess);
}
