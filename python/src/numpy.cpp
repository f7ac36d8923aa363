#include "numpy.hpp"

#include <cstring>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#if NPY_ABI_VERSION < 0x02000000
#error "building the package needs numpy 2; the built package also runs with older versions"
#endif

namespace cornerturn::python {
namespace {

PyArrayObject* as_numpy(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

bool is_loaded() {
    static bool loaded = false;
    if (loaded) return true;
    const nb::str name("numpy");
    const nb::object module = nb::steal(PyImport_GetModule(name.ptr()));
    if (!module.is_valid() || module.is_none()) {
        PyErr_Clear();
        return false;
    }
    if (_import_array() < 0) throw nb::python_error();
    return loaded = true;
}

bool is_plain(nb::handle object) {
    // A memmap differs only in its memory. numpy returns one for slices of a memmap, too.
    static nb::handle memmap;
    if (!memmap.is_valid()) memmap = nb::object(nb::module_::import_("numpy").attr("memmap")).release();
    return PyArray_CheckExact(object.ptr()) || object.type().is(memmap);
}

}  // namespace

bool is_numpy(nb::handle object) { return is_loaded() && PyArray_Check(object.ptr()); }

void read_numpy(array& a, const char* name) {
    PyArrayObject* const from = as_numpy(a.object);
    if (!is_plain(a.object))
        nb::raise_type_error("%s is a %s, which may be more than its elements: pass numpy.asarray(%s)", name,
                             name_of(a.object.type()).c_str(), name);
    if (PyDataType_REFCHK(PyArray_DESCR(from)))
        nb::raise_type_error("%s has elements of dtype %s, which are Python objects or refer to other memory", name,
                             text_of(a.object.attr("dtype")).c_str());
    const int rank = PyArray_NDIM(from);
    check_rank(rank, name);
    a.data = reinterpret_cast<std::uintptr_t>(PyArray_DATA(from));
    a.rank = rank;
    for (int i = 0; i < rank; ++i) a.extents[i] = PyArray_DIM(from, i), a.strides[i] = PyArray_STRIDE(from, i);
    a.element_size = PyArray_ITEMSIZE(from);
    a.read_only = !PyArray_ISWRITEABLE(from);
    if (PyDataType_HASFIELDS(PyArray_DESCR(from))) set_pieces(a, libraries("pieces_of")(a.object.attr("dtype")));
}

void make_numpy(array& made, nb::handle like, nb::handle dtype) {
    PyArray_Descr* const type =
        dtype.is_valid() ? reinterpret_cast<PyArray_Descr*>(dtype.ptr()) : PyArray_DESCR(as_numpy(like));
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    // Both take the reference to the type.
    PyObject* const its = made.pieces.is_valid() ? PyArray_Zeros(made.rank, made.extents, type, 0)
                                                 : PyArray_NewFromDescr(&PyArray_Type, type, made.rank, made.extents,
                                                                        nullptr, nullptr, 0, nullptr);
    if (its == nullptr) throw nb::python_error();
    made.made = nb::steal(its);
    made.object = its;
    made.data = reinterpret_cast<std::uintptr_t>(PyArray_DATA(as_numpy(its)));
    // numpy makes one-character strings for empty strings. No element is moved into them.
    if (made.element_size == 0)
        std::memset(PyArray_DATA(as_numpy(its)), 0, static_cast<std::size_t>(PyArray_NBYTES(as_numpy(its))));
}

bool same_numpy_type(nb::handle a, nb::handle b) {
    return PyArray_EquivTypes(PyArray_DESCR(as_numpy(a)), PyArray_DESCR(as_numpy(b)));
}

}  // namespace cornerturn::python
