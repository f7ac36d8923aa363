// Drawings as SVG: shapes and text, coloured by class. In a browser they follow the reader's light or dark theme. Other
// programs draw a file in the light theme.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cornerturn::report {

// As text in HTML and XML.
std::string escaped(std::string_view text);

// The colours behind the classes that drawings name: ink, soft (rules, lesser text), faint (grounds), s0 to s7 (a
// series each), good, bad, on-cell (text on a light colour of its own). In front of each: what fills, .l- what only
// strokes. Beside a colour: strong (bold), mono, dashed, quiet (half there). on-dark is text on a dark colour.
std::string style_sheet();

enum class anchor { start, middle, end };

// Lengths are pixels at 100 %, y downwards.
class drawing {
public:
    // `title` is for readers that cannot see it. Sizes are rounded up: half a pixel of background would be transparent.
    drawing(double width, double height, std::string title);

    // `hint` appears where a pointer rests on the shape.
    void rectangle(double x, double y, double width, double height, std::string_view style, std::string_view hint = {});
    // Of a colour that no class has, such as a heat map's.
    void cell(double x, double y, double width, double height, std::string_view colour, std::string_view hint = {});
    void circle(double x, double y, double radius, std::string_view style, std::string_view hint = {});
    void line(double x1, double y1, double x2, double y2, std::string_view style, double width = 1);
    void path(const std::vector<std::pair<double, double>>& points, std::string_view style, double width = 1.5);
    // Filled, around these corners.
    void polygon(const std::vector<std::pair<double, double>>& corners, std::string_view style,
                 std::string_view hint = {});
    // degrees: rotated about its anchor, clockwise.
    void text(double x, double y, std::string_view text, std::string_view style = "ink", anchor where = anchor::start,
              double size = 11, double degrees = 0);

    double width() const { return width_; }
    std::string in_page() const;  // of a page that holds style_sheet()
    std::string as_file() const;  // stands alone, and has each colour as an attribute too

private:
    std::string element(std::string_view inside) const;

    double width_, height_;
    std::string title_, shapes_;
};

}  // namespace cornerturn::report
