// Groups of the lanes of one warp: coalesced_group and thread_block_tile. Also tiles of several warps.
#pragma once

#include <cuda_runtime.h>

#include "block_groups.h"
#include "lanes.h"

namespace cooperative_groups {

template <unsigned Size, class Parent = void>
class thread_block_tile;

// Any lanes of one warp. A thread's rank counts the lanes of the group below its own.
class coalesced_group : public thread_group {
public:
    CT_INLINE explicit coalesced_group(unsigned lanes, unsigned meta_rank = 0, unsigned meta_size = 1)
        : thread_group(kind::lanes, lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}
    template <unsigned Size, class Parent>
    CT_INLINE coalesced_group(const thread_block_tile<Size, Parent>& tile)
        : coalesced_group(tile.lanes(), tile.meta_group_rank(), tile.meta_group_size()) {
        static_assert(Size <= 32, "a coalesced group is a part of one warp");
    }

    CT_INLINE void sync() const { __syncwarp(lanes_); }
    CT_INLINE unsigned num_threads() const { return ct_lanes::count(lanes_); }
    CT_INLINE unsigned size() const { return num_threads(); }
    CT_INLINE unsigned thread_rank() const { return ct_lanes::rank_in(lanes_); }
    CT_INLINE unsigned meta_group_rank() const { return meta_rank_; }
    CT_INLINE unsigned meta_group_size() const { return meta_size_; }

    // A rank past the end wraps around, as CUDA documents for tiles.
    template <class T>
    CT_INLINE T shfl(T value, unsigned rank) const {
        return ct_lanes::shuffle(lanes_, value, ct_lanes::lane_of(lanes_, rank % num_threads()));
    }
    template <class T>
    CT_INLINE T shfl_up(T value, unsigned delta) const {
        const unsigned rank = thread_rank();
        const unsigned from = rank >= delta ? ct_lanes::lane_of(lanes_, rank - delta) : ct_lanes::lane();
        return ct_lanes::shuffle(lanes_, value, from);
    }
    template <class T>
    CT_INLINE T shfl_down(T value, unsigned delta) const {
        const unsigned rank = thread_rank();
        const bool inside = delta < num_threads() - rank;
        return ct_lanes::shuffle(lanes_, value, inside ? ct_lanes::lane_of(lanes_, rank + delta) : ct_lanes::lane());
    }

    CT_INLINE int any(int predicate) const { return __any_sync(lanes_, predicate); }
    CT_INLINE int all(int predicate) const { return __all_sync(lanes_, predicate); }
    CT_INLINE unsigned ballot(int predicate) const { return ct_lanes::pack(__ballot_sync(lanes_, predicate), lanes_); }
    template <class T>
    CT_INLINE unsigned match_any(T value) const {
        return ct_lanes::pack(__match_any_sync(lanes_, value), lanes_);
    }
    template <class T>
    CT_INLINE unsigned match_all(T value, int& all_equal) const {
        return ct_lanes::pack(__match_all_sync(lanes_, value, &all_equal), lanes_);
    }

    CT_INLINE unsigned lanes() const { return lanes_; }
    CT_INLINE coalesced_group tile_of_ranks(unsigned size) const {
        const unsigned rank = thread_rank() / size;
        unsigned part = 0;
        for (unsigned i = rank * size; i < rank * size + size && i < num_threads(); ++i) {
            part |= 1u << ct_lanes::lane_of(lanes_, i);
        }
        return coalesced_group(part, rank, (num_threads() + size - 1) / size);
    }
    template <class T>
    CT_INLINE unsigned lanes_with_same(T value) const {
        if constexpr (sizeof(T) <= 4) {
            return __match_any_sync(lanes_, static_cast<unsigned>(value)) & lanes_;
        } else {
            return __match_any_sync(lanes_, static_cast<unsigned long long>(value)) & lanes_;
        }
    }

private:
    unsigned meta_rank_;
    unsigned meta_size_;
};

CT_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

namespace ct_lanes {

// Aligned lanes of one warp. Their number is a power of two.
template <unsigned Size>
class tile_of_lanes : public thread_group {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

public:
    CT_INLINE static void sync() { __syncwarp(lanes()); }
    CT_INLINE static constexpr unsigned num_threads() { return Size; }
    CT_INLINE static constexpr unsigned size() { return Size; }
    CT_INLINE static unsigned thread_rank() { return rank_in_block() % Size; }
    CT_INLINE unsigned meta_group_rank() const { return meta_rank_; }
    CT_INLINE unsigned meta_group_size() const { return meta_size_; }

    template <class T>
    CT_INLINE T shfl(T value, int rank) const {
        return shuffle(lanes(), value, first_lane() + static_cast<unsigned>(rank) % Size);
    }
    template <class T>
    CT_INLINE T shfl_up(T value, unsigned delta) const {
        return shuffle(lanes(), value, thread_rank() >= delta ? lane() - delta : lane());
    }
    template <class T>
    CT_INLINE T shfl_down(T value, unsigned delta) const {
        return shuffle(lanes(), value, delta < Size - thread_rank() ? lane() + delta : lane());
    }
    template <class T>
    CT_INLINE T shfl_xor(T value, unsigned lane_mask) const {
        const unsigned rank = thread_rank() ^ lane_mask;
        return shuffle(lanes(), value, rank < Size ? first_lane() + rank : lane());
    }

    CT_INLINE int any(int predicate) const { return __any_sync(lanes(), predicate); }
    CT_INLINE int all(int predicate) const { return __all_sync(lanes(), predicate); }
    CT_INLINE unsigned ballot(int predicate) const { return within(__ballot_sync(lanes(), predicate)); }
    template <class T>
    CT_INLINE unsigned match_any(T value) const {
        return within(__match_any_sync(lanes(), value));
    }
    template <class T>
    CT_INLINE unsigned match_all(T value, int& all_equal) const {
        return within(__match_all_sync(lanes(), value, &all_equal));
    }

    CT_INLINE static unsigned lanes() { return kAllLanes >> (32 - Size) << first_lane(); }

protected:
    CT_INLINE tile_of_lanes(unsigned meta_rank, unsigned meta_size, ct_tile_memory*)
        : thread_group(kind::lanes, lanes()), meta_rank_(meta_rank), meta_size_(meta_size) {}

private:
    CT_INLINE static unsigned first_lane() { return lane() / Size * Size; }
    CT_INLINE static unsigned within(unsigned warp_bits) { return (warp_bits & lanes()) >> first_lane(); }

    unsigned meta_rank_;
    unsigned meta_size_;
};

// Several whole warps. They meet in the memory that the program passed to this_thread_block().
template <unsigned Size>
class tile_of_warps {
    static_assert(Size >= 64 && Size <= 1024 && (Size & (Size - 1)) == 0,
                  "a tile of several warps has 64, 128, 256, 512 or 1024 threads");

public:
    CT_INLINE void sync() const {
        unsigned long long* const arrived = &memory().arrived[meta_rank_];
        const unsigned long long before = ct_untraced_add(arrived, 1);
        const unsigned long long goal = (before / Size + 1) * Size;
        while (ct_untraced_load(arrived) < goal) ct_yield();
    }
    CT_INLINE static constexpr unsigned num_threads() { return Size; }
    CT_INLINE static constexpr unsigned size() { return Size; }
    CT_INLINE static unsigned thread_rank() { return rank_in_block() % Size; }
    CT_INLINE unsigned meta_group_rank() const { return meta_rank_; }
    CT_INLINE unsigned meta_group_size() const { return meta_size_; }

    template <class T>
    CT_INLINE T shfl(T value, int rank) const {
        if (thread_rank() == static_cast<unsigned>(rank) % Size) put(0, value);
        sync();
        const T result = get<T>(0);
        sync();
        return result;
    }
    CT_INLINE int any(int predicate) const { return reduce_warps<int>(__any_sync(kAllLanes, predicate), bitwise_or{}); }
    CT_INLINE int all(int predicate) const {
        return reduce_warps<int>(__all_sync(kAllLanes, predicate), bitwise_and{});
    }

    // Combines one value of each warp. Returns the result to every thread.
    template <class T, class Operation>
    CT_INLINE T reduce_warps(T value, Operation&& operation) const {
        if (lane() == 0) put(thread_rank() / kWarp, value);
        sync();
        T result = get<T>(0);
        for (unsigned warp = 1; warp < Size / kWarp; ++warp) result = operation(result, get<T>(warp));
        sync();
        return result;
    }

protected:
    CT_INLINE tile_of_warps(unsigned meta_rank, unsigned meta_size, ct_tile_memory* memory)
        : meta_rank_(meta_rank), meta_size_(meta_size), memory_(memory) {}

    CT_INLINE ct_tile_memory& memory() const {
        if (memory_ == nullptr) ct_unsupported("a tile of several warps without cooperative_groups::block_tile_memory");
        return *memory_;
    }

private:
    struct bitwise_or {
        CT_INLINE int operator()(int a, int b) const { return a | b; }
    };
    struct bitwise_and {
        CT_INLINE int operator()(int a, int b) const { return a & b; }
    };

    template <class T>
    CT_INLINE T& slot(unsigned warp) const {
        static_assert(sizeof(T) <= ct_tile_memory::kValueBytes, "a value of a tile has at most 32 bytes");
        void* const bytes = memory().values[meta_rank_ * (Size / kWarp) + warp].bytes;
        return *static_cast<T*>(bytes);
    }
    template <class T>
    CT_INLINE void put(unsigned warp, const T& value) const {
        slot<T>(warp) = value;
    }
    template <class T>
    CT_INLINE T get(unsigned warp) const {
        return slot<T>(warp);
    }

    unsigned meta_rank_;
    unsigned meta_size_;
    ct_tile_memory* memory_;
};

template <unsigned Size, bool OneWarp = (Size <= 32)>
struct tile_base {
    using type = tile_of_lanes<Size>;
};
template <unsigned Size>
struct tile_base<Size, false> {
    using type = tile_of_warps<Size>;
};

CT_INLINE ct_tile_memory* memory_of(const thread_block& block) { return block.ct_memory(); }
template <class Tile>
CT_INLINE ct_tile_memory* memory_of(const Tile&) {
    return nullptr;
}

}  // namespace ct_lanes

// A tile of any parent. Every tile converts to it.
template <unsigned Size>
class thread_block_tile<Size, void> : public ct_lanes::tile_base<Size>::type {
protected:
    CT_INLINE thread_block_tile(unsigned meta_rank, unsigned meta_size, ct_tile_memory* memory)
        : ct_lanes::tile_base<Size>::type(meta_rank, meta_size, memory) {}
};

template <unsigned Size, class Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
public:
    CT_INLINE explicit thread_block_tile(const Parent& parent)
        : thread_block_tile<Size, void>(parent.thread_rank() / Size, (parent.num_threads() + Size - 1) / Size,
                                        ct_lanes::memory_of(parent)) {}
};

}  // namespace cooperative_groups
