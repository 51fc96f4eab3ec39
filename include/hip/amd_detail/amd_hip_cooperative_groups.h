// SPDX-License-Identifier: MIT
// Cooperative groups: the block, tiles and coalesced lanes of a wave, the grid, several grids. A group that
// is part of one wave synchronises by a fence, because the lanes of a wave run in lockstep.
#ifndef HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COOPERATIVE_GROUPS_H
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_COOPERATIVE_GROUPS_H

#include <hip/hip_common.h>

#if defined(__cplusplus) && __HIP_CLANG_ONLY__

#include <hip/amd_detail/amd_hip_runtime.h>

#define __CG_QUALIFIER__        inline __device__
#define __CG_STATIC_QUALIFIER__ static inline __device__

namespace cooperative_groups
{

typedef unsigned long long lane_mask;

namespace internal
{
enum group_type { cg_invalid, cg_multi_grid, cg_grid, cg_workgroup, cg_tiled_group, cg_coalesced_group };

// The place of a thread in its block, counting x first.
__CG_STATIC_QUALIFIER__ unsigned int block_thread_rank()
{
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
__CG_STATIC_QUALIFIER__ unsigned int block_size()
{
    return blockDim.x * blockDim.y * blockDim.z;
}
__CG_STATIC_QUALIFIER__ lane_mask lanes_below(unsigned int lane)
{
    return (lane_mask(1) << lane) - 1;
}
// The lane of the n-th set bit, counting from 0.
__CG_STATIC_QUALIFIER__ int nth_lane(lane_mask mask, unsigned int n)
{
    return __fns64(mask, 0, static_cast<int>(n) + 1);
}
// The bits of value at the places of mask, pushed together.
__CG_STATIC_QUALIFIER__ lane_mask gather_bits(lane_mask value, lane_mask mask)
{
    lane_mask result = 0;
    for (unsigned int i = 0; mask != 0; i++) {
        result |= ((value >> __builtin_ctzll(mask)) & 1) << i;
        mask &= mask - 1;
    }
    return result;
}

// Objects of any size that is copied byte by byte move between lanes in dwords.
template <typename T> __CG_STATIC_QUALIFIER__ T read_lane(const T &var, int lane)
{
    static_assert(__is_trivially_copyable(T), "shuffled objects are copied as bytes");
    int words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &var, sizeof(T));
    for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++)
        words[i] = __builtin_amdgcn_ds_bpermute(lane << 2, words[i]);
    T result;
    __builtin_memcpy(static_cast<void *>(&result), words, sizeof(T));
    return result;
}
} // namespace internal

class thread_group
{
  protected:
    internal::group_type _type;
    unsigned int _num_threads;
    lane_mask _mask;          // of a coalesced group
    unsigned int _meta_rank;  // which group of its parent this is
    unsigned int _meta_count; // of how many

    __CG_QUALIFIER__ thread_group(internal::group_type type, unsigned int size = 0, lane_mask mask = 0,
                                  unsigned int meta_rank = 0, unsigned int meta_count = 1)
        : _type(type), _num_threads(size), _mask(mask), _meta_rank(meta_rank), _meta_count(meta_count)
    {
    }
    friend __CG_QUALIFIER__ thread_group tiled_partition(const thread_group &parent, unsigned int tile_size);

  public:
    __CG_QUALIFIER__ unsigned int num_threads() const
    {
        return _num_threads;
    }
    __CG_QUALIFIER__ unsigned int size() const
    {
        return _num_threads;
    }
    __CG_QUALIFIER__ internal::group_type cg_type() const
    {
        return _type;
    }
    __CG_QUALIFIER__ unsigned int thread_rank() const;
    __CG_QUALIFIER__ bool is_valid() const;
    __CG_QUALIFIER__ void sync() const;
};

// Grids on several devices, launched together.
class multi_grid_group : public thread_group
{
    friend __CG_QUALIFIER__ multi_grid_group this_multi_grid();
    explicit __CG_QUALIFIER__ multi_grid_group(unsigned int size)
        : thread_group(internal::cg_multi_grid, size)
    {
    }

  public:
    __CG_QUALIFIER__ unsigned int num_grids() const
    {
        return __ockl_multi_grid_num_grids();
    }
    __CG_QUALIFIER__ unsigned int grid_rank() const
    {
        return __ockl_multi_grid_grid_rank();
    }
    __CG_QUALIFIER__ unsigned int thread_rank() const
    {
        return __ockl_multi_grid_thread_rank();
    }
    __CG_QUALIFIER__ bool is_valid() const
    {
        return __ockl_multi_grid_is_valid() != 0;
    }
    __CG_QUALIFIER__ void sync() const
    {
        __ockl_multi_grid_sync();
    }
};
__CG_QUALIFIER__ multi_grid_group this_multi_grid()
{
    return multi_grid_group(__ockl_multi_grid_size());
}

class grid_group : public thread_group
{
    friend __CG_QUALIFIER__ grid_group this_grid();
    explicit __CG_QUALIFIER__ grid_group(unsigned int size) : thread_group(internal::cg_grid, size)
    {
    }

  public:
    __CG_QUALIFIER__ dim3 group_dim() const
    {
        return gridDim;
    }
    __CG_QUALIFIER__ dim3 dim_blocks() const
    {
        return gridDim;
    }
    __CG_QUALIFIER__ dim3 block_index() const
    {
        return blockIdx;
    }
    __CG_QUALIFIER__ unsigned int num_blocks() const
    {
        return gridDim.x * gridDim.y * gridDim.z;
    }
    __CG_QUALIFIER__ unsigned int block_rank() const
    {
        return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    __CG_QUALIFIER__ unsigned int thread_rank() const
    {
        return block_rank() * internal::block_size() + internal::block_thread_rank();
    }
    __CG_QUALIFIER__ bool is_valid() const
    {
        return __ockl_grid_is_valid() != 0;
    }
    __CG_QUALIFIER__ void sync() const
    {
        __ockl_grid_sync();
    }
};
__CG_QUALIFIER__ grid_group this_grid()
{
    return grid_group(gridDim.x * gridDim.y * gridDim.z * internal::block_size());
}

class thread_block : public thread_group
{
    friend __CG_QUALIFIER__ thread_block this_thread_block();
    explicit __CG_QUALIFIER__ thread_block(unsigned int size) : thread_group(internal::cg_workgroup, size)
    {
    }

  public:
    __CG_STATIC_QUALIFIER__ dim3 group_index()
    {
        return blockIdx;
    }
    __CG_STATIC_QUALIFIER__ dim3 thread_index()
    {
        return threadIdx;
    }
    __CG_STATIC_QUALIFIER__ unsigned int thread_rank()
    {
        return internal::block_thread_rank();
    }
    __CG_STATIC_QUALIFIER__ unsigned int size()
    {
        return internal::block_size();
    }
    __CG_STATIC_QUALIFIER__ unsigned int num_threads()
    {
        return internal::block_size();
    }
    __CG_STATIC_QUALIFIER__ dim3 group_dim()
    {
        return blockDim;
    }
    __CG_STATIC_QUALIFIER__ dim3 dim_threads()
    {
        return blockDim;
    }
    __CG_STATIC_QUALIFIER__ bool is_valid()
    {
        return true;
    }
    __CG_STATIC_QUALIFIER__ void sync()
    {
        __syncthreads();
    }
};
__CG_QUALIFIER__ thread_block this_thread_block()
{
    return thread_block(internal::block_size());
}

template <unsigned int tileSize, typename ParentCGTy> class thread_block_tile;

// The lanes that arrived here together, or some of them.
class coalesced_group : public thread_group
{
    friend __CG_QUALIFIER__ coalesced_group coalesced_threads();
    friend __CG_QUALIFIER__ coalesced_group tiled_partition(const coalesced_group &parent,
                                                            unsigned int tile_size);
    friend __CG_QUALIFIER__ coalesced_group binary_partition(const coalesced_group &group, bool pred);
    template <unsigned int tileSize, typename Parent>
    friend __CG_QUALIFIER__ coalesced_group binary_partition(const thread_block_tile<tileSize, Parent> &group,
                                                             bool pred);
    friend class thread_group;

    explicit __CG_QUALIFIER__ coalesced_group(lane_mask mask, unsigned int meta_rank = 0,
                                              unsigned int meta_count = 1)
        : thread_group(internal::cg_coalesced_group, static_cast<unsigned int>(__builtin_popcountll(mask)),
                       mask, meta_rank, meta_count)
    {
    }

  public:
    __CG_QUALIFIER__ unsigned int thread_rank() const
    {
        return static_cast<unsigned int>(__builtin_popcountll(_mask & internal::lanes_below(__lane_id())));
    }
    __CG_QUALIFIER__ unsigned int meta_group_rank() const
    {
        return _meta_rank;
    }
    __CG_QUALIFIER__ unsigned int meta_group_size() const
    {
        return _meta_count;
    }
    __CG_QUALIFIER__ bool is_valid() const
    {
        return true;
    }
    __CG_QUALIFIER__ void sync() const
    {
        __syncwarp();
    }
    template <typename T> __CG_QUALIFIER__ T shfl(T var, int src_rank) const
    {
        const unsigned int rank = static_cast<unsigned int>(src_rank) % size();
        return internal::read_lane(var, internal::nth_lane(_mask, rank));
    }
    template <typename T> __CG_QUALIFIER__ T shfl_down(T var, unsigned int delta) const
    {
        const unsigned int rank = thread_rank(), from = rank + delta;
        return internal::read_lane(var, from >= size() ? static_cast<int>(__lane_id())
                                                       : internal::nth_lane(_mask, from));
    }
    template <typename T> __CG_QUALIFIER__ T shfl_up(T var, unsigned int delta) const
    {
        const unsigned int rank = thread_rank();
        return internal::read_lane(var, rank < delta ? static_cast<int>(__lane_id())
                                                     : internal::nth_lane(_mask, rank - delta));
    }
    template <typename T> __CG_QUALIFIER__ T shfl_xor(T var, unsigned int mask) const
    {
        const unsigned int from = thread_rank() ^ mask;
        return internal::read_lane(var, from >= size() ? static_cast<int>(__lane_id())
                                                       : internal::nth_lane(_mask, from));
    }
    __CG_QUALIFIER__ unsigned long long ballot(int pred) const
    {
        return internal::gather_bits(__ballot(pred) & _mask, _mask);
    }
    __CG_QUALIFIER__ int any(int pred) const
    {
        return (__ballot(pred) & _mask) != 0;
    }
    __CG_QUALIFIER__ int all(int pred) const
    {
        return (__ballot(pred) & _mask) == _mask;
    }
    template <typename T> __CG_QUALIFIER__ unsigned long long match_any(T value) const
    {
        return internal::gather_bits(__match_any_sync(_mask, value), _mask);
    }
    template <typename T> __CG_QUALIFIER__ unsigned long long match_all(T value, int &pred) const
    {
        return internal::gather_bits(__match_all_sync(_mask, value, &pred), _mask);
    }
};
__CG_QUALIFIER__ coalesced_group coalesced_threads()
{
    return coalesced_group(__activemask());
}

// A tile: `size` threads in a row of a block, a power of two up to a whole wave.
template <unsigned int tileSize> class tile_base
{
  protected:
    static_assert(tileSize != 0 && (tileSize & (tileSize - 1)) == 0, "a tile is a power of two threads wide");
    static_assert(tileSize <= static_cast<unsigned int>(warpSize), "a tile does not reach beyond its wave");

    __CG_STATIC_QUALIFIER__ lane_mask tile_mask()
    {
        const lane_mask ones = tileSize == 64 ? ~lane_mask(0) : (lane_mask(1) << (tileSize % 64)) - 1;
        return ones << (__lane_id() & ~(tileSize - 1));
    }
    __CG_STATIC_QUALIFIER__ lane_mask to_tile(lane_mask wave)
    {
        return (wave & tile_mask()) >> (__lane_id() & ~(tileSize - 1));
    }

  public:
    __CG_STATIC_QUALIFIER__ unsigned int thread_rank()
    {
        return internal::block_thread_rank() & (tileSize - 1);
    }
    __CG_STATIC_QUALIFIER__ constexpr unsigned int num_threads()
    {
        return tileSize;
    }
    __CG_STATIC_QUALIFIER__ constexpr unsigned int size()
    {
        return tileSize;
    }
    __CG_STATIC_QUALIFIER__ bool is_valid()
    {
        return true;
    }
    __CG_STATIC_QUALIFIER__ void sync()
    {
        __syncwarp();
    }
    // A rank beyond the tile counts from its beginning again; a move out of the tile leaves a thread its own
    // value.
    template <typename T> __CG_QUALIFIER__ T shfl(T var, int src_rank) const
    {
        return internal::read_lane(var, __hip_lane_idx(src_rank, tileSize));
    }
    template <typename T> __CG_QUALIFIER__ T shfl_down(T var, unsigned int delta) const
    {
        return internal::read_lane(var, __hip_lane_down(delta, tileSize));
    }
    template <typename T> __CG_QUALIFIER__ T shfl_up(T var, unsigned int delta) const
    {
        return internal::read_lane(var, __hip_lane_up(delta, tileSize));
    }
    template <typename T> __CG_QUALIFIER__ T shfl_xor(T var, unsigned int mask) const
    {
        return internal::read_lane(var, __hip_lane_xor(static_cast<int>(mask), tileSize));
    }
    __CG_QUALIFIER__ unsigned long long ballot(int pred) const
    {
        return to_tile(__ballot(pred));
    }
    __CG_QUALIFIER__ int any(int pred) const
    {
        return to_tile(__ballot(pred)) != 0;
    }
    __CG_QUALIFIER__ int all(int pred) const
    {
        return to_tile(__ballot(!pred)) == 0;
    }
    template <typename T> __CG_QUALIFIER__ unsigned long long match_any(T value) const
    {
        return to_tile(__match_any(value));
    }
    template <typename T> __CG_QUALIFIER__ unsigned long long match_all(T value, int &pred) const
    {
        return to_tile(__match_all_sync(tile_mask(), value, &pred));
    }
};

template <unsigned int tileSize, typename ParentCGTy = void>
class thread_block_tile : public thread_group, public tile_base<tileSize>
{
    template <unsigned int other, typename Parent>
    friend __CG_QUALIFIER__ thread_block_tile<other, Parent> tiled_partition(const Parent &parent);
    template <unsigned int other, typename Parent> friend class thread_block_tile;

    explicit __CG_QUALIFIER__ thread_block_tile(unsigned int meta_rank, unsigned int meta_count)
        : thread_group(internal::cg_tiled_group, tileSize, 0, meta_rank, meta_count)
    {
    }

  public:
    template <typename Parent>
    __CG_QUALIFIER__ thread_block_tile(const thread_block_tile<tileSize, Parent> &other)
        : thread_group(internal::cg_tiled_group, tileSize, 0, other._meta_rank, other._meta_count)
    {
    }
    using tile_base<tileSize>::thread_rank;
    using tile_base<tileSize>::num_threads;
    using tile_base<tileSize>::size;
    using tile_base<tileSize>::is_valid;
    using tile_base<tileSize>::sync;

    __CG_QUALIFIER__ unsigned int meta_group_rank() const
    {
        return _meta_rank;
    }
    __CG_QUALIFIER__ unsigned int meta_group_size() const
    {
        return _meta_count;
    }
};

template <unsigned int tileSize, typename ParentCGTy>
__CG_QUALIFIER__ thread_block_tile<tileSize, ParentCGTy> tiled_partition(const ParentCGTy &parent)
{
    return thread_block_tile<tileSize, ParentCGTy>(parent.thread_rank() / tileSize,
                                                   (parent.size() + tileSize - 1) / tileSize);
}

// Tiles whose size is known only at run time.
__CG_QUALIFIER__ coalesced_group tiled_partition(const coalesced_group &parent, unsigned int tile_size)
{
    const unsigned int rank = parent.thread_rank(), tile = rank / tile_size;
    lane_mask mask = 0;
    for (unsigned int i = tile * tile_size; i < (tile + 1) * tile_size && i < parent.size(); i++)
        mask |= lane_mask(1) << internal::nth_lane(parent._mask, i);
    return coalesced_group(mask, tile, (parent.size() + tile_size - 1) / tile_size);
}
__CG_QUALIFIER__ thread_group tiled_partition(const thread_group &parent, unsigned int tile_size)
{
    if (parent._type == internal::cg_coalesced_group)
        return tiled_partition(static_cast<const coalesced_group &>(parent), tile_size);
    return thread_group(internal::cg_tiled_group, tile_size, 0, parent.thread_rank() / tile_size,
                        (parent.size() + tile_size - 1) / tile_size);
}

// The threads of a group that say yes, and those that say no.
__CG_QUALIFIER__ coalesced_group binary_partition(const coalesced_group &group, bool pred)
{
    const lane_mask yes = __ballot(pred) & group._mask;
    return pred ? coalesced_group(yes, 1, 2) : coalesced_group(group._mask & ~yes, 0, 2);
}
template <unsigned int tileSize, typename Parent>
__CG_QUALIFIER__ coalesced_group binary_partition(const thread_block_tile<tileSize, Parent> &group, bool pred)
{
    const unsigned int first = __lane_id() & ~(tileSize - 1);
    const lane_mask yes = static_cast<lane_mask>(group.ballot(pred)) << first;
    const lane_mask no = static_cast<lane_mask>(group.ballot(!pred)) << first;
    return pred ? coalesced_group(yes, 1, 2) : coalesced_group(no, 0, 2);
}

// What a group of any kind does, by its kind.
__CG_QUALIFIER__ unsigned int thread_group::thread_rank() const
{
    switch (_type) {
    case internal::cg_multi_grid:
        return static_cast<const multi_grid_group *>(this)->thread_rank();
    case internal::cg_grid:
        return static_cast<const grid_group *>(this)->thread_rank();
    case internal::cg_workgroup:
        return thread_block::thread_rank();
    case internal::cg_tiled_group:
        return internal::block_thread_rank() & (_num_threads - 1);
    case internal::cg_coalesced_group:
        return static_cast<unsigned int>(__builtin_popcountll(_mask & internal::lanes_below(__lane_id())));
    default:
        __builtin_trap();
    }
}
__CG_QUALIFIER__ bool thread_group::is_valid() const
{
    switch (_type) {
    case internal::cg_multi_grid:
        return static_cast<const multi_grid_group *>(this)->is_valid();
    case internal::cg_grid:
        return static_cast<const grid_group *>(this)->is_valid();
    case internal::cg_invalid:
        return false;
    default:
        return true;
    }
}
__CG_QUALIFIER__ void thread_group::sync() const
{
    switch (_type) {
    case internal::cg_multi_grid:
        static_cast<const multi_grid_group *>(this)->sync();
        break;
    case internal::cg_grid:
        static_cast<const grid_group *>(this)->sync();
        break;
    case internal::cg_workgroup:
        __syncthreads();
        break;
    default:
        __syncwarp();
        break;
    }
}

template <typename CGTy> __CG_QUALIFIER__ unsigned int group_size(const CGTy &g)
{
    return g.size();
}
template <typename CGTy> __CG_QUALIFIER__ unsigned int thread_rank(const CGTy &g)
{
    return g.thread_rank();
}
template <typename CGTy> __CG_QUALIFIER__ bool is_valid(const CGTy &g)
{
    return g.is_valid();
}
template <typename CGTy> __CG_QUALIFIER__ void sync(const CGTy &g)
{
    g.sync();
}

} // namespace cooperative_groups

#undef __CG_QUALIFIER__
#undef __CG_STATIC_QUALIFIER__

#endif

#endif
