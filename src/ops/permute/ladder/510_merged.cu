#include "ops/permute/permute_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kMerged{
    .id = "permute/merged",
    .idea = "Join axes that are contiguous on both sides. Move runs that are contiguous on both sides in wide words.",
    .change =
        "From naive: a thread moves a word of up to 16 bytes, not an element. Fewer axes remain, and 32-bit "
        "multiplications replace the divisions.",
    .contract = "Any extents and strides; up to 2147483647 words.",
    .bytes = "2 * elements * e, but each warp's load touches up to 32 sectors",
    .limit = "Where the permutation moves the fastest axis, words are single elements: reads cost as much as in naive.",
    .source = "Every library that permutes tensors merges axes: cuTENSOR, HPTT, PyTorch's TensorIterator.",
};

constexpr int kMergedThreads = 256;

// Words are numbered in the order of the destination.
struct merged_words {
    const unsigned char* source;
    unsigned char* destination;
    unsigned words;
    int rank;
    moves::digit axes[kMostAxes + 1];
};

template <class T>
__global__ void permute_merged(merged_words all) {
    const unsigned number = blockIdx.x * kMergedThreads + threadIdx.x;
    if (number >= all.words) return;
    const unsigned char* from = all.source;
    unsigned char* to = all.destination;
    unsigned rest = number;
    for (int axis = 0; axis < all.rank; ++axis) {
        const moves::digit& a = all.axes[axis];
        const unsigned next = a.by.quotient(rest);
        const std::int64_t digit = rest - next * a.by.d;
        from += digit * a.source;
        to += digit * a.destination;
        rest = next;
    }
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
}

struct merged {
    template <class T>
    static void run(const merged_words& all) {
        const unsigned blocks = (all.words + (kMergedThreads - 1)) / kMergedThreads;
        launch(launch_shape{dim3(blocks), dim3(kMergedThreads)}, permute_merged<T>, all);
    }
};

void run_merged(const strided_work& work) {
    decline_what_takes_long(work);
    const strided_words w = words_of(work);
    if (w.words == 0) return;
    if (w.words > 0x7fffffff) decline("it counts words in 31 bits");
    merged_words all{w.source, w.destination, static_cast<unsigned>(w.words), w.rank, {}};
    for (int i = 0; i < w.rank; ++i)
        all.axes[i] = {divider(static_cast<unsigned>(w.axes[i].extent)), w.axes[i].source, w.axes[i].destination};
    run_with_type<merged>(w.unit, all);
}

CORNERTURN_RUNG(kMerged, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kPowersOfTwo, .whole_only = true},
                                      &run_merged})

}  // namespace CORNERTURN_KERNELS
