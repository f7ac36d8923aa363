#include "emulator/copies.hpp"

#include <algorithm>
#include <cstring>

namespace cornerturn::emulator {

void copies_under_way::hold(void* to, const void* value, unsigned bytes) {
    copy& held = held_.emplace_back(copy{to, {}, bytes, groups_});
    std::memcpy(held.value.data(), value, bytes);
    std::memset(to, 0xff, bytes);
}

void copies_under_way::arrive(unsigned later) {
    const auto first_later =
        std::find_if(held_.begin(), held_.end(), [&](const copy& held) { return held.group + later >= groups_; });
    for (auto held = held_.begin(); held != first_later; ++held) std::memcpy(held->to, held->value.data(), held->bytes);
    held_.erase(held_.begin(), first_later);
}

}  // namespace cornerturn::emulator
