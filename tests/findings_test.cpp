// The findings of a report in at most three sentences, the picture of all benches, and short numbers.
#include "report/findings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "message.hpp"
#include "report/charts.hpp"
#include "report/number_text.hpp"
#include "report/report.hpp"

using namespace cornerturn::report;
using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string stored(const std::string& name) {
    std::ifstream file(CORNERTURN_SOURCE_DIR "/results/" + name + ".json");
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_FALSE(text.str().empty()) << name;
    return text.str();
}

document result(const std::string& name) { return read_document(name + ".json", stored(name)); }

std::vector<document> results(const std::vector<std::string>& names) {
    std::vector<document> all;
    for (const std::string& name : names) all.push_back(result(name));
    return all;
}

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

TEST(findings, of_a_ladder_name_the_fastest_and_the_cost_of_the_slowest) {
    const auto found = findings_of(result("ladder_transpose_16384x16384_f32"));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_NAMES(found[0], "NVIDIA H200", "transpose/production", 23, "16384 x 16384 f32", "0.987", "memcpy");
    EXPECT_NAMES(found[1], "transpose/reindexed@2x2", 79);
    const cost& loads = cost_kinds().front();
    EXPECT_THAT(loads.metric, HasSubstr("sectors"));
    EXPECT_NAMES(found[2], loads.name, 16, 32, "transpose/production", 4);
}

TEST(findings, of_counters_claim_no_time) {
    const auto found = findings_of(result("counters_transpose_4096x4096_f32"));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_NAMES(found[0], 10, 32);
    EXPECT_NAMES(found[2], 25, 25);
}

TEST(findings, of_a_bench_have_the_numbers_of_its_cells) {
    const ordered_json json = ordered_json::parse(stored("bench_transpose"));
    std::vector<double> ratios, slowdowns;
    for (const auto& cell : json["cells"]) {
        ratios.push_back(cell["subject"]["ratio"]);
        const ordered_json torch = cell["peers"].value("torch", ordered_json{{"status", "none"}});
        if (torch["status"] == "ran") slowdowns.push_back(ratios.back() / torch["ratio"].get<double>());
    }
    const auto found = findings_of(result("bench_transpose"));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_NAMES(found[0], "NVIDIA H200", "cornerturn", fmt::format("{:.3f}", median(ratios)), "memcpy",
                 fmt::format("{:.3g}", median(slowdowns)), "PyTorch", ratios.size(), slowdowns.size());
    EXPECT_NAMES(found[1], "0.700", "memcpy", "10007 x 10007, in place", 1);
    EXPECT_NAMES(found[2], "1.39", "JAX");
    EXPECT_NAMES(findings_of(result("bench_gemm"))[0], "1.217", "cublasSgemm");
}

TEST(findings, open_a_page_of_several_in_three_sentences_of_different_kinds) {
    const auto all = results({"ladder_transpose_16384x16384_f32", "ladder_transpose_4096x4096_f32", "bench_transpose",
                              "bench_transpose_host", "bench_gemm"});
    const auto found = findings_of(all);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0], findings_of(result("bench_transpose"))[0]);
    EXPECT_NAMES(found[1], "cornerturn", "1.217", "cublasSgemm");
    EXPECT_NAMES(found[2], "transpose/production", 23, "16384 x 16384 f32");
    for (const auto& later : {found[1], found[2]})
        EXPECT_THAT(later, Not(HasSubstr("NVIDIA H200"))) << "the same device";
    const std::string page = markdown(make_page(all), [](const std::string&) { return ""; });
    const std::size_t end = page.find('\n');
    EXPECT_NAMES(page.substr(0, end), 5);
    EXPECT_TRUE(page.substr(end).starts_with("\n\n" + found[0])) << page.substr(0, 300);
}

TEST(headline, shows_every_bench_that_has_peers) {
    const auto drawn =
        headline(results({"bench_transpose", "bench_permute", "bench_host_16_cores_random_transpose_9202",
                          "bench_host_16_cores_random_permute_9202"}));
    ASSERT_TRUE(drawn.has_value());
    const std::string svg = drawn->as_file();
    EXPECT_LINE_NAMES(svg, "cornerturn", "0.97", "1.08", "memcpy", "PyTorch", "0.31", "0.75");
    EXPECT_NAMES(svg, "NVIDIA H200", "NVIDIA H200");
    for (const char* value : {"16", "cuTENSOR", "cuBLAS geam", "JAX", "numpy", "39 x", ">0.31<"})
        EXPECT_NAMES(svg, value);
    EXPECT_THAT(svg, Not(HasSubstr(contestant_name("copy"))));
    EXPECT_FALSE(headline(results({"bench_transpose"})).has_value());
    EXPECT_FALSE(headline(results({"bench_transpose", "bench_gemm"})).has_value());
}

TEST(pages, have_no_table_of_equal_counters) {
    const auto page_of = [](const document& d) { return html(make_page({d})); };
    const std::string equal = page_of(result("counters_transpose_4096x4096_f32"));
    EXPECT_THAT(equal, Not(HasSubstr("<td>=</td>")));
    EXPECT_NAMES(equal, 25, 25, 25) << "in the findings, and in a sentence instead of the table";
    EXPECT_THAT(page_of(result("counters_gemm_4096x4096x4096")), HasSubstr("<td>=</td>"));
}

TEST(numbers, have_few_digits) {
    EXPECT_EQ(with_short_numbers("--minutes 1.3166666666666667 of 12.34 at 1.2.345678"),
              "--minutes 1.32 of 12.34 at 1.2.345678");
    EXPECT_EQ(with_short_numbers("1234.56789"), "1235");
    EXPECT_EQ(with_short_numbers("0.000244140625, .123456"), "0.000244, .123456");
    EXPECT_EQ(ratio_text(0.0042), "0.004");
    EXPECT_EQ(ratio_text(0.995), "0.99");
    for (const char* name : {"bench_transpose_host", "ladder_transpose_16384x16384_f32", "bench_gemm"}) {
        const std::string page = html(make_page({result(name)}));
        std::size_t digits = 0;
        bool behind = false;
        for (char c : page) {
            const bool digit = c >= '0' && c <= '9';
            digits = digit && behind ? digits + 1 : 0;
            behind = c == '.' || (behind && digit);
            ASSERT_LT(digits, 7u) << name;
        }
    }
}

}  // namespace
