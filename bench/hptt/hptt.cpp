// C functions for HPTT. build.sh compiles this file with HPTT, and src/baseline/host_hptt.cpp loads the result.
#include <hptt.h>

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>

namespace {

struct plan {
    std::function<void()> run;
};

// Sizes, outer sizes and the permutation are row-major: the slowest axis is first.
template <class T>
plan* make(const int* permutation, int rank, const void* source, const int* sizes, const int* outer_source,
           void* destination, const int* outer_destination, int threads) {
    const auto made =
        hptt::create_plan(permutation, rank, T(1), static_cast<const T*>(source), sizes, outer_source, T(0),
                          static_cast<T*>(destination), outer_destination, hptt::ESTIMATE, threads, nullptr, true);
    return new plan{[made] { made->execute(); }};
}

}  // namespace

extern "C" {

// Returns null unless elements have 4, 8 or 16 bytes. HPTT's measured plans are not used, because they gave wrong
// results for batches.
void* cornerturn_hptt_plan(const int* permutation, int rank, const void* source, const int* sizes,
                           const int* outer_source, void* destination, const int* outer_destination, int element_size,
                           int threads) {
    switch (element_size) {
        case 4:
            return make<float>(permutation, rank, source, sizes, outer_source, destination, outer_destination, threads);
        case 8:
            return make<double>(permutation, rank, source, sizes, outer_source, destination, outer_destination,
                                threads);
        case 16:
            return make<std::complex<double>>(permutation, rank, source, sizes, outer_source, destination,
                                              outer_destination, threads);
        default: return nullptr;
    }
}
void cornerturn_hptt_run(void* made) { static_cast<plan*>(made)->run(); }
void cornerturn_hptt_destroy(void* made) { delete static_cast<plan*>(made); }
}
