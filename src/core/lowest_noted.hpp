// The lowest number that any thread noted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "core/patterned_batch.hpp"

namespace cornerturn {

class lowest_noted {
public:
    void note(std::int64_t number) {
        std::lock_guard lock(mutex_);
        number_ = std::min(number_, static_cast<unsigned long long>(number));
    }
    unsigned long long number() const { return number_; }  // kNothingNoted if no number was noted

private:
    std::mutex mutex_;
    unsigned long long number_ = kNothingNoted;
};

}  // namespace cornerturn
