// SPDX-License-Identifier: MIT
// Matrix multiplication on the matrix cores, in fp16, bf16 and fp64. Each wave computes a tile of C with
// V_MFMA_*; the comments say which lane holds which element (AMD CDNA3 ISA, "Matrix Arithmetic
// Instructions").
#include "check.h"

#include <cmath>
#include <cstring>
#include <vector>

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef short bf16x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef double f64x4 __attribute__((ext_vector_type(4)));

// 32x32x8: lane l holds row (of A) or column (of B) l % 32, and four k from 4 * (l / 32) on. Element i of
// lane l of C is row 8 * (i / 4) + 4 * (l / 32) + i % 4, column l % 32.
template <typename T> __device__ f32x16 mfma(T a, T b, f32x16 c);
template <> __device__ f32x16 mfma(f16x4 a, f16x4 b, f32x16 c)
{
    return __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
}
template <> __device__ f32x16 mfma(bf16x4 a, bf16x4 b, f32x16 c)
{
    return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(a, b, c, 0, 0, 0);
}

template <typename V, typename T> __global__ void multiply32(const T *a, const T *b, float *c, int n)
{
    const int lane = static_cast<int>(threadIdx.x), half = lane / 32, line = lane % 32;
    const int row = static_cast<int>(blockIdx.y) * 32, column = static_cast<int>(blockIdx.x) * 32;
    f32x16 sum = {};
    for (int k = 0; k < n; k += 8) {
        V va, vb;
        for (int i = 0; i < 4; i++) {
            va[i] = a[(row + line) * n + k + 4 * half + i];
            vb[i] = b[(k + 4 * half + i) * n + column + line];
        }
        sum = mfma(va, vb, sum);
    }
    for (int i = 0; i < 16; i++)
        c[(row + 8 * (i / 4) + 4 * half + i % 4) * n + column + line] = sum[i];
}

// 16x16x4 in fp64: lane l holds row or column l % 16 and k = l / 16; element i of C is row 4 * i + l / 16.
__global__ void multiply64(const double *a, const double *b, double *c, int n)
{
    const int lane = static_cast<int>(threadIdx.x), quarter = lane / 16, line = lane % 16;
    const int row = static_cast<int>(blockIdx.y) * 16, column = static_cast<int>(blockIdx.x) * 16;
    f64x4 sum = {};
    for (int k = 0; k < n; k += 4)
        sum = __builtin_amdgcn_mfma_f64_16x16x4f64(a[(row + line) * n + k + quarter],
                                                   b[(k + quarter) * n + column + line], sum, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        c[(row + 4 * i + quarter) * n + column + line] = sum[i];
}

static _Float16 to_half(float x)
{
    return static_cast<_Float16>(x);
}
static double from(_Float16 x)
{
    return static_cast<double>(static_cast<float>(x));
}
static short to_bf16(float x) // the top half of a float, rounded to nearest even
{
    unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    bits += 0x7fff + (bits >> 16 & 1);
    return static_cast<short>(bits >> 16);
}
static double from(short x)
{
    unsigned bits = static_cast<unsigned>(static_cast<unsigned short>(x)) << 16;
    float f;
    std::memcpy(&f, &bits, sizeof f);
    return static_cast<double>(f);
}
static double from(double x)
{
    return x;
}

// Runs one multiplication and returns the largest error against the host's sum of the same inputs.
template <typename T, typename R, typename Convert, typename Launch>
static double run(int n, Convert convert, Launch launch)
{
    std::vector<T> a(n * n), b(n * n);
    std::vector<R> c(n * n);
    random_numbers random{7};
    for (int i = 0; i < n * n; i++) {
        a[i] = convert(random.uniform() - 0.5f);
        b[i] = convert(random.uniform() - 0.5f);
    }
    T *da, *db;
    R *dc;
    CHECK_HIP(hipMalloc(&da, a.size() * sizeof(T)));
    CHECK_HIP(hipMalloc(&db, b.size() * sizeof(T)));
    CHECK_HIP(hipMalloc(&dc, c.size() * sizeof(R)));
    CHECK_HIP(hipMemcpy(da, a.data(), a.size() * sizeof(T), hipMemcpyHostToDevice));
    CHECK_HIP(hipMemcpy(db, b.data(), b.size() * sizeof(T), hipMemcpyHostToDevice));
    launch(da, db, dc);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipMemcpy(c.data(), dc, c.size() * sizeof(R), hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(da));
    CHECK_HIP(hipFree(db));
    CHECK_HIP(hipFree(dc));
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += from(a[i * n + k]) * from(b[k * n + j]);
            worst = std::fmax(worst, std::fabs(sum - static_cast<double>(c[i * n + j])));
        }
    return worst;
}

int main()
{
    const int n = 256;
    double fp16 = run<_Float16, float>(n, to_half, [=](_Float16 *a, _Float16 *b, float *c) {
        multiply32<f16x4><<<dim3(n / 32, n / 32), 64>>>(a, b, c, n);
    });
    double bf16 = run<short, float>(n, to_bf16, [=](short *a, short *b, float *c) {
        multiply32<bf16x4><<<dim3(n / 32, n / 32), 64>>>(a, b, c, n);
    });
    double fp64 = run<double, double>(
        n, [](float x) { return static_cast<double>(x); },
        [=](double *a, double *b, double *c) { multiply64<<<dim3(n / 16, n / 16), 64>>>(a, b, c, n); });
    return report(fp16 < 1e-4 && bf16 < 1e-4 && fp64 < 1e-12,
                  "%dx%d, largest error fp16 %.1e, bf16 %.1e, fp64 %.1e", n, n, fp16, bf16, fp64);
}
