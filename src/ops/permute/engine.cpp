#include "ops/permute/engine.hpp"

#include <algorithm>

namespace cornerturn {

strided_copy canonical(const strided_work& work) {
    std::array<strided_axis, kMostAxes> axes;
    for (int i = 0; i < work.rank; ++i)
        axes[static_cast<std::size_t>(i)] = {work.extents[i], work.source_strides[i] * work.element_size,
                                             work.destination_strides[i] * work.element_size};
    return canonical(reinterpret_cast<std::uintptr_t>(work.source), reinterpret_cast<std::uintptr_t>(work.destination),
                     work.element_size, axes.data(), work.rank);
}

void for_each_plan(const strided_work& work, const gpu& on, void (*run)(const strided::plan&)) {
    strided::for_each_plan(canonical(work), on, run);
}

std::vector<named_choice> distinct_choices(const strided_copy& c, const gpu& on) {
    std::vector<named_choice> all;
    if (c.runs() > strided::kMostRuns) return all;
    const auto cut = [](const std::string& text) { return text.substr(0, text.find(", predicted")); };
    for (const strided::choice& one : strided::choices(c, on)) {
        const std::string text = strided::explain(one, c, on);
        const auto same = [&](const named_choice& other) { return cut(other.text) == cut(text); };
        if (std::none_of(all.begin(), all.end(), same)) all.push_back({one, text});
    }
    return all;
}

}  // namespace cornerturn
