// Kinds of charts. charts.hpp fills them with results.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/svg.hpp"

namespace cornerturn::report {

// Marks differ in shape as well as in colour. mark::bar is a short line.
enum class mark { none, disc, square, up, down, diamond, bar };

struct key {
    std::string name = {}, style = {};
    mark shape = mark::square;
};

// One bar per row, of one or several parts in a row.
struct bar_chart {
    struct part {
        double length;
        std::string style, hint;
    };
    struct bar {
        std::string label = {};
        std::vector<part> parts = {};
        std::optional<std::pair<double, double>> spread = std::nullopt;
        std::string value = {}, value_style = "ink";
    };
    std::string title = {}, axis = {};
    std::vector<key> keys = {};
    std::vector<bar> bars = {};
    std::optional<std::pair<double, std::string>> reference_line = {};  // its value and its name
};
drawing draw(const bar_chart& chart);

struct point {
    double x, y;
    std::string hint = {};
};

// Lines, marks or both over two axes.
struct line_chart {
    struct series {
        std::string name = {}, style = {};
        mark shape = mark::disc;
        std::vector<point> points = {};
        bool line = true, dashed = false;
        bool named = true;  // at its end, or above the chart if it has only marks; false for background lines
    };
    std::string title = {}, x_axis = {}, y_axis = {};
    bool y_log = false;
    std::vector<std::pair<double, std::string>> ticks = {};  // of x, which is logarithmic; none: powers of ten
    std::vector<series> lines = {};
    std::optional<double> reference_line = {};  // at this y
};
drawing draw(const line_chart& chart);

// Ratios as coloured cells.
struct heat_map {
    struct spot {
        double ratio;  // 0: none
        std::string hint, text = {};
    };
    struct row {
        std::string group = {}, label = {};
        std::vector<spot> spots;  // one per column
    };
    std::string title = {}, column_axis = {};
    std::vector<std::string> columns = {};
    std::vector<row> rows = {};
};
drawing draw(const heat_map& map);

// Panels one above the other, with the same rows and the same scale.
struct panel_chart {
    struct series {
        std::size_t key;
        std::vector<point> points = {};  // x: the number of the row
    };
    std::string title = {}, axis = {};
    std::vector<key> keys = {};                                  // the first one is drawn last, on top
    std::vector<std::pair<std::string, std::string>> rows = {};  // group and label
    std::vector<std::pair<std::string, std::vector<series>>> panels = {};
};
drawing draw(const panel_chart& chart);

// Groups of bars in two columns with one scale and a line at 1. Each bar has its number and a note. The chart is as
// wide as a README.
struct share_chart {
    struct bar {
        std::string name = {}, style = {};
        double share = 0;
        std::string note = {}, hint = {};
    };
    struct group {
        std::string name = {};
        std::vector<bar> bars = {};
    };
    std::string title = {}, subtitle = {};  // two lines of text above the bars
    std::vector<group> columns[2] = {};
};
drawing draw(const share_chart& chart);

}  // namespace cornerturn::report
