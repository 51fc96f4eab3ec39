// SPDX-License-Identifier: MIT
// Kernels that compute much on little data.
#include <hip/hip_runtime.h>

#include "pairs.h"

typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));

static __device__ int item()
{
    return static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
}

template <typename T> static T *on_device(const struct both &b)
{
    return static_cast<T *>(b.device);
}

__global__ void fma_chains(float *out, float factor, float summand)
{
    float x[8], sum = 0;
    for (int c = 0; c < 8; c++)
        x[c] = static_cast<float>(item()) * 0.001f + static_cast<float>(c);
    for (int i = 0; i < FMA_ROUNDS; i++)
#pragma unroll
        for (int k = 0; k < 64; k++)
            x[k % 8] = __builtin_fmaf(x[k % 8], factor, summand);
    for (int c = 0; c < 8; c++)
        sum += x[c];
    out[item()] = sum;
}

static void run_fma(const struct both *a)
{
    fma_chains<<<FMA_ITEMS / 256, 256>>>(on_device<float>(a[0]), 0.999f, 0.001f);
}

static __device__ float inverse_root(float x)
{
    return rsqrtf(x);
}

static __device__ double inverse_root(double x)
{
    return rsqrt(x);
}

template <typename T, int n> __global__ void nbody(const T *__restrict__ p, T *__restrict__ out)
{
    const int i = item();
    const T x = p[i], y = p[n + i], z = p[2 * n + i];
    T ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
        const T dx = p[j] - x, dy = p[n + j] - y, dz = p[2 * n + j] - z;
        const T inverse = inverse_root(dx * dx + dy * dy + dz * dz + static_cast<T>(0.01));
        const T force = p[3 * n + j] * inverse * inverse * inverse;
        ax += force * dx;
        ay += force * dy;
        az += force * dz;
    }
    out[i] = ax;
    out[n + i] = ay;
    out[2 * n + i] = az;
}

static void run_nbody(const struct both *a)
{
    nbody<float, BODIES><<<BODIES / 256, 256>>>(on_device<float>(a[0]), on_device<float>(a[1]));
}

static void run_nbody64(const struct both *a)
{
    nbody<double, BODIES64><<<BODIES64 / 256, 256>>>(on_device<double>(a[0]), on_device<double>(a[1]));
}

static __device__ float normal_below(float d)
{
    const float k = 1 / (1 + 0.2316419f * fabsf(d));
    const float tail =
        0.39894228f * expf(-0.5f * d * d) *
        (k *
         (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1 - tail : tail;
}

__global__ void black_scholes(const float *price, const float *strike, const float *years, float *call)
{
    const int i = item();
    const float s = 5 + 25 * price[i], x = 1 + 99 * strike[i], t = 0.25f + 9.75f * years[i];
    const float root = 0.3f * sqrtf(t), d1 = (logf(s / x) + (0.02f + 0.045f) * t) / root;
    call[i] = s * normal_below(d1) - x * expf(-0.02f * t) * normal_below(d1 - root);
}

static void run_black_scholes(const struct both *a)
{
    black_scholes<<<OPTIONS / 256, 256>>>(on_device<float>(a[0]), on_device<float>(a[1]),
                                          on_device<float>(a[2]), on_device<float>(a[3]));
}

__global__ void mandelbrot(uint32_t *out)
{
    const float cx = static_cast<float>(item() % FRACTAL) * (1.0f / 256) - 1.5f;
    const float cy = static_cast<float>(item() / FRACTAL) * (1.0f / 256) - 1.0f;
    float x = 0, y = 0;
    uint32_t count = 0;
    while (count < FRACTAL_ROUNDS && x * x + y * y <= 4) {
        const float next = x * x - y * y + cx;
        y = (x + x) * y + cy;
        x = next;
        count++;
    }
    out[item()] = count;
}

static void run_mandelbrot(const struct both *a)
{
    mandelbrot<<<FRACTAL * FRACTAL / 256, 256>>>(on_device<uint32_t>(a[0]));
}

// A block makes 64x64 elements from tiles in LDS, an item 4x4 of them.
__global__ void sgemm(const float *__restrict__ left, const float *__restrict__ right,
                      float *__restrict__ out)
{
    __shared__ float a[16][64], b[16][64];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const int row = static_cast<int>(blockIdx.y) * 64, column = static_cast<int>(blockIdx.x) * 64;
    float sum[4][4] = {};
    for (int first = 0; first < MATRIX; first += 16) {
        for (int i = threadIdx.x; i < 16 * 64; i += 256) {
            a[i % 16][i / 16] = left[(row + i / 16) * MATRIX + first + i % 16];
            b[i / 64][i % 64] = right[(first + i / 64) * MATRIX + column + i % 64];
        }
        __syncthreads();
        for (int k = 0; k < 16; k++)
            for (int r = 0; r < 4; r++)
                for (int c = 0; c < 4; c++)
                    sum[r][c] += a[k][ty * 4 + r] * b[k][tx * 4 + c];
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            out[(row + ty * 4 + r) * MATRIX + column + tx * 4 + c] = sum[r][c];
}

static void run_sgemm(const struct both *a)
{
    sgemm<<<dim3(MATRIX / 64, MATRIX / 64), 256>>>(on_device<float>(a[0]), on_device<float>(a[1]),
                                                   on_device<float>(a[2]));
}

// As it is taught: a block makes 16x16 elements, an item one.
__global__ void sgemm_small(const float *__restrict__ left, const float *__restrict__ right,
                            float *__restrict__ out)
{
    __shared__ float a[16][16], b[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = static_cast<int>(blockIdx.y) * 16 + ty, column = static_cast<int>(blockIdx.x) * 16 + tx;
    float sum = 0;
    for (int first = 0; first < MATRIX; first += 16) {
        a[ty][tx] = left[row * MATRIX + first + tx];
        b[ty][tx] = right[(first + ty) * MATRIX + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    out[row * MATRIX + column] = sum;
}

static void run_sgemm_small(const struct both *a)
{
    sgemm_small<<<dim3(MATRIX / 16, MATRIX / 16), dim3(16, 16)>>>(
        on_device<float>(a[0]), on_device<float>(a[1]), on_device<float>(a[2]));
}

__global__ void mfma(const f16x4 *in, f32x4 *out)
{
    const int wave = static_cast<int>(blockIdx.x), lane = static_cast<int>(threadIdx.x);
    const f16x4 left = in[(wave * 64 + lane) * 2], right = in[(wave * 64 + lane) * 2 + 1];
    f32x4 sum[4] = {};
    for (int i = 0; i < MFMA_ROUNDS; i++)
        for (int t = 0; t < 4; t++)
            sum[t] = __builtin_amdgcn_mfma_f32_16x16x16f16(left, right, sum[t], 0, 0, 0);
    for (int t = 0; t < 4; t++)
        out[(wave * 4 + t) * 64 + lane] = sum[t];
}

static void run_mfma(const struct both *a)
{
    mfma<<<MFMA_WAVES, 64>>>(on_device<f16x4>(a[0]), on_device<f32x4>(a[1]));
}

struct pair compute_pairs[] = {
    {"v_fma_f32, 8 chains",
     "M wave-inst/s",
     FMA_ITEMS / 64.0 * FMA_ROUNDS * 64 / 1e6,
     {{FILL_ZERO, FMA_ITEMS * 4}},
     CLOSE_F32,
     1e-5,
     run_fma,
     host_fma,
     0},
    {"N-body f32",
     "M pairs/s",
     1e-6 * BODIES * BODIES,
     {{FILL_UNIT, BODIES * 16}, {FILL_ZERO, BODIES * 12}},
     CLOSE_F32,
     1e-4,
     run_nbody,
     host_nbody,
     1},
    {"N-body f64",
     "M pairs/s",
     1e-6 * BODIES64 * BODIES64,
     {{FILL_UNIT64, BODIES64 * 32}, {FILL_ZERO, BODIES64 * 24}},
     CLOSE_F64,
     1e-10,
     run_nbody64,
     host_nbody64,
     1},
    {"Black-Scholes",
     "M options/s",
     1e-6 * OPTIONS,
     {{FILL_UNIT, OPTIONS * 4}, {FILL_UNIT, OPTIONS * 4}, {FILL_UNIT, OPTIONS * 4}, {FILL_ZERO, OPTIONS * 4}},
     CLOSE_F32,
     1e-5,
     run_black_scholes,
     host_black_scholes,
     3},
    // Rounding decides of a few pixels at the edge, for the device contracts other products.
    {"Mandelbrot, divergent",
     "M pixels/s",
     1e-6 * FRACTAL * FRACTAL,
     {{FILL_ZERO, FRACTAL * FRACTAL * 4}},
     SAME_BITS,
     0.01,
     run_mandelbrot,
     host_mandelbrot,
     0},
    {"sgemm, LDS tiles",
     "Gflop/s",
     2e-9 * MATRIX * MATRIX * MATRIX,
     {{FILL_UNIT, MATRIX * MATRIX * 4}, {FILL_UNIT, MATRIX * MATRIX * 4}, {FILL_ZERO, MATRIX * MATRIX * 4}},
     CLOSE_F32,
     1e-5,
     run_sgemm,
     host_sgemm,
     2},
    {"sgemm, 16x16 tiles",
     "Gflop/s",
     2e-9 * MATRIX * MATRIX * MATRIX,
     {{FILL_UNIT, MATRIX * MATRIX * 4}, {FILL_UNIT, MATRIX * MATRIX * 4}, {FILL_ZERO, MATRIX * MATRIX * 4}},
     CLOSE_F32,
     1e-5,
     run_sgemm_small,
     host_sgemm,
     2},
    {"MFMA f16 16x16x16",
     "M wave-inst/s",
     1e-6 * MFMA_WAVES * MFMA_ROUNDS * 4,
     {{FILL_HALF, MFMA_WAVES * 64 * 16}, {FILL_ZERO, MFMA_WAVES * 4 * 64 * 16}},
     CLOSE_F32,
     1e-5,
     run_mfma,
     host_mfma,
     1},
    {},
};
