// SPDX-License-Identifier: MIT
// Votes, shuffles and matches of a wave against what each lane's place says.
#include "check_hip.h"

enum { LANES = 64, WIDTHS = 7 };

template <typename T> __global__ void shuffles(T *o, int width)
{
    const int lane = static_cast<int>(threadIdx.x);
    const T mine = static_cast<T>(lane * 3 + 1);
    o[0 * LANES + lane] = __shfl(mine, lane * 5 + 2, width);
    o[1 * LANES + lane] = __shfl_up(mine, 3, width);
    o[2 * LANES + lane] = __shfl_down(mine, 3, width);
    o[3 * LANES + lane] = __shfl_xor(mine, 5, width);
    o[4 * LANES + lane] = __shfl_sync(~0ull, mine, 1, width);
    o[5 * LANES + lane] = __shfl_down_sync(~0ull, mine, 1u, width);
}
template <typename T> static void run(const char *name)
{
    for (int width = 1; width <= 64; width *= 2) {
        buffer<T> o(6 * LANES);
        shuffles<T><<<1, LANES>>>(o.get(), width);
        o.down();
        for (int lane = 0; lane < LANES; lane++) {
            const int base = lane - lane % width, place = lane % width;
            const int from[6] = {base + (lane * 5 + 2) % width,
                                 place < 3 ? lane : lane - 3,
                                 place + 3 >= width ? lane : lane + 3,
                                 (lane ^ 5) >= base + width ? lane : lane ^ 5,
                                 base + 1 % width,
                                 place + 1 >= width ? lane : lane + 1};
            for (int k = 0; k < 6; k++)
                CHECK(o[static_cast<size_t>(k * LANES + lane)] == static_cast<T>(from[k] * 3 + 1),
                      "%s %d of lane %d, width %d", name, k, lane, width);
        }
    }
}

struct votes {
    unsigned long long ballot, odd_ballot, active, match, match_all, all_different, masked, before, own,
        after;
    int any, none, all, not_all, all_pred, lane, count, both, either;
    unsigned add, max, first_double;
};
__global__ void vote(votes *o)
{
    const unsigned t = threadIdx.x;
    votes &r = o[t];
    r.lane = static_cast<int>(__lane_id());
    r.before = __lanemask_lt();
    r.own = __lanemask_eq();
    r.after = __lanemask_gt();
    r.ballot = __ballot(t % 3 == 0);
    r.any = __any(t == 40);
    r.none = __any(t == 1000);
    r.all = __all(t < 1000);
    r.not_all = __all(t != 40);
    if (t & 1) {
        r.odd_ballot = __ballot(t < 32);
        r.active = __activemask();
    } else {
        r.odd_ballot = r.active = 0;
    }
    r.match = __match_any_sync(~0ull, t % 5);
    int pred;
    r.match_all = __match_all_sync(~0ull, 7.5, &pred);
    r.all_pred = pred;
    r.all_different = __match_all_sync(~0ull, t, &pred);
    r.masked = __ballot_sync(0xffull, t & 1);
    r.add = __reduce_add_sync(~0ull, t);
    r.max = __reduce_max_sync(~0ull, t * 37 % 64);
    r.count = __syncthreads_count(t % 4 == 0);
    r.both = __syncthreads_and(t < 64);
    r.either = __syncthreads_or(t == 63);
    r.first_double = static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(t)));
}

__global__ void moves(int *o, float *f)
{
    const int lane = static_cast<int>(threadIdx.x);
    o[lane] = __hip_ds_bpermute(((lane + 1) & 63) << 2, lane);
    o[64 + lane] = __hip_ds_permute(((lane + 1) & 63) << 2, lane);
    o[128 + lane] = __hip_ds_swizzle(lane, 0x041f);             // and 31, xor 1
    o[192 + lane] = __hip_move_dpp(lane, 0xb1, 0xf, 0xf, true); // quad_perm 1 0 3 2
    f[lane] = __hip_ds_bpermutef((lane ^ 32) << 2, static_cast<float>(lane));
}

int main()
{
    run<int>("int");
    run<unsigned>("unsigned");
    run<float>("float");
    run<double>("double");
    run<long>("long");
    run<long long>("long long");
    run<unsigned long long>("unsigned long long");

    buffer<votes> o(LANES);
    vote<<<1, LANES>>>(o.get());
    o.down();
    unsigned long long thirds = 0, odd = 0;
    for (int i = 0; i < LANES; i++) {
        thirds |= i % 3 == 0 ? 1ull << i : 0;
        odd |= i % 2 ? 1ull << i : 0;
    }
    for (int i = 0; i < LANES; i++) {
        const votes &r = o[static_cast<size_t>(i)];
        unsigned long long match = 0;
        for (int j = i % 5; j < LANES; j += 5)
            match |= 1ull << j;
        CHECK(r.lane == i && r.ballot == thirds, "lane %d: %d %llx", i, r.lane, r.ballot);
        CHECK(r.own == 1ull << i && r.before == r.own - 1 && r.after == ~(r.before | r.own),
              "lane %d: %llx %llx %llx", i, r.before, r.own, r.after);
        CHECK(r.any && !r.none && r.all && !r.not_all, "lane %d", i);
        CHECK(r.odd_ballot == (i & 1 ? odd & 0xffffffff : 0) && r.active == (i & 1 ? odd : 0),
              "lane %d: %llx %llx", i, r.odd_ballot, r.active);
        CHECK(r.match == match && r.match_all == ~0ull && r.all_pred == 1 && r.all_different == 0,
              "lane %d: %llx", i, r.match);
        CHECK(r.masked == (odd & 0xff), "lane %d: %llx", i, r.masked);
        CHECK(r.add == 63 * 32 && r.max == 63, "lane %d: %u %u", i, r.add, r.max);
        CHECK(r.count == 16 && r.both && r.either, "lane %d: %d", i, r.count);
        CHECK(r.first_double == 0, "lane %d", i);
    }
    buffer<int> m(256);
    buffer<float> f(64);
    moves<<<1, LANES>>>(m.get(), f.get());
    m.down();
    f.down();
    for (int i = 0; i < LANES; i++) {
        const size_t k = static_cast<size_t>(i);
        CHECK(m[k] == ((i + 1) & 63) && m[64 + k] == ((i + 63) & 63), "lane %d: %d %d", i, m[k], m[64 + k]);
        CHECK(m[128 + k] == (i ^ 1) && m[192 + k] == (i ^ 1) && f[k] == static_cast<float>(i ^ 32),
              "lane %d: %d %d %g", i, m[128 + k], m[192 + k], f[k]);
    }
    return check_done();
}
