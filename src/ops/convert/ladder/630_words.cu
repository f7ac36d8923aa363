#include "ops/convert/convert_rung.hpp"

namespace CORNERTURN_KERNELS {

constexpr rung_notes kWords{
    .id = "convert/words",
    .idea =
        "Composite tiles that are read and written in words of 16 bytes. A thread gathers the elements of a word of "
        "the destination, converts two at once in registers, and stores the word.",
    .change =
        "From composite: a quarter to a sixteenth of the requests to memory. One instruction converts two elements, "
        "and "
        "a word's scale is read once. Shared memory is swizzled by exclusive-or, so its words stay aligned.",
    .contract =
        "Any extents and strides, if the pieces of both sides are aligned to 16 bytes and hold whole words. Up to "
        "2147483647 tiles. Single elements at the edge. The types of naive.",
    .bytes = "elements * (e of the source + e of the destination), in pieces of 128 bytes where axes allow",
    .limit = "Alignment: an odd extent rules it out. A thread also looks up the elements of a word one by one.",
    .source = "permute/vectors, with device/casts.hpp between its two steps.",
};

constexpr int kWordsLine = 128, kWordsThreads = 256;

// The position of an element, in bytes. The swizzle permutes the eight words of each 128-byte line, and changes every
// kApart lines: as many as a word of the destination has elements. So lanes that gather for neighbouring words read
// from different banks.
template <class T, int kApart>
__device__ __forceinline__ int swizzled_offset(int element) {
    const int byte = element * static_cast<int>(sizeof(T)), line = byte / 128;
    return byte ^ (line / kApart & 7) << 4;
}

// A scale and a bias, which are read again only when another one is needed.
struct factors_in_registers {
    const rung_factors& by;
    std::int64_t held;  // which; -1: none
    float scale, bias;

    __device__ __forceinline__ float apply(float value, std::int64_t at) {
        if (by.scales == nullptr) return by.apply(value, at);
        if (at != held) {
            held = at;
            scale = by.scales[at];
            bias = by.biases[at];
        }
        return multiply_add(value, scale, bias);
    }
};

// 4 bytes of the destination, from element(0), element(1), ...: f32 with the scale and bias applied.
template <element_type kTo, class Element>
__device__ __forceinline__ unsigned part_of_word(Element element) {
    if constexpr (facts_of<kTo>::size == 4) {
        return __builtin_bit_cast(unsigned, element(0));
    } else if constexpr (facts_of<kTo>::size == 2) {
        const float low = element(0), high = element(1);
        return narrowed_pair<kTo>(low, high);
    } else {
        const float a = element(0), b = element(1), c = element(2), d = element(3);
        return narrowed_pair<kTo>(a, b) | narrowed_pair<kTo>(c, d) << 16;
    }
}

template <element_type kFrom, element_type kTo>
__global__ void convert_words(tile_layout layout, rung_factors by) {
    CORNERTURN_DYNAMIC_SHARED(uint4, image);
    using from = storage_of_t<kFrom>;
    using to = storage_of_t<kTo>;
    constexpr int kRead = 16 / static_cast<int>(sizeof(from)), kWrite = 16 / static_cast<int>(sizeof(to));
    unsigned char* const bytes = reinterpret_cast<unsigned char*>(image);
    const auto held = [=](int place) { return reinterpret_cast<from*>(bytes + swizzled_offset<from, kWrite>(place)); };
    const tile_start at = start_of(layout, blockIdx.x);
    const int threads = static_cast<int>(blockDim.x);
    // The elements of a word are contiguous: if the last one is in the tensor, all are.
    for (int i = static_cast<int>(threadIdx.x) * kRead; i < layout.words; i += threads * kRead) {
        const unsigned char* const source = at.source + find_word(layout.read, layout.rank, at, i).offset;
        if (find_word(layout.read, layout.rank, at, i + (kRead - 1)).there) {
            *reinterpret_cast<uint4*>(held(i)) = *reinterpret_cast<const uint4*>(source);
            continue;
        }
        for (int k = 0; k < kRead; ++k) {
            if (find_word(layout.read, layout.rank, at, i + k).there)
                *held(i + k) = reinterpret_cast<const from*>(source)[k];
        }
    }
    __syncthreads();  // from here on, a thread reads what others have loaded
    for (int i = static_cast<int>(threadIdx.x) * kWrite; i < layout.words; i += threads * kWrite) {
        unsigned char* const destination = at.destination + find_word(layout.write, layout.rank, at, i).offset;
        if (find_word(layout.write, layout.rank, at, i + (kWrite - 1)).there) {
            factors_in_registers current{by, -1, 1, 0};
            const auto part = [&](int n) {
                return part_of_word<kTo>([&](int k) {
                    const word_at one = find_word(layout.write, layout.rank, at, i + n * kWrite / 4 + k);
                    return current.apply(value_in_f32<kFrom>(*held(one.place)), at.factor + one.factor);
                });
            };
            *reinterpret_cast<uint4*>(destination) = make_uint4(part(0), part(1), part(2), part(3));
            continue;
        }
        for (int k = 0; k < kWrite; ++k) {
            const word_at one = find_word(layout.write, layout.rank, at, i + k);
            if (one.there)
                reinterpret_cast<to*>(destination)[k] =
                    converted_element<kFrom, kTo>(*held(one.place), by, at.factor + one.factor);
        }
    }
}

struct in_words {
    template <element_type kFrom, element_type kTo>
    static void run(const tile_layout& layout, const rung_factors& by) {
        const int bytes = layout.words * facts_of<kFrom>::size;
        launch_tiles(convert_words<kFrom, kTo>, layout, threads_for(layout.words * layout.unit / 16, kWordsThreads),
                     (bytes + 127) / 128 * 128, by);
    }
};

void run_words(const strided_work& work) {
    const tile_layout layout = layout_of_lines(words_of(work), kWordsLine);
    if (layout.tiles == 0) return;
    if (!layout.read_vectors || !layout.write_vectors)
        decline("pieces of both sides are not aligned to 16 bytes: convert/composite converts them");
    run_with_pair<in_words>(work.cast, layout, rung_factors(work));
}

CORNERTURN_RUNG(kWords, convert_operation(),
                variant<strided_work>{{.name = "", .origin = "-", .element_sizes = kAnyElementSize}, &run_words})

}  // namespace CORNERTURN_KERNELS
