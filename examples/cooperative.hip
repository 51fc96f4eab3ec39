// SPDX-License-Identifier: MIT
// A cooperative launch: all workgroups of the grid meet at a barrier between the steps of one kernel. A power
// iteration finds the largest eigenvalue of a matrix that is known.
#include "check.h"

#include <hip/hip_cooperative_groups.h>

#include <cmath>

namespace cg = cooperative_groups;

constexpr int N = 256, ROWS = 8; // rows in each workgroup

// The matrix 2 on the diagonal and -1 beside it.
__device__ float element(int row, int column)
{
    return row == column ? 2.0f : abs(row - column) == 1 ? -1.0f : 0.0f;
}

__global__ void iterate(float *x, float *y, float *norm2, int steps)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    __shared__ float sums[ROWS];
    const int row0 = static_cast<int>(blockIdx.x) * ROWS;
    const int lane = static_cast<int>(threadIdx.x), local = static_cast<int>(threadIdx.y);
    for (int s = 0; s < steps; s++) {
        float sum = 0;
        for (int k = lane; k < N; k += 64)
            sum += element(row0 + local, k) * x[k];
        for (int d = 32; d > 0; d /= 2)
            sum += __shfl_xor(sum, d);
        if (lane == 0) {
            y[row0 + local] = sum;
            sums[local] = sum * sum;
        }
        block.sync();
        if (lane == 0 && local == 0) {
            float total = 0;
            for (float part : sums)
                total += part;
            atomicAdd(&norm2[s], total);
        }
        grid.sync(); // everybody's y and norm are there
        if (lane == 0)
            x[row0 + local] = y[row0 + local] / sqrtf(norm2[s]);
        grid.sync(); // everybody's x is there
    }
}

int main()
{
    int steps = 40, blocks = 0, supported = 0;
    CHECK_HIP(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
    CHECK_HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, iterate, 64 * ROWS, 0));
    float *x, *y, *norm2;
    CHECK_HIP(hipMallocManaged(&x, N * sizeof(float)));
    CHECK_HIP(hipMallocManaged(&y, N * sizeof(float)));
    CHECK_HIP(hipMallocManaged(&norm2, static_cast<size_t>(steps) * sizeof(float)));
    float length = 0;
    for (int i = 0; i < N; i++) {
        x[i] = static_cast<float>(i % 2 ? -1.0 : 1.0) + 0.001f * static_cast<float>(i);
        length += x[i] * x[i];
    }
    for (int i = 0; i < N; i++)
        x[i] /= std::sqrt(length);
    for (int i = 0; i < steps; i++)
        norm2[i] = 0;
    void *arguments[] = {&x, &y, &norm2, &steps};
    CHECK_HIP(hipLaunchCooperativeKernel(iterate, dim3(N / ROWS), dim3(64, ROWS), arguments, 0, nullptr));
    CHECK_HIP(hipDeviceSynchronize());
    double value = std::sqrt(static_cast<double>(norm2[steps - 1]));
    double exact = 2.0 + 2.0 * std::cos(M_PI / (N + 1)); // the limit; 40 steps come near it from below
    CHECK_HIP(hipFree(x));
    CHECK_HIP(hipFree(y));
    CHECK_HIP(hipFree(norm2));

    // The host does the same steps.
    double u[N], v[N], norm = 0, last = 0;
    for (int i = 0; i < N; i++) {
        u[i] = (i % 2 ? -1.0 : 1.0) + 0.001 * i;
        norm += u[i] * u[i];
    }
    for (double &e : u)
        e /= std::sqrt(norm);
    for (int s = 0; s < steps; s++) {
        last = 0;
        for (int i = 0; i < N; i++) {
            v[i] = 2.0 * u[i] - (i ? u[i - 1] : 0.0) - (i + 1 < N ? u[i + 1] : 0.0);
            last += v[i] * v[i];
        }
        for (int i = 0; i < N; i++)
            u[i] = v[i] / std::sqrt(last);
    }
    last = std::sqrt(last);
    return report(supported && blocks > 0 && std::fabs(value - last) < 1e-3 && value < exact + 1e-3,
                  "%d workgroups, %d grid barriers, eigenvalue %.4f, host %.4f", N / ROWS, 2 * steps, value,
                  last);
}
