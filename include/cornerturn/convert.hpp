/// @file
/// Conversions between tensors in host memory: to another element type, scaled, in another order of axes, in one pass
/// on all cores.
///
/// @code
/// cornerturn::convert(images, {0, 3, 1, 2}, planes);                           // u8 NHWC to f32 NCHW
/// cornerturn::convert(images, {0, 3, 1, 2}, planes, {.scale = {scales, 3}, .bias = {biases, 3}, .axis = 1});
/// @endcode
///
/// cornerturn/element.hpp lists the element types. Conversions are from any to any, but from complex types to complex
/// types only. The rules of cornerturn/copy.hpp for completion, gaps, strides, destinations, alignment, threads, empty
/// tensors and errors hold. These hold too:
/// - **Effect**: destination = cast(scale * source + bias) for every element. Axis k of the destination is axis axes[k]
///   of the source, as in numpy.transpose. Without `axes`, the order stays.
/// - **Arithmetic**: without scale and bias, one conversion with one rounding. With them, one fused multiply-add, then
///   one rounding. It is worked out in f32, or in f64 if either side is f64 or an integer of 32 or 64 bits. Integers of
///   64 bits are rounded to f64 first. A complex element is scaled in both parts, and has no bias.
/// - **The same type** on both sides, without scale and bias, is a copy, bit for bit.
/// - **Rounding** is to nearest, ties to even (IEEE 754). Subnormal numbers are kept.
/// - **To integers**: rounded, then saturated: what is beyond the type's range becomes the nearest integer of the type.
///   NaN becomes 0. saturate = false: integers wrap, as in C, and floats are truncated, as numpy's astype does;
///   then floats out of range give any value.
/// - **To fp8**: what is beyond the largest number becomes that number, infinity too, and NaN stays NaN, as the
///   saturating mode of OCP's "8-bit Floating Point Specification" 1.0 has it. saturate = false: it becomes NaN in
///   e4m3fn and infinity in e5m2, as in ml_dtypes.
/// - **To f16, bf16, f32**: what is beyond the largest number becomes infinity (IEEE 754).
/// - **NaN** stays NaN. Its sign and payload are not kept.
/// - **To bool**: x != 0, so NaN is true. From bool: false is 0, and true is 1.
/// - **Aliasing**: source and destination share no element. There is one exception: if the element sizes are equal and
///   both have the same address and order, each element is converted where it lies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

#include "cornerturn/element.hpp"
#include "cornerturn/error.hpp"
#include "cornerturn/export.h"
#include "cornerturn/host_options.hpp"
#include "cornerturn/tensor_view.hpp"

namespace cornerturn {

/// The scales or biases of a conversion: none, one number, or one number for each index of an axis.
///
/// Numbers in memory are read when the conversion runs. They are where the tensors are: in host memory, or in memory
/// that the GPU can reach.
class factors {
public:
    /// None.
    constexpr factors() = default;
    /// One number for all elements.
    /// @param number The number.
    constexpr factors(double number) : number_(number), is_number_(true) {}
    /// Numbers in memory.
    /// @param data The address of the first one.
    /// @param count How many there are: the extent of the axis, or 1 for all elements.
    constexpr factors(const float* data, std::int64_t count) : data_(data), count_(count) {}
    /// Numbers in memory. Where the conversion is worked out in f32, they are rounded to f32.
    /// @param data The address of the first one.
    /// @param count How many there are: the extent of the axis, or 1 for all elements.
    constexpr factors(const double* data, std::int64_t count) : data_(data), count_(count), doubles_(true) {}

    constexpr bool is_none() const {
        return !is_number_ && data_ == nullptr && count_ == 0;
    }                                                        ///< @return Whether there are none.
    constexpr bool is_number() const { return is_number_; }  ///< @return Whether it is one number.
    constexpr double number() const { return number_; }      ///< @return The number.
    constexpr const void* data() const { return data_; }     ///< @return The numbers in memory.
    constexpr std::int64_t count() const { return count_; }  ///< @return How many there are.
    constexpr bool doubles() const { return doubles_; }      ///< @return Whether they are f64.

private:
    const void* data_ = nullptr;
    std::int64_t count_ = 0;
    double number_ = 0;
    bool is_number_ = false, doubles_ = false;
};

/// How elements are converted.
struct conversion {
    factors scale{};       ///< What the source is multiplied by.
    factors bias{};        ///< What is added.
    int axis = 0;          ///< The axis of the destination that the numbers of scale and bias belong to.
    bool saturate = true;  ///< See above.
};

namespace detail {
// A tensor and the type of its elements.
struct typed_tensor {
    any_tensor tensor;
    element_type type;
    std::int64_t alignment;  // of the address: a power of two that divides an element's size
};
CORNERTURN_EXPORT void convert(const typed_tensor& source, const axis_list& axes, const typed_tensor& destination,
                               const conversion& how, host_options options);

template <class T>
typed_tensor typed(const tensor_view<T>& view) {
    constexpr element_type kType = element_type_of<T>();
    return {view.any(), kType, alignof(T)};
}
// The order that changes nothing.
constexpr axis_list same_order(const axis_list& extents) {
    axis_list axes;
    for (int i = 0; i < extents.size(); ++i) axes.add(i);
    return axes;
}
}  // namespace detail

/// Converts a tensor and permutes its axes.
/// @param source The source.
/// @param axes The permutation: one number for each axis, in braces, {0, 3, 1, 2}, or in a container.
/// @param destination The destination. The extent of axis k is that of axis axes[k] of the source.
/// @param how The scale, the bias and the rules for what is out of range.
/// @param options How many threads to use.
/// @throws invalid_argument if the types cannot be converted, `axes` is no permutation, extents or strides do not fit,
/// an address is wrong, scales or biases do not fit, or source and destination overlap.
/// @throws unsupported if the library cannot tell whether elements overlap.
/// @throws std::bad_alloc if working memory runs out.
template <class S, class T>
void convert(const tensor_view<S>& source, const detail::axis_list& axes, const tensor_view<T>& destination,
             const conversion& how = {}, host_options options = {}) {
    static_assert(!std::is_const_v<T>, "cornerturn: a view of const elements cannot be a destination");
    detail::convert(detail::typed(source), axes, detail::typed(destination), how, options);
}

/// Converts a tensor.
/// @param source The source.
/// @param destination The destination, of the same extents.
/// @param how The scale, the bias and the rules for what is out of range.
/// @param options How many threads to use.
/// @throws invalid_argument as above.
/// @throws unsupported as above.
/// @throws std::bad_alloc as above.
template <class S, class T>
void convert(const tensor_view<S>& source, const tensor_view<T>& destination, const conversion& how = {},
             host_options options = {}) {
    static_assert(!std::is_const_v<T>, "cornerturn: a view of const elements cannot be a destination");
    detail::convert(detail::typed(source), detail::same_order(source.any().extents), detail::typed(destination), how,
                    options);
}

}  // namespace cornerturn
