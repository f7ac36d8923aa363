// Tables on a terminal: no line is too long, whatever is in the columns. The results are stored ones from a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "lab/hardware.hpp"
#include "lab/table.hpp"
#include "lab/views.hpp"
#include "message.hpp"

using namespace cornerturn;
using lab::format;
using lab::table;

namespace {

std::size_t longest_line(const std::string& text) {
    std::size_t longest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
    return longest;
}

// The fields of a line of CSV, of which some may be quoted.
std::ptrdiff_t fields_of(const std::string& line) {
    bool quoted = false;
    return 1 + std::count_if(line.begin(), line.end(), [&](char c) {
               quoted ^= c == '"';
               return c == ',' && !quoted;
           });
}

void expect_fits(const std::string& text) { EXPECT_LE(longest_line(text), lab::kTerminalColumns) << text; }

lab::timing timing_of(const nlohmann::json& stored) {
    return {stored.at("median_s"), stored.at("p10_s"), stored.at("p90_s"), stored.value("samples", 0)};
}

// A stored rung, with all that a table shows of it.
lab::result result_of(const operation& op, const nlohmann::json& stored) {
    arguments given;
    for (const option& o : op.facts().sizes) given.give(o.name, stored.at(key_of(o)).dump());
    given.give("--dtype", stored.at("dtype"));
    lab::result r;
    r.kernel = stored.at("kernel");
    r.origin = find_kernel(r.kernel).facts.origin;
    r.published_rate = find_kernel(r.kernel).facts.published_rate;
    r.work = op.read(given, 1024);
    r.device = {"cuda", stored["device"]["name"], stored["device"]["driver"], stored["device"]["cuda"]};
    r.verified = lab::verification::passed;
    if (stored.at("status") != "ran") r.skipped = stored.at("reason");
    if (!r.ran()) return r;
    const auto extent_of = [&](const char* what) {
        const nlohmann::json& e = stored["launch"][what];
        return emulator::extent3{e[0], e[1], e[2]};
    };
    r.launched = true;
    r.launches = stored["launch"].value("launches", 1U);
    r.grid = extent_of("grid");
    r.block = extent_of("block");
    if (stored.contains("metrics")) {
        emulator::counters counts;
        for (const lab::metric& m : lab::metrics()) (counts.*m.member)[m.op] = stored["metrics"][m.name];
        r.counts = counts;
    }
    const nlohmann::json& yardstick = stored.at("yardstick");
    const rate_unit& unit = op.facts().rate;
    r.time =
        lab::measured_time{.kernel = timing_of(stored.at("time")),
                           .yardstick = timing_of(yardstick),
                           .yardstick_name = yardstick.at("what"),
                           .method = stored["time"]["method"],
                           .amount = stored[unit.json].get<double>() * 1e9 * stored["time"]["median_s"].get<double>(),
                           .unit = unit};
    if (stored.contains("of_peak")) r.time->peak = r.time->rate() * 1e9 / stored["of_peak"].get<double>();
    return r;
}

std::vector<lab::result> ladder_of(const std::filesystem::path& file) {
    const operation& op = find_operation(file.filename().string().starts_with("ladder_gemm") ? "gemm" : "transpose");
    std::vector<lab::result> all;
    std::ifstream text(file);
    const nlohmann::json document = nlohmann::json::parse(text);
    for (const nlohmann::json& stored : document.at("results")) all.push_back(result_of(op, stored));
    return all;
}

std::vector<std::filesystem::path> ladders() {
    std::vector<std::filesystem::path> all;
    for (const auto& file : std::filesystem::directory_iterator(CORNERTURN_SOURCE_DIR "/results")) {
        if (file.path().filename().string().starts_with("ladder_")) all.push_back(file.path());
    }
    return all;
}

}  // namespace

TEST(ladders, times_fit_a_terminal) {
    const auto files = ladders();
    ASSERT_GE(files.size(), 4U);
    for (const auto& file : files) {
        SCOPED_TRACE(file);
        const std::vector<lab::result> ladder = ladder_of(file);
        const std::string text = lab::show_ladder(ladder, format::table);
        expect_fits(text);
        for (const lab::result& r : ladder) {
            if (!r.time) continue;
            EXPECT_LINE_NAMES(text, r.kernel, fmt::format("{:.1f}", r.time->rate()),
                              fmt::format("{:.3f}", r.time->ratio()), "yes");
            if (r.counts) {
                EXPECT_LINE_NAMES(text, r.kernel, r.counts->global_requests[emulator::kLoad]);
            }
        }
        EXPECT_EQ(text.find("\n    yes"), std::string::npos) << "a row takes two lines\n" << text;
    }
}

TEST(ladders, report_the_rung_with_the_most_unsteady_yardstick) {
    std::vector<lab::result> all = ladder_of(CORNERTURN_SOURCE_DIR "/results/ladder_gemm_4096x4096x4096.json");
    for (lab::result& r : all) {
        if (r.time) r.time->yardstick = {.median_s = 1, .p10_s = 0.99, .p90_s = 1.01, .samples = 20};
    }
    const auto shown = [&] { return lab::show_ladder(all, format::markdown); };
    const std::string steady = shown();
    lab::result& last =
        *std::find_if(all.rbegin(), all.rend(), [](const lab::result& r) { return r.time.has_value(); });
    last.time->yardstick.p90_s = 1.5;
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    EXPECT_EQ(lines(shown()), lines(steady) + 1);
    EXPECT_LINE_NAMES(shown(), "cublasSgemm", "5 %", 1, last.kernel, "51 %");
}

TEST(ladders, csv_has_all_columns_in_one_table) {
    const std::vector<lab::result> ladder = ladder_of(CORNERTURN_SOURCE_DIR "/results/ladder_gemm_4096x4096x4096.json");
    std::istringstream lines(lab::show_ladder(ladder, format::csv));
    std::string heading;
    std::getline(lines, heading);
    // 4 describe the kernel, 8 are counters. Then verified, 4 of the time, 2 from the notes.
    constexpr std::ptrdiff_t kColumns = 4 + 8 + 1 + 4 + 2;
    EXPECT_EQ(fields_of(heading), kColumns) << heading;
    EXPECT_NAMES(heading, "id", "GFLOP/s", "cublasSgemm", "GFLOP/s", "cublasSgemm");
    std::size_t rows = 0;
    for (std::string row; std::getline(lines, row); ++rows) {
        EXPECT_TRUE(row.starts_with(ladder.at(rows).kernel + ",")) << row;
        EXPECT_EQ(fields_of(row), kColumns) << row;
    }
    EXPECT_EQ(rows, ladder.size());
}

TEST(ladders, hardware_counters_fit_a_terminal) {
    lab::hardware_counters read{.ncu = "2025.3.0.0", .kernels = 1, .metrics = {}};
    for (const std::string& name : lab::hardware_metrics())
        read.metrics.emplace_back(name, name.ends_with(".sum") ? 123456789 : 99.44);
    read.metrics.emplace_back("sm__my_own_metric_of_a_very_long_name_that_fits_beside_nothing.avg", 7);
    for (const auto& file : ladders()) {
        std::vector<lab::result> all = ladder_of(file);
        for (lab::result& r : all) {
            if (r.ran()) r.hardware = read;
        }
        SCOPED_TRACE(file);
        expect_fits(lab::show_ladder(all, format::table));
        expect_fits(lab::show_profile(all[2], format::table));
    }
}

TEST(list, fits_a_terminal) { expect_fits(lab::show_list(kernels(), format::table)); }

// ---- The table itself -----------------------------------------------------------------------------------------------

TEST(table, neighbours_share_the_lines_above_their_headings) {
    const table t{{{"id"}, {"a ld", true, "wide words\nper a", "ld"}, {"a st", true, "wide words\nper a", "st"}, {"b"}},
                  {{"x", "1", "2", "y"}}};
    EXPECT_EQ(t.print(format::table),
              "     wide words\n"
              "          per a\n"
              "id     ld    st  b\n"
              "---  ----  ----  ---\n"
              "x       1     2  y\n");
    EXPECT_EQ(t.print(format::csv), "id,a ld,a st,b\nx,1,2,y\n");
}

TEST(table, text_in_the_last_column_is_wrapped) {
    const table t{{{"id"}, {"words"}}, {{std::string(60, 'x'), "some words that need more room than there is left"}}};
    const std::string printed = t.print(format::table);
    expect_fits(printed);
    EXPECT_NE(printed.find("\n" + std::string(62, ' ') + "there is left\n"), std::string::npos) << printed;
}

TEST(table, text_without_room_is_below_its_row) {
    const table t{{{"id"}, {"words"}}, {{std::string(90, 'x'), "some words"}}};
    EXPECT_EQ(t.print(format::table),
              "id\n" + std::string(90, '-') + "\n" + std::string(90, 'x') + "\n    some words\n");
}

TEST(wrapped, breaks_at_spaces_and_keeps_spaces_and_newlines) {
    EXPECT_EQ(lab::wrapped("one two three", 2, 8), "one two\n  three");
    EXPECT_EQ(lab::wrapped("\n  one two three\n\nfour\n", 2, 9), "\n  one two\n  three\n\nfour\n");
    EXPECT_EQ(lab::wrapped("unbreakable", 2, 4), "unbreakable");
    EXPECT_EQ(lab::wrapped("a    b", 0, 10), "a    b");
    EXPECT_EQ(lab::wrapped("", 2), "");
}
