// SPDX-License-Identifier: MIT
// LDS beyond what the workgroup has is no fault: it reads 0, atomics return 0, and nothing is written. By DS
// instructions and by flat addresses, which lanes within and beyond share.
#include "check_hip.h"

enum { WORDS = 256, BYTES = WORDS * 4 };
typedef unsigned long long wide;

// One instruction of each kind, each lane at a place of its own. A result that is not written stays as it
// was.
#define DS(instruction, result, ...)                                                                         \
    do {                                                                                                     \
        auto old_ = result;                                                                                  \
        asm volatile(instruction "\n s_waitcnt vmcnt(0) lgkmcnt(0)" : "+&v"(old_) : __VA_ARGS__ : "memory"); \
        result = old_;                                                                                       \
    } while (0)
#define DS_QUIET(instruction, ...)                                                                           \
    asm volatile(instruction "\n s_waitcnt vmcnt(0) lgkmcnt(0)" ::__VA_ARGS__ : "memory")

struct got {
    unsigned read, add, flat_read, flat_add, flat_swap;
    wide read_wide, exchanged, flat_wide, flat_read_wide;
};

__global__ void __launch_bounds__(64) touch(unsigned at, unsigned step, got *out, unsigned *after)
{
    __shared__ unsigned words[WORDS]; // all that there is: it begins at 0
    for (unsigned i = threadIdx.x; i < WORDS; i += 64)
        words[i] = 1;
    __syncthreads();
    const unsigned place = at + threadIdx.x * step, two = 2;
    const wide two_wide = 2;
    char *flat = reinterpret_cast<char *>(words) + static_cast<size_t>(place); // no further than 4 GiB
    got &g = out[threadIdx.x];
    DS("ds_read_b32 %0, %1", g.read, "v"(place));
    DS("ds_read_b64 %0, %1", g.read_wide, "v"(place));
    DS("flat_load_dword %0, %1", g.flat_read, "v"(flat));
    DS("flat_load_dwordx2 %0, %1", g.flat_read_wide, "v"(flat));
    DS("ds_add_rtn_u32 %0, %1, %2", g.add, "v"(place), "v"(two));
    DS("flat_atomic_add %0, %1, %2 sc0", g.flat_add, "v"(flat), "v"(two));
    DS("flat_atomic_swap %0, %1, %2 sc0", g.flat_swap, "v"(flat), "v"(two));
    DS("ds_wrxchg_rtn_b64 %0, %1, %2", g.exchanged, "v"(place), "v"(two_wide));
    DS("flat_atomic_add_x2 %0, %1, %2 sc0", g.flat_wide, "v"(flat), "v"(two_wide));
    DS_QUIET("ds_add_u32 %0, %1", "v"(place), "v"(two));
    DS_QUIET("flat_atomic_add %0, %1", "v"(flat), "v"(two));
    DS_QUIET("ds_write_b32 %0, %1", "v"(place), "v"(two));
    DS_QUIET("ds_write_b64 %0, %1", "v"(place), "v"(two_wide));
    DS_QUIET("flat_store_dword %0, %1", "v"(flat), "v"(two));
    DS_QUIET("flat_store_dwordx2 %0, %1", "v"(flat), "v"(two_wide));
    __syncthreads();
    for (unsigned i = threadIdx.x; i < WORDS; i += 64)
        after[i] = words[i];
}

// Lanes from `at` on, `step` bytes each: those with all 8 bytes in LDS find and leave what they do, others
// nothing.
static void run(unsigned at, unsigned step)
{
    buffer<got> out(64);
    buffer<unsigned> after(WORDS);
    std::memset(out.host.data(), 0xff, 64 * sizeof(got));
    out.up();
    touch<<<1, 64>>>(at, step, out.get(), after.get());
    out.down();
    after.down();
    std::vector<unsigned> expected(WORDS, 1);
    const wide ones = 1ull << 32 | 1;
    for (unsigned lane = 0; lane < 64; lane++) {
        const wide place = at + wide(lane) * step;
        const bool there = place + 8 <= BYTES;
        const got &g = out[lane];
        CHECK(g.read == there && g.read_wide == (there ? ones : 0), "%u + %u * %u: %u %llx", at, lane, step,
              g.read, g.read_wide);
        CHECK(g.flat_read == there && g.flat_read_wide == (there ? ones : 0), "%u + %u * %u: %u %llx", at,
              lane, step, g.flat_read, g.flat_read_wide);
        CHECK(g.add == there && g.flat_add == (there ? 3 : 0) && g.flat_swap == (there ? 5 : 0),
              "%u + %u * %u: %u %u %u", at, lane, step, g.add, g.flat_add, g.flat_swap);
        CHECK(g.exchanged == (there ? 1ull << 32 | 2 : 0) && g.flat_wide == (there ? 2 : 0),
              "%u + %u * %u: %llx %llx", at, lane, step, g.exchanged, g.flat_wide);
        if (there) {
            expected[place / 4] = 2;
            expected[place / 4 + 1] = 0;
        }
    }
    for (unsigned i = 0; i < WORDS; i++)
        CHECK(after[i] == expected[i], "%u, %u: word %u is %u", at, step, i, after[i]);
}

int main()
{
    run(0, 8);
    run(BYTES - 256, 8);    // half of the lanes beyond
    run(BYTES, 8);          // all, from the end on
    run(65536 - 256, 8);    // beyond any LDS
    run(0x7ffff000u, 4096); // far away
    return check_done();
}
