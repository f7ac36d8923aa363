// What a report says first: its findings in at most three sentences, the picture of all benches, and numbers that
// people read.
#include "report/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "report/report.hpp"
#include "report/words.hpp"

using namespace cornerturn::report;
using nlohmann::ordered_json;
using testing::ElementsAre;
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

TEST(findings, of_a_ladder_name_the_fastest_and_what_costs_the_slowest) {
    const auto found = findings_of(result("ladder_transpose_16384x16384_f32"));
    EXPECT_THAT(found,
                ElementsAre("On NVIDIA H200, transpose/production is the fastest of 23 kernels for 16384 x 16384 "
                            "f32: it reaches 0.987 of memcpy's speed.",
                            "The slowest is transpose/reindexed@2x2: it takes 79 times as long.",
                            "By the counters its largest extra cost is sectors loaded: 16 for each 32 elements, "
                            "where transpose/production needs 4."));
}

TEST(findings, of_counters_claim_no_time) {
    const auto found = findings_of(result("counters_transpose_4096x4096_f32"));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_THAT(found[0], HasSubstr("needs the fewest sectors and wavefronts: 10 for each 32 elements"));
    EXPECT_EQ(found[2], "The emulator's counters equal the hardware's for 25 of 25 kernels.");
}

TEST(findings, of_a_bench_are_those_of_its_cells) {
    const ordered_json json = ordered_json::parse(stored("bench_transpose"));
    std::vector<double> ratios, behind;
    for (const auto& cell : json["cells"]) {
        ratios.push_back(cell["subject"]["ratio"]);
        const ordered_json torch = cell["peers"].value("torch", ordered_json{{"status", "none"}});
        if (torch["status"] == "ran") behind.push_back(ratios.back() / torch["ratio"].get<double>());
    }
    char first[200];
    std::snprintf(first, sizeof first,
                  "On NVIDIA H200, cornerturn runs transposes at %.3f of memcpy's speed and %.3g times as fast as "
                  "PyTorch: medians of %zu and %zu measurements.",
                  median(ratios), median(behind), ratios.size(), behind.size());
    const auto found = findings_of(result("bench_transpose"));
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0], first);
    EXPECT_THAT(found[1], HasSubstr("The worst is 0.700 of memcpy's speed, at 10007 x 10007, in place (1 byte per"));
    EXPECT_THAT(found[2], HasSubstr("1.39 times as fast as JAX"));
    EXPECT_THAT(findings_of(result("bench_gemm"))[0], HasSubstr("products at 1.217 times cublasSgemm's speed"));
}

TEST(findings, open_a_page_of_several_in_three_sentences_of_different_kinds) {
    const auto all = results({"ladder_transpose_16384x16384_f32", "ladder_transpose_4096x4096_f32", "bench_transpose",
                              "bench_transpose_host", "bench_gemm"});
    const auto found = findings_of(all);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_THAT(found[0], HasSubstr("transposes"));
    EXPECT_THAT(found[1], HasSubstr("On the same device, cornerturn runs products"));
    EXPECT_THAT(found[2], HasSubstr("transpose/production is the fastest"));
    const std::string page = markdown(make_page(all), [](const std::string&) { return ""; });
    EXPECT_TRUE(page.starts_with("# cornerturn: 5 results\n\n" + found[0])) << page.substr(0, 300);
}

TEST(headline, shows_every_bench_that_has_peers) {
    const auto drawn =
        headline(results({"bench_transpose", "bench_permute", "bench_host_16_cores_random_transpose_9202",
                          "bench_host_16_cores_random_permute_9202"}));
    ASSERT_TRUE(drawn.has_value());
    const std::string svg = drawn->as_file();
    for (const char* told :
         {"Transposes on NVIDIA H200", "Permutations on NVIDIA H200", "Permutations on 16 host cores", ">cuTENSOR<",
          ">cuBLAS geam<", ">JAX<", ">numpy<", ">39 x slower<", ">0.31<",
          "cornerturn's median speed is 0.97 to 1.08 of memcpy's, PyTorch's 0.31 to 0.75"})
        EXPECT_THAT(svg, HasSubstr(told));
    EXPECT_THAT(svg, Not(HasSubstr("copy kernel")));
    EXPECT_FALSE(headline(results({"bench_transpose"})).has_value());
    EXPECT_FALSE(headline(results({"bench_transpose", "bench_gemm"})).has_value());
}

TEST(pages, say_in_a_sentence_that_all_counters_are_equal) {
    const auto page_of = [](const document& d) { return html(make_page({d})); };
    EXPECT_THAT(page_of(result("counters_transpose_4096x4096_f32")), Not(HasSubstr("<td>=</td>")));
    EXPECT_THAT(page_of(result("counters_transpose_4096x4096_f32")),
                HasSubstr("to the last digit for all 25 kernels."));
    EXPECT_THAT(page_of(result("counters_gemm_4096x4096x4096")), HasSubstr("<td>=</td>"));
}

TEST(words, have_few_digits) {
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
