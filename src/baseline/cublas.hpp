// cuBLAS, loaded at the first call because it is large. It is a peer of the library's kernels.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "cornerturn/error.hpp"
#include "device/cuda_check.hpp"

namespace cornerturn::baseline {

// cuBLAS's own types. Its header is not needed.
using cublas_handle = struct cublasContext*;
using cublas_status = int;
enum cublas_operation { kNotTransposed = 0, kTransposed = 1 };
enum cublas_math { kPedantic = 2 };  // no tensor cores, no shortcuts

// The library and a handle. Both live from the first call to the end of the program.
class cublas {
public:
    // Throws unsupported if cuBLAS is not installed.
    static const cublas& instance() {
        static const cublas loaded;
        return loaded;
    }

    template <class F>
    F find(const char* name) const {
        void* const symbol = dlsym(library_, name);
        if (symbol == nullptr) throw unsupported(fmt::format("this cuBLAS has no {}", name));
        return reinterpret_cast<F>(symbol);
    }

    // The handle, set to the current stream.
    cublas_handle on_current_stream() const {
        check(set_stream_(handle_, device::current_stream()), "cublasSetStream");
        return handle_;
    }

    static void check(cublas_status status, const char* function) {
        if (status != 0) throw error(fmt::format("{} of cuBLAS failed with status {}", function, status));
    }

private:
    cublas() {
        for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
            library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (library_ != nullptr) break;
        }
        if (library_ == nullptr) throw unsupported(fmt::format("cuBLAS cannot be loaded: {}", dlerror()));
        check(find<cublas_status (*)(cublas_handle*)>("cublasCreate_v2")(&handle_), "cublasCreate");
        check(find<cublas_status (*)(cublas_handle, int)>("cublasSetMathMode")(handle_, kPedantic),
              "cublasSetMathMode");
        set_stream_ = find<cublas_status (*)(cublas_handle, cudaStream_t)>("cublasSetStream_v2");
    }

    void* library_ = nullptr;
    cublas_handle handle_ = nullptr;
    cublas_status (*set_stream_)(cublas_handle, cudaStream_t) = nullptr;
};

}  // namespace cornerturn::baseline
