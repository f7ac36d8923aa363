// Small matrices, through registers alone. What limits these is how long one thread takes, not how many bytes move.
//
// A thread loads a square block as wide as one access, transposes it in registers and writes it. There is no shared
// memory, no barrier and no code for edges. The code is so short that it hardly ever waits for the instruction cache.
// The blocks of a warp lie several across and several down, so it reads and writes sectors (32 bytes) that are whole,
// or nearly.
#include "move/kernels/bytes.hpp"
#include "move/kernels/kernels.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// kAccess: bytes of one access. kAcross: how many blocks of a warp lie side by side.
template <int kElement, int kAccess, int kAcross, int kThreads>
struct direct {
    static constexpr int kSide = kAccess / kElement, kDown = 32 / kAcross;
    static constexpr int kCols = kAcross * kSide, kRows = kDown * kSide * (kThreads / 32);  // of a block of threads
    static_assert(kAcross * kDown == 32 && kThreads % 32 == 0);
};

template <int kElement, int kAccess, int kAcross, int kThreads>
__global__ void __launch_bounds__(kThreads) transpose_direct(moves::matrices_work work) {
    using shape = direct<kElement, kAccess, kAcross, kThreads>;
    using access = storage_t<kAccess>;
    using word = word_t<kElement>;
    constexpr int kSide = shape::kSide, kWords = kAccess / kWordBytes<kElement>;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const tile_index tile = column_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = tile.row * shape::kRows + (warp * shape::kDown + lane / kAcross) * kSide;
    const std::int64_t col = tile.col * shape::kCols + lane % kAcross * kSide;
    // Threads outside return without waiting. Some thread of every grid stays, so no grid ends before the kernel ahead.
    if (row >= work.rows || col >= work.cols) return;
    const byte* const source = static_cast<const byte*>(work.source) + (row * work.source_ld + col) * kElement;
    byte* const destination = static_cast<byte*>(work.destination) + (col * work.destination_ld + row) * kElement;

    union line {
        access whole;
        word words[kWords];
    };
    line from[kSide], to[kSide];
    wait_for_work_ahead();
    CORNERTURN_UNROLL
    for (int r = 0; r < kSide; ++r) from[r].whole = value_at<access>(source + r * work.source_ld * kElement);
    CORNERTURN_UNROLL
    for (int down = 0; down < kWords; ++down) {
        CORNERTURN_UNROLL
        for (int across = 0; across < kWords; ++across) {
            constexpr int kGroup = kElementsPerWord<kElement>;
            word rows[kGroup], columns[kGroup];
            CORNERTURN_UNROLL
            for (int i = 0; i < kGroup; ++i) rows[i] = from[down * kGroup + i].words[across];
            transpose_words<kElement>(rows, columns);
            CORNERTURN_UNROLL
            for (int i = 0; i < kGroup; ++i) to[across * kGroup + i].words[down] = columns[i];
        }
    }
    CORNERTURN_UNROLL
    for (int c = 0; c < kSide; ++c)
        *reinterpret_cast<access*>(destination + c * work.destination_ld * kElement) = to[c].whole;
}

template <int kElement, int kAccess, int kAcross, int kThreads>
void run(const moves::matrices_work& work, const gpu&) {
    using shape = direct<kElement, kAccess, kAcross, kThreads>;
    for_each_slab<column_major, slab_order::transposed>(
        work, {shape::kRows, shape::kCols}, dim3(kThreads), [](launch_shape grid, const moves::matrices_work& part) {
            grid.early = true;
            launch(grid, transpose_direct<kElement, kAccess, kAcross, kThreads>, part);
        });
}

struct direct_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kDirect[kRow];
        constexpr int kAccess = kUse.detail, kAcross = kUse.tile_cols / (kAccess / kUse.unit);
        static_assert(direct<kUse.unit, kAccess, kAcross, kUse.threads>::kRows == kUse.tile_rows);
        return &run<kUse.unit, kAccess, kAcross, kUse.threads>;
    }
};

}  // namespace

run_work direct_kernel(int row) { return kernel_of_row<direct_rows>(row, moves::kDirect); }

}  // namespace CORNERTURN_KERNELS
