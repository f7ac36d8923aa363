#include "lab/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "cornerturn/error.hpp"

namespace cornerturn::lab {
namespace {

// Columns on a terminal: what a string takes, where every code point takes one.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::string space(width - std::min(width, width_of(text)), ' ');
    return right ? space + text : text + space;
}

std::string escaped_csv(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

std::string escaped_markdown(const std::string& text) {
    std::string out;
    for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

void trim_right(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

format find_format(const std::string& name) {
    if (name == "table") return format::table;
    if (name == "markdown") return format::markdown;
    if (name == "csv") return format::csv;
    if (name == "json") return format::json;
    throw invalid_argument("format '" + name + "' is not known; it can be table, markdown, csv or json");
}

std::string table::print(format as) const {
    std::string out;
    if (as == format::csv) {
        const auto line = [&](const auto& cells, auto text) {
            for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + escaped_csv(text(cells[i]));
            out += '\n';
        };
        line(columns, [](const column& c) { return c.heading; });
        for (const auto& row : rows) line(row, [](const std::string& cell) { return cell; });
        return out;
    }
    const bool markdown = as == format::markdown;
    const auto cell_text = [&](const std::string& text) { return markdown ? escaped_markdown(text) : text; };
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::size_t width = std::max<std::size_t>(width_of(columns[i].heading), 3);
        for (const auto& row : rows) width = std::max(width, width_of(cell_text(row[i])));
        widths.push_back(width);
    }
    const auto line = [&](auto text) {
        std::string current = markdown ? "| " : "";
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (i > 0) current += markdown ? " | " : "  ";
            current += padded(text(i), widths[i], columns[i].right_aligned);
        }
        if (markdown) current += " |";
        trim_right(current);
        out += current + '\n';
    };
    line([&](std::size_t i) { return columns[i].heading; });
    line([&](std::size_t i) {
        std::string rule(widths[i], '-');
        if (markdown && columns[i].right_aligned) rule.back() = ':';
        return rule;
    });
    for (const auto& row : rows) line([&](std::size_t i) { return cell_text(row[i]); });
    return out;
}

std::string json_text(const nlohmann::ordered_json& value, int indent) {
    return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

}  // namespace cornerturn::lab
