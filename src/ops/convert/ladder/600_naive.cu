#include "ops/convert/convert_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kNaive{
    .id = "convert/naive",
    .idea =
        "Each thread converts one element. It splits the element's number in the destination into an index and "
        "computes two addresses.",
    .change = "The first rung of the conversion. From permute/naive: the two sides have elements of two sizes.",
    .contract = "Any extents and strides. u8 to f32 and f16, f32 to bf16 and back, bf16 to e4m3fn.",
    .bytes = "elements * (e of the source + e of the destination), but each warp's load touches up to 32 sectors",
    .limit =
        "The reads: neighbours in the destination are far apart in the source. With narrow elements a sector of 32 "
        "bytes is read for 1 byte. Each axis also costs a 64-bit division.",
    .source = "What a first version of every tensor library does.",
};

constexpr int kNaiveThreads = 256;

template <element_type kFrom, element_type kTo>
__global__ void convert_naive(strided_work work, rung_factors by, std::int64_t elements) {
    std::int64_t rest = static_cast<std::int64_t>(blockIdx.x) * kNaiveThreads + threadIdx.x;
    if (rest >= elements) return;
    std::int64_t from = 0, to = 0, factor = 0;
    for (int axis = work.rank - 1; axis >= 0; --axis) {
        const std::int64_t digit = rest % work.extents[axis];
        rest /= work.extents[axis];
        from += digit * work.source_strides[axis];
        to += digit * work.destination_strides[axis];
        if (axis == work.factor_axis) factor = digit;
    }
    static_cast<storage_of_t<kTo>*>(work.destination)[to] =
        converted_element<kFrom, kTo>(static_cast<const storage_of_t<kFrom>*>(work.source)[from], by, factor);
}

struct naive {
    template <element_type kFrom, element_type kTo>
    static void run(const strided_work& work) {
        std::int64_t elements = 1;
        for (int axis = 0; axis < work.rank; ++axis) elements *= work.extents[axis];
        if (elements == 0) return;
        const std::int64_t blocks = (elements + kNaiveThreads - 1) / kNaiveThreads;
        if (blocks > 0x7fffffff) decline("a grid has at most 2147483647 blocks: 549755813632 elements");
        launch(launch_shape{dim3(static_cast<unsigned>(blocks)), dim3(kNaiveThreads)}, convert_naive<kFrom, kTo>, work,
               rung_factors(work), elements);
    }
};

void run_naive(const strided_work& work) {
    decline_what_takes_long(work);
    run_with_pair<naive>(work.cast, work);
}

CORNERTURN_RUNG(kNaive, convert_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize, .whole_only = true},
                                      &run_naive})

}  // namespace CORNERTURN_KERNELS
