#include "report/field.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "cornerturn/error.hpp"

namespace cornerturn::report {

using nlohmann::ordered_json;

field::field(const std::string& file, const ordered_json& value, std::string path)
    : file_(&file), value_(&value), path_(std::move(path)) {}

void field::fail(const std::string& why) const {
    throw error(fmt::format("{}: {} {}", *file_, path_.empty() ? "the document" : path_, why));
}

std::optional<field> field::find(const char* member) const {
    if (!value_->is_object()) fail(fmt::format("is {}: it must be an object", value_->type_name()));
    const auto at = value_->find(member);
    if (at == value_->end()) return std::nullopt;
    return field(*file_, *at, path_.empty() ? member : path_ + "." + member);
}

field field::operator[](const char* member) const {
    const auto found = find(member);
    if (!found) fail(fmt::format("has no \"{}\"", member));
    return *found;
}

std::vector<field> field::items() const {
    if (!value_->is_array()) fail(fmt::format("is {}: it must be an array", value_->type_name()));
    std::vector<field> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
        all.emplace_back(*file_, (*value_)[i], fmt::format("{}[{}]", path_, i));
    return all;
}

std::vector<std::pair<std::string, field>> field::members() const {
    if (!value_->is_object()) fail(fmt::format("is {}: it must be an object", value_->type_name()));
    std::vector<std::pair<std::string, field>> all;
    for (const auto& [name, value] : value_->items())
        all.emplace_back(name, field(*file_, value, fmt::format("{}.{}", path_, name)));
    return all;
}

std::string field::text() const {
    if (!value_->is_string()) fail(fmt::format("is {}: it must be a string", value_->type_name()));
    return value_->get<std::string>();
}

std::string field::text_of(const char* member) const {
    const auto found = find(member);
    return found ? found->text() : "";
}

bool field::is(bool value) const { return value_->is_boolean() && value_->get<bool>() == value; }

bool field::is_text(const char* value) const { return value_->is_string() && value_->get<std::string>() == value; }

ordered_json field::scalar() const {
    if (!value_->is_primitive() || value_->is_null())
        fail(fmt::format("is {}: it must be a number, a string or a boolean", value_->type_name()));
    return *value_;
}

double field::number(double least, double most) const {
    if (!value_->is_number()) fail(fmt::format("is {}: it must be a number", value_->type_name()));
    const double value = value_->get<double>();
    if (!(value >= least && value <= most)) fail(fmt::format("is {}: it must be {} to {}", value, least, most));
    return value;
}

std::int64_t field::count() const {
    // 2^53: above it, a double does not hold every whole number.
    const double value = number(0, 9007199254740992.0);
    if (value != std::floor(value)) fail(fmt::format("is {}: it must be a whole number", value));
    return static_cast<std::int64_t>(value);
}

ordered_json parse(const std::string& file, const std::string& text) {
    // Deeper than any result. Deeper nesting could exhaust the stack.
    constexpr int kDeepest = 32;
    const auto shallow = [&](int depth, ordered_json::parse_event_t, ordered_json&) {
        if (depth > kDeepest)
            throw error(fmt::format("{}: its JSON has more than {} levels of nesting", file, kDeepest));
        return true;
    };
    try {
        return ordered_json::parse(text, shallow);
    } catch (const ordered_json::parse_error& wrong) {
        if (wrong.byte > text.size()) throw error(fmt::format("{} is incomplete: its JSON ends too early", file));
        throw error(fmt::format("{} is not JSON: there is a mistake at byte {}", file, wrong.byte));
    } catch (const ordered_json::exception&) {
        throw error(fmt::format("{}: a number in its JSON is too large", file));
    }
}

}  // namespace cornerturn::report
