// The GPU's plans of copies between tensors, as tests tell and vary them.
#pragma once

#include <string>
#include <vector>

#include "ops/copy/kernels/policy.hpp"

namespace cornerturn::tests {

// Which kernel, as tests count its launches.
inline std::string name_of(const strided::plan& p) {
    const std::string unit = std::to_string(p.unit) + " bytes";
    if (p.by == strided::way::rows) return "copy_rows of " + unit + ", " + std::to_string(p.apart) + " apart";
    if (p.by == strided::way::units)
        return "copy_units of " + unit + " x " + std::to_string(p.units) + ", " + std::to_string(p.each) + " a thread";
    if (p.groups) return "copy_groups of " + unit + (p.shifted ? ", shifted" : "") + (p.aligned ? ", aligned" : "");
    return "copy_tiles of " + unit + (p.gaps ? ", with gaps" : ", " + std::to_string(p.tiles.copies) + " x its table");
}

// The plan; and where a thread moves one piece, also the same with several a thread, which only large copies get.
inline std::vector<strided::plan> also_as_if_large(const strided::plan& p) {
    std::vector<strided::plan> all{p};
    if (p.by != strided::way::units || p.each > 1 || p.units > 1) return all;
    all.push_back(p);
    all.back().each = strided::kPiecesOfThread;
    all.back().blocks = (p.blocks - 1) / strided::kPiecesOfThread + 1;
    return all;
}

}  // namespace cornerturn::tests
