// Names and variants of the GPU's plans, for tests.
#pragma once

#include <string>
#include <vector>

#include "move/matrices.hpp"
#include "move/policy.hpp"

namespace cornerturn::tests {

// The kernel and its template arguments. Tests count launches by this name.
inline std::string name_of(const moves::plan& p) {
    const std::string unit = std::to_string(p.unit) + " bytes";
    if (p.by == moves::kernel_family::rows)
        return "copy_rows of " + unit + ", " + std::to_string(p.relative_alignment) + " apart";
    if (p.by == moves::kernel_family::packed)
        return "copy_packed of " + unit + (p.packed.run < 16 ? ", several runs" : ", two runs");
    if (p.by == moves::kernel_family::units)
        return "copy_units of " + unit + " x " + std::to_string(p.units) + ", " + std::to_string(p.each) + " a thread";
    if (const auto rows = moves::rows_of(p.by); !rows.empty()) {
        const moves::tuning& t = rows[static_cast<std::size_t>(p.row)];
        return std::string(moves::name(p.by)) + " " + std::to_string(t.tile_rows) + " x " +
               std::to_string(t.tile_cols) + " of " + unit;
    }
    if (p.groups) return "copy_groups of " + unit + (p.shifted ? ", shifted" : "") + (p.aligned ? ", aligned" : "");
    return "copy_tiles of " + unit + (p.gaps ? ", with gaps" : ", " + std::to_string(p.tiles.copies) + " x its table");
}

// The plan. If a thread moves one piece, also the same plan with several pieces a thread, which only large copies get.
inline std::vector<moves::plan> also_as_if_large(const moves::plan& p) {
    std::vector<moves::plan> all{p};
    if (p.by != moves::kernel_family::units || p.each > 1 || p.units > 1) return all;
    all.push_back(p);
    all.back().each = moves::kPiecesOfThread;
    all.back().blocks = (p.blocks - 1) / moves::kPiecesOfThread + 1;
    return all;
}

}  // namespace cornerturn::tests
