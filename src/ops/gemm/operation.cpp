#include "ops/gemm/operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "core/sizes.hpp"
#include "cornerturn/error.hpp"
#include "device/explanation.hpp"
#include "ops/gemm/bench.hpp"

namespace cornerturn {

const char kernel_traits<gemm_work>::kType = 0;

namespace {

constexpr const char *kProduction = "gemm/production", *kPlain = "gemm/production@plain", *kCublas = "gemm/cublas";
constexpr std::int64_t kFloat = sizeof(float);

// ---- In host memory -------------------------------------------------------------------------------------------------

class host_product final : public problem {
public:
    host_product(backend on, const gemm_shape& shape, std::int64_t workspace) : on_(on), memory_(shape, workspace) {}

    bool take(const workload& work, const kernel& k) override {
        const auto* const product = dynamic_cast<const product_work*>(&work);
        return product != nullptr && product->shape().lies_as(memory_.shape()) &&
               memory_.use_workspace(product->workspace(on_, {&k})) && memory_.reshape(product->shape());
    }
    std::int64_t capacity() const override {
        std::int64_t bytes = 0;
        for (const auto& b : memory_.buffers()) bytes += b.buffer->capacity();
        return bytes;
    }
    void prepare() override { memory_.prepare(); }
    verdict check(nlohmann::ordered_json*) const override { return memory_.check(); }
    std::function<void()> bind(const kernel& k) const override {
        return [run = k.built_for<gemm_work>(on_)->run, work = memory_.work()] { run(work); };
    }
    std::function<void()> bind_yardstick() const override { return {}; }

    std::vector<buffer> buffers() const override {
        std::vector<buffer> all;
        for (const auto& b : memory_.buffers())
            all.push_back(
                {b.name, b.buffer->data(), b.buffer->size(), b.buffer->capacity(), b.writable, b.holds_input});
        return all;
    }
    tile tile_of(const emulator::sampled_tile& t) const override {
        return memory_.tile_at(t.operands[2], t.rows, t.cols);  // of C
    }
    void prepare_inputs() override { memory_.prepare_inputs(); }
    void prepare(const std::vector<tile>& tiles) override { memory_.prepare(tiles); }
    verdict check(const std::vector<tile>& tiles) const override { return memory_.check(tiles); }

private:
    backend on_;
    host_gemm memory_;
};

// ---- The operation --------------------------------------------------------------------------------------------------

class multiplication final : public operation {
public:
    multiplication()
        : operation(
              {.name = "gemm",
               .families = {"gemm"},
               .works = "products",
               .sizes = {{"--m", "N", "Rows of A and C. Default: as --n or --k, or 1024, or 4096 on a GPU."},
                         {"--n", "N", "Columns of B and C. Default: as --m or --k."},
                         {"--k", "N", "Columns of A and rows of B. Default: as --m or --n."}},
               .layout = {{"--lda", "N", "Leading dimension of A. Default: as small as possible."},
                          {"--ldb", "N", "Leading dimension of B. Default: as small as possible."},
                          {"--ldc", "N", "Leading dimension of C. Default: as small as possible."},
                          {"--a-offset", "N", "How many elements after a 256-byte boundary A begins. Default: 0."},
                          {"--b-offset", "N", "How many elements after a 256-byte boundary B begins. Default: 0."},
                          {"--c-offset", "N", "How many elements after a 256-byte boundary C begins. Default: 0."},
                          {"--alpha", "X", "The product is C = alpha A B + beta C. Default: 1."},
                          {"--beta", "X", "The factor of the old C. Default: 0."},
                          {"--values", "KIND",
                           "Values of A, B and C: integers, uniform, symmetric, normal, wide, cancelling or special. "
                           "Default: integers, whose products are exact."}},
               .sizes_legend = " (m x n x k)",
               .step = "multiply-add",
               .operations_a_step = 2,
               .operands = "A, B and C",
               .rate = kFp32Rate,
               .yardstick = "cublasSgemm",
               .published_source = "note 002, RTX 3060 Laptop, 4096 x 4096 x 4096",
               .element_sizes = {kFloat},
               .shape_heading = "m x n x k",
               .bench_yardstick = "cublasSgemm",
               .squares = kSquareProducts,
               .must_reach = {1},
               .comparisons = {{"error, of cuBLAS's: largest", "error", "largest"},
                               {"Frobenius", "error", "frobenius"}},
               .usual_way = "workspace given"}) {}

    workload_pointer read(const arguments& given, std::int64_t standard) const override {
        // A missing size is like one that was given.
        std::int64_t any = standard;
        for (const char* name : {"--k", "--n", "--m"}) any = given.size(name, any);
        const gemm_shape shape{.m = given.size("--m", any),
                               .n = given.size("--n", any),
                               .k = given.size("--k", any),
                               .lda = given.size("--lda", 0),
                               .ldb = given.size("--ldb", 0),
                               .ldc = given.size("--ldc", 0),
                               .a_offset = given.size("--a-offset", 0),
                               .b_offset = given.size("--b-offset", 0),
                               .c_offset = given.size("--c-offset", 0),
                               .alpha = given.number("--alpha", 1),
                               .beta = given.number("--beta", 0),
                               // Exact by default: no error can then hide behind rounding.
                               .values = find_values("--values", given.text("--values", "integers")),
                               .seed = static_cast<std::uint64_t>(given.size("--seed", 1))};
        checked_multiply(checked_multiply(shape.m, shape.n, "--m x --n"), shape.k, "--m x --n x --k");
        if (const dtype type = find_dtype(given.text("--dtype", "f32")); std::string_view(type.name) != "f32")
            throw invalid_argument(fmt::format("--dtype is {}: products take only f32", type.name));
        return std::make_shared<product_work>(shape);
    }

    std::unique_ptr<problem> make(backend on, const std::vector<const workload*>& work,
                                  const std::vector<const kernel*>& kernels, bool with_yardstick) const override {
        const auto& product = dynamic_cast<const product_work&>(*work.front());
        const std::int64_t workspace = product.workspace(on, kernels);
        if (on == backend::cuda) return make_cuda_product(product.shape(), workspace, with_yardstick);
        return std::make_unique<host_product>(on, product.shape(), workspace);
    }

    std::vector<option> explain_options() const override {
        return {{"--on", "cuda", "Where the product runs. Default: cuda."},
                {"--m", "N", "Rows of A and C. Default: 4096."},
                {"--n", "N", "Columns of B and C. Default: as --m."},
                {"--k", "N", "Columns of A and rows of B. Default: as --m."},
                facts().layout[0],
                facts().layout[1],
                facts().layout[2],
                {"--a-transposed", "", "A is given as k x m."},
                {"--b-transposed", "", "B is given as n x k."},
                {"--offset", "N", "How many elements after a 256-byte boundary A and B begin. Default: 0."},
                {"--count", "N", "Products of a batch, one after the other. Default: 1."},
                {"--compute-capability", "N", "Compute capability of the GPU: 90 means 9.0. Default: 90."},
                {"--multiprocessors", "N", "Multiprocessors of the GPU. Default: 132."}};
    }

    explanation explain(const arguments& given) const override {
        if (const std::string on = given.text("--on", "cuda"); on != "cuda")
            throw invalid_argument(fmt::format("--on is '{}': products run only on cuda", on));
        gemm_shape shape{.m = given.size("--m", 4096), .count = given.size("--count", 1)};
        shape.n = given.size("--n", shape.m);
        shape.k = given.size("--k", shape.m);
        shape.lda = given.size("--lda", 0);
        shape.ldb = given.size("--ldb", 0);
        shape.ldc = given.size("--ldc", 0);
        shape.a_transposed = given.has("--a-transposed");
        shape.b_transposed = given.has("--b-transposed");
        shape = shape.with_layout();
        gemm_work work = shape.work(nullptr, nullptr, nullptr, nullptr);
        // Nothing is read. The addresses are off a boundary by the offset.
        const std::int64_t offset = checked_multiply(given.size("--offset", 0), kFloat, "--offset x bytes");
        work.a = work.b =
            reinterpret_cast<const float*>((std::uintptr_t{1} << 40) + static_cast<std::uintptr_t>(offset));
        const int capability = given.whole("--compute-capability", 90, 0, 9999);
        const int processors = given.whole("--multiprocessors", 132, 1, 1 << 16);
        const kernel& k = find_kernel(kProduction);
        const std::string text =
            fmt::format("{}: {}", k.id, k.traits<gemm_work>().explain(work, capability, processors));
        return {text,
                {{"m", work.m},
                 {"n", work.n},
                 {"k", work.k},
                 {"a_transposed", work.a_transposed},
                 {"b_transposed", work.b_transposed},
                 {"lda", work.lda},
                 {"ldb", work.ldb},
                 {"ldc", work.ldc},
                 {"count", work.count},
                 {"compute_capability", capability},
                 {"multiprocessors", processors},
                 {"choice", text}}};
    }

    std::vector<std::string> bench_groups() const override { return product_groups(); }
    std::vector<bench_cell> bench_grid(const std::vector<int>&, const std::vector<std::string>& groups) const override {
        return cells_of(product_grid(groups));
    }
    std::vector<bench_cell> bench_draws(int count, std::uint64_t seed, draw_size size) const override {
        if (size == draw_size::small)
            throw invalid_argument("--small: random products have every size: leave out --small");
        return cells_of(product_draws(count, seed));
    }
    bench_contestants contestants(backend on) const override {
        if (on != backend::cuda) return {};
        return {.subject = kProduction, .yardstick = kCublas, .peer_family = {}, .peers = {}};
    }
    std::vector<bench_way> bench_ways(backend on) const override {
        if (on != backend::cuda) return {};
        return {{.name = "one call", .subject = kPlain, .yardstick = kCublas},
                {.name = "twenty in a row", .subject = kPlain, .yardstick = kCublas, .in_a_row = 20}};
    }
    std::string yardstick_text(backend) const override { return "cublasSgemm, pedantic FP32"; }

    double operand_bytes(const std::vector<std::int64_t>& sizes, int element_size) const override {
        const auto m = static_cast<double>(sizes[0]), n = static_cast<double>(sizes[1]),
                   k = static_cast<double>(sizes[2]);
        return element_size * (m * n + m * k + k * n);
    }

private:
    static std::vector<bench_cell> cells_of(const std::vector<product_cell>& products) {
        std::vector<bench_cell> cells;
        for (const product_cell& c : products) cells.push_back({c.group, std::make_shared<product_work>(c.shape)});
        return cells;
    }
};

}  // namespace

const operation& gemm_operation() {
    static const multiplication the_one;
    return the_one;
}

// ---- Its work -------------------------------------------------------------------------------------------------------

product_work::product_work(const gemm_shape& shape)
    : workload(gemm_operation(), find_dtype("f32"), shape.seed), shape_(shape.checked()) {}

std::int64_t product_work::workspace(backend on, const std::vector<const kernel*>& kernels) const {
    const gemm_work sizes = shape_.work(nullptr, nullptr, nullptr, nullptr);
    std::int64_t most = 0;
    for (const kernel* k : kernels) {
        const variant<gemm_work>* const v = k->built_for<gemm_work>(on);
        if (v != nullptr && v->traits.workspace != nullptr) most = std::max(most, v->traits.workspace(sizes));
    }
    return most;
}

std::int64_t product_work::steps() const { return outputs() * std::max<std::int64_t>(shape_.k, 1); }

std::int64_t product_work::bytes() const { return shape_.spans() * kFloat; }

double product_work::amount(const kernel&) const {
    return 2.0 * static_cast<double>(shape_.elements()) * static_cast<double>(shape_.k);
}

std::int64_t product_work::gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const {
    constexpr std::int64_t kBeside = 64 << 20;
    // Calls without a workspace allocate as much again.
    const std::int64_t workspaces = 2 * workspace(backend::cuda, kernels);
    return bytes() + ((with_yardstick ? shape_.span(gemm_matrix::c) : 0) + workspaces) * kFloat + kBeside;
}

std::vector<std::string> product_work::shape_classes() const { return product_classes(shape_); }

namespace {
// ", ld + 1", or ", ld + 1, 0, 3" for A, B and C. Empty if all are 0.
std::string of_each(const char* what, const std::array<std::int64_t, 3>& of) {
    if (of == std::array<std::int64_t, 3>{}) return {};
    if (of[0] == of[1] && of[1] == of[2]) return fmt::format(", {} {}", what, of[0]);
    return fmt::format(", {} {}", what, fmt::join(of, ", "));
}
}  // namespace

std::string product_work::text() const {
    const gemm_shape& s = shape_;
    std::string out = (s.count == 1 ? "" : fmt::format("{} of ", s.count)) + sizes_text(sizes());
    if (s.a_transposed && s.b_transposed)
        out += ", A and B transposed";
    else if (s.a_transposed || s.b_transposed)
        out += s.a_transposed ? ", A transposed" : ", B transposed";
    const auto gap = [&](gemm_matrix which) { return s.placed(which).ld - s.placed(which).cols; };
    out += of_each("ld +", {gap(gemm_matrix::a), gap(gemm_matrix::b), gap(gemm_matrix::c)});
    return out + of_each("offset", {s.a_offset, s.b_offset, s.c_offset});
}

void product_work::describe(nlohmann::ordered_json& cell) const {
    const gemm_shape& s = shape_;
    cell.update({{"m", s.m},
                 {"n", s.n},
                 {"k", s.k},
                 {"a_transposed", s.a_transposed},
                 {"b_transposed", s.b_transposed},
                 {"lda", s.lda},
                 {"ldb", s.ldb},
                 {"ldc", s.ldc},
                 {"offset", s.a_offset},
                 {"b_offset", s.b_offset},
                 {"c_offset", s.c_offset},
                 {"count", s.count}});
}

nlohmann::ordered_json product_work::layout() const {
    const gemm_shape& s = shape_;
    nlohmann::ordered_json its = nlohmann::ordered_json::object();
    const auto add = [&](const char* name, auto value, auto usual) {
        if (value != usual) its[name] = value;
    };
    const auto least = [&](gemm_matrix which) { return s.placed(which).cols; };
    add("lda", s.lda, least(gemm_matrix::a));
    add("ldb", s.ldb, least(gemm_matrix::b));
    add("ldc", s.ldc, least(gemm_matrix::c));
    add("a_offset", s.a_offset, 0);
    add("b_offset", s.b_offset, 0);
    add("c_offset", s.c_offset, 0);
    add("a_transposed", s.a_transposed, false);
    add("b_transposed", s.b_transposed, false);
    add("count", s.count, 1);
    add("alpha", s.alpha, 1.0f);
    add("beta", s.beta, 0.0f);
    add("values", std::string(name_of(s.values)), std::string(name_of(gemm_values::integers)));
    return its;
}

std::vector<workload_pointer> product_work::trials() const {
    std::vector<workload_pointer> all;
    for (const gemm_shape& s : product_trials(shape_)) all.push_back(std::make_shared<product_work>(s));
    return all;
}

std::string product_work::why_not_run(const kernel& k) const {
    if (k.traits<gemm_work>().any_layout) return {};
    if (shape_.count != 1) return "computes one product, not a batch";
    return shape_.a_transposed || shape_.b_transposed ? "takes A and B as they are" : "";
}

std::shared_ptr<const workload> product_work::among(const std::vector<const kernel*>&, std::uint64_t seed) const {
    gemm_shape shape = shape_;
    shape.seed = seed;
    return std::make_shared<product_work>(shape);
}

}  // namespace cornerturn
