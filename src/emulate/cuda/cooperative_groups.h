// Cooperative groups: the block, tiles of warps, coalesced threads, the grid, and partitions of groups.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "cornerturn_cuda/block_groups.h"
#include "cornerturn_cuda/lanes.h"
#include "cornerturn_cuda/warp_groups.h"

namespace cooperative_groups {

// Every group has these four functions, as members and as free functions.
template <class Group>
CT_INLINE void sync(const Group& group) {
    group.sync();
}
template <class Group>
CT_INLINE auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
CT_INLINE auto group_size(const Group& group) {
    return group.size();
}
template <class Group>
CT_INLINE bool is_valid(const Group& group) {
    return group.is_valid();
}

// One thread of the group calls the function. The others wait only if they need the result.
template <class Group, class Function, class... Arguments>
CT_INLINE void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
    if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
}
template <class Group, class Function, class... Arguments>
CT_INLINE auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
    using result_type = std::decay_t<decltype(std::forward<Function>(function)(std::forward<Arguments>(arguments)...))>;
    result_type result{};
    if (group.thread_rank() == 0) result = std::forward<Function>(function)(std::forward<Arguments>(arguments)...);
    return group.shfl(result, 0);
}

// Tiles whose size is known at compile time.
template <unsigned Size>
CT_INLINE thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
    return thread_block_tile<Size, thread_block>(block);
}
template <unsigned Size, unsigned ParentSize, class Parent>
CT_INLINE thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& parent) {
    static_assert(Size <= ParentSize, "a tile must not be larger than its parent");
    return thread_block_tile<Size, thread_block_tile<ParentSize, Parent>>(parent);
}

// Tiles whose size is known only at run time.
CT_INLINE coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
    return parent.tile_of_ranks(size);
}
CT_INLINE thread_group tiled_partition(const thread_group& parent, unsigned size) { return parent.tile(size); }
CT_INLINE thread_group tiled_partition(const thread_block& parent, unsigned size) {
    return static_cast<const thread_group&>(parent).tile(size);
}

// The threads for which the predicate is the same.
template <class Group>
CT_INLINE coalesced_group binary_partition(const Group& group, bool predicate) {
    const coalesced_group whole(group);
    const unsigned yes = __ballot_sync(whole.lanes(), predicate) & whole.lanes();
    return coalesced_group(predicate ? yes : whole.lanes() & ~yes, predicate ? 1 : 0, 2);
}

// The threads that have the same label.
template <class Group, class Label>
CT_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
    static_assert(std::is_integral_v<Label>, "a label must be an integer");
    const coalesced_group whole(group);
    const unsigned same = whole.lanes_with_same(label);
    // Labels are numbered in the order of their first lanes. One ballot of the first lanes counts the labels.
    const bool first = static_cast<unsigned>(__builtin_ctz(same)) == ct_lanes::lane();
    const unsigned firsts = __ballot_sync(whole.lanes(), first) & whole.lanes();
    const unsigned before = ct_lanes::count(firsts & ((1u << __builtin_ctz(same)) - 1));
    return coalesced_group(same, before, ct_lanes::count(firsts));
}

}  // namespace cooperative_groups
