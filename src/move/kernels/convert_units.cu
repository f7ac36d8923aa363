// Conversions element by element: all types, any alignment. See kernels/work.hpp.
//
// What limits it: instructions, about 100 for each element; and sectors of the source, because neighbours in a warp
// share few.
#include "move/kernels/cast.hpp"
#include "move/kernels/kernels.hpp"
#include "move/kernels/places.hpp"

namespace CORNERTURN_KERNELS {
namespace {

using moves::kMostThreads;
using moves::units_work;

// An element at any address.
template <class T, bool kAligned>
__device__ __forceinline__ T loaded(const byte* from) {
    if constexpr (kAligned) {
        return value_at<T>(from);
    } else {
        byte bytes[sizeof(T)];
        CORNERTURN_UNROLL
        for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) bytes[i] = from[i];
        T value;
        __builtin_memcpy(&value, bytes, sizeof value);
        return value;
    }
}
template <class T, bool kAligned>
__device__ __forceinline__ void store(byte* to, T value) {
    if constexpr (kAligned) {
        *reinterpret_cast<T*>(to) = value;
    } else {
        byte bytes[sizeof(T)];
        __builtin_memcpy(bytes, &value, sizeof value);
        CORNERTURN_UNROLL
        for (int i = 0; i < static_cast<int>(sizeof(T)); ++i) to[i] = bytes[i];
    }
}

template <bool kAligned>
__global__ void CORNERTURN_RESIDENT(kMostThreads, 1024)
    convert_units(units_work w, cast_work by, element_cast types, bool in_doubles) {
    const unsigned index = blockIdx.x * kMostThreads + threadIdx.x;
    if (index >= w.pieces) return;
    std::int64_t factor = 0;
    const place_of_index place(w.of_pieces, index, [&](int axis, unsigned at) {
        if (axis == by.tile_axis) factor = at * by.tile_step;
    });
    wait_for_work_ahead();
    any_value value;
    with_element_type(types.from, [&]<element_type kFrom>() {
        value = value_of<kFrom>(loaded<storage_of_t<kFrom>, kAligned>(w.source + place.source));
    });
    if (by.scaled) {
        if (in_doubles) {
            value.floating = multiply_add(value.floating, factor_at<double>(by.scales, factor),
                                          factor_at<double>(by.biases, factor));
        } else {
            value.floating = multiply_add(static_cast<float>(value.floating), factor_at<float>(by.scales, factor),
                                          factor_at<float>(by.biases, factor));
        }
        value.is = any_value::kind::floating;
    }
    with_element_type(types.to, [&]<element_type kTo>() {
        store<storage_of_t<kTo>, kAligned>(w.destination + place.destination,
                                           element_from<kTo>(value, types.saturates));
    });
}

}  // namespace

void run_converted_units(const units_work& w, const cast_work& by, const element_cast& types, bool aligned,
                         const launch_shape& shape) {
    const bool in_doubles = is_worked_out_in_f64(types);
    if (aligned) return launch(shape, convert_units<true>, w, by, types, in_doubles);
    launch(shape, convert_units<false>, w, by, types, in_doubles);
}

}  // namespace CORNERTURN_KERNELS
