#include "cli/explain.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/words.hpp"
#include "core/dtype.hpp"
#include "core/gemm_problem.hpp"
#include "core/problem.hpp"
#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "lab/ladder.hpp"

namespace cornerturn::cli {

namespace {

int parse_int(const std::string& name, const std::string& text, int least, int most) {
    const std::int64_t value = parse_size(name, text);
    if (value < least || value > most)
        throw invalid_argument(fmt::format("{} is {}: it must be {} to {}", name, value, least, most));
    return static_cast<int>(value);
}

int capability_of(const explain_options& o) { return parse_int("--compute-capability", o.compute_capability, 0, 9999); }

std::string explain_transpose(const explain_options& o, lab::format as) {
    problem_shape shape{.rows = parse_size("--rows", o.rows.value_or("4096")),
                        .cols = parse_size("--cols", o.cols.value_or("4096"))};
    const dtype type = find_dtype(o.dtype.value_or("f32"));
    const std::int64_t size = o.element_size ? parse_size("--element-size", *o.element_size) : type.size;
    if (size < 1 || size > 4096)
        throw invalid_argument(fmt::format("--element-size is {}: it must be 1 to 4096 bytes", size));
    shape.element_size = static_cast<int>(size);
    if (o.source_ld) shape.source_ld = parse_size("--source-ld", *o.source_ld);
    if (o.destination_ld) shape.destination_ld = parse_size("--destination-ld", *o.destination_ld);
    shape.source_offset = parse_size("--source-offset", o.source_offset.value_or("0"));
    shape.destination_offset = parse_size("--destination-offset", o.destination_offset.value_or("0"));
    shape.count = parse_size("--count", o.count);
    shape.in_place = o.in_place;
    shape = shape.checked();
    matrix_work work = shape.work(nullptr, nullptr);
    // Nothing is read: two addresses that are apart, off a boundary by the offsets.
    const auto address = [&](std::uintptr_t base, std::int64_t offset) {
        return reinterpret_cast<unsigned char*>(base + static_cast<std::uintptr_t>(offset * size));
    };
    work.source = address(std::uintptr_t{1} << 40, shape.source_offset);
    work.destination = address(std::uintptr_t{shape.in_place ? 1u : 2u} << 40, shape.destination_offset);
    const int capability = capability_of(o);
    const std::string place = o.on.value_or("cuda");
    if (place != "cuda" && place != "host")
        throw invalid_argument(fmt::format("--on is '{}': it can be cuda or host", place));
    const backend on = place == "cuda" ? backend::cuda : backend::host;
    const std::string text = lab::explain(o.family, on, work, capability);
    if (as != lab::format::json) return text + "\n";
    nlohmann::ordered_json out = {{"rows", shape.rows},
                                  {"cols", shape.cols},
                                  {"element_size", shape.element_size},
                                  {"source_ld", shape.source_ld},
                                  {"destination_ld", shape.destination_ld},
                                  {"count", shape.count},
                                  {"on", place},
                                  {"compute_capability", capability},
                                  {"choice", text}};
    if (on == backend::host) out.erase("compute_capability");
    return out.dump(2) + "\n";
}

std::string explain_product(const explain_options& o, lab::format as) {
    if (o.on.value_or("cuda") != "cuda")
        throw invalid_argument(fmt::format("--on is '{}': products are computed on cuda", *o.on));
    const auto size = [](const char* name, const std::optional<std::string>& text, const std::string& otherwise) {
        return parse_size(name, text.value_or(otherwise));
    };
    gemm_shape shape{.m = size("--m", o.m, "4096")};
    shape.n = size("--n", o.n, std::to_string(shape.m));
    shape.k = size("--k", o.k, std::to_string(shape.m));
    shape.lda = size("--lda", o.lda, "0");
    shape.ldb = size("--ldb", o.ldb, "0");
    shape.ldc = size("--ldc", o.ldc, "0");
    shape.a_turned = o.a_transposed;
    shape.b_turned = o.b_transposed;
    shape = shape.with_ld();
    gemm_work work = shape.work(nullptr, nullptr, nullptr, nullptr);
    // Nothing is read: addresses off a boundary by the offset.
    const std::int64_t offset = size("--offset", o.offset, "0");
    work.a = work.b =
        reinterpret_cast<const float*>((std::uintptr_t{1} << 40) + static_cast<std::uintptr_t>(offset) * sizeof(float));
    work.count = parse_size("--count", o.count);
    work.a_stride = work.a_turned ? work.k * work.lda : work.m * work.lda;
    work.b_stride = work.b_turned ? work.n * work.ldb : work.k * work.ldb;
    for (std::int64_t stride : {work.a_stride, work.b_stride, work.m * work.ldc})
        checked_multiply(work.count, checked_multiply(stride, 4 * sizeof(float), "matrix x bytes"), "--count x bytes");
    const int capability = capability_of(o);
    const int processors = parse_int("--multiprocessors", o.multiprocessors.value_or("132"), 1, 1 << 16);
    const std::string text = lab::explain(work, capability, processors);
    if (as != lab::format::json) return text + "\n";
    const nlohmann::ordered_json out = {{"m", work.m},
                                        {"n", work.n},
                                        {"k", work.k},
                                        {"a_transposed", work.a_turned},
                                        {"b_transposed", work.b_turned},
                                        {"lda", work.lda},
                                        {"ldb", work.ldb},
                                        {"ldc", work.ldc},
                                        {"count", work.count},
                                        {"compute_capability", capability},
                                        {"multiprocessors", processors},
                                        {"choice", text}};
    return out.dump(2) + "\n";
}

}  // namespace

std::string explain(const explain_options& o, lab::format as) {
    if (o.family.find('/') != std::string::npos) return explain_kernel(o, as);
    if (o.svg)
        throw invalid_argument(
            fmt::format("--svg draws what one kernel does: '{}' is no kernel's id (cornerturn list)", o.family));
    const bool of_product = o.m || o.n || o.k || o.lda || o.ldb || o.ldc || o.offset || o.multiprocessors ||
                            o.a_transposed || o.b_transposed;
    const bool of_transpose = o.rows || o.cols || o.dtype || o.element_size || o.source_ld || o.destination_ld ||
                              o.source_offset || o.destination_offset || o.in_place;
    if (o.family == "gemm") {
        if (of_transpose)
            throw invalid_argument(
                "a product has --m, --n, --k, --lda, --ldb, --ldc and --offset; --rows and what goes "
                "with it are of a transpose");
        return explain_product(o, as);
    }
    if (of_product)
        throw invalid_argument("a transpose has --rows and --cols; --m, --n, --k and what goes with them are of gemm");
    return explain_transpose(o, as);
}

}  // namespace cornerturn::cli
