#include <type_traits>

#include "cornerturn/error.hpp"
#include "files/tile.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include <cuda_runtime.h>

#include "cornerturn/cuda/transpose.hpp"
#include "device/cuda_check.hpp"
#endif

namespace cornerturn::files {

#if defined(CORNERTURN_WITH_CUDA)
namespace {

struct pinned_deleter {
    void operator()(unsigned char* memory) const { cudaFreeHost(memory); }
};
struct device_deleter {
    void operator()(unsigned char* memory) const { cudaFree(memory); }
};
struct stream_deleter {
    void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};

// The tile's thread waits for its stream: what overlaps is what different tiles do.
class cuda_tile : public tile_memory {
public:
    cuda_tile(std::int64_t elements, std::int64_t element_size) : element_size_(element_size) {
        const auto bytes = static_cast<std::size_t>(elements * element_size);
        for (auto& memory : pinned_) {
            void* made = nullptr;
            CORNERTURN_CUDA(cudaMallocHost(&made, bytes));
            memory.reset(static_cast<unsigned char*>(made));
        }
        for (auto& memory : device_) {
            void* made = nullptr;
            CORNERTURN_CUDA(cudaMalloc(&made, bytes));
            memory.reset(static_cast<unsigned char*>(made));
        }
        cudaStream_t stream = nullptr;
        CORNERTURN_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        stream_.reset(stream);
        read = pinned_[0].get();
        transposed = pinned_[1].get();
    }

    void transpose(std::int64_t rows, std::int64_t cols) override {
        const auto bytes = static_cast<std::size_t>(rows * cols * element_size_);
        const auto address = [&](int i) { return reinterpret_cast<std::uintptr_t>(device_[i].get()); };
        CORNERTURN_CUDA(cudaMemcpyAsync(device_[0].get(), read, bytes, cudaMemcpyHostToDevice, stream_.get()));
        cuda::detail::transpose({address(0), rows, cols, cols, 1, 0}, {address(1), cols, rows, rows, 1, 0},
                                element_size_, 1, stream_.get());
        CORNERTURN_CUDA(cudaMemcpyAsync(transposed, device_[1].get(), bytes, cudaMemcpyDeviceToHost, stream_.get()));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream_.get()));
    }

private:
    std::int64_t element_size_;
    std::unique_ptr<unsigned char, pinned_deleter> pinned_[2];
    std::unique_ptr<unsigned char, device_deleter> device_[2];
    std::unique_ptr<std::remove_pointer_t<cudaStream_t>, stream_deleter> stream_;
};

}  // namespace

tile_maker cuda_tiles() {
    // CUDA loads a kernel when it is first launched: 23 MB of the host's memory were measured, by the kernel.
    constexpr std::int64_t kLater = 48 << 20;
    const tile_maker maker{[](std::int64_t elements, std::int64_t element_size) {
                               return std::make_unique<cuda_tile>(elements, element_size);
                           },
                           kLater};
    maker.make(64 * 64, 4)->transpose(64, 64);
    return maker;
}
#else
tile_maker cuda_tiles() { throw unsupported("no GPU to transpose tiles on: this program was built without CUDA"); }
#endif

}  // namespace cornerturn::files
