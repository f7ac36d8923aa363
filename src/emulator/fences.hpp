// The threads of a block that have executed a fence since its last barrier, and those that may have observed one.
#pragma once

#include <array>
#include <cstdint>

#include "emulator/stacks.hpp"

namespace cornerturn::emulator {

// `interval` is the serial number of a barrier interval, which is never 0.
class block_fences {
public:
    void fence(unsigned thread, std::uint64_t interval) { latest_ = fenced_[thread] = seen_[thread] = interval; }
    // An atomic or a volatile load, which may observe what another thread did before a fence.
    void observe(unsigned thread, std::uint64_t interval) { seen_[thread] = interval; }
    // Whether fences order the two threads. If the earlier thread is unknown, except that it is not `later`, pass
    // `later` for both: any thread may then have executed the fence.
    bool are_ordered(unsigned earlier, unsigned later, std::uint64_t interval) const {
        return seen_[later] == interval && (earlier == later ? latest_ : fenced_[earlier]) == interval;
    }
    void forget() {
        latest_ = 0;
        fenced_.fill(0);
        seen_.fill(0);
    }

private:
    // For each thread, the last interval with a fence; and the last interval with a fence or an observe().
    std::array<std::uint64_t, kMaxThreads> fenced_{}, seen_{};
    std::uint64_t latest_ = 0;  // the last interval in which any thread executed a fence
};

}  // namespace cornerturn::emulator
