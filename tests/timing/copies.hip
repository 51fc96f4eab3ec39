// SPDX-License-Identifier: MIT
// Copies and fills of all shapes leave the right bytes, by SDMA engines and by kernels; `copies effects`:
// what they do to others in simulated time; `copies long`, `copies peers`: what is left out of long ones.
#include <cmath>

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
    char *memory[6];
    unsigned *out;
    hipStream_t stream[2];
    for (char *&m : memory)
        HIP_OK(hipMalloc(reinterpret_cast<void **>(&m), BYTES));
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&out), 4));
    for (hipStream_t &s : stream)
        HIP_OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    std::vector<char> host(BYTES);
    const auto reads = [&](hipStream_t s, const char *from) {
        hipEvent_t begin = mark(s);
        read_all<<<456, 512, 0, s>>>(reinterpret_cast<const uint4 *>(from), out, BYTES / 16);
        return std::pair{begin, mark(s)};
    };
    const auto copies = [&](hipStream_t s, char *to, const char *from) {
        hipEvent_t begin = mark(s);
        HIP_OK(hipMemcpyAsync(to, from, BYTES, hipMemcpyDeviceToDevice, s));
        return std::pair{begin, mark(s)};
    };
    const auto took = [](std::pair<hipEvent_t, hipEvent_t> p) { return between(p.first, p.second); };

    took(reads(stream[0], memory[5])); // code
    HIP_OK(hipMemcpy(memory[0], host.data(), BYTES, hipMemcpyHostToDevice));
    const double warm = took(reads(stream[0], memory[0])), cold = took(reads(stream[0], memory[1]));
    std::printf("read after a copy %.1f us, of memory that nobody has used %.1f\n", warm, cold);
    CHECK(warm < 0.9 * cold, "a copy leaves its lines in the Infinity Cache");

    took(copies(stream[0], memory[2], memory[3]));
    const double one = took(copies(stream[0], memory[2], memory[3]));
    auto a = copies(stream[0], memory[2], memory[3]), b = copies(stream[1], memory[4], memory[5]);
    const double first = took(a), second = took(b);
    std::printf("a copy %.1f us, two at once %.1f and %.1f\n", one, first, second);
    CHECK(first + second > 2.5 * one, "copies share memory's bandwidth");

    const double alone = took(reads(stream[0], memory[2]));
    auto beside = copies(stream[1], memory[4], memory[5]);
    const double slowed = took(reads(stream[0], memory[2]));
    took(beside);
    std::printf("a kernel alone %.1f us, beside a copy %.1f\n", alone, slowed);
    CHECK(slowed > 1.1 * alone, "a copy slows a kernel");
}

// A fill that the host waits for takes as long as one that it does not.
static void fills()
{
    enum : size_t { BYTES = 4 * MIB };
    char *memory[3];
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&memory[0]), BYTES));
    HIP_OK(hipHostMalloc(reinterpret_cast<void **>(&memory[1]), BYTES, 0));
    HIP_OK(hipMallocManaged(reinterpret_cast<void **>(&memory[2]), BYTES));
    for (char *m : memory) {
        double us[3];
        for (int i = 0; i < 3; i++) { // the first one loads code, and makes pages
            hipEvent_t begin = mark(nullptr);
            HIP_OK(i == 1 ? hipMemset(m, i, BYTES) : hipMemsetAsync(m, i, BYTES, nullptr));
            us[i] = between(begin, mark(nullptr));
        }
        std::printf("a fill %.2f us, by a call that waits %.2f\n", us[2], us[1]);
        CHECK(us[1] > 0.9 * us[2] && us[1] < us[2] + 10, "a fill by a call that waits");
    }
}

// ---- long ones, of which a part is left out when nobody else is there

__global__ void mark_bytes(uint4 *to, size_t count, unsigned salt)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x)
        to[i] = uint4{static_cast<unsigned>(i) * 0x9e3779b1u, salt, static_cast<unsigned>(i), ~salt};
}

__global__ void count_wrong(const unsigned char *at, size_t first, size_t count, size_t shift, unsigned salt,
                            unsigned *wrong)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += size_t{gridDim.x} * blockDim.x) {
        const size_t from = first + i + shift, quad = from / 16;
        const unsigned word[4] = {static_cast<unsigned>(quad) * 0x9e3779b1u, salt,
                                  static_cast<unsigned>(quad), ~salt};
        if (at[first + i] != static_cast<unsigned char>(word[from % 16 / 4] >> from % 4 * 8))
            atomicAdd(wrong, 1);
    }
}

__global__ void wait_for(long long ticks)
{
    for (const long long begin = wall_clock64(); wall_clock64() - begin < ticks;)
        __builtin_amdgcn_s_sleep(100);
}

static unsigned wrong_bytes(unsigned *counter, const char *at, size_t bytes, size_t shift, unsigned salt)
{
    enum : size_t { PART = 192 << 10 }; // at both ends and in places between
    HIP_OK(hipMemset(counter, 0, 4));
    for (size_t i = 0; i < 6; i++) {
        const size_t first = (bytes - PART) / 5 * i;
        count_wrong<<<64, 256>>>(reinterpret_cast<const unsigned char *>(at), first, PART, shift, salt,
                                 counter);
    }
    unsigned wrong = 0;
    HIP_OK(hipMemcpy(&wrong, counter, 4, hipMemcpyDeviceToHost));
    return wrong;
}

static void long_ones()
{
    enum : size_t { BYTES = 96 * MIB };
    char *from, *to;
    unsigned *counter;
    hipStream_t stream[2];
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&from), BYTES + 64));
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&to), BYTES + 64));
    HIP_OK(hipMalloc(reinterpret_cast<void **>(&counter), 4));
    for (hipStream_t &s : stream)
        HIP_OK(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
    const auto copy = [&](size_t shift) {
        hipEvent_t begin = mark(stream[0]);
        HIP_OK(hipMemcpyAsync(to, from + shift, BYTES, hipMemcpyDeviceToDevice, stream[0]));
        return between(begin, mark(stream[0]));
    };
    const auto fill = [&](int value) {
        hipEvent_t begin = mark(stream[0]);
        HIP_OK(hipMemsetAsync(to, value, BYTES, stream[0]));
        return between(begin, mark(stream[0]));
    };
    mark_bytes<<<456, 512>>>(reinterpret_cast<uint4 *>(from), (BYTES + 64) / 16, 77);
    HIP_OK(hipDeviceSynchronize());
    copy(0);
    const double part = copy(0);
    unsigned wrong = wrong_bytes(counter, to, BYTES, 0, 77);
    CHECK(wrong == 0, "%u bytes wrong of a copy of which a part is left out", wrong);
    wait_for<<<1, 1, 0, stream[1]>>>(20000); // 200 us
    const double all = copy(0);
    HIP_OK(hipDeviceSynchronize());
    std::printf("a copy %.2f us, with parts left out %.2f\n", all, part);
    CHECK(std::fabs(part / all - 1) < 0.02, "a part left out changes nothing");
    copy(5);
    wrong = wrong_bytes(counter, to, BYTES, 5, 77);
    CHECK(wrong == 0, "%u bytes wrong of a copy that is not aligned", wrong);
    fill(0x5a);
    const double part_fill = fill(0x17);
    char *host = static_cast<char *>(std::malloc(BYTES));
    HIP_OK(hipMemcpy(host, to, BYTES, hipMemcpyDeviceToHost));
    CHECK(host[0] == 0x17 && std::memcmp(host, host + 1, BYTES - 1) == 0, "a fill");
    wait_for<<<1, 1, 0, stream[1]>>>(20000);
    const double all_fill = fill(0x17);
    HIP_OK(hipDeviceSynchronize());
    std::printf("a fill %.2f us, with parts left out %.2f\n", all_fill, part_fill);
    CHECK(std::fabs(part_fill / all_fill - 1) < 0.02, "a part of a fill left out changes nothing");
}

// From one package to another and back, by an engine of either.
static void long_to_peers(int devices)
{
    enum : size_t { BYTES = 24 * MIB };
    const int at[] = {0, devices - 1};
    char *memory[2];
    unsigned *counter;
    hipStream_t stream[2];
    for (int i = 0; i < 2; i++) {
        HIP_OK(hipSetDevice(at[i]));
        HIP_OK(hipMalloc(reinterpret_cast<void **>(&memory[i]), BYTES));
        HIP_OK(hipMalloc(reinterpret_cast<void **>(&counter), 4));
        HIP_OK(hipStreamCreateWithFlags(&stream[i], hipStreamNonBlocking));
    }
    for (int i = 0; i < 2; i++) {
        HIP_OK(hipSetDevice(at[1 - i]));
        const unsigned salt = 5 + i;
        double us[2];
        mark_bytes<<<456, 512>>>(reinterpret_cast<uint4 *>(memory[1 - i]), BYTES / 16, salt);
        HIP_OK(hipDeviceSynchronize());
        for (int all = 0; all < 2; all++) {
            HIP_OK(hipMemsetAsync(memory[i], 0, BYTES, stream[1 - i]));
            HIP_OK(hipDeviceSynchronize());
            if (all) { // somebody is there
                HIP_OK(hipSetDevice(at[i]));
                wait_for<<<1, 1, 0, stream[i]>>>(60000);
                HIP_OK(hipSetDevice(at[1 - i]));
            }
            hipEvent_t begin = mark(stream[1 - i]);
            HIP_OK(hipMemcpyPeerAsync(memory[i], at[i], memory[1 - i], at[1 - i], BYTES, stream[1 - i]));
            us[all] = between(begin, mark(stream[1 - i]));
            for (int d : at) {
                HIP_OK(hipSetDevice(d));
                HIP_OK(hipDeviceSynchronize());
            }
            HIP_OK(hipSetDevice(at[1]));
            const unsigned wrong = wrong_bytes(counter, memory[i], BYTES, 0, salt);
            CHECK(wrong == 0, "%u bytes wrong of a copy to device %d", wrong, at[i]);
            HIP_OK(hipSetDevice(at[1 - i]));
        }
        std::printf("a copy to device %d %.2f us, with parts left out %.2f\n", at[i], us[1], us[0]);
        CHECK(us[0] != us[1] && std::fabs(us[0] / us[1] - 1) < 0.005, "a part left out changes nothing");
    }
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        int devices;
        HIP_OK(hipGetDeviceCount(&devices));
        HIP_OK(hipSetDevice(devices - 1));
        if (std::strcmp(argv[1], "long") == 0)
            long_ones();
        else if (std::strcmp(argv[1], "peers") == 0)
            long_to_peers(devices);
        else
            effects(), fills();
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
