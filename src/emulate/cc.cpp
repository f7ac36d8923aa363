// cornerturn-cc: the command `cornerturn cc` as a program, for builds without the lab and its kernels.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cornerturn/error.hpp"
#include "emulate/compile.hpp"

namespace {

constexpr const char* kHelp =
    "cornerturn-cc FILE.cu... [-c] [-o FILE] [-I -D -O ...]\n\n"
    "Compiles CUDA sources for the emulator, with nvcc's options. The program runs on the CPU, without a GPU.\n"
    "  --version, -V   the version, and the CUDA release whose nvcc this compiler replaces\n"
    "  --help, -h      this help\n";

bool asks_help(const std::vector<std::string>& arguments) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [](const std::string& argument) { return argument == "--help" || argument == "-h"; });
}

int print(const std::string& text) { return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0; }

}  // namespace

int main(int argc, char** argv) {
    namespace emulate = cornerturn::emulate;
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    try {
        if (asks_help(arguments)) return print(kHelp);
        if (emulate::asks_version(arguments)) return print(emulate::version_text());
        emulate::compile(emulate::compilation::from_arguments(arguments));
        return 0;
    } catch (const cornerturn::invalid_argument& mistake) {
        std::fprintf(stderr, "cornerturn-cc: %s\n", mistake.what());
        return 2;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "cornerturn-cc: %s\n", failure.what());
        return 1;
    }
}
