#include "report/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cornerturn::report {
namespace {

constexpr double kText = 12, kSmall = 11;

// An estimate in pixels, because the font is unknown.
double width_of(const std::string& text, bool mono = false) {
    const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; });
    return static_cast<double>(characters) * (mono ? 7.3 : 6.6);
}

// Shortens a label, so that a chart fits on the page.
std::string shortened(const std::string& text, std::size_t most = 40) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((text[i] & 0xc0) == 0x80) continue;
        if (++characters == most && text.size() > i + 4) return text.substr(0, i) + "…";
    }
    return text;
}

double step_of(double most, int ticks) {
    const double rough = most / ticks, power = std::pow(10, std::floor(std::log10(rough)));
    for (double nice : {1.0, 2.0, 5.0}) {
        if (rough <= nice * power) return nice * power;
    }
    return 10 * power;
}

std::string tick_text(double value) {
    if (value >= 1e6) return fmt::format("{:g}", value);
    return value >= 1000 ? fmt::format("{:.0f}", value) : fmt::format("{:g}", std::round(value * 1e6) / 1e6);
}

void draw_mark(drawing& art, mark shape, double x, double y, double size, const std::string& style,
               const std::string& hint = {}) {
    switch (shape) {
        case mark::none: break;
        case mark::disc: art.circle(x, y, size, style, hint); break;
        case mark::square: art.rectangle(x - size * .9, y - size * .9, size * 1.8, size * 1.8, style, hint); break;
        case mark::up: art.polygon({{x, y - size}, {x + size, y + size}, {x - size, y + size}}, style, hint); break;
        case mark::down: art.polygon({{x, y + size}, {x + size, y - size}, {x - size, y - size}}, style, hint); break;
        case mark::diamond:
            art.polygon({{x, y - size * 1.2}, {x + size * 1.2, y}, {x, y + size * 1.2}, {x - size * 1.2, y}}, style,
                        hint);
            break;
        case mark::bar: art.rectangle(x - size * 1.6, y - 1.25, size * 3.2, 2.5, style, hint); break;
    }
}

// Draws the keys side by side, in as many lines as needed. Returns the y below them.
double draw_keys(drawing& art, const std::vector<key>& keys, double left, double right, double y) {
    if (keys.empty()) return y;
    double x = left;
    for (const key& k : keys) {
        const double width = 36 + width_of(k.name) * 1.05;
        if (x > left && x + width > right) {
            x = left;
            y += 18;
        }
        draw_mark(art, k.shape, x + 6, y + 8, k.shape == mark::bar ? 4 : 5, k.style);
        art.text(x + 16, y + 12, k.name, "ink", anchor::start, kText);
        x += width;
    }
    return y + 26;
}

double keys_height(const std::vector<key>& keys, double left, double right) {
    drawing nowhere(1, 1, "");
    return draw_keys(nowhere, keys, left, right, 0);
}

// Moves the labels at the ends of lines so that none overlaps another. Their order stays.
void space_labels(std::vector<double>& rows, double gap, double top, double bottom) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::max(rows[i], i == 0 ? top : rows[i - 1] + gap);
    double limit = bottom;
    for (std::size_t i = rows.size(); i-- > 0;) {
        rows[i] = std::min(rows[i], limit);
        limit = rows[i] - gap;
    }
}

struct axis_range {
    double from = 0, to = 1;
    bool log = false;
    double at(double value) const {
        return log ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
    }
};

// The data's range and a margin. A linear axis begins at 0 unless the data is far above it.
axis_range range_of(double least, double most, bool log) {
    if (log) return {least / 1.3, most * 1.3, true};
    return {least > 0.65 * most ? std::floor((least - 0.02 * most) / most * 20) / 20 * most : 0, most * 1.04, false};
}

std::vector<double> ticks_of(const axis_range& range) {
    std::vector<double> all;
    if (!range.log) {
        const double step = step_of(range.to - range.from, 6);
        for (double i = std::ceil(range.from / step); i * step <= range.to; ++i) all.push_back(i * step);
        return all;
    }
    const bool few = range.to / range.from < 300;
    for (double power = std::pow(10, std::floor(std::log10(range.from))); power <= range.to; power *= 10) {
        for (double times : {1.0, 2.0, 5.0}) {
            if ((times == 1 || few) && power * times >= range.from && power * times <= range.to)
                all.push_back(power * times);
        }
    }
    return all;
}

// Red for 0.5 and less, white for 1, blue for 2 and more.
struct rgb {
    double red, green, blue;
};
rgb heat_colour(double ratio) {
    constexpr rgb kSlow{178, 34, 43}, kEven{247, 247, 247}, kQuick{33, 102, 172};
    const double octaves = std::clamp(std::log2(ratio), -1.0, 1.0), share = std::pow(std::abs(octaves), 0.75);
    const rgb& end = octaves < 0 ? kSlow : kQuick;
    const auto mixed = [&](double a, double b) { return a + (b - a) * share; };
    return {mixed(kEven.red, end.red), mixed(kEven.green, end.green), mixed(kEven.blue, end.blue)};
}
std::string hex(const rgb& c) {
    return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(std::lround(c.red)),
                       static_cast<int>(std::lround(c.green)), static_cast<int>(std::lround(c.blue)));
}
// WCAG 2's definition.
double luminance(const rgb& c) {
    const auto linear = [](double channel) {
        channel /= 255;
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}
// White text on dark colours. At a luminance of 0.18 white and black have the same contrast.
const char* ink_on(const rgb& c) { return luminance(c) < 0.18 ? "on-dark strong" : "on-cell"; }

}  // namespace

drawing draw(const bar_chart& chart) {
    constexpr double kPlot = 470, kRow = 23, kBar = 15, kEnd = 96;
    double left = 60, most = chart.reference_line ? chart.reference_line->first : 0;
    for (const auto& bar : chart.bars) {
        left = std::max(left, 20 + width_of(shortened(bar.label), true));
        double sum = 0;
        for (const auto& part : bar.parts) sum += part.length;
        most = std::max({most, sum, bar.spread ? bar.spread->second : 0});
    }
    if (most <= 0) most = 1;
    const axis_range range = range_of(0, most, false);
    const double right = left + kPlot, head = keys_height(chart.keys, left, right + kEnd);
    const double top = 10 + head + (chart.reference_line ? 18 : 0),
                 bottom = top + kRow * static_cast<double>(chart.bars.size());
    drawing art(right + kEnd, bottom + 46, chart.title);
    draw_keys(art, chart.keys, left, right + kEnd, 8);
    const auto x_of = [&](double value) { return left + kPlot * range.at(value); };
    for (double tick : ticks_of(range)) {
        art.line(x_of(tick), top, x_of(tick), bottom, "faint");
        art.text(x_of(tick), bottom + 16, tick_text(tick), "ink", anchor::middle, kSmall);
    }
    art.text(left + kPlot / 2, bottom + 36, chart.axis, "ink", anchor::middle, kText);
    for (std::size_t i = 0; i < chart.bars.size(); ++i) {
        const double y = top + kRow * static_cast<double>(i) + (kRow - kBar) / 2;
        double sum = 0;
        for (const auto& part : chart.bars[i].parts) {
            art.rectangle(x_of(sum), y, std::max(x_of(sum + part.length) - x_of(sum), 0.5), kBar, part.style,
                          part.hint);
            sum += part.length;
        }
    }
    if (chart.reference_line) {
        art.line(x_of(chart.reference_line->first), top - 4, x_of(chart.reference_line->first), bottom, "ink", 1.2);
        art.text(x_of(chart.reference_line->first), top - 8, chart.reference_line->second, "ink strong", anchor::middle,
                 kSmall);
    }
    for (std::size_t i = 0; i < chart.bars.size(); ++i) {
        const auto& bar = chart.bars[i];
        const double middle = top + kRow * (static_cast<double>(i) + 0.5);
        double end = 0;
        for (const auto& part : bar.parts) end += part.length;
        if (bar.spread) {
            art.line(x_of(bar.spread->first), middle, x_of(bar.spread->second), middle, "ink", 1.5);
            end = std::max(end, bar.spread->second);
        }
        art.text(left - 8, middle + 4, shortened(bar.label), "ink mono", anchor::end, kText);
        // The value must not be on top of the reference line.
        double x = x_of(end) + 6;
        if (chart.reference_line && x < x_of(chart.reference_line->first) + 4 &&
            x + width_of(bar.value) + 4 > x_of(chart.reference_line->first))
            x = x_of(chart.reference_line->first) + 6;
        art.text(x, middle + 4, bar.value, bar.value_style, anchor::start, kText);
    }
    art.line(left, top, left, bottom, "soft");
    return art;
}

namespace {

struct plot_area {
    double left, top, width, height;
    axis_range x, y;
    double x_of(double value) const { return left + width * x.at(value); }
    double y_of(double value) const { return top + height * (1 - y.at(value)); }
    double right() const { return left + width; }
    double bottom() const { return top + height; }
};

void draw_axes(drawing& art, const plot_area& area, const line_chart& chart) {
    for (double tick : ticks_of(area.y)) {
        art.line(area.left, area.y_of(tick), area.right(), area.y_of(tick), "faint");
        art.text(area.left - 7, area.y_of(tick) + 4, tick_text(tick), "ink", anchor::end, kSmall);
    }
    auto ticks = chart.ticks;
    if (ticks.empty()) {
        for (double tick : ticks_of(area.x)) ticks.emplace_back(tick, tick_text(tick));
    }
    double taken = -1e9;
    for (const auto& [tick, label] : ticks) {
        const double x = area.x_of(tick), half = width_of(label) / 2;
        art.line(x, area.top, x, area.bottom(), "faint");
        if (x - half < taken) continue;
        art.text(x, area.bottom() + 16, label, "ink", anchor::middle, kSmall);
        taken = x + half + 6;
    }
    art.line(area.left, area.bottom(), area.right(), area.bottom(), "soft");
    art.text(area.left + area.width / 2, area.bottom() + 36, chart.x_axis, "ink", anchor::middle, kText);
    art.text(14, area.top + area.height / 2, chart.y_axis, "ink", anchor::middle, kText, -90);
    if (chart.reference_line)
        art.line(area.left, area.y_of(*chart.reference_line), area.right(), area.y_of(*chart.reference_line), "ink",
                 1.2);
}

void draw_names(drawing& art, const plot_area& area, std::vector<const line_chart::series*> named) {
    std::sort(named.begin(), named.end(), [](auto* a, auto* b) { return a->points.back().y > b->points.back().y; });
    std::vector<double> rows;
    for (const auto* s : named) rows.push_back(area.y_of(s->points.back().y));
    space_labels(rows, 16, area.top + 6, area.bottom() - 4);
    for (std::size_t i = 0; i < named.size(); ++i) {
        const point& end = named[i]->points.back();
        const double x = area.x_of(end.x), from = area.right() + 10;
        art.path({{x + 6, area.y_of(end.y)}, {from, rows[i]}, {from + 6, rows[i]}}, named[i]->style + " quiet", 1);
        draw_mark(art, named[i]->shape, from + 12, rows[i], 4, named[i]->style);
        art.text(from + 21, rows[i] + 4, shortened(named[i]->name), "ink", anchor::start, kText);
    }
}

}  // namespace

drawing draw(const line_chart& chart) {
    double x_least = 1e300, x_most = 0, y_least = 1e300, y_most = chart.reference_line.value_or(0), names = 0;
    std::vector<key> keys;
    std::vector<const line_chart::series*> named;
    for (const auto& s : chart.lines) {
        for (const point& p : s.points) {
            x_least = std::min(x_least, p.x);
            x_most = std::max(x_most, p.x);
            y_least = std::min(y_least, p.y);
            y_most = std::max(y_most, p.y);
        }
        if (!s.named || s.points.empty()) continue;
        if (!s.line) keys.push_back({s.name, s.style, s.shape});
        if (s.line) named.push_back(&s);
        if (s.line) names = std::max(names, 46 + width_of(shortened(s.name)) * 1.08);
    }
    if (x_most <= 0) x_least = x_most = 1;
    if (y_most <= 0) y_least = y_most = 1;
    constexpr double kLeft = 66, kWidth = 520, kHeight = 330;
    const double end = kLeft + kWidth + std::max(names, 30.0), top = 14 + keys_height(keys, kLeft, end);
    plot_area area{
        kLeft, top, kWidth, kHeight, {x_least / 1.12, x_most * 1.12, true}, range_of(y_least, y_most, chart.y_log)};
    drawing art(end, area.bottom() + 46, chart.title);
    draw_keys(art, keys, kLeft, end, 8);
    draw_axes(art, area, chart);
    for (bool front : {false, true}) {
        for (const auto& s : chart.lines) {
            if (s.named != front) continue;
            std::vector<std::pair<double, double>> path;
            for (const point& p : s.points) path.emplace_back(area.x_of(p.x), area.y_of(p.y));
            if (s.line && path.size() > 1)
                art.path(path, s.style + (s.dashed ? " dashed" : "") + (front ? "" : " quiet"), front ? 2 : 1);
            for (std::size_t i = 0; i < path.size(); ++i)
                draw_mark(art, s.shape, path[i].first, path[i].second, front ? 4 : 2, s.style, s.points[i].hint);
        }
    }
    draw_names(art, area, named);
    return art;
}

drawing draw(const heat_map& map) {
    constexpr double kWide = 62, kTall = 24, kGap = 8;
    double left = 40, group_width = 0;
    for (const auto& row : map.rows) {
        group_width = std::max(group_width, 26 + width_of(shortened(row.group)));
        left = std::max(left, 12 + width_of(shortened(row.label)));
    }
    left += group_width;
    const double right = left + kWide * static_cast<double>(map.columns.size());
    constexpr double kScale[] = {0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0};
    constexpr double kScaleCell = 44;
    const double scale_end = 10 + kScaleCell * static_cast<double>(std::size(kScale)), top = 92;
    double height = top;
    for (std::size_t i = 0; i < map.rows.size(); ++i)
        height += kTall + (i > 0 && map.rows[i].group != map.rows[i - 1].group ? kGap : 0);
    drawing art(std::max(right, scale_end) + 12, height + 10, map.title);
    for (std::size_t i = 0; i < std::size(kScale); ++i) {
        const rgb colour = heat_colour(kScale[i]);
        const double x = 8 + kScaleCell * static_cast<double>(i);
        art.cell(x, 6, kScaleCell, 20, hex(colour));
        const char* const bound = i == 0 ? "≤ " : i + 1 == std::size(kScale) ? "≥ " : "";
        art.text(x + kScaleCell / 2, 20, fmt::format("{}{:g}", bound, kScale[i]), ink_on(colour), anchor::middle,
                 kSmall);
    }
    art.text(left + (right - left) / 2, top - 32, map.column_axis, "ink", anchor::middle, kText);
    for (std::size_t i = 0; i < map.columns.size(); ++i)
        art.text(left + kWide * (static_cast<double>(i) + 0.5), top - 10, map.columns[i], "ink strong", anchor::middle,
                 kText);
    double y = top;
    for (std::size_t i = 0; i < map.rows.size(); ++i) {
        const auto& row = map.rows[i];
        const bool first = i == 0 || row.group != map.rows[i - 1].group;
        if (i > 0 && first) y += kGap;
        if (first) art.text(8, y + 16, shortened(row.group), "ink strong", anchor::start, kText);
        art.text(left - 8, y + 16, shortened(row.label), "ink", anchor::end, kText);
        for (std::size_t at = 0; at < row.spots.size(); ++at) {
            const auto& spot = row.spots[at];
            const double x = left + kWide * static_cast<double>(at);
            if (spot.ratio <= 0) {
                art.rectangle(x + 1, y + 1, kWide - 2, kTall - 2, "faint", spot.hint);
                art.text(x + kWide / 2, y + 16, spot.text.empty() ? "-" : spot.text, spot.text.empty() ? "ink" : "bad",
                         anchor::middle, kSmall);
                continue;
            }
            const rgb colour = heat_colour(spot.ratio);
            art.cell(x + 1, y + 1, kWide - 2, kTall - 2, hex(colour), spot.hint);
            art.text(x + kWide / 2, y + 16, fmt::format("{:.2f}", spot.ratio), ink_on(colour), anchor::middle, kText);
        }
        y += kTall;
    }
    return art;
}

drawing draw(const panel_chart& chart) {
    constexpr double kHeight = 104, kBetween = 22;
    // With few rows the distance is larger, so that the keys above fit.
    const double row_width =
        std::clamp(540 / static_cast<double>(std::max<std::size_t>(chart.rows.size(), 1)), 27.0, 60.0);
    double left = 76, most = 1, labels = 0;
    for (const auto& [name, all] : chart.panels) {
        for (const auto& s : all) {
            for (const point& p : s.points) most = std::max(most, p.y);
        }
    }
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        const double width = width_of(shortened(chart.rows[i].second));
        labels = std::max(labels, width);
        left = std::max(left, width / 2 - row_width * static_cast<double>(i) + 8);  // the left end of a slanting label
    }
    const double width = row_width * static_cast<double>(chart.rows.size()), right = left + width;
    const double head = 12 + keys_height(chart.keys, left, right), groups = 20;
    const double tall = head + groups + (kHeight + kBetween) * static_cast<double>(chart.panels.size());
    drawing art(right + 16, tall + labels * 0.76 + 12, chart.title);
    draw_keys(art, chart.keys, left, right, 8);
    const auto x_of = [&](double row) { return left + row_width * (row + 0.5); };
    // The group's name is above its rows, if there is room.
    std::vector<std::size_t> begins;
    for (std::size_t i = 0; i < chart.rows.size(); ++i) {
        if (i == 0 || chart.rows[i].first != chart.rows[i - 1].first) begins.push_back(i);
    }
    begins.push_back(chart.rows.size());
    for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
        const std::string& group = chart.rows[begins[i]].first;
        const auto room = row_width * static_cast<double>(begins[i + 1] - begins[i]);
        if (width_of(group) < room + 8)
            art.text(left + row_width * static_cast<double>(begins[i]) + room / 2, head + 12, group, "ink strong",
                     anchor::middle, kSmall);
    }
    const axis_range range{0, most * 1.08, false};
    double top = head + groups;
    for (const auto& [name, all] : chart.panels) {
        const auto y_of = [&, top = top](double value) { return top + kHeight * (1 - range.at(value)); };
        const double step = step_of(range.to, 4);
        for (int i = 0; i * step <= range.to; ++i) {
            art.line(left, y_of(i * step), right, y_of(i * step), "faint");
            art.text(left - 6, y_of(i * step) + 4, tick_text(i * step), "ink", anchor::end, kSmall);
        }
        for (std::size_t i = 1; i + 1 < begins.size(); ++i) {
            const double x = left + row_width * static_cast<double>(begins[i]);
            art.line(x, top, x, top + kHeight, "soft quiet");
        }
        art.line(left, y_of(1), right, y_of(1), "ink", 1.2);
        art.text(left - 36, top + kHeight / 2, name, "ink strong", anchor::middle, kText, -90);
        for (std::size_t i = all.size(); i-- > 0;) {
            const key& k = chart.keys[all[i].key];
            for (const point& p : all[i].points)
                draw_mark(art, k.shape, x_of(p.x), y_of(p.y), i == 0 ? 4.6 : 3.8, k.style, p.hint);
        }
        top += kHeight + kBetween;
    }
    for (std::size_t i = 0; i < chart.rows.size(); ++i)
        art.text(x_of(static_cast<double>(i)) + 4, tall - 4, shortened(chart.rows[i].second), "ink", anchor::end,
                 kSmall, -60);
    art.text(14, head + groups + (tall - head - groups) / 2, chart.axis, "ink", anchor::middle, kText, -90);
    return art;
}

drawing draw(const share_chart& chart) {
    constexpr double kNames = 138, kPlot = 140, kColumn = 446, kLeft = 16, kRow = 22, kBar = 13, kHead = 38;
    constexpr double kTop = 66, kLarge = 15;
    double most = 1, height = 0;
    for (const auto& column : chart.columns) {
        double tall = kTop;
        for (const auto& group : column) {
            tall += kHead + kRow * static_cast<double>(group.bars.size());
            for (const auto& bar : group.bars) most = std::max(most, bar.share);
        }
        height = std::max(height, tall);
    }
    const bool both = !chart.columns[1].empty();
    drawing art(kLeft + kColumn * 2 + kLeft, height + 14, chart.title);
    art.text(kLeft, 30, chart.title, "ink strong", anchor::start, 18);
    art.text(kLeft, 54, chart.subtitle, "ink", anchor::start, kLarge);
    const double across = kPlot / (most * 1.04);
    for (std::size_t at = 0; at < (both ? 2u : 1u); ++at) {
        const double left = kLeft + kColumn * static_cast<double>(at), zero = left + kNames, one = zero + across;
        double y = kTop;
        for (const auto& group : chart.columns[at]) {
            art.text(left, y + 26, group.name, "ink strong", anchor::start, kLarge);
            y += kHead;
            const double top = y;
            for (const auto& bar : group.bars) {
                art.text(zero - 8, y + 16, bar.name, "ink", anchor::end, kLarge);
                art.rectangle(zero, y + (kRow - kBar) / 2, std::max(across * bar.share, 1.0), kBar, bar.style,
                              bar.hint);
                art.text(zero + kPlot + 8, y + 16, fmt::format("{:.2f}", bar.share), "ink strong", anchor::start,
                         kLarge);
                art.text(zero + kPlot + 54, y + 16, bar.note, "ink", anchor::start, kLarge);
                y += kRow;
            }
            art.line(zero, top, zero, y, "soft");
            art.line(one, top - 3, one, y, "ink", 1.2);
        }
    }
    return art;
}

}  // namespace cornerturn::report
