// SPDX-License-Identifier: MIT
// Texture and surface access. CDNA has no image instructions, so on such a device each of these is an error
// at the place it is used. In the host pass, and so that a program may choose at run time between code for
// several devices, they are ordinary declarations.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_TEXTURE_FETCH_FUNCTIONS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_TEXTURE_FETCH_FUNCTIONS_H

#include <hip/amd_detail/host_defines.h>

#if !defined(__HIPCC_RTC__)
#include <hip/texture_types.h>
#include <hip/surface_types.h>

#if __HIP_DEVICE_PASS__
#define __HIP_NO_IMAGES                                                                                      \
    __attribute__((unavailable("CDNA devices (gfx942) have no image hardware: textures and surfaces cannot " \
                               "be read or written in device code; use ordinary memory")))
#else
#define __HIP_NO_IMAGES
#endif

#define __HIP_TEXTURE_FUNCTION(name)                                                                         \
    template <typename T, typename... Coordinates>                                                           \
    __HIP_NO_IMAGES __device__ T name(hipTextureObject_t, Coordinates...);                                   \
    template <typename T, typename... Coordinates>                                                           \
    __HIP_NO_IMAGES __device__ void name(T *, hipTextureObject_t, Coordinates...);                           \
    template <typename T, int dim, enum hipTextureReadMode mode, typename... Coordinates>                    \
    __HIP_NO_IMAGES __device__ T name(texture<T, dim, mode>, Coordinates...);
__HIP_TEXTURE_FUNCTION(tex1Dfetch)
__HIP_TEXTURE_FUNCTION(tex1D)
__HIP_TEXTURE_FUNCTION(tex2D)
__HIP_TEXTURE_FUNCTION(tex3D)
__HIP_TEXTURE_FUNCTION(tex1DLod)
__HIP_TEXTURE_FUNCTION(tex2DLod)
__HIP_TEXTURE_FUNCTION(tex3DLod)
__HIP_TEXTURE_FUNCTION(tex1DGrad)
__HIP_TEXTURE_FUNCTION(tex2DGrad)
__HIP_TEXTURE_FUNCTION(tex3DGrad)
__HIP_TEXTURE_FUNCTION(tex1DLayered)
__HIP_TEXTURE_FUNCTION(tex2DLayered)
__HIP_TEXTURE_FUNCTION(tex1DLayeredLod)
__HIP_TEXTURE_FUNCTION(tex2DLayeredLod)
__HIP_TEXTURE_FUNCTION(tex1DLayeredGrad)
__HIP_TEXTURE_FUNCTION(tex2DLayeredGrad)
__HIP_TEXTURE_FUNCTION(texCubemap)
__HIP_TEXTURE_FUNCTION(texCubemapLod)
__HIP_TEXTURE_FUNCTION(texCubemapGrad)
__HIP_TEXTURE_FUNCTION(texCubemapLayered)
__HIP_TEXTURE_FUNCTION(texCubemapLayeredLod)
__HIP_TEXTURE_FUNCTION(texCubemapLayeredGrad)
__HIP_TEXTURE_FUNCTION(tex2Dgather)
#undef __HIP_TEXTURE_FUNCTION

#define __HIP_SURFACE_FUNCTION(suffix)                                                                       \
    template <typename T, typename... Coordinates>                                                           \
    __HIP_NO_IMAGES __device__ void surf##suffix##read(T *, hipSurfaceObject_t, Coordinates...);             \
    template <typename T, typename... Coordinates>                                                           \
    __HIP_NO_IMAGES __device__ void surf##suffix##write(T, hipSurfaceObject_t, Coordinates...);
__HIP_SURFACE_FUNCTION(1D)
__HIP_SURFACE_FUNCTION(2D)
__HIP_SURFACE_FUNCTION(3D)
__HIP_SURFACE_FUNCTION(1DLayered)
__HIP_SURFACE_FUNCTION(2DLayered)
__HIP_SURFACE_FUNCTION(Cubemap)
__HIP_SURFACE_FUNCTION(CubemapLayered)
#undef __HIP_SURFACE_FUNCTION
#endif

#endif
