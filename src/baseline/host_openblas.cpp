#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>

#include "cornerturn/error.hpp"
#include "ops/copy/kernel_traits.hpp"
#include "ops/transpose/operation.hpp"

namespace cornerturn {
namespace {

constexpr rung_notes kOpenBlas{
    .id = "host/openblas",
    .idea = "OpenBLAS's omatcopy: one times the transpose.",
    .change = "A peer, not a rung.",
    .contract =
        "Elements that are floats, doubles or complex doubles. Extents and leading dimensions below 2^31. OpenBLAS is "
        "loaded at the first call.",
    .bytes = "2 * rows * cols * e",
    .limit = "It runs on one core.",
    .source = "OpenBLAS, cblas_?omatcopy.",
};

constexpr int kRowMajor = 101, kTransposed = 112;  // constants of CBLAS
// alpha is a number. For complex elements it is the number's address.
template <class T, class Alpha>
using omatcopy_function = void (*)(int order, int how, int rows, int cols, Alpha alpha, const T* a, int lda, T* b,
                                   int ldb);

void* find(const char* name) {
    static void* const library = [] {
        void* found = nullptr;
        for (const char* file : {"libopenblas.so.0", "libopenblas.so"}) {
            if (found == nullptr) found = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        }
        if (found == nullptr) throw unsupported(fmt::format("OpenBLAS cannot be loaded: {}", dlerror()));
        return found;
    }();
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr) throw unsupported(fmt::format("this OpenBLAS has no {}", name));
    return symbol;
}

template <class T, class Alpha>
void run_as(const char* name, Alpha one, const matrix_work& w) {
    if (w.source == w.destination) throw unsupported("omatcopy does not work in place");
    if (std::max({w.rows, w.cols, w.source_ld, w.destination_ld}) > std::numeric_limits<int>::max())
        throw unsupported("omatcopy takes extents below 2^31");
    const auto omatcopy = reinterpret_cast<omatcopy_function<T, Alpha>>(find(name));
    for (std::int64_t i = 0; i < w.count; ++i) {
        omatcopy(kRowMajor, kTransposed, static_cast<int>(w.rows), static_cast<int>(w.cols), one,
                 static_cast<const T*>(w.source) + i * w.source_stride, static_cast<int>(w.source_ld),
                 static_cast<T*>(w.destination) + i * w.destination_stride, static_cast<int>(w.destination_ld));
    }
}

void run(const matrix_work& work) {
    static constexpr double kOne[] = {1, 0};
    switch (work.element_size) {
        case 4: return run_as<float>("cblas_somatcopy", 1.0f, work);
        case 8: return run_as<double>("cblas_domatcopy", 1.0, work);
        case 16: return run_as<std::complex<double>>("cblas_zomatcopy", &kOne[0], work);
        default: decline_element_size(work.element_size);
    }
}

constexpr variant<matrix_work> kVariants[] = {{{"", "a peer", 4 | 8 | 16}, run, {.batches = true, .arithmetic = true}}};
const bool kRegistered = register_rung(kOpenBlas, transpose_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
