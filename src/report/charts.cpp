#include "report/charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/number_text.hpp"

namespace cornerturn::report {
namespace {

std::string bytes_text(int size) { return plural(static_cast<std::size_t>(size), "byte"); }

std::string series_style(std::size_t i) { return fmt::format("s{}", i % 8); }

std::string rung_style(const rung& r) {
    if (r.ceiling) return "s7";
    return is_library_kernel(r.kernel) ? "s1" : "s0";
}

std::vector<key> rung_keys(const ladder& l) {
    std::map<std::string, key> found;
    for (const rung& r : l.rungs) {
        if (!r.time) continue;
        const std::string style = rung_style(r);
        found[style] = {style == "s7"   ? r.kernel.substr(0, r.kernel.find('/'))
                        : style == "s1" ? "the library"
                                        : "kernels of the ladder",
                        style};
    }
    std::vector<key> keys;
    for (const char* style : {"s7", "s0", "s1"}) {
        if (found.contains(style)) keys.push_back(found[style]);
    }
    return keys;
}

std::vector<int> element_sizes(const bench& b) {
    std::set<int> sizes;
    for (const cell& c : b.cells) sizes.insert(c.element_size);
    return {sizes.begin(), sizes.end()};
}

// A row of a chart: the group and the name of its cells.
using row_name = std::pair<std::string, std::string>;
row_name row_of(const bench& b, const cell& c) { return {c.group, b.op->bench_row(c.group, c.shape, c.sizes)}; }

// In the order in which the cells are stored.
std::vector<row_name> rows_of(const bench& b) {
    std::vector<row_name> rows;
    for (const cell& c : b.cells) {
        const row_name row = row_of(b, c);
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
    }
    return rows;
}

std::string hint_of(const bench& b, const cell& c, const entry& e) {
    const std::string shape = b.of_sizes() ? fmt::format("{} of {}", c.shape, bytes_text(c.element_size)) : c.shape;
    return fmt::format("{}: {} {}, {:.3f} of {}", shape, grouped(e.rate), b.facts().rate.name, e.ratio,
                       b.facts().yardstick);
}

}  // namespace

// A kernel is the library's own if its name says so, or if a host bench measures it by default.
bool is_library_kernel(const std::string& kernel) {
    const auto all = operations();
    return kernel.ends_with("/production") || std::any_of(all.begin(), all.end(), [&](const operation* op) {
               return op->contestants(backend::host).subject == kernel;
           });
}

std::string work_name(const operation& op) {
    const std::string name = op.facts().works;
    return name.empty() ? op.name() : name;
}

const std::vector<cost>& cost_kinds() {
    static const std::vector<cost> kCosts = {
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors loaded", "s0"},
        {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors stored", "s5"},
        {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts of shared loads", "s1"},
        {"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts of shared stores", "s4"},
    };
    return kCosts;
}

double cost_of(const rung& r, const cost& kind, const ladder& l) {
    const auto at = r.counted().find(kind.metric);
    return at == r.counted().end() || l.steps() <= 0 ? 0 : at->second * 32 / l.steps();
}

std::string contestant_name(const std::string& key) {
    static const std::map<std::string, std::string> kNames = {{"copy", "copy kernel"},
                                                              {"copy@streamed", "streamed copy"},
                                                              {"geam", "cuBLAS geam"},
                                                              {"cutensor", "cuTENSOR"},
                                                              {"hptt", "HPTT"},
                                                              {"permute_hptt", "HPTT"},
                                                              {"torch", "PyTorch"},
                                                              {"torch_compile", "PyTorch compiled"},
                                                              {"torch_host", "PyTorch"},
                                                              {"host", "PyTorch"},
                                                              {"jax", "JAX"},
                                                              {"cupy", "CuPy"},
                                                              {"python", "cornerturn from Python"},
                                                              {"openblas", "OpenBLAS"},
                                                              {"eigen", "Eigen"}};
    const auto at = kNames.find(key);
    return at == kNames.end() ? key : at->second;
}

std::string subject_name(const bench& b) { return is_library_kernel(b.subject) ? "cornerturn" : b.subject; }

const entry* find_entry(const cell& c, const std::string& contestant) {
    if (contestant == "subject") return &c.subject;
    for (const auto& [name, e] : c.peers) {
        if (name == contestant) return &e;
    }
    return nullptr;
}

bool is_ceiling(const bench& b, const std::string& contestant) {
    return std::any_of(b.cells.begin(), b.cells.end(), [&](const cell& c) {
        const entry* const e = find_entry(c, contestant);
        return e != nullptr && e->ceiling;
    });
}

std::vector<std::string> contestants(const bench& b) {
    std::vector<std::string> all = {"subject"};
    std::set<std::string> timed = {"subject"};
    for (const cell& c : b.cells) {
        for (const auto& [name, e] : c.peers) {
            if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
            if (e.timed() && e.ratio > 0) timed.insert(name);
        }
    }
    std::erase_if(all, [&](const std::string& name) { return !timed.contains(name); });
    return all;
}

drawing ladder_bars(const ladder& l) {
    bar_chart chart{
        .title = fmt::format("{}: ratio to {} of each rung", l.work(), l.yardstick),
        .axis = fmt::format("fraction of {}'s speed (more is better); line at a bar's end: 10th to 90th percentile",
                            l.yardstick),
        .keys = rung_keys(l),
        .reference_line = {{1.0, l.yardstick}}};
    for (const rung& r : l.rungs) {
        if (r.failed) chart.bars.push_back({.label = r.kernel, .value = "WRONG", .value_style = "bad strong"});
        if (!r.time) continue;
        const std::string hint = fmt::format("{}: {:.2f} us, {} {}, {:.3f} of {}", r.kernel, r.time->median_s * 1e6,
                                             grouped(r.rate), l.op->facts().rate.name, r.ratio, l.yardstick);
        chart.bars.push_back(
            {.label = r.kernel,
             .parts = {{r.ratio, rung_style(r), hint}},
             .spread = {{r.yardstick->median_s / r.time->p90_s, r.yardstick->median_s / r.time->p10_s}},
             .value = fmt::format("{:.3f}", r.ratio)});
    }
    return draw(chart);
}

std::optional<drawing> costs(const ladder& l) {
    const std::string steps = fmt::format("{}s", l.op->facts().step);
    bar_chart chart{.title = fmt::format("{}: sectors and wavefronts of each rung", l.work()),
                    .axis = fmt::format("for each 32 {} (fewer is better)", steps)};
    for (const cost& c : cost_kinds()) chart.keys.push_back({c.name, c.style});
    if (l.steps() <= 0) return std::nullopt;
    for (const rung& r : l.rungs) {
        if (!r.ran() || r.counted().empty()) continue;
        bar_chart::bar bar{.label = r.kernel, .parts = {}, .value = {}};
        double sum = 0;
        for (const cost& c : cost_kinds()) {
            const double each = cost_of(r, c, l);
            sum += each;
            if (each > 0)
                bar.parts.push_back(
                    {each, c.style, fmt::format("{}: {:.3g} {} for 32 {}", r.kernel, each, c.name, steps)});
        }
        bar.value = r.failed ? "WRONG" : fmt::format("{:.3g}", sum);
        if (r.failed) bar.value_style = "bad strong";
        chart.bars.push_back(std::move(bar));
    }
    if (chart.bars.empty()) return std::nullopt;
    return draw(chart);
}

std::optional<drawing> ratios_by_size(const std::vector<const ladder*>& ladders) {
    std::map<std::string, std::vector<point>> lines;
    std::vector<std::string> order;
    line_chart chart{.title = fmt::format("{} {}: ratio to {} against size", ladders.front()->name(),
                                          ladders.front()->dtype, ladders.front()->yardstick),
                     .x_axis = fmt::format("bytes of {}, by size", ladders.front()->op->facts().operands),
                     .y_axis = fmt::format("ratio to {}", ladders.front()->yardstick),
                     .reference_line = 1.0};
    for (const ladder* l : ladders) {
        const std::string size = l->work().substr(0, l->work().rfind(' '));
        if (!(l->bytes() > 0)) return std::nullopt;
        chart.ticks.emplace_back(l->bytes(), size);
        for (const rung& r : l->rungs) {
            if (!r.time) continue;
            if (!lines.contains(r.kernel)) order.push_back(r.kernel);
            lines[r.kernel].push_back({l->bytes(), r.ratio, fmt::format("{}, {}: {:.3f}", r.kernel, size, r.ratio)});
        }
    }
    std::erase_if(order, [&](const std::string& kernel) { return lines[kernel].size() != ladders.size(); });
    std::stable_sort(order.begin(), order.end(),
                     [&](const std::string& a, const std::string& b) { return lines[a].back().y > lines[b].back().y; });
    if (order.empty()) return std::nullopt;
    constexpr std::size_t kNamed = 8;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const bool named = i < kNamed;
        chart.lines.push_back(
            {.name = order[i], .style = named ? series_style(i) : "soft", .points = lines[order[i]], .named = named});
    }
    return draw(chart);
}

drawing ratio_heat_map(const bench& b) {
    const std::vector<int> sizes = element_sizes(b);
    const char* const yardstick = b.facts().yardstick;
    heat_map map{.title = fmt::format("{}: ratio to {} by shape and element size", b.subject, yardstick),
                 .column_axis = "bytes per element"};
    for (int size : sizes) map.columns.push_back(std::to_string(size));
    for (const row_name& name : rows_of(b)) {
        heat_map::row row{name.first, name.second, std::vector<heat_map::spot>(sizes.size(), {0, "not measured"})};
        for (const cell& c : b.cells) {
            if (row_of(b, c) != name) continue;
            heat_map::spot& spot = row.spots[static_cast<std::size_t>(
                std::find(sizes.begin(), sizes.end(), c.element_size) - sizes.begin())];
            const std::string& why = c.skipped.empty() ? c.subject.skipped : c.skipped;
            if (!c.subject.fault.empty())
                spot = {0, c.subject.fault, "WRONG"};
            else if (!why.empty())
                spot = {0, "skipped: " + why};
            else if (c.subject.ratio > 0)
                spot = {c.subject.ratio, fmt::format("{}; {} {} {}", hint_of(b, c, c.subject), yardstick,
                                                     grouped(c.yardstick.rate), b.facts().rate.name)};
        }
        map.rows.push_back(std::move(row));
    }
    return draw(map);
}

drawing peer_marks(const bench& b) {
    constexpr std::pair<mark, const char*> kMarks[] = {{mark::square, "s1"},  {mark::down, "s3"},   {mark::up, "s4"},
                                                       {mark::diamond, "s6"}, {mark::square, "s5"}, {mark::up, "s7"}};
    const std::vector<std::string> all = contestants(b);
    panel_chart chart{.title = fmt::format("{} beside its peers: ratios to {}", b.subject, b.facts().yardstick),
                      .axis = fmt::format("ratio to {}, by bytes per element", b.facts().yardstick),
                      .rows = rows_of(b)};
    std::size_t peers = 0;
    for (const std::string& who : all) {
        if (who == "subject") {
            chart.keys.push_back({subject_name(b), "s0", mark::disc});
        } else if (is_ceiling(b, who)) {
            chart.keys.push_back({contestant_name(who), "soft", mark::bar});
        } else {
            const auto& [shape, style] = kMarks[peers++ % std::size(kMarks)];
            chart.keys.push_back({contestant_name(who), style, shape});
        }
    }
    for (int size : element_sizes(b)) {
        std::vector<panel_chart::series> panel;
        for (std::size_t i = 0; i < all.size(); ++i) {
            panel_chart::series series{i, {}};
            for (const cell& c : b.cells) {
                const entry* const e = find_entry(c, all[i]);
                if (c.element_size != size || e == nullptr || !e->timed() || e->ratio <= 0) continue;
                const auto row = std::find(chart.rows.begin(), chart.rows.end(), row_of(b, c));
                series.points.push_back({static_cast<double>(row - chart.rows.begin()), e->ratio,
                                         fmt::format("{}, {}", chart.keys[i].name, hint_of(b, c, *e))});
            }
            panel.push_back(std::move(series));
        }
        chart.panels.emplace_back(bytes_text(size), std::move(panel));
    }
    return draw(chart);
}

std::optional<drawing> squares(const bench& b) {
    if (b.facts().squares == nullptr) return std::nullopt;
    const std::string yardstick = b.facts().yardstick;
    line_chart chart{.title = fmt::format("{}: ratio to {} of square matrices", b.subject, yardstick),
                     .x_axis = "n, of n x n matrices",
                     .y_axis = "ratio to " + yardstick,
                     .reference_line = 1.0};
    std::map<double, std::string> ticks;
    for (int size : element_sizes(b)) {
        line_chart::series series{.name = b.of_sizes() ? bytes_text(size) : subject_name(b),
                                  .style = series_style(chart.lines.size())};
        for (const cell& c : b.cells) {
            if (c.group != b.facts().squares || c.element_size != size || c.subject.ratio <= 0 || c.sizes[0] <= 0)
                continue;
            const auto n = static_cast<double>(c.sizes[0]);
            ticks[n] = std::to_string(c.sizes[0]);
            series.points.push_back({n, c.subject.ratio, hint_of(b, c, c.subject)});
        }
        std::sort(series.points.begin(), series.points.end(), [](const point& a, const point& z) { return a.x < z.x; });
        if (!series.points.empty()) chart.lines.push_back(std::move(series));
    }
    if (ticks.size() < 2) return std::nullopt;
    chart.ticks.assign(ticks.begin(), ticks.end());
    return draw(chart);
}

drawing ratios_by_shape(const bench& b) {
    const char *const yardstick = b.facts().yardstick, *const unit = b.facts().rate.name;
    bar_chart chart{
        .title = fmt::format("{}: ratio to {} by shape", b.subject, yardstick),
        .axis = fmt::format("fraction of {}'s speed (more is better); line at a bar's end: 10th to 90th percentile",
                            yardstick),
        .keys = {{"at least as fast", "s0"}, {"slower", "s1"}},
        .reference_line = {{1.0, yardstick}}};
    for (const cell& c : b.cells) {
        const entry& e = c.subject;
        if (!e.fault.empty()) chart.bars.push_back({.label = c.shape, .value = "WRONG", .value_style = "bad strong"});
        if (!e.timed() || e.ratio <= 0) continue;
        chart.bars.push_back(
            {.label = c.shape,
             .parts = {{e.ratio, e.ratio < 1 ? "s1" : "s0",
                        fmt::format("{}: {} {}, {} {} {}", c.shape, grouped(e.rate), unit, yardstick,
                                    grouped(c.yardstick.rate), unit)}},
             .spread = {{c.yardstick.time->median_s / e.time->p90_s, c.yardstick.time->median_s / e.time->p10_s}},
             .value = fmt::format("{:.3f}", e.ratio)});
    }
    return draw(chart);
}

drawing roofline(const bench& b, std::optional<double> bandwidth) {
    const operation_facts& facts = b.facts();
    line_chart chart{.title = fmt::format("{} and {} below the roofline", b.subject, facts.yardstick),
                     .x_axis = fmt::format("arithmetic intensity: operations per byte of {}", facts.operands),
                     .y_axis = facts.rate.name,
                     .y_log = true};
    line_chart::series subject{
        .name = subject_name(b), .style = "s0", .shape = mark::disc, .points = {}, .line = false};
    line_chart::series theirs{
        .name = facts.yardstick, .style = "s1", .shape = mark::square, .points = {}, .line = false};
    double least = 1e300, most = 0;
    const auto roof_at = [&](double x) { return bandwidth ? std::min(b.peak, *bandwidth * x) : b.peak; };
    for (const cell& c : b.cells) {
        const double x = b.op->operations_per_byte(c.sizes, c.element_size);
        if (!(x > 0)) continue;
        for (auto [series, e] : {std::pair(&theirs, &c.yardstick), std::pair(&subject, &c.subject)}) {
            if (!e->timed()) continue;
            series->points.push_back({x, e->rate,
                                      fmt::format("{}, {}: {} {}, {:.2f} of the roof", series->name, c.shape,
                                                  grouped(e->rate), facts.rate.name, e->rate / roof_at(x))});
            least = std::min(least, x);
            most = std::max(most, x);
        }
    }
    if (most <= 0) least = most = 1;
    if (bandwidth) least = std::min(least, b.peak / *bandwidth / 2);
    line_chart::series roof{
        .name = fmt::format("{} {}", grouped(b.peak), facts.rate.name), .style = "ink", .shape = mark::none};
    roof.points.push_back({least / 1.3, roof_at(least / 1.3)});
    if (bandwidth) roof.points.push_back({b.peak / *bandwidth, b.peak});
    roof.points.push_back({most * 1.3, roof_at(most * 1.3)});
    std::sort(roof.points.begin(), roof.points.end(), [](const point& a, const point& z) { return a.x < z.x; });
    chart.lines = {roof, theirs, subject};
    return draw(chart);
}

}  // namespace cornerturn::report
