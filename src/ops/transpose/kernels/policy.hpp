// Which kernel moves which matrix: tuning as data.
#pragma once

#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "core/strided.hpp"
#include "core/work.hpp"

namespace cornerturn::strided {
struct plan;
}

namespace cornerturn::production {

// The ways of moving a matrix.
enum class path {
    nothing,          // an empty matrix
    direct,           // a small matrix, through registers alone
    vector,           // tiles, 16-byte accesses on both sides
    vector_apart,     // the same, blocks at two positions in each row at a time
    vector_stacked,   // the same for a batch as one tall matrix
    ragged,           // tiles, any alignment
    tall,             // a few columns: the source is read as it lies
    wide,             // a few rows: the destination is written as it lies
    strided,          // as a copy between tensors, which has a choice of its own (ops/copy/kernels/policy.hpp)
    small,            // a batch of small matrices that lie behind each other
    units,            // elements of any size, in units
    blocks,           // elements of 128 bytes and more, copied one by one
    vector_in_place,  // pairs of tiles are swapped, 16-byte accesses
    units_in_place,   // the same, for any element and alignment
    blocks_in_place,  // large elements are swapped one by one
};
const char* name(path p);

// One kernel as it is tuned: tunings.hpp has all of them. `unit` is what it moves at once: the element, or a part of
// it.
struct tuning {
    path by;
    int unit;                  // bytes
    int tile_rows, tile_cols;  // of the source, in elements; 0: chosen at the launch
    int threads;               // likewise

    friend bool operator==(const tuning&, const tuning&) = default;
};

// The largest power of two up to 16 that divides the element's size and both addresses: what can be moved at once.
int unit_of(const matrix_work& work);

// Looks at the GPU, at sizes and at the addresses' alignment alone.
tuning choose(const matrix_work& work, const gpu& on);
// Other tunings of these kernels that can do the work, which may be slower: for the bench's regret. None in place.
std::vector<tuning> alternatives(const matrix_work& work, const gpu& on);
// Every tuning that is chosen among: those of tunings.hpp.
std::vector<tuning> all_tunings();
// The row of its path's table in tunings.hpp, which is its kernel's. Throws std::logic_error where a tuning is no row.
int row_of(const tuning& t);
// "vector 128 x 128, 1-byte units, 256 threads"
std::string name(const tuning& t);
// Calls run() for each launch of what is chosen as path::strided.
void run_strided(const matrix_work& work, const gpu& on, void (*run)(const strided::plan&));
std::string explain(const matrix_work& work, const gpu& on);
std::string explain_for(const matrix_work& work, int capability);  // 90 for 9.0: see gpu_of_capability()

}  // namespace cornerturn::production
