#include <dlfcn.h>
#include <fmt/format.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "cornerturn/error.hpp"
#include "ops/copy/kernel_traits.hpp"
#include "ops/permute/strided_work.hpp"
#include "ops/transpose/operation.hpp"

namespace cornerturn {
namespace {

constexpr const char* kContract =
    "Elements of 4, 8 and 16 bytes. Axes without gaps between the fastest one's elements, none reversed or repeated. "
    "Extents below 2^31. bench/hptt/build.sh makes libcornerturn_hptt.so, which is loaded at the first call.";
constexpr const char* kLimit = "The bandwidth of the host's memory. HPTT's kernels are for AVX.";

struct functions {
    void* (*plan)(const int* permutation, int rank, const void* source, const int* sizes, const int* outer_source,
                  void* destination, const int* outer_destination, int element_size, int threads);
    void (*run)(void* plan);
    void (*destroy)(void* plan);
};

const functions& hptt() {
    static const functions all = [] {
        void* const library = dlopen("libcornerturn_hptt.so", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw unsupported(fmt::format("HPTT cannot be loaded: {}", dlerror()));
        functions f{};
        f.plan = reinterpret_cast<decltype(f.plan)>(dlsym(library, "cornerturn_hptt_plan"));
        f.run = reinterpret_cast<decltype(f.run)>(dlsym(library, "cornerturn_hptt_run"));
        f.destroy = reinterpret_cast<decltype(f.destroy)>(dlsym(library, "cornerturn_hptt_destroy"));
        if (f.plan == nullptr || f.run == nullptr || f.destroy == nullptr)
            throw unsupported("this libcornerturn_hptt.so lacks a function");
        return f;
    }();
    return all;
}

struct axis {
    std::int64_t extent, source, destination;
};

// The outer sizes of the larger row-major tensor of which this tensor is a part.
std::vector<int> outer_sizes(const std::vector<axis>& axes, std::int64_t axis::*stride) {
    std::vector<int> outer;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t its = axes[i].*stride, before = i > 0 ? axes[i - 1].*stride : its * axes[i].extent;
        const std::int64_t size = its > 0 && before % its == 0 ? before / its : 0;
        if (size < axes[i].extent || size > std::numeric_limits<int>::max())
            decline("HPTT cannot express these strides");
        outer.push_back(static_cast<int>(size));
    }
    if (axes.back().*stride != 1) decline("HPTT takes no gaps between the fastest axis's elements");
    return outer;
}

// A plan for work that is called repeatedly. It is made once.
struct planned {
    std::vector<std::int64_t> of;
    void* plan = nullptr;
};

void run_as(const void* source, void* destination, int element_size, std::vector<axis> axes) {
    static planned last;
    const int threads = tbb::this_task_arena::max_concurrency();
    std::vector<std::int64_t> key = {reinterpret_cast<std::intptr_t>(source),
                                     reinterpret_cast<std::intptr_t>(destination), element_size, threads};
    for (const axis& a : axes) key.insert(key.end(), {a.extent, a.source, a.destination});
    if (key != last.of) {
        if (last.plan != nullptr) hptt().destroy(last.plan);
        last = {};
        std::erase_if(axes, [](const axis& a) { return a.extent == 1; });
        if (axes.empty()) decline("HPTT needs more than one element");
        const auto sort = [&](std::int64_t axis::*stride) {
            std::stable_sort(axes.begin(), axes.end(),
                             [&](const axis& a, const axis& b) { return a.*stride > b.*stride; });
        };
        sort(&axis::source);
        const std::vector<axis> of_source = axes;
        const std::vector<int> outer_source = outer_sizes(axes, &axis::source);
        sort(&axis::destination);
        const std::vector<int> outer_destination = outer_sizes(axes, &axis::destination);
        std::vector<int> sizes, permutation;
        for (const axis& a : of_source) sizes.push_back(static_cast<int>(a.extent));
        for (const axis& a : axes) {
            const auto same = [&](const axis& b) { return a.source == b.source; };
            permutation.push_back(
                static_cast<int>(std::find_if(of_source.begin(), of_source.end(), same) - of_source.begin()));
        }
        last.plan = hptt().plan(permutation.data(), static_cast<int>(axes.size()), source, sizes.data(),
                                outer_source.data(), destination, outer_destination.data(), element_size, threads);
        if (last.plan == nullptr) decline_element_size(element_size);
        last.of = key;
    }
    hptt().run(last.plan);
}

// ---- Transposes -----------------------------------------------------------------------------------------------------

constexpr rung_notes kHptt{
    .id = "host/hptt",
    .idea = "HPTT's transpose, with a plan that HPTT's model chooses. Making the plan is not timed.",
    .change = "A peer, not a rung.",
    .contract = kContract,
    .bytes = "2 * rows * cols * e",
    .limit = kLimit,
    .source = "HPTT, Springer, Su, Bientinesi 2017.",
};

void run(const matrix_work& w) {
    if (w.source == w.destination) decline("it does not work in place");
    run_as(w.source, w.destination, w.element_size,
           {{w.count, w.source_stride, w.destination_stride}, {w.cols, 1, w.destination_ld}, {w.rows, w.source_ld, 1}});
}

constexpr variant<matrix_work> kVariants[] = {{{"", "a peer", 4 | 8 | 16}, run, {.batches = true, .arithmetic = true}}};
const bool kRegistered = register_rung(kHptt, transpose_operation(), backend::host, __FILE__, kVariants);

// ---- Permutations ---------------------------------------------------------------------------------------------------

constexpr rung_notes kPermuteHptt{
    .id = "host/permute_hptt",
    .idea = "HPTT's permutation, with a plan that HPTT's model chooses. Making the plan is not timed.",
    .change = "A peer, not a rung.",
    .contract = kContract,
    .bytes = "2 * elements * e",
    .limit = kLimit,
    .source = "HPTT, Springer, Su, Bientinesi 2017.",
};

void run_permuted(const strided_work& w) {
    std::vector<axis> axes;
    for (int i = 0; i < w.rank; ++i) axes.push_back({w.extents[i], w.source_strides[i], w.destination_strides[i]});
    run_as(w.source, w.destination, w.element_size, axes);
}

constexpr variant<strided_work> kPermuted[] = {{{"", "a peer", 4 | 8 | 16}, run_permuted, {.arithmetic = true}}};
const bool kPermutedRegistered = register_rung(kPermuteHptt, permute_operation(), backend::host, __FILE__, kPermuted);

}  // namespace
}  // namespace cornerturn
