#include "lab/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

#include "cornerturn/error.hpp"

namespace cornerturn::lab {
namespace {

// The columns that a string takes on a terminal: one for each code point.
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
    throw invalid_argument("format '" + name + "' is not known: it must be table, markdown, csv or json");
}

std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
    std::string out, line;
    const auto end_line = [&] {
        out += line + '\n';
        line.assign(indent, ' ');
    };
    std::istringstream lines(text);
    bool first = true;
    for (std::string whole; std::getline(lines, whole); first = false) {
        if (!first) end_line();
        // Leading spaces stay.
        const std::size_t begin = std::min(whole.find_first_not_of(' '), whole.size());
        line = whole.substr(0, begin);
        bool fresh = true;
        for (std::size_t at = begin; at < whole.size();) {
            const std::size_t end = std::min(whole.find(' ', at), whole.size());
            const std::string word = whole.substr(at, end - at);
            if (!fresh && width_of(line) + 1 + width_of(word) > width) {
                end_line();
                fresh = true;
            }
            line += (fresh ? "" : " ") + word;
            fresh = false;
            at = end + 1;
        }
    }
    out += line;
    if (text.ends_with('\n')) out += '\n';
    return out;
}

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
}

std::string print_csv(const table& t) {
    std::string out;
    const auto line = [&](const auto& cells, auto text) {
        for (std::size_t i = 0; i < cells.size(); ++i) out += (i == 0 ? "" : ",") + escaped_csv(text(cells[i]));
        out += '\n';
    };
    line(t.columns, [](const table::column& c) { return c.heading; });
    for (const auto& row : t.rows) line(row, [](const std::string& cell) { return cell; });
    return out;
}

std::string print_markdown(const table& t) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < t.columns.size(); ++i) {
        std::size_t width = std::max<std::size_t>(width_of(t.columns[i].heading), 3);
        for (const auto& row : t.rows) width = std::max(width, width_of(escaped_markdown(row[i])));
        widths.push_back(width);
    }
    std::string out;
    const auto line = [&](auto text) {
        std::string current = "| ";
        for (std::size_t i = 0; i < t.columns.size(); ++i)
            current += (i > 0 ? " | " : "") + padded(text(i), widths[i], t.columns[i].right_aligned);
        out += current + " |\n";
    };
    line([&](std::size_t i) { return t.columns[i].heading; });
    line([&](std::size_t i) {
        std::string rule(widths[i], '-');
        if (t.columns[i].right_aligned) rule.back() = ':';
        return rule;
    });
    for (const auto& row : t.rows) line([&](std::size_t i) { return escaped_markdown(row[i]); });
    return out;
}

// A table on a terminal.
class terminal_table {
public:
    explicit terminal_table(const table& t) : t_(&t) {
        for (const table::column& c : t.columns) {
            std::size_t width = std::max<std::size_t>(width_of(heading(c)), 3);
            for (const auto& row : t.rows) width = std::max(width, width_of(row[widths_.size()]));
            widths_.push_back(width);
        }
        for (std::size_t begin = 0; begin < widths_.size(); begin = end_of_group(begin)) {
            std::size_t widest = 0;
            for (const std::string& line : lines_of(t.columns[begin].above)) widest = std::max(widest, width_of(line));
            const std::size_t end = end_of_group(begin), has = span(begin, end);
            for (std::size_t i = begin; i < end && widest > has; ++i)
                widths_[i] += (widest - has + i - begin) / (end - begin);  // adds up to the missing width
            above_ = std::max(above_, lines_of(t.columns[begin].above).size());
        }
        fit();
    }

    // Whether there is no room for the last column, which is text.
    bool is_too_wide() const { return is_too_wide_; }

    std::string print() const {
        std::string out;
        for (std::size_t i = 0; i < above_; ++i) out += line_above(i);
        out += line([&](std::size_t i) { return heading(t_->columns[i]); });
        out += line([&](std::size_t i) { return std::string(widths_[i], '-'); });
        for (std::size_t row = 0; row < t_->rows.size(); ++row) {
            const std::vector<std::string>& cells = t_->rows[row];
            const std::size_t last = cells.size() - 1;
            const std::vector<std::string> rest =
                wraps_ ? lines_of(wrapped(cells[last], 0, widths_[last])) : std::vector<std::string>{};
            out += line([&](std::size_t i) { return i == last && !rest.empty() ? rest[0] : cells[i]; });
            for (std::size_t i = 1; i < rest.size(); ++i) out += std::string(span(0, last) + 2, ' ') + rest[i] + '\n';
            constexpr std::size_t kIndent = 4;
            if (row < t_->below.size() && !t_->below[row].empty())
                out += wrapped(std::string(kIndent, ' ') + t_->below[row], kIndent) + '\n';
        }
        return out;
    }

private:
    static const std::string& heading(const table::column& c) { return c.narrow.empty() ? c.heading : c.narrow; }

    // The end of the group that begins at `begin`: columns that share the lines above their headings.
    std::size_t end_of_group(std::size_t begin) const {
        std::size_t end = begin + 1;
        const std::string& above = t_->columns[begin].above;
        while (!above.empty() && end < t_->columns.size() && t_->columns[end].above == above) ++end;
        return end;
    }
    std::size_t span(std::size_t begin, std::size_t end) const {
        std::size_t all = 0;
        for (std::size_t i = begin; i < end; ++i) all += widths_[i] + (i > begin ? 2 : 0);
        return all;
    }

    // Narrows the last column until the lines fit.
    void fit() {
        constexpr std::size_t kLeast = 24;  // narrower text is hard to read
        const std::size_t all = widths_.size();
        if (all < 2 || t_->columns.back().right_aligned || span(0, all) <= kTerminalColumns) return;
        const std::size_t others = span(0, all - 1) + 2;
        is_too_wide_ = others + kLeast > kTerminalColumns;
        if (is_too_wide_) return;
        widths_.back() = kTerminalColumns - others;
        wraps_ = true;
    }

    template <typename Text>
    std::string line(Text text) const {
        std::string current;
        for (std::size_t i = 0; i < widths_.size(); ++i)
            current += (i > 0 ? "  " : "") + padded(text(i), widths_[i], t_->columns[i].right_aligned);
        trim_right(current);
        return current + '\n';
    }
    // The lines of each group end just above its headings.
    std::string line_above(std::size_t at) const {
        std::string current;
        for (std::size_t begin = 0; begin < widths_.size(); begin = end_of_group(begin)) {
            const table::column& first = t_->columns[begin];
            const std::vector<std::string> lines = lines_of(first.above);
            const std::size_t empty = above_ - lines.size();
            current += (begin > 0 ? "  " : "") + padded(at < empty ? "" : lines[at - empty],
                                                        span(begin, end_of_group(begin)), first.right_aligned);
        }
        trim_right(current);
        return current + '\n';
    }

    const table* t_;
    std::vector<std::size_t> widths_ = {};
    std::size_t above_ = 0;  // lines above the headings
    bool wraps_ = false;     // whether the last column is wrapped
    bool is_too_wide_ = false;
};

// Prints the text of the last column below the rows.
std::string print_narrow(table t) {
    t.below.resize(t.rows.size());
    for (std::size_t i = 0; i < t.rows.size(); ++i) {
        t.below[i] = t.rows[i].back() + (t.below[i].empty() ? "" : "; " + t.below[i]);
        t.rows[i].pop_back();
    }
    t.columns.pop_back();
    return terminal_table(t).print();
}

}  // namespace

std::string table::print(format as) const {
    if (as == format::csv) return print_csv(*this);
    if (as == format::markdown) return print_markdown(*this);
    const terminal_table printed(*this);
    return printed.is_too_wide() ? print_narrow(*this) : printed.print();
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
