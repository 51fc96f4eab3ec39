// SPDX-License-Identifier: MIT
// Cooperative groups: ranks and sizes, reductions through each kind of group, and a grid that waits for
// itself.
#include "check_hip.h"
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int reduce(const cg::thread_group &g, int *scratch, int value)
{
    const unsigned rank = g.thread_rank();
    for (unsigned i = g.size() / 2; i > 0; i /= 2) {
        scratch[rank] = value;
        g.sync();
        if (rank < i)
            value += scratch[rank + i];
        g.sync();
    }
    return value;
}

struct place {
    unsigned block_rank, block_size, tile_rank, tile_meta, tiles, rest_rank, rest_size, yes_size, yes_rank;
    int block_sum, run_time_sum, tile_sum, coalesced_sum, tile_all, tile_any, shuffled;
    unsigned long long tile_ballot, tile_match, coalesced_ballot;
    double object;
};
struct object {
    char c;
    double d;
    short s[3];
};

__global__ void groups(place *o)
{
    __shared__ int scratch[256];
    cg::thread_block block = cg::this_thread_block();
    const unsigned t = block.thread_rank();
    place &p = o[blockIdx.x * block.size() + t];
    p.block_rank = t;
    p.block_size = block.size();
    p.block_sum = reduce(block, scratch, static_cast<int>(t));
    block.sync();
    cg::thread_group quarter = cg::tiled_partition(block, 16);
    p.run_time_sum = reduce(quarter, scratch + t / 16 * 16, static_cast<int>(t));

    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    p.tile_rank = tile.thread_rank();
    p.tile_meta = tile.meta_group_rank();
    p.tiles = tile.meta_group_size();
    int sum = static_cast<int>(t);
    for (unsigned i = tile.size() / 2; i > 0; i /= 2)
        sum += tile.shfl_down(sum, i);
    p.tile_sum = tile.shfl(sum, 0);
    p.tile_all = tile.all(t < 100);
    p.tile_any = tile.any(t == 70);
    p.tile_ballot = tile.ballot(t % 32 == t / 32);
    auto small = cg::tiled_partition<4>(tile);
    p.tile_match = small.match_any(t % 2);
    p.shuffled = small.shfl_xor(static_cast<int>(t), 3);
    object thing = {'x', t * 0.5, {1, 2, static_cast<short>(t)}};
    thing = small.shfl(thing, 2);
    p.object = thing.d + thing.s[2];

    p.rest_rank = p.rest_size = p.yes_size = p.yes_rank = 0;
    p.coalesced_sum = 0;
    p.coalesced_ballot = 0;
    if (t % 3 == 1) {
        cg::coalesced_group rest = cg::coalesced_threads();
        p.rest_rank = rest.thread_rank();
        p.rest_size = rest.size();
        int total = 0;
        for (unsigned i = 0; i < rest.size(); i++)
            total += rest.shfl(static_cast<int>(t), static_cast<int>(i));
        p.coalesced_sum = total;
        p.coalesced_ballot = rest.ballot(t % 2);
        cg::coalesced_group yes = cg::binary_partition(rest, t % 2 != 0);
        p.yes_size = yes.size();
        p.yes_rank = yes.thread_rank();
    }
}

__global__ void whole_grid(unsigned *counts, unsigned *seen, unsigned rounds)
{
    cg::grid_group grid = cg::this_grid();
    for (unsigned r = 0; r < rounds; r++) {
        if (cg::this_thread_block().thread_rank() == 0)
            atomicAdd(&counts[r], 1u);
        grid.sync();
        // Everybody has added before anybody reads.
        if (__hip_atomic_load(&counts[r], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == grid.num_blocks())
            atomicAdd(&seen[r], 1u);
        grid.sync();
    }
    if (grid.thread_rank() == grid.size() - 1)
        seen[rounds] = grid.is_valid();
}

int main()
{
    const unsigned size = 128, blocks = 2;
    buffer<place> o(size * blocks);
    groups<<<blocks, size>>>(o.get());
    o.down();
    for (unsigned i = 0; i < size * blocks; i++) {
        const unsigned t = i % size, wave = t / 64 * 64;
        const place &p = o[i];
        CHECK(p.block_rank == t && p.block_size == size, "thread %u: %u of %u", i, p.block_rank,
              p.block_size);
        if (t == 0)
            CHECK(p.block_sum == 127 * 64, "%d", p.block_sum);
        if (t % 16 == 0)
            CHECK(p.run_time_sum == static_cast<int>(16 * t + 120), "thread %u: %d", i, p.run_time_sum);
        CHECK(p.tile_rank == t % 32 && p.tile_meta == t / 32 && p.tiles == 4, "thread %u: %u %u %u", i,
              p.tile_rank, p.tile_meta, p.tiles);
        CHECK(p.tile_sum == static_cast<int>(t / 32 * 32 * 32 + 496), "thread %u: %d", i, p.tile_sum);
        CHECK(p.tile_all == (t < 96) && p.tile_any == (t / 32 == 2), "thread %u: %d %d", i, p.tile_all,
              p.tile_any);
        CHECK(p.tile_ballot == 1ull << (t / 32), "thread %u: %llx", i, p.tile_ballot);
        CHECK(p.tile_match == (t % 2 ? 0xaull : 0x5ull) && p.shuffled == static_cast<int>(t ^ 3),
              "thread %u: %llx %d", i, p.tile_match, p.shuffled);
        CHECK(p.object == (t / 4 * 4 + 2) * 1.5, "thread %u: %g", i, p.object);
        if (t % 3 != 1)
            continue;
        unsigned rank = 0, count = 0, sum = 0, odd = 0, odd_rank = 0;
        unsigned long long ballot = 0;
        for (unsigned k = wave; k < wave + 64; k++)
            if (k % 3 == 1) {
                rank += k < t;
                ballot |= static_cast<unsigned long long>(k % 2) << count;
                count++;
                sum += k;
                odd += k % 2 == t % 2;
                odd_rank += k % 2 == t % 2 && k < t;
            }
        CHECK(p.rest_rank == rank && p.rest_size == count && p.coalesced_sum == static_cast<int>(sum),
              "thread %u: %u %u %d", i, p.rest_rank, p.rest_size, p.coalesced_sum);
        CHECK(p.coalesced_ballot == ballot && p.yes_size == odd && p.yes_rank == odd_rank,
              "thread %u: %llx %u %u", i, p.coalesced_ballot, p.yes_size, p.yes_rank);
    }

    unsigned rounds = 5;
    buffer<unsigned> counts(rounds), seen(rounds + 1);
    unsigned *c = counts.get(), *s = seen.get();
    void *arguments[] = {&c, &s, &rounds};
    const unsigned grid = 12, threads = 128;
    HIP_OK(hipLaunchCooperativeKernel(whole_grid, dim3(grid), dim3(threads), arguments, 0, 0));
    seen.down();
    for (unsigned r = 0; r < rounds; r++)
        CHECK(seen[r] == grid * threads, "round %u: %u", r, seen[r]);
    CHECK(seen[rounds] == 1, "the grid says it is not valid");
    return check_done();
}
