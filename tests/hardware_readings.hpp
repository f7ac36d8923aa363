// Nsight Compute's readings, as results/ holds them.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "lab/result.hpp"

namespace cornerturn::tests {

inline std::filesystem::path results_folder() { return std::string(CORNERTURN_SOURCE_DIR) + "/results"; }

inline nlohmann::json stored(const std::filesystem::path& file) { return nlohmann::json::parse(std::ifstream(file)); }

inline std::uint64_t reading(const nlohmann::json& result, const lab::metric& m) {
    return result.at("hardware").at("metrics").at(m.name).get<std::uint64_t>();
}

}  // namespace cornerturn::tests
