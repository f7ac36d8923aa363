#include "copy.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <vector>

namespace cornerturn::python {
namespace {

constexpr const char* kNothing = "nothing: there is nothing to move";

[[noreturn]] void raise(cornerturn_status status, const char* sentence) {
    PyObject* type = PyExc_RuntimeError;
    if (status == CORNERTURN_INVALID_ARGUMENT) type = PyExc_ValueError;
    if (status == CORNERTURN_OUT_OF_HOST_MEMORY || status == CORNERTURN_OUT_OF_DEVICE_MEMORY) type = PyExc_MemoryError;
    PyErr_SetString(type, sentence);
    throw nb::python_error();
}

// Arguments of the C functions. Strides count units: elements, or a size that divides the element size and all strides.
struct call {
    bool on_gpu;
    int device;
    const void* source;
    void* destination;
    int rank = 0;
    std::int64_t unit;
    std::int64_t extents[kMostAxes], source_strides[kMostAxes], destination_strides[kMostAxes];

    call(const array& from, const array& to)
        : on_gpu(to.on_gpu),
          device(to.device),
          source(reinterpret_cast<const void*>(from.data)),
          destination(reinterpret_cast<void*>(to.data)),
          unit(to.element_size) {
        std::int64_t all = unit;
        for (int i = 0; i < to.rank; ++i) {
            if (to.extents[i] == 1) continue;
            extents[rank] = to.extents[i];
            source_strides[rank] = from.strides[i];
            destination_strides[rank] = to.strides[i];
            all |= from.strides[i] | to.strides[i];
            ++rank;
        }
        const int shift = std::countr_zero(static_cast<std::uint64_t>(all));
        if (unit == std::int64_t{1} << shift) {  // divisions would take a large part of the time of a small copy
            for (int i = 0; i < rank; ++i) source_strides[i] >>= shift, destination_strides[i] >>= shift;
            return;
        }
        for (int i = 0; i < rank; ++i) unit = std::gcd(unit, std::gcd(source_strides[i], destination_strides[i]));
        for (int i = 0; i < rank; ++i) source_strides[i] /= unit, destination_strides[i] /= unit;
        if (unit == to.element_size) return;
        if (rank == kMostAxes)
            raise_value_error("arrays whose strides are not multiples of the element size may have at most 31 axes");
        extents[rank] = to.element_size / unit;
        source_strides[rank] = destination_strides[rank] = 1;
        ++rank;
    }
};

void run(const call& c, int threads, void* stream, bool release) {
    const cuda_table* const on_gpu = c.on_gpu ? &cuda() : nullptr;
    std::optional<released_gil> released;
    if (release) released.emplace();
    if (on_gpu != nullptr) {
        const cornerturn_status status = on_gpu->copy(c.device, c.rank, c.extents, c.source, c.source_strides,
                                                      c.destination, c.destination_strides, c.unit, stream);
        released.reset();
        return check(*on_gpu, status);
    }
    const cornerturn_status status = cornerturn_copy(c.rank, c.extents, c.source, c.source_strides, c.destination,
                                                     c.destination_strides, c.unit, threads);
    released.reset();
    check(status);
}

std::string explain(const call& c) {
    char text[1024];
    if (c.on_gpu) {
        check(cuda(), cuda().explain(c.device, c.rank, c.extents, c.source, c.source_strides, c.destination,
                                     c.destination_strides, c.unit, text, sizeof text));
    } else {
        check(cornerturn_explain_copy(c.rank, c.extents, c.source, c.source_strides, c.destination,
                                      c.destination_strides, c.unit, text, sizeof text));
    }
    return text;
}

// The bytes of one piece of each element: see _libraries.pieces_of().
array part_of(const array& whole, nb::handle piece) {
    const auto axes = nb::cast<nb::tuple>(piece[2]);
    const int own = static_cast<int>(axes.size());
    const int moved = whole.rank - static_cast<int>(std::count(whole.extents, whole.extents + whole.rank, 1));
    if (moved + own > kMostAxes)
        raise_value_error("the axes of the arrays and of the fields of their records are %d: at most 32 can be moved",
                          moved + own);
    array part(whole, moved + own);
    part.pieces = nb::object();
    part.data += nb::cast<std::uintptr_t>(piece[0]);
    part.element_size = nb::cast<std::int64_t>(piece[1]);
    int next = 0;
    for (int i = 0; i < whole.rank; ++i) {
        if (whole.extents[i] == 1) continue;
        part.extents[next] = whole.extents[i];
        part.strides[next++] = whole.strides[i];
    }
    for (int i = 0; i < own; ++i) {
        part.extents[next] = nb::cast<std::int64_t>(axes[i][0]);
        part.strides[next++] = nb::cast<std::int64_t>(axes[i][1]);
    }
    return part;
}

// One for each piece of the elements. All are checked before the first is run. The whole elements must not overlap,
// bytes between the pieces included.
std::vector<call> calls_of_pieces(const array& source, const array& destination) {
    explain(call(source, destination));  // which checks it
    std::vector<call> all;
    for (nb::handle piece : destination.pieces) {
        const array from = part_of(source, piece), to = part_of(destination, piece);
        if (to.is_empty()) continue;
        all.emplace_back(from, to);
        explain(all.back());
    }
    return all;
}

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
                            "arrays and choices for a GPU need a build of cornerturn with GPU support: build it "
                            "where nvcc is installed");
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

bool is_worth_releasing(const array& a) {
    constexpr std::int64_t kReleasedFrom = 64 << 10;
    return a.on_gpu || a.bytes() >= kReleasedFrom;  // a launch may wait for room in the stream
}

void copy(const array& source, const array& destination, int threads, void* stream) {
    if (destination.is_empty() || destination.element_size == 0) return;
    const bool release = is_worth_releasing(destination);
    if (!destination.pieces.is_valid()) return run(call(source, destination), threads, stream, release);
    for (const call& c : calls_of_pieces(source, destination)) run(c, threads, stream, release);
}

void tune(const array& source, const array& destination, void* stream) {
    if (destination.is_empty() || destination.element_size == 0) return;
    const auto measure = [stream](const call& c) {
        const cuda_table& on_gpu = cuda();
        std::optional<released_gil> released(std::in_place);
        const cornerturn_status status = on_gpu.tune(c.device, c.rank, c.extents, c.source, c.source_strides,
                                                     c.destination, c.destination_strides, c.unit, stream);
        released.reset();
        check(on_gpu, status);
    };
    if (!destination.pieces.is_valid()) return measure(call(source, destination));
    for (const call& c : calls_of_pieces(source, destination)) measure(c);
}

std::string explain(const array& source, const array& destination) {
    if (destination.is_empty() || destination.element_size == 0) return kNothing;
    if (!destination.pieces.is_valid()) return explain(call(source, destination));
    std::string text;
    for (const call& c : calls_of_pieces(source, destination)) {
        const auto first = reinterpret_cast<std::uintptr_t>(c.destination) - destination.data;
        text +=
            (text.empty() ? "from byte " : "; from byte ") + std::to_string(first) + " of each element: " + explain(c);
    }
    return text.empty() ? kNothing : text;
}

}  // namespace cornerturn::python
