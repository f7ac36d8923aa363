// cornerturn::emulator::session: the counters and hazards that a test can read.
#ifdef CORNERTURN_EMULATED_PROGRAM
#include <cornerturn/emulator/session.hpp>
#endif
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (0)

namespace kernels {

// A column of a tile of 32 x 32 words lies in one bank.
template <int kPad>
__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[32][32 + kPad];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void count(int* sums, int* old) {
    __shared__ int here;
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    atomicAdd(&here, 1);
    atomicAdd(sums, 1);
    old[blockIdx.x * 32 + threadIdx.x] = atomicAdd(&sums[1 + threadIdx.x], 1);
}

constexpr int kStridedLine = __LINE__ + 1;
__global__ void strided(const float* in, float* out) { out[threadIdx.x * 8] = in[threadIdx.x * 8]; }

__global__ void beyond(float* out, int n) { out[threadIdx.x + n] = 1; }

}  // namespace kernels

using namespace kernels;

#ifdef CORNERTURN_EMULATED_PROGRAM

using cornerturn::emulator::session;

template <class Exception, class Function>
std::string thrown(Function function) {
    try {
        function();
    } catch (const Exception& error) {
        return error.what();
    }
    return "nothing";
}

// Whether the message contains all values, in this order.
bool names(const std::string& message, std::initializer_list<std::string> values) {
    std::size_t at = 0;
    for (const std::string& value : values) {
        at = message.find(value, at);
        if (at == std::string::npos) return false;
        at += value.size();
    }
    return true;
}

int main() {
    float *in, *out;
    int* numbers;
    CHECK(cudaMalloc(&in, 4096) == cudaSuccess && cudaMalloc(&out, 4096) == cudaSuccess);
    CHECK(cudaMalloc(&numbers, 4096) == cudaSuccess);
    const dim3 block(32, 32);

    transpose<0><<<1, block>>>(in, out);  // before any session
    session all;
    {
        session first;
        transpose<0><<<1, block>>>(in, out);
        const auto report = first.report();
        transpose<1><<<1, block>>>(in, out);
        transpose<1><<<1, block>>>(in, out);

        CHECK(report.launches().size() == 1);  // a copy
        CHECK(report["transpose"].shared_conflicts == 31 * 32);
        CHECK(report["transpose<0>"].shared_load_wavefronts_per_request() == 32);
        CHECK(report["*"].launches == 1);

        const auto later = first.report();
        CHECK(later["transpose"].launches == 3 && later["transpose"].load_requests == 3 * 32);
        CHECK(later["transpose"].shared_conflicts == 31 * 32);
        CHECK(later["transpose<1>"].shared_conflicts == 0 && later["transpose<1>"].launches == 2);
        CHECK((later.kernels() == std::vector<std::string>{"transpose<0>", "transpose<1>"}));
        CHECK(later.ran("transpose<1>") && !later.ran("transpose<2>"));
        const auto launch = later.launches().at(2);
        CHECK(launch.kernel == "transpose<1>" && launch.block == (std::array<unsigned, 3>{32, 32, 1}));
        CHECK(launch.grid == (std::array<unsigned, 3>{1, 1, 1}) && launch.counters.launches == 1);
        CHECK(launch.counters.shared_load_wavefronts == 32 && launch.hazards.empty() && launch.lines.empty());
        CHECK(first.hazards().empty() && later["*"].hazards == 0);

        CHECK(names(thrown<std::out_of_range>([&] { later["others::transpose"]; }),
                    {"session", "others::transpose", "transpose<0>", "transpose<1>"}));
        CHECK(names(thrown<std::out_of_range>([&] { session().report()["*"]; }), {"session", "*"}));
        CHECK(names(thrown<std::logic_error>([&] { later.lines("transpose"); }), {"session", "lines = true"}));
    }

    // Every counter, from another thread.
    cornerturn::emulator::session_options with_lines;
    with_lines.lines = true;
    {
        session second(with_lines);
        std::thread([&] {
            count<<<2, 32>>>(numbers, numbers + 64);
            strided<<<1, 32>>>(in, out);
        }).join();
        const auto report = second.report();
        CHECK(report.launches().at(0).grid[0] == 2);
        const auto counted = report["count"];
        CHECK(counted.reduction_requests == 2 && counted.reduction_sectors == 2 * 32);
        CHECK(counted.reduction_sectors_per_request() == 32);
        CHECK(counted.atomic_requests == 2 && counted.atomic_sectors > 0 && counted.load_requests == 0);
        CHECK(counted.atomic_sectors_per_request() == static_cast<double>(counted.atomic_sectors) / 2);
        CHECK(counted.store_requests == 2 && counted.store_sectors == 2 * 4);
        CHECK(counted.store_sectors_per_request() == 4 && counted.load_sectors_per_request() == 0);
        CHECK(counted.shared_store_requests == 2 && counted.shared_store_wavefronts == 2);
        CHECK(counted.shared_store_wavefronts_per_request() == 1);
        CHECK(counted.shared_atomic_requests == 2 && counted.shared_atomic_wavefronts > 0);
        CHECK(counted.shared_atomic_wavefronts_per_request() > 0);
        CHECK(counted.shared_conflicts ==
              counted.shared_load_conflicts + counted.shared_store_conflicts + counted.shared_atomic_conflicts);
        CHECK(report["strided"].load_sectors == 32 && report["strided"].load_sectors_per_request() == 32);

        const auto lines = report.lines("strided");
        CHECK(lines.size() == 1 && lines[0].file == "session.cu" && lines[0].line == kStridedLine);
        CHECK(lines[0].counters.load_sectors == 32 && lines[0].counters.store_sectors == 32);
        CHECK(report.launches().at(1).lines.size() == 1);
    }

    {
        session third;
        beyond<<<1, 32>>>(out, 1024);
        CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
        CHECK(third.hazards().size() == 1 && third.report()["beyond"].hazards == 1);
        CHECK(names(third.hazards()[0], {"out_of_bounds", "beyond", "(0, 0, 0)", "(0, 0, 0)"}));
        CHECK(third.report().hazards() == third.hazards());
        CHECK(third.report().launches().at(0).hazards == third.hazards());
        CHECK(cudaDeviceReset() == cudaSuccess);
    }
    CHECK(all.report().launches().size() == 6 && all.report()["*"].launches == 6 && all.hazards().size() == 1);
    CHECK(all.report().launches().at(4).lines.empty());
    std::puts("ok");
}

#else

int main() { std::puts("ok"); }

#endif
