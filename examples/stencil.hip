// SPDX-License-Identifier: MIT
// Heat flow on a plate: a five-point stencil with tiles and their borders in LDS, two buffers that change
// places.
#include "check.h"

#include <cmath>
#include <vector>

constexpr int TX = 32, TY = 8;

__global__ void step(const float *from, float *to, int width, int height)
{
    __shared__ float tile[TY + 2][TX + 2];
    const int x0 = static_cast<int>(blockIdx.x) * TX - 1, y0 = static_cast<int>(blockIdx.y) * TY - 1;
    for (int i = static_cast<int>(threadIdx.y * TX + threadIdx.x); i < (TX + 2) * (TY + 2); i += TX * TY) {
        int x = min(max(x0 + i % (TX + 2), 0), width - 1), y = min(max(y0 + i / (TX + 2), 0), height - 1);
        tile[i / (TX + 2)][i % (TX + 2)] = from[y * width + x];
    }
    __syncthreads();
    const int tx = static_cast<int>(threadIdx.x) + 1, ty = static_cast<int>(threadIdx.y) + 1;
    const int x = x0 + tx, y = y0 + ty;
    if (x < width && y < height) {
        float middle = tile[ty][tx];
        float around = tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1];
        to[y * width + x] = middle + 0.2f * (around - 4.0f * middle);
    }
}

int main()
{
    const int width = 500, height = 300, steps = 20;
    const size_t bytes = sizeof(float) * width * height;
    std::vector<float> plate(width * height, 0.0f), result(plate.size()), next(plate.size());
    for (int y = 100; y < 200; y++)
        for (int x = 200; x < 300; x++)
            plate[y * width + x] = 100.0f;
    float *from, *to;
    CHECK_HIP(hipMalloc(&from, bytes));
    CHECK_HIP(hipMalloc(&to, bytes));
    CHECK_HIP(hipMemcpy(from, plate.data(), bytes, hipMemcpyHostToDevice));
    for (int s = 0; s < steps; s++) {
        step<<<dim3((width + TX - 1) / TX, (height + TY - 1) / TY), dim3(TX, TY)>>>(from, to, width, height);
        CHECK_HIP(hipGetLastError());
        std::swap(from, to);
    }
    CHECK_HIP(hipMemcpy(result.data(), from, bytes, hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(from));
    CHECK_HIP(hipFree(to));
    for (int s = 0; s < steps; s++) {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                int up = std::max(y - 1, 0), down = std::min(y + 1, height - 1);
                int left = std::max(x - 1, 0), right = std::min(x + 1, width - 1);
                float middle = plate[y * width + x];
                float around = plate[up * width + x] + plate[down * width + x] + plate[y * width + left] +
                               plate[y * width + right];
                next[y * width + x] = middle + 0.2f * (around - 4.0f * middle);
            }
        std::swap(plate, next);
    }
    float worst = 0;
    double heat = 0;
    for (size_t i = 0; i < plate.size(); i++) {
        worst = std::fmax(worst, std::fabs(plate[i] - result[i]));
        heat += static_cast<double>(result[i]);
    }
    bool kept = std::fabs(heat - 1e6) < 1.0; // the plate's edge lets no heat out
    return report(worst < 1e-3f && kept, "%dx%d, %d steps, largest error %.1e", width, height, steps,
                  static_cast<double>(worst));
}
