#include "device/operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "core/numbers.hpp"
#include "cornerturn/error.hpp"
#include "device/explanation.hpp"

namespace cornerturn {

std::string arguments::text(const std::string& option, const std::string& otherwise) const {
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

float arguments::number(const std::string& option, float otherwise) const {
    const auto at = given_.find(option);
    if (at == given_.end()) return otherwise;
    const char *const begin = at->second.data(), *const end = begin + at->second.size();
    float value = 0;
    const auto [stop, status] = std::from_chars(begin, end, value);
    if (status != std::errc{} || stop != end || !std::isfinite(value))
        throw invalid_argument(
            fmt::format("{} is '{}': it must be a number that fits in single precision", option, at->second));
    return value;
}

std::vector<std::int64_t> arguments::list(const std::string& option, const std::vector<std::int64_t>& otherwise) const {
    const auto at = given_.find(option);
    if (at == given_.end()) return otherwise;
    const std::string& text = at->second;
    std::vector<std::int64_t> numbers;
    for (std::size_t begin = 0; begin < text.size() || (begin > 0 && begin == text.size());) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        std::int64_t number = 0;
        const auto [stop, status] = std::from_chars(text.data() + begin, text.data() + end, number);
        if (status == std::errc::result_out_of_range)
            throw invalid_argument(fmt::format("{} is {}: one of its numbers does not fit in 64 bits", option, text));
        if (status != std::errc{} || stop != text.data() + end)
            throw invalid_argument(
                fmt::format("{} is '{}': it must be whole numbers, separated by commas", option, text));
        numbers.push_back(number);
        begin = end + 1;
    }
    return numbers;
}

std::string problem::choice() const {
    const std::vector<candidate> all = candidates();
    return all.empty() ? std::string() : all.front().name;
}

void problem::no_tiles() { throw std::logic_error("this work is not checked tile by tile"); }

explanation operation::explain(const arguments&) const {
    throw invalid_argument(fmt::format("{} has no choice of kernels to explain", name()));
}

std::vector<bench_cell> operation::bench_grid(const std::vector<int>&, const std::vector<std::string>&) const {
    return {};
}

std::vector<bench_cell> operation::bench_draws(int, std::uint64_t, draw_size) const {
    throw invalid_argument(fmt::format("--random: {} has no random shapes", name()));
}

std::vector<bench_cell> operation::bench_cells(const nlohmann::ordered_json&) const {
    throw invalid_argument(fmt::format("--cells: {} takes no shapes from a file", name()));
}

std::string operation::bench_row(const std::string&, const std::string& text, const std::vector<std::int64_t>&) const {
    return text;
}

std::string operation::text_of(const std::vector<std::int64_t>& sizes) const { return sizes_text(sizes); }

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
        if (std::find(all.begin(), all.end(), k.op) == all.end()) all.push_back(k.op);
    }
    return all;
}

std::string operation_names() {
    std::vector<std::string> names;
    for (const operation* o : operations()) names.push_back(o->name());
    return fmt::format("{}", fmt::join(names, ", "));
}

const operation& find_operation(std::string_view name) {
    for (const operation* o : operations()) {
        if (o->name() == name) return *o;
    }
    throw invalid_argument(fmt::format("no operation is called '{}': the operations are {}", name, operation_names()));
}

const operation* operation_of_kernel(const std::string& id) {
    const std::string family = id.substr(0, id.find('/') + 1);
    const operation* found = nullptr;
    bool several = false;
    for (const kernel& k : kernels()) {
        if (k.id == id) return k.op;
        if (!k.id.starts_with(family)) continue;
        several = several || (found != nullptr && found != k.op);
        found = k.op;
    }
    return several ? nullptr : found;
}

void run_as_preparation(const std::function<void()>& work) {
    const emulator::preparation_scope preparing;
    work();
}

std::string key_of(const option& size) {
    std::string key = size.name + 2;
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
}

std::string option_of_key(const std::string& key) {
    std::string name = "--" + key;
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
}

namespace {
std::string printed(const nlohmann::ordered_json& value) {
    if (value.is_array()) return fmt::format("{}", fmt::join(value.get<std::vector<std::int64_t>>(), ","));
    return value.is_string() ? value.get<std::string>() : value.dump();
}
}  // namespace

std::string layout_text(const nlohmann::ordered_json& layout) {
    std::string text;
    for (const auto& [key, value] : layout.items())
        text += fmt::format(", {} {}", option_of_key(key).substr(2), printed(value));
    return text;
}

std::string workload::options() const {
    const operation_facts& facts = op().facts();
    nlohmann::ordered_json members = sizes_json(op(), sizes());
    members.update(layout());
    bool all_are_options = type().name[0] != 0;
    for (const auto& [key, value] : members.items()) {
        const auto is_it = [&, name = option_of_key(key)](const option& o) { return name == o.name; };
        all_are_options = all_are_options && (std::any_of(facts.sizes.begin(), facts.sizes.end(), is_it) ||
                                              std::any_of(facts.layout.begin(), facts.layout.end(), is_it));
    }
    if (!all_are_options)
        return fmt::format("{}{} of {} bytes, seed {}", op().text_of(sizes()), layout_text(layout()), type().size,
                           seed());
    std::string text;
    for (const auto& [key, value] : members.items()) text += fmt::format("{} {} ", option_of_key(key), printed(value));
    return text + fmt::format("--dtype {} --seed {}", type().name, seed());
}

nlohmann::ordered_json sizes_json(const operation& op, const std::vector<std::int64_t>& sizes) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    const std::vector<option>& names = op.facts().sizes;
    const auto each = static_cast<std::ptrdiff_t>(sizes.size() / names.size());
    for (auto at = sizes.begin(); const option& size : names) {
        if (size.list)
            out[key_of(size)] = std::vector<std::int64_t>(at, at + each);
        else
            out[key_of(size)] = *at;
        at += each;
    }
    return out;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) { return fmt::format("{}", fmt::join(sizes, " x ")); }

std::string options_text(const std::vector<option>& options) {
    std::string text;
    for (std::size_t i = 0; i < options.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == options.size() ? " and " : ", ", options[i].name);
    return text;
}

}  // namespace cornerturn
