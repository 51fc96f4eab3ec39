/* SPDX-License-Identifier: MIT */
/*
 * Mipmapped arrays: an array for each level, half as large as the one before.
 * There is no image hardware to sample them, but levels can be filled and read.
 */
#include "hip/memory/array.h"

#define MIPMAP_LEVELS 64 /* as many as a size_t can be halved */

struct mipmap {
    struct hip_handle head;
    unsigned levels;
    hipArray_t level[MIPMAP_LEVELS];
};

static struct mipmap *mipmap_of(hipMipmappedArray_const_t handle)
{
    return hip_handle_ok(HIP_KIND_MIPMAP, handle) ? (struct mipmap *)(uintptr_t)handle : NULL;
}

static hipError_t mipmap_delete(hipMipmappedArray_t handle)
{
    struct mipmap *mipmap = mipmap_of(handle);

    if (!mipmap)
        return handle ? hipErrorContextIsDestroyed : hipErrorInvalidValue;
    for (unsigned i = 0; i < mipmap->levels; i++) {
        mipmap->level[i]->borrowed = false;
        hip_array_delete(mipmap->level[i]);
    }
    hip_handle_free(mipmap);
    return hipSuccess;
}

static size_t mipmap_half(size_t extent)
{
    return extent > 1 ? extent / 2 : extent;
}

static hipError_t mipmap_new(hipMipmappedArray_t *out, const HIP_ARRAY3D_DESCRIPTOR *description,
                             unsigned levels)
{
    HIP_ARRAY3D_DESCRIPTOR d = *description;
    bool layered = d.Flags & (hipArrayLayered | hipArrayCubemap); /* their depth counts arrays */
    size_t largest = d.Width > d.Height ? d.Width : d.Height;
    unsigned most = 1;
    hipError_t error = hip_open();

    if (error != hipSuccess)
        return error;
    if (!layered && d.Depth > largest)
        largest = d.Depth;
    while (largest >>= 1)
        most++;
    if (!levels || levels > most)
        return hipErrorInvalidValue;
    struct mipmap *mipmap = hip_handle_new(HIP_KIND_MIPMAP, sizeof *mipmap);
    if (!mipmap)
        return hipErrorOutOfMemory;
    while (mipmap->levels < levels && error == hipSuccess) {
        hipArray_t *level = &mipmap->level[mipmap->levels];
        error = hip_array_new(level, &d);
        if (error != hipSuccess)
            break;
        (*level)->borrowed = true;
        mipmap->levels++;
        d.Width = mipmap_half(d.Width);
        d.Height = mipmap_half(d.Height);
        d.Depth = layered ? d.Depth : mipmap_half(d.Depth);
    }
    if (error != hipSuccess)
        mipmap_delete((hipMipmappedArray_t)(void *)mipmap);
    else
        *out = (hipMipmappedArray_t)(void *)mipmap;
    return error;
}

static hipError_t mipmap_level(hipArray_t *out, hipMipmappedArray_const_t handle, unsigned level)
{
    const struct mipmap *mipmap = mipmap_of(handle);

    if (!out || !mipmap || level >= mipmap->levels)
        return handle && !mipmap ? hipErrorInvalidHandle : hipErrorInvalidValue;
    *out = mipmap->level[level];
    return hipSuccess;
}

HIP_ENTRY hipError_t hipMallocMipmappedArray(hipMipmappedArray_t *mipmappedArray,
                                             const struct hipChannelFormatDesc *desc, struct hipExtent extent,
                                             unsigned int numLevels, unsigned int flags)
{
    HIP_ARRAY3D_DESCRIPTOR d = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};

    if (!mipmappedArray || !desc || !hip_array_format(desc, &d.Format, &d.NumChannels))
        return hip_return(hipErrorInvalidValue);
    return hip_return(mipmap_new(mipmappedArray, &d, numLevels));
}

HIP_ENTRY hipError_t hipMipmappedArrayCreate(hipMipmappedArray_t *pHandle,
                                             HIP_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                             unsigned int numMipmapLevels)
{
    if (!pHandle || !pMipmappedArrayDesc)
        return hip_return(hipErrorInvalidValue);
    return hip_return(mipmap_new(pHandle, pMipmappedArrayDesc, numMipmapLevels));
}

HIP_ENTRY hipError_t hipFreeMipmappedArray(hipMipmappedArray_t mipmappedArray)
{
    return hip_return(mipmap_delete(mipmappedArray));
}

HIP_ENTRY hipError_t hipMipmappedArrayDestroy(hipMipmappedArray_t hMipmappedArray)
{
    return hip_return(mipmap_delete(hMipmappedArray));
}

HIP_ENTRY hipError_t hipGetMipmappedArrayLevel(hipArray_t *levelArray,
                                               hipMipmappedArray_const_t mipmappedArray, unsigned int level)
{
    return hip_return(mipmap_level(levelArray, mipmappedArray, level));
}

HIP_ENTRY hipError_t hipMipmappedArrayGetLevel(hipArray_t *pLevelArray, hipMipmappedArray_t hMipMappedArray,
                                               unsigned int level)
{
    return hip_return(mipmap_level(pLevelArray, hMipMappedArray, level));
}
