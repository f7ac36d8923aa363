// Ordered copies: the yardstick for work that writes sectors in part. memcpy writes whole sectors, so it is no fair
// comparison. These copies write exactly the destination's addresses, in ascending order, from a packed source. The
// fastest of them is the yardstick.
//
// They read as much as the compared work reads. That work reads up to the source's stride, so a copy also reads the
// memory between the source's last element and its stride, and drops it. All blocks share these reads.
#include "core/gpu.hpp"
#include "move/kernels/unaligned.hpp"
#include "move/kernels/work.hpp"
#include "ops/transpose/transpose_rung.hpp"
#if !defined(CORNERTURN_EMULATED)
#include "device/cuda_device.hpp"
#endif

namespace CORNERTURN_KERNELS {
namespace {

constexpr rung_notes kNotes{
    .id = "baseline/ordered",
    .idea =
        "A copy from packed memory to rows with gaps, in the order of addresses: the yardstick if sectors are "
        "written in part.",
    .change = "A peer, not a rung. From baseline/copy: the rows of the destination have gaps.",
    .contract =
        "Elements of any size. Rows without gaps in the source. Batches, if their matrices are contiguous or few.",
    .bytes = "rows * cols * e written; the same read, plus the memory between the source's end and its stride",
    .limit = "DRAM bandwidth: a sector that is written in part costs more than a whole one.",
    .source = "Common practice.",
};

constexpr unsigned kOrderedThreads = 256;
constexpr int kAssembled = 4;                             // vectors for each thread
constexpr std::int64_t kMostPieces = 0x7fffffff - 65536;  // of one launch: the divider's limit, less room for a block

// Pieces of rows, numbered in the order of their addresses. A piece is a unit, or a vector of the destination.
struct ordered_work {
    const byte *source, *last;  // the first byte, and the end of all that may be read
    byte* destination;
    std::int64_t row, pitch;  // bytes in a row, and bytes from row to row of the destination
    bool keeps_result;        // the L2 should keep the result
    unsigned pieces;          // in all
    divider of_row;           // divides by the pieces in a row
    const uint4* rest;        // read and dropped
    std::int64_t vectors;     // in `rest`, for all blocks
    unsigned vectors_of_block;
    bool never;  // false, but the compiler does not know it
};

// Reads this block's share of `rest`.
__device__ __forceinline__ void read_rest(const ordered_work& w) {
    if (w.vectors == 0) return;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * w.vectors_of_block;
    const std::int64_t left = w.vectors - first;
    const auto mine = static_cast<unsigned>(left < 0 ? 0 : left < w.vectors_of_block ? left : w.vectors_of_block);
    unsigned seen = 0;
    CORNERTURN_UNROLL_BY(4)
    for (unsigned i = threadIdx.x; i < mine; i += kOrderedThreads) {
        const uint4 v = load_kept(w.rest + first + i);
        seen ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (w.never) *w.destination = static_cast<byte>(seen);
}

template <class T>
__device__ __forceinline__ T load_once(const T* from) {
    if constexpr (sizeof(T) < 4) {
        return *from;
    } else {
        return load_kept(from);
    }
}

// Each thread moves kEach units, and all of them are in flight at once.
template <int kUnit, int kEach>
__global__ void CORNERTURN_RESIDENT(kOrderedThreads, kUnit* kEach < 64 ? 2048 : 1024) ordered_units(ordered_work w) {
    using unit = storage_t<kUnit>;
    const unsigned first = blockIdx.x * (kOrderedThreads * kEach) + threadIdx.x;
    const unit* const from = reinterpret_cast<const unit*>(w.source);
    unit values[kEach];
    CORNERTURN_UNROLL
    for (int k = 0; k < kEach; ++k) {
        const unsigned i = first + static_cast<unsigned>(k) * kOrderedThreads;
        if (i < w.pieces) values[k] = load_once(from + i);
    }
    read_rest(w);
    CORNERTURN_UNROLL
    for (int k = 0; k < kEach; ++k) {
        const unsigned i = first + static_cast<unsigned>(k) * kOrderedThreads;
        if (i >= w.pieces) break;
        const unsigned row = w.of_row.quotient(i), at = i - row * w.of_row.d;
        reinterpret_cast<unit*>(w.destination + row * w.pitch)[at] = values[k];
    }
}

// The vector of the destination for one piece, and which of its bytes belong to the row.
struct vector_place {
    const byte* from;
    byte* to;
    int begin, end;

    __device__ __forceinline__ vector_place(const ordered_work& w, unsigned piece) {
        const unsigned row = w.of_row.quotient(piece), vector = piece - row * w.of_row.d;
        byte* const line = w.destination + row * w.pitch;
        const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(line) % kVectorBytes);
        const std::int64_t at = static_cast<std::int64_t>(vector) * kVectorBytes - past, left = w.row - at;
        from = w.source + row * w.row + at;
        to = line + at;
        begin = at < 0 ? past : 0;
        end = left < kVectorBytes ? static_cast<int>(left) : kVectorBytes;
    }
    // Whether the vector can be moved as a whole. That reads `around` bytes before and after it.
    __device__ __forceinline__ bool is_whole(const ordered_work& w, int around) const {
        return begin == 0 && end == kVectorBytes &&
               (around == 0 || (from - around >= w.source && from + kVectorBytes + around <= w.last));
    }
};

// Each thread writes four vectors, or the part of them that belongs to the row. The distance between a byte's source
// and its destination is a multiple of kApart bytes.
template <int kUnit, int kApart>
__global__ void CORNERTURN_RESIDENT(kOrderedThreads, 1024) ordered_assembled(ordered_work w) {
    using unit = storage_t<kUnit>;
    constexpr int kAround = kApart < 4 ? 3 : 0;
    const unsigned first = blockIdx.x * (kOrderedThreads * kAssembled) + threadIdx.x;
    const result_policy result(w.keeps_result);
    uint4 values[kAssembled];
    CORNERTURN_UNROLL
    for (int k = 0; k < kAssembled; ++k) {
        const unsigned i = first + static_cast<unsigned>(k) * kOrderedThreads;
        if (i >= w.pieces) break;
        const vector_place place(w, i);
        if (place.is_whole(w, kAround)) values[k] = load_vector<kApart>(place.from, read_policy(true));
    }
    read_rest(w);
    CORNERTURN_UNROLL
    for (int k = 0; k < kAssembled; ++k) {
        const unsigned i = first + static_cast<unsigned>(k) * kOrderedThreads;
        if (i >= w.pieces) break;
        const vector_place place(w, i);
        if (place.is_whole(w, kAround)) {
            result.store(reinterpret_cast<uint4*>(place.to), values[k]);
            continue;
        }
        CORNERTURN_UNROLL_BY(1)
        for (int u = place.begin; u < place.end; u += kUnit)
            *reinterpret_cast<unit*>(place.to + u) = value_at<unit>(place.from + u);
    }
}

#if defined(CORNERTURN_EMULATED)
constexpr gpu this_gpu() { return gpu{}; }
#else
gpu this_gpu() { return device::gpu_of(device::launch_device()); }
#endif

// Rows of one matrix, and the bytes that are read after them.
struct ordered_rows {
    const byte* source;
    byte* destination;
    std::int64_t rows, row, pitch, rest;  // all in bytes except `rows`

    // The widest unit that both sides allow.
    int unit() const {
        const auto bits = static_cast<std::uint64_t>(row) | (rows > 1 ? static_cast<std::uint64_t>(pitch) : 0) |
                          reinterpret_cast<std::uintptr_t>(source) | reinterpret_cast<std::uintptr_t>(destination) |
                          kVectorBytes;
        return static_cast<int>(bits & (~bits + 1));
    }
    // The largest power of two, up to a vector, that divides the distance between a byte's source and its destination.
    int apart() const {
        const auto bits = (reinterpret_cast<std::uintptr_t>(source) - reinterpret_cast<std::uintptr_t>(destination)) |
                          (rows > 1 ? static_cast<std::uint64_t>(row - pitch) : 0) | kVectorBytes;
        return static_cast<int>(bits & (~bits + 1));
    }
};

// Cuts each row into `pieces_of_row` pieces, `of_block` to a block. Calls start(shape, work) for each launch.
template <class Start>
void for_each_launch(const ordered_rows& all, std::int64_t pieces_of_row, std::int64_t of_block, Start start) {
    if (pieces_of_row > kMostPieces) decline("a row is too long");
    const std::int64_t most = kMostPieces / pieces_of_row;
    for (std::int64_t first = 0; first < all.rows; first += most) {
        const std::int64_t rows = all.rows - first < most ? all.rows - first : most, pieces = rows * pieces_of_row;
        const std::int64_t blocks = (pieces + of_block - 1) / of_block;
        ordered_work w{};
        w.source = all.source + first * all.row;
        w.last = all.source + all.rows * all.row + all.rest;
        w.destination = all.destination + first * all.pitch;
        w.row = all.row;
        w.pitch = all.pitch;
        w.keeps_result = keeps_result(all.rows * all.row, this_gpu().l2_bytes);
        w.pieces = static_cast<unsigned>(pieces);
        w.of_row = divider(static_cast<unsigned>(pieces_of_row));
        if (first == 0) {  // a second launch is rare
            const auto end = reinterpret_cast<std::uintptr_t>(all.source + all.rows * all.row);
            const std::uintptr_t to_vector = (0 - end) % kVectorBytes;
            w.rest = reinterpret_cast<const uint4*>(end + to_vector);
            const std::int64_t whole = all.rest - static_cast<std::int64_t>(to_vector);
            w.vectors = whole > 0 ? whole / kVectorBytes : 0;
            w.vectors_of_block = static_cast<unsigned>((w.vectors + blocks - 1) / blocks);
        }
        start(launch_shape{dim3(static_cast<unsigned>(blocks)), dim3(kOrderedThreads)}, w);
    }
}

template <int kUnit, int kEach>
void copy_units(const ordered_rows& all) {
    for_each_launch(
        all, all.row / kUnit, kOrderedThreads * kEach,
        [](const launch_shape& shape, const ordered_work& w) { launch(shape, ordered_units<kUnit, kEach>, w); });
}

struct by_unit {
    template <int kEach>
    static void run(const ordered_rows& all) {
        switch (all.unit()) {
            case 1: return copy_units<1, kEach>(all);
            case 2: return copy_units<2, kEach>(all);
            case 4: return copy_units<4, kEach>(all);
            case 8: return copy_units<8, kEach>(all);
            default: return copy_units<16, kEach>(all);
        }
    }
};

template <int kUnit, int kApart>
void copy_assembled_apart(const ordered_rows& all) {
    // The most vectors that a row can touch.
    const std::int64_t most_past = kVectorBytes - kUnit;
    const std::int64_t vectors = (most_past + all.row + kVectorBytes - 1) / kVectorBytes;
    for_each_launch(all, vectors, kOrderedThreads * kAssembled, [](const launch_shape& shape, const ordered_work& w) {
        launch(shape, ordered_assembled<kUnit, kApart>, w);
    });
}

template <int kUnit>
void copy_assembled_units(const ordered_rows& all) {
    const int apart = all.apart();
    if (apart >= 16) return copy_assembled_apart<kUnit, 16>(all);
    if constexpr (kUnit <= 8) {
        if (apart >= 8) return copy_assembled_apart<kUnit, 8>(all);
    }
    if constexpr (kUnit <= 4) {
        if (apart >= 4) return copy_assembled_apart<kUnit, 4>(all);
    }
    if constexpr (kUnit <= 2) copy_assembled_apart<kUnit, 1>(all);
}

void copy_assembled(const ordered_rows& all) {
    switch (all.unit()) {
        case 1: return copy_assembled_units<1>(all);
        case 2: return copy_assembled_units<2>(all);
        case 4: return copy_assembled_units<4>(all);
        case 8: return copy_assembled_units<8>(all);
        default: return copy_assembled_units<16>(all);
    }
}

// Copies each matrix of the work. A batch whose rows are contiguous is copied as one matrix.
template <void (*kCopy)(const ordered_rows&)>
void run_ordered(const matrix_work& work) {
    constexpr std::int64_t kMostCopies = 16;  // copies for a batch: with more, the launches would dominate the time
    const std::int64_t e = work.element_size;
    if (work.rows == 0 || work.cols == 0) return;
    if (work.rows > 1 && work.source_ld != work.cols) decline("its source must have no gaps after its rows");
    const std::int64_t packed = work.rows * work.cols;
    ordered_rows one{static_cast<const byte*>(work.source),
                     static_cast<byte*>(work.destination),
                     work.rows,
                     work.cols * e,
                     work.destination_ld * e,
                     (work.source_stride - packed) * e};
    if (work.count > 1 && work.source_stride == packed && work.destination_stride == work.rows * work.destination_ld) {
        one.rows *= work.count;
        return kCopy(one);
    }
    if (work.count > kMostCopies) decline("it takes at most 16 matrices, unless they are contiguous");
    for (std::int64_t i = 0; i < work.count; ++i) {
        kCopy(one);
        one.source += work.source_stride * e;
        one.destination += work.destination_stride * e;
        if (i + 2 == work.count) one.rest = 0;  // memory after the last matrix may not be allocated
    }
}

#if !defined(CORNERTURN_EMULATED)
__global__ void CORNERTURN_RESIDENT(kOrderedThreads, 2048) ordered_rest(ordered_work w) { read_rest(w); }

// CUDA's own copy of rows. A launch before it reads what that copy does not read.
void copy_2d(const ordered_rows& all) {
    int most_pitch = 0;
    CORNERTURN_CUDA(cudaDeviceGetAttribute(&most_pitch, cudaDevAttrMaxPitch, device::launch_device()));
    if (all.pitch > most_pitch) decline("the rows are farther apart than cudaMemcpy2DAsync allows");
    constexpr std::int64_t kOfBlock = 16 << 10;
    if (all.rest >= kVectorBytes) {
        const ordered_rows rest{all.source, all.destination, 1, all.rows * all.row, 0, all.rest};
        const std::int64_t pieces = (all.rest + kVectorBytes - 1) / kVectorBytes;
        for_each_launch(rest, pieces, kOfBlock / kVectorBytes,
                        [](const launch_shape& shape, const ordered_work& w) { launch(shape, ordered_rest, w); });
    }
    CORNERTURN_CUDA(cudaMemcpy2DAsync(all.destination, static_cast<std::size_t>(all.pitch), all.source,
                                      static_cast<std::size_t>(all.row), static_cast<std::size_t>(all.row),
                                      static_cast<std::size_t>(all.rows), cudaMemcpyDeviceToDevice,
                                      device::current_stream()));
}
constexpr auto kCopy2d = &run_ordered<copy_2d>;
#else
constexpr void (*kCopy2d)(const matrix_work&) = nullptr;
#endif

constexpr variant<matrix_work> ordered(const char* name, void (*run)(const matrix_work&),
                                       const char* feature = nullptr) {
    return {{name, "a peer", kAnyElementSize, {feature}}, run, {.copies = true, .ordered = true, .batches = true}};
}

}  // namespace

CORNERTURN_RUNG(kNotes, transpose_operation(), ordered("1", &run_ordered<by_unit::run<1>>),
                ordered("4", &run_ordered<by_unit::run<4>>), ordered("8", &run_ordered<by_unit::run<8>>),
                ordered("assembled", &run_ordered<copy_assembled>), ordered("memcpy2d", kCopy2d, "cudaMemcpy2DAsync"))

}  // namespace CORNERTURN_KERNELS
