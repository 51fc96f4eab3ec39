// SPDX-License-Identifier: MIT
// Every kind of matrix product with its operands and results used at once by the next instruction: a compiler
// has to insert every sort of wait.
#define KERNEL __attribute__((global))
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef float f32v __attribute__((ext_vector_type(32)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef float f2 __attribute__((ext_vector_type(2)));
#define K(name, T, expr)                                                                                     \
    extern "C" KERNEL void name(T *p, float *q, h4 *h, double *dd, long *ll, f2 *xx)                         \
    {                                                                                                        \
        T c = p[__builtin_amdgcn_workitem_id_x()];                                                           \
        float a = q[0], b = q[1];                                                                            \
        h4 x = h[0], y = h[1];                                                                               \
        double s = dd[0], t = dd[1];                                                                         \
        long l = ll[0], m = ll[1];                                                                           \
        f2 u = xx[0], v = xx[1];                                                                             \
        (void)u;                                                                                             \
        (void)v;                                                                                             \
        (void)l;                                                                                             \
        (void)m;                                                                                             \
        (void)s;                                                                                             \
        (void)t;                                                                                             \
        (void)x;                                                                                             \
        (void)y;                                                                                             \
        (void)a;                                                                                             \
        (void)b;                                                                                             \
        T r = expr;                                                                                          \
        p[7] = r + c;                                                                                        \
        r = r * c;                                                                                           \
        {                                                                                                    \
            T c = r;                                                                                         \
            c = expr;                                                                                        \
            p[9] = c;                                                                                        \
            p[10] = c * c;                                                                                   \
        }                                                                                                    \
    }
K(k1, f4, __builtin_amdgcn_mfma_f32_16x16x4f32(a, b, c, 0, 0, 0))
K(k2, f16v, __builtin_amdgcn_mfma_f32_32x32x2f32(a, b, c, 0, 0, 0))
K(k3, f32v, __builtin_amdgcn_mfma_f32_32x32x1f32(a, b, c, 0, 0, 0))
K(k4, f16v, __builtin_amdgcn_mfma_f32_16x16x1f32(a, b, c, 0, 0, 0))
K(k5, f4, __builtin_amdgcn_mfma_f32_4x4x1f32(a, b, c, 0, 0, 0))
K(k6, f16v, __builtin_amdgcn_mfma_f32_32x32x8f16(x, y, c, 0, 0, 0))
K(k7, f4, __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, c, 0, 0, 0))
K(k8, f32v, __builtin_amdgcn_mfma_f32_32x32x4f16(x, y, c, 0, 0, 0))
K(k9, f16v, __builtin_amdgcn_mfma_f32_16x16x4f16(x, y, c, 0, 0, 0))
K(k10, f4, __builtin_amdgcn_mfma_f32_4x4x4f16(x, y, c, 0, 0, 0))
K(k11, d4, __builtin_amdgcn_mfma_f64_16x16x4f64(s, t, c, 0, 0, 0))
K(k12, double, __builtin_amdgcn_mfma_f64_4x4x4f64(s, t, c, 0, 0, 0))
K(k13, i4, __builtin_amdgcn_mfma_i32_16x16x32_i8(l, m, c, 0, 0, 0))
K(k14, f4, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8(l, m, c, 0, 0, 0))
K(k15, f16v, __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8(l, m, c, 0, 0, 0))
K(k16, f4, __builtin_amdgcn_mfma_f32_16x16x8_xf32(u, v, c, 0, 0, 0))
K(k17, f16v, __builtin_amdgcn_mfma_f32_32x32x4_xf32(u, v, c, 0, 0, 0))
extern "C" KERNEL void c1(f4 *p, h4 *h)
{
    f4 c = p[0];
    h4 x = h[0];
    f4 r = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, c, 0, 0, 0);
    h4 y = {(_Float16)r[0], (_Float16)r[1], (_Float16)r[2], (_Float16)r[3]};
    f2 z = {r[0], r[1]};
    r = __builtin_amdgcn_mfma_f32_16x16x16f16(*(h4 *)&z, y, c, 0, 0, 0);
    p[1] = r;
}
extern "C" KERNEL void c2(d4 *p, double *h)
{
    d4 c = p[0];
    d4 r = __builtin_amdgcn_mfma_f64_16x16x4f64(h[0], h[1], c, 0, 0, 0);
    d4 r2 = __builtin_amdgcn_mfma_f64_16x16x4f64(r[0], h[1], c, 0, 0, 0);
    p[1] = r2;
    double e = __builtin_amdgcn_mfma_f64_4x4x4f64(r2[0], h[0], h[1], 0, 0, 0);
    p[2] = e;
    e = __builtin_amdgcn_mfma_f64_4x4x4f64(e, h[0], e, 0, 0, 0);
    p[4] = e;
}
extern "C" KERNEL void c3(f4 *p, float *h)
{
    f4 c = p[0];
    f4 r = __builtin_amdgcn_mfma_f32_16x16x4f32(h[0], h[1], c, 0, 0, 0);
    f4 r2 = __builtin_amdgcn_mfma_f32_16x16x4f32(r[0], h[1], c, 0, 0, 0);
    p[1] = r2;
    f4 e = __builtin_amdgcn_mfma_f32_4x4x1f32(r2[0], h[0], c, 0, 0, 0);
    p[2] = e;
    e = __builtin_amdgcn_mfma_f32_4x4x1f32(e[0], h[0], e, 0, 0, 0);
    p[4] = e;
}
