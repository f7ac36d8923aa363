// The report: its pages, its comparisons, and its errors. An error about a broken file names the file.
#include "report/report.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "cornerturn/error.hpp"
#include "message.hpp"
#include "report/charts.hpp"
#include "report/compare.hpp"
#include "report/tables.hpp"

using namespace cornerturn;
using namespace cornerturn::report;
using nlohmann::ordered_json;

namespace {

std::string stored(const std::string& name) {
    std::ifstream file(CORNERTURN_SOURCE_DIR "/results/" + name);
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << name;
    return text.str();
}

document document_of(const ordered_json& value, const std::string& file = "some.json") {
    return read_document(file, value.dump());
}

std::string markdown_of(const std::vector<document>& documents) {
    return markdown(make_page(documents), [](const std::string&) { return ""; });
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A rung with times, as `ladder` stores it on a GPU.
ordered_json rung_json(const std::string& id, double p10, double median, double p90) {
    return {{"kernel", id},
            {"rows", 64},
            {"cols", 64},
            {"dtype", "f32"},
            {"device", {{"kind", "cuda"}, {"name", "GPU"}, {"driver", "1"}, {"cuda", "13.0"}}},
            {"status", "ran"},
            {"verified", true},
            {"time", {{"median_s", median}, {"p10_s", p10}, {"p90_s", p90}, {"samples", 20}, {"method", "so"}}},
            {"bandwidth_gbps", 100.0},
            {"yardstick",
             {{"what", "memcpy"}, {"median_s", 1e-6}, {"p10_s", 1e-6}, {"p90_s", 1e-6}, {"bandwidth_gbps", 120.0}}},
            {"ratio", 1e-6 / median}};
}

// ---- Pages are well formed ------------------------------------------------------------------------------------------

// "" if every tag is closed, every attribute is quoted and every & begins an entity. Else the first mistake.
std::string malformed(const std::string& page) {
    std::vector<std::string> open;
    bool style = false;
    for (std::size_t i = 0; i < page.size(); ++i) {
        const std::string around = page.substr(i > 30 ? i - 30 : 0, 80);
        if (page[i] == '&' && !style) {
            const std::size_t end = page.find(';', i);
            if (end == std::string::npos || end - i > 6) return "a bare & near " + around;
        }
        if (page[i] == '>') return "a bare > near " + around;
        if (page[i] != '<') continue;
        std::size_t end = i + 1;
        for (bool quoted = false; end < page.size() && (quoted || page[end] != '>'); ++end) {
            if (page[end] == '"') quoted = !quoted;
            if (page[end] == '<') return "a < within a tag near " + around;
        }
        if (end >= page.size()) return "a tag without an end near " + around;
        const std::string tag = page.substr(i + 1, end - i - 1);
        i = end;
        if (tag.starts_with("!DOCTYPE") || tag.ends_with("/")) continue;
        if (!tag.starts_with("/")) {
            open.push_back(tag.substr(0, tag.find_first_of(" \n")));
        } else if (open.empty() || open.back() != tag.substr(1)) {
            return "</" + tag.substr(1) + "> closes " + (open.empty() ? "nothing" : open.back()) + " near " + around;
        } else {
            open.pop_back();
        }
        style = !open.empty() && open.back() == "style";
    }
    return open.empty() ? "" : open.back() + " is not closed";
}

TEST(malformed, finds_mistakes) {
    EXPECT_EQ(malformed("<!DOCTYPE html><p class=\"a > b\">x &amp; y<br/></p>"), "");
    for (const char* wrong : {"<p>", "<p></b>", "</p>", "<p>a & b</p>", "<p <b>></p>", "a > b", "<p class=\"></p>"})
        EXPECT_NE(malformed(wrong), "") << wrong;
}

std::vector<std::string> all_results() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(CORNERTURN_SOURCE_DIR "/results")) {
        if (entry.path().extension() == ".json") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    EXPECT_GT(names.size(), 20u);
    return names;
}

TEST(pages, of_every_stored_result_are_well_formed) {
    std::vector<document> together;
    for (const std::string& name : all_results()) {
        const document d = read_document(name, stored(name));
        const page p = make_page({d});
        EXPECT_EQ(malformed(html(p)), "") << name;
        EXPECT_FALSE(p.figures().empty()) << name;
        for (const figure* f : p.figures()) EXPECT_EQ(malformed(f->art.as_file()), "") << name << ", " << f->name;
        EXPECT_FALSE(markdown_of({d}).empty());
        together.push_back(d);
    }
    const page all = make_page(together);
    EXPECT_EQ(malformed(html(all)), "");
    std::set<std::string> names;
    for (const figure* f : all.figures()) EXPECT_TRUE(names.insert(f->name).second) << f->name;
}

TEST(pages, name_each_figure_once) {
    document d = read_document("a/x.json", stored("bench_gemm.json")), other = d;
    other.stem = "x_squares";
    std::set<std::string> names;
    const page p = make_page({d, d, other});
    for (const figure* f : p.figures()) EXPECT_TRUE(names.insert(f->name).second) << f->name;
    EXPECT_TRUE(names.contains("x") && names.contains("x-2") && names.contains("x_squares-3"));
}

TEST(pages, need_nothing_from_elsewhere) {
    const std::string page = html(make_page({read_document("bench_gemm.json", stored("bench_gemm.json"))}));
    for (const char* from : {"<script", "<link", "<img", "@import", "url(", "src=", "href=\"http"})
        EXPECT_FALSE(has(page, from)) << from;
}

// ---- The content of pages -------------------------------------------------------------------------------------------

TEST(ladders, show_the_stored_results) {
    const std::string name = "ladder_transpose_16384x16384_f32.json";
    const document d = read_document(name, stored(name));
    const std::string text = markdown_of({d});
    const ordered_json parsed = ordered_json::parse(stored(name));
    for (const ordered_json& r : parsed["results"]) {
        EXPECT_TRUE(has(text, r["kernel"].get<std::string>())) << r["kernel"];
        if (r["status"] == "skipped") {
            EXPECT_TRUE(has(text, r["reason"].get<std::string>()));
            continue;
        }
        char ratio[32];
        std::snprintf(ratio, sizeof ratio, "%.3f", r["ratio"].get<double>());
        EXPECT_TRUE(has(text, ratio)) << ratio;
    }
    const ordered_json& results = parsed["results"];
    const auto ran = std::count_if(results.begin(), results.end(), [](const auto& r) { return r["status"] == "ran"; });
    EXPECT_NAMES(text, "transpose/production");
    EXPECT_LINE_NAMES(text, results.size(), ran, 1, 0);
    EXPECT_LINE_NAMES(text, parsed["provenance"]["commit"].get<std::string>(), "memcpy", "GB/s");
    EXPECT_TRUE(has(html(make_page({d})), "<svg"));
}

TEST(ladders, that_were_emulated_claim_no_time) {
    ordered_json results = ordered_json::parse(stored("ladder_transpose_4096x4096_f32.json"));
    for (ordered_json& r : results["results"]) {
        r["device"] = {{"kind", "emulator"}};
        for (const char* timed : {"time", "yardstick", "ratio", "bandwidth_gbps", "metrics_from"}) r.erase(timed);
    }
    const page p = make_page({document_of(results)});
    const std::string page = html(p), text = markdown_of({document_of(results)});
    EXPECT_EQ(malformed(page), "");
    for (const char* claim : {" us", "GB/s", "memcpy", "median"}) {
        EXPECT_FALSE(has(page, claim)) << claim;
        EXPECT_FALSE(has(text, claim)) << claim;
    }
    const cost &sectors_loaded = cost_kinds()[0], &shared_loads = cost_kinds()[2];
    EXPECT_LINE_NAMES(page, "transpose/padded@32x8", 4, sectors_loaded.name, 32);
    EXPECT_LINE_NAMES(page, "transpose/shared@32x8", 32, shared_loads.name, 32);
    results["results"][0]["time"] = {{"median_s", 1.0}};
    EXPECT_THROW(document_of(results), error);
}

TEST(ladders, name_failed_kernels) {
    ordered_json wrong = rung_json("transpose/a", 1e-6, 1e-6, 1e-6);
    wrong["verified"] = false;
    wrong["fault"] = "row 3, column 5 is wrong";
    const document d = document_of({{"results", {rung_json("transpose/b", 1e-6, 1e-6, 1e-6), wrong}}});
    const std::string page = html(make_page({d}));
    EXPECT_LINE_NAMES(page, "class=\"bad\"", "transpose/a", "row 3, column 5 is wrong");
    EXPECT_TRUE(has(page, "<span class=\"bad\">WRONG</span>"));
    EXPECT_LINE_NAMES(page, 2, 2, 0, 1);
}

TEST(ladders, compare_emulator_and_hardware) {
    ordered_json results = ordered_json::parse(stored("ladder_transpose_4096x4096_f32.json"));
    for (ordered_json& r : results["results"]) {
        if (r.contains("metrics")) r["hardware"] = {{"ncu", "2025.3.1.0"}, {"kernels", 1}, {"metrics", r["metrics"]}};
    }
    const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
    auto& read = results["results"][1]["hardware"]["metrics"];
    read[sectors] = read[sectors].get<std::int64_t>() + 7;
    read["launch__registers_per_thread"] = 40;
    const ladder l = *document_of(results).as_ladder();
    EXPECT_EQ(std::count_if(l.rungs.begin(), l.rungs.end(), disagrees), 1);
    const text_table t = agreement(l);
    const std::size_t ran = t.rows.size();
    ASSERT_GT(ran, 20u);
    for (std::size_t row = 0; row < t.rows.size(); ++row) {
        for (std::size_t i = 1; i < t.columns.size(); ++i)
            EXPECT_EQ(t.rows[row][i].content, row == 1 && i == 2 ? "st 2,097,152 / 2,097,159" : "=");
    }
    EXPECT_EQ(t.rows[1][2].as, tone::bad);
    const text_table alone = hardware_only(l);
    ASSERT_EQ(alone.rows.size(), ran);
    const auto registers =
        static_cast<std::size_t>(std::find_if(alone.columns.begin(), alone.columns.end(),
                                              [](const auto& c) { return c.heading == "registers"; }) -
                                 alone.columns.begin());
    ASSERT_LT(registers, alone.columns.size());
    for (std::size_t row = 0; row < ran; ++row) EXPECT_EQ(alone.rows[row][registers].content, row == 1 ? "40" : "-");
    EXPECT_LINE_NAMES(markdown_of({document_of(results)}), ran - 1, ran);
}

TEST(ladders, of_several_sizes_are_drawn_against_size) {
    std::vector<document> documents;
    for (const char* name : {"ladder_transpose_4096x4096_f32.json", "ladder_transpose_16384x16384_f32.json",
                             "ladder_transpose_4096x4096_f64.json"})
        documents.push_back(read_document(name, stored(name)));
    const page p = make_page(documents);
    EXPECT_NAMES(p.sections.front().title, "transpose", "f32");
    EXPECT_EQ(p.figures().front()->name, "ladder_transpose_f32_sizes");
    EXPECT_EQ(p.sections.size(), 4u);
}

TEST(benches, show_worst_and_median) {
    const document d = read_document("bench_transpose.json", stored("bench_transpose.json"));
    const bench& b = *d.as_bench();
    EXPECT_EQ(contestants(b), (std::vector<std::string>{"subject", "copy", "geam", "jax", "torch", "torch_compile"}));
    const text_table t = by_group(b, false);
    EXPECT_EQ(t.rows.size(), 35u);
    EXPECT_EQ(t.rows[2][1].content, "4");
    std::vector<double> ratios;
    const auto json = ordered_json::parse(stored("bench_transpose.json"));
    for (const auto& cell : json["cells"]) {
        if (cell["group"] == "squares" && cell["element_size"] == 4) ratios.push_back(cell["subject"]["ratio"]);
    }
    ASSERT_EQ(ratios.size(), 8u);
    std::sort(ratios.begin(), ratios.end());
    EXPECT_EQ(t.rows[2][2].content, fmt::format("{:.2f} / {:.2f}", ratios[0], (ratios[3] + ratios[4]) / 2));
    EXPECT_TRUE(squares(b).has_value());
    const std::string page = html(make_page({d}));
    EXPECT_LINE_NAMES(page, "NVIDIA H200", "cornerturn", "0.990", "memcpy");
    EXPECT_LINE_NAMES(page, "PyTorch", "2.11.0+cu130", "2026-11-27");
}

TEST(benches, of_products_have_a_slope_only_where_memcpy_was_measured) {
    ordered_json measured = ordered_json::parse(stored("bench_gemm.json"));
    const std::string of_copies = stored("bench_transpose.json");
    const auto page_of = [&](const std::string& device, bool with_copies) {
        measured["device"]["name"] = device;
        std::vector<document> all = {read_document("bench_gemm.json", measured.dump())};
        if (with_copies) all.push_back(read_document("bench_transpose.json", of_copies));
        return markdown(make_page(all), [](auto&) { return "x.svg"; });
    };
    const std::string same = ordered_json::parse(of_copies)["device"]["name"], slope = "(bench_transpose.json)";
    EXPECT_FALSE(has(page_of(same, false), slope));
    EXPECT_TRUE(has(page_of(same, true), slope));
    EXPECT_FALSE(has(page_of("another", true), slope));
}

// ---- Side by side ---------------------------------------------------------------------------------------------------

TEST(changes, count_only_beyond_the_spread) {
    const auto at = [](double p10, double median, double p90) { return lab::timing{median, p10, p90, 20}; };
    const lab::timing before = at(9, 10, 11);
    EXPECT_EQ(verdict_of(before, before), speed_verdict::within);
    EXPECT_EQ(verdict_of(before, at(11, 12, 13)), speed_verdict::within);  // they touch
    EXPECT_EQ(verdict_of(before, at(11.01, 12, 13)), speed_verdict::slower);
    EXPECT_EQ(verdict_of(before, at(7, 8, 9)), speed_verdict::within);
    EXPECT_EQ(verdict_of(before, at(7, 8, 8.99)), speed_verdict::faster);
    EXPECT_EQ(verdict_of(before, at(1, 10, 100)), speed_verdict::within);
}

TEST(changes, are_marked) {
    const auto ladder_of = [](double a, double b, double c, const char* device) {
        ordered_json all = {{"results", ordered_json::array()}};
        for (auto [id, us] : {std::pair("transpose/a", a), {"transpose/b", b}, {"transpose/c", c}}) {
            all["results"].push_back(rung_json(id, us * 0.98e-6, us * 1e-6, us * 1.02e-6));
            all["results"].back()["device"]["name"] = device;
        }
        return all;
    };
    const document before = document_of(ladder_of(10, 10, 10, "GPU"), "before.json"),
                   after = document_of(ladder_of(9, 10.1, 11, "Other GPU"), "after.json");
    const std::vector<change> all = changes(before, after);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].verdict(), speed_verdict::faster);
    EXPECT_EQ(all[1].verdict(), speed_verdict::within);
    EXPECT_EQ(all[2].verdict(), speed_verdict::slower);
    const std::string text = markdown_of({before, after});
    EXPECT_LINE_NAMES(text, 3, 1, 1, 1);
    EXPECT_TRUE(not_in_both(before, after).empty());
    EXPECT_LINE_NAMES(text, "before", "GPU (driver 1, CUDA 13.0)", "after", "Other GPU (driver 1, CUDA 13.0)");
    EXPECT_LINE_NAMES(text, "transpose/a", "▲", "-10.0 %");
    EXPECT_LINE_NAMES(text, "transpose/c", "▼", "+10.0 %");
    EXPECT_EQ(malformed(html(make_page({before, after}))), "");
}

TEST(changes, name_results_of_only_one_file) {
    ordered_json wrong = rung_json("transpose/a", 1e-6, 1e-6, 1e-6);
    const ordered_json same = rung_json("transpose/b", 1e-6, 1e-6, 1e-6);
    const document before = document_of({{"results", {wrong, same}}}, "before.json");
    wrong["verified"] = false;
    const document after = document_of({{"results", {wrong, same}}}, "after.json");
    EXPECT_EQ(not_in_both(before, after), std::vector<std::string>{"transpose/a"});
    EXPECT_TRUE(has(markdown_of({before, after}), ": transpose/a.\n"));
}

TEST(changes, of_a_bench_with_itself_are_none) {
    const document d = read_document("bench_transpose.json", stored("bench_transpose.json"));
    EXPECT_EQ(changes(d, d).size(), 145u);
    EXPECT_LINE_NAMES(markdown_of({d, d}), 145, 0, 0, 145);
}

// ---- Hostile files --------------------------------------------------------------------------------------------------

TEST(hostile, markup_is_text) {
    const std::string evil = "transpose/<script>alert(1)</script>`|\" onload='x' &\x01\xef\xbf\xbf";
    ordered_json r = rung_json(evil, 1e-6, 1e-6, 1e-6);
    r["device"]["name"] = r["time"]["method"] = r["yardstick"]["what"] = evil;
    const document d =
        document_of({{"provenance", {{"command", evil}, {"commit", evil}}}, {"results", {r}}}, evil + ".json");
    const page p = make_page({d, d});
    EXPECT_EQ(malformed(html(p)), "");
    EXPECT_FALSE(has(html(p), "<script"));
    for (const figure* f : p.figures()) {
        EXPECT_EQ(malformed(f->art.as_file()), "");
        EXPECT_FALSE(has(f->art.as_file(), "<script"));
        EXPECT_EQ(f->name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"),
                  std::string::npos);
    }
    EXPECT_FALSE(has(markdown_of({d, d}), "<script"));
    // Markdown shows a code span unchanged.
    r["kernel"] = "transpose/<b>";
    EXPECT_TRUE(has(markdown_of({document_of({{"results", {r}}})}), "`transpose/<b>`"));
}

// The message of the error for this file.
std::string refusal(const std::string& text) {
    try {
        read_document("the file.json", text);
    } catch (const error& refused) {
        EXPECT_EQ(dynamic_cast<const invalid_argument*>(&refused), nullptr)
            << "a broken file is no mistake in the arguments";
        return refused.what();
    }
    ADD_FAILURE() << "no error: " << text.substr(0, 2000);
    return "";
}

std::string refusal_of(const char* pointer, const ordered_json& value) {
    ordered_json all = {{"results", {rung_json("transpose/a", 1e-6, 1e-6, 1e-6)}}};
    if (value.is_discarded()) {
        const ordered_json::json_pointer at(pointer);
        all[at.parent_pointer()].erase(at.back());
    } else {
        all[ordered_json::json_pointer(pointer)] = value;
    }
    return refusal(all.dump());
}

TEST(hostile, files_are_refused_by_name_and_field) {
    const char* const file = "the file.json";
    EXPECT_NAMES(refusal(""), file);
    EXPECT_NAMES(refusal("{\"results\": [x"), file, 14);
    EXPECT_NAMES(refusal("{\"results\": []}"), file, "results");
    for (const char* none : {"{}", "[]", "1", "\"results\"", "{\"a\": 1}"})
        EXPECT_NAMES(refusal(none), file, "ladder", "profile", "bench", "\"results\"", "\"kernel\"", "\"bench\"")
            << none;
    EXPECT_NAMES(refusal(std::string(100000, '[')), file, 32);
    EXPECT_NAMES(refusal(std::string("\xff\xfe{")), file, 1);
    EXPECT_NAMES(refusal("{\"bench\": \"fft\", \"device\": {\"kind\": \"host\"}}"), file, "bench", "transpose", "gemm");
    const ordered_json gone(ordered_json::value_t::discarded);
    // The path of the field, and its value or type.
    for (const auto& [at, value, field, found] :
         std::vector<std::tuple<const char*, ordered_json, const char*, const char*>>{
             {"/results/0/kernel", 5, "results[0].kernel", "number"},
             {"/results/0/kernel", "", "results[0].kernel", ""},
             {"/results/0/rows", -1, "results[0].rows", "-1"},
             {"/results/0/rows", 1.5, "results[0].rows", "1.5"},
             {"/results/0/dtype", "f31", "results[0].dtype", ""},
             {"/results/0/device", gone, "results[0]", "\"device\""},
             {"/results/0/device/kind", "abacus", "results[0].device.kind", "emulator"},
             {"/results/0/status", "flew", "results[0].status", "\"skipped\""},
             {"/results/0/verified", 1, "results[0].verified", "\"sampled\""},
             {"/results/0/verified", gone, "results[0]", "\"verified\""},
             {"/results/0/time/median_s", "fast", "results[0].time.median_s", "string"},
             {"/results/0/time/median_s", 0, "results[0].time.median_s", "0"},
             {"/results/0/time/median_s", -1e-6, "results[0].time.median_s", "-1e-06"},
             {"/results/0/time/median_s", nullptr, "results[0].time.median_s", "null"},
             {"/results/0/time/p90_s", 0.5e-6, "results[0].time", "p90_s"},
             {"/results/0/time/p90_s", 1e9, "results[0].time", "p90_s"},
             {"/results/0/ratio", 1e300, "results[0].ratio", "1e+300"},
             {"/results/0/yardstick", ordered_json::array(), "results[0].yardstick", "array"},
             {"/results", {{"a", 1}}, "results", "object"}}) {
        const std::string refused = refusal_of(at, value);
        EXPECT_NAMES(refused, file, field) << at;
        if (*found != 0) {
            EXPECT_NAMES(refused, field, found) << at;
        }
    }
    // A kernel of another operation in a ladder, although it has the ladder's sizes.
    ordered_json product = rung_json("gemm/tiled", 1e-6, 1e-6, 1e-6);
    for (const char* size : {"m", "n", "k"}) product[size] = 4;
    const ordered_json transposed = rung_json("transpose/swizzled@64x64", 1e-6, 1e-6, 1e-6);
    EXPECT_NAMES(refusal(ordered_json{{"results", {product, transposed}}}.dump()), file, "results[0].kernel",
                 "transpose");
    // A number that is too large for a double.
    EXPECT_NAMES(refusal("{\"results\": [1e999]}"), file);
}

// The file must make a page, or the error must name it.
void try_it(const std::string& text, const std::string& what) {
    try {
        const page p = make_page({read_document("the file.json", text)});
        ASSERT_EQ(malformed(html(p)), "") << what;
        ASSERT_FALSE(markdown(p, [](auto&) { return "x.svg"; }).empty());
        for (const figure* f : p.figures()) {
            for (const char* absurd : {"nan", "inf"})
                ASSERT_FALSE(has(f->art.in_page(), std::string("=\"") + absurd) ||
                             has(f->art.in_page(), std::string("=\"-") + absurd))
                    << what;
        }
    } catch (const error& refused) {
        ASSERT_TRUE(std::string(refused.what()).starts_with("the file.json")) << what << ": " << refused.what();
        ASSERT_EQ(std::string(refused.what()).find('\n'), std::string::npos) << what;
    }
}

constexpr const char* kSmall[] = {"ladder_gemm_1024x1024x1024.json", "counters_transpose_700x333_f64.json",
                                  "bench_gemm.json"};

TEST(hostile, truncated_files_are_refused) {
    for (const char* name : kSmall) {
        const std::string whole = stored(name);
        for (std::size_t length = 0; length + 2 < whole.size(); length += 1 + whole.size() / 300) {
            const std::string refused = refusal(whole.substr(0, length));
            ASSERT_TRUE(refused.starts_with("the file.json")) << name << ", " << length << ": " << refused;
        }
    }
}

// A random value of the document.
ordered_json& any_of(ordered_json& top, std::mt19937& random) {
    ordered_json* at = &top;
    while (at->is_structured() && !at->empty() && (at == &top || random() % 8 != 0)) {
        auto next = at->begin();
        std::advance(next, static_cast<long>(random() % at->size()));
        at = &*next;
    }
    return *at;
}

TEST(hostile, mutated_files_make_a_page_or_an_error) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::vector<ordered_json> values = {nullptr,
                                              true,
                                              false,
                                              0,
                                              -1,
                                              1,
                                              2,
                                              1e-300,
                                              1e300,
                                              1e17,
                                              -0.0,
                                              4096,
                                              "",
                                              "f32",
                                              "skipped",
                                              "<b>",
                                              "sampled",
                                              ordered_json::array(),
                                              ordered_json::object(),
                                              {{"a", 1}},
                                              {1, 2, 3}};
    for (const char* name : {"ladder_gemm_1024x1024x1024.json", "counters_transpose_700x333_f64.json",
                             "bench_gemm.json", "ladder_transpose_4096x4096_u8.json", "bench_transpose_host.json"}) {
        ordered_json whole = ordered_json::parse(stored(name));
        auto& list = whole[whole.contains("cells") ? "cells" : "results"];
        while (list.size() > 6) list.erase(list.size() / 2);
        for (int round = 0; round < 300; ++round) {
            ordered_json changed = whole;
            for (unsigned i = 0; i < 1 + random() % 3; ++i) {
                ordered_json& at = any_of(changed, random);
                if (random() % 5 == 0 && at.is_structured() && !at.empty()) {
                    at.erase(at.begin());
                } else {
                    at = values[random() % values.size()];
                }
            }
            try_it(changed.dump(),
                   std::string(name) + ", round " + std::to_string(round) + ": " + changed.dump().substr(0, 2000));
            if (HasFatalFailure()) return;
        }
        for (int round = 0; round < 300; ++round) {
            std::string bytes = whole.dump();
            for (unsigned i = 0; i < 1 + random() % 4; ++i)
                bytes[random() % bytes.size()] = "\"{}[]:,-0e9 \x7f"[random() % 13];
            try_it(bytes, std::string(name) + ", bytes, round " + std::to_string(round));
            if (HasFatalFailure()) return;
        }
    }
}

TEST(hostile, emulated_benches_and_mixed_yardsticks_are_refused) {
    ordered_json bench = ordered_json::parse(stored("bench_transpose_host.json"));
    bench["device"] = {{"kind", "emulator"}};
    EXPECT_THROW(document_of(bench), error);
    ordered_json ladder = ordered_json::parse(stored("ladder_transpose_4096x4096_f32.json"));
    ladder["results"][1]["yardstick"]["what"] = "cuBLAS";
    EXPECT_THROW(document_of(ladder), error);
}

TEST(hostile, empty_matrices_cause_no_division_by_0) {
    ordered_json r = rung_json("transpose/a", 1e-6, 1e-6, 1e-6);
    r["rows"] = 0;
    try_it(ordered_json({{"results", {r}}}).dump(), "no rows");
    EXPECT_THROW(document_of({{"results", {r}}}), error) << "an empty matrix with a time";
    for (const char* timed : {"time", "yardstick", "ratio", "bandwidth_gbps"}) r.erase(timed);
    EXPECT_NO_THROW(make_page(
        {document_of({{"results", {r}}}), document_of({{"results", {rung_json("transpose/a", 1e-6, 1e-6, 1e-6)}}})}));
    try_it(r.dump(), "a profile");
}

}  // namespace
