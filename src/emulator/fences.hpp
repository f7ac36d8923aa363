// Which threads of a block have executed fences since its last barrier, and which may have seen that.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/stacks.hpp"

namespace cornerturn::emulator {

// A barrier interval is known by its serial, which is not 0.
class block_fences {
public:
    void fence(unsigned thread, std::uint64_t interval) { fenced_[thread] = seen_[thread] = interval; }
    // An atomic or a volatile load, which may see what another thread did before a fence.
    void look(unsigned thread, std::uint64_t interval) { seen_[thread] = interval; }
    // Where all that is known of the earlier thread is that it is not `later`, which is given for both, any may have
    // executed a fence.
    bool order(unsigned earlier, unsigned later, std::uint64_t interval) const {
        return seen_[later] == interval && (earlier == later || fenced_[earlier] == interval);
    }
    void forget() {
        fenced_.fill(0);
        seen_.fill(0);
    }

private:
    // The last interval in which the thread executed a fence; and in which it executed one, or looked.
    std::array<std::uint64_t, kMaxThreads> fenced_{}, seen_{};
};

}  // namespace cornerturn::emulator
