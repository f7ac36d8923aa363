// Drawings as SVG: shapes and text, coloured by class. In a browser they follow the reader's light or dark theme. Other
// programs draw a file in the light theme.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cornerturn::report {

// The text, escaped for HTML and XML.
std::string escaped(std::string_view text);

// The classes of drawings. Colours: ink, soft (axes, less important text), faint (backgrounds), s0 to s7 (one per
// series), good, bad, on-cell (text on a light cell). A colour's class fills a shape; with the prefix l- it only
// strokes it. Modifiers beside a colour: strong (bold), mono, dashed, quiet (half opaque), on-dark (text on a dark
// cell).
std::string style_sheet();

enum class anchor { start, middle, end };

// Lengths are pixels at 100 %. y points down.
class drawing {
public:
    // `title` is for screen readers. Sizes are rounded up: half a pixel of background would be transparent.
    drawing(double width, double height, std::string title);

    // `hint` appears while the pointer is on the shape.
    void rectangle(double x, double y, double width, double height, std::string_view style, std::string_view hint = {});
    // A rectangle in a colour that no class has, such as one of a heat map.
    void cell(double x, double y, double width, double height, std::string_view colour, std::string_view hint = {});
    void circle(double x, double y, double radius, std::string_view style, std::string_view hint = {});
    void line(double x1, double y1, double x2, double y2, std::string_view style, double width = 1);
    void path(const std::vector<std::pair<double, double>>& points, std::string_view style, double width = 1.5);
    // A filled polygon.
    void polygon(const std::vector<std::pair<double, double>>& corners, std::string_view style,
                 std::string_view hint = {});
    // degrees: rotated about its anchor, clockwise.
    void text(double x, double y, std::string_view text, std::string_view style = "ink", anchor where = anchor::start,
              double size = 11, double degrees = 0);

    double width() const { return width_; }
    std::string in_page() const;  // for a page that has style_sheet()
    std::string as_file() const;  // a complete file, with each colour as an attribute too

private:
    std::string element(std::string_view inside) const;

    double width_, height_;
    std::string title_, shapes_;
};

}  // namespace cornerturn::report
