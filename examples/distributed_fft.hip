// SPDX-License-Identifier: MIT
// A Fourier transform of SIDE * SIDE numbers that lie on all devices. Each device transforms its columns,
// turns them by what is between columns, and passes each device those rows that are its own: the kernel by
// stores, or copies of rectangles (hipMemcpy2DAsync) after it. Then each transforms its rows.
//
//     ehp run --node mi300a-x4 --mode timing ./distributed_fft
#include "devices.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

constexpr int MOST = 16;                  // devices
constexpr int BITS = 8, SIDE = 1 << BITS; // x[SIDE * row + column]
constexpr int GROUP = 8, THREADS = 256;   // so many columns or rows in a workgroup: 64 bytes of each
constexpr int ALL = SIDE * SIDE;

// Columns, and rows, from first[d] on are device d's.
struct shares {
    int first[MOST + 1];
    float2 *rows[MOST]; // SIDE numbers each
};

__device__ static float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// exp(-2 pi i k / n)
__device__ static float2 unit(int k, int n)
{
    float2 u;
    sincospif(-2.0f * static_cast<float>(k) / static_cast<float>(n), &u.y, &u.x);
    return u;
}

// Transforms GROUP sequences of SIDE numbers, one behind the other (Stockham, radix 2); says which half of
// `room` they are in then.
__device__ static int transform(const float2 *from, float2 room[2][SIDE][GROUP])
{
    __shared__ float2 units[SIDE / 2];
    for (int i = static_cast<int>(threadIdx.x); i < SIDE * GROUP; i += THREADS)
        room[0][i % SIDE][i / SIDE] = from[i];
    for (int i = static_cast<int>(threadIdx.x); i < SIDE / 2; i += THREADS)
        units[i] = unit(i, SIDE);
    for (int bit = 0; bit < BITS; bit++) {
        float2(*const in)[GROUP] = room[bit & 1], (*const out)[GROUP] = room[~bit & 1];
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < SIDE / 2 * GROUP; i += THREADS) {
            const int which = i % GROUP, k = i / GROUP, low = k & ((1 << bit) - 1), high = k - low;
            const float2 a = in[k][which], b = in[k + SIDE / 2][which];
            out[2 * high + low][which] = make_float2(a.x + b.x, a.y + b.y);
            out[2 * high + low + (1 << bit)][which] = times(make_float2(a.x - b.x, a.y - b.y), units[high]);
        }
    }
    __syncthreads();
    return BITS & 1;
}

// Device `own`, or its workspace if there are to be copies: row `k` of the result for each column.
__global__ void columns(const float2 *from, float2 *workspace, shares all, int own)
{
    __shared__ float2 room[2][SIDE][GROUP];
    const int column = static_cast<int>(blockIdx.x) * GROUP, mine = all.first[own + 1] - all.first[own];
    float2(*const have)[GROUP] = room[transform(from + column * SIDE, room)];
    for (int i = static_cast<int>(threadIdx.x), d = 0; i < SIDE * GROUP; i += THREADS) {
        const int row = i / GROUP, at = column + i % GROUP;
        const float2 value = times(have[row][i % GROUP], unit(row * (all.first[own] + at) % ALL, ALL));
        while (row >= all.first[d + 1])
            d++;
        if (workspace)
            workspace[row * mine + at] = value;
        else
            all.rows[d][(row - all.first[d]) * SIDE + all.first[own] + at] = value;
    }
}

__global__ void rows(const float2 *from, float2 *to)
{
    __shared__ float2 room[2][SIDE][GROUP];
    const int row = static_cast<int>(blockIdx.x) * GROUP;
    float2(*const have)[GROUP] = room[transform(from + row * SIDE, room)];
    for (int i = static_cast<int>(threadIdx.x); i < SIDE * GROUP; i += THREADS)
        to[row * SIDE + i] = have[i % SIDE][i / SIDE];
}

struct place {
    hipStream_t stream;
    hipEvent_t start, passed, stop;
    float2 *columns, *workspace, *result;
};

// The time of the device that takes longest, in microseconds.
static double run(const std::vector<place> &all, const shares &s, gate *begin, bool copies)
{
    const int devices = static_cast<int>(all.size());
    begin->close();
    for (int d = 0; d < devices; d++) {
        const place &p = all[d];
        const int mine = s.first[d + 1] - s.first[d];
        CHECK_HIP(hipSetDevice(d));
        begin->hold(p.stream);
        CHECK_HIP(hipEventRecord(p.start, p.stream));
        columns<<<mine / GROUP, THREADS, 0, p.stream>>>(p.columns, copies ? p.workspace : nullptr, s, d);
        CHECK_HIP(hipGetLastError());
        for (int i = 0; i < devices && copies; i++) {
            const int to = (d + i) % devices; // not all to the same one first
            CHECK_HIP(hipMemcpy2DAsync(s.rows[to] + s.first[d], SIDE * sizeof(float2),
                                       p.workspace + s.first[to] * mine, mine * sizeof(float2),
                                       mine * sizeof(float2), s.first[to + 1] - s.first[to], hipMemcpyDefault,
                                       p.stream));
        }
        CHECK_HIP(hipEventRecord(p.passed, p.stream));
    }
    for (int d = 0; d < devices; d++) {
        const place &p = all[d];
        CHECK_HIP(hipSetDevice(d));
        for (int other = 0; other < devices; other++)
            if (other != d)
                CHECK_HIP(hipStreamWaitEvent(p.stream, all[other].passed, 0));
        rows<<<(s.first[d + 1] - s.first[d]) / GROUP, THREADS, 0, p.stream>>>(s.rows[d], p.result);
        CHECK_HIP(hipGetLastError());
        CHECK_HIP(hipEventRecord(p.stop, p.stream));
    }
    begin->open();
    float slowest = 0;
    for (const place &p : all) {
        float time;
        CHECK_HIP(hipEventSynchronize(p.stop));
        CHECK_HIP(hipEventElapsedTime(&time, p.start, p.stop));
        slowest = std::max(slowest, time);
    }
    return static_cast<double>(slowest) * 1000;
}

// On the host, by halves.
static void transform_here(std::vector<std::complex<double>> *x)
{
    const size_t n = x->size();
    if (n == 1)
        return;
    std::vector<std::complex<double>> even(n / 2), odd(n / 2);
    for (size_t i = 0; i < n; i++)
        (i & 1 ? odd : even)[i / 2] = (*x)[i];
    transform_here(&even);
    transform_here(&odd);
    for (size_t k = 0; k < n / 2; k++) {
        const auto turned =
            std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(n)) * odd[k];
        (*x)[k] = even[k] + turned;
        (*x)[k + n / 2] = even[k] - turned;
    }
}

int main()
{
    int devices, from, to;
    CHECK_HIP(hipGetDeviceCount(&devices));
    devices = std::min(devices, MOST);
    if (devices == 1)
        return report(true, "one device, which has all rows and columns");
    if (!enable_peers(devices, &from, &to))
        return report(true, "device %d does not reach the memory of %d", from, to);

    std::vector<std::complex<double>> want(ALL);
    std::vector<float2> columns_of(ALL), seen(ALL);
    random_numbers random = {2024};
    for (int i = 0; i < ALL; i++) {
        const float2 x = make_float2(random.uniform() - 0.5f, random.uniform() - 0.5f);
        want[i] = {static_cast<double>(x.x), static_cast<double>(x.y)};
        columns_of[i % SIDE * SIDE + i / SIDE] = x;
    }
    transform_here(&want);
    double most = 0;
    for (const auto &x : want)
        most = std::max(most, std::abs(x));

    shares s = {};
    std::vector<place> all(devices);
    gate begin;
    for (int d = 0; d < devices; d++) {
        place &p = all[d];
        s.first[d + 1] = SIDE / GROUP * (d + 1) / devices * GROUP;
        const int mine = s.first[d + 1] - s.first[d];
        const size_t bytes = mine * SIDE * sizeof(float2);
        CHECK_HIP(hipSetDevice(d));
        CHECK_HIP(hipStreamCreateWithFlags(&p.stream, hipStreamNonBlocking));
        CHECK_HIP(hipEventCreate(&p.start));
        CHECK_HIP(hipEventCreateWithFlags(&p.passed, hipEventDisableTiming));
        CHECK_HIP(hipEventCreate(&p.stop));
        for (float2 **memory : {&p.columns, &p.workspace, &p.result, &s.rows[d]})
            CHECK_HIP(hipMalloc(memory, bytes));
        CHECK_HIP(hipMemcpy(p.columns, &columns_of[s.first[d] * SIDE], bytes, hipMemcpyHostToDevice));
    }

    double worst = 0;
    int wrong = 0;
    for (int i = 0; i < 4; i++) { // the first ones load the code
        const bool copies = i & 1;
        const double time = run(all, s, &begin, copies);
        if (i >= 2)
            std::printf("%-30s %9.1f us\n", copies ? "copies of rectangles" : "stores to peers", time);
        for (int d = 0; d < devices; d++) {
            const size_t bytes = (s.first[d + 1] - s.first[d]) * SIDE * sizeof(float2);
            CHECK_HIP(hipSetDevice(d));
            CHECK_HIP(hipMemcpy(&seen[s.first[d] * SIDE], all[d].result, bytes, hipMemcpyDeviceToHost));
            CHECK_HIP(hipMemset(all[d].result, 0, bytes));
            CHECK_HIP(hipMemset(s.rows[d], 0, bytes));
            CHECK_HIP(hipDeviceSynchronize());
        }
        for (int k = 0; k < ALL; k++) {
            const float2 x = seen[k % SIDE * SIDE + k / SIDE];
            const std::complex<double> have(static_cast<double>(x.x), static_cast<double>(x.y));
            const double error = std::abs(have - want[k]) / most;
            wrong += !(error < 1e-6);
            worst = std::max(worst, error);
        }
    }
    for (int d = 0; d < devices; d++) {
        const place &p = all[d];
        CHECK_HIP(hipSetDevice(d));
        for (float2 *memory : {p.columns, p.workspace, p.result, s.rows[d]})
            CHECK_HIP(hipFree(memory));
        CHECK_HIP(hipEventDestroy(p.start));
        CHECK_HIP(hipEventDestroy(p.passed));
        CHECK_HIP(hipEventDestroy(p.stop));
        CHECK_HIP(hipStreamDestroy(p.stream));
    }
    return report(wrong == 0, "%d devices, %d numbers, largest error %.1e of the largest", devices, ALL,
                  worst);
}
