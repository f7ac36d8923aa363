// Groups of whole blocks: thread_group (a group of any kind), thread_block, grid_group, cluster_group.
#pragma once

#include <cuda_runtime.h>

#include "lanes.h"
#include "untraced.h"

namespace cooperative_groups {

// A group whose kind is known only at run time.
class thread_group {
public:
    CT_INLINE void sync() const {
        switch (kind_) {
            case kind::thread: break;
            case kind::lanes: __syncwarp(lanes_); break;
            case kind::block: __syncthreads(); break;
        }
    }
    CT_INLINE unsigned long long num_threads() const {
        switch (kind_) {
            case kind::thread: return 1;
            case kind::lanes: return ct_lanes::count(lanes_);
            case kind::block: break;
        }
        return ct_lanes::threads_in_block();
    }
    CT_INLINE unsigned long long size() const { return num_threads(); }
    CT_INLINE unsigned long long thread_rank() const {
        switch (kind_) {
            case kind::thread: return 0;
            case kind::lanes: return ct_lanes::rank_in(lanes_);
            case kind::block: break;
        }
        return ct_lanes::rank_in_block();
    }
    CT_INLINE bool is_valid() const { return true; }

    CT_INLINE bool operator==(const thread_group& other) const {
        return kind_ == other.kind_ && lanes_ == other.lanes_;
    }
    CT_INLINE bool operator!=(const thread_group& other) const { return !(*this == other); }

    // The part of this group that contains this thread. `size` is a power of two up to 32.
    CT_INLINE thread_group tile(unsigned size) const {
        if (kind_ == kind::thread) return *this;
        const unsigned whole = kind_ == kind::block ? ct_lanes::kAllLanes : lanes_;
        const unsigned first = ct_lanes::rank_in(whole) / size * size;
        unsigned part = 0;
        for (unsigned rank = first; rank < first + size && rank < ct_lanes::count(whole); ++rank) {
            part |= 1u << ct_lanes::lane_of(whole, rank);
        }
        return thread_group(kind::lanes, part);
    }

protected:
    enum class kind : unsigned { thread, lanes, block };
    CT_INLINE thread_group(kind which, unsigned lanes) : kind_(which), lanes_(lanes) {}

    kind kind_;
    unsigned lanes_;  // lanes of the warp, if the group is part of a warp

    friend thread_group this_thread();
};

CT_INLINE thread_group this_thread() { return thread_group(thread_group::kind::thread, 0); }

// Memory in which the warps of a tile of more than 32 threads meet. The program passes it to this_thread_block(memory).
struct ct_tile_memory {
    static constexpr unsigned kValueBytes = 32;

    struct warp_value {
        alignas(16) unsigned char bytes[kValueBytes];
    };
    unsigned long long arrived[32];
    warp_value values[32];
};

// That memory for one block. It has the full size for small blocks too.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory : ct_tile_memory {};

class thread_block : public thread_group {
public:
    struct arrival_token {};

    CT_INLINE explicit thread_block(ct_tile_memory* memory = nullptr)
        : thread_group(kind::block, ct_lanes::kAllLanes), memory_(memory) {}

    CT_INLINE static void sync() { __syncthreads(); }
    // wait() is the whole barrier. A program cannot rely on anything earlier.
    CT_INLINE static arrival_token arrive() { return {}; }
    CT_INLINE static arrival_token barrier_arrive() { return {}; }
    CT_INLINE static void wait(arrival_token&&) { __syncthreads(); }
    CT_INLINE static void barrier_wait(arrival_token&&) { __syncthreads(); }

    CT_INLINE static unsigned thread_rank() { return ct_lanes::rank_in_block(); }
    CT_INLINE static unsigned num_threads() { return ct_lanes::threads_in_block(); }
    CT_INLINE static unsigned size() { return ct_lanes::threads_in_block(); }
    CT_INLINE static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    CT_INLINE static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    CT_INLINE static dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    CT_INLINE static dim3 group_dim() { return dim_threads(); }

    CT_INLINE ct_tile_memory* ct_memory() const { return memory_; }

private:
    ct_tile_memory* memory_;
};

CT_INLINE thread_block this_thread_block() { return thread_block(); }

template <unsigned MaxBlockSize>
CT_INLINE thread_block this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
    const unsigned rank = ct_lanes::rank_in_block();
    for (unsigned i = rank; i < 32; i += ct_lanes::threads_in_block()) ct_untraced_store(&memory.arrived[i], 0);
    __syncthreads();
    return thread_block(&memory);
}

class grid_group {
public:
    struct arrival_token {};

    // As on a GPU, only blocks of a cooperative launch can wait for each other.
    CT_INLINE static void sync() { ct_sync_grid(); }
    CT_INLINE static bool is_valid() { return ct_is_cooperative(); }
    // barrier_wait() is the whole barrier. A program cannot rely on anything earlier.
    CT_INLINE static arrival_token barrier_arrive() { return {}; }
    CT_INLINE static void barrier_wait(arrival_token&&) { sync(); }

    CT_INLINE static unsigned long long num_blocks() {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    CT_INLINE static unsigned long long num_threads() { return num_blocks() * ct_lanes::threads_in_block(); }
    CT_INLINE static unsigned long long size() { return num_threads(); }
    CT_INLINE static unsigned long long block_rank() {
        const unsigned long long row = blockIdx.y + static_cast<unsigned long long>(blockIdx.z) * gridDim.y;
        return blockIdx.x + row * gridDim.x;
    }
    CT_INLINE static unsigned long long thread_rank() {
        return block_rank() * ct_lanes::threads_in_block() + ct_lanes::rank_in_block();
    }
    CT_INLINE static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    CT_INLINE static dim3 group_dim() { return dim_blocks(); }
    CT_INLINE static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    CT_INLINE static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }

    // Without a cluster launch, a cluster is one block.
    CT_INLINE static unsigned long long num_clusters() { return num_blocks(); }
    CT_INLINE static unsigned long long cluster_rank() { return block_rank(); }
    CT_INLINE static dim3 dim_clusters() { return dim_blocks(); }
    CT_INLINE static dim3 cluster_index() { return block_index(); }
};

CT_INLINE grid_group this_grid() { return {}; }

// The cluster of a launch without clusters: one block.
class cluster_group {
public:
    struct arrival_token {};

    CT_INLINE static void sync() { __syncthreads(); }
    CT_INLINE static arrival_token barrier_arrive() { return {}; }
    CT_INLINE static void barrier_wait() { __syncthreads(); }
    CT_INLINE static void barrier_wait(arrival_token&&) { __syncthreads(); }
    CT_INLINE static bool is_valid() { return true; }

    CT_INLINE static unsigned num_blocks() { return 1; }
    CT_INLINE static unsigned block_rank() { return 0; }
    CT_INLINE static unsigned num_threads() { return ct_lanes::threads_in_block(); }
    CT_INLINE static unsigned size() { return num_threads(); }
    CT_INLINE static unsigned thread_rank() { return ct_lanes::rank_in_block(); }
    CT_INLINE static dim3 dim_blocks() { return dim3(1, 1, 1); }
    CT_INLINE static dim3 block_index() { return dim3(0, 0, 0); }
    CT_INLINE static dim3 dim_threads() { return thread_block::dim_threads(); }
    CT_INLINE static dim3 thread_index() { return thread_block::thread_index(); }

    template <class T>
    CT_INLINE static T* map_shared_rank(T* address, int) {
        return address;
    }
    CT_INLINE static unsigned query_shared_rank(const void*) { return 0; }
};

CT_INLINE cluster_group this_cluster() { return {}; }

}  // namespace cooperative_groups
