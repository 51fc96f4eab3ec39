// SPDX-License-Identifier: MIT
// Must not compile for the device: see compile.sh.
#include <hip/hip_runtime.h>

__global__ void sample(hipTextureObject_t object, float *out)
{
    *out = tex2D<float>(object, 0.5f, 0.5f);
}
