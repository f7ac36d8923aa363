#include "copy.hpp"

#include <bit>
#include <cstring>
#include <numeric>
#include <optional>

namespace cornerturn::python {
namespace {

// A shorter copy takes less time than releasing the GIL and waiting to get it back.
constexpr std::int64_t kReleasedFrom = 64 << 10;

[[noreturn]] void raise(cornerturn_status status, const char* sentence) {
    PyObject* type = PyExc_RuntimeError;
    if (status == CORNERTURN_INVALID_ARGUMENT) type = PyExc_ValueError;
    if (std::strcmp(sentence, "out of host memory") == 0)  // this error has no status of its own
        type = PyExc_MemoryError;
    PyErr_SetString(type, sentence);
    throw nb::python_error();
}

// Arguments of the C functions. Strides count units: elements, or a size that divides the element size and all strides.
struct call {
    int rank;
    std::int64_t unit;
    std::int64_t extents[kMostAxes], source_strides[kMostAxes], destination_strides[kMostAxes];

    call(const array& source, const array& destination) : rank(0), unit(destination.element_size) {
        std::int64_t all = unit;
        for (int i = 0; i < destination.rank; ++i) {
            if (destination.extents[i] == 1) continue;
            extents[rank] = destination.extents[i];
            source_strides[rank] = source.strides[i];
            destination_strides[rank] = destination.strides[i];
            all |= source.strides[i] | destination.strides[i];
            ++rank;
        }
        const int shift = std::countr_zero(static_cast<std::uint64_t>(all));
        if (unit == std::int64_t{1} << shift) {  // divisions would take a large part of the time of a small copy
            for (int i = 0; i < rank; ++i) source_strides[i] >>= shift, destination_strides[i] >>= shift;
            return;
        }
        for (int i = 0; i < rank; ++i) unit = std::gcd(unit, std::gcd(source_strides[i], destination_strides[i]));
        for (int i = 0; i < rank; ++i) source_strides[i] /= unit, destination_strides[i] /= unit;
        if (unit == destination.element_size) return;
        if (rank == kMostAxes)
            raise_value_error("arrays whose strides are not multiples of the element size may have at most 31 axes");
        extents[rank] = destination.element_size / unit;
        source_strides[rank] = destination_strides[rank] = 1;
        ++rank;
    }
};

const void* address(const array& a) { return reinterpret_cast<const void*>(a.data); }

}  // namespace

const cuda_table& cuda() {
    static const cuda_table* table = nullptr;
    if (table == nullptr) {
        try {
            const nb::object capsule = nb::module_::import_("cornerturn._cuda").attr("table");
            table = static_cast<const cuda_table*>(PyCapsule_GetPointer(capsule.ptr(), kTableName));
            if (table == nullptr) throw nb::python_error();
        } catch (nb::python_error& e) {
            if (!e.matches(PyExc_ModuleNotFoundError)) throw;
            PyErr_SetString(PyExc_RuntimeError,
                            "the array is on a GPU, but this build of cornerturn has no GPU support: build it where "
                            "nvcc is installed");
            throw nb::python_error();
        }
    }
    return *table;
}

void check(cornerturn_status status) {
    if (status != CORNERTURN_OK) raise(status, cornerturn_last_error());
}

void check(const cuda_table& of, cornerturn_status status) {
    if (status != CORNERTURN_OK) raise(status, of.last_error());
}

array permuted(const array& source, const int* axes) {
    array result(source, source.rank);
    for (int i = 0; i < source.rank; ++i) {
        result.extents[i] = source.extents[axes[i]];
        result.strides[i] = source.strides[axes[i]];
    }
    return result;
}

void copy(const array& source, const array& destination, int threads, void* stream) {
    if (destination.is_empty() || destination.element_size == 0) return;
    const call c(source, destination);
    void* const to = reinterpret_cast<void*>(destination.data);
    if (destination.on_gpu) {
        const cuda_table& on_gpu = cuda();
        cornerturn_status status;
        {
            const nb::gil_scoped_release released;  // a launch may wait for room in the stream
            status = on_gpu.copy(destination.device, c.rank, c.extents, address(source), c.source_strides, to,
                                 c.destination_strides, c.unit, stream);
        }
        return check(on_gpu, status);
    }
    std::optional<nb::gil_scoped_release> released;
    if (destination.bytes() >= kReleasedFrom) released.emplace();
    const cornerturn_status status = cornerturn_copy(c.rank, c.extents, address(source), c.source_strides, to,
                                                     c.destination_strides, c.unit, threads);
    released.reset();
    check(status);
}

std::string explain(const array& source, const array& destination) {
    if (destination.is_empty() || destination.element_size == 0) return "nothing: there is nothing to move";
    const call c(source, destination);
    char text[1024];
    if (destination.on_gpu) {
        check(cuda(), cuda().explain(destination.device, c.rank, c.extents, address(source), c.source_strides,
                                     address(destination), c.destination_strides, c.unit, text, sizeof text));
    } else {
        check(cornerturn_explain_copy(c.rank, c.extents, address(source), c.source_strides, address(destination),
                                      c.destination_strides, c.unit, text, sizeof text));
    }
    return text;
}

}  // namespace cornerturn::python
