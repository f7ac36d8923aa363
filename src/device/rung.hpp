// What every rung's file needs besides its kernel: registration.
#pragma once

#include "device/device.hpp"
#include "device/registry.hpp"

namespace CORNERTURN_KERNELS {

// Elements are moved as these types, one for each size.
using element1 = std::uint8_t;
using element2 = std::uint16_t;
using element4 = std::uint32_t;
using element8 = std::uint64_t;
using element16 = uint4;

#if defined(CORNERTURN_EMULATED)
inline constexpr backend kBuiltFor = backend::emulator;
#else
inline constexpr backend kBuiltFor = backend::cuda;
#endif

// Appended to the ids of a file's kernels. Tests use it to build altered copies of rungs under their own names.
#ifndef CORNERTURN_ID_SUFFIX
#define CORNERTURN_ID_SUFFIX ""
#endif

template <class Work, int kCount>
struct variants {
    variant<Work> all[kCount];
};
template <class Work, class... More>
variants(variant<Work>, More...) -> variants<Work, 1 + static_cast<int>(sizeof...(More))>;

// Like register_rung(). Kernels for the emulator cannot call that: they share no function with host code.
struct registration {
    template <class Work, int kCount>
    registration(const rung_notes& notes, const operation& op, const char* file, const char* id_suffix,
                 const variants<Work, kCount>& of_file) {
        for (int i = 0; i < kCount; ++i) {
            const variant<Work>& v = of_file.all[i];
            register_kernel(notes, op, kBuiltFor, file, id_suffix, i, v.facts, &v, v.run != nullptr,
                            &kernel_traits<Work>::kType);
        }
    }
};

}  // namespace CORNERTURN_KERNELS

// False in a file that registers no rung. The build checks this in every file of a ladder.
namespace cornerturn {
inline constexpr bool kRegistersRung = false;
}

// CORNERTURN_RUNG(notes, operation, variants...): once in a file, after the kernel. All variants take one type of work.
#define CORNERTURN_RUNG(notes, op, ...)                                                     \
    namespace {                                                                             \
    [[maybe_unused]] constexpr bool kRegistersRung = true;                                  \
    constexpr variants kVariants{__VA_ARGS__};                                              \
    const registration kRegistration{notes, op, __FILE__, CORNERTURN_ID_SUFFIX, kVariants}; \
    }
