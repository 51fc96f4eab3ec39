// SPDX-License-Identifier: MIT
// A stream with a CU mask runs on these CUs and on no other, however many the mask has and wherever they are.
#include "check_hip.h"

#include <hip/hip_ext.h>
#include <set>

__global__ void where(unsigned *out)
{
    if (threadIdx.x == 0) {
        unsigned xcc, id;
        asm volatile("s_getreg_b32 %0, hwreg(HW_REG_XCC_ID)" : "=s"(xcc));
        asm volatile("s_getreg_b32 %0, hwreg(HW_REG_HW_ID)" : "=s"(id));
        out[blockIdx.x] = (xcc & 15) << 16 | (id >> 13 & 7) << 8 | (id >> 8 & 15); // XCD, shader engine, CU
    }
}

static const unsigned groups = 600;

static std::set<unsigned> used(hipStream_t stream, buffer<unsigned> &out)
{
    where<<<groups, 256, 0, stream>>>(out.get());
    HIP_OK(hipStreamSynchronize(stream));
    out.down();
    return std::set<unsigned>(out.host.begin(), out.host.end());
}

int main()
{
    hipStream_t stream;
    hipDeviceProp_t props;
    buffer<unsigned> out(groups);
    const size_t words = 10;
    uint32_t got[words];

    HIP_OK(hipGetDeviceProperties(&props, 0));
    const unsigned cus = static_cast<unsigned>(props.multiProcessorCount);
    HIP_OK(hipStreamCreate(&stream));
    std::set<unsigned> all = used(stream, out), xcds;
    for (unsigned cu : all)
        xcds.insert(cu >> 16);
    HIP_OK(hipStreamDestroy(stream));
    const unsigned n = static_cast<unsigned>(xcds.size());

    // {first bit, bits, words}: in every XCD, in some, in one; at the end; fewer words than there are CUs.
    const unsigned masks[][3] = {{0, 32, 1}, {0, n, 1},           {0, 1, 1},
                                 {n, 2, 1},  {cus - 1, 1, words}, {0, cus, words}};
    for (const unsigned *m : masks) {
        uint32_t mask[words] = {};
        for (unsigned bit = m[0]; bit < m[0] + m[1]; bit++)
            mask[bit / 32] |= 1u << bit % 32;
        HIP_OK(hipExtStreamCreateWithCUMask(&stream, m[2], mask));
        HIP_OK(hipExtStreamGetCUMask(stream, words, got));
        CHECK(std::memcmp(got, mask, sizeof(mask)) == 0, "bits %u to %u", m[0], m[0] + m[1]);
        const std::set<unsigned> ran = used(stream, out);
        CHECK(ran.size() <= m[1], "bits %u to %u: %zu CUs", m[0], m[0] + m[1], ran.size());
        xcds.clear();
        for (unsigned cu : ran)
            xcds.insert(cu >> 16);
        CHECK(xcds.size() == (m[1] < n ? m[1] : n), "bits %u to %u: %zu XCDs", m[0], m[0] + m[1],
              xcds.size());
        if (m[0] < n && m[1] <= n) // the first round is of the first CUs
            CHECK(*ran.begin() == m[0] << 16, "bits %u to %u: first is %x", m[0], m[0] + m[1], *ran.begin());
        HIP_OK(hipStreamDestroy(stream));
    }

    const uint32_t none[words] = {}, beyond[words] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1u << 31};
    CHECK(hipExtStreamCreateWithCUMask(&stream, words, none) == hipErrorInvalidValue, "no CU");
    CHECK(hipExtStreamCreateWithCUMask(&stream, words, beyond) == hipErrorInvalidValue,
          "no CU of the device");
    CHECK(hipExtStreamCreateWithCUMask(&stream, 0, none) == hipErrorInvalidValue, "no words");
    CHECK(hipExtStreamCreateWithCUMask(&stream, 1, nullptr) == hipErrorInvalidValue, "no mask");
    return check_done();
}
