#include <type_traits>

#include "cornerturn/error.hpp"
#include "files/tile.hpp"

#if defined(CORNERTURN_WITH_CUDA)
#include <cuda_runtime.h>

#include "cornerturn/cuda/convert.hpp"
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
    cuda_tile(std::int64_t elements, element_bytes element, const element_conversion& conversion)
        : element_(element), conversion_(conversion) {
        const std::int64_t sides[] = {elements * element.read, elements * element.written};
        for (int i = 0; i < 2; ++i) {
            void* made = nullptr;
            CORNERTURN_CUDA(cudaMallocHost(&made, static_cast<std::size_t>(sides[i])));
            pinned_[i].reset(static_cast<unsigned char*>(made));
            device_[i] = on_device(sides[i]);
        }
        cudaStream_t stream = nullptr;
        CORNERTURN_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        stream_.reset(stream);
        scales_ = on_device(conversion.scale);
        biases_ = on_device(conversion.bias);
        read = pinned_[0].get();
        written = pinned_[1].get();
    }

    void move(const file_tiling::tile_layout& layout) override {
        std::int64_t elements = 1;
        for (int i = 0; i < layout.extents.size(); ++i) elements *= layout.extents.values[static_cast<std::size_t>(i)];
        const auto address = [&](int i) { return reinterpret_cast<std::uintptr_t>(device_[i].get()); };
        const detail::any_tensor from{address(0), layout.extents, layout.read};
        const detail::any_tensor to{address(1), layout.extents, layout.written};
        CORNERTURN_CUDA(cudaMemcpyAsync(device_[0].get(), read, static_cast<std::size_t>(elements * element_.read),
                                        cudaMemcpyHostToDevice, stream_.get()));
        if (conversion_.converts()) {
            const auto numbers = [](const device_memory& at) { return reinterpret_cast<const double*>(at.get()); };
            cuda::detail::convert({from, conversion_.from, 1}, detail::same_order(layout.extents),
                                  {to, conversion_.to, 1},
                                  conversion_.of_tile(layout, numbers(scales_), numbers(biases_)), stream_.get());
        } else {
            cuda::detail::copy(from, to, element_.written, 1, stream_.get());
        }
        CORNERTURN_CUDA(cudaMemcpyAsync(written, device_[1].get(),
                                        static_cast<std::size_t>(elements * element_.written), cudaMemcpyDeviceToHost,
                                        stream_.get()));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream_.get()));
    }

private:
    using device_memory = std::unique_ptr<unsigned char, device_deleter>;

    static device_memory on_device(std::int64_t bytes) {
        void* made = nullptr;
        CORNERTURN_CUDA(cudaMalloc(&made, static_cast<std::size_t>(bytes)));
        return device_memory(static_cast<unsigned char*>(made));
    }
    device_memory on_device(const std::vector<double>& numbers) const {
        if (numbers.empty()) return nullptr;
        const std::size_t bytes = numbers.size() * sizeof(double);
        device_memory made = on_device(static_cast<std::int64_t>(bytes));
        CORNERTURN_CUDA(cudaMemcpyAsync(made.get(), numbers.data(), bytes, cudaMemcpyHostToDevice, stream_.get()));
        return made;
    }

    element_bytes element_;
    const element_conversion& conversion_;
    std::unique_ptr<unsigned char, pinned_deleter> pinned_[2];
    device_memory device_[2], scales_, biases_;
    std::unique_ptr<std::remove_pointer_t<cudaStream_t>, stream_deleter> stream_;
};

}  // namespace

tile_maker cuda_tiles() {
    // CUDA loads a kernel at its first launch. That took up to 23 MB of host memory, depending on the kernel.
    constexpr std::int64_t kLaterBytes = 48 << 20;
    const tile_maker maker{[](std::int64_t elements, element_bytes element, const element_conversion& conversion) {
                               return std::make_unique<cuda_tile>(elements, element, conversion);
                           },
                           kLaterBytes};
    maker.make(64 * 64, {4, 4}, {})->move({{64, 64}, {64, 1}, {1, 64}});
    return maker;
}
#else
tile_maker cuda_tiles() { throw unsupported("no GPU to move tiles on: this program was built without CUDA"); }
#endif

}  // namespace cornerturn::files
