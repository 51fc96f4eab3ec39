// SPDX-License-Identifier: MIT
// hipFloatComplex is float2 and hipDoubleComplex double2: x is the real part, y the imaginary one.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COMPLEX_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COMPLEX_H

#include <hip/amd_detail/host_defines.h>
#include <hip/hip_vector_types.h>

#if !defined(__HIPCC_RTC__)
#if defined(__cplusplus)
#include <cmath>
#else
#include <math.h>
#endif
#endif

#define __HIP_COMPLEX__ static inline __host__ __device__

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

// hipFloatComplex
__HIP_COMPLEX__ float hipCrealf(hipFloatComplex z)
{
    return z.x;
}
__HIP_COMPLEX__ float hipCimagf(hipFloatComplex z)
{
    return z.y;
}
__HIP_COMPLEX__ hipFloatComplex make_hipFloatComplex(float a, float b)
{
    return make_float2(a, b);
}
__HIP_COMPLEX__ hipFloatComplex hipConjf(hipFloatComplex z)
{
    return make_float2(z.x, -z.y);
}
__HIP_COMPLEX__ float hipCsqabsf(hipFloatComplex z)
{
    return z.x * z.x + z.y * z.y;
}
__HIP_COMPLEX__ hipFloatComplex hipCaddf(hipFloatComplex p, hipFloatComplex q)
{
    return make_float2(p.x + q.x, p.y + q.y);
}
__HIP_COMPLEX__ hipFloatComplex hipCsubf(hipFloatComplex p, hipFloatComplex q)
{
    return make_float2(p.x - q.x, p.y - q.y);
}
__HIP_COMPLEX__ hipFloatComplex hipCmulf(hipFloatComplex p, hipFloatComplex q)
{
    return make_float2(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y);
}
__HIP_COMPLEX__ hipFloatComplex hipCdivf(hipFloatComplex p, hipFloatComplex q)
{
    const float s = 1.0f / hipCsqabsf(q);
    return make_float2((p.x * q.x + p.y * q.y) * s, (p.y * q.x - p.x * q.y) * s);
}
__HIP_COMPLEX__ float hipCabsf(hipFloatComplex z)
{
    return __builtin_sqrtf(hipCsqabsf(z));
}
__HIP_COMPLEX__ hipFloatComplex hipCfmaf(hipFloatComplex p, hipFloatComplex q, hipFloatComplex r)
{
    const float real = p.x * q.x + r.x;
    const float imag = p.y * q.x + r.y;
    return make_float2(real - p.y * q.y, imag + p.x * q.y);
}

// hipDoubleComplex
__HIP_COMPLEX__ double hipCreal(hipDoubleComplex z)
{
    return z.x;
}
__HIP_COMPLEX__ double hipCimag(hipDoubleComplex z)
{
    return z.y;
}
__HIP_COMPLEX__ hipDoubleComplex make_hipDoubleComplex(double a, double b)
{
    return make_double2(a, b);
}
__HIP_COMPLEX__ hipDoubleComplex hipConj(hipDoubleComplex z)
{
    return make_double2(z.x, -z.y);
}
__HIP_COMPLEX__ double hipCsqabs(hipDoubleComplex z)
{
    return z.x * z.x + z.y * z.y;
}
__HIP_COMPLEX__ hipDoubleComplex hipCadd(hipDoubleComplex p, hipDoubleComplex q)
{
    return make_double2(p.x + q.x, p.y + q.y);
}
__HIP_COMPLEX__ hipDoubleComplex hipCsub(hipDoubleComplex p, hipDoubleComplex q)
{
    return make_double2(p.x - q.x, p.y - q.y);
}
__HIP_COMPLEX__ hipDoubleComplex hipCmul(hipDoubleComplex p, hipDoubleComplex q)
{
    return make_double2(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y);
}
__HIP_COMPLEX__ hipDoubleComplex hipCdiv(hipDoubleComplex p, hipDoubleComplex q)
{
    const double s = 1.0 / hipCsqabs(q);
    return make_double2((p.x * q.x + p.y * q.y) * s, (p.y * q.x - p.x * q.y) * s);
}
__HIP_COMPLEX__ double hipCabs(hipDoubleComplex z)
{
    return __builtin_sqrt(hipCsqabs(z));
}
__HIP_COMPLEX__ hipDoubleComplex hipCfma(hipDoubleComplex p, hipDoubleComplex q, hipDoubleComplex r)
{
    const double real = p.x * q.x + r.x;
    const double imag = p.y * q.x + r.y;
    return make_double2(real - p.y * q.y, imag + p.x * q.y);
}

__HIP_COMPLEX__ hipComplex make_hipComplex(float x, float y)
{
    return make_float2(x, y);
}
__HIP_COMPLEX__ hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z)
{
    return make_float2((float)z.x, (float)z.y);
}
__HIP_COMPLEX__ hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z)
{
    return make_double2((double)z.x, (double)z.y);
}

#undef __HIP_COMPLEX__

#endif
