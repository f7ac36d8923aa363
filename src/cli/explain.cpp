#include "cli/explain.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/words.hpp"
#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "cornerturn/error.hpp"
#include "lab/ladder.hpp"

namespace cornerturn::cli {

std::string explain(const explain_options& o, lab::format as) {
    problem_shape shape{.rows = parse_size("--rows", o.rows), .cols = parse_size("--cols", o.cols)};
    const dtype type = find_dtype(o.dtype);
    const std::int64_t size = o.element_size ? parse_size("--element-size", *o.element_size) : type.size;
    if (size < 1 || size > 4096)
        throw invalid_argument(fmt::format("--element-size is {}: it must be 1 to 4096 bytes", size));
    shape.element_size = static_cast<int>(size);
    if (o.source_ld) shape.source_ld = parse_size("--source-ld", *o.source_ld);
    if (o.destination_ld) shape.destination_ld = parse_size("--destination-ld", *o.destination_ld);
    shape.source_offset = parse_size("--source-offset", o.source_offset);
    shape.destination_offset = parse_size("--destination-offset", o.destination_offset);
    shape.count = parse_size("--count", o.count);
    shape.in_place = o.in_place;
    shape = shape.checked();
    matrix_work work = shape.work(nullptr, nullptr);
    // Nothing is read: two addresses that are apart, off a boundary by the offsets.
    const auto address = [&](std::uintptr_t base, std::int64_t offset) {
        return reinterpret_cast<unsigned char*>(base + static_cast<std::uintptr_t>(offset * size));
    };
    work.source = address(std::uintptr_t{1} << 40, shape.source_offset);
    work.destination = address(std::uintptr_t{shape.in_place ? 1u : 2u} << 40, shape.destination_offset);
    const auto capability = static_cast<int>(parse_size("--compute-capability", o.compute_capability));
    if (o.on != "cuda" && o.on != "host")
        throw invalid_argument(fmt::format("--on is '{}': it can be cuda or host", o.on));
    const backend on = o.on == "cuda" ? backend::cuda : backend::host;
    const std::string text = lab::explain(o.family, on, work, capability);
    if (as != lab::format::json) return text + "\n";
    nlohmann::ordered_json out = {{"rows", shape.rows},
                                  {"cols", shape.cols},
                                  {"element_size", shape.element_size},
                                  {"source_ld", shape.source_ld},
                                  {"destination_ld", shape.destination_ld},
                                  {"count", shape.count},
                                  {"on", o.on},
                                  {"compute_capability", capability},
                                  {"choice", text}};
    if (on == backend::host) out.erase("compute_capability");
    return out.dump(2) + "\n";
}

}  // namespace cornerturn::cli
