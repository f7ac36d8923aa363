// printf of every kind of argument on the device, and asserts that hold. The program checks its own output.
#include <unistd.h>

#include <cassert>
#include <string>

#include "program.hpp"

__global__ void print_all() {
    if (threadIdx.x != 1) return;
    printf("plain text\n");
    printf("%d %i %u %x %X %o\n", -5, 6, 7u, 255u, 255u, 8u);
    printf("%ld %lu %lld %llu\n", -5l, 6ul, -(1ll << 40), 1ull << 63);
    printf("%f %.3f %e %g %8.2f|%-8.2f|\n", 1.5, 2.0f / 3, 12345.678, 0.0001, 3.14159, 2.71828);
    printf("%c%c%c %s %5s|%-5s|\n", 'a', 'b', 'c', "string", "ab", "cd");
    printf("%5d|%-5d|%05d|%+d\n", 42, 42, 42, 42);
    printf("%% %hd %5.1e\n", static_cast<short>(-3), -0.25);
    const int written = printf("%d%d%d%d%d%d%d%d%d%d%d%d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    printf("%d arguments\n", written);
}

constexpr char kExpected[] =
    "plain text\n"
    "-5 6 7 ff FF 10\n"
    "-5 6 -1099511627776 9223372036854775808\n"
    "1.500000 0.667 1.234568e+04 0.0001     3.14|2.72    |\n"
    "abc string    ab|cd   |\n"
    "   42|42   |00042|+42\n"
    "% -3 -2.5e-01\n"
    "123456789101112\n"
    "12 arguments\n";

// The threads print in no order that a program can rely on, but every line comes whole and once.
__global__ void print_threads() { printf("block %d thread %d\n", blockIdx.x, threadIdx.x); }

__global__ void assert_truths(const int* values, int* out) {
    const int i = threadIdx.x;
    assert(values[i] == i * 2);
    assert(i < 64 && "a text in the condition");
    out[i] = values[i] + 1;
}

// Sends standard output to a file while the kernel runs.
template <class Launch>
std::string printed_by(Launch launch) {
    std::fflush(stdout);
    const int kept = dup(1);
    std::FILE* file = std::tmpfile();
    if (kept < 0 || file == nullptr) return "no temporary file";
    dup2(fileno(file), 1);
    launch();
    const cudaError_t status = cudaDeviceSynchronize();
    std::fflush(stdout);
    dup2(kept, 1);
    close(kept);
    CUDA_OK(status);
    std::string text;
    std::rewind(file);
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text.push_back(static_cast<char>(c));
    std::fclose(file);
    return text;
}

int main() {
    const std::string all = printed_by([] { print_all<<<1, 2>>>(); });
    EXPECT(all == kExpected, "printed: %s", all.c_str());

    const std::string threads = printed_by([] { print_threads<<<3, 40>>>(); });
    size_t length = 0;
    for (int block = 0; block < 3; ++block) {
        for (int thread = 0; thread < 40; ++thread) {
            const std::string line = "block " + std::to_string(block) + " thread " + std::to_string(thread) + "\n";
            length += line.size();
            EXPECT(("\n" + threads).find("\n" + line) != std::string::npos, "missing: %s", line.c_str());
        }
    }
    EXPECT(threads.size() == length, "%zu bytes, expected %zu", threads.size(), length);

    std::vector<int> values(64);
    for (int i = 0; i < 64; ++i) values[i] = i * 2;
    device_array<int> values_device(values);
    device_array<int> out_device(64);
    assert_truths<<<1, 64>>>(values_device.data(), out_device.data());
    const std::vector<int> out = out_device.values();
    for (int i = 0; i < 64; ++i) EXPECT(out[i] == i * 2 + 1, "thread %d: %d", i, out[i]);
    assert(out.size() == 64);
    return verdict();
}
