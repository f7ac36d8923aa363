// Kernels that are wrong, each in one way. tests/faults_test.cpp sees every one of them caught.
#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kTile = 32, kRows = 8;

// The faults that the verifier finds, or the emulator, in an otherwise sound padded transpose.
enum class fault {
    missing_barrier,
    wrong_index,
    unwritten_tail,
    past_the_end,
    swapped_rows,
    stale_output,
    nan,
    uninitialised_read,
    early_return,
    barrier_in_a_branch,
    shared_out_of_bounds,
    negative_index,
    misaligned,
    writes_source,
    same_lane_of_warp_race,
    missing_wait,
    differs_by_block
};

struct pair {
    unsigned low, high;
};

template <fault kFault>
__global__ void planted_fault(matrix_view<const element4> source, matrix_view<element4> destination) {
    __shared__ element4 tile[kTile][kTile + 1];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row0 = at.row * kTile, col0 = at.col * kTile;
    const int tx = threadIdx.x, ty = threadIdx.y;

    if (kFault == fault::early_return && (row0 + ty >= source.rows || col0 + tx >= source.cols)) return;
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = row0 + ty + i, col = col0 + tx;
        if (row >= source.rows || col >= source.cols) continue;
        if (kFault == fault::uninitialised_read && i == kRows && tx == 3) continue;
        if (kFault == fault::misaligned && i == 0 && ty == 0 && tx == 1) {
            tile[0][1] = reinterpret_cast<const pair*>(source.data + row * source.ld + col)->low;
            tile[0][1] =
                static_cast<element4>(*reinterpret_cast<const std::uint64_t*>(source.data + row * source.ld + col));
        }
        const std::int64_t from = kFault == fault::negative_index && row == 0 && col == 0 ? -1 : row * source.ld + col;
        if (kFault == fault::missing_wait) {
            copy_async_if<1>(true, as_shared(reinterpret_cast<float*>(&tile[ty + i][tx])),
                             reinterpret_cast<const float*>(source.data + from));
            continue;
        }
        tile[ty + i][kFault == fault::shared_out_of_bounds && ty + i == kTile - 1 ? tx + 32 : tx] = source.data[from];
        if (kFault == fault::writes_source) const_cast<element4*>(source.data)[row * source.ld + col] = 1;
        if (kFault == fault::same_lane_of_warp_race) tile[ty][(tx + 1) % kTile] = 0;
    }
    if (kFault == fault::barrier_in_a_branch) {
        if (ty < kRows / 2) {
            __syncthreads();
        } else {
            __syncthreads();
        }
    } else if (kFault != fault::missing_barrier) {
        __syncthreads();
    }
    for (int i = 0; i < kTile; i += kRows) {
        const std::int64_t row = col0 + ty + i, col = row0 + tx;
        const bool last = row + 1 == destination.rows && col + 1 == destination.cols;
        if (row >= destination.rows + (kFault == fault::past_the_end ? 1 : 0) || col >= destination.cols) continue;
        if (kFault == fault::stale_output || (kFault == fault::unwritten_tail && last)) continue;
        const int line = kFault == fault::swapped_rows ? (ty + i) ^ 1 : ty + i;
        element4 value = kFault == fault::wrong_index ? tile[line][tx] : tile[tx][line];
        if (kFault == fault::nan && last) value = 0x7fc00000u;
        destination.data[row * destination.ld + col] = value;
        // Twice in one block out of five: no class can tell.
        if (kFault == fault::differs_by_block && (at.row * 7 + at.col) % 5 == 0) {
            *const_cast<volatile element4*>(&destination.data[row * destination.ld + col]) = value;
        }
    }
}

template <fault kFault>
struct planted {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(planted_fault<kFault>, work, {kTile, kTile}, dim3(kTile, kRows));
    }
};

constexpr rung_notes kPlanted{
    .id = "fault/planted",
    .idea = "A padded transpose with one fault.",
    .change = "One line.",
    .contract = "Wrong on some or all matrices.",
    .bytes = "2 * rows * cols * 4",
    .limit = "-",
    .source = "-",
};

}  // namespace

CORNERTURN_RUNG(kPlanted, transpose_operation(),
                only<planted<fault::missing_barrier>, element4>("missing_barrier", "-"),
                only<planted<fault::wrong_index>, element4>("wrong_index", "-"),
                only<planted<fault::unwritten_tail>, element4>("unwritten_tail", "-"),
                only<planted<fault::past_the_end>, element4>("past_the_end", "-"),
                only<planted<fault::swapped_rows>, element4>("swapped_rows", "-"),
                only<planted<fault::stale_output>, element4>("stale_output", "-"),
                only<planted<fault::nan>, element4>("nan", "-"),
                only<planted<fault::uninitialised_read>, element4>("uninitialised_read", "-"),
                only<planted<fault::early_return>, element4>("early_return", "-"),
                only<planted<fault::barrier_in_a_branch>, element4>("barrier_in_a_branch", "-"),
                only<planted<fault::shared_out_of_bounds>, element4>("shared_out_of_bounds", "-"),
                only<planted<fault::negative_index>, element4>("negative_index", "-"),
                only<planted<fault::misaligned>, element4>("misaligned", "-"),
                only<planted<fault::writes_source>, element4>("writes_source", "-"),
                only<planted<fault::same_lane_of_warp_race>, element4>("same_lane_of_warp_race", "-"),
                only<planted<fault::missing_wait>, element4>("missing_wait", "-"),
                only<planted<fault::differs_by_block>, element4>("differs_by_block", "-"))

}  // namespace CORNERTURN_KERNELS
