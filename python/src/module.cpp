// The module cornerturn._core: the functions that users call.
#include <nanobind/nanobind.h>
#include <nanobind/typing.h>

#include <algorithm>
#include <string>

#include "arguments.hpp"
#include "array.hpp"
#include "convert.hpp"
#include "copy.hpp"
#include "cornerturn/cornerturn.h"
#include "docs.hpp"
#include "xla_convert.hpp"
#include "xla_permute.hpp"

namespace cornerturn::python {
namespace {

// ---- The functions ----

// Permutes x, which has been read, into a new array.
nb::object permute_new(const array& x, const axes_list& axes, nb::handle threads, void* stream) {
    const array from = permuted(x, axes.numbers);
    const array to = new_array(x, from.rank, from.extents);
    copy(from, to, threads_of(threads, to), stream);
    return to.made;
}

// Permutes x into out. Both have been read, and autograd records neither.
nb::object permute_into(const array& x, const array& out, const axes_list& axes, nb::handle threads, void* stream) {
    const array from = permuted(x, axes.numbers);
    check_shape(out, from);
    check_same_type(x, "x", out, "out");
    copy(from, out, threads_of(threads, out), stream);
    if (out.from == library::torch) libraries("written")(out.object);
    return nb::borrow(out.object);
}

nb::object transpose(nb::handle x, nb::handle axes, nb::handle out, nb::handle stream, nb::handle threads) {
    array from = identify(x, "x");
    if (out.is_none()) {
        if (is_for_library(from, stream))
            return libraries("on_stream").object(stream, x, core("transpose"), x, axes, nb::arg("threads") = threads);
        if (is_subclass(from)) {
            const int rank = rank_of(x);
            threads_of(threads, from);
            return libraries("recorded")(x, tuple_of(axes_list(axes, rank), rank));
        }
        if (from.api == nullptr && is_lazy(from))
            return transpose(libraries("resolved")(x), axes, out, stream, threads);
        void* const its = read_first(from, "x", stream_of(stream));
        const axes_list order(axes, from.rank);
        switch (special_of(from)) {
            case special::none: break;
            case special::lazy: return transpose(libraries("resolved")(x), axes, out, stream, threads);
            case special::recorded:
                threads_of(threads, from);  // the operator takes all cores
                return libraries("recorded")(x, tuple_of(order, from.rank));
            case special::dual: return libraries("by_pytorch")(x, tuple_of(order, from.rank));
        }
        return permute_new(from, order, threads, its);
    }
    array to = identify(out, "out");
    if (is_for_library(to, stream))
        return libraries("on_stream")
            .object(stream, out, core("transpose"), x, axes, nb::arg("out") = out, nb::arg("threads") = threads);
    check_plain(to, "out");
    check_plain(from, "x");
    void* const its = read_first(to, "out", stream_of(stream));
    check_destination(to, "out");
    if (is_lazy(from)) return transpose(libraries("resolved")(x), axes, out, stream, threads);
    read_second(from, "x", to, its);
    check_same_place(from, "x", to, "out");
    check_source(from, "x");
    return permute_into(from, to, axes_list(axes, from.rank), threads, its);
}

nb::object matrix_transpose(nb::handle x, nb::handle out, nb::handle stream, nb::handle threads) {
    array a = identify(x, "x");
    if (has_attribute(x, "ndim")) {
        a.rank = rank_of(x);
    } else {
        read(a, "x", false, nullptr);
    }
    if (a.rank < 2) raise_value_error("x has %d axes: a stack of matrices has 2 or more", a.rank);
    axes_list axes = axes_list::in_order(a.rank);
    std::swap(axes.numbers[a.rank - 2], axes.numbers[a.rank - 1]);
    return transpose(x, tuple_of(axes, a.rank), out, stream, threads);
}

// Tells autograd nothing: it has recorded the call already, or need not.
nb::object permute_unrecorded(nb::handle x, nb::handle axes) {
    array from = identify(x, "x");
    if (is_subclass(from)) return permute_unrecorded(libraries("plain")(x), axes);
    if (is_lazy(from)) return permute_unrecorded(libraries("resolved")(x), axes);
    void* const stream = read_first(from, "x", {});
    return permute_new(from, axes_list(axes, from.rank), nb::none(), stream);
}

nb::object contiguous(nb::handle x, nb::handle stream, nb::handle threads) {
    array from = identify(x, "x");
    if (is_for_library(from, stream))
        return libraries("on_stream").object(stream, x, core("contiguous"), x, nb::arg("threads") = threads);
    if (is_subclass(from)) {
        threads_of(threads, from);
        return libraries("recorded")(x, nb::none());
    }
    if (from.api == nullptr && is_lazy(from)) return contiguous(libraries("resolved")(x), stream, threads);
    void* const its = read_first(from, "x", stream_of(stream));
    threads_of(threads, from);  // refuses wrong values even if nothing is moved
    if (from.is_packed()) return nb::borrow(x);
    switch (special_of(from)) {
        case special::none: break;
        case special::lazy: return contiguous(libraries("resolved")(x), stream, threads);
        case special::recorded: return libraries("recorded")(x, nb::none());
        case special::dual: return x.attr("contiguous")();
    }
    return permute_new(from, axes_list::in_order(from.rank), threads, its);
}

void copyto(nb::handle destination, nb::handle source, nb::handle stream, nb::handle threads) {
    array to = identify(destination, "dst"), from = identify(source, "src");
    if (is_for_library(to, stream)) {
        libraries("on_stream")
            .object(stream, destination, core("copyto"), destination, source, nb::arg("threads") = threads);
        return;
    }
    check_plain(to, "dst");
    check_plain(from, "src");
    void* const its = read_first(to, "dst", stream_of(stream));
    check_destination(to, "dst");
    if (is_lazy(from)) return copyto(destination, libraries("resolved")(source), stream, threads);
    read_second(from, "src", to, its);
    check_same_place(from, "src", to, "dst");
    check_source(from, "src");
    check_same_type(to, "dst", from, "src");
    // Broadcasts as numpy does: axes that src lacks, or that have one element in src, are repeated.
    array spread(from, to.rank);
    bool fits = from.rank <= to.rank;
    for (int i = 0; i < to.rank && fits; ++i) {
        const int of_source = i - (to.rank - from.rank);
        const bool has = of_source >= 0 && from.extents[of_source] == to.extents[i];
        fits = has || of_source < 0 || from.extents[of_source] == 1;
        spread.extents[i] = to.extents[i];
        spread.strides[i] = has ? from.strides[of_source] : 0;
    }
    if (!fits)
        raise_value_error("src has shape %s, which cannot be broadcast to dst's %s",
                          shape_text(from.rank, from.extents).c_str(), shape_text(to.rank, to.extents).c_str());
    copy(spread, to, threads_of(threads, to), its);
    if (to.from == library::torch) libraries("written")(to.object);
}

std::string explain(nb::handle x, nb::handle axes) {
    array source = identify(x, "x");
    check_plain(source, "x");
    read_first(source, "x", {});
    const axes_list order(axes, source.rank);
    const array from = permuted(source, order.numbers);
    // Stands for a new array, somewhere after x in memory.
    array to = from;
    std::int64_t next = to.element_size;
    std::uintptr_t end = from.data;
    for (int i = to.rank - 1; i >= 0; --i) {
        to.strides[i] = next;
        next *= to.extents[i];
        if (from.strides[i] > 0 && from.extents[i] > 1)
            end += static_cast<std::uintptr_t>(from.strides[i] * (from.extents[i] - 1));
    }
    constexpr std::uintptr_t kPage = 4096;
    to.data = (end / kPage + 2) * kPage + static_cast<std::uintptr_t>(to.element_size) / kPage * kPage;
    return explain(from, to);
}

std::string tune(nb::handle x, nb::handle axes) {
    array source = identify(x, "x");
    check_plain(source, "x");
    void* const stream = read_first(source, "x", {});
    if (!source.on_gpu) raise_value_error("x is in host memory: only choices for a GPU can be measured");
    if (source.from == library::other) {
        nb::raise_type_error(
            "the result of tune would be a new array of type %s, which cannot be made here: tune works "
            "with arrays of PyTorch and CuPy",
            name_of(x.type()).c_str());
    }
    const axes_list order(axes, source.rank);
    const array from = permuted(source, order.numbers);
    const array to = new_array(source, from.rank, from.extents);
    tune(from, to, stream);
    return explain(from, to);
}

std::string path_of(nb::handle file) {
    PyObject* bytes = nullptr;
    if (PyUnicode_FSConverter(file.ptr(), &bytes) == 0) throw nb::python_error();
    const nb::object owner = nb::steal(bytes);
    return PyBytes_AsString(bytes);
}

void save_choices(nb::handle file) { check(cuda(), cuda().save_choices(path_of(file).c_str())); }

int load_choices(nb::handle file) {
    int count = 0;
    check(cuda(), cuda().load_choices(path_of(file).c_str(), &count));
    return count;
}

// ---- XLA, and the GPUs that are here ----

xla::error* handle_permute(xla::call_frame* frame) {
    return xla::handle_permute(
        frame, [](const xla::call_frame& f, int rank, const std::int64_t* extents, const void* source, const int* axes,
                  void* destination, std::int64_t element_size) {
            return xla::result_of(
                f, cornerturn_permute(rank, extents, source, nullptr, axes, destination, nullptr, element_size, 0));
        });
}

xla::error* handle_convert(xla::call_frame* frame) {
    return xla::handle_convert(
        frame, [](const xla::call_frame& f, int rank, const std::int64_t* extents, const void* source,
                  cornerturn_element source_type, const int* axes, void* destination,
                  cornerturn_element destination_type, const cornerturn_conversion* how) {
            return xla::result_of(f, cornerturn_convert(rank, extents, source, source_type, nullptr, axes, destination,
                                                        destination_type, nullptr, how, 0));
        });
}

nb::capsule xla_handler(const std::string& operation, const std::string& platform) {
    const bool converts = operation == "convert";
    void* its = reinterpret_cast<void*>(converts ? &handle_convert : &handle_permute);
    if (platform != "cpu") its = converts ? cuda().xla_convert : cuda().xla_permute;
    return nb::capsule(its, "xla._CUSTOM_CALL_TARGET");
}

int gpus() {
    int count = 0;
    check(cuda(), cuda().devices(&count));
    return count;
}

NB_MODULE(_core, m) {
    m.attr("version") = cornerturn_version_string();
    m.attr("ArrayT") = nb::type_var("ArrayT");
    m.def("transpose", &guarded<&transpose>::call, nb::arg("x").none(), nb::arg("axes") = nb::none(), nb::kw_only(),
          nb::arg("out") = nb::none(), nb::arg("stream") = nb::none(), nb::arg("threads") = nb::none(),
          nb::sig("def transpose(x: ArrayT, axes: collections.abc.Iterable[typing.SupportsIndex] | None = None, *, "
                  "out: object = "
                  "None, stream: object = None, threads: int | None = None) -> ArrayT"),
          docs::kTranspose);
    m.def("matrix_transpose", &guarded<&matrix_transpose>::call, nb::arg("x").none(), nb::kw_only(),
          nb::arg("out") = nb::none(), nb::arg("stream") = nb::none(), nb::arg("threads") = nb::none(),
          nb::sig("def matrix_transpose(x: ArrayT, *, out: object = None, stream: object = None, threads: int | "
                  "None = None) -> ArrayT"),
          docs::kMatrixTranspose);
    m.def("contiguous", &guarded<&contiguous>::call, nb::arg("x").none(), nb::kw_only(), nb::arg("stream") = nb::none(),
          nb::arg("threads") = nb::none(),
          nb::sig("def contiguous(x: ArrayT, *, stream: object = None, threads: int | None = None) -> ArrayT"),
          docs::kContiguous);
    m.def("copyto", &guarded<&copyto>::call, nb::arg("dst").none(), nb::arg("src").none(), nb::kw_only(),
          nb::arg("stream") = nb::none(), nb::arg("threads") = nb::none(),
          nb::sig("def copyto(dst: object, src: object, *, stream: object = None, threads: int | None = None) -> None"),
          docs::kCopyto);
    m.def("convert", &guarded<&convert>::call, nb::arg("x").none(), nb::arg("dtype").none(),
          nb::arg("axes") = nb::none(), nb::kw_only(), nb::arg("scale") = nb::none(), nb::arg("bias") = nb::none(),
          nb::arg("axis") = nb::none(), nb::arg("saturate") = true, nb::arg("out") = nb::none(),
          nb::arg("stream") = nb::none(), nb::arg("threads") = nb::none(),
          nb::sig("def convert(x: ArrayT, dtype: object, axes: collections.abc.Iterable[typing.SupportsIndex] | None = "
                  "None, *, scale: object = None, bias: object = None, axis: typing.SupportsIndex | None = None, "
                  "saturate: bool = True, out: object = None, stream: object = None, threads: int | None = None) -> "
                  "ArrayT"),
          docs::kConvert);
    m.def("explain", &guarded<static_cast<std::string (*)(nb::handle, nb::handle)>(&explain)>::call,
          nb::arg("x").none(), nb::arg("axes") = nb::none(),
          nb::sig("def explain(x: object, axes: collections.abc.Iterable[typing.SupportsIndex] | None = None) -> str"),
          docs::kExplain);
    m.def("tune", &guarded<static_cast<std::string (*)(nb::handle, nb::handle)>(&tune)>::call, nb::arg("x").none(),
          nb::arg("axes") = nb::none(),
          nb::sig("def tune(x: object, axes: collections.abc.Iterable[typing.SupportsIndex] | None = None) -> str"),
          docs::kTune);
    m.def("save_choices", &guarded<&save_choices>::call, nb::arg("file"),
          nb::sig("def save_choices(file: str | os.PathLike[str]) -> None"), docs::kSaveChoices);
    m.def("load_choices", &guarded<&load_choices>::call, nb::arg("file"),
          nb::sig("def load_choices(file: str | os.PathLike[str]) -> int"), docs::kLoadChoices);
    // PyTorch leaves out arguments that have their default values.
    m.def("_convert_unrecorded", &guarded<&convert_unrecorded>::call, nb::arg("x").none(), nb::arg("dtype"),
          nb::arg("dims") = nb::none(), nb::arg("scale") = nb::none(), nb::arg("bias") = nb::none(),
          nb::arg("axis") = nb::none(), nb::arg("saturate") = true);
    m.def("_permute_unrecorded", &guarded<&permute_unrecorded>::call, nb::arg("x").none(), nb::arg("axes"));
    m.def("_xla_handler", &xla_handler, nb::arg("operation"), nb::arg("platform"));
    m.def("_gpus", &gpus);
}

}  // namespace
}  // namespace cornerturn::python
