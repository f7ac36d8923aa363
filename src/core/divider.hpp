// Division by a number that is known before a kernel starts. On a GPU it takes one multiplication and one shift.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace cornerturn {

// x / d for 0 <= x < 2^31.
struct divider {
    unsigned d = 1, magic = 1u << 31, shift = 0;

    divider() = default;
    explicit divider(unsigned by) : d(by) {
        while ((std::uint64_t{1} << shift) < by) ++shift;
        magic = static_cast<unsigned>(((std::uint64_t{1} << (31 + shift)) + by - 1) / by);
    }
    CORNERTURN_HOST_DEVICE unsigned quotient(unsigned x) const {
        return static_cast<unsigned>(static_cast<std::uint64_t>(2 * x) * magic >> 32) >> shift;
    }
};

}  // namespace cornerturn
