#include "ops/copy/kernel_traits.hpp"
#include "ops/transpose/operation.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include "core/sizes.hpp"
#include "device/cuda_check.hpp"
#endif

namespace cornerturn {
namespace {

constexpr rung_notes kMemcpy{
    .id = "baseline/memcpy",
    .idea = "cudaMemcpyAsync, device to device: the yardstick for everything that moves bytes.",
    .change = "A peer, not a rung.",
    .contract = "A matrix without gaps between its rows, of any elements.",
    .bytes = "2 * rows * cols * e",
    .limit = "DRAM bandwidth.",
    .source = "The CUDA runtime. cudaMemcpy2DAsync takes leading dimensions, but is slower and no yardstick.",
};

#if defined(CORNERTURN_WITH_CUDA)
void run(const matrix_work& work) {
    decline_gaps(work);
    const std::int64_t elements = checked_multiply(work.rows, work.cols, "rows x cols");
    const std::int64_t bytes = checked_multiply(elements, work.element_size, "elements x bytes");
    CORNERTURN_CUDA(cudaMemcpyAsync(work.destination, work.source, static_cast<std::size_t>(bytes),
                                    cudaMemcpyDeviceToDevice, device::current_stream()));
}
#else
constexpr void (*run)(const matrix_work&) = nullptr;
#endif

constexpr variant<matrix_work> kVariants[] = {{{"", "a peer", 1 | 2 | 4 | 8 | 16}, run, {.copies = true}}};
const bool kRegistered = register_rung(kMemcpy, transpose_operation(), backend::cuda, __FILE__, kVariants);

}  // namespace
}  // namespace cornerturn
