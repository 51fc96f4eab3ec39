// SPDX-License-Identifier: MIT
// Loops whose accesses go on by rows and planes, up and down to the edges of what is allocated: compiled code
// fetches ahead there, beyond the edges too, which nobody is to notice; of more accesses than it follows; by
// waves of which lanes are missing.
#include "check_hip.h"

constexpr int ROWS = 96, COLUMNS = 1000, MANY = 80;

// Each row less the one before, from the last to the first.
__global__ void differ(int *a)
{
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= COLUMNS)
        return;
    for (int y = ROWS - 1; y > 0; y--)
        a[y * COLUMNS + x] -= a[(y - 1) * COLUMNS + x];
}

// And added up again, from the first on.
__global__ void add_up(const int *a, long long *sums)
{
    const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (x >= COLUMNS)
        return;
    int value = 0;
    long long sum = 0;
    for (int y = 0; y < ROWS; y++) {
        value += a[y * COLUMNS + x];
        sum += value;
    }
    sums[x] = sum;
}

// More arrays than are followed, each read and written in each iteration.
__global__ void turn(int *a)
{
    const int x = static_cast<int>(threadIdx.x);
    for (int y = 0; y < ROWS; y++)
#pragma unroll
        for (int i = 0; i < MANY; i++)
            a[(i * ROWS + y) * 64 + x] = a[(i * ROWS + ROWS - 1 - y) * 64 + x] + i;
}

static int first(int i)
{
    return static_cast<int>(i * 2654435761u >> 8);
}

int main()
{
    int *a, *many;
    long long *sums;
    HIP_OK(hipMalloc(&a, sizeof(*a) * ROWS * COLUMNS));
    HIP_OK(hipMalloc(&sums, sizeof(*sums) * COLUMNS));
    HIP_OK(hipMalloc(&many, sizeof(*many) * MANY * ROWS * 64));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        a[i] = first(i);
    for (int i = 0; i < MANY * ROWS * 64; i++)
        many[i] = first(i);
    differ<<<4, 256>>>(a);
    add_up<<<4, 256>>>(a, sums);
    turn<<<1, 64>>>(many);
    HIP_OK(hipDeviceSynchronize());
    for (int x = 0; x < COLUMNS; x++) {
        long long sum = 0;
        for (int y = 0; y < ROWS; y++) {
            const int i = y * COLUMNS + x, before = y ? first(i - COLUMNS) : 0;
            CHECK(a[i] == first(i) - before, "row %d, column %d: %d", y, x, a[i]);
            sum += first(i);
        }
        CHECK(sums[x] == sum, "column %d: %lld", x, sums[x]);
    }
    for (int i = 0; i < MANY; i++)
        for (int x = 0; x < 64; x++) {
            int column[ROWS];
            for (int y = 0; y < ROWS; y++)
                column[y] = first((i * ROWS + y) * 64 + x);
            for (int y = 0; y < ROWS; y++)
                column[y] = column[ROWS - 1 - y] + i;
            for (int y = 0; y < ROWS; y++)
                CHECK(many[(i * ROWS + y) * 64 + x] == column[y], "array %d, row %d, lane %d", i, y, x);
        }
    HIP_OK(hipFree(a));
    HIP_OK(hipFree(sums));
    HIP_OK(hipFree(many));
    return check_done();
}
