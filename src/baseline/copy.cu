#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kCopy{
    .id = "baseline/copy",
    .idea = "A plain copy of the bytes, 16 for each thread: the ceiling for a kernel.",
    .change = "A peer, not a rung. From copy/global: no tiles; each thread loads and stores 16 bytes once.",
    .contract =
        "A matrix without gaps between its rows. If an address or the number of bytes is not a multiple of 16, it uses "
        "the widest words that fit.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth.",
    .source = "Common practice.",
};

constexpr int kCopyThreads = 256;

template <class T>
__global__ void baseline_copy(const T* source, T* destination, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kCopyThreads + threadIdx.x;
    if (i < count) destination[i] = source[i];
}

struct whole_copy {
    template <class T>
    static void run_as(const matrix_work& work, std::int64_t bytes) {
        const std::int64_t count = bytes / static_cast<std::int64_t>(sizeof(T));
        const std::int64_t blocks = (count + kCopyThreads - 1) / kCopyThreads;
        if (blocks > kMaxGridX) decline("the matrix needs more blocks than a grid can have");
        launch({dim3(static_cast<unsigned>(blocks)), dim3(kCopyThreads)}, baseline_copy<T>,
               static_cast<const T*>(work.source), static_cast<T*>(work.destination), count);
    }

    static void run(const matrix_work& work) {
        decline_gaps(work);
        const std::int64_t bytes = work.rows * work.cols * work.element_size;
        if (bytes == 0) return;
        const auto misfit = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(work.source) |
                                                  reinterpret_cast<std::uintptr_t>(work.destination) |
                                                  static_cast<std::uintptr_t>(bytes));
        if (misfit % 16 == 0) return run_as<element16>(work, bytes);
        if (misfit % 8 == 0) return run_as<element8>(work, bytes);
        if (misfit % 4 == 0) return run_as<element4>(work, bytes);
        if (misfit % 2 == 0) return run_as<element2>(work, bytes);
        run_as<element1>(work, bytes);
    }
};

CORNERTURN_RUNG(kCopy, transpose_operation(),
                variant<matrix_work>{{"", "a peer", 1 | 2 | 4 | 8 | 16}, &whole_copy::run, {.copies = true}})

}  // namespace CORNERTURN_KERNELS
