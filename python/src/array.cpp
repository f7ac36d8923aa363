#include "array.hpp"

#include <cstdarg>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "copy.hpp"
#include "numpy.hpp"
#include "torch.hpp"

namespace cornerturn::python {
namespace {

// DLPack's interface for C code. All arrays of a type share one table.
const dlpack::exchange_api* exchange_api_of(nb::handle type) {
    const nb::object capsule = attribute_or_none(type, "__dlpack_c_exchange_api__");
    if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
    const auto* api =
        static_cast<const dlpack::exchange_api*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (api != nullptr && api->version.major != 1) api = api->previous;
    return api != nullptr && api->tensor_of != nullptr ? api : nullptr;
}

// For sparse tensors, tensors on other devices, and tensors inside torch.func's functions.
[[noreturn]] void refuse_undescribed(const array& a, const char* name) {
    const auto why = a.from == library::torch ? nb::cast<std::string>(libraries("undescribed")(a.object, name)) : "";
    nb::raise_type_error("%s is a %s that DLPack cannot describe%s", name, name_of(a.object.type()).c_str(),
                         why.c_str());
}

// What is known of an array type. Kept for the types that occur often.
struct known_type {
    nb::handle type;  // never released
    library from;
    const dlpack::exchange_api* api;
    bool exact;
};
constexpr int kMostKnown = 8;
known_type known[kMostKnown];
int known_count = 0;

const known_type* find_known(nb::handle type) {
    for (int i = 0; i < known_count; ++i)
        if (known[i].type.is(type)) return &known[i];
    return nullptr;
}

known_type look_up(nb::handle type) {
    if (const known_type* its = find_known(type)) return *its;
    const nb::tuple found = nb::cast<nb::tuple>(libraries("library_of")(type));
    const auto name = nb::cast<std::string>(found[0]);
    known_type its{type, library::other, exchange_api_of(type), nb::cast<bool>(found[1])};
    if (name == "torch") its.from = library::torch;
    if (name == "cupy") its.from = library::cupy;
    if (name == "jax") {
        nb::raise_type_error("%s is immutable: use cornerturn.jax.transpose or cornerturn.jax.convert",
                             name_of(type).c_str());
    }
    if (its.from != library::other && its.exact && known_count < kMostKnown) {
        its.type = nb::borrow(type).release();
        known[known_count++] = its;
    }
    return its;
}

void fill_in(array& a, const dlpack::tensor& t, const char* name) {
    check_rank(t.rank, name);
    const int bits = t.type.bits * t.type.lanes;
    if (bits % 8 != 0) nb::raise_type_error("%s has elements of %d bits: they must be whole bytes", name, bits);
    a.on_gpu = t.device.kind == dlpack::kCuda || t.device.kind == dlpack::kCudaManaged;
    if (!a.on_gpu && t.device.kind != dlpack::kHost && t.device.kind != dlpack::kCudaHost)
        nb::raise_type_error("%s is on a device of DLPack's type %d: it must be in host memory or on a CUDA GPU", name,
                             t.device.kind);
    a.device = a.on_gpu ? t.device.id : 0;
    a.type = t.type;
    a.element_size = bits / 8;
    a.rank = t.rank;
    std::int64_t next = a.element_size;
    for (int i = a.rank - 1; i >= 0; --i) {
        a.extents[i] = t.extents[i];
        a.strides[i] = t.strides == nullptr ? next : t.strides[i] * a.element_size;
        next *= t.extents[i];
    }
    a.data = reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset;
    if (t.data == nullptr && !a.is_empty()) refuse_undescribed(a, name);
}

// Reads the attributes, because __dlpack__ takes several times as long.
void read_cupy(array& a, const char* name) {
    const nb::object memory = a.object.attr("data");
    const auto extents = nb::cast<nb::tuple>(a.object.attr("shape")),
               strides = nb::cast<nb::tuple>(a.object.attr("strides"));
    check_rank(static_cast<int>(extents.size()), name);
    a.rank = static_cast<int>(extents.size());
    for (int i = 0; i < a.rank; ++i) {
        a.extents[i] = nb::cast<std::int64_t>(extents[i]);
        a.strides[i] = nb::cast<std::int64_t>(strides[i]);
    }
    a.data = nb::cast<std::uintptr_t>(memory.attr("ptr"));
    a.element_size = nb::cast<std::int64_t>(a.object.attr("itemsize"));
    const nb::object type = a.object.attr("dtype");
    if (!type.attr("names").is_none()) set_pieces(a, libraries("pieces_of")(type));
    a.on_gpu = true;
    a.device = nb::cast<int>(memory.attr("device_id"));
}

// DLPack's stream numbers: 1 is the legacy default stream, which is also CUDA's null stream.
nb::object stream_number(void* stream) {
    return nb::int_(stream == nullptr ? std::uintptr_t{1} : reinterpret_cast<std::uintptr_t>(stream));
}

void read_dlpack(array& a, const char* name, bool exchange, void* stream) {
    a.owner = libraries("dlpack_capsule")(a.object, name, exchange ? stream_number(stream) : nb::object(nb::int_(-1)));
    PyObject* const capsule = a.owner.ptr();
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        const auto* t = static_cast<dlpack::versioned_tensor*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        if (t->version.major != 1)
            nb::raise_type_error("%s has version %u of DLPack: it must be 1", name, t->version.major);
        a.read_only = (t->flags & dlpack::kReadOnly) != 0;
        a.copied = (t->flags & dlpack::kCopied) != 0;
        return fill_in(a, t->tensor, name);
    }
    const auto* t = static_cast<dlpack::unversioned_tensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    if (t == nullptr) throw nb::python_error();
    fill_in(a, t->tensor, name);
}

// https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html
void read_cuda_array_interface(array& a, const char* name) {
    const auto its = nb::cast<nb::tuple>(libraries("cuda_array_interface")(a.object, name));
    const auto extents = nb::cast<nb::tuple>(its[2]), strides = nb::cast<nb::tuple>(its[3]);
    check_rank(static_cast<int>(extents.size()), name);
    a.rank = static_cast<int>(extents.size());
    a.data = static_cast<std::uintptr_t>(integer(its[0], "the address"));
    a.read_only = its[1].is(nb::bool_(true));
    for (int i = 0; i < a.rank; ++i) {
        a.extents[i] = integer(extents[i], "an extent");
        a.strides[i] = integer(strides[i], "a stride");
    }
    a.element_size = integer(its[4], "the size of an element");
    a.type = {static_cast<std::uint8_t>(integer(its[5], "a type")), static_cast<std::uint8_t>(a.element_size * 8), 1};
    if (!its[6].is_none()) {
        const auto number = static_cast<std::uintptr_t>(integer(its[6], "the stream"));
        a.has_stream = true;
        a.stream = number == 1 ? nullptr : reinterpret_cast<void*>(number);
    }
    set_pieces(a, its[7]);
    a.on_gpu = true;
    if (a.is_empty()) return;
    check(cuda(), cuda().device_of(reinterpret_cast<const void*>(a.data), &a.device));
    if (a.device < 0) nb::raise_type_error("%s says that it is on a GPU, but it is not", name);
}

bool is_true(const nb::object& o) { return o.ptr() == Py_True; }

}  // namespace

std::string text_of(const nb::object& object) {
    const nb::object text = nb::steal(guarded<&PyObject_Str>::call(object.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
    if (!bytes.is_valid()) throw nb::python_error();
    return PyBytes_AsString(bytes.ptr());
}
std::string name_of(nb::handle type) {
    return text_of(type.attr("__module__")) + "." + text_of(type.attr("__qualname__"));
}

void raise_value_error(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(PyExc_ValueError, format, arguments);
    va_end(arguments);
    throw nb::python_error();
}

void check_rank(int rank, const char* name) {
    if (rank > kMostAxes) raise_value_error("%s has %d axes: it may have up to 32", name, rank);
}

nb::object tuple_of(int count, const std::int64_t* numbers) {
    nb::object all = nb::steal(PyTuple_New(count));
    for (int i = 0; i < count; ++i) PyTuple_SetItem(all.ptr(), i, PyLong_FromLongLong(numbers[i]));
    return all;
}

bool has_attribute(nb::handle object, const char* name) {
    return guarded<&PyObject_HasAttrString>::call(object.ptr(), name) != 0;
}
nb::object attribute(nb::handle object, const char* name) {
    PyObject* const its = guarded<&PyObject_GetAttrString>::call(object.ptr(), name);
    if (its == nullptr) throw nb::python_error();
    return nb::steal(its);
}
nb::object attribute_or_none(nb::handle object, const char* name) {
    PyObject* const its = guarded<&PyObject_GetAttrString>::call(object.ptr(), name);
    if (its != nullptr) return nb::steal(its);
    PyErr_Clear();
    return nb::none();
}

void set_pieces(array& a, const nb::object& pieces) { a.pieces = pieces.is_none() ? nb::object() : pieces; }

python_function libraries(const char* name) {
    static nb::handle module;
    if (!module.is_valid()) module = nb::module_::import_("cornerturn._libraries").release();
    return {module.attr(name)};
}

array identify(nb::handle object, const char* name) {
    array a;
    a.object = object;
    if (is_numpy(object)) {
        a.from = library::numpy;
        return a;
    }
    const known_type its = look_up(object.type());
    a.from = its.from;
    a.subclass = !its.exact;
    a.api = its.exact ? its.api : nullptr;
    if (a.api == nullptr && a.from == library::other && !has_attribute(object, "__dlpack__") &&
        !has_attribute(object, "__cuda_array_interface__")) {
        nb::raise_type_error(
            "%s is a %s: it must be a numpy array, or have DLPack's __dlpack__ or __cuda_array_interface__", name,
            name_of(object.type()).c_str());
    }
    return a;
}

std::int64_t integer(nb::handle object, const char* what) {
    std::int64_t value = 0;
    if (!nb::try_cast(object, value))
        raise_value_error("%s is %s: it must be an integer of 64 bits", what, text_of(nb::borrow(object)).c_str());
    return value;
}

bool is_subclass(const array& a) { return a.from == library::torch && a.subclass; }

bool is_lazy(const array& a) {
    if (a.from != library::torch) return false;
    const bool may_be_complex = a.element_size == 0 || a.type.code == dlpack::kComplex;  // not read, or complex
    return is_true(a.object.attr("is_neg")()) || (may_be_complex && is_true(a.object.attr("is_conj")()));
}

special special_of(const array& a) {
    if (a.from != library::torch) return special::none;
    const bool is_complex = a.type.code == dlpack::kComplex;
    const bool is_real = a.type.code == dlpack::kFloat || a.type.code == dlpack::kBfloat || a.type.code > dlpack::kBool;
    if (!is_complex && !is_real) return special::none;
    if (is_lazy(a)) return special::lazy;
    if (is_true(a.object.attr("requires_grad")) && is_true(libraries("is_grad_enabled")())) return special::recorded;
    static nb::handle forward_gradients;
    if (!forward_gradients.is_valid())
        forward_gradients = nb::object(nb::module_::import_("torch.autograd.forward_ad")).release();
    const nb::object level = forward_gradients.attr("_current_level");
    if (PyLong_AsLong(level.ptr()) >= 0 && is_true(libraries("has_forward_gradient")(a.object))) return special::dual;
    return special::none;
}

void read(array& a, const char* name, bool exchange, void* stream) {
    if (a.from == library::numpy) return read_numpy(a, name);
    if (a.api != nullptr && !exchange) {
        dlpack::tensor t;
        if (a.api->tensor_of(a.object.ptr(), &t) != 0) {
            PyErr_Clear();  // drops PyTorch's message, which holds a stack of C++ functions
            refuse_undescribed(a, name);
        }
        fill_in(a, t, name);
        if (a.from == library::torch) mark_small_integers(a);
        return;
    }
    if (a.from == library::cupy && !exchange) return read_cupy(a, name);
    if (has_attribute(a.object, "__dlpack__")) {
        read_dlpack(a, name, exchange, stream);
        if (a.from == library::torch) mark_small_integers(a);
        return;
    }
    read_cuda_array_interface(a, name);
    if (a.has_stream && exchange && a.stream != stream) check(cuda(), cuda().wait(a.device, stream, a.stream));
}

void* current_stream(const array& a) {
    void* stream = nullptr;
    if (a.api != nullptr) {
        if (a.api->current_work_stream(dlpack::kCuda, a.device, &stream) != 0) throw nb::python_error();
    } else if (a.from == library::cupy || a.from == library::torch) {
        const char* const asked = a.from == library::cupy ? "cupy_stream" : "torch_stream";
        stream = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(libraries(asked)(a.device)));
    } else if (a.has_stream) {
        stream = a.stream;
    }
    return stream;
}

namespace {

// New pages of 4 KiB take ten times as long as a conversion that fills them. numpy asks for huge pages for its arrays
// of this size, and PyTorch does not.
void ask_for_huge_pages(const array& made) {
#ifdef __linux__
    constexpr std::uintptr_t kHugePage = 2 << 20, kLarge = 2 * kHugePage;
    if (made.on_gpu || made.bytes() < static_cast<std::int64_t>(kLarge)) return;
    const std::uintptr_t first = (made.data + kHugePage - 1) / kHugePage * kHugePage;
    const std::uintptr_t end = (made.data + static_cast<std::uintptr_t>(made.bytes())) / kHugePage * kHugePage;
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);  // where that fails, pages stay small
#else
    static_cast<void>(made);
#endif
}

}  // namespace

array new_array(const array& x, int rank, const std::int64_t* extents, const element_dtype* elements) {
    array made(x, rank);
    if (elements != nullptr) {
        made.element_size = elements->size;
        made.type = elements->type;
        made.pieces = nb::object();
    }
    std::copy_n(extents, rank, made.extents);
    std::int64_t next = made.element_size;
    for (int i = rank - 1; i >= 0; --i) {
        made.strides[i] = next;
        next *= std::max<std::int64_t>(extents[i], 1);
    }
    made.read_only = made.has_stream = false;
    made.owner = nb::object();
    switch (x.from) {
        case library::numpy:
            make_numpy(made, x.object, elements != nullptr ? elements->dtype : nb::object());
            return made;
        case library::torch:
            if (make_torch(made)) return made;
            made.made = elements != nullptr
                            ? x.object.attr("new_empty")(tuple_of(rank, extents), nb::arg("dtype") = elements->dtype)
                            : x.object.attr("new_empty")(tuple_of(rank, extents));
            break;
        case library::cupy:
            made.made = libraries("new_cupy")(x.object, tuple_of(rank, extents),
                                              elements != nullptr ? elements->dtype : nb::object(nb::none()));
            break;
        case library::other:
            nb::raise_type_error("a new array of type %s cannot be made here: give one as out, or call copyto",
                                 name_of(x.object.type()).c_str());
    }
    made.object = made.made;
    read(made, "the new array", false, nullptr);
    if (x.from == library::torch) ask_for_huge_pages(made);
    return made;
}

bool same_type(const array& a, const array& b) {
    if (a.element_size != b.element_size) return false;
    if (a.from == library::numpy && b.from == library::numpy) return same_numpy_type(a.object, b.object);
    const auto type_of = [](const array& x) {
        if (x.from != library::numpy && x.from != library::cupy) return x.type;
        const auto code = nb::cast<std::uint8_t>(libraries("dlpack_code")(attribute(x.object, "dtype")));
        return dlpack::data_type{code, static_cast<std::uint8_t>(x.element_size * 8), 1};
    };
    const dlpack::data_type of_a = type_of(a), of_b = type_of(b);
    if (of_a.code == dlpack::kOpaque && of_b.code == dlpack::kOpaque)  // such as records of numba's
        return nb::cast<bool>(libraries("same_dtype")(a.object, b.object));
    return of_a.code == of_b.code && of_a.bits == of_b.bits && of_a.lanes == of_b.lanes;
}

}  // namespace cornerturn::python
