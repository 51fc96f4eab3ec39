// SPDX-License-Identifier: MIT
// Gravity between all pairs of bodies: tiles of positions in LDS, leapfrog steps. Checks the positions
// against the host's and that the total momentum stays zero.
#include "check.h"

#include <cmath>
#include <vector>

constexpr int BLOCK = 256;

__host__ __device__ inline void attract(float3 &acceleration, float4 me, float4 other)
{
    const float softening = 0.01f;
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float distance2 = x * x + y * y + z * z + softening;
    float inverse = 1.0f / sqrtf(distance2);
    float factor = other.w * inverse * inverse * inverse;
    acceleration.x += factor * x;
    acceleration.y += factor * y;
    acceleration.z += factor * z;
}

__global__ void step(const float4 *from, float4 *to, float4 *velocity, int n, float dt)
{
    __shared__ float4 tile[BLOCK];
    const int i = static_cast<int>(blockIdx.x * BLOCK + threadIdx.x);
    float4 me = from[i];
    float3 acceleration = make_float3(0, 0, 0);
    for (int base = 0; base < n; base += BLOCK) {
        tile[threadIdx.x] = from[base + static_cast<int>(threadIdx.x)];
        __syncthreads();
        for (int k = 0; k < BLOCK; k++)
            attract(acceleration, me, tile[k]);
        __syncthreads();
    }
    float4 v = velocity[i];
    v.x += dt * acceleration.x;
    v.y += dt * acceleration.y;
    v.z += dt * acceleration.z;
    velocity[i] = v;
    to[i] = make_float4(me.x + dt * v.x, me.y + dt * v.y, me.z + dt * v.z, me.w);
}

int main()
{
    const int n = 1024, steps = 4;
    const float dt = 0.01f;
    std::vector<float4> position(n), velocity(n, make_float4(0, 0, 0, 0)), result(n), moved(n);
    random_numbers random{3};
    for (auto &p : position)
        p = make_float4(random.uniform(), random.uniform(), random.uniform(), 1.0f / n);

    float4 *from, *to, *speed;
    const size_t bytes = n * sizeof(float4);
    CHECK_HIP(hipMalloc(&from, bytes));
    CHECK_HIP(hipMalloc(&to, bytes));
    CHECK_HIP(hipMalloc(&speed, bytes));
    CHECK_HIP(hipMemcpy(from, position.data(), bytes, hipMemcpyHostToDevice));
    CHECK_HIP(hipMemset(speed, 0, bytes));
    for (int s = 0; s < steps; s++) {
        step<<<n / BLOCK, BLOCK>>>(from, to, speed, n, dt);
        CHECK_HIP(hipGetLastError());
        std::swap(from, to);
    }
    CHECK_HIP(hipMemcpy(result.data(), from, bytes, hipMemcpyDeviceToHost));
    CHECK_HIP(hipMemcpy(moved.data(), speed, bytes, hipMemcpyDeviceToHost));
    CHECK_HIP(hipFree(from));
    CHECK_HIP(hipFree(to));
    CHECK_HIP(hipFree(speed));

    for (int s = 0; s < steps; s++) {
        std::vector<float4> next(n);
        for (int i = 0; i < n; i++) {
            float3 acceleration = make_float3(0, 0, 0);
            for (int k = 0; k < n; k++)
                attract(acceleration, position[i], position[k]);
            velocity[i].x += dt * acceleration.x;
            velocity[i].y += dt * acceleration.y;
            velocity[i].z += dt * acceleration.z;
            next[i] = make_float4(position[i].x + dt * velocity[i].x, position[i].y + dt * velocity[i].y,
                                  position[i].z + dt * velocity[i].z, position[i].w);
        }
        position = next;
    }
    float worst = 0;
    double momentum = 0;
    for (int i = 0; i < n; i++) {
        worst = std::fmax(worst, std::fabs(result[i].x - position[i].x));
        worst = std::fmax(worst, std::fabs(result[i].y - position[i].y));
        worst = std::fmax(worst, std::fabs(result[i].z - position[i].z));
        momentum += static_cast<double>(moved[i].x) + moved[i].y + moved[i].z;
    }
    momentum = std::fabs(momentum / n);
    return report(worst < 1e-5f && momentum < 1e-5, "%d bodies, %d steps, largest error %.1e, momentum %.1e",
                  n, steps, static_cast<double>(worst), momentum);
}
