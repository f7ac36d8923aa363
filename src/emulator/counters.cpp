#include "emulator/counters.hpp"

#include <algorithm>
#include <bit>

namespace cornerturn::emulator {
namespace {

constexpr std::uint32_t kFullWarp = 0xffffffffu;

// The size of the groups of consecutive lanes that the hardware serves one after the other.
constexpr int lanes_per_group(unsigned width) { return width <= 4 ? 32 : width == 8 ? 16 : 8; }

constexpr std::uint32_t group_mask(int first, int lanes) {
    return lanes == kWarpSize ? kFullWarp : ((1u << lanes) - 1) << first;
}

// True if for every active lane of `group`, its partner lane^distance is inactive or has the same address.
bool pairs_up(const warp_access& access, std::uint32_t group, int distance) {
    for (std::uint32_t rest = access.active & group; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        const int partner = lane ^ distance;
        if ((access.active >> partner & 1) != 0 && access.addresses[partner] != access.addresses[lane]) {
            return false;
        }
    }
    return true;
}

// True if no bank holds two of the words that the group's lanes read.
bool is_free_of_conflicts(const warp_access& access, std::uint32_t group) {
    std::array<std::uint64_t, 32> word_of_bank;
    std::uint32_t used = 0;
    for (std::uint32_t rest = access.active & group; rest != 0; rest &= rest - 1) {
        const std::uint64_t first = access.addresses[std::countr_zero(rest)] / 4;
        for (std::uint64_t word = first; word < first + access.width / 4; ++word) {
            const auto bank = static_cast<unsigned>(word % 32);
            if ((used >> bank & 1) != 0 && word_of_bank[bank] != word) return false;
            word_of_bank[bank] = word;
            used |= 1u << bank;
        }
    }
    return true;
}

// True if the hardware serves the whole group with one wavefront.
bool is_merged(const warp_access& access, std::uint32_t group) {
    return (pairs_up(access, group, 1) || pairs_up(access, group, 2)) && is_free_of_conflicts(access, group);
}

}  // namespace

unsigned count_sectors(const warp_access& access) {
    std::array<std::uint64_t, kWarpSize> sectors;
    int count = 0;
    if (access.active == kFullWarp) {
        for (; count < kWarpSize; ++count) sectors[count] = access.addresses[count] / kSectorBytes;
    } else {
        for (std::uint32_t rest = access.active; rest != 0; rest &= rest - 1) {
            sectors[count++] = access.addresses[std::countr_zero(rest)] / kSectorBytes;
        }
    }
    unsigned changes = 1;
    bool ascending = true;
    for (int i = 1; i < count; ++i) {
        changes += sectors[i] != sectors[i - 1];
        ascending &= sectors[i] >= sectors[i - 1];
    }
    if (ascending) return changes;
    std::sort(sectors.begin(), sectors.begin() + count);
    return static_cast<unsigned>(std::unique(sectors.begin(), sectors.begin() + count) - sectors.begin());
}

unsigned count_atomic_sectors(const warp_access& access) {
    std::array<std::uint64_t, kWarpSize> addresses;
    std::size_t count = 0;
    for (std::uint32_t rest = access.active; rest != 0; rest &= rest - 1)
        addresses[count++] = access.addresses[std::countr_zero(rest)];
    std::sort(addresses.begin(), addresses.begin() + static_cast<std::ptrdiff_t>(count));
    unsigned sum = 0, most = 0, same = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const bool new_sector = i == 0 || addresses[i] / kSectorBytes != addresses[i - 1] / kSectorBytes;
        same = i > 0 && addresses[i] == addresses[i - 1] ? same + 1 : 1;
        if (new_sector) {
            sum += most;
            most = 0;
        }
        most = std::max(most, same);
    }
    return sum + most;
}

unsigned most_lanes_in_a_bank(const warp_access& access) {
    std::array<unsigned, 32> lanes{};
    unsigned most = 0;
    for (std::uint32_t rest = access.active; rest != 0; rest &= rest - 1)
        most = std::max(most, ++lanes[access.addresses[std::countr_zero(rest)] / 4 % 32]);
    return most;
}

unsigned wavefront_counter::count_group(const warp_access& access, std::uint32_t group) {
    if (++stamp_ == 0) {
        stamp_of_word_.fill(0);
        stamp_ = 1;
    }
    std::array<std::uint8_t, 32> words_in_bank{};
    unsigned most = 0;
    const unsigned words = access.width <= 4 ? 1 : access.width / 4;
    for (std::uint32_t rest = access.active & group; rest != 0; rest &= rest - 1) {
        const std::uint64_t first = access.addresses[std::countr_zero(rest)] >> 2;
        for (unsigned i = 0; i < words; ++i) {
            const std::uint64_t word = first + i;
            std::uint32_t& stamp = stamp_of_word_[word % kWords];
            if (stamp != stamp_) {
                stamp = stamp_;
                most = std::max<unsigned>(most, ++words_in_bank[word % 32]);
            }
        }
    }
    return most;
}

lane_groups groups_of(const warp_access& access, direction op) {
    lane_groups groups;
    const auto add = [&](int first, int lanes) {
        groups.lanes[static_cast<std::size_t>(groups.count++)] = group_mask(first, lanes);
    };
    const bool merges = op == kLoad;
    if (access.width <= 4 || (access.width == 8 && merges && is_merged(access, kFullWarp))) {
        add(0, kWarpSize);
        return groups;
    }
    for (int half = 0; half < kWarpSize; half += 16) {
        if (access.width == 8 || (merges && is_merged(access, group_mask(half, 16)))) {
            add(half, 16);
        } else {
            add(half, 8);
            add(half + 8, 8);
        }
    }
    return groups;
}

unsigned wavefront_counter::count(const warp_access& access, direction op) {
    if (access.width <= 4) return count_group(access, kFullWarp);
    const lane_groups groups = groups_of(access, op);
    unsigned total = 0;
    for (int i = 0; i < groups.count; ++i) total += count_group(access, groups.lanes[static_cast<std::size_t>(i)]);
    return total;
}

unsigned least_wavefronts(std::uint32_t active, unsigned width) {
    const int lanes = lanes_per_group(width);
    unsigned groups = 0;
    for (int first = 0; first < kWarpSize; first += lanes) groups += (active & group_mask(first, lanes)) != 0;
    return groups;
}

}  // namespace cornerturn::emulator
