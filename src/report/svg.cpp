#include "report/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cornerturn::report {
namespace {

struct colour {
    const char *name, *light, *dark;
};
// The series have Okabe and Ito's colours, which colour-blind readers can distinguish. Two are darker for white paper.
constexpr colour kColours[] = {
    {"ink", "#1d2330", "#e6e8ee"},     {"soft", "#697182", "#8f98aa"}, {"faint", "#eef0f4", "#232936"},
    {"paper", "#ffffff", "#141821"},   {"s0", "#0072b2", "#4aa8e0"},   {"s1", "#d55e00", "#f08a3c"},
    {"s2", "#009e73", "#2cc79a"},      {"s3", "#cc79a7", "#e09bc4"},   {"s4", "#b58900", "#f0c94a"},
    {"s5", "#56b4e9", "#8fd0f5"},      {"s6", "#6a51a3", "#a592dd"},   {"s7", "#7f7f7f", "#b0b0b0"},
    {"on-cell", "#1d2330", "#1d2330"}, {"good", "#1a7f4b", "#3fc380"}, {"bad", "#c0392b", "#ff7b6b"},
};

// A class that is used beside a colour: a property and its value.
struct modifier {
    const char *name, *property, *value;
};
constexpr modifier kModifiers[] = {{"strong", "font-weight", "600"},
                                   {"dashed", "stroke-dasharray", "4 3"},
                                   {"quiet", "opacity", "0.5"},
                                   {"on-dark", "fill", "#ffffff"}};

// The classes of an element as attributes of the light theme, for programs without CSS variables.
std::string attributes_of(std::string_view classes) {
    std::string out;
    while (!classes.empty()) {
        const std::string_view name = classes.substr(0, classes.find(' '));
        classes.remove_prefix(std::min(name.size() + 1, classes.size()));
        for (const colour& c : kColours) {
            if (name == c.name) out += fmt::format(" fill=\"{}\"", c.light);
            if (name.starts_with("l-") && name.substr(2) == c.name)
                out += fmt::format(" stroke=\"{}\" fill=\"none\"", c.light);
        }
        for (const modifier& m : kModifiers) {
            if (name == m.name) out += fmt::format(" {}=\"{}\"", m.property, m.value);
        }
        if (name == "mono") out += " font-family=\"monospace\"";
    }
    return out;
}

// CSS overrides attributes, so browsers still have both themes. No text contains ` class="`: its quotes are escaped.
std::string with_attributes(const std::string& elements) {
    constexpr std::string_view kClass = " class=\"";
    std::string out;
    for (std::size_t at = 0; at < elements.size();) {
        const std::size_t found = elements.find(kClass, at);
        if (found == std::string::npos) return out + elements.substr(at);
        const std::size_t begin = found + kClass.size(), end = elements.find('"', begin);
        out += elements.substr(at, end + 1 - at) + attributes_of(elements.substr(begin, end - begin));
        at = end + 1;
    }
    return out;
}

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
    // XML allows neither U+FFFE nor U+FFFF.
    constexpr std::string_view kForbidden[] = {"\xef\xbf\xbe", "\xef\xbf\xbf"};
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 3) == kForbidden[0] || text.substr(i, 3) == kForbidden[1]) {
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
                // XML does not allow other control characters.
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
    for (const modifier& m : kModifiers) classes += fmt::format(".{}{{{}:{}}}", m.name, m.property, m.value);
    return fmt::format(
        ":root{{color-scheme:light dark;{}}}\n@media(prefers-color-scheme:dark){{:root{{{}}}}}\n{}\n"
        "svg text{{font-family:system-ui,sans-serif}}svg text.mono{{font-family:ui-monospace,monospace}}\n",
        light, dark, classes);
}

drawing::drawing(double width, double height, std::string title)
    : width_(std::ceil(width)), height_(std::ceil(height)), title_(std::move(title)) {}

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

std::string drawing::element(std::string_view inside) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "font-family=\"sans-serif\">\n<title>{2}</title>\n{3}</svg>\n",
        number(width_), number(height_), escaped(title_), inside);
}

std::string drawing::in_page() const { return element(shapes_); }

std::string drawing::as_file() const {
    // Some renderers read the style sheet but not its variables, and would draw in black: @supports hides it from them.
    return element(fmt::format("<style>@supports(fill:var(--ink)){{\n{}}}</style>\n{}", style_sheet(),
                               with_attributes(fmt::format("<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n{}",
                                                           number(width_), number(height_), shapes_))));
}

}  // namespace cornerturn::report
