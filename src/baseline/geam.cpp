#include "ops/copy/kernel_traits.hpp"
#include "ops/transpose/operation.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include <complex>
#include <limits>

#include "baseline/cublas.hpp"
#endif

namespace cornerturn {
namespace {

constexpr rung_notes kGeam{
    .id = "baseline/geam",
    .idea = "cuBLAS's geam: one times the transpose. This is what the vendor's library offers.",
    .change = "A peer, not a rung.",
    .contract =
        "Elements that are floats, doubles or complex doubles. Fewer than 2^31 elements in a row, and leading "
        "dimensions that geam accepts. geam takes no batches, so a few matrices are a few calls. cuBLAS is loaded at "
        "the first call.",
    .bytes = "2 * rows * cols * e",
    .limit = "cuBLAS's kernels, with skinny matrices and with odd sides.",
    .source = "NVIDIA cuBLAS, cublas<t>geam.",
};

#if defined(CORNERTURN_WITH_CUDA)

using baseline::cublas;
using baseline::cublas_handle;
using baseline::cublas_status;

// c = alpha op(a) + beta op(b). The matrices are m x n and column-major.
template <class T>
using geam_function = cublas_status (*)(cublas_handle, int op_a, int op_b, int m, int n, const T* alpha, const T* a,
                                        int lda, const T* beta, const T* b, int ldb, T* c, int ldc);

constexpr std::int64_t kMostCalls = 16;  // calls for a batch: with more, the launches would dominate the time

template <class T>
void transpose(const char* function, const matrix_work& work) {
    const cublas& library = cublas::instance();
    static const auto geam = library.find<geam_function<T>>(function);  // one for each T
    const cublas_handle handle = library.on_current_stream();
    // A row-major matrix, read as column-major, is its own transpose. With beta 0, b is not read.
    const T one(1), zero(0);
    const int rows = static_cast<int>(work.rows), cols = static_cast<int>(work.cols);
    for (std::int64_t i = 0; i < work.count; ++i) {
        const T* const from = static_cast<const T*>(work.source) + i * work.source_stride;
        T* const to = static_cast<T*>(work.destination) + i * work.destination_stride;
        const int ld = static_cast<int>(work.destination_ld);
        cublas::check(geam(handle, baseline::kTransposed, baseline::kNotTransposed, rows, cols, &one, from,
                           static_cast<int>(work.source_ld), &zero, to, ld, to, ld),
                      function);
    }
}

void run(const matrix_work& work) {
    for (std::int64_t size : {work.rows, work.cols, work.source_ld, work.destination_ld}) {
        if (size > std::numeric_limits<int>::max()) throw unsupported("geam takes at most 2147483647 rows and columns");
    }
    if (work.count > kMostCalls) {
        throw unsupported(
            fmt::format("geam takes one matrix a call; batches of more than {} are not timed", kMostCalls));
    }
    if (work.rows == 0 || work.cols == 0) return;
    switch (work.element_size) {
        case 4: return transpose<float>("cublasSgeam", work);
        case 8: return transpose<double>("cublasDgeam", work);
        case 16: return transpose<std::complex<double>>("cublasZgeam", work);
        default: decline_element_size(work.element_size);
    }
}

#else
constexpr void (*run)(const matrix_work&) = nullptr;
#endif

constexpr variant<matrix_work> kVariants[] = {{{"", "a peer", 4 | 8 | 16}, run, {.batches = true, .arithmetic = true}}};
const bool kRegistered = register_rung(kGeam, transpose_operation(), backend::cuda, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
