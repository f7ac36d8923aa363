// The checks of these programs. Each failure prints one line. main ends with `return finish();`, which prints "ok" if
// there was no failure.
#pragma once

#include <cstdio>

static int failures = 0;

#define EXPECT(condition)                                                       \
    do {                                                                        \
        if (!(condition)) {                                                     \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                         \
        }                                                                       \
    } while (false)

// The call must return this; the thread's last error is cleared.
#define EXPECT_STATUS(wanted, call)                                                                            \
    do {                                                                                                       \
        const cudaError_t got = (call);                                                                        \
        cudaGetLastError();                                                                                    \
        if (got != (wanted)) {                                                                                 \
            std::printf("%s:%d: %s, not %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(got), #wanted, #call); \
            ++failures;                                                                                        \
        }                                                                                                      \
    } while (false)

#define EXPECT_SUCCESS(call) EXPECT_STATUS(cudaSuccess, call)

static int finish() {
    if (failures == 0) std::puts("ok");
    return failures == 0 ? 0 : 1;
}
