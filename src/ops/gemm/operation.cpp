#include "ops/gemm/operation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/sizes.hpp"
#include "cornerturn/error.hpp"

namespace cornerturn {

const char kernel_traits<gemm_work>::kType = 0;

namespace {

constexpr const char *kProduction = "gemm/production", *kCublas = "gemm/cublas";
constexpr std::int64_t kFloat = sizeof(float);

// ---- In host memory -------------------------------------------------------------------------------------------------

class host_product final : public problem {
public:
    host_product(backend on, const gemm_shape& shape, std::int64_t workspace) : on_(on), memory_(shape, workspace) {}

    bool take(const workload& work, const kernel& k) override {
        const auto* const product = dynamic_cast<const product_work*>(&work);
        return product != nullptr && product->shape() == memory_.shape() &&
               memory_.use_workspace(product->workspace(on_, {&k}));
    }
    std::int64_t room() const override {
        std::int64_t bytes = 0;
        for (const auto& b : memory_.buffers()) bytes += b.buffer->room();
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
            all.push_back({b.name, b.buffer->data(), b.buffer->size(), b.buffer->room(), b.writable});
        return all;
    }
    tile tile_of(const emulator::sampled_tile& t) const override {
        return memory_.tile_at(t.operands[2], t.rows, t.cols);  // C's
    }
    void prepare_inputs() override { memory_.prepare_inputs(); }
    void prepare(const std::vector<tile>& tiles) override { memory_.prepare(tiles); }
    verdict check(const std::vector<tile>& tiles) const override { return memory_.check(tiles); }

private:
    backend on_;
    host_gemm memory_;
};

// ---- Its bench ------------------------------------------------------------------------------------------------------

std::vector<gemm_shape> squares() {
    std::vector<gemm_shape> all;
    for (std::int64_t side = 256; side <= 16384; side *= 2) all.push_back({.m = side, .n = side, .k = side});
    return all;
}
std::vector<gemm_shape> ragged() {
    return {{.m = 4095, .n = 4097, .k = 4099}, {.m = 1000, .n = 1000, .k = 1000}, {.m = 8191, .n = 8191, .k = 8191}};
}
std::vector<gemm_shape> oblong() {
    return {{.m = 128, .n = 8192, .k = 8192}, {.m = 8192, .n = 128, .k = 8192}, {.m = 8192, .n = 8192, .k = 128},
            {.m = 64, .n = 64, .k = 65536},   {.m = 16, .n = 8192, .k = 8192},  {.m = 8192, .n = 16, .k = 8192},
            {.m = 131072, .n = 256, .k = 256}};
}
std::vector<gemm_shape> transposes() {
    std::vector<gemm_shape> all;
    for (std::int64_t side : {1024, 4096}) {
        for (bool a : {false, true}) {
            for (bool b : {false, true})
                all.push_back({.m = side, .n = side, .k = side, .a_transposed = a, .b_transposed = b});
        }
    }
    return all;
}
std::vector<gemm_shape> padded() {
    constexpr std::int64_t kSide = 4096;
    const gemm_shape plain{.m = kSide, .n = kSide, .k = kSide};
    gemm_shape ld = plain, offset = plain;
    ld.lda = ld.ldb = ld.ldc = kSide + 1;
    offset.a_offset = offset.b_offset = offset.c_offset = 1;
    return {ld, offset};
}

struct gemm_group {
    const char* name;
    std::vector<gemm_shape> (*shapes)();
};
constexpr const char* kSquares = "squares";
constexpr gemm_group kGroups[] = {
    {kSquares, squares}, {"ragged", ragged}, {"oblong", oblong}, {"transposes", transposes}, {"padded", padded}};

// ---- The operation --------------------------------------------------------------------------------------------------

class multiplication final : public operation {
public:
    multiplication()
        : operation({.name = "gemm",
                     .families = {"gemm"},
                     .sizes = {{"--m", "rows of A and C (1024; 4096 on a GPU)"},
                               {"--n", "columns of B and C (as many)"},
                               {"--k", "columns of A and rows of B (as many)"}},
                     .sizes_legend = " (m x n x k)",
                     .step = "multiply-add",
                     .operations_a_step = 2,
                     .operands = "A, B and C",
                     .rate = kFp32Rate,
                     .yardstick = "cublasSgemm",
                     .noted_source = "note 002, RTX 3060 Laptop, 4096 x 4096 x 4096",
                     .element_sizes = {kFloat},
                     .shape_heading = "m x n x k",
                     .bench_yardstick = "cublasSgemm",
                     .squares = kSquares,
                     .must_reach = {1},
                     .comparisons = {{"error, of cuBLAS's: largest", "error", "largest"},
                                     {"Frobenius", "error", "frobenius"}}}) {}

    workload_pointer read(const arguments& given, std::int64_t standard) const override {
        // What is not given is as long as what is.
        std::int64_t any = standard;
        for (const char* name : {"--k", "--n", "--m"}) any = given.size(name, any);
        const gemm_shape shape{.m = given.size("--m", any),
                               .n = given.size("--n", any),
                               .k = given.size("--k", any),
                               .values = gemm_values::integers,  // exact: no error hides behind what rounding may cost
                               .seed = static_cast<std::uint64_t>(given.size("--seed", 1))};
        checked_multiply(checked_multiply(shape.m, shape.n, "--m x --n"), shape.k, "--m x --n x --k");
        if (const dtype type = find_dtype(given.word("--dtype", "f32")); std::string_view(type.name) != "f32")
            throw invalid_argument(fmt::format("--dtype is {}: products are of f32", type.name));
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
        return {{"--on", "cuda (cuda)"},
                {"--m", "of a product of m x k by k x n (4096)"},
                {"--n", "(as m)"},
                {"--k", "(as m)"},
                {"--lda", "leading dimension of A (as small as can be)"},
                {"--ldb", "of B"},
                {"--ldc", "of C"},
                {"--a-transposed", "A is given as k x m", true},
                {"--b-transposed", "B is given as n x k", true},
                {"--offset", "of A and B, in elements from a 256-byte boundary (0)"},
                {"--count", "products of a batch, one behind the other (1)"},
                {"--compute-capability", "of the GPU: 90 for 9.0 (90)"},
                {"--multiprocessors", "of the GPU (132)"}};
    }

    explanation explain(const arguments& given) const override {
        if (const std::string on = given.word("--on", "cuda"); on != "cuda")
            throw invalid_argument(fmt::format("--on is '{}': products are computed on cuda", on));
        gemm_shape shape{.m = given.size("--m", 4096)};
        shape.n = given.size("--n", shape.m);
        shape.k = given.size("--k", shape.m);
        shape.lda = given.size("--lda", 0);
        shape.ldb = given.size("--ldb", 0);
        shape.ldc = given.size("--ldc", 0);
        shape.a_transposed = given.has("--a-transposed");
        shape.b_transposed = given.has("--b-transposed");
        shape = shape.with_ld();
        gemm_work work = shape.work(nullptr, nullptr, nullptr, nullptr);
        // Nothing is read: addresses off a boundary by the offset.
        const std::int64_t offset = checked_multiply(given.size("--offset", 0), kFloat, "--offset x bytes");
        work.a = work.b =
            reinterpret_cast<const float*>((std::uintptr_t{1} << 40) + static_cast<std::uintptr_t>(offset));
        work.count = given.size("--count", 1);
        work.a_stride = work.a_transposed ? work.k * work.lda : work.m * work.lda;
        work.b_stride = work.b_transposed ? work.n * work.ldb : work.k * work.ldb;
        for (std::int64_t stride : {work.a_stride, work.b_stride, work.m * work.ldc})
            checked_multiply(work.count, checked_multiply(stride, 4 * kFloat, "matrix x bytes"), "--count x bytes");
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

    std::vector<std::string> bench_groups() const override {
        std::vector<std::string> names;
        for (const gemm_group& g : kGroups) names.emplace_back(g.name);
        return names;
    }
    std::vector<bench_cell> bench_grid(const std::vector<int>&, const std::vector<std::string>& groups) const override {
        std::vector<bench_cell> grid;
        for (const gemm_group& g : kGroups) {
            if (std::find(groups.begin(), groups.end(), g.name) == groups.end()) continue;
            for (const gemm_shape& shape : g.shapes()) grid.push_back({g.name, std::make_shared<product_work>(shape)});
        }
        return grid;
    }
    bench_contestants contestants(backend on) const override {
        if (on != backend::cuda) return {};
        return {.subject = kProduction, .yardstick = kCublas, .peer_family = {}, .peers = {}};
    }
    std::string yardstick_text(backend) const override { return "cublasSgemm, pedantic FP32"; }

    double operand_bytes(const std::vector<std::int64_t>& sizes, int element_size) const override {
        const auto m = static_cast<double>(sizes[0]), n = static_cast<double>(sizes[1]),
                   k = static_cast<double>(sizes[2]);
        return element_size * (m * n + m * k + k * n);
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

std::int64_t product_work::bytes() const { return (shape_.a_span() + shape_.b_span() + shape_.c_span()) * kFloat; }

double product_work::amount(const kernel&) const {
    return 2.0 * static_cast<double>(shape_.m) * static_cast<double>(shape_.n) * static_cast<double>(shape_.k);
}

std::int64_t product_work::gpu_bytes(const std::vector<const kernel*>& kernels, bool with_yardstick) const {
    constexpr std::int64_t kBeside = 64 << 20;
    return bytes() + ((with_yardstick ? shape_.c_span() : 0) + workspace(backend::cuda, kernels)) * kFloat + kBeside;
}

std::string product_work::text() const {
    std::string out = sizes_text(sizes());
    if (shape_.a_transposed && shape_.b_transposed)
        out += ", A and B transposed";
    else if (shape_.a_transposed || shape_.b_transposed)
        out += shape_.a_transposed ? ", A transposed" : ", B transposed";
    const std::int64_t row = shape_.a_transposed ? shape_.m : shape_.k;  // of A
    if (shape_.lda > row) out += fmt::format(", ld + {}", shape_.lda - row);
    if (shape_.a_offset > 0) out += fmt::format(", offset {}", shape_.a_offset);
    return out;
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
                 {"offset", s.a_offset}});
}

std::shared_ptr<const workload> product_work::among(const std::vector<const kernel*>&, std::uint64_t seed) const {
    gemm_shape shape = shape_;
    shape.seed = seed;
    return std::make_shared<product_work>(shape);
}

}  // namespace cornerturn
