// SPDX-License-Identifier: MIT
// Texture objects and texture references. CDNA has no image hardware: the types are here because the host
// API mentions them, and the device functions that would sample an image say so at compile time.
#ifndef HIP_INCLUDE_HIP_TEXTURE_TYPES_H
#define HIP_INCLUDE_HIP_TEXTURE_TYPES_H

#include <hip/driver_types.h>

#define hipTextureType1D             0x01
#define hipTextureType2D             0x02
#define hipTextureType3D             0x03
#define hipTextureTypeCubemap        0x0C
#define hipTextureType1DLayered      0xF1
#define hipTextureType2DLayered      0xF2
#define hipTextureTypeCubemapLayered 0xFC

// Sizes of an image and a sampler descriptor, in dwords.
#define HIP_IMAGE_OBJECT_SIZE_DWORD     12
#define HIP_SAMPLER_OBJECT_SIZE_DWORD   8
#define HIP_SAMPLER_OBJECT_OFFSET_DWORD HIP_IMAGE_OBJECT_SIZE_DWORD
#define HIP_TEXTURE_OBJECT_SIZE_DWORD   (HIP_IMAGE_OBJECT_SIZE_DWORD + HIP_SAMPLER_OBJECT_SIZE_DWORD)

struct __hip_texture;
typedef struct __hip_texture *hipTextureObject_t;

typedef enum hipTextureAddressMode {
    hipAddressModeWrap = 0,
    hipAddressModeClamp = 1,
    hipAddressModeMirror = 2,
    hipAddressModeBorder = 3,
} hipTextureAddressMode;

typedef enum hipTextureFilterMode {
    hipFilterModePoint = 0,
    hipFilterModeLinear = 1,
} hipTextureFilterMode;

typedef enum hipTextureReadMode {
    hipReadModeElementType = 0,
    hipReadModeNormalizedFloat = 1,
} hipTextureReadMode;

typedef struct textureReference {
    int normalized;
    hipTextureReadMode readMode;
    hipTextureFilterMode filterMode;
    hipTextureAddressMode addressMode[3];
    hipChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    hipTextureObject_t textureObject;
    int numChannels;
    hipArray_Format format;
} textureReference;
typedef struct textureReference *hipTexRef;

typedef struct hipTextureDesc {
    hipTextureAddressMode addressMode[3];
    hipTextureFilterMode filterMode;
    hipTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
} hipTextureDesc;

#ifdef __cplusplus
template <class T, int texType = hipTextureType1D, enum hipTextureReadMode mode = hipReadModeElementType>
struct texture : public textureReference {
    texture(int norm = 0, enum hipTextureFilterMode fMode = hipFilterModePoint,
            enum hipTextureAddressMode aMode = hipAddressModeClamp)
    {
        *static_cast<textureReference *>(this) = textureReference();
        normalized = norm;
        readMode = mode;
        filterMode = fMode;
        addressMode[0] = addressMode[1] = addressMode[2] = aMode;
    }
    texture(int norm, enum hipTextureFilterMode fMode, enum hipTextureAddressMode aMode,
            const hipChannelFormatDesc &desc)
        : texture(norm, fMode, aMode)
    {
        channelDesc = desc;
    }
};
#endif

#endif
