// Under sanitizers a test takes several times as long, and kernels are compiled without them: fewer of these are
// enough.
#pragma once

namespace cornerturn::tests {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace cornerturn::tests
