// cornerturn-cc: `cornerturn cc` alone, for builds that need neither the lab nor its kernels.
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
    "  --version, -V   the version, and the CUDA release that this compiler stands for\n"
    "  --help, -h      this text\n";

bool asks_help(const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(),
                       [](const std::string& word) { return word == "--help" || word == "-h"; });
}

int print(const std::string& text) { return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? 1 : 0; }

}  // namespace

int main(int count, char** arguments) {
    namespace emulate = cornerturn::emulate;
    const std::vector<std::string> words(arguments + 1, arguments + count);
    try {
        if (asks_help(words)) return print(kHelp);
        if (emulate::asks_version(words)) return print(emulate::version_text());
        emulate::compile(emulate::compilation::from_words(words));
        return 0;
    } catch (const cornerturn::invalid_argument& mistake) {
        std::fprintf(stderr, "cornerturn-cc: %s\n", mistake.what());
        return 2;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "cornerturn-cc: %s\n", failure.what());
        return 1;
    }
}
