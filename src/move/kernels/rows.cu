// Copies of runs: see rows.hpp.
#include "move/kernels/kernels.hpp"
#include "move/kernels/rows.hpp"
#include "move/kernels/unaligned.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using moves::rows_work;

// kApart: the alignment of a vector's source.
template <int kBytes, int kApart>
struct moved_run {
    struct work {};
    using loaded = uint4;
    static constexpr int kUnit = kBytes, kSourceUnit = kBytes, kResident = 2048, kAtOnce = 1;
    static constexpr int kAround = kApart < 4 ? 3 : 0;

    __device__ __forceinline__ explicit moved_run(work) {}
    static __device__ __forceinline__ std::int64_t factor_of_run(work, int, unsigned) { return 0; }
    static __device__ __forceinline__ std::int64_t factor_in_run(work) { return 0; }
    static __device__ __forceinline__ void load(const byte* from, read_policy read, uint4& vector) {
        vector = load_vector<kApart>(from, read);
    }
    static __device__ __forceinline__ void load_within(const byte* from, const byte*, const byte*, uint4& vector) {
        storage_t<kBytes> units[kVectorBytes / kBytes];
        CORNERTURN_UNROLL
        for (int u = 0; u < kVectorBytes / kBytes; ++u) units[u] = value_at<storage_t<kBytes>>(from + u * kBytes);
        __builtin_memcpy(&vector, units, sizeof vector);
    }
    static __device__ __forceinline__ uint4 vector_of_run(const uint4& vector, std::int64_t) { return vector; }
    static __device__ __forceinline__ storage_t<kBytes> unit_of_run(const byte* from, std::int64_t) {
        return value_at<storage_t<kBytes>>(from);
    }
};

template <int kUnit, int kApart>
void start(const rows_work& w, result_policy result, bool keeps_lines, const launch_shape& shape) {
    using move = moved_run<kUnit, kApart>;
    launch(shape, copy_rows<move>, w, typename move::work{}, result, keeps_lines);
}

template <int kUnit>
void run(const rows_work& w, int relative_alignment, result_policy result, bool keeps_lines,
         const launch_shape& shape) {
    if constexpr (kUnit <= 16) {
        if (relative_alignment >= 16 || kUnit == 16) return start<kUnit, 16>(w, result, keeps_lines, shape);
    }
    if constexpr (kUnit <= 8) {
        if (relative_alignment >= 8 || kUnit == 8) return start<kUnit, 8>(w, result, keeps_lines, shape);
    }
    if constexpr (kUnit <= 4) {
        if (relative_alignment >= 4 || kUnit == 4) return start<kUnit, 4>(w, result, keeps_lines, shape);
    }
    if constexpr (kUnit <= 2) start<kUnit, 1>(w, result, keeps_lines, shape);
}

}  // namespace

void run_rows(const rows_work& w, int unit, int relative_alignment, result_policy result, bool keeps_lines,
              const launch_shape& shape) {
    switch (unit) {
        case 1: return run<1>(w, relative_alignment, result, keeps_lines, shape);
        case 2: return run<2>(w, relative_alignment, result, keeps_lines, shape);
        case 4: return run<4>(w, relative_alignment, result, keeps_lines, shape);
        case 8: return run<8>(w, relative_alignment, result, keeps_lines, shape);
        default: return run<16>(w, relative_alignment, result, keeps_lines, shape);
    }
}

}  // namespace CORNERTURN_KERNELS
