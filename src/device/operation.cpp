#include "device/operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "core/words.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {

std::string arguments::word(const std::string& option, const std::string& otherwise) const {
    const auto at = given_.find(option);
    return at == given_.end() ? otherwise : at->second;
}

std::int64_t arguments::size(const std::string& option, std::int64_t otherwise) const {
    const auto at = given_.find(option);
    return at == given_.end() ? otherwise : parse_size(option, at->second);
}

int arguments::whole(const std::string& option, int otherwise, int least, int most) const {
    const std::int64_t value = size(option, otherwise);
    if (value < least || value > most)
        throw invalid_argument(fmt::format("{} is {}: it must be {} to {}", option, value, least, most));
    return static_cast<int>(value);
}

void problem::no_tiles() { throw std::logic_error("this work is not checked tile by tile"); }

explanation operation::explain(const arguments&) const {
    throw invalid_argument(fmt::format("{} has no choice of kernels to explain", name()));
}

std::vector<bench_cell> operation::bench_grid(const std::vector<int>&, const std::vector<std::string>&) const {
    return {};
}

std::vector<bench_cell> operation::bench_draws(int, std::uint64_t) const {
    throw invalid_argument(fmt::format("--random: {} has no shapes that are drawn at random", name()));
}

std::string operation::bench_row(const std::string&, const std::string& text, const std::vector<std::int64_t>&) const {
    return text;
}

double operation::steps(const std::vector<std::int64_t>& sizes) const {
    double all = 1;
    for (std::int64_t size : sizes) all *= static_cast<double>(size);
    return all;
}

double operation::operations_per_byte(const std::vector<std::int64_t>& sizes, int element_size) const {
    return facts_.operations_a_step * steps(sizes) / operand_bytes(sizes, element_size);
}

std::vector<const operation*> operations() {
    std::vector<const operation*> all;
    for (const kernel& k : kernels()) {
        if (std::find(all.begin(), all.end(), k.does) == all.end()) all.push_back(k.does);
    }
    return all;
}

std::string operation_names() {
    std::vector<std::string> names;
    for (const operation* o : operations()) names.push_back(o->name());
    return fmt::format("{}", fmt::join(names, ", "));
}

const operation& find_operation(const std::string& name) {
    for (const operation* o : operations()) {
        if (o->name() == name) return *o;
    }
    throw invalid_argument(fmt::format("no operation is called '{}'; there are {}", name, operation_names()));
}

const operation* operation_of_kernel(const std::string& id) {
    const std::string family = id.substr(0, id.find('/') + 1);
    const operation* found = nullptr;
    bool several = false;
    for (const kernel& k : kernels()) {
        if (k.id == id) return k.does;
        if (!k.id.starts_with(family)) continue;
        several = several || (found != nullptr && found != k.does);
        found = k.does;
    }
    return several ? nullptr : found;
}

void run_as_step(const std::function<void()>& work) {
    const emulator::step_scope step;
    work();
}

std::string key_of(const option& size) { return size.name + 2; }

std::string sizes_text(const std::vector<std::int64_t>& sizes) { return fmt::format("{}", fmt::join(sizes, " x ")); }

std::string options_text(const std::vector<option>& options) {
    std::string text;
    for (std::size_t i = 0; i < options.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == options.size() ? " and " : ", ", options[i].name);
    return text;
}

}  // namespace cornerturn
