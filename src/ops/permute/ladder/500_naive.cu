#include "ops/permute/permute_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kNaive{
    .id = "permute/naive",
    .idea =
        "Each thread moves one element. It splits the element's number in the destination into an index and computes "
        "two addresses.",
    .change = "The first rung of the permutation.",
    .contract = "Any extents and strides of elements of 1, 2, 4, 8 and 16 bytes.",
    .bytes = "2 * elements * e, but each warp's load touches up to 32 sectors",
    .limit =
        "The reads: neighbours in the destination are far apart in the source, so each read takes a whole sector of 32 "
        "bytes. Each axis also costs a 64-bit division.",
    .source = "What a first version of every tensor library does.",
};

constexpr int kNaiveThreads = 256;

template <class T>
__global__ void permute_naive(strided_work work, std::int64_t elements) {
    std::int64_t rest = static_cast<std::int64_t>(blockIdx.x) * kNaiveThreads + threadIdx.x;
    if (rest >= elements) return;
    std::int64_t from = 0, to = 0;
    for (int axis = work.rank - 1; axis >= 0; --axis) {
        const std::int64_t digit = rest % work.extents[axis];
        rest /= work.extents[axis];
        from += digit * work.source_strides[axis];
        to += digit * work.destination_strides[axis];
    }
    static_cast<T*>(work.destination)[to] = static_cast<const T*>(work.source)[from];
}

struct naive {
    template <class T>
    static void run(const strided_work& work) {
        std::int64_t elements = 1;
        for (int axis = 0; axis < work.rank; ++axis) elements *= work.extents[axis];
        if (elements == 0) return;
        const std::int64_t blocks = (elements + kNaiveThreads - 1) / kNaiveThreads;
        if (blocks > 0x7fffffff) decline("a grid has at most 2147483647 blocks: 549755813632 elements");
        launch(launch_shape{dim3(static_cast<unsigned>(blocks)), dim3(kNaiveThreads)}, permute_naive<T>, work,
               elements);
    }
};

void run_naive(const strided_work& work) {
    decline_what_takes_long(work);
    run_with_type<naive>(work.element_size, work);
}

CORNERTURN_RUNG(kNaive, permute_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kPowersOfTwo, .whole_only = true},
                                      &run_naive})

}  // namespace CORNERTURN_KERNELS
