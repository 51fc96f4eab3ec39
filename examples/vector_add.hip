// SPDX-License-Identifier: MIT
// The smallest whole program: copy two vectors to the GPU, add them, copy the sum back.
#include "check.h"

#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    const int n = 1000003; // not a multiple of the block size
    const size_t bytes = n * sizeof(float);
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = 0.5f * static_cast<float>(i);
        b[i] = static_cast<float>(n - i);
    }
    float *da, *db, *dc;
    CHECK_HIP(hipMalloc(&da, bytes));
    CHECK_HIP(hipMalloc(&db, bytes));
    CHECK_HIP(hipMalloc(&dc, bytes));
    CHECK_HIP(hipMemcpy(da, a.data(), bytes, hipMemcpyHostToDevice));
    CHECK_HIP(hipMemcpy(db, b.data(), bytes, hipMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipMemcpy(c.data(), dc, bytes, hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(da));
    CHECK_HIP(hipFree(db));
    CHECK_HIP(hipFree(dc));

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + b[i];
    return report(wrong == 0, "%d elements, %d wrong", n, wrong);
}
