// SPDX-License-Identifier: MIT
// Kernels that wait for memory, on arrays larger than the host's caches.
#include <hip/hip_runtime.h>

#include "pairs.h"

static __device__ int item()
{
    return static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x);
}

template <typename T> static T *on_device(const struct both &b)
{
    return static_cast<T *>(b.device);
}

__global__ void add(const float *x, const float *y, float *out)
{
    out[item()] = x[item()] + y[item()];
}

static void run_add(const struct both *a)
{
    add<<<STREAM / 256, 256>>>(on_device<float>(a[0]), on_device<float>(a[1]), on_device<float>(a[2]));
}

__global__ void copy(const float4 *x, float4 *out)
{
    out[item()] = x[item()];
}

static void run_copy(const struct both *a)
{
    copy<<<STREAM / 4 / 256, 256>>>(on_device<float4>(a[0]), on_device<float4>(a[1]));
}

__global__ void triad(const float4 *x, const float4 *y, float4 *out)
{
    const float4 p = x[item()], q = y[item()];
    out[item()] = make_float4(p.x + 3 * q.x, p.y + 3 * q.y, p.z + 3 * q.z, p.w + 3 * q.w);
}

static void run_triad(const struct both *a)
{
    triad<<<STREAM / 4 / 256, 256>>>(on_device<float4>(a[0]), on_device<float4>(a[1]),
                                     on_device<float4>(a[2]));
}

template <int WIDTH, int HEIGHT>
__global__ void stencil(const float *__restrict__ in, float *__restrict__ out)
{
    const int x = static_cast<int>(blockIdx.x * WIDTH + threadIdx.x),
              y = static_cast<int>(blockIdx.y * HEIGHT + threadIdx.y);
    if (x == 0 || y == 0 || x == GRID - 1 || y == GRID - 1)
        return;
    const float *p = in + y * GRID + x;
    out[y * GRID + x] = 0.5f * p[0] + 0.125f * (p[-1] + p[1] + p[-GRID] + p[GRID]);
}

template <int WIDTH, int HEIGHT> static void run_stencil(const struct both *a)
{
    stencil<WIDTH, HEIGHT><<<dim3(GRID / WIDTH, GRID / HEIGHT), dim3(WIDTH, HEIGHT)>>>(
        on_device<float>(a[0]), on_device<float>(a[1]));
}

// An item a column: from one iteration to the next it is a row further.
__global__ void center_columns(const float *in, float *out)
{
    float sum = 0;
    for (int y = 0; y < GRID; y++)
        sum += in[y * GRID + item()];
    const float mean = sum / GRID;
    for (int y = 0; y < GRID; y++)
        out[y * GRID + item()] = in[y * GRID + item()] - mean;
}

static void run_columns(const struct both *a)
{
    center_columns<<<GRID / 256, 256>>>(on_device<float>(a[0]), on_device<float>(a[1]));
}

__global__ void gather(const float *in, const uint32_t *index, float *out)
{
    out[item()] = in[index[item()]];
}

static void run_gather(const struct both *a)
{
    gather<<<GATHER / 256, 256>>>(on_device<float>(a[0]), on_device<uint32_t>(a[1]), on_device<float>(a[2]));
}

// Sixteen items a row.
__global__ void spmv(const uint32_t *rows, const uint32_t *columns, const float *values, const float *x,
                     float *y)
{
    const int row = item() / 16;
    float sum = 0;
    for (uint32_t i = rows[row] + threadIdx.x % 16; i < rows[row + 1]; i += 16)
        sum += values[i] * x[columns[i]];
    for (int step = 8; step; step /= 2)
        sum += __shfl_down(sum, step, 16);
    if (threadIdx.x % 16 == 0)
        y[row] = sum;
}

static void run_spmv(const struct both *a)
{
    spmv<<<ROWS * 16 / 256, 256>>>(on_device<uint32_t>(a[0]), on_device<uint32_t>(a[1]),
                                   on_device<float>(a[2]), on_device<float>(a[3]), on_device<float>(a[4]));
}

struct pair memory_pairs[] = {
    {"vector add",
     "GB/s",
     12e-9 * STREAM,
     {{FILL_UNIT, STREAM * 4L}, {FILL_UNIT, STREAM * 4L}, {FILL_ZERO, STREAM * 4L}},
     SAME_BITS,
     0,
     run_add,
     host_add,
     2},
    {"copy, 16 B an item",
     "GB/s",
     8e-9 * STREAM,
     {{FILL_UNIT, STREAM * 4L}, {FILL_ZERO, STREAM * 4L}},
     SAME_BITS,
     0,
     run_copy,
     host_copy,
     1},
    {"triad, 16 B an item",
     "GB/s",
     12e-9 * STREAM,
     {{FILL_UNIT, STREAM * 4L}, {FILL_UNIT, STREAM * 4L}, {FILL_ZERO, STREAM * 4L}},
     CLOSE_F32,
     1e-6,
     run_triad,
     host_triad,
     2},
    {"5-point stencil",
     "M points/s",
     1e-6 * GRID * GRID,
     {{FILL_UNIT, GRID * GRID * 4L}, {FILL_ZERO, GRID * GRID * 4L}},
     CLOSE_F32,
     1e-6,
     run_stencil<64, 4>,
     host_stencil,
     1},
    {"the same, 16 x 16 items",
     "M points/s",
     1e-6 * GRID * GRID,
     {{FILL_UNIT, GRID * GRID * 4L}, {FILL_ZERO, GRID * GRID * 4L}},
     CLOSE_F32,
     1e-6,
     run_stencil<16, 16>,
     host_stencil,
     1},
    {"columns less their mean",
     "M points/s",
     1e-6 * GRID * GRID,
     {{FILL_UNIT, GRID * GRID * 4L}, {FILL_ZERO, GRID * GRID * 4L}},
     CLOSE_F32,
     1e-4,
     run_columns,
     host_columns,
     1},
    {"random gather",
     "M items/s",
     1e-6 * GATHER,
     {{FILL_UNIT, STREAM * 4L}, {FILL_INDEX, GATHER * 4L, STREAM}, {FILL_ZERO, GATHER * 4L}},
     SAME_BITS,
     0,
     run_gather,
     host_gather,
     2},
    {"SpMV, CSR",
     "M entries/s",
     1e-6 * ROWS * ROW_ENTRIES,
     {{FILL_ROWS, ROWS * 4L + 4, ROW_ENTRIES},
      {FILL_INDEX, ROWS * ROW_ENTRIES * 4L, ROWS},
      {FILL_UNIT, ROWS * ROW_ENTRIES * 4L},
      {FILL_UNIT, ROWS * 4L},
      {FILL_ZERO, ROWS * 4L}},
     CLOSE_F32,
     1e-5,
     run_spmv,
     host_spmv,
     4},
    {},
};
