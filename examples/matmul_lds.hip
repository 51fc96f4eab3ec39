// SPDX-License-Identifier: MIT
// Matrix multiplication with tiles in LDS: every workgroup computes a 32x32 tile of C, and loads each tile of
// A and B once for all its threads.
#include "check.h"

#include <cmath>
#include <vector>

constexpr int TILE = 32;
constexpr int ROWS = 4; // elements of C in each thread

__global__ __launch_bounds__(TILE *TILE / ROWS) void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE + 1]; // one more column: rows start in different banks
    __shared__ float bs[TILE][TILE + 1];
    const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
    const int column = static_cast<int>(blockIdx.x) * TILE + x, row = static_cast<int>(blockIdx.y) * TILE;
    float sum[ROWS] = {};
    for (int k = 0; k < n; k += TILE) {
        for (int r = y; r < TILE; r += TILE / ROWS) {
            as[r][x] = a[(row + r) * n + k + x];
            bs[r][x] = b[(k + r) * n + column];
        }
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            for (int r = 0; r < ROWS; r++)
                sum[r] += as[y + r * TILE / ROWS][i] * bs[i][x];
        __syncthreads();
    }
    for (int r = 0; r < ROWS; r++)
        c[(row + y + r * TILE / ROWS) * n + column] = sum[r];
}

int main()
{
    const int n = 256;
    const size_t bytes = sizeof(float) * n * n;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    random_numbers random{1};
    for (int i = 0; i < n * n; i++) {
        a[i] = random.uniform() - 0.5f;
        b[i] = random.uniform() - 0.5f;
    }
    float *da, *db, *dc;
    CHECK_HIP(hipMalloc(&da, bytes));
    CHECK_HIP(hipMalloc(&db, bytes));
    CHECK_HIP(hipMalloc(&dc, bytes));
    CHECK_HIP(hipMemcpy(da, a.data(), bytes, hipMemcpyHostToDevice));
    CHECK_HIP(hipMemcpy(db, b.data(), bytes, hipMemcpyHostToDevice));
    multiply<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE / ROWS)>>>(da, db, dc, n);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipMemcpy(c.data(), dc, bytes, hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(da));
    CHECK_HIP(hipFree(db));
    CHECK_HIP(hipFree(dc));

    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += static_cast<double>(a[i * n + k]) * b[k * n + j];
            worst = std::fmax(worst, std::fabs(sum - c[i * n + j]));
        }
    return report(worst < 1e-4, "%dx%d, largest error %.1e", n, n, worst);
}
