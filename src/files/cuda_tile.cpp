#include <type_traits>

#include "cornerturn/error.hpp"
#include "files/tile.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include <cuda_runtime.h>

#include "cornerturn/cuda/copy.hpp"
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

// The calling thread waits for the stream. Only the work of different tiles overlaps.
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
        written = pinned_[1].get();
    }

    void move(const file_tiling::tile_layout& layout) override {
        std::int64_t bytes = element_size_;
        for (int i = 0; i < layout.extents.size(); ++i) bytes *= layout.extents.values[static_cast<std::size_t>(i)];
        const auto size = static_cast<std::size_t>(bytes);
        const auto address = [&](int i) { return reinterpret_cast<std::uintptr_t>(device_[i].get()); };
        CORNERTURN_CUDA(cudaMemcpyAsync(device_[0].get(), read, size, cudaMemcpyHostToDevice, stream_.get()));
        cuda::detail::copy({address(0), layout.extents, layout.read}, {address(1), layout.extents, layout.written},
                           element_size_, 1, stream_.get());
        CORNERTURN_CUDA(cudaMemcpyAsync(written, device_[1].get(), size, cudaMemcpyDeviceToHost, stream_.get()));
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
    // CUDA loads a kernel at its first launch. That took up to 23 MB of host memory, depending on the kernel.
    constexpr std::int64_t kLaterBytes = 48 << 20;
    const tile_maker maker{[](std::int64_t elements, std::int64_t element_size) {
                               return std::make_unique<cuda_tile>(elements, element_size);
                           },
                           kLaterBytes};
    maker.make(64 * 64, 4)->move({{64, 64}, {64, 1}, {1, 64}});
    return maker;
}
#else
tile_maker cuda_tiles() { throw unsupported("no GPU to move tiles on: this program was built without CUDA"); }
#endif

}  // namespace cornerturn::files
