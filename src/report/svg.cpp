#include "report/svg.hpp"

#include <fmt/format.h>

namespace cornerturn::report {
namespace {

struct colour {
    const char *name, *light, *dark;
};
// The series are Okabe and Ito's colours, which the colour-blind tell apart, two of them darker for white paper.
constexpr colour kColours[] = {
    {"ink", "#1d2330", "#e6e8ee"},     {"soft", "#8a92a3", "#7d8698"}, {"faint", "#eef0f4", "#232936"},
    {"paper", "#ffffff", "#141821"},   {"s0", "#0072b2", "#4aa8e0"},   {"s1", "#d55e00", "#f08a3c"},
    {"s2", "#009e73", "#2cc79a"},      {"s3", "#cc79a7", "#e09bc4"},   {"s4", "#b58900", "#f0c94a"},
    {"s5", "#56b4e9", "#8fd0f5"},      {"s6", "#6a51a3", "#a592dd"},   {"s7", "#7f7f7f", "#b0b0b0"},
    {"on-cell", "#1d2330", "#1d2330"}, {"good", "#1a7f4b", "#3fc380"}, {"bad", "#c0392b", "#ff7b6b"},
};

std::string number(double value) {
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string list(const std::vector<std::pair<double, double>>& points) {
    std::string out;
    for (const auto& [x, y] : points) out += fmt::format("{}{},{}", out.empty() ? "" : " ", number(x), number(y));
    return out;
}

std::string with_hint(std::string_view hint, std::string_view element) {
    return hint.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped(hint), element);
}

}  // namespace

std::string escaped(std::string_view text) {
    // U+FFFE and U+FFFF: no XML either.
    constexpr std::string_view kNone[] = {"\xef\xbf\xbe", "\xef\xbf\xbf"};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 3) == kNone[0] || text.substr(i, 3) == kNone[1]) {
            i += 2;
            continue;
        }
        const char c = text[i];
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default:
                // Other control characters are no XML at all.
                out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? ' ' : c;
        }
    }
    return out;
}

std::string style_sheet() {
    std::string light, dark, classes;
    for (const colour& c : kColours) {
        light += fmt::format("--{}:{};", c.name, c.light);
        dark += fmt::format("--{}:{};", c.name, c.dark);
        classes += fmt::format(".{0}{{fill:var(--{0})}}.l-{0}{{stroke:var(--{0});fill:none}}\n", c.name);
    }
    return fmt::format(
        ":root{{color-scheme:light dark;{}}}\n@media(prefers-color-scheme:dark){{:root{{{}}}}}\n{}"
        "svg text{{font-family:system-ui,sans-serif}}svg text.mono{{font-family:ui-monospace,monospace}}\n"
        ".strong{{font-weight:600}}"
        ".dashed{{stroke-dasharray:4 3}}.quiet{{opacity:.5}}.on-dark{{fill:#fff}}\n",
        light, dark, classes);
}

drawing::drawing(double width, double height, std::string title)
    : width_(width), height_(height), title_(std::move(title)) {}

void drawing::rectangle(double x, double y, double width, double height, std::string_view style,
                        std::string_view hint) {
    shapes_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", style, number(x),
                           number(y), number(width), number(height), with_hint(hint, "rect"));
}

void drawing::cell(double x, double y, double width, double height, std::string_view colour, std::string_view hint) {
    shapes_ += fmt::format("<rect fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", colour, number(x),
                           number(y), number(width), number(height), with_hint(hint, "rect"));
}

void drawing::circle(double x, double y, double radius, std::string_view style, std::string_view hint) {
    shapes_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"{}", style, number(x), number(y),
                           number(radius), with_hint(hint, "circle"));
}

void drawing::line(double x1, double y1, double x2, double y2, std::string_view style, double width) {
    shapes_ += fmt::format("<line class=\"l-{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke-width=\"{}\"/>\n",
                           style, number(x1), number(y1), number(x2), number(y2), number(width));
}

void drawing::path(const std::vector<std::pair<double, double>>& points, std::string_view style, double width) {
    shapes_ += fmt::format("<polyline class=\"l-{}\" points=\"{}\" stroke-width=\"{}\"/>\n", style, list(points),
                           number(width));
}

void drawing::polygon(const std::vector<std::pair<double, double>>& corners, std::string_view style,
                      std::string_view hint) {
    shapes_ += fmt::format("<polygon class=\"{}\" points=\"{}\"{}", style, list(corners), with_hint(hint, "polygon"));
}

void drawing::text(double x, double y, std::string_view text, std::string_view style, anchor where, double size,
                   double degrees) {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    shapes_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{}\"", style, number(x),
                           number(y), number(size), kAnchors[static_cast<int>(where)]);
    if (degrees != 0) shapes_ += fmt::format(" transform=\"rotate({} {} {})\"", number(degrees), number(x), number(y));
    shapes_ += fmt::format(">{}</text>\n", escaped(text));
}

std::string drawing::element(std::string_view style) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
        "<title>{2}</title>\n{3}{4}</svg>\n",
        number(width_), number(height_), escaped(title_), style, shapes_);
}

std::string drawing::in_page() const { return element({}); }

std::string drawing::as_file() const {
    return element(fmt::format("<style>{}</style>\n<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", style_sheet(),
                               number(width_), number(height_)));
}

}  // namespace cornerturn::report
