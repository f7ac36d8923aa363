// Asynchronous copies from global to shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace cornerturn::emulator {

// A thread's asynchronous copies that it has not waited for yet. Until then all bits of their destination are set. So a
// read that is too early, or a copy over data that others still read, gives a wrong result.
class copies_under_way {
public:
    void hold(void* to, const void* value, unsigned bytes);
    void end_group() { ++groups_; }
    void arrive(unsigned later);  // completes the copies of all groups but the last `later`
    void forget() { held_.clear(), groups_ = 0; }

private:
    struct copy {
        void* to;
        std::array<std::byte, 16> value;
        unsigned bytes, group;
    };
    std::vector<copy> held_;
    unsigned groups_ = 0;  // ended groups
};

}  // namespace cornerturn::emulator
