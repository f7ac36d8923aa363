// show: prints a small matrix and its transpose.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "core/numbers.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "cornerturn/transpose.hpp"

namespace cornerturn::cli {
namespace {

constexpr std::int64_t kMostShown = 1 << 20;  // elements

// A matrix of digits. A complex element has two, one in each half. A digit is the first byte of its element or half.
struct digits {
    std::int64_t rows, cols;
    int size;
    bool complex;
    std::vector<unsigned char> bytes;

    std::string at(std::int64_t row, std::int64_t col) const {
        const unsigned char* const element = bytes.data() + (row * cols + col) * size;
        return complex ? fmt::format("{}+{}i", element[0], element[size / 2]) : fmt::format("{}", element[0]);
    }
};

std::string show_rows(const digits& m) {
    std::string lines;
    for (std::int64_t row = 0; row < m.rows; ++row) {
        for (std::int64_t col = 0; col < m.cols; ++col) lines += (col == 0 ? "" : " ") + m.at(row, col);
        lines += '\n';
    }
    return lines;
}

lab::table table_of(const digits& m) {
    lab::table t;
    for (std::int64_t col = 0; col < m.cols; ++col) t.columns.push_back({std::to_string(col), true});
    for (std::int64_t row = 0; row < m.rows; ++row) {
        t.rows.emplace_back();
        for (std::int64_t col = 0; col < m.cols; ++col) t.rows.back().push_back(m.at(row, col));
    }
    return t;
}

// One table of both matrices, one element per row.
lab::table long_table(const digits& original, const digits& transposed) {
    lab::table t{{{"matrix"}, {"row", true}, {"col", true}, {"value", true}}, {}};
    for (const auto& [name, m] : {std::pair{"original", &original}, {"transposed", &transposed}}) {
        for (std::int64_t i = 0; i < m->rows * m->cols; ++i) {
            t.rows.push_back(
                {name, std::to_string(i / m->cols), std::to_string(i % m->cols), m->at(i / m->cols, i % m->cols)});
        }
    }
    return t;
}

nlohmann::ordered_json json_rows(const digits& m) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (std::int64_t row = 0; row < m.rows; ++row) {
        out.push_back(nlohmann::ordered_json::array());
        for (std::int64_t col = 0; col < m.cols; ++col) {
            const std::string text = m.at(row, col);
            out.back().push_back(m.complex ? nlohmann::ordered_json(text) : nlohmann::ordered_json(std::stoi(text)));
        }
    }
    return out;
}

// Both matrices as text: digits 0 to 9, two per element for complex types.
std::string show(std::int64_t rows, std::int64_t cols, const dtype& type, std::uint64_t seed, lab::format as) {
    checked_multiply(rows, cols, "ROWS x COLS");
    if (std::max<std::int64_t>(rows, 1) > kMostShown / std::max<std::int64_t>(cols, 1)) {
        throw invalid_argument(
            fmt::format("{} x {} elements are too many to print: the limit is {}", rows, cols, kMostShown));
    }
    const bool complex = type.name[0] == 'c';
    digits original{rows, cols, type.size, complex,
                    std::vector<unsigned char>(static_cast<std::size_t>(rows * cols * type.size))};
    digits transposed{cols, rows, type.size, complex, original.bytes};
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < rows * cols; ++i) {
        original.bytes[static_cast<std::size_t>(i * type.size)] = static_cast<unsigned char>(random() % 10);
        if (complex)
            original.bytes[static_cast<std::size_t>(i * type.size + type.size / 2)] =
                static_cast<unsigned char>(random() % 10);
    }
    const auto view = [](digits& m) {
        return detail::any_batch{reinterpret_cast<std::uintptr_t>(m.bytes.data()), m.rows, m.cols, m.cols, 1, 0};
    };
    detail::transpose(view(original), view(transposed), type.size, 1, {.threads = 1});
    switch (as) {
        case lab::format::json: {
            const nlohmann::ordered_json out = {{"rows", rows},
                                                {"cols", cols},
                                                {"dtype", type.name},
                                                {"original", json_rows(original)},
                                                {"transposed", json_rows(transposed)}};
            return lab::json_text(out) + "\n";
        }
        case lab::format::csv: return long_table(original, transposed).print(as);
        case lab::format::markdown:
            return "Original:\n\n" + table_of(original).print(as) + "\nTransposed:\n\n" +
                   table_of(transposed).print(as);
        default: return "Original:\n" + show_rows(original) + "Transposed:\n" + show_rows(transposed);
    }
}

void run(const invocation& invocation) {
    const lab::format as = invocation.format();
    const std::string shape = invocation.arguments.text("SHAPE", "");
    const std::size_t x = shape.find('x');
    if (x == std::string::npos || x == 0 || x + 1 == shape.size())
        throw invalid_argument(fmt::format("the shape is '{}': it must be ROWSxCOLS, such as 4x8", shape));
    const std::int64_t rows = parse_size("ROWS of " + shape, shape.substr(0, x));
    const std::int64_t cols = parse_size("COLS of " + shape, shape.substr(x + 1));
    const dtype type = find_dtype(invocation.arguments.text("--dtype", "i32"));
    write_out(invocation.output(), show(rows, cols, type, invocation.seed(), as));
}

}  // namespace

command show_command() {
    return {.name = "show",
            .help = "Print a small random matrix and its transpose.",
            .positionals = {{"SHAPE", "", "Rows and columns, such as 4x8."}},
            .options = {{"--dtype", "u8|u16|f32|f64|c128...", "Type of the elements. Default: i32."}},
            .run = run,
            .examples = {"cornerturn show 4x8", "cornerturn show 3x3 --dtype c64"}};
}

}  // namespace cornerturn::cli
