// A libFuzzer target: clang++ -fsanitize=fuzzer. fuzz_test.py builds and runs it.
#include "npy_property.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    cornerturn::tests::check_npy({reinterpret_cast<const char*>(data), size});
    return 0;
}
