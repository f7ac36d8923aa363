#include "cli/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <sstream>

#include "cli/output.hpp"
#include "cli/words.hpp"
#include "cornerturn/error.hpp"
#include "lab/bench.hpp"
#include "lab/bench_gemm.hpp"
#include "lab/bench_views.hpp"

namespace cornerturn::cli {
namespace {

// Where it runs, and what is measured there unless the caller says otherwise.
struct bench_place {
    const char *name, *subject, *yardstick, *peer_family, *peers;
    std::unique_ptr<lab::bencher> (*bencher)();
};
constexpr bench_place kPlaces[] = {
    {"cuda", "transpose/production", "baseline/memcpy", "baseline/", "memcpy,copy,geam", lab::cuda_bencher},
    {"host", "host/production", "host/copy@memcpy", "host/", "copy@streamed,openblas,eigen", lab::host_bencher}};

const bench_place& find_place(const std::string& name) {
    for (const bench_place& place : kPlaces) {
        if (name == place.name) return place;
    }
    throw invalid_argument(fmt::format("--on is '{}': it can be cuda or host", name));
}

// The words of "a,b", each of them one of `known`.
std::vector<std::string> read_words(const char* option, const std::string& text,
                                    const std::vector<std::string>& known) {
    std::vector<std::string> words;
    std::istringstream parts(text);
    for (std::string word; std::getline(parts, word, ',');) {
        if (std::find(known.begin(), known.end(), word) == known.end()) {
            throw invalid_argument(fmt::format("{} has '{}': it can have {}, with commas between them", option, word,
                                               fmt::join(known, ", ")));
        }
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    }
    return words;
}

std::vector<std::string> read_some(const char* option, const std::string& text, const std::vector<std::string>& known) {
    std::vector<std::string> words = read_words(option, text, known);
    if (words.empty())
        throw invalid_argument(fmt::format("{} names nothing: it can have {}", option, fmt::join(known, ", ")));
    return words;
}

std::vector<int> read_sizes(const std::string& text) {
    std::vector<std::string> known;
    for (int size : lab::bench_sizes()) known.push_back(std::to_string(size));
    std::vector<int> sizes;
    for (const std::string& word : read_some("--sizes", text, known)) sizes.push_back(std::stoi(word));
    return sizes;
}

double read_seconds(const std::string& text) {
    double seconds = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (status != std::errc{} || end != text.data() + text.size() || !(seconds > 0 && seconds <= 3600)) {
        throw invalid_argument(
            fmt::format("--seconds is '{}': it must be a number of seconds, above 0 and up to 3600", text));
    }
    return seconds;
}

lab::bench_request read_request(const bench_options& o, const bench_place& place, std::uint64_t seed) {
    const double seconds = read_seconds(o.seconds);
    lab::bench_request what{.subject = &find_kernel(o.subject.value_or(place.subject)),
                            .yardstick = &find_kernel(place.yardstick),
                            .seconds = seconds,
                            .seed = seed,
                            .warm = o.warm,
                            .placement = parse_placement(o.placement, place.bencher == lab::cuda_bencher)};
    std::vector<std::string> known;
    for (const kernel& k : kernels()) {
        if (k.id.starts_with(place.peer_family))
            known.push_back(k.id.substr(std::string_view(place.peer_family).size()));
    }
    for (const std::string& word : read_words("--peers", o.peers.value_or(place.peers), known)) {
        const kernel* const peer = &find_kernel(place.peer_family + word);
        if (peer != what.yardstick && peer != what.subject) what.peers.push_back(peer);
    }
    return what;
}

nlohmann::ordered_json provenance(const std::string& commit, const std::string& command_line, const std::string& cuda) {
    const std::time_t now = std::time(nullptr);
    char date[16] = {};
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    return {{"commit", commit}, {"date", date}, {"command", command_line}, {"cuda", cuda}};
}

// Tells on a terminal which cell of how many is measured.
class cell_progress {
public:
    explicit cell_progress(std::size_t cells) : cells_(cells), shown_(isatty(STDERR_FILENO) != 0) {}
    ~cell_progress() {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }
    cell_progress(const cell_progress&) = delete;
    cell_progress& operator=(const cell_progress&) = delete;
    void next(const std::string& cell) {
        if (shown_) fmt::print(stderr, "\r\033[K[{}/{}] {}", ++done_, cells_, cell);
    }

private:
    std::size_t cells_, done_ = 0;
    bool shown_;
};

[[noreturn]] void not_verified(const std::string& kernel, const std::string& fault) {
    throw error(fmt::format("{}: not verified: {}", kernel, fault));
}

void bench_transposes(const bench_options& o, std::uint64_t seed, lab::format as,
                      const std::optional<std::string>& output, const std::string& command_line) {
    const auto grid =
        lab::bench_grid(o.sizes ? read_sizes(*o.sizes) : lab::bench_sizes(),
                        o.shapes ? read_some("--shapes", *o.shapes, lab::bench_groups()) : lab::bench_groups());
    const bench_place& place = find_place(o.on);
    const lab::bench_request what = read_request(o, place, seed);
    const auto bencher = place.bencher();
    lab::bench_report report{.device = bencher->device(), .what = what};
    if (o.commit) report.provenance = provenance(*o.commit, command_line, report.device.cuda);
    bencher->expect(grid, report.what);
    {
        cell_progress progress(grid.size());
        for (const lab::bench_cell& cell : grid) {
            progress.next(fmt::format("{} of {} bytes", cell.text(), cell.shape.element_size));
            report.results.push_back(bencher->run(cell, report.what));
        }
    }
    write_out(output, lab::show_bench(report, as));
    for (const lab::bench_result& r : report.results) {
        for (const lab::bench_entry* e : r.entries()) {
            if (!e->fault.empty()) not_verified(e->kernel, e->fault);
        }
    }
}

void bench_products(const bench_options& o, std::uint64_t seed, lab::format as,
                    const std::optional<std::string>& output, const std::string& command_line) {
    if (o.sizes) throw invalid_argument("--sizes is for transposes: products are of 4-byte elements");
    if (o.peers) throw invalid_argument("--peers is for transposes: products are measured beside cublasSgemm");
    parse_placement(o.placement, false);
    if (o.on != "cuda") throw invalid_argument(fmt::format("--on is '{}': products are measured on cuda", o.on));
    const auto grid = lab::gemm_bench_grid(o.shapes ? read_some("--shapes", *o.shapes, lab::gemm_bench_groups())
                                                    : lab::gemm_bench_groups());
    lab::gemm_bench_report report{.subject = &find_kernel(o.subject.value_or("gemm/production")),
                                  .yardstick = &find_kernel("gemm/cublas"),
                                  .seconds = read_seconds(o.seconds),
                                  .seed = seed,
                                  .warm = o.warm};
    if (report.subject->does != operation::multiply)
        throw invalid_argument(fmt::format("--subject is '{}': it must multiply", report.subject->id));
    const auto bencher = lab::cuda_gemm_bencher();
    report.device = bencher->device();
    report.peak_flops = bencher->peak_flops();
    if (o.commit) report.provenance = provenance(*o.commit, command_line, report.device.cuda);
    {
        cell_progress progress(grid.size());
        for (const lab::gemm_cell& cell : grid) {
            progress.next(cell.text());
            report.results.push_back(bencher->run(cell, report));
        }
    }
    write_out(output, lab::show_gemm_bench(report, as));
    for (const lab::gemm_bench_result& r : report.results) {
        for (const lab::gemm_entry* e : {&r.yardstick, &r.subject}) {
            if (!e->fault.empty()) not_verified(e->kernel, e->fault);
        }
    }
}

}  // namespace

void bench(const bench_options& o, std::uint64_t seed, lab::format as, const std::optional<std::string>& output,
           const std::string& command_line) {
    if (o.family == "transpose")
        bench_transposes(o, seed, as, output, command_line);
    else if (o.family == "gemm")
        bench_products(o, seed, as, output, command_line);
    else
        throw invalid_argument(fmt::format("no bench is called '{}'; there are transpose and gemm", o.family));
}

}  // namespace cornerturn::cli
