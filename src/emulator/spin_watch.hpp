// Finds a thread that waits for another block: it reads the same value at the same place again and again, and accesses
// nothing else in between.
#pragma once

#include <cstdint>

#include "emulator/warp_trace.hpp"

namespace cornerturn::emulator {

class spin_watch {
public:
    void forget() { by_ = nullptr; }

    // An atomic or a volatile load at `now` in the trace has read this value. Returns how often in a row the same value
    // was read here before.
    unsigned see(const trace_entry* now, std::uintptr_t address, std::uint64_t value) {
        constexpr int kFew = 16;  // basic blocks in such a loop
        const trace_entry* at = by_;
        for (int i = 0; i < kFew && at != nullptr && at != now; ++i)
            at = at->next == now || (at->next != nullptr && !at->next->is_access) ? at->next : nullptr;
        const bool again = at == now && address == address_ && value == value_;
        by_ = now;
        address_ = address;
        value_ = value;
        times_ = again ? times_ + 1 : 0;
        return times_;
    }

private:
    const trace_entry* by_ = nullptr;
    std::uintptr_t address_ = 0;
    std::uint64_t value_ = 0;
    unsigned times_ = 0;
};

}  // namespace cornerturn::emulator
