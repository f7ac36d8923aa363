#include "convert.hpp"

#include <optional>
#include <vector>

#include "arguments.hpp"
#include "copy.hpp"
#include "cornerturn/convert.h"
#include "numpy.hpp"

namespace cornerturn::python {
namespace {

// ---- Element types ----

// DLPack's types, by the numbers of cornerturn_element.
constexpr dlpack::data_type kTypes[] = {{dlpack::kOpaque, 0, 1}, {dlpack::kBool, 8, 1},     {dlpack::kUInt, 8, 1},
                                        {dlpack::kUInt, 16, 1},  {dlpack::kUInt, 32, 1},    {dlpack::kUInt, 64, 1},
                                        {dlpack::kInt, 8, 1},    {dlpack::kInt, 16, 1},     {dlpack::kInt, 32, 1},
                                        {dlpack::kInt, 64, 1},   {dlpack::kFloat, 16, 1},   {dlpack::kBfloat, 16, 1},
                                        {dlpack::kFloat, 32, 1}, {dlpack::kFloat, 64, 1},   {dlpack::kE4m3fn, 8, 1},
                                        {dlpack::kE5m2, 8, 1},   {dlpack::kComplex, 64, 1}, {dlpack::kComplex, 128, 1}};
static_assert(std::size(kTypes) == CORNERTURN_C128 + 1);
static_assert(kTypes[CORNERTURN_I8].code == dlpack::kInt && kTypes[CORNERTURN_F16].code == dlpack::kFloat);

constexpr const char* kAllTypes =
    "bool, u8, u16, u32, u64, i8, i16, i32, i64, f16, bf16, f32, f64, e4m3fn, e5m2, c64 or c128";

bool is_complex(cornerturn_element type) { return type >= CORNERTURN_C64; }

// 0 if there is no such type.
cornerturn_element find_type(nb::handle dtype) {
    return static_cast<cornerturn_element>(nb::cast<int>(libraries("element_of")(dtype)));
}

cornerturn_element type_asked(nb::handle dtype) {
    const cornerturn_element type = find_type(dtype);
    if (type == 0)
        nb::raise_type_error("dtype is %s: it must be %s, or the dtype of numpy, ml_dtypes or PyTorch for one of them",
                             text_of(nb::borrow(dtype)).c_str(), kAllTypes);
    return type;
}

// 0 if there is no such type.
cornerturn_element find_type(const array& a) {
    if (a.from == library::numpy || a.from == library::cupy) return find_type(attribute(a.object, "dtype"));
    for (int i = CORNERTURN_BOOL; i <= CORNERTURN_C128; ++i)
        if (a.type.code == kTypes[i].code && a.type.bits == kTypes[i].bits && a.type.lanes == 1)
            return static_cast<cornerturn_element>(i);
    return {};
}

cornerturn_element type_of(const array& a, const char* name) {
    const cornerturn_element type = find_type(a);
    if (type == 0)
        nb::raise_type_error("%s has elements of dtype %s: conversions are between %s", name, text_of_type(a).c_str(),
                             kAllTypes);
    return type;
}

// Raises TypeError or RuntimeError if the library has no such dtype.
element_dtype dtype_in(library its, cornerturn_element type) {
    element_dtype elements{{}, kTypes[type], kTypes[type].bits / 8};
    const char* const name = its == library::torch ? "torch" : "numpy";
    if (its != library::other) elements.dtype = libraries("dtype_in")(name, static_cast<int>(type));
    return elements;
}

// ---- Scale and bias ----

struct factor {
    const char* name;
    cornerturn_factors given{CORNERTURN_NONE, 0, nullptr, 0};
    nb::object owner{}, exported{};  // keep the numbers in memory, if they are a copy or exported by DLPack
    std::vector<double> numbers{};   // of a sequence

    bool is_in_memory() const { return given.kind == CORNERTURN_F32_NUMBERS || given.kind == CORNERTURN_F64_NUMBERS; }
};

double number_of(nb::handle object, const char* name) {
    const bool is_number = PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr()) ||
                           has_attribute(object, "__float__") || has_attribute(object, "__index__");
    if (!is_number)
        nb::raise_type_error("%s has a %s: it must be a number, or an array or sequence of numbers", name,
                             name_of(object.type()).c_str());
    const double number = guarded<&PyFloat_AsDouble>::call(object.ptr());
    if (number == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw nb::python_error();
        PyErr_Clear();
        raise_value_error("%s is larger than every float64", name);
    }
    return number;
}

bool is_array(nb::handle object) {
    return is_numpy(object) || has_attribute(object, "__dlpack__") || has_attribute(object, "__cuda_array_interface__");
}

// `recorded`: autograd may record the call, so a gradient of the factor would be lost. The stream is that of `to`.
void read_array(factor& f, nb::handle object, const array& to, void* stream, bool recorded) {
    array memory = identify(object, f.name);
    check_plain(memory, f.name);
    if (is_lazy(memory)) {
        f.owner = libraries("resolved")(object);
        return read_array(f, f.owner, to, stream, recorded);
    }
    read_second(memory, f.name, to, stream);
    f.exported = memory.owner;
    check_same_place(memory, f.name, to, "x");
    if (recorded && special_of(memory) != special::none)
        raise_value_error("%s has a gradient, and gradients flow to x only: pass %s.detach()", f.name, f.name);
    const cornerturn_element type = find_type(memory);
    if (type != CORNERTURN_F32 && type != CORNERTURN_F64)
        nb::raise_type_error("%s has elements of dtype %s: they must be float32 or float64", f.name,
                             text_of_type(memory).c_str());
    if (memory.rank > 1)
        raise_value_error("%s has %d axes: it must be a number, or have one axis", f.name, memory.rank);
    std::uintptr_t address = memory.data;
    const auto size = static_cast<std::uintptr_t>(memory.element_size);
    if (!memory.is_packed() || address % size != 0) {
        if (to.from == library::other) raise_value_error("%s has gaps, or is not aligned: pass a packed array", f.name);
        const element_dtype elements = dtype_in(to.from, type);
        const array packed = new_array(to, memory.rank, memory.extents, &elements);
        copy(memory, packed, 0, stream);
        f.owner = packed.made;
        address = packed.data;
    }
    f.given = {type == CORNERTURN_F32 ? CORNERTURN_F32_NUMBERS : CORNERTURN_F64_NUMBERS, 0,
               reinterpret_cast<const void*>(address), memory.rank == 0 ? 1 : memory.extents[0]};
}

void read_sequence(factor& f, nb::handle sequence, const array& to) {
    if (to.on_gpu)
        raise_value_error(
            "%s is a %s, and x is on GPU %d: pass an array on that GPU, such as one of float32, made once "
            "for all calls",
            f.name, name_of(sequence.type()).c_str(), to.device);
    const nb::object all = nb::steal(guarded<&PySequence_Tuple>::call(sequence.ptr()));
    if (!all.is_valid()) throw nb::python_error();
    const Py_ssize_t count = PyTuple_Size(all.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) f.numbers.push_back(number_of(PyTuple_GetItem(all.ptr(), i), f.name));
    f.given = {CORNERTURN_F64_NUMBERS, 0, f.numbers.data(), count};
}

void read_factor(factor& f, nb::handle given, const array& to, void* stream, bool recorded) {
    if (given.is_none()) return;
    if (PyList_Check(given.ptr()) || PyTuple_Check(given.ptr())) return read_sequence(f, given, to);
    if (!PyFloat_Check(given.ptr()) && is_array(given)) return read_array(f, given, to, stream, recorded);
    f.given = {CORNERTURN_NUMBER, number_of(given, f.name), nullptr, 0};
}

// The axis as a number from 0. -1: none is given.
int axis_of(nb::handle axis, int rank) {
    if (axis.is_none()) return -1;
    const Py_ssize_t given =
        guarded<&PyNumber_AsSsize_t>::call(axis.ptr(), nullptr);  // the nearest, of a larger number
    if (given == -1 && PyErr_Occurred()) throw nb::python_error();
    const Py_ssize_t its = given < 0 ? given + rank : given;
    if (its < 0 || its >= rank)
        raise_value_error("axis is %s: the result has %d axes, it must be %d to %d", text_of(nb::borrow(axis)).c_str(),
                          rank, -rank, rank - 1);
    return static_cast<int>(its);
}

void check_count(const factor& f, int axis, const array& result) {
    if (!f.is_in_memory() || f.given.count == 1) return;
    const auto count = static_cast<long long>(f.given.count);
    if (axis < 0)
        raise_value_error("axis is None: it must say to which axis of the result the %lld numbers of %s belong", count,
                          f.name);
    if (f.given.count != result.extents[axis])
        raise_value_error("%s has %lld numbers: it must have 1 or %lld, the extent of axis %d of the result", f.name,
                          count, static_cast<long long>(result.extents[axis]), axis);
}

// ---- The conversion ----

struct arguments {
    nb::handle dtype, axes, scale, bias, axis;
    bool saturate;
};

// Scale, bias and axis of a conversion, checked. `result` has the extents of the result, and is where it will be.
struct checked_conversion {
    factor scale{"scale"}, bias{"bias"};
    cornerturn_conversion how{};

    checked_conversion(const arguments& given, const array& result, cornerturn_element type, void* stream,
                       bool recorded) {
        const int axis = axis_of(given.axis, result.rank);
        read_factor(scale, given.scale, result, stream, recorded);
        read_factor(bias, given.bias, result, stream, recorded);
        if (is_complex(type) && bias.given.kind != CORNERTURN_NONE)
            raise_value_error("bias is given, and x is complex: a conversion of complex elements has none");
        check_count(scale, axis, result);
        check_count(bias, axis, result);
        how = {scale.given, bias.given, axis < 0 ? 0 : axis, given.saturate ? 0 : 1};
    }
    checked_conversion(const checked_conversion&) = delete;  // `how` refers to the factors
};

void check_pair(const array& x, cornerturn_element from, nb::handle dtype, cornerturn_element to) {
    if (is_complex(from) != is_complex(to))
        nb::raise_type_error(
            "dtype is %s, and x has elements of dtype %s: complex elements can only be converted to "
            "complex ones, and others only to others",
            text_of(nb::borrow(dtype)).c_str(), text_of_type(x).c_str());
}

// A tensor of the C interface.
struct side {
    cornerturn_element type;
    std::int64_t strides[kMostAxes];  // in elements

    side(const array& a, cornerturn_element its) : type(its) {
        for (int i = 0; i < a.rank; ++i) strides[i] = a.extents[i] == 1 ? 1 : a.strides[i] / a.element_size;
    }
};

bool has_strides_in_elements(const array& a) {
    for (int i = 0; i < a.rank; ++i)
        if (a.extents[i] != 1 && a.strides[i] % a.element_size != 0) return false;
    return true;
}

// x has the axes of the destination.
void run(const array& x, cornerturn_element from, const array& to, cornerturn_element type,
         const cornerturn_conversion& how, int threads, void* stream) {
    // A field of a record may lie at any distance from the next one. The C interface counts elements.
    if (!has_strides_in_elements(x) || !has_strides_in_elements(to)) {
        if (to.from == library::other)
            raise_value_error("x or out has strides that are not multiples of the element size: pass a packed array");
        if (has_strides_in_elements(x)) {
            const array packed = new_array(to, to.rank, to.extents);
            run(x, from, packed, type, how, threads, stream);
            return copy(packed, to, threads, stream);
        }
        const element_dtype elements = dtype_in(to.from, from);
        const array packed = new_array(to, x.rank, x.extents, &elements);
        copy(x, packed, threads, stream);
        return run(packed, from, to, type, how, threads, stream);
    }
    const side source(x, from), destination(to, type);
    const auto* const source_data = reinterpret_cast<const void*>(x.data);
    auto* const destination_data = reinterpret_cast<void*>(to.data);
    const cuda_table* const on_gpu = to.on_gpu ? &cuda() : nullptr;
    std::optional<released_gil> released;
    if (is_worth_releasing(x) || is_worth_releasing(to)) released.emplace();
    if (on_gpu != nullptr) {
        const cornerturn_status status =
            on_gpu->convert(to.device, x.rank, x.extents, source_data, source.type, source.strides, destination_data,
                            destination.type, destination.strides, &how, stream);
        released.reset();
        return check(*on_gpu, status);
    }
    const cornerturn_status status =
        cornerturn_convert(x.rank, x.extents, source_data, source.type, source.strides, nullptr, destination_data,
                           destination.type, destination.strides, &how, threads);
    released.reset();
    check(status);
}

axes_list order_of(nb::handle axes, int rank) {
    return axes.is_none() ? axes_list::in_order(rank) : axes_list(axes, rank);
}

// Converts x, which has been read, into a new array.
nb::object convert_new(const array& x, const arguments& given, nb::handle threads, void* stream, bool recorded) {
    const cornerturn_element type = type_asked(given.dtype), its = type_of(x, "x");
    check_pair(x, its, given.dtype, type);
    const array from = permuted(x, order_of(given.axes, x.rank).numbers);
    const checked_conversion c(given, from, type, stream, recorded);
    const int most_threads = threads_of(threads, x);
    const element_dtype elements = dtype_in(x.from, type);
    const array to = new_array(x, from.rank, from.extents, &elements);
    run(from, its, to, type, c.how, most_threads, stream);
    return to.made;
}

// Converts x into out. Both have been read, and autograd records neither.
nb::object convert_into(const array& x, const array& out, const arguments& given, nb::handle threads, void* stream) {
    const cornerturn_element type = type_asked(given.dtype), its = type_of(x, "x");
    check_pair(x, its, given.dtype, type);
    const array from = permuted(x, order_of(given.axes, x.rank).numbers);
    check_shape(out, from);
    if (type_of(out, "out") != type)
        nb::raise_type_error("out has elements of dtype %s: they must have the dtype that is asked for, %s",
                             text_of_type(out).c_str(), text_of(nb::borrow(given.dtype)).c_str());
    const checked_conversion c(given, out, type, stream, true);
    run(from, its, out, type, c.how, threads_of(threads, out), stream);
    if (out.from == library::torch) libraries("written")(out.object);
    return nb::borrow(out.object);
}

}  // namespace

nb::object convert(nb::handle x, nb::handle dtype, nb::handle axes, nb::handle scale, nb::handle bias, nb::handle axis,
                   bool saturate, nb::handle out, nb::handle stream, nb::handle threads) {
    const arguments given{dtype, axes, scale, bias, axis, saturate};
    const auto on_stream = [&](nb::handle whose) {
        return libraries("on_stream")
            .object(stream, whose, core("convert"), x, dtype, axes, nb::arg("scale") = scale, nb::arg("bias") = bias,
                    nb::arg("axis") = axis, nb::arg("saturate") = saturate, nb::arg("out") = out,
                    nb::arg("threads") = threads);
    };
    const auto resolved = [&] {
        return convert(libraries("resolved")(x), dtype, axes, scale, bias, axis, saturate, out, stream, threads);
    };
    array from = identify(x, "x");
    if (out.is_none()) {
        if (is_for_library(from, stream)) return on_stream(x);
        const auto recorded = [&](int rank) {
            threads_of(threads, from);  // the operator takes all cores
            return libraries("recorded_conversion")(x, static_cast<int>(type_asked(dtype)),
                                                    tuple_of(order_of(axes, rank), rank), scale, bias, axis, saturate);
        };
        if (is_subclass(from)) return recorded(rank_of(x));
        if (from.api == nullptr && is_lazy(from)) return resolved();
        void* const its = read_first(from, "x", stream_of(stream));
        switch (special_of(from)) {
            case special::none: break;
            case special::lazy: return resolved();
            case special::recorded:
            case special::dual: return recorded(from.rank);
        }
        return convert_new(from, given, threads, its, true);
    }
    array to = identify(out, "out");
    if (is_for_library(to, stream)) return on_stream(out);
    check_plain(to, "out");
    check_plain(from, "x");
    void* const its = read_first(to, "out", stream_of(stream));
    check_destination(to, "out");
    if (is_lazy(from)) return resolved();
    read_second(from, "x", to, its);
    check_same_place(from, "x", to, "out");
    check_source(from, "x");
    return convert_into(from, to, given, threads, its);
}

nb::object convert_unrecorded(nb::handle x, nb::handle dtype, nb::handle axes, nb::handle scale, nb::handle bias,
                              nb::handle axis, bool saturate) {
    array from = identify(x, "x");
    const char* const first = is_subclass(from) ? "plain" : is_lazy(from) ? "resolved" : nullptr;
    if (first != nullptr) return convert_unrecorded(libraries(first)(x), dtype, axes, scale, bias, axis, saturate);
    void* const stream = read_first(from, "x", {});
    return convert_new(from, {dtype, axes, scale, bias, axis, saturate}, nb::none(), stream, false);
}

}  // namespace cornerturn::python
