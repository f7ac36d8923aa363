#include "arguments.hpp"

#include <algorithm>
#include <numeric>

#include "copy.hpp"

namespace cornerturn::python {
namespace {

std::string place_text(const array& a) {
    return a.on_gpu ? "on GPU " + std::to_string(a.device) : std::string("in host memory");
}

[[noreturn]] void refuse_recorded(const char* name) {
    raise_value_error(
        "%s requires grad, and a write to a given array is not recorded: call this under torch.no_grad(), or import "
        "cornerturn.torch and use the result of an operator of torch.ops.cornerturn, which autograd records",
        name);
}

[[noreturn]] void refuse_dual(const char* name) {
    raise_value_error("%s has a forward gradient, which this would lose: use PyTorch's own functions", name);
}

}  // namespace

std::string shape_text(int rank, const std::int64_t* extents) {
    std::string text = "(";
    for (int i = 0; i < rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
    return text + (rank == 1 ? ",)" : ")");
}

std::string text_of_type(const array& a) {
    const nb::object type = attribute_or_none(a.object, "dtype");
    return type.is_none() ? std::to_string(a.element_size) + " bytes" : text_of(type);
}

int threads_of(nb::handle threads, const array& a) {
    if (threads.is_none()) return 0;
    if (a.on_gpu) raise_value_error("threads is for arrays in host memory: leave it out");
    const Py_ssize_t count = guarded<&PyNumber_AsSsize_t>::call(threads.ptr(), nullptr);
    if (count == -1 && PyErr_Occurred()) throw nb::python_error();
    if (count < 1) raise_value_error("threads is %zd: it must be 1 or more, or None for all cores", count);
    return static_cast<int>(std::min<Py_ssize_t>(count, 1 << 20));
}

axes_list axes_list::in_order(int rank) {
    axes_list all;
    std::iota(all.numbers, all.numbers + rank, 0);
    return all;
}

axes_list axes_list::reversed(int rank) {
    axes_list all = in_order(rank);
    std::reverse(all.numbers, all.numbers + rank);
    return all;
}

axes_list::axes_list(nb::handle axes, int rank) {
    if (axes.is_none()) {
        *this = reversed(rank);
        return;
    }
    const nb::object all = nb::steal(guarded<&PySequence_Tuple>::call(axes.ptr()));
    if (!all.is_valid()) throw nb::python_error();
    const Py_ssize_t count = PyTuple_Size(all.ptr());
    if (count != rank)
        raise_value_error("axes has %zd numbers: x has %d axes, and each must be named once", count, rank);
    bool seen[kMostAxes] = {};
    for (int i = 0; i < rank; ++i) {
        const nb::handle number = PyTuple_GetItem(all.ptr(), i);
        const Py_ssize_t given =
            guarded<&PyNumber_AsSsize_t>::call(number.ptr(), nullptr);  // the nearest, of a larger number
        if (given == -1 && PyErr_Occurred()) throw nb::python_error();
        const Py_ssize_t axis = given < 0 ? given + rank : given;
        if (axis < 0 || axis >= rank)
            raise_value_error("axes[%d] is %s: x has %d axes, it must be %d to %d", i,
                              text_of(nb::borrow(number)).c_str(), rank, -rank, rank - 1);
        if (seen[axis]) raise_value_error("axes[%d] is %zd: it repeats an axis", i, given);
        seen[axis] = true;
        numbers[i] = static_cast<int>(axis);
    }
}

void check_shape(const array& out, const array& result) {
    if (out.rank != result.rank || !std::equal(result.extents, result.extents + result.rank, out.extents))
        raise_value_error("out has shape %s: it must be %s", shape_text(out.rank, out.extents).c_str(),
                          shape_text(result.rank, result.extents).c_str());
}

void check_same_place(const array& a, const char* a_name, const array& b, const char* b_name) {
    if (a.on_gpu == b.on_gpu && a.device == b.device) return;
    raise_value_error("%s is %s, and %s %s: both must be in the same memory", a_name, place_text(a).c_str(), b_name,
                      place_text(b).c_str());
}

void check_same_type(const array& a, const char* a_name, const array& b, const char* b_name) {
    if (same_type(a, b)) return;
    if (text_of_type(a) == text_of_type(b))
        nb::raise_type_error("%s and %s have elements of dtype %s, which their libraries cannot describe to each other",
                             a_name, b_name, text_of_type(a).c_str());
    nb::raise_type_error("%s has elements of dtype %s: they must have %s's dtype, %s", b_name, text_of_type(b).c_str(),
                         a_name, text_of_type(a).c_str());
}

void check_plain(const array& a, const char* name) {
    if (is_subclass(a))
        nb::raise_type_error("%s is a %s, which may be more than its memory: pass a torch.Tensor", name,
                             name_of(a.object.type()).c_str());
}

void check_destination(const array& a, const char* name) {
    switch (special_of(a)) {
        case special::none: break;
        case special::lazy: raise_value_error("%s is a conjugated or negated view: pass a tensor that is not", name);
        case special::recorded: refuse_recorded(name);
        case special::dual: refuse_dual(name);
    }
    if (a.read_only) raise_value_error("%s is read-only", name);
    if (a.copied) raise_value_error("%s exports a copy of its memory, so a write to it would be lost", name);
}

void check_source(const array& a, const char* name) {
    const special its = special_of(a);
    if (its == special::recorded) refuse_recorded(name);
    if (its == special::dual) refuse_dual(name);
}

void* read_first(array& a, const char* name, given_stream stream) {
    if (stream.given) {
        read(a, name, true, stream.handle);
        if (!a.on_gpu) raise_value_error("stream is for arrays on a GPU: leave it out");
        return stream.handle;
    }
    const bool is_asked = a.from == library::other && a.api == nullptr && has_attribute(a.object, "__dlpack__");
    read(a, name, is_asked, nullptr);
    return a.on_gpu ? current_stream(a) : nullptr;
}

void read_second(array& a, const char* name, const array& first, void* stream) {
    const bool same = a.from == first.from && (a.from != library::other || (a.api != nullptr && a.api == first.api));
    read(a, name, !same, stream);
    // PyTorch reuses memory as soon as its own streams are done with it.
    if (!same && a.from == library::torch && a.on_gpu)
        libraries("used_in")(a.object, reinterpret_cast<std::uintptr_t>(stream));
}

bool is_for_library(const array& a, nb::handle stream) {
    return !stream.is_none() && (a.from == library::torch || a.from == library::cupy);
}

given_stream stream_of(nb::handle stream) {
    if (stream.is_none()) return {};
    return {true, reinterpret_cast<void*>(integer(libraries("stream_handle")(stream), "stream"))};
}

nb::object core(const char* name) { return nb::module_::import_("cornerturn._core").attr(name); }

int rank_of(nb::handle x) {
    const int rank = nb::cast<int>(attribute(x, "ndim"));
    check_rank(rank, "x");
    return rank;
}

nb::object tuple_of(const axes_list& axes, int rank) {
    nb::object all = nb::steal(PyTuple_New(rank));
    for (int i = 0; i < rank; ++i) PyTuple_SetItem(all.ptr(), i, PyLong_FromLong(axes.numbers[i]));
    return all;
}

}  // namespace cornerturn::python
