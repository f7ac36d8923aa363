// Why an operation chooses a kernel.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace cornerturn {

struct explanation {
    std::string text;
    nlohmann::ordered_json json;
};

}  // namespace cornerturn
