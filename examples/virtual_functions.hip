// SPDX-License-Identifier: MIT
// Calls that the compiler cannot resolve: objects with virtual functions, a recursive function with a stack
// in scratch memory, and functions reached through a table of pointers.
#include "check.h"

#include <vector>

struct shape {
    __device__ virtual float area() const = 0;
    __device__ virtual ~shape()
    {
    }
};
struct rectangle : shape {
    float a, b;
    __device__ rectangle(float x, float y) : a(x), b(y)
    {
    }
    __device__ float area() const override
    {
        return a * b;
    }
};
struct triangle : shape {
    float base, height;
    __device__ triangle(float x, float y) : base(x), height(y)
    {
    }
    __device__ float area() const override
    {
        return 0.5f * base * height;
    }
};

__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ int twice(int x)
{
    return 2 * x;
}
__device__ __noinline__ int square(int x)
{
    return x * x;
}
__device__ __noinline__ int negate(int x)
{
    return -x;
}
typedef int (*function)(int);
__device__ function table[3] = {twice, square, negate};

__global__ void call(float *areas, unsigned *numbers, int *values)
{
    const int t = static_cast<int>(threadIdx.x);
    // Objects in this thread's own memory; lanes of one wave call different functions.
    rectangle r(static_cast<float>(t), 3.0f);
    triangle d(static_cast<float>(t), 5.0f);
    const shape *s = t % 3 == 0 ? static_cast<const shape *>(&r) : &d;
    areas[t] = s->area();
    numbers[t] = ackermann(2, static_cast<unsigned>(t % 8));
    values[t] = table[t % 3](t);
}

int main()
{
    const int n = 128;
    float *areas;
    unsigned *numbers;
    int *values;
    CHECK_HIP(hipMallocManaged(&areas, n * sizeof *areas));
    CHECK_HIP(hipMallocManaged(&numbers, n * sizeof *numbers));
    CHECK_HIP(hipMallocManaged(&values, n * sizeof *values));
    call<<<1, n>>>(areas, numbers, values);
    CHECK_HIP(hipGetLastError());
    CHECK_HIP(hipDeviceSynchronize());
    int wrong = 0;
    for (int t = 0; t < n; t++) {
        float area = t % 3 == 0 ? static_cast<float>(t) * 3.0f : 0.5f * static_cast<float>(t) * 5.0f;
        unsigned number = 2 * static_cast<unsigned>(t % 8) + 3; // Ackermann's function for m = 2
        int value = t % 3 == 0 ? 2 * t : t % 3 == 1 ? t * t : -t;
        wrong += areas[t] != area || numbers[t] != number || values[t] != value;
    }
    unsigned deepest = numbers[7];
    CHECK_HIP(hipFree(areas));
    CHECK_HIP(hipFree(numbers));
    CHECK_HIP(hipFree(values));
    return report(wrong == 0, "%d threads, A(2,7) = %u, %d wrong", n, deepest, wrong);
}
