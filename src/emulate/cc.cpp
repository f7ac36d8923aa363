// cornerturn-cc: `cornerturn cc` alone, for builds that need neither the lab nor its kernels.
#include <cstdio>
#include <exception>

#include "cornerturn/error.hpp"
#include "emulate/compile.hpp"

int main(int count, char** words) {
    namespace emulate = cornerturn::emulate;
    try {
        emulate::compile(emulate::compilation::from_words({words + 1, words + count}));
        return 0;
    } catch (const cornerturn::invalid_argument& mistake) {
        std::fprintf(stderr, "cornerturn-cc: %s\n", mistake.what());
        return 2;
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "cornerturn-cc: %s\n", failure.what());
        return 1;
    }
}
