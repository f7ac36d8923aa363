// The processor's modes of floating-point arithmetic. A program may flush subnormal numbers to zero, as PyTorch and XLA
// do, or round in another direction. oneTBB's threads take over the modes of the thread that started them.
#pragma once

#include <cfenv>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace cornerturn::host {

// While this object exists, its thread rounds to nearest and keeps subnormal numbers.
class ieee_arithmetic {
public:
#ifdef __SSE2__
    ieee_arithmetic() : before_(_mm_getcsr()) {
        if ((before_ & kModes) != 0) _mm_setcsr(before_ & ~kModes);
    }
    ~ieee_arithmetic() {
        if ((before_ & kModes) != 0) _mm_setcsr(before_);
    }
#else
    ieee_arithmetic() {
        std::fegetenv(&before_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~ieee_arithmetic() { std::fesetenv(&before_); }
#endif
    ieee_arithmetic(const ieee_arithmetic&) = delete;
    ieee_arithmetic& operator=(const ieee_arithmetic&) = delete;

private:
#ifdef __SSE2__
    static constexpr unsigned kModes = 0x8000 | 0x6000 | 0x0040;  // flush to zero, rounding, subnormals are zeros
    unsigned before_;
#else
    std::fenv_t before_;
#endif
};

}  // namespace cornerturn::host
