// Kernels that do what no kernel may, or what the emulator must bear, each in one way. tests/misbehaving_test.cpp sees
// what becomes of each.
#include <climits>

#include "ops/transpose/transpose_rung.hpp"

namespace CORNERTURN_KERNELS {
namespace {

constexpr int kTile = 32;

enum class deed {
    // That end in a hazard.
    divides_by_zero,
    remainder_by_zero,
    divides_least_by_minus_one,
    loops,
    loops_over_local,
    loops_over_shared,
    loops_over_global,
    loops_over_barriers,
    loops_in_last_block,
    writes_behind_local,
    reads_behind_local,
    reads_before_local,
    reads_far_from_local,
    reads_behind_table,
    reads_behind_parameter,
    reads_behind_row,
    copies_pairs,
    copies_triples,
    reads_behind_variable,
    shares_in_function,
    reads_destination,
    adds_to_destination,
    // That are sound.
    flat_shared,
    flat_shared_in_function,
    long_loop,
    prints,
    prints_in_pieces,
    prints_much,
    reads_variable,
    copies_aligned_pairs,
    reads_what_it_wrote,
    reads_in_its_own_order
};

// 1, which no compiler knows.
__device__ __forceinline__ int one() { return static_cast<int>(blockDim.z); }

struct float_pair {
    float x, y;
};
struct float_triple {
    float x, y, z;
};
struct alignas(8) aligned_pair {
    float x, y;
};

__device__ element4 added_to_all[8] = {0, 0, 0, 0, 0, 0, 0, 0};

constexpr element4 kTable[4] = {0, 0, 0, 0};

[[gnu::noinline]] __device__ element4 by_way_of_shared(element4 value) {
    __shared__ element4 passed_on[1024];
    const int at = static_cast<int>(threadIdx.x + blockDim.x * threadIdx.y);
    passed_on[at] = value;
    __syncwarp();
    const element4 passed = passed_on[at ^ 1];
    __syncwarp();
    return passed;
}

[[gnu::noinline]] __device__ element4 one_of(const element4 (&values)[4], int at) { return values[at]; }

[[gnu::noinline]] __device__ void set_in_rows(element4 (*rows)[kTile], int at, element4 value) { rows[0][at] = value; }

template <deed kDeed>
__device__ element4 altered(element4 value, const element4* from, element4* to) {
    const int tid = static_cast<int>(threadIdx.x + blockDim.x * threadIdx.y);
    element4 local[4] = {value, value, value, value};
    if (kDeed == deed::divides_by_zero) return value / (blockDim.z - 1);
    if (kDeed == deed::remainder_by_zero)
        return static_cast<element4>(static_cast<std::int64_t>(value) % static_cast<std::int64_t>(one() - 1));
    if (kDeed == deed::divides_least_by_minus_one) return static_cast<element4>((INT_MIN + one() - 1) / -one());
    if (kDeed == deed::loops || (kDeed == deed::loops_in_last_block && blockIdx.x + 1 == gridDim.x)) {
        unsigned x = blockDim.z;
        while (x != 0) x = x * 5 | 1;
        return x;
    }
    if (kDeed == deed::loops_over_local) {
        volatile element4 here = 1;
        while (here != 0) here = here | 1;
    }
    if (kDeed == deed::loops_over_global) {
        while (*const_cast<const volatile element4*>(from) == value) continue;
    }
    if (kDeed == deed::loops_over_barriers) {
        while (blockDim.z != 0) __syncthreads();
    }
    if (kDeed == deed::long_loop) {
        for (int i = 0; i < 20000 * one(); ++i) value ^= *const_cast<const volatile element4*>(from);
        return value;
    }
    if (kDeed == deed::writes_behind_local) local[3 + one()] = value;
    if (kDeed == deed::reads_behind_local) return local[3 + one()];
    if (kDeed == deed::reads_before_local) return local[one() - 2];
    if (kDeed == deed::reads_far_from_local) return local[one() << 20];
    if (kDeed == deed::reads_behind_table) return value + kTable[3 + one()];
    if (kDeed == deed::reads_behind_parameter) return one_of(local, 3 + one());
    if (kDeed == deed::reads_behind_row) {
        element4 rows[2][4] = {{value, value, value, value}, {value, value, value, value}};
        return rows[0][3 + one()];
    }
    if (kDeed == deed::prints) printf("thread %d has %#x\n", tid, value);
    if (kDeed == deed::prints_in_pieces) {
        printf("thread %d", tid);
        printf(" has %s", tid % 2 == 0 ? "an even" : "an odd");
        printf(" number%s\n", tid == 0 ? ", 0" : "");
        if (tid == 1023) printf("that is all");
    }
    if (kDeed == deed::prints_much) printf("%1000.300f|%Lf\n", 1e300, static_cast<long double>(tid));
    if (kDeed == deed::reads_variable) return value + added_to_all[tid % 8];
    if (kDeed == deed::reads_behind_variable) return value + *(&added_to_all[7] + one());
    if (kDeed == deed::shares_in_function) return by_way_of_shared(by_way_of_shared(value));
    if (kDeed == deed::reads_destination && tid == 33) return value + 0 * *const_cast<volatile element4*>(to);
    return local[tid % 4];
}

// As many bytes as the type has, from the source's first to the destination's.
template <class T>
__device__ void copy_first(const element4* from, element4* to) {
    if (threadIdx.x == 0 && threadIdx.y == 0 && blockIdx.x + blockIdx.y == 0)
        *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
}

// A naive transpose, but for the deed.
template <deed kDeed>
__global__ void misbehaving(matrix_view<const element4> source, matrix_view<element4> destination) {
    __shared__ element4 tile[kTile][kTile];
    const tile_index at = row_major::tile_of(blockIdx, gridDim);
    const std::int64_t row = at.row * kTile + threadIdx.y, col = at.col * kTile + threadIdx.x;
    const int tid = static_cast<int>(threadIdx.x + blockDim.x * threadIdx.y);
    if (kDeed == deed::loops_over_shared) {
        tile[0][tid] = 1;
        while (*const_cast<volatile element4*>(&tile[0][tid]) != 0) continue;
    }
    if (kDeed == deed::flat_shared) {
        tile[0][tid] = 0;  // where a row ends the next begins
        __syncthreads();
    }
    if (kDeed == deed::flat_shared_in_function) {
        set_in_rows(tile, tid, 0);
        __syncthreads();
    }
    if (kDeed == deed::copies_pairs) copy_first<float_pair>(source.data, destination.data);
    if (kDeed == deed::copies_triples) copy_first<float_triple>(source.data, destination.data);
    if (kDeed == deed::copies_aligned_pairs) {
        copy_first<aligned_pair>(source.data, destination.data);
        __syncthreads();  // others of the block write there, too
    }
    if (row >= source.rows || col >= source.cols) return;
    const element4* const from = &source.data[row * source.ld + col];
    element4* const to = &destination.data[col * destination.ld + row];
    element4 value = *from;
    if (kDeed == deed::flat_shared || kDeed == deed::flat_shared_in_function) value += tile[0][tid];
    value = altered<kDeed>(value, from, to);
    if (kDeed == deed::adds_to_destination) {
        *to += value;
    } else if (kDeed == deed::reads_in_its_own_order) {
        // Odd lanes write, then read that; even lanes read the source by the same instruction, then write.
        const volatile element4* const again = tid % 2 == 0 ? from : to;
        for (int step = 0; step < 2; ++step) {
            if ((step == 0) == (tid % 2 == 0))
                value = *again;
            else
                *to = value;
        }
    } else {
        *to = value;
    }
    if (kDeed == deed::reads_what_it_wrote) *to = *const_cast<volatile element4*>(to);
}

template <deed kDeed>
struct done {
    template <class T>
    static void run(const matrix_work& work) {
        launch_transpose(misbehaving<kDeed>, work, {kTile, kTile}, dim3(kTile, kTile));
    }
};

constexpr rung_notes kMisbehaving{
    .id = "fault/misbehaving",
    .idea = "A naive transpose that does something else, too.",
    .change = "One line.",
    .contract = "None.",
    .bytes = "2 * rows * cols * 4",
    .limit = "-",
    .source = "-",
};

}  // namespace

#define DEED(name) only<done<deed::name>, element4>(#name, "-")
CORNERTURN_RUNG(kMisbehaving, transpose_operation(), DEED(divides_by_zero), DEED(remainder_by_zero),
                DEED(divides_least_by_minus_one), DEED(loops), DEED(loops_over_local), DEED(loops_over_shared),
                DEED(loops_over_global), DEED(loops_over_barriers), DEED(loops_in_last_block),
                DEED(writes_behind_local), DEED(reads_behind_local), DEED(reads_before_local),
                DEED(reads_far_from_local), DEED(reads_behind_table), DEED(reads_behind_parameter),
                DEED(reads_behind_row), DEED(copies_pairs), DEED(copies_triples), DEED(reads_behind_variable),
                DEED(shares_in_function), DEED(reads_destination), DEED(adds_to_destination), DEED(flat_shared),
                DEED(flat_shared_in_function), DEED(long_loop), DEED(prints), DEED(prints_in_pieces), DEED(prints_much),
                DEED(reads_variable), DEED(copies_aligned_pairs), DEED(reads_what_it_wrote),
                DEED(reads_in_its_own_order))

}  // namespace CORNERTURN_KERNELS
