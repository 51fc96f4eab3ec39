// SPDX-License-Identifier: MIT
// What lanes have from other lanes, by numbers that the code says, that the host says, and that another lane
// says; in parts of a wave, where the wave is not full, and in a loop that goes on to others.  And what they
// access by what memory says.
#include "check_hip.h"

static __host__ __device__ unsigned mix(unsigned h, unsigned value)
{
    return h * 31 + value;
}

template <int WIDTH> __global__ void exchange(const unsigned *in, unsigned *out, int n, int by)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    const unsigned v = in[i];
    const int lane = static_cast<int>(threadIdx.x) % WIDTH;
    unsigned h = 0;
    for (int step = WIDTH / 2; step; step /= 2)
        h = mix(h, __shfl_down(v, step, WIDTH));
    for (int step = 1; step < WIDTH; step *= 2)
        h = mix(h, __shfl_up(v, step, WIDTH));
    for (int step = 1; step < WIDTH; step *= 2)
        h = mix(h, __shfl_xor(v, step, WIDTH));
    h = mix(h, __shfl(v, 5, WIDTH));
    h = mix(h, __shfl_down(v, by, WIDTH));
    h = mix(h, __shfl(v, (lane * 7 + by) % WIDTH, WIDTH));
    h = mix(h, __shfl(v, static_cast<int>(v >> 8) % WIDTH, WIDTH));
    if (static_cast<int>(threadIdx.x) / WIDTH % 2 == 0)
        h = mix(h, __shfl_xor(v, 1, WIDTH));
#pragma unroll 1
    for (int step = 1; step <= by; step++)
        h = mix(h, __shfl_down(v, step, WIDTH));
    out[i] = mix(h, static_cast<unsigned>(__shfl_xor(static_cast<double>(v), WIDTH / 2, WIDTH)));
}

// The same of item i of all.
template <int WIDTH> static unsigned exchanged(const unsigned *in, int i, int thread, int by)
{
    const int lane = i % WIDTH;
    const unsigned *part = in + (i - lane), v = in[i];
    unsigned h = 0;
    const auto down = [&](int step) { return lane + step < WIDTH ? part[lane + step] : v; };
    for (int step = WIDTH / 2; step; step /= 2)
        h = mix(h, down(step));
    for (int step = 1; step < WIDTH; step *= 2)
        h = mix(h, lane >= step ? part[lane - step] : v);
    for (int step = 1; step < WIDTH; step *= 2)
        h = mix(h, part[lane ^ step]);
    h = mix(h, part[5 % WIDTH]);
    h = mix(h, down(by));
    h = mix(h, part[(lane * 7 + by) % WIDTH]);
    h = mix(h, part[(v >> 8) % WIDTH]);
    if (thread / WIDTH % 2 == 0)
        h = mix(h, part[lane ^ 1]);
    for (int step = 1; step <= by; step++)
        h = mix(h, down(step));
    return mix(h, part[lane ^ WIDTH / 2]);
}

template <int WIDTH> static void test_width(int block, int by)
{
    const int n = block * 9;
    buffer<unsigned> in(static_cast<size_t>(n)), out(static_cast<size_t>(n));
    for (int i = 0; i < n; i++)
        in.host[i] = static_cast<unsigned>(i + 1) * 2654435761u;
    in.up();
    exchange<WIDTH><<<9, block>>>(in.get(), out.get(), n, by);
    out.down();
    for (int i = 0; i < n; i++)
        CHECK(out.host[i] == exchanged<WIDTH>(in.host.data(), i, i % block, by),
              "width %d, block %d, item %d", WIDTH, block, i);
}

struct wide {
    unsigned at, more[3];
};

// By what was loaded: read, and written to, elements of one size and another, where `skip` lets some lanes
// go.
__global__ void follow(const unsigned *first, const wide *elements, const unsigned char *bytes,
                       unsigned *words, wide *others, unsigned char *marks, unsigned skip)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 8 == skip)
        return;
    const unsigned to = first[i];
    const wide e = elements[to];
    words[e.at] = i + bytes[e.at];
    others[to] = {i, {e.more[0] + 1, e.more[1] + 2, e.more[2] + 3}};
    marks[e.at] = static_cast<unsigned char>(to);
}

static void test_following(unsigned skip)
{
    constexpr unsigned N = 1 << 14;
    buffer<unsigned> first(N), words(N);
    buffer<wide> elements(N), others(N);
    buffer<unsigned char> bytes(N), marks(N);
    for (unsigned i = 0; i < N; i++) {
        first.host[i] = i * 2741 % N;
        elements.host[i] = {(i * 977 + 5) % N, {i, i + 1, i + 2}};
        bytes.host[i] = static_cast<unsigned char>(i * 7);
    }
    first.up();
    elements.up();
    bytes.up();
    follow<<<N / 256, 256>>>(first.get(), elements.get(), bytes.get(), words.get(), others.get(), marks.get(),
                             skip);
    words.down();
    others.down();
    marks.down();
    for (unsigned i = 0; i < N; i++) {
        const bool goes = i % 8 != skip;
        const unsigned to = first.host[i], at = elements.host[to].at;
        const wide &w = others.host[to];
        CHECK(words.host[at] == (goes ? i + bytes.host[at] : 0), "item %u: %u", i, words.host[at]);
        CHECK(marks.host[at] == (goes ? to & 255 : 0), "item %u: %u", i, marks.host[at]);
        CHECK(w.at == (goes ? i : 0) && w.more[2] == (goes ? to + 5 : 0), "item %u: %u, %u", i, w.at,
              w.more[2]);
    }
}

int main()
{
    for (const int block : {64, 128, 192, 1024})
        for (const int by : {1, 3}) {
            test_width<4>(block, by);
            test_width<16>(block, by);
            test_width<32>(block, by);
            test_width<64>(block, by);
        }
    test_following(8);
    test_following(3);
    return check_done();
}
