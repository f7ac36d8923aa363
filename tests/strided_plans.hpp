// Names and variants of the GPU's plans of copies between tensors, for tests.
#pragma once

#include <string>
#include <vector>

#include "ops/copy/kernels/policy.hpp"

namespace cornerturn::tests {

// The kernel and its template arguments. Tests count launches by this name.
inline std::string name_of(const strided::plan& p) {
    const std::string unit = std::to_string(p.unit) + " bytes";
    if (p.by == strided::kernel_family::rows)
        return "copy_rows of " + unit + ", " + std::to_string(p.relative_alignment) + " apart";
    if (p.by == strided::kernel_family::units)
        return "copy_units of " + unit + " x " + std::to_string(p.units) + ", " + std::to_string(p.each) + " a thread";
    if (p.groups) return "copy_groups of " + unit + (p.shifted ? ", shifted" : "") + (p.aligned ? ", aligned" : "");
    return "copy_tiles of " + unit + (p.gaps ? ", with gaps" : ", " + std::to_string(p.tiles.copies) + " x its table");
}

// The plan. If a thread moves one piece, also the same plan with several pieces a thread, which only large copies get.
inline std::vector<strided::plan> also_as_if_large(const strided::plan& p) {
    std::vector<strided::plan> all{p};
    if (p.by != strided::kernel_family::units || p.each > 1 || p.units > 1) return all;
    all.push_back(p);
    all.back().each = strided::kPiecesOfThread;
    all.back().blocks = (p.blocks - 1) / strided::kPiecesOfThread + 1;
    return all;
}

}  // namespace cornerturn::tests
