// The namespace cuda::std: all of the standard library, and newer additions that CUDA provides in C++17.
#pragma once

#include <type_traits>
#include <utility>

#include "base.h"

namespace cuda {
namespace std {

using namespace ::std;

struct identity {
    template <class T>
    constexpr T&& operator()(T&& value) const noexcept {
        return ::std::forward<T>(value);
    }
    using is_transparent = void;
};

template <class T>
struct remove_cvref {
    using type = ::std::remove_cv_t<::std::remove_reference_t<T>>;
};
template <class T>
using remove_cvref_t = typename remove_cvref<T>::type;

template <class T>
struct type_identity {
    using type = T;
};
template <class T>
using type_identity_t = T;

}  // namespace std
}  // namespace cuda
