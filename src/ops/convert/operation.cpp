#include "ops/convert/operation.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

#include "cornerturn/error.hpp"
#include "ops/convert/bench.hpp"
#include "ops/copy/tensor_movement.hpp"

namespace cornerturn {
namespace {

constexpr const char *kTo = "--to", *kFactors = "--factors", *kAxis = "--axis";

// The type with this name, which `option` gave. Complex elements are converted in parts, as pairs of others.
element_type named_type(const char* option, const std::string& name) {
    const element_type type = find_element_type(option, name);
    if (is_complex(type))
        throw invalid_argument(fmt::format("{} is '{}': {} takes no complex types; {} has the parts of its elements",
                                           option, name, convert_operation().name(),
                                           type == element_type::c64 ? "f32" : "f64"));
    return type;
}

factor_kind named_factors(const char* option, const std::string& name) {
    for (const auto& [known, kind] :
         {std::pair{"none", factor_kind::none}, {"one", factor_kind::one}, {"each", factor_kind::each}}) {
        if (name == known) return kind;
    }
    throw invalid_argument(fmt::format("{} is '{}': it must be none, one or each", option, name));
}

class tensor_conversion final : public tensor_movement {
public:
    tensor_conversion() : tensor_movement(conversion_facts()) {}

    std::string yardstick_text(backend on) const override {
        const char* const copy = on == backend::cuda ? "memcpy" : "a copy on all cores that bypasses the caches,";
        return fmt::format("{} of half the bytes in the 32-byte sectors that must be read and written", copy);
    }

    std::vector<std::string> bench_groups() const override { return conversion_groups(); }
    std::vector<bench_cell> bench_grid(const std::vector<int>&, const std::vector<std::string>& groups) const override {
        return conversion_grid(groups);
    }
    bench_contestants contestants(backend on) const override {
        switch (on) {
            case backend::cuda: return {"convert/production", "baseline/memcpy", "baseline/", "memcpy,copy", {}};
            case backend::host: return {"host/convert", "host/copy@streamed", "host/", "copy@memcpy", {}};
            default: return {};
        }
    }
    std::vector<bench_cell> bench_draws(int count, std::uint64_t seed, draw_size size) const override {
        return conversion_draws(count, seed, bytes_of(size));
    }

protected:
    element_facts elements_of(const arguments& given, std::int64_t rank) const override {
        const factor_kind factors = named_factors(kFactors, given.text(kFactors, "none"));
        std::int64_t axis = 0;
        if (factors == factor_kind::each) {
            axis = given.list(kAxis, {rank > 1 ? 1 : 0}).front();
            if (axis < -rank || axis >= rank)
                throw invalid_argument(fmt::format("{} is {}: it must be from {} to {}, because the tensor has {} axes",
                                                   kAxis, axis, -rank, rank - 1, rank));
        } else if (given.has(kAxis)) {
            throw invalid_argument(fmt::format("{} needs {} each: add it", kAxis, kFactors));
        }
        return elements(named_type("--dtype", given.text("--dtype", "f32")), named_type(kTo, given.text(kTo, "bf16")),
                        factors, axis, rank);
    }
    element_facts elements_of(const nlohmann::ordered_json& described, std::int64_t rank) const override {
        const auto text = [&](const char* key) { return described.at(key).get<std::string>(); };
        const factor_kind factors = named_factors("factors", described.value("factors", "none"));
        const std::int64_t axis = factors == factor_kind::each ? described.at("axis").get<std::int64_t>() : 0;
        if (factors == factor_kind::each && (axis < -rank || axis >= rank))
            throw invalid_argument(fmt::format("axis is {}: the tensor has {} axes", axis, rank));
        return elements(named_type("source_type", text("source_type")),
                        named_type("destination_type", text("destination_type")), factors, axis, rank);
    }
    std::vector<option> element_options() const override {
        const std::vector<option>& all = facts().layout;
        return {all.begin(), all.begin() + 3};
    }
    std::string host_choice(const strided_copy& c) const override {
        return c.is_empty() ? "nothing: the tensor is empty"
                            : "boxes that fit the nearest caches; each is permuted into a buffer, then converted";
    }

private:
    static element_facts elements(element_type from, element_type to, factor_kind factors, std::int64_t axis,
                                  std::int64_t rank) {
        if (from == to && factors == factor_kind::none)
            throw invalid_argument(
                fmt::format("{} to {} converts nothing: the types must differ, or there must be factors", name_of(from),
                            name_of(to)));
        return {{name_of(from), size_of(from)},
                size_of(to),
                {.cast = {from, to, true, factors != factor_kind::none},
                 .factors = factors,
                 .axis = static_cast<int>(axis < 0 ? axis + rank : axis)}};
    }
    static operation_facts conversion_facts() {
        operation_facts all = tensor_movement_facts("convert", {"convert"});
        all.works = "conversions";
        all.element_sizes = {1};  // the cells have types of their own
        const std::vector<option> types = {
            {kTo, "bf16|f16|e4m3fn...", "Type of the destination's elements. Default: bf16."},
            {kFactors, "none|one|each",
             "Scales and biases: none, one scale, or a scale and a bias for each index of an axis. Default: none."},
            {.name = kAxis,
             .value = "N",
             .help = "With --factors each: the axis of the destination. Default: 1.",
             .list = true}};
        all.layout.insert(all.layout.begin(), types.begin(), types.end());
        return all;
    }
};

}  // namespace

const operation& convert_operation() {
    static const tensor_conversion the_one;
    return the_one;
}

}  // namespace cornerturn
