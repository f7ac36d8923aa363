// What the tests of operations share: options as the command line gives them, and refusals.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "cornerturn/error.hpp"
#include "device/operation.hpp"

namespace cornerturn::tests {

inline arguments given(std::initializer_list<std::pair<const char*, const char*>> options) {
    arguments all;
    for (const auto& [option, value] : options) all.give(option, value);
    return all;
}

// The message of the refusal.
inline std::string refusal_by(const operation& op, const arguments& all) {
    try {
        op.read(all, 1024);
    } catch (const invalid_argument& why) {
        return why.what();
    }
    return "not refused";
}

}  // namespace cornerturn::tests
