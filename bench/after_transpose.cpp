// Times a transpose and the work after it, for both choices of what a transpose leaves in the L2
// (cornerturn/cuda/l2.hpp): a transpose alone, work that reads its result, work on other memory, and loops of both. The
// same with memcpy instead of the transpose shows the value of the choice.
//
//     build/device/bench/after_transpose [rounds] > results/l2/after_transpose.json      needs a GPU and cuBLAS
//
// Before each sample, the L2 is filled with other data. Samples of the choices alternate. Everything that they write is
// compared with the result of a naive transpose.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "after_transpose_kernels.hpp"
#include "baseline/cublas.hpp"
#include "cornerturn/cuda/l2.hpp"
#include "cornerturn/cuda/transpose.hpp"
#include "device/cuda_memory.hpp"
#include "lab/statistics.hpp"

using namespace cornerturn;

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kMost = 264 * kMiB, kOther = 64 * kMiB, kFlush = 384 * kMiB;

struct matrix {
    const char* name;
    std::int64_t rows, cols;
    int size;  // of an element
    std::int64_t bytes() const { return rows * cols * size; }
};
constexpr matrix kMatrices[] = {{"f32, 16 MiB", 2048, 2048, 4},      {"f32, 32 MiB", 4096, 2048, 4},
                                {"f32, 64 MiB", 4096, 4096, 4},      {"f32, 128 MiB", 8192, 4096, 4},
                                {"f32, 256 MiB", 8192, 8192, 4},     {"f16, 64 MiB", 8192, 4096, 2},
                                {"f32, 64 MiB, odd", 4099, 4099, 4}, {"f32, 64 MiB, 64 columns", 262144, 64, 4}};

enum class mover { kept, ordinary, memcpy, naive };
constexpr const char* kNames[] = {"kept", "ordinary", "memcpy"};

class bench {
public:
    explicit bench(cudaStream_t stream) : stream_(stream) { device::set_current_stream(stream); }

    nlohmann::ordered_json run(const matrix& m, int rounds) {
        m_ = m;
        nlohmann::ordered_json all;
        for (const auto& [name, pattern] : patterns()) {
            const auto truth = outcome(mover::naive, pattern);
            for (mover w : {mover::kept, mover::ordinary}) {
                if (outcome(w, pattern) != truth)
                    throw error(fmt::format("{}, {}: {} is wrong", m.name, name, kNames[int(w)]));
            }
            const auto times =
                lab::sample_in_turn(3, {0, rounds}, 1, [&](std::size_t i) { return sample(mover(i), pattern); });
            for (std::size_t i = 0; i < 3; ++i)
                all[name][kNames[i]] = {
                    {"median_s", times[i].median_s}, {"p10_s", times[i].p10_s}, {"p90_s", times[i].p90_s}};
        }
        return all;
    }

private:
    using pattern = std::function<void()>;

    std::vector<std::pair<std::string, pattern>> patterns() {
        const int wide = m_.size == 4 ? 256 : 1024;
        const auto loop = [](pattern step) {
            return [step] {
                for (int i = 0; i < 10; ++i) step();
            };
        };
        std::vector<std::pair<std::string, pattern>> all = {
            {"alone", [this] { transpose(); }},
            {"reduction", [this] { transpose(), sum(); }},
            {"product", [this, wide] { transpose(), multiply(wide); }},
            {"thin product", [this] { transpose(), multiply(16); }},
            {"loop, alone", loop([this] { transpose(); })},
            {"loop, elementwise", loop([this] { transpose(), change(); })},
            {"loop, reduction", loop([this] { transpose(), sum(); })},
            {"loop, product", loop([this, wide] { transpose(), multiply(wide); })},
            {"loop, 4 copies in 32 MiB", loop([this] { transpose(), copy_within(32, 4); })},
            {"loop, thin product, reduction, 2 copies in 32 MiB",
             loop([this] { transpose(), multiply(16), sum(), copy_within(32, 2); })}};
        for (int mib : {8, 16, 24, 28, 32, 36, 40, 48})
            all.push_back(
                {fmt::format("10 copies in {} MiB", mib), [this, mib] { transpose(), copy_within(mib, 10); }});
        return all;
    }

    void transpose() {
        if (mover_ == mover::memcpy) {
            CORNERTURN_CUDA(cudaMemcpyAsync(result_.get, source_.get, static_cast<std::size_t>(m_.bytes()),
                                            cudaMemcpyDeviceToDevice, stream_));
        } else if (m_.size == 4) {
            transpose_elements<unsigned>();
        } else {
            transpose_elements<std::uint16_t>();
        }
    }
    template <class T>
    void transpose_elements() {
        T* const source = static_cast<T*>(source_.get);
        T* const result = static_cast<T*>(result_.get);
        if (mover_ == mover::naive) return after::transpose_slowly(source, result, m_.rows, m_.cols, m_.size, stream_);
        const auto before = cuda::set_l2_lines(mover_ == mover::kept ? cuda::l2_lines::kept : cuda::l2_lines::ordinary);
        cuda::transpose(matrix_view{source, m_.rows, m_.cols}, matrix_view{result, m_.cols, m_.rows}, stream_);
        cuda::set_l2_lines(before);
    }
    void sum() { after::reduce(result_.get, m_.bytes(), sums(), stream_); }
    // The next transpose reads what this writes.
    void change() { after::copy_changed(result_.get, source_.get, m_.bytes(), 0x00500050u, stream_); }
    void copy_within(int mib, int times) {
        const std::int64_t half = mib * kMiB / 2;
        char* const other = static_cast<char*>(other_.get);
        for (int i = 0; i < times; ++i) after::copy_changed(other, other + half, half, 0, stream_);
    }
    // cuBLAS multiplies the result by a matrix of n columns. Read as column-major, the result is rows x cols.
    void multiply(int n) {
        using baseline::cublas;
        const cublas& library = cublas::instance();
        const auto handle = library.on_current_stream();
        const int rows = static_cast<int>(m_.rows), cols = static_cast<int>(m_.cols);
        const float one = 1, zero = 0;
        constexpr int kHalf = 2, kFloat = 68;  // CUDA_R_16F, CUBLAS_COMPUTE_32F
        if (m_.size == 4) {
            using sgemm = int (*)(baseline::cublas_handle, int, int, int, int, int, const float*, const void*, int,
                                  const void*, int, const float*, void*, int);
            cublas::check(library.find<sgemm>("cublasSgemm_v2")(handle, 0, 0, rows, n, cols, &one, result_.get, rows,
                                                                factor_.get, cols, &zero, product_.get, rows),
                          "cublasSgemm");
        } else {
            using gemm_ex = int (*)(baseline::cublas_handle, int, int, int, int, int, const void*, const void*, int,
                                    int, const void*, int, int, const void*, void*, int, int, int, int);
            cublas::check(library.find<gemm_ex>("cublasGemmEx")(handle, 0, 0, rows, n, cols, &one, result_.get, kHalf,
                                                                rows, factor_.get, kHalf, cols, &zero, product_.get,
                                                                kHalf, rows, kFloat, -1),
                          "cublasGemmEx");
        }
    }

    unsigned long long* sums() { return static_cast<unsigned long long*>(sums_.get); }

    // Hashes of all operands of the pattern after a run.
    std::vector<unsigned long long> outcome(mover w, const pattern& run) {
        mover_ = w;
        const bool halves = m_.size == 2;

        const std::pair<void*, std::int64_t> operands[] = {{source_.get, m_.bytes()},
                                                           {result_.get, m_.bytes()},
                                                           {other_.get, kOther},
                                                           {factor_.get, kOther},
                                                           {product_.get, kProduct}};
        unsigned seed = 0;
        for (const auto& [data, bytes] : operands) after::fill(data, bytes, halves, ++seed, stream_);
        CORNERTURN_CUDA(cudaMemsetAsync(sums_.get, 0, 64, stream_));
        run();
        int at = 0;
        for (const auto& [data, bytes] : operands) after::add_hash(data, bytes, sums() + ++at, stream_);
        std::vector<unsigned long long> found(8);
        CORNERTURN_CUDA(cudaMemcpyAsync(found.data(), sums_.get, 64, cudaMemcpyDeviceToHost, stream_));
        CORNERTURN_CUDA(cudaStreamSynchronize(stream_));
        return found;
    }

    double sample(mover w, const pattern& run) {
        mover_ = w;
        CORNERTURN_CUDA(cudaCtxResetPersistingL2Cache());
        CORNERTURN_CUDA(cudaMemsetAsync(flush_.get, 0, kFlush, stream_));
        CORNERTURN_CUDA(cudaEventRecord(begin_, stream_));
        run();
        CORNERTURN_CUDA(cudaEventRecord(end_, stream_));
        CORNERTURN_CUDA(cudaEventSynchronize(end_));
        float milliseconds = 0;
        CORNERTURN_CUDA(cudaEventElapsedTime(&milliseconds, begin_, end_));
        return milliseconds * 1e-3;
    }

    static cudaEvent_t made_event() {
        cudaEvent_t event = nullptr;
        CORNERTURN_CUDA(cudaEventCreate(&event));
        return event;
    }

    static constexpr std::int64_t kProduct = 512 * kMiB;  // for 262144 rows
    cudaStream_t stream_;
    cudaEvent_t begin_ = made_event(), end_ = made_event();
    device::device_memory source_{kMost}, result_{kMost}, other_{kOther}, factor_{kOther}, product_{kProduct},
        flush_{kFlush}, sums_{64};
    matrix m_{};
    mover mover_ = mover::kept;
};

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 30;
    try {
        cudaStream_t stream = nullptr;
        CORNERTURN_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        cudaDeviceProp device{};
        CORNERTURN_CUDA(cudaGetDeviceProperties(&device, 0));
        bench b(stream);
        nlohmann::ordered_json out = {{"device", device.name}, {"rounds", rounds}};
        for (const matrix& m : kMatrices) out["matrices"][m.name] = b.run(m, rounds);
        fmt::print("{}\n", out.dump(1));
    } catch (const std::exception& e) {
        fmt::print(stderr, "after_transpose: {}\n", e.what());
        return 1;
    }
}
