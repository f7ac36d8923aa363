// The module cornerturn._core: the functions that users call.
#include <nanobind/nanobind.h>
#include <nanobind/typing.h>

#include <algorithm>
#include <string>

#include "array.hpp"
#include "copy.hpp"
#include "cornerturn/cornerturn.h"
#include "docs.hpp"
#include "xla_permute.hpp"

namespace cornerturn::python {
namespace {

// ---- Arguments ----

std::string shape_text(int rank, const std::int64_t* extents) {
    std::string text = "(";
    for (int i = 0; i < rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(extents[i]);
    return text + (rank == 1 ? ",)" : ")");
}

std::string text_of_type(const array& a) {
    const nb::object type = attribute_or_none(a.object, "dtype");
    return type.is_none() ? std::to_string(a.element_size) + " bytes" : text_of(type);
}

std::string place_text(const array& a) {
    return a.on_gpu ? "on GPU " + std::to_string(a.device) : std::string("in host memory");
}

int threads_of(nb::handle threads, const array& a) {
    if (threads.is_none()) return 0;
    if (a.on_gpu) raise_value_error("threads is for arrays in host memory: leave it out");
    const Py_ssize_t count = guarded<&PyNumber_AsSsize_t>::call(threads.ptr(), nullptr);
    if (count == -1 && PyErr_Occurred()) throw nb::python_error();
    if (count < 1) raise_value_error("threads is %zd: it must be 1 or more, or None for all cores", count);
    return static_cast<int>(std::min<Py_ssize_t>(count, 1 << 20));
}

// The axes of numpy.transpose, as numbers from 0.
struct axes_list {
    int numbers[kMostAxes];

    static axes_list in_order(int rank) {
        axes_list all(nb::none(), rank);
        std::reverse(all.numbers, all.numbers + rank);
        return all;
    }

    axes_list(nb::handle axes, int rank) {
        if (axes.is_none()) {
            for (int i = 0; i < rank; ++i) numbers[i] = rank - 1 - i;
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
};

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

// For calls that record nothing. `name` is the name of the argument.
void check_plain(const array& a, const char* name) {
    if (is_subclass(a))
        nb::raise_type_error("%s is a %s, which may be more than its memory: pass a torch.Tensor", name,
                             name_of(a.object.type()).c_str());
}

[[noreturn]] void refuse_recorded(const char* name) {
    raise_value_error(
        "%s requires grad, and a write to a given array is not recorded: call this under torch.no_grad(), or import "
        "cornerturn.torch and use the result of torch.ops.cornerturn.permute, which autograd records",
        name);
}

[[noreturn]] void refuse_dual(const char* name) {
    raise_value_error("%s has a forward gradient, which this would lose: permute it with PyTorch's own functions",
                      name);
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

// ---- Streams ----

struct given_stream {
    bool given = false;
    void* handle = nullptr;
};

// Reads the array whose library decides the stream, and returns that stream.
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

// Whether on_stream() must be called instead, which makes the given stream the library's current one.
bool is_for_library(const array& a, nb::handle stream) {
    return !stream.is_none() && (a.from == library::torch || a.from == library::cupy);
}

given_stream stream_of(nb::handle stream) {
    if (stream.is_none()) return {};
    return {true, reinterpret_cast<void*>(integer(libraries("stream_handle")(stream), "stream"))};
}

nb::object core(const char* name) { return nb::module_::import_("cornerturn._core").attr(name); }

// ---- The functions ----

// The rank of an array that has not been read.
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
    if (out.rank != from.rank || !std::equal(from.extents, from.extents + from.rank, out.extents))
        raise_value_error("out has shape %s: it must be %s", shape_text(out.rank, out.extents).c_str(),
                          shape_text(from.rank, from.extents).c_str());
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

xla::error* handle(xla::call_frame* frame) {
    return xla::handle(frame,
                       [](const xla::call_frame& f, int rank, const std::int64_t* extents, const void* source,
                          const int* axes, void* destination, std::int64_t element_size) -> xla::error* {
                           return xla::result_of(f, cornerturn_permute(rank, extents, source, nullptr, axes,
                                                                       destination, nullptr, element_size, 0));
                       });
}

nb::capsule xla_handler(const std::string& platform) {
    void* const its = platform == "cpu" ? reinterpret_cast<void*>(&handle) : cuda().xla_handler;
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
    m.def("_permute_unrecorded", &guarded<&permute_unrecorded>::call, nb::arg("x").none(), nb::arg("axes"));
    m.def("_xla_handler", &xla_handler, nb::arg("platform"));
    m.def("_gpus", &gpus);
}

}  // namespace
}  // namespace cornerturn::python
