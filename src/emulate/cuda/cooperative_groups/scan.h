// cooperative_groups::inclusive_scan and exclusive_scan over the threads of a tile or of coalesced threads, in the
// order of their ranks.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <type_traits>

namespace cooperative_groups {

template <class Group, class T, class Operation>
CT_INLINE auto inclusive_scan(const Group& group, T&& given, Operation&& operation) {
    using value_type = std::decay_t<T>;
    value_type value = given;
    const unsigned rank = static_cast<unsigned>(group.thread_rank());
    for (unsigned distance = 1; distance < group.num_threads(); distance *= 2) {
        const value_type before = group.shfl_up(value, distance);
        if (rank >= distance) value = static_cast<value_type>(operation(before, value));
    }
    return value;
}
template <class Group, class T>
CT_INLINE auto inclusive_scan(const Group& group, T&& given) {
    return inclusive_scan(group, given, plus<std::decay_t<T>>());
}

// The result of the first thread is value_type{}, that is, 0.
template <class Group, class T, class Operation>
CT_INLINE auto exclusive_scan(const Group& group, T&& given, Operation&& operation) {
    using value_type = std::decay_t<T>;
    const value_type all_before = group.shfl_up(inclusive_scan(group, given, operation), 1);
    return group.thread_rank() == 0 ? value_type{} : all_before;
}
template <class Group, class T>
CT_INLINE auto exclusive_scan(const Group& group, T&& given) {
    return exclusive_scan(group, given, plus<std::decay_t<T>>());
}

// Scans that also add the group's sum to a cuda::atomic. Each result starts from the atomic's old value.
template <class Group, class Atomic, class T>
CT_INLINE auto inclusive_scan_update(const Group& group, Atomic& total, T&& given) {
    using value_type = std::decay_t<T>;
    const unsigned last = static_cast<unsigned>(group.num_threads()) - 1;
    const value_type scanned = inclusive_scan(group, given);
    value_type old{};
    if (group.thread_rank() == last) old = total.fetch_add(scanned);
    return static_cast<value_type>(group.shfl(old, last) + scanned);
}
template <class Group, class Atomic, class T>
CT_INLINE auto exclusive_scan_update(const Group& group, Atomic& total, T&& given) {
    using value_type = std::decay_t<T>;
    return static_cast<value_type>(inclusive_scan_update(group, total, given) - given);
}

}  // namespace cooperative_groups
