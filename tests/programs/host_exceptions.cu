// Ordinary C++ on the host beside kernels: exceptions, containers, threads, classes that own device memory.
#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

#include "program.hpp"

class cuda_error : public std::runtime_error {
public:
    cuda_error(cudaError_t code, const std::string& what)
        : std::runtime_error(what + ": " + cudaGetErrorName(code)), code_(code) {}
    cudaError_t code() const noexcept { return code_; }

private:
    cudaError_t code_;
};

void throw_if(cudaError_t code, const std::string& what) {
    if (code != cudaSuccess) throw cuda_error(code, what);
}

__global__ void add(int* values, int elements, int by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) values[i] += by;
}

struct counts_lives {
    static std::atomic<int> alive;
    counts_lives() { ++alive; }
    ~counts_lives() { --alive; }
};
std::atomic<int> counts_lives::alive{0};

// A launch in a function that throws afterwards. What lives on its stack is destroyed.
void launch_and_throw(int* device, int elements) {
    counts_lives first;
    const auto owned = std::make_unique<counts_lives>();
    add<<<(elements + 127) / 128, 128>>>(device, elements, 1);
    throw_if(cudaGetLastError(), "the launch");
    throw std::out_of_range("after the launch");
}

void check_exceptions() {
    const int elements = 300;
    device_array<int> device(std::vector<int>(elements, 5));
    bool caught = false;
    try {
        launch_and_throw(device.data(), elements);
    } catch (const std::logic_error& error) {
        caught = std::string(error.what()) == "after the launch";
    }
    EXPECT(caught, "the exception");
    EXPECT(counts_lives::alive == 0, "%d objects are alive", counts_lives::alive.load());
    const std::vector<int> values = device.values();
    EXPECT(std::all_of(values.begin(), values.end(), [](int value) { return value == 6; }), "the kernel ran");

    // An error of CUDA as an exception. The next calls work again.
    try {
        throw_if(cudaMemcpy(nullptr, device.data(), 4, cudaMemcpyKind(99)), "a copy of no kind");
        EXPECT(false, "a copy of no kind succeeded");
    } catch (const cuda_error& error) {
        EXPECT(error.code() != cudaSuccess, "%s", error.what());
        EXPECT(std::string(error.what()).find("cudaError") != std::string::npos, "%s", error.what());
    }
    (void)cudaGetLastError();
    try {
        add<<<1, 2048>>>(device.data(), elements, 1);  // too many threads in a block
        throw_if(cudaGetLastError(), "the launch");
        EXPECT(false, "a block of 2048 threads was launched");
    } catch (const cuda_error& error) {
        EXPECT(error.code() == cudaErrorInvalidConfiguration || error.code() == cudaErrorInvalidValue, "%s",
               error.what());
    }
    EXPECT(cudaGetLastError() == cudaSuccess, "the error was taken");
    add<<<3, 128>>>(device.data(), elements, 4);
    EXPECT(device.values()[299] == 10, "%d", device.values()[299]);

    // Rethrown, nested and of other types.
    std::string trace;
    try {
        try {
            throw 42;
        } catch (int number) {
            trace += std::to_string(number);
            throw;
        }
    } catch (...) {
        trace += " again";
    }
    EXPECT(trace == "42 again", "%s", trace.c_str());
}

// Host threads that launch on streams of their own.
void check_threads() {
    const int elements = 1000;
    const int threads = 4;
    std::vector<std::thread> workers;
    std::map<int, long> sums;
    std::mutex mutex;
    std::vector<std::string> errors;
    for (int worker = 0; worker < threads; ++worker) {
        workers.emplace_back([&, worker] {
            try {
                cudaStream_t stream;
                throw_if(cudaStreamCreate(&stream), "cudaStreamCreate");
                std::vector<int> values(elements);
                std::iota(values.begin(), values.end(), worker);
                int* device = nullptr;
                throw_if(cudaMalloc(&device, elements * sizeof(int)), "cudaMalloc");
                throw_if(cudaMemcpyAsync(device, values.data(), elements * sizeof(int), cudaMemcpyHostToDevice, stream),
                         "the copy to the device");
                for (int i = 0; i < 5; ++i) add<<<8, 128, 0, stream>>>(device, elements, worker + i);
                throw_if(cudaGetLastError(), "the launches");
                throw_if(cudaMemcpyAsync(values.data(), device, elements * sizeof(int), cudaMemcpyDeviceToHost, stream),
                         "the copy to the host");
                throw_if(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
                throw_if(cudaFree(device), "cudaFree");
                throw_if(cudaStreamDestroy(stream), "cudaStreamDestroy");
                const std::lock_guard<std::mutex> lock(mutex);
                sums[worker] = std::accumulate(values.begin(), values.end(), 0l);
            } catch (const std::exception& error) {
                const std::lock_guard<std::mutex> lock(mutex);
                errors.push_back(error.what());
            }
        });
    }
    for (std::thread& worker : workers) worker.join();
    for (const std::string& error : errors) EXPECT(false, "%s", error.c_str());
    for (int worker = 0; worker < threads; ++worker) {
        const long each = worker + 5 * worker + 10;
        const long expected = elements * each + elements * (elements - 1l) / 2;
        EXPECT(sums[worker] == expected, "thread %d: %ld, expected %ld", worker, sums[worker], expected);
    }
}

// Launches from std::function objects, virtual functions and a destructor.
struct step {
    virtual ~step() = default;
    virtual void run(int* device, int elements) const = 0;
};
struct add_step : step {
    explicit add_step(int given) : by(given) {}
    void run(int* device, int elements) const override { add<<<2, 64>>>(device, elements, by); }
    int by;
};
struct adds_at_end {
    int* device;
    ~adds_at_end() { add<<<2, 64>>>(device, 100, 1000); }
};

void check_calls() {
    device_array<int> device(std::vector<int>(100, 0));
    std::vector<std::unique_ptr<step>> steps;
    for (int i = 1; i <= 3; ++i) steps.push_back(std::make_unique<add_step>(i));
    for (const auto& each : steps) each->run(device.data(), 100);
    std::function<void(int)> call = [&](int by) { add<<<2, 64>>>(device.data(), 100, by); };
    call(10);
    { const adds_at_end last{device.data()}; }
    const std::vector<int> values = device.values();
    for (int i = 0; i < 100; ++i) EXPECT(values[i] == 1016, "element %d: %d", i, values[i]);
}

int main() {
    check_exceptions();
    check_threads();
    check_calls();
    return verdict();
}
