// SPDX-License-Identifier: MIT
// Vector types in kernels: as arguments, in shared memory, through every operator; built-in variables and
// dim3.
#include "check_hip.h"
#include <hip/hip_complex.h>

template <typename V, typename T> struct results {
    V add, sub, mul, div, scaled, negated, stepped;
    bool equal, unequal;
};
template <typename V, typename T> __global__ void arithmetic(V a, V b, T s, results<V, T> *out)
{
    __shared__ V shared[2];
    shared[0] = a;
    shared[1] = b;
    __syncthreads();
    const V x = shared[threadIdx.x & 0], y = shared[1];
    V c = x;
    c += y;
    out->add = c;
    out->sub = x - y;
    out->mul = x * y;
    out->div = y / x;
    out->scaled = s * x + s;
    out->negated = V(T(0)) - x;
    c = x;
    ++c;
    c--;
    c *= s;
    out->stepped = c;
    out->equal = x == a;
    out->unequal = x != y;
}
template <typename T> static T at(const HIP_vector_type<T, 1> &v, int)
{
    return v.x;
}
template <typename T> static T at(const HIP_vector_type<T, 2> &v, int i)
{
    return i ? v.y : v.x;
}
template <typename T> static T at(const HIP_vector_type<T, 3> &v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : v.z;
}
template <typename T> static T at(const HIP_vector_type<T, 4> &v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}
template <typename T, unsigned n> static HIP_vector_type<T, n> make(const T *v)
{
    HIP_vector_type<T, n> r{};
    std::memcpy(&r, v, n * sizeof(T));
    return r;
}
template <typename T, unsigned n> static void run_one()
{
    typedef HIP_vector_type<T, n> V;
    const T xs[4] = {3, 5, 7, 9}, ys[4] = {12, 25, 14, 90}, s = 2;
    const V x = make<T, n>(xs), y = make<T, n>(ys);
    buffer<results<V, T>> out(1);
    arithmetic<V, T><<<1, 1>>>(x, y, s, out.get());
    out.down();
    const results<V, T> &r = out[0];
    for (int i = 0; i < static_cast<int>(n); i++) {
        const T a = xs[i], b = ys[i];
        CHECK(at(r.add, i) == static_cast<T>(a + b) && at(r.sub, i) == static_cast<T>(a - b),
              "element %d of %u x %zu", i, n, sizeof(T));
        CHECK(at(r.mul, i) == static_cast<T>(a * b) && at(r.div, i) == static_cast<T>(b / a),
              "element %d of %u x %zu", i, n, sizeof(T));
        CHECK(at(r.scaled, i) == static_cast<T>(s * a + s) && at(r.negated, i) == static_cast<T>(-a),
              "element %d of %u x %zu", i, n, sizeof(T));
        CHECK(at(r.stepped, i) == static_cast<T>(a * s), "element %d of %u x %zu", i, n, sizeof(T));
    }
    CHECK(r.equal && r.unequal, "%u x %zu", n, sizeof(T));
}
template <typename T> static void run()
{
    run_one<T, 1>();
    run_one<T, 2>();
    run_one<T, 3>();
    run_one<T, 4>();
}

// A thread writes where and who it is.
__global__ void coordinates(uint4 *out)
{
    const dim3 t = threadIdx;
    const uint3 b = blockIdx;
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned size = hipBlockDim_x * hipBlockDim_y * hipBlockDim_z;
    const unsigned thread = (hipThreadIdx_z * blockDim.y + hipThreadIdx_y) * blockDim.x + hipThreadIdx_x;
    out[block * size + thread] =
        make_uint4(t.x | t.y << 8 | t.z << 16, b.x | b.y << 8 | b.z << 16,
                   gridDim.x | gridDim.y << 8 | gridDim.z << 16, static_cast<unsigned>(warpSize));
}

__constant__ int4 table[3];
__device__ float2 counter;
__global__ void globals(int4 *o)
{
    o[threadIdx.x] = table[threadIdx.x];
    if (threadIdx.x == 0)
        counter = make_float2(counter.x + 1, counter.y * 2);
}

__global__ void complex_numbers(hipFloatComplex *z)
{
    z[0] = hipCmulf(z[0], z[1]);
    z[2] = hipCdivf(z[0], z[1]);
    z[3] = make_hipFloatComplex(hipCabsf(make_hipFloatComplex(3, 4)), hipCrealf(hipConjf(z[1])));
}

int main()
{
    run<unsigned char>();
    run<short>();
    run<int>();
    run<unsigned int>();
    run<long>();
    run<long long>();
    run<unsigned long long>();
    run<float>();
    run<double>();

    const dim3 grid(3, 4, 2), block(4, 2, 3);
    const unsigned size = 24, blocks = 24;
    buffer<uint4> where(size * blocks);
    hipLaunchKernelGGL(coordinates, grid, block, 0, 0, where.get());
    where.down();
    for (unsigned i = 0; i < size * blocks; i++) {
        const unsigned t = i % size, b = i / size;
        const unsigned tid = t % 4 | t / 4 % 2 << 8 | t / 8 << 16,
                       bid = b % 3 | b / 3 % 4 << 8 | b / 12 << 16;
        CHECK(where[i] == make_uint4(tid, bid, 3 | 4 << 8 | 2 << 16, 64), "thread %u: %x %x %x %u", i,
              where[i].x, where[i].y, where[i].z, where[i].w);
    }

    const int4 values[3] = {make_int4(1, 2, 3, 4), make_int4(5, 6, 7, 8), make_int4(9, 10, 11, 12)};
    HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(table), values, sizeof(values)));
    float2 start = make_float2(1.5f, 3.0f);
    HIP_OK(hipMemcpyToSymbol(HIP_SYMBOL(counter), &start, sizeof(start), 0, hipMemcpyHostToDevice));
    buffer<int4> o(3);
    globals<<<1, 3>>>(o.get());
    o.down();
    for (size_t i = 0; i < 3; i++)
        CHECK(o[i] == values[i], "table[%zu]", i);
    HIP_OK(hipMemcpyFromSymbol(&start, HIP_SYMBOL(counter), sizeof(start)));
    CHECK(start == make_float2(2.5f, 6.0f), "%g %g", start.x, start.y);

    buffer<hipFloatComplex> z(4);
    z[0] = make_hipFloatComplex(1, 2);
    z[1] = make_hipFloatComplex(3, -1);
    z.up();
    complex_numbers<<<1, 1>>>(z.get());
    z.down();
    CHECK(z[0] == make_float2(5, 5), "%g %g", z[0].x, z[0].y);
    CHECK(std::fabs(z[2].x - 1) < 1e-6f && std::fabs(z[2].y - 2) < 1e-6f, "%g %g", z[2].x, z[2].y);
    CHECK(z[3] == make_float2(5, 3), "%g %g", z[3].x, z[3].y);
    return check_done();
}
