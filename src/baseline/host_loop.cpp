// Plain loops, as a compiler translates them at -O3: peers of the library's kernels for host memory.
#include <cstring>

#include "ops/copy/kernel_traits.hpp"
#include "ops/permute/strided_work.hpp"
#include "ops/transpose/operation.hpp"

namespace cornerturn {
namespace {

struct sixteen {
    std::uint64_t halves[2];
};

// Calls run(element) with an element of `size` bytes.
template <class Run>
void with_element(int size, Run run) {
    switch (size) {
        case 1: return run(std::uint8_t{});
        case 2: return run(std::uint16_t{});
        case 4: return run(std::uint32_t{});
        case 8: return run(std::uint64_t{});
        case 16: return run(sixteen{});
        default: decline_element_size(size);
    }
}

// ---- Transposes -----------------------------------------------------------------------------------------------------

constexpr rung_notes kLoop{
    .id = "host/loop",
    .idea = "A double loop over typed elements, along the rows of the destination.",
    .change = "A peer, not a rung.",
    .contract = "Any rows x cols and leading dimensions.",
    .bytes = "2 * rows * cols * e",
    .limit = "It runs on one core. Each element of the source touches a cache line of its own.",
    .source = "A plain loop, compiled at -O3.",
};

template <class T>
void loop(const matrix_work& w) {
    for (std::int64_t i = 0; i < w.count; ++i) {
        const T* __restrict from = static_cast<const T*>(w.source) + i * w.source_stride;
        T* __restrict to = static_cast<T*>(w.destination) + i * w.destination_stride;
        for (std::int64_t col = 0; col < w.cols; ++col) {
            for (std::int64_t row = 0; row < w.rows; ++row)
                to[col * w.destination_ld + row] = from[row * w.source_ld + col];
        }
    }
}

void run(const matrix_work& w) {
    if (w.source == w.destination) decline("it does not work in place");
    with_element(w.element_size, [&](auto element) { loop<decltype(element)>(w); });
}

constexpr variant<matrix_work> kVariants[] = {{{"", "a peer", 1 | 2 | 4 | 8 | 16}, run, {.batches = true}}};
const bool kRegistered = register_rung(kLoop, transpose_operation(), backend::host, __FILE__, kVariants);

// ---- Permutations ---------------------------------------------------------------------------------------------------

constexpr rung_notes kPermuteLoop{
    .id = "host/permute_loop",
    .idea = "A loop over the destination's fastest axis. An index counts through the other axes.",
    .change = "A peer, not a rung.",
    .contract = "Any extents and strides.",
    .bytes = "2 * elements * e",
    .limit = "It runs on one core. On one side, each element touches a cache line of its own.",
    .source = "A plain loop, compiled at -O3.",
};

template <class T>
void permute_loop(const strided_work& w) {
    const T* from = static_cast<const T*>(w.source);
    T* to = static_cast<T*>(w.destination);
    if (w.rank == 0) {
        *to = *from;
        return;
    }
    const int last = w.rank - 1;
    std::int64_t index[kMostAxes] = {};
    for (int i = 0; i < w.rank; ++i) {
        if (w.extents[i] == 0) return;
    }
    for (;;) {
        const std::int64_t step = w.source_strides[last], to_step = w.destination_strides[last];
        for (std::int64_t k = 0; k < w.extents[last]; ++k) to[k * to_step] = from[k * step];
        int i = last - 1;
        for (; i >= 0; --i) {
            from += w.source_strides[i];
            to += w.destination_strides[i];
            if (++index[i] < w.extents[i]) break;
            from -= index[i] * w.source_strides[i];
            to -= index[i] * w.destination_strides[i];
            index[i] = 0;
        }
        if (i < 0) return;
    }
}

void run_permuted(const strided_work& w) {
    with_element(w.element_size, [&](auto element) { permute_loop<decltype(element)>(w); });
}

constexpr variant<strided_work> kPermuted[] = {{{"", "a peer", 1 | 2 | 4 | 8 | 16}, run_permuted}};
const bool kPermutedRegistered = register_rung(kPermuteLoop, permute_operation(), backend::host, __FILE__, kPermuted);

}  // namespace
}  // namespace cornerturn
