// Permutations of axes, as the lab knows them.
#include <algorithm>

#include "core/dtype.hpp"
#include "core/problem.hpp"
#include "host/choice.hpp"
#include "ops/copy/tensor_movement.hpp"
#include "ops/permute/bench.hpp"
#include "ops/permute/strided_work.hpp"

namespace cornerturn {
namespace {

class permutation final : public tensor_movement {
public:
    permutation() : tensor_movement(permutation_facts()) {}

    std::vector<std::string> bench_groups() const override { return permutation_groups(); }
    std::vector<bench_cell> bench_grid(const std::vector<int>& element_sizes,
                                       const std::vector<std::string>& groups) const override {
        return permutation_grid(element_sizes, groups);
    }
    bench_contestants contestants(backend on) const override {
        switch (on) {
            case backend::cuda:
                return {"permute/production", "baseline/memcpy", "baseline/", "memcpy,copy,cutensor", {}};
            case backend::host:
                return {"host/permute", "host/copy@memcpy", "host/", "copy@streamed,permute_loop,permute_hptt", {}};
            default: return {};
        }
    }
    std::vector<bench_cell> bench_draws(int count, std::uint64_t seed, draw_size size) const override {
        return permutation_draws(count, seed, bytes_of(size));
    }
    bool is_usual_group(const std::string& group) const override { return group != kPublished; }
    // The first axis depends on the element size, so the row's name leaves its length out.
    std::string bench_row(const std::string& group, const std::string& text,
                          const std::vector<std::int64_t>&) const override {
        if (group == kPublished) return text;
        const std::size_t first = text.find(" x "), axes = text.find(", axes ");
        return first == std::string::npos || axes == std::string::npos ? text : "many" + text.substr(first);
    }

protected:
    element_facts elements_of(const arguments& given, std::int64_t) const override {
        const dtype type = find_dtype(given.text("--dtype", "f32"));
        return {type, given.whole("--element-size", type.size, 1, kMostElementBytes)};
    }
    element_facts elements_of(const nlohmann::ordered_json& described, std::int64_t) const override {
        const dtype type = dtype_of(described.at("element_size").get<int>());
        return {type, type.size};
    }
    std::vector<option> element_options() const override {
        return {{"--element-size", "BYTES", "Size of an element, instead of --dtype."}};
    }
    std::string host_choice(const strided_copy& c) const override {
        return c.is_empty() ? "nothing: the tensor is empty" : host::explain(c);
    }

private:
    static operation_facts permutation_facts() {
        operation_facts all = tensor_movement_facts("permute", {"permute"});
        all.works = "permutations";
        return all;
    }
};

}  // namespace

const operation& permute_operation() {
    static const permutation the_one;
    return the_one;
}

}  // namespace cornerturn
