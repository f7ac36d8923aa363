#include "ops/copy/kernel_traits.hpp"
#include "ops/transpose/operation.hpp"

#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#include <complex>
#endif

namespace cornerturn {
namespace {

constexpr rung_notes kEigen{
    .id = "host/eigen",
    .idea = "Eigen's destination = source.transpose().",
    .change = "A peer, not a rung.",
    .contract = "Any rows x cols and leading dimensions. Available only if the build found Eigen's headers.",
    .bytes = "2 * rows * cols * e",
    .limit = "It runs on one core.",
    .source = "Eigen 3.",
};

#if __has_include(<Eigen/Core>)
template <class T>
void run_as(const matrix_work& w) {
    using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using stride = Eigen::OuterStride<>;
    for (std::int64_t i = 0; i < w.count; ++i) {
        const Eigen::Map<const matrix, 0, stride> source(static_cast<const T*>(w.source) + i * w.source_stride, w.rows,
                                                         w.cols, stride(w.source_ld));
        Eigen::Map<matrix, 0, stride> destination(static_cast<T*>(w.destination) + i * w.destination_stride, w.cols,
                                                  w.rows, stride(w.destination_ld));
        destination = source.transpose();
    }
}

void run(const matrix_work& work) {
    if (work.source == work.destination) decline("it does not work in place");
    switch (work.element_size) {
        case 1: return run_as<std::uint8_t>(work);
        case 2: return run_as<std::uint16_t>(work);
        case 4: return run_as<std::uint32_t>(work);
        case 8: return run_as<std::uint64_t>(work);
        case 16: return run_as<std::complex<double>>(work);
        default: decline_element_size(work.element_size);
    }
}
#else
constexpr void (*run)(const matrix_work&) = nullptr;
#endif

constexpr variant<matrix_work> kVariants[] = {{{"", "a peer", 1 | 2 | 4 | 8 | 16}, run, {.batches = true}}};
const bool kRegistered = register_rung(kEigen, transpose_operation(), backend::host, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
