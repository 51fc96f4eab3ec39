// SPDX-License-Identifier: MIT
// Copies and fills of all shapes leave the right bytes, by SDMA engines and by kernels; `copies effects`:
// what they do to others in simulated time.
#include "../hip/check_hip.h"

enum : size_t { ROOM = 96 << 10, MIB = 1 << 20 };

static unsigned char value_at(size_t i)
{
    return static_cast<unsigned char>(i * 0x9e3779b1u >> 13);
}

// Memory of one of the kinds, whose bytes the host may set and look at.
struct place {
    unsigned kind;
    unsigned char *at;

    explicit place(unsigned kind) : kind(kind)
    {
        if (kind == 0)
            HIP_OK(hipMalloc(reinterpret_cast<void **>(&at), ROOM));
        else if (kind == 1)
            HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&at), ROOM, 0));
        else
            at = static_cast<unsigned char *>(std::malloc(ROOM));
    }
    ~place()
    {
        if (kind == 0)
            (void)hipFree(at);
        else if (kind == 1)
            (void)hipHostFree(at);
        else
            std::free(at);
    }
    place(const place &) = delete;
    place &operator=(const place &) = delete;
};

static void check_copies(place &to, place &from)
{
    std::vector<unsigned char> expected(ROOM);
    for (size_t k = 0; k < 24; k++) {
        const size_t width = 1 + k * k * 97 % 9000, height = k % 3 ? 1 + k % 4 : 1,
                     depth = k % 4 == 3 ? 2 : 1, to_pitch = width + k % 70, from_pitch = width + k % 33,
                     to_first = k * 37 % 300, from_first = k % 2 ? k * 101 % 300 : 0;
        for (size_t i = 0; i < ROOM; i++) {
            from.at[i] = value_at(i + k);
            to.at[i] = expected[i] = static_cast<unsigned char>(k);
        }
        for (size_t z = 0; z < depth; z++)
            for (size_t y = 0; y < height; y++)
                std::memcpy(&expected[to_first + (z * height + y) * to_pitch],
                            from.at + from_first + (z * height + y) * from_pitch, width);
        if (height == 1 && depth == 1) {
            HIP_OK(hipMemcpy(to.at + to_first, from.at + from_first, width, hipMemcpyDefault));
        } else if (depth == 1) {
            HIP_OK(hipMemcpy2D(to.at + to_first, to_pitch, from.at + from_first, from_pitch, width, height,
                               hipMemcpyDefault));
        } else {
            hipMemcpy3DParms p = {};
            p.srcPtr = make_hipPitchedPtr(from.at + from_first, from_pitch, width, height);
            p.dstPtr = make_hipPitchedPtr(to.at + to_first, to_pitch, width, height);
            p.extent = make_hipExtent(width, height, depth);
            p.kind = hipMemcpyDefault;
            HIP_OK(hipMemcpy3D(&p));
        }
        HIP_OK(hipDeviceSynchronize());
        CHECK(std::memcmp(to.at, expected.data(), ROOM) == 0, "copy %zu of %zu x %zu x %zu, kinds %u %u", k,
              width, height, depth, to.kind, from.kind);
    }
}

static void check_fills(place &to)
{
    std::vector<unsigned char> expected(ROOM);
    for (size_t k = 0; k < 16; k++) {
        const size_t element = k % 4 == 3 ? 1 : size_t{1} << k % 4, count = 1 + k * k * 31 % 5000,
                     first = k * 12 % 300 / element * element;
        const unsigned value = 0x89abcdef;
        std::memset(to.at, 7, ROOM);
        std::memset(expected.data(), 7, ROOM);
        if (k % 4 == 3) {
            HIP_OK(hipMemset2D(to.at + first, count + k, 0xef, count, 3));
            for (size_t y = 0; y < 3; y++)
                std::memset(&expected[first + y * (count + k)], 0xef, count);
        } else {
            for (size_t i = 0; i < count; i++)
                std::memcpy(&expected[first + i * element], &value, element);
            if (element == 1)
                HIP_OK(hipMemsetAsync(to.at + first, 0xef, count, nullptr));
            else if (element == 2)
                HIP_OK(hipMemsetD16Async(to.at + first, 0xcdef, count, nullptr));
            else
                HIP_OK(hipMemsetD32Async(to.at + first, static_cast<int>(value), count, nullptr));
        }
        HIP_OK(hipDeviceSynchronize());
        CHECK(std::memcmp(to.at, expected.data(), ROOM) == 0, "fill %zu of %zu elements of %zu, kind %u", k,
              count, element, to.kind);
    }
}

// ---- what they do to others

__global__ void read_all(const uint4 *from, unsigned *out, size_t count)
{
    unsigned sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x)
        sum += from[i].x ^ from[i].w;
    if (sum == 0x12345678)
        *out = sum;
}

static hipEvent_t mark(hipStream_t stream)
{
    hipEvent_t event;
    HIP_OK(hipEventCreate(&event));
    HIP_OK(hipEventRecord(event, stream));
    return event;
}

static double between(hipEvent_t a, hipEvent_t b)
{
    float ms;
    HIP_OK(hipEventSynchronize(b));
    HIP_OK(hipEventElapsedTime(&ms, a, b));
    return ms * 1e3;
}

static void effects()
{
    enum : size_t { BYTES = 16 * MIB };
    char *memory[3];
    unsigned *out;
    hipStream_t stream;
    for (char *&m : memory)
        HIP_OK(hipMalloc(reinterpret_cast<void **>(&m), BYTES));
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&out), 4));
    HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    std::vector<char> host(BYTES);
    const auto reads = [&](hipStream_t s, const char *from) {
        hipEvent_t begin = mark(s);
        read_all<<<456, 512, 0, s>>>(reinterpret_cast<const uint4 *>(from), out, BYTES / 16);
        return std::pair{begin, mark(s)};
    };
    const auto took = [](std::pair<hipEvent_t, hipEvent_t> p) { return between(p.first, p.second); };

    took(reads(stream, memory[2])); // code
    HIP_OK(hipMemcpy(memory[0], host.data(), BYTES, hipMemcpyHostToDevice));
    const double warm = took(reads(stream, memory[0])), cold = took(reads(stream, memory[1]));
    std::printf("read after a copy %.1f us, of memory that nobody has used %.1f\n", warm, cold);
    CHECK(warm < 0.9 * cold, "a copy leaves its lines in the Infinity Cache");
}

int main(int argc, char **)
{
    if (argc > 1) {
        effects();
        return check_done();
    }
    for (unsigned to = 0; to < 3; to++) {
        place target(to);
        for (unsigned from = 0; from < 3; from++) {
            place source(from);
            check_copies(target, source);
        }
        if (to < 2)
            check_fills(target);
    }
    return check_done();
}
