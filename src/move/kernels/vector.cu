// Transposes by vectors: see vector.hpp.
#include "move/kernels/vector.hpp"

namespace CORNERTURN_KERNELS {
namespace {

// Threads that a multiprocessor should hold.
template <int kElement, int kTileRows, int kTileCols, int kThreads>
inline constexpr int kResident =
    moves::resident_of_vector(kElement, vector_tile<kElement, kTileRows, kTileCols, kThreads>::kVectors / kThreads);
template <>
inline constexpr int kResident<16, 16, 32, 128> = 2048;  // all blocks of a 1024 x 1024 matrix run at the same time

template <class Order, int kElement, int kTileRows, int kTileCols, int kThreads>
void run(const moves::matrices_work& work, const gpu& on) {
    run_vector<Order, moved_matrix<kElement>, kTileRows, kTileCols, kThreads,
               kResident<kElement, kTileRows, kTileCols, kThreads>>(work, {}, on);
}

// Columns 16 KiB apart. The memory channel of an address depends on the parity of some address bits, and the 16 KiB bit
// is one of them (docs/experiments/transpose.md).
template <int kRowBytes>
constexpr unsigned apart() {
    constexpr unsigned kApart = (16 << 10) / kRowBytes;
    static_assert(kApart * kRowBytes == 16 << 10);
    return kApart;
}

struct vector_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kVector[kRow];
        return &run<column_major, kUse.unit, kUse.tile_rows, kUse.tile_cols, kUse.threads>;
    }
};
struct apart_rows {
    template <int kRow>
    static constexpr run_work kernel() {
        constexpr moves::tuning kUse = moves::kVectorApart[kRow];
        return &run<columns_apart<apart<kUse.tile_cols * kUse.unit>()>, kUse.unit, kUse.tile_rows, kUse.tile_cols,
                    kUse.threads>;
    }
};

}  // namespace

run_work vector_kernel(int row) { return kernel_of_row<vector_rows>(row, moves::kVector); }
run_work vector_apart_kernel(int row) { return kernel_of_row<apart_rows>(row, moves::kVectorApart); }

}  // namespace CORNERTURN_KERNELS
